"""Wrong shapes, kinds, names and numbers: each is refused in words, and nothing panics."""

import numpy as np
import pytest

import pfaff


def test_wrong_shapes_of_states(sleigh):
    eq = sleigh.derive()
    for shape in [(5,), (7,), (2, 5), (2, 2, 6), ()]:
        with pytest.raises(ValueError, match="shape"):
            eq.rhs(0.0, np.zeros(shape))
        if shape != (7,):  # with a multiplier
            with pytest.raises(ValueError, match="shape"):
                eq.acceleration(np.zeros(shape))
    with pytest.raises(ValueError, match="one for each"):
        eq.rhs(np.zeros(3), np.zeros((4, 6)))
    assert eq.rhs(0.0, np.zeros((0, 6))).shape == (0, 6)


def test_wrong_kinds_of_numbers(sleigh):
    eq = sleigh.derive()
    for wrong in (np.zeros(6, complex), np.array(["a"] * 6), [None] * 6):
        with pytest.raises((TypeError, ValueError)):
            eq.rhs(0.0, wrong)
        with pytest.raises((TypeError, ValueError)):
            eq.acceleration(wrong)
    with pytest.raises(TypeError):
        eq.rhs("now", np.zeros(6))
    with pytest.raises(TypeError, match="complex"):
        sleigh.run(t=1, set={"a": 1j})
    with pytest.raises(TypeError):
        sleigh.run(t=1, set=[1, 2])
    with pytest.raises(TypeError):
        sleigh.run(t=1, set={"a": object()})
    with pytest.raises(TypeError):
        pfaff.Model(42)
    with pytest.raises(TypeError):
        sleigh.run(t=1)("x")


def test_what_is_not_a_number(sleigh):
    for wrong in (float("nan"), float("inf"), np.nan):
        for arguments in ({"set": {"a": wrong}}, {"initial": {"x'": wrong}}, {"t": wrong}, {"tolerance": wrong}):
            with pytest.raises(pfaff.ModelError, match="finite|not a number"):
                sleigh.run(**{"t": 1, **arguments})
    assert np.isnan(sleigh.derive().rhs(0.0, np.full(6, np.nan))).any()
    with pytest.raises(pfaff.ModelError):
        sleigh.derive().acceleration([np.nan] * 6)
    with pytest.raises(pfaff.ModelError):
        sleigh.run(t=1, at=[0.5, np.nan])


def test_unknown_names(sleigh):
    with pytest.raises(pfaff.ModelError, match="aa"):
        sleigh.run(t=1, set={"aa": 1})
    with pytest.raises(pfaff.ModelError, match="z"):
        sleigh.run(t=1, initial={"z": 1})
    with pytest.raises(pfaff.ModelError, match="w"):
        sleigh.derive().acceleration({"w": 1})
    with pytest.raises(pfaff.ModelError, match="method"):
        sleigh.run(t=1, method="euler")
    with pytest.raises(pfaff.ModelError, match="sensitiv|zz"):
        sleigh.run(t=1, sensitivity="zz")
    with pytest.raises(pfaff.ModelError, match="did you mean `coordinates`"):
        pfaff.Model(coordinate=["x"])
    with pytest.raises(pfaff.ModelError, match="not both"):
        pfaff.Model("coordinates x", lagrangian="x'^2")
    with pytest.raises(pfaff.ModelError, match="coordinates"):
        pfaff.Model(lagrangian="x'^2")
    with pytest.raises(TypeError):
        sleigh.run(t=1, tolerence=1e-3)
    with pytest.raises(pfaff.ModelError):
        sleigh.section("nothing")
    with pytest.raises(pfaff.ModelError, match="range"):
        sleigh.continue_("a")
    with pytest.raises(pfaff.ModelError):
        sleigh.fit({"t": [0, 1], "x": [0, 1]}, "zz")
    with pytest.raises(TypeError):
        sleigh.fit(3, "a")
    with pytest.raises(pfaff.ModelError, match="equally long"):
        sleigh.fit({"t": [0, 1], "x": [0]}, "a")


def test_times(sleigh):
    for wrong in ({"t": (0, 1, 2)}, {"t": 1, "at": [5.0]}, {"t": 1, "at": np.zeros((2, 2))}, {"t": 1, "samples": -1}):
        with pytest.raises((pfaff.ModelError, ValueError)):
            sleigh.run(**wrong)
    with pytest.raises(ValueError, match="on_interrupt"):
        sleigh.run(t=1, on_interrupt="ignore")


def test_the_whole_text_of_a_model_may_be_anything():
    rng = np.random.default_rng(5)
    signs = list("xyt'\"#=+-*/^()[]{},.:;\n \\0189\u03bb\u00e9") + ["lagrangian ", "coordinates ", "constraint ", "let "]
    for _ in range(300):
        text = "".join(rng.choice(signs, size=rng.integers(1, 60)))
        try:
            model = pfaff.Model(text)
        except pfaff.ModelError as error:
            assert error.diagnostics and error.line >= 1
        else:
            assert isinstance(model.coordinates, list)
    with pytest.raises(pfaff.ModelError):
        pfaff.Model("\x00")
    with pytest.raises(pfaff.ModelError):
        pfaff.Model("(" * 100_000)


def test_missing_packages_are_named(sleigh, monkeypatch):
    import sys

    m = sleigh.run(t=1)
    for package, call in {"pandas": m.to_pandas, "pyarrow": m.to_arrow, "xarray": m.to_xarray}.items():
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=f"pip install {package}"):
            call()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert "<svg" in m.plot("x", "y")._repr_svg_()
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match="pip install sympy"):
        sleigh.to_sympy()


def test_without_rust_the_build_says_what_is_missing(tmp_path):
    import subprocess
    import sys

    from conftest import ROOT

    pytest.importorskip("maturin")
    ask = "import build_backend; build_backend.get_requires_for_build_wheel()"
    run = [sys.executable, "-c", ask]

    def said(path):
        environment = {"PATH": str(path), "PYTHONPATH": str(ROOT / "crates/python")}
        return subprocess.run(run, env=environment, capture_output=True, text=True, cwd=tmp_path)

    nothing = said(tmp_path)
    assert nothing.returncode != 0
    assert "there is no cargo" in nothing.stderr and "https://rustup.rs" in nothing.stderr
    # Programs that tell an old version.
    for name, version in {"cargo": "cargo 1.60.0", "rustc": "rustc 1.60.0 (7737e0b5c 2022-04-04)"}.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{version}'\n")
        program.chmod(0o755)
    old = said(tmp_path)
    assert old.returncode != 0 and "this is rustc 1.60.0" in old.stderr
