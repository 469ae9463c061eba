//! Printed equations beside those of books: as short, and with the same values.
//!
//! `book_systems.txt` has systems, forms and the equations that books print. Both are evaluated at random states. A
//! formula (H, R) must have the book's value. Equations of motion must give the book's accelerations: together with the
//! printed equations for velocities and the constraints, differentiated along the motion, both are linear in $(\ddot q,
//! \dot u, \lambda)$ and are solved by least squares.

use std::collections::BTreeMap;

use pfaff::{Derivation, GalleryFiles, Model, Overrides, Source, derive};
use pfaff_expr::{Expr, Graph, Role};
use pfaff_solver::least_squares;

use super::{
    Label, Presentation, StandardForm, present, present_hamilton, present_reduced,
    present_standard,
};
use crate::ToText;

const TEXT: &str = include_str!("book_systems.txt");

/// A system of a book.
struct System {
    name: String,
    model: String,
    forms: Vec<Form>,
}

/// A form of its equations.
struct Form {
    option: String,
    section: String,
    lines: Vec<String>,
}

fn systems() -> Vec<System> {
    let mut all: Vec<System> = Vec::new();
    for line in TEXT.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
        if let Some(inside) = line.strip_prefix("  ") {
            let system = all.last_mut().expect("a name comes first");
            match system.forms.last_mut() {
                Some(form) => form.lines.push(inside.to_owned()),
                None => system.model += &format!("{inside}\n"),
            }
        } else if let Some((name, source)) = line.split_once(" | ") {
            assert!(source.contains(char::is_numeric), "{name}: the source has a year");
            let (name, model) = (name.to_owned(), String::new());
            all.push(System { name, model, forms: Vec::new() });
        } else {
            let (option, section) = line.split_once(' ').expect("an option and a section");
            let (option, section) = (option.to_owned(), section.to_owned());
            let forms = &mut all.last_mut().expect("a name comes first").forms;
            forms.push(Form { option, section, lines: Vec::new() });
        }
    }
    all
}

fn read(name: &str, text: &str) -> Model {
    let source = Source::new(name, text);
    match Model::read(source, &Overrides::default(), &GalleryFiles) {
        Ok(model) => model,
        Err(errors) => panic!("{name}: {errors:?}\n{text}"),
    }
}

fn page(derivation: &Derivation, option: &str) -> Presentation {
    match option {
        "multipliers" => present(derivation),
        "reduced" => present_reduced(derivation).expect("it has multipliers"),
        "hamilton" => present_hamilton(derivation, None).expect("it has momenta"),
        other => {
            let form = StandardForm::named(other).expect("a form");
            present_standard(derivation, form, None).expect("the form applies")
        }
    }
}

