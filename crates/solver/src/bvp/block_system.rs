//! The linear systems of Newton's iteration on a path, and their solution by orthogonal elimination.
//!
//! $$ -G_i\,\delta_i + \delta_{i+1} = r_i, \qquad B_0\,\delta_0 + B_1\,\delta_N = -g \qquad (\mathrm{BL}) $$
//!
//! $\delta_1, \dots, \delta_{N-1}$ are eliminated one after another: the rows that contain $\delta_i$ are
//! turned by reflections into a triangle for it and
//! a relation between $\delta_0$ and $\delta_{i+1}$ (Wright 1992). Nothing grows on the way, as products
//! $G_N\cdots G_1$ would.
//! What is left for $\delta_0$ and $\delta_N$ is solved by least squares with rank detection, so that
//! families of solutions and repeated conditions do no harm.

use crate::linalg::least_squares::LeastSquares;

/// The blocks of (BL), by rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockSystem {
    pub(crate) dimension: usize,
    pub(crate) conditions: usize,
    /// $G_i$
    pub(crate) transitions: Vec<Vec<f64>>,
    /// $B_0$
    pub(crate) first: Vec<f64>,
    /// $B_1$
    pub(crate) last: Vec<f64>,
    /// $r_i$, one after another
    pub(crate) defects: Vec<f64>,
    /// $g$
    pub(crate) values: Vec<f64>,
}

/// The factors of the left side of (BL).
pub(crate) struct Factors {
    d: usize,
    conditions: usize,
    /// For each eliminated node: the reflections with their lengths, the triangle, and the blocks of
    /// $\delta_0$ and $\delta_{i+1}$ beside it.
    stages: Vec<Stage>,
    /// What is left for $(\delta_0, \delta_N)$.
    matrix: Vec<f64>,
    work: LeastSquares,
}

struct Stage {
    /// By columns of length 2d, normalised.
    reflections: Vec<f64>,
    /// d × d, upper
    triangle: Vec<f64>,
    /// d × d
    of_first: Vec<f64>,
    /// d × d
    of_next: Vec<f64>,
}

/// Singular directions below this part of the largest are left out of a step: far above rounding of the
/// blocks, far below what a regular problem has.
const RANK: f64 = 1e-10;

impl BlockSystem {
    /// Factorises the left side.
    pub(crate) fn factor(&self) -> Factors {
        let d = self.dimension;
        // P δ_0 + R δ_i = s
        let mut p: Vec<f64> = self.transitions[0].iter().map(|x| -x).collect();
        let mut r = identity(d);
        let mut stages = Vec::new();
        for g in &self.transitions[1..] {
            // Rows [R P 0; −G 0 1] in the columns (δ_i, δ_0, δ_{i+1}).
            let mut m = vec![0.0; 2 * d * 3 * d];
            for i in 0..d {
                for j in 0..d {
                    m[i * 3 * d + j] = r[i * d + j];
                    m[i * 3 * d + d + j] = p[i * d + j];
                    m[(d + i) * 3 * d + j] = -g[i * d + j];
                }
                m[(d + i) * 3 * d + 2 * d + i] = 1.0;
            }
            let mut reflections = Vec::with_capacity(2 * d * d);
            for k in 0..d {
                let w = reflection(&m, 2 * d, 3 * d, k);
                reflect_rows(&mut m, 3 * d, k, &w);
                reflections.extend(w);
            }
            let block = |row: usize, column: usize| -> Vec<f64> {
                let entry = |x: usize| m[(row + x / d) * 3 * d + column + x % d];
                (0..d * d).map(entry).collect()
            };
            stages.push(Stage {
                reflections,
                triangle: block(0, 0),
                of_first: block(0, d),
                of_next: block(0, 2 * d),
            });
            (p, r) = (block(d, d), block(d, 2 * d));
        }
        let mut matrix = Vec::with_capacity((d + self.conditions) * 2 * d);
        for i in 0..d {
            matrix.extend_from_slice(&p[i * d..(i + 1) * d]);
            matrix.extend_from_slice(&r[i * d..(i + 1) * d]);
        }
        for c in 0..self.conditions {
            matrix.extend_from_slice(&self.first[c * d..(c + 1) * d]);
            matrix.extend_from_slice(&self.last[c * d..(c + 1) * d]);
        }
        let conditions = self.conditions;
        Factors { d, conditions, stages, matrix, work: LeastSquares::default() }
    }
}

