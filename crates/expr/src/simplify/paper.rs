//! Expressions as a person would print them: the shortest of several formulas, each proved equal.
//!
//! An expression is read as a quotient of polynomials in its symbols, sines, cosines, roots and other functions
//! ([`normal`](normal)), with arguments of sines as they were written or taken apart into single angles. Like terms
//! are then collected and common factors cancelled. From the polynomials formulas are written with factors taken out,
//! $s^2$ or $c^2$, sums of angles and multiple angles ([`collect`](collect)), and the one with the fewest characters is
//! kept. It is compared with the expression by the [zero test](Graph::zero_test), and dropped if that does not prove
//! them equal.
//!
//! **Budget.** Work is counted, not timed: the same expression always gives the same formula. What takes too much
//! work stays as it was written.

mod apart;
mod atoms;
mod collect;
mod finish;
mod form;
mod normal;
mod pen;
mod polynomial;
mod quotient;
mod relations;
mod roots;
mod shared;
mod terms;
mod trigonometry;

use std::collections::BTreeMap;

use num_traits::One;
use rustc_hash::FxHashMap;

use crate::ZeroTest;
use crate::graph::Graph;
use crate::graph::node::{Expr, Node, Role};
use crate::print;
use atoms::{Arguments, Atom, Generator};
use collect::Collector;
use form::{Form, Leaf, Place, rank};
use pen::Pen;
use polynomial::{Budget, Coefficient};
use quotient::Field;

/// Work on one reading of an expression.
const READING: usize = 30_000;
/// Work on the formulas of one reading.
const WRITING: usize = 40_000;
/// Work on all expressions of one call.
const ALL: usize = 1_200_000;
/// Larger graphs are left as they are.
const MAX_NODES: usize = 3_000;
/// The width of a text that is not written out: more than any that is, and small enough for sums on 32 bits.
const ENDLESS: usize = 1 << 26;
/// Functions inside of functions, deeper ones are left as they are.
const MAX_DEPTH: usize = 12;

impl Graph {
    /// The shortest formulas that are found for some expressions, in another graph.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let (g, page) = (Graph::new(), Graph::new());
    /// let [k, r] = ["k", "r"].map(|n| g.symbol(n, Role::Parameter));
    /// let e = g.mul(g.div(g.one(), r), g.div(k, r));
    /// assert_eq!(g.to_text(e), "1/r*(k/r)");
    /// let short = g.on_paper(&[e], &page)[0];
    /// assert_eq!(page.to_text(short), "k/r^2");
    /// ```
    pub fn on_paper(&self, outputs: &[Expr], into: &Self) -> Vec<Expr> {
        let pairs: Vec<[Expr; 2]> = outputs.iter().map(|&e| [e, e]).collect();
        self.on_paper_by_names(&pairs, into)
    }

    /// The shortest formulas of some quantities, of which each is given in several ways.
    pub fn shortest_on_paper(&self, quantities: &[Vec<Expr>], into: &Self) -> Vec<Expr> {
        let mut paper = Paper::new(self);
        let shortest = |ways: &Vec<Expr>| {
            let width = |e: &Expr| {
                paper.choose(*e, 0);
                paper.text_width(paper.write(*e, &paper.desk))
            };
            ways.iter().copied().min_by_key(width)
        };
        let chosen: Vec<Expr> = quantities.iter().filter_map(shortest).collect();
        chosen.into_iter().map(|e| paper.write(e, into)).collect()
    }

