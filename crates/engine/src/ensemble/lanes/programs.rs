//! The programs of motions in lanes: a start, a whole step with its error control, and what is read off a state.
//!
//! One evaluation of the step program is a trial of DOP853 in eight motions at once, each with its own time, step,
//! tolerance and parameters: stages, error, acceptance and the next step length are all instructions, so that between
//! two trials nothing is left to do but to see whether a lane wants attention.

use pfaff_expr::{Expr, Graph, Relation, Role, Unary, number};
use pfaff_mechanics::Reduction;
use pfaff_model::{Dynamics, Quantity, Workspace};
use pfaff_program::Program;
use pfaff_solver::Dop853Tableau;

use crate::ensemble::lanes::consistent::velocities_at_start;
use crate::motion::sample::sample_symbols;
use crate::system::event_phases::event_phases;
use crate::system::features::narrow_phases;

/// Where the numbers of a lane stand in the rows of the step program.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepLayout {
    /// How many positions and quasi-velocities there are.
    pub(super) n: usize,
    pub(super) k: usize,
    /// 1 if the work of forces and reactions is carried along.
    pub(super) work: usize,
    pub(super) events: usize,
    phases: usize,
}

impl StepLayout {
    pub(super) const T: usize = 0;
    pub(super) const H: usize = 1;
    pub(super) const T1: usize = 2;
    pub(super) const TRIES: usize = 3;
    pub(super) const STEPS: usize = 4;
    pub(super) const TOLERANCE: usize = 5;
    const Y: usize = 6;

    /// Positions and quasi-velocities, which are controlled.
    pub(super) fn controlled(self) -> usize {
        self.n + self.k
    }

    fn carried(self) -> usize {
        self.controlled() + self.work
    }

    pub(super) fn y(i: usize) -> usize {
        Self::Y + i
    }

    pub(super) fn rates(self, i: usize) -> usize {
        Self::y(self.carried()) + i
    }

    /// The largest value so far.
    pub(super) fn largest(self, i: usize) -> usize {
        self.rates(self.carried()) + i
    }

    pub(super) fn event(self, i: usize) -> usize {
        self.largest(self.controlled()) + i
    }

    pub(super) fn event_rate(self, i: usize) -> usize {
        self.event(self.events) + i
    }

    fn phase(self, i: usize) -> usize {
        self.event_rate(self.events) + i
    }

    /// What a step reads and writes.
    pub(super) fn rows(self) -> usize {
        self.phase(self.phases)
    }

    /// Behind these, in the outputs alone: whether a lane wants attention, and whether it has stepped over what only a
    /// single run can judge.
    pub(super) fn attention(self) -> usize {
        self.rows()
    }

    pub(super) fn doubt(self) -> usize {
        self.rows() + 1
    }
}

/// The outputs of the start: the rows of the step but for its end, then these.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartLayout {
    pub(super) step: StepLayout,
}

impl StartLayout {
    /// Whether the start is one that lanes can begin from.
    pub(super) fn good(self) -> usize {
        self.step.rows()
    }

    pub(super) fn energy(self) -> usize {
        self.step.rows() + 1
    }

    /// The size of the terms of the energy.
    pub(super) fn energy_size(self) -> usize {
        self.step.rows() + 2
    }

    pub(super) fn rows(self) -> usize {
        self.step.rows() + 3
    }
}

/// The programs of one model.
pub(super) struct LanePrograms {
    pub(super) layout: StepLayout,
    /// Rows to rows.
    pub(super) step: Program,
    /// $(t_0, t_1, E, p)$ to the rows of the first step.
    pub(super) start: Program,
    /// $(t, y, p)$ to velocities, what is observed, energy and its size.
    pub(super) point: Program,
    pub(super) observed: usize,
}

/// Instructions of a step beyond which single runs are as fast: the code no longer fits the caches.
const LONGEST: usize = 60_000;
/// Models with more phases than this are not run in lanes.
const MOST_PHASES: usize = 12;

/// Largest and smallest factor between the lengths of two steps.
const LONGER: f64 = 6.0;
const SHORTER: f64 = 1.0 / 3.0;
const SAFETY: f64 = 0.9;
/// Trials after which a motion is left to a single run, which may change its method.
const MOST_TRIES: f64 = 20_000.0;
/// A chart is left to a single run when its pivot falls below this part of the largest candidate.
const LEAVE: f64 = 0.5;

