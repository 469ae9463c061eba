//! The model: what the text says, as values.
//!
//! Everything is in components and in declared order. Expressions live in the model's own [`Graph`];
//! parameters stay symbols (their values
//! stand beside them), sizes and index ranges are gone.

mod group;
mod hybrid;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use pfaff_expr::{Expr, FrozenGraph, Graph, Node};

use crate::drawing::Drawing;
use crate::elaborate::Scope;
use crate::source::{Source, Span};
use crate::syntax::Arena;

pub use group::{GroupKind, LieGroup};
pub use hybrid::{Activity, Contact, Delay, Friction, Hybrid, ImpactLaw, Joint, Sampler};

/// A constrained system as the user wrote it, frozen: it is shared between threads at no cost, and nothing
/// that is done with it changes it.
///
/// What is computed from it grows in a [`Workspace`].
#[derive(Clone, Debug)]
pub struct Model {
    declarations: Arc<Declarations>,
    graph: FrozenGraph,
}

impl Model {
    pub(crate) fn new(declarations: Declarations, graph: Graph) -> Self {
        Self { declarations: Arc::new(declarations), graph: graph.freeze() }
    }

    /// The model with a graph of its own, which begins with the expressions of the text, all terms written out.
    pub fn workspace(&self) -> Workspace {
        let mut workspace = self.workspace_with_families();
        workspace.write_out();
        workspace
    }

    /// As [`workspace`](Self::workspace), with the families of like terms in its energies as they were read.
    pub fn workspace_with_families(&self) -> Workspace {
        self.workspace_with(&self.graph)
    }

    /// The model with a fork of the given graph, which must have begun in a workspace of this model.
    pub fn workspace_with(&self, graph: &FrozenGraph) -> Workspace {
        Workspace { declarations: Arc::clone(&self.declarations), graph: graph.fork() }
    }
}

impl Deref for Model {
    type Target = Declarations;

    fn deref(&self) -> &Declarations {
        &self.declarations
    }
}

/// A model and a graph in which expressions are derived from it.
///
/// Changes to it, of the graph or of what is declared, stay in it.
#[derive(Clone, Debug)]
pub struct Workspace {
    declarations: Arc<Declarations>,
    /// The expressions of the text and what was derived from them here.
    pub graph: Graph,
}

impl Workspace {
    /// The model as it stands here, with all that was derived.
    pub fn freeze(self) -> Model {
        Model { declarations: self.declarations, graph: self.graph.freeze() }
    }

    /// Whether there are families of like terms in the energies.
    pub fn has_families(&self) -> bool {
        let g = &self.graph;
        let is_family = |e: &Expr| matches!(g.node(*e), Node::Family { .. });
        g.has_families() && g.live(&self.energies()).iter().any(is_family)
    }

    /// Writes out all terms of the energies.
    pub fn write_out(&mut self) {
        if !self.has_families() {
            return;
        }
        let mut written = self.graph.written_out(&self.energies()).into_iter();
        if let Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } = &mut self.dynamics
        {
            let all = std::iter::once(lagrangian).chain(kinetic).chain(potential);
            all.zip(&mut written).for_each(|(energy, e)| *energy = e);
        }
    }

    /// The Lagrangian, then kinetic and potential energy as far as they are given.
    fn energies(&self) -> Vec<Expr> {
        match self.dynamics {
            Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } => {
                [Some(lagrangian), kinetic, potential].into_iter().flatten().collect()
            }
            Dynamics::Equations(_) => Vec::new(),
        }
    }

    /// Gives parameters other values, by index; those that are defined by them follow.
    pub fn set_parameters(&mut self, values: impl IntoIterator<Item = (usize, f64)>) {
        let mut given = vec![None; self.parameters.len()];
        values.into_iter().for_each(|(k, value)| given[k] = Some(value));
        for k in 0..given.len() {
            let value = given[k].or_else(|| {
                let definition = self.parameters[k].definition?;
                let is_number = self.graph.double_of(definition).is_some();
                (!is_number).then(|| self.constant(definition))
            });
            if let Some(value) = value {
                self.parameters[k].value = value;
            }
        }
    }

    /// The value of an expression of numbers and parameters; not a number if it contains anything else.
    pub fn constant(&self, e: Expr) -> f64 {
        let parameter = |s| self.parameters.iter().find(|p| p.symbol == s);
        self.graph.evaluate(&[e], &|s| parameter(s).map_or(f64::NAN, |p| p.value))[0]
    }
}

