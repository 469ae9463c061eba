//! The polar decomposition $\varphi = UA$ of a 2×2 or 3×3 matrix of expressions, in closed form.
//!
//! $G = \varphi^T\varphi$, $A = \sqrt G$ positive, $U$ orthogonal with $\det U =
//! \operatorname{sign}\det\varphi = \sigma$. With the invariants I, II, III of $A$ and the matrix of
//! cofactors
//! $\operatorname{cof}\varphi$ the theorem of Cayley and Hamilton gives
//!
//! - 2×2: $U = (\varphi + \sigma\operatorname{cof}\varphi)/\mathrm I$;
//! - 3×3: $A = (\mathrm{I\,III} + (\mathrm I^2 - \mathrm{II})G - G^2)/(\mathrm{I\,II} - \mathrm{III})$, $U =
//!   (\mathrm I\varphi - \varphi A + \sigma\operatorname{cof}\varphi)/\mathrm{II}$,
//!
//! without any inverse of $\varphi$: near $\det\varphi = 0$ both keep their digits, and $U$ is lost only
//! where its direction jumps. The eigenvalues of a 3×3 $G$ are
//! $\operatorname{tr}G/3 + 2\sqrt{J_2/3}\cos(\theta - 2\pi k/3)$, $3\theta =
//! \operatorname{atan2}(\sqrt\Delta, 3\sqrt3 J_3)$; the discriminant $\Delta$ is written as the sum of
//! squares of
//! the 3×3 minors of the rows $(1, G, G^2)$ (the Gram determinant of these matrices), so that equal
//! eigenvalues cost no digits.

use pfaff_expr::{Binary, Expr, Graph, Relation, Unary};

use crate::shape::algebra;

/// The parts of $\varphi = UA$, matrices by rows.
pub(crate) struct Polar {
    /// $U$
    pub(crate) rotation: Vec<Expr>,
    /// $A$
    pub(crate) stretch: Vec<Expr>,
    /// The eigenvalues of $A$, largest first.
    pub(crate) singular_values: Vec<Expr>,
}

/// Decomposes an `n`×`n` matrix, `n` = 2 or 3.
pub(crate) fn polar(g: &Graph, n: usize, phi: &[Expr]) -> Polar {
    if n == 2 { polar_2(g, phi) } else { polar_3(g, phi) }
}

/// $\hat\omega = U^T\dot U$ from $A\hat\omega + \hat\omega A = U^T\dot\varphi - \dot\varphi^T U$.
pub(crate) fn polar_spin(g: &Graph, n: usize, parts: &Polar, velocity: &[Expr]) -> Vec<Expr> {
    let w = product(g, n, &transposed(n, &parts.rotation), velocity);
    let twice = |i: usize, j: usize| g.sub(w[i * n + j], w[j * n + i]);
    let a = &parts.stretch;
    let trace = g.sum((0..n).map(|i| a[i * n + i]));
    if n == 2 {
        let rate = g.div(twice(0, 1), trace);
        return vec![g.zero(), rate, g.neg(rate), g.zero()];
    }
    // A hat(w) + hat(w) A = hat((tr A − A) w)
    let matrix: Vec<Expr> =
        (0..9).map(|k| if k % 4 == 0 { g.sub(trace, a[k]) } else { g.neg(a[k]) }).collect();
    let (inverse, _) = algebra::inverse(g, 3, &matrix);
    let vector = [twice(2, 1), twice(0, 2), twice(1, 0)];
    let rate: Vec<Expr> =
        (0..3).map(|i| g.dot(&inverse.entries()[3 * i..3 * i + 3], &vector)).collect();
    algebra::hat(g, &rate).entries().to_vec()
}

/// $AB$ of square matrices by rows.
pub(crate) fn product(g: &Graph, n: usize, a: &[Expr], b: &[Expr]) -> Vec<Expr> {
    (0..n * n)
        .map(|k| g.sum((0..n).map(|l| g.mul(a[k / n * n + l], b[l * n + k % n]))))
        .collect()
}

/// $A^T$
pub(crate) fn transposed(n: usize, a: &[Expr]) -> Vec<Expr> {
    (0..n * n).map(|k| a[k % n * n + k / n]).collect()
}

/// The lower triangle $L$ of $\eta = LL^T$.
pub(crate) fn root(g: &Graph, n: usize, eta: &[Expr]) -> Vec<Expr> {
    let mut l = vec![g.zero(); n * n];
    for i in 0..n {
        for j in 0..=i {
            let known = g.sum((0..j).map(|k| g.mul(l[i * n + k], l[j * n + k])));
            let rest = g.sub(eta[i * n + j], known);
            l[i * n + j] = if i == j { g.sqrt(rest) } else { g.div(rest, l[j * n + j]) };
        }
    }
    l
}

/// 1 or −1: which kind of $U$ it is.
fn orientation(g: &Graph, det: Expr) -> Expr {
    g.choose(g.compare(Relation::Less, det, g.zero()), g.integer(-1), g.one())
}

