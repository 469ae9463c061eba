//! The checks of a motion that was integrated step by step.
//!
//! They go back to the model itself: $L$, $\varphi$ and the forces are differentiated by dual numbers along the
//! motion ([`DualResidual`]), independently of the derivation whose result they judge.

use pfaff_expr::Expr;
use pfaff_mechanics::{Class, Conserved, ConservedKind};
use pfaff_model::{Principle, Workspace};
use pfaff_program::GraphEvaluator;
use pfaff_solver::{DenseStep, StoredStep, System as _};

use crate::audit::deviation::{Deviation, worse};
use crate::audit::dual_residual::{DualResidual, Findings, NOTHING, equation_residuals, pace};
use crate::audit::sensitivity::Sensitivity;
use crate::motion::sample::{LANES, Sample};
use crate::motion::samples::Samples;
use crate::motion::verdict::Check;
use crate::system::compiled::CompiledSystem;
use crate::system::constraint_scale::collect_terms;
use crate::system::energy_scale::raise_by_mass;
use crate::system::reduced::LaneSamples;

/// What the audit looks at.
pub(crate) struct TrajectoryEvidence<'a> {
    pub(crate) model: &'a Workspace,
    pub(crate) system: CompiledSystem,
    /// The samples.
    pub(crate) samples: Samples<'a>,
    /// $w$ and $u$ at the samples; empty for an `equation` model.
    pub(crate) work: &'a [[f64; 2]],
    /// Steps of the run, spread over it.
    pub(crate) steps: &'a [StoredStep],
    pub(crate) tolerance: f64,
    /// Whether steps are chosen by the tolerance.
    pub(crate) is_controlled: bool,
    /// Whether the equations contain time.
    pub(crate) depends_on_time: bool,
    pub(crate) principle: Principle,
    /// The dependent coordinates of the restricted principle.
    pub(crate) dependent: &'a [usize],
    /// Of the constraints; empty for an `equation` model.
    pub(crate) classes: &'a [Class],
    /// $E$ as an expression, for the worth of an error in the state.
    pub(crate) energy: Option<Expr>,
    /// The largest values of positions and velocities, those of earlier segments included.
    pub(crate) scales: &'a [f64],
    /// How much of the rates of the state is rounding.
    pub(crate) roundings: &'a [f64],
    /// The largest energy of earlier segments.
    pub(crate) earlier_energy: f64,
    /// Momenta that the motion keeps.
    pub(crate) momenta: &'a [Conserved],
    /// How many steps the run took.
    pub(crate) taken: usize,
}

/// Samples at which the constraints are looked at, at most; more are thinned evenly.
const CONSTRAINT_SAMPLES: usize = 1_000;
/// Dual-number operations that the equations may cost: about 20 ms.
const BUDGET: usize = 2_000_000;

/// Steps that are shorter than this part of the longest are not differentiated: differences over them are rounding.
const SLIVER: f64 = 1e-5;

/// The checks of a motion.
pub(crate) fn checks(evidence: TrajectoryEvidence<'_>) -> Vec<Check> {
    let TrajectoryEvidence { model, principle, dependent, classes, .. } = evidence;
    match DualResidual::new(model, principle, dependent, classes) {
        Some(dual) => mechanical(evidence, dual),
        None => ordinary(evidence),
    }
}

/// The checks of a motion that follows from a Lagrangian.
fn mechanical(mut evidence: TrajectoryEvidence<'_>, mut dual: DualResidual) -> Vec<Check> {
    least_scales(&mut evidence, &mut dual.least);
    let mut checks = constraints(&evidence, &mut dual);
    let mut ledger = Ledger::default();
    let (at_steps, between) = equations(&mut evidence, &mut dual, &mut ledger);
    ledger.extend_by_outputs(evidence.samples, evidence.work);
    let pace = at_steps.pace().max(between.pace());
    checks.extend(balances(&evidence, &ledger, pace));
    checks.extend(momenta(&evidence, &ledger.ends, pace));
    let rounding = "rounding errors of the linear solve and of time, far below the last digits of any term";
    let of_time = time_rounding(&evidence, pace);
    let at_step = 1e-9 + 10.0 * of_time;
    checks.push(limit("equations of motion at steps", at_steps.equations(), at_step, rounding));
    if !evidence.model.constraints.is_empty() {
        checks.push(limit(
            "constraints differentiated at steps",
            at_steps.differentiated(),
            at_step,
            rounding,
        ));
    }
    checks.push(limit("energy by dual numbers", at_steps.energy(), 1e-11, rounding));
    let interpolation = interpolation_limit(evidence.tolerance) + 300.0 * of_time;
    let reason =
        "accuracy of the differentiated interpolant between steps: 1000·tolerance^(3/4)";
    checks.push(limit(
        "equations of motion between steps",
        between.equations(),
        interpolation,
        reason,
    ));
    checks.push(limit("velocities between steps", between.velocities(), interpolation, reason));
    checks
}

