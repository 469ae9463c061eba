"""Models: from texts, files, the gallery and parts; pickles; errors."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import pfaff


def test_a_text_and_its_parts_are_the_same_model():
    text = pfaff.Model(
        "coordinates x, y, phi\nparameters m = 1, J = 0.5\nlagrangian m*(x'^2 + y'^2)/2 + J*phi'^2/2\n"
        "constraint blade: y'*cos(phi) - x'*sin(phi) = 0\ninitial x' = 1, phi' = 0.3\nobserve s = x'\n"
    )
    parts = pfaff.Model(
        coordinates=["x", "y", "phi"],
        parameters={"m": 1, "J": 0.5},
        lagrangian="m*(x'^2 + y'^2)/2 + J*phi'^2/2",
        constraints={"blade": "y'*cos(phi) - x'*sin(phi)"},
        initial={"x'": 1, "phi'": np.float64(0.3)},
        observe={"s": "x'"},
    )
    a, b = text.run(t=3), parts.run(t=3)
    assert np.array_equal(a["x"], b["x"])
    # Without an offset the blade runs in a circle of radius v/ω: a closed form.
    assert abs(a(2.5)["x"] - np.sin(0.75) / 0.3) < 1e-8


def test_matrices_and_arrays_are_values():
    model = pfaff.Model(
        coordinates=["q[2]"],
        parameters={"K": np.array([[2.0, 1.0], [1.0, 3.0]])},
        lagrangian="dot(q', q')/2 - dot(q, K*q)/2",
        initial={"q": [1, 0]},
    )
    assert model.parameters["K[1,2]"] == 1.0
    m = model.run(t=1, set={"K": [[1, 0], [0, 1]]})
    assert abs(m["q[1]"][-1] - np.cos(1)) < 1e-8


def test_files_are_read_with_their_data(tmp_path):
    (tmp_path / "data.csv").write_text("t,u\n0,0\n1,1\n2,2\n3,3\n")
    (tmp_path / "driven.pfaff").write_text(
        'coordinates x\nlagrangian x\'^2/2\nforce x: table(t, "data.csv", "u")\nsolve t = 0..2\n'
    )
    m = pfaff.Model.from_file(tmp_path / "driven.pfaff").run()
    assert abs(m["x"][-1] - 8 / 6) < 1e-6
    assert pfaff.Model.from_file("sleigh").title == "Chaplygin sleigh"
    with pytest.raises(FileNotFoundError):
        pfaff.Model.from_file(tmp_path / "none.pfaff")


def test_the_gallery_is_a_mapping():
    assert len(pfaff.gallery) > 70
    assert "sleigh" in pfaff.gallery and "sleight" not in pfaff.gallery
    with pytest.raises(KeyError, match="did you mean 'sleigh'"):
        pfaff.gallery["sleight"]
    assert pfaff.gallery["driven_bead"].run(t=0.1).stop.reason == "end"


def test_errors_have_their_place_and_all_of_them_are_there():
    with pytest.raises(pfaff.ModelError) as caught:
        pfaff.Model("coordinates x\nlagrangian x'^2/2 - k*x\nforce y: 1\n")
    error = caught.value
    assert (error.code, error.line, error.column) == ("E0201", 2, 21)
    assert len(error.diagnostics) == 2 and error.diagnostics[1].line == 3
    assert "^" in str(error) and "k*x" in str(error)
    assert any("^" in line for line in error._render_traceback_())
    assert "<mark" in error._repr_html_()
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.line, again.column, again.hint) == (error.code, 2, 21, error.hint)


def test_models_pickle_and_versions_must_agree(sleigh):
    model = sleigh.with_(set={"a": 0.35}, initial={"x'": 2})
    again = pickle.loads(pickle.dumps(model))
    assert again == model and again.parameters["a"] == 0.35
    assert np.array_equal(again.run(t=2)["x"], model.run(t=2)["x"])
    state = {**model.__getstate__(), "pfaff": "0.0.1"}
    with pytest.raises(pfaff.VersionError, match=r"0\.0\.1"):
        pfaff.Model.__new__(pfaff.Model).__setstate__(state)


def test_numpy_is_not_imported_before_it_is_needed():
    code = (
        "import sys, pfaff; assert 'numpy' not in sys.modules;"
        "m = pfaff.gallery['sleigh'].run(t=1); assert m.stop.reason == 'end';"
        "assert 'numpy' not in sys.modules; m.t; assert 'numpy' in sys.modules;"
        "assert 'sympy' not in sys.modules and 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_evaluate_and_explain():
    assert abs(pfaff.evaluate("mittag_leffler(1, 1, z)", {"z": 0.5}) - np.exp(0.5)) < 1e-14
    assert pfaff.evaluate("[cos(0), 2]") == [1.0, 2.0]
    assert "E0201" in pfaff.explain("E0201") or "declared" in pfaff.explain("E0201")
    with pytest.raises(KeyError):
        pfaff.explain("E9999")