impl LanePrograms {
    /// The programs of a model in its reduced form; `None` where lanes do not apply.
    pub(super) fn new(model: &Workspace, reduction: &Reduction) -> Option<Self> {
        let g = &reduction.graph;
        let field = Field::new(model, reduction)?;
        if field.phases.len() > MOST_PHASES {
            return None;
        }
        let work = usize::from(field.power != g.zero());
        let layout = StepLayout {
            n: reduction.positions.len(),
            k: reduction.independent.len(),
            work,
            events: field.events.len(),
            phases: field.phases.len(),
        };
        let parameters = model.parameter_symbols();
        let step = step(&field, layout, &parameters)?;
        if step.counts().per_evaluation > LONGEST {
            return None;
        }
        let start = start(model, &field, StartLayout { step: layout }, &parameters)?;
        let point = point(model, &field, &parameters)?;
        Some(Self { layout, step, start, point, observed: field.observed.len() })
    }
}

/// The equations over $(t, q, u)$, with all that is read off a state.
pub(super) struct Field<'a> {
    pub(super) g: &'a Graph,
    pub(super) reduction: &'a Reduction,
    time: Expr,
    state: Vec<Expr>,
    /// $\dot q$, $\dot u$
    rates: Vec<Expr>,
    power: Expr,
    events: Vec<Expr>,
    event_rates: Vec<Expr>,
    /// What may vary over half a step by no more than its limit.
    phases: Vec<Expr>,
    quiet: Vec<f64>,
    observed: Vec<Expr>,
    energy: Expr,
    energy_size: Expr,
    /// Each pivot that may vanish, with what could stand in its place.
    pivots: Vec<(Expr, Vec<Expr>)>,
}

impl<'a> Field<'a> {
    fn new(model: &Workspace, reduction: &'a Reduction) -> Option<Self> {
        let g = &reduction.graph;
        let solved = reduction.rates.as_ref()?;
        let mut state = reduction.positions.clone();
        state.extend(&reduction.independent);
        let rates = [reduction.velocities.as_slice(), solved].concat();
        let power = g.merging(|| {
            let driven = g.dot(&reduction.power[1..], solved);
            g.add(reduction.power[0], driven)
        });
        // What follows from a state: velocities, accelerations, reactions and the energy.
        let results = reduction.multipliers();
        let velocities: Vec<(Expr, Expr)> = reduction
            .velocity_symbols
            .iter()
            .copied()
            .zip(reduction.velocities.iter().copied())
            .chain(reduction.independent_rates.iter().copied().zip(solved.iter().copied()))
            .collect();
        let inserted = |list: &[Expr]| g.substitute(list, &velocities);
        let mut known = velocities.clone();
        let accelerations = inserted(&results.accelerations);
        known.extend(model.accelerations().into_iter().zip(accelerations));
        if let Some(multipliers) = &results.multipliers {
            known.extend(model.results.lambda.iter().copied().zip(inserted(multipliers)));
        }
        known.extend(model.results.reaction.iter().copied().zip(inserted(&results.reaction)));
        let energy = inserted(&[results.energy])[0];
        known.push((model.results.energy, energy));
        let at_state = |list: &[Expr]| -> Option<Vec<Expr>> {
            let list = g.substitute(list, &known);
            let allowed: Vec<Expr> = sample_symbols(model, false)
                .into_iter()
                .filter(|s| *s != model.time && !state.contains(s))
                .collect();
            let is_known = list.iter().all(|&e| !g.contains(e, &allowed) && !g.has_memory(e));
            is_known.then_some(list)
        };
        let events: Vec<Expr> = model.events.iter().map(|e| e.expr).collect();
        let events = at_state(&events)?;
        let observed: Vec<Expr> = model.observed.iter().map(|o| o.expr).collect();
        let observed = at_state(&observed)?;
        let mut along: Vec<(Expr, Expr)> =
            state.iter().copied().zip(rates.iter().copied()).collect();
        along.push((model.time, g.one()));
        let event_rates = g.merging(|| g.directional(&events, &along));
        let mut phases = at_state(&narrow_phases(g, model))?;
        let mut quiet = vec![0.5; phases.len()];
        let of_events = event_phases(g, &events);
        phases.extend(of_events.iter().map(|&(_, phase)| phase));
        // A sine within one radian has no zeros that a cubic does not see.
        quiet.resize(phases.len(), 1.0);
        let pivots = reduction.charts.iter().map(|chart| {
            let sized = chart.candidates.iter().zip(&chart.scale);
            let all: Vec<Expr> =
                sized.map(|(&c, &s)| g.mul(real(g, s), magnitude(g, c))).collect();
            (all[chart.pivot], all)
        });
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
        let momenta = g.gradient(lagrangian, &model.velocities());
        let terms =
            momenta.iter().zip(model.velocities()).map(|(&p, v)| magnitude(g, g.mul(p, v)));
        let size = g.add(g.sum(terms), magnitude(g, lagrangian));
        let size = at_state(&[size])?[0];
        Some(Self {
            g,
            reduction,
            time: reduction.time,
            pivots: pivots.collect(),
            state,
            rates,
            power,
            events,
            event_rates,
            phases,
            quiet,
            observed,
            energy,
            energy_size: size,
        })
    }