/// What positions, velocities and accelerations are measured by at least, from some steps of the run. An acceleration
/// that is a small part of what the forces alone would do is nothing: at rest all of them are rounding.
fn least_scales(evidence: &mut TrajectoryEvidence<'_>, least: &mut [Vec<f64>; 3]) {
    /// Steps that are looked at.
    const SOME: usize = 8;
    let n = evidence.model.coordinates.len();
    let mut scales = vec![0.0; 2 * n];
    let stride = evidence.steps.len().div_ceil(SOME).max(1);
    for step in evidence.steps.iter().step_by(stride).map(StoredStep::as_step) {
        let h = step.end() - step.start();
        if let Some(kkt) = evidence.system.saddle_at(step.end(), step.state_at_end()) {
            raise_by_mass(kkt, h, &mut scales);
            let forces = kkt.right_side().0;
            let free =
                forces.iter().zip(kkt.mass_diagonal()).map(|(f, m)| NOTHING * (f / m).abs());
            let finite = least[2].iter_mut().zip(free).filter(|(_, free)| free.is_finite());
            finite.for_each(|(least, free)| *least = least.max(free));
        }
    }
    let (q, v) = scales.split_at(n);
    least[0].copy_from_slice(q);
    least[1].copy_from_slice(v);
    // What was large in an earlier segment has left its rounding.
    if evidence.system.has_invariants() {
        let known = least[..2].iter_mut().flatten().zip(evidence.scales);
        known.for_each(|(least, scale)| *least = least.max(*scale));
    }
}

/// What of a difference between the rate of an interpolant and one that is computed is left beyond the rounding of
/// both: that of rates, which interpolation spreads, and that of the values at the ends, whose slope in the middle of a
/// cubic is 3/2 of their difference by the length.
fn beyond(difference: f64, rounding: f64, step: &DenseStep<'_>, value: f64) -> f64 {
    let length = (step.end() - step.start()).abs();
    let of_values = 1.5 * f64::EPSILON * value.abs() / length;
    let all = (1.0 + step.spread()) * rounding + of_values;
    let size = difference.abs();
    // NOTE: what is not a number stays so.
    if size <= all { 0.0 } else { size - all }
}

fn limit(name: &str, value: Option<f64>, limit: f64, reason: &'static str) -> Check {
    match value {
        Some(value) => Check::new(name.into(), value, limit, reason),
        None => Check::unchecked(name.into(), limit, reason),
    }
}

/// $|\varphi|$ at the outputs, which lie at and between steps, in parts of its largest terms.
fn constraints(evidence: &TrajectoryEvidence<'_>, dual: &mut DualResidual) -> Vec<Check> {
    let m = evidence.model.constraints.len();
    let none = vec![Deviation::default(); m];
    let (mut velocity, mut position) = (none.clone(), none);
    let affordable = (BUDGET / dual.constraint_cost().max(1)).clamp(16, CONSTRAINT_SAMPLES);
    let looked_at: Vec<Sample> = evidence.samples.some(affordable).collect();
    for instants in looked_at.chunks(LANES) {
        dual.constraints(instants, &mut |a, residual| {
            velocity[a].include(residual.velocity);
            position[a].include(residual.position.unwrap_or_default());
        });
    }
    let reason = "every output is projected onto the constraints to rounding";
    let mut checks = Vec::new();
    for (a, constraint) in evidence.model.constraints.iter().enumerate() {
        if dual.is_holonomic(a) {
            let name = format!("constraint {}", constraint.name);
            checks.push(Check::new(name, position[a].relative(0.0), 1e-12, reason));
            let name = format!("constraint {} differentiated", constraint.name);
            checks.push(Check::new(name, velocity[a].relative(0.0), 1e-12, reason));
        } else {
            let name = format!("constraint {}", constraint.name);
            checks.push(Check::new(name, velocity[a].relative(0.0), 1e-12, reason));
        }
    }
    checks
}

