//! The geometry for people and for programs: text, LaTeX and JSON.

use std::fmt::Write;

use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::{Abnormal, Momentum};

use super::{DistributionReport, GeometryReport};
use crate::json::Json;
use crate::present::{Presentation, Section, named_parts};

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

impl GeometryReport {
    /// For people: only components that are not zero; numbers where a state was given.
    pub fn to_text(&self) -> String {
        if !self.at_state {
            return self.presentation().to_text();
        }
        let title = self.model.title.as_deref().unwrap_or(self.model.source.name());
        let mut text = format!("{title}\n{}\n", self.preface().join("\n"));
        for block in self.shown_blocks() {
            let numbers = block.numbers();
            if !numbers.is_empty() {
                let _ = writeln!(text, "\n{}", block.heading);
                numbers.iter().for_each(|(name, x)| {
                    let _ = writeln!(text, "  {name} = {x:?}");
                });
            }
        }
        let _ = writeln!(text, "\n{}", self.remarks().join("\n"));
        text
    }

    /// As LaTeX: one `align*` for each tensor.
    pub fn to_latex(&self) -> String {
        self.presentation().to_latex()
    }

    /// What is worth knowing beside the result.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn presentation(&self) -> Presentation {
        let zero = self.model.graph.zero();
        let section =
            |b: &super::Block| Section { key: b.key, heading: b.heading, lines: b.lines(zero) };
        let sections = self.shown_blocks().map(section).collect();
        Presentation::of(&self.model, None, sections, self.remarks())
            .with_preface(self.preface())
    }

    /// For a page: the conventions, what is true in sentences, and the blocks with these keys.
    pub(crate) fn excerpt(&self, keys: &[&str]) -> (String, Vec<String>, Presentation) {
        let mut sentences = self.preface();
        sentences.retain(|s| !CONVENTIONS.contains(&s.as_str()));
        sentences.extend(self.remarks());
        let zero = self.model.graph.zero();
        let sections = self
            .shown_blocks()
            .filter(|b| keys.contains(&b.key))
            .map(|b| Section { key: b.key, heading: b.heading, lines: b.lines(zero) })
            .collect();
        let blocks = Presentation::of(&self.model, None, sections, Vec::new());
        (CONVENTIONS.map(str::trim).join("; "), sentences, blocks)
    }

    fn shown_blocks(&self) -> impl Iterator<Item = &super::Block> {
        self.blocks.iter().filter(|b| self.shown.contains(&b.part()))
    }

    fn preface(&self) -> Vec<String> {
        let list = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let riemann = self.shown.contains(&"riemann");
        let mut lines: Vec<String> = Vec::new();
        if riemann {
            lines.extend(CONVENTIONS.map(str::to_owned));
        }
        if self.shown.iter().any(|p| *p != "riemann") {
            lines.extend(FORM_CONVENTIONS.map(str::to_owned));
        }
        lines.push(format!("base {}; dependent {}", list(&self.base), list(&self.dependent)));
        if !riemann {
            return lines;
        }
        lines.push(match &self.obstacle {
            None => "a Chaplygin system: everything is a function on the base".into(),
            Some(why) => format!(
                "not a Chaplygin system: {why}; Gamma and S are those of the frame X, curvatures of the base are \
                 left out"
            ),
        });
        if let Some(why) = self.unmetric {
            lines.push(format!("no metric and no connection: {why}"));
        }
        if let Some(torsion) = self.torsion {
            let curves = match torsion {
                "general" => "autoparallels and geodesics differ",
                _ => "autoparallels are geodesics",
            };
            // NOTE: geodesics are curves of the base, which only a system of Chaplygin has.
            lines.push(match self.obstacle {
                None => format!("torsion: {torsion} ({curves})"),
                Some(_) => format!("torsion: {torsion}"),
            });
        }
        lines
    }

    fn remarks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(distribution) = &self.distribution
            && self.shown.contains(&"riemann")
        {
            lines.extend(distribution.lines(&self.model.graph, &self.base, self.at_state));
        }
        let g = &self.model.graph;
        if !self.momenta.is_empty() {
            let principle = self.model.principle.name();
            lines.push(format!("symmetries, under the principle {principle}:"));
        }
        for m in &self.momenta {
            let momentum = g.to_text(m.momentum);
            lines.push(match m.rate {
                Some(rate) if rate == g.zero() => format!("  {}: {momentum} is conserved", m.name),
                Some(rate) => {
                    format!("  {}: ({momentum})' = {}", m.name, g.to_text(rate))
                }
                None => format!(
                    "  {}: {momentum} is not conserved: the constraints are not invariant along it",
                    m.name
                ),
            });
        }
        let own = self.parts.notes.iter().filter(|(part, _)| self.shown.contains(part));
        lines.extend(own.map(|(part, note)| format!("{part}: {note}")));
        lines.extend(self.notes.iter().cloned());
        lines
    }

    /// Momenta as JSON.
    fn momenta_json(&self) -> Json {
        let g = &self.model.graph;
        let one = |m: &Momentum| {
            Json::object([
                ("name", Json::text(&m.name)),
                ("generator", Json::texts(m.generator.iter().map(|&e| g.to_text(e)))),
                ("momentum", Json::text(&g.to_text(m.momentum))),
                ("rate", m.rate.map_or(Json::Null, |r| Json::text(&g.to_text(r)))),
                ("conserved", Json::Bool(m.rate == Some(g.zero()))),
            ])
        };
        Json::List(self.momenta.iter().map(one).collect())
    }

    /// As `geometry --json` prints it.
    pub fn to_json(&self) -> Json {
        let graph = Graph::new();
        let outputs: Vec<Expr> =
            self.blocks.iter().flat_map(|b| b.tensor.entries.clone()).collect();
        let named = named_parts(&self.model, &outputs, &graph);
        let mut texts = named.outputs.iter().map(|&e| graph.to_text(e));
        let definition = |(name, e): &(String, Expr)| {
            Json::object([
                ("name", Json::text(name)),
                ("value", Json::text(&graph.to_text(*e))),
            ])
        };
        let mut entries: Vec<(String, Json)> = vec![
            ("pfaff".into(), Json::text(env!("CARGO_PKG_VERSION"))),
            (
                "model".into(),
                Json::text(self.model.title.as_deref().unwrap_or(self.model.source.name())),
            ),
            ("conventions".into(), Json::texts(CONVENTIONS)),
            ("base".into(), Json::texts(&self.base)),
            ("dependent".into(), Json::texts(&self.dependent)),
            ("chaplygin".into(), Json::Bool(self.obstacle.is_none())),
            ("obstacle".into(), self.obstacle.as_deref().map_or(Json::Null, Json::text)),
            (
                "definitions".into(),
                Json::List(named.definitions.iter().map(definition).collect()),
            ),
        ];
        let mut groups: Vec<(&str, Vec<(String, Json)>)> = Vec::new();
        for fact in &self.parts.facts {
            let entry = (fact.key.to_owned(), fact.value.clone());
            match groups.iter_mut().find(|(name, _)| *name == fact.group) {
                Some((_, list)) => list.push(entry),
                None => groups.push((fact.group, vec![entry])),
            }
        }
        for block in &self.blocks {
            let own: Vec<String> = texts.by_ref().take(block.tensor.entries.len()).collect();
            let entry = (block.key.to_owned(), block.to_json(&own));
            match groups.iter_mut().find(|(name, _)| *name == block.group) {
                _ if block.group.is_empty() => entries.push(entry),
                Some((_, list)) => list.push(entry),
                None => groups.push((block.group, vec![entry])),
            }
        }
        for (name, list) in groups {
            entries.push((name.to_owned(), Json::Object(list)));
        }
        let texts = |why: Option<&str>| why.map_or(Json::Null, Json::text);
        entries.push(("torsion_kind".into(), texts(self.torsion)));
        entries.push(("no_metric".into(), texts(self.unmetric)));
        if let Some(distribution) = &self.distribution {
            entries.extend(distribution.entries(&self.model.graph));
            entries.push(("momenta".into(), self.momenta_json()));
        }
        let of_parts = self.parts.notes.iter().map(|(part, note)| format!("{part}: {note}"));
        let notes: Vec<String> = self.notes.iter().cloned().chain(of_parts).collect();
        entries.push(("notes".into(), Json::texts(notes)));
        Json::Object(entries)
    }
}

