//! A motion: what a run gives back, whatever ended it.

pub(crate) mod column;
pub(crate) mod dense;
pub(crate) mod dense_output;
pub(crate) mod double_double;
pub(crate) mod equivalence;
pub(crate) mod note;
pub(crate) mod sample;
pub(crate) mod samples;
pub(crate) mod sensitivity;
pub(crate) mod side;
pub(crate) mod solution;
pub(crate) mod verdict;

use pfaff_model::{Principle, Workspace};

use crate::motion::dense::Dense;
use crate::motion::double_double::DoubleDoubleMotion;
use crate::motion::equivalence::Equivalence;
use crate::motion::note::Note;
use crate::motion::sensitivity::{Gradient, Sensitivity, Transition};
use crate::motion::side::Side;
use crate::motion::solution::Solution;
use crate::motion::verdict::{Audit, Verdict};

/// Derivatives that were integrated with a motion.
#[derive(Clone, Debug)]
pub(crate) struct TangentRows {
    /// At outputs and events: $(q, \dot q)$ and its derivatives, direction by direction.
    pub(crate) rows: Vec<(f64, Vec<f64>)>,
    /// The largest error at the end, in parts of the sizes; unknown without a second integration.
    pub(crate) error: Option<f64>,
    pub(crate) steps: usize,
}

/// A motion with its audit. Series are by component in declared order, one value for each output time.
#[derive(Clone, Debug)]
pub struct Motion {
    /// The title, or the name of the text.
    pub title: String,
    /// The principle, `None` for an `equation` model.
    pub principle: Option<Principle>,
    /// The method that was used.
    pub method: &'static str,
    /// The form of the equations that was integrated.
    pub form: Form,
    /// When the run began.
    pub start: f64,
    /// Why the run ended.
    pub stop: Stop,
    /// Output times.
    pub t: Vec<f64>,
    /// $q$
    pub q: Vec<Series>,
    /// $\dot q$
    pub v: Vec<Series>,
    /// $\ddot q$
    pub a: Vec<Series>,
    /// $\lambda$ by constraint, or $\mu$ under the vakonomic principle, or $p_\alpha$ under the restricted one
    pub multipliers: Vec<Series>,
    /// $\dot\mu$ by constraint under the vakonomic principle, else empty
    pub multiplier_rates: Vec<Series>,
    /// $R$ by coordinate
    pub reactions: Vec<Series>,
    /// $R\cdot\dot q$; empty for an `equation` model.
    pub reaction_power: Vec<f64>,
    /// $E$; empty for an `equation` model.
    pub energy: Vec<f64>,
    /// $E\[M\]$, zero under Chetaev's principle; empty for an `equation` model.
    pub constraint_energy: Vec<f64>,
    /// The work of forces and reactions since the start; empty for an `equation` model.
    pub work: Vec<f64>,
    /// What is observed.
    pub observed: Vec<Series>,
    /// Events in the order of the run.
    pub events: Vec<EventRecord>,
    /// What the run did that was not asked for.
    pub notes: Vec<Note>,
    /// The motions between given ends that were found, least action first; `None` without `final`.
    pub solutions: Option<Vec<Solution>>,
    /// Whether an extremum with memory is a motion of Chetaev's principle too; `None` where that was not asked.
    pub equivalence: Option<Equivalence>,
    /// Estimated errors of $q$ at the end, by a second integration; between given ends the largest along the path, by
    /// another method as well. Empty where there is no estimate.
    pub errors: Vec<f64>,
    /// Estimated errors of $\dot q$ at the end, by a second integration; empty where there is no estimate.
    pub velocity_errors: Vec<f64>,
    /// Whether the numbers can be trusted.
    pub audit: Audit,
    /// Derivatives by what the run was asked for.
    pub sensitivities: Vec<Sensitivity>,
    /// The motion with some thirty digits, where it was asked for.
    pub double_double: Option<DoubleDoubleMotion>,
    /// The state-transition matrix, where it was asked for.
    pub transition: Option<Transition>,
    /// A gradient, where it was asked for.
    pub gradient: Option<Gradient>,
    /// What it cost.
    pub statistics: Statistics,
    /// Where branches of the equations change, and their signs from there on; empty for a model without.
    pub(crate) switches: Vec<(f64, Vec<Side>)>,
    /// Derivatives that were integrated with the motion, until they are read.
    pub(crate) tangents: Option<TangentRows>,
    /// The states in between.
    pub(crate) dense: Dense,
}

