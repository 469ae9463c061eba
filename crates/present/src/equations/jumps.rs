//! What jumps and switches, beside the equations: gaps, impact equations, laws of restitution, resets, modes.
//!
//! With P and Q the impulses along and across the contacts and Λ those of the constraints,
//!
//! $$ M\,(\dot q^+ - \dot q) = A^\top\Lambda + \sum_c \Bigl(\frac{\partial g_c}{\partial q} P_c
//!    + \frac{\partial\sigma_c}{\partial\dot q} Q_c\Bigr). $$

use pfaff::Workspace;
use pfaff_expr::{Expr, Role};
use pfaff_mechanics::Equations;
use pfaff_model::{Contact, Quantity, Reset};

use crate::equations::{Label, Line, Section};

/// Gaps, slips, impact equations and restitution of the contacts of a model.
pub(super) fn impacts(model: &Workspace, e: &Equations) -> Vec<Section> {
    let contacts = &model.hybrid.contacts;
    if contacts.is_empty() {
        return Vec::new();
    }
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let after: Vec<Expr> = model.coordinates.iter().map(|c| after(model, &c.name)).collect();
    let entry = |text, latex, name: &str, right| Line {
        label: Label::Entry { text, latex, indices: vec![name.to_owned()] },
        right,
    };
    let gaps = contacts.iter().map(|c| entry("g", "g", &c.name, c.gap)).collect();
    let slips = contacts.iter().flat_map(|c| {
        rates(c).into_iter().map(|(name, rate)| entry("sigma", "\\sigma", &name, rate))
    });
    let change: Vec<Expr> = after.iter().zip(&v).map(|(&a, &b)| g.sub(a, b)).collect();
    let pulses: Vec<(Expr, Vec<Expr>)> = model
        .constraints
        .iter()
        .zip(&e.directions)
        .map(|(c, row)| {
            (g.symbol(&format!("Lambda_{}", plain(&c.name)), Role::Free), row.clone())
        })
        .chain(contacts.iter().flat_map(|c| {
            let normal =
                (g.symbol(&format!("P_{}", plain(&c.name)), Role::Free), g.gradient(c.gap, &q));
            let across = rates(c).into_iter().map(|(name, rate)| {
                (g.symbol(&format!("Q_{}", plain(&name)), Role::Free), g.gradient(rate, &v))
            });
            std::iter::once(normal).chain(across).collect::<Vec<_>>()
        }))
        .collect();
    let equations = (0..q.len())
        .map(|k| Line {
            label: Label::Expression(g.dot(&e.mass[k], &change)),
            right: g.sum(pulses.iter().map(|(pulse, row)| g.mul(row[k], *pulse))),
        })
        .filter(|line| line.right != g.zero());
    let place = [vec![model.time], q.clone()].concat();
    let rate = |gap: Expr, v: &[Expr]| {
        let rates = [vec![g.one()], v.to_vec()].concat();
        g.dot(&g.gradient(gap, &place), &rates)
    };
    let restitution = contacts.iter().map(|c| Line {
        label: Label::Expression(rate(c.gap, &after)),
        right: g.neg(g.mul(c.restitution, rate(c.gap, &v))),
    });
    vec![
        Section { key: "gaps", heading: "Contacts: gaps g >= 0", lines: gaps },
        Section { key: "slips", heading: "Slip along the contacts", lines: slips.collect() },
        Section {
            key: "impact",
            heading: "Impact equations: impulses Lambda of constraints, P along and Q across the normals",
            lines: equations.collect(),
        },
        Section {
            key: "restitution",
            heading: "Restitution of what is hit",
            lines: restitution.collect(),
        },
    ]
}

/// The new values of resets.
pub(super) fn resets(model: &Workspace) -> Vec<Section> {
    let g = &model.graph;
    let target = |reset: &Reset| {
        let lines = reset.values.iter().map(|&(quantity, value)| {
            let left = match quantity {
                Quantity::Coordinate(k, 0) => {
                    g.symbol(&format!("{}_new", model.coordinates[k].name), Role::Free)
                }
                Quantity::Coordinate(k, _) => after(model, &model.coordinates[k].name),
                Quantity::Multiplier(_) | Quantity::Time => g.zero(),
            };
            Line { label: Label::Expression(left), right: value }
        });
        lines.collect::<Vec<_>>()
    };
    let lines: Vec<Line> = model.resets.iter().flat_map(target).collect();
    vec![Section { key: "resets", heading: "What events set (`on`)", lines }]
}

