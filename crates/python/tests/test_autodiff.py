"""JAX and PyTorch: right-hand sides, and final states with derivatives."""

import numpy as np
import pytest

import pfaff

OSCILLATOR = "coordinates x\nparameters k = 2\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1\n"


def exact(k, x0, t):
    w = np.sqrt(k)
    return x0 * np.cos(w * t), -t / (2 * w) * x0 * np.sin(w * t)


def test_final_is_the_end_of_a_run():
    state = pfaff.Model(OSCILLATOR).final({"k": 3.0, "x(0)": 0.5}, t=1.0)
    assert abs(state[0] - exact(3, 0.5, 1)[0]) < 1e-8


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    model = pfaff.Model(OSCILLATOR)

    def end(k, x0):
        return model.final({"k": k, "x(0)": x0}, t=1.0, tolerance=1e-12)[0]

    x, by_k = exact(2, 1, 1)
    assert abs(end(jax.numpy.asarray(2.0), 1.0) - x) < 1e-10
    # Forward, backward and compiled derivatives are the closed form's.
    assert abs(jax.grad(end)(2.0, 1.0) - by_k) < 1e-9
    assert abs(jax.jit(jax.grad(end))(2.0, 1.0) - by_k) < 1e-9
    assert abs(jax.jacfwd(end, 1)(2.0, 1.0) - x) < 1e-9
    batch = jax.vmap(lambda k: end(k, 1.0))(jax.numpy.array([2.0, 3.0]))
    assert np.allclose(batch, [exact(2, 1, 1)[0], exact(3, 1, 1)[0]], atol=1e-9)
    sleigh = pfaff.gallery["sleigh"]
    rhs, own = sleigh.rhs_jax(), sleigh.derive().rhs
    rng = np.random.default_rng(3)
    for y in rng.normal(size=(5, 6)):
        assert np.allclose(jax.jit(rhs)(0.0, y), own(0.0, y), atol=1e-12)
    jacobian = jax.jacfwd(rhs, 1)(0.0, y)
    h = 1e-6
    difference = [(own(0.0, y + h * e) - own(0.0, y - h * e)) / (2 * h) for e in np.eye(6)]
    assert np.allclose(jacobian, np.transpose(difference), atol=1e-7)
    vakonomic = pfaff.gallery["sleigh_vakonomic"]
    y = rng.normal(size=7)
    assert np.allclose(vakonomic.rhs_jax()(0.0, y), vakonomic.derive().rhs(0.0, y), atol=1e-11)


def test_torch():
    torch = pytest.importorskip("torch")
    model = pfaff.Model(OSCILLATOR)
    k = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    state = model.final({"k": k, "x(0)": 1.0}, t=1.0, tolerance=1e-12)
    x, by_k = exact(2, 1, 1)
    assert abs(float(state[0]) - x) < 1e-10
    state[0].backward()
    assert abs(float(k.grad) - by_k) < 1e-9
    assert torch.autograd.gradcheck(lambda k: model.final({"k": k}, t=1.0, tolerance=1e-12), (k,), atol=1e-6)


def test_what_is_no_mapping_is_refused():
    with pytest.raises(TypeError):
        pfaff.Model(OSCILLATOR).final([1.0])
