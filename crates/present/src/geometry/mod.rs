//! The geometry for people and for programs: text, LaTeX and JSON.

use std::fmt::Write;

mod block;
mod fractional;
mod trace;

pub use fractional::present_fractional_forms;
pub use trace::trace_table;

use pfaff::{Block, DistributionReport, FactValue, GeometryReport, Reach};
use pfaff_expr::{Expr, Graph, Role};
use pfaff_mechanics::{Abnormal, Momentum};
use serde_json::Value;

use crate::equations::{Label, Line, Presentation, Section, named_parts};
use crate::json::{object, string, strings};
use crate::{ToJson, ToLatex, ToText};
use block::{block_json, lines, values};

const CONVENTIONS: [&str; 3] = [
    "conventions: q'^a = eps^a_m q'^m, X_m = d_m + eps^a_m d_a, F^a_mn = X_m eps^a_n - X_n eps^a_m; upper index \
     first",
    "  Gamma^s_mn: nabla_m d_n = Gamma^s_mn d_s; S^s_mn = (Gamma^s_mn - Gamma^s_nm)/2; K = Gamma - LC",
    "  R^r_smn = d_m Gamma^r_ns - d_n Gamma^r_ms + Gamma^r_ml Gamma^l_ns - Gamma^r_nl Gamma^l_ms",
];

const FORM_CONVENTIONS: [&str; 2] = [
    "conventions: y = q', dependent (leaf) velocities y^u = +C^u, C^u_k = dC^u/dy^k; B is minus the bracket F; \
     upper index first",
    "  E_k + C^u_k E_u = 0; g_ij = (1/2) d2L/dy^i dy^j in the Lagrange space; A' = f, B' = -M on the constraint",
];

impl ToText for GeometryReport {
    /// For people: only components that are not zero; numbers where a state was given.
    fn to_text(&self) -> String {
        if !self.at_state {
            return present_geometry(self).to_text();
        }
        let title = self.model.name();
        let mut text = format!("{title}\n{}\n", preface(self).join("\n"));
        for block in shown_blocks(self) {
            let numbers = values(block);
            if !numbers.is_empty() {
                let _ = writeln!(text, "\n{}", block.heading);
                numbers.iter().for_each(|(name, x)| {
                    let _ = writeln!(text, "  {name} = {x:?}");
                });
            }
        }
        let _ = writeln!(text, "\n{}", remarks(self).join("\n"));
        text
    }
}

impl ToLatex for GeometryReport {
    /// As LaTeX: one `align*` for each tensor.
    fn to_latex(&self) -> String {
        present_geometry(self).to_latex()
    }
}

/// The geometry laid out as formulas.
pub fn present_geometry(report: &GeometryReport) -> Presentation {
    let zero = report.model.graph.zero();
    let section = |b: &Block| Section { key: b.key, heading: b.heading, lines: lines(b, zero) };
    let sections = shown_blocks(report).map(section).collect();
    Presentation::of(&report.model, None, sections, remarks(report))
        .with_preface(preface(report))
}

/// The conventions, in lines as they are looked up among the headings.
pub(crate) fn conventions() -> [&'static str; 3] {
    CONVENTIONS.map(|line| line.trim_start_matches("conventions:").trim())
}

/// For a page: what is true in sentences, and the blocks with these keys.
pub(crate) fn excerpt(report: &GeometryReport, keys: &[&str]) -> (Vec<String>, Presentation) {
    let mut sentences = preface(report);
    sentences.retain(|s| !CONVENTIONS.contains(&s.as_str()));
    sentences.extend(facts(report));
    sentences.extend(notes(report));
    let zero = report.model.graph.zero();
    let mut sections: Vec<Section> = shown_blocks(report)
        .filter(|b| keys.contains(&b.key))
        .map(|b| Section { key: b.key, heading: b.heading, lines: lines(b, zero) })
        .collect();
    sections.push(symmetries(report));
    let blocks = Presentation::of(&report.model, None, sections, Vec::new());
    (sentences, blocks)
}

fn shown_blocks(report: &GeometryReport) -> impl Iterator<Item = &Block> {
    report.blocks.iter().filter(|b| report.shown.contains(&b.part()))
}

