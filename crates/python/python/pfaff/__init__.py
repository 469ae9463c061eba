"""Constrained mechanics: write a Lagrangian and its constraints, get the motion and an audit of it.

>>> import pfaff
>>> sleigh = pfaff.gallery["sleigh"]
>>> motion = sleigh.run(t=(0, 20))
>>> motion.audit.verdict
'pass'
>>> round(float(motion["speed"][-1]), 6)
1.024012

See :class:`Model` for what can be asked of a model, and :class:`Motion` for what a run gives back.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import Diagnostic, InternalError, InterruptedWarning, ModelError, UsageError, VersionError
from ._model import Gallery, Model, evaluate, explain, gallery
from ._native import __version__

if TYPE_CHECKING:
    from ._equations import Equations
    from ._arrays import NamedArray
    from ._motion import Audit, Motion, Stop
    from ._results import Result, difference, discover
    from ._sweep import ClusterError, Sweep

_LATER = {
    "Equations": "_equations",
    "Motion": "_motion",
    "NamedArray": "_arrays",
    "Audit": "_motion",
    "Stop": "_motion",
    "Result": "_results",
    "difference": "_results",
    "discover": "_results",
    "Sweep": "_sweep",
    "ClusterError": "_sweep",
}

__all__ = [
    "Audit",
    "ClusterError",
    "Diagnostic",
    "Equations",
    "Gallery",
    "InternalError",
    "InterruptedWarning",
    "Model",
    "ModelError",
    "Motion",
    "NamedArray",
    "Result",
    "Stop",
    "Sweep",
    "UsageError",
    "VersionError",
    "__version__",
    "difference",
    "discover",
    "evaluate",
    "explain",
    "gallery",
]


def __getattr__(name: str) -> Any:
    # NOTE: `import pfaff` is quick because numpy and the rest come when they are needed.
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module 'pfaff' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
