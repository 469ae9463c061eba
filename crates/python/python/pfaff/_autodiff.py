"""Motions inside JAX and PyTorch: right-hand sides, and final states with our sensitivities as derivatives."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ._errors import UsageError, missing

if TYPE_CHECKING:
    from ._model import Model, Times


def rhs_jax(model: Model, principle: str | None = None) -> Any:
    """``f(t, y, p=parameters)`` for JAX: the graph of the equations, solved by ``jnp.linalg.solve``.

    ``y`` is positions, velocities and, under the vakonomic principle, multipliers; ``p`` a mapping of parameters, those
    of the model if not given. It can be differentiated, compiled and vectorised.
    """
    try:
        import jax.numpy as jnp
    except ImportError:
        raise missing("jax", "rhs_jax()") from None
    graph = json.loads(model.derive(principle)._native.graph())
    if "M" not in graph:
        raise UsageError("rhs_jax() needs a Lagrangian, and this model has equations")
    evaluate = graph_function(graph, jnp)
    names, n, m = graph["coordinates"], len(graph["coordinates"]), len(graph["constraints"])
    uses_mu = any(s["role"] == "multiplier" for s in graph["symbols"]) or (principle or model.principle) == "vakonomic"
    defaults = {name: float(value) for name, value in graph["parameters"].items()}

    def rhs(t: Any, y: Any, p: Mapping[str, Any] | None = None) -> Any:
        y = jnp.asarray(y)
        values = {**defaults, **(p or {})}
        q, v, mu = y[:n], y[n : 2 * n], y[2 * n :]
        find = evaluate(t, dict(zip(names, q)), dict(zip(names, v)), dict(zip(graph["constraints"], mu)), values)

        def matrix(rows: list[list[int]]) -> Any:
            return jnp.stack([jnp.stack([jnp.asarray(find(i), y.dtype) for i in row]) for row in rows])

        mass = matrix(graph["M"])
        force = jnp.stack([jnp.asarray(find(i), y.dtype) for i in graph["f"]])
        if m == 0:
            return jnp.concatenate([v, jnp.linalg.solve(mass, force)])
        rows = matrix(graph["A"])
        drift = jnp.stack([jnp.asarray(find(i), y.dtype) for i in graph["b"]])
        top = jnp.concatenate([mass, -rows.T], axis=1)
        bottom = jnp.concatenate([rows, jnp.zeros((m, m), y.dtype)], axis=1)
        solved = jnp.linalg.solve(jnp.concatenate([top, bottom]), jnp.concatenate([force, drift]))
        parts = [v, solved[:n]] + ([solved[n:]] if uses_mu else [])
        return jnp.concatenate(parts)

    return rhs


def graph_function(graph: dict[str, Any], xp: Any) -> Callable[..., Callable[[int], Any]]:
    """The nodes of a graph as functions of an array module."""
    special = __import__("jax.scipy.special", fromlist=["erf"]) if xp.__name__.startswith("jax") else None
    operations: dict[str, Callable[..., Any]] = {
        "neg": lambda a: -a, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b, "sin": xp.sin, "cos": xp.cos, "tan": xp.tan, "asin": xp.arcsin, "acos": xp.arccos,
        "atan": xp.arctan, "atan2": xp.arctan2, "sinh": xp.sinh, "cosh": xp.cosh, "tanh": xp.tanh, "exp": xp.exp,
        "log": xp.log, "sqrt": xp.sqrt, "abs": xp.abs, "sign": xp.sign, "min": xp.minimum, "max": xp.maximum,
        "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
        "not": xp.logical_not, "and": xp.logical_and, "or": xp.logical_or, "if": xp.where,
    }  # fmt: skip
    if special is not None:
        operations |= {"erf": special.erf, "erfc": special.erfc, "digamma": special.digamma}
        operations["gamma"] = lambda a: xp.exp(special.gammaln(a))
        operations["polygamma"] = special.polygamma
    words = {node[0] for node in graph["nodes"]} - {"number", "pi", "symbol", "pow"}
    for word in sorted(words - operations.keys()):
        raise UsageError(f"`{word}` has no counterpart in JAX")
    numbers = {i: fraction(node[1]) for i, node in enumerate(graph["nodes"]) if node[0] == "number"}

    def evaluate(t: Any, q: Any, v: Any, mu: Any, p: Any) -> Callable[[int], Any]:
        values: list[Any] = []
        for i, (word, *operands) in enumerate(graph["nodes"]):
            if word == "number":
                values.append(numbers[i])
            elif word == "pi":
                values.append(xp.pi)
            elif word == "symbol":
                s = graph["symbols"][operands[0]]
                name, order = s["name"], s["order"]
                group = {"coordinate": (q, v)[min(order, 1)], "parameter": p, "multiplier": mu}.get(s["role"])
                values.append(t if s["role"] == "time" else group[name] if group is not None else p[name])
            elif word == "pow":
                base, power = operands
                whole = numbers.get(power)
                exponent = int(whole) if whole is not None and whole == int(whole) else values[power]
                values.append(values[base] ** exponent)
            else:
                values.append(operations[word](*(values[k] for k in operands)))
        return values.__getitem__

    return evaluate


def fraction(text: str) -> float:
    """An exact number as a double."""
    from fractions import Fraction

    return float(Fraction(text))


def final(model: Model, params: Mapping[str, Any], t: Times = None, **options: Any) -> Any:
    """The final positions and velocities as a differentiable function of parameters and initial values."""
    if not isinstance(params, Mapping):
        raise TypeError(f"params is a mapping of names to numbers, not {type(params).__name__}")
    names, values = list(params), list(params.values())
    kind = next((k for k in map(kind_of, values) if k), None)
    if kind == "torch":
        return torch_final(model, names, values, t, options)
    if kind == "jax":
        return jax_final(model, names, values, t, options)
    return final_state(model, names, [float(x) for x in values], t, options)


def kind_of(value: Any) -> str | None:
    """Whether a number belongs to JAX or PyTorch."""
    modules = {(kind.__module__ or "").partition(".")[0] for kind in type(value).__mro__}
    return "torch" if "torch" in modules else "jax" if modules & {"jax", "jaxlib"} else None


def overrides(model: Model, names: list[str], values: list[float]) -> dict[str, Any]:
    """Names as parameters and initial values."""
    found: dict[str, dict[str, float]] = {"set": {}, "initial": {}}
    for name, value in zip(names, values, strict=True):
        found["set" if name in model.parameters else "initial"][name.removesuffix("(0)")] = value
    return found


def final_state(model: Model, names: list[str], values: list[float], t: Times, options: dict[str, Any]) -> Any:
    """Positions and velocities at the end."""
    import numpy as np

    m = model.run(t, samples=2, dense=False, **overrides(model, names, values), **options)
    if m.stop.is_early:
        raise UsageError(f"the motion stopped early: {m.stop.reason} at t = {m.stop.t}")
    return np.concatenate([np.asarray(m.q)[-1], np.asarray(m.v)[-1]])


def final_with_derivatives(
    model: Model, names: list[str], values: list[float], t: Times, options: dict[str, Any]
) -> tuple[Any, Any]:
    """The final state, and its derivatives: one column for each name."""
    import numpy as np

    asked = [n if n in model.parameters else f"{n.removesuffix('(0)')}(0)" for n in names]
    m = model.run(t, samples=2, dense=False, sensitivity=asked, **overrides(model, names, values), **options)
    if m.stop.is_early:
        raise UsageError(f"the motion stopped early: {m.stop.reason} at t = {m.stop.t}")
    state = np.concatenate([np.asarray(m.q)[-1], np.asarray(m.v)[-1]])
    by = list(m.sensitivities.values())
    columns = [[*(x[-1] for x in s["q"].values()), *(x[-1] for x in s["v"].values())] for s in by]
    return state, np.array(columns, dtype=float).T.reshape(len(state), len(names))


def jax_final(model: Model, names: list[str], values: list[Any], t: Times, options: dict[str, Any]) -> Any:
    """As a function of JAX, with a custom derivative; works under ``jit``, ``grad``, ``jacfwd`` and ``vmap``."""
    import numpy as np

    jax: Any = importlib.import_module("jax")
    jnp: Any = importlib.import_module("jax.numpy")
    size = 2 * len(model.coordinates)
    kind = jnp.result_type(float)
    state_shape = jax.ShapeDtypeStruct((size,), kind)
    matrix_shape = jax.ShapeDtypeStruct((size, len(names)), kind)

    def state(p: Any) -> Any:
        return np.asarray(final_state(model, names, [float(x) for x in np.asarray(p)], t, options), kind)

    def matrix(p: Any) -> Any:
        found = final_with_derivatives(model, names, [float(x) for x in np.asarray(p)], t, options)
        return np.asarray(found[1], kind)

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def function(p: Any) -> Any:
        return jax.pure_callback(state, state_shape, p, vmap_method="sequential")

    @function.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: Any, tangents: Any) -> Any:
        (p,), (dp,) = primals, tangents
        jacobian = jax.pure_callback(matrix, matrix_shape, p, vmap_method="sequential")
        return function(p), jacobian @ dp

    return function(jnp.stack([jnp.asarray(x, kind) for x in values]))


def torch_final(model: Model, names: list[str], values: list[Any], t: Times, options: dict[str, Any]) -> Any:
    """As a function of PyTorch, with a custom derivative."""
    torch: Any = importlib.import_module("torch")

    class Final(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, p: Any) -> Any:
            numbers = p.detach().cpu().tolist()
            if p.requires_grad:
                state, jacobian = final_with_derivatives(model, names, numbers, t, options)
                ctx.save_for_backward(torch.as_tensor(jacobian, dtype=p.dtype, device=p.device))
            else:
                state = final_state(model, names, numbers, t, options)
            return torch.as_tensor(state, dtype=p.dtype, device=p.device)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (jacobian,) = ctx.saved_tensors
            return jacobian.T @ gradient

    kind = torch.float64
    stacked = torch.stack([torch.as_tensor(x, dtype=kind) for x in values])
    return Final.apply(stacked)
