"""Sweeps on this machine: order, kinds of cases, tables, cubes."""

import pickle

import numpy as np
import pytest

import pfaff


def test_a_grid_is_a_product_in_order(sleigh):
    table = sleigh.sweep({"a": [0.1, 0.2], "x'(0)": np.array([1, 2, 3])}, t=2)
    assert table.cases == 6 and table.rows == 6 and table.varied == ["a", "x'(0)"]
    assert table["case"].tolist() == [1, 2, 3, 4, 5, 6]
    assert table["a"].tolist() == [0.1] * 3 + [0.2] * 3 and table["x'(0)"].tolist() == [1, 2, 3] * 2
    for k in range(6):
        m = sleigh.run(t=2, set={"a": table["a"][k]}, initial={"x'": table["x'(0)"][k]}, samples=2, dense=False)
        # The same motion up to rounding, in whatever way cases are evaluated.
        assert abs(m["x"][-1] - table["x"][k]) < 1e-8
    assert set(table["audit"]) == {"pass"} and set(table["stop"]) == {"end"}
    assert sleigh.sweep("a=[0.1, 0.2], x'=[1, 2, 3]", t=2) == table
    assert pickle.loads(pickle.dumps(table)) == table


def test_frames_draws_and_what_is_kept(sleigh):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [0.3, 0.1], "m": [1.0, 2.0]})
    table = sleigh.sweep(frame, t=1)
    assert table["a"].tolist() == [0.3, 0.1] and table["m"].tolist() == [1, 2]
    draws = sleigh.sweep(draw={"a": "normal(0.2, 0.01)"}, count=5, seed=3, t=1)
    assert draws.rows == 5 and draws == sleigh.sweep(draw="a~normal(0.2, 0.01)", count=5, seed=3, t=1)
    samples = sleigh.sweep({"a": [0.1, 0.2]}, t=1, samples=4, keep="samples")
    assert samples.rows == 8 and samples.to_pandas().groupby("case").size().tolist() == [4, 4]
    assert sleigh.sweep({"a": [0.1]}, t=1, keep="audit")["check"]


def test_a_cube_has_the_parameters_as_coordinates(sleigh):
    pytest.importorskip("xarray")
    table = sleigh.sweep({"a": [0.3, 0.1], "m": [1, 2, 3]}, t=1)
    cube = table.to_xarray()
    assert cube.sizes == {"a": 2, "m": 3}
    for k in range(6):
        assert float(cube["x"].sel(a=table["a"][k], m=table["m"][k])) == table["x"][k]
    times = sleigh.sweep({"a": [0.3, 0.1]}, t=1, samples=3, keep="samples").to_xarray()
    assert times["x"].dims == ("a", "sample")


def test_files(sleigh, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    table = sleigh.sweep({"a": [0.1, 0.2]}, t=1, output=tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").equals(table.to_arrow())
    table.save(tmp_path / "a.csv")
    import pandas as pd

    read = pd.read_csv(tmp_path / "a.csv")
    assert read["x"].tolist() == table["x"].tolist() and list(read.columns) == list(table)


def test_cases_that_cannot_begin_are_rows(sleigh):
    model = pfaff.Model("coordinates x\nparameters k = 1\nlagrangian x'^2/2 - log(k)*x\ninitial x = 1\n")
    table = model.sweep({"k": [1, -1, 2]}, t=1)
    assert table.rows == 3 and table["stop"][0] == "end" and table["stop"][2] == "end"
    assert table["stop"][1] != "end" and np.isnan(table["x"][1])


def test_mistakes_are_named(sleigh):
    for wrong, match in [
        ({"aa": [1]}, "did you mean `a`|cannot be varied"),
        ({"a": []}, "no values"),
        ({"a": [float("nan")]}, "finite"),
        ({}, "something to vary"),
    ]:
        with pytest.raises(pfaff.ModelError, match=match):
            sleigh.sweep(wrong, t=1)
    with pytest.raises(pfaff.ModelError, match="choose final"):
        sleigh.sweep({"a": [1]}, keep="all")
    with pytest.raises(TypeError):
        sleigh.sweep({"a": ["x"]}, t=1)
    with pytest.raises(TypeError):
        sleigh.sweep(42)