/// The form of the equations of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Accelerations and multipliers from one solve at each evaluation.
    Saddle,
    /// Independent quasi-velocities.
    Reduced,
    /// `equation` statements as they stand.
    Ordinary,
}

/// One named column of output.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The component's name.
    pub name: String,
    /// One value for each output time.
    pub values: Vec<f64>,
}

/// Why and when a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Why.
    pub reason: StopReason,
    /// When.
    pub t: f64,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The end was reached.
    End,
    /// An `event stop` of this name.
    Event(String),
    /// The step shrank to nothing.
    StepTooSmall,
    /// Accelerations or multipliers are not determined.
    Singular,
    /// Something is infinite or not a number.
    NotFinite,
    /// Too many steps.
    MaxSteps,
    /// The caller asked for it.
    Interrupted,
}

impl StopReason {
    /// The word for JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Event(_) => "event",
            Self::StepTooSmall => "step_too_small",
            Self::Singular => "singular",
            Self::NotFinite => "not_finite",
            Self::MaxSteps => "max_steps",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether the run ended before its end without being told to by the model.
    pub fn is_early(&self) -> bool {
        !matches!(self, Self::End | Self::Event(_))
    }
}

/// An event that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// Its name.
    pub name: String,
    /// When.
    pub t: f64,
    /// `rising`, `falling` or `touch`.
    pub direction: &'static str,
    /// $q$ there.
    pub q: Vec<f64>,
    /// $\dot q$ there.
    pub v: Vec<f64>,
    /// $\lambda$, $\mu$ or $p_\alpha$ there, as [`Motion::multipliers`].
    pub multipliers: Vec<f64>,
    /// $\dot\mu$ there, as [`Motion::multiplier_rates`].
    pub multiplier_rates: Vec<f64>,
    /// $R$ there; empty for an `equation` model.
    pub reactions: Vec<f64>,
    /// $E$ there; not a number for an `equation` model.
    pub energy: f64,
    /// $E\[M\]$ there; not a number for an `equation` model.
    pub constraint_energy: f64,
    /// What is observed there.
    pub observed: Vec<f64>,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Evaluations of the right-hand side.
    pub evaluations: usize,
    /// Text to equations, in microseconds.
    pub derive_us: f64,
    /// Equations to program, and finding a consistent start, in microseconds.
    pub compile_us: f64,
    /// The run itself, in microseconds.
    pub integrate_us: f64,
    /// Its audit, in microseconds, where that is not part of the run.
    pub audit_us: f64,
}

impl Statistics {
    /// Adds what another run cost.
    pub(crate) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.rejected += other.rejected;
        self.evaluations += other.evaluations;
        self.derive_us += other.derive_us;
        self.compile_us += other.compile_us;
        self.integrate_us += other.integrate_us;
        self.audit_us += other.audit_us;
    }
}

