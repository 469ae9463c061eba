"""Models, and everything that is asked of them."""

from __future__ import annotations

import json
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import InterruptedWarning, UsageError, VersionError
from ._text import Assignments, assignments, expression, joined, model_text, names

if TYPE_CHECKING:
    from ._equations import Equations
    from ._motion import Motion
    from ._results import (
        Check,
        Comparison,
        Continuation,
        Equilibria,
        Fit,
        Gait,
        Geometry,
        Linearization,
        Lyapunov,
        Measure,
        Orbit,
        RootLocus,
        Section,
        Trace,
        Variations,
    )
    from ._sweep import Sweep

#: Models with other values that are kept ready.
KEPT = 64

Times = float | tuple[float, float] | None
Progress = Callable[[float, float], object] | bool | None


class Model:
    """A constrained system as a text of the model language, or built from Python.

    >>> import pfaff
    >>> model = pfaff.Model('''
    ... coordinates  x
    ... parameters   k = 1
    ... lagrangian   x'^2/2 - k*x^2/2
    ... initial      x = 1
    ... ''')
    >>> model.run(t=1)["x"][-1].round(6)
    np.float64(0.540302)

    The same from parts, which may be strings, numbers, arrays or SymPy expressions:

    >>> model = pfaff.Model(coordinates=["x"], parameters={"k": 1}, lagrangian="x'^2/2 - k*x^2/2", initial={"x": 1})
    >>> model.parameters
    {'k': 1.0}

    Nothing that is done with a model changes it.
    """

    def __init__(
        self,
        text: str | None = None,
        *,
        name: str = "model",
        folder: str | os.PathLike[str] | None = ".",
        set: Assignments = None,
        start: Assignments = None,
        **parts: Any,
    ) -> None:
        if text is not None and parts:
            raise UsageError(f"a model is a text or parts, not both: `{next(iter(parts))}` is a part")
        if text is None:
            text = model_text(parts)
        elif not isinstance(text, str):
            raise TypeError(f"the text of a model is a string, not {type(text).__name__}")
        folder = None if folder is None else os.fspath(folder)
        self._begin(text, name, folder, assignments(set, "set"), assignments(start, "initial"))

    def _begin(self, text: str, name: str, folder: str | None, set: dict[str, str], initial: dict[str, str]) -> None:
        self._text, self._name, self._folder = text, name, folder
        self._set, self._initial = set, initial
        self._native = _native.NativeModel(text, name, folder, joined(set), joined(initial))
        self._kept: OrderedDict[tuple[str | None, str | None], _native.NativeModel] = OrderedDict()
        self._declared: dict[str, Any] | None = None

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], *, set: Assignments = None, initial: Assignments = None
    ) -> Model:
        """The model in a file; its data files are looked for beside it.

        A name without a file is looked for in the gallery.
        """
        path = os.fspath(path)
        if not os.path.exists(path) and path in gallery:
            return gallery[path].with_(set=set, initial=initial)
        with open(path, "rb") as file:
            data = file.read()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"`{path}` is no UTF-8 text: {error}") from None
        self = cls.__new__(cls)
        folder = os.path.dirname(path) or "."
        self._begin(text, path, folder, assignments(set, "set"), assignments(initial, "initial"))
        return self

    def with_(self, *, set: Assignments = None, initial: Assignments = None) -> Model:
        """The same model with other parameters and initial values.

        >>> import pfaff
        >>> pfaff.gallery["sleigh"].with_(set={"a": 0.3}).parameters["a"]
        0.3
        """
        self_ = Model.__new__(Model)
        merged = {**self._set, **assignments(set, "set")}
        start = {**self._initial, **assignments(initial, "initial")}
        self_._begin(self._text, self._name, self._folder, merged, start)
        return self_

    def _varied(self, set: Assignments, initial: Assignments) -> _native.NativeModel:
        if not set and not initial:
            return self._native
        # NOTE: a model stays ready under the values that it was asked with.
        changed = joined({**self._set, **assignments(set, "set")})
        start = joined({**self._initial, **assignments(initial, "initial")})
        key = (changed, start)
        found = self._kept.get(key)
        if found is None:
            found = self._native.varied(changed, start)
            self._kept[key] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    # What it declares

    def _info(self, name: str) -> Any:
        if self._declared is None:
            self._declared = json.loads(self._native.info())
        return self._declared[name]

    @property
    def text(self) -> str:
        """The text of the model language."""
        return self._text

    @property
    def title(self) -> str:
        """The title, or the name of the text."""
        return str(self._info("title") or self._info("name"))

    @property
    def name(self) -> str:
        """How the text is called: a path, the name of a gallery model, or `model`."""
        return self._name

    @property
    def coordinates(self) -> list[str]:
        """The names of the scalar coordinates, in declared order."""
        return list(self._info("coordinates"))

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters and their values."""
        return dict(self._info("parameters"))

    @property
    def constraints(self) -> list[str]:
        """The names of the scalar constraints, in declared order."""
        return list(self._info("constraints"))

    @property
    def observed(self) -> list[str]:
        """The names of what is observed."""
        return list(self._info("observed"))

    @property
    def events(self) -> list[str]:
        """The names of the events."""
        return list(self._info("events"))

    @property
    def principle(self) -> str:
        """The principle of the text."""
        return str(self._info("principle"))

    @property
    def remarks(self) -> list[str]:
        """What is worth knowing of the text although it is right."""
        return [f"{r['code']}: {r['message']}" for r in self._native.remarks()]

    def __repr__(self) -> str:
        return f"<pfaff.Model {self.title!r}: {', '.join(self.coordinates[:6])}>"

    def _repr_html_(self) -> str:
        from ._html import model_view

        return model_view(self)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "pfaff": _native.__version__,
            "text": self._text,
            "name": self._name,
            "folder": self._folder,
            "set": self._set,
            "initial": self._initial,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_version(state, "model")
        self._begin(state["text"], state["name"], state["folder"], state["set"], state["initial"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash((self._text, self._name, joined(self._set), joined(self._initial)))

    # Motions and equations

    def run(
        self,
        t: Times = None,
        *,
        principle: str | None = None,
        set: Assignments = None,
        initial: Assignments = None,
        tolerance: float | None = None,
        method: str | None = None,
        at: Iterable[float] | None = None,
        samples: int | None = None,
        step: float | None = None,
        max_steps: int | None = None,
        precision: str | None = None,
        seed: int | None = None,
        sensitivity: str | Iterable[str] | None = None,
        second: bool = False,
        transition: bool = False,
        gradient: str | None = None,
        by: str | Iterable[str] | None = None,
        guess: Assignments = None,
        start_from: Any = None,
        lead: Assignments = None,
        seconds: float | None = None,
        dense: bool = True,
        backend: str | None = None,
        progress: Progress = None,
        on_interrupt: str = "return",
    ) -> Motion:
        """A motion with its audit.

        ``t`` is the end, or start and end; without it the model's own. ``set`` and ``initial`` give other parameters
        and initial values. Outputs are ``at`` given times, or at so many ``samples``. ``precision="double_double"``
        gives some thirty digits; another ``seed`` gives another path of a model with noise. ``sensitivity`` names
        parameters and initial values by which the motion is differentiated, ``second`` asks for second derivatives by
        them too; ``gradient`` names an observed quantity
        whose gradient ``by`` such names is found by the adjoint equations. Between given ends, ``guess``,
        ``start_from`` (a motion) and ``lead`` say where the search begins.

        Ctrl-C stops the run: it returns what was computed, with ``stop.reason == "interrupted"`` and a warning. With
        ``on_interrupt="raise"`` it raises ``KeyboardInterrupt``, whose ``motion`` has what was computed.

        >>> import pfaff
        >>> m = pfaff.gallery["sleigh"].run(t=(0, 5), set={"a": 0.3}, initial={"x'": 2}, tolerance=1e-10)
        >>> m.stop.reason, m.stop.t
        ('end', 5.0)
        """
        from ._motion import Motion, table_of

        if on_interrupt not in ("return", "raise"):
            raise ValueError('on_interrupt must be "return" or "raise"')
        options = run_options(
            t, principle=principle, tolerance=tolerance, method=method, samples=samples, step=step,
            max_steps=max_steps, precision=precision, seed=seed, sensitivity=names(sensitivity), second=second,
            transition=transition, gradient=gradient, by=names(by),
            guess=joined(assignments(guess, "guess")), lead=joined(assignments(lead, "lead")),
            seconds=seconds, dense=dense, backend=backend,
        )  # fmt: skip
        if start_from is not None:
            options["from_table"] = table_of(start_from)
        times = None if at is None else given_times(at)
        text = json.dumps(options)
        found, interrupted = self._run(text, times, set, initial, shown(progress))
        motion = Motion._of(found, self, text, times, (set, initial))
        if interrupted:
            if on_interrupt == "raise":
                stopped = KeyboardInterrupt(f"the run was interrupted at t = {motion.stop.t}")
                stopped.motion = motion  # type: ignore[attr-defined]
                raise stopped
            import warnings

            warnings.warn(
                f"the run was interrupted at t = {motion.stop.t}; the motion ends there", InterruptedWarning, 2
            )
        return motion

    def _run(
        self, options: str, times: list[float] | None, set: Assignments, initial: Assignments, progress: Any
    ) -> tuple[_native.NativeMotion, bool]:
        """A motion: with numbers of the same names as before, nothing is read or compiled again."""
        values = plain_numbers(set, initial)
        found = None if values is None else self._native.run(options, times, progress, values)
        if found is None:
            found = self._varied(set, initial).run(options, times, progress)
        assert found is not None, "without values a run is never left to another"
        return found

    def derive(
        self, principle: str | None = None, *, set: Assignments = None, initial: Assignments = None
    ) -> Equations:
        """The equations of motion under a principle: chetaev, vakonomic or restricted.

        >>> import pfaff
        >>> eq = pfaff.gallery["sleigh"].derive()
        >>> eq.acceleration({"x'": 1, "phi'": 0.3}).round(6)
        array([ 0.018   ,  0.3     , -0.111111])
        """
        from ._equations import Equations

        native = self._varied(set, initial)
        return Equations(self, native, native.equations(principle))

    def to_sympy(self, principle: str | None = None) -> Any:
        """L, φ and the blocks M, f, A, b of the equations as SymPy objects."""
        return self.derive(principle).to_sympy()

    # Commands

    def _command(self, name: str, options: Mapping[str, Any], set: Assignments, initial: Assignments) -> Any:
        given = {key: value for key, value in options.items() if value is not None}
        return self._varied(set, initial).command(name, json.dumps(given), None)

    def check(self, *, temperature: float | None = None, set: Assignments = None) -> Check:
        """Degrees of freedom, the class of each constraint, integrable or not, regular or not.

        >>> import pfaff
        >>> pfaff.gallery["sleigh"].check().degrees_of_freedom
        2
        """
        from ._results import Check

        return Check(self, *self._command("check", {"temperature": temperature}, set, None))

    def compare(
        self,
        principles: Sequence[str] | None = None,
        t: Times = None,
        *,
        set: Assignments = None,
        initial: Assignments = None,
        tolerance: float | None = None,
        at: Iterable[float] | None = None,
        samples: int | None = None,
    ) -> Comparison:
        """Principles side by side."""
        from ._results import Comparison

        options = run_options(t, tolerance=tolerance, samples=samples, at=None if at is None else given_times(at))
        options["principles"] = None if principles is None else list(principles)
        return Comparison(self, *self._command("compare", options, set, initial))

    def variations(
        self,
        vary: Assignments,
        motion: Assignments = None,
        t: Times = None,
        *,
        principle: str | None = None,
        set: Assignments = None,
        initial: Assignments = None,
        at: Iterable[float] | None = None,
        samples: int | None = None,
    ) -> Variations:
        """Variations of a motion under the principles: what Chetaev's condition and the constraints say of them."""
        from ._results import Variations

        options = run_options(t, principle=principle, samples=samples, at=None if at is None else given_times(at))
        options["vary"] = joined(assignments(vary, "vary")) or ""
        options["motion"] = joined(assignments(motion, "motion"))
        return Variations(self, *self._command("variations", options, set, initial))

    def geometry(
        self,
        part: str | Iterable[str] | None = None,
        *,
        dependent: str | Iterable[str] | None = None,
        state: Assignments = None,
        curve: str | None = None,
        motion: str | None = None,
        fractional: str | None = None,
        t: Times = None,
        set: Assignments = None,
        initial: Assignments = None,
        tolerance: float | None = None,
        at: Iterable[float] | None = None,
        samples: int | None = None,
    ) -> Geometry | Trace:
        """Metric, connections, torsion, curvature, distribution; or a ``curve``: geodesic or autoparallel.

        >>> import pfaff
        >>> pfaff.gallery["sleigh"].geometry().growth_vector
        [2, 3]
        """
        from ._results import Geometry, Trace

        options = run_options(t, tolerance=tolerance, samples=samples, at=None if at is None else given_times(at))
        options |= {"part": names(part), "dependent": names(dependent), "curve": curve, "motion": motion}
        options |= {"fractional": fractional, "state": joined(assignments(state, "state"))}
        answer = self._command("geometry", options, set, initial)
        return Trace(self, *answer) if curve or motion else Geometry(self, *answer)

    def lift(
        self,
        path: Any,
        t: Times = None,
        *,
        dependent: str | Iterable[str] | None = None,
        set: Assignments = None,
        initial: Assignments = None,
        tolerance: float | None = None,
        at: Iterable[float] | None = None,
        samples: int | None = None,
    ) -> Trace:
        """The admissible curve over a base path: formulas ``{"x": "cos(t)", …}``, or a table with a column ``t``."""
        from ._motion import table_of
        from ._results import Trace

        options = run_options(t, tolerance=tolerance, samples=samples, at=None if at is None else given_times(at))
        options["dependent"] = names(dependent)
        if isinstance(path, str) and not path.strip().lower().endswith(".csv"):
            options["path"] = path
        elif isinstance(path, Mapping) and all(isinstance(value, str) for value in path.values()):
            options["path"] = joined(assignments(path, "path"))
        else:
            options["path_table"] = table_of(path)
        return Trace(self, *self._command("lift", options, set, initial))

    def linearize(
        self,
        at: Assignments = None,
        *,
        vary: str | None = None,
        principle: str | None = None,
        set: Assignments = None,
        initial: Assignments = None,
    ) -> Linearization | RootLocus:
        """Matrices and eigenvalues about a state; with ``vary="v=0..10"`` the eigenvalues over a parameter.

        >>> import pfaff
        >>> pfaff.Model("coordinates x\\nlagrangian x'^2/2 - 2*x^2").linearize(at={"x": 0}).eigenvalues.imag
        array([ 2., -2.])
        """
        from ._results import Linearization, RootLocus

        options = {"principle": principle, "at": joined(assignments(at, "at")), "vary": vary}
        answer = self._command("linearize", options, set, initial)
        return RootLocus(self, *answer) if vary else Linearization(self, *answer)

    def equilibria(
        self,
        search: Mapping[str, tuple[float, float]] | str | None = None,
        *,
        principle: str | None = None,
        set: Assignments = None,
        initial: Assignments = None,
    ) -> Equilibria:
        """States of rest and steady motions, with their stability; ``search`` is a box such as ``{"x": (-2, 2)}``."""
        from ._results import Equilibria

        options = {"principle": principle, "search": _ranges(search)}
        return Equilibria(self, *self._command("equilibria", options, set, initial))

    def section(
        self,
        on: str,
        count: int = 100,
        *,
        t1: float | None = None,
        principle: str | None = None,
        tolerance: float | None = None,
        set: Assignments = None,
        initial: Assignments = None,
    ) -> Section:
        """The points at which a motion crosses a surface: an event, or an expression such as ``"rising x - 1"``."""
        from ._results import Section

        options = {"on": on, "count": count, "t1": t1, "principle": principle, "tolerance": tolerance}
        return Section(self, *self._command("section", options, set, initial))

    def lyapunov(
        self,
        t1: float | None = None,
        *,
        principle: str | None = None,
        tolerance: float | None = None,
        set: Assignments = None,
        initial: Assignments = None,
    ) -> Lyapunov:
        """Lyapunov exponents with their errors."""
        from ._results import Lyapunov

        options = {"t1": t1, "principle": principle, "tolerance": tolerance}
        return Lyapunov(self, *self._command("lyapunov", options, set, initial))

    def orbit(
        self,
        *,
        period: float | str | None = None,
        on: str | None = None,
        principle: str | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        set: Assignments = None,
        initial: Assignments = None,
    ) -> Orbit:
        """A periodic motion with its multipliers, from a guess of the period or from crossings of a surface.

        `method` is `both` (shooting, compared with collocation), `shooting` or `collocation`.
        """
        from ._results import Orbit

        options = {"on": on, "principle": principle, "tolerance": tolerance, "method": method}
        options["period"] = None if period is None else expression(period, "period")
        return Orbit(self, *self._command("orbit", options, set, initial))

    def continue_(
        self,
        vary: str | Mapping[str, tuple[float, float]],
        of: str = "equilibria",
        *,
        period: float | str | None = None,
        on: str | None = None,
        switch: bool = False,
        fix: str | None = None,
        search: Mapping[str, tuple[float, float]] | str | None = None,
        principle: str | None = None,
        set: Assignments = None,
        initial: Assignments = None,
    ) -> Continuation:
        """Equilibria or orbits over a parameter, ``vary="w=1..5"`` or ``{"w": (1, 5)}``, with folds and branches.

        ``fix`` picks one motion where they form families, as ``"energy"`` or ``"x*y' - y*x' = L"`` do.
        """
        from ._results import Continuation

        if isinstance(vary, Mapping):
            if len(vary) != 1:
                raise UsageError("one parameter can be continued at a time")
            ((name, (a, b)),) = vary.items()
            vary = f"{name}={expression(a)}..{expression(b)}"
        options: dict[str, Any] = {"vary": vary, "of": of, "on": on, "principle": principle, "switch": switch}
        options["period"] = None if period is None else expression(period, "period")
        options |= {"fix": fix, "search": _ranges(search)}
        return Continuation(self, *self._command("continue", options, set, initial))

    def gait(
        self,
        shape: str | Iterable[str],
        loop: Assignments = None,
        *,
        within: float | None = None,
        set: Assignments = None,
        initial: Assignments = None,
    ) -> Gait:
        """How far a loop of the shape coordinates moves the body: a given ``loop`` of ``s``, or the best ellipse."""
        from ._results import Gait
        from ._text import split

        options = {"shape": split(names(shape) or ""), "loop": joined(assignments(loop, "loop")), "within": within}
        return Gait(self, *self._command("gait", options, set, initial))

    def measure(
        self, *, principle: str | None = None, set: Assignments = None, initial: Assignments = None
    ) -> Measure:
        """Whether the flow keeps a volume, and which."""
        from ._results import Measure

        return Measure(self, *self._command("measure", {"principle": principle}, set, initial))

    def fit(
        self,
        data: Any,
        params: str | Iterable[str],
        *,
        runs: Sequence[Assignments] | None = None,
        bounds: Mapping[str, tuple[float, float]] | str | None = None,
        columns: str | Iterable[str] | None = None,
        sigma: Assignments = None,
        prior: Mapping[str, tuple[float, float]] | str | None = None,
        loss: str = "squares",
        profile: bool = False,
        t0: float | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        principle: str | None = None,
        set: Assignments = None,
        initial: Assignments = None,
    ) -> Fit:
        """Parameters and initial values from measured data.

        ``data`` is a table with a column ``t`` (a DataFrame, a mapping of arrays, a motion, or the path of a CSV
        file), or a list of such tables, with values of their own in ``runs``.
        """
        from ._motion import table_of
        from ._results import Fit
        from ._text import split

        tables = list(data) if isinstance(data, list | tuple) else [data]
        if isinstance(bounds, Mapping):
            bounds = ", ".join(f"{k}={expression(a)}..{expression(b)}" for k, (a, b) in bounds.items())
        if isinstance(prior, Mapping):
            prior = ", ".join(f"{k}={expression(a)}±{expression(b)}" for k, (a, b) in prior.items())
        options = run_options(None, tolerance=tolerance, method=method, principle=principle)
        options |= {
            "t0": t0,
            "data": [table_of(table) for table in tables],
            "data_names": [table if isinstance(table, str) else "data" for table in tables],
            "runs": None if runs is None else [joined(assignments(run, "runs")) or "" for run in runs],
            "params": split(names(params) or ""),
            "bounds": bounds,
            "columns": names(columns),
            "sigma": joined(assignments(sigma, "sigma")),
            "prior": prior,
            "loss": loss,
            "profile": profile,
        }
        return Fit(self, *self._command("fit", options, set, initial))

    def sweep(self, grid: Any = None, **options: Any) -> Sweep:
        """Many motions with other values, on all cores or on a Dask cluster; see :func:`pfaff._sweep.sweep`.

        >>> import pfaff
        >>> table = pfaff.gallery["sleigh"].sweep({"a": [0.1, 0.2, 0.3]}, t=2)
        >>> table["a"].tolist(), table["stop"]
        ([0.1, 0.2, 0.3], ['end', 'end', 'end'])
        """
        from ._sweep import sweep

        return sweep(self, grid, **options)

    def rhs_jax(self, principle: str | None = None) -> Any:
        """The right-hand side ``f(t, y, p=…)`` as a function of JAX."""
        from ._autodiff import rhs_jax

        return rhs_jax(self, principle)

    def final(self, params: Any = None, t: Times = None, **options: Any) -> Any:
        """The state at the end of a motion as a differentiable function of parameters and initial values.

        ``params`` is a mapping of names to numbers, or to scalars of JAX or PyTorch; the answer is of the same kind,
        and its derivatives are our sensitivities.

        >>> import pfaff
        >>> model = pfaff.Model("coordinates x\\nlagrangian x'^2/2 - x^2/2\\ninitial x = 1")
        >>> model.final({"x(0)": 2.0}, t=1.0).round(6)
        array([ 1.080605, -1.682942])
        """
        from ._autodiff import final

        return final(self, params or {}, t, **options)

    def _shell(self, options: str, times: Any, set: Assignments, initial: Assignments) -> str:
        """The command that gives the numbers of a run again."""
        import shlex

        words = ["pfaff", "run", self._name]
        changed = joined({**self._set, **assignments(set, "set")})
        start = joined({**self._initial, **assignments(initial, "initial")})
        for name, value in (("--set", changed), ("--initial", start)):
            if value:
                words += [name, value]
        given = json.loads(options)
        for name in ("principle", "t0", "t1", "tolerance", "method", "precision", "step", "samples", "max_steps", "seed"):
            if given.get(name) is not None:
                words += ["--" + name.replace("_", "-"), str(given[name])]
        if times is not None:
            words += ["--at", ",".join(map(repr, times))]
        return shlex.join([*words, "--json"])