fn polar_2(g: &Graph, phi: &[Expr]) -> Polar {
    let [a, b, c, d] = [phi[0], phi[1], phi[2], phi[3]];
    let det = algebra::determinant(g, 2, phi);
    let sigma = orientation(g, det);
    let cofactors = [d, g.neg(c), g.neg(b), a];
    let sum: Vec<Expr> =
        phi.iter().zip(cofactors).map(|(&x, y)| g.add(x, g.mul(sigma, y))).collect();
    let length = |x: Expr, y: Expr| g.sqrt(g.add(g.mul(x, x), g.mul(y, y)));
    let norm = length(sum[0], sum[2]);
    let rotation: Vec<Expr> = sum.iter().map(|&x| g.div(x, norm)).collect();
    let stretch = stretched(g, 2, &rotation, phi);
    let half = g.fraction(1, 2);
    // The sum and the difference of the singular values, up to order and sign.
    let p = length(g.add(a, d), g.sub(c, b));
    let m = length(g.sub(a, d), g.add(b, c));
    let large = g.mul(half, g.add(p, m));
    let small = g.mul(half, g.unary(Unary::Abs, g.sub(p, m)));
    Polar { rotation, stretch, singular_values: vec![large, small] }
}

/// sym($U^T\varphi$)
fn stretched(g: &Graph, n: usize, rotation: &[Expr], phi: &[Expr]) -> Vec<Expr> {
    let a = product(g, n, &transposed(n, rotation), phi);
    algebra::half(g, n, &a, false).entries().to_vec()
}

fn polar_3(g: &Graph, phi: &[Expr]) -> Polar {
    let n = 3;
    let det = algebra::determinant(g, n, phi);
    let sigma = orientation(g, det);
    let green = product(g, n, &transposed(n, phi), phi);
    let square = product(g, n, &green, &green);
    let [first, second] = largest_eigenvalues(g, &green, &square);
    let root = |x: Expr| g.sqrt(g.binary(Binary::Max, x, g.zero()));
    let (s1, s2) = (root(first), root(second));
    let volume = g.unary(Unary::Abs, det);
    // NOTE: s₃ from the volume keeps the digits that the smallest eigenvalue of G has lost.
    let s3 = g.div(volume, g.mul(s1, s2));
    let one = g.sum([s1, s2, s3]);
    let two = g.sum([g.mul(s1, s2), g.mul(s2, s3), g.mul(s1, s3)]);
    let below = g.sub(g.mul(one, two), volume);
    let middle = g.sub(g.mul(one, one), two);
    let stretch: Vec<Expr> = (0..9)
        .map(|k| {
            let unit = if k % 4 == 0 { g.mul(one, volume) } else { g.zero() };
            let sum = g.sub(g.add(unit, g.mul(middle, green[k])), square[k]);
            g.div(sum, below)
        })
        .collect();
    let moved = product(g, n, phi, &stretch);
    let rotation: Vec<Expr> = (0..9)
        .map(|k| {
            let cofactor = g.mul(sigma, cofactor(g, phi, k / 3, k % 3));
            let sum = g.add(g.sub(g.mul(one, phi[k]), moved[k]), cofactor);
            g.div(sum, two)
        })
        .collect();
    Polar { rotation, stretch, singular_values: vec![s1, s2, s3] }
}

fn cofactor(g: &Graph, x: &[Expr], i: usize, j: usize) -> Expr {
    let (a, b, c, d) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
    g.sub(g.mul(x[3 * a + c], x[3 * b + d]), g.mul(x[3 * a + d], x[3 * b + c]))
}

/// The two largest eigenvalues of a symmetric 3×3 matrix, given its square too.
fn largest_eigenvalues(g: &Graph, x: &[Expr], square: &[Expr]) -> [Expr; 2] {
    let third = g.fraction(1, 3);
    let mean = g.mul(third, g.sum([x[0], x[4], x[8]]));
    let deviator: Vec<Expr> =
        (0..9).map(|k| if k % 4 == 0 { g.sub(x[k], mean) } else { x[k] }).collect();
    let squared = |e: Expr| g.mul(e, e);
    let off = g.sum([1, 2, 5].map(|k| squared(x[k])));
    let on = g.sum([(0, 4), (4, 8), (8, 0)].map(|(a, b)| squared(g.sub(x[a], x[b]))));
    let j2 = g.add(off, g.mul(g.fraction(1, 6), on));
    let j3 = algebra::determinant(g, 3, &deviator);
    let sine = g.sqrt(discriminant(g, x, square));
    let cosine = g.mul(g.mul(g.integer(3), g.sqrt(g.integer(3))), j3);
    let angle = g.mul(third, g.binary(Binary::Atan2, sine, cosine));
    let radius = g.mul(g.integer(2), g.sqrt(g.mul(third, j2)));
    let turn = g.mul(g.fraction(2, 3), g.pi());
    let at = |angle: Expr| g.add(mean, g.mul(radius, g.cos(angle)));
    [at(angle), at(g.sub(angle, turn))]
}

/// $\prod_{i<j}(\lambda_i - \lambda_j)^2$ as a sum of squares: off-diagonal entries stand in the matrices
/// twice, so each counts with weight 2.
fn discriminant(g: &Graph, x: &[Expr], square: &[Expr]) -> Expr {
    let entries = [0, 4, 8, 1, 2, 5];
    let unit = |e: usize| if e < 3 { g.one() } else { g.zero() };
    let mut terms = Vec::new();
    for a in 0..6 {
        for b in a + 1..6 {
            for c in b + 1..6 {
                let columns = [a, b, c];
                if a >= 3 {
                    continue;
                }
                let rows: Vec<Expr> = columns
                    .map(unit)
                    .into_iter()
                    .chain(columns.map(|e| x[entries[e]]))
                    .chain(columns.map(|e| square[entries[e]]))
                    .collect();
                let minor = algebra::determinant(g, 3, &rows);
                let twofold = columns.iter().filter(|&&e| e >= 3).count() as u32;
                let weight = g.integer(1 << twofold);
                terms.push(g.mul(weight, g.mul(minor, minor)));
            }
        }
    }
    g.sum(terms)
}
