//! Kernels that are sums of damped waves, alone or times a singular power.
//!
//! $$ k(s) = \frac{s^{\mu-1}}{\Gamma(\mu)} \operatorname{Re} \sum_j c_j e^{-z_j s}
//!    \approx \operatorname{Re} \sum_l w_l e^{-\zeta_l s}, \qquad 0 < \mu \le 1 \qquad (\mathrm W) $$
//!
//! For $\mu = 1$ the terms are those given. For $\mu < 1$ they are the products of the waves with the terms
//! of the power, $\zeta = s_l + z_j$: what is exact for the power is exact for
//! the product. On a step a wave meets a polynomial in the moments $e^{-z/2} i_m(z/2)$ with complex $z$.

use num_complex::Complex64;

use super::exponentials::LagRange;
use super::local_integrals::Local;
use super::resolution::KernelResolution;
use super::system::DampedWave;
use crate::quadrature::NodalBasis;

/// Exponents beyond which an exponential is nothing.
const NOTHING: f64 = 42.0;

/// A kernel (W) with its terms and its past.
#[derive(Clone, Debug)]
pub(crate) struct Waves {
    mu: f64,
    local: Local,
    given: Vec<DampedWave>,
    /// $\zeta_l$ and $w_l$, by ascending real part if the kernel is singular.
    terms: Vec<(Complex64, Complex64)>,
    /// $\int e^{-\zeta_l(t_n-\sigma)} x\,d\sigma$
    psi: Vec<Complex64>,
    /// How many of them are up to date.
    fresh: usize,
}

/// What depends on the length of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaveTable {
    active: usize,
    /// $w_l e^{-\zeta_l c_j h}$, s × active.
    reach: Vec<Complex64>,
    decay: Vec<Complex64>,
    /// $h$ times the moments, active × s.
    intake: Vec<Complex64>,
    /// The local integrals, s × s.
    pub(crate) local: Vec<f64>,
}

fn complex([re, im]: [f64; 2]) -> Complex64 {
    Complex64::new(re, im)
}

fn exp(z: Complex64) -> Complex64 {
    let size = libm::exp(z.re);
    if z.im == 0.0 {
        return Complex64::new(size, 0.0);
    }
    Complex64::new(size * libm::cos(z.im), size * libm::sin(z.im))
}

impl Waves {
    pub(crate) fn new(mu: f64, given: &[DampedWave], lags: LagRange) -> Self {
        let mut terms = Vec::new();
        let pairs = given.iter().map(|w| (complex(w.rate), complex(w.weight)));
        if mu >= 1.0 {
            terms.extend(pairs);
        } else {
            let power = lags.power(mu);
            for (rate, weight) in power.rates.iter().zip(&power.weights) {
                terms.extend(pairs.clone().map(|(z, c)| (z + rate, c * weight)));
            }
            terms.sort_by(|a, b| a.0.re.total_cmp(&b.0.re));
        }
        let psi = vec![Complex64::default(); terms.len()];
        let local = Local::new(mu.min(1.0));
        Self { mu, local, given: given.to_vec(), fresh: terms.len(), terms, psi }
    }

    /// The number of terms.
    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The kernel as it was given.
    fn kernel(&self, s: f64) -> f64 {
        let waves =
            self.given.iter().map(|w| (complex(w.weight) * exp(-s * complex(w.rate))).re);
        let power = if self.mu < 1.0 {
            libm::pow(s, self.mu - 1.0) / libm::tgamma(self.mu)
        } else {
            1.0
        };
        power * waves.sum::<f64>()
    }

    /// The tables of a step of length `h`.
    pub(crate) fn table(&self, basis: &NodalBasis, h: f64) -> WaveTable {
        let s = basis.stages;
        let near = |term: &(Complex64, Complex64)| term.0.re * basis.nodes[0] * h <= NOTHING;
        let active =
            if self.mu < 1.0 { self.terms.partition_point(near) } else { self.terms.len() };
        let terms = &self.terms[..active];
        let mut reach = Vec::with_capacity(s * active);
        for c in &basis.nodes {
            reach.extend(terms.iter().map(|(z, w)| w * exp(-z * (c * h))));
        }
        let decay: Vec<Complex64> = terms.iter().map(|(z, _)| exp(-z * h)).collect();
        let mut intake = vec![Complex64::default(); active * s];
        for ((row, (z, _)), d) in intake.chunks_exact_mut(s).zip(terms).zip(&decay) {
            moments(z * h, *d, row);
            row.iter_mut().for_each(|m| *m *= h);
        }
        let fastest = self.given.iter().fold(0.0_f64, |m, w| m.max(size(complex(w.rate))));
        let resolved = KernelResolution::uniform(8.0 / fastest.max(1e-300));
        let mut kernel = |lags: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(lags).for_each(|(k, s)| *k = self.kernel(*s));
        };
        let local = self.local.rows(basis, 0..s, h, Some(&resolved), &mut kernel);
        WaveTable { active, reach, decay, intake, local }
    }

    /// Makes the terms that a table uses fresh from the last step, of length `last` and with these coefficients.
    pub(crate) fn freshen(&mut self, table: &WaveTable, last: f64, coefficients: &[f64]) {
        let mut found = vec![Complex64::default(); coefficients.len()];
        for l in self.fresh..table.active {
            // NOTE: nothing older than the last step is left of these.
            moments(self.terms[l].0 * last, Complex64::default(), &mut found);
            let sum: Complex64 = found.iter().zip(coefficients).map(|(m, c)| m * c).sum();
            self.psi[l] = sum * last;
        }
        self.fresh = self.fresh.max(table.active);
    }

    /// What the past contributes at node `j`.
    pub(crate) fn value(&self, j: usize, table: &WaveTable) -> f64 {
        let row = &table.reach[j * table.active..(j + 1) * table.active];
        row.iter().zip(&self.psi).map(|(r, p)| r.re * p.re - r.im * p.im).sum()
    }

    /// Takes up a step with these coefficients.
    pub(crate) fn advance(&mut self, coefficients: &[f64], table: &WaveTable) {
        let rows = table.intake.chunks_exact(coefficients.len());
        for ((psi, d), row) in self.psi.iter_mut().zip(&table.decay).zip(rows) {
            let gain: Complex64 = row.iter().zip(coefficients).map(|(m, c)| m * c).sum();
            *psi = *psi * d + gain;
        }
        self.fresh = table.active;
    }
}

