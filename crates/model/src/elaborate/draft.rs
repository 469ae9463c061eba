//! The model while its text is being read.

use std::collections::BTreeSet;
use std::sync::Arc;

use pfaff_expr::{Expr, Graph, Role};

use crate::drawing::Drawing;
use crate::elaborate::Given;
use crate::elaborate::scope::{Scope, Site};
use crate::model::{
    Activity, AffineBody, Constraint, Contact, Coordinate, Datum, Declarations, Delay,
    Dynamics, Equation, Event, Force, Hybrid, Joint, LieGroup, Model, MultiplierStart, Noise,
    Observed, Parameter, Principle, Reset, Results, Sampler, Solve, Symmetry, Terminal,
};
use crate::shape::Value;
use crate::source::{Source, Span};
use crate::syntax::{Arena, Control, Name};

/// Everything that statements have said so far.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) title: Option<(String, Span)>,
    pub(crate) coordinates: Vec<Coordinate>,
    pub(crate) parameters: Vec<Parameter>,
    /// Parameters whose values were needed to read the text.
    pub(crate) structural: BTreeSet<Expr>,
    pub(crate) abbreviations: Vec<(String, Expr)>,
    pub(crate) dynamics: DynamicsDraft,
    pub(crate) affine: AffineDraft,
    pub(crate) conditions: ConditionDraft,
    pub(crate) outputs: OutputDraft,
    pub(crate) hybrid: HybridDraft,
    pub(crate) symmetries: Vec<Symmetry>,
    pub(crate) groups: Vec<LieGroup>,
    pub(crate) solve: Option<Solve>,
    pub(crate) options: OptionDraft,
    /// A statement could not be parsed: what is missing may have been in it.
    pub(crate) faulty: bool,
}

/// What moves the system.
#[derive(Debug, Default)]
pub(crate) struct DynamicsDraft {
    pub(crate) energy: Energy,
    pub(crate) equations: Vec<Equation>,
    /// How many `constraint` statements there were.
    pub(crate) constraint_statements: usize,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) forces: Vec<Force>,
    pub(crate) noises: Vec<Noise>,
    /// Where `applied(x)` first sums the forces above it.
    pub(crate) applied: Option<Span>,
    pub(crate) principle: Option<(Principle, Span)>,
}

/// Affine bodies.
#[derive(Debug, Default)]
pub(crate) struct AffineDraft {
    pub(crate) bodies: Vec<AffineBody>,
    /// Matrices whose determinant or inverse is asked for.
    pub(crate) determinants: Vec<(Site, Value)>,
    /// Where the words of affine bodies stand.
    pub(crate) words: Vec<WordUse>,
    /// What an `event continue` looks at.
    pub(crate) let_go: Vec<(Expr, Span)>,
}

/// What is given at the start and at the end: as written, and what that means.
#[derive(Debug, Default)]
pub(crate) struct ConditionDraft {
    pub(crate) initial: Vec<Given>,
    pub(crate) terminal: Vec<Given>,
    pub(crate) history: Vec<Given>,
    pub(crate) data: Vec<Datum>,
    pub(crate) multipliers: Option<MultiplierStart>,
    pub(crate) terminals: Vec<Terminal>,
}

/// What is looked at along the motion.
#[derive(Debug, Default)]
pub(crate) struct OutputDraft {
    pub(crate) observed: Vec<Observed>,
    pub(crate) events: Vec<Event>,
    pub(crate) resets: Vec<Reset>,
    pub(crate) drawings: Vec<Drawing>,
    /// How many numbers they have together.
    pub(crate) drawn_points: usize,
}

/// What switches along the motion.
#[derive(Debug, Default)]
pub(crate) struct HybridDraft {
    pub(crate) modes: Vec<String>,
    /// When each constraint and each force holds, as far as that is limited.
    pub(crate) constraints: Vec<Activity>,
    pub(crate) forces: Vec<Activity>,
    pub(crate) event_modes: Vec<Vec<usize>>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) samplers: Vec<Sampler>,
    pub(crate) delays: Vec<Delay>,
    pub(crate) histories: Vec<(usize, Expr)>,
    pub(crate) known_from: Option<f64>,
    /// The states of the text, as long as none is declared.
    pub(crate) states: Vec<Name>,
    /// The controls of the text, as long as they are not read.
    pub(crate) controls: Vec<(Control, Span)>,
    /// Parameters that are inputs, by index.
    pub(crate) inputs: Vec<usize>,
}

/// What the command line gives.
#[derive(Debug, Default)]
pub(crate) struct OptionDraft {
    /// Of `--set`.
    pub(crate) set: Vec<Given>,
    /// Which of `set` a declaration has taken.
    pub(crate) set_used: Vec<usize>,
    /// Of `--initial`.
    pub(crate) overriding: Vec<Given>,
}

/// `lagrangian`, `kinetic`, `potential`, with the first place of each.
#[derive(Debug, Default)]
pub(crate) struct Energy {
    pub(crate) lagrangian: Option<(Option<Expr>, Span)>,
    pub(crate) kinetic: Option<(Option<Expr>, Span)>,
    pub(crate) potential: Option<(Option<Expr>, Span)>,
    /// The first `equation`.
    pub(crate) equation: Option<Span>,
}

/// The default run.
pub(crate) fn default_solve() -> Solve {
    Solve {
        range: None,
        tolerance: 1e-10,
        method: "auto".into(),
        is_double_double: false,
        samples: 201,
        step: None,
        span: None,
    }
}

