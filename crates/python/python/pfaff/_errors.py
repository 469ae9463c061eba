"""What can go wrong, with its place in the text."""

from __future__ import annotations

from typing import Any


class Diagnostic:
    """One mistake: its code, its place, what is wrong, and a hint."""

    __slots__ = ("code", "column", "hint", "line", "message", "severity", "source", "text", "width")

    code: str
    severity: str
    message: str
    hint: str | None
    source: str
    line: int
    column: int
    width: int
    text: str

    def __init__(self, **parts: Any) -> None:
        for name in self.__slots__:
            setattr(self, name, parts[name])

    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __repr__(self) -> str:
        return f"{self.severity}[{self.code}] {self.source}:{self.line}:{self.column}: {self.message}"


class ModelError(ValueError):
    """A model, or what was asked of it, is wrong.

    The first mistake is in ``code``, ``line``, ``column``, ``message`` and ``hint``; all of them are in ``diagnostics``.

    >>> import pfaff
    >>> try:
    ...     pfaff.Model("coordinates x\\nlagrangian x'^2/2 - k*x")
    ... except pfaff.ModelError as error:
    ...     print(error.code, error.line, error.column, error.message)
    E0201 2 21 `k` is not declared
    """

    def __init__(self, text: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(text)
        self.diagnostics: list[Diagnostic] = [Diagnostic(**parts) for parts in diagnostics or []]
        first = self.diagnostics[0] if self.diagnostics else None
        self.code: str | None = first.code if first else None
        self.line: int | None = first.line if first else None
        self.column: int | None = first.column if first else None
        self.hint: str | None = first.hint if first else None
        self.message: str = first.message if first else text

    def __reduce__(self) -> Any:
        return (type(self), (self.args[0], [d._parts() for d in self.diagnostics]))

    def _render_traceback_(self) -> list[str]:
        # NOTE: IPython shows this instead of a traceback through our own code.
        lines = str(self.args[0]).rstrip().split("\n")
        return [f"{type(self).__name__}:", *lines]

    def _repr_html_(self) -> str:
        import html

        parts = []
        for d in self.diagnostics:
            before, marked = d.text[: d.column - 1], d.text[d.column - 1 : d.column - 1 + d.width]
            after = d.text[d.column - 1 + d.width :]
            mark = f'<mark style="background:#fbb">{html.escape(marked)}</mark>'
            hint = f"<br><i>{html.escape(d.hint)}</i>" if d.hint else ""
            parts.append(
                f"<p><b>{html.escape(d.code)}</b> line {d.line}, column {d.column}: {html.escape(d.message)}"
                f"<pre>{html.escape(before)}{mark}{html.escape(after)}</pre>{hint}</p>"
            )
        return "".join(parts) or f"<pre>{html.escape(str(self))}</pre>"


class UsageError(ModelError):
    """The request is wrong, and not the text of the model."""


class VersionError(ModelError):
    """A pickle of another version of pfaff."""


class InternalError(RuntimeError):
    """A mistake in pfaff itself: please report it with the model."""


class InterruptedWarning(UserWarning):
    """A run was interrupted; the motion has what was computed."""


def _from_native(text: str, diagnostics: list[dict[str, Any]]) -> ModelError:
    return ModelError(text.rstrip("\n"), diagnostics)


def _from_usage(text: str) -> ModelError:
    return UsageError(text)


def _from_panic(said: str) -> InternalError:
    return InternalError(f"pfaff has a mistake of its own: {said}; please report it with the model")


def missing(package: str, what: str) -> ImportError:
    """The error for an optional package that is not installed."""
    return ImportError(f"{what} needs {package}: pip install {package}")
