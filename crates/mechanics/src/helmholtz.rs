//! Helmholtz's test of a force, and the generalised potential where there is one.
//!
//! $\Lambda(q,\dot q,t)$ comes from a potential, $\Lambda_k = \frac{d}{dt}\frac{\partial U}{\partial\dot q^k} - \frac{\partial U}{\partial q^k}$, exactly when
//!
//! $$ \frac{\partial\Lambda_k}{\partial\dot q^m} + \frac{\partial\Lambda_m}{\partial\dot q^k} = 0, \qquad
//!    \frac{\partial\Lambda_k}{\partial q^m} - \frac{\partial\Lambda_m}{\partial q^k}
//!      = \tfrac12\frac{d}{dt}\Big(\frac{\partial\Lambda_k}{\partial\dot q^m} - \frac{\partial\Lambda_m}{\partial\dot q^k}\Big) $$
//!
//! for all $k, m$ and all accelerations \[TZ06, after (19), with the minus sign put right\]. Then $\Lambda$ is affine in the velocities and $U = A_k(q,t)\,\dot q^k + V(q,t)$, found by integrating along rays from
//! $q = 0$. The test is for the equations as they stand, with no integrating factor.

use pfaff_expr::{Expr, Role, ZeroTest};
use pfaff_model::Model;

/// What the test says.
#[derive(Clone, Debug, PartialEq)]
pub enum Helmholtz {
    /// The force has a potential: $U$, where it could be written down (a polynomial in the coordinates).
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
pub fn helmholtz(model: &Model, force: &[Expr]) -> Helmholtz {
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
    let along = crate::chetaev::motion(model);
    for k in 0..n {
        for m in k + 1..n {
            let turn = g.sub(slopes[k][m], slopes[m][k]);
            // The accelerations in d/dt must drop out by themselves.
            if g.gradient(turn, &v).into_iter().any(&mut fails) {
                return Helmholtz::Fails { condition: 2, pair: (k, m) };
            }
            let rate = g.mul(g.fraction(1, 2), g.directional(&[turn], &along)[0]);
            if fails(g.sub(g.sub(bends[k][m], bends[m][k]), rate)) {
                return Helmholtz::Fails { condition: 2, pair: (k, m) };
            }
        }
    }
    if open { Helmholtz::Undecided } else { Helmholtz::Potential(potential(model, force)) }
}

/// $U$ by integration along rays, checked by differentiating it again.
fn potential(model: &Model, force: &[Expr]) -> Option<Expr> {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    // H_km = ∂Λ_k/∂v_m = ∂_m A_k − ∂_k A_m, so A_k = ∫₀¹ s q^m H_km(sq) ds.
    let slopes = g.jacobian(force, &v);
    let vector: Option<Vec<Expr>> =
        slopes.iter().map(|row| ray(model, g.dot(&g.substitute(row, &still), &q), 1)).collect();
    let vector = vector?;
    // ∂_k V = ∂_t A_k − Λ_k at rest, and V = ∫₀¹ q^k ∂_k V(sq) ds.
    let rest = g.substitute(force, &still);
    let gradient: Vec<Expr> = vector
        .iter()
        .zip(&rest)
        .map(|(&a, &e)| g.sub(g.derivative(a, model.time), e))
        .collect();
    let scalar = ray(model, g.dot(&gradient, &q), 0)?;
    let u = g.simplify(g.add(g.dot(&vector, &v), scalar));
    let momenta = g.gradient(u, &v);
    let rates = g.directional(&momenta, &crate::chetaev::motion(model));
    let slopes = g.gradient(u, &q);
    let right = (0..q.len()).all(|k| g.is_zero(g.sub(g.sub(rates[k], slopes[k]), force[k])));
    right.then_some(u)
}

/// $\int_0^1 s^{w-1}\,e(sq)\,ds$ for $e$ that has the factor $q$ already ($e(sq)/s$ is integrated with weight $s^w$); `None` unless $e$ is a polynomial in $q$ of low degree.
fn ray(model: &Model, e: Expr, weight: i64) -> Option<Expr> {
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
        if power == 0 {
            // A part without q cannot have come with the factor q.
            if !g.is_zero(at_zero) {
                return None;
            }
        } else {
            let factor = g.fraction(1, factorial.checked_mul(power)?);
            sum = g.add(sum, g.mul(factor, g.simplify(at_zero)));
        }
        rest = g.derivative(rest, s);
        factorial = factorial.checked_mul(degree + 1)?;
    }
    None
}