/// $|E - E_0 - w|$: energy against the work of forces and reactions; and $|E + E\[M\] - (E + E\[M\])_0 - u|$
/// under the vakonomic principle; that of $L_c$ under the restricted one.
fn balances(evidence: &TrajectoryEvidence<'_>, ledger: &Ledger, pace: f64) -> Vec<Check> {
    let per_step = per_step(evidence, pace);
    let energy = |entry: &Entry| entry.energy;
    let total = |entry: &Entry| entry.energy + entry.constraint_energy;
    let mut checks = vec![balance(evidence, ledger, "energy balance", (&energy, 0), per_step)];
    match evidence.principle {
        Principle::Chetaev => {}
        Principle::Vakonomic => {
            checks.push(balance(evidence, ledger, "balance of E[L,M]", (&total, 1), per_step));
        }
        Principle::Restricted => {
            checks.push(balance(
                evidence,
                ledger,
                "balance of the energy of L_c",
                (&total, 1),
                per_step,
            ));
        }
    }
    checks
}

/// Energies and works along a motion: at its start, at the ends of steps, and at the outputs.
#[derive(Default)]
struct Ledger {
    entries: Vec<Entry>,
    /// The samples at the ends of steps.
    ends: Vec<Sample>,
}

/// What the work of a run may be off by, because the step control does not look at it.
struct Quadrature {
    at_steps: f64,
    between: f64,
}

/// One of them.
struct Entry {
    t: f64,
    /// Whether it lies at the end of a step.
    is_at_step: bool,
    energy: f64,
    constraint_energy: f64,
    /// $w$ and $u$
    work: [f64; 2],
}

impl Ledger {
    /// The ends of steps.
    fn extend<'s>(&mut self, entries: impl Iterator<Item = (&'s Sample, &'s [f64; 2])>) {
        let ends = &mut self.ends;
        self.entries.extend(entries.map(|(sample, &work)| {
            ends.push(sample.clone());
            Entry {
                t: sample.t,
                is_at_step: true,
                energy: sample.energy,
                constraint_energy: sample.constraint_energy,
                work,
            }
        }));
    }

    fn extend_by_outputs(&mut self, samples: Samples<'_>, works: &[[f64; 2]]) {
        let entries = samples.energies().zip(works);
        self.entries.extend(entries.map(|([t, energy, constraint_energy], &work)| Entry {
            t,
            is_at_step: false,
            energy,
            constraint_energy,
            work,
        }));
    }

    /// By the step with the most work, and by the most work in the rounding of time.
    fn quadrature(&self, kind: usize, evidence: &TrajectoryEvidence<'_>) -> Quadrature {
        let ends = || self.entries.iter().filter(|entry| entry.is_at_step);
        let (mut most, mut of_time) = (0.0_f64, 0.0_f64);
        for (a, b) in ends().zip(ends().skip(1)) {
            let work = (b.work[kind] - a.work[kind]).abs();
            most = most.max(work);
            of_time = of_time.max(work * f64::EPSILON * b.t.abs() / (b.t - a.t).abs());
        }
        let of_time = if evidence.depends_on_time { 30.0 * of_time } else { 0.0 };
        Quadrature {
            at_steps: 100.0 * libm::pow(evidence.tolerance, 0.875) * most + of_time,
            between: 10.0 * interpolation_limit(evidence.tolerance) * most + of_time,
        }
    }
}

fn balance(
    evidence: &TrajectoryEvidence<'_>,
    ledger: &Ledger,
    name: &str,
    (energy, kind): (&dyn Fn(&Entry) -> f64, usize),
    per_step: f64,
) -> Check {
    let reason = "each step may have an error of the tolerance in every component; the resulting errors of the \
        energy add up";
    let Some(first) = ledger.entries.first() else {
        return Check::unchecked(name.into(), 0.0, reason);
    };
    let between = between_steps(evidence);
    let (mut at_steps, mut outputs, mut scale) = (0.0_f64, 0.0_f64, evidence.earlier_energy);
    let quadrature = ledger.quadrature(kind, evidence);
    for entry in &ledger.entries {
        let gained = entry.work[kind] - first.work[kind];
        let off = (energy(entry) - energy(first) - gained).abs();
        let worst = if entry.is_at_step { &mut at_steps } else { &mut outputs };
        *worst = worse(*worst, off);
        scale = scale.max(energy(entry).abs() + gained.abs());
    }
    let mut sensitivity = Sensitivity::new(evidence.model, evidence.energy);
    let most = sensitivity.affordable();
    scale = scale.max(sensitivity.at(evidence.samples.some(most)));
    let limit = 10.0 * per_step * (evidence.taken as f64 + 1.0) * scale;
    let (worst, limit) = if outputs <= between * at_steps {
        (at_steps, limit + quadrature.at_steps)
    } else {
        (outputs, between * limit + quadrature.between)
    };
    Check::new(name.into(), worst, limit.min(1e-2 * scale), reason)
}

