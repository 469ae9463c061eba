//! Affine bodies: square matrices of coordinates that stand in one of the words or functions of affine
//! bodies, and these functions.
//!
//! $\Omega = \dot\varphi\varphi^{-1}$, $\hat\Omega = \varphi^{-1}\dot\varphi$, $K = \varphi J\dot\varphi^T$,
//! $S = K - K^T$; a generalised force $Q$ on $\varphi$ has the moment $N = \varphi Q^T g^{-1}$, so that
//! $\varphi J\ddot\varphi^T = N$, and the co-moving one $\hat N = \varphi^{-1}N\varphi^{-T}$; $G = \varphi^T
//! g\varphi$; $\varphi = UA$ with $U^T gU = \eta$, $A$ being $\eta$-symmetric.
//! A body is watched: the run stops where $\det\varphi = 0$, unless an `event continue` looks at this determinant.

use pfaff_expr::{Expr, Role};

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::draft::WordUse;
use crate::elaborate::scope::Site;
use crate::model::{AffineBody, Direction, Event};
use crate::shape::algebra::{self as algebra, SquareMatrix};
use crate::shape::polar::{self as polar, Polar};
use crate::shape::{Shape, Value};
use crate::source::Span;

impl Elaborator<'_> {
    /// One of the functions of an affine body.
    pub(crate) fn body_function(&mut self, site: Site, name: &str, values: &[Value]) -> Value {
        let at = self.argument(site, 0);
        let (n, phi) = match &values[0] {
            Value::Matrix(n, m, x) if n == m => (*n, x.to_vec()),
            other => {
                let message =
                    format!("`{name}` takes a square matrix, not {}", other.describe());
                return self.error("E0301", self.span(at), message);
            }
        };
        let is_polar = matches!(
            name,
            "stretch" | "stretch_rate" | "rotation_part" | "polar_spin" | "singular_values"
        );
        self.body(at, &values[0], is_polar);
        if is_polar {
            return self.polar_function(site, name, n, values);
        }
        let phi = SquareMatrix { n, entries: &phi };
        self.body_matrix(site, name, phi, values).unwrap_or(Value::Poison)
    }

    fn body_matrix(
        &mut self,
        site: Site,
        name: &str,
        matrix: SquareMatrix<'_>,
        values: &[Value],
    ) -> Option<Value> {
        let SquareMatrix { n, entries: phi } = matrix;
        let at = self.argument(site, 0);
        let body = values[0].clone();
        let square = |x: Vec<Expr>| Some(Value::new(Shape::Matrix(n, n), x));
        let g = self.graph;
        match name {
            "green" => {
                let metric = self.symmetric(site, values, 1, "the metric", n)?;
                let weighted =
                    polar::product(g, n, &polar::transposed(n, phi), metric.entries());
                square(polar::product(g, n, &weighted, phi))
            }
            "gyration" | "comoving_gyration" => {
                let velocity = self.rate(site, &body);
                let inverse = self.inverse(at, n, phi);
                if velocity.is_poison() || inverse.is_poison() {
                    return None;
                }
                let (v, inverse) = (velocity.entries(), inverse.entries());
                square(match name {
                    "gyration" => polar::product(g, n, v, inverse),
                    _ => polar::product(g, n, inverse, v),
                })
            }
            "affine_spin" | "spin" => {
                let inertia = self.symmetric(site, values, 1, "the inertia", n)?;
                let velocity = self.rate(site, &body);
                if velocity.is_poison() {
                    return None;
                }
                let v = polar::transposed(n, velocity.entries());
                let weighted = polar::product(g, n, phi, inertia.entries());
                let k = polar::product(g, n, &weighted, &v);
                if name == "affine_spin" {
                    return square(k);
                }
                square((0..n * n).map(|i| g.sub(k[i], k[i % n * n + i / n])).collect())
            }
            "reaction_moment" => {
                let metric = self.symmetric(site, values, 1, "the metric", n)?;
                let force = self.reactions(site, phi)?;
                let moment = self.moment(site, matrix, &force, &metric)?;
                square(moment)
            }
            // `dipole`, `comoving_dipole`
            _ => {
                let metric = self.symmetric(site, values, 2, "the metric", n)?;
                let force = self.body_force(site, &values[1], matrix)?;
                let moment = self.moment(site, matrix, &force, &metric)?;
                if name == "dipole" {
                    return square(moment);
                }
                let inverse = self.inverse(at, n, phi);
                if inverse.is_poison() {
                    return None;
                }
                let right = polar::transposed(n, inverse.entries());
                let left = polar::product(g, n, inverse.entries(), &moment);
                square(polar::product(g, n, &left, &right))
            }
        }
    }

    /// $N = \varphi Q^T g^{-1}$
    fn moment(
        &mut self,
        site: Site,
        matrix: SquareMatrix<'_>,
        force: &[Expr],
        metric: &Value,
    ) -> Option<Vec<Expr>> {
        let SquareMatrix { n, entries: phi } = matrix;
        let inverse = self.inverse(site, n, metric.entries());
        if inverse.is_poison() {
            return None;
        }
        let g = self.graph;
        let pushed = polar::product(g, n, phi, &polar::transposed(n, force));
        Some(polar::product(g, n, &pushed, inverse.entries()))
    }

    /// The generalised force: given as a matrix, or $-\partial V/\partial\varphi$ of a potential.
    fn body_force(
        &mut self,
        site: Site,
        value: &Value,
        matrix: SquareMatrix<'_>,
    ) -> Option<Vec<Expr>> {
        let SquareMatrix { n, entries: phi } = matrix;
        let at = self.argument(site, 1);
        let g = self.graph;
        match value {
            Value::Scalar(e) if *e == g.zero() => Some(vec![g.zero(); n * n]),
            Value::Scalar(potential) => {
                let position = Role::Coordinate { order: 0 };
                let is_coordinate =
                    |&x: &Expr| g.symbol_of(x).is_some_and(|s| s.role == position);
                if !phi.iter().all(is_coordinate) {
                    let message =
                        "a potential gives a force only on a matrix of coordinates".into();
                    let hint =
                        "name the matrix of coordinates itself, or give the force as a matrix";
                    self.error_hint("E0409", self.span(site), message, hint);
                    return None;
                }
                Some(g.gradient(*potential, phi).into_iter().map(|x| g.neg(x)).collect())
            }
            other if other.shape() == Some(Shape::Matrix(n, n)) => {
                Some(other.entries().to_vec())
            }
            other => {
                let message = format!(
                    "the force on the body must be a {n}×{n} matrix or a potential, not {}",
                    other.describe()
                );
                self.error("E0301", self.span(at), message);
                None
            }
        }
    }

    /// `reaction(x)` of each entry.
    fn reactions(&mut self, site: Site, phi: &[Expr]) -> Option<Vec<Expr>> {
        if !self.place.allows_results() {
            let message = format!(
                "`reaction_moment` is a result of the motion, so {} cannot use it",
                self.subject()
            );
            let hint = "use results of the motion in `observe`, `event` and `draw`";
            self.error_hint("E0411", self.span(site), message, hint);
            return None;
        }
        let g = self.graph;
        let names: Option<Vec<String>> = phi
            .iter()
            .map(|&x| g.symbol_of(x).filter(|s| s.role == Role::Coordinate { order: 0 }))
            .map(|s| s.map(|s| s.name.clone()))
            .collect();
        let Some(names) = names else {
            let message = "`reaction_moment` takes a matrix of coordinates".into();
            self.error("E0409", self.span(site), message);
            return None;
        };
        let symbol = |name: &String| g.symbol(&format!("reaction({name})"), Role::Free);
        Some(names.iter().map(symbol).collect())
    }

    fn polar_function(&mut self, site: Site, name: &str, n: usize, values: &[Value]) -> Value {
        if !(2..=3).contains(&n) {
            let message = format!("`{name}` takes a 2×2 or 3×3 matrix, not a {n}×{n} one");
            return self.error("E0308", self.span(site), message);
        }
        if !self.spend(2000, site) {
            return Value::Poison;
        }
        let Some(frame) = self.frame(site, n, values) else { return Value::Poison };
        let g = self.graph;
        let plain = frame.enter(self, n, values[0].entries());
        let parts: Polar = polar::polar(g, n, &plain);
        let square = |x: Vec<Expr>| Value::new(Shape::Matrix(n, n), x);
        match name {
            "singular_values" => Value::Vector(parts.singular_values.into()),
            "stretch" => square(frame.leave_body(self, n, &parts.stretch)),
            "rotation_part" => square(frame.leave(self, n, &parts.rotation)),
            _ => {
                let velocity = self.rate(site, &values[0]);
                if velocity.is_poison() {
                    return Value::Poison;
                }
                let velocity = frame.enter(self, n, velocity.entries());
                let spin = polar::polar_spin(g, n, &parts, &velocity);
                if name == "polar_spin" {
                    return square(frame.leave_body(self, n, &spin));
                }
                // Ȧ = Uᵀφ̇ − ω̂A
                let w = polar::product(g, n, &polar::transposed(n, &parts.rotation), &velocity);
                let turned = polar::product(g, n, &spin, &parts.stretch);
                let rate: Vec<Expr> = w.iter().zip(turned).map(|(&x, y)| g.sub(x, y)).collect();
                square(frame.leave_body(self, n, &rate))
            }
        }
    }

    /// Roots of the metrics $g = PP^T$ and $\eta = LL^T$; in $\varphi' = P^T\varphi L^{-T}$ both are the identity.
    fn frame(&mut self, site: Site, n: usize, values: &[Value]) -> Option<Frame> {
        let mut roots = [None, None];
        for k in 1..values.len().min(3) {
            let what = if k == 1 { "the metric" } else { "the metric of the body" };
            let metric = self.symmetric(site, values, k, what, n)?;
            let entries = metric.entries();
            let at = self.argument(site, k);
            if entries.iter().any(|&e| self.constant(e).is_none()) {
                let message = format!("{what} of a polar decomposition must be constant");
                self.error("E0306", self.span(at), message);
                return None;
            }
            let root = polar::root(self.graph, n, entries);
            let positive = (0..n).all(|i| {
                self.constant(root[i * n + i])
                    .is_some_and(|c| c.value.is_finite() && c.value > 0.0)
            });
            if !positive {
                self.error("E0409", self.span(at), format!("{what} is not positive definite"));
                return None;
            }
            let inverse = self.inverse(at, n, &root).entries().to_vec();
            roots[k - 1] = Some((root, inverse));
        }
        let [space, body] = roots;
        Some(Frame { space, body })
    }

    /// The argument `k` as a symmetric matrix that messages call `what`, the identity where it is missing.
    /// Where entries are equal by value, the upper one stands for both.
    pub(crate) fn symmetric(
        &mut self,
        site: Site,
        values: &[Value],
        k: usize,
        what: &str,
        n: usize,
    ) -> Option<Value> {
        let Some(value) = values.get(k) else { return Some(algebra::identity(self.graph, n)) };
        let at = self.argument(site, k);
        let entries = match value {
            Value::Poison => return None,
            _ if value.shape() == Some(Shape::Matrix(n, n)) => value.entries(),
            other => {
                let message =
                    format!("{what} must be a {n}×{n} matrix, not {}", other.describe());
                self.error("E0409", self.span(at), message);
                return None;
            }
        };
        let mut symmetric = entries.to_vec();
        for i in 0..n {
            for j in i + 1..n {
                let (upper, lower) = (entries[i * n + j], entries[j * n + i]);
                let difference = self.graph.sub(upper, lower);
                let equal = self.graph.vanishes_modulo_prime(difference)
                    || self.constant(difference).is_some_and(|c| c.value == 0.0);
                if !equal {
                    let message = format!(
                        "{what} is not symmetric: its entries ({0},{1}) and ({1},{0}) differ",
                        i + 1,
                        j + 1
                    );
                    self.error("E0409", self.span(at), message);
                    return None;
                }
                symmetric[j * n + i] = upper;
            }
        }
        Some(value.with_entries(symmetric))
    }

    /// Takes a matrix for a body if it is one of coordinates, all of them in their order; gives its place
    /// among the bodies.
    pub(crate) fn body(&mut self, site: Site, value: &Value, polar: bool) -> Option<usize> {
        let k = self.take_body(site, value)?;
        let body = &mut self.draft.affine.bodies[k];
        (body.polar, body.named) = (body.polar || polar, true);
        Some(k)
    }

    /// The same, where no word or function names it.
    pub(crate) fn take_body(&mut self, site: Site, value: &Value) -> Option<usize> {
        let Value::Matrix(n, m, phi) = value else { return None };
        if n != m || *n > algebra::MAX_DETERMINANT {
            return None;
        }
        let first = self.draft.coordinates.iter().position(|c| c.position == phi[0])?;
        let own = self.draft.coordinates.get(first..first + n * n)?;
        if own.iter().zip(phi.iter()).any(|(c, &x)| c.position != x) {
            return None;
        }
        if let Some(k) = self.draft.affine.bodies.iter().position(|b| b.first == first) {
            return Some(k);
        }
        let name = own[0].name.split('[').next().unwrap_or_default().to_owned();
        let determinant = algebra::determinant(self.graph, *n, phi);
        let span = self.span(site);
        self.draft.affine.bodies.push(AffineBody {
            name,
            size: *n,
            first,
            determinant,
            polar: false,
            named: false,
            let_go: false,
            span,
        });
        Some(self.draft.affine.bodies.len() - 1)
    }

    /// Every body is watched, and what two words leave together is said.
    pub(crate) fn finish_bodies(&mut self) {
        self.finish_determinants();
        for body in &mut self.draft.affine.bodies {
            let det = body.determinant;
            let is_let_go = |(e, _): &(Expr, Span)| {
                self.graph.vanishes_modulo_prime(self.graph.sub(*e, det))
                    || self.graph.vanishes_modulo_prime(self.graph.add(*e, det))
            };
            body.let_go = self.draft.affine.let_go.iter().any(is_let_go);
            if body.let_go {
                continue;
            }
            self.draft.outputs.events.push(Event {
                name: format!("collapse({})", body.name),
                expr: det,
                direction: Direction::Both,
                stop: true,
                span: body.span,
            });
        }
        let words = std::mem::take(&mut self.draft.affine.words);
        for (k, later) in words.iter().enumerate() {
            for earlier in words[..k].iter().filter(|w| w.body == later.body) {
                self.remains(earlier, later);
            }
        }
    }

    fn remains(&mut self, earlier: &WordUse, later: &WordUse) {
        if let (Some(a), Some(b)) = (&earlier.green, &later.green) {
            let same = a
                .iter()
                .zip(b)
                .all(|(&a, &b)| self.graph.vanishes_modulo_prime(self.graph.sub(a, b)));
            if !same {
                return;
            }
        }
        let pair = [earlier.word.as_str(), later.word.as_str()];
        let both = |a: &str, b: &str| pair == [a, b] || pair == [b, a];
        let left = if both("isochoric", "conformal") {
            "only rigid motions: they keep volume and shape; `gyroscopic` alone says the same"
        } else if both("gyroscopic", "isochoric") || both("gyroscopic", "conformal") {
            "only rigid motions: `gyroscopic` alone already keeps volume and shape"
        } else if both("gyroscopic", "rotation_free") {
            "no motion at all, neither rotations nor deformations"
        } else if both("conformal", "rotation_free") {
            "only changes of size, without rotation"
        } else if both("isochoric", "rotation_free") {
            "only deformations without rotation that keep the volume"
        } else {
            return;
        };
        let name = self.draft.affine.bodies[later.body].name.clone();
        let message = format!(
            "`{}` and `{}` together leave `{name}` {left}",
            earlier.constraint, later.constraint
        );
        let warning = Diagnostic::warning("E0418", later.span, message)
            .with_note(earlier.span, "the other constraint".into());
        self.report(warning);
    }
}