impl Deref for Workspace {
    type Target = Declarations;

    fn deref(&self) -> &Declarations {
        &self.declarations
    }
}

impl DerefMut for Workspace {
    fn deref_mut(&mut self) -> &mut Declarations {
        Arc::make_mut(&mut self.declarations)
    }
}

/// What a text declares. The expressions live in the graph of the [`Model`] or [`Workspace`] it belongs to.
#[derive(Clone, Debug)]
pub struct Declarations {
    /// The text, for diagnostics.
    pub source: Source,
    /// `title "…"`
    pub title: Option<String>,
    /// The symbol `t`.
    pub time: Expr,
    /// Scalar components in declared order.
    pub coordinates: Vec<Coordinate>,
    /// Scalar components in declared order.
    pub parameters: Vec<Parameter>,
    /// Those of the parameters whose values decide what the model is: sizes, indices, orders, conditions, settings.
    pub structural: Vec<Expr>,
    /// Scalar abbreviations in declared order, as the text names them (`X`, `c[1]`, `R[1,2]`).
    pub abbreviations: Vec<(String, Expr)>,
    /// What moves it.
    pub dynamics: Dynamics,
    /// Scalar constraints in declared order; of those that switch, the ones that hold in the first mode.
    pub constraints: Vec<Constraint>,
    /// Forces that are not in the Lagrangian, in declared order; of those that switch, as the constraints.
    pub forces: Vec<Force>,
    /// What switches along the motion.
    pub hybrid: Hybrid,
    /// White forces, in declared order.
    pub noises: Vec<Noise>,
    /// `principle …`
    pub principle: Principle,
    /// `initial …`
    pub initial: Vec<Datum>,
    /// `initial multipliers = …`
    pub multipliers: Option<MultiplierStart>,
    /// `final …`
    pub terminal: Vec<Terminal>,
    /// `observe …`
    pub observed: Vec<Observed>,
    /// `event …`
    pub events: Vec<Event>,
    /// `on …`
    pub resets: Vec<Reset>,
    /// Matrices of coordinates that are affine bodies.
    pub bodies: Vec<AffineBody>,
    /// `draw …`
    pub drawings: Vec<Drawing>,
    /// `symmetry …`: a generator for each coordinate.
    pub symmetries: Vec<Symmetry>,
    /// `group …`
    pub groups: Vec<LieGroup>,
    /// `solve …`
    pub solve: Solve,
    /// Symbols that stand for results of the motion in `observe`, `event` and `draw`.
    pub results: Results,
    /// What the names mean, for texts that are read against the model.
    pub scope: Scope,
    /// The syntax tree of the functions in the scope.
    pub(crate) arena: Arc<Arena>,
}

/// One scalar coordinate with its derivatives as symbols.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// `x`, `phi[1,2]`
    pub name: String,
    /// $q$
    pub position: Expr,
    /// $\dot q$
    pub velocity: Expr,
    /// $\ddot q$
    pub acceleration: Expr,
    /// Whether it is a variable of first order (`state`, or what a sampled `control` holds): without inertia, and with
    /// a constraint of its name that gives its rate.
    pub is_state: bool,
    /// Where it is declared.
    pub span: Span,
}

/// One scalar parameter with its value.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// `m`, `J[1,2]`
    pub name: String,
    /// Its symbol.
    pub symbol: Expr,
    /// Its value.
    pub value: f64,
    /// What gives the value: a number, or an expression of earlier parameters; `None` for one that the text does
    /// not declare.
    pub definition: Option<Expr>,
    /// Where it is declared.
    pub span: Span,
}

/// What moves the system.
#[derive(Clone, Debug)]
pub enum Dynamics {
    /// `lagrangian`, or `kinetic` and `potential`.
    Lagrangian {
        /// $L$
        lagrangian: Expr,
        /// The kinetic part, where it was given as such.
        kinetic: Option<Expr>,
        /// The potential, where it was given as such.
        potential: Option<Expr>,
        /// Where it stands.
        span: Span,
    },
    /// `equation` statements, one for each coordinate.
    Equations(Vec<Equation>),
}

/// An equation as it stands, $e = 0$.
#[derive(Clone, Debug)]
pub struct Equation {
    /// Its name, or `equation 1` … by position.
    pub name: String,
    /// left side − right side
    pub expr: Expr,
    /// Where it stands.
    pub span: Span,
}

