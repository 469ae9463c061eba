//! The constraint rows solved one after another for velocities, every definition a shared expression.
//!
//! Row $\sum_j c_j\dot q^j + a = 0$, earlier definitions inserted, is solved by the first that it offers:
//!
//! 1. a coefficient that is constant (velocities in fewest rows first), or that cannot vanish because squares
//!    and positive numbers add up in it;
//! 2. two coefficients with constant $n = c_i^2 + c_j^2$: $(\dot q^i, \dot q^j) = -(c_i, c_j)\,r/n + (-c_j,
//!    c_i)\,w$ with a new independent $w$, $r$ being the rest of the row;
//! 3. a chart: the coefficient that is largest at the given point, to be watched. Without a point all
//!    coefficients count alike, and the last declared one is taken.
//!
//! A row in which only such $w$ are left is solved for one of them. A row whose coefficients all vanish
//! follows from the others, if its rest vanishes too.

use std::cell::RefCell;

use pfaff_expr::{Expr, Graph, Node, Role, Substitution, Unary};
use rustc_hash::FxHashMap;

use super::mentions::Mentions;
use super::{PivotChart, forms};

/// A coefficient this small against the others of its row is rounding of an identity that was missed.
const NEGLIGIBLE: f64 = 1e-11;
/// What is divided by should not be smaller than this fraction of the largest coefficient of its row: errors
/// grow by the inverse.
const STRONG: f64 = 0.1;
/// Coefficients among which pairs of constant norm are looked for.
const PAIRED: usize = 8;

/// Rows linear or affine in the velocities, over symbols of one graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstraintRows<'a> {
    pub(crate) velocities: &'a [Expr],
    /// $\varphi$, or $d\varphi/dt$ of holonomic ones
    pub(crate) written: &'a [Expr],
    /// Values of the parameters, and of $t$ and $q$ where charts are chosen at a point.
    pub(crate) known: &'a [(Expr, f64)],
}

/// How a row was solved. Coefficients are those of the row with earlier definitions inserted.
#[derive(Clone, Debug)]
pub(super) enum SolvedRow {
    /// $\dot q^j = -r/c$
    Single { j: usize, c: Expr },
    /// $(\dot q^i, \dot q^j) = -(a, b)\,r/n + (-b, a)\,w$
    Pair { i: usize, j: usize, a: Expr, b: Expr, n: Expr, w: Expr },
    /// $w = -r/c$ for the $w$ of the pair whose first column is $i$
    Turned { i: usize },
    /// Follows from the rows before.
    Redundant,
}

impl SolvedRow {
    /// The columns solved for.
    pub(super) fn columns(&self) -> Vec<usize> {
        match *self {
            Self::Single { j, .. } | Self::Turned { i: j } => vec![j],
            Self::Pair { i, j, .. } => vec![i, j],
            Self::Redundant => Vec::new(),
        }
    }
}

/// The rows solved.
pub(super) struct Eliminated {
    pub(super) rows: Vec<SolvedRow>,
    /// $u$
    pub(super) independent: Vec<Expr>,
    /// $u(q, \dot q, t)$
    pub(super) forms: Vec<Expr>,
    /// $\dot q(q, u, t)$
    pub(super) velocities: Vec<Expr>,
    pub(super) charts: Vec<PivotChart>,
    pub(super) redundant: Vec<usize>,
}