fn preface(report: &GeometryReport) -> Vec<String> {
    let list = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    let riemann = report.shown.contains(&"riemann");
    let mut lines: Vec<String> = Vec::new();
    if riemann {
        lines.extend(CONVENTIONS.map(str::to_owned));
    }
    if report.shown.iter().any(|p| *p != "riemann") {
        lines.extend(FORM_CONVENTIONS.map(str::to_owned));
    }
    lines.push(format!("base {}; dependent {}", list(&report.base), list(&report.dependent)));
    if !riemann {
        return lines;
    }
    lines.push(match (&report.obstacle, &report.held) {
        (None, None) => "a Chaplygin system: everything is a function on the base".into(),
        (None, Some(name)) => format!(
            "not a Chaplygin system: the Lagrangian contains `{name}`; the constraints and the metric are functions \
             on the base"
        ),
        (Some(why), _) => format!(
            "not a Chaplygin system: {why}; Gamma and S are those of the frame X, curvatures of the base are \
             left out"
        ),
    });
    if let Some(why) = report.unmetric {
        lines.push(format!("no metric and no connection: {why}"));
    }
    if let Some(torsion) = report.torsion {
        let curves = match torsion {
            "general" => "autoparallels and geodesics differ",
            _ => "autoparallels are geodesics",
        };
        // NOTE: geodesics are curves of the base, which only a system of Chaplygin has.
        lines.push(match report.obstacle {
            None => format!("torsion: {torsion} ({curves})"),
            Some(_) => format!("torsion: {torsion}"),
        });
    }
    lines
}

/// Each symmetry as a field, its momentum, and what happens to that.
fn symmetries(report: &GeometryReport) -> Section {
    let model = &report.model;
    let g = &model.graph;
    let mut lines = Vec::new();
    for (i, m) in report.momenta.iter().enumerate() {
        let number =
            if report.momenta.len() > 1 { format!("{}", i + 1) } else { String::new() };
        let symbol = |letter: &str, role: Role| {
            Label::Expression(g.symbol(&format!("{letter}{number}"), role))
        };
        let along = model.coordinates.iter().zip(&m.generator).map(|(c, &ξ)| {
            let direction = g.symbol(&format!("∂[{}]", c.name), Role::Free);
            g.mul(ξ, direction)
        });
        let field = g.sum(along);
        lines.push(Line { label: symbol("xi", Role::Free), right: field });
        lines.push(Line { label: symbol("J", Role::Free), right: m.momentum });
        let rate = symbol("J", Role::Coordinate { order: 1 });
        lines.extend(m.rate.map(|right| Line { label: rate, right }));
    }
    let heading = "Symmetries xi and their momenta J = p*xi";
    Section { key: "symmetries", heading, lines }
}

fn remarks(report: &GeometryReport) -> Vec<String> {
    let mut lines = facts(report);
    let g = &report.model.graph;
    if !report.momenta.is_empty() {
        let principle = report.model.principle.name();
        lines.push(format!("symmetries, under the principle {principle}:"));
    }
    for m in &report.momenta {
        let momentum = g.to_text(m.momentum);
        lines.push(match m.rate {
            Some(rate) if rate == g.zero() => format!("  {}: {momentum} is conserved", m.name),
            Some(rate) => {
                format!("  {}: ({momentum})' = {}", m.name, g.to_text(rate))
            }
            None => {
                format!("  {}: {momentum} is not conserved: the constraints are not invariant along it", m.name)
            }
        });
    }
    lines.extend(notes(report));
    lines
}

/// What is true of the distribution.
fn facts(report: &GeometryReport) -> Vec<String> {
    match &report.distribution {
        Some(distribution) if report.shown.contains(&"riemann") => {
            let g = &report.model.graph;
            distribution_lines(distribution, g, &report.base, report.at_state)
        }
        _ => Vec::new(),
    }
}

fn notes(report: &GeometryReport) -> Vec<String> {
    let own = report.parts.notes.iter().filter(|(part, _)| report.shown.contains(part));
    let own = own.map(|(part, note)| format!("{part}: {note}"));
    own.chain(report.notes.iter().cloned()).collect()
}

/// Momenta as JSON.
fn momenta_json(report: &GeometryReport) -> Value {
    let g = &report.model.graph;
    let one = |m: &Momentum| {
        object([
            ("name", string(&m.name)),
            ("generator", strings(m.generator.iter().map(|&e| g.to_text(e)))),
            ("momentum", string(&g.to_text(m.momentum))),
            ("rate", m.rate.map_or(Value::Null, |r| string(&g.to_text(r)))),
            ("conserved", Value::Bool(m.rate == Some(g.zero()))),
        ])
    };
    Value::Array(report.momenta.iter().map(one).collect())
}

