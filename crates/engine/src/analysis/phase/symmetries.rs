//! Shifts and turns of coordinates that are symmetries of the flow, and steady motions along them.
//!
//! A field $\xi(q) = Gq + c$ with skew $G$ is a symmetry if $X = (\xi, G\dot q)$ is tangent to the constraints and
//! commutes with the flow, $f_y X - X_y f = 0$. That is linear in $(G, c)$ and is asked at scattered states: what is
//! left
//! are all symmetries of this form. A state with $f = \sum\omega_i X_i$ moves steadily along them, and in a frame that
//! moves with it the flow has an equilibrium.

use pfaff_solver::{least_squares, singular_values};

use crate::analysis::phase::chart::Chart;
use crate::analysis::phase::field::{Field, FieldPoint, Frame};
use crate::analysis::phase::quotient::{Quotient, QuotientPoint, scattered_many};

/// With more coordinates they are not looked for.
const MOST: usize = 12;
/// Singular values below this part of the largest vanish.
const VANISHING: f64 = 1e-8;
/// A motion is steady if so much of its rates is left.
const STEADY: f64 = 1e-9;

/// A symmetry of the flow.
#[derive(Clone, Debug)]
pub(crate) struct AffineSymmetry {
    pub(crate) frame: Frame,
    /// `shift of x`, `turn of x, y`
    pub(crate) name: String,
    /// Whether it shifts one coordinate and does nothing else: that one is cyclic, and left out.
    pub(crate) is_cyclic: bool,
}

/// What is tried: a shift of a coordinate, or a turn of two into each other.
#[derive(Clone, Copy)]
enum Candidate {
    Shift(usize),
    Turn(usize, usize),
}

impl Candidate {
    fn frame(self, n: usize) -> Frame {
        let mut frame = Frame { matrix: vec![0.0; n * n], shift: vec![0.0; n] };
        match self {
            Self::Shift(k) => frame.shift[k] = 1.0,
            Self::Turn(i, j) => {
                frame.matrix[i * n + j] = -1.0;
                frame.matrix[j * n + i] = 1.0;
            }
        }
        frame
    }
}

/// All symmetries of this form, shifts first.
pub(crate) fn symmetries(
    field: &mut Field,
    chart: &Chart,
    point: &FieldPoint,
) -> Vec<AffineSymmetry> {
    let (n, d) = (field.n, field.size());
    let carried = d - n - field.velocity_at.iter().flatten().count();
    if n > MOST || carried > 0 || field.frame.is_some() {
        return Vec::new();
    }
    let mut candidates: Vec<Candidate> = (0..n).map(Candidate::Shift).collect();
    let alike =
        |i: usize, j: usize| field.velocity_at[i].is_some() == field.velocity_at[j].is_some();
    for i in 0..n {
        let others = (i + 1..n).filter(|&j| alike(i, j));
        candidates.extend(others.map(|j| Candidate::Turn(i, j)));
    }
    let frames: Vec<Frame> = candidates.iter().map(|c| c.frame(n)).collect();
    let columns = frames.len();
    let count = 3 + 2 * columns / d.max(1);
    let mut seen = scattered_many(field, chart, point, count);
    seen.push(point.clone());
    if seen.len() < 3 {
        return Vec::new();
    }
    let mut rows: Vec<f64> = Vec::new();
    for at in &seen {
        let moved: Vec<Vec<f64>> = frames.iter().map(|f| field.prolonged(f, &at.y)).collect();
        // X is affine, so that its derivative along f is its linear part of f.
        let turned: Vec<Vec<f64>> = frames
            .iter()
            .map(|f| {
                let linear = Frame { shift: vec![0.0; n], ..f.clone() };
                field.prolonged(&linear, &at.rates)
            })
            .collect();
        let mut add = |row: Vec<(f64, f64)>| {
            let size = row.iter().fold(0.0_f64, |m, (_, s)| m.max(*s));
            if size > 0.0 {
                rows.extend(row.iter().map(|(x, _)| x / size));
            }
        };
        for i in 0..d {
            let slopes = &at.jacobian[i * d..(i + 1) * d];
            add((0..columns)
                .map(|k| {
                    let terms = slopes.iter().zip(&moved[k]).map(|(a, x)| a * x);
                    let (sum, size) =
                        terms.fold((0.0, 0.0_f64), |(s, m), x| (s + x, m + x.abs()));
                    (sum - turned[k][i], size + turned[k][i].abs())
                })
                .collect());
        }
        for level in [&at.positions, &at.velocities] {
            for slopes in level.slopes.chunks(d.max(1)) {
                add((0..columns)
                    .map(|k| {
                        let terms = slopes.iter().zip(&moved[k]).map(|(a, x)| a * x);
                        terms.fold((0.0, 0.0_f64), |(s, m), x| (s + x, m + x.abs()))
                    })
                    .collect());
            }
        }
    }
    let split = singular_values(&rows, rows.len() / columns.max(1), columns);
    let largest = split.values.first().copied().unwrap_or(0.0);
    let kernel: Vec<Vec<f64>> = split
        .values
        .iter()
        .zip(split.directions)
        .filter(|(s, _)| **s <= VANISHING * largest)
        .map(|(_, direction)| direction)
        .collect();
    let found = reduced(kernel).into_iter();
    found.map(|weights| combined(field, &candidates, &weights)).collect()
}

