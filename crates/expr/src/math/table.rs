//! Given data as a function: the cubic spline through its points, one between every two corners, or straight lines.
//!
//! Twice continuously differentiable, with the not-a-knot condition at both ends (so that data on a cubic give
//! that cubic). Outside its range the value is not a number: data are not extrapolated.

use std::fmt;

/// A cubic spline through given points, with where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The file as the model names it.
    pub file: String,
    /// The column as the model names it.
    pub column: String,
    /// Whether straight lines join the points.
    pub is_linear: bool,
    knots: Vec<f64>,
    /// Per interval the coefficients of $c_0 + c_1 s + c_2 s^2 + c_3 s^3$, $s = x - x_i$.
    pieces: Vec<[f64; 4]>,
}

/// Where a curve leaves the data that it was made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overshoot {
    /// The two knots around it.
    pub between: (f64, f64),
    /// The value that is furthest off.
    pub value: f64,
    /// The least and the largest of the data.
    pub data: (f64, f64),
}

/// Why data make no function.
#[derive(Clone, Debug, PartialEq)]
pub enum TableError {
    /// Fewer than two points.
    TooShort,
    /// The abscissa at this row (from 1) does not grow.
    NotIncreasing(usize),
    /// A value at this row (from 1) is missing or not finite.
    NotFinite(usize),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => write!(f, "the table needs at least two rows"),
            Self::NotIncreasing(row) => {
                write!(f, "the first column does not grow at data row {row}")
            }
            Self::NotFinite(row) => {
                write!(f, "data row {row} has a gap or a value that is not finite")
            }
        }
    }
}

impl Table {
    /// The spline through the points.
    ///
    /// # Errors
    ///
    /// [`TableError`] names the row that spoils it.
    pub fn new(file: &str, column: &str, x: &[f64], y: &[f64]) -> Result<Self, TableError> {
        Self::with_corners(file, column, (x, y), &[])
    }

    /// Straight lines from point to point.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn lines(file: &str, column: &str, x: &[f64], y: &[f64]) -> Result<Self, TableError> {
        let corners: Vec<usize> = (1..x.len()).collect();
        let table = Self::with_corners(file, column, (x, y), &corners)?;
        Ok(Self { is_linear: true, ..table })
    }

    /// As [`new`](Self::new), with a spline of its own between every two corners, which are given by their rows, from
    /// 0 and in order: there the derivative may jump.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_corners(
        file: &str,
        column: &str,
        (x, y): (&[f64], &[f64]),
        corners: &[usize],
    ) -> Result<Self, TableError> {
        if x.len() < 2 || x.len() != y.len() {
            return Err(TableError::TooShort);
        }
        for row in 0..x.len() {
            if !x[row].is_finite() || !y[row].is_finite() {
                return Err(TableError::NotFinite(row + 1));
            }
            if row > 0 && x[row] <= x[row - 1] {
                return Err(TableError::NotIncreasing(row + 1));
            }
        }
        let mut pieces = Vec::new();
        let mut first = 0;
        for &last in corners.iter().chain([&(x.len() - 1)]).filter(|&&row| row < x.len()) {
            if last > first {
                pieces.extend(smooth_pieces(&x[first..=last], &y[first..=last]));
                first = last;
            }
        }
        let (file, column) = (file.into(), column.into());
        Ok(Self { file, column, is_linear: false, knots: x.to_vec(), pieces })
    }

    /// The `order`-th derivative at `x`, not a number outside the range of the data.
    pub fn value(&self, order: u32, x: f64) -> f64 {
        let (first, last) = self.range();
        if !(first..=last).contains(&x) {
            return f64::NAN;
        }
        let i = self.knots.partition_point(|&k| k <= x).saturating_sub(1);
        let i = i.min(self.pieces.len() - 1);
        let ([a, b, c, d], s) = (self.pieces[i], x - self.knots[i]);
        match order {
            0 => a + s * (b + s * (c + s * d)),
            1 => b + s * (2.0 * c + 3.0 * s * d),
            2 => 2.0 * c + 6.0 * s * d,
            3 => 6.0 * d,
            _ => 0.0,
        }
    }

    /// Where the curve is furthest from the data, if it leaves them by more than their own extent: beside a steep part
    /// a spline swings, the more the longer the next interval is.
    pub fn overshoot(&self) -> Option<Overshoot> {
        let values = || self.pieces.iter().map(|piece| piece[0]).chain([self.last_value()]);
        let data = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        let extent = data.1 - data.0;
        let off = |value: f64| (data.0 - value).max(value - data.1);
        let mut furthest: Option<Overshoot> = None;
        for (piece, ends) in self.pieces.iter().zip(self.knots.windows(2)) {
            for value in turning_points(piece, ends[1] - ends[0]) {
                if off(value) > furthest.map_or(extent, |found| off(found.value)) {
                    furthest = Some(Overshoot { between: (ends[0], ends[1]), value, data });
                }
            }
        }
        furthest
    }

    fn last_value(&self) -> f64 {
        self.value(0, self.range().1)
    }

    /// The abscissas.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// Between each knot $x_i$ and the next the coefficients of $c_0 + c_1 s + c_2 s^2 + c_3 s^3$, $s = x - x_i$.
    pub fn pieces(&self) -> &[[f64; 4]] {
        &self.pieces
    }

    /// Where the data begin and end.
    pub fn range(&self) -> (f64, f64) {
        (self.knots[0], self.knots[self.knots.len() - 1])
    }
}

