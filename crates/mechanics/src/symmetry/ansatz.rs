//! Relations between functions with constant coefficients, found by numbers and proved by the zero test.
//!
//! For functions $f_j$ with several components each, all constants $c$ with $\sum_j c_j f_j = 0$: values at random
//! points say which functions take part. Coefficients that are fractions times powers of parameters are read from these
//! values, the others come from [`Graph::constant_relations`](pfaff_expr::Graph::constant_relations). A
//! relation counts if the zero test proves each of its components.

use pfaff_expr::{Expr, Graph, ZeroTest};

use super::null_space::{NullSpace, small_fraction};

/// Points in a row that say nothing new, after which there is nothing new.
const IDLE: usize = 4;

/// Functions in a relation whose coefficients contain parameters: longer ones nobody would write down.
const SHORT: usize = 12;

/// The coefficients of a relation, with the numbers of the functions that they belong to.
pub(super) type Relation = Vec<(usize, Expr)>;

/// A basis of the relations; in each the last function that no other has with the coefficient 1, or what clears its
/// denominators.
pub(super) fn relations(g: &Graph, functions: &[Vec<Expr>]) -> Vec<Relation> {
    relations_where(g, functions, &|_| true)
}

/// Those of the relations whose numbers are wanted: the others need no proof.
pub(super) fn relations_where(
    g: &Graph,
    functions: &[Vec<Expr>],
    is_wanted: &dyn Fn(&[f64]) -> bool,
) -> Vec<Relation> {
    let mut search = Search::new(g, functions);
    let basis = search.basis(None);
    let wanted = (0..basis.len()).filter(|&i| is_wanted(&basis[i]));
    wanted.filter_map(|i| search.proved(&basis, i)).collect()
}

/// Functions at enough points to tell which combinations of others are combinations of them.
pub(super) struct Known {
    /// Values of the known functions, and of the others, at each point.
    points: Vec<(Vec<f64>, Vec<f64>)>,
    rank: usize,
}

impl Known {
    pub(super) fn new(g: &Graph, known: &[Expr], others: &[Expr]) -> Self {
        /// Points beyond the number of functions.
        const SPARE: usize = 6;
        let all = [known, others].concat();
        let mut evaluator = g.evaluator(&all);
        let mut points = Vec::new();
        for point in 0..(known.len() + SPARE) as u64 {
            let mut values = evaluator.at(&|s| somewhere(g, s, point));
            if values.iter().all(|x| x.is_finite()) {
                let rest = values.split_off(known.len());
                points.push((values, rest));
            }
        }
        let mut space = NullSpace::new(known.len());
        points.iter().for_each(|(row, _)| {
            space.add(row.clone());
        });
        let rank = known.len() - space.dimension();
        Self { points, rank }
    }

    /// Whether a combination of the others is surely none of the known functions.
    pub(super) fn lacks(&self, combination: &[f64]) -> bool {
        let columns = self.points.first().map_or(0, |p| p.0.len()) + 1;
        let mut space = NullSpace::new(columns);
        for (known, others) in &self.points {
            let sum = others.iter().zip(combination).map(|(x, c)| x * c).sum::<f64>();
            space.add(known.iter().copied().chain([sum]).collect());
        }
        columns - space.dimension() > self.rank
    }
}

/// A value for each symbol at each point, between 0.2 and 1.2; parameters have one at all points.
pub(crate) fn somewhere(g: &Graph, symbol: Expr, point: u64) -> f64 {
    let point = if g.varies(symbol) { point + 1 } else { 0 };
    let mut z = (symbol.index() as u64).wrapping_add(point << 32);
    z = z.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    0.2 + ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A coefficient as a fraction and powers of parameters.
struct Monomial {
    fraction: (i64, i64),
    powers: Vec<i64>,
}

struct Search<'a> {
    g: &'a Graph,
    functions: &'a [Vec<Expr>],
    all: Vec<Expr>,
    parameters: Vec<Expr>,
    /// Bases with one parameter doubled, as far as they were asked for.
    doubled: Option<Vec<Vec<Vec<f64>>>>,
}

impl<'a> Search<'a> {
    fn new(g: &'a Graph, functions: &'a [Vec<Expr>]) -> Self {
        let all = functions.concat();
        let mut parameters = g.symbols(&all);
        parameters.retain(|&s| !g.varies(s));
        Self { g, functions, all, parameters, doubled: None }
    }

