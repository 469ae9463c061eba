//! The syntax tree: statements as written, before any name is looked up.
//!
//! Expressions live in one [`Arena`] per text and are named by [`ExprId`]; statements own
//! names, targets and lists. Nothing here is checked beyond its form: that a name is declared,
//! that shapes fit, that `title` stands once is for the elaborator.
//!
//! `Display` prints every statement as one s-expression per line.

mod arena;
mod hybrid;
mod print;

use crate::lexer::token::Keyword;
use crate::source::Span;
pub use crate::syntax::arena::{
    Arena, Binary, Binder, DecimalId, ExprId, Fold, List, Name, Node, NodeKind, Symbol, TextId,
};

pub use crate::syntax::hybrid::{Condition, Contact, Control, Input, State};

/// All statements of a text, in order.
#[derive(Clone, Debug, Default)]
pub struct Syntax {
    /// As the text has them.
    pub statements: Vec<Statement>,
    /// The nodes that the statements' expressions name.
    pub arena: Arena,
}

/// One statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it begins with; none if that is no keyword, and then the kind is
    /// [`StatementKind::Faulty`]. A keyword that was misspelt is the one that was meant.
    pub keyword: Option<Keyword>,
    /// Where the keyword stands.
    pub keyword_span: Span,
    /// From the keyword to the last token.
    pub span: Span,
    /// What it says.
    pub kind: StatementKind,
}

/// What a statement says.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `title "…"`
    Title(Text),
    /// `coordinates x, q[3], th[0..N]`
    Coordinates(Vec<Coordinate>),
    /// `parameters m = 1, k`
    Parameters(Vec<Parameter>),
    /// `let e = expr`, `let f(u, v) = expr`, `let X[i = 1..N] = expr`
    Let(Definition),
    /// `lagrangian expr`
    Lagrangian(ExprId),
    /// `kinetic expr`
    Kinetic(ExprId),
    /// `potential expr`
    Potential(ExprId),
    /// `constraint name[…] along w: left = right`
    Constraint(Constraint),
    /// `force x: expr`, `force at r: expr`, `force density at r for a in body: expr`
    Force(Force),
    /// `noise x: sigma`
    Noise(Noise),
    /// `dissipation expr`
    Dissipation(ExprId),
    /// `equation name[…]: left = right`
    Equation(Equation),
    /// `principle chetaev`
    Principle(Name),
    /// `initial x = 0, x' = 1`
    Initial(Vec<Assignment>),
    /// `final x = 1`
    Final(Vec<Assignment>),
    /// `history x = cos(t)`
    History(Vec<Assignment>),
    /// `observe name = expr`
    Observe(Observation),
    /// `event stop rising name: expr`
    Event(Event),
    /// `on hit: x' = -e*x'`
    On(Reset),
    /// `state z: expr`
    State(State),
    /// `input u = 0`, `input u: expr`
    Input(Input),
    /// `control u = expr every 0.01`
    Control(Control),
    /// `mode stance, flight`
    Mode(Vec<Name>),
    /// `contact name[…]: expr >= 0, restitution = e`
    Contact(Contact),
    /// `draw line [0, 0] to [x, y] colour blue`
    Draw(Draw),
    /// `solve t = 0..20, tolerance = 1e-10`
    Solve(Vec<Setting>),
    /// `symmetry name: x = 1, y = 0`
    Symmetry(Symmetry),
    /// `group SE(2): x, y, theta`
    Group(Group),
    /// A statement with a mistake that has been reported. The names that occur in it may be
    /// declared by it: to call them unknown elsewhere would be a second report of one mistake.
    Faulty {
        /// Every name in the statement but its keyword, in order, with repetitions.
        mentions: Vec<Name>,
    },
}

/// A text and its place; for a text in quotes without them, and with `\"` read as `"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// With the quotes.
    pub span: Span,
    /// Without the quotes.
    pub value: String,
}

/// `x`, `q[3]`, `phi[2,2]`, `th[0..N]`
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// What it is called.
    pub name: Name,
    /// Its sizes; none for a scalar.
    pub extents: Vec<Extent>,
}

/// `3` (that is 1 to 3) or `0..N`, one size of a coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The first index, if the text gives it.
    pub from: Option<ExprId>,
    /// The last index.
    pub to: ExprId,
}

/// `m = 1`, `k`
#[derive(Clone, Debug)]
pub struct Parameter {
    /// What it is called.
    pub name: Name,
    /// Its value, if the text gives it.
    pub value: Option<ExprId>,
}

/// What a `let` defines.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What is defined.
    pub name: Name,
    /// How it is applied.
    pub form: DefinitionForm,
    /// What it stands for.
    pub value: ExprId,
}

/// How a defined name is applied.
#[derive(Clone, Debug)]
pub enum DefinitionForm {
    /// `let e = …`
    Plain,
    /// `let f(u, v) = …`; at least one argument.
    Function(Vec<Name>),
    /// `let X[i = 1..N] = …`, `let X[0] = …`; at least one slot.
    Family(Vec<Slot>),
}

/// One place between the index brackets of a name on the left.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    /// `X[0]`: one member.
    At(ExprId),
    /// `X[i = 1..N]`: all members of a range.
    Each(Binder),
}

/// What a `constraint` demands.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// If the text gives it.
    pub name: Option<Name>,
    /// `[i = 1..N]` after the name.
    pub slots: Vec<Slot>,
    /// The `w` of `along w`.
    pub along: Option<ExprId>,
    /// The side left of `=`, or the call of an affine-body word.
    pub left: ExprId,
    /// The side right of `=`; without it `left` is a call.
    pub right: Option<ExprId>,
    /// When it holds.
    pub condition: Condition,
}