/// Solves the rows; `None` if they contradict each other or nothing can be divided by.
///
/// With a scale for each velocity, coefficients are compared at the point that is known; none means all alike.
pub(super) fn eliminate(
    given: ConstraintRows<'_>,
    g: &Graph,
    chosen: &[Expr],
    scale: Option<&[f64]>,
) -> Option<Eliminated> {
    let mut e = Elimination::new(given, g, scale);
    let count = e.mentions.count(given.written);
    let (mut rows, mut charts, mut redundant) = (Vec::new(), Vec::new(), Vec::new());
    for (r, &written) in given.written.iter().enumerate() {
        e.inserted.mark();
        let mut row = e.resolve(written);
        if scale.is_none() {
            row = e.collect(row);
        }
        let (solved, chart) = e.solve(r, row, &count)?;
        if matches!(solved, SolvedRow::Redundant) {
            redundant.push(r);
        }
        rows.push(solved);
        charts.extend(chart);
    }
    let IndependentVelocities { independent, forms, renamed } =
        e.name_independent(&rows, chosen)?;
    let resolved: Vec<Expr> = given.velocities.iter().map(|&v| e.resolve(v)).collect();
    let velocities = g.substitute(&resolved, &renamed);
    Some(Eliminated { rows, independent, forms, velocities, charts, redundant })
}

/// What is left free.
struct IndependentVelocities {
    independent: Vec<Expr>,
    forms: Vec<Expr>,
    /// Names that pairs gave before all were known.
    renamed: Vec<(Expr, Expr)>,
}

struct Elimination<'a> {
    s: ConstraintRows<'a>,
    g: &'a Graph,
    mentions: Mentions<'a>,
    /// Which velocities are defined, by their bits.
    defined: Vec<u64>,
    inserted: Substitution,
    /// $w$ of pairs that are free, each with its first column.
    turned: Vec<(usize, Expr)>,
    /// $w$ of pairs that a later row was solved for.
    settled: Vec<Expr>,
    values: RefCell<FxHashMap<Expr, f64>>,
    /// By what coefficients are multiplied before they are compared; `None` without a point.
    scale: Option<Vec<f64>>,
}

impl<'a> Elimination<'a> {
    fn new(s: ConstraintRows<'a>, g: &'a Graph, scale: Option<&[f64]>) -> Self {
        Self {
            s,
            g,
            mentions: Mentions::new(g, s.velocities),
            defined: vec![0; s.velocities.len().div_ceil(64)],
            inserted: Substitution::default(),
            turned: Vec::new(),
            settled: Vec::new(),
            values: RefCell::new(s.known.iter().copied().collect()),
            scale: scale.map(<[f64]>::to_vec),
        }
    }

    /// Definitions inserted until none is left to insert: they may mention velocities that were solved for later.
    fn resolve(&mut self, e: Expr) -> Expr {
        let mut e = e;
        loop {
            let image = self.inserted.apply(self.g, e);
            let open = self.mentions.any(image, &self.defined)
                || self.g.contains(image, &self.settled);
            if image == e || !open {
                return image;
            }
            e = image;
        }
    }

    /// The row as $\sum_j c_j\dot q^j + \sum_i d_i w_i + a$ with simple coefficients: for people, and nothing shared.
    fn collect(&self, row: Expr) -> Expr {
        let g = self.g;
        let js = self.mentions.of(row);
        let solid = self.mentions.without(row, &js);
        let still: Vec<(Expr, Expr)> = self.turned.iter().map(|t| (t.1, g.zero())).collect();
        let velocity = |&j: &usize| (self.mentions.coefficient(row, j), self.s.velocities[j]);
        let turned = |&(_, w): &(usize, Expr)| (g.derivative(solid, w), w);
        let terms = js.iter().map(velocity).chain(self.turned.iter().map(turned));
        let terms: Vec<(Expr, Expr)> = terms.map(|(c, x)| (g.simplify(c), x)).collect();
        let rest = g.simplify(g.substitute(&[solid], &still)[0]);
        // NOTE: merged, the sum would become the row that it is equal to.
        g.as_written(|| g.add(g.sum(terms.into_iter().map(|(c, x)| g.mul(c, x))), rest))
    }

    /// $|e|$ at the point; without one, whether it is not zero everywhere.
    fn size(&self, e: Expr) -> f64 {
        if self.scale.is_none() {
            return f64::from(u8::from(!self.g.vanishes_modulo_prime(e)));
        }
        self.g.evaluate_further(e, &mut self.values.borrow_mut()).abs()
    }