impl ToJson for GeometryReport {
    /// As `geometry --json` prints it.
    fn to_json(&self) -> Value {
        let graph = Graph::new();
        let outputs: Vec<Expr> =
            self.blocks.iter().flat_map(|b| b.tensor.entries.clone()).collect();
        let named = named_parts(&self.model, &outputs, &graph);
        let mut texts = named.outputs.iter().map(|&e| graph.to_text(e));
        let definition = |(name, e): &(String, Expr)| {
            object([("name", string(name)), ("value", string(&graph.to_text(*e)))])
        };
        let mut entries: Vec<(String, Value)> = vec![
            ("pfaff".into(), string(env!("CARGO_PKG_VERSION"))),
            ("model".into(), string(self.model.name())),
            ("conventions".into(), strings(CONVENTIONS)),
            ("base".into(), strings(&self.base)),
            ("dependent".into(), strings(&self.dependent)),
            ("chaplygin".into(), Value::Bool(self.obstacle.is_none() && self.held.is_none())),
            ("held".into(), self.held.as_deref().map_or(Value::Null, string)),
            ("obstacle".into(), self.obstacle.as_deref().map_or(Value::Null, string)),
            (
                "definitions".into(),
                Value::Array(named.definitions.iter().map(definition).collect()),
            ),
        ];
        let mut groups: Vec<(&str, Vec<(String, Value)>)> = Vec::new();
        for fact in &self.parts.facts {
            let entry = (fact.key.to_owned(), fact_json(&fact.value));
            match groups.iter_mut().find(|(name, _)| *name == fact.group) {
                Some((_, list)) => list.push(entry),
                None => groups.push((fact.group, vec![entry])),
            }
        }
        for block in &self.blocks {
            let own: Vec<String> = texts.by_ref().take(block.tensor.entries.len()).collect();
            let entry = (block.key.to_owned(), block_json(block, &own));
            match groups.iter_mut().find(|(name, _)| *name == block.group) {
                _ if block.group.is_empty() => entries.push(entry),
                Some((_, list)) => list.push(entry),
                None => groups.push((block.group, vec![entry])),
            }
        }
        for (name, list) in groups {
            entries.push((name.to_owned(), object(list)));
        }
        let optional = |why: Option<&str>| why.map_or(Value::Null, string);
        entries.push(("torsion_kind".into(), optional(self.torsion)));
        entries.push(("no_metric".into(), optional(self.unmetric)));
        if let Some(distribution) = &self.distribution {
            entries.extend(distribution_entries(distribution, &self.model.graph));
            entries.push(("momenta".into(), momenta_json(self)));
        }
        let of_parts = self.parts.notes.iter().map(|(part, note)| format!("{part}: {note}"));
        let notes: Vec<String> = self.notes.iter().cloned().chain(of_parts).collect();
        entries.push(("notes".into(), strings(notes)));
        object(entries)
    }
}

fn fact_json(value: &FactValue) -> Value {
    match value {
        FactValue::Verdict(verdict) => verdict.map_or(Value::Null, Value::Bool),
        FactValue::Names(names) => strings(names),
        FactValue::Formula(formula) => string(formula),
        FactValue::Formulas(all) => object(all.iter().map(|(n, f)| (*n, string(f)))),
        FactValue::Counts(all) => {
            object(all.iter().map(|(n, count)| (*n, Value::from(*count))))
        }
    }
}

fn rank(d: &DistributionReport) -> usize {
    d.growth.last().copied().unwrap_or(0)
}

fn distribution_lines(
    d: &DistributionReport,
    g: &Graph,
    base: &[String],
    at_state: bool,
) -> Vec<String> {
    let growth: Vec<String> = d.growth.iter().map(usize::to_string).collect();
    let place = if at_state { "at the state" } else { "at a generic point" };
    let space = if timely(d, base) { " of (t, q)" } else { "" };
    let mut lines = vec![format!(
        "distribution: growth vector ({}) in dimension {}{space}, {place}",
        growth.join(", "),
        d.dimension
    )];
    if !d.complete {
        lines.push(
            "  the brackets became too large: the growth vector may be incomplete".into(),
        );
    }
    lines.push(match &d.witness {
        None => "  integrable: F = 0 (Frobenius)".into(),
        Some((text, parts)) => {
            let parts: Vec<String> =
                parts.iter().map(|(n, e)| format!("{n}: {}", g.to_text(*e))).collect();
            match &parts[..] {
                [] => format!("  not integrable: {text} leaves the distribution"),
                _ => format!(
                    "  not integrable: {text} = ({}) leaves the distribution",
                    parts.join(", ")
                ),
            }
        }
    });
    let moving = timely(d, base);
    lines.extend(d.reach.map(|reach| match reach {
        Reach::Every if moving => {
            "  bracket generating without the drift: every point can be reached at every later time (Chow)".into()
        }
        Reach::Every => "  bracket generating: every point can be reached (Chow)".into(),
        Reach::Near => format!(
            "  bracket generating {place}: every point near it can be reached (Chow); where the rank is lower was not \
             examined"
        ),
        Reach::Interior => "  bracket generating only with the drift: what can be reached later has interior points, \
                            but need not be everything"
            .into(),
        Reach::Leaf if moving => format!(
            "  closure of rank {} of (t, q): at each time {} of the directions can be reached",
            rank(d),
            rank(d) - 1
        ),
        Reach::Leaf => {
            format!("  closure of rank {}: {} of the directions can be reached", rank(d), rank(d))
        }
    }));
    let (lost, found) = &d.kept;
    for h in found {
        lines.push(format!("  conserved by the constraints: {}", g.to_text(*h)));
    }
    if *lost > found.len() {
        lines.push(match lost - found.len() {
            1 => "  one more first integral of the positions exists; no elementary formula was found".into(),
            n => format!(
                "  {n} more first integrals of the positions exist; no elementary formulas were found"
            ),
        });
    }
    lines.extend(d.abnormal.as_ref().map(|a| abnormal_line(g, base, a)));
    lines
}

