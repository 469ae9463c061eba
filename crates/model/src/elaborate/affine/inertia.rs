//! Second moments of mass $J = \int a\,a^T\,dm$ of points and of simple bodies, about their centre of mass.
//!
//! A box of edges $a_i$ has $J_{ii} = Ma_i^2/12$; an ellipsoid of half-axes $a_i$ has $Ma_i^2/5$, an elliptic
//! disc $Ma_i^2/4$.

use pfaff_expr::Expr;

use crate::elaborate::Elaborator;
use crate::elaborate::scope::Site;
use crate::shape::{Shape, Value};

impl Elaborator<'_> {
    /// One of the functions that make an inertia, or what goes with it.
    pub(crate) fn inertia(&mut self, site: Site, name: &str, values: &[Value]) -> Value {
        match name {
            "mass_of_points" | "centre_of_points" | "inertia_points" => {
                self.points(site, name, &values[0])
            }
            _ => self.solid(site, name, values),
        }
    }

    /// Rows `[m, x, y]` or `[m, x, y, z]`.
    fn points(&mut self, site: Site, name: &str, value: &Value) -> Value {
        let at = self.argument(site, 0);
        let Some((n, x)) = self.point_rows(site, name, value) else { return Value::Poison };
        let (g, rows) = (self.graph, x.len() / (n + 1));
        let m = |k: usize| x[k * (n + 1)];
        if let Some(k) = (0..rows).find(|&k| self.not_positive(m(k))) {
            let message = format!("the mass of point {} is not positive", k + 1);
            return self.error("E0409", self.span(at), message);
        }
        let mass = g.sum((0..rows).map(m));
        let entry = |k: usize, i: usize| x[k * (n + 1) + 1 + i];
        let centre: Vec<Expr> = (0..n)
            .map(|i| g.div(g.sum((0..rows).map(|k| g.mul(m(k), entry(k, i)))), mass))
            .collect();
        match name {
            "mass_of_points" => Value::Scalar(mass),
            "centre_of_points" => Value::Vector(centre.into()),
            _ => {
                let arm = |k: usize, i: usize| g.sub(entry(k, i), centre[i]);
                let moment = |i: usize, j: usize| {
                    g.sum((0..rows).map(|k| g.mul(m(k), g.mul(arm(k, i), arm(k, j)))))
                };
                let entries = (0..n * n).map(|k| moment(k / n, k % n)).collect();
                Value::new(Shape::Matrix(n, n), entries)
            }
        }
    }

    /// The dimension of points and their entries by rows, each row with its mass first.
    pub(crate) fn point_rows(
        &mut self,
        site: Site,
        name: &str,
        value: &Value,
    ) -> Option<(usize, Vec<Expr>)> {
        if let Value::Matrix(_, columns @ (3 | 4), x) = value {
            return Some((columns - 1, x.to_vec()));
        }
        let message = format!(
            "`{name}` takes a matrix with a row [m, x, y] or [m, x, y, z] for each point, not {}",
            value.describe()
        );
        let at = self.argument(site, 0);
        self.error("E0301", self.span(at), message);
        None
    }

    /// `inertia_box`, `inertia_ellipsoid` with 2 or 3 lengths, `inertia_ball` and `inertia_disc` with one.
    fn solid(&mut self, site: Site, name: &str, values: &[Value]) -> Value {
        let Some((mass, lengths)) = self.measures(site, name, values) else {
            return Value::Poison;
        };
        let n = lengths.len();
        let share = match (name, n) {
            ("inertia_box", _) => 12,
            (_, 2) => 4,
            _ => 5,
        };
        let g = self.graph;
        let moment =
            |i: usize| g.mul(g.fraction(1, share), g.mul(mass, g.mul(lengths[i], lengths[i])));
        let entry = |k: usize| if k / n == k % n { moment(k / n) } else { g.zero() };
        Value::new(Shape::Matrix(n, n), (0..n * n).map(entry).collect())
    }

    /// The mass of a solid, and a length for each of its axes.
    pub(crate) fn measures(
        &mut self,
        site: Site,
        name: &str,
        values: &[Value],
    ) -> Option<(Expr, Vec<Expr>)> {
        let mut x = Vec::with_capacity(values.len());
        for (k, value) in values.iter().enumerate() {
            let at = self.argument(site, k);
            let what = if k == 0 { "the mass" } else { "a length" };
            let e = self.scalar(value, at, &format!("{what} of `{name}`"))?;
            if self.not_positive(e) {
                let message = format!("{what} of `{name}` is not positive");
                self.error("E0409", self.span(at), message);
                return None;
            }
            x.push(e);
        }
        let lengths = match name {
            "inertia_ball" | "ball" => vec![x[1]; 3],
            "inertia_disc" | "disc" => vec![x[1]; 2],
            _ => x[1..].to_vec(),
        };
        Some((x[0], lengths))
    }

    /// Whether it is known to be zero, negative or no number.
    fn not_positive(&self, e: Expr) -> bool {
        self.constant(e).is_some_and(|c| c.value.is_nan() || c.value <= 0.0)
    }
}
