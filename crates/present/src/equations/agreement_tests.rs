//! What is printed in a form of the equations determines the accelerations of the core.
//!
//! The printed lines of a form are read as equations: those of motion as they stand, those for velocities and
//! constraints differentiated along the motion. At a random state they are linear in $(\ddot q, \dot u, \dot p,
//! \lambda)$. Solved, they must give the $\ddot q$ of (K). Both are computed with thirty digits: a formula may lose
//! digits where a divisor is small, but what is printed is then seen to be right all the same. The core in doubles must
//! satisfy (K) to rounding.

mod thirty_digits;

use pfaff::{
    Derivation, Dynamics, GALLERY, GalleryFiles, Model, Overrides, Source, State, Workspace,
    at_state, derive,
};
use pfaff_expr::{DoubleDouble, Expr, Role};
use pfaff_mechanics::Equations;

use self::thirty_digits::{Values, evaluated, solved};
use super::names::symbols_of;
use super::{
    Label, Presentation, StandardForm, present, present_hamilton, present_reduced,
    present_standard,
};
use crate::ToText;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Between 0.3 and 1.3, where most models are regular.
    fn value(&mut self) -> f64 {
        0.3 + (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// A printed page as equations.
struct Printed<'a> {
    page: &'a Presentation,
    model: &'a Derivation,
    own: &'a Workspace,
}

impl Printed<'_> {
    /// The lines of a section as $\text{left} - \text{right}$, names of parts written out.
    fn residuals(&self, keys: &[&str]) -> Vec<Expr> {
        let g = &self.page.graph;
        self.lines(keys).into_iter().map(|(left, right)| g.sub(left, right)).collect()
    }

    fn lines(&self, keys: &[&str]) -> Vec<(Expr, Expr)> {
        let g = &self.page.graph;
        let mut all = Vec::new();
        for line in self.page.sections.iter().filter(|s| keys.contains(&s.key)) {
            for line in &line.lines {
                let Label::Expression(left) = line.label else { continue };
                all.extend([left, line.right]);
            }
        }
        // Names, and primes behind them.
        let mut known: Vec<(Expr, Expr)> = Vec::new();
        for (name, meaning) in &self.page.definitions {
            let whole = g.substitute(&[*meaning], &known)[0];
            let [free, place, rate] = symbols_of(g, name);
            known.extend([(free, whole), (place, whole), (rate, g.total_derivative(whole))]);
        }
        all = g.substitute(&all, &known);
        all.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// The largest difference between the accelerations of the page and of the core, each relative to the largest of
    /// all; `None` where the state is singular.
    fn deviation(&self, numbers: &mut Numbers) -> Option<f64> {
        let model = self.own;
        let Dynamics::Saddle(e) = &self.model.dynamics else { return None };
        let t = numbers.value();
        let mut number = |_: &Expr| DoubleDouble::from(numbers.value());
        let (positions, velocities) = (model.positions(), model.velocities());
        let q: Vec<DoubleDouble> = positions.iter().map(&mut number).collect();
        let v: Vec<DoubleDouble> = velocities.iter().map(&mut number).collect();
        let mut state: Values = vec![(model.time, t.into())];
        state.extend(model.parameters.iter().map(|p| (p.symbol, p.value.into())));
        state.extend(positions.iter().copied().zip(q.iter().copied()));
        let v = onto_constraints(model, e, &state, v);
        state.extend(velocities.iter().copied().zip(v.iter().copied()));
        let blocks = Blocks::of(model, e, &state);
        let core = blocks.accelerations();
        let missed = self.core_misses_by(&q, &v, t)?;
        let size = core.iter().fold(1.0_f64, |s, x| s.max(x.high.abs()));
        if size > 1e4 {
            return None;
        }
        let g = &self.page.graph;
        let symbol = |name: &str, order: u8| g.symbol(name, Role::Coordinate { order });
        let mut values: Values = vec![(g.symbol("t", Role::Time), t.into())];
        let mut motion: Vec<(Expr, Expr)> = vec![(g.symbol("t", Role::Time), g.one())];
        let mut unknowns = Vec::new();
        for (k, c) in model.coordinates.iter().enumerate() {
            values.push((symbol(&c.name, 0), q[k]));
            values.push((symbol(&c.name, 1), v[k]));
            motion.push((symbol(&c.name, 0), symbol(&c.name, 1)));
            motion.push((symbol(&c.name, 1), symbol(&c.name, 2)));
            unknowns.push(symbol(&c.name, 2));
        }
        for p in &model.parameters {
            let name = model.graph.symbol_of(p.symbol).expect("a symbol");
            values.push((g.symbol(&name.name, name.role), p.value.into()));
        }
        for &λ in &model.results.lambda {
            let name = model.graph.symbol_of(λ).expect("a symbol");
            unknowns.push(g.symbol(&name.name, name.role));
        }
        for (left, right) in self.lines(&["quasi_velocities", "cyclic_momenta"]) {
            values.push((left, evaluated(g, &[right], &values)[0]));
            let name = g.symbol_of(left).expect("a symbol on the left").name;
            if let Some(Role::Coordinate { order: 0 }) = g.symbol_of(left).map(|s| s.role) {
                motion.push((left, symbol(&name, 1)));
                unknowns.push(symbol(&name, 1));
            }
        }
        let in_momenta = ["hamilton_equations", "canonical_momenta", "J"]
            .iter()
            .any(|key| has(self.page, key));
        let momenta =
            if in_momenta { self.lines(&["canonical_momenta", "momenta"]) } else { Vec::new() };
        for &(p, right) in &momenta {
            if values.iter().all(|v| v.0 != p) {
                values.push((p, evaluated(g, &[right], &values)[0]));
                let name = g.symbol_of(p).expect("a symbol on the left").name;
                let rate = g.symbol(&format!("{name}'"), Role::Free);
                motion.push((p, rate));
                unknowns.push(rate);
            }
        }
        let (canonical, rates): (Vec<_>, Vec<_>) = self
            .lines(&["hamilton_equations"])
            .into_iter()
            .partition(|(left, _)| !unknowns.contains(left));
        let residual = |(left, right): (Expr, Expr)| g.sub(left, right);
        let mut rows = self.residuals(&["equations", "reduced_equations"]);
        rows.extend(rates.into_iter().map(residual));
        let kinematic = [
            "velocities",
            "dependent_velocities",
            "leaf_velocities",
            "cyclic_velocities",
            "constraints",
            "constraints_of_momenta",
        ];
        let mut kinematic = if has(self.page, "reduced_equations") {
            self.residuals(&kinematic[..5])
        } else {
            self.residuals(&kinematic)
        };
        kinematic.extend(canonical.into_iter().chain(momenta).map(residual));
        // A constraint on positions alone says something of accelerations in its second rate.
        let places: Vec<Expr> = model.coordinates.iter().map(|c| symbol(&c.name, 0)).collect();
        let speeds = motion.iter().skip(1).map(|m| m.0);
        let speeds: Vec<Expr> = speeds.filter(|x| !places.contains(x)).collect();
        let (velocity, position): (Vec<Expr>, Vec<Expr>) =
            kinematic.into_iter().partition(|&e| g.contains(e, &speeds));
        rows.extend(g.directional(&velocity, &motion));
        rows.extend(g.directional(&g.directional(&position, &motion), &motion));
        let slopes = g.jacobian(&rows, &unknowns);
        let still = unknowns.iter().map(|&x| (x, DoubleDouble::from(0.0)));
        let all: Values = still.chain(values).collect();
        let wanted: Vec<Expr> = slopes.iter().flatten().copied().chain(rows).collect();
        let mut a = evaluated(g, &wanted, &all);
        let is_known = a.iter().all(|x| x.is_finite());
        assert!(is_known, "unknown symbols:\n{}", self.page.to_text());
        let b = a.split_off(slopes.len() * unknowns.len());
        let b: Vec<DoubleDouble> = b.into_iter().map(|x| -x).collect();
        let found = solved(&a, &b, unknowns.len());
        let far = core.iter().zip(&found).map(|(&x, &y)| (x - y).high.abs() / size);
        // All lines hold together: more are printed than the accelerations need.
        let off = a.chunks(unknowns.len()).zip(&b).map(|(row, &b)| {
            let terms = || row.iter().zip(&found).map(|(&a, &x)| a * x);
            let sum = terms().fold(-b, |s, x| s + x);
            sum.high.abs() / terms().fold(size + b.high.abs(), |s, x| s + x.high.abs())
        });
        Some(far.chain(off).fold(missed, f64::max))
    }

    /// By how much the core in doubles misses (K), in parts of its terms; `None` where it finds the state singular.
    fn core_misses_by(&self, q: &[DoubleDouble], v: &[DoubleDouble], t: f64) -> Option<f64> {
        let model = self.own;
        let Dynamics::Saddle(e) = &self.model.dynamics else { return None };
        let rounded = |x: &[DoubleDouble]| x.iter().map(|x| x.high).collect::<Vec<f64>>();
        let (q, v) = (rounded(q), rounded(v));
        let mut values: Values = vec![(model.time, t.into())];
        values.extend(model.parameters.iter().map(|p| (p.symbol, p.value.into())));
        for (c, (&q, &v)) in model.coordinates.iter().zip(q.iter().zip(&v)) {
            values.extend([(c.position, q.into()), (c.velocity, v.into())]);
        }
        let blocks = Blocks::of(model, e, &values);
        let state = State { t, q, v, multipliers: vec![0.0; e.drift.len()] };
        let report = at_state(self.model, &state).ok()?;
        Some(blocks.missed_by(&report.acceleration))
    }
}

/// The velocities that constraints allow nearest to some, as far as the constraints are affine in them.
fn onto_constraints(
    model: &Workspace,
    e: &Equations,
    state: &Values,
    v: Vec<DoubleDouble>,
) -> Vec<DoubleDouble> {
    let (m, n) = (e.residual.len(), v.len());
    let mut values = state.clone();
    values.extend(model.velocities().into_iter().zip(v.iter().copied()));
    let wanted: Vec<Expr> = e.jacobian.iter().flatten().chain(&e.residual).copied().collect();
    let mut a = evaluated(&model.graph, &wanted, &values);
    let off = a.split_off(m * n);
    // v − Aᵀ y with A Aᵀ y = A v + a
    let product = |i: usize, j: usize| {
        let pairs = a[i * n..][..n].iter().zip(&a[j * n..][..n]);
        pairs.fold(DoubleDouble::from(0.0), |s, (&x, &y)| s + x * y)
    };
    let normal: Vec<DoubleDouble> =
        (0..m * m).map(|place| product(place / m, place % m)).collect();
    let y = if m == 0 { Vec::new() } else { solved(&normal, &off, m) };
    let moved = |k: usize| (0..m).fold(v[k], |v, i| v - a[i * n + k] * y[i]);
    (0..n).map(moved).collect()
}

/// $M\ddot q - W^\top\lambda = f$, $A\ddot q = b$ at a state.
struct Blocks {
    coordinates: usize,
    matrix: Vec<DoubleDouble>,
    right: Vec<DoubleDouble>,
}

impl Blocks {
    fn of(model: &Workspace, e: &Equations, state: &Values) -> Self {
        let (g, coordinates, m) = (&model.graph, e.force.len(), e.drift.len());
        let mut wanted: Vec<Expr> = Vec::new();
        for k in 0..coordinates {
            wanted.extend(&e.mass[k]);
            wanted.extend(e.directions.iter().map(|w| g.neg(w[k])));
        }
        for row in &e.jacobian {
            wanted.extend(row.iter().copied().chain(std::iter::repeat_n(g.zero(), m)));
        }
        wanted.extend(e.force.iter().chain(&e.drift));
        let mut matrix = evaluated(g, &wanted, state);
        let right = matrix.split_off((coordinates + m) * (coordinates + m));
        Self { coordinates, matrix, right }
    }

    fn accelerations(&self) -> Vec<DoubleDouble> {
        let mut x = solved(&self.matrix, &self.right, self.right.len());
        x.truncate(self.coordinates);
        x
    }

    /// By how much accelerations miss the equations with the reactions that suit them best, in parts of the terms of
    /// each: of redundant constraints the core shows other multipliers, those of least norm.
    fn missed_by(&self, accelerations: &[f64]) -> f64 {
        let (n, size) = (self.coordinates, self.right.len());
        let mut x: Vec<DoubleDouble> = accelerations.iter().map(|&a| a.into()).collect();
        let rows = || self.matrix.chunks(size).zip(&self.right);
        if size > n {
            let carried = rows().take(n).flat_map(|(row, _)| &row[n..]).copied();
            let carried: Vec<DoubleDouble> = carried.collect();
            let left = |(row, &b): (&[DoubleDouble], &DoubleDouble)| {
                row.iter().zip(&x).fold(b, |s, (&a, &x)| s - a * x)
            };
            let left: Vec<DoubleDouble> = rows().take(n).map(left).collect();
            x.extend(solved(&carried, &left, size - n));
        }
        let miss = |(row, &b): (&[DoubleDouble], &DoubleDouble)| {
            let terms = || row.iter().zip(&x).map(|(&a, &x)| a * x);
            let sum = terms().fold(-b, |s, x| s + x).high.abs();
            // Accelerations below one are rounding of what cancels in them.
            let unit: f64 = row[..n].iter().map(|a| a.high.abs()).sum();
            sum / terms().fold(b.high.abs() + unit, |s, x| s + x.high.abs())
        };
        rows().map(miss).fold(0.0, f64::max)
    }
}

/// The reduced form, the one with multipliers, Hamilton's, then the standard ones.
const FORMS: usize = 3 + StandardForm::ALL.len();

/// A form of the equations of a model, by number, where it exists.
fn page(derivation: &Derivation, form: usize) -> Option<Presentation> {
    match form {
        0 => present_reduced(derivation).filter(|page| has(page, "reduced_equations")),
        1 => Some(present(derivation)),
        2 => present_hamilton(derivation, None).ok(),
        k => present_standard(derivation, StandardForm::ALL[k - 3].0, None).ok(),
    }
}

fn has(page: &Presentation, key: &str) -> bool {
    page.sections.iter().any(|s| s.key == key)
}

fn read(name: &str, text: &str) -> Option<Derivation> {
    let source = Source::new(name, text);
    let model = Model::read(source, &Overrides::default(), &GalleryFiles).expect("a model");
    let derivation = derive(&model, None).ok()?;
    let chetaev = matches!(&derivation.dynamics, Dynamics::Saddle(e)
        if e.principle == pfaff::Principle::Chetaev);
    chetaev.then_some(derivation)
}

/// Compares some forms at some states, and counts how often each was compared.
fn compare(
    name: &str,
    derivation: &Derivation,
    forms: impl Iterator<Item = usize>,
    states: usize,
    count: &mut [usize; FORMS],
) {
    let seed = name.bytes().fold(11_u64, |h, b| h.wrapping_mul(31) ^ u64::from(b));
    let mut numbers = Numbers(seed);
    let model = derivation.workspace();
    for form in forms {
        let Some(page) = page(derivation, form) else { continue };
        let printed = Printed { page: &page, model: derivation, own: &model };
        for _ in 0..states {
            let Some(far) = printed.deviation(&mut numbers) else { continue };
            // Rounding of some hundred operations at regular states.
            assert!(far < 1e-11, "{name}, form {form}: {far:e}\n{}", page.to_text());
            count[form] += 1;
        }
    }
}

#[allow(clippy::print_stdout, reason = "what was compared is told")]
#[test]
fn forms_of_the_gallery_have_the_accelerations_of_the_core() {
    let full = std::env::var_os("PFAFF_TESTS").is_some_and(|v| v == "full");
    let mut count = [0; FORMS];
    let (part, parts) = part();
    for (i, entry) in GALLERY.iter().enumerate() {
        if i as u64 % parts != part {
            continue;
        }
        let Some(derivation) = read(entry.name, entry.text) else { continue };
        if derivation.model.coordinates.len() <= if full { MOST } else { FEW } {
            compare(entry.name, &derivation, 0..FORMS, 3, &mut count);
        }
    }
    println!("forms of the gallery, part {part} of {parts}: {count:?}");
    assert!(parts > 1 || count.iter().all(|&c| c > 3), "{count:?}");
}

/// `PFAFF_PART=2/8` runs the third of eight parts of these tests, which take minutes in full.
fn part() -> (u64, u64) {
    let given = std::env::var("PFAFF_PART").ok();
    let read = given.as_deref().and_then(|text| text.split_once('/'));
    let read = read.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    read.filter(|&(_, n): &(u64, u64)| n > 0).unwrap_or((0, 1))
}

/// Coordinates up to which there are standard forms.
const MOST: usize = 24;
/// The same without `PFAFF_TESTS=full`: larger models take seconds to print in all forms.
const FEW: usize = 5;

/// A model with a positive mass matrix that is regular at most states.
fn random_model(seed: u64) -> String {
    let mut r = Numbers(seed);
    let names = ["x", "y", "z", "phi"];
    let n = 2 + r.below(3);
    // The last coordinate may be cyclic.
    let seen = if r.below(2) == 0 { n - 1 } else { n };
    let function = |r: &mut Numbers, count: usize| {
        let q = names[r.below(count)];
        let shape = r.one_of(&["sin(Q)", "cos(Q)", "Q", "(1 + Q^2)", "k", "Q^2"]);
        shape.replace('Q', q)
    };
    let mut text =
        format!("coordinates {}\nparameters m = 1.3, k = 0.7\n", names[..n].join(", "));
    let mut terms: Vec<String> = (0..n)
        .map(|i| {
            let f = function(&mut r, seen);
            let factor = r.one_of(&["m", "(m + F^2)", "2*k"]).replace('F', &f);
            format!("{factor}*{}'^2/2", names[i])
        })
        .collect();
    for _ in 0..r.below(3) {
        let (f, h) = (function(&mut r, seen), function(&mut r, seen));
        let (i, j) = (r.below(n), r.below(n));
        terms.push(format!("m*({f}*{}' + {h}*{}')^2/2", names[i], names[j]));
    }
    let (f, h) = (function(&mut r, seen), function(&mut r, seen));
    terms.push(r.one_of(&["k*F", "F*G", "m*F^2/2"]).replace('F', &f).replace('G', &h));
    if r.below(4) == 0 {
        terms.push(format!("t*{f}*{}'", names[r.below(n)]));
    }
    text += &format!("lagrangian {}\n", terms.join(" + "));
    if r.below(3) == 0 {
        let (i, j) = (r.below(seen), r.below(n));
        text += &format!("force {}: -k*{h}*{}'\n", names[i], names[j]);
    }
    for c in 0..r.below(3).min(n - 1) {
        // Each is solved for a velocity that no other has.
        let (f, h) = (function(&mut r, seen), function(&mut r, seen));
        let other = names[1 + c + r.below(n - 1 - c)];
        let drift = r.one_of(&["0", "0", "k*t", "sin(F)"]).replace('F', &h);
        let left = names[c];
        text += &match r.below(3) {
            0 => format!(
                "constraint c{c}: {left}'*cos({other}) - {other}'*sin({other}) = {drift}\n"
            ),
            1 => format!("constraint c{c}: (2 + {h}^2)*{left}' = {f}*{other}' + {drift}\n"),
            _ => format!("constraint c{c}: {left}' = {f}*{other}'\n"),
        };
    }
    text
}

#[allow(clippy::print_stdout, reason = "what was compared is told")]
#[test]
fn forms_of_random_models_have_the_accelerations_of_the_core() {
    let full = std::env::var_os("PFAFF_TESTS").is_some_and(|v| v == "full");
    let models: u64 = if full { 1_000 } else { 200 };
    let mut count = [0; FORMS];
    let (part, parts) = part();
    for seed in (0..models).filter(|seed| seed % parts == part) {
        let text = random_model(seed);
        let Some(derivation) = read(&format!("random {seed}"), &text) else { continue };
        // Two of them in turn, which is a quarter of the work.
        let turn = seed as usize % FORMS;
        let forms = (0..FORMS).filter(|&k| full || k == turn || k == (turn + 3) % FORMS);
        compare(&format!("random {seed}"), &derivation, forms, 2, &mut count);
    }
    println!("forms of random models, part {part} of {parts}: {count:?}");
    assert!(count.iter().all(|&c| c as u64 > models / (16 * parts)), "{count:?}");
}
