"""Motions: arrays, dense output, tables, pages, pickles, interruption."""

import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import pfaff


def test_columns_are_arrays_without_copies(sleigh):
    m = sleigh.run(t=(0, 5), samples=101)
    assert m.t.shape == (101,) and m.t[0] == 0 and m.t[-1] == 5
    assert m.q["x"] is m.q["x"] and m["x"] is m.q["x"]
    assert not m.q["x"].flags.writeable
    assert m.q.shape == (101, 3) and np.asarray(m.q).shape == (101, 3)
    assert np.array_equal(m.q[:, 0], m["x"]) and np.array_equal(m.q.x, m["x"])
    assert list(m.q) == ["x", "y", "phi"] and dict(m.v).keys() == {"x", "y", "phi"}
    assert np.array_equal(m["lambda(blade)"], m.multipliers["blade"])
    assert np.array_equal(m["x'"], m.v["x"]) and np.array_equal(m["x''"], m.a["x"])
    # The sleigh keeps its energy, and the reaction does no work.
    assert np.ptp(m.energy) < 1e-8 and np.abs(m.reaction_power).max() < 1e-9
    assert np.array_equal(m.energy["total"], m.energy["E"] + m.energy["constraint"])
    assert m.audit.verdict == "pass" and m.audit.checks and m.audit.passed
    assert m.keys()[:4] == ["t", "x", "y", "phi"]
    with pytest.raises(KeyError, match="did you mean"):
        m["sped"]


def test_dense_output_agrees_with_outputs(sleigh):
    m = sleigh.run(t=(0, 5), at=[0, 1.25, 2.5, 5], tolerance=1e-11)
    states = m(m.t)
    assert states.shape == (4, 6) and states.names == ["x", "y", "phi", "x'", "y'", "phi'"]
    assert np.allclose(states["x"], m["x"], rtol=0, atol=1e-9)
    assert np.allclose(states["phi'"], m["phi'"], rtol=0, atol=1e-8)
    assert m(2.5).shape == (6,) and m(2.5)["x"] == states[2, 0]
    assert m([[1, 2], [3, 4]]).shape == (2, 2, 6)
    assert np.isnan(m(-1)["x"]) and np.isnan(m(6)["x"])


def test_events_stop_and_notes(pendulum):
    m = pendulum.run()
    assert [e["name"] for e in m.events][:1] == ["bottom"]
    assert m.events[0]["direction"] == "falling" and abs(m.events[0]["q"]["a"]) < 1e-9
    assert m.stop == pfaff.Stop("end", 2.0) and not m.stop.is_early
    short = pfaff.gallery["sleigh"].run(t=5, max_steps=2)
    assert short.stop.reason == "max_steps" and short.stop.is_early


def test_set_initial_principle_and_times(sleigh):
    m = sleigh.run(t=3, set={"a": 0.3, "m": 2}, initial={"x'": 2, "phi'(0)": 0.1})
    other = sleigh.run(t=3, set="a=0.3, m=2", initial="x'=2, phi'=0.1")
    # The same motion up to rounding: numbers by name go to a model that is compiled once, texts are read anew.
    assert np.allclose(m["x"], other["x"], atol=1e-9) and m["x'"][0] == 2
    mu = sleigh.run(t=1, principle="vakonomic", initial={"mu(blade)": 0})
    assert mu.principle == "vakonomic" and mu.multiplier_rates["blade"].shape == mu.t.shape
    assert sleigh.run(t=(1, 2), samples=3).t.tolist() == [1, 1.5, 2]


@pytest.mark.parametrize("name", ["sleigh", "double_pendulum", "disk", "sleigh_vakonomic", "rolling_ball", "four_bar"])
def test_other_values_are_those_of_a_text_that_has_them(name):
    model = pfaff.gallery[name]
    first = next(iter(model.parameters))
    for factor in (1.1, 0.9):
        values = {first: model.parameters[first] * factor}
        found = model.run(t=1, set=values, tolerance=1e-11)
        expected = model.with_(set=values).run(t=1, tolerance=1e-11)
        assert np.allclose(np.asarray(found.q), np.asarray(expected.q), rtol=1e-7, atol=1e-7)
        assert found.audit.verdict == expected.audit.verdict
    loose = model.run(t=(0, 0.5), tolerance=1e-6, samples=3)
    tight = model.run(t=(0, 0.5), tolerance=1e-11, samples=3)
    assert np.allclose(np.asarray(loose.q), np.asarray(tight.q), atol=1e-3)


def test_sensitivities_are_derivatives(pendulum):
    m = pendulum.run(t=1, sensitivity=["l", "a(0)"], samples=3)
    h = 1e-5
    up, down = (pendulum.run(t=1, set={"l": 1 + s}, samples=3, tolerance=1e-12)["a"][-1] for s in (h, -h))
    # Central differences: h² and the tolerance over h.
    assert abs(m.sensitivities["l"]["q"]["a"][-1] - (up - down) / (2 * h)) < 1e-5
    names, matrices = pendulum.run(t=1, transition=True, samples=3).transition
    assert np.allclose(matrices[0], np.eye(len(names)))
    gradient = pendulum.run(t=1, gradient="height", by="l").gradient
    assert gradient["by"].keys() == {"l"}