def plain_numbers(set: Assignments, initial: Assignments) -> list[tuple[str, float]] | None:
    """Other values as numbers by name, `x'(0)` for those of the start; none if they are more than numbers."""
    found = []
    for given, start in ((set, False), (initial, True)):
        if given is None:
            continue
        if not isinstance(given, Mapping):
            return None
        for name, value in given.items():
            if type(value) not in (int, float) or not isinstance(name, str) or not math.isfinite(value):
                return None
            plain = name.strip().removesuffix("(0)") if start else name.strip()
            found.append((f"{plain}(0)" if start else plain, float(value)))
    return found


def run_options(t: Times, **options: Any) -> dict[str, Any]:
    """The options of a run, checked for what Rust could not say better."""
    t0 = t1 = None
    if t is not None:
        if isinstance(t, tuple | list):
            if len(t) != 2:
                raise UsageError(f"t is the end or (start, end), not {len(t)} numbers")
            t0, t1 = t
        else:
            t1 = t
    found: dict[str, Any] = {}
    for name, value in {"t0": t0, "t1": t1, **options}.items():
        if value is None or value is False:
            continue
        if name in ("t0", "t1", "tolerance", "step", "seconds"):
            value = float(value)
            if value != value or value in (float("inf"), float("-inf")):
                raise UsageError(f"`{name}` is {value}, and must be a finite number")
        elif name in ("samples", "max_steps", "seed"):
            if int(value) != value or value < 0:
                raise UsageError(f"`{name}` must be a whole number, not {value}")
            value = int(value)
        found[name] = value
    return found


