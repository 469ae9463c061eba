//! What motions keep, for people: formulas, what they are, and `observe` lines that can be pasted into the model.

use pfaff_expr::{Expr, Graph, Node, Role};
use pfaff_mechanics::{Conserved, ConservedKind, Effort, Equations, conserved};
use pfaff_model::{Principle, Workspace};
use serde_json::Value;

use super::{Label, Line, Presentation, Section};
use crate::json::{object, string};

/// A conserved quantity on a page; its formula is the line of the same place in the section `conserved`.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) name: String,
    /// `energy`, `momentum`, …: one word for programs.
    pub(crate) kind: &'static str,
    /// What it is: `the momentum of x`.
    pub(crate) meaning: String,
    /// `observe p_x = m*x'`; empty where the formula is too long for a line.
    pub(crate) observe: String,
}

/// Coordinates beyond which nothing is looked for.
const MANY: usize = 24;
/// Longer formulas are not offered for pasting.
const LONGEST: usize = 400;
/// Graphs of a Lagrangian with more nodes are looked through as before a run.
const LARGE: usize = 1_500;

/// The section of the conserved quantities, without their `observe` lines.
pub(crate) fn section(model: &Workspace, e: &Equations) -> (Section, Vec<Kept>) {
    let g = &model.graph;
    let is_large = g.size(&[e.energy]) > LARGE;
    // Friction of joints always acts, and is not among the forces that are printed.
    let found = if model.coordinates.len() > MANY || !model.hybrid.joints.is_empty() {
        Vec::new()
    } else {
        conserved(model, e, if is_large { Effort::Audit } else { Effort::Full })
    };
    let line = |c: &Conserved| Line {
        label: Label::Expression(g.symbol(&c.name, Role::Free)),
        right: match c.kind {
            ConservedKind::GaugeMomentum(_)
            | ConservedKind::LinearMomentum(_)
            | ConservedKind::LinearSymmetry => without_number(g, c.quantity),
            _ => c.quantity,
        },
    };
    let kept = |c: &Conserved| {
        let (kind, meaning) = words(model, c, e);
        Kept { name: c.name.clone(), kind, meaning, observe: String::new() }
    };
    let section = Section {
        key: "conserved",
        heading: heading(model),
        lines: found.iter().map(line).collect(),
    };
    (section, found.iter().map(kept).collect())
}

/// How long they are kept: impacts, resets and other modes have equations of their own.
fn heading(model: &Workspace) -> &'static str {
    let hybrid = &model.hybrid;
    if !hybrid.contacts.is_empty() {
        "Conserved quantities while no contact is closed"
    } else if hybrid.switches() {
        "Conserved quantities while these equations hold"
    } else if !model.resets.is_empty() || !hybrid.samplers.is_empty() {
        "Conserved quantities between jumps"
    } else {
        "Conserved quantities"
    }
}

/// A quantity without a number or a sum of parameters that all its terms have, and without a minus sign before it: it
/// is kept as well.
fn without_number(g: &Graph, e: Expr) -> Expr {
    let sums = constant_sums(g, g.factor_of_all_terms(&[e]));
    let e = sums.into_iter().fold(e, |e, sum| g.div(e, sum));
    let number = libm::round(g.evaluate(&[g.common_factor(&[e])], &|_| 1.0)[0]);
    let whole =
        if number > 1.0 && number < 1e9 { g.div(e, g.integer(number as i64)) } else { e };
    let desk = Graph::new();
    let is_negative = desk.to_text(g.on_paper(&[whole], &desk)[0]).starts_with('-');
    if is_negative { g.neg(whole) } else { whole }
}

/// The factors of a product that are sums of parameters.
fn constant_sums(g: &Graph, product: Expr) -> Vec<Expr> {
    let (mut found, mut rest) = (Vec::new(), vec![product]);
    while let Some(e) = rest.pop() {
        match g.node(e) {
            Node::Mul(a, b) => rest.extend([a, b]),
            Node::Neg(a) | Node::Pow(a, _) => rest.push(a),
            Node::Add(..) | Node::Sub(..) if !g.varies(e) => found.push(e),
            _ => {}
        }
    }
    found
}

