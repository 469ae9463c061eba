//! Formulas of a page: short ones, with the model's own names, and with names for what they share.

use std::collections::{BTreeSet, VecDeque};

use pfaff::Workspace;
use pfaff_expr::{Expr, Graph, NameOptions, NamedParts, Node, Role};

use super::used_names::tidy;

/// A common part of fewer operations is easier to read where it stands.
const WORTH_A_NAME: usize = 8;
/// An energy of so many characters is written out, although another one has it as a term.
const ENERGY: usize = 200;
/// Names save at least this many operations: more of them than a page can hold would explain nothing.
const WORTH_SAVING: usize = 40;

/// Outputs as short formulas in a graph of their own, with the model's own names where these are shorter, and names
/// for large parts that occur more than once.
pub(crate) fn named_parts(model: &Workspace, outputs: &[Expr], into: &Graph) -> NamedParts {
    let lets = Abbreviations::of(model);
    // NOTE: in a graph of their own, where no derived node stands for what is written here.
    let mut formulas = model.graph.on_paper_by_names(&lets.pairs(model, outputs), into);
    let (names, definitions) =
        lets.used(&formulas, into, |names, e| names.by_names(model, e, into));
    let own = names.len();
    formulas.splice(0..0, definitions);
    let options = NameOptions {
        taken: names_of(model),
        least_cost: WORTH_A_NAME,
        least_saving: WORTH_SAVING,
        ..NameOptions::default()
    };
    let NamedParts { mut definitions, mut outputs } = into.named(&formulas, &options);
    // A part that the model has a name for keeps that name.
    for (i, name) in names.iter().enumerate() {
        let Some(part) = into.symbol_of(outputs[i]).map(|s| s.name) else { continue };
        let Some(place) = definitions.iter().position(|d| d.0 == part) else { continue };
        let image = [(outputs[i], into.symbol(name, Role::Free))];
        let (_, meaning) = definitions.remove(place);
        let (parts, all): (Vec<String>, Vec<Expr>) = definitions.into_iter().unzip();
        let all = into.as_written(|| into.substitute(&all, &image));
        definitions = parts.into_iter().zip(all).collect();
        outputs = into.as_written(|| into.substitute(&outputs, &image));
        outputs[i] = meaning;
    }
    let (definitions, mut outputs) = without_opposites(into, definitions, outputs);
    let rest = outputs.split_off(own);
    let (definitions, rest) = without_names_of_sides(into, definitions, &outputs, rest);
    // The model's own names may stand in the parts, and parts in what the names mean: each after what it needs.
    let mut waiting: Vec<(String, Expr)> = names.into_iter().zip(outputs).collect();
    waiting.extend(definitions);
    NamedParts { definitions: in_order(into, waiting), outputs: rest }
}

/// Names of parts that only stand for whole sides of a few lines are not worth looking up: energy, kinetic energy and
/// the integral of the motion may be the same.
fn without_names_of_sides(
    g: &Graph,
    definitions: Vec<(String, Expr)>,
    meanings: &[Expr],
    mut sides: Vec<Expr>,
) -> (Vec<(String, Expr)>, Vec<Expr>) {
    let mut kept = Vec::with_capacity(definitions.len());
    for (i, (name, meaning)) in definitions.iter().enumerate() {
        let symbol = g.symbol(name, Role::Free);
        let later = definitions[i + 1..].iter().map(|d| &d.1);
        let inside = sides.iter().filter(|&&e| e != symbol);
        let is_part = inside.chain(later).chain(meanings).any(|&e| g.contains(e, &[symbol]));
        let whole = sides.iter().filter(|&&e| e == symbol).count();
        // A kinetic energy, and energies that have it as a term.
        let is_term_only = || {
            let inside = sides.iter().filter(|&&e| e != symbol && g.contains(e, &[symbol]));
            let below = definitions[i + 1..].iter().map(|d| &d.1).chain(meanings);
            whole > 0
                && inside.clone().count() <= 3
                && inside.clone().all(|&e| has_term(g, e, symbol))
                && !below.into_iter().any(|&e| g.contains(e, &[symbol]))
                && g.to_text(*meaning).len() <= ENERGY
        };
        if is_part && is_term_only() {
            let image = [(symbol, *meaning)];
            sides = g.as_written(|| g.substitute(&sides, &image));
        } else if is_part || whole > 3 {
            kept.push((name.clone(), *meaning));
        } else {
            sides.iter_mut().filter(|e| **e == symbol).for_each(|e| *e = *meaning);
        }
    }
    (kept, sides)
}

