//! Force densities: a force per mass at the points of a body into generalised forces.
//!
//! For points $x(q, a)$ and a force $\mathcal F$ per mass, $Q_k = \int \mathcal F\cdot\partial x/\partial
//! q_k\,dm(a)$; with $x = r + \varphi a$ this is $F = \int\mathcal F\,dm$ on $r$ and $\int\mathcal F a^T\,dm$
//! on $\varphi$.
//! Over point masses it is a sum. Over a solid the integrand must be a polynomial in $a$, and $\int
//! a^\alpha\,dm$ is exact: odd powers give 0, a box of edges $l_i$ gives
//! $M\prod (l_i/2)^{\alpha_i}/(\alpha_i + 1)$, an ellipsoid of half-axes $l_i$ in $n$ dimensions $M\prod
//! l_i^{\alpha_i}(\alpha_i - 1)!!\,/\,((n + 2)(n + 4)\cdots(n + |\alpha|))$.

use pfaff_expr::{Expr, Role};

use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::model::ForceOrigin;
use crate::shape::Value;
use crate::syntax::{ExprId, Name, NodeKind};

/// The highest degree of a density in the components of its material point, with one more for the lever arm.
const HIGHEST_DEGREE: usize = 12;

/// How a body is written.
const FORMS: &str = "a body is `box(M, a, b, c)`, `ellipsoid(M, a, b, c)`, `ball(M, r)`, `disc(M, r)` or \
                     `points([[m, x, y, z], …])`";

/// Where the material points are.
enum Spread {
    /// Weights and places.
    Points(Vec<(Expr, Vec<Expr>)>),
    Solid {
        is_box: bool,
        mass: Expr,
        lengths: Vec<Expr>,
    },
}

impl Spread {
    fn dimension(&self) -> usize {
        match self {
            Self::Points(points) => points.first().map_or(0, |(_, place)| place.len()),
            Self::Solid { lengths, .. } => lengths.len(),
        }
    }
}

