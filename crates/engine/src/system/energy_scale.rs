//! Sizes of energies and velocities, in which errors are measured.
//!
//! Work is measured by the size of the energies of a state,
//!
//! $$ \max\Bigl(|E|,\; \Bigl|\sum_i \pm\frac{\partial E}{\partial y_i}\,y_i\Bigr|\Bigr) $$
//!
//! With signs without a pattern the second part is as large as the terms of $E$, even where they cancel. Velocities
//! are measured by nothing smaller than what a millionth of the kinetic energy would give them,
//!
//! $$ |\dot q_i| \ge 10^{-3} \min\bigl(\sqrt{2T/M_{ii}},\; \max_j|\dot q_j|\bigr), $$
//!
//! or a thousandth of the largest velocity if that is less, because the whole energy would give a light particle a
//! speed that it never has; and positions by what such a velocity changes in a step. So a coordinate that moves by the
//! rounding of others has a scale. Where coordinates have one unit, that scale does not depend on it; where they have
//! several, the largest velocity may only make it smaller. A coordinate that a constraint holds by itself ($x = 0$ or
//! $x = f(t)$) is put there by the projection whatever a step makes of it: it is measured by the largest of the others.

use pfaff_solver::RankRevealing;

use crate::system::kkt::Kkt;
use crate::system::reduced::Reduced;

/// Raises the scales of positions and velocities in saddle-point form.
pub(crate) fn raise_scales(kkt: &mut Kkt, t: f64, y: &[f64], h: f64, scales: &mut [f64]) {
    let n = kkt.n;
    kkt.evaluate(t, &y[..n], &y[n..2 * n], &y[2 * n..2 * n + kkt.carried]);
    raise_by_mass(kkt, h, scales);
    let (q, rest) = scales.split_at_mut(n);
    let (largest, fastest) = (most(q), most(&rest[..n]));
    for &(i, is_holonomic) in kkt.held() {
        if is_holonomic {
            q[i] = largest;
        }
        rest[i] = fastest;
    }
    if is_rigid(kkt) {
        q.fill(largest);
        rest[..n].fill(fastest);
    }
}

/// Whether the constraints leave nothing that could move: all coordinates are held.
fn is_rigid(kkt: &Kkt) -> bool {
    if kkt.m < kkt.n {
        return false;
    }
    let mut split = RankRevealing::default();
    split.factor(kkt.m, kkt.n, &kkt.full_jacobian(), 1e-9);
    split.rank() == kkt.n
}

fn most(scales: &[f64]) -> f64 {
    scales.iter().copied().fold(0.0, f64::max)
}

fn most_of(velocities: &[f64]) -> f64 {
    velocities.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Raises the scales of positions and quasi-velocities in reduced form: a unit of the $k$-th one has the mass
/// $S_k^\top M S_k$, with the velocities $S_k$ that it gives. `work` is storage.
pub(crate) fn raise_reduced(
    reduced: &mut Reduced,
    work: &mut Vec<f64>,
    (t, y, h): (f64, &[f64], f64),
    scales: &mut [f64],
) {
    let (n, k) = (reduced.n, reduced.k);
    work.clear();
    work.extend_from_slice(y);
    work.resize(y.len() + 3 * n, 0.0);
    let (state, rest) = work.split_at_mut(y.len());
    let (v, rest) = rest.split_at_mut(n);
    let (unit, drift) = rest.split_at_mut(n);
    reduced.velocities(t, state, v);
    reduced.kkt.evaluate(t, &y[..n], v, &[]);
    let twice = reduced.kkt.twice_kinetic(v);
    let fastest = most_of(v);
    for (i, mass) in reduced.kkt.mass_diagonal().iter().enumerate() {
        let speed = SHARE * (twice / mass).sqrt().min(fastest);
        if speed.is_finite() {
            scales[i] = scales[i].max(h.abs() * speed);
        }
    }
    if k == 0 {
        let largest = most(&scales[..n]);
        scales[..n].fill(largest);
    }
    state[n..n + k].fill(0.0);
    reduced.velocities(t, state, drift);
    for i in 0..k {
        state[n + i] = 1.0;
        reduced.velocities(t, state, unit);
        state[n + i] = 0.0;
        unit.iter_mut().zip(drift.iter()).for_each(|(u, d)| *u -= d);
        let of_energy = (twice / reduced.kkt.twice_kinetic(unit)).sqrt();
        let speed = SHARE * of_energy.min(fastest / most_of(unit));
        if speed.is_finite() {
            scales[n + i] = scales[n + i].max(speed);
        }
    }
}

/// Raises the scales of derivatives that follow those of a state of this size: errors of a derivative do not matter
/// below a ten-thousandth of what it would be if all components varied by the same part of their sizes.
pub(crate) fn raise_tangents(scales: &mut [f64], size: usize) {
    const PART: f64 = 1e-4;
    let (state, directions) = scales.split_at_mut(size);
    for scales in directions.chunks_exact_mut(size) {
        let parts = scales.iter().zip(&*state).filter(|(_, size)| **size > 0.0);
        let largest = parts.map(|(s, size)| s / size).fold(0.0, f64::max);
        for (s, size) in scales.iter_mut().zip(&*state) {
            *s = s.max(PART * largest * size);
        }
    }
}

/// The square root of the share of the kinetic energy.
const SHARE: f64 = 1e-3;

/// Raises the scales of positions and velocities at the state last evaluated.
pub(crate) fn raise_by_mass(kkt: &mut Kkt, h: f64, scales: &mut [f64]) {
    let n = kkt.n;
    let twice = kkt.twice_kinetic(kkt.velocity());
    let fastest = most(&scales[n..2 * n]).max(most_of(kkt.velocity()));
    for (i, mass) in kkt.mass_diagonal().iter().enumerate() {
        let speed = SHARE * (twice / mass).sqrt().min(fastest);
        if speed.is_finite() {
            scales[i] = scales[i].max(h.abs() * speed);
            scales[n + i] = scales[n + i].max(speed);
        }
    }
}
