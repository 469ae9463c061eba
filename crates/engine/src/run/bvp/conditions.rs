//! `initial` and `final` into conditions at the two ends.
//!
//! What is given is a condition. What is not given at an end is free there: $p_k = 0$, the natural condition;
//! on a holonomic constraint
//! $p + c\cdot\partial\varphi/\partial q = 0$ with unknown $c$ at the end. `final x = initial + L` ties the
//! ends, and then $p_x$ is the same at both. A free end time has
//! $H = p\cdot\dot q - \mathcal L = 0$, or $H = p\cdot\dot g$ where an end value $g(t)$ moves. Under the
//! restricted principle $p_\alpha = 0$ for the dependent coordinates, which have no natural conditions.

use pfaff_expr::Expr;
use pfaff_mechanics::{Class, Equations};
use pfaff_model::{
    Diagnostic, MultiplierStart, Principle, Quantity, Span, TerminalValue, Workspace,
};

use crate::motion::note::brief;
use crate::problem::dynamics_span;
use crate::problem::settings::Run;
use crate::problem::start::given;
use crate::run::bvp::units::Units;

/// All conditions of a problem.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    pub(crate) t0: f64,
    /// `None` if it is free.
    pub(crate) duration: Option<f64>,
    /// The duration, or where the search for it begins.
    pub(crate) guess: f64,
    pub(crate) list: Vec<Condition>,
    /// Final values and their derivatives by t, in turn.
    pub(crate) data: Vec<Expr>,
    /// Coordinates with a value at the end, and which.
    pub(crate) moving: Vec<(usize, usize)>,
    /// Unknown forces of holonomic constraints at the end.
    pub(crate) slack: usize,
    /// Number of holonomic constraints.
    pub(crate) holonomic: usize,
    /// The positions that are known at the start.
    pub(crate) first: Vec<Option<f64>>,
    /// The positions that are known at the end, where its time is.
    pub(crate) last: Vec<Option<f64>>,
    /// Where the path goes, as far as that is known before its end time is.
    pub(crate) towards: Vec<Option<f64>>,
    /// Final positions as written: value and place in the text.
    pub(crate) spans: Vec<(usize, Span)>,
}

impl Conditions {
    /// Puts all values into units.
    pub(crate) fn measure(&mut self, model: &Workspace, units: &Units) {
        if units.are_ones() {
            return;
        }
        let time = units.time;
        self.t0 /= time;
        self.guess /= time;
        self.duration = self.duration.map(|duration| duration / time);
        let g = &model.graph;
        let symbols = units.symbols(g);
        let mut of_data = vec![g.one(); self.data.len() / 2];
        for condition in &mut self.list {
            match condition {
                Condition::Start { component, value } => *value /= units.lengths[*component],
                Condition::SolvedStart { index, value } => *value /= units.solved(*index),
                Condition::End { component, datum } | Condition::Shift { component, datum } => {
                    of_data[*datum] = symbols.lengths[*component];
                }
                Condition::SolvedEnd { index, datum }
                | Condition::SolvedShift { index, datum } => {
                    of_data[*datum] = symbols.solved(g, *index);
                }
                Condition::Natural { .. }
                | Condition::Periodic { .. }
                | Condition::Surface { .. }
                | Condition::Time => {}
            }
        }
        let written = symbols.written_in(model, &self.data).into_iter().enumerate();
        // Values and their derivatives by t, in turn.
        let rated =
            |i: usize, e: Expr| if i.is_multiple_of(2) { e } else { g.mul(e, symbols.time) };
        self.data = written.map(|(i, e)| g.div(rated(i, e), of_data[i / 2])).collect();
        for known in [&mut self.first, &mut self.last, &mut self.towards] {
            for (value, unit) in known.iter_mut().zip(&units.lengths) {
                *value = value.map(|x| x / unit);
            }
        }
    }
}