/// What the differentiated interpolant may be off by between steps. It has order 7 where the step has order 8, and one
/// is lost by differentiating: $E^{6/8}$.
fn interpolation_limit(tolerance: f64) -> f64 {
    1e3 * libm::pow(tolerance, 0.75) + 1e-9
}

/// The error of a step in parts of a component: the tolerance, rounding, and that of time.
fn per_step(evidence: &TrajectoryEvidence<'_>, pace: f64) -> f64 {
    evidence.tolerance + 4.0 * f64::EPSILON + 3.0 * time_rounding(evidence, pace)
}

/// What the rounding of time changes in the fastest component, in parts of it. The pace is its rate in the same parts.
fn time_rounding(evidence: &TrajectoryEvidence<'_>, pace: f64) -> f64 {
    match evidence.steps.last() {
        Some(last) if evidence.depends_on_time => {
            let last = last.as_step();
            f64::EPSILON * last.start().abs().max(last.end().abs()) * pace
        }
        _ => 0.0,
    }
}

/// How much less accurate a state between steps is: the interpolant has order 7 where the step has order 8.
fn between_steps(evidence: &TrajectoryEvidence<'_>) -> f64 {
    if evidence.is_controlled { 10.0 * libm::pow(evidence.tolerance, -0.125) } else { 1.0 }
}

/// What a conserved quantity is called in the audit.
fn kept_name(model: &Workspace, kept: &Conserved) -> String {
    match &kept.kind {
        ConservedKind::Momentum(k) => format!("momentum of {}", model.coordinates[*k].name),
        ConservedKind::Given(name) => format!("momentum of {name}"),
        ConservedKind::Energy => "energy".into(),
        ConservedKind::JacobiIntegral | ConservedKind::MovingEnergy => {
            format!("Jacobi's integral {}", kept.name)
        }
        ConservedKind::LinearMomentum(_) | ConservedKind::GaugeMomentum(_) => {
            format!("linear momentum {}", kept.name)
        }
        ConservedKind::AngularMomentum { .. } | ConservedKind::BodyAngularMomentum(_) => {
            format!("angular momentum {}", kept.name)
        }
        ConservedKind::LinearSymmetry | ConservedKind::Nonholonomic => {
            format!("momentum {}", kept.name)
        }
        ConservedKind::Position => format!("integral {} of the constraints", kept.name),
        ConservedKind::Laplace(_) => format!("Laplace's vector {}", kept.name),
        ConservedKind::Linear => format!("integral {} of first degree", kept.name),
        ConservedKind::Quadratic => format!("integral {} of second degree", kept.name),
    }
}