/// A constraint $\varphi(t, q, \dot q) = 0$.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// `blade`, `wheel[3]`, `c[1,2]`, or `c1`, `c2` … by position.
    pub name: String,
    /// $\varphi$ = left side − right side.
    pub expr: Expr,
    /// $w$ of `along`, one component for each coordinate.
    pub along: Option<Vec<Expr>>,
    /// The word that made it, if it is one of the affine-body words.
    pub word: Option<AffineWord>,
    /// Whether it only gives the rate of a state.
    pub is_rate: bool,
    /// Where it stands.
    pub span: Span,
}

/// The constraints of affine bodies that have a word of their own.
#[derive(Clone, Debug, PartialEq)]
pub enum AffineWord {
    /// `gyroscopic(phi, g)`
    Gyroscopic,
    /// `isochoric(phi)`
    Isochoric,
    /// `rotation_free(phi, g)`
    RotationFree,
    /// `conformal(phi, g, eta)`; the matrix $\varphi^T g \varphi$ must be proportional to $\eta$ at the start.
    Conformal {
        /// $\varphi^T g \varphi$ by rows.
        green: Vec<Vec<Expr>>,
        /// $\eta$ by rows.
        eta: Vec<Vec<Expr>>,
    },
}

/// A square matrix $\varphi$ of coordinates that is an affine body: by a word or function of affine bodies,
/// or by its inertia, its determinant or inverse in the dynamics, or a force density.
#[derive(Clone, Debug)]
pub struct AffineBody {
    /// `phi`
    pub name: String,
    /// How many rows and columns.
    pub size: usize,
    /// The index of its first coordinate; the others follow by rows.
    pub first: usize,
    /// $\det\varphi$
    pub determinant: Expr,
    /// Whether a part of its polar decomposition is asked for.
    pub polar: bool,
    /// Whether a word or function of affine bodies names it.
    pub named: bool,
    /// Whether an `event continue` looks at its determinant.
    pub let_go: bool,
    /// Where the text first treats it as a body.
    pub span: Span,
}

/// A force with the generalised components $Q_k$.
#[derive(Clone, Debug)]
pub struct Force {
    /// What the text calls it: `force x`, `force at [X, Y]`, `dissipation`.
    pub name: String,
    /// $Q_k$, one for each coordinate.
    pub components: Vec<Expr>,
    /// What the components were made from.
    pub origin: ForceOrigin,
    /// Where it stands.
    pub span: Span,
}

/// A white force $\sigma\,\xi$ on one coordinate, in Stratonovich's sense.
#[derive(Clone, Debug)]
pub struct Noise {
    /// The coordinate that it acts on.
    pub coordinate: usize,
    /// $\sigma$, of which the square is the force's intensity in unit time.
    pub strength: Expr,
    /// Where it stands.
    pub span: Span,
}

/// What the components of a force were made from.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceOrigin {
    /// Given as they are.
    Components,
    /// $Q_k = F\cdot\partial r/\partial q_k$
    Point {
        /// $r$
        position: Vec<Expr>,
        /// $F$
        force: Vec<Expr>,
    },
    /// $Q = -\partial D/\partial\dot q$
    Dissipation(Expr),
}

/// Which motions compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Principle {
    /// d'Alembert–Chetaev: virtual displacements obey $\partial\varphi/\partial\dot q\cdot\delta q = 0$.
    Chetaev,
    /// The varied curves obey the constraints: $\delta\int(L - \mu\varphi) = 0$.
    Vakonomic,
    /// Hamilton's principle for the Lagrangian with the dependent velocities inserted.
    Restricted,
}

impl Principle {
    /// All principles with their words.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Chetaev, "chetaev"),
        (Self::Vakonomic, "vakonomic"),
        (Self::Restricted, "restricted"),
    ];

    /// The word of the language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chetaev => "chetaev",
            Self::Vakonomic => "vakonomic",
            Self::Restricted => "restricted",
        }
    }
}

/// What a datum is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// The coordinate of this index, with this many dots.
    Coordinate(usize, u8),
    /// $\mu$ of the constraint of this index.
    Multiplier(usize),
    /// The time.
    Time,
}

/// One given value at the start. References to other initial values are already inserted: only parameters and
/// `t` are left.
#[derive(Clone, Debug)]
pub struct Datum {
    /// What is given.
    pub quantity: Quantity,
    /// Its value.
    pub value: Expr,
    /// Its value as it is written, with references to other initial values.
    pub written: Expr,
    /// Where it stands.
    pub span: Span,
}

