"""Every command of the command line as an object with a table and, where it has one, a picture."""

import pickle

import numpy as np
import pytest

import pfaff

HOOP = """
coordinates  a
parameters   w = 1, g = 10, d = 0.1
lagrangian   a'^2/2 + w^2*sin(a)^2/2 + g*cos(a)
dissipation  d*a'^2/2
initial      a = 0.1
"""


def drawn(result, *names):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = result.plot(*names)
    assert ax.lines
    matplotlib.pyplot.close("all")


def test_check(sleigh):
    found = sleigh.check()
    assert found.degrees_of_freedom == 2 and found["regular"] is True
    assert found.constraints == [{"name": "blade", "class": "linear", "integrable": False}] or (
        found.constraints[0]["class"] == "linear" and found.constraints[0]["integrable"] is False
    )
    assert found.table()["name"] == ["blade"] and "linear" in found.text and "<pre>" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).degrees_of_freedom == 2
    with pytest.raises(AttributeError, match="degrees_of_freedom"):
        found.freedom
    assert pfaff.gallery["isokinetic"].check(temperature=0.5).temperature["kT"] == 0.5


def test_compare():
    found = pfaff.gallery["contact_vakonomic"].compare(samples=11)
    assert found.principles == ["chetaev", "vakonomic"] or "chetaev" in found.principles
    assert found.t.shape == (11,) and found["chetaev"].shape[0] == 11
    assert len(found.table()) > 3
    drawn(found)


def test_variations():
    found = pfaff.gallery["contact_particle"].variations("x = sin(pi*t/3)", t=3, samples=5)
    assert found.base and found.table()["variation"]


def test_geometry():
    found = pfaff.gallery["contact_particle"].geometry(state={"x": 1, "y": 0.5})
    assert found.growth_vector == [2, 3] and found.integrable is False
    assert found.value("torsion").ndim == 3 and "torsion" in found.table()["tensor"]
    assert "\\begin" in pfaff.gallery["contact_particle"].geometry("riemann").latex()
    curve = pfaff.gallery["contact_particle"].geometry(curve="geodesic", t=1, samples=5)
    assert curve.q.shape[0] == 5
    drawn(curve, "x", "y")
    view = pfaff.gallery["contact_particle"].geometry(motion="cotangent", t=1, samples=5)
    assert view.deviation < 1e-6


def test_lift_closes_the_base_and_not_the_fibre():
    model = pfaff.gallery["contact_particle"]
    found = model.lift({"x": "cos(t)", "y": "sin(t)"}, t=2 * np.pi, samples=9)
    assert abs(found.q["x"][-1] - 1) < 1e-9 and found.holonomy
    t = np.linspace(0, 2 * np.pi, 400)
    table = model.lift({"t": t, "x": np.cos(t), "y": np.sin(t)}, samples=9)
    for name, change in found.holonomy.items():
        # Interpolation between 400 corners of the path.
        assert abs(table.holonomy[name] - change) < 1e-4


def test_linearize_and_its_root_locus():
    found = pfaff.Model(HOOP).linearize(at={"a": 0})
    # λ² + dλ + (g − w²) = 0
    assert np.allclose(sorted(found.eigenvalues, key=lambda z: z.imag), np.roots([1, 0.1, 9])[::-1]) or np.allclose(
        np.poly(found.eigenvalues), [1, 0.1, 9]
    )
    assert found.matrices["A"].shape == (2, 2) and found.stability == "asymptotically stable"
    assert "pmatrix" in found.latex() or "\\begin" in found.latex()
    drawn(found)
    locus = pfaff.Model(HOOP).linearize(at={"a": 0}, vary="w=0..5:6")
    assert len(locus.points) == 6 and len(locus.table()["re"]) == 12
    drawn(locus)


def test_equilibria():
    found = pfaff.Model(HOOP).equilibria({"a": (-4, 4)}, set={"w": 4})
    angles = sorted(round(abs(s["a"]), 6) for s in found.states)
    # cos a = g/w² besides 0 and π
    assert round(float(np.arccos(10 / 16)), 6) in angles and 0.0 in angles
    assert len(found) == len(found.table()["stability"])


def test_section():
    found = pfaff.gallery["double_pendulum"].section("rising a", 5)
    assert len(found.t) == 5 and np.abs(found.q["a"]).max() < 1e-9
    drawn(found, "b", "b'")


def test_gait_and_measure():
    gaits = [name for name in pfaff.gallery if "snakeboard" in name or "cat" in name]
    assert gaits
    flow = pfaff.gallery["pendulum"].measure()
    assert flow.text and flow.keys()
    with pytest.raises(pfaff.ModelError):
        pfaff.gallery["pendulum"].gait("nothing, there")


def test_lyapunov():
    found = pfaff.gallery["pendulum"].lyapunov(50)
    assert len(found.exponents) == len(found.error) and np.all(np.diff(found.exponents) <= 0)


