//! Chooses pivots of a sparse matrix: large enough at a sample, and with little fill-in (Markowitz 1957).

/// How small a pivot may be beside the largest entry of its column.
const THRESHOLD: f64 = 0.1;

/// Where a pivot stands in the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pivot {
    pub(super) row: usize,
    pub(super) column: usize,
}

/// The pivots, in the order of elimination (Markowitz 1957); what is left where the sample is singular comes
/// last.
pub(super) fn choose(size: usize, sample: &[f64]) -> Vec<Pivot> {
    assert_eq!(sample.len(), size * size, "a sample of the matrix");
    let mut k = sample.to_vec();
    let (mut rows, mut columns): (Vec<usize>, Vec<usize>) =
        ((0..size).collect(), (0..size).collect());
    let mut pivots = Vec::with_capacity(size);
    while !rows.is_empty() {
        let at = |i: usize, j: usize| k[i * size + j];
        let mut best = (usize::MAX, rows[0], columns[0]);
        for &j in &columns {
            let largest = rows.iter().fold(0.0_f64, |m, &i| m.max(at(i, j).abs()));
            let in_column = rows.iter().filter(|&&i| at(i, j) != 0.0).count();
            for &i in &rows {
                let x = at(i, j).abs();
                if x == 0.0 || x < THRESHOLD * largest {
                    continue;
                }
                let in_row = columns.iter().filter(|&&j| at(i, j) != 0.0).count();
                let fill = (in_row - 1) * (in_column - 1);
                if fill < best.0 {
                    best = (fill, i, j);
                }
            }
        }
        let (_, p, q) = best;
        pivots.push(Pivot { row: p, column: q });
        rows.retain(|&i| i != p);
        columns.retain(|&j| j != q);
        let d = k[p * size + q];
        for &i in &rows {
            let factor = k[i * size + q] / d;
            if factor != 0.0 && factor.is_finite() {
                for &j in &columns {
                    k[i * size + j] -= factor * k[p * size + j];
                }
            }
        }
    }
    pivots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_on_the_diagonal_is_no_pivot() {
        let pivots = choose(2, &[0.0, 2.0, 3.0, 1.0]);
        assert!(!pivots.contains(&Pivot { row: 0, column: 0 }), "{pivots:?}");
    }

    #[test]
    fn an_arrow_is_eliminated_from_its_tip() {
        // A full first row and column, else diagonal: taking the corner first would fill everything.
        #[rustfmt::skip]
        let arrow = [
            4.0, 1.0, 1.0, 1.0,
            1.0, 1.0, 0.0, 0.0,
            1.0, 0.0, 1.0, 0.0,
            1.0, 0.0, 0.0, 1.0,
        ];
        let pivots = choose(4, &arrow);
        assert!(!pivots[..2].iter().any(|p| p.row == 0 || p.column == 0), "{pivots:?}");
    }
}
