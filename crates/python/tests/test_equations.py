"""Equations: formulas, numbers at states, right-hand sides for others."""

import numpy as np
import pytest

import pfaff


def test_formulas_and_source_code(sleigh):
    eq = sleigh.derive("vakonomic")
    assert eq.principle == "vakonomic" and "\\begin" in eq.latex() and eq._repr_latex_() == eq.latex()
    assert "\\documentclass" in eq.latex(document=True)
    eq = sleigh.derive()
    assert "u1" in eq.text("reduced") and "<math" in eq.mathml()
    assert "double" in eq.c() and "pub fn" in eq.rust() and "def " in eq.python()
    with pytest.raises(pfaff.ModelError, match="no form"):
        eq.latex("none")
    with pytest.raises(pfaff.ModelError, match="no principle"):
        sleigh.derive("hertz")


def test_exported_python_is_our_right_hand_side(sleigh):
    eq = sleigh.derive()
    space = {}
    exec(eq.python("multipliers"), space)  # noqa: S102
    prefix = next(name[: -len("_rates")] for name in space if name.endswith("_rates"))
    constants = space[f"{prefix}_prepare"](space[f"{prefix}_parameters"])
    y = [0.1, -0.2, 0.3, 0.4, 0.5, 0.6]
    try:
        expected = space[f"{prefix}_rates"](constants, 0.0, y)
    except TypeError:
        expected = space[f"{prefix}_rates"](0.0, y, constants)
    assert np.allclose(eq.rhs(0.0, y), expected, rtol=1e-13, atol=1e-13)


def test_numbers_at_a_state(sleigh):
    eq = sleigh.derive()
    state = {"x": 0.3, "phi": 0.4, "x'": 1, "y'": 0.2, "phi'": -0.7}
    array = [0.3, 0, 0.4, 1, 0.2, -0.7]
    m, a = eq.mass_matrix(state), eq.jacobian(state)
    assert m.shape == (3, 3) and np.array_equal(m, m.T) and a.shape == (1, 3)
    assert np.array_equal(eq.acceleration(array), eq.acceleration(state))
    assert np.array_equal(eq.acceleration("x=0.3, phi=0.4, x'=1, y'=0.2, phi'=-0.7"), eq.acceleration(state))
    rows = eq.acceleration([array, array])
    assert rows.shape == (2, 3) and eq.mass_matrix([array, array]).shape == (2, 3, 3)
    # M q'' = f + Aᵀλ and R = Aᵀλ.
    assert np.allclose(eq.reaction(state), a.T @ eq.multipliers(state), atol=1e-13)
    # The closed form of M for the sleigh, a = 0.2, m = 1, J = 0.5.
    s, c = np.sin(0.4), np.cos(0.4)
    assert np.allclose(m, [[1, 0, -0.2 * s], [0, 1, 0.2 * c], [-0.2 * s, 0.2 * c, 0.54]], atol=1e-15)


def test_rhs_is_vectorised_over_rows(sleigh):
    rhs = sleigh.derive().rhs
    assert rhs.names == ["x", "y", "phi", "x'", "y'", "phi'"]
    rng = np.random.default_rng(1)
    y = rng.normal(size=(40003, 6))
    together = rhs(0.0, y)
    assert together.shape == y.shape
    for i in (0, 7, 8, 40000, 40002):
        # One state at a time may fuse other operations than eight at once.
        assert np.allclose(together[i], rhs(0.0, y[i]), rtol=1e-13, atol=1e-14)
    assert np.array_equal(rhs(np.zeros(len(y)), y), together)
    assert np.array_equal(rhs(0, y[:, ::1][::2]), together[::2])
    assert np.array_equal(rhs(0, np.asfortranarray(y)), together)
    assert np.array_equal(rhs(0.0, [0, 0, 0, 1, 0, 0]), rhs(0.0, np.array([0.0, 0, 0, 1, 0, 0])))
    assert np.array_equal(rhs(0.0, y[:3].astype(np.float32)), rhs(0.0, y[:3].astype(np.float32).astype(float)))


@pytest.mark.parametrize("name", ["sleigh", "double_pendulum", "disk", "sleigh_vakonomic", "pendulum", "ball"])
def test_solve_ivp_agrees_with_our_run(name):
    integrate = pytest.importorskip("scipy.integrate")
    model = pfaff.gallery[name]
    eq = model.derive()
    m = model.run(t=1.0, samples=5, tolerance=1e-12)
    start = {**{k: v[0] for k, v in m.q.items()}, **{f"{k}'": v[0] for k, v in m.v.items()}}
    start |= {f"mu({k})": v[0] for k, v in m.multipliers.items()}
    y0 = [start[k] for k in eq.rhs.names]
    t0, own = eq.initial_state()
    assert np.allclose(own, y0, atol=1e-12)
    ivp = integrate.solve_ivp(eq.rhs, (m.t[0], m.t[-1]), y0, "DOP853", t_eval=m.t, rtol=1e-11, atol=1e-11)
    n = len(model.coordinates)
    # Both tolerances are local; over one second errors grow by less than a factor of a hundred here.
    assert np.allclose(ivp.y[:n].T, np.asarray(m.q), rtol=1e-8, atol=1e-8)
    assert np.allclose(ivp.y[n : 2 * n].T, np.asarray(m.v), rtol=1e-7, atol=1e-7)


def test_equation_models_have_right_hand_sides():
    model = pfaff.Model("coordinates x, y\nequation x' = y\nequation y'' = -x\ninitial x = 1, y = 0\n")
    rhs = model.derive().rhs
    assert rhs.names == ["x", "y", "y'"]
    assert np.allclose(rhs(0.0, [1.0, 2.0, 3.0]), [2.0, 3.0, -1.0])


def test_memory_has_none():
    with pytest.raises(pfaff.ModelError, match="memory"):
        pfaff.gallery["fractional_oscillator"].derive().rhs