    /// Everything at another state.
    fn at(&self, list: &[Expr], t: Expr, y: &[Expr]) -> Vec<Expr> {
        let mut inserted: Vec<(Expr, Expr)> =
            self.state.iter().copied().zip(y.iter().copied()).collect();
        inserted.push((self.time, t));
        self.g.substitute(list, &inserted)
    }

    /// Whether all pivots are good at a state.
    fn charted(&self, t: Expr, y: &[Expr], part: f64) -> Expr {
        let g = self.g;
        let mut good = g.one();
        for (pivot, all) in &self.pivots {
            let list = [&[*pivot], all.as_slice()].concat();
            let list = self.at(&list, t, y);
            let most = list[1..].iter().copied().reduce(|a, b| larger(g, a, b));
            let most = most.unwrap_or_else(|| g.zero());
            let fine = g.compare(Relation::LessEqual, g.mul(real(g, part), most), list[0]);
            good = g.logic_and(good, fine);
        }
        good
    }
}

/// A double as an exact number.
pub(super) fn real(g: &Graph, x: f64) -> Expr {
    number::from_f64(x).map_or_else(|| g.zero(), |x| g.number(x))
}

pub(super) fn magnitude(g: &Graph, e: Expr) -> Expr {
    g.unary(Unary::Abs, e)
}

pub(super) fn larger(g: &Graph, a: Expr, b: Expr) -> Expr {
    if a == b { a } else { g.choose(g.compare(Relation::Less, a, b), b, a) }
}

fn smaller(g: &Graph, a: Expr, b: Expr) -> Expr {
    if a == b { a } else { g.choose(g.compare(Relation::Less, a, b), a, b) }
}

fn symbols(g: &Graph, count: usize, name: &str) -> Vec<Expr> {
    (0..count).map(|i| g.symbol(&format!("lane {name} {i}"), Role::Free)).collect()
}

/// $\sum_j w_j k_j$ of a component.
fn combined(g: &Graph, weights: &[f64], stages: &[Vec<Expr>], i: usize) -> Expr {
    let terms = weights.iter().zip(stages).filter(|(w, _)| **w != 0.0);
    g.sum(terms.map(|(&w, stage)| g.mul(real(g, w), stage[i])))
}