/// Whether a sum has a symbol as a term, and nowhere else.
fn has_term(g: &Graph, e: Expr, symbol: Expr) -> bool {
    let (mut terms, mut rest) = (Vec::new(), vec![e]);
    while let Some(e) = rest.pop() {
        match g.node(e) {
            Node::Add(a, b) | Node::Sub(a, b) => rest.extend([a, b]),
            _ => terms.push(e),
        }
    }
    terms.iter().all(|&t| t == symbol || !g.contains(t, &[symbol]))
}

/// What equals another part or its opposite needs no name of its own.
fn without_opposites(
    g: &Graph,
    definitions: Vec<(String, Expr)>,
    mut sides: Vec<Expr>,
) -> (Vec<(String, Expr)>, Vec<Expr>) {
    let value = |e: Expr| {
        let golden = 0.618_033_988_749_895 * e.index() as f64;
        0.4 + 0.6 * (golden - libm::floor(golden))
    };
    let mut kept: Vec<(String, Expr)> = Vec::with_capacity(definitions.len());
    let mut waiting: VecDeque<(String, Expr)> = definitions.into();
    while let Some((name, meaning)) = waiting.pop_front() {
        let own = g.evaluate(&[meaning], &value)[0];
        let same = kept.iter().find_map(|(other, e)| {
            let size = g.evaluate(&[*e], &value)[0];
            let close = |x: f64| x.abs() <= 1e-9 * own.abs();
            let (is_opposite, is_equal) = (close(own + size), close(own - size));
            let zero = if is_opposite { g.add(meaning, *e) } else { g.sub(meaning, *e) };
            let is_proved =
                (is_opposite || is_equal) && g.zero_test(zero) == pfaff_expr::ZeroTest::Zero;
            is_proved.then(|| (g.symbol(other, Role::Free), is_opposite))
        });
        let Some((other, is_opposite)) = same else {
            kept.push((name, meaning));
            continue;
        };
        let symbol = g.symbol(&name, Role::Free);
        let image = [(symbol, if is_opposite { g.neg(other) } else { other })];
        let put = |e: &mut Expr| {
            if g.contains(*e, &[symbol]) {
                *e = tidy(g, g.as_written(|| g.substitute(&[*e], &image))[0]);
            }
        };
        waiting.iter_mut().for_each(|d| put(&mut d.1));
        sides.iter_mut().for_each(put);
    }
    (kept, sides)
}

/// Definitions such that each comes after those whose names it uses.
fn in_order(g: &Graph, mut waiting: Vec<(String, Expr)>) -> Vec<(String, Expr)> {
    let mut done = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let symbols: Vec<Expr> =
            waiting.iter().map(|(name, _)| g.symbol(name, Role::Free)).collect();
        let ready = waiting.iter().position(|(_, e)| !g.contains(*e, &symbols)).unwrap_or(0);
        done.push(waiting.remove(ready));
    }
    done
}

/// Outputs with the model's own names wherever they stand, and with primes for the rates of these names: the formulas
/// as the text has them. `is_quick` leaves them at that, instead of looking for shorter ones.
pub(crate) fn own_words(
    model: &Workspace,
    outputs: &[Expr],
    into: &Graph,
    is_quick: bool,
) -> NamedParts {
    let mut lets = Abbreviations::of(model);
    lets.add_rates(model);
    let formulas = lets.written(model, outputs, into, is_quick);
    let has_rates = !lets.rates.is_empty();
    let (names, meanings) = lets.used(&formulas, into, |names, e| {
        if is_quick || has_rates {
            names.written(model, &[e], into, is_quick)[0]
        } else {
            names.by_names(model, e, into)
        }
    });
    let definitions = in_order(into, names.into_iter().zip(meanings).collect());
    NamedParts { definitions, outputs: formulas }
}