    /// Combinations that vanish at random points, with one parameter doubled.
    fn basis(&self, doubled: Option<Expr>) -> Vec<Vec<f64>> {
        let (g, columns) = (self.g, self.functions.len());
        let Some(width) = self.functions.first().map(Vec::len).filter(|&w| w > 0) else {
            return Vec::new();
        };
        let mut space = NullSpace::new(columns);
        let mut evaluator = g.evaluator(&self.all);
        let mut idle = 0;
        // NOTE: √(1 − v²/c²) needs small velocities.
        let mut scale = 1.0;
        for point in 0..3 * columns as u64 + 20 {
            if space.dimension() == 0 {
                return Vec::new();
            }
            let value = |s: Expr| {
                let factor = if Some(s) == doubled { 2.0 } else { 1.0 };
                somewhere(g, s, point) * if g.varies(s) { scale } else { factor }
            };
            let values = evaluator.at(&value);
            if values.iter().any(|x| !x.is_finite()) {
                scale = if scale < 0.1 { 1.0 } else { scale / 2.0 };
                continue;
            }
            let before = space.dimension();
            for i in 0..width {
                space.add((0..columns).map(|j| values[j * width + i]).collect());
            }
            idle = if space.dimension() < before { 0 } else { idle + 1 };
            if idle >= IDLE {
                return space.basis();
            }
        }
        Vec::new()
    }

    /// A relation near given numbers that the zero test proves.
    fn proved(&mut self, basis: &[Vec<f64>], i: usize) -> Option<Relation> {
        let (g, near) = (self.g, &basis[i]);
        let support: Vec<usize> = (0..near.len()).filter(|&j| near[j] != 0.0).collect();
        let fractions: Option<Relation> = support
            .iter()
            .map(|&j| small_fraction(near[j]).map(|(n, d)| (j, g.fraction(n, d))))
            .collect();
        let is_short = support.len() <= SHORT;
        let relation = match fractions {
            Some(relation) => relation,
            None if is_short => self
                .with_powers(basis, i, &support)
                .or_else(|| self.with_polynomials(&support))?,
            None => return None,
        };
        let component =
            |k: usize| g.sum(relation.iter().map(|&(j, c)| g.mul(c, self.functions[j][k])));
        let width = self.functions.first().map_or(0, Vec::len);
        let holds = (0..width).all(|k| g.zero_test(component(k)) == ZeroTest::Zero);
        holds.then_some(relation)
    }

    /// Coefficients that are products of powers of parameters, by what doubling each of them does.
    fn with_powers(
        &mut self,
        basis: &[Vec<f64>],
        i: usize,
        support: &[usize],
    ) -> Option<Relation> {
        let g = self.g;
        if self.doubled.is_none() {
            let bases = self.parameters.iter().map(|&p| self.basis(Some(p))).collect();
            self.doubled = Some(bases);
        }
        let doubled = self.doubled.as_ref()?;
        let mut found = Vec::with_capacity(support.len());
        for &j in support {
            let mut rest = basis[i][j];
            let mut powers = Vec::with_capacity(self.parameters.len());
            for (&p, other) in self.parameters.iter().zip(doubled) {
                let ratio = other.get(i)?[j] / basis[i][j];
                let power = (-4..=4).find(|&n| (ratio - power_of(2.0, n)).abs() < 1e-6)?;
                rest /= power_of(somewhere(g, p, 0), power);
                powers.push(power);
            }
            found.push(Monomial { fraction: small_fraction(rest)?, powers });
        }
        let least: Vec<i64> = (0..self.parameters.len())
            .map(|p| found.iter().map(|m| m.powers[p]).min().unwrap_or(0))
            .collect();
        let denominator = found.iter().map(|m| m.fraction.1).fold(1, least_common_multiple);
        let sign = if found.first()?.fraction.0 < 0 { -1 } else { 1 };
        let coefficient = |m: &Monomial| {
            let number = g.integer(sign * m.fraction.0 * (denominator / m.fraction.1));
            let powers = self.parameters.iter().zip(&m.powers).zip(&least);
            powers.fold(number, |product, ((&p, &n), &least)| {
                g.mul(product, g.pow(p, g.integer(n - least)))
            })
        };
        Some(support.iter().copied().zip(found.iter().map(coefficient)).collect())
    }

    /// Coefficients that are polynomials in parameters.
    fn with_polynomials(&self, support: &[usize]) -> Option<Relation> {
        let g = self.g;
        let part: Vec<Vec<Expr>> = support.iter().map(|&j| self.functions[j].clone()).collect();
        let found = g.constant_relations(&part)?;
        // Of several, the one that has the last function.
        let c = found.into_iter().find(|c| c.last().is_some_and(|&c| c != g.zero()))?;
        Some(support.iter().copied().zip(c).filter(|(_, c)| *c != g.zero()).collect())
    }
}

fn power_of(x: f64, n: i64) -> f64 {
    let power = (0..n.abs()).fold(1.0, |product, _| product * x);
    if n < 0 { 1.0 / power } else { power }
}

fn least_common_multiple(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