    /// The same for expressions of which each is also given with names for some of its parts: the second formula of
    /// a pair is taken where it is much shorter than the first.
    pub fn on_paper_by_names(&self, pairs: &[[Expr; 2]], into: &Self) -> Vec<Expr> {
        /// A name has to be looked up: it must save three characters of ten, of a formula that is long. One that is
        /// looked up anyway may stand in short formulas too.
        const SHORT: usize = 50;
        /// Formulas that become shorter by a name, from which on it is looked up anyway.
        const MANY: usize = 4;
        let mut paper = Paper::new(self);
        let plain: Vec<Expr> = pairs.iter().map(|pair| pair[0]).collect();
        paper.choose_all(&plain);
        let mut chosen: Vec<Expr> = Vec::with_capacity(pairs.len());
        let mut waiting = Vec::new();
        for (i, &[plain, named]) in pairs.iter().enumerate() {
            paper.choose(plain, 0);
            chosen.push(plain);
            if named == plain {
                continue;
            }
            let width = paper.text_width(paper.write(plain, &paper.desk));
            if width > SHORT && paper.saves(named, width) {
                chosen[i] = named;
            } else {
                waiting.push((i, width));
            }
        }
        let mut known: Vec<Expr> = Vec::new();
        for (&e, &[plain, _]) in chosen.iter().zip(pairs).filter(|(e, pair)| **e != pair[0]) {
            known.extend(self.names_beyond(e, plain));
        }
        let mut uses: BTreeMap<Expr, usize> = BTreeMap::new();
        for &(i, width) in waiting.iter().filter(|_| waiting.len() >= MANY) {
            let [plain, named] = pairs[i];
            if paper.saves_some(named, width) {
                for name in self.names_beyond(named, plain) {
                    *uses.entry(name).or_insert(0) += 1;
                }
            }
        }
        known.extend(uses.into_iter().filter(|u| u.1 >= MANY).map(|u| u.0));
        for (i, width) in waiting {
            let [plain, named] = pairs[i];
            let is_known = self.names_beyond(named, plain).iter().all(|s| known.contains(s));
            if is_known && (paper.saves(named, width) || paper.saves_some(named, width)) {
                chosen[i] = named;
            }
        }
        chosen.into_iter().map(|e| paper.write(e, into)).collect()
    }

    /// Symbols of one expression that another has not.
    fn names_beyond(&self, e: Expr, other: Expr) -> Vec<Expr> {
        let others = self.symbols(&[other]);
        self.symbols(&[e]).into_iter().filter(|s| !others.contains(s)).collect()
    }
}

/// How an expression will be written.
#[derive(Clone, Debug)]
enum Choice {
    AsItIs,
    /// Terms that are written by themselves, with their signs: `true` for minus.
    Sum(Vec<(bool, Expr)>),
    /// What stands above and below a line.
    Quotient(Expr, Expr),
    Formula {
        form: Form,
        atoms: Vec<Atom>,
        generators: Vec<Generator>,
    },
}

impl Choice {
    /// Whether it has a bracket with a factor.
    fn is_factored(&self) -> bool {
        let has_bracket = |form: &Form| match form {
            Form::Product { factors, .. } => factors.iter().any(|f| f.0.is_sum()),
            Form::Sum(_) | Form::Leaf(_) => false,
        };
        match self {
            Self::Formula { form: Form::Sum(terms), .. } => terms.iter().any(has_bracket),
            Self::Formula { form, .. } => has_bracket(form),
            Self::AsItIs | Self::Sum(_) | Self::Quotient(..) => false,
        }
    }

    /// Whether nothing is left to take apart in the arguments of sines: no sums and no even multiples.
    fn has_single_angles(&self) -> bool {
        let is_single = |g: &Generator| g.form.len() == 1 && g.unit.numer() % 2 != 0;
        match self {
            Self::AsItIs | Self::Sum(_) | Self::Quotient(..) => true,
            Self::Formula { generators, .. } => generators.iter().all(is_single),
        }
    }
}

struct Paper<'a> {
    source: &'a Graph,
    /// Where formulas are tried.
    desk: Graph,
    chosen: FxHashMap<Expr, Choice>,
    left: usize,
}

impl<'a> Paper<'a> {
    fn new(source: &'a Graph) -> Self {
        Self { source, desk: Graph::new(), chosen: FxHashMap::default(), left: ALL }
    }