impl Motion {
    /// What the multipliers are called in the model language: `lambda`, `mu`, or `p` under the restricted principle.
    pub fn multiplier_word(&self) -> &'static str {
        match self.principle {
            Some(Principle::Vakonomic) => "mu",
            Some(Principle::Restricted) => "p",
            Some(Principle::Chetaev) | None => "lambda",
        }
    }

    /// No motion yet: no times, no columns.
    pub(crate) fn empty(model: &Workspace) -> Self {
        Self {
            title: model.name().to_owned(),
            principle: None,
            method: "",
            form: Form::Saddle,
            start: 0.0,
            stop: Stop { reason: StopReason::End, t: 0.0 },
            t: Vec::new(),
            q: Vec::new(),
            v: Vec::new(),
            a: Vec::new(),
            multipliers: Vec::new(),
            multiplier_rates: Vec::new(),
            reactions: Vec::new(),
            reaction_power: Vec::new(),
            energy: Vec::new(),
            constraint_energy: Vec::new(),
            work: Vec::new(),
            observed: Vec::new(),
            events: Vec::new(),
            notes: Vec::new(),
            solutions: None,
            equivalence: None,
            errors: Vec::new(),
            velocity_errors: Vec::new(),
            audit: Audit { verdict: Verdict::Unchecked, checks: Vec::new() },
            sensitivities: Vec::new(),
            double_double: None,
            transition: None,
            gradient: None,
            statistics: Statistics::default(),
            switches: Vec::new(),
            tangents: None,
            dense: Dense::default(),
        }
    }

    /// Goes on with a later motion of the same columns.
    pub(crate) fn append(&mut self, later: Self) {
        let lists = [
            (&mut self.q, later.q),
            (&mut self.v, later.v),
            (&mut self.a, later.a),
            (&mut self.multipliers, later.multipliers),
            (&mut self.multiplier_rates, later.multiplier_rates),
            (&mut self.reactions, later.reactions),
            (&mut self.observed, later.observed),
        ];
        for (earlier, later) in lists {
            for (series, more) in earlier.iter_mut().zip(later) {
                series.values.extend(more.values);
            }
        }
        self.t.extend(later.t);
        self.reaction_power.extend(later.reaction_power);
        self.energy.extend(later.energy);
        self.constraint_energy.extend(later.constraint_energy);
        self.work.extend(later.work);
        self.events.extend(later.events);
        for note in later.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.errors = later.errors;
        self.velocity_errors = later.velocity_errors;
        self.audit.join(later.audit);
        self.statistics.add(&later.statistics);
        self.dense.append(later.dense);
        self.stop = later.stop;
    }

    /// Leaves out the multipliers of constraints that only give the rates of states.
    pub(crate) fn leave_out_rates(&mut self, model: &Workspace) {
        let is_rate =
            |name: &str| model.constraints.iter().any(|c| c.is_rate && c.name == name);
        let kept: Vec<bool> = self.multipliers.iter().map(|s| !is_rate(&s.name)).collect();
        if kept.iter().all(|&kept| kept) {
            return;
        }
        self.multipliers.retain(|s| !is_rate(&s.name));
        self.multiplier_rates.retain(|s| !is_rate(&s.name));
        for event in &mut self.events {
            for values in [&mut event.multipliers, &mut event.multiplier_rates] {
                let mut kept = kept.iter();
                values.retain(|_| kept.next() != Some(&false));
            }
        }
    }

    /// What its columns hold, in bytes; asked after each step.
    pub(crate) fn bytes(&self) -> usize {
        /// Time, power, energy, that of the constraints, and work.
        const OTHERS: usize = 5;
        let lists = [&self.q, &self.v, &self.a, &self.multipliers, &self.multiplier_rates];
        let more = [&self.reactions, &self.observed];
        let columns: usize = lists.into_iter().chain(more).map(Vec::len).sum();
        size_of_val(self.t.as_slice()) * (columns + OTHERS)
    }

    /// Leaves out all output times but the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        let lists = [
            &mut self.q,
            &mut self.v,
            &mut self.a,
            &mut self.multipliers,
            &mut self.multiplier_rates,
            &mut self.reactions,
            &mut self.observed,
        ];
        for series in lists.into_iter().flatten() {
            series.values.truncate(count);
        }
        for values in [
            &mut self.t,
            &mut self.reaction_power,
            &mut self.energy,
            &mut self.constraint_energy,
            &mut self.work,
        ] {
            values.truncate(count);
        }
    }

    /// The columns of a table: t, q, q', q'', multipliers and their rates, reactions and their power,
    /// energies, what is observed, and the sensitivities of all these.
    pub fn columns(&self) -> Vec<(String, &[f64])> {
        let mut columns: Vec<(String, &[f64])> = vec![("t".into(), &self.t)];
        let multiplier = self.multiplier_word();
        let groups: [(&[Series], String, &str); 6] = [
            (&self.q, String::new(), ""),
            (&self.v, String::new(), "'"),
            (&self.a, String::new(), "''"),
            (&self.multipliers, format!("{multiplier}("), ")"),
            (&self.multiplier_rates, format!("{multiplier}("), ")'"),
            (&self.reactions, "reaction(".into(), ")"),
        ];
        for (series, before, after) in groups {
            for s in series {
                columns.push((format!("{before}{}{after}", s.name), &s.values));
            }
        }
        if !self.energy.is_empty() {
            columns.push(("reaction_power".into(), &self.reaction_power));
            columns.push(("energy".into(), &self.energy));
            if self.principle != Some(Principle::Chetaev) {
                columns.push(("energy_constraint".into(), &self.constraint_energy));
            }
            columns.push(("work".into(), &self.work));
        }
        columns.extend(self.observed.iter().map(|s| (s.name.clone(), s.values.as_slice())));
        for sensitivity in &self.sensitivities {
            columns.extend(sensitivity.columns(multiplier));
        }
        columns
    }
}