impl Elaborator<'_> {
    /// `force density at POINT for NAME in BODY: FORCE`
    pub(crate) fn force_density(
        &mut self,
        point: Site,
        name: Name,
        body: ExprId,
        site: Site,
    ) -> Option<(Vec<Expr>, ForceOrigin)> {
        self.speak_of("a force density".into());
        let spread = self.spread(Site { part: 0, id: body })?;
        if !self.may_bind(0, name) {
            return None;
        }
        let text = self.own_name(name);
        // NOTE: read as coordinates, so that conditions on them stay open; their velocities are zero.
        let g = self.graph;
        let own: Vec<Expr> = (1..=spread.dimension())
            .map(|k| g.symbol(&format!("{text}[{k}]"), Role::Coordinate { order: 0 }))
            .collect();
        let before = self.stacks.locals.len();
        self.stacks.locals.push((name.symbol, Value::Vector(own.clone().into())));
        let pair = self.point_and_force(point, site);
        self.stacks.locals.truncate(before);
        let (position, force) = pair?;
        let still: Vec<(Expr, Expr)> =
            own.iter().filter_map(|&a| Some((g.rate(a)?, g.zero()))).collect();
        let force = g.substitute(&force, &still);
        if !position.iter().any(|&x| g.contains(x, &own)) {
            let message = format!("the point of a force density does not depend on `{text}`");
            let hint = format!("write `force density at r + phi*{text} for {text} in …`");
            self.error_hint("E0419", self.span(point), message, &hint);
            return None;
        }
        self.see_spread(point, &position, &own);
        match spread {
            Spread::Points(points) => {
                let (position, force) = stacked(g, &own, &position, &force, &points);
                let components = self.pulled_back(&position, &force);
                Some((components, ForceOrigin::Point { position, force }))
            }
            Spread::Solid { is_box, mass, lengths } => {
                let moment = |powers: &[usize]| {
                    let share = if is_box {
                        of_box(powers)
                    } else {
                        of_ellipsoid(lengths.len(), powers)
                    };
                    let scaled = powers
                        .iter()
                        .zip(&lengths)
                        .filter(|(p, _)| **p > 0)
                        .fold(mass, |m, (&p, &l)| g.mul(m, g.pow(l, g.integer(p as i64))));
                    g.mul(g.fraction(share.0, share.1), scaled)
                };
                let mut components = Vec::new();
                let mut degree = 0;
                for q in self.pulled_back(&position, &force) {
                    if !self.spend(200, site) {
                        return None;
                    }
                    let Some((sum, d)) = self.integrated(q, &own, &moment) else {
                        let message = format!(
                            "over a solid body the density must be a polynomial in `{text}`, of degree {} at most",
                            HIGHEST_DEGREE - 1
                        );
                        let hint = "give the points and weights of a quadrature rule instead: \
                                    `points([[w, x, y, z], …])`";
                        self.error_hint("E0419", self.span(site), message, hint);
                        return None;
                    };
                    degree = degree.max(d);
                    components.push(sum);
                }
                // The audit sees a rule of degree three where that is exact, and else the components.
                let origin = if degree <= 3 {
                    let rule = rule_of_degree_three(g, is_box, mass, &lengths);
                    let (position, force) = stacked(g, &own, &position, &force, &rule);
                    ForceOrigin::Point { position, force }
                } else {
                    ForceOrigin::Components
                };
                Some((components, origin))
            }
        }
    }

    /// The integral of a polynomial in `own` and its degree; `None` if it is none.
    fn integrated(
        &self,
        e: Expr,
        own: &[Expr],
        moment: &dyn Fn(&[usize]) -> Expr,
    ) -> Option<(Expr, usize)> {
        let g = self.graph;
        let mut terms: Vec<(Vec<usize>, Expr)> = vec![(Vec::new(), e)];
        for &a in own {
            let mut next = Vec::new();
            for (powers, e) in terms {
                let mut rest = e;
                let below: usize = powers.iter().sum();
                for k in 0..=HIGHEST_DEGREE + 1 {
                    if g.vanishes_modulo_prime(rest) {
                        break;
                    }
                    if below + k > HIGHEST_DEGREE {
                        return None;
                    }
                    let coefficient = g.substitute(&[rest], &[(a, g.zero())])[0];
                    next.push(([&powers[..], &[k]].concat(), coefficient));
                    // The Taylor coefficient of order k + 1 is what is left, divided by k + 1.
                    rest = g.mul(g.fraction(1, k as i64 + 1), g.derivative(rest, a));
                }
            }
            terms = next;
        }
        // NOTE: the derivatives of |a| vanish from the second on, and it is no polynomial.
        let monomial = |powers: &[usize]| {
            let factors = powers.iter().zip(own).filter(|(p, _)| **p > 0);
            factors.fold(g.one(), |m, (&p, &a)| g.mul(m, g.pow(a, g.integer(p as i64))))
        };
        let polynomial = g.sum(terms.iter().map(|(p, c)| g.mul(*c, monomial(p))));
        if !g.vanishes_modulo_prime(g.sub(e, polynomial)) {
            return None;
        }
        let degree = terms.iter().map(|(p, _)| p.iter().sum()).max().unwrap_or(0);
        let even = terms.iter().filter(|(p, _)| p.iter().all(|p| p % 2 == 0));
        Some((g.sum(even.map(|(p, c)| g.mul(moment(p), *c))), degree))
    }

    /// The body that the points belong to.
    fn spread(&mut self, site: Site) -> Option<Spread> {
        let NodeKind::Call { arguments, .. } = self.kind(site) else {
            let message = "a force density needs a body to be spread over".into();
            self.error_hint("E0419", self.span(site), message, FORMS);
            return None;
        };
        let word = self.called(site);
        let wanted = match word.as_str() {
            "box" | "ellipsoid" => 3..=4,
            "ball" | "disc" => 2..=2,
            "points" => 1..=1,
            _ => {
                let message = format!("there is no body `{word}`");
                self.error_hint("E0419", self.span(site), message, FORMS);
                return None;
            }
        };
        if !wanted.contains(&arguments.len()) {
            let message = format!("`{word}` does not take {} arguments", arguments.len());
            self.error_hint("E0419", self.span(site), message, FORMS);
            return None;
        }
        let mut values = Vec::new();
        for k in 0..arguments.len() {
            let at = self.argument(site, k);
            let value = self.read(at, Place::Force);
            if value.is_poison() {
                return None;
            }
            if value.entries().iter().any(|&e| self.constant(e).is_none()) {
                let message = "the body of a force density must be constant".into();
                self.error("E0419", self.span(at), message);
                return None;
            }
            values.push(value);
        }
        if word == "points" {
            let (n, x) = self.point_rows(site, &word, &values[0])?;
            let points = x.chunks(n + 1).map(|row| (row[0], row[1..].to_vec()));
            return Some(Spread::Points(points.collect()));
        }
        let (mass, lengths) = self.measures(site, &word, &values)?;
        Some(Spread::Solid { is_box: word == "box", mass, lengths })
    }
}

