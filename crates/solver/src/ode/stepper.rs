//! What a one-step method does for a run: advance, estimate its error, refine dense output.

use crate::ode::system::{Counted, EvalError};

/// A one-step method with its storage.
pub(crate) trait Stepper {
    /// Writes the state at the end of a step into `end`.
    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end: &mut [f64],
    ) -> Result<(), EvalError>;

    /// The rates at the end that the last [`Stepper::advance`] came to, if it has computed them too; more
    /// than the state may follow behind.
    fn end_rates(&self) -> Option<&[f64]> {
        None
    }

    /// Estimated local error of the last [`Stepper::advance`], as a multiple of the allowed one.
    fn error(&mut self, from: &Base<'_>, allowed: &Allowed) -> f64;

    /// Appends to the four Hermite rows of dense output what raises it to the method's order;
    /// `end_rates` are the rates at the (projected) end.
    fn refine(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end_rates: &[f64],
        rows: &mut Vec<f64>,
    ) -> Result<(), EvalError>;
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
pub type Term = (usize, f64);

/// Components that are added up together.
pub const BLOCK: usize = 4;
/// Some components of a row.
pub type Block = [f64; BLOCK];

/// How many blocks hold so many components; unused ones are zero.
pub(crate) fn blocks(n: usize) -> usize {
    n.div_ceil(BLOCK)
}

/// `out` $= \mathrm{finish}(i, \sum_j w_j k_j)$ for each block $i$, with the stages $k_j$ as rows of
/// `out.len()` blocks.
///
/// The number of terms and of components in a block is fixed at compile time, so that the sum is unrolled and
/// blocks are vectors.
#[inline]
pub(crate) fn combine<const N: usize>(
    terms: &[Term; N],
    k: &[Block],
    out: &mut [Block],
    finish: impl Fn(usize, Block) -> Block,
) {
    let n = out.len();
    let rows = terms.map(|(j, _)| &k[j * n..][..n]);
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = rows[0][i].map(|x| terms[0].1 * x);
        for l in 1..N {
            let row = rows[l][i];
            for c in 0..BLOCK {
                sum[c] += terms[l].1 * row[c];
            }
        }
        *out = finish(i, sum);
    }
}