/// See [`Elaborator::frame`]: the roots with their inverses.
struct Frame {
    space: Option<(Vec<Expr>, Vec<Expr>)>,
    body: Option<(Vec<Expr>, Vec<Expr>)>,
}

impl Frame {
    /// $P^T x L^{-T}$
    fn enter(&self, e: &Elaborator<'_>, n: usize, x: &[Expr]) -> Vec<Expr> {
        let mut x = x.to_vec();
        if let Some((p, _)) = &self.space {
            x = polar::product(e.graph, n, &polar::transposed(n, p), &x);
        }
        if let Some((_, inverse)) = &self.body {
            x = polar::product(e.graph, n, &x, &polar::transposed(n, inverse));
        }
        x
    }

    /// $P^{-T} x L^T$
    fn leave(&self, e: &Elaborator<'_>, n: usize, x: &[Expr]) -> Vec<Expr> {
        let mut x = x.to_vec();
        if let Some((_, inverse)) = &self.space {
            x = polar::product(e.graph, n, &polar::transposed(n, inverse), &x);
        }
        if let Some((l, _)) = &self.body {
            x = polar::product(e.graph, n, &x, &polar::transposed(n, l));
        }
        x
    }

    /// $L^{-T} x L^T$
    fn leave_body(&self, e: &Elaborator<'_>, n: usize, x: &[Expr]) -> Vec<Expr> {
        let Some((l, inverse)) = &self.body else { return x.to_vec() };
        let left = polar::product(e.graph, n, &polar::transposed(n, inverse), x);
        polar::product(e.graph, n, &left, &polar::transposed(n, l))
    }
}