/// What the text says, where that is much shorter in its own names than what was derived.
pub(crate) fn own_or_derived(model: &Workspace, own: Expr, derived: Expr) -> Expr {
    let g = &model.graph;
    let named = Abbreviations::of(model).pairs(model, &[own])[0][1];
    let is_short = named != own && 2 * g.operations(&[named]) < g.operations(&[derived]);
    if is_short { own } else { derived }
}

/// The `let` names of a model that may stand in its equations.
#[derive(Clone)]
struct Abbreviations {
    /// Name, meaning, and the symbol that stands for it.
    list: Vec<(String, Expr, Expr)>,
    /// Rates of these, with the symbols that stand for them.
    rates: Vec<(Expr, Expr)>,
}

impl Abbreviations {
    /// A name for less than this is longer than what it stands for.
    const LEAST: usize = 3;
    /// What has more operations is not tried without names.
    const LONG: usize = 250;

    fn of(model: &Workspace) -> Self {
        let g = &model.graph;
        let worth =
            |&&(_, e): &&(String, Expr)| g.varies(e) && g.operations(&[e]) >= Self::LEAST;
        let entry = |(name, e): &(String, Expr)| (name.clone(), *e, g.symbol(name, Role::Free));
        Self {
            list: model.abbreviations.iter().filter(worth).map(entry).collect(),
            rates: Vec::new(),
        }
    }

    fn add_rates(&mut self, model: &Workspace) {
        let g = &model.graph;
        for (name, e, _) in &self.list {
            let rate = g.as_written(|| g.total_derivative(*e));
            if g.operations(&[rate]) >= Self::LEAST {
                self.rates.push((rate, g.symbol(name, Role::Coordinate { order: 1 })));
            }
        }
    }

    /// What stands for a name, and the name.
    fn images(&self) -> Vec<(Expr, Expr)> {
        let own = self.list.iter().map(|&(_, e, s)| (e, s));
        own.chain(self.rates.iter().copied()).collect()
    }

    /// Each expression as it is, and with the names in it.
    fn pairs(&self, model: &Workspace, outputs: &[Expr]) -> Vec<[Expr; 2]> {
        let images = self.images();
        let named = if images.is_empty() {
            outputs.to_vec()
        } else {
            model.graph.as_written(|| model.graph.substitute(outputs, &images))
        };
        outputs.iter().zip(named).map(|(&plain, named)| [plain, named]).collect()
    }

    /// Each expression with all names in it, with those of velocities only, and as it is.
    ///
    /// A rotation matrix is best written out where an angular velocity has a name.
    fn ways(&self, model: &Workspace, outputs: &[Expr]) -> Vec<Vec<Expr>> {
        let g = &model.graph;
        let velocities = model.velocities();
        let moving = self.list.iter().filter(|(_, e, _)| g.contains(*e, &velocities)).cloned();
        let moving = Self { list: moving.collect(), rates: Vec::new() };
        let [named, partly] = [self, &moving]
            .map(|names| g.as_written(|| g.substitute(outputs, &names.images())));
        let ways = |(k, &plain): (usize, &Expr)| {
            // NOTE: what is much longer does not become shorter than a name, and it takes long to be seen.
            let least = g.operations(&[named[k]]);
            let most = Self::LONG.min(if least == 0 { 0 } else { 6 * least + 10 });
            let mut ways = vec![named[k], partly[k], plain];
            ways.retain(|&e| e == named[k] || g.operations(&[e]) <= most);
            ways.dedup();
            ways
        };
        outputs.iter().enumerate().map(ways).collect()
    }

    /// An expression with the names in it where that is much shorter.
    fn by_names(&self, model: &Workspace, e: Expr, into: &Graph) -> Expr {
        model.graph.on_paper_by_names(&self.pairs(model, &[e]), into)[0]
    }

