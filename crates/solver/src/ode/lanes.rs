//! Rows of doubles in blocks of four, and weighted sums of them.

/// A stage and its weight.
pub(crate) type StageTerm = (usize, f64);

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
    terms: &[StageTerm; N],
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
