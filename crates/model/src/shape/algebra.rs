//! Vectors and matrices of expressions: sums, products, determinants, inverses, rotations.
//!
//! Everything is written out in components through the constructors of the graph. What does not fit is
//! refused with a sentence
//! that names both shapes; identically vanishing denominators are refused by the caller, who knows the place.

use pfaff_expr::{Expr, Graph};
use rustc_hash::FxHashMap;

use crate::shape::{Shape, Value};

/// Why an operation on these shapes has no meaning, and what may have been meant.
#[derive(Clone, Debug)]
pub(crate) struct Misfit {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Misfit {
    pub(crate) fn new(message: String) -> Self {
        Self { message, hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }
}

/// The largest matrix whose determinant is written out.
pub(crate) const MAX_DETERMINANT: usize = 8;

/// $a \pm b$; the number 0 is zero of any shape.
pub(crate) fn add(g: &Graph, a: &Value, b: &Value, minus: bool) -> Result<Value, Misfit> {
    let term = |y: Expr| if minus { g.neg(y) } else { y };
    let sum = |x: Expr, y: Expr| if minus { g.sub(x, y) } else { g.add(x, y) };
    if let (Value::Scalar(x), Value::Scalar(y)) = (a, b) {
        return Ok(Value::Scalar(sum(*x, *y)));
    }
    if a.shape() == b.shape() {
        let pairs = a.entries().iter().zip(b.entries());
        return Ok(a.with_entries(pairs.map(|(&x, &y)| sum(x, y)).collect()));
    }
    if b.is_plain_zero(g) {
        return Ok(a.clone());
    }
    if a.is_plain_zero(g) {
        return Ok(b.map(term));
    }
    let sign = if minus { "-" } else { "+" };
    Err(Misfit::new(format!("`{sign}` between {} and {}", a.describe(), b.describe())))
}

/// $a\,b$ with numbers, matrices and vectors.
pub(crate) fn multiply(g: &Graph, a: &Value, b: &Value) -> Result<Value, Misfit> {
    let refuse = |hint: &str| {
        let message = format!("`*` between {} and {}", a.describe(), b.describe());
        let misfit = Misfit::new(message);
        Err(if hint.is_empty() { misfit } else { misfit.with_hint(hint) })
    };
    match (a, b) {
        (Value::Scalar(k), _) => Ok(b.map(|x| g.mul(*k, x))),
        (_, Value::Scalar(k)) => Ok(a.map(|x| g.mul(x, *k))),
        (Value::Matrix(n, m, x), Value::Matrix(p, q, y)) if m == p => {
            let entry =
                |i: usize, j: usize| g.sum((0..*m).map(|k| g.mul(x[i * m + k], y[k * q + j])));
            let entries = (0..n * q).map(|k| entry(k / q, k % q)).collect();
            Ok(Value::new(Shape::Matrix(*n, *q), entries))
        }
        (Value::Matrix(n, m, x), Value::Vector(v)) if *m == v.len() => {
            Ok(Value::Vector((0..*n).map(|i| g.dot(&x[i * m..(i + 1) * m], v)).collect()))
        }
        (Value::Row(u), Value::Vector(v)) if u.len() == v.len() => {
            Ok(Value::Scalar(g.dot(u, v)))
        }
        (Value::Row(u), Value::Matrix(n, m, x)) if u.len() == *n => {
            let entry = |j: usize| g.sum((0..*n).map(|i| g.mul(u[i], x[i * m + j])));
            Ok(Value::Row((0..*m).map(entry).collect()))
        }
        (Value::Vector(u), Value::Row(v)) => {
            let entries = u.iter().flat_map(|&x| v.iter().map(move |&y| g.mul(x, y))).collect();
            Ok(Value::new(Shape::Matrix(u.len(), v.len()), entries))
        }
        (Value::Vector(_), Value::Vector(_)) => refuse(
            "write `dot(u, v)` for the scalar product, `cross(u, v)` for the vector product",
        ),
        (Value::Vector(_), Value::Matrix(..)) => {
            refuse("vectors are columns: write `transpose(A)*v`")
        }
        _ => refuse(""),
    }
}

/// $A^n$, $n \ge 1$, by repeated squaring.
pub(crate) fn matrix_power(g: &Graph, a: &Value, n: u32) -> Result<Value, Misfit> {
    let (mut result, mut square, mut rest) = (None::<Value>, a.clone(), n);
    loop {
        if rest & 1 == 1 {
            result = Some(match result {
                Some(r) => multiply(g, &r, &square)?,
                None => square.clone(),
            });
        }
        rest >>= 1;
        match (rest, result) {
            (0, Some(r)) => return Ok(r),
            (_, r) => result = r,
        }
        square = multiply(g, &square, &square)?;
    }
}

/// $A^T$; a vector becomes a row and a row a vector.
pub(crate) fn transpose(a: &Value) -> Value {
    match a {
        Value::Matrix(n, m, x) => {
            let entries = (0..n * m).map(|k| x[(k % n) * m + k / n]).collect();
            Value::new(Shape::Matrix(*m, *n), entries)
        }
        Value::Vector(x) => Value::Row(x.clone()),
        Value::Row(x) => Value::Vector(x.clone()),
        _ => a.clone(),
    }
}

/// A square matrix by rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SquareMatrix<'a> {
    /// How many rows and columns.
    pub(crate) n: usize,
    pub(crate) entries: &'a [Expr],
}

/// The unit matrix.
pub(crate) fn identity(g: &Graph, n: usize) -> Value {
    let unit = |k: usize| if k / n == k % n { g.one() } else { g.zero() };
    Value::new(Shape::Matrix(n, n), (0..n * n).map(unit).collect())
}

/// $\det A$ of a square matrix by rows, by expansion with shared minors; at most [`MAX_DETERMINANT`] rows.
pub(crate) fn determinant(g: &Graph, n: usize, x: &[Expr]) -> Expr {
    let columns: Vec<usize> = (0..n).collect();
    let rows: Vec<usize> = (0..n).collect();
    minor(g, SquareMatrix { n, entries: x }, &rows, &columns)
}

/// The determinant of the given rows and columns: the first row is expanded, minors of the later rows are
/// shared by their columns.
fn minor(g: &Graph, matrix: SquareMatrix<'_>, rows: &[usize], columns: &[usize]) -> Expr {
    let SquareMatrix { n, entries: x } = matrix;
    // known[S] is the minor of the last |S| rows and the columns S (a bit mask).
    let mut known: FxHashMap<u32, Expr> = FxHashMap::default();
    known.insert(0, g.one());
    for size in 1..=columns.len() {
        let row = rows[rows.len() - size];
        for mask in 0_u32..1 << columns.len() {
            if mask.count_ones() as usize != size {
                continue;
            }
            let mut sum = g.zero();
            let mut plus = true;
            for (bit, column) in columns.iter().enumerate() {
                if mask & (1 << bit) == 0 {
                    continue;
                }
                let term = g.mul(x[row * n + column], known[&(mask & !(1 << bit))]);
                sum = if plus { g.add(sum, term) } else { g.sub(sum, term) };
                plus = !plus;
            }
            known.insert(mask, sum);
        }
    }
    known[&((1 << columns.len()) - 1)]
}

/// $A^{-1}$ = adjugate over determinant, with the determinant.
pub(crate) fn inverse(g: &Graph, n: usize, x: &[Expr]) -> (Value, Expr) {
    let det = determinant(g, n, x);
    let without = |i: usize| (0..n).filter(|&k| k != i).collect::<Vec<usize>>();
    let entry = |k: usize| {
        let (i, j) = (k / n, k % n);
        // (A⁻¹)_ij = (−1)^{i+j} M_ji / det A
        let m = minor(g, SquareMatrix { n, entries: x }, &without(j), &without(i));
        let q = g.div(m, det);
        if (i + j) % 2 == 0 { q } else { g.neg(q) }
    };
    (Value::new(Shape::Matrix(n, n), (0..n * n).map(entry).collect()), det)
}

/// $(A \pm A^T)/2$
pub(crate) fn half(g: &Graph, n: usize, x: &[Expr], minus: bool) -> Value {
    let half = g.fraction(1, 2);
    let entry = |k: usize| {
        let (a, b) = (x[k], x[(k % n) * n + k / n]);
        match (minus, a == b) {
            (false, true) => a,
            (false, false) => g.mul(half, g.add(a, b)),
            (true, _) => g.mul(half, g.sub(a, b)),
        }
    };
    Value::new(Shape::Matrix(n, n), (0..n * n).map(entry).collect())
}

/// $u \times v$
pub(crate) fn cross(g: &Graph, u: &[Expr], v: &[Expr]) -> Value {
    let part = |i: usize, j: usize| g.sub(g.mul(u[i], v[j]), g.mul(u[j], v[i]));
    Value::Vector([part(1, 2), part(2, 0), part(0, 1)].into())
}

/// The matrix with $\hat v\,w = v \times w$.
pub(crate) fn hat(g: &Graph, v: &[Expr]) -> Value {
    let z = g.zero();
    let [a, b, c] = [v[0], v[1], v[2]];
    let entries = vec![z, g.neg(c), b, c, z, g.neg(a), g.neg(b), a, z];
    Value::new(Shape::Matrix(3, 3), entries)
}

/// The rotation by an angle about the axis 0, 1 or 2.
pub(crate) fn rotation_about(g: &Graph, axis: usize, angle: Expr) -> Value {
    let (s, c) = (g.sin(angle), g.cos(angle));
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut entries = vec![g.zero(); 9];
    entries[axis * 3 + axis] = g.one();
    entries[j * 3 + j] = c;
    entries[k * 3 + k] = c;
    entries[j * 3 + k] = g.neg(s);
    entries[k * 3 + j] = s;
    Value::new(Shape::Matrix(3, 3), entries)
}

/// Rodrigues: $R = 1\cos a + \hat n \sin a + n n^T(1 - \cos a)$ about the direction of `axis`.
pub(crate) fn rotation(g: &Graph, axis: &[Expr], angle: Expr) -> Value {
    let nonzero: Vec<usize> = (0..3).filter(|&i| axis[i] != g.zero()).collect();
    if let [only] = nonzero[..]
        && let Some(number) = g.number_of(axis[only])
    {
        let negative = number < pfaff_expr::number::integer(0);
        return rotation_about(g, only, if negative { g.neg(angle) } else { angle });
    }
    let square = g.dot(axis, axis);
    let unit = square == g.one() || g.vanishes_modulo_prime(g.sub(square, g.one()));
    let length = g.sqrt(square);
    let n: Vec<Expr> =
        if unit { axis.to_vec() } else { axis.iter().map(|&x| g.div(x, length)).collect() };
    let (s, c) = (g.sin(angle), g.cos(angle));
    let versine = g.sub(g.one(), c);
    let skew = hat(g, &n);
    let entry = |k: usize| {
        let (i, j) = (k / 3, k % 3);
        let outer = g.mul(g.mul(n[i], n[j]), versine);
        let turned = g.add(outer, g.mul(skew.entries()[k], s));
        if i == j { g.add(turned, c) } else { turned }
    };
    Value::new(Shape::Matrix(3, 3), (0..9).map(entry).collect())
}

#[cfg(test)]
mod tests {
    use pfaff_expr::Role;