/// Makes a column one in its row and zero in all others.
fn eliminate(rows: &mut [Vec<f64>], own: usize, column: usize) {
    let pivot = rows[own][column];
    rows[own].iter_mut().for_each(|x| *x /= pivot);
    let pivots = rows[own].clone();
    for (r, row) in rows.iter_mut().enumerate() {
        if r != own {
            let part = row[column];
            row.iter_mut().zip(&pivots).for_each(|(x, p)| *x -= part * p);
        }
    }
}

/// The same space with as many zeros as elimination gives, the first columns first.
fn reduced(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut done = 0;
    for c in 0..columns {
        let best =
            (done..rows.len()).max_by(|&a, &b| rows[a][c].abs().total_cmp(&rows[b][c].abs()));
        let Some(best) = best.filter(|&r| rows[r][c].abs() > 1e-6) else { continue };
        rows.swap(done, best);
        eliminate(&mut rows, done, c);
        done += 1;
    }
    rows.truncate(done);
    for x in rows.iter_mut().flatten() {
        // Coefficients are whole numbers where units agree.
        if (*x - x.round()).abs() < 1e-7 {
            *x = x.round() + 0.0;
        }
    }
    rows
}

fn combined(field: &Field, candidates: &[Candidate], weights: &[f64]) -> AffineSymmetry {
    let n = field.n;
    let mut frame = Frame { matrix: vec![0.0; n * n], shift: vec![0.0; n] };
    let (mut turned, mut shifted): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (candidate, &weight) in candidates.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
        let part = candidate.frame(n);
        frame.matrix.iter_mut().zip(&part.matrix).for_each(|(x, p)| *x += weight * p);
        frame.shift.iter_mut().zip(&part.shift).for_each(|(x, p)| *x += weight * p);
        match *candidate {
            Candidate::Shift(k) => shifted.push(k),
            Candidate::Turn(i, j) => turned.extend([i, j]),
        }
    }
    let is_shift = turned.is_empty();
    turned.extend(shifted);
    turned.sort_unstable();
    turned.dedup();
    let names: Vec<&str> = turned.iter().map(|&k| field.names[k].as_str()).collect();
    let word = if is_shift { "shift" } else { "turn" };
    let is_cyclic = is_shift && names.len() == 1;
    AffineSymmetry { frame, name: format!("{word} of {}", names.join(", ")), is_cyclic }
}

/// $\sum\omega_i\xi_i$
pub(crate) fn combination(n: usize, all: &[AffineSymmetry], rates: &[f64]) -> Frame {
    let mut frame = Frame { matrix: vec![0.0; n * n], shift: vec![0.0; n] };
    for (symmetry, ω) in all.iter().zip(rates) {
        let part = &symmetry.frame;
        frame.matrix.iter_mut().zip(&part.matrix).for_each(|(x, p)| *x += ω * p);
        frame.shift.iter_mut().zip(&part.shift).for_each(|(x, p)| *x += ω * p);
    }
    frame
}

/// A frame along symmetries, with their rates, and how much of the rates of a state is left in it.
pub(crate) struct MovingFrame {
    pub(crate) frame: Frame,
    pub(crate) rates: Vec<f64>,
    pub(crate) left: f64,
}

impl MovingFrame {
    /// The frame in which a state moves least; `None` where only cyclic coordinates move.
    pub(crate) fn of(
        field: &Field,
        all: &[AffineSymmetry],
        point: &FieldPoint,
    ) -> Option<Self> {
        if all.iter().all(|s| s.is_cyclic) {
            return None;
        }
        let (n, d) = (field.n, field.size());
        let fields: Vec<Vec<f64>> =
            all.iter().map(|s| field.prolonged(&s.frame, &point.y)).collect();
        let columns: Vec<f64> = (0..d).flat_map(|i| fields.iter().map(move |x| x[i])).collect();
        let solved = least_squares(&columns, d, all.len(), &point.rates, 1e-11);
        let frame = combination(n, all, &solved.x);
        let size = point.rates.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut moving = all.iter().zip(&solved.x).filter(|(s, _)| !s.is_cyclic);
        let moves = moving.any(|(_, ω)| ω.abs() > 1e-12 * (1.0 + size));
        let left = if size > 0.0 { solved.residual / size } else { 0.0 };
        moves.then_some(Self { frame, rates: solved.x, left })
    }

    /// Whether the state moves steadily.
    pub(crate) fn is_steady(&self) -> bool {
        self.left <= STEADY
    }
}

/// The linear equations beside the directions of symmetries.
pub(crate) struct Beside {
    /// Which of the variables are left.
    pub(crate) kept: Vec<usize>,
    /// Their matrix by rows.
    pub(crate) matrix: Vec<f64>,
    /// For each of them its part of those that are not: what is shown is `w[kept] - part·w[others]`.
    others: Vec<usize>,
    parts: Vec<f64>,
}

