"""Relaxation, oscillator and Brusselator with pycaputo, beside `cargo bench -p pfaff --bench memory`, part (d).

Needs `pip install pycaputo pymittagleffler`; not part of the tests. One thread, processor time, best of three runs (so that other work on the machine counts for neither side). Run it with `python -O`:
a check of pycaputo 0.10.3 that compares a shape with an array refuses two initial values otherwise.
Each line: problem, method, steps, milliseconds, error at the end. For each line of pycaputo the last column is the
time of the fastest run of pfaff that is at least as exact, and how many times faster that is.

usage: python -O fractional.py [figures of the benchmark, as it prints them]
"""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import re
import sys
import time

import numpy as np
from pycaputo import fracevolve
from pycaputo.controller import make_fixed_controller
from pycaputo.derivatives import CaputoDerivative
from pycaputo.fode import caputo
from pymittagleffler import mittag_leffler

BRUSSELATOR_AT_50 = (0.36520262179616, 5.72157070306368)  # `pfaff run fractional_brusselator --at 50`: tolerances 1e-11 and 1e-13 agree to 2e-14


def brusselator(t, y):
    q = y[0] * y[0] * y[1]
    return np.array([1 - 5 * y[0] + q, 4 * y[0] - q])


def brusselator_slopes(t, y):
    return np.array([[2 * y[0] * y[1] - 5, y[0] ** 2], [4 - 2 * y[0] * y[1], -y[0] ** 2]])


def scalar(alpha):
    """Two copies of D^alpha y = -y, y(0) = 1: the implicit methods of pycaputo want at least two components."""
    start = (np.ones(2),) if alpha < 1 else (np.ones(2), np.zeros(2))
    exact = np.real(mittag_leffler(-(10.0**alpha), alpha, 1.0))
    return (alpha, alpha), start, lambda t, y: -y, lambda t, y: -np.eye(2), 10.0, exact


PROBLEMS = {f"relaxation {alpha}": scalar(alpha) for alpha in (0.3, 0.5, 0.7, 0.9)}
PROBLEMS |= {f"oscillator {alpha}": scalar(alpha) for alpha in (1.2, 1.5, 1.8)}
PROBLEMS["brusselator 0.8"] = ((0.8, 0.7), (np.array([1.2, 2.8]),), brusselator, brusselator_slopes, 50.0,
                               np.array(BRUSSELATOR_AT_50))


MAIN = ("relaxation 0.7", "oscillator 1.5", "brusselator 0.8")  # these with all steps, the others with two


def own(text):
    """Time and error of the benchmark's lines, by problem."""
    found = {}
    for line in text.splitlines():
        m = re.match(r"\s*((?:relaxation|oscillator|brusselator) [\d.]+),.*?([\d.]+) ms\s+error (\S+)", line)
        if m:
            found.setdefault(m[1], []).append((float(m[2]), float(m[3])))
    return found


def main():
    figures = own(open(sys.argv[1], encoding="utf-8").read()) if len(sys.argv) > 1 else {}
    for name, (orders, start, rates, slopes, end, exact) in PROBLEMS.items():
        for method in ("PECE", "Trapezoidal"):
            for steps in (100, 250, 1000, 4000) if name in MAIN else (250, 1000):
                h = end / steps
                best = np.inf
                for _ in range(3):
                    clock = time.process_time()
                    common = dict(ds=tuple(CaputoDerivative(a) for a in orders), source=rates, y0=start,
                                  control=make_fixed_controller(h, tstart=0.0, tfinal=end))
                    if method == "PECE":
                        stepper = caputo.PECE(corrector_iterations=1, **common)
                    else:
                        stepper = caputo.Trapezoidal(source_jac=slopes, **common)
                    solution = fracevolve(stepper, dtinit=h)
                    best = min(best, time.process_time() - clock)
                error = float(np.max(np.abs(np.asarray(solution.y).T[-1] - exact)))
                better = [ms for ms, e in figures.get(name, []) if e <= error]
                versus = f"pfaff {min(better):.3f} ms, {1e3 * best / min(better):.0f} times" if better else ""
                print(f"{name:15} {method:12} {steps:6} {1e3 * best:10.2f} ms  error {error:.1e}  {versus}", flush=True)


if __name__ == "__main__":
    main()