/// One word, and some.
fn words(model: &Workspace, c: &Conserved, e: &Equations) -> (&'static str, String) {
    let g = &model.graph;
    let names = |ks: &[usize]| -> String {
        let mut ks = ks.to_vec();
        ks.sort_unstable();
        let names: Vec<&str> = ks.iter().map(|&k| model.coordinates[k].name.as_str()).collect();
        names.join(", ")
    };
    // Lengths have such names; angles may be shifted too.
    let is_length = |&k: &usize| {
        let name = &model.coordinates[k].name;
        name.starts_with(['x', 'y', 'z', 'X', 'Y', 'Z', 'r', 'q', 's'])
    };
    match &c.kind {
        ConservedKind::Energy => ("energy", "the energy".into()),
        ConservedKind::JacobiIntegral => {
            ("jacobi_integral", "Jacobi's integral T2 - T0 + V".into())
        }
        ConservedKind::MovingEnergy
            if g.gradient(g.sub(c.quantity, e.energy), &model.velocities())
                .into_iter()
                .all(|slope| g.is_zero(slope)) =>
        {
            ("jacobi_integral", "the energy with the potential of constant forces".into())
        }
        ConservedKind::MovingEnergy => (
            "jacobi_integral",
            "Jacobi's integral, the energy less a multiple of a momentum".into(),
        ),
        ConservedKind::Momentum(k) => {
            ("momentum", format!("the momentum of {}", model.coordinates[*k].name))
        }
        ConservedKind::LinearMomentum(ks) => {
            let what = if ks.iter().all(is_length) {
                format!("the linear momentum along {}", names(ks))
            } else {
                format!("the momentum of a common shift of {}", names(ks))
            };
            ("linear_momentum", what)
        }
        ConservedKind::GaugeMomentum(ks) => (
            "linear_momentum",
            format!("the momentum along {}, with what the Lagrangian gains there", names(ks)),
        ),
        ConservedKind::AngularMomentum { pairs, shifted } => {
            let mut ks: Vec<usize> = pairs.iter().map(|p| p.0).chain(shifted.clone()).collect();
            ks.sort_unstable();
            ks.dedup();
            let axis = c.name.strip_prefix("L_").filter(|a| ["x", "y", "z"].contains(a));
            let is_screw = shifted.iter().any(is_length);
            let meaning = match axis {
                _ if is_screw => format!("the momentum of turns and shifts of {}", names(&ks)),
                Some(axis) => format!("the angular momentum about the {axis} axis"),
                None => format!("the angular momentum of turns of {}", names(&ks)),
            };
            ("angular_momentum", meaning)
        }
        ConservedKind::BodyAngularMomentum(axis) => {
            ("angular_momentum", format!("the angular momentum about the axis {axis} of space"))
        }
        ConservedKind::LinearSymmetry => {
            ("momentum", "the momentum of a symmetry that is linear in the coordinates".into())
        }
        ConservedKind::Given(name) => ("momentum", format!("the momentum of {name}")),
        ConservedKind::Nonholonomic => (
            "nonholonomic_momentum",
            "the momentum of a combination of symmetries that the constraints allow".into(),
        ),
        ConservedKind::Position => {
            ("constraint_integral", "an integral of the constraints".into())
        }
        ConservedKind::Laplace(k) => {
            ("quadratic", format!("Laplace's vector along {}", model.coordinates[*k].name))
        }
        ConservedKind::Linear => ("linear", "an integral of first degree".into()),
        ConservedKind::Quadratic => ("quadratic", "an integral of second degree".into()),
    }
}

/// What is said of one quantity with `{}` for what differs, and of several.
const PLURALS: [(&str, &str); 8] = [
    ("the momentum of {}", "the momenta of {}"),
    ("the angular momentum about the {} axis", "the angular momenta about the {} axes"),
    (
        "the angular momentum about the axis {} of space",
        "the angular momenta about the axes {} of space",
    ),
    (
        "the momentum of a symmetry that is linear in the coordinates",
        "momenta of symmetries that are linear in the coordinates",
    ),
    ("Laplace's vector along {}", "the components of Laplace's vector along {}"),
    ("an integral of the constraints", "integrals of the constraints"),
    ("an integral of second degree", "integrals of second degree"),
    (
        "the momentum of a combination of symmetries that the constraints allow",
        "momenta of combinations of symmetries that the constraints allow",
    ),
];

/// A meaning with `{}` for what differs between quantities of a kind, and what that is.
fn together(meaning: &str) -> (&str, &str) {
    for (one, _) in PLURALS {
        let Some((before, after)) = one.split_once("{}") else { continue };
        let inside = meaning.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if let Some(inside) = inside.filter(|i| !i.contains(' ')) {
            return (one, inside);
        }
    }
    (meaning, "")
}