/// A trial of a step.
fn step(field: &Field<'_>, layout: StepLayout, parameters: &[Expr]) -> Option<Program> {
    let g = field.g;
    let tableau = Dop853Tableau::DOP853;
    let rows = symbols(g, layout.rows(), "row");
    let tolerance = rows[StepLayout::TOLERANCE];
    let (t, h, t1) = (rows[StepLayout::T], rows[StepLayout::H], rows[StepLayout::T1]);
    let (d, all) = (layout.controlled(), layout.carried());
    let y: Vec<Expr> = (0..all).map(|i| rows[StepLayout::y(i)]).collect();
    let rates: Vec<Expr> = (0..all).map(|i| rows[layout.rates(i)]).collect();
    let mut right = field.rates.clone();
    right.extend((layout.work > 0).then_some(field.power));
    let rest = g.sub(t1, t);
    let is_last = g.compare(Relation::LessEqual, rest, h);
    let h = g.choose(is_last, rest, h);
    let mut stages = vec![rates.clone()];
    for (row, node) in tableau.rows.iter().zip(tableau.nodes) {
        let at: Vec<Expr> =
            (0..d).map(|i| g.add(y[i], g.mul(h, combined(g, row, &stages, i)))).collect();
        let time = g.add(t, g.mul(real(g, node), h));
        stages.push(field.at(&right, time, &at));
    }
    let end: Vec<Expr> = (0..all)
        .map(|i| g.add(y[i], g.mul(h, combined(g, &tableau.weights, &stages, i))))
        .collect();
    let time = g.choose(is_last, t1, g.add(t, h));
    let end_rates = field.at(&right, time, &end[..d]);
    // The error in parts of the tolerance.
    let mut worst = [g.zero(); 2];
    for i in 0..d {
        let size = magnitude(g, end[i]);
        let scale = g.add(size, larger(g, size, rows[layout.largest(i)]));
        let scale = g.add(scale, real(g, 1e-50));
        let inverse = g.div(g.one(), scale);
        for (worst, weights) in worst.iter_mut().zip(&tableau.errors) {
            let part = magnitude(g, combined(g, weights, &stages, i));
            *worst = larger(g, g.mul(part, inverse), *worst);
        }
    }
    let [five, three] = worst.map(|x| g.mul(x, x));
    let root = g.sqrt(g.add(g.add(five, g.mul(real(g, 0.01), three)), real(g, 1e-300)));
    let error = g.div(g.mul(magnitude(g, h), five), g.mul(root, tolerance));
    let is_good = g.compare(Relation::LessEqual, error, g.one());
    let eighth = g.sqrt(g.sqrt(g.sqrt(g.add(error, real(g, 1e-30)))));
    let factor = g.div(real(g, SAFETY), eighth);
    // NOTE: what is not a number is shortened.
    let factor = g.choose(
        g.compare(Relation::Less, real(g, SHORTER), factor),
        smaller(g, factor, real(g, LONGER)),
        real(g, SHORTER),
    );
    let kept = |after: Expr, before: Expr| g.choose(is_good, after, before);
    let next = g.mul(factor, h);
    let now = kept(time, t);
    let tries = g.add(rows[StepLayout::TRIES], g.one());
    let steps = g.add(rows[StepLayout::STEPS], g.choose(is_good, g.one(), g.zero()));
    let mut outputs = vec![now, next, t1, tries, steps, tolerance];
    outputs.extend((0..all).map(|i| kept(end[i], y[i])));
    outputs.extend((0..all).map(|i| kept(end_rates[i], rates[i])));
    for i in 0..d {
        let known = rows[layout.largest(i)];
        outputs.push(kept(larger(g, known, magnitude(g, end[i])), known));
    }
    // Attention: the end, a step too short, too many of them, events, and what a single run has to judge.
    let is_short = g.compare(
        Relation::Less,
        magnitude(g, next),
        g.mul(real(g, 1e-14), g.add(magnitude(g, t), magnitude(g, t1))),
    );
    let is_over = g.compare(Relation::LessEqual, t1, now);
    let is_long = g.compare(Relation::Less, real(g, MOST_TRIES), tries);
    let mut doubt = g.logic_or(g.logic_and(is_short, g.logic_not(is_over)), is_long);
    let mut attention = g.logic_or(is_over, doubt);
    let values = field.at(&field.events, time, &end[..d]);
    let slopes = field.at(&field.event_rates, time, &end[..d]);
    for (i, (&value, &slope)) in values.iter().zip(&slopes).enumerate() {
        let (before, rate) = (rows[layout.event(i)], rows[layout.event_rate(i)]);
        let crossed = g.compare(Relation::LessEqual, g.mul(before, value), g.zero());
        // Towards zero at the start, and away from it at the end: it may have been there in between.
        let nears = g.compare(Relation::Less, g.mul(before, rate), g.zero());
        let leaves = g.compare(Relation::Less, g.zero(), g.mul(value, slope));
        let seen = g.logic_or(crossed, g.logic_and(nears, leaves));
        attention = g.logic_or(attention, g.logic_and(is_good, seen));
    }
    outputs.extend(values.iter().enumerate().map(|(i, &e)| kept(e, rows[layout.event(i)])));
    outputs
        .extend(slopes.iter().enumerate().map(|(i, &e)| kept(e, rows[layout.event_rate(i)])));
    if !field.phases.is_empty() {
        // Narrow features: the phases may not vary much over half a step.
        let middle: Vec<Expr> = (0..d)
            .map(|i| {
                let mean = g.mul(real(g, 0.5), g.add(y[i], end[i]));
                let bend = g.mul(real(g, 0.125), g.mul(h, g.sub(rates[i], end_rates[i])));
                g.add(mean, bend)
            })
            .collect();
        let half = g.add(t, g.mul(real(g, 0.5), h));
        let (within, after) =
            (field.at(&field.phases, half, &middle), field.at(&field.phases, time, &end[..d]));
        for (i, (&within, &after)) in within.iter().zip(&after).enumerate() {
            let before = rows[layout.phase(i)];
            for side in [before, after] {
                let change = magnitude(g, g.sub(side, within));
                let is_quiet = g.logic_or(
                    g.compare(Relation::LessEqual, change, real(g, field.quiet[i])),
                    g.compare(Relation::Equal, side, within),
                );
                doubt = g.logic_or(doubt, g.logic_and(is_good, g.logic_not(is_quiet)));
            }
            outputs.push(kept(after, before));
        }
    }
    if !field.pivots.is_empty() {
        let fine = field.charted(time, &end[..d], LEAVE);
        doubt = g.logic_or(doubt, g.logic_and(is_good, g.logic_not(fine)));
    }
    outputs.push(g.logic_or(attention, doubt));
    outputs.push(doubt);
    Some(Program::compile(g, &rows, parameters, &outputs).ok()?.fused())
}