/// The values of $c_0 + c_1 s + c_2 s^2 + c_3 s^3$ where its derivative vanishes between 0 and `h`.
fn turning_points(&[c0, c1, c2, c3]: &[f64; 4], h: f64) -> impl Iterator<Item = f64> {
    // NOTE: of the two forms of the roots, the one in which nothing cancels.
    let root = libm::sqrt(c2 * c2 - 3.0 * c1 * c3);
    let q = -(c2 + if c2 < 0.0 { -root } else { root });
    let places = [q / (3.0 * c3), c1 / q].into_iter().filter(move |s| *s > 0.0 && *s < h);
    places.map(move |s| c0 + s * (c1 + s * (c2 + s * c3)))
}

/// The coefficients of one spline.
fn smooth_pieces(x: &[f64], y: &[f64]) -> Vec<[f64; 4]> {
    let second = second_derivatives(x, y);
    let piece = |i: usize| {
        let h = x[i + 1] - x[i];
        let slope = (y[i + 1] - y[i]) / h;
        let (m0, m1) = (second[i], second[i + 1]);
        [y[i], slope - h * (2.0 * m0 + m1) / 6.0, m0 / 2.0, (m1 - m0) / (6.0 * h)]
    };
    (0..x.len() - 1).map(piece).collect()
}

