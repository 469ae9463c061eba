"""From the statement of a problem to the end of its motion: pfaff beside SymPy + SciPy, CasADi and JAX + diffrax.

Problems: sleigh with offset mass (T = 100), vertical disk on an incline (T = 100), ball rolling in a bowl (T = 20), rattleback (T = 5), all given by a
Lagrangian and constraints; the peers get the saddle-point system that they derive themselves, solved with numbers at each evaluation (SymPy, diffrax) or on
paper (CasADi). Not part of the tests. Needs `pip install numpy scipy sympy casadi jax diffrax`, and a release build of pfaff.

usage: python trajectories.py PATH_OF_PFAFF PROGRAM_OF_BENCH_LATENCY [problem ...]

The second is what `cargo bench -p pfaff --bench latency --no-run` names: it runs a problem again and again in one process.

Each line: problem, peer, seconds of a whole process that does it once (start and imports counted), seconds from the statement to the end of the motion (imports not
counted, in a process that has done it before), of which to integrate, error of the end point. Then how many times longer than pfaff: whole process to whole process of
`pfaff run`; statement to end of motion, both in a process that has done it before ("again"); the same against what `pfaff run` says that reading, deriving, compiling,
integrating and auditing took in its fresh process ("told"); that without the audit, which the peers have none of; and against the whole process of `pfaff run`. Errors are against `pfaff run` at tolerance 1e-14.

Each peer runs in a process of its own, again and again up to REPEATS (5) times or PEER_REPEAT (20) seconds; pfaff runs in turn with it, between its repetitions, so that other work on the
machine hurts both alike; what a peer remembers of its last repetition is cleared. All times are the smallest ones; both sides of a ratio come from the same turns. A peer is given up after PEER_SECONDS (300).
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(name + "_NUM_THREADS", "1")

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = float(os.environ.get("PEER_SECONDS", 300))
ENOUGH = float(os.environ.get("PEER_REPEAT", 20))
REPEATS = 5
# Runs of pfaff between two repetitions of a peer, and whole processes of a peer.
RUNS = 12
PROCESSES = 3

SLEIGH = """
coordinates x, y, phi
parameters  m = 1, J = 1, a = 0.05
let         X = x + a*cos(phi)
let         Y = y + a*sin(phi)
lagrangian  m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint  blade: y'*cos(phi) - x'*sin(phi) = 0
initial     x' = -0.9, phi' = 0.4
"""
DISK = """
coordinates x, y, th, phi
parameters  m = 1, R = 0.5, I = 0.125, J = 0.0625, g = 9.81, beta = 0.3
lagrangian  m*(x'^2 + y'^2)/2 + I*th'^2/2 + J*phi'^2/2 + m*g*sin(beta)*x
constraint  x' = R*cos(phi)*th'
constraint  y' = R*sin(phi)*th'
initial     x' = 0.5, th' = 1, phi' = 0.7
"""
BALL = """
coordinates x, y, z, psi, theta, phi
parameters  m = 1, R = 0.3, g = 9.81, k1 = 0.5, k2 = 0.8, I = 0.036
let         w1 = theta'*cos(psi) + phi'*sin(theta)*sin(psi)
let         w2 = theta'*sin(psi) - phi'*sin(theta)*cos(psi)
let         w3 = psi' + phi'*cos(theta)
let         s = 1/sqrt(1 + (k1*x)^2 + (k2*y)^2)
let         n = [-k1*x*s, -k2*y*s, s]
lagrangian  m*(x'^2 + y'^2 + z'^2)/2 + I*(psi'^2 + theta'^2 + phi'^2 + 2*psi'*phi'*cos(theta))/2 - m*g*z
constraint  roll: [x', y', z'] = R*cross([w1, w2, w3], n)
initial     x = 0.6, y = 0.1, z = 0.094, psi = 0.3, theta = 1.3
initial     psi' = {}, theta' = {}, phi' = {}
"""


class Sleigh:
    names = "x y phi".split()
    end, tolerance = 100.0, 1e-10

    @staticmethod
    def text():
        return SLEIGH

    @staticmethod
    def start():
        return [0, 0, 0], [-0.9, 0, 0.4]

    @staticmethod
    def statement(q, v, f):
        (x, y, p), (xd, yd, pd) = q, v
        s, c = f.sin(p), f.cos(p)
        X, Y = xd - 0.05 * s * pd, yd + 0.05 * c * pd
        return 0.5 * (X * X + Y * Y) + 0.5 * pd * pd, [yd * c - xd * s]


class Disk:
    names = "x y th phi".split()
    end, tolerance = 100.0, 1e-10

    @staticmethod
    def text():
        return DISK

    @staticmethod
    def start():
        return [0, 0, 0, 0], [0.5, 0, 1, 0.7]

    @staticmethod
    def statement(q, v, f):
        import math

        (x, y, t, p), (xd, yd, td, pd) = q, v
        energy = 0.5 * (xd * xd + yd * yd) + 0.0625 * td * td + 0.03125 * pd * pd + 9.81 * math.sin(0.3) * x
        return energy, [xd - 0.5 * f.cos(p) * td, yd - 0.5 * f.sin(p) * td]


class Ball:
    names = "x y z psi theta phi".split()
    end, tolerance = 20.0, 1e-10

    @staticmethod
    def start():
        import math

        w, R, k1, k2 = (0.8, 1.5, 0.7), 0.3, 0.5, 0.8
        x, y, psi, th = 0.6, 0.1, 0.3, 1.3
        s = 1 / math.sqrt(1 + (k1 * x) ** 2 + (k2 * y) ** 2)
        n = (-k1 * x * s, -k2 * y * s, s)
        ph = (w[0] * math.sin(psi) - w[1] * math.cos(psi)) / math.sin(th)
        rates = [w[2] - ph * math.cos(th), w[0] * math.cos(psi) + w[1] * math.sin(psi), ph]
        v = [R * (w[1] * n[2] - w[2] * n[1]), R * (w[2] * n[0] - w[0] * n[2]), R * (w[0] * n[1] - w[1] * n[0])]
        return [x, y, 0.094, psi, th, 0], v + rates

    @staticmethod
    def text():
        return BALL.format(*(repr(float(x)) for x in Ball.start()[1][3:]))

    @staticmethod
    def statement(q, v, f):
        (x, y, z, ps, th, ph), (xd, yd, zd, pd, td, fd) = q, v
        R, k1, k2, I = 0.3, 0.5, 0.8, 0.036
        sp, cp, st, ct = f.sin(ps), f.cos(ps), f.sin(th), f.cos(th)
        w = (td * cp + fd * st * sp, td * sp - fd * st * cp, pd + fd * ct)
        s = 1 / f.sqrt(1 + (k1 * x) * (k1 * x) + (k2 * y) * (k2 * y))
        n = (-k1 * x * s, -k2 * y * s, s)
        L = 0.5 * (xd * xd + yd * yd + zd * zd) + 0.5 * I * (pd * pd + td * td + fd * fd + 2 * pd * fd * ct) - 9.81 * z
        return L, [xd - R * (w[1] * n[2] - w[2] * n[1]), yd - R * (w[2] * n[0] - w[0] * n[2]), zd - R * (w[0] * n[1] - w[1] * n[0])]


class Rattleback:
    names = "x y gamma alpha beta".split()
    end, tolerance = 5.0, 1e-11

    @staticmethod
    def text():
        return open(os.path.join(HERE, "../../models/rattleback.pfaff")).read()

    @staticmethod
    def start():
        return json.loads(os.environ["RATTLEBACK_START"])

    @staticmethod
    def statement(q, v, f):
        (x, y, ga, al, be), (xd, yd, gd, ad, bd) = q, v
        g, a, b, c, h = 9.81, 0.2, 0.03, 0.02, 0.01
        sg, cg, sa, ca, sb, cb = f.sin(ga), f.cos(ga), f.sin(al), f.cos(al), f.sin(be), f.cos(be)
        R = [[cg * cb - sg * sa * sb, -sg * ca, cg * sb + sg * sa * cb],
             [sg * cb + cg * sa * sb, cg * ca, sg * sb - cg * sa * cb],
             [-ca * sb, sa, ca * cb]]
        W = (ad * cb - gd * ca * sb, bd + gd * sa, ad * sb + gd * ca * cb)
        u = R[2]
        size = f.sqrt(a * a * u[0] * u[0] + b * b * u[1] * u[1] + c * c * u[2] * u[2])
        rho = (-a * a * u[0] / size, -b * b * u[1] / size, h - c * c * u[2] / size)
        height = -(u[0] * rho[0] + u[1] * rho[1] + u[2] * rho[2])
        turned = (W[1] * rho[2] - W[2] * rho[1], W[2] * rho[0] - W[0] * rho[2], W[0] * rho[1] - W[1] * rho[0])
        # The contact point lies where the height is stationary in the body: height' = -u'.rho with u' = -W x u.
        up = -(-(W[1] * u[2] - W[2] * u[1]) * rho[0] - (W[2] * u[0] - W[0] * u[2]) * rho[1] - (W[0] * u[1] - W[1] * u[0]) * rho[2])
        J = ((0.0002, -0.00002, 0), (-0.00002, 0.0016, 0), (0, 0, 0.0017))
        spin = sum(J[i][j] * W[i] * W[j] for i in range(3) for j in range(3))
        L = 0.5 * (xd * xd + yd * yd + up * up) + 0.5 * spin - g * height
        slip = [sum(R[i][j] * turned[j] for j in range(3)) for i in range(2)]
        return L, [xd + slip[0], yd + slip[1]]


PROBLEMS = {"sleigh": Sleigh, "disk": Disk, "ball": Ball, "rattleback": Rattleback}


def sympy_scipy(problem):
    import numpy as np
    import sympy as sm
    from scipy.integrate import solve_ivp
    from sympy.core.cache import clear_cache
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    clear_cache()
    begin = time.perf_counter()
    n = len(problem.names)
    q = dynamicsymbols(" ".join(problem.names))
    rates = [s.diff(dynamicsymbols._t) for s in q]
    L, constraints = problem.statement(q, rates, sm)
    method = LagrangesMethod(L, q, nonhol_coneqs=constraints)
    method.form_lagranges_equations()
    xs = sm.symbols("x0:%d" % (2 * n))
    put = lambda e: e.xreplace(dict(zip(rates, xs[n:]))).xreplace(dict(zip(q, xs[:n])))
    matrix, right = put(method.mass_matrix_full[n:, n:]), put(method.forcing_full[n:, :])
    f = sm.lambdify([xs], [matrix, right], modules="numpy", cse=True)

    def rhs(t, x):
        k, r = f(x)
        return np.concatenate([x[n:], np.linalg.solve(k, r)[:n, 0]])

    q0, v0 = problem.start()
    ready = time.perf_counter()
    s = solve_ivp(rhs, (0, problem.end), list(q0) + list(v0), method="DOP853", rtol=problem.tolerance, atol=problem.tolerance)
    done = time.perf_counter()
    return done - begin, done - ready, s.y[:n, -1].tolist()


def casadi(problem):
    import casadi as ca

    begin = time.perf_counter()
    n = len(problem.names)
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    L, constraints = problem.statement([q[i] for i in range(n)], [v[i] for i in range(n)], ca)
    c = ca.vertcat(*constraints)
    p = ca.gradient(L, v)
    A = ca.jacobian(c, v)
    m = c.numel()
    K = ca.blockcat([[ca.jacobian(p, v), A.T], [A, ca.SX(m, m)]])
    right = ca.vertcat(ca.gradient(L, q) - ca.jtimes(p, q, v), -ca.jtimes(c, q, v))
    a = ca.solve(K, right)
    options = {"reltol": problem.tolerance, "abstol": problem.tolerance, "max_num_steps": 10**7}
    F = ca.integrator("F", "cvodes", {"x": ca.vertcat(q, v), "ode": ca.vertcat(v, a[:n])}, 0, problem.end, options)
    q0, v0 = problem.start()
    ready = time.perf_counter()
    end = F(x0=ca.DM(list(q0) + list(v0)))["xf"]
    done = time.perf_counter()
    return done - begin, done - ready, [float(end[i]) for i in range(n)]


def diffrax(problem):
    import diffrax as dx
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.clear_caches()
    begin = time.perf_counter()
    n = len(problem.names)
    L = lambda q, v: problem.statement(list(q), list(v), jnp)[0]
    c = lambda q, v: jnp.stack(problem.statement(list(q), list(v), jnp)[1])

    def f(t, x, _):
        q, v = x[:n], x[n:]
        h = jax.grad(L, 0)(q, v) - jax.jvp(lambda q: jax.grad(L, 1)(q, v), (q,), (v,))[1]
        A = jax.jacobian(c, 1)(q, v)
        g = -jax.jvp(lambda q: c(q, v), (q,), (v,))[1]
        K = jnp.block([[jax.hessian(L, 1)(q, v), A.T], [A, jnp.zeros((A.shape[0],) * 2)]])
        return jnp.concatenate([v, jnp.linalg.solve(K, jnp.concatenate([h, g]))[:n]])

    @jax.jit
    def go(x):
        control = dx.PIDController(rtol=problem.tolerance, atol=problem.tolerance)
        return dx.diffeqsolve(dx.ODETerm(f), dx.Dopri8(), 0.0, problem.end, None, x, stepsize_controller=control,
                              saveat=dx.SaveAt(t1=True), max_steps=10**7).ys[-1]

    q0, v0 = problem.start()
    x0 = jnp.asarray([float(x) for x in list(q0) + list(v0)])
    end = jax.block_until_ready(go(x0))
    done = time.perf_counter()
    jax.block_until_ready(go(x0))
    again = time.perf_counter()
    return done - begin, again - done, [float(x) for x in end[:n]]


PEERS = {"SymPy + SciPy": sympy_scipy, "CasADi": casadi, "JAX + diffrax": diffrax}


class Pfaff:
    """`pfaff run` on one problem: the smallest times of all its runs since `forget`."""

    def __init__(self, program, latency, problem):
        with tempfile.NamedTemporaryFile("w", suffix=".pfaff", delete=False) as file:
            file.write(problem.text())
        self.file, self.names = file.name, problem.names
        self.words = [program, "run", file.name, "--json", "--samples", "2", "--t1", repr(problem.end), "--tolerance"]
        self.tolerance = repr(problem.tolerance)
        self.latency = [latency, file.name, repr(problem.end), self.tolerance]
        self.forget()
        answer = self.run()
        self.start = [[answer[k][n][0] for n in self.names] for k in "qv"]
        self.end = self.last(answer)
        self.exact = self.last(json.loads(subprocess.run(self.words + ["1e-14"], check=True, capture_output=True).stdout))

    def forget(self):
        self.whole = self.told = self.bare = self.again = float("inf")

    def run(self):
        begin = time.perf_counter()
        out = subprocess.run(self.words + [self.tolerance], check=True, capture_output=True).stdout
        self.whole = min(self.whole, time.perf_counter() - begin)
        answer = json.loads(out)
        times = {k: v * 1e-6 for k, v in answer["statistics"].items() if k.endswith("_us")}
        self.told = min(self.told, sum(times.values()))
        self.bare = min(self.bare, sum(times.values()) - times.get("audit_us", 0.0))
        return answer

    def turn(self):
        for _ in range(RUNS):
            self.run()

    def run_again(self):
        """The line that begins with `best` ends with the sum in microseconds and the number of steps."""
        lines = subprocess.run(self.latency, check=True, capture_output=True, text=True).stdout.split("\n")
        best = next(line.split() for line in lines if line.split()[:1] == ["best"])
        self.again = min(self.again, float(best[-2]) * 1e-6)

    def last(self, answer):
        return [answer["q"][name][-1] for name in self.names]


def serve(problem, peer):
    """One repetition for each line on standard input: total and integration in seconds, and the end point."""
    for _ in sys.stdin:
        print(json.dumps(PEERS[peer](PROBLEMS[problem])), flush=True)


def beside(ours, name, peer):
    """The smallest process, total and integration of a peer and its end point; pfaff runs between its repetitions."""
    environment = dict(os.environ, RATTLEBACK_START=json.dumps(ours.start))
    words = [sys.executable, __file__, "--peer", name, peer]
    ours.forget()
    whole = float("inf")
    for _ in range(PROCESSES):
        ours.turn()
        ours.run_again()
        begin = time.perf_counter()
        subprocess.run(words, env=environment, input="\n", text=True, capture_output=True, timeout=LIMIT)
        whole = min(whole, time.perf_counter() - begin)
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begin, best = time.perf_counter(), None
    with subprocess.Popen(words, env=environment, **pipes) as process:
        timer = threading.Timer(LIMIT, process.kill)
        timer.start()
        try:
            for repeat in range(REPEATS):
                ours.turn()
                process.stdin.write("\n")
                process.stdin.flush()
                line = process.stdout.readline()
                if not line:
                    break
                total, integrate, end = json.loads(line)
                best = (total, integrate, end) if best is None else (min(best[0], total), min(best[1], integrate), end)
                if time.perf_counter() - begin > ENOUGH and repeat >= 2:
                    break
            ours.turn()
            ours.run_again()
            process.stdin.close()
            if best is None:
                raise RuntimeError(process.stderr.read()[-300:] or f"nothing in {LIMIT:.0f} s")
        finally:
            timer.cancel()
    return whole, *best


def main():
    if sys.argv[1] == "--peer":
        serve(sys.argv[2], sys.argv[3])
        return
    wanted = sys.argv[3:] or list(PROBLEMS)
    error = lambda a, b: max(abs(x - y) / max(1, abs(y)) for x, y in zip(a, b))
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"smallest of several, in turn; load of the machine {load} on {os.cpu_count()} processors")
    print(f"{'':<12}{'':<16}{'process s':>10}{'total s':>10}{'integrate':>11}{'error':>9}{'processes':>11}{'again':>7}{'/ told':>9}{'/ no audit':>12}{'/ process':>11}")
    for name in wanted:
        ours = Pfaff(sys.argv[1], sys.argv[2], PROBLEMS[name])
        for peer in PEERS:
            try:
                whole, total, integrate, end = beside(ours, name, peer)
            except (RuntimeError, ValueError, OSError, subprocess.TimeoutExpired) as trouble:
                print(f"{name:<12}{peer:<16} failed: {trouble}", flush=True)
                continue
            print(f"{name:<12}{'pfaff':<16}{ours.whole:>10.5f}{ours.told:>10.5f}{'':>11}{error(ours.end, ours.exact):>9.0e}  again {ours.again:.5f}")
            ratios = f"{whole / ours.whole:>11.0f}{total / ours.again:>7.0f}{total / ours.told:>9.0f}{total / ours.bare:>12.0f}{total / ours.whole:>11.0f}"
            print(f"{name:<12}{peer:<16}{whole:>10.3f}{total:>10.4f}{integrate:>11.4f}{error(end, ours.exact):>9.0e}{ratios}", flush=True)
        os.unlink(ours.file)


main()