/// The start of a motion, with sizes, rates and the length of the first step.
fn start(
    model: &Workspace,
    field: &Field<'_>,
    layout: StartLayout,
    parameters: &[Expr],
) -> Option<Program> {
    /// The part of a run in which what is zero at the start gets its size.
    const PREVIEW: f64 = 0.01;
    let g = field.g;
    let step = layout.step;
    let (n, k, d) = (step.n, step.k, step.controlled());
    let [t0, t1, tolerance] = ["start", "end", "tolerance of start"]
        .map(|name| g.symbol(&format!("lane {name}"), Role::Free));
    let mut q = vec![g.zero(); n];
    for datum in &model.initial {
        match datum.quantity {
            Quantity::Coordinate(i, 0) => q[i] = datum.value,
            Quantity::Coordinate(_, 1) => {}
            _ => return None,
        }
    }
    let q = g.substitute(&q, &[(model.time, t0)]);
    let (v, mut good) = velocities_at_start(model, field, t0, &q)?;
    let mut inserted: Vec<(Expr, Expr)> =
        field.reduction.positions.iter().copied().zip(q.iter().copied()).collect();
    inserted.extend(field.reduction.velocity_symbols.iter().copied().zip(v));
    inserted.push((field.time, t0));
    let u = g.substitute(&field.reduction.forms, &inserted);
    let y: Vec<Expr> = q.iter().chain(&u).copied().collect();
    let rates = field.at(&field.rates, t0, &y);
    let span = g.sub(t1, t0);
    // The shortest time in which a component changes by its own size.
    let mut own = g.mul(real(g, PREVIEW), span);
    for i in 0..d {
        let time = g.div(magnitude(g, y[i]), magnitude(g, rates[i]));
        let counts = g.logic_and(
            g.compare(Relation::Less, g.mul(real(g, 1e-8), span), time),
            g.compare(Relation::Less, time, own),
        );
        own = g.choose(counts, time, own);
    }
    let tenth = g.mul(real(g, 0.1), own);
    let moved: Vec<Expr> = (0..d).map(|i| g.add(y[i], g.mul(tenth, rates[i]))).collect();
    let there = field.at(&field.rates, g.add(t0, tenth), &moved);
    let mut sizes = Vec::with_capacity(d);
    let mut changes = Vec::with_capacity(d);
    for i in 0..d {
        let change = magnitude(g, g.sub(there[i], rates[i]));
        let grown = g.mul(own, larger(g, magnitude(g, rates[i]), g.mul(g.integer(10), change)));
        sizes.push(larger(g, magnitude(g, y[i]), grown));
        changes.push(change);
    }
    // What moves only by what moves later: once more, from there.
    let later: Vec<Expr> = (0..d)
        .map(|i| {
            g.add(
                y[i],
                g.mul(tenth, g.add(rates[i], g.mul(real(g, 0.5), g.sub(there[i], rates[i])))),
            )
        })
        .collect();
    let once_more = field.at(&field.rates, g.add(t0, tenth), &later);
    for i in 0..d {
        let change = magnitude(g, g.sub(once_more[i], rates[i]));
        let unknown = g.compare(Relation::Equal, sizes[i], g.zero());
        let grown = g.mul(own, g.mul(g.integer(10), change));
        sizes[i] = g.choose(unknown, grown, sizes[i]);
    }
    let mut first = span;
    for i in 0..d {
        let by_rate = g.div(sizes[i], g.add(magnitude(g, rates[i]), real(g, 1e-300)));
        let by_change =
            g.sqrt(g.div(g.mul(sizes[i], tenth), g.add(changes[i], real(g, 1e-300))));
        // NOTE: what has no size does not count, nor what does not change.
        let counts = g.compare(Relation::Less, g.zero(), sizes[i]);
        let time = smaller(g, by_rate, by_change);
        first = g.choose(counts, smaller(g, first, time), first);
    }
    // E^(1/8): a step that is too long is repeated, and one that is too short leads to several.
    let eighth = g.sqrt(g.sqrt(g.sqrt(tolerance)));
    let first = smaller(g, g.mul(eighth, first), span);
    let mut outputs = vec![t0, first, t1, g.zero(), g.zero(), tolerance];
    outputs.extend(&y);
    outputs.extend((step.work > 0).then(|| g.zero()));
    outputs.extend(&rates);
    if step.work > 0 {
        outputs.push(field.at(&[field.power], t0, &y)[0]);
    }
    outputs.extend(&sizes);
    outputs.extend(field.at(&field.events, t0, &y));
    outputs.extend(field.at(&field.event_rates, t0, &y));
    outputs.extend(field.at(&field.phases, t0, &y));
    good = g.logic_and(good, field.charted(t0, &y, 0.9));
    // Sums of what is finite are finite, and compare as equal with themselves.
    let sum = g.sum(outputs.iter().map(|&e| magnitude(g, e)));
    let finite = g.compare(Relation::Less, sum, real(g, 1e300));
    outputs.push(g.logic_and(good, finite));
    outputs.extend(field.at(&[field.energy, field.energy_size], t0, &y));
    debug_assert_eq!((outputs.len(), d), (layout.rows(), n + k), "rows of a start");
    let inputs: Vec<Expr> =
        [t0, t1, tolerance].into_iter().chain(parameters.iter().copied()).collect();
    Some(Program::compile(g, &inputs, &[], &outputs).ok()?.fused())
}