/// One condition. Components count in $(q, p)$, indices in $(\dot q, \mu)$.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// $q_k(0) = $ value
    Start { component: usize, value: f64 },
    /// $q_k(1) = $ datum
    End { component: usize, datum: usize },
    /// $q_k(1) - q_k(0) = $ datum
    Shift { component: usize, datum: usize },
    /// $p_k = 0$, with the forces of holonomic constraints if they have a say
    Natural { component: usize, at_end: bool, slack: bool },
    /// $p_k(1) = p_k(0)$
    Periodic { component: usize },
    /// A velocity or multiplier at the start.
    SolvedStart { index: usize, value: f64 },
    /// A velocity or multiplier at the end.
    SolvedEnd { index: usize, datum: usize },
    /// A velocity or multiplier that returns.
    SolvedShift { index: usize, datum: usize },
    /// A holonomic constraint at the start.
    Surface { index: usize },
    /// Transversality of a free end time.
    Time,
}

/// What is known of one coordinate at one end.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    position: bool,
    velocity: bool,
    tied: bool,
}

/// Reads the conditions of a model.
pub(crate) fn conditions(
    model: &Workspace,
    equations: &Equations,
    request: &Run,
) -> Result<Conditions, Vec<Diagnostic>> {
    let mut reader = Reader::new(model, equations, request)?;
    reader.start();
    reader.end();
    reader.natural();
    reader.counted()
}