    use super::*;

    fn numbers(g: &Graph, values: &[i64]) -> Vec<Expr> {
        values.iter().map(|&v| g.integer(v)).collect()
    }

    #[test]
    fn inverse_times_matrix_is_one_up_to_four_rows() {
        let g = Graph::new();
        for n in 1..=4 {
            let x: Vec<Expr> =
                (0..n * n).map(|k| g.symbol(&format!("a{k}"), Role::Free)).collect();
            let (inverse, _) = inverse(&g, n, &x);
            let a = Value::new(Shape::Matrix(n, n), x);
            let product = multiply(&g, &inverse, &a).expect("shapes fit");
            let difference = add(&g, &product, &identity(&g, n), true).expect("shapes fit");
            assert!(difference.entries().iter().all(|&e| g.vanishes_modulo_prime(e)), "{n}");
        }
    }

    #[test]
    fn determinant_of_numbers_is_exact() {
        let g = Graph::new();
        let x = numbers(&g, &[2, 0, 1, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9]);
        // Expanded by hand along the first row: 2·(−64) + 1·(−17)… checked with the Leibniz formula below.
        let mut leibniz = 0_i64;
        let v = [2_i64, 0, 1, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9];
        for p in 0..256_usize {
            let perm = [p & 3, (p >> 2) & 3, (p >> 4) & 3, (p >> 6) & 3];
            let inversions = (0..4)
                .flat_map(|i| (i + 1..4).map(move |j| (i, j)))
                .filter(|&(i, j)| perm[i] > perm[j])
                .count();
            let distinct = (0..4).all(|i| perm.contains(&i));
            if distinct {
                let product: i64 = (0..4).map(|i| v[i * 4 + perm[i]]).product();
                leibniz += if inversions % 2 == 0 { product } else { -product };
            }
        }
        assert_eq!(determinant(&g, 4, &x), g.integer(leibniz));
    }

    #[test]
    fn rotation_keeps_lengths_and_its_axis() {
        let g = Graph::new();
        let a = g.symbol("a", Role::Free);
        let axis = numbers(&g, &[2, -1, 2]);
        let r = rotation(&g, &axis, a);
        let product = multiply(&g, &transpose(&r), &r).expect("shapes fit");
        let one = identity(&g, 3);
        let difference = add(&g, &product, &one, true).expect("shapes fit");
        assert!(difference.entries().iter().all(|&e| g.vanishes_modulo_prime(e)));
        let turned = multiply(&g, &r, &Value::Vector(axis.clone().into())).expect("shapes fit");
        for (&x, &y) in turned.entries().iter().zip(&axis) {
            assert!(g.vanishes_modulo_prime(g.sub(x, y)));
        }
    }
}