impl Draft {
    /// The model. Requires that no mistake was reported.
    pub(crate) fn into_model(
        self,
        source: Source,
        graph: Graph,
        scope: Scope,
        arena: Arc<Arena>,
    ) -> Model {
        let laws = self.dynamics;
        let dynamics = if laws.energy.equation.is_some() {
            Dynamics::Equations(laws.equations)
        } else {
            laws.energy.into_dynamics(&graph)
        };
        let time = graph.symbol("t", Role::Time);
        let events = self.outputs.events.len();
        let hybrid = self.hybrid.into_hybrid(laws.constraints, laws.forces, events);
        let begins = |activity: &Activity| activity.is_in(0) && activity.when.is_none();
        let first = hybrid.constraints.iter().filter(|(_, activity)| begins(activity));
        let constraints: Vec<Constraint> = first.map(|(c, _)| c.clone()).collect();
        let first = hybrid.forces.iter().filter(|(_, activity)| begins(activity));
        let forces: Vec<Force> = first.map(|(f, _)| f.clone()).collect();
        let results = results(&graph, &self.coordinates, &constraints);
        let declarations = Declarations {
            source,
            title: self.title.map(|(title, _)| title),
            time,
            coordinates: self.coordinates,
            structural: structural(&graph, &self.parameters, self.structural),
            parameters: self.parameters,
            abbreviations: self.abbreviations,
            dynamics,
            constraints,
            forces,
            hybrid,
            noises: laws.noises,
            principle: laws.principle.map_or(Principle::Chetaev, |(principle, _)| principle),
            initial: self.conditions.data,
            multipliers: self.conditions.multipliers,
            terminal: self.conditions.terminals,
            observed: self.outputs.observed,
            events: self.outputs.events,
            resets: self.outputs.resets,
            bodies: self.affine.bodies,
            drawings: self.outputs.drawings,
            symmetries: self.symmetries,
            groups: self.groups,
            solve: self.solve.unwrap_or_else(default_solve),
            results,
            scope,
            arena,
        };
        Model::new(declarations, graph)
    }
}

impl HybridDraft {
    fn into_hybrid(
        mut self,
        constraints: Vec<Constraint>,
        forces: Vec<Force>,
        events: usize,
    ) -> Hybrid {
        self.constraints.resize(constraints.len(), Activity::default());
        self.forces.resize(forces.len(), Activity::default());
        self.event_modes.resize(events, Vec::new());
        Hybrid {
            modes: self.modes,
            constraints: constraints.into_iter().zip(self.constraints).collect(),
            forces: forces.into_iter().zip(self.forces).collect(),
            event_modes: self.event_modes,
            contacts: self.contacts,
            joints: self.joints,
            samplers: self.samplers,
            inputs: self.inputs,
            delays: self.delays,
            histories: self.histories,
            known_from: self.known_from,
        }
    }
}

impl Energy {
    fn into_dynamics(self, g: &Graph) -> Dynamics {
        let of = |part: Option<(Option<Expr>, Span)>| part.and_then(|(e, _)| e);
        let first = [self.lagrangian, self.kinetic, self.potential].into_iter().flatten();
        let span = first.map(|(_, span)| span).next().unwrap_or_default();
        let (kinetic, potential) = (of(self.kinetic), of(self.potential));
        let lagrangian = match (of(self.lagrangian), kinetic, potential) {
            (Some(l), _, _) => l,
            (None, Some(t), Some(v)) => g.sub(t, v),
            (None, Some(t), None) => t,
            (None, None, _) => g.zero(),
        };
        Dynamics::Lagrangian { lagrangian, kinetic, potential, span }
    }
}

/// The parameters whose values decide what the model is, with those that their values are made of.
fn structural(g: &Graph, parameters: &[Parameter], mut consulted: BTreeSet<Expr>) -> Vec<Expr> {
    // What a value is made of stands before it.
    for parameter in parameters.iter().rev() {
        if consulted.contains(&parameter.symbol) {
            consulted.extend(g.symbols(parameter.definition.as_slice()));
        }
    }
    parameters.iter().map(|p| p.symbol).filter(|s| consulted.contains(s)).collect()
}

/// The symbols of all results.
fn results(g: &Graph, coordinates: &[Coordinate], constraints: &[Constraint]) -> Results {
    let multiplier = |name: &str, order| g.symbol(name, Role::Multiplier { order });
    Results {
        lambda: constraints
            .iter()
            .map(|c| g.symbol(&format!("lambda({})", c.name), Role::Free))
            .collect(),
        mu: constraints.iter().map(|c| multiplier(&c.name, 0)).collect(),
        mu_rate: constraints.iter().map(|c| multiplier(&c.name, 1)).collect(),
        reaction: coordinates
            .iter()
            .map(|c| g.symbol(&format!("reaction({})", c.name), Role::Free))
            .collect(),
        energy: g.symbol("energy", Role::Free),
        divergence: g.symbol("divergence", Role::Free),
    }
}

/// A word of affine bodies where it stands.
#[derive(Clone, Debug)]
pub(crate) struct WordUse {
    pub(crate) word: String,
    pub(crate) constraint: String,
    /// Which of the bodies.
    pub(crate) body: usize,
    /// $\varphi^T g\varphi$, where the word has a metric.
    pub(crate) green: Option<Vec<Expr>>,
    pub(crate) span: Span,
}