struct Reader<'a> {
    model: &'a Workspace,
    equations: &'a Equations,
    conditions: Conditions,
    at_start: Vec<Known>,
    at_end: Vec<Known>,
    wrong: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn new(
        model: &'a Workspace,
        equations: &'a Equations,
        request: &Run,
    ) -> Result<Self, Vec<Diagnostic>> {
        let n = model.coordinates.len();
        let t0 = request.t0.or(model.solve.range.map(|r| r.0)).unwrap_or(0.0);
        let solved = request.t1.or(model.solve.range.map(|r| r.1));
        let mut free = false;
        let mut ending = solved;
        for terminal in model.terminal.iter().filter(|t| t.quantity == Quantity::Time) {
            match terminal.value {
                TerminalValue::Free => free = true,
                TerminalValue::Given(value) | TerminalValue::Shifted(value) => {
                    let shift = if matches!(terminal.value, TerminalValue::Shifted(_)) {
                        t0
                    } else {
                        0.0
                    };
                    let t1 = shift + constant(model, value, t0);
                    if solved.is_some_and(|t| (t - t1).abs() > 1e-12 * (1.0 + t1.abs())) {
                        let message = format!(
                            "the end time is {} here and {} in `solve`",
                            brief(t1),
                            brief(solved.unwrap_or_default())
                        );
                        return Err(vec![
                            Diagnostic::error("E0632", terminal.span, message)
                                .with_hint("give it once, or `final t = free`"),
                        ]);
                    }
                    ending = Some(t1);
                }
            }
        }
        let guess = ending.map_or(1.0, |t1| t1 - t0);
        let duration = if free { None } else { ending.map(|t1| t1 - t0) };
        let positive = guess.is_finite() && guess > 0.0;
        if !positive || (duration.is_none() && !free) {
            let span = model.terminal.first().map(|t| t.span).unwrap_or_default();
            let message = if positive {
                "the end time is not given".to_owned()
            } else {
                format!("the motion would last {}", brief(guess))
            };
            return Err(vec![
                Diagnostic::error("E0631", span, message)
                    .with_hint("write `solve t = 0..1`, or `final t = free`"),
            ]);
        }
        let holonomic = equations.classes.iter().filter(|c| **c == Class::Holonomic).count();
        Ok(Self {
            model,
            equations,
            conditions: Conditions {
                t0,
                duration,
                guess,
                list: Vec::new(),
                data: Vec::new(),
                moving: Vec::new(),
                slack: 0,
                holonomic,
                first: vec![None; n],
                last: vec![None; n],
                towards: vec![None; n],
                spans: Vec::new(),
            },
            at_start: vec![Known::default(); n],
            at_end: vec![Known::default(); n],
            wrong: Vec::new(),
        })
    }

    fn push(&mut self, condition: Condition) {
        self.conditions.list.push(condition);
    }

    fn datum(&mut self, value: Expr) -> usize {
        let slope = self.model.graph.derivative(value, self.model.time);
        self.conditions.data.extend([value, slope]);
        self.conditions.data.len() / 2 - 1
    }

    fn start(&mut self) {
        let model = self.model;
        let n = model.coordinates.len();
        let t0 = self.conditions.t0;
        let values = given(model, t0);
        for datum in &model.initial {
            let value = match datum.quantity {
                Quantity::Coordinate(k, 0) => values.q[k],
                Quantity::Coordinate(k, 1) => values.v[k],
                Quantity::Multiplier(a) => values.multipliers[a],
                Quantity::Coordinate(..) | Quantity::Time => None,
            };
            if value.is_some_and(|x| !x.is_finite()) {
                let message = "this initial value is not a finite number".into();
                self.wrong.push(Diagnostic::error("E0604", datum.span, message));
            }
        }
        for k in 0..n {
            if let Some(value) = values.q[k] {
                self.at_start[k].position = true;
                self.conditions.first[k] = Some(value);
                self.push(Condition::Start { component: k, value });
            }
            if let Some(value) = values.v[k] {
                self.at_start[k].velocity = true;
                self.push(Condition::SolvedStart { index: k, value });
            }
        }
        if self.equations.principle != Principle::Vakonomic {
            return;
        }
        let velocity = |a: &usize| self.equations.classes[*a] != Class::Holonomic;
        let constraints: Vec<usize> = (0..model.constraints.len()).filter(velocity).collect();
        for &a in &constraints {
            if let Some(value) = values.multipliers[a] {
                self.push(Condition::SolvedStart { index: n + a, value });
            } else if matches!(model.multipliers, Some(MultiplierStart::Zero(_))) {
                self.push(Condition::SolvedStart { index: n + a, value: 0.0 });
            }
        }
        if let Some(MultiplierStart::Transversal(coordinates, _)) = &model.multipliers {
            for &k in coordinates {
                self.push(Condition::Natural { component: k, at_end: false, slack: false });
            }
        }
    }

    fn end(&mut self) {
        let model = self.model;
        let n = model.coordinates.len();
        for terminal in &model.terminal {
            match (terminal.quantity, terminal.value.clone()) {
                (Quantity::Time, _) | (Quantity::Coordinate(_, 0), TerminalValue::Free) => {}
                (Quantity::Coordinate(k, 0), TerminalValue::Given(value)) => {
                    self.at_end[k].position = true;
                    let datum = self.datum(value);
                    self.conditions.moving.push((k, datum));
                    self.conditions.spans.push((k, terminal.span));
                    let ending = self.conditions.t0 + self.conditions.guess;
                    self.conditions.towards[k] = Some(constant(model, value, ending));
                    if let Some(duration) = self.conditions.duration {
                        let x = constant(model, value, self.conditions.t0 + duration);
                        self.conditions.last[k] = Some(x);
                        if !x.is_finite() {
                            let message = "this final value is not a finite number".into();
                            self.wrong.push(Diagnostic::error("E0604", terminal.span, message));
                        }
                    } else if !model.graph.contains(value, &[model.time]) {
                        let x = constant(model, value, self.conditions.t0);
                        self.conditions.last[k] = Some(x);
                    }
                    self.push(Condition::End { component: k, datum });
                }
                (Quantity::Coordinate(k, 0), TerminalValue::Shifted(value)) => {
                    (self.at_end[k].position, self.at_end[k].tied) = (true, true);
                    let datum = self.datum(value);
                    self.conditions.spans.push((k, terminal.span));
                    let ending = self.conditions.t0 + self.conditions.guess;
                    let goal = self.conditions.first[k].unwrap_or(0.0)
                        + constant(model, value, ending);
                    self.conditions.towards[k] = Some(goal);
                    if self.conditions.first[k].is_some() && self.conditions.duration.is_some()
                    {
                        self.conditions.last[k] = Some(goal);
                    }
                    self.push(Condition::Shift { component: k, datum });
                }
                (Quantity::Coordinate(k, 1), value) => {
                    self.at_end[k].velocity |= !matches!(value, TerminalValue::Free);
                    self.solved(k, value);
                }
                (Quantity::Multiplier(a), value) => self.solved(n + a, value),
                (Quantity::Coordinate(..), _) => {
                    let message = "only positions, velocities and multipliers have end values";
                    self.wrong.push(Diagnostic::error("E0632", terminal.span, message.into()));
                }
            }
        }
    }

    fn solved(&mut self, index: usize, value: TerminalValue) {
        match value {
            TerminalValue::Given(value) => {
                let datum = self.datum(value);
                self.push(Condition::SolvedEnd { index, datum });
            }
            TerminalValue::Shifted(value) => {
                let datum = self.datum(value);
                self.push(Condition::SolvedShift { index, datum });
            }
            TerminalValue::Free => {}
        }
    }

    /// What is not given is free.
    fn natural(&mut self) {
        let dependent = &self.equations.dependent;
        let n = self.at_start.len();
        let held: Vec<bool> = (0..n).map(|k| self.is_held(k)).collect();
        let mut slack = false;
        let mut natural = Vec::new();
        for k in 0..n {
            if dependent.contains(&k) {
                // The restricted principle: p_α = 0.
                natural.push(Condition::Natural { component: k, at_end: false, slack: false });
                continue;
            }
            let (start, end) = (self.at_start[k], self.at_end[k]);
            if end.tied && !start.position {
                if !start.velocity && !end.velocity {
                    natural.push(Condition::Periodic { component: k });
                }
                continue;
            }
            if !start.position && !start.velocity {
                natural.push(Condition::Natural { component: k, at_end: false, slack: false });
            }
            if !end.position && !end.velocity {
                slack |= held[k];
                natural.push(Condition::Natural { component: k, at_end: true, slack: held[k] });
            }
        }
        self.conditions.list.extend(natural);
        if self.conditions.duration.is_none() {
            self.push(Condition::Time);
        }
        if slack {
            self.conditions.slack = self.conditions.holonomic;
        }
    }

    /// Whether a holonomic constraint contains the coordinate.
    fn is_held(&self, k: usize) -> bool {
        let q = self.model.coordinates[k].position;
        let positions = self.equations.position.iter().flatten();
        positions.into_iter().any(|&φ| self.model.graph.contains(φ, &[q]))
    }

    /// The conditions, if their number is right and they do not contradict each other.
    fn counted(mut self) -> Result<Conditions, Vec<Diagnostic>> {
        let n = self.at_start.len();
        let wanted = 2 * n + usize::from(self.conditions.duration.is_none());
        let count = self.conditions.list.len();
        if count > wanted {
            self.wrong.push(self.too_many(count - wanted));
        } else if count < wanted {
            self.wrong.push(self.too_few(wanted - count));
        }
        for index in 0..self.conditions.holonomic {
            self.push(Condition::Surface { index });
        }
        self.contradictions();
        if self.wrong.is_empty() { Ok(self.conditions) } else { Err(self.wrong) }
    }

    fn too_many(&self, excess: usize) -> Diagnostic {
        let model = self.model;
        let crowded = (0..self.at_start.len()).find(|&k| {
            let count = |x: &Known| usize::from(x.position) + usize::from(x.velocity);
            let (start, end) = (count(&self.at_start[k]), count(&self.at_end[k]));
            start == 2 || end == 2 || (self.is_dependent(k) && start + end > 1)
        });
        let span = model.terminal.first().map(|t| t.span).unwrap_or_default();
        match crowded {
            Some(k) if self.is_dependent(k) => Diagnostic::error(
                "E0631",
                model.coordinates[k].span,
                format!(
                    "too many data, {excess} more than the motion can satisfy: `{}` is given at both ends, but \
                     under `restricted` it follows from the constraints",
                    model.coordinates[k].name
                ),
            )
            .with_hint("give it at one end, or choose `principle vakonomic`"),
            Some(k) => {
                let name = &model.coordinates[k].name;
                Diagnostic::error(
                    "E0631",
                    span,
                    format!(
                        "too many data, {excess} more than the motion can satisfy: `{name}` and `{name}'` are given \
                         at the same end"
                    ),
                )
                .with_hint("leave out the velocity: what is not given at an end is free there (natural condition)")
            }
            None => Diagnostic::error(
                "E0631",
                span,
                format!("too many data: {excess} more than the motion can satisfy"),
            )
            .with_hint("each coordinate has one condition at each end; multipliers follow from them and need not be \
                 given"),
        }
    }

    fn too_few(&self, missing: usize) -> Diagnostic {
        let model = self.model;
        let names: Vec<String> = (0..self.at_start.len())
            .filter(|&k| {
                self.is_dependent(k) && !self.at_start[k].position && !self.at_end[k].position
            })
            .map(|k| format!("`{}`", model.coordinates[k].name))
            .collect();
        let span = model.terminal.first().map(|t| t.span).unwrap_or_default();
        let message = if names.is_empty() {
            format!("too few data: {missing} more must be given")
        } else {
            format!("too few data: {} must be given at one of the ends", names.join(", "))
        };
        Diagnostic::error("E0631", span, message)
            .with_hint("give as many conditions as the motion has constants of integration")
    }

    fn is_dependent(&self, k: usize) -> bool {
        self.equations.dependent.contains(&k)
    }

    /// Given ends that lie off a holonomic constraint.
    fn contradictions(&mut self) {
        let (model, c) = (self.model, &self.conditions);
        let g = &model.graph;
        let mut wrong = Vec::new();
        let ends =
            [(&c.first, Some(c.t0), "start"), (&c.last, c.duration.map(|d| c.t0 + d), "end")];
        for (known, t, word) in ends {
            let Some(t) = t else { continue };
            for (a, φ) in self.equations.position.iter().enumerate() {
                let Some(φ) = *φ else { continue };
                let used: Vec<usize> = (0..known.len())
                    .filter(|&k| g.contains(φ, &[model.coordinates[k].position]))
                    .collect();
                if used.iter().any(|&k| known[k].is_none()) {
                    continue;
                }
                let value = at(model, φ, t, &|k| known[k].unwrap_or(0.0));
                // Given decimals are rounded; what is off by more was meant so.
                if value.is_nan() || value.abs() > 1e-9 {
                    let message = format!(
                        "the {word} contradicts the constraint `{}`, which is off by {} there",
                        model.constraints[a].name,
                        brief(value)
                    );
                    wrong.push(
                        Diagnostic::error("E0632", model.constraints[a].span, message)
                            .with_hint("leave out a coordinate that the constraint determines, or correct its value"),
                    );
                }
            }
        }
        if wrong.is_empty() && c.list.is_empty() {
            let message = "nothing is given at either end".into();
            wrong.push(Diagnostic::error("E0631", dynamics_span(model), message));
        }
        self.wrong.extend(wrong);
    }
}

/// An expression of parameters and time.
pub(crate) fn constant(model: &Workspace, e: Expr, t: f64) -> f64 {
    at(model, e, t, &|_| f64::NAN)
}

/// An expression of positions, parameters and time.
pub(crate) fn at(model: &Workspace, e: Expr, t: f64, position: &dyn Fn(usize) -> f64) -> f64 {
    let symbol = |s: Expr| {
        if s == model.time {
            return t;
        }
        let parameter = model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
        let coordinate = || model.coordinates.iter().position(|c| c.position == s);
        parameter.or_else(|| coordinate().map(position)).unwrap_or(f64::NAN)
    };
    model.graph.evaluate(&[e], &symbol)[0]
}
