"""SymPy in and out, and SymPy's own derivations beside ours."""

import time

import numpy as np
import pytest

import pfaff

sp = pytest.importorskip("sympy")
me = pytest.importorskip("sympy.physics.mechanics")

t = me.dynamicsymbols._t
x, y, phi, a, b = me.dynamicsymbols("x y phi a b")


def sleigh_parts():
    m, J, d = sp.symbols("m J d")
    X, Y = x + d * sp.cos(phi), y + d * sp.sin(phi)
    L = m * (X.diff(t) ** 2 + Y.diff(t) ** 2) / 2 + J * phi.diff(t) ** 2 / 2
    return L, y.diff(t) * sp.cos(phi) - x.diff(t) * sp.sin(phi), (m, J, d)


def test_a_model_from_sympy_is_the_model_from_text():
    L, blade, (m, J, d) = sleigh_parts()
    model = pfaff.Model(
        coordinates=[x, y, phi],
        parameters={m: 1, J: sp.Rational(1, 2), d: 0.2},
        lagrangian=L,
        constraints={"blade": sp.Eq(blade, 0)},
        initial={x.diff(t): 1, phi.diff(t): 0.3},
    )
    found, expected = model.run(t=5), pfaff.gallery["sleigh"].run(t=5)
    # The same equations in another order of operations.
    assert np.allclose(np.asarray(found.q), np.asarray(expected.q), atol=1e-8)


def test_matrices_functions_and_branches_are_understood():
    from pfaff._sympy import to_text

    q = sp.Matrix([x, y])
    assert to_text(q) == "[x, y]" and to_text(sp.Matrix([[1, x], [y, 2]])) == "[[1, x], [y, 2]]"
    k = sp.Symbol("k")
    expression = (
        sp.sqrt(1 + x**2) + sp.exp(-k * x) + sp.atan2(y, x + 3) + sp.Abs(y) + sp.Max(x, 2) + sp.sec(x)
        + sp.Piecewise((x, x > 1), (y, True)) + sp.log(3 + x, 2) + sp.pi + sp.Rational(1, 3) + sp.Float("0.1")
    )  # fmt: skip
    at = {"x": 0.7, "y": -1.3, "k": 0.4}
    expected = expression.subs({x: 0.7, y: -1.3, k: 0.4}).evalf()
    assert abs(pfaff.evaluate(to_text(expression), at) - float(expected)) < 1e-12
    assert to_text(x.diff(t, 2)) == "x''" and to_text(sp.Symbol("theta_1")) == "theta_1"


@pytest.mark.parametrize("make", [lambda: sp.besselj(0, x), lambda: sp.Function("f")(x, y), lambda: sp.zeta(x)])
def test_unknown_functions_are_named(make):
    e = make()
    with pytest.raises(pfaff.ModelError, match=f"`{type(e).__name__}`|`{e.func.__name__}`"):
        pfaff.Model(coordinates=["x", "y"], lagrangian=x.diff(t) ** 2 + y.diff(t) ** 2 + e)


def test_what_is_no_real_number_is_refused():
    for wrong in (sp.I * x, sp.oo, sp.nan):
        with pytest.raises(pfaff.ModelError, match="no real number"):
            pfaff.Model(coordinates=["x"], lagrangian=x.diff(t) ** 2 + wrong)


def test_to_sympy_gives_the_blocks():
    s = pfaff.gallery["sleigh"].to_sympy()
    phi_ = s.q[2]
    p = s.parameters
    assert s.L.diff(s.v[2], 2).simplify() - (p["J"] + p["m"] * p["a"] ** 2) == 0
    assert sp.simplify(s.A - sp.Matrix([[-sp.sin(phi_), sp.cos(phi_), 0]])) == sp.zeros(1, 3)
    assert sp.simplify(s.M - s.L.diff(s.v[0]).diff(s.v[0]) * sp.eye(3))[0, 0] == 0
    assert s.phi.shape == (1, 1) and s.f.shape == (3, 1) and s.b.shape == (1, 1)
    assert s.values[p["a"]] == 0.2


q1, q2, q3, q4, q5 = me.dynamicsymbols("q1:6")
d = {q: q.diff(t) for q in (q1, q2, q3, q4, q5)}
c, n_ = sp.cos, sp.sin

#: Coordinates; masses, the places that they have on lines, and constant forces along these; velocity constraints.
SYSTEMS = {
    "double pendulum": (
        [q1, q2],
        [(1, n_(q1), 0), (1, c(q1), 10), (2, n_(q1) + n_(q2), 0), (2, c(q1) + c(q2), 20)],
        [],
    ),
    "pendulum on a cart": ([q1, q2], [(3, q1, 1), (1, q1 + n_(q2), 0), (1, c(q2), 10)], []),
    "spherical pendulum": ([q1, q2], [(1, n_(q1) * c(q2), 0), (1, n_(q1) * n_(q2), 0), (1, c(q1), 10)], []),
    "sleigh": (
        [q1, q2, q3],
        [(1, q1 + c(q3) / 5, 0), (1, q2 + n_(q3) / 5, 0), (sp.Rational(1, 2), q3, 0)],
        [d[q2] * c(q3) - d[q1] * n_(q3)],
    ),
    "knife edge on a slope": (
        [q1, q2, q3],
        [(2, q1, 3), (2, q2, 0), (1, q3, 0)],
        [d[q2] * c(q3) - d[q1] * n_(q3)],
    ),
    "rolling disk": (
        [q1, q2, q3, q4],
        [(1, q1, 0), (1, q2, 0), (sp.Rational(1, 2), q3, 0), (sp.Rational(1, 4), q4, sp.Rational(1, 3))],
        [d[q1] - d[q3] * c(q4), d[q2] - d[q3] * n_(q4)],
    ),
    "particle with z' = y x'": ([q1, q2, q3], [(1, q1, 0), (2, q2, 1), (3, q3, -1)], [d[q3] - q2 * d[q1]]),
    "robot on two wheels": (
        [q1, q2, q3, q4, q5],
        [(4, q1 + c(q3) / 10, 0), (4, q2 + n_(q3) / 10, 0), (1, q3, 0), (sp.Rational(1, 5), q4, 1),
         (sp.Rational(1, 5), q5, 0)],
        [d[q2] * c(q3) - d[q1] * n_(q3),
         d[q1] * c(q3) + d[q2] * n_(q3) + d[q3] / 2 - d[q4] / 4,
         d[q1] * c(q3) + d[q2] * n_(q3) - d[q3] / 2 - d[q5] / 4],
    ),
}  # fmt: skip


