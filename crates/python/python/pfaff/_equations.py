"""Equations of motion."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import UsageError
from ._text import assignments, joined, names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._model import Model

    Floats = NDArray[np.float64]

State = Any


class Equations:
    """The equations of motion of a model under a principle: M q'' = f + R, with R = Aᵀλ.

    A state is a mapping ``{"x": 1, "x'": 2}`` (what is missing is 0), a text ``"x=1, x'=2, t=0"``, or an array of
    positions, velocities and, under the vakonomic principle, multipliers; of several rows, each is a state.

    >>> import pfaff
    >>> eq = pfaff.gallery["sleigh"].derive("chetaev")
    >>> eq.mass_matrix({"phi": 0}).round(3)
    array([[ 1.  ,  0.  , -0.  ],
           [ 0.  ,  1.  ,  0.2 ],
           [-0.  ,  0.2 ,  0.54]])
    >>> eq.jacobian({"phi": 0})
    array([[-0.,  1.,  0.]])
    """

    def __init__(self, model: Model, varied: _native.NativeModel, native: _native.NativeEquations) -> None:
        self._model, self._varied, self._native = model, varied, native
        self._right: _native.RightHandSide | None = None

    @property
    def model(self) -> Model:
        """The model."""
        return self._model

    @property
    def principle(self) -> str | None:
        """The principle; none for a model of equations."""
        return self._native.principle

    # As formulas

    def latex(
        self, form: str | None = None, *, dependent: str | Iterable[str] | None = None, document: bool = False
    ) -> str:
        """The equations in LaTeX; ``form`` is multipliers, reduced, hamilton, routhian, kane, maggi, …"""
        return self._native.written("latex", form, names(dependent), document)

    def text(self, form: str | None = None, *, dependent: str | Iterable[str] | None = None) -> str:
        """The equations in the words of the model language."""
        return self._native.written("text", form, names(dependent))

    def mathml(self, form: str | None = None, *, dependent: Any = None, document: bool = False) -> str:
        """The equations in MathML."""
        return self._native.written("mathml", form, names(dependent), document)

    def typst(self, form: str | None = None, *, dependent: Any = None, document: bool = False) -> str:
        """The equations for Typst."""
        return self._native.written("typst", form, names(dependent), document)

    def to_dict(self, form: str | None = None) -> dict[str, Any]:
        """The equations as `pfaff derive --json` has them."""
        return json.loads(self._native.written("json", form))  # type: ignore[no-any-return]

    def to_sympy(self) -> Any:
        """L, φ and the blocks M, f, A, b as SymPy objects."""
        from ._sympy import blocks

        return blocks(json.loads(self._native.graph()))

    def c(self, form: str | None = None) -> str:
        """The right-hand side as C."""
        return self._native.code("c", form)

    def rust(self, form: str | None = None) -> str:
        """The right-hand side as Rust."""
        return self._native.code("rust", form)

    def python(self, form: str | None = None) -> str:
        """The right-hand side as Python."""
        return self._native.code("python", form)

    def __repr__(self) -> str:
        return f"<pfaff.Equations of {self._model.title!r}, {self.principle or 'as they stand'}>"

    def _repr_latex_(self) -> str:
        lines = self.latex()
        return lines if "\\begin" in lines or lines.lstrip().startswith("$") else f"$${lines}$$"

    # As numbers

    @property
    def rhs(self) -> _native.RightHandSide:
        """``rhs(t, y)``: the rates of a state, or of one in each row; made for ``scipy.integrate.solve_ivp``."""
        if self._right is None:
            self._right = self._native.right_side()
        return self._right

    @property
    def state_names(self) -> list[str]:
        """What the numbers of the state of ``rhs`` are."""
        return self.rhs.names

    def initial_state(self) -> tuple[float, Floats]:
        """The time and the state y at which a run begins, consistent with the constraints."""
        import numpy as np

        options = json.dumps({"samples": 2, **({"principle": self.principle} if self.principle else {})})
        info = json.loads(self._varied.info())
        t0, t1 = info["t0"], info["t1"]
        if t1 is None:
            t0, t1 = 0.0, 1e-9
        given = {**json.loads(options), "t0": t0, "t1": t0 + (t1 - t0) * 1e-6}
        found = self._varied.run(json.dumps(given))
        assert found is not None, "without values a run is never left to another"
        columns = found[0].columns()
        values = {name: x[0] for name, x in columns["q"].items()}
        values |= {f"{name}'": x[0] for name, x in columns["v"].items()}
        values |= {f"mu({name})": x[0] for name, x in columns["multipliers"].items()}
        return float(t0 or 0.0), np.array([values[name] for name in self.state_names])

    def _at(self, state: State, what: str) -> Any:
        import numpy as np

        rows = state if not isinstance(state, str | Mapping) else None
        if rows is None:
            text = state if isinstance(state, str) else joined(assignments(state, "state")) or ""
            t, q, v, multipliers = self._native.read_state(text)
            return self._native.at(t, q, v, multipliers)[what]
        array = np.asarray(rows)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"a state must hold real numbers, not {array.dtype}")
        n, m = len(self._model.coordinates), len(self._model.constraints)
        width = array.shape[-1] if array.ndim else 0
        if width not in (2 * n, 2 * n + m) or array.ndim > 2:
            expected = f"{2 * n} numbers" + (f", or {2 * n + m} with multipliers" if m else "")
            raise UsageError(f"a state of this model has {expected}; the shape given is {array.shape}")

        def one(row: Any) -> Any:
            values = [float(x) for x in row]
            return self._native.at(0.0, values[:n], values[n : 2 * n], values[2 * n :] or [0.0] * m)[what]

        return one(array) if array.ndim == 1 else np.stack([np.asarray(one(row)) for row in array])

    def _matrix(self, state: State, what: str) -> Floats:
        found = self._at(state, what)
        return found.reshape(*found.shape[:-1], -1, len(self._model.coordinates))  # type: ignore[no-any-return]

    def mass_matrix(self, state: State) -> Floats:
        """M = ∂²L/∂q'² at a state."""
        return self._matrix(state, "mass")

    def effective_mass_matrix(self, state: State) -> Floats:
        """M − μ·∂²φ/∂q'² at a state, under the vakonomic principle."""
        return self._matrix(state, "effective_mass")

    def jacobian(self, state: State) -> Floats:
        """A = ∂φ/∂q' at a state."""
        return self._matrix(state, "jacobian")

    def acceleration(self, state: State) -> Floats:
        """q'' at a state."""
        return self._at(state, "acceleration")  # type: ignore[no-any-return]

    def multipliers(self, state: State) -> Floats:
        """λ at a state, or the given μ under the vakonomic principle."""
        return self._at(state, "multipliers")  # type: ignore[no-any-return]

    def multiplier_rates(self, state: State) -> Floats:
        """The rates of μ at a state, under the vakonomic principle."""
        return self._at(state, "multiplier_rates")  # type: ignore[no-any-return]

    def reaction(self, state: State) -> Floats:
        """R at a state."""
        return self._at(state, "reaction")  # type: ignore[no-any-return]

    def energy(self, state: State) -> Any:
        """E at a state."""
        return self._at(state, "energy")
