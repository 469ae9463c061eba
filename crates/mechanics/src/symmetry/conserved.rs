//! What a motion keeps, as a list: energy, momenta, integrals of the constraints, quadratic integrals.

use pfaff_expr::{Expr, Graph};
use pfaff_model::{Dynamics, Principle, Workspace};

use super::conserved_quantity::{Conserved, ConservedKind, axis, vector_component};
use super::linear_field::linear_fields;
use super::momenta::{Momentum, kept_with};
use super::positions::kept_positions;
use super::quadratic::quadratic;
use super::turns::turns;
use crate::equations::Equations;
use crate::lagrangian::kinetic::Kinetic;

/// How much may be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All, for a list that people read.
    Full,
    /// What costs little.
    Audit,
    /// What the checks of a run compare: momenta. Integrals of the constraints have checks of their own.
    Run,
}

impl Effort {
    /// Coordinates up to which symmetries that are linear in them are looked for.
    fn most_coordinates(self) -> usize {
        match self {
            Self::Full => 12,
            Self::Audit | Self::Run => 6,
        }
    }
}

/// The conserved quantities of a model under a principle, without those that are combinations of others with constant
/// coefficients. All are proved.
///
/// Under the restricted principle there are none to tell, nor with memory.
pub fn conserved(model: &Workspace, equations: &Equations, effort: Effort) -> Vec<Conserved> {
    let g = &model.graph;
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return Vec::new() };
    let remembers = model.forces.iter().flat_map(|f| &f.components).any(|&f| g.has_memory(f))
        || equations.residual.iter().any(|&ψ| g.has_memory(ψ));
    if equations.principle == Principle::Restricted || remembers {
        return Vec::new();
    }
    let n = model.coordinates.len();
    let is_small = n <= effort.most_coordinates()
        && equations.auxiliary.is_none()
        && !model.coordinates.iter().any(|c| c.is_state);
    g.merging(|| {
        let mut list = List { model, all: vec![g.one()], found: Vec::new() };
        let mut extra: Vec<(Vec<Expr>, Option<Expr>)> = Vec::new();
        let is_wanted = is_small && effort == Effort::Full;
        let turns = if is_wanted && equations.principle == Principle::Chetaev {
            turns(model, equations, lagrangian)
        } else {
            Vec::new()
        };
        extra.extend(turns.iter().map(|t| (t.generator.clone(), Some(t.momentum))));
        if is_wanted && !equations.residual.is_empty() {
            let fields = linear_fields(model, equations, lagrangian, false, false);
            let own = fields.iter().filter(|f| f.is_of_coordinates());
            extra.extend(own.map(|f| (f.generator(model), None)));
        }
        // What the text names keeps its name.
        let (given, others): (Vec<Momentum>, Vec<Momentum>) =
            kept_with(model, equations, &extra).into_iter().partition(|m| m.given);
        for Momentum { name, momentum, .. } in given {
            let kind = ConservedKind::Given(name);
            list.add(Conserved { name: String::new(), kind, quantity: momentum });
        }
        if is_small {
            let with_gauge = effort == Effort::Full || has_gauge(model, equations);
            let fields = linear_fields(model, equations, lagrangian, true, with_gauge);
            let all = fields.iter().map(|field| field.conserved(model, equations));
            for found in shortened(model, all.collect()) {
                list.add(found);
            }
        }
        let has_energy = list.found.iter().any(is_energy);
        if !has_energy && g.is_zero(equations.power) && equations.residual.is_empty() {
            let (kind, quantity) = (ConservedKind::Energy, equations.energy);
            list.add(Conserved { name: String::new(), kind, quantity });
        }
        for Momentum { name, momentum, generator, .. } in others {
            let single = generator.iter().filter(|&&x| x != g.zero()).count() == 1;
            let place = model.coordinates.iter().position(|c| c.name == name);
            let turn = turns.iter().find(|t| t.generator == generator);
            let kind = match (place, turn) {
                (_, Some(turn)) => ConservedKind::BodyAngularMomentum(turn.axis),
                (Some(k), _) if single => ConservedKind::Momentum(k),
                _ => ConservedKind::Nonholonomic,
            };
            list.add(Conserved { name: String::new(), kind, quantity: momentum });
        }
        list.found.sort_by_key(|c| !is_energy(c));
        if effort != Effort::Run
            && equations.principle == Principle::Chetaev
            && equations.auxiliary.is_none()
        {
            for kept in kept_positions(model, equations) {
                list.add(kept);
            }
        }
        if effort == Effort::Full && is_small {
            let known: Vec<Expr> = list.found.iter().map(|c| c.quantity).collect();
            for kept in quadratic(model, equations, &known) {
                list.add(kept);
            }
        }
        list.named()
    })
}