    /// Whether a formula with names is much shorter than one of so many characters.
    fn saves(&mut self, named: Expr, width: usize) -> bool {
        self.choose(named, 0);
        let other = self.text_width(self.write(named, &self.desk));
        other.saturating_mul(10) < width.saturating_mul(7)
    }

    /// Whether a formula with names is shorter by more than a name.
    fn saves_some(&mut self, named: Expr, width: usize) -> bool {
        const NAME: usize = 12;
        self.choose(named, 0);
        let other = self.text_width(self.write(named, &self.desk));
        other.saturating_add(NAME) <= width
    }

    /// Decides how some expressions will be written, small ones first: what nobody can read takes no work from what is
    /// read.
    fn choose_all(&mut self, all: &[Expr]) {
        let mut order = all.to_vec();
        order.sort_by_cached_key(|&e| self.source.size(&[e]));
        for &e in &order {
            self.choose(e, 0);
        }
        // NOTE: with the work that is left, so that no formula goes without a first look.
        for e in order {
            self.choose_parts_of_formula(e);
        }
    }

    /// Decides how an expression will be written.
    fn choose(&mut self, e: Expr, depth: usize) {
        if self.chosen.contains_key(&e) {
            return;
        }
        self.look_for_formulas(e, depth);
        if depth == 0 {
            self.collect_as_it_is(e);
        }
    }

    /// What no formula was found for has its like terms collected.
    fn collect_as_it_is(&mut self, e: Expr) {
        /// Nobody sees like terms in what is longer.
        const LONG: usize = 600;
        let is_given = matches!(self.chosen.get(&e), Some(Choice::AsItIs));
        if !is_given || self.source.size(&[e]) > LONG {
            return;
        }
        let simple = self.source.simplify(e);
        let width =
            |e: Expr| self.text_width(self.source.in_reading_order(&[e], &self.desk)[0]);
        if simple != e && width(simple) < width(e) {
            self.chosen.entry(simple).or_insert(Choice::AsItIs);
            self.chosen.insert(e, Choice::Sum(vec![(false, simple)]));
        }
    }

    fn look_for_formulas(&mut self, e: Expr, depth: usize) {
        self.chosen.insert(e, Choice::AsItIs);
        let live = self.source.live(&[e]);
        if depth > MAX_DEPTH || live.len() > MAX_NODES || live.len() == 1 || self.left == 0 {
            return;
        }
        // Also what comes out as it was takes work.
        self.left = self.left.saturating_sub(live.len() + 50);
        let given = self.source.in_reading_order(&[e], &self.desk)[0];
        let mut best = self.text_width(given).saturating_add(self.untidiness(given));
        for arguments in [Arguments::Whole, Arguments::Apart] {
            let Some((choice, width)) = self.formula(e, arguments, depth) else { break };
            let is_apart = choice.has_single_angles();
            // NOTE: of two that are equally long the one in reading order is taken.
            if width > best || (width == best && depth > 0 && !choice.is_factored()) {
                if is_apart {
                    break;
                }
                continue;
            }
            let before = self.chosen.insert(e, choice);
            let made = self.write(e, &self.desk);
            let difference = self.desk.sub(given, made);
            if self.desk.zero_test(difference) == ZeroTest::Zero {
                best = width;
            } else if let Some(before) = before {
                self.chosen.insert(e, before);
            }
            if is_apart {
                break;
            }
        }
        self.choose_terms(e, best, depth);
    }

    /// The factors of what stands above, on the desk; `None` for what takes too much work.
    fn zeros(&self, e: Expr) -> Option<Vec<Expr>> {
        let normal = normal::normal_form(self.source, &[e], Arguments::Whole, READING)?;
        let above = &normal.values[0].above;
        let common = above.common_monomial();
        let (rest, _) =
            above.times_term(&common.inverse(), &Coefficient::one())?.primitive()?;
        let (atoms, generators) = (&normal.field.atoms.list, &normal.field.atoms.generators);
        let pen = Pen { paper: self, page: &self.desk, generators };
        let atoms_above = common.factors().iter().filter(|f| f.1 > 0);
        let mut factors: Vec<Expr> = atoms_above.map(|f| pen.atom(atoms, f.0)).collect();
        if rest.len() > 1 {
            factors.push(pen.polynomial(atoms, &rest));
        }
        Some(factors)
    }

