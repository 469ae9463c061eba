//! Helmholtz's test of a force, and the generalised potential where there is one.
//!
//! $\Lambda(q,\dot q,t)$ comes from a potential, $\Lambda_k = \frac{d}{dt}\frac{\partial U}{\partial\dot q^k} -
//! \frac{\partial U}{\partial q^k}$, exactly when
//!
//! $$ \frac{\partial\Lambda_k}{\partial\dot q^m} + \frac{\partial\Lambda_m}{\partial\dot q^k} = 0, \qquad
//!    \frac{\partial\Lambda_k}{\partial q^m} - \frac{\partial\Lambda_m}{\partial q^k}
//!      = \tfrac12\frac{d}{dt}\Big(\frac{\partial\Lambda_k}{\partial\dot q^m} -
//!        \frac{\partial\Lambda_m}{\partial\dot q^k}\Big) $$
//!
//! for all $k, m$ and all accelerations \[TZ06, after (19), with the minus sign put right\]. Then $\Lambda$
//! is affine in the velocities and $U = A_k(q,t)\,\dot q^k + V(q,t)$, found by integrating along rays from
//! $q = 0$ where $\Lambda$ is a polynomial in $q$, else coordinate by coordinate where the integrals are
//! elementary. The test is for the equations as they stand, with no integrating factor.

use pfaff_expr::{Expr, Role, ZeroTest};
use pfaff_model::Workspace;

use crate::algebra::antiderivative::antiderivative;
use crate::algebra::primitive::primitive;
use crate::lagrangian::motion::motion_direction;

/// What the test says.
#[derive(Clone, Debug, PartialEq)]
pub enum Helmholtz {
    /// The force has a potential: $U$, where its integrals were found.
    Potential(Option<Expr>),
    /// The first or second condition fails for this pair of coordinates.
    Fails {
        /// 1 or 2.
        condition: u8,
        /// $k$ and $m$.
        pair: (usize, usize),
    },
    /// A condition could not be decided.
    Undecided,
}

/// Tests a force, one component for each coordinate.
pub fn helmholtz(model: &Workspace, force: &[Expr]) -> Helmholtz {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let n = q.len();
    let slopes = g.jacobian(force, &v);
    let mut open = false;
    let mut fails = |e: Expr| match g.zero_test(e) {
        ZeroTest::Zero => false,
        ZeroTest::Nonzero { .. } => true,
        ZeroTest::Unknown => {
            open = true;
            false
        }
    };
    for k in 0..n {
        for m in k..n {
            if fails(g.add(slopes[k][m], slopes[m][k])) {
                return Helmholtz::Fails { condition: 1, pair: (k, m) };
            }
        }
    }
    let bends = g.jacobian(force, &q);
    let along = motion_direction(model);
    for k in 0..n {
        for m in k..n {
            let turn = g.sub(slopes[k][m], slopes[m][k]);
            // NOTE: second derivatives by velocities are skew in (k, m) by the first condition and symmetric in the
            // two velocities, hence zero: no acceleration is in the rate.
            let rate = g.mul(g.fraction(1, 2), g.directional(&[turn], &along)[0]);
            if fails(g.sub(g.sub(bends[k][m], bends[m][k]), rate)) {
                return Helmholtz::Fails { condition: 2, pair: (k, m) };
            }
        }
    }
    if open { Helmholtz::Undecided } else { Helmholtz::Potential(potential(model, force)) }
}

/// $U$ by integration, checked by differentiating it again.
fn potential(model: &Workspace, force: &[Expr]) -> Option<Expr> {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    let slopes: Vec<Vec<Expr>> =
        g.jacobian(force, &v).iter().map(|row| g.substitute(row, &still)).collect();
    let rest = g.substitute(force, &still);
    // ∂_k V = ∂_t A_k − Λ_k at rest.
    let gradient = |vector: &[Expr]| -> Vec<Expr> {
        let rates = vector.iter().map(|&a| g.derivative(a, model.time));
        rates.zip(&rest).map(|(rate, &e)| g.sub(rate, e)).collect()
    };
    let along_rays = || {
        // H_km = ∂Λ_k/∂v_m = ∂_m A_k − ∂_k A_m, so A_k = ∫₀¹ s q^m H_km(sq) ds, and V = ∫₀¹ q^k ∂_k V(sq) ds.
        let a: Option<Vec<Expr>> = slopes.iter().map(|h| ray(model, g.dot(h, &q), 1)).collect();
        let a = a?;
        let scalar = ray(model, g.dot(&gradient(&a), &q), 0)?;
        Some((a, scalar))
    };
    let by_coordinates = || {
        let a = axial(model, &slopes)?;
        let scalar = primitive(g, &gradient(&a), &q)?;
        Some((a, scalar))
    };
    let checked = |(a, scalar): (Vec<Expr>, Expr)| {
        let u = g.simplify(g.add(g.dot(&a, &v), scalar));
        let rates = g.directional(&g.gradient(u, &v), &motion_direction(model));
        let slopes = g.gradient(u, &q);
        let right =
            (0..q.len()).all(|k| g.is_zero(g.sub(g.sub(rates[k], slopes[k]), force[k])));
        right.then_some(u)
    };
    along_rays().and_then(checked).or_else(|| by_coordinates().and_then(checked))
}

/// $A$ with $\partial_m A_k - \partial_k A_m = H_{km}$ and $A_1 = 0$: what $H_{kj}$ leaves for $k > j$ is
/// integrated over $q^j$, one $j$ after the other, and depends on no earlier coordinate.
fn axial(model: &Workspace, slopes: &[Vec<Expr>]) -> Option<Vec<Expr>> {
    let g = &model.graph;
    let q = model.positions();
    let mut a = vec![g.zero(); q.len()];
    for j in 0..q.len() {
        for k in j + 1..q.len() {
            let turn = g.sub(g.derivative(a[k], q[j]), g.derivative(a[j], q[k]));
            let rest = g.simplify(g.sub(slopes[k][j], turn));
            a[k] = g.simplify(g.add(a[k], antiderivative(g, rest, q[j])?));
        }
    }
    Some(a)
}

/// $\int_0^1 s^{w-1}\,e(sq)\,ds$ for $e$ that has the factor $q$ already ($e(sq)/s$ is integrated with weight
/// $s^w$); `None` unless $e$ is a polynomial in $q$ of low degree.
fn ray(model: &Workspace, e: Expr, weight: i64) -> Option<Expr> {
    const DEGREE: i64 = 12;
    let g = &model.graph;
    let s = g.symbol("helmholtz ray", Role::Free);
    let scaled: Vec<(Expr, Expr)> =
        model.positions().into_iter().map(|q| (q, g.mul(s, q))).collect();
    let mut rest = g.substitute(&[e], &scaled)[0];
    let (mut sum, mut factorial) = (g.zero(), 1_i64);
    for degree in 0..=DEGREE {
        if g.is_zero(rest) {
            return Some(g.simplify(sum));
        }
        let at_zero = g.substitute(&[rest], &[(s, g.zero())])[0];
        let power = degree + weight;
        // What has the factor q vanishes with it.
        if power > 0 {
            let factor = g.fraction(1, factorial.checked_mul(power)?);
            sum = g.add(sum, g.mul(factor, g.simplify(at_zero)));
        }
        rest = g.derivative(rest, s);
        factorial = factorial.checked_mul(degree + 1)?;
    }
    None
}
