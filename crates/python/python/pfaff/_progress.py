"""How far a run is: a line in a notebook or a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

#: Seconds after which a run is long enough to be shown.
PATIENCE = 0.5


def bar(always: bool = False) -> Callable[[float, float], object] | None:
    """A bar in a notebook; in a terminal only if it is asked for."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and getattr(shell, "kernel", None) is not None:
        return Notebook()
    return Terminal() if always else None


class Notebook:
    """A bar that a notebook updates in place."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.handle: Any = None

    def __call__(self, done: float, t: float) -> None:
        if time.monotonic() - self.begun < PATIENCE:
            return
        ipython: Any = __import__("IPython.display", fromlist=["HTML"])

        done = min(max(done, 0.0), 1.0) if done == done else 0.0
        shown = ipython.HTML(f'<progress value="{done:.4f}" max="1"></progress> {100 * done:.0f} %, t = {t:.6g}')
        if self.handle is None:
            self.handle = ipython.display(shown, display_id=True)
        else:
            self.handle.update(shown)


class Terminal:
    """A line on standard error."""

    def __init__(self) -> None:
        self.begun = time.monotonic()

    def __call__(self, done: float, t: float) -> None:
        if time.monotonic() - self.begun >= PATIENCE:
            sys.stderr.write(f"\r{100 * done:3.0f} %  t = {t:.6g}   ")
            sys.stderr.flush()
