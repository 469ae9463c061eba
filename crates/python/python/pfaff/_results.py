"""What the commands answer: objects with the data of the command line's JSON, tables and pictures."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import UsageError, missing
from ._text import split

if TYPE_CHECKING:
    from ._model import Model


class Result:
    """An answer: the keys of the command line's JSON as attributes, the text, a table and a picture."""

    def __init__(self, model: Model | None, data: str, text: str, extra: str | None = None) -> None:
        self._model, self._json, self._extra = model, data, extra
        self._data: dict[str, Any] = json.loads(data)
        #: What the command line prints.
        self.text = text

    @property
    def model(self) -> Model | None:
        """The model."""
        return self._model

    def to_dict(self) -> dict[str, Any]:
        """The data as the command line's JSON has them."""
        return json.loads(self._json)  # type: ignore[no-any-return]

    def keys(self) -> list[str]:
        """The names of the data."""
        return list(self._data)

    def __getitem__(self, name: str) -> Any:
        if name not in self._data:
            from ._arrays import missing as unknown

            raise unknown(name, list(self._data))
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __contains__(self, name: object) -> bool:
        return name in self._data

    def __getattr__(self, name: str) -> Any:
        data = self.__dict__.get("_data", {})
        if name in data:
            return data[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; there are {', '.join(data)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __getstate__(self) -> dict[str, Any]:
        version = _native.__version__
        return {"pfaff": version, "model": self._model, "json": self._json, "text": self.text, "extra": self._extra}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from ._model import check_version

        check_version(state, "result")
        Result.__init__(self, state["model"], state["json"], state["text"], state["extra"])

    def __repr__(self) -> str:
        return self.text.rstrip()

    def table(self) -> dict[str, list[Any]]:
        """The answer as columns."""
        return {"name": list(self._data), "value": list(self._data.values())}

    def to_pandas(self) -> Any:
        """The table as a DataFrame."""
        try:
            import pandas as pd
        except ImportError:
            raise missing("pandas", "to_pandas()") from None
        return pd.DataFrame(self.table())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"

    def plot(self, *names: Any, ax: Any = None, **style: Any) -> Any:
        """A picture of the answer, by matplotlib."""
        raise UsageError(f"a {type(self).__name__} has no picture")


def axes(ax: Any) -> Any:
    """Axes of matplotlib."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise missing("matplotlib", "plot()") from None
    return plt.subplots()[1]


def complexes(pairs: Iterable[Iterable[float | None]]) -> Any:
    """Pairs of numbers as complex numbers."""
    import numpy as np

    values = [tuple(np.nan if x is None else x for x in pair) for pair in pairs]
    return np.array([complex(*pair) for pair in values], dtype=complex)


def floats(values: Any) -> Any:
    """A list, nested or not, as an array; what is missing is not a number."""
    import numpy as np

    return np.array(values, dtype=float)


def series(data: dict[str, Any]) -> Any:
    """Lists by name as columns."""
    from ._arrays import Columns

    return Columns({name: floats(values) for name, values in data.items()})


def records(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows of nested data as columns."""
    found: dict[str, list[Any]] = {}
    for i, row in enumerate(rows):
        flat: dict[str, Any] = {}
        for key, value in row.items():
            if isinstance(value, dict):
                flat |= value
            else:
                flat[key] = value
        for key, value in flat.items():
            found.setdefault(key, [None] * i).append(value)
        for values in found.values():
            values += [None] * (i + 1 - len(values))
    return found


class Check(Result):
    """What a model is: degrees of freedom, classes of constraints."""

    def table(self) -> dict[str, list[Any]]:
        """The constraints."""
        return records(self["constraints"])


class Comparison(Result):
    """Principles side by side: ``comparison["chetaev"]`` has the columns of one motion."""

    @property
    def principles(self) -> list[str]:
        """The principles that were compared."""
        return list(self._data["principles"])

    def __getitem__(self, name: str) -> Any:
        if name in self._data.get("motions", {}):
            return series(self._data["motions"][name].get("q", self._data["motions"][name]))
        return super().__getitem__(name)

    @property
    def t(self) -> Any:
        """Common times."""
        return floats(self._data["t"])

    def table(self) -> dict[str, list[Any]]:
        """Positions under each principle, by common time."""
        columns: dict[str, list[Any]] = {"t": self._data["t"]}
        for principle in self.principles:
            columns |= {f"{name} ({principle})": list(x) for name, x in self[principle].items()}
        return columns

    def plot(self, *names: str, ax: Any = None, **style: Any) -> Any:
        """Coordinates under each principle over time."""
        ax = axes(ax)
        first = self[self.principles[0]]
        for name in names or first.names[:1]:
            for dash, principle in zip(["-", ":", "--"], self.principles, strict=False):
                look = {"linestyle": dash, "label": f"{name} ({principle})", **style}
                ax.plot(self.t, self[principle][name], **look)
        ax.set_xlabel("t")
        ax.legend()
        return ax


class Variations(Result):
    """Variations of a motion, by principle."""

    def table(self) -> dict[str, list[Any]]:
        """What each kind of variation satisfies."""
        rows = []
        for kind in self["variations"]:
            for name, defect in kind.items():
                if isinstance(defect, dict) and "largest" in defect:
                    row = {"variation": kind["name"], "condition": name}
                    rows.append({**row, "holds": defect["holds"], "largest": defect["largest"]})
        return records(rows)


class Geometry(Result):
    """Metric, connections, torsion, curvature and the distribution."""

    def latex(self) -> str:
        """The formulas in LaTeX."""
        if self._extra is None:
            raise UsageError("at a state there are numbers and no formulas")
        return self._extra

    def _repr_latex_(self) -> str | None:
        return self._extra

    def value(self, name: str) -> Any:
        """The numbers of a tensor at the given state."""
        found = self[name].get("value")
        if found is None:
            raise UsageError(f"`{name}` has no numbers: give a state")
        return floats(found)

    def table(self) -> dict[str, list[Any]]:
        """The components of the tensors that are not zero."""
        rows = []

        def walk(name: str, value: Any, place: tuple[int, ...]) -> None:
            if isinstance(value, list):
                for i, item in enumerate(value):
                    walk(name, item, (*place, i + 1))
            elif value not in ("0", None):
                rows.append({"tensor": name, "indices": ",".join(map(str, place)), "component": value})

        for name, block in self._data.items():
            if isinstance(block, dict) and "symbolic" in block:
                walk(name, block["symbolic"], ())
        return records(rows)


class Trace(Result):
    """A curve: a geodesic, an autoparallel, a lift, or a motion in another form of the equations."""

    @property
    def t(self) -> Any:
        """Times."""
        return floats(self._data["t"])

    @property
    def q(self) -> Any:
        """Positions by coordinate."""
        return series(self._data["q"])

    @property
    def v(self) -> Any:
        """Velocities by coordinate."""
        return series(self._data["v"])

    def table(self) -> dict[str, list[Any]]:
        """Positions and velocities by time."""
        velocities = {f"{name}'": x for name, x in self._data["v"].items()}
        return {"t": self._data["t"], **self._data["q"], **velocities}

    def plot(self, *names: str, ax: Any = None, **style: Any) -> Any:
        """Two coordinates over each other, or all over time."""
        ax = axes(ax)
        if len(names) == 2:
            ax.plot(self.q[names[0]], self.q[names[1]])
            ax.set_xlabel(names[0])
            ax.set_ylabel(names[1])
        else:
            for name in names or self.q.names:
                ax.plot(self.t, self.q[name], label=name)
            ax.set_xlabel("t")
            ax.legend()
        return ax


class Linearization(Result):
    """Matrices and eigenvalues about a state."""

    @property
    def eigenvalues(self) -> Any:
        """The eigenvalues of the reduced system."""
        return complexes(self._data["eigenvalues"])

    @property
    def matrices(self) -> dict[str, Any]:
        """The matrices by name: A, and M, C, K where the equations are of second order."""
        return {name: floats(x) for name, x in self._data["matrices"].items() if x is not None}

    def latex(self) -> str:
        """The matrices in LaTeX."""
        return self._extra or ""

    def _repr_latex_(self) -> str | None:
        return self._extra

    def table(self) -> dict[str, list[Any]]:
        """The eigenvalues."""
        values = self.eigenvalues
        return {"re": values.real.tolist(), "im": values.imag.tolist()}

    def plot(self, *, ax: Any = None) -> Any:  # type: ignore[override]
        """The eigenvalues in the complex plane."""
        ax = axes(ax)
        ax.axvline(0, color="0.8")
        ax.plot(self.eigenvalues.real, self.eigenvalues.imag, "x")
        ax.set_xlabel("Re")
        ax.set_ylabel("Im")
        return ax


class RootLocus(Result):
    """Eigenvalues over a parameter."""

    def table(self) -> dict[str, list[Any]]:
        """One row for each eigenvalue of each value of the parameter."""
        rows = []
        for point in self["points"]:
            for re, im in point["eigenvalues"]:
                rows.append({self["parameter"]: point["parameter"], "re": re, "im": im})
        return records(rows)

    def plot(self, *, ax: Any = None) -> Any:  # type: ignore[override]
        """Real and imaginary parts over the parameter."""
        ax = axes(ax)
        table = self.table()
        ax.plot(table[self["parameter"]], table["re"], ".", markersize=3, label="Re")
        ax.plot(table[self["parameter"]], table["im"], ".", markersize=2, color="0.7", label="Im")
        ax.set_xlabel(self["parameter"])
        ax.legend()
        return ax


class Equilibria(Result):
    """States of rest and steady motions."""

    def __len__(self) -> int:
        return len(self["equilibria"])

    @property
    def states(self) -> list[dict[str, float]]:
        """The states."""
        return [e["state"] for e in self["equilibria"]]

    def table(self) -> dict[str, list[Any]]:
        """One row for each."""
        rows = [{k: v for k, v in e.items() if k not in ("eigenvalues", "cyclic")} for e in self["equilibria"]]
        return records(rows)


class Section(Result):
    """The points at which a motion crosses a surface."""

    @property
    def t(self) -> Any:
        """Times."""
        return floats(self._data["t"])

    @property
    def q(self) -> Any:
        """Positions by coordinate."""
        return series(self._data["q"])

    @property
    def v(self) -> Any:
        """Velocities by coordinate."""
        return series(self._data["v"])

    @property
    def observed(self) -> Any:
        """What is observed, by name."""
        return series(self._data["observed"])

    def table(self) -> dict[str, list[Any]]:
        """One row for each point."""
        velocities = {f"{name}'": x for name, x in self._data["v"].items()}
        return {"t": self._data["t"], **self._data["q"], **velocities, **self._data["observed"]}

    def plot(self, x: str, y: str, *, ax: Any = None, **style: Any) -> Any:  # type: ignore[override]
        """The points in the plane of two columns."""
        ax = axes(ax)
        table = self.table()
        ax.plot(table[x], table[y], **{"marker": ".", "linestyle": "", "markersize": 3, **style})
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        return ax


class Lyapunov(Result):
    """Lyapunov exponents with their errors."""

    @property
    def exponents(self) -> Any:
        """The exponents, largest first."""
        return floats(self._data["exponents"])

    @property
    def error(self) -> Any:
        """Their standard errors."""
        return floats(self._data["error"])

    def table(self) -> dict[str, list[Any]]:
        """One row for each exponent."""
        return {"exponent": self._data["exponents"], "error": self._data["error"]}


class Orbit(Result):
    """A periodic motion."""

    @property
    def multipliers(self) -> Any:
        """The multipliers of the return map."""
        return complexes(self._data["multipliers"])

    def motion(self, **options: Any) -> Any:
        """The motion over one period."""
        assert self._model is not None
        return self._model.run(t=self["period"], initial=self["state"], **options)

    def table(self) -> dict[str, list[Any]]:
        """The multipliers."""
        values = self.multipliers
        return {"re": values.real.tolist(), "im": values.imag.tolist()}

    def plot(self, *, ax: Any = None) -> Any:  # type: ignore[override]
        """The multipliers in the complex plane, with the circle that they leave when stability is lost."""
        import numpy as np

        ax = axes(ax)
        angle = np.linspace(0, 2 * np.pi, 200)
        ax.plot(np.cos(angle), np.sin(angle), color="0.8")
        ax.plot(self.multipliers.real, self.multipliers.imag, "x")
        ax.set_aspect("equal")
        return ax


class Continuation(Result):
    """Branches over a parameter, with their special points."""

    def table(self) -> dict[str, list[Any]]:
        """One row for each point."""
        rows = []
        for k, branch in enumerate(self["branches"], 1):
            rows += [{"branch": k, **point} for point in branch["points"]]
        return records(rows)

    @property
    def special(self) -> list[dict[str, Any]]:
        """Folds, branch points, Hopf points, period doublings, tori."""
        return [{"branch": k, **point} for k, b in enumerate(self["branches"], 1) for point in b["special"]]

    def plot(self, name: str | None = None, *, ax: Any = None) -> Any:  # type: ignore[override]
        """A component of the state over the parameter; stable parts are drawn solid."""
        ax = axes(ax)
        for branch in self["branches"]:
            points = branch["points"]
            if not points:
                continue
            name = name or next(iter(points[0]["state"]))
            begin = 0
            for i in range(1, len(points) + 1):
                if i == len(points) or points[i]["stability"] != points[begin]["stability"]:
                    part = points[begin : i + 1]
                    style = "--" if points[begin]["stability"] == "unstable" else "-"
                    ax.plot([p["parameter"] for p in part], [p["state"][name] for p in part], style, color="C0")
                    begin = i
            for point in branch["special"]:
                ax.plot(point["parameter"], point["state"][name], "o", color="C1")
                ax.annotate(point["kind"], (point["parameter"], point["state"][name]))
        ax.set_xlabel(self["parameter"])
        ax.set_ylabel(name or "")
        return ax


class Fit(Result):
    """Parameters found from data."""

    @property
    def values(self) -> dict[str, float]:
        """The parameters."""
        return {name: p["value"] for name, p in self._data["parameters"].items()}

    @property
    def sigma(self) -> dict[str, float]:
        """Their standard deviations."""
        return {name: p["sigma"] for name, p in self._data["parameters"].items()}

    @property
    def covariance(self) -> Any:
        """The covariance matrix."""
        return floats(self._data["covariance"])

    def table(self) -> dict[str, list[Any]]:
        """One row for each parameter."""
        rows = [
            {"parameter": name, "value": p["value"], "sigma": p["sigma"], "low": p["interval"][0],
             "high": p["interval"][1]}
            for name, p in self._data["parameters"].items()
        ]  # fmt: skip
        return records(rows)

    def picture(self) -> Any:
        """The residuals over time, as SVG."""
        from ._html import Picture

        return Picture(self._extra or "")

    def plot(self, *, ax: Any = None) -> Any:  # type: ignore[override]
        """The residuals over time."""
        ax = axes(ax)
        t = floats(self._data["t"])
        for name, residuals in self._data["residuals"].items():
            values = floats(residuals)
            ax.plot(t[: len(values)], values, ".", label=name)
        ax.set_xlabel("t")
        ax.set_ylabel("model - data")
        ax.legend()
        return ax


class Gait(Result):
    """How far a loop of shapes moves a body: ``displacement`` and ``area_rule`` by coordinate."""

    def table(self) -> dict[str, list[Any]]:
        """The displacement of each coordinate."""
        return {"coordinate": list(self["displacement"]), "displacement": list(self["displacement"].values())}


class Measure(Result):
    """Whether the flow keeps a volume."""


class Discovery(Result):
    """Constraints found in measured motions."""

    def to_model(self, text: str | None = None) -> Any:
        """A model of what was found."""
        from ._model import Model

        return Model(text or self["model"])

    def table(self) -> dict[str, list[Any]]:
        """One row for each constraint."""
        return records([{"constraint": row["text"], "ratio": row["ratio"]} for row in self["constraints"]])


def discover(data: Any, coordinates: str | Iterable[str]) -> Discovery:
    """Constraints that are linear in the velocities, from measured motions.

    ``data`` is a table with the columns ``t`` and the coordinates, or a list of such tables.
    """
    from ._motion import table_of

    tables = list(data) if isinstance(data, list | tuple) else [data]
    names = split(coordinates) if isinstance(coordinates, str) else list(coordinates)
    return Discovery(None, *_native.discover([table_of(table) for table in tables], names))


class Difference(Result):
    """Where two tables differ, as |a − b|/(1 + |b|)."""

    def table(self) -> dict[str, list[Any]]:
        """One row for each column that both have."""
        return records([{key: row[key] for key in ("name", "largest", "differing")} for row in self["columns"]])

    def __bool__(self) -> bool:
        return not self["equal"]


def difference(first: Any, second: Any) -> Difference:
    """Where two tables differ: motions, sweeps, or the paths of .csv, .parquet and .arrow files.

    Rows belong together by the columns case, t, check and event where both have them, else by their place.

    >>> import pfaff
    >>> sleigh = pfaff.gallery["sleigh"]
    >>> bool(pfaff.difference(sleigh.run(t=2), sleigh.run(t=2)))
    False
    >>> pfaff.difference(sleigh.run(t=2), sleigh.run(t=2, set={"a": 0.21})).largest > 1e-3
    True
    """
    import os
    import tempfile

    with tempfile.TemporaryDirectory(prefix="pfaff-") as folder:

        def path(table: Any, name: str) -> str:
            if isinstance(table, str | os.PathLike):
                return os.fspath(table)
            if not hasattr(table, "save"):
                raise TypeError(f"a table is a motion, a sweep or a path, not {type(table).__name__}")
            place = os.path.join(folder, name)
            table.save(place)
            return place

        return Difference(None, *_native.difference(path(first, "first.csv"), path(second, "second.csv")))