impl DistributionReport {
    fn rank(&self) -> usize {
        self.growth.last().copied().unwrap_or(0)
    }

    fn lines(&self, g: &Graph, base: &[String], at_state: bool) -> Vec<String> {
        let growth: Vec<String> = self.growth.iter().map(usize::to_string).collect();
        let place = if at_state { "at the state" } else { "at a generic point" };
        let space = if self.timely(base) { " of (t, q)" } else { "" };
        let mut lines = vec![format!(
            "distribution: growth vector ({}) in dimension {}{space}, {place}",
            growth.join(", "),
            self.dimension
        )];
        if !self.complete {
            lines.push(
                "  the brackets became too large: the growth vector may be incomplete".into(),
            );
        }
        lines.push(match &self.witness {
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
        if self.complete {
            lines.push(if self.rank() == self.dimension {
                "  bracket generating: every point can be reached (Chow)".into()
            } else {
                format!(
                    "  closure of rank {}: {} of the directions can be reached",
                    self.rank(),
                    self.rank()
                )
            });
        }
        let (lost, found) = &self.kept;
        for h in found {
            lines.push(format!("  conserved by the constraints: {}", g.to_text(*h)));
        }
        if *lost > found.len() {
            lines.push(match lost - found.len() {
                1 => "  one more first integral of the positions exists; no elementary formula was found".into(),
                n => format!("  {n} more first integrals of the positions exist; no elementary formulas were found"),
            });
        }
        lines.extend(self.abnormal.as_ref().map(|a| abnormal_line(g, base, a)));
        lines
    }

    fn timely(&self, base: &[String]) -> bool {
        self.growth.first().is_some_and(|&r| r == base.len() + 1)
    }

    fn entries(&self, g: &Graph) -> Vec<(String, Json)> {
        let count = |x: usize| Json::Integer(x as u64);
        let witness = self.witness.as_ref().map_or(Json::Null, |(text, parts)| {
            let parts = parts.iter().map(|(n, e)| (n.clone(), Json::text(&g.to_text(*e))));
            Json::object([("bracket", Json::text(text)), ("components", Json::object(parts))])
        });
        let verdict = |truth: bool| if self.complete { Json::Bool(truth) } else { Json::Null };
        let functions = self.kept.1.iter().map(|&h| g.to_text(h));
        vec![
            (
                "growth_vector".into(),
                Json::List(self.growth.iter().map(|&r| count(r)).collect()),
            ),
            ("closure_rank".into(), count(self.rank())),
            ("dimension".into(), count(self.dimension)),
            ("integrable".into(), Json::Bool(self.integrable)),
            ("bracket_generating".into(), verdict(self.rank() == self.dimension)),
            ("witness".into(), witness),
            ("holonomic_integrals".into(), count(self.kept.0)),
            ("integrals".into(), Json::texts(functions)),
            (
                "abnormal".into(),
                self.abnormal.as_ref().map_or(Json::Null, |a| abnormal_json(g, a)),
            ),
        ]
    }
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

fn abnormal_json(g: &Graph, abnormal: &Abnormal) -> Json {
    let texts = |es: &Vec<Expr>| Json::texts(es.iter().map(|&e| g.to_text(e)));
    let (kind, key, list) = match abnormal {
        Abnormal::None(where_zero) => ("none", "except_where_zero", vec![texts(where_zero)]),
        Abnormal::Directions(all) => {
            ("directions", "directions", all.iter().map(texts).collect())
        }
        Abnormal::Every => ("every", "directions", Vec::new()),
        Abnormal::Open => ("open", "directions", Vec::new()),
    };
    Json::object([("kind", Json::text(kind)), (key, Json::List(list))])
}
