"""SymPy in and out, without SymPy being required by anything else."""

from __future__ import annotations

import re
from typing import Any

from ._errors import UsageError, missing

#: Functions of SymPy by the class, and their words in the model language.
FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "log": "log", "Abs": "abs", "sign": "sign", "erf": "erf",
    "erfc": "erfc", "gamma": "gamma", "digamma": "digamma", "polygamma": "polygamma",
}  # fmt: skip
#: Functions that the language writes by others.
REWRITTEN = {"cot": "tan", "sec": "cos", "csc": "sin", "coth": "tanh", "sech": "cosh", "csch": "sinh"}


def sympy() -> Any:
    """The package."""
    try:
        import sympy as module
    except ImportError:
        raise missing("sympy", "to_sympy()") from None
    return module


def name_of(text: str) -> str:
    """A name that the language takes: `phi_1` and `theta` stay, LaTeX and other signs do not."""
    if re.fullmatch(r"[^\W\d]\w*(\[[\d, ]+\])?", text):
        return text
    plain = re.sub(r"\W+", "_", text.replace("\\", "")).strip("_")
    if not re.fullmatch(r"[^\W\d]\w*", plain):
        raise UsageError(f"the SymPy symbol `{text}` has no name that a model can have: rename it")
    return plain


def to_text(value: Any) -> str:
    """An expression of SymPy in the model language."""
    sp = sympy()
    if isinstance(value, sp.MatrixBase):
        rows = [[to_text(value[i, j]) for j in range(value.shape[1])] for i in range(value.shape[0])]
        if value.shape[1] == 1:
            return "[" + ", ".join(row[0] for row in rows) + "]"
        return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"
    if isinstance(value, sp.Equality):
        return f"{to_text(value.lhs)} = {to_text(value.rhs)}"
    return Writer(sp).text(value)