fn timely(d: &DistributionReport, base: &[String]) -> bool {
    d.growth.first().is_some_and(|&r| r == base.len() + 1)
}

fn distribution_entries(d: &DistributionReport, g: &Graph) -> Vec<(String, Value)> {
    let count = |x: usize| Value::from(x as u64);
    let witness = d.witness.as_ref().map_or(Value::Null, |(text, parts)| {
        let parts = parts.iter().map(|(n, e)| (n.clone(), string(&g.to_text(*e))));
        object([("bracket", string(text)), ("components", object(parts))])
    });
    let verdict = |truth: bool| if d.complete { Value::Bool(truth) } else { Value::Null };
    let functions = d.kept.1.iter().map(|&h| g.to_text(h));
    vec![
        ("growth_vector".into(), Value::Array(d.growth.iter().map(|&r| count(r)).collect())),
        ("closure_rank".into(), count(rank(d))),
        ("dimension".into(), count(d.dimension)),
        ("integrable".into(), Value::Bool(d.integrable)),
        ("bracket_generating".into(), verdict(rank(d) == d.dimension)),
        ("reachable".into(), d.reach.map_or(Value::Null, |r| string(r.name()))),
        ("witness".into(), witness),
        ("holonomic_integrals".into(), count(d.kept.0)),
        ("integrals".into(), strings(functions)),
        ("abnormal".into(), d.abnormal.as_ref().map_or(Value::Null, |a| abnormal_json(g, a))),
    ]
}

fn abnormal_line(g: &Graph, base: &[String], abnormal: &Abnormal) -> String {
    match abnormal {
        Abnormal::None(where_zero) => {
            let parts: Vec<String> = where_zero
                .iter()
                .filter(|&&e| g.number_of(e).is_none())
                .map(|&e| g.to_text(e))
                .collect();
            if parts.is_empty() {
                "  abnormal directions: none".into()
            } else {
                format!("  abnormal directions: none except where {} = 0", parts.join(" = "))
            }
        }
        Abnormal::Directions(all) => {
            let one = |u: &Vec<Expr>| -> String {
                let parts = base.iter().zip(u).filter(|(_, e)| **e != g.zero());
                let parts: Vec<String> =
                    parts.map(|(n, &e)| format!("{n}' = {}", g.to_text(e))).collect();
                format!("({})", parts.join(", "))
            };
            let all: Vec<String> = all.iter().map(one).collect();
            format!("  abnormal directions: along {}", all.join(" and "))
        }
        Abnormal::Every => "  abnormal directions: every direction is possible".into(),
        Abnormal::Open => "  abnormal directions: not decided".into(),
    }
}

fn abnormal_json(g: &Graph, abnormal: &Abnormal) -> Value {
    let texts = |es: &Vec<Expr>| strings(es.iter().map(|&e| g.to_text(e)));
    let (kind, key, list) = match abnormal {
        Abnormal::None(where_zero) => ("none", "except_where_zero", vec![texts(where_zero)]),
        Abnormal::Directions(all) => {
            ("directions", "directions", all.iter().map(texts).collect())
        }
        Abnormal::Every => ("every", "directions", Vec::new()),
        Abnormal::Open => ("open", "directions", Vec::new()),
    };
    object([("kind", string(kind)), (key, Value::Array(list))])
}
