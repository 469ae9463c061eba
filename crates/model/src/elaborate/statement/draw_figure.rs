//! One drawing into its figure: points, half axes and half edges as expressions.

use pfaff_expr::{Expr, Rational};

use crate::drawing::{Components, Figure};
use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::elaborate::statement::draw::Written;
use crate::shape::{Shape, Value};
use crate::syntax::Binder;

/// Pieces of a curve, and of each side of a surface, where nothing is said.
const STEPS: [i64; 2] = [64, 16];

/// The most pieces that may be asked for.
const MOST_STEPS: i64 = 400;

impl Elaborator<'_> {
    /// The figure of one member; `None` after a report.
    pub(crate) fn figure(&mut self, written: &Written<'_>) -> Option<Figure> {
        match written.shape.word {
            "point" => self.point(written),
            "line" | "polygon" => self.line(written),
            "spring" => self.spring(written),
            "circle" | "disk" => self.circle(written),
            "sphere" => self.sphere(written),
            "ellipse" | "ellipsoid" => self.ellipsoid(written),
            "box" => self.box_figure(written),
            "wheel" => self.wheel(written),
            "trail" => {
                let at = self.place_of(written.subject()?, "what leaves a trail")?;
                Some(Figure::Trail { at })
            }
            "arrow" => self.arrow(written),
            "text" => self.text_figure(written),
            "curve" => self.curve(written),
            "surface" => self.surface(written),
            _ => self.view(written),
        }
    }

    fn point(&mut self, written: &Written<'_>) -> Option<Figure> {
        let at = self.place_of(written.subject()?, "a point");
        let radius = self.optional(written, "radius", |e, s| e.number_of(s, "a radius"));
        Some(Figure::Point { at: at?, radius: radius? })
    }

    fn line(&mut self, written: &Written<'_>) -> Option<Figure> {
        let mut sites = vec![written.subject()?];
        for clause in &written.draw.clauses {
            if let crate::syntax::ClauseValue::Value(id) = clause.value
                && self.own_name(clause.word) == "to"
            {
                sites.push(Site { part: 0, id });
            }
        }
        let parts: Vec<Option<Vec<Components>>> =
            sites.iter().map(|&site| self.places_of(site, "the corner of a line")).collect();
        let points: Vec<Components> =
            parts.into_iter().collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
        for (k, point) in points.iter().enumerate() {
            self.same_space(&points[0], point, sites[k.min(sites.len() - 1)])?;
        }
        let closed = written.shape.word == "polygon";
        if points.len() < if closed { 3 } else { 2 } {
            let wanted = if closed { "three corners" } else { "two ends" };
            let message = format!("a {} has at least {wanted}", written.shape.word);
            let hint = format!("it is written like `{}`", written.shape.form);
            self.error_hint("E0440", written.span, message, &hint);
            return None;
        }
        Some(Figure::Line { points, closed })
    }

    fn spring(&mut self, written: &Written<'_>) -> Option<Figure> {
        let end = self.clause(written, "to")?;
        let from = self.place_of(written.subject()?, "the end of a spring");
        let to = self.place_of(end, "the end of a spring");
        let turns = self.optional(written, "turns", |e, s| e.count(s, "the turns", 100));
        let thickness =
            self.optional(written, "thickness", |e, s| e.number_of(s, "the thickness"));
        let (from, to) = (from?, to?);
        self.same_space(&from, &to, end)?;
        let turns = turns?.map_or(8, |n| n as u32);
        let thickness = thickness?.unwrap_or_else(|| self.ratio(1, 10));
        Some(Figure::Spring { from, to, turns, thickness })
    }

    fn circle(&mut self, written: &Written<'_>) -> Option<Figure> {
        let radius = self.clause(written, "radius")?;
        let centre = self.place_of(written.subject()?, "a centre");
        let radius = self.number_of(radius, "a radius");
        let axis = self.optional(written, "axis", |e, s| e.place_of(s, "an axis"));
        let spoke = self.optional(written, "spoke", Self::spoke);
        let (centre, radius, mut axis, spoke) = (centre?, radius?, axis?, spoke?);
        for (word, direction) in [("axis", &axis), ("spoke", &spoke)] {
            if let (Some(direction), Some(site)) = (direction, self.clause(written, word)) {
                self.same_space(&centre, direction, site)?;
            }
        }
        if centre.len() == 2 && axis.is_some() {
            let message = "a circle in the plane has no axis".to_owned();
            self.error_hint("E0440", written.span, message, "give the centre three components");
            return None;
        }
        if centre.len() == 3 && axis.is_none() {
            axis = Some(vec![self.graph.zero(), self.graph.zero(), self.graph.one()]);
        }
        let solid = written.shape.word == "disk";
        Some(Figure::Circle { centre, radius, axis, spoke, solid })
    }

    /// A direction, or an angle in the plane.
    fn spoke(&mut self, site: Site) -> Option<Components> {
        match self.read(site, Place::Draw) {
            Value::Scalar(angle) => Some(vec![self.graph.cos(angle), self.graph.sin(angle)]),
            _ => self.place_of(site, "a spoke"),
        }
    }

    fn sphere(&mut self, written: &Written<'_>) -> Option<Figure> {
        let (subject, radius) = (written.subject()?, self.clause(written, "radius")?);
        let centre = self.place_of(subject, "a centre");
        let radius = self.number_of(radius, "a radius");
        let turned = self.optional(written, "turned", |e, s| {
            let columns = e.columns(s, "what turns a sphere")?;
            (columns.len() == 3).then_some(columns).or_else(|| {
                let message = "a sphere is turned by a 3×3 matrix".to_owned();
                e.error_hint("E0440", e.span(s), message, "write `rotation_z(phi)`");
                None
            })
        });
        let (centre, radius, turned) = (centre?, radius?, turned?);
        if centre.len() != 3 {
            let message = "a sphere lies in space".to_owned();
            let hint = "give its centre three components, or draw a `disk`";
            self.error_hint("E0440", self.span(subject), message, hint);
            return None;
        }
        let columns = turned.unwrap_or_else(|| self.unit_columns(3));
        let axes = self.scaled(&columns, &[radius; 3]);
        Some(Figure::Ellipsoid { centre, axes })
    }

    fn ellipsoid(&mut self, written: &Written<'_>) -> Option<Figure> {
        let columns = self.columns(written.subject()?, "the matrix of an ellipsoid");
        let centre = self.optional(written, "at", |e, s| e.place_of(s, "a centre"));
        let radius = self.optional(written, "radius", |e, s| e.number_of(s, "a radius"));
        let size = self.optional(written, "size", |e, s| e.place_of(s, "a size"));
        let (columns, centre, radius, size) = (columns?, centre?, radius?, size?);
        let n = columns.len();
        let centre = centre.unwrap_or_else(|| vec![self.graph.zero(); n]);
        let site = self.clause(written, "at").or(written.subject())?;
        self.same_space(&columns[0], &centre, site)?;
        let half = self.ratio(1, 2);
        let factors = match (radius, size) {
            (Some(_), Some(_)) => {
                let message = "`radius` and `size` say the same thing".to_owned();
                self.error_hint("E0440", written.span, message, "keep one of them");
                return None;
            }
            (Some(radius), None) => vec![radius; n],
            (None, Some(size)) => {
                let site = self.clause(written, "size").or(written.subject())?;
                self.same_space(&columns[0], &size, site)?;
                size.iter().map(|&s| self.graph.mul(half, s)).collect()
            }
            (None, None) => vec![self.graph.one(); n],
        };
        let axes = self.scaled(&columns, &factors);
        Some(Figure::Ellipsoid { centre, axes })
    }

    fn box_figure(&mut self, written: &Written<'_>) -> Option<Figure> {
        let (at, size_at) = (self.clause(written, "at")?, self.clause(written, "size")?);
        let columns = self.columns(written.subject()?, "what turns a box");
        let centre = self.place_of(at, "a centre");
        let size = self.place_of(size_at, "a size");
        let (columns, centre, size) = (columns?, centre?, size?);
        self.same_space(&columns[0], &centre, at)?;
        self.same_space(&columns[0], &size, size_at)?;
        let half = self.ratio(1, 2);
        let factors: Vec<Expr> = size.iter().map(|&s| self.graph.mul(half, s)).collect();
        Some(Figure::Box { centre, edges: self.scaled(&columns, &factors) })
    }

    fn wheel(&mut self, written: &Written<'_>) -> Option<Figure> {
        let words = ["heading", "length"].map(|word| self.clause(written, word));
        let [heading, length] = [words[0]?, words[1]?];
        let centre = self.place_of(written.subject()?, "the centre of a wheel");
        let heading = self.number_of(heading, "a heading");
        let length = self.number_of(length, "a length");
        let thickness =
            self.optional(written, "thickness", |e, s| e.number_of(s, "the thickness"));
        let (centre, heading, length) = (centre?, heading?, length?);
        let g = self.graph;
        let thickness = thickness?.unwrap_or_else(|| g.mul(self.ratio(1, 4), length));
        let half = self.ratio(1, 2);
        let (cos, sin) = (g.cos(heading), g.sin(heading));
        let mut columns = vec![vec![cos, sin], vec![g.neg(sin), cos]];
        if centre.len() == 3 {
            columns.iter_mut().for_each(|column| column.push(g.zero()));
        }
        let edges = self.scaled(&columns, &[g.mul(half, length), g.mul(half, thickness)]);
        Some(Figure::Wheel { centre, edges })
    }

    fn arrow(&mut self, written: &Written<'_>) -> Option<Figure> {
        let at = self.place_of(written.subject()?, "where an arrow begins");
        let scale = self.optional(written, "scale", |e, s| e.number_of(s, "a scale"));
        let (along, to) = (self.clause(written, "along"), self.clause(written, "to"));
        let (site, is_end) = match (along, to) {
            (Some(site), None) => (site, false),
            (None, Some(site)) => (site, true),
            _ => {
                let message = "an arrow needs either `along` or `to`".to_owned();
                let hint = format!("it is written like `{}`", written.shape.form);
                self.error_hint("E0440", written.span, message, &hint);
                return None;
            }
        };
        let end = self.place_of(site, "where an arrow points");
        let (at, end, scale) = (at?, end?, scale?);
        self.same_space(&at, &end, site)?;
        let g = self.graph;
        let along = at.iter().zip(&end).map(|(&a, &b)| {
            let whole = if is_end { g.sub(b, a) } else { b };
            scale.map_or(whole, |scale| g.mul(scale, whole))
        });
        let along = along.collect();
        Some(Figure::Arrow { at, along })
    }

    fn text_figure(&mut self, written: &Written<'_>) -> Option<Figure> {
        let at = self.clause(written, "at")?;
        let text = self.quoted(written.subject()?, "what is written");
        let at = self.place_of(at, "where a text stands");
        let value = self.optional(written, "value", |e, s| e.number_of(s, "a value"));
        Some(Figure::Text { text: text?, value: value?, at: at? })
    }

    fn curve(&mut self, written: &Written<'_>) -> Option<Figure> {
        let (points, _) = self.grid(written, 1)?;
        Some(Figure::Line { points, closed: false })
    }

    fn surface(&mut self, written: &Written<'_>) -> Option<Figure> {
        let (points, columns) = self.grid(written, 2)?;
        if points.first().is_some_and(|point| point.len() == 2) {
            let message = "a surface lies in space".to_owned();
            let hint = "give its points three components";
            self.error_hint("E0440", self.span(written.subject()?), message, hint);
            return None;
        }
        Some(Figure::Surface { points, columns })
    }

    fn view(&mut self, written: &Written<'_>) -> Option<Figure> {
        let mut direction = |word: &str| {
            self.optional(written, word, |e, s| {
                let components = e.place_of(s, "a direction")?;
                (components.len() == 3).then_some(components).or_else(|| {
                    let message = "a view has directions in space".to_owned();
                    e.error_hint("E0440", e.span(s), message, "write `[1, -2, 1]`");
                    None
                })
            })
        };
        let (from, up) = (direction("from"), direction("up"));
        let at = self.optional(written, "at", |e, s| e.place_of(s, "what a view follows"));
        let size = self.optional(written, "size", |e, s| e.number_of(s, "a size"));
        Some(Figure::View { from: from?, up: up?, at: at?, size: size? })
    }

    /// The points of a curve or surface, at equal steps of its variables, and the length of a row.
    fn grid(
        &mut self,
        written: &Written<'_>,
        variables: usize,
    ) -> Option<(Vec<Components>, usize)> {
        let ranges = written.ranges();
        if ranges.len() != variables {
            let wanted = if variables == 1 { "one variable" } else { "two variables" };
            let message =
                format!("a {} has {wanted}, not {}", written.shape.word, ranges.len());
            let hint = format!("it is written like `{}`", written.shape.form);
            self.error_hint("E0440", written.span, message, &hint);
            return None;
        }
        let asked =
            self.optional(written, "steps", |e, s| e.count(s, "the steps", MOST_STEPS))?;
        let steps = asked.unwrap_or(STEPS[variables - 1]);
        let mut values = Vec::with_capacity(variables);
        for range in &ranges {
            if !self.may_bind(0, range.name) {
                return None;
            }
            values.push(self.stepped(range, steps)?);
        }
        let subject = written.subject()?;
        let before = self.stacks.locals.len();
        let mut points = Vec::new();
        let rows = if variables == 2 { values[0].len() } else { 1 };
        for i in 0..rows {
            for &value in &values[variables - 1] {
                let first = values[0][i];
                let chosen = if variables == 2 { vec![first, value] } else { vec![value] };
                for (range, e) in ranges.iter().zip(chosen) {
                    self.stacks.locals.push((range.name.symbol, Value::Scalar(e)));
                }
                let point = self.place_of(subject, "a point of it");
                self.stacks.locals.truncate(before);
                points.push(point?);
            }
        }
        Some((points, values[variables - 1].len()))
    }

    /// The values of a variable at equal steps.
    fn stepped(&mut self, range: &Binder, n: i64) -> Option<Vec<Expr>> {
        let [from, to] = [range.from, range.to].map(|id| Site { part: 0, id });
        let (a, b) = (self.number_of(from, "a start"), self.number_of(to, "an end"));
        let (a, b, g) = (a?, b?, self.graph);
        let value = |k| g.add(a, g.mul(self.ratio(k, n), g.sub(b, a)));
        Some((0..=n).map(value).collect())
    }

    /// The value of a word, `Some(None)` where it is not there, `None` after a report.
    #[expect(clippy::option_option, reason = "absent and wrong are two things")]
    fn optional<T>(
        &mut self,
        written: &Written<'_>,
        word: &str,
        read: impl FnOnce(&mut Self, Site) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.clause(written, word) {
            Some(site) => read(self, site).map(Some),
            None => Some(None),
        }
    }

    /// A whole number from 1 to a limit.
    fn count(&mut self, site: Site, what: &str, most: i64) -> Option<i64> {
        let value = self.read(site, Place::Draw);
        let n = self.whole(&value, site, what)?;
        if (1..=most).contains(&n) {
            return Some(n);
        }
        let message = format!("{what} must lie between 1 and {most}, not {n}");
        self.error_hint("E0440", self.span(site), message, "choose a number in this range");
        None
    }

    /// A matrix by its columns; an angle is a rotation in the plane.
    fn columns(&mut self, site: Site, what: &str) -> Option<Vec<Components>> {
        let g = self.graph;
        let value = self.read(site, Place::Draw);
        match (&value, value.shape()) {
            (Value::Scalar(angle), _) => {
                let (cos, sin) = (g.cos(*angle), g.sin(*angle));
                Some(vec![vec![cos, sin], vec![g.neg(sin), cos]])
            }
            (_, Some(Shape::Matrix(rows, columns)))
                if rows == columns && (2..=3).contains(&rows) =>
            {
                let entries = value.entries();
                let column = |j: usize| (0..rows).map(|i| entries[i * columns + j]).collect();
                Some((0..columns).map(column).collect())
            }
            (Value::Poison, _) => None,
            _ => {
                let message = format!(
                    "{what} must be an angle, a 2×2 or a 3×3 matrix, but this is {}",
                    value.describe()
                );
                self.error_hint(
                    "E0440",
                    self.span(site),
                    message,
                    "`identity(3)` turns nothing",
                );
                None
            }
        }
    }

    fn unit_columns(&self, n: usize) -> Vec<Components> {
        let (zero, one) = (self.graph.zero(), self.graph.one());
        (0..n).map(|j| (0..n).map(|i| if i == j { one } else { zero }).collect()).collect()
    }

    /// Columns times numbers.
    fn scaled(&self, columns: &[Components], factors: &[Expr]) -> Vec<Components> {
        let scale = |(column, &f): (&Components, &Expr)| {
            column.iter().map(|&e| self.graph.mul(f, e)).collect()
        };
        columns.iter().zip(factors).map(scale).collect()
    }

    fn ratio(&self, p: i64, q: i64) -> Expr {
        self.graph.number(Rational::new(p.into(), q.into()))
    }

    /// Whether two things lie both in the plane or both in space; else reports.
    fn same_space(&mut self, first: &[Expr], second: &[Expr], site: Site) -> Option<()> {
        if first.len() == second.len() {
            return Some(());
        }
        let message = format!(
            "this has {} components, but the points before it have {}",
            second.len(),
            first.len()
        );
        let hint = "all points of a drawing have two components, or all have three";
        self.error_hint("E0440", self.span(site), message, hint);
        None
    }
}