    /// Expressions with the names in them, as short as that is found; `is_quick` takes them as they stand.
    fn written(
        &self,
        model: &Workspace,
        outputs: &[Expr],
        into: &Graph,
        is_quick: bool,
    ) -> Vec<Expr> {
        if !is_quick {
            return model.graph.shortest_on_paper(&self.ways(model, outputs), into);
        }
        let named: Vec<Expr> = self.pairs(model, outputs).iter().map(|pair| pair[1]).collect();
        model.graph.in_reading_order(&named, into)
    }

    /// The names that formulas use, in declared order, and what they mean, by earlier ones where that is shorter.
    fn used(
        &self,
        formulas: &[Expr],
        into: &Graph,
        meaning: impl Fn(&Self, Expr) -> Expr,
    ) -> (Vec<String>, Vec<Expr>) {
        let (mut names, mut meanings) = (Vec::new(), Vec::new());
        let mut roots = formulas.to_vec();
        for (i, (name, e, _)) in self.list.iter().enumerate().rev() {
            let symbols = symbols_of(into, name);
            if !roots.iter().any(|&r| into.contains(r, &symbols)) {
                continue;
            }
            let rates = self.rates.get(..i).unwrap_or_default().to_vec();
            let earlier = Self { list: self.list[..i].to_vec(), rates };
            let meaning = meaning(&earlier, *e);
            roots.push(meaning);
            names.push(name.clone());
            meanings.push(meaning);
        }
        names.reverse();
        meanings.reverse();
        (names, meanings)
    }
}

/// The symbols that stand for a name of the text and for its rate: for the name itself, also one that is read as a
/// coordinate.
pub(super) fn symbols_of(g: &Graph, name: &str) -> [Expr; 3] {
    [Role::Free, Role::Coordinate { order: 0 }, Role::Coordinate { order: 1 }]
        .map(|role| g.symbol(name, role))
}

