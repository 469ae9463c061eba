"""Arrays whose last axis has names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._errors import UsageError


class NamedArray(np.ndarray):
    """An array; a string picks the numbers of that name along the last axis.

    >>> import pfaff
    >>> state = pfaff.gallery["sleigh"].run(t=5)(2.5)
    >>> bool(state["x"] == state[0])
    True
    """

    names: list[str]

    def __new__(cls, values: Any, names: list[str]) -> NamedArray:
        self = np.asarray(values, dtype=float).view(cls)
        self.names = list(names)
        return self

    def __array_finalize__(self, other: Any) -> None:
        self.names = getattr(other, "names", [])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.names or self.shape[-1:] != (len(self.names),):
                raise missing(key, self.names)
            return np.asarray(self)[..., self.names.index(key)][()]
        found = super().__getitem__(key)
        whole = isinstance(found, NamedArray) and found.shape[-1:] == self.shape[-1:]
        return found if whole or not isinstance(found, NamedArray) else np.asarray(found)

    def __reduce__(self) -> Any:
        return (NamedArray, (np.array(self), self.names))


class Energy(np.ndarray):
    """The energy E; ``energy["constraint"]`` and ``energy["total"]`` are the others of the convention."""

    E: np.ndarray[Any, np.dtype[np.float64]]
    constraint: np.ndarray[Any, np.dtype[np.float64]]

    def __new__(cls, energy: Any, constraint: Any) -> Energy:
        self = np.asarray(energy).view(cls)
        self.E, self.constraint = np.asarray(energy), np.asarray(constraint)
        return self

    def __array_finalize__(self, other: Any) -> None:
        self.E = getattr(other, "E", np.empty(0))
        self.constraint = getattr(other, "constraint", np.empty(0))

    @property
    def total(self) -> Any:
        """E + E[M], which a vakonomic motion keeps."""
        return self.E + self.constraint

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in ("E", "constraint", "total"):
                raise missing(key, ["E", "constraint", "total"])
            return getattr(self, key)
        return np.asarray(self)[key]


class Columns(Mapping[str, Any]):
    """Columns by name, each an array without a copy; as an array it has a row for each time."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    @property
    def names(self) -> list[str]:
        """The names in declared order."""
        return list(self._columns)

    @property
    def array(self) -> NamedArray:
        """All columns, one row for each time."""
        columns = list(self._columns.values())
        values = np.stack(columns, axis=1) if columns else np.empty((0, 0))
        return NamedArray(values, self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Times and columns."""
        return (len(next(iter(self._columns.values()), ())), len(self._columns))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.array, dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._columns:
                raise missing(key, self.names)
            return self._columns[key]
        return self.array[key]

    def __getattr__(self, name: str) -> Any:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"there is no column {name!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<columns {', '.join(self.names)}; {self.shape[0]} rows>"


def missing(name: str, names: list[str]) -> KeyError:
    """The error for a name that is not there."""
    from difflib import get_close_matches

    near = get_close_matches(name, names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"
    return NameMissing(f"there is no {name!r}{hint}")


class NameMissing(KeyError, UsageError):
    """A name that is not there."""

    def __init__(self, text: str, diagnostics: Any = None) -> None:
        UsageError.__init__(self, text)

    def __str__(self) -> str:
        return str(self.args[0])