/// $|J - J_0|$ for every quantity that a motion keeps.
fn momenta(evidence: &TrajectoryEvidence<'_>, ends: &[Sample], pace: f64) -> Vec<Check> {
    let reason = "each step may have an error of the tolerance in every component; the resulting errors of the \
        momentum add up";
    let model = evidence.model;
    let per_step = per_step(evidence, pace);
    let state = model.positions().into_iter().chain(model.velocities());
    let others = model.results.mu.iter().copied().chain([model.time]);
    let inputs: Vec<Expr> = state.chain(others).collect();
    let parameters: Vec<(Expr, f64)> =
        model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
    let mut checks = Vec::new();
    for kept in evidence.momenta {
        let name = kept_name(model, kept);
        let mut outputs = vec![kept.quantity];
        collect_terms(&model.graph, kept.quantity, &mut outputs);
        let Ok(mut evaluator) =
            GraphEvaluator::new(&model.graph, &inputs, &parameters, &outputs)
        else {
            continue;
        };
        let mut found = vec![0.0; outputs.len()];
        let mut at = |sample: &Sample| {
            let state = sample.q.iter().chain(&sample.v).chain(&sample.multipliers);
            let given: Vec<f64> = state.copied().chain([sample.t]).collect();
            evaluator.evaluate(&given, &mut found);
            (found[0], found[1..].iter().map(|x| x.abs()).sum::<f64>())
        };
        let mut largest = 0.0_f64;
        let mut values = Vec::new();
        for sample in evidence.samples.some(CONSTRAINT_SAMPLES) {
            let (value, size) = at(&sample);
            values.push(value);
            largest = largest.max(size);
        }
        largest = ends.iter().map(|sample| at(sample).1).fold(largest, f64::max);
        let Some(&first) = values.first() else { continue };
        let mut sensitivity = Sensitivity::new(model, Some(kept.quantity));
        let most = sensitivity.affordable();
        let few = ends.iter().step_by(ends.len().div_ceil(most).max(1)).cloned();
        let worth = sensitivity.at(evidence.samples.some(most).chain(few));
        let scale = values.iter().map(|j| j.abs()).fold(worth.max(largest), f64::max);
        let between = between_steps(evidence);
        let off = values.iter().map(|j| (j - first).abs() / between);
        let at_end = values.last().map_or(0.0, |j| (j - first).abs());
        let worst = off.fold(at_end, worse);
        let limit = 10.0 * per_step * (evidence.taken as f64 + 1.0) * scale;
        checks.push(Check::new(name, worst, limit.min(1e-2 * scale), reason));
    }
    checks
}

/// The equations at the ends of the kept steps and in their middles.
fn equations(
    evidence: &mut TrajectoryEvidence<'_>,
    dual: &mut DualResidual,
    ledger: &mut Ledger,
) -> (Findings, Findings) {
    let (n, m) = (evidence.model.coordinates.len(), evidence.model.constraints.len());
    let affordable = (BUDGET / dual.cost().max(1)).clamp(4, 128) / 2;
    let stride = evidence.steps.len().div_ceil(affordable).max(1);
    let none = Findings::new(n, m, [&dual.least[0], &dual.least[1]]);
    let (mut at_steps, mut between) = (none.clone(), none);
    let Some(first) = evidence.steps.first() else { return (at_steps, between) };
    let width = first.as_step().state_at_end().len();
    let mut instants = vec![Sample::new(n, m); LANES];
    // The states in the middles, and the rates that the interpolant has there.
    let mut middles = vec![(0.0, vec![0.0; width], vec![0.0; width]); LANES];
    let mut spans = [0.0; LANES];
    let kept: Vec<_> = evidence.steps.iter().step_by(stride).map(StoredStep::as_step).collect();
    let (t, mut start) = (kept[0].start(), vec![0.0; width]);
    kept[0].state(t, &mut start);
    if evidence.system.resolve(t, &start, true, &mut instants[0]).is_ok() {
        ledger.extend(instants.iter().zip(&evidence.system.work(&start)));
    }
    let length = |step: &DenseStep<'_>| (step.end() - step.start()).abs();
    let longest = kept.iter().map(length).fold(0.0, f64::max);
    for steps in kept.chunks(LANES) {
        let ends =
            steps.iter().map(|s| LaneSamples { t: s.end(), y: s.state_at_end(), rates: None });
        let ends: Vec<_> = ends.collect();
        let found = evidence.system.resolve_all(&ends, &mut instants);
        let lengths: Vec<f64> = found.iter().map(|&i| length(&steps[i])).collect();
        dual.judge(&instants[..found.len()], &lengths, &mut at_steps);
        let work: Vec<[f64; 2]> =
            found.iter().filter_map(|&i| evidence.system.work(ends[i].y)).collect();
        ledger.extend(instants.iter().zip(&work));
        let long = steps.iter().filter(|s| length(s) > SLIVER * longest);
        let mut count = 0;
        for ((step, (t, y, rates)), span) in long.zip(&mut middles).zip(&mut spans) {
            *t = 0.5 * (step.start() + step.end());
            *span = length(step);
            step.state(*t, y);
            step.derivative(*t, rates);
            count += 1;
        }
        let states = middles[..count].iter();
        let states: Vec<_> =
            states.map(|(t, y, rates)| LaneSamples { t: *t, y, rates: Some(rates) }).collect();
        let found = evidence.system.resolve_all(&states, &mut instants);
        let lengths: Vec<f64> = found.iter().map(|&i| spans[i]).collect();
        dual.judge(&instants[..found.len()], &lengths, &mut between);
        for (sample, &i) in instants.iter().zip(&found) {
            between.compare(sample, &middles[i].2, spans[i]);
        }
    }
    (at_steps, between)
}

