"""Sweeps: many motions of one model, on all cores of a machine or on a Dask cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import UsageError, missing
from ._model import Model, given_times, run_options, shown
from ._text import Assignments, expression, is_sympy

if TYPE_CHECKING:
    from ._model import Progress, Times


class ClusterError(RuntimeError):
    """A cluster could not finish a sweep; ``partial`` has what is complete, and ``resume`` goes on with it."""

    def __init__(self, text: str, partial: Sweep) -> None:
        super().__init__(text)
        self.partial = partial


def sweep(
    model: Model,
    grid: Any = None,
    *,
    draw: Mapping[str, str] | str | None = None,
    count: int | None = None,
    seed: int = 0,
    sampling: str = "random",
    keep: str = "final",
    t: Times = None,
    principle: str | None = None,
    tolerance: float | None = None,
    method: str | None = None,
    at: Iterable[float] | None = None,
    samples: int | None = None,
    step: float | None = None,
    max_steps: int | None = None,
    set: Assignments = None,
    initial: Assignments = None,
    threads: int | None = None,
    client: Any = None,
    chunk: int | None = None,
    retries: int = 3,
    resume: Sweep | None = None,
    output: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Sweep:
    """Many motions with other values of parameters (``a``) and of the start (``x'(0)``).

    ``grid`` is a mapping of names to values, whose product is taken, the last varying fastest; or a text
    ``"a=0.1..0.5:50, x'=[1, 2]"``; or a DataFrame (or Arrow table) with a row for each case. ``draw`` adds ``count``
    random draws: ``{"a": "normal(0.2, 0.01)"}``. ``keep`` is final, samples, events, observe or audit.

    All cores of this machine work; with ``client``, a ``dask.distributed.Client``, the cases go to its workers in chunks
    of ``chunk`` cases, each tried again up to ``retries`` times. The table is the same, in the order of the cases.
    ``output`` writes it to a .csv or .parquet file.
    """
    options = run_options(
        t, principle=principle, tolerance=tolerance, method=method, samples=samples, step=step, max_steps=max_steps,
        at=None if at is None else given_times(at),
    )  # fmt: skip
    options |= {"keep": keep, "threads": threads, "sampling": sampling, "seed": seed, "count": count}
    options |= cases_of(grid)
    if draw is not None:
        if count is None:
            raise UsageError("draws need a `count`")
        options["draw"] = draw if isinstance(draw, str) else ", ".join(f"{k}~{v}" for k, v in draw.items())
    if not (options.get("vary") or options.get("table_names") or options.get("draw")):
        raise UsageError("a sweep needs something to vary")
    changed = model if set is None and initial is None else model.with_(set=set, initial=initial)
    text = json.dumps({key: value for key, value in options.items() if value is not None})
    plan = json.loads(changed._native.sweep_plan(text))
    if resume is not None and (resume._options, resume.model) != (text, changed):
        raise UsageError("`resume` belongs to another sweep")
    begin = resume.complete if resume is not None else 0
    if client is None:
        (reached, columns), interrupted = changed._native.sweep(text, begin, plan["cases"], shown(progress))
        table = Sweep(changed, text, plan, columns, reached)
        if resume is not None:
            table = joined([resume, table])
        if interrupted:
            stopped = KeyboardInterrupt(f"the sweep was interrupted after {reached} of {plan['cases']} cases")
            stopped.partial = table  # type: ignore[attr-defined]
            raise stopped
    else:
        table = on_cluster(changed, text, plan, client, chunk, retries, resume)
    if output is not None:
        table.save(output)
    return table


def cases_of(grid: Any) -> dict[str, Any]:
    """What is varied, as options."""
    if grid is None:
        return {}
    if isinstance(grid, str):
        return {"vary": grid}
    if hasattr(grid, "to_pydict"):
        grid = Rows(grid.to_pydict())
    elif hasattr(grid, "to_dict") and hasattr(grid, "columns"):
        grid = Rows({str(name): grid[name].tolist() for name in grid.columns})
    if isinstance(grid, Rows):
        columns = {name: [number(x, name) for x in values] for name, values in grid.items()}
        return {"table_names": list(columns), **{f"table:{name}": values for name, values in columns.items()}}
    if not isinstance(grid, Mapping):
        what = type(grid).__name__
        raise TypeError(f"a grid is a mapping of names to values, a text, or a DataFrame, not {what}")
    parts = []
    for name, values in grid.items():
        key = expression(name) if is_sympy(name) else str(name)
        if isinstance(values, str):
            parts.append(f"{key}={values}")
            continue
        listed = [values] if not isinstance(values, Iterable) else values
        numbers = [number(x, key) for x in listed]
        if not numbers:
            raise UsageError(f"`{key}` has no values")
        parts.append(f"{key}=[{', '.join(map(repr, numbers))}]")
    return {"vary": ", ".join(parts)}


class Rows(dict[str, list[Any]]):
    """Columns of given cases."""


def number(value: Any, name: str) -> float:
    """A value of a case."""
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` has a value that is no real number: {value!r}") from None
    if x != x or x in (float("inf"), float("-inf")):
        raise UsageError(f"`{name}` has the value {x}, and must be finite")
    return x


class Sweep(Mapping[str, Any]):
    """The table of a sweep: columns `case`, what is varied, `stop`, `t`, what is kept, `audit`."""

    def __init__(self, model: Model, options: str, plan: dict[str, Any], columns: dict[str, Any], complete: int) -> None:
        self._model, self._options, self._plan, self._columns = model, options, plan, columns
        #: How many cases are complete, from the first on.
        self.complete = complete

    @property
    def model(self) -> Model:
        """The model."""
        return self._model

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return int(self._plan["cases"])

    @property
    def varied(self) -> list[str]:
        """The columns of what is varied."""
        return list(self._plan["varied"])

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            from ._arrays import missing as unknown

            raise unknown(name, list(self._columns))
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._columns.values()), ()))

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if not isinstance(other, Sweep) or list(self) != list(other):
            return False
        same = [np.array_equal(self[k], other[k], equal_nan=not isinstance(self[k], list)) for k in self]
        return all(same)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<pfaff.Sweep of {self._model.title!r}: {self.complete} of {self.cases} cases, {self.rows} rows>"

    def to_pandas(self) -> Any:
        """The table as a DataFrame."""
        try:
            import pandas as pd
        except ImportError:
            raise missing("pandas", "to_pandas()") from None
        return pd.DataFrame(dict(self._columns))

    def to_arrow(self) -> Any:
        """The table as an Arrow table."""
        try:
            import pyarrow as pa
        except ImportError:
            raise missing("pyarrow", "to_arrow()") from None
        return pa.table(dict(self._columns))

    def to_xarray(self) -> Any:
        """A cube with the varied quantities as coordinates; for ``keep="samples"`` with the time as another."""
        try:
            import xarray as xr
        except ImportError:
            raise missing("xarray", "to_xarray()") from None
        import numpy as np

        axes = {name: np.unique(self[name]) for name in self.varied}
        shape = [len(axis) for axis in axes.values()]
        per_case = self.rows // max(self.complete, 1)
        if self.complete != int(np.prod(shape)) or self.rows != per_case * self.complete:
            raise UsageError("only a whole grid with equally many rows for each case is a cube")
        places = [np.searchsorted(axis, self[name]) for name, axis in axes.items()]
        dimensions = list(axes)
        coordinates: dict[str, Any] = dict(axes)
        if per_case > 1:
            if json.loads(self._options)["keep"] not in ("samples", "observe"):
                raise UsageError("events and checks of different cases make no cube")
            dimensions.append("sample")
            shape.append(per_case)
            places.append(np.tile(np.arange(per_case), self.complete))
        flat = np.ravel_multi_index(tuple(places), tuple(shape))
        variables = {}
        for name, values in self._columns.items():
            if name in axes or name == "case":
                continue
            column = np.asarray(values)
            cube = np.empty(len(column), dtype=column.dtype)
            cube[flat] = column
            variables[name] = (dimensions, cube.reshape(shape))
        return xr.Dataset(variables, coordinates, {"model": self._model.title})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the table: .parquet (needs pyarrow) or .csv."""
        path = os.fspath(path)
        if path.endswith(".parquet"):
            try:
                import pyarrow.parquet as pq
            except ImportError:
                raise missing("pyarrow", "writing Parquet") from None
            pq.write_table(self.to_arrow(), path)
        elif path.endswith(".csv"):
            import csv

            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(list(self))
                for row in zip(*(list(self[name]) for name in self), strict=True):
                    writer.writerow(["" if x != x else repr(float(x)) if hasattr(x, "hex") else x for x in row])
        else:
            raise UsageError(f"`{path}`: a table must end in .csv or .parquet")

    def _repr_html_(self) -> str:
        from ._html import table

        rows = [list(row) for row, _ in zip(zip(*self._columns.values(), strict=True), range(10), strict=False)]
        more = f"<p>{self.rows} rows</p>" if self.rows > 10 else ""
        shown_rows = [[f"{x:.6g}" if hasattr(x, "hex") else x for x in row] for row in rows]
        return table(list(self), shown_rows) + more

    def __getstate__(self) -> dict[str, Any]:
        return {"pfaff": _native.__version__, **self.__dict__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from ._model import check_version

        check_version(state, "sweep")
        self.__dict__ |= {key: value for key, value in state.items() if key != "pfaff"}


def joined(parts: list[Sweep]) -> Sweep:
    """Consecutive parts of a sweep as one."""
    import numpy as np

    first, last = parts[0], parts[-1]
    columns: dict[str, Any] = {}
    for name in first:
        values = [part[name] for part in parts]
        columns[name] = sum(values, []) if isinstance(values[0], list) else np.concatenate(values)
    return Sweep(first.model, first._options, first._plan, columns, last.complete)


def run_chunk(model: Model, options: str, first: int, end: int, threads: int | None = None) -> tuple[int, Any]:
    """The rows of some cases, on a worker."""
    if threads is not None:
        options = json.dumps({**json.loads(options), "threads": threads})
    (reached, columns), _ = model._native.sweep(options, first, end, None)
    return reached, columns


def on_cluster(
    model: Model, options: str, plan: dict[str, Any], client: Any, chunk: int | None, retries: int, resume: Sweep | None
) -> Sweep:
    """The sweep by the workers of a Dask cluster, chunk by chunk."""
    try:
        from distributed import as_completed
    except ImportError:
        raise missing("distributed", "a sweep on a cluster") from None
    begin = resume.complete if resume is not None else 0
    cases = int(plan["cases"])
    try:
        workers = client.scheduler_info()["workers"]
        cores = sum(int(w["nthreads"]) for w in workers.values()) or 1
    except Exception as error:
        empty = resume or Sweep(model, options, plan, empty_columns(plan), 0)
        raise ClusterError(f"the cluster does not answer: {error}", empty) from error
    size = chunk or max(1, min(4096, -(-(cases - begin) // (8 * cores))))
    bounds = [(a, min(a + size, cases)) for a in range(begin, cases, size)]
    found: dict[int, Sweep] = {}

    def partial() -> Sweep:
        parts = [resume] if resume is not None else []
        for a, _ in bounds:
            if a not in found:
                break
            parts.append(found[a])
        return joined(parts) if parts else Sweep(model, options, plan, empty_columns(plan), 0)

    # One thread for each task: the tasks of a worker are as many as its threads.
    futures: dict[Any, tuple[int, int]] = {}
    try:
        for a, b in bounds:
            future = client.submit(run_chunk, model, options, a, b, 1, pure=False, retries=retries)
            futures[future] = (a, b)
        for future in as_completed(list(futures)):  # type: ignore[no-untyped-call, unused-ignore]
            a, _ = futures[future]
            reached, columns = future.result()
            found[a] = Sweep(model, options, plan, columns, reached)
    except KeyboardInterrupt as stopped:
        client.cancel(list(futures))
        stopped.partial = partial()  # type: ignore[attr-defined]
        raise
    except Exception as error:
        try:
            client.cancel(list(futures))
        except Exception:
            pass
        done = partial()
        raise ClusterError(
            f"the cluster could not finish the sweep ({type(error).__name__}: {error}); {done.complete} of {cases} cases "
            "are complete and in `partial` of this error: sweep(…, resume=error.partial) goes on",
            done,
        ) from error
    return partial()


def empty_columns(plan: dict[str, Any]) -> dict[str, Any]:
    """The columns of a sweep without rows."""
    import numpy as np

    texts = {"stop", "audit", "event", "direction", "check", "verdict"}
    return {name: [] if name in texts else np.empty(0) for name in plan["columns"]}