/// Angular momenta about one axis as the whole one and what is shortest beside it: that of bodies about each other.
fn shortened(model: &Workspace, mut all: Vec<Conserved>) -> Vec<Conserved> {
    let g = &model.graph;
    let axis_of = |c: &Conserved| match &c.kind {
        ConservedKind::AngularMomentum { pairs, .. } => {
            pairs.first().and_then(|&(a, b)| axis(model, a.min(b), a.max(b))).map(|a| a.0)
        }
        _ => None,
    };
    let axes: Vec<Option<String>> = all.iter().map(axis_of).collect();
    let width = |e: Expr| {
        let desk = Graph::new();
        desk.to_text(g.on_paper(&[e], &desk)[0]).len()
    };
    for i in 1..all.len() {
        let Some(axis) = &axes[i] else { continue };
        let Some(first) = axes[..i].iter().position(|a| a.as_ref() == Some(axis)) else {
            continue;
        };
        let (whole, own) = (all[first].quantity, all[i].quantity);
        let masses = model.parameters.iter().map(|p| p.symbol);
        let sums = masses.flat_map(|m| {
            let more = g.mul(m, whole);
            [g.add(own, more), g.sub(own, more)]
        });
        let shortest = sums.min_by_key(|&e| width(e));
        all[i].quantity = shortest.filter(|&e| width(e) < width(own)).unwrap_or(own);
    }
    // The whole ones first, each axis in its turn.
    let is_again = |i: usize| axes[i].is_some() && axes[..i].iter().any(|a| *a == axes[i]);
    let order: Vec<usize> = (0..all.len()).filter(|&i| !is_again(i)).collect();
    let rest = (0..all.len()).filter(|&i| is_again(i));
    order.iter().copied().chain(rest).map(|i| all[i].clone()).collect()
}

fn is_energy(c: &Conserved) -> bool {
    use ConservedKind::{Energy, JacobiIntegral, MovingEnergy};
    matches!(c.kind, Energy | JacobiIntegral | MovingEnergy)
}

/// Whether the Lagrangian may change by a rate along a shift: it has a part linear in the velocities, or forces contain
/// velocities.
fn has_gauge(model: &Workspace, equations: &Equations) -> bool {
    let g = &model.graph;
    let v = model.velocities();
    let has_linear_part = |k: &Kinetic| k.vector.iter().any(|&e| e != g.zero());
    equations.kinetic.as_ref().is_none_or(has_linear_part)
        || model.forces.iter().flat_map(|f| &f.components).any(|&f| g.contains(f, &v))
}

/// A list without combinations of earlier entries.
struct List<'a> {
    model: &'a Workspace,
    all: Vec<Expr>,
    found: Vec<Conserved>,
}

impl List<'_> {
    fn add(&mut self, new: Conserved) {
        self.all.push(new.quantity);
        let independent = self.model.graph.independent_over_constants(&self.all);
        if independent.last() == Some(&(self.all.len() - 1)) {
            self.found.push(new);
        } else {
            self.all.pop();
        }
    }

    /// With names that the model leaves free.
    fn named(self) -> Vec<Conserved> {
        let model = self.model;
        let mut taken: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
        taken.extend(model.parameters.iter().map(|p| p.name.clone()));
        taken.extend(model.abbreviations.iter().map(|(name, _)| name.clone()));
        taken.extend(model.constraints.iter().map(|c| c.name.clone()));
        taken.extend(model.observed.iter().map(|o| o.name.clone()));
        let mut found = self.found;
        let counts = |kind: &ConservedKind, all: &[Conserved]| {
            all.iter()
                .filter(|c| std::mem::discriminant(&c.kind) == std::mem::discriminant(kind))
                .count()
        };
        let all = found.clone();
        for c in &mut found {
            let stem = stem(model, &c.kind);
            let numbered = matches!(
                c.kind,
                ConservedKind::Position
                    | ConservedKind::Linear
                    | ConservedKind::Quadratic
                    | ConservedKind::LinearSymmetry
            ) && counts(&c.kind, &all) > 1;
            let mut name = if numbered { format!("{stem}1") } else { stem.clone() };
            let mut i = 1;
            while taken.contains(&name) {
                i += 1;
                name = format!("{stem}{i}");
            }
            taken.push(name.clone());
            c.name = name;
        }
        found
    }
}

/// What a name begins with.
fn stem(model: &Workspace, kind: &ConservedKind) -> String {
    let plain = |k: usize| -> String {
        model.coordinates[k].name.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    match kind {
        ConservedKind::Energy => "E".into(),
        ConservedKind::JacobiIntegral | ConservedKind::MovingEnergy => "E_J".into(),
        ConservedKind::Momentum(k) => format!("p_{}", plain(*k)),
        ConservedKind::LinearMomentum(ks) | ConservedKind::GaugeMomentum(ks) => {
            let last = ks.iter().min().map_or_else(String::new, |&k| plain(k));
            // The same component of several vectors.
            let component = |&k: &usize| vector_component(model, k).map(|c| c.1);
            let first = ks.first().and_then(component);
            match first.filter(|_| ks.len() > 1 && ks.iter().all(|k| component(k) == first)) {
                Some(i) => format!("P_{i}"),
                None => format!("P_{last}"),
            }
        }
        ConservedKind::AngularMomentum { pairs, .. } => {
            let axis = pairs.first().and_then(|&(a, b)| axis(model, a.min(b), a.max(b)));
            axis.map_or_else(|| "L".into(), |(name, _)| format!("L_{name}"))
        }
        ConservedKind::BodyAngularMomentum(axis) => format!("L_{axis}"),
        ConservedKind::LinearSymmetry => "K".into(),
        ConservedKind::Given(name) => format!("J_{name}"),
        ConservedKind::Nonholonomic => "J".into(),
        ConservedKind::Position => "C".into(),
        ConservedKind::Laplace(k) => match vector_component(model, *k) {
            Some((_, i)) => format!("A_{i}"),
            None => format!("A_{}", plain(*k)),
        },
        ConservedKind::Linear | ConservedKind::Quadratic => "F".into(),
    }
}