/// $e^{-z/2} i_m(z/2)$ for $m$ below `out.len()`; `decay` is $e^{-z}$.
fn moments(z: Complex64, decay: Complex64, out: &mut [Complex64]) {
    let count = out.len();
    let y = 0.5 * z;
    if size(z) < 1e-9 {
        let mut term = 1.0 - y;
        for (m, out) in out.iter_mut().enumerate() {
            *out = term;
            term *= y / (2 * m + 3) as f64;
        }
        return;
    }
    let first = if size(z) < 0.5 { shortly(z) } else { (1.0 - decay) / z };
    let second = (1.0 + decay) / z - first / y;
    if size(y) > 20.0 && size(y) > (count * count) as f64 {
        // Forward where that is stable.
        let (mut below, mut here) = (first, second);
        out[0] = below;
        for m in 1..count {
            out[m] = here;
            let above = below - here / y * (2 * m + 1) as f64;
            (below, here) = (here, above);
        }
        return;
    }
    // Backward from where i_m is below rounding; a wave keeps its size up to m ≈ |y|.
    let top = count + 12 + (size(y) + 6.0 * size(y).sqrt()) as usize;
    let inverse = 1.0 / y;
    let (mut above, mut here) = (Complex64::default(), Complex64::new(1e-100, 0.0));
    for m in (0..top).rev() {
        let below = above + inverse * here * (2 * m + 3) as f64;
        (above, here) = (here, below);
        if m < count {
            out[m] = here;
        }
        if size(here) > 1e100 {
            here *= 1e-100;
            above *= 1e-100;
            out.iter_mut().skip(m).for_each(|x| *x *= 1e-100);
        }
    }
    // One of the first two is not near a zero.
    let scale = if count < 2 || size(first) * 3.0 >= size(second) {
        first / out[0]
    } else {
        second / out[1]
    };
    out.iter_mut().for_each(|x| *x *= scale);
}

/// $|z|$, with the same bits on every machine.
fn size(z: Complex64) -> f64 {
    libm::hypot(z.re, z.im)
}

/// $(1 - e^{-z})/z$ by its series, for small $z$.
fn shortly(z: Complex64) -> Complex64 {
    let (mut term, mut sum) = (Complex64::new(1.0, 0.0), Complex64::default());
    for n in 1..18 {
        sum += term;
        term *= -z / f64::from(n + 1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::legendre;
    use crate::quadrature::{QuadratureRule, gauss_jacobi};

    #[test]
    fn moments_are_those_of_quadrature() {
        let QuadratureRule { nodes: x, weights: w } = gauss_jacobi(90, 1.0);
        let turn = std::f64::consts::TAU;
        let sizes = [1e-11, 1e-3, 0.3, 2.0, turn, 20.0, 60.0, 130.0, 180.0];
        for size in sizes {
            for angle in [0.0, 0.7, 1.4, 0.25 * turn, -1.0] {
                let z = Complex64::new(size * libm::cos(angle), size * libm::sin(angle));
                let mut found = [Complex64::default(); 8];
                moments(z, exp(-z), &mut found);
                for (m, found) in found.iter().enumerate() {
                    let term =
                        |(x, w): (&f64, &f64)| exp(-z * (1.0 - x)) * w * legendre(8, *x)[m];
                    let exact: Complex64 = x.iter().zip(&w).map(term).sum();
                    // Ninety terms below 1, and powers of a rounded argument.
                    let off = (found - exact).norm();
                    assert!(off < 1e-14, "{z} {m} {found} {exact} {off:e}");
                }
            }
        }
    }

    #[test]
    fn a_tempered_power_is_met_over_all_lags() {
        let wave = DampedWave { weight: [0.6, -0.8], rate: [0.5, 3.0] };
        let waves =
            Waves::new(0.3, &[wave], LagRange { shortest: 1e-12, longest: 10.0, error: 0.0 });
        for i in 0..400 {
            let s = libm::pow(10.0, -12.0 + 13.0 * f64::from(i) / 399.0);
            let sum: Complex64 = waves.terms.iter().map(|(z, w)| w * exp(-z * s)).sum();
            let size = libm::pow(s, -0.7) / libm::tgamma(0.3);
            // As for the power alone.
            assert!((sum.re - waves.kernel(s)).abs() < 3e-14 * size, "{s}");
        }
    }
}