def test_orbit():
    model = pfaff.Model("coordinates x\nlagrangian x'^2/2 - x^2/2 - x^4/4\ninitial x = 1\n")
    found = model.orbit(period=5)
    m = found.motion(samples=2, tolerance=1e-12)
    assert abs(m["x"][-1] - m["x"][0]) < 1e-8 and len(found.multipliers) == 2
    drawn(found)


def test_continue():
    found = pfaff.Model(HOOP).continue_({"w": (1, 5)})
    kinds = [point["kind"] for point in found.special]
    at = [point["parameter"] for point in found.special if point["kind"] in ("branch", "fold")]
    # The pitchfork is at w² = g.
    assert kinds and any(abs(w - np.sqrt(10)) < 1e-6 for w in at)
    assert len(found.table()["branch"]) > 10
    drawn(found)


def test_fit_finds_what_made_the_data(pendulum, tmp_path):
    data = pendulum.run(t=2, set={"l": 1.3}, at=np.linspace(0, 2, 41))
    columns = {"t": data.t, "a": data["a"]}
    found = pendulum.fit(columns, "l")
    assert abs(found.values["l"] - 1.3) < 1e-6 and found.converged
    assert found.table()["parameter"] == ["l"] and found.covariance.shape == (1, 1)
    assert "<svg" in found.picture().svg
    drawn(found)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(columns)
    assert abs(pendulum.fit(frame, ["l"], bounds={"l": (0.5, 2)}).values["l"] - 1.3) < 1e-6
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert abs(pendulum.fit(str(tmp_path / "d.csv"), ["l"]).values["l"] - 1.3) < 1e-6
    both = pendulum.fit([columns, columns], ["l"], prior={"l": (1.2, 10)})
    assert abs(both.values["l"] - 1.3) < 1e-3


def test_discover_finds_the_blade(sleigh):
    tables = []
    for k in range(12):
        angle = 0.5 * k
        start = {"phi": angle, "x'": np.cos(angle), "y'": np.sin(angle), "phi'": 0.3 + 0.1 * k}
        m = sleigh.run(t=4, initial=start, samples=161)
        tables.append({name: m[name] for name in ("t", "x", "y", "phi")})
    found = pfaff.discover(tables, "x, y, phi")
    assert len(found["constraints"]) == 1 and found.integrable is False
    assert found.table()["constraint"]


def test_contacts_events_and_affine_bodies():
    ball = pfaff.Model(
        "coordinates y\nlagrangian y'^2/2 - 10*y\ncontact floor: y >= 0, restitution = 0.5\ninitial y = 1\nsolve t = 0..1\n"
    )
    m = ball.run()
    assert any(e["name"] == "floor" for e in m.events)
    # It reaches the floor at √(2/g).
    assert abs(m.events[0]["t"] - np.sqrt(0.2)) < 1e-9
    body = pfaff.gallery["affine_free_2d"].run(t=0.5)
    assert body.audit.verdict == "pass" and "phi[1,1]" in body.q.names


def test_two_tables_are_compared(sleigh, tmp_path):
    m = sleigh.run(t=2)
    same = pfaff.difference(m, m)
    assert not same and same.equal and same.largest == 0
    other = sleigh.run(t=2, set={"a": 0.3})
    found = pfaff.difference(m, other)
    assert found and not found.equal
    x = max(abs(m["x"] - other["x"]) / (1 + abs(other["x"])))
    table = found.table()
    assert abs(table["largest"][table["name"].index("x")] - x) < 1e-15
    m.save(tmp_path / "m.parquet")
    assert pfaff.difference(tmp_path / "m.parquet", m).equal
    sweeps = [sleigh.sweep({"a": [0.1, 0.2]}, t=t) for t in (1, 1)]
    assert pfaff.difference(*sweeps).equal
    with pytest.raises(pfaff.UsageError, match="cannot be read"):
        pfaff.difference(m, tmp_path / "nothing.csv")
    with pytest.raises(TypeError, match="not int"):
        pfaff.difference(m, 3)


def test_noise_has_a_seed():
    model = pfaff.Model("coordinates x\nlagrangian x'^2/2 - x^2/2\nnoise x: 0.1\nsolve t = 0..1\n")
    paths = [model.run(seed=seed)["x"] for seed in (1, 1, 2)]
    assert (paths[0] == paths[1]).all() and (paths[0] != paths[2]).any()


def test_digits_beyond_doubles():
    model = pfaff.Model("coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n")
    m = model.run(t=10, precision="double_double", tolerance=1e-25)
    # A double is the nearest to the cosine, where the usual run has rounding errors of its own.
    assert abs(m["x"][-1] - np.cos(10)) < 3e-16
    with pytest.raises(pfaff.UsageError, match="double_double"):
        model.run(t=1, precision="single")


def test_second_derivatives():
    model = pfaff.Model("coordinates x\nparameters k = 2\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1\n")
    found = model.run(t=1, sensitivity="k", second=True).sensitivities["k"]["second"]["k"]
    # x = cos(√k t); its second derivative by k.
    w = np.sqrt(2)
    exact = np.sin(w) / (4 * w**3) - np.cos(w) / (4 * w**2)
    assert abs(found["q"]["x"][-1] - exact) < 1e-6