/// The checks of an `equation` model: its equations, with the rates that they were solved for and with those of the
/// interpolant.
fn ordinary(mut evidence: TrajectoryEvidence<'_>) -> Vec<Check> {
    let n = evidence.model.coordinates.len();
    let mut sample = Sample::new(n, 0);
    let none = vec![Deviation::default(); n];
    let (mut residuals, mut velocities, mut accelerations) = (none.clone(), none.clone(), none);
    // Of positions, velocities and accelerations.
    let mut largest = [vec![0.0_f64; n], vec![0.0_f64; n], vec![0.0_f64; n]];
    let mut count = 0;
    for stored in evidence.steps {
        let step = stored.as_step();
        let length = (step.end() - step.start()).abs();
        let middle = 0.5 * (step.start() + step.end());
        let mut y = step.state_at_end().to_vec();
        let mut rates = y.clone();
        step.state(middle, &mut y);
        step.derivative(middle, &mut rates);
        if evidence.system.resolve(middle, &y, false, &mut sample).is_err() {
            continue;
        }
        count += 1;
        let found = equation_residuals(evidence.model, &sample);
        residuals.iter_mut().zip(found).for_each(|(residual, found)| residual.include(found));
        let mut second = n;
        for k in 0..n {
            let (v, a) = (sample.v[k], sample.a[k]);
            // NOTE: where large terms cancel, as at the node of a standing wave, nothing is left but rounding.
            let beyond_rounding = |i: usize, rate: f64| {
                beyond(rates[i] - rate, evidence.roundings[i], &step, y[i])
            };
            let off = beyond_rounding(k, v);
            velocities[k].include(Deviation::within(off, v.abs(), length));
            if !a.is_nan() {
                let off = beyond_rounding(second, a);
                accelerations[k].include(Deviation::within(off, a.abs(), length));
                second += 1;
            }
            for (most, x) in largest.iter_mut().zip([sample.q[k], v, a]) {
                most[k] = most[k].max(x.abs());
            }
        }
        // What vanishes in the middles of all steps, as between two jumps of a sawtooth, has the size of their ends.
        for t in [step.start(), step.end()] {
            step.derivative(t, &mut rates);
            let mut second = n;
            for k in 0..n {
                velocities[k].include(Deviation::new(0.0, rates[k].abs()));
                largest[1][k] = largest[1][k].max(rates[k].abs());
                if !sample.a[k].is_nan() {
                    accelerations[k].include(Deviation::new(0.0, rates[second].abs()));
                    largest[2][k] = largest[2][k].max(rates[second].abs());
                    second += 1;
                }
            }
        }
    }
    let worst =
        |values: &mut dyn Iterator<Item = f64>| (count > 0).then(|| values.fold(0.0, worse));
    let at_steps = worst(&mut residuals.iter().map(|row| row.relative(0.0)));
    let ends = evidence.steps.first().zip(evidence.steps.last());
    let span = ends
        .map_or(0.0, |(first, last)| (last.as_step().end() - first.as_step().start()).abs());
    let rates = velocities.iter().zip(&accelerations).enumerate();
    let between = worst(&mut rates.map(|(k, (velocity, acceleration))| {
        let [q, v, a] = [0, 1, 2].map(|order| largest[order][k]);
        // What changes nothing over the whole run does not matter.
        let first = velocity.relative_in_motion(NOTHING * q / span, v / q);
        worse(first, acceleration.relative_in_motion(NOTHING * v / span, a / v))
    }));
    let of_time = time_rounding(&evidence, pace(&largest));
    let interpolation = interpolation_limit(evidence.tolerance) + 300.0 * of_time;
    let rounding =
        "rounding errors of the solve and of time, far below the last digits of any term";
    let reason =
        "accuracy of the differentiated interpolant between steps: 1000·tolerance^(3/4)";
    vec![
        limit("equations at steps", at_steps, 1e-9 + 10.0 * of_time, rounding),
        limit("equations between steps", between, interpolation, reason),
    ]
}
