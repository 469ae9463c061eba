//! Functions of $(q, u, t)$ as polynomials in the names of the text.
//!
//! The equations of a rolling body are long in angles, and short in the vectors that the text names. So functions that
//! are linear in each of some parameters are looked for in the form
//!
//! $$ F = \sum_S \Big(\prod_{p\in S} p\Big) \sum_j c_{Sj}\,X_j, $$
//!
//! the $X_j$ being products of the components of at most two vectors, of their rates and of quasi-velocities, and the
//! $c_{Sj}$ fractions. Values at random points say what these are, and the zero test proves the whole.

use pfaff_expr::{Evaluator, Expr, Graph, Role};
use pfaff_model::Workspace;

use crate::symmetry::{NullSpace, small_fraction};

/// Parameters that are set to 0 and 1, beyond which nothing is looked for.
const MOST_PARAMETERS: usize = 12;
/// Quasi-velocities, components of a vector, and vectors, beyond which nothing is looked for.
const MOST_SPEEDS: usize = 6;
const MOST_COMPONENTS: usize = 4;
const MOST_VECTORS: usize = 16;
/// Names for fewer operations are longer than what they stand for.
const LEAST: usize = 3;
/// Work on one list of functions, in multiplications.
const WORK: usize = 60_000_000;

/// A symbol that may stand in the result, and what it means.
#[derive(Clone, Copy)]
struct Letter {
    symbol: Expr,
    meaning: Expr,
}

/// A vector of the text, or a row or a column of a matrix, with its rate.
struct NamedVector {
    components: Vec<Letter>,
    rates: Vec<Letter>,
}

/// As [`in_names`], of functions that are long, where that is much shorter.
pub(crate) fn in_names_if_long(
    model: &Workspace,
    quasi: &[Expr],
    velocities: &[Expr],
    functions: &[Expr],
) -> Option<Vec<Expr>> {
    /// Shorter ones are read as they are: operations of each.
    const LONG: usize = 33;
    let g = &model.graph;
    let before = g.operations(functions);
    if before <= LONG * functions.len() {
        return None;
    }
    let named = in_names(model, quasi, velocities, functions)?;
    (2 * g.operations(&named) < before).then_some(named)
}

/// The functions with names of the text in them, as symbols of coordinates, and rates of these; `None` unless all of
/// them are such polynomials.
pub(super) fn in_names(
    model: &Workspace,
    quasi: &[Expr],
    velocities: &[Expr],
    functions: &[Expr],
) -> Option<Vec<Expr>> {
    let g = &model.graph;
    if quasi.len() > MOST_SPEEDS {
        return None;
    }
    let vectors = vectors(model, velocities);
    if vectors.is_empty() {
        return None;
    }
    let letters = vectors.iter().flat_map(|v| v.components.iter().chain(&v.rates));
    let images: Vec<(Expr, Expr)> = letters.map(|l| (l.symbol, l.meaning)).collect();
    let meanings = images.iter().map(|image| image.1);
    let outputs: Vec<Expr> =
        functions.iter().copied().chain(quasi.iter().copied()).chain(meanings).collect();
    let mut search = Search::new(g, quasi, &vectors, (&outputs, functions.len()))?;
    let mut found = vec![Vec::new(); functions.len()];
    for set in 0..search.sets.len() {
        for (k, terms) in found.iter_mut().enumerate() {
            if search.is_zero(set, k) {
                continue;
            }
            let weight = search.sets[set].iter().fold(g.one(), |w, &p| g.mul(w, p));
            let sum = search.fitted(set, k)?;
            terms.push(g.mul(weight, sum));
        }
    }
    let named: Vec<Expr> = found.into_iter().map(|terms| g.sum(terms)).collect();
    let whole = g.substitute(&named, &images);
    let holds = |(&f, &e): (&Expr, &Expr)| g.is_zero(g.sub(f, e));
    // A sine is shorter than a name for it.
    let is_tiny = |v: &NamedVector, i: usize| g.operations(&[v.components[i].meaning]) < LEAST;
    let tiny = vectors.iter().flat_map(|v| {
        let tiny = (0..v.components.len()).filter(|&i| is_tiny(v, i));
        tiny.flat_map(|i| [v.components[i], v.rates[i]])
    });
    let images: Vec<(Expr, Expr)> = tiny.map(|l| (l.symbol, l.meaning)).collect();
    let written = g.substitute(&named, &images);
    functions.iter().zip(&whole).all(holds).then_some(written)
}