class Writer:
    """Writes SymPy expressions; parts that occur often are written each time."""

    def __init__(self, sp: Any) -> None:
        self.sp = sp
        self.known: dict[Any, str] = {}

    def text(self, e: Any) -> str:
        """An expression in brackets where it needs them."""
        found = self.known.get(e)
        if found is None:
            found = self.known[e] = self.written(e)
        return found

    def bracket(self, e: Any) -> str:
        """An operand of a product or a power."""
        text = self.text(e)
        plain = e.is_Symbol or e.is_Function or (e.is_Integer and e >= 0) or self.is_coordinate(e)
        return text if plain else f"({text})"

    def is_coordinate(self, e: Any) -> bool:
        """Whether it is a coordinate or one of its derivatives."""
        sp = self.sp
        if isinstance(e, sp.Derivative):
            e = e.expr
        return isinstance(e, sp.core.function.AppliedUndef) and len(e.args) == 1 and is_time(e.args[0])

    def written(self, e: Any) -> str:
        """An expression that was not written before."""
        sp = self.sp
        if isinstance(e, sp.Derivative):
            return self.derivative(e)
        if isinstance(e, sp.core.function.AppliedUndef):
            if self.is_coordinate(e):
                return name_of(e.func.__name__)
            raise UsageError(f"pfaff does not know the SymPy function `{e.func.__name__}`")
        if e.is_Symbol:
            return "t" if is_time(e) else name_of(e.name)
        if e.is_Integer:
            return str(int(e))
        if e.is_Rational:
            return f"{e.p}/{e.q}"
        if e.is_Float:
            return repr(float(e))
        if e == sp.pi:
            return "pi"
        if e == sp.E:
            return "exp(1)"
        if e in (sp.nan, sp.zoo, sp.oo, -sp.oo) or e.has(sp.I):
            raise UsageError(f"`{e}` is no real number, and cannot stand in a model")
        if e.is_Add:
            return " + ".join(self.bracket(a) if a.is_Add or negative(a) else self.text(a) for a in e.args)
        if e.is_Mul:
            return "*".join(map(self.bracket, e.args))
        if e.is_Pow:
            base, power = e.args
            if power == sp.Rational(1, 2):
                return f"sqrt({self.text(base)})"
            if base == sp.E:
                return f"exp({self.text(power)})"
            return f"{self.bracket(base)}^{self.bracket(power)}"
        return self.function(e)

    def derivative(self, e: Any) -> str:
        """A derivative by time."""
        order = sum(count for _, count in e.variable_count)
        if not all(is_time(x) for x, _ in e.variable_count):
            raise UsageError(f"`{e}` is no derivative by time, and cannot stand in a model")
        inner = self.text(e.expr) if self.is_coordinate(e.expr) else f"({self.text(e.expr)})"
        return inner + "'" * int(order)

    def function(self, e: Any) -> str:
        """A function, a branch or a comparison."""
        sp = self.sp
        name = type(e).__name__
        if isinstance(e, sp.exp):
            return f"exp({self.text(e.args[0])})"
        if name in FUNCTIONS:
            if name == "log" and len(e.args) == 2:
                return f"(log({self.text(e.args[0])})/log({self.text(e.args[1])}))"
            return f"{FUNCTIONS[name]}({', '.join(map(self.text, e.args))})"
        if name in REWRITTEN:
            return f"(1/{REWRITTEN[name]}({self.text(e.args[0])}))"
        if name in ("Max", "Min"):
            parts = [self.text(a) for a in sorted(e.args, key=str)]
            found = parts[0]
            for part in parts[1:]:
                found = f"{name.lower()}({found}, {part})"
            return found
        if name == "Heaviside":
            return f"if({self.text(e.args[0])} < 0, 0, 1)"
        if isinstance(e, sp.Piecewise):
            *parts, (last, condition) = e.args
            if condition not in (True, sp.true):
                raise UsageError(f"the last branch of `{e}` must hold otherwise (True)")
            text = self.text(last)
            for value, condition in reversed(parts):
                text = f"if({self.text(condition)}, {self.text(value)}, {text})"
            return text
        if isinstance(e, sp.core.relational.Relational):
            sign = {"==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}[e.rel_op]
            return f"({self.text(e.lhs)} {sign} {self.text(e.rhs)})"
        if isinstance(e, sp.And | sp.Or):
            return "(" + f" {name.lower()} ".join(map(self.text, e.args)) + ")"
        if isinstance(e, sp.Not):
            return f"(not {self.text(e.args[0])})"
        raise UsageError(f"pfaff does not know the SymPy function `{name}`")


def is_time(e: Any) -> bool:
    """Whether a symbol is the time of `dynamicsymbols`."""
    return bool(e.is_Symbol) and e.name == "t"


def negative(e: Any) -> bool:
    """Whether a term begins with a sign."""
    return bool(e.could_extract_minus_sign())


class Blocks:
    """L, φ and the blocks of M q'' = f + Aᵀλ, A q'' = b as SymPy objects.

    ``q``, ``v`` and ``a`` are the coordinates as functions of ``t`` and their derivatives, ``parameters`` the symbols by
    name and ``values`` their numbers.
    """

    L: Any
    phi: Any
    M: Any
    f: Any
    A: Any
    b: Any
    t: Any
    q: Any
    v: Any
    a: Any
    parameters: dict[str, Any]
    values: dict[Any, float]

    def __repr__(self) -> str:
        return f"<SymPy blocks: L, phi, M, f, A, b of {', '.join(map(str, self.q))}>"

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def keys(self) -> list[str]:
        """The names of the blocks that are there."""
        return [name for name in ("L", "phi", "M", "f", "A", "b", "equations") if hasattr(self, name)]


def blocks(graph: dict[str, Any]) -> Blocks:
    """A graph of expressions as SymPy objects."""
    sp = sympy()
    mechanics = __import__("sympy.physics.mechanics", fromlist=["dynamicsymbols"])
    t = mechanics.dynamicsymbols._t
    functions: dict[str, Any] = {}

    def coordinate(name: str, order: int) -> Any:
        if name not in functions:
            functions[name] = sp.Function(name)(t)
        return sp.diff(functions[name], t, order) if order else functions[name]

    parameters = {name: sp.Symbol(name) for name in graph["parameters"]}

    def symbol(entry: dict[str, Any]) -> Any:
        name, role = entry["name"], entry["role"]
        if role == "time":
            return t
        if role == "coordinate":
            return coordinate(name, entry["order"])
        if role == "multiplier":
            return coordinate(f"mu_{name}", entry["order"])
        return parameters.get(name) or sp.Symbol(name)

    symbols = [symbol(entry) for entry in graph["symbols"]]
    operations = {
        "neg": lambda a: -a, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b, "pow": lambda a, b: a**b, "abs": sp.Abs, "sign": sp.sign, "min": sp.Min,
        "max": sp.Max, "<": sp.StrictLessThan, "<=": sp.LessThan, "==": sp.Eq, "!=": sp.Ne, "not": sp.Not,
        "and": sp.And, "or": sp.Or, "if": lambda c, a, b: sp.Piecewise((a, truth(c)), (b, True)),
    }  # fmt: skip

    def truth(c: Any) -> Any:
        return c if isinstance(c, sp.logic.boolalg.Boolean) else sp.Ne(c, 0)

    found: list[Any] = []
    for word, *operands in graph["nodes"]:
        if word == "number":
            found.append(sp.Rational(operands[0]))
        elif word == "pi":
            found.append(sp.pi)
        elif word == "symbol":
            found.append(symbols[operands[0]])
        else:
            values = [found[i] for i in operands]
            operation = operations.get(word) or getattr(sp, word, None) or sp.Function(word)
            found.append(operation(*values))
    result = Blocks()
    result.t, result.parameters = t, parameters
    result.values = {parameters[name]: value for name, value in graph["parameters"].items()}
    names = graph["coordinates"]
    result.q = sp.Matrix([coordinate(name, 0) for name in names])
    result.v, result.a = result.q.diff(t), result.q.diff(t, 2)
    n = len(names)
    for key in ("L", "energy"):
        if key in graph:
            setattr(result, key, found[graph[key]])
    for key in ("phi", "f", "b", "momenta", "equations"):
        if key in graph:
            setattr(result, key, sp.Matrix(len(graph[key]), 1, [found[i] for i in graph[key]]))
    for key in ("M", "A"):
        if key in graph:
            entries = [found[i] for row in graph[key] for i in row]
            setattr(result, key, sp.Matrix(len(graph[key]), n, entries))
    return result