/// Forces at many points as one force at their stacked places.
fn stacked(
    g: &pfaff_expr::Graph,
    own: &[Expr],
    position: &[Expr],
    force: &[Expr],
    points: &[(Expr, Vec<Expr>)],
) -> (Vec<Expr>, Vec<Expr>) {
    let (mut all, mut forces) = (Vec::new(), Vec::new());
    for (weight, place) in points {
        let here: Vec<(Expr, Expr)> = own.iter().copied().zip(place.iter().copied()).collect();
        all.extend(g.substitute(position, &here));
        forces.extend(g.substitute(force, &here).into_iter().map(|f| g.mul(*weight, f)));
    }
    (all, forces)
}

/// Points and weights that integrate polynomials of degree 3 and less: the corners of a smaller box, or two
/// points on each axis of an ellipsoid.
fn rule_of_degree_three(
    g: &pfaff_expr::Graph,
    is_box: bool,
    mass: Expr,
    lengths: &[Expr],
) -> Vec<(Expr, Vec<Expr>)> {
    let n = lengths.len();
    let arm = |i: usize, square: Expr, negative: bool| {
        let a = g.mul(lengths[i], g.sqrt(square));
        if negative { g.neg(a) } else { a }
    };
    if is_box {
        let weight = g.mul(g.fraction(1, 1 << n), mass);
        let corner =
            |k: usize| (0..n).map(|i| arm(i, g.fraction(1, 12), k >> i & 1 == 1)).collect();
        return (0..1_usize << n).map(|k| (weight, corner(k))).collect();
    }
    let weight = g.mul(g.fraction(1, 2 * n as i64), mass);
    let square = g.fraction(n as i64, n as i64 + 2);
    let end = |k: usize| {
        let entry = |i: usize| if i == k / 2 { arm(i, square, k % 2 == 1) } else { g.zero() };
        (0..n).map(entry).collect()
    };
    (0..2 * n).map(|k| (weight, end(k))).collect()
}

/// $\prod 2^{-\alpha_i}/(\alpha_i + 1)$ for even powers.
fn of_box(powers: &[usize]) -> (i64, i64) {
    let factor = |&p: &usize| (1_i64 << p) * (p as i64 + 1);
    (1, powers.iter().map(factor).product())
}

/// $\prod(\alpha_i - 1)!!\,/\,((n + 2)\cdots(n + |\alpha|))$ for even powers.
fn of_ellipsoid(n: usize, powers: &[usize]) -> (i64, i64) {
    let odd = |&p: &usize| (1..p as i64).step_by(2).product::<i64>();
    let total: usize = powers.iter().sum();
    let below = (n + 2..=n + total).step_by(2).map(|k| k as i64).product();
    (powers.iter().map(odd).product(), below)
}