    /// Zero everywhere. Without a point nothing else would notice an identity between functions that values
    /// modulo a prime miss.
    fn vanishes(&self, e: Expr) -> bool {
        self.g.vanishes_modulo_prime(e) || (self.scale.is_none() && self.g.is_zero(e))
    }

    /// A coefficient in the kinetic metric: $|c_j|/\sqrt{M_{jj}}$ does not know in which units a coordinate
    /// is measured.
    fn weight(&self, (j, c): (usize, Expr)) -> f64 {
        self.size(c) * self.factor(j)
    }

    fn factor(&self, j: usize) -> f64 {
        self.scale.as_ref().and_then(|s| s.get(j)).copied().unwrap_or(1.0)
    }

    fn solve(
        &mut self,
        r: usize,
        row: Expr,
        count: &[usize],
    ) -> Option<(SolvedRow, Option<PivotChart>)> {
        let g = self.g;
        let mut js = self.mentions.of(row);
        if self.scale.is_some() {
            js.sort_by_key(|&j| (count[j], j));
        }
        let mut coefficients: Vec<(usize, Expr)> = Vec::new();
        for j in js {
            let c = self.mentions.coefficient(row, j);
            if !self.vanishes(c) {
                coefficients.push((j, c));
            }
        }
        if coefficients.is_empty() {
            let rest = self.mentions.without(row, &self.mentions.of(row));
            return self.solve_turned(r, rest);
        }
        let largest = coefficients.iter().fold(0.0_f64, |m, &c| m.max(self.weight(c)));
        let strong = |c: &&(usize, Expr)| self.weight(**c) > STRONG * largest;
        let constant = |c: &&(usize, Expr)| g.is_constant(c.1) && self.size(c.1) > NEGLIGIBLE;
        let never_zero = |c: &&(usize, Expr)| constant(c) || self.is_positive(c.1);
        let mut usable: Vec<&(usize, Expr)> = coefficients.iter().filter(strong).collect();
        if self.scale.is_none() {
            usable.reverse();
        }
        let best = usable.iter().copied().find(constant);
        let good = best.or_else(|| usable.iter().copied().find(never_zero));
        if let Some(&(j, c)) = good {
            return Some((self.single(row, j, c), None));
        }
        if let Some(pair) = self.pair(row, &coefficients) {
            return Some((pair, None));
        }
        let sizes: Vec<f64> = coefficients.iter().map(|&c| self.weight(c)).collect();
        let pivot = (0..sizes.len()).max_by(|&x, &y| sizes[x].total_cmp(&sizes[y]))?;
        if !sizes[pivot].is_finite() || sizes[pivot] <= NEGLIGIBLE {
            return None;
        }
        let (j, c) = coefficients[pivot];
        let scale = coefficients.iter().map(|c| self.factor(c.0)).collect();
        let candidates = coefficients.into_iter().map(|c| c.1).collect();
        Some((
            self.single(row, j, c),
            Some(PivotChart { row: Some(r), pivot, candidates, scale }),
        ))
    }