def kanes_method(q, masses, constraints):
    """KanesMethod of the same system, with the velocities as speeds, the last ones dependent."""
    u = me.dynamicsymbols(f"u1:{len(q) + 1}")
    rates = dict(zip([x.diff(t) for x in q], u, strict=True))
    frame, bodies, loads = me.ReferenceFrame("N"), [], []
    for k, (mass, place, force) in enumerate(masses):
        point = me.Point(f"P{k}")
        point.set_vel(frame, place.diff(t).subs(rates) * frame.x)
        bodies.append(me.Particle(f"B{k}", point, mass))
        if force:
            loads.append((point, force * frame.x))
    free = len(q) - len(constraints)
    # The dependent speeds are the last ones for the disk and the robot's wheels, the second for a blade.
    order = list(range(len(q)))
    if len(constraints) == 1 and len(q) == 3 and constraints[0].coeff(d[q3]) == 0:
        order = [0, 2, 1]
    if len(constraints) == 2:
        order = [2, 3, 0, 1]
    if len(constraints) == 3:
        order = [2, 3, 0, 1, 4]
    q, u = [q[i] for i in order], [u[i] for i in order]
    extra = {}
    if constraints:
        extra = {"u_dependent": u[free:], "velocity_constraints": [e.subs(rates) for e in constraints]}
    method = me.KanesMethod(frame, q, u[:free], [rates[x.diff(t)] - x.diff(t) for x in q], **extra)
    method.kanes_equations(bodies, loads)
    return method, q, u, order


def numbers_of(matrix, values):
    """A matrix of numbers; rates stand first, because they contain the coordinates."""
    order = [(k, v) for k, v in values.items() if k.is_Derivative] + [
        (k, v) for k, v in values.items() if not k.is_Derivative
    ]
    return np.array(sp.Matrix(matrix).subs(order).evalf().tolist(), dtype=float)


@pytest.mark.parametrize("name", SYSTEMS)
def test_lagranges_and_kanes_methods_agree(name, capsys):
    q, masses, constraints = SYSTEMS[name]
    lagrangian = sum(m * place.diff(t) ** 2 / 2 + force * place for m, place, force in masses)
    rng = np.random.default_rng(7)
    model = pfaff.Model(coordinates=q, lagrangian=lagrangian, constraints=constraints)
    begun = time.perf_counter()
    eq = model.derive()
    ours = time.perf_counter() - begun
    begun = time.perf_counter()
    lagrange = me.LagrangesMethod(lagrangian, q, nonhol_coneqs=constraints or None)
    lagrange.form_lagranges_equations()
    lagrange_took = time.perf_counter() - begun
    begun = time.perf_counter()
    kane, kq, ku, order = kanes_method(q, masses, constraints)
    kane_took = time.perf_counter() - begun
    n, m = len(q), len(constraints)
    for _ in range(4):
        place = rng.uniform(-1, 1, n)
        # Kane's equations hold at admissible velocities only.
        rows = model.derive().jacobian(np.concatenate([place, np.zeros(n)])) if m else np.zeros((0, n))
        kernel = np.linalg.svd(rows)[2][m:].T if m else np.eye(n)
        speed = kernel @ rng.uniform(-1, 1, n - m)
        found = eq.acceleration(np.concatenate([place, speed]))
        values = dict(zip(q, place, strict=True)) | dict(zip([x.diff(t) for x in q], speed, strict=True))
        mass, force = numbers_of(lagrange.mass_matrix_full, values), numbers_of(lagrange.forcing_full, values)
        theirs = np.linalg.solve(mass, force)[n : 2 * n, 0]
        # Well-conditioned systems of some numbers of order one: rounding only.
        assert np.allclose(found, theirs, rtol=1e-10, atol=1e-10), name
        values = dict(zip(q, place, strict=True))
        values |= dict(zip(ku, (speed[i] for i in order), strict=True))
        mass, force = numbers_of(kane.mass_matrix_full, values), numbers_of(kane.forcing_full, values)
        rates = np.linalg.solve(mass, force)[n:, 0]
        assert np.allclose(found[order], rates, rtol=1e-10, atol=1e-10), name
    with capsys.disabled():
        print(
            f"\n  {name}: derived in {1e3 * ours:.2f} ms; LagrangesMethod {1e3 * lagrange_took:.0f} ms, "
            f"KanesMethod {1e3 * kane_took:.0f} ms",
            end="",
        )