/// Second derivatives at the knots: the tridiagonal system of the spline with not-a-knot ends.
fn second_derivatives(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len();
    if n == 2 {
        return vec![0.0; 2];
    }
    let h: Vec<f64> = x.windows(2).map(|w| w[1] - w[0]).collect();
    let slope: Vec<f64> = (0..n - 1).map(|i| (y[i + 1] - y[i]) / h[i]).collect();
    if n == 3 {
        // One parabola.
        return vec![2.0 * (slope[1] - slope[0]) / (h[0] + h[1]); 3];
    }
    let last = n - 2;
    let (mut lower, mut main, mut upper, mut rhs) =
        (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for i in 1..=last {
        lower[i] = h[i - 1];
        main[i] = 2.0 * (h[i - 1] + h[i]);
        upper[i] = h[i];
        rhs[i] = 6.0 * (slope[i] - slope[i - 1]);
    }
    // Not-a-knot: m₀ = m₁ − (h₀/h₁)(m₂ − m₁), and likewise at the end, put into the inner rows.
    let (r, s) = (h[0] / h[1], h[last] / h[last - 1]);
    main[1] += h[0] * (1.0 + r);
    upper[1] -= h[0] * r;
    main[last] += h[last] * (1.0 + s);
    lower[last] -= h[last] * s;
    for i in 2..=last {
        let w = lower[i] / main[i - 1];
        main[i] -= w * upper[i - 1];
        rhs[i] -= w * rhs[i - 1];
    }
    let mut m = vec![0.0; n];
    m[last] = rhs[last] / main[last];
    for i in (1..last).rev() {
        m[i] = (rhs[i] - upper[i] * m[i + 1]) / main[i];
    }
    m[0] = m[1] - r * (m[2] - m[1]);
    m[n - 1] = m[last] + s * (m[last] - m[last - 1]);
    m
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_is_reproduced() {
        let cubic = |x: f64| 1.0 + x * (2.0 + x * (-3.0 + x * 0.5));
        let x = [0.0, 0.3, 1.0, 1.4, 2.5, 3.0];
        let table = Table::new("f", "c", &x, &x.map(cubic)).unwrap();
        for i in 0..=30 {
            let s = 0.1 * f64::from(i);
            assert!((table.value(0, s) - cubic(s)).abs() < 1e-13, "rounding only");
            assert!((table.value(1, s) - (2.0 - 6.0 * s + 1.5 * s * s)).abs() < 1e-12);
        }
        assert!(table.value(0, 3.1).is_nan());
    }

    /// Two parabolas that meet in a corner at 1, where the derivative is that of the second.
    #[test]
    fn corners_are_kept() {
        let pieces = |x: f64| if x < 1.0 { x * x } else { 3.0 - 2.0 * x * x };
        let x = [0.0, 0.4, 0.7, 1.0, 1.5, 1.8, 2.0];
        let table = Table::with_corners("f", "c", (&x, &x.map(pieces)), &[3]).unwrap();
        for i in 0..=20 {
            let s = 0.1 * f64::from(i);
            assert!((table.value(0, s) - pieces(s)).abs() < 1e-13, "rounding only");
            let slope = if s < 1.0 { 2.0 * s } else { -4.0 * s };
            assert!((table.value(1, s) - slope).abs() < 1e-12, "at {s}");
        }
        let lines = Table::with_corners("f", "c", (&x, &x.map(f64::abs)), &[1, 2, 3, 4, 5]);
        assert!(lines.unwrap().pieces().iter().all(|p| p[2] == 0.0 && p[3] == 0.0));
    }

    /// Data of a short blow in a long time: the spline swings far beside it, the lines do not.
    #[test]
    fn swings_beside_a_blow_are_found() {
        let (x, y) = ([0.0, 1.0, 1.01, 1.02, 4.0], [0.0, 0.0, 5.0, 0.0, 0.0]);
        let smooth = Table::new("f", "c", &x, &y).unwrap();
        let found = smooth.overshoot().expect("a spline swings there");
        assert_eq!((found.between, found.data), ((1.02, 4.0), (0.0, 5.0)));
        // The furthest of many values along the interval.
        let along =
            (0..=10_000).map(|i| smooth.value(0, 1.02 + 2.98 * f64::from(i) / 10_000.0));
        let furthest = along.fold(0.0_f64, |a, b| if b.abs() > a.abs() { b } else { a });
        assert!((found.value - furthest).abs() < 1e-6 * furthest.abs(), "{found:?} {furthest}");
        let lines = Table::lines("f", "c", &x, &y).unwrap();
        assert_eq!((lines.overshoot(), lines.value(1, 3.0)), (None, 0.0));
        // The knots are rounded: 1 + 0.005 is known to 1e-16, and the slope is 500.
        assert!((lines.value(0, 1.005) - 2.5).abs() < 1e-12);
        let wave = Table::new("f", "c", &x.map(|t| 0.3 * t), &x.map(libm::sin)).unwrap();
        assert_eq!(wave.overshoot(), None);
    }

    #[test]
    fn bad_rows_are_named() {
        let bad = |x: &[f64], y: &[f64]| Table::new("f", "c", x, y).unwrap_err();
        assert_eq!(bad(&[0.0, 1.0, 1.0], &[0.0; 3]), TableError::NotIncreasing(3));
        assert_eq!(bad(&[0.0, 1.0], &[0.0, f64::NAN]), TableError::NotFinite(2));
        assert_eq!(bad(&[0.0], &[0.0]), TableError::TooShort);
    }
}