/// The vectors of the text that are functions of the positions, then rows and columns of its matrices.
fn vectors(model: &Workspace, velocities: &[Expr]) -> Vec<NamedVector> {
    let g = &model.graph;
    let v = model.velocities();
    // NOTE: a coordinate is no name for itself.
    let is_place = |e: Expr| g.varies(e) && !g.contains(e, &v) && g.symbol_of(e).is_none();
    let places = || model.abbreviations.iter().filter(|(_, e)| is_place(*e));
    let mut entries: Vec<(String, &str, Expr)> = Vec::new();
    for (name, e) in places() {
        if let Some((base, index)) = name.split_once('[')
            && !index.contains(',')
        {
            entries.push((base.to_owned(), name, *e));
        }
    }
    for line in [0, 1] {
        for (name, e) in places() {
            if let Some((base, index)) = name.split_once('[')
                && let Some((row, column)) = index.trim_end_matches(']').split_once(',')
            {
                let place = if line == 0 { format!("{row},") } else { format!(",{column}") };
                entries.push((format!("{base}[{place}]"), name, *e));
            }
        }
    }
    let mut groups: Vec<(String, Vec<(&str, Expr)>)> = Vec::new();
    for (key, name, e) in entries {
        match groups.iter_mut().find(|group| group.0 == key) {
            Some(group) => group.1.push((name, e)),
            None => groups.push((key, vec![(name, e)])),
        }
    }
    groups.retain(|group| group.1.len() <= MOST_COMPONENTS);
    groups.truncate(MOST_VECTORS);
    let mut motion: Vec<(Expr, Expr)> =
        model.positions().into_iter().zip(velocities.iter().copied()).collect();
    motion.push((model.time, g.one()));
    let vector = |(_, entries): (String, Vec<(&str, Expr)>)| {
        let meanings: Vec<Expr> = entries.iter().map(|e| e.1).collect();
        let slopes = g.directional(&meanings, &motion);
        let letter = |order: u8, name: &str, meaning: Expr| Letter {
            symbol: g.symbol(name, Role::Coordinate { order }),
            meaning,
        };
        NamedVector {
            components: entries.iter().map(|(n, e)| letter(0, n, *e)).collect(),
            rates: entries.iter().zip(slopes).map(|((n, _), e)| letter(1, n, e)).collect(),
        }
    };
    groups.into_iter().map(vector).collect()
}

/// A value for each symbol at each point, of both signs for what varies: parameters differ from point to point too, so
/// that what holds for some of their values only is not found.
fn anywhere(g: &Graph, symbol: Expr, point: u64) -> f64 {
    let mut z = (symbol.index() as u64 + 1).wrapping_add((point + 1) << 32);
    z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let size = 0.2 + ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
    if g.varies(symbol) && z % 2 == 1 { -size } else { size }
}

/// Values of letters and of the parts of the functions at a point.
struct Point {
    letters: Vec<f64>,
    /// By set of parameters, then by function.
    parts: Vec<Vec<f64>>,
}

/// The search for polynomials of some functions.
struct Search<'a> {
    g: &'a Graph,
    evaluator: Evaluator<'a>,
    functions: usize,
    /// Quasi-velocities, then components and rates of all vectors.
    letters: Vec<Expr>,
    quasi: usize,
    /// Where the components of each vector begin, and how many there are; their rates follow.
    places: Vec<(usize, usize)>,
    /// Products of parameters that occur.
    sets: Vec<Vec<Expr>>,
    points: Vec<Point>,
    next: u64,
    work: usize,
}

