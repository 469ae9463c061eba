//! The programs of motions in lanes: a start, a whole step with its error control, and what is read off a state.
//!
//! One evaluation of the step is a trial in eight motions at once, each with its own time, step, tolerance and
//! parameters: error, acceptance and the next step length are all instructions, so that between two trials nothing is
//! left to do but to see whether a lane wants attention.

use pfaff_expr::{Expr, Relation, Role};
use pfaff_mechanics::Reduction;
use pfaff_model::{Quantity, Workspace};
use pfaff_program::Program;

use crate::ensemble::lanes::consistent::velocities_at_start;
use crate::ensemble::lanes::field::{ANY_LENGTH, Field, larger, magnitude, real, smaller};
use crate::ensemble::lanes::layout::StepLayout;
use crate::ensemble::lanes::step_program::StepProgram;

/// The programs of one model.
pub(super) struct LanePrograms {
    pub(super) layout: StepLayout,
    pub(super) step: StepProgram,
    /// $(t_0, t_1, E, p)$ to the rows of the first step.
    pub(super) start: Program,
    /// $(t, y, p)$ to velocities, what is observed, and the residuals of the equations as written.
    pub(super) point: Program,
    pub(super) observed: usize,
}

/// Models with more phases than this are not run in lanes.
const MOST_PHASES: usize = 12;

impl LanePrograms {
    /// The programs of a model in its reduced form, by each method that applies to it.
    pub(super) fn all(
        model: &Workspace,
        reduction: &Reduction,
        tolerance: f64,
    ) -> Option<Vec<Self>> {
        let g = &reduction.graph;
        let field = Field::new(model, reduction)?;
        if field.phases.len() > MOST_PHASES {
            return None;
        }
        let layout = StepLayout {
            n: reduction.positions.len(),
            k: reduction.independent.len(),
            work: usize::from(field.power != g.zero()),
            events: field.events.len(),
            phases: field.phases.len(),
            constraints: field.residuals.len(),
        };
        let parameters = model.parameter_symbols();
        let start = start(model, &field, layout, &parameters)?;
        let point = point(&field, &parameters)?;
        let observed = field.observed.len();
        let with =
            |step| Self { layout, step, start: start.clone(), point: point.clone(), observed };
        let steps = StepProgram::all(model, &field, layout, &parameters, tolerance);
        Some(steps.into_iter().map(with).collect())
    }
}

/// The start of a motion, with sizes, rates and the length of the first step.
fn start(
    model: &Workspace,
    field: &Field<'_>,
    step: StepLayout,
    parameters: &[Expr],
) -> Option<Program> {
    /// The part of a run in which what is zero at the start gets its size.
    const PREVIEW: f64 = 0.01;
    let g = field.g;
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
    let energies = field.at(&[field.energy, field.energy_size], t0, &y);
    let mut outputs = vec![t0, first, t1, g.zero(), g.zero(), tolerance, real(g, ANY_LENGTH)];
    outputs.extend([energies[0], g.zero(), energies[1]]);
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
    outputs.extend(field.at(&field.residuals, t0, &y));
    outputs.extend((0..d).map(|_| g.zero()));
    good = g.logic_and(good, field.charted(t0, &y, 0.9));
    // Sums of what is finite are finite, and compare as equal with themselves.
    let finite = outputs.iter().enumerate().filter(|(row, _)| *row != StepLayout::MOST);
    let sum = g.sum(finite.map(|(_, &e)| magnitude(g, e)));
    let finite = g.compare(Relation::Less, sum, real(g, 1e300));
    outputs.push(g.logic_and(good, finite));
    debug_assert_eq!((outputs.len(), d), (step.good_start() + 1, n + k), "rows of a start");
    let inputs: Vec<Expr> =
        [t0, t1, tolerance].into_iter().chain(parameters.iter().copied()).collect();
    Some(Program::compile(g, &inputs, &[], &outputs).ok()?.fused())
}

/// What is read off a state.
fn point(field: &Field<'_>, parameters: &[Expr]) -> Option<Program> {
    let inputs: Vec<Expr> =
        [field.time].iter().chain(&field.state).chain(parameters).copied().collect();
    let mut outputs = field.reduction.velocities.clone();
    outputs.extend(&field.observed);
    outputs.extend([field.equations, field.differentiated]);
    Some(Program::compile(field.g, &inputs, &[], &outputs).ok()?.fused())
}