    /// A row without velocities: for the $w$ of a pair, if there is one in it.
    fn solve_turned(&mut self, r: usize, row: Expr) -> Option<(SolvedRow, Option<PivotChart>)> {
        let g = self.g;
        let slope = |&(i, w): &(usize, Expr)| (i, w, g.derivative(row, w));
        let slopes: Vec<(usize, Expr, Expr)> = self.turned.iter().map(slope).collect();
        let candidates: Vec<(usize, Expr, Expr)> =
            slopes.into_iter().filter(|c| !self.vanishes(c.2)).collect();
        if candidates.is_empty() {
            return self.vanishes(row).then_some((SolvedRow::Redundant, None));
        }
        let sizes: Vec<f64> = candidates.iter().map(|c| self.size(c.2)).collect();
        let constant = |x: &usize| g.is_constant(candidates[*x].2) && sizes[*x] > NEGLIGIBLE;
        let safe = (0..sizes.len()).find(constant);
        let largest = (0..sizes.len()).max_by(|&x, &y| sizes[x].total_cmp(&sizes[y]))?;
        let pivot = safe.unwrap_or(largest);
        if !sizes[pivot].is_finite() || sizes[pivot] <= NEGLIGIBLE {
            return None;
        }
        let (i, w, c) = candidates[pivot];
        let rest = g.substitute(&[row], &[(w, g.zero())])[0];
        self.inserted.define(g, w, g.neg(g.div(rest, c)));
        self.turned.retain(|t| t.1 != w);
        self.settled.push(w);
        let chart = safe.is_none().then(|| PivotChart {
            row: Some(r),
            pivot,
            scale: vec![1.0; candidates.len()],
            candidates: candidates.iter().map(|c| c.2).collect(),
        });
        Some((SolvedRow::Turned { i }, chart))
    }

    /// $\dot q^j = -r/c$
    fn single(&mut self, row: Expr, j: usize, c: Expr) -> SolvedRow {
        let g = self.g;
        let rest = self.mentions.without(row, &[j]);
        let share =
            if g.is_constant(c) { g.mul(rest, g.div(g.one(), c)) } else { g.div(rest, c) };
        self.define(j, g.neg(share));
        SolvedRow::Single { j, c }
    }

    fn pair(&mut self, row: Expr, coefficients: &[(usize, Expr)]) -> Option<SolvedRow> {
        let g = self.g;
        let few = &coefficients[..coefficients.len().min(PAIRED)];
        for (x, &(i, a)) in few.iter().enumerate() {
            for &(j, b) in &few[x + 1..] {
                let n = g.add(g.mul(a, a), g.mul(b, b));
                if !g.is_constant(n) || self.size(n) <= NEGLIGIBLE {
                    continue;
                }
                // The sign makes w the velocity along the second axis where the first coefficient is written
                // with a minus.
                let turned = matches!(g.node(a), Node::Neg(_));
                let w = g.symbol(&format!("u of {i}"), Role::Free);
                let along = if turned { g.neg(w) } else { w };
                let share = g.div(self.mentions.without(row, &[i, j]), n);
                let first = g.sub(g.neg(g.mul(a, share)), g.mul(b, along));
                let second = g.sub(g.mul(a, along), g.mul(b, share));
                self.define(i, first);
                self.define(j, second);
                self.turned.push((i, w));
                return Some(SolvedRow::Pair { i, j, a, b, n, w });
            }
        }
        None
    }

    fn define(&mut self, j: usize, image: Expr) {
        self.inserted.define(self.g, self.s.velocities[j], image);
        self.set_defined(j);
    }

    fn set_defined(&mut self, j: usize) {
        self.defined[j / 64] |= 1 << (j % 64);
    }

    fn is_defined(&self, j: usize) -> bool {
        self.defined[j / 64] >> (j % 64) & 1 == 1
    }

    /// Cannot vanish, whatever the coordinates: squares and positive numbers add up.
    fn is_positive(&self, e: Expr) -> bool {
        self.sign(e, 0) == Sign::Positive
    }