impl<'a> Search<'a> {
    fn new(
        g: &'a Graph,
        quasi: &[Expr],
        vectors: &[NamedVector],
        (outputs, functions): (&'a [Expr], usize),
    ) -> Option<Self> {
        let mut letters = quasi.to_vec();
        let mut places = Vec::new();
        for vector in vectors {
            places.push((letters.len(), vector.components.len()));
            letters.extend(vector.components.iter().chain(&vector.rates).map(|l| l.symbol));
        }
        let mut search = Self {
            g,
            evaluator: g.evaluator(outputs),
            functions,
            letters,
            quasi: quasi.len(),
            places,
            sets: Vec::new(),
            points: Vec::new(),
            next: 0,
            work: WORK,
        };
        let (functions, meanings) = outputs.split_at(functions);
        let hidden = g.symbols(meanings);
        let mut parameters = g.symbols(functions);
        parameters.retain(|s| !g.varies(*s) && !hidden.contains(s));
        parameters.retain(|&p| search.is_linear_in(p));
        if parameters.len() > MOST_PARAMETERS {
            return None;
        }
        search.sets = search.products(&parameters);
        Some(search)
    }

    /// Whether all functions are linear in a parameter, as values say.
    fn is_linear_in(&mut self, p: Expr) -> bool {
        (0..2).all(|point| {
            let [zero, one, two] = [0.0, 1.0, 2.0].map(|x| self.values(point, &[(p, x)], 1.0));
            let bend = |k: usize| (zero[k] - 2.0 * one[k] + two[k]).abs();
            let size = |k: usize| 1.0 + zero[k].abs() + two[k].abs();
            // NOTE: written so that what is not a number is not linear.
            (0..self.functions).all(|k| bend(k) <= 1e-9 * size(k))
        })
    }

    /// Products of up to three parameters that the functions have.
    fn products(&mut self, parameters: &[Expr]) -> Vec<Vec<Expr>> {
        let mut sets = vec![Vec::new()];
        let mut begin = 0;
        for _ in 0..3 {
            let end = sets.len();
            for i in begin..end {
                let set: Vec<Expr> = sets[i].clone();
                let after = set.last().and_then(|l| parameters.iter().position(|p| p == l));
                for &p in &parameters[after.map_or(0, |k| k + 1)..] {
                    sets.push([set.as_slice(), &[p]].concat());
                }
            }
            begin = end;
        }
        let all: Vec<Expr> = parameters.to_vec();
        let seen: Vec<Vec<f64>> = sets.iter().map(|set| self.part(0, set, &all, 1.0)).collect();
        let occurs = |part: &Vec<f64>| part.iter().any(|x| x.abs() > 1e-9);
        sets.into_iter()
            .zip(seen)
            .filter(|(_, part)| occurs(part))
            .map(|(set, _)| set)
            .collect()
    }

    /// The coefficients of a product of parameters in all functions at a point: $\sum_{T\subseteq S}(-1)^{|S - T|}F(T)$
    /// with the parameters of $T$ one and the others zero; quasi-velocities so many times as large.
    fn part(&mut self, point: u64, set: &[Expr], parameters: &[Expr], speed: f64) -> Vec<f64> {
        let mut sum = vec![0.0; self.functions];
        for bits in 0..1_usize << set.len() {
            let given = |&p: &Expr| {
                let place = set.iter().position(|s| *s == p);
                (p, f64::from(u8::from(place.is_some_and(|i| bits >> i & 1 == 1))))
            };
            let given: Vec<(Expr, f64)> = parameters.iter().map(given).collect();
            let is_less = (set.len() - bits.count_ones() as usize) % 2 == 1;
            let sign = if is_less { -1.0 } else { 1.0 };
            let values = self.values(point, &given, speed);
            sum.iter_mut().zip(values).for_each(|(s, x)| *s += sign * x);
        }
        sum
    }

    /// Functions and letters at a point, with given values of some parameters.
    fn values(&mut self, point: u64, given: &[(Expr, f64)], speed: f64) -> Vec<f64> {
        let g = self.g;
        let quasi = &self.letters[..self.quasi];
        let value = |s: Expr| {
            let known = given.iter().find(|x| x.0 == s).map(|x| x.1);
            known.unwrap_or_else(|| {
                let faster = if quasi.contains(&s) { speed } else { 1.0 };
                anywhere(g, s, point) * faster
            })
        };
        self.evaluator.at(&value)
    }

    fn point(&mut self, i: usize) -> Option<&Point> {
        while self.points.len() <= i {
            let point = self.next;
            self.next += 1;
            if self.next > 2 * i as u64 + 50 {
                return None;
            }
            let (sets, all) = (self.sets.clone(), self.parameters());
            let parts: Vec<Vec<f64>> =
                sets.iter().map(|set| self.part(point, set, &all, 1.0)).collect();
            let letters = self.values(point, &[], 1.0).split_off(self.functions);
            if parts.iter().flatten().chain(&letters).all(|x| x.is_finite()) {
                self.points.push(Point { letters, parts });
            }
        }
        self.points.get(i)
    }

    /// The parameters of the products.
    fn parameters(&self) -> Vec<Expr> {
        let mut all: Vec<Expr> = self.sets.concat();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The degree in the quasi-velocities of what belongs to a product of parameters; `None` for mixed ones.
    fn degree(&mut self, set: usize, k: usize) -> Option<usize> {
        let (set, all) = (self.sets[set].clone(), self.parameters());
        let [once, twice] = [1.0, 2.0].map(|speed| self.part(0, &set, &all, speed)[k]);
        (0..3).find(|&d| (twice / once - f64::from(1_u8 << d)).abs() < 1e-6)
    }

    fn is_zero(&mut self, set: usize, k: usize) -> bool {
        (0..2).all(|i| self.point(i).is_some_and(|p| p.parts[set][k].abs() < 1e-11))
    }

    /// What belongs to a product of parameters in a function, as a polynomial in the letters of no vector, of one, or
    /// of two.
    fn fitted(&mut self, set: usize, k: usize) -> Option<Expr> {
        let count = self.places.len();
        let singles = (0..count).map(|i| vec![i]);
        let pairs = (0..count).flat_map(|j| (0..j).map(move |i| vec![i, j]));
        let choices: Vec<Vec<usize>> =
            std::iter::once(Vec::new()).chain(singles).chain(pairs).collect();
        let degree = self.degree(set, k)?;
        for chosen in choices {
            let products = self.monomials(&chosen, degree);
            if let Some(sum) = self.fit(set, k, &products) {
                return Some(sum);
            }
            if self.work == 0 {
                return None;
            }
        }
        None
    }

    /// Products of letters that are of some degree in the velocities and of at most second degree in the vectors.
    fn monomials(&self, chosen: &[usize], degree: usize) -> Vec<Vec<usize>> {
        let (mut still, mut moving) = (Vec::new(), Vec::new());
        for &(begin, count) in chosen.iter().map(|&i| &self.places[i]) {
            still.extend(begin..begin + count);
            moving.extend(begin + count..begin + 2 * count);
        }
        let speeds: Vec<usize> = (0..self.quasi).collect();
        let pairs = |list: &[usize]| -> Vec<Vec<usize>> {
            let of = |i: usize| (i..list.len()).map(move |j| vec![list[i], list[j]]);
            (0..list.len()).flat_map(of).collect()
        };
        let single = |list: &[usize]| list.iter().map(|&i| vec![i]).collect::<Vec<_>>();
        let times = |x: &[Vec<usize>], y: &[Vec<usize>]| -> Vec<Vec<usize>> {
            let of = |a: &Vec<usize>| {
                y.iter().map(|b| [a.as_slice(), b].concat()).collect::<Vec<_>>()
            };
            x.iter().flat_map(of).collect()
        };
        let places = [vec![Vec::new()], single(&still), pairs(&still)].concat();
        let slow = [vec![Vec::new()], single(&still)].concat();
        match degree {
            0 => places,
            1 => [times(&places, &single(&speeds)), times(&slow, &single(&moving))].concat(),
            _ => {
                let mixed = times(&single(&moving), &single(&speeds));
                [times(&places, &pairs(&speeds)), times(&slow, &mixed)].concat()
            }
        }
    }

    /// The sum of products with fractions before them that has the values of a part of a function.
    fn fit(&mut self, set: usize, k: usize, products: &[Vec<usize>]) -> Option<Expr> {
        const IDLE: usize = 4;
        let columns = products.len() + 1;
        let mut space = NullSpace::new(columns);
        let (mut idle, mut i) = (0, 0);
        while idle < IDLE {
            self.work = self.work.saturating_sub(columns * columns);
            if self.work == 0 {
                return None;
            }
            let point = self.point(i)?;
            let product = |x: &Vec<usize>| x.iter().map(|&l| point.letters[l]).product::<f64>();
            let row = products.iter().map(product).chain([point.parts[set][k]]).collect();
            idle = if space.add(row) { 0 } else { idle + 1 };
            if space.dimension() == 0 {
                return None;
            }
            i += 1;
        }
        let relation = space.basis().into_iter().find(|c| c[columns - 1] != 0.0)?;
        let mut terms = Vec::new();
        for (product, &c) in products.iter().zip(&relation) {
            let (n, d) = small_fraction(-c / relation[columns - 1])?;
            if n != 0 {
                let letters = product.iter().map(|&l| self.letters[l]);
                let whole = letters.fold(self.g.fraction(n, d), |p, l| self.g.mul(p, l));
                terms.push(whole);
            }
        }
        Some(self.g.sum(terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::principle::derive;
    use crate::reduction::{reduced_equations, reduced_in_names};
    use pfaff_model::{NoFiles, Overrides, Principle, Source, read_model};

    /// A body that rolls on a plane on its lowest point, half an ellipsoid.
    const ROLLING: &str = "
coordinates  x, y, c, a, b
parameters   m = 1, g = 9.81, A = 0.2, B = 0.3, C = 0.4, h = 0.1, J = [[2, 0.3, 0], [0.3, 3, 0], [0, 0, 4]]
let          D = [[A^2, 0, 0], [0, B^2, 0], [0, 0, C^2]]
let          R = rotation_z(c)*rotation_x(a)*rotation_y(b)
let          omega = vee(R'*transpose(R))
let          W = vee(transpose(R)*R')
let          k = transpose(R)*[0, 0, 1]
let          rho = [0, 0, h] - D*k/sqrt(dot(k, D*k))
let          centre = [x, y, -dot(k, rho)]
kinetic      m*dot(centre', centre')/2 + dot(W, J*W)/2
potential    m*g*centre[3]
let          slip = centre' + cross(omega, R*rho)
constraint   roll_x: slip[1] = 0
constraint   roll_y: slip[2] = 0
";

    /// The blocks of a rolling body are short in its vectors, and have the values of those in angles.
    #[test]
    fn a_rolling_body_has_short_equations_in_its_vectors() {
        let source = Source::new("rolling", ROLLING);
        let read = read_model(source, &Overrides::default(), &NoFiles).expect("it is right");
        let model = read.0.workspace();
        let g = &model.graph;
        let e = derive(&model, Principle::Chetaev).expect("it has equations");
        let (long, short) = g.merging(|| {
            let long = reduced_equations(&model, &e).expect("it is affine");
            (long, reduced_in_names(&model, &e).expect("it is affine"))
        });
        let all = |r: &crate::ReducedEquations| [r.mass.concat(), r.force.clone()].concat();
        let (long, named) = (all(&long), all(&short));
        assert!(4 * g.operations(&named) < g.operations(&long), "{}", g.operations(&named));
        let vectors = vectors(&model, &short.velocities);
        let letters = vectors.iter().flat_map(|v| v.components.iter().chain(&v.rates));
        let images: Vec<(Expr, Expr)> = letters.map(|l| (l.symbol, l.meaning)).collect();
        let whole = g.substitute(&named, &images);
        for point in 0..5 {
            let at = |es: &[Expr]| g.evaluate(es, &|s| anywhere(g, s, point));
            for (x, y) in at(&long).iter().zip(at(&whole)) {
                assert!((x - y).abs() <= 1e-11 * (1.0 + x.abs()), "{x} and {y}");
            }
        }
    }
}