/// What a `force` adds.
#[derive(Clone, Debug)]
pub struct Force {
    /// On what it acts.
    pub on: ForceTarget,
    /// The force itself.
    pub value: ExprId,
    /// When it acts.
    pub condition: Condition,
}

/// What a `noise` adds.
#[derive(Clone, Debug)]
pub struct Noise {
    /// The coordinate that it acts on.
    pub name: Name,
    /// Which components; none for the whole of it.
    pub slots: Vec<Slot>,
    /// Its strength.
    pub value: ExprId,
}

/// On what a force acts.
#[derive(Clone, Debug)]
pub enum ForceTarget {
    /// A coordinate `force x:`, its component `force q[1]:`, or several `force q[i = 1..N]:`.
    Coordinate {
        /// The coordinate.
        name: Name,
        /// Which components; none for the whole of it.
        slots: Vec<Slot>,
    },
    /// A point: `force at [X, Y]:`. (`force at:` is a force on a coordinate called `at`, and so
    /// is `force at[i = 1..N]:`.)
    Point(ExprId),
    /// All points of a body: `force density at r + phi*a for a in box(M, 1, 2):`.
    Density {
        /// Where a material point is.
        point: ExprId,
        /// What the material point is called.
        name: Name,
        /// The body, a call in form.
        body: ExprId,
    },
}

/// What an `equation` says.
#[derive(Clone, Debug)]
pub struct Equation {
    /// If the text gives it.
    pub name: Option<Name>,
    /// `[i = 1..N]`, with or without a name before it.
    pub slots: Vec<Slot>,
    /// The side left of `=`.
    pub left: ExprId,
    /// The side right of `=`.
    pub right: ExprId,
}

/// `x' = 1` in `initial`, `final`, `symmetry` and on the command line.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// What gets the value.
    pub target: Target,
    /// The value; also words such as `free`, `zero`, `transversal(z)`, which are expressions
    /// in form.
    pub value: ExprId,
}

/// `x`, `x'`, `th[i = 1..N]`, `q[1]'`, `q'[1]`, `mu(blade)`, `mu(wheel[2])'`, `multipliers`
#[derive(Clone, Debug)]
pub struct Target {
    /// All of it.
    pub span: Span,
    /// The name before any bracket.
    pub name: Name,
    /// The constraint in `mu(constraint)`; `slots` then are those of the constraint.
    pub of: Option<Name>,
    /// Indices in square brackets.
    pub slots: Vec<Slot>,
    /// How many `'` there are.
    pub order: u32,
}

/// What an `observe` gives out.
#[derive(Clone, Debug)]
pub struct Observation {
    /// What it is called.
    pub name: Name,
    /// `[i = 1..N]` after the name.
    pub slots: Vec<Slot>,
    /// The output.
    pub value: ExprId,
}

/// What an `event` looks for.
#[derive(Clone, Debug)]
pub struct Event {
    /// What it is called.
    pub name: Name,
    /// `[i = 1..N]` after the name.
    pub slots: Vec<Slot>,
    /// Which zeros count.
    pub direction: Direction,
    /// Whether the run ends there.
    pub stop: bool,
    /// Whether it is said that the run does not end there.
    pub goes_on: bool,
    /// What becomes zero.
    pub value: ExprId,
    /// When it counts.
    pub condition: Condition,
}

/// What happens at an event.
#[derive(Clone, Debug)]
pub struct Reset {
    /// The event.
    pub event: Name,
    /// `[i = 1..N]` after its name.
    pub slots: Vec<Slot>,
    /// New values from those before.
    pub values: Vec<Assignment>,
}

/// Which zeros of an event count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// All.
    Both,
    /// From below.
    Rising,
    /// From above.
    Falling,
}

/// What a `draw` shows.
#[derive(Clone, Debug)]
pub struct Draw {
    /// `line`, `wheel` …
    pub shape: Name,
    /// `[i = 1..N]` after the shape.
    pub slots: Vec<Slot>,
    /// What stands after the shape; only a view has none.
    pub subject: Option<ExprId>,
    /// Everything else, as written.
    pub clauses: Vec<Clause>,
}

/// `radius 0.4`, `dashed`, `colour blue`, `for u = 0..1`
#[derive(Clone, Debug)]
pub struct Clause {
    /// What it begins with.
    pub word: Name,
    /// What follows.
    pub value: ClauseValue,
}

/// What follows the word of a [`Clause`].
#[derive(Clone, Debug)]
pub enum ClauseValue {
    /// Nothing.
    Nothing,
    /// `0.4`, `[x, y]`, `"a text"`
    Value(ExprId),
    /// `blue`
    Word(Name),
    /// `u = 0..1, v = 0..pi`
    Ranges(Vec<Binder>),
}

/// `t = 0..20`, `method = auto`
#[derive(Clone, Debug)]
pub struct Setting {
    /// What is set.
    pub name: Name,
    /// To what.
    pub value: SettingValue,
}

/// The value of a [`Setting`].
#[derive(Clone, Copy, Debug)]
pub enum SettingValue {
    /// `0..20`
    Range(ExprId, ExprId),
    /// Anything else; words such as `auto` are names.
    Value(ExprId),
}

/// What a `group` says.
#[derive(Clone, Debug)]
pub struct Group {
    /// `SE`
    pub name: Name,
    /// `2`
    pub size: u32,
    /// The coordinates on which it acts.
    pub coordinates: Vec<Target>,
}

/// What a `symmetry` says: a direction in the space of coordinates.
#[derive(Clone, Debug)]
pub struct Symmetry {
    /// If the text gives it.
    pub name: Option<Name>,
    /// The components of the direction.
    pub components: Vec<Assignment>,
}
