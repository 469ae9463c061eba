"""Values of Python as text of the model language."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import UsageError

Assignments = Mapping[str, Any] | str | None


def split(text: str, separator: str = ",") -> list[str]:
    """Splits at separators that stand in no bracket."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip()]


def is_sympy(value: Any) -> bool:
    """Whether a value comes from SymPy, without importing it."""
    return any((kind.__module__ or "").partition(".")[0] == "sympy" for kind in type(value).__mro__)


def number(value: Any, what: str) -> str:
    """A finite real number, with the shortest digits that read back."""
    x = float(value)
    if not math.isfinite(x):
        raise UsageError(f"{what} is {x}, and must be a finite number")
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return repr(x)


def expression(value: Any, what: str = "an expression") -> str:
    """An expression: a string as it is, numbers, lists and arrays, or SymPy."""
    if isinstance(value, str):
        return value
    if is_sympy(value):
        from ._sympy import to_text

        return to_text(value)
    if isinstance(value, numbers.Real) or (hasattr(value, "dtype") and getattr(value, "shape", None) == ()):
        if isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "f") == "c":
            raise TypeError(f"{what} is complex, and must be real")
        return number(value, what)
    if isinstance(value, complex):
        raise TypeError(f"{what} is complex, and must be real")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        return "[" + ", ".join(expression(item, what) for item in value) + "]"
    raise TypeError(f"{what} must be a number, a string, a list or a SymPy expression, not {type(value).__name__}")


def assignments(value: Assignments, what: str) -> dict[str, str]:
    """`a = 1, b = 2` or a mapping, as texts by name."""
    if value is None:
        return {}
    if isinstance(value, str):
        given = {}
        for item in split(value):
            name, sign, right = item.partition("=")
            if not sign:
                raise UsageError(f"{what}: `{item}` is no assignment; write \"a=1\"")
            given[name.strip()] = right.strip()
        return given
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} must be a mapping of names to values or a string, not {type(value).__name__}")
    found = {}
    for name, right in value.items():
        key = expression(name) if is_sympy(name) else name
        if not isinstance(key, str):
            raise TypeError(f"{what}: names are strings, not {type(name).__name__}")
        key = key.strip()
        found[key.removesuffix("(0)") if what == "initial" else key] = expression(right, f"{what}: `{key}`")
    return found


def joined(values: Mapping[str, str]) -> str | None:
    """The text of assignments."""
    return ", ".join(f"{name}={value}" for name, value in values.items()) or None


def names(value: str | Iterable[str] | None) -> str | None:
    """Names as a list of the command line."""
    if value is None or isinstance(value, str):
        return value
    return ", ".join(expression(name) if is_sympy(name) else str(name) for name in value)


def model_text(parts: Mapping[str, Any]) -> str:
    """The text of a model that is given by keywords."""
    lines: list[str] = []

    def listed(value: Any) -> list[str]:
        if isinstance(value, str):
            return split(value)
        return [expression(item) for item in value]

    def many(value: Any) -> list[Any]:
        return list(value) if isinstance(value, list | tuple) else [value]

    def equation(value: Any, what: str) -> str:
        if isinstance(value, str):
            return value if "=" in value or "(" in value and value.split("(")[0].strip() in AFFINE else f"{value} = 0"
        if isinstance(value, tuple) and len(value) == 2:
            return f"{expression(value[0], what)} = {expression(value[1], what)}"
        if is_sympy(value) and type(value).__name__ == "Equality":
            return f"{expression(value.lhs, what)} = {expression(value.rhs, what)}"
        return f"{expression(value, what)} = 0"

    known = {
        "title", "coordinates", "parameters", "let", "lagrangian", "kinetic", "potential", "constraints", "forces",
        "dissipation", "equations", "principle", "initial", "final", "observe", "events", "states", "statements",
        "t", "tolerance", "method", "samples",
    }  # fmt: skip
    for name in parts:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            hint = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(sorted(known))}"
            raise UsageError(f"a model has no part `{name}`{hint}")
    title = parts.get("title")
    if title is not None:
        quoted = str(title).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'title "{quoted}"')
    if parts.get("coordinates") is None:
        raise UsageError("a model that is built from parts needs `coordinates`")
    lines.append("coordinates " + ", ".join(listed(parts["coordinates"])))
    parameters = parts.get("parameters")
    if isinstance(parameters, Mapping):
        items = [
            name if value is None else f"{name} = {value}"
            for name, value in (
                (expression(k) if is_sympy(k) else str(k), None if v is None else expression(v, f"parameter `{k}`"))
                for k, v in parameters.items()
            )
        ]
        if items:
            lines.append("parameters " + ", ".join(items))
    elif parameters is not None:
        lines.append("parameters " + ", ".join(listed(parameters)))
    for name, value in dict(parts.get("let") or {}).items():
        lines.append(f"let {name} = {expression(value, f'`{name}`')}")
    for name, value in dict(parts.get("states") or {}).items():
        lines.append(f"state {name}: {expression(value, f'state `{name}`')}")
    for word in ("lagrangian", "kinetic", "potential", "dissipation"):
        for value in many(parts.get(word)) if parts.get(word) is not None else []:
            lines.append(f"{word} {expression(value, word)}")
    for item in many(parts.get("equations")) if parts.get("equations") is not None else []:
        lines.append(f"equation {equation(item, 'an equation')}")
    constraints = parts.get("constraints")
    if isinstance(constraints, Mapping):
        for name, value in constraints.items():
            lines.append(f"constraint {name}: {equation(value, f'constraint `{name}`')}")
    elif constraints is not None:
        for value in many(constraints):
            lines.append(f"constraint {equation(value, 'a constraint')}")
    for name, value in dict(parts.get("forces") or {}).items():
        what = expression(name) if is_sympy(name) else str(name)
        lines.append(f"force {what}: {expression(value, f'force `{what}`')}")
    if parts.get("principle") is not None:
        lines.append(f"principle {parts['principle']}")
    for word in ("initial", "final"):
        given = parts.get(word)
        if given is not None:
            text = joined(assignments(given, word))
            if text:
                lines.append(f"{word} {text}")
    for name, value in dict(parts.get("observe") or {}).items():
        lines.append(f"observe {name} = {expression(value, f'observed `{name}`')}")
    for name, value in dict(parts.get("events") or {}).items():
        lines.append(f"event {name}: {expression(value, f'event `{name}`')}")
    for statement in many(parts.get("statements")) if parts.get("statements") is not None else []:
        lines.append(str(statement))
    solve = []
    if parts.get("t") is not None:
        t = parts["t"]
        t0, t1 = t if isinstance(t, tuple | list) else (0, t)
        solve.append(f"t = {expression(t0, 't')}..{expression(t1, 't')}")
    for word in ("tolerance", "samples"):
        if parts.get(word) is not None:
            solve.append(f"{word} = {expression(parts[word], word)}")
    if parts.get("method") is not None:
        solve.append(f"method = {parts['method']}")
    if solve:
        lines.append("solve " + ", ".join(solve))
    return "\n".join(lines) + "\n"


#: Words that are constraints by themselves.
AFFINE = {"gyroscopic", "isochoric", "rotation_free", "conformal"}
