"""Motions: what a run gives back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ._errors import UsageError, missing
from ._native import NativeDense, NativeMotion, __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._arrays import Columns, Energy, NamedArray
    from ._model import Model
    from ._text import Assignments

    Floats = NDArray[np.float64]


class Stop:
    """Why and when a run ended."""

    __slots__ = ("reason", "t")

    def __init__(self, reason: str, t: float) -> None:
        self.reason = reason
        self.t = t

    @property
    def is_early(self) -> bool:
        """Whether the run ended before its end, and not by an event."""
        return self.reason not in ("end", "event")

    def __repr__(self) -> str:
        return f"<stop: {self.reason} at t = {self.t:.10g}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stop) and (self.reason, self.t) == (other.reason, other.t)

    def __hash__(self) -> int:
        return hash((self.reason, self.t))


class Audit:
    """Whether the numbers can be trusted: the verdict, and the checks it comes from."""

    def __init__(self, verdict: str, checks: list[dict[str, Any]]) -> None:
        self.verdict = verdict
        self.checks = checks

    @property
    def passed(self) -> bool:
        """Whether the verdict is `pass`."""
        return self.verdict == "pass"

    def __getitem__(self, name: str) -> Any:
        """A check by name, or `verdict` and `checks` as in JSON."""
        if name in ("verdict", "checks"):
            return getattr(self, name)
        for check in self.checks:
            if check["name"] == name:
                return check
        from ._arrays import missing as unknown

        raise unknown(name, [check["name"] for check in self.checks])

    def __bool__(self) -> bool:
        return self.verdict != "fail"

    def __repr__(self) -> str:
        return f"<audit: {self.verdict}, {len(self.checks)} checks>"

    def _repr_html_(self) -> str:
        from ._html import table

        rows = [[c["name"], brief(c["value"]), brief(c["limit"]), c["verdict"]] for c in self.checks]
        return f"<p>audit: <b>{self.verdict}</b></p>" + table(["check", "value", "limit", "verdict"], rows)


def brief(x: Any) -> str:
    """A number for a table."""
    return "–" if x is None else f"{x:.4g}"


class Motion:
    """A motion with its audit.

    >>> import pfaff
    >>> m = pfaff.gallery["sleigh"].run(t=(0, 5), samples=11)
    >>> m.t.shape, m.q["x"].shape, m.q.shape
    ((11,), (11,), (11, 3))
    >>> bool(m["lambda(blade)"][0] == m.multipliers["blade"][0])
    True
    >>> m(2.5).shape, m([1.0, 2.0]).shape
    ((6,), (2, 6))
    >>> m.audit.verdict
    'pass'

    Arrays belong to the motion and cannot be written to; take a copy to change them.
    """

    _native: NativeMotion | None
    _model: Model
    _options: str
    _times: list[float] | None
    _overrides: tuple[Assignments, Assignments]
    _table: dict[str, Any] | None
    _json: dict[str, Any] | None
    _dense: NativeDense | None
    _stop: Stop | None

    @classmethod
    def _of(
        cls,
        native: NativeMotion,
        model: Model,
        options: str,
        times: list[float] | None,
        overrides: tuple[Assignments, Assignments],
    ) -> Motion:
        self = cls.__new__(cls)
        self._native, self._model = native, model
        self._options, self._times, self._overrides = options, times, overrides
        self._table = self._json = self._dense = self._stop = None
        return self

    # Columns

    def _columns(self) -> dict[str, Any]:
        if self._table is None:
            assert self._native is not None, "a motion has its columns or their source"
            self._table = self._native.columns()
        return self._table

    def _group(self, name: str) -> Columns:
        from ._arrays import Columns

        return Columns(self._columns()[name])

    def _about(self, name: str) -> Any:
        if self._json is None:
            assert self._native is not None, "a motion has its description or its source"
            self._json = json.loads(self._native.about())
        return self._json.get(name)

    @property
    def model(self) -> Model:
        """The model, with its own parameters and initial values."""
        return self._model

    @property
    def t(self) -> Floats:
        """Output times."""
        return self._columns()["t"]  # type: ignore[no-any-return]

    @property
    def q(self) -> Columns:
        """Positions by coordinate."""
        return self._group("q")

    @property
    def v(self) -> Columns:
        """Velocities by coordinate."""
        return self._group("v")

    @property
    def a(self) -> Columns:
        """Accelerations by coordinate."""
        return self._group("a")

    @property
    def multipliers(self) -> Columns:
        """λ by constraint, or μ under the vakonomic principle."""
        return self._group("multipliers")

    @property
    def multiplier_rates(self) -> Columns:
        """The rates of μ by constraint, under the vakonomic principle."""
        return self._group("multiplier_rates")

    @property
    def reactions(self) -> Columns:
        """R by coordinate."""
        return self._group("reactions")

    @property
    def observed(self) -> Columns:
        """What is observed, by name."""
        return self._group("observed")

    @property
    def energy(self) -> Energy:
        """The energy E as an array; ``["constraint"]`` and ``["total"]`` are the others."""
        from ._arrays import Energy

        columns = self._columns()
        return Energy(columns["energy"], columns["constraint_energy"])

    @property
    def reaction_power(self) -> Floats:
        """R·q'."""
        return self._columns()["reaction_power"]  # type: ignore[no-any-return]

    @property
    def work(self) -> Floats:
        """The work of forces and reactions since the start."""
        return self._columns()["work"]  # type: ignore[no-any-return]

    def _named(self) -> dict[str, Any]:
        """All columns of a table, by name in their order."""
        columns = self._columns()
        word = {"vakonomic": "mu", "restricted": "p"}.get(self.principle or "", "lambda")
        named = {"t": columns["t"]}
        for group, before, after in (
            ("q", "", ""), ("v", "", "'"), ("a", "", "''"), ("multipliers", f"{word}(", ")"),
            ("multiplier_rates", f"{word}(", ")'"), ("reactions", "reaction(", ")"),
        ):  # fmt: skip
            named |= {f"{before}{name}{after}": values for name, values in columns[group].items()}
        if len(columns["energy"]):
            named["reaction_power"] = columns["reaction_power"]
            named["energy"] = columns["energy"]
            if self.principle != "chetaev":
                named["energy_constraint"] = columns["constraint_energy"]
            named["work"] = columns["work"]
        named.update(columns["observed"])
        return named

    def __getitem__(self, name: str) -> Floats:
        """A column by the name that it has in tables: `x`, `x'`, `lambda(blade)`, `reaction(x)`, `energy`, …"""
        named = self._named()
        if name not in named:
            from ._arrays import missing as unknown

            raise unknown(name, list(named))
        return named[name]  # type: ignore[no-any-return]

    def keys(self) -> list[str]:
        """The names of all columns."""
        return list(self._named())

    def __iter__(self) -> Iterator[str]:
        return iter(self._named())

    def __contains__(self, name: object) -> bool:
        return name in self._named()

    def __len__(self) -> int:
        return len(self.t)

    def __call__(self, t: ArrayLike) -> NamedArray:
        """Positions and velocities at any times of the run; not numbers before its start and after its end."""
        import numpy as np

        from ._arrays import NamedArray

        if self._dense is None:
            assert self._native is not None, "a motion has its dense output or its source"
            self._dense = self._native.dense()
        times = np.asarray(t)
        if times.dtype.kind not in "fiub":
            raise TypeError(f"t must hold real numbers, not {times.dtype}")
        times = np.asarray(times, dtype=float, order="C")
        names = [*self.q.names, *(f"{name}'" for name in self.q.names)]
        states = self._dense.states(np.ascontiguousarray(times.reshape(-1)))
        return NamedArray(states.reshape(*times.shape, len(names)), names)

    # Everything else

    @property
    def stop(self) -> Stop:
        """Why and when it ended."""
        if self._stop is None:
            if self._native is not None:
                self._stop = Stop(*self._native.stop())
            else:
                self._stop = Stop(**self._about("stop"))
        return self._stop

    @property
    def audit(self) -> Audit:
        """Whether the numbers can be trusted."""
        return Audit(**self._about("audit"))

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events in the order of the run, each with `name`, `t`, `direction`, `q`, `v` and more."""
        return list(self._about("events"))

    @property
    def notes(self) -> list[str]:
        """What the run did that was not asked for."""
        return list(self._about("notes"))

    @property
    def statistics(self) -> dict[str, Any]:
        """What it cost."""
        return dict(self._about("statistics"))

    @property
    def principle(self) -> str | None:
        """The principle; none for a model of equations."""
        return self._about("principle")  # type: ignore[no-any-return]

    @property
    def method(self) -> str:
        """The method that was used."""
        return str(self._about("method"))

    @property
    def title(self) -> str:
        """The title of the model."""
        return str(self._about("model"))

    @property
    def errors(self) -> dict[str, float]:
        """Estimated errors at the end, by coordinate."""
        return dict(self._about("errors"))

    @property
    def solutions(self) -> list[dict[str, Any]]:
        """The motions between given ends that were found, least action first."""
        return list(self._about("solutions") or [])

    @property
    def sensitivities(self) -> dict[str, Any]:
        """Derivatives by what the run was asked for: ``m.sensitivities["a"]["q"]["x"]``."""
        import numpy as np

        def arrays(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: arrays(item) for key, item in value.items()}
            if isinstance(value, list) and not (value and isinstance(value[0], dict)):
                return np.array([np.nan if x is None else x for x in value], dtype=float)
            return value

        return {name: arrays(value) for name, value in (self._about("sensitivities") or {}).items()}

    @property
    def transition(self) -> tuple[list[str], Floats] | None:
        """The names of the state, and its transition matrix at each output time."""
        import numpy as np

        found = self._about("transition")
        return None if found is None else (found["names"], np.array(found["matrices"], dtype=float))

    @property
    def gradient(self) -> dict[str, Any] | None:
        """The gradient that the run was asked for: `of`, `value` and `by`."""
        return self._about("gradient")  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """The motion as `pfaff run --json` has it."""
        return json.loads(self._source().file("json"))  # type: ignore[no-any-return]

    # Tables

    def to_pandas(self) -> Any:
        """All columns as a DataFrame."""
        try:
            import pandas as pd
        except ImportError:
            raise missing("pandas", "to_pandas()") from None
        frame = pd.DataFrame({name: values.copy() for name, values in self._named().items()})
        frame.attrs.update(self._label())
        return frame

    def to_arrow(self) -> Any:
        """All columns as an Arrow table, without copies."""
        try:
            import pyarrow as pa
        except ImportError:
            raise missing("pyarrow", "to_arrow()") from None
        named = self._named()
        return pa.table(dict(named.items())).replace_schema_metadata(self._label())

    def to_xarray(self) -> Any:
        """All columns as a Dataset over the dimension `t`."""
        try:
            import xarray as xr
        except ImportError:
            raise missing("xarray", "to_xarray()") from None
        named = self._named()
        t = named.pop("t")
        return xr.Dataset({name: ("t", values) for name, values in named.items()}, {"t": t}, self._label())

    def _label(self) -> dict[str, str]:
        stop, audit = self.stop.reason, self.audit.verdict
        return {"model": self.title, "principle": self.principle or "", "stop": stop, "audit": audit}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a table: .csv, .json, .parquet or .arrow."""
        ending = os.fspath(path).rpartition(".")[2]
        data = self._source().file(ending)
        with open(path, "wb") as file:
            file.write(data)

    # Pictures and pages

    def _source(self) -> NativeMotion:
        if self._native is None:
            # NOTE: the same text and options give the same bits again.
            self._native, _ = self._model._run(self._options, self._times, *self._overrides, None)
        return self._native

    def plot(self, *names: str, against: str | None = None, ax: Any = None, **style: Any) -> Any:
        """Curves of columns: two names give one over the other, one or several more give each over time.

        With matplotlib the axes come back; without it, a picture that notebooks show and ``save`` writes as SVG.
        """
        columns = list(names) or self.q.names
        if against is None:
            against = columns.pop(0) if len(names) == 2 else "t"
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            from ._html import Picture

            return Picture(self._source().figure(columns, against, (640.0, 400.0)))
        if ax is None:
            _, ax = plt.subplots()
        for name in columns:
            ax.plot(self[against], self[name], **{"label": name, **style})
        ax.set_xlabel(against)
        if len(columns) == 1:
            ax.set_ylabel(columns[0])
        else:
            ax.legend()
        lengths = {against, *columns} <= {*self.q.names}
        if against != "t" and lengths:
            ax.set_aspect("equal", adjustable="datalim")
        return ax

    def animate(self, height: int = 560) -> Any:
        """The motion with its animation, for a notebook; ``save`` writes the page."""
        from ._html import Page

        return Page(self._page(), height)

    def report(self, path: str | os.PathLike[str] | None = None) -> Any:
        """One page with animation, equations, plots and audit, that needs no network; written to a path if given."""
        from ._html import Page

        page = Page(self._page(), 800)
        if path is not None:
            page.save(path)
        return page

    def _page(self) -> str:
        shell = self._model._shell(self._options, self._times, *self._overrides)
        varied = self._model._varied(*self._overrides)
        return varied.report(self._options, self._model.name, shell, self._source())

    def summary(self) -> str:
        """What `pfaff run` prints."""
        return self._source().summary()

    def __repr__(self) -> str:
        verdict = self._native.verdict() if self._native is not None else self.audit.verdict
        return f"<pfaff.Motion {self.title!r}: {self.stop.reason} at t = {self.stop.t:.10g}, audit {verdict}>"

    def _repr_html_(self) -> str:
        from ._html import motion_view

        return motion_view(self)

    # Pickles

    def __getstate__(self) -> dict[str, Any]:
        import numpy as np

        if self._dense is None and self._native is not None:
            self._dense = self._native.dense()
        nodes = self._dense.nodes() if self._dense is not None else None
        self._about("stop")

        def copied(value: Any) -> Any:
            return {k: copied(v) for k, v in value.items()} if isinstance(value, dict) else np.array(value)

        return {
            "pfaff": __version__,
            "model": self._model,
            "options": self._options,
            "times": self._times,
            "overrides": self._overrides,
            "columns": copied(self._columns()),
            "about": self._json,
            "nodes": nodes,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        from ._model import check_version

        check_version(state, "motion")
        self._native, self._model = None, state["model"]
        self._options, self._times, self._overrides = state["options"], state["times"], state["overrides"]
        self._table, self._json, self._stop = state["columns"], state["about"], None
        t, rows = state["nodes"]
        self._dense = NativeDense(len(state["columns"]["q"]), t, rows)
        for value in self._table.values() if self._table else []:
            for array in value.values() if isinstance(value, dict) else [value]:
                array.setflags(write=False)


def table_of(table: Any) -> str:
    """A table as text with a line of names: a path, a motion, a DataFrame, an Arrow table or a mapping of arrays."""
    if isinstance(table, str | os.PathLike):
        with open(table, encoding="utf-8") as file:
            return file.read()
    if isinstance(table, Motion):
        return bytes(table._source().file("csv")).decode("utf-8")
    if hasattr(table, "to_pydict"):
        table = table.to_pydict()
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        table = {str(name): table[name].tolist() for name in table.columns}
    if not isinstance(table, Mapping):
        what = type(table).__name__
        raise TypeError(f"a table is a path, a motion, a DataFrame or a mapping of columns, not {what}")
    columns = {str(name): list(values) for name, values in table.items()}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise UsageError(f"the columns of a table must be equally long, not {sorted(lengths)}")

    def cell(x: Any) -> str:
        return "" if x is None or x != x else repr(float(x))

    def head(name: str) -> str:
        return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name

    lines = [",".join(map(head, columns))]
    lines += [",".join(map(cell, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(lines) + "\n"
