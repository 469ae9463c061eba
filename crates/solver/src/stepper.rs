//! What a one-step method does for a run: advance, estimate its error, refine dense output.

use crate::system::{Counted, Halt};

/// A one-step method with its storage.
pub(crate) trait Stepper {
    /// Writes the state at the end of a step into `end`.
    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end: &mut [f64],
    ) -> Result<(), Halt>;

    /// Estimated local error of the last [`Stepper::advance`], as a multiple of the allowed one.
    fn error(&mut self, from: &Base<'_>, end: &[f64], allowed: &Allowed) -> f64;

    /// Appends to the four Hermite rows of dense output what raises it to the method's order;
    /// `end_rates` are the rates at the (projected) end.
    fn refine(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end_rates: &[f64],
        rows: &mut Vec<f64>,
    ) -> Result<(), Halt>;
}

/// Where a step starts, and how long it is to be.
pub(crate) struct Base<'a> {
    pub(crate) t: f64,
    pub(crate) h: f64,
    pub(crate) y: &'a [f64],
    /// $f(t, y)$
    pub(crate) f: &'a [f64],
}

/// The allowed local error: $E\,(1 + |y|)$ in each of the leading components.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    pub(crate) tolerance: f64,
    pub(crate) controlled: usize,
}

impl Allowed {
    pub(crate) fn at(&self, y: f64) -> f64 {
        self.tolerance * (1.0 + y.abs())
    }
}

/// A stage and its weight.
pub(crate) type Term = (usize, f64);

/// `out` $= \sum_j w_j k_j$, with the stages $k_j$ as rows of length `out.len()`.
///
/// The number of terms is fixed at compile time, so that the sum is unrolled and the loop over
/// components vectorises.
pub(crate) fn combine<const N: usize>(terms: &[Term; N], k: &[f64], out: &mut [f64]) {
    let n = out.len();
    let rows = terms.map(|(j, _)| &k[j * n..][..n]);
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = terms[0].1 * rows[0][i];
        for l in 1..N {
            sum += terms[l].1 * rows[l][i];
        }
        *out = sum;
    }
}