impl Factors {
    /// $\delta_0, \dots, \delta_N$ for a right side.
    pub(crate) fn solve(&mut self, defects: &[f64], values: &[f64]) -> Vec<f64> {
        let d = self.d;
        let intervals = defects.len() / d;
        let mut s = defects[..d].to_vec();
        let mut rights = Vec::with_capacity(self.stages.len());
        for (stage, defect) in self.stages.iter().zip(defects[d..].chunks(d)) {
            let mut b = [s.as_slice(), defect].concat();
            for w in stage.reflections.chunks(2 * d) {
                let along: f64 = w.iter().zip(&b).map(|(w, b)| w * b).sum();
                b.iter_mut().zip(w).for_each(|(b, w)| *b -= 2.0 * along * w);
            }
            s = b.split_off(d);
            rights.push(b);
        }
        s.extend(values.iter().map(|g| -g));
        let mut ends = vec![0.0; 2 * d];
        self.work.solve(&self.matrix, d + self.conditions, &s, RANK, &mut ends);
        let mut δ = vec![0.0; (intervals + 1) * d];
        δ[..d].copy_from_slice(&ends[..d]);
        δ[intervals * d..].copy_from_slice(&ends[d..]);
        for (i, (stage, right)) in self.stages.iter().zip(&rights).enumerate().rev() {
            // U δ_i = z − X δ_0 − Y δ_{i+1}
            let mut z = right.clone();
            for a in 0..d {
                for b in 0..d {
                    z[a] -= stage.of_first[a * d + b] * ends[b]
                        + stage.of_next[a * d + b] * δ[(i + 2) * d + b];
                }
            }
            for a in (0..d).rev() {
                let known: f64 = (a + 1..d).map(|b| stage.triangle[a * d + b] * z[b]).sum();
                z[a] = (z[a] - known) / stage.triangle[a * d + a];
            }
            δ[(i + 1) * d..(i + 2) * d].copy_from_slice(&z);
        }
        δ
    }
}

pub(crate) fn identity(d: usize) -> Vec<f64> {
    let mut m = vec![0.0; d * d];
    (0..d).for_each(|i| m[i * d + i] = 1.0);
    m
}

/// The unit vector whose reflection clears column `k` below the diagonal; zero if there is nothing to clear.
fn reflection(m: &[f64], rows: usize, columns: usize, k: usize) -> Vec<f64> {
    let mut w = vec![0.0; rows];
    for i in k..rows {
        w[i] = m[i * columns + k];
    }
    let length = w.iter().map(|x| x * x).sum::<f64>().sqrt();
    w[k] += length.copysign(w[k]);
    let size = w.iter().map(|x| x * x).sum::<f64>().sqrt();
    if size > 0.0 {
        w.iter_mut().for_each(|x| *x /= size);
    }
    w
}

fn reflect_rows(m: &mut [f64], columns: usize, first: usize, w: &[f64]) {
    for j in 0..columns {
        let along: f64 = (first..w.len()).map(|i| w[i] * m[i * columns + j]).sum();
        (first..w.len()).for_each(|i| m[i * columns + j] -= 2.0 * along * w[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_satisfies_every_row() {
        let (d, n) = (3, 5);
        // Numbers without a pattern: the fractional parts of √2, √3, ….
        let mut square = 1.0_f64;
        let mut next = || {
            square += 1.0;
            square.sqrt().fract() - 0.5
        };
        let mut matrix = |count: usize| (0..count).map(|_| next()).collect::<Vec<f64>>();
        let blocks = BlockSystem {
            dimension: d,
            conditions: d,
            transitions: (0..n).map(|_| matrix(d * d)).collect(),
            first: matrix(d * d),
            last: matrix(d * d),
            defects: matrix(n * d),
            values: matrix(d),
        };
        let δ = blocks.factor().solve(&blocks.defects, &blocks.values);
        let times = |m: &[f64], x: &[f64], i: usize| -> f64 {
            (0..d).map(|j| m[i * d + j] * x[j]).sum()
        };
        for (i, g) in blocks.transitions.iter().enumerate() {
            for k in 0..d {
                let left = δ[(i + 1) * d + k] - times(g, &δ[i * d..(i + 1) * d], k);
                // A few dozen operations on numbers of order one to ten.
                assert!((left - blocks.defects[i * d + k]).abs() < 1e-12);
            }
        }
        for k in 0..d {
            let left = times(&blocks.first, &δ[..d], k) + times(&blocks.last, &δ[n * d..], k);
            assert!((left + blocks.values[k]).abs() < 1e-12);
        }
    }
}