def test_given_ends_have_solutions():
    model = pfaff.Model("coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 0\nfinal x = 1\nsolve t = 0..1\n")
    m = model.run()
    assert m.solutions and abs(m["x'"][0] - 1 / np.sin(1)) < 1e-6


def test_memory_runs():
    m = pfaff.gallery["fractional_relaxation"].run()
    assert m.stop.reason == "end" and m(m.t[-1] / 2).shape[0] == 2 * len(m.q)


def test_tables(sleigh, tmp_path):
    m = sleigh.run(t=2, samples=5)
    pd = pytest.importorskip("pandas")
    frame = m.to_pandas()
    assert isinstance(frame, pd.DataFrame) and frame.attrs["audit"] == "pass"
    assert list(frame.columns) == m.keys()
    arrow = pytest.importorskip("pyarrow")
    table = m.to_arrow()
    assert isinstance(table, arrow.Table) and table.column_names == m.keys()
    data = pytest.importorskip("xarray")
    cube = m.to_xarray()
    assert isinstance(cube, data.Dataset) and cube.sizes == {"t": 5}
    m.save(tmp_path / "m.parquet")
    m.save(tmp_path / "m.csv")
    import pyarrow.parquet as pq

    assert np.array_equal(pq.read_table(tmp_path / "m.parquet")["x"].to_numpy(), m["x"])
    assert np.array_equal(pd.read_csv(tmp_path / "m.csv")["x"], m["x"])
    assert m.to_dict()["q"]["x"] == m["x"].tolist()
    with pytest.raises(pfaff.ModelError, match="csv"):
        m.save(tmp_path / "m.xls")


def test_pages_and_pictures(sleigh, tmp_path):
    m = sleigh.run(t=2)
    m.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!") and "Chaplygin sleigh" in page and "pfaff run sleigh" in page
    assert "<svg" in m._repr_html_() and "http://" not in m._repr_html_().replace("http://www.w3.org", "")
    assert "<iframe" in m.animate()._repr_html_()
    assert "sleigh" in sleigh._repr_html_() and "Audit" in m.summary()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = m.plot("x", "y")
    assert np.array_equal(ax.lines[0].get_xdata(), m["x"]) and np.array_equal(ax.lines[0].get_ydata(), m["y"])
    assert len(m.plot("x", "y", "phi").lines) == 3 and len(m.plot("speed").lines) == 1


def test_motions_pickle_with_everything(sleigh, tmp_path):
    m = sleigh.run(t=3, set={"a": 0.3}, samples=7)
    again = pickle.loads(pickle.dumps(m))
    assert np.array_equal(again["x"], m["x"]) and np.array_equal(again(1.23), m(1.23))
    assert again.audit.checks == m.audit.checks and again.stop == m.stop
    assert again.report(tmp_path / "a.html").html.count("<") > 100
    # All but the times that the run took.
    shown = [[line for line in x.summary().split("\n") if "µs" not in line] for x in (again, m)]
    assert shown[0] == shown[1]
    state = {**m.__getstate__(), "pfaff": "9.9"}
    with pytest.raises(pfaff.VersionError):
        pfaff.Motion.__new__(pfaff.Motion).__setstate__(state)


LONG = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)^2/4\ninitial x = 1, y' = 0.3\n"


def interrupt_after(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_an_interrupt_keeps_what_was_computed():
    model = pfaff.Model(LONG)
    timer = interrupt_after(0.3)
    begun = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = model.run(t=1e9, samples=3, at=None, dense=False, max_steps=10**12)
    timer.join()
    assert m.stop.reason == "interrupted" and 0 < m.stop.t < 1e9
    assert any(issubclass(w.category, pfaff.InterruptedWarning) for w in caught)
    # Far less than the run would take; the limit is generous because the machine may be busy.
    assert time.monotonic() - begun < 30
    timer = interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt) as raised:
        model.run(t=1e9, samples=3, dense=False, max_steps=10**12, on_interrupt="raise")
    timer.join()
    assert raised.value.motion.stop.reason == "interrupted"


def test_an_interrupt_ends_what_has_no_part_to_show():
    # Its geometry takes minutes at least.
    text = "coordinates q[200]\nlagrangian sum(i = 1..200, q[i]'^2/2*cos(q[i])) + sum(i = 1..200, sin(q[i]*q[1]))^5\n"
    model = pfaff.Model(text)
    timer = interrupt_after(0.3)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.geometry()
    timer.join()
    assert time.monotonic() - begun < 30
    assert model.check() is not None


def test_progress_is_told_and_may_end_the_run():
    seen = []
    model = pfaff.Model(LONG)

    def progress(done, t):
        seen.append((done, t))
        if len(seen) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        model.run(t=1e9, samples=3, dense=False, max_steps=10**12, progress=progress)
    assert len(seen) == 3 and seen[0][1] < seen[2][1]


def test_threads_run_beside_each_other(sleigh):
    found = {}

    def work(k):
        found[k] = sleigh.run(t=20, set={"a": 0.1 + 0.05 * k})["x"]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        assert np.array_equal(found[k], sleigh.run(t=20, set={"a": 0.1 + 0.05 * k})["x"])