    fn text_width(&self, e: Expr) -> usize {
        if print::is_small(&self.desk, e) { self.desk.to_text(e).len() } else { ENDLESS }
    }

    /// Characters that a person would give for not reading a fraction inside of a product or of another fraction.
    fn untidiness(&self, e: Expr) -> usize {
        const FRACTION: usize = 8;
        let g = &self.desk;
        let is_fraction = |o: Expr| matches!(g.node(o), Node::Div(..));
        // 1/10/m
        let is_broken = |o: Expr| g.number_of(o).is_some_and(|n| !n.is_integer());
        let is_sum = |o: Expr| matches!(g.node(o), Node::Add(..) | Node::Sub(..));
        let bad = |e: &&Expr| match g.node(**e) {
            // a + (b - c)
            Node::Add(_, b) | Node::Sub(_, b) if is_sum(b) => true,
            // (a*b)^2
            Node::Pow(a, _) => matches!(g.node(a), Node::Mul(..)),
            Node::Div(a, _) if is_broken(a) => true,
            Node::Div(a, b) => {
                // a/(1/m + b/J), (a/m - b/J)/c
                let of_fractions = |e: Expr| match g.node(e) {
                    Node::Add(x, y) | Node::Sub(x, y) => is_fraction(x) || is_fraction(y),
                    _ => false,
                };
                is_fraction(a) || is_fraction(b) || of_fractions(a) || of_fractions(b)
            }
            Node::Mul(a, b) => g.number_of(a).is_none() && (is_fraction(a) || is_fraction(b)),
            _ => false,
        };
        g.live(&[e]).iter().filter(bad).count() * FRACTION
    }

    /// The shortest formula of one reading, and its width.
    fn formula(
        &mut self,
        e: Expr,
        arguments: Arguments,
        depth: usize,
    ) -> Option<(Choice, usize)> {
        let allowed = READING.min(self.left);
        let normal = normal::normal_form(self.source, &[e], arguments, allowed);
        self.left -= allowed - normal.as_ref().map_or(0, |n| n.field.budget.0);
        let mut normal = normal?;
        let allowed = WRITING.min(self.left);
        let mut leaf = |field: &Field, atom: u32| self.leaf(field, atom, depth);
        let mut collector = Collector {
            field: &mut normal.field,
            leaves: Vec::new(),
            leaf: &mut leaf,
            sums: normal.sums,
            differences: normal.differences,
            grouped: FxHashMap::default(),
            below: FxHashMap::default(),
            work: Budget(allowed),
            is_linear: false,
            is_above: false,
        };
        let mut form = collector.quotient(&normal.values[0]);
        form.sort(&collector.leaves);
        form = collector.with_own_differences(form);
        let width = form.width(&collector.leaves);
        let left = collector.work.0;
        self.left -= allowed - left;
        let field = normal.field;
        let (atoms, generators) = (field.atoms.list, field.atoms.generators);
        Some((Choice::Formula { form, atoms, generators }, width))
    }