/// `a`, `a and b`, `a, b and c`
fn listed(all: &[String]) -> String {
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

impl Presentation {
    /// With what is known of the quantities whose formulas are in the section `conserved`.
    pub(crate) fn with_conserved(mut self, kept: Vec<Kept>) -> Self {
        let lines: Vec<Expr> = self
            .sections
            .iter()
            .filter(|s| s.key == "conserved")
            .flat_map(|s| s.lines.iter().map(|l| l.right))
            .collect();
        // NOTE: abbreviations of ours mean nothing in a model; its own names do.
        let mut whole = lines;
        for (name, meaning) in self.definitions.iter().rev() {
            if !self.names.contains(name) {
                let image = [(self.graph.symbol(name, Role::Free), *meaning)];
                whole = self.graph.as_written(|| self.graph.substitute(&whole, &image));
            }
        }
        self.kept = kept;
        self.write_out_names_used_once();
        for (kept, &e) in self.kept.iter_mut().zip(&whole) {
            let formula = match kept.kind {
                "energy" if self.principle == Some(Principle::Chetaev) => "energy".to_owned(),
                _ if self.graph.size(&[e]) > LONGEST => continue,
                _ => self.graph.to_text(e),
            };
            if formula.len() <= LONGEST {
                kept.observe = format!("observe {} = {formula}", kept.name);
            }
        }
        self
    }

    /// The lines of a section for people: the energy has a section of its own.
    pub(crate) fn shown<'a>(&'a self, section: &'a Section) -> impl Iterator<Item = &'a Line> {
        let is_energy = |i: usize| {
            section.key == "conserved" && self.kept.get(i).is_some_and(|k| k.kind == "energy")
        };
        // NOTE: the parts of the kinetic energy are for programs.
        let is_for_programs = section.key == "kinetic";
        let lines = section.lines.iter().enumerate();
        lines.filter(move |(i, _)| !is_for_programs && !is_energy(*i)).map(|(_, l)| l)
    }

    /// What the conserved quantities are, in one sentence.
    pub(crate) fn kept_sentence(&self) -> Option<String> {
        self.kept_sentence_by(&str::to_owned, &str::to_owned)
    }

    /// The same, with names of quantities and other words typeset.
    pub(crate) fn kept_sentence_by(
        &self,
        name: &dyn Fn(&str) -> String,
        words: &dyn Fn(&str) -> String,
    ) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        let mut rest = &self.kept[..];
        while let Some(first) = rest.first() {
            let (what, _) = together(&first.meaning);
            let count = rest.iter().take_while(|k| together(&k.meaning).0 == what).count();
            let (alike, others) = rest.split_at(count);
            rest = others;
            let names: Vec<String> = alike.iter().map(|k| self.kept_name(k, name)).collect();
            let object = |k: &Kept| match together(&k.meaning).1 {
                "" => String::new(),
                object => name(object),
            };
            let of: Vec<String> = alike.iter().map(object).collect();
            let filled = |words_of: &str, inside: &str| match words_of.split_once("{}") {
                Some((before, after)) => format!("{}{inside}{}", words(before), words(after)),
                None => words(words_of),
            };
            let several = PLURALS.iter().find(|p| p.0 == what).map(|p| p.1);
            parts.push(match several {
                Some(several) if count > 1 => {
                    format!("{} are {}", listed(&names), filled(several, &listed(&of)))
                }
                _ => {
                    let part = |((k, name), of): ((&Kept, &String), &String)| {
                        format!("{name} is {}", filled(together(&k.meaning).0, of))
                    };
                    let each: Vec<String> =
                        alike.iter().zip(&names).zip(&of).map(part).collect();
                    each.join("; ")
                }
            });
        }
        let section = self.sections.iter().find(|s| s.key == "conserved")?;
        let conserved = section.heading.replace(" quantities", "");
        (!parts.is_empty()).then(|| format!("{conserved}: {}.", parts.join("; ")))
    }

    /// How a quantity is called where it is explained: the energy as in its own section.
    fn kept_name(&self, kept: &Kept, name: &dyn Fn(&str) -> String) -> String {
        match kept.kind {
            "energy" if kept.name != "E" => name(&self.own("E")),
            _ => name(&kept.name),
        }
    }

    /// A conserved quantity for programs.
    pub(crate) fn kept_object(&self, line: &Line, kept: &Kept) -> Value {
        object([
            ("name", string(&kept.name)),
            ("kind", string(kept.kind)),
            ("value", string(&self.graph.to_text(line.right))),
            ("observe", string(&kept.observe)),
        ])
    }

    /// The lines that can be pasted into the model.
    pub(crate) fn observe_lines(&self) -> Vec<&str> {
        self.kept.iter().map(|k| k.observe.as_str()).filter(|o| !o.is_empty()).collect()
    }
}
