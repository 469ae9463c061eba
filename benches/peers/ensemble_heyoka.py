"""The sleighs of ensemble.c by heyoka's batch integrator, which is given the reduced equations: seconds of processor time for one pass on one core.

Not part of the tests. Needs `pip install heyoka numpy`. usage: python ensemble_heyoka.py [COUNT]
"""
import sys
import time

import heyoka as hy
import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 20000


def drawn(i):
    z = ((i + 1) * 0x9E3779B97F4A7C15) & (2**64 - 1)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    z ^= z >> 31
    return (z >> 11) / 9007199254740992.0


u = np.array([drawn(i) for i in range(4 * N)]).reshape(N, 4).T
P = np.stack([0.5 + 1.5 * u[0], 0.2 + 1.8 * u[1], 0.02 + 0.48 * u[2]])
Y0 = np.zeros((5, N))
Y0[3], Y0[4] = -0.5, 0.2 + 1.8 * u[3]
x, y, f, v, w = hy.make_vars("x", "y", "f", "v", "w")
m, J, a = hy.par[0], hy.par[1], hy.par[2]
k = m * a / (J + m * a * a)
system = [(x, v * hy.cos(f)), (y, v * hy.sin(f)), (f, w), (v, a * w * w), (w, -k * v * w)]
B = hy.recommended_simd_size()
ta = hy.taylor_adaptive_batch(system, np.zeros((5, B)), pars=np.zeros((3, B)), tol=1e-8)
S = Y0.reshape(5, N // B, B).transpose(1, 0, 2).copy()
Q = P.reshape(3, N // B, B).transpose(1, 0, 2).copy()
best = 1e9
for _ in range(3):
    begun = time.process_time()
    for i in range(N // B):
        ta.set_time(0.0)
        ta.state[:] = S[i]
        ta.pars[:] = Q[i]
        ta.propagate_until(10.0)
    best = min(best, time.process_time() - begun)
print(f"heyoka batch({B}), order {ta.order}: {best:.4f} s for {N} sleighs, {1e-6 * N / best:.4f} M/s")
