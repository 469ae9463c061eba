"""Radau of pfaff against SciPy's, at equal error, in one run; and evaluations of a stiff sleigh.

    python3 benches/peers/stiff.py target/release/pfaff [radau]

Needs SciPy. The second argument is the program of radau.f90 beside this file, with Hairer's Fortran code. For each problem both solve it at several tolerances; the error is that of the end against a run of pfaff
at 1e-13. For every run of SciPy the time of the fastest run of pfaff with an error no larger is taken. Times are
of the integration alone: `statistics.integrate_us` without its second integration is not to be had, so that pfaff's
include the repetition that its audit makes.
"""

import json
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.integrate import solve_ivp

PFAFF = sys.argv[1] if len(sys.argv) > 1 else "target/release/pfaff"
FORTRAN = sys.argv[2] if len(sys.argv) > 2 else None

HIRES = """coordinates a, b, c, d, e, f, g, h
equation a' = -1.71*a + 0.43*b + 8.32*c + 0.0007
equation b' = 1.71*a - 8.75*b
equation c' = -10.03*c + 0.43*d + 0.035*e
equation d' = 8.32*b + 1.71*c - 1.12*d
equation e' = -1.745*e + 0.43*f + 0.43*g
equation f' = -280*f*h + 0.69*d + 1.71*e - 0.43*f + 0.69*g
equation g' = 280*f*h - 1.81*g
equation h' = -280*f*h + 1.81*g
initial a = 1, h = 0.0057
"""


def hires(_, y):
    a, b, c, d, e, f, g, h = y
    return [-1.71*a + .43*b + 8.32*c + .0007, 1.71*a - 8.75*b, -10.03*c + .43*d + .035*e, 8.32*b + 1.71*c - 1.12*d,
            -1.745*e + .43*f + .43*g, -280*f*h + .69*d + 1.71*e - .43*f + .69*g, 280*f*h - 1.81*g, -280*f*h + 1.81*g]


def hires_slopes(_, y):
    f, h = y[5], y[7]
    j = np.zeros((8, 8))
    j[0, :3] = -1.71, .43, 8.32
    j[1, :2] = 1.71, -8.75
    j[2, 2:5] = -10.03, .43, .035
    j[3, 1:4] = 8.32, 1.71, -1.12
    j[4, 4:7] = -1.745, .43, .43
    j[5, 3:8] = .69, 1.71, -280*h - .43, .69, -280*f
    j[6, 5:8] = 280*h, -1.81, 280*f
    j[7, 5:8] = -280*h, 1.81, -280*f
    return j


ROBERTSON = """coordinates a, b, c
equation a' = -0.04*a + 1e4*b*c
equation b' = 0.04*a - 1e4*b*c - 3e7*b^2
equation c' = 3e7*b^2
initial a = 1
"""


def robertson(_, y):
    a, b, c = y
    return [-.04*a + 1e4*b*c, .04*a - 1e4*b*c - 3e7*b*b, 3e7*b*b]


def robertson_slopes(_, y):
    b, c = y[1], y[2]
    return np.array([[-.04, 1e4*c, 1e4*b], [.04, -1e4*c - 6e7*b, -1e4*b], [0, 6e7*b, 0]])


OREGONATOR = """coordinates a, b, c
equation a' = 77.27*(b + a*(1 - 8.375e-6*a - b))
equation b' = (c - (1 + a)*b)/77.27
equation c' = 0.161*(a - c)
initial a = 1, b = 2, c = 3
"""


def oregonator(_, y):
    a, b, c = y
    return [77.27*(b + a*(1 - 8.375e-6*a - b)), (c - (1 + a)*b)/77.27, .161*(a - c)]


def oregonator_slopes(_, y):
    a, b, _ = y
    return np.array([[77.27*(1 - 1.675e-5*a - b), 77.27*(1 - a), 0], [-b/77.27, -(1 + a)/77.27, 1/77.27],
                     [.161, 0, -.161]])


VAN_DER_POL = """coordinates x, v
equation x' = v
equation v' = ((1 - x^2)*v - x)*1e6
initial x = 2
"""


def van_der_pol(_, y):
    return [y[1], ((1 - y[0]**2)*y[1] - y[0])*1e6]


def van_der_pol_slopes(_, y):
    return np.array([[0, 1], [(-2*y[0]*y[1] - 1)*1e6, (1 - y[0]**2)*1e6]])