/// Sentences about what holds when.
pub(super) fn remarks(model: &Workspace) -> Vec<String> {
    let hybrid = &model.hybrid;
    let g = &model.graph;
    let mut remarks = Vec::new();
    if let Some(first) = hybrid.modes.first() {
        remarks.push(format!("The equations are those of the mode `{first}`."));
        for (mode, name) in hybrid.modes.iter().enumerate().skip(1) {
            let mut parts = Vec::new();
            for (constraint, activity) in &hybrid.constraints {
                match (activity.is_in(0), activity.is_in(mode)) {
                    (true, false) => parts.push(format!("`{}` does not hold", constraint.name)),
                    (false, true) => {
                        let text = g.to_text(constraint.expr);
                        parts.push(format!("`{}` holds: {text} = 0", constraint.name));
                    }
                    _ => {}
                }
            }
            for (force, activity) in &hybrid.forces {
                let verb = match (activity.is_in(0), activity.is_in(mode)) {
                    (true, false) => "no longer acts",
                    (false, true) => "acts",
                    _ => continue,
                };
                let of = model.coordinates.iter().zip(&force.components);
                for (coordinate, &e) in of.filter(|(_, e)| **e != g.zero()) {
                    let text = g.to_text(e);
                    parts.push(format!("the force {text} on `{}` {verb}", coordinate.name));
                }
            }
            let what =
                if parts.is_empty() { "nothing differs".into() } else { parts.join("; ") };
            remarks.push(format!("In the mode `{name}`: {what}."));
        }
    }
    for (constraint, activity) in &hybrid.constraints {
        if let Some(when) = activity.when {
            let text = g.to_text(when);
            remarks.push(format!("`{}` holds while {text}.", constraint.name));
        }
    }
    let is_velocity =
        |quantity| matches!(quantity, Quantity::Coordinate(_, order) if order > 0);
    if !hybrid.contacts.is_empty()
        || model
            .resets
            .iter()
            .any(|reset| reset.values.iter().any(|&(quantity, _)| is_velocity(quantity)))
    {
        remarks.push(
            "q_after is the velocity of a coordinate q after a jump, q' that before it.".into(),
        );
    }
    for contact in &hybrid.contacts {
        for friction in &contact.frictions {
            let word = if friction.is_rolling { "rolling" } else { "friction" };
            let of = plain(&contact.friction_names(friction)[0]);
            remarks.push(format!(
                "Contact `{}`, {word}: |Q| <= {} P (Q_{of}, against the slip while it slides).",
                contact.name,
                g.to_text(friction.sliding)
            ));
        }
        remarks.push(format!(
            "Contact `{}` is settled by the law `{}`; where it rests, g = 0 is a constraint with lambda >= 0.",
            contact.name,
            contact.law.name()
        ));
    }
    for joint in &hybrid.joints {
        let rows: Vec<String> =
            joint.rows.iter().map(|row| format!("lambda({row})^2")).collect();
        remarks.push(format!(
            "Joint `{}`, friction: |Q| <= {}*sqrt({}), against the slip {} while it slides.",
            joint.name,
            g.to_text(joint.friction),
            rows.join(" + "),
            g.to_text(joint.slip)
        ));
    }
    for delay in &hybrid.delays {
        remarks.push(format!(
            "{} is {} at the time t - {}.",
            g.to_text(delay.symbol),
            g.to_text(delay.operand),
            delay.lag
        ));
    }
    remarks
}

/// A velocity after a jump.
fn after(model: &Workspace, name: &str) -> Expr {
    model.graph.symbol(&format!("{name}_after"), Role::Free)
}

/// The velocities of all frictions with their names.
fn rates(contact: &Contact) -> Vec<(String, Expr)> {
    let of = contact.frictions.iter();
    of.flat_map(|f| contact.friction_names(f).into_iter().zip(f.rates.iter().copied()))
        .collect()
}

/// A name without brackets, which may stand in an index.
fn plain(name: &str) -> String {
    let inner = name.strip_prefix("friction(").or_else(|| name.strip_prefix("rolling("));
    let text = inner.unwrap_or(name);
    text.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect()
}
