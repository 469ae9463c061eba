"""Builds the wheel by maturin, after a look whether Rust is there."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import maturin

NEEDED = (1, 95)


def check() -> None:
    """Says what is missing."""
    where = "install it from https://rustup.rs and try again"
    if shutil.which("cargo") is None or shutil.which("rustc") is None:
        raise SystemExit(f"pfaff is built with Rust {NEEDED[0]}.{NEEDED[1]} or later, and there is no cargo: {where}")
    said = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout
    try:
        found = tuple(int(part) for part in said.split()[1].split(".")[:2])
    except (IndexError, ValueError):
        return
    if found < NEEDED:
        raise SystemExit(f"pfaff is built with Rust {NEEDED[0]}.{NEEDED[1]} or later, and this is {said.strip()}: {where}")


def get_requires_for_build_wheel(config_settings: Any = None) -> Any:
    """No more than maturin."""
    check()
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings: Any = None) -> Any:
    """No more than maturin."""
    check()
    return maturin.get_requires_for_build_editable(config_settings)


get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
build_wheel = maturin.build_wheel
build_sdist = maturin.build_sdist
build_editable = maturin.build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