    /// How an atom is written, and where it stands.
    fn leaf(&mut self, field: &Field, atom: u32, depth: usize) -> Leaf {
        let kind = field.atoms.atom(atom);
        let generators = &field.atoms.generators;
        let mut parts = Vec::new();
        match kind {
            Atom::Node(e) => parts.extend(self.source.node(*e).operands()),
            Atom::Cos(angle) | Atom::Sin(angle) | Atom::Tan(angle) => {
                let forms = angle.multiples.iter().flat_map(|m| &generators[m.0].form);
                parts.extend(forms.map(|f| f.0));
            }
            Atom::Exp(generator) => {
                parts.extend(generators[*generator].form.iter().map(|f| f.0));
            }
            Atom::Root(_) => {}
        }
        let is_memory =
            matches!(kind, Atom::Node(e) if matches!(self.source.node(*e), Node::Memory(..)));
        for &part in parts.iter().filter(|_| !is_memory) {
            self.choose(part, depth + 1);
        }
        let width = match kind {
            // √X is written by its polynomial.
            Atom::Root(_) => 6,
            _ => {
                let pen = Pen { paper: self, page: &self.desk, generators };
                let made = pen.atom(&field.atoms.list, atom);
                self.text_width(made)
            }
        };
        let is_double = match kind {
            Atom::Cos(angle) | Atom::Sin(angle) => angle.multiples.iter().all(|m| m.1 % 2 == 0),
            Atom::Node(_) | Atom::Tan(_) | Atom::Exp(_) | Atom::Root(_) => false,
        };
        Leaf { width, is_double, place: self.place(kind, &parts, atom) }
    }

    fn place(&self, atom: &Atom, parts: &[Expr], number: u32) -> Place {
        let age = |e: Expr| e.index() as u32;
        if let Atom::Node(e) = atom {
            let rank = match self.source.node(*e) {
                Node::Pi => rank::PI,
                Node::Symbol(_) => match self.source.symbol_of(*e) {
                    Some(symbol) => match symbol.role {
                        Role::Parameter => rank::PARAMETER,
                        Role::Time => rank::TIME,
                        Role::Coordinate { order: 0 } => rank::POSITION,
                        Role::Coordinate { order: 1 } => rank::VELOCITY,
                        Role::Coordinate { .. } => rank::ACCELERATION,
                        Role::Free if symbol.name.starts_with("lambda(") => rank::MULTIPLIER,
                        Role::Free => rank::FREE,
                        Role::Multiplier { .. } => rank::MULTIPLIER,
                    },
                    None => rank::FUNCTION,
                },
                _ => rank::FUNCTION,
            };
            return Place { rank, age: age(*e) };
        }
        let oldest = parts.iter().map(|&e| age(e)).min().unwrap_or(0);
        // NOTE: a sine stands before its cosine, whichever was read first.
        let order = match atom {
            Atom::Sin(_) => 0,
            Atom::Tan(_) => 1,
            Atom::Cos(_) => 2,
            Atom::Node(_) | Atom::Exp(_) | Atom::Root(_) => number,
        };
        Place {
            rank: rank::FUNCTION,
            age: oldest.saturating_mul(4).saturating_add(order.min(3)),
        }
    }

    /// The chosen formula in a graph.
    fn write(&self, e: Expr, page: &Graph) -> Expr {
        match self.chosen.get(&e) {
            Some(Choice::Formula { form, atoms, generators }) => {
                let pen = Pen { paper: self, page, generators };
                pen.form(atoms, form)
            }
            Some(Choice::Sum(parts)) => {
                let mut terms = Vec::new();
                for &(is_less, part) in parts {
                    let mut rest = vec![(is_less, self.write(part, page))];
                    while let Some((is_less, e)) = rest.pop() {
                        match page.node(e) {
                            Node::Add(a, b) => rest.extend([(is_less, b), (is_less, a)]),
                            Node::Sub(a, b) => rest.extend([(!is_less, b), (is_less, a)]),
                            _ => terms.push(if is_less { page.neg(e) } else { e }),
                        }
                    }
                }
                // A positive term stands in front.
                let is_positive = |e: &Expr| !matches!(page.node(*e), Node::Neg(_));
                if let Some(lead) = terms.iter().position(is_positive) {
                    terms[..=lead].rotate_right(1);
                }
                page.sum(terms)
            }
            Some(&Choice::Quotient(above, below)) => {
                page.div(self.write(above, page), self.write(below, page))
            }
            Some(Choice::AsItIs) | None => self.source.in_reading_order(&[e], page)[0],
        }
    }
}
