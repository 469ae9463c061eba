//! Factorisations of random matrices: what they promise holds for every one of them.

use pfaff_solver::{
    LeastSquares, Lu, RankRevealing, SparseLu, cholesky, cholesky_solve, eigenvalues,
    eigenvector, least_squares, singular_values,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::cases;

/// Entries in [−1, 1).
fn entries(count: usize) -> impl Strategy<Value = Vec<f64>> {
    vec(-1.0..1.0_f64, count)
}

/// A square system.
fn square(most: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (1..=most).prop_flat_map(|n| (entries(n * n), entries(n)))
}

/// A matrix of given rank as a product, with a vector for each side.
#[derive(Clone, Debug)]
struct Ranked {
    m: usize,
    n: usize,
    rank: usize,
    a: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
}

fn ranked() -> impl Strategy<Value = Ranked> {
    (1..10_usize, 1..10_usize)
        .prop_flat_map(|(m, n)| (Just((m, n)), 0..=m.min(n)))
        .prop_flat_map(|((m, n), r)| {
            let factors = (entries(m * r), entries(r * n), entries(m), entries(n));
            factors.prop_map(move |(mut u, mut v, left, right)| {
                // Far from a smaller rank: the leading square blocks are dominated by their diagonals.
                for k in 0..r {
                    u[k * r + k] += (2 * r) as f64;
                    v[k * n + k] += (2 * r) as f64;
                }
                let entry =
                    |e: usize| (0..r).map(|k| u[e / n * r + k] * v[k * n + e % n]).sum();
                Ranked { m, n, rank: r, a: (0..m * n).map(entry).collect(), left, right }
            })
        })
}

fn times(a: &[f64], n: usize, x: &[f64]) -> Vec<f64> {
    a.chunks_exact(n).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// $\max_i |b - A x|_i$
fn residual(a: &[f64], n: usize, x: &[f64], b: &[f64]) -> f64 {
    times(a, n, x).iter().zip(b).fold(0.0, |m, (ax, b)| m.max((ax - b).abs()))
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn solutions_of_square_systems_leave_a_small_residual((a, b) in square(30)) {
        let n = b.len();
        let mut lu = Lu::new(n);
        prop_assume!(lu.factor(n, &a).is_ok());
        let mut x = b.clone();
        lu.solve(&mut x);
        // Backward error of pivoted elimination: n ε ‖A‖‖x‖ with ‖A‖ ≤ n, growth below 10.
        let limit = 10.0 * (n * n) as f64 * f64::EPSILON * largest(&x).max(1.0);
        prop_assert!(residual(&a, n, &x, &b) <= limit);
    }

    #[test]
    fn a_positive_definite_matrix_is_solved_by_its_root((g, b) in square(20)) {
        let n = b.len();
        // G Gᵀ + 1
        let a: Vec<f64> = (0..n * n)
            .map(|e| {
                let (i, j) = (e / n, e % n);
                let dot: f64 = (0..n).map(|k| g[i * n + k] * g[j * n + k]).sum();
                dot + f64::from(u8::from(i == j))
            })
            .collect();
        let (mut l, mut x) = (a.clone(), b.clone());
        cholesky(n, &mut l).expect("eigenvalues are at least 1");
        cholesky_solve(n, &l, &mut x);
        // ‖A‖ ≤ n² + 1, and the solution is shorter than b.
        prop_assert!(residual(&a, n, &x, &b) < 1e-14 * (n * n) as f64);
    }

    /// The Moore–Penrose identities in vector form: $A^+ b$ is orthogonal to the kernel, and $b - A A^+ b$ is
    /// orthogonal to the image.
    #[test]
    fn least_squares_gives_the_pseudoinverse(case in ranked()) {
        let Ranked { m, n, rank, a, left: b, .. } = case;
        let mut x = vec![f64::NAN; n];
        let fit = LeastSquares::default().solve(&a, m, &b, 1e-10, &mut x);
        prop_assert_eq!(fit.rank, rank);
        let rest: Vec<f64> = times(&a, n, &x).iter().zip(&b).map(|(ax, b)| ax - b).collect();
        // Rounding times entries up to 1e3.
        prop_assert!((norm(&rest) - fit.residual).abs() < 1e-12);
        let transpose: Vec<f64> = (0..n * m).map(|e| a[e % m * n + e / m]).collect();
        prop_assert!(largest(&times(&transpose, m, &rest)) < 1e-10);
        // x lies in the row space: solving for it with Aᵀ leaves nothing.
        let back = least_squares(&transpose, n, m, &x, 1e-10);
        prop_assert!(back.residual < 1e-12);
    }

    #[test]
    fn the_rank_is_recognised_and_consistent_systems_are_solved(case in ranked()) {
        let Ranked { m, n, rank, a, right: x, .. } = case;
        let b = times(&a, n, &x);
        let mut split = RankRevealing::default();
        split.factor(m, n, &a, 1e-10);
        prop_assert_eq!(split.rank(), rank);
        prop_assert_eq!(split.dependent_rows().len(), m - rank);
        prop_assert_eq!(split.free_columns().len(), n - rank);
        let mut found = vec![f64::NAN; n];
        // Rounding of entries up to 1e3.
        prop_assert!(split.solve(&b, &mut found) < 1e-10);
        prop_assert!(residual(&a, n, &found, &b) < 1e-10);
        prop_assert!(split.free_columns().iter().all(|&j| found[j] == 0.0));
    }
}

/// The entries of each column.
type SparseColumns = Vec<Vec<(usize, f64)>>;

/// A saddle point $\begin{pmatrix} M & -A^\top \\ A & 0\end{pmatrix}$ with a positive diagonal $M$ and rows of $A$
/// that begin in different columns, by columns.
fn saddle_point() -> impl Strategy<Value = (usize, SparseColumns, Vec<f64>)> {
    (2..40_usize).prop_flat_map(|n| (Just(n), 1..n)).prop_flat_map(|(n, m)| {
        let parts = (vec(0.5..2.0, n), entries(3 * m), vec(0..n, 2 * m), entries(n + m));
        parts.prop_map(move |(mass, slopes, places, right)| {
            let mut full = vec![0.0; (n + m) * (n + m)];
            (0..n).for_each(|i| full[i * (n + m) + i] = mass[i]);
            for a in 0..m {
                let others = [(places[2 * a], 0.4), (places[2 * a + 1], 0.4)];
                let own = [(a, 2.0), others[0], others[1]];
                for (k, (i, size)) in own.into_iter().enumerate() {
                    // Dominated by its own column: the rows are independent.
                    let x = if k == 0 { size } else { size * slopes[3 * a + k] };
                    full[(n + a) * (n + m) + i] += x;
                    full[i * (n + m) + n + a] -= x;
                }
            }
            let column = |j: usize| {
                let entries = (0..n + m).map(|i| (i, full[i * (n + m) + j]));
                entries.filter(|entry| entry.1 != 0.0).collect()
            };
            (n + m, (0..n + m).map(column).collect(), right)
        })
    })
}

fn by_columns(columns: &[Vec<(usize, f64)>]) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    let mut begins = vec![0];
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for column in columns {
        rows.extend(column.iter().map(|entry| entry.0));
        values.extend(column.iter().map(|entry| entry.1));
        begins.push(rows.len());
    }
    (begins, rows, values)
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn sparse_factors_solve_what_full_ones_do((size, columns, right) in saddle_point()) {
        let mut full = vec![0.0; size * size];
        for (j, column) in columns.iter().enumerate() {
            column.iter().for_each(|&(i, x)| full[i * size + j] = x);
        }
        let (begins, rows, values) = by_columns(&columns);
        let (mut lu, mut sparse) = (Lu::new(size), SparseLu::default());
        lu.factor(size, &full).unwrap();
        // Twice: the second time the order is known.
        for _ in 0..2 {
            sparse.factor(&begins, &rows, &values).unwrap();
            let (mut x, mut y) = (right.clone(), right.clone());
            lu.solve(&mut x);
            sparse.solve(&mut y);
            for (x, y) in x.iter().zip(&y) {
                // Rounding, times a condition of some hundreds.
                prop_assert!((x - y).abs() <= 1e-11 * (1.0 + x.abs()));
            }
            prop_assert_eq!(lu.orientation(), sparse.orientation());
        }
    }

    /// A constraint given twice.
    #[test]
    fn a_singular_sparse_matrix_is_refused((size, mut columns, _) in saddle_point()) {
        let last = columns[size - 1].clone();
        for (i, column) in columns.iter_mut().enumerate().take(size - 1) {
            let twice = last.iter().find(|entry| entry.0 == i).map(|entry| (size, -entry.1));
            column.extend(twice);
        }
        columns.push(last);
        let (begins, rows, values) = by_columns(&columns);
        prop_assert!(SparseLu::default().factor(&begins, &rows, &values).is_err());
    }
}

/// A chain: the factors have as many entries as the chain has links.
#[test]
fn the_factors_of_a_chain_stay_sparse() {
    let entries = |n: usize| {
        let column = |j: usize| {
            let near = [j.wrapping_sub(1), j, j + 1].into_iter().filter(|&i| i < n);
            near.map(|i| (i, if i == j { 2.0 } else { -1.0 })).collect()
        };
        let (begins, rows, values) = by_columns(&(0..n).map(column).collect::<Vec<_>>());
        let mut lu = SparseLu::default();
        lu.factor(&begins, &rows, &values).unwrap();
        lu.entries()
    };
    assert!(entries(2000) <= 2 * entries(1000) + 10);
}

/// Bodies that turn: nine rates of a rotation, each by three of the body before and two joints, with a mass of rank
/// three. Few diagonal entries can be pivots; the factors still grow as the number of bodies, and lose no digits.
#[test]
fn the_factors_of_masses_of_low_rank_stay_sparse() {
    let mut state = 7_u64;
    let mut number = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut factored = |bodies: usize| {
        let first = 2 * bodies;
        let size = first + 18 * bodies;
        let mut columns = vec![Vec::new(); size];
        let mut put = |i: usize, j: usize, x: f64| {
            columns[j].push((i, x));
            if i != j {
                columns[i].push((j, x));
            }
        };
        for k in 0..bodies {
            let (w, row) = (first + 9 * k, first + 9 * (bodies + k));
            let spread: Vec<f64> = (0..27).map(|_| number()).collect();
            for a in 0..9 {
                for b in 0..=a {
                    put(
                        w + a,
                        w + b,
                        (0..3).map(|c| spread[9 * c + a] * spread[9 * c + b]).sum(),
                    );
                }
                put(row + a, w + a, 1.0);
                put(row + a, 2 * k, number());
                put(row + a, 2 * k + 1, number());
                if k > 0 {
                    (0..3).for_each(|b| put(row + a, w - 9 + a / 3 * 3 + b, number()));
                }
            }
        }
        columns.iter_mut().for_each(|column| column.sort_by_key(|entry| entry.0));
        let solution: Vec<f64> = (0..size).map(|_| number()).collect();
        let mut x = vec![0.0; size];
        for (column, factor) in columns.iter().zip(&solution) {
            column.iter().for_each(|&(i, a)| x[i] += a * factor);
        }
        let (begins, rows, values) = by_columns(&columns);
        let mut lu = SparseLu::default();
        lu.factor(&begins, &rows, &values).unwrap();
        lu.solve(&mut x);
        for (x, y) in x.iter().zip(&solution) {
            assert!((x - y).abs() < 1e-9, "{x} {y}");
        }
        lu.entries()
    };
    let (short, long) = (factored(20), factored(40));
    assert!(5 * long <= 11 * short, "{short} {long}");
}

proptest! {
    #![proptest_config(cases(64))]

    /// $\sum\lambda = \operatorname{tr} A$, and each eigenvalue has a vector with $A x = \lambda x$ to rounding.
    #[test]
    fn eigenvalues_have_vectors_and_add_up_to_the_trace(
        (a, b) in square(12),
        grade in -3.0..3.0_f64,
    ) {
        let n = b.len();
        // Graded, so that balancing has something to do.
        let scale = |i: usize| 10.0_f64.powi((grade * i as f64 / 3.0) as i32);
        let a: Vec<f64> = (0..n * n).map(|k| a[k] * scale(k / n) / scale(k % n)).collect();
        let values = eigenvalues(n, &a).expect("the matrix is finite");
        let norm = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let trace: f64 = (0..n).map(|i| a[i * n + i]).sum();
        let sum: f64 = values.iter().map(|v| v[0]).sum();
        prop_assert!((trace - sum).abs() <= 1e-13 * n as f64 * (1.0 + norm));
        for value in values {
            let vector = eigenvector(n, &a, value).expect("the matrix is not empty");
            prop_assert!(vector.residual <= 1e-11 * (1.0 + norm), "{value:?} {vector:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    /// $V$ is orthogonal, and the columns of $A V$ are orthogonal to each other, with the singular values as lengths.
    #[test]
    fn singular_values_are_lengths_of_orthogonal_columns((m, n, a) in (1..9_usize, 1..9_usize)
        .prop_flat_map(|(m, n)| (Just(m), Just(n), entries(m * n))))
    {
        let found = singular_values(&a, m, n);
        prop_assert_eq!((found.values.len(), found.directions.len()), (n, n));
        let images: Vec<Vec<f64>> = found.directions.iter().map(|v| times(&a, n, v)).collect();
        let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
        for i in 0..n {
            for j in 0..n {
                let unit = f64::from(u8::from(i == j));
                // Rounding of some sweeps over eight columns.
                prop_assert!((dot(&found.directions[i], &found.directions[j]) - unit).abs() < 1e-13);
                let length = unit * found.values[i] * found.values[i];
                prop_assert!((dot(&images[i], &images[j]) - length).abs() < 1e-13 * m as f64 * n as f64);
            }
            prop_assert!(i == 0 || found.values[i] <= found.values[i - 1]);
        }
    }
}