    fn sign(&self, e: Expr, depth: usize) -> Sign {
        use Sign::{NonNegative, Positive, Unknown};
        /// Deeper sums of squares than this are not looked through.
        const DEPTH: usize = 40;
        let g = self.g;
        if depth > DEPTH {
            return Unknown;
        }
        if !g.varies(e) {
            let value = g.evaluate_further(e, &mut self.values.borrow_mut());
            return if value > NEGLIGIBLE {
                Positive
            } else if value == 0.0 {
                NonNegative
            } else {
                Unknown
            };
        }
        let of = |e: Expr| self.sign(e, depth + 1);
        match g.node(e) {
            Node::Add(a, b) => match (of(a), of(b)) {
                (Unknown, _) | (_, Unknown) => Unknown,
                (NonNegative, NonNegative) => NonNegative,
                _ => Positive,
            },
            Node::Mul(a, b) | Node::Div(a, b) => match (of(a), of(b)) {
                (Unknown, _) | (_, Unknown) => Unknown,
                (Positive, Positive) => Positive,
                _ => NonNegative,
            },
            Node::Pow(a, n) => {
                let even = g.number_of(n).is_some_and(|n| {
                    n.is_integer() && (n / pfaff_expr::number::integer(2)).is_integer()
                });
                match of(a) {
                    Unknown if even => NonNegative,
                    sign => sign,
                }
            }
            Node::Unary(Unary::Exp | Unary::Cosh, _) => Positive,
            Node::Unary(Unary::Sqrt, a) => match of(a) {
                Positive => Positive,
                _ => NonNegative,
            },
            Node::Unary(Unary::Abs, _) => NonNegative,
            _ => Unknown,
        }
    }

    /// Names for what is left free, in declared order, and what they are in terms of the velocities.
    fn name_independent(
        &mut self,
        rows: &[SolvedRow],
        chosen: &[Expr],
    ) -> Option<IndependentVelocities> {
        let g = self.g;
        let v = self.s.velocities;
        // Where it stands among the coordinates, the symbol it replaces, and its form.
        let mut slots: Vec<(usize, Expr, Expr)> =
            (0..v.len()).filter(|&j| !self.is_defined(j)).map(|j| (j, v[j], v[j])).collect();
        if !chosen.is_empty() {
            return self.insert_forms(&slots.iter().map(|s| s.0).collect::<Vec<_>>(), chosen);
        }
        for row in rows {
            if let SolvedRow::Pair { i, j, a, b, n, w } = *row
                && !self.settled.contains(&w)
            {
                let turned = matches!(g.node(a), Node::Neg(_));
                let form = g.div(g.sub(g.mul(a, v[j]), g.mul(b, v[i])), n);
                slots.push((i, w, if turned { g.neg(form) } else { form }));
            }
        }
        slots.sort_unstable();
        let names: Vec<Expr> =
            (0..slots.len()).map(|a| g.symbol(&format!("u{}", a + 1), Role::Free)).collect();
        let mut renamed = Vec::new();
        for (&(j, symbol, _), &u) in slots.iter().zip(&names) {
            if symbol == v[j] {
                self.inserted.define(g, symbol, u);
                self.set_defined(j);
            } else {
                renamed.push((symbol, u));
            }
        }
        let forms = slots.into_iter().map(|s| s.2).collect();
        Some(IndependentVelocities { independent: names, forms, renamed })
    }

    /// The free velocities in terms of the values of as many linear forms.
    fn insert_forms(
        &mut self,
        free: &[usize],
        chosen: &[Expr],
    ) -> Option<IndependentVelocities> {
        let g = self.g;
        let (mut matrix, mut rests) = (Vec::new(), Vec::new());
        for &form in chosen {
            let form = self.resolve(form);
            matrix.push(
                free.iter().map(|&j| self.mentions.coefficient(form, j)).collect::<Vec<_>>(),
            );
            rests.push(self.mentions.without(form, free));
        }
        let names: Vec<Expr> =
            (0..free.len()).map(|a| g.symbol(&format!("u{}", a + 1), Role::Free)).collect();
        let values: Vec<Expr> = names.iter().zip(&rests).map(|(&u, &r)| g.sub(u, r)).collect();
        let (determinant, solved) = forms::cramer(g, &matrix, &values)?;
        if self.size(determinant) <= 1e-3 {
            return None;
        }
        for (&j, &x) in free.iter().zip(&solved) {
            self.define(j, x);
        }
        Some(IndependentVelocities {
            independent: names,
            forms: chosen.to_vec(),
            renamed: Vec::new(),
        })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Positive,
    NonNegative,
    Unknown,
}