/// A number for each name, the same in both graphs.
fn value(name: &str, point: u64) -> f64 {
    let mix = |h: u64, b: u64| (h ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let seed = name.bytes().fold(7 + point, |h, b| mix(h, u64::from(b)));
    0.4 + (mix(seed, 5) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Symbols of a graph by their texts, as the page spells them.
fn spelled(g: &Graph, e: Expr, names: &BTreeMap<String, String>) -> String {
    let text = g.symbol_of(e).expect("a symbol").text();
    match text.split_once('\'') {
        Some((base, primes)) => {
            let base = names.get(base).map_or(base, String::as_str);
            format!("{base}'{primes}")
        }
        None => names.get(&text).cloned().unwrap_or(text),
    }
}

/// The book's lines in a graph of their own: left and right sides, and the names of its symbols on the page.
struct Book {
    model: Model,
    names: BTreeMap<String, String>,
    count: usize,
}

impl Book {
    /// Names such as `p[x]` and `lambda(c)`, and quasi-velocities, become further coordinates of a copy of the model.
    fn new(system: &System, form: &Form) -> Self {
        let mut names = BTreeMap::new();
        let mut lines = form.lines.clone();
        let mut index = 0;
        for word in ["p[", "beta[", "lambda("] {
            while let Some(i) = lines.iter().position(|l| l.contains(word)) {
                let line = &lines[i];
                let start = line.find(word).expect("it contains the word");
                let close = if word.ends_with('[') { ']' } else { ')' };
                let end = start + line[start..].find(close).expect("a bracket") + 1;
                // NOTE: an index may have brackets of its own: lambda(roll[1]).
                let symbol = line[start..end].to_owned();
                index += 1;
                let own = format!("symbol_{index}");
                lines = lines.iter().map(|l| l.replace(&symbol, &own)).collect();
                names.insert(own, symbol);
            }
        }
        let quasi = (1..=6).map(|i| format!("u{i}"));
        let used = quasi.filter(|u| lines.iter().any(|l| l.contains(u.as_str())));
        let further: Vec<String> = names.keys().cloned().chain(used).collect();
        let mut text = String::new();
        for line in system.model.lines() {
            let kept = ["coordinates ", "parameters ", "let "];
            if kept.iter().any(|k| line.starts_with(k)) {
                text += &format!("{line}\n");
            }
            if line.starts_with("coordinates ") && !further.is_empty() {
                text.truncate(text.len() - 1);
                text += &format!(", {}\n", further.join(", "));
            }
        }
        text += "lagrangian 0\n";
        let count = lines.len();
        for (i, line) in lines.iter().enumerate() {
            let (left, right) = line.split_once(" = ").unwrap_or(("0", line));
            text += &format!("observe left_{i} = {left}\nobserve right_{i} = {right}\n");
        }
        Self { model: read(&system.name, &text), names, count }
    }

    /// Values of all lines, as left − right.
    fn residuals(&self, of: &dyn Fn(&str) -> f64) -> Vec<f64> {
        let model = self.model.workspace();
        let g = &model.graph;
        let all: Vec<Expr> = model.observed.iter().map(|o| o.expr).collect();
        let values = g.evaluate(&all, &|s| of(&spelled(g, s, &self.names)));
        assert_eq!(values.len(), 2 * self.count);
        values.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect()
    }
}

/// A page as equations.
struct Printed<'a> {
    page: &'a Presentation,
    /// Names of parts, with what they mean.
    meanings: Vec<(Expr, Expr)>,
}

impl<'a> Printed<'a> {
    fn new(page: &'a Presentation) -> Self {
        let g = &page.graph;
        let meanings = page.definitions.iter();
        let meanings = meanings.map(|(n, e)| (g.symbol(n, Role::Free), *e)).collect();
        Self { page, meanings }
    }

    fn written_out(&self, mut all: Vec<Expr>) -> Vec<Expr> {
        for pair in self.meanings.iter().rev() {
            all = self.page.graph.substitute(&all, &[*pair]);
        }
        all
    }

    /// Left − right of the lines of a section.
    fn residuals(&self, key: &str) -> Vec<Expr> {
        let g = &self.page.graph;
        let mut rows = Vec::new();
        for line in self.page.sections.iter().filter(|s| s.key == key).flat_map(|s| &s.lines) {
            if let Label::Expression(left) = line.label {
                rows.push(g.sub(left, line.right));
            }
        }
        self.written_out(rows)
    }

    /// A formula with a letter.
    fn formula(&self, letter: &str) -> Option<Expr> {
        let is_it = |l: &&super::Line| match &l.label {
            Label::Entry { text, indices, .. } => *text == letter && indices.is_empty(),
            Label::Component { .. } | Label::Expression(_) => false,
        };
        let mut lines = self.page.sections.iter().flat_map(|s| &s.lines);
        let line = lines.find(is_it)?;
        Some(self.written_out(vec![line.right])[0])
    }
}

/// The characters of what is printed, with the definitions of the names that it uses.
fn printed_length(page: &Presentation, form: &Form) -> usize {
    let g = &page.graph;
    let (mut length, mut roots) = (0, Vec::new());
    for section in &page.sections {
        for line in &section.lines {
            match &line.label {
                Label::Entry { text, indices, .. }
                    if *text == form.section && indices.is_empty() =>
                {
                    length += g.to_text(line.right).len();
                    roots.push(line.right);
                }
                Label::Expression(left) if section.key == form.section => {
                    length += g.to_text(*left).len() + 3 + g.to_text(line.right).len();
                    roots.extend([*left, line.right]);
                }
                Label::Entry { .. } | Label::Component { .. } | Label::Expression(_) => {}
            }
        }
    }
    for (name, meaning) in page.definitions.iter().rev() {
        let symbol = g.symbol(name, Role::Free);
        if roots.iter().any(|&r| g.contains(r, &[symbol])) {
            length += name.len() + 3 + g.to_text(*meaning).len();
            roots.push(*meaning);
        }
    }
    length
}

/// Unknown rates of a page: accelerations, rates of quasi-velocities, multipliers.
fn unknowns(derivation: &Derivation, page: &Presentation) -> Vec<String> {
    let model = &derivation.workspace();
    let mut all: Vec<String> = Vec::new();
    all.extend(model.coordinates.iter().map(|c| format!("{}''", c.name)));
    let g = &model.graph;
    all.extend(model.results.lambda.iter().map(|&l| g.to_text(l)));
    for section in page.sections.iter().filter(|s| s.key == "quasi_velocities") {
        for line in &section.lines {
            if let Label::Expression(u) = line.label {
                all.push(format!("{}'", page.graph.to_text(u)));
            }
        }
    }
    all
}

/// Residuals from the values of names.
type Residuals<'a> = dyn Fn(&dyn Fn(&str) -> f64) -> Vec<f64> + 'a;

/// The accelerations that some residuals, linear in the unknowns, determine together with the kinematic ones.
fn solved(rows: &Residuals<'_>, unknowns: &[String], known: &dyn Fn(&str) -> f64) -> Vec<f64> {
    let at = |k: Option<usize>| {
        rows(&|name: &str| match unknowns.iter().position(|u| u == name) {
            Some(i) => f64::from(u8::from(Some(i) == k)),
            None => known(name),
        })
    };
    let rest = at(None);
    let columns: Vec<Vec<f64>> = (0..unknowns.len()).map(|k| at(Some(k))).collect();
    let mut a = Vec::new();
    for (i, r) in rest.iter().enumerate() {
        a.extend(columns.iter().map(|c| c[i] - r));
    }
    let b: Vec<f64> = rest.iter().map(|r| -r).collect();
    least_squares(&a, b.len(), unknowns.len(), &b, 1e-12).x
}

/// Compares values at one point; returns how far they are apart.
fn compare(
    system: &System,
    form: &Form,
    derivation: &Derivation,
    page: &Presentation,
    point: u64,
) -> f64 {
    let printed = Printed::new(page);
    let book = Book::new(system, form);
    let g = &page.graph;
    let model = &derivation.workspace();
    let plain = BTreeMap::new();
    let spell = |s: Expr| spelled(g, s, &plain);
    if let Some(ours) = printed.formula(&form.section) {
        let of = |name: &str| value(name, point);
        let ours = g.evaluate(&[ours], &|s| of(&spell(s)))[0];
        let theirs = -book.residuals(&of)[0];
        return (ours - theirs).abs() / (1.0 + theirs.abs());
    }
    // Velocities on the constraints.
    let n = model.coordinates.len();
    let mut v: Vec<f64> =
        model.coordinates.iter().map(|c| value(&format!("{}'", c.name), point)).collect();
    let pfaff::Dynamics::Saddle(e) = &derivation.dynamics else { panic!("{}", system.name) };
    let known_in_model = |s: Expr, v: &[f64]| {
        let place = model.velocities().iter().position(|&x| x == s);
        place.map_or_else(|| value(&model.graph.to_text(s), point), |k| v[k])
    };
    for _ in 0..20 {
        if e.residual.is_empty() {
            break;
        }
        let a = model.graph.evaluate(&e.jacobian.concat(), &|s| known_in_model(s, &v));
        let off = model.graph.evaluate(&e.residual, &|s| known_in_model(s, &v));
        let step = least_squares(&a, e.residual.len(), n, &off, 1e-10).x;
        v.iter_mut().zip(step).for_each(|(v, s)| *v -= s);
    }
    let mut numbers: BTreeMap<String, f64> = BTreeMap::new();
    for (c, &v) in model.coordinates.iter().zip(&v) {
        numbers.insert(format!("{}'", c.name), v);
    }
    for section in page.sections.iter().filter(|s| s.key == "quasi_velocities") {
        for line in &section.lines {
            let Label::Expression(u) = line.label else { continue };
            let right = printed.written_out(vec![line.right])[0];
            let of = |s: Expr| {
                let name = spell(s);
                numbers.get(&name).copied().unwrap_or_else(|| value(&name, point))
            };
            let x = g.evaluate(&[right], &of)[0];
            numbers.insert(g.to_text(u), x);
        }
    }
    let known = |name: &str| numbers.get(name).copied().unwrap_or_else(|| value(name, point));
    // What both share: velocities and constraints, differentiated along the motion.
    let mut kinematic = Vec::new();
    for key in ["velocities", "dependent_velocities", "constraints"] {
        kinematic.extend(printed.residuals(key));
    }
    let symbol = |name: &str, order: u8| g.symbol(name, Role::Coordinate { order });
    let mut motion = vec![(g.symbol("t", Role::Time), g.one())];
    for c in &model.coordinates {
        motion.push((symbol(&c.name, 0), symbol(&c.name, 1)));
        motion.push((symbol(&c.name, 1), symbol(&c.name, 2)));
    }
    for i in 1..=6 {
        let u = format!("u{i}");
        motion.push((symbol(&u, 0), symbol(&u, 1)));
    }
    let mut shared = g.directional(&kinematic, &motion);
    let constraints = e.residual.iter().map(|&r| {
        let along: Vec<(Expr, Expr)> = model
            .coordinates
            .iter()
            .flat_map(|c| [(c.position, c.velocity), (c.velocity, c.acceleration)])
            .chain([(model.time, model.graph.one())])
            .collect();
        model.graph.directional(&[r], &along)[0]
    });
    let of_model: Vec<Expr> = constraints.collect();
    shared.retain(|&r| r != g.zero());
    let unknowns = unknowns(derivation, page);
    let own = printed.residuals(&form.section);
    assert!(
        !own.is_empty(),
        "{}: no section {}\n{}",
        system.name,
        form.section,
        page.to_text()
    );
    let ours = |of: &dyn Fn(&str) -> f64| -> Vec<f64> {
        let mut rows = g.evaluate(&own, &|s| of(&spell(s)));
        rows.extend(g.evaluate(&shared, &|s| of(&spell(s))));
        rows.extend(model.graph.evaluate(&of_model, &|s| of(&model.graph.to_text(s))));
        rows
    };
    let theirs = |of: &dyn Fn(&str) -> f64| -> Vec<f64> {
        let mut rows = book.residuals(of);
        rows.extend(g.evaluate(&shared, &|s| of(&spell(s))));
        rows.extend(model.graph.evaluate(&of_model, &|s| of(&model.graph.to_text(s))));
        rows
    };
    let x = solved(&ours, &unknowns, &known);
    let y = solved(&theirs, &unknowns, &known);
    let size = x[..n].iter().fold(1.0_f64, |s, x| s.max(x.abs()));
    x.iter().zip(&y).take(n).map(|(x, y)| (x - y).abs() / size).fold(0.0, f64::max)
}

#[test]
fn equations_of_books_are_printed_as_short_and_with_their_values() {
    let systems = systems();
    assert!(systems.len() >= 30, "{} systems", systems.len());
    let (mut sum, mut count) = (0.0, 0);
    let mut faults = Vec::new();
    for system in &systems {
        let model = read(&system.name, &system.model);
        let derivation = derive(&model, None).expect("equations");
        for form in &system.forms {
            let page = page(&derivation, &form.option);
            let ours = printed_length(&page, form);
            let theirs: usize = form.lines.iter().map(String::len).sum();
            let ratio = ours as f64 / theirs as f64;
            sum += ratio;
            count += 1;
            let far = (0..2).map(|k| compare(system, form, &derivation, &page, k));
            let far = far.fold(0.0, f64::max);
            // Rounding of some hundred operations at regular states.
            if ratio > 1.5 || far.is_nan() || far > 1e-10 {
                let lines = page.lines(&["definitions", &form.section]).join("\n    ");
                let (name, option) = (&system.name, &form.option);
                faults
                    .push(format!("{name}, {option}: {ratio:.2} times, {far:e}\n    {lines}"));
            }
        }
    }
    let mean = sum / f64::from(count);
    assert!(faults.is_empty(), "mean {mean:.3}\n{}", faults.join("\n"));
    assert!(mean <= 1.15, "in the mean {mean:.3} times as long as in books");
}