/// All names that the text of a model gives.
pub(crate) fn names_of(model: &Workspace) -> Vec<String> {
    let mut names: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    names.extend(model.parameters.iter().map(|p| p.name.clone()));
    names.extend(model.abbreviations.iter().map(|(name, _)| name.clone()));
    names.extend(model.constraints.iter().map(|c| c.name.clone()));
    // `R` beside `R[1,1]`
    let whole: BTreeSet<String> =
        names.iter().filter_map(|n| Some(n.split_once('[')?.0.to_owned())).collect();
    names.extend(whole);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::{Label, mechanical, present};
    use crate::{ToLatex, ToText};
    use pfaff::{Dynamics, GALLERY, GalleryFiles, Model, Overrides, Source, derive};

    /// What is printed has the values of what was derived, for every model of the gallery at random states.
    #[test]
    fn printed_equations_have_the_values_of_the_derived_ones() {
        let mut compared = 0;
        for entry in GALLERY {
            let source = Source::new(entry.name, entry.text);
            let model = Model::read(source, &Overrides::default(), &GalleryFiles);
            let model = model.expect("gallery models are right");
            // Large systems are printed as they are derived, and take long to print.
            if model.coordinates.len() > 20 {
                continue;
            }
            let Ok(derivation) = derive(&model, None) else { continue };
            let Dynamics::Saddle(equations) = &derivation.dynamics else { continue };
            let model = &derivation.workspace();
            let sections = mechanical(model, equations);
            let mut outputs = Vec::new();
            for line in sections.iter().flat_map(|s| &s.lines) {
                if let Label::Expression(left) = line.label {
                    outputs.push(left);
                }
                outputs.push(line.right);
            }
            let page = Graph::new();
            let named = named_parts(model, &outputs, &page);
            for point in 0..3 {
                let value = |name: &str| {
                    let mix = |h: u64, b: u64| {
                        (h ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
                    };
                    let seed = name.bytes().fold(7 + point, |h, b| mix(h, u64::from(b)));
                    0.4 + (mix(seed, 5) >> 11) as f64 / (1_u64 << 53) as f64
                };
                let at = |g: &Graph, e: Expr| value(&g.symbol_of(e).expect("a symbol").text());
                let before = model.graph.evaluate(&outputs, &|s| at(&model.graph, s));
                let mut known: Vec<(Expr, f64)> = Vec::new();
                for (name, e) in &named.definitions {
                    let of = |s: Expr| {
                        known.iter().find(|k| k.0 == s).map_or_else(|| at(&page, s), |k| k.1)
                    };
                    let x = page.evaluate(&[*e], &of)[0];
                    known.push((page.symbol(name, Role::Free), x));
                }
                let of = |s: Expr| {
                    known.iter().find(|k| k.0 == s).map_or_else(|| at(&page, s), |k| k.1)
                };
                let after = page.evaluate(&named.outputs, &of);
                for ((x, y), e) in before.iter().zip(&after).zip(&named.outputs) {
                    if !x.is_finite() {
                        continue;
                    }
                    compared += 1;
                    let close = (x - y).abs() <= 1e-11 * (1.0 + x.abs());
                    assert!(close, "{}: {x} and {y}: {}", entry.name, page.to_text(*e));
                }
            }
        }
        assert!(compared > 3_000, "{compared}");
    }

    /// A name that the model has is not ours as well.
    #[test]
    fn our_symbols_give_way_to_those_of_the_model() {
        let text = "coordinates x\nparameters M = 1, m1 = 2\nlagrangian (M + m1)*x'^2/2\ninitial x = 0\nsolve t = 0..1";
        let source = Source::new("m", text);
        let model =
            Model::read(source, &Overrides::default(), &GalleryFiles).expect("it is right");
        let shown = present(&derive(&model, None).expect("it has equations"));
        let text = shown.to_text();
        assert!(text.contains("𝖬[x,x] = M + m1"), "{text}");
        assert!(!text.contains("signs"), "no multipliers, no signs: {text}");
        assert!(
            shown.to_latex().contains("\\mathsf{M}_{x \\, x} &= M + m_{1}"),
            "{}",
            shown.to_latex()
        );
    }

    /// Also those of its vectors and matrices.
    #[test]
    fn our_symbols_give_way_to_vectors_of_the_model() {
        let text = "coordinates x, phi\nparameters m = 1, l = 0.3, a = 0.1\nlet y0 = a*cos(7*t)\n\
                    let T = [x + l*sin(phi), y0 - l*cos(phi)]\nlet R = rotation_z(phi)\n\
                    kinetic m*dot(T', T')/2 + dot(R'*[1, 2, 0], R'*[1, 2, 0])\n\n\
                    constraint c: x' = l*phi'\ninitial x = 0\nsolve t = 0..1";
        let source = Source::new("m", text);
        let model =
            Model::read(source, &Overrides::default(), &GalleryFiles).expect("it is right");
        let shown = present(&derive(&model, None).expect("it has equations"));
        let text = shown.to_text();
        assert!(text.contains("\n  𝖳 = m*dot(T', T')/2"), "{text}");
        assert!(text.contains("q'' = f + 𝖱 with 𝖱 = + A^T lambda"), "{text}");
        assert!(text.contains("\n  y0 = a*cos(7*t)\n"), "a number in a vector: {text}");
    }

    /// The names of the model stand in its equations where that is much shorter.
    #[test]
    fn names_of_the_model_come_back() {
        let text = "coordinates x, y, z\nparameters m = 1, k = 2\n\
            let rho = sqrt(x^2 + 2*y^2 + 3*z^2 + x*y + y*z + 1)\n\
            lagrangian m*(x'^2 + y'^2 + z'^2)/2 - k*rho^3*x - k*rho*y\n\
            initial x = 1\nsolve t = 0..1";
        let source = Source::new("m", text);
        let model =
            Model::read(source, &Overrides::default(), &GalleryFiles).expect("it is right");
        let shown = present(&derive(&model, None).expect("it has equations")).to_text();
        assert!(
            shown.contains("V = k*(x*rho^3 + y*rho)") || shown.contains("rho^3"),
            "{shown}"
        );
        assert!(shown.contains("  rho = sqrt("), "{shown}");
    }
}