/// Removes the directions of symmetries, which the flow of the frame turns into each other.
pub(crate) fn beside(
    field: &Field,
    quotient: &Quotient,
    here: &QuotientPoint,
    point: &FieldPoint,
    all: &[AffineSymmetry],
) -> Beside {
    let w = quotient.variables.len();
    let mut rows: Vec<Vec<f64>> = all
        .iter()
        .map(|s| {
            let moved = field.prolonged(&s.frame, &point.y);
            quotient.variables.iter().map(|&c| moved[c]).collect()
        })
        .collect();
    // Pivots over all variables, the largest first.
    let mut others: Vec<usize> = Vec::new();
    let mut done = 0;
    let size = rows.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    while done < rows.len() {
        let places = (done..rows.len()).flat_map(|r| (0..w).map(move |c| (r, c)));
        let best = places.max_by(|a, b| rows[a.0][a.1].abs().total_cmp(&rows[b.0][b.1].abs()));
        let Some((r, c)) = best.filter(|&(r, c)| rows[r][c].abs() > 1e-9 * size) else { break };
        rows.swap(done, r);
        eliminate(&mut rows, done, c);
        others.push(c);
        done += 1;
    }
    let kept: Vec<usize> = (0..w).filter(|c| !others.contains(c)).collect();
    let k = others.len();
    let parts: Vec<f64> =
        kept.iter().flat_map(|&i| rows[..done].iter().map(move |row| row[i])).collect();
    let entry = |a: usize, j: usize| {
        let i = kept[a];
        let moved = (0..k).map(|s| parts[a * k + s] * here.matrix[others[s] * w + j]);
        here.matrix[i * w + j] - moved.sum::<f64>()
    };
    let places = (0..kept.len()).flat_map(|a| kept.iter().map(move |&j| (a, j)));
    let matrix = places.map(|(a, j)| entry(a, j)).collect();
    Beside { kept, matrix, others, parts }
}

impl Beside {
    /// The part of a vector that is beside the symmetries.
    pub(crate) fn of(&self, x: &[f64]) -> Vec<f64> {
        let k = self.others.len();
        let entry = |(a, &i): (usize, &usize)| {
            let moved = (0..k).map(|s| self.parts[a * k + s] * x[self.others[s]]);
            x[i] - moved.sum::<f64>()
        };
        self.kept.iter().enumerate().map(entry).collect()
    }
}

/// What a symmetry does to states after some time: $q \mapsto Qq + p$, $\dot q \mapsto Q\dot q$.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    matrix: Vec<f64>,
    shift: Vec<f64>,
}

impl Carried {
    /// $\exp\sum s_i\xi_i$ by the series of a part of it, squared again and again.
    pub(crate) fn along(field: &Field, all: &[AffineSymmetry], s: &[f64]) -> Self {
        const SQUARINGS: i32 = 12;
        const TERMS: usize = 8;
        let n = field.n;
        let k = n + 1;
        // Homogeneous coordinates.
        let mut generator = vec![0.0; k * k];
        for (symmetry, s) in all.iter().zip(s) {
            for i in 0..n {
                for j in 0..n {
                    generator[i * k + j] += s * symmetry.frame.matrix[i * n + j];
                }
                generator[i * k + n] += s * symmetry.frame.shift[i];
            }
        }
        let small = f64::from(1 << SQUARINGS).recip();
        generator.iter_mut().for_each(|x| *x *= small);
        let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let places = (0..k).flat_map(|i| (0..k).map(move |j| (i, j)));
            places.map(|(i, j)| (0..k).map(|l| a[i * k + l] * b[l * k + j]).sum()).collect()
        };
        let unit: Vec<f64> = (0..k * k).map(|x| f64::from(u8::from(x / k == x % k))).collect();
        let (mut sum, mut term) = (unit.clone(), unit);
        for order in 1..=TERMS {
            term = product(&term, &generator);
            term.iter_mut().for_each(|x| *x /= order as f64);
            sum.iter_mut().zip(&term).for_each(|(s, t)| *s += t);
        }
        for _ in 0..SQUARINGS {
            sum = product(&sum, &sum);
        }
        let matrix = (0..n).flat_map(|i| sum[i * k..i * k + n].to_vec()).collect();
        Self { matrix, shift: (0..n).map(|i| sum[i * k + n]).collect() }
    }

    /// A state, or a direction if nothing is to be shifted.
    pub(crate) fn apply(&self, field: &Field, y: &[f64], is_state: bool) -> Vec<f64> {
        let n = field.n;
        let mut moved = y.to_vec();
        for i in 0..n {
            let row = &self.matrix[i * n..(i + 1) * n];
            let shift = if is_state { self.shift[i] } else { 0.0 };
            moved[i] = shift + row.iter().zip(y).map(|(a, q)| a * q).sum::<f64>();
            if let Some(at) = field.velocity_at[i] {
                let terms = row.iter().zip(&field.velocity_at);
                moved[at] = terms.map(|(a, v)| v.map_or(0.0, |v| a * y[v])).sum();
            }
        }
        moved
    }
}