/// How the multipliers of the vakonomic principle begin.
#[derive(Clone, Debug, PartialEq)]
pub enum MultiplierStart {
    /// `initial multipliers = zero`
    Zero(Span),
    /// `initial multipliers = transversal(z, …)`: coordinates by index.
    Transversal(Vec<usize>, Span),
}

/// One condition at the end.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// What is given.
    pub quantity: Quantity,
    /// How.
    pub value: TerminalValue,
    /// Where it stands.
    pub span: Span,
}

/// The right side of a `final` condition.
#[derive(Clone, Debug)]
pub enum TerminalValue {
    /// A value of parameters (and `t`).
    Given(Expr),
    /// `free`
    Free,
    /// `initial + …`: the value at the start plus this.
    Shifted(Expr),
}

/// A further output.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Its name, with indices if it has any.
    pub name: String,
    /// May contain accelerations and [`Results`].
    pub expr: Expr,
    /// Where it stands.
    pub span: Span,
}

/// A zero to locate.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// May contain accelerations and [`Results`].
    pub expr: Expr,
    /// Which crossings count.
    pub direction: Direction,
    /// Whether the run ends there.
    pub stop: bool,
    /// Where it stands.
    pub span: Span,
}

/// Which crossings of an event count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From minus to plus.
    Rising,
    /// From plus to minus.
    Falling,
    /// Both.
    Both,
}

/// What happens at an event: new values from those before it.
#[derive(Clone, Debug)]
pub struct Reset {
    /// The index of the event.
    pub event: usize,
    /// Positions and velocities with their new values, which may contain what an [`Event`] may.
    pub values: Vec<(Quantity, Expr)>,
    /// Parameters by index, with their new values.
    pub parameters: Vec<(usize, Expr)>,
    /// The mode from there on, by index.
    pub mode: Option<usize>,
    /// The run ends when it happens for this many times.
    pub stop: Option<usize>,
    /// Where it stands.
    pub span: Span,
}

/// A one-parameter group: its generator $\xi$, one component for each coordinate.
#[derive(Clone, Debug)]
pub struct Symmetry {
    /// Its name.
    pub name: String,
    /// $\xi$
    pub generator: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// The default run.
#[derive(Clone, Debug)]
pub struct Solve {
    /// Start and end, if given.
    pub range: Option<(f64, f64)>,
    /// Local error of a step in parts of each component and of its largest value so far.
    pub tolerance: f64,
    /// The word given for the method, `auto` by default.
    pub method: String,
    /// Whether the motion is also computed with some thirty digits.
    pub is_double_double: bool,
    /// How many output times.
    pub samples: usize,
    /// The step, where one was given.
    pub step: Option<f64>,
    /// Where it stands, if it does.
    pub span: Option<Span>,
}

/// Symbols that stand for results of the motion.
#[derive(Clone, Debug)]
pub struct Results {
    /// `lambda(c)` for each constraint.
    pub lambda: Vec<Expr>,
    /// `mu(c)` for each constraint.
    pub mu: Vec<Expr>,
    /// `mu(c)'` for each constraint.
    pub mu_rate: Vec<Expr>,
    /// `reaction(x)` for each coordinate.
    pub reaction: Vec<Expr>,
    /// `energy`
    pub energy: Expr,
    /// `divergence` of the flow on (q, p)
    pub divergence: Expr,
}

impl Declarations {
    /// The title, or the name of the text where there is none.
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(self.source.name())
    }

    /// $q$
    pub fn positions(&self) -> Vec<Expr> {
        self.coordinates.iter().map(|c| c.position).collect()
    }

    /// $\dot q$
    pub fn velocities(&self) -> Vec<Expr> {
        self.coordinates.iter().map(|c| c.velocity).collect()
    }

    /// $\ddot q$
    pub fn accelerations(&self) -> Vec<Expr> {
        self.coordinates.iter().map(|c| c.acceleration).collect()
    }

    /// Whether the run goes on from another state at the event of this name.
    pub fn is_reset(&self, event: &str) -> bool {
        self.resets.iter().any(|reset| self.events[reset.event].name == event)
    }

    /// The symbols of the parameters.
    pub fn parameter_symbols(&self) -> Vec<Expr> {
        self.parameters.iter().map(|p| p.symbol).collect()
    }

    /// The values of the parameters.
    pub fn parameter_values(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.value).collect()
    }
}