PROBLEMS = [
    ("HIRES", HIRES, hires, hires_slopes, [1, 0, 0, 0, 0, 0, 0, .0057], 321.8122),
    ("Robertson", ROBERTSON, robertson, robertson_slopes, [1, 0, 0], 1e4),
    ("Oregonator", OREGONATOR, oregonator, oregonator_slopes, [1, 2, 3], 360),
    ("van der Pol", VAN_DER_POL, van_der_pol, van_der_pol_slopes, [2, 0], 2),
]


def run(text, end, tolerance, method="radau", more=()):
    with tempfile.NamedTemporaryFile("w", suffix=".pfaff") as file:
        file.write(text)
        file.flush()
        words = [PFAFF, "run", file.name, "--t1", str(end), "--at", str(end), "--tolerance", str(tolerance),
                 "--method", method, "--max-steps", "20000000", "--json", *more]
        result = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)
    state = np.array([series[-1] for series in result["q"].values()])
    return state, result["statistics"]


def main():
    fortran = {}
    if FORTRAN:
        for line in subprocess.run([FORTRAN], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            fortran.setdefault(int(words[0]), []).append((float(words[2]), np.array([float(w) for w in words[4:]])))
    print("problem        error of SciPy   its time   pfaff's error   its time    ratio")
    for number, (name, text, rates, slopes, first, end) in enumerate(PROBLEMS, 1):
        exact, _ = run(text, end, 1e-13)
        distance = lambda y: float(np.max(np.abs(y - exact)/(np.abs(exact) + 1e-12)))
        ours = []
        for tolerance in 10.0**np.arange(-4, -13, -1):
            best = np.inf
            for _ in range(3):
                state, statistics = run(text, end, tolerance)
                best = min(best, statistics["integrate_us"]*1e-6)
            ours.append((distance(state), best))
        for tolerance in (1e-5, 1e-7, 1e-9):
            best = np.inf
            for _ in range(2):
                begin = time.perf_counter()
                found = solve_ivp(rates, (0, end), first, "Radau", rtol=tolerance, atol=1e-4*tolerance, jac=slopes)
                best = min(best, time.perf_counter() - begin)
            error = distance(found.y[:, -1])
            fitting = [entry for entry in ours if entry[0] <= max(error, 1e-13)]
            if not fitting:
                print(f"{name:14} {error:10.1e} {best*1e3:12.1f} ms   no run of pfaff is as near")
                continue
            own_error, own = min(fitting, key=lambda entry: entry[1])
            print(f"{name:14} {error:10.1e} {best*1e3:12.1f} ms {own_error:12.1e} {own*1e3:12.2f} ms {best/own:8.1f}")
        for seconds, state in fortran.get(number, [])[1:9:3]:
            error = distance(state)
            fitting = [entry for entry in ours if entry[0] <= max(error, 1e-13)]
            if fitting:
                own_error, own = min(fitting, key=lambda entry: entry[1])
                print(f"  Fortran      {error:10.1e} {seconds*1e3:12.2f} ms {own_error:12.1e} {own*1e3:12.2f} ms"
                      f" {own/seconds:8.1f} times as long")
    print("\nA sleigh whose heading is held by a stiffness of 1e6 with damping: evaluations at equal error")
    sleigh = """coordinates x, y, phi
parameters m = 1, J = 0.5, a = 0.2, k = 1e6, c = 1e5
let X = x + a*cos(phi)
let Y = y + a*sin(phi)
lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2 - k*(phi - sin(t))^2/2
force phi: -c*phi'
constraint blade: y'*cos(phi) - x'*sin(phi) = 0
initial x' = 1
"""
    exact, _ = run(sleigh, 10, 1e-13)
    rows = {}
    for method in ("radau", "dop853"):
        for tolerance in (1e-4, 1e-6, 1e-8):
            state, statistics = run(sleigh, 10, tolerance, method)
            error = float(np.max(np.abs(state - exact)))
            rows.setdefault(method, []).append((error, statistics["evaluations"]))
            print(f"{method:8} {tolerance:8.0e} error {error:8.1e} evaluations {statistics['evaluations']}")
    for error, evaluations in rows["dop853"]:
        fitting = [e for e in rows["radau"] if e[0] <= max(error, 1e-12)]
        if fitting:
            print(f"DOP853 / Radau at {error:.0e}: {evaluations/min(e[1] for e in fitting):.0f}")


if __name__ == "__main__":
    main()
