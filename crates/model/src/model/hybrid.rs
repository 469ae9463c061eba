//! What switches along a motion: modes, contacts, sampled controls.

use pfaff_expr::Expr;

use crate::model::{Constraint, Force};
use crate::source::Span;

/// Everything of a text that does not hold all the time.
#[derive(Clone, Debug, Default)]
pub struct Hybrid {
    /// `mode …`; the first holds at the start. None if the text has no modes.
    pub modes: Vec<String>,
    /// All constraints in declared order, and when each holds.
    pub constraints: Vec<(Constraint, Activity)>,
    /// All forces in declared order, and when each acts.
    pub forces: Vec<(Force, Activity)>,
    /// The modes in which each event counts; none for all.
    pub event_modes: Vec<Vec<usize>>,
    /// `contact …`
    pub contacts: Vec<Contact>,
    /// `contact … : [a, b] = 0`
    pub joints: Vec<Joint>,
    /// `control … every …`
    pub samplers: Vec<Sampler>,
    /// `input u = 0`: its parameters by index.
    pub inputs: Vec<usize>,
    /// `delay(g, tau)`
    pub delays: Vec<Delay>,
    /// `history x = …`: coordinates as functions of time before the start.
    pub histories: Vec<(usize, Expr)>,
    /// The time from which on the history is known, if that is limited.
    pub known_from: Option<f64>,
}

impl Hybrid {
    /// Whether the equations of motion, or what is watched, may change along the motion.
    pub fn switches(&self) -> bool {
        !self.modes.is_empty()
            || !self.contacts.is_empty()
            || !self.joints.is_empty()
            || self.constraints.iter().any(|(_, activity)| activity.when.is_some())
    }
}

/// When a statement holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The modes of `in`; none for all.
    pub modes: Vec<usize>,
    /// Of `when`: comparisons, joined by `and` and `or`.
    pub when: Option<Expr>,
}

impl Activity {
    /// Whether it holds in a mode, whatever else it depends on.
    pub fn is_in(&self, mode: usize) -> bool {
        self.modes.is_empty() || self.modes.contains(&mode)
    }
}

/// A value that something had some time ago.
#[derive(Clone, Debug)]
pub struct Delay {
    /// What stands for it in expressions.
    pub symbol: Expr,
    /// An expression of $t$, $q$ and $\dot q$.
    pub operand: Expr,
    /// How long ago, positive.
    pub lag: f64,
    /// Where it stands.
    pub span: Span,
}

/// A unilateral constraint.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Its name, which is that of its event too.
    pub name: String,
    /// The gap $g(t, q) \ge 0$.
    pub gap: Expr,
    /// $e$
    pub restitution: Expr,
    /// What resists sliding and rolling; none without friction.
    pub frictions: Vec<Friction>,
    /// How several impacts at once are settled.
    pub law: ImpactLaw,
    /// The index of its event.
    pub event: usize,
    /// The modes in which it is there; none for all.
    pub modes: Vec<usize>,
    /// Where it stands.
    pub span: Span,
}

/// A joint that carries in several directions, such as a pin: constraints that always hold, and friction
/// $|Q| \le \mu|\lambda|$ by the size of all their reactions together.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Its name.
    pub name: String,
    /// The names of its constraints.
    pub rows: Vec<String>,
    /// $\sigma$: the velocity against which friction acts.
    pub slip: Expr,
    /// $\mu$
    pub friction: Expr,
    /// Where it stands.
    pub span: Span,
}

impl Joint {
    /// What its friction is called.
    pub fn friction_name(&self) -> String {
        format!("friction({})", self.name)
    }
}

/// What resists a relative velocity of a contact: $|Q| \le \mu\lambda$, against the velocity while it slides.
#[derive(Clone, Debug)]
pub struct Friction {
    /// Whether it is a moment against rolling, and not a force against sliding.
    pub is_rolling: bool,
    /// $\sigma$: the velocity along a line, or its two components in the plane of contact.
    pub rates: Vec<Expr>,
    /// $\mu$ of what slides; a length for rolling.
    pub sliding: Expr,
    /// $\mu$ up to which it holds.
    pub holding: Expr,
    /// The velocity below which friction is proportional to it, where it is regularised.
    pub regular: Option<Expr>,
}

impl Contact {
    /// What the multipliers of a friction are called.
    pub fn friction_names(&self, friction: &Friction) -> Vec<String> {
        let word = if friction.is_rolling { "rolling" } else { "friction" };
        let whole = format!("{word}({})", self.name);
        match friction.rates.len() {
            0 | 1 => vec![whole],
            n => (1..=n).map(|i| format!("{whole}[{i}]")).collect(),
        }
    }
}

/// How the velocities after an impact follow from those before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ImpactLaw {
    /// $\dot g^+ = -e\,\dot g^-$ at each contact that is hit, one after another.
    #[default]
    Newton,
    /// The impulse of expansion is $e$ times that of compression, at all contacts that touch.
    Poisson,
    /// $0 \le \dot g^+ + e\,\dot g^- \perp P \ge 0$ at all contacts that touch.
    Moreau,
}

impl ImpactLaw {
    /// All laws with their words.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Newton, "newton"), (Self::Poisson, "poisson"), (Self::Moreau, "moreau")];

    /// The word of the language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newton => "newton",
            Self::Poisson => "poisson",
            Self::Moreau => "moreau",
        }
    }
}

/// A control that is held between its samples.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// The index of the coordinate that holds it.
    pub coordinate: usize,
    /// The law.
    pub law: Expr,
    /// The time between samples.
    pub period: f64,
    /// Where it stands.
    pub span: Span,
}
