"""The figures of the package, printed: `python crates/python/tests/figures.py` where the wheel is installed.

Times are the least of several, because other work on the machine only adds to them.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent


def least(code, count=15):
    """The least of the numbers that fresh processes print."""
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(count)]
    return min(float(done.stdout) for done in runs)


IMPORT = "import time; a = time.perf_counter(); import pfaff; print(time.perf_counter() - a)"
FIRST = (
    "import pfaff, time; a = time.perf_counter(); text = {!r};"
    "m = pfaff.Model(text).run(); assert m.stop.reason == 'end'; print(time.perf_counter() - a)"
)


def main():
    import numpy as np

    import pfaff

    found = {}
    from pfaff import _native

    native = pathlib.Path(_native.__file__)
    found["extension module, MB"] = native.stat().st_size / 1e6
    for wheel in sys.argv[1:]:
        found["wheel, MB"] = os.path.getsize(wheel) / 1e6
    found["import pfaff, ms"] = 1e3 * least(IMPORT)
    found["text to first motion of the sleigh, ms"] = 1e3 * least(FIRST.format(pfaff.gallery["sleigh"].text))
    sleigh = pfaff.gallery["sleigh"]
    overhead = []
    for _ in range(300):
        begun = time.perf_counter()
        m = sleigh.run(t=(0, 20), tolerance=1e-10)
        overhead.append(time.perf_counter() - begun - m._native.seconds())
    found["overhead of run, us"] = 1e6 * min(overhead)
    overhead = []
    for k in range(300):
        begun = time.perf_counter()
        m = sleigh.run(t=(0, 20), tolerance=1e-10, set={"a": 0.2 + 1e-4 * k}, initial={"x'": 1.5})
        overhead.append(time.perf_counter() - begun - m._native.seconds())
    found["overhead of run with other values, us"] = 1e6 * min(overhead)
    rhs = sleigh.derive().rhs
    y = np.array([0.1, 0.2, 0.3, 1.0, 0.2, 0.3])
    calls = []
    for _ in range(50):
        begun = time.perf_counter()
        for _ in range(2000):
            rhs(0.0, y)
        calls.append((time.perf_counter() - begun) / 2000)
    engine = min(rhs.seconds(y, 2000) for _ in range(50))
    found["rhs of one state, us"] = 1e6 * min(calls)
    found["of which evaluation, us"] = 1e6 * engine
    rows = np.random.default_rng(0).normal(size=(1_000_000, 6))
    rhs(0.0, rows)
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        rhs(0.0, rows)
        times.append(time.perf_counter() - begun)
    found["a million rows, ms"] = 1e3 * min(times)
    found["in Rust by one thread, ms"] = 1e3 * min(rhs.seconds(rows, 1) for _ in range(5))
    found["speed of Rust by one thread"] = found["in Rust by one thread, ms"] / found["a million rows, ms"]
    found |= cluster(pfaff)
    print(json.dumps({key: round(value, 4) for key, value in found.items()}, indent=1))


def cluster(pfaff):
    """The same sweep by two workers and by two threads."""
    from distributed import Client, LocalCluster

    model = pfaff.gallery["double_pendulum"]
    grid = {"a(0)": [0.5 + 0.001 * k for k in range(2000)]}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made,
        Client(made) as client,
    ):
        model.sweep({"a(0)": [0.1, 0.2, 0.3, 0.4]}, t=20, client=client, chunk=1)
        threads, workers = [], []
        for _ in range(3):
            begun = time.perf_counter()
            one = model.sweep(grid, t=20, threads=2)
            threads.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            other = model.sweep(grid, t=20, client=client)
            workers.append(time.perf_counter() - begun)
        assert one == other
    return {
        "sweep of 2000 by two threads, s": min(threads),
        "by two workers, s": min(workers),
        "speed of two workers in parts of two threads": min(threads) / min(workers),
    }


if __name__ == "__main__":
    main()