/// What is read off a state.
fn point(model: &Workspace, field: &Field<'_>, parameters: &[Expr]) -> Option<Program> {
    let g = field.g;
    let velocities = model.velocities();
    let moving: Vec<(Expr, Expr)> =
        velocities.iter().copied().zip(field.reduction.velocities.iter().copied()).collect();
    let still: Vec<(Expr, Expr)> = velocities.iter().map(|&v| (v, g.zero())).collect();
    let residuals = model.constraints.iter().map(|constraint| {
        let slopes = g.gradient(constraint.expr, &velocities);
        let slopes = g.substitute(&slopes, &moving);
        let drift = g.substitute(&[constraint.expr], &still)[0];
        let terms = slopes.iter().zip(&field.reduction.velocities);
        let terms = terms.map(|(&slope, &v)| magnitude(g, g.mul(slope, v)));
        let size = g.add(g.sum(terms), magnitude(g, drift));
        let residual = magnitude(g, g.substitute(&[constraint.expr], &moving)[0]);
        g.div(residual, g.add(size, real(g, 1e-300)))
    });
    let residuals: Vec<Expr> = residuals.collect();
    let inputs: Vec<Expr> =
        [field.time].iter().chain(&field.state).chain(parameters).copied().collect();
    let mut outputs = field.reduction.velocities.clone();
    outputs.extend(&field.observed);
    outputs.extend([field.energy, field.energy_size]);
    outputs.extend(residuals);
    Some(Program::compile(g, &inputs, &[], &outputs).ok()?.fused())
}