def given_times(at: Iterable[float]) -> list[float]:
    """Output times as numbers."""
    shape = getattr(at, "shape", None)
    if shape is not None and len(shape) != 1:
        raise UsageError(f"`at` must have one dimension, not the shape {shape}")
    times = [float(t) for t in at]
    if any(t != t for t in times):
        raise UsageError("`at` has a time that is not a number")
    return times


def shown(progress: Progress) -> Callable[[float, float], object] | None:
    """Who is told how far a run is."""
    if callable(progress):
        return progress
    if progress is False:
        return None
    from ._progress import bar

    return bar(always=bool(progress))


def check_version(state: Mapping[str, Any], what: str) -> None:
    """Refuses what another version has pickled."""
    other = state.get("pfaff") if isinstance(state, Mapping) else None
    if other != _native.__version__:
        raise VersionError(
            f"this {what} was pickled by pfaff {other}, and this is pfaff {_native.__version__}: "
            "load it with that version, or make it again"
        )


class Gallery(Mapping[str, Model]):
    """The built-in models by name.

    >>> import pfaff
    >>> pfaff.gallery["sleigh"].title
    'Chaplygin sleigh'
    >>> "snake" in pfaff.gallery
    True
    """

    def __init__(self) -> None:
        self._titles: dict[str, str] | None = None

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the models by name."""
        if self._titles is None:
            self._titles = dict(_native.gallery())
        return self._titles

    def __getitem__(self, name: str) -> Model:
        text, near = _native.gallery_text(name)
        if text is None:
            hint = f"; did you mean {near!r}?" if near else ""
            raise KeyError(f"the gallery has no model {name!r}{hint}")
        return Model(text, name=name, folder=None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.titles)

    def __len__(self) -> int:
        return len(self.titles)

    def __contains__(self, name: object) -> bool:
        return name in self.titles

    def __repr__(self) -> str:
        return f"<pfaff.gallery: {len(self)} models>"

    def _repr_html_(self) -> str:
        import html

        rows = "".join(f"<tr><td>{html.escape(k)}<td>{html.escape(v)}" for k, v in self.titles.items())
        return f"<table>{rows}</table>"


gallery = Gallery()


def evaluate(text: str, with_: Assignments = None, *, start: float | None = None, end: float | None = None) -> Any:
    """The value of an expression of the model language.

    >>> import pfaff
    >>> round(pfaff.evaluate("gamma(1/2)^2"), 12)
    3.14159265359
    >>> pfaff.evaluate("det([[a, 2], [3, 4]])", {"a": 1})
    -2.0
    """
    value = json.loads(_native.evaluate(text, joined(assignments(with_, "with_")) or "", start, end))
    return float("nan") if value is None else value


def explain(code: str) -> str:
    """What the code of a diagnostic means, with an example."""
    page = _native.explain(code)
    if page is None:
        raise KeyError(f"there is no diagnostic {code!r}")
    return page


def _ranges(search: Mapping[str, tuple[float, float]] | str | None) -> list[str]:
    from ._text import split

    if isinstance(search, Mapping):
        return [f"{k}={expression(a)}..{expression(b)}" for k, (a, b) in search.items()]
    return split(search) if search else []
