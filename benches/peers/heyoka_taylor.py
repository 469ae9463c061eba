"""heyoka on the sleigh (P1), the disk (P2) and the ball in a bowl (P3), beside `cargo bench -p pfaff --bench taylor`.

Needs `pip install heyoka`; not part of the tests. heyoka gets the equations reduced by hand, pfaff the Lagrangian and the constraints.
One thread, compiled once, the smallest of many runs; the error is that of all positions at the end, relative to max(1, |q|), against heyoka in long double.
Where the program of the benchmark is given, both run in turn three times, the smallest counts, and the last column is the time of pfaff over that of heyoka.

usage: python heyoka_taylor.py [program of the benchmark]
"""
import subprocess
import sys
import time

import heyoka as hy
import numpy as np


def problems(number):
    """Name, equations, initial state, end and positions; `number` makes constants of the precision wanted."""
    x, y, f, v, w, th, td = hy.make_vars("x", "y", "f", "v", "w", "th", "td")
    c = lambda text: number(text)
    a, J = c("0.05"), c("1")
    k = a / (J + a * a)
    sleigh = [(x, v * hy.cos(f)), (y, v * hy.sin(f)), (f, w), (v, a * w * w), (w, -k * v * w)]
    R, inertia, g = c("0.5"), c("0.125"), c("9.81")
    kk = g * R * np.sin(c("0.3")) / (inertia + R * R)
    disk = [(x, R * td * hy.cos(f)), (y, R * td * hy.sin(f)), (th, td), (f, hy.expression(c("0.7"))), (td, kk * hy.cos(f))]
    ps, ph, w0, w1, w2 = hy.make_vars("ps", "ph", "w0", "w1", "w2")
    k1, k2, r, kappa, one = c("0.5"), c("0.8"), c("0.3"), c("0.4"), c("1")
    gx, gy = k1 * x, k2 * y
    q = one / hy.sqrt(one + gx * gx + gy * gy)
    n = [-gx * q, -gy * q, q]
    v0, v1 = r * (w1 * n[2] - w2 * n[1]), r * (w2 * n[0] - w0 * n[2])
    m0, m1 = -k1 * v0 * q, -k2 * v1 * q
    nm = n[0] * m0 + n[1] * m1
    e = [m0 - n[0] * nm, m1 - n[1] * nm, -n[2] * nm]
    b = [r * (w1 * e[2] - w2 * e[1]), r * (w2 * e[0] - w0 * e[2]), r * (w0 * e[1] - w1 * e[0]) + g]
    h = -one / (r * (one + kappa))
    pd = (w0 * hy.sin(ps) - w1 * hy.cos(ps)) / hy.sin(th)
    ball = [(x, v0), (y, v1), (ps, w2 - pd * hy.cos(th)), (th, w0 * hy.cos(ps) + w1 * hy.sin(ps)), (ph, pd),
            (w0, h * (n[1] * b[2] - n[2] * b[1])), (w1, h * (n[2] * b[0] - n[0] * b[2])), (w2, h * (n[0] * b[1] - n[1] * b[0]))]
    return [("P1", sleigh, ["0", "0", "0", "-0.9", "0.4"], 100.0, 3),
            ("P2", disk, ["0", "0", "0", "0", "1"], 100.0, 4),
            ("P3", ball, ["0.6", "0.1", "0.3", "1.3", "0", "0.8", "1.5", "0.7"], 20.0, 5)]


def references():
    """Positions at the end in long double, by problem."""
    found = {}
    for name, system, start, end, count in problems(np.longdouble):
        ta = hy.taylor_adaptive(system, np.array(start, dtype=np.longdouble), fp_type=np.longdouble, tol=np.longdouble("1e-19"))
        ta.propagate_until(np.longdouble(end))
        found[name] = np.array(ta.state[:count], dtype=float)
    return found


def measure(system, start, end, tolerance):
    """Microseconds, steps and last state."""
    ta = hy.taylor_adaptive(system, start, tol=tolerance)
    best, begun = float("inf"), time.perf_counter()
    while time.perf_counter() - begun < 1.0:
        ta.time = 0.0
        ta.state[:] = start
        clock = time.perf_counter()
        outcome = ta.propagate_until(end)
        best = min(best, time.perf_counter() - clock)
    return best * 1e6, outcome[3], ta.state.copy()


def ours(program):
    """Microseconds, steps, error of each line of the benchmark."""
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines if line.startswith("P")]
    return {(r[0], float(r[2])): (float(r[4]), int(r[3]), r[5]) for r in rows if r[1] == "taylor"}


def main():
    exact = references()
    for name, state in exact.items():
        print(f"{name} exact:", *(repr(float(x)) for x in state))
    rounds = 3 if len(sys.argv) > 1 else 1
    best, mine = {}, {}
    for _ in range(rounds):
        for name, system, start, end, count in problems(float):
            for tolerance in (1e-10, 1e-14):
                us, steps, state = measure(system, [float(s) for s in start], end, tolerance)
                error = np.max(np.abs(state[:count] - exact[name]) / np.maximum(1, np.abs(exact[name])))
                if us < best.get((name, tolerance), (float("inf"),))[0]:
                    best[name, tolerance] = (us, steps, error)
        if len(sys.argv) > 1:
            for key, row in ours(sys.argv[1]).items():
                if row[0] < mine.get(key, (float("inf"),))[0]:
                    mine[key] = row
    print(f"{'':4} {'tol':>6} {'heyoka µs':>10} {'steps':>6} {'error':>8} {'pfaff µs':>10} {'steps':>6} {'error':>8} {'ratio':>6}")
    for key, (us, steps, error) in best.items():
        line = f"{key[0]:4} {key[1]:6.0e} {us:10.2f} {steps:6} {error:8.1e}"
        if key in mine:
            line += f" {mine[key][0]:10.2f} {mine[key][1]:6} {mine[key][2]:>8} {mine[key][0] / us:6.2f}"
        print(line)


if __name__ == "__main__":
    main()
