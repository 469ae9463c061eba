//! Derivatives of motions that jump or switch.
//!
//! Between jumps they follow the variational equations of each phase. Across a jump $R$ at the surface $g = 0$,
//!
//! $$ s^+ = R'\,(s^- + \dot y^-\,\delta t) - \dot y^+\,\delta t, \qquad
//!    \delta t = -\frac{\partial_y g\,s^- + \partial_p g\,\delta p}{\dot g^-}. \qquad (\mathrm J) $$
//!
//! $R$ contains no integration: resets, impacts, and velocities that meet other constraints. It is evaluated along the
//! surface, and $R'$ is its difference of order eight over a thousandth of the state, which leaves rounding. Where $R$
//! has no derivative (contacts that are hit together, a friction between rest and slip), differences of orders six and
//! eight differ, and the derivatives end there. So they do where infinitely many jumps accumulate.

use pfaff_model::{Quantity, Workspace};
use pfaff_solver::System;

use crate::error::Failure;
use crate::motion::Motion;
use crate::motion::sensitivity::Sensitivity;
use crate::motion::side::Side;
use crate::problem::settings::{Run, Settings};
use crate::run::hybrid::{JumpMaps, Piece, Trail};
use crate::run::progress::Progress;
use crate::run::record::Jump;
use crate::run::sensitivity::direction::{Direction, Source};
use crate::run::sensitivity::outputs::{self, Outputs};
use crate::run::sensitivity::start::StartTangent;
use crate::run::sensitivity::{self, Base, Task, Varied, size, varying};
use crate::system::compiled::{CompiledSystem, Dynamics};
use crate::system::ordinary::spread;
use crate::system::variational::{Evaluation, VariationalFlow};

/// The largest change of a state or a parameter over which a jump is differentiated, in parts of it.
const STEP: f64 = 2.5e-4;
/// The weights of central differences of orders eight and six.
const EIGHT: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
const SIX: [f64; 4] = [3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0, 0.0];
/// By how much they may differ, in parts of the largest derivative.
const SMOOTH: f64 = 1e-6;

/// Whether a motion is differentiated piece by piece.
fn has_jumps(model: &Workspace) -> bool {
    !model.resets.is_empty() || model.hybrid.switches()
}

/// Refuses what jumps leave open.
pub(crate) fn check(model: &Workspace, request: &Run) -> Result<(), Failure> {
    let refused = |what: &str, why: &str| {
        Err(Failure::Usage(format!("sensitivities are not available for {what}: {why}")))
    };
    if !model.hybrid.samplers.is_empty() {
        return refused("sampled controls", "what is held between samples has no equation");
    }
    if !model.hybrid.delays.is_empty() {
        return refused("delays", "the state of such a motion is its past");
    }
    if model.resets.iter().any(|reset| !reset.parameters.is_empty()) {
        return refused(
            "jumps of parameters",
            "the derivatives of parameters that change are not followed",
        );
    }
    if request.gradient.is_some() && has_jumps(model) {
        return refused(
            "models that jump as a gradient",
            "the adjoint equations do not know jumps; ask for single sensitivities",
        );
    }
    Ok(())
}

/// The derivatives of a motion along some directions, whether it jumps or not.
pub(crate) fn derivatives(
    base: &Base<'_>,
    request: &Run,
    varied: &Varied,
    motion: &mut Motion,
) -> Result<Vec<Sensitivity>, Failure> {
    // As dry friction holds it.
    let is_held = motion.switches.iter().any(|(_, signs)| signs.contains(&Side::Held));
    if !has_jumps(base.model) && !is_held {
        return sensitivity::derivatives(base, request.principle, varied, motion);
    }
    let plain =
        Run { sensitivities: Vec::new(), transition: false, gradient: None, ..request.clone() };
    let (_, trail) = Trail::of(base.model, &plain, &mut |_| true)?;
    let sizes = varied.directions.iter().map(|d| size(base.model, base.start, d.source));
    let (found, _) =
        follow((base.model, base.settings), trail, sizes.collect(), varied, motion)?;
    Ok(found)
}

/// A motion with its derivatives at its end along some directions of its start.
pub(crate) struct EndTangents {
    pub(crate) motion: Motion,
    /// The changes of state and events along each direction.
    pub(crate) along: Vec<Sensitivity>,
    /// The rates of positions and velocities in the end, if all derivatives came that far.
    pub(crate) rates: Option<(Vec<f64>, Vec<f64>)>,
}

/// Integrates a model with the derivatives of its motion along directions (δq, δq') of its start.
pub(crate) fn end_tangents(
    model: &Workspace,
    request: &Run,
    tangents: Vec<(Vec<f64>, Vec<f64>)>,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<EndTangents, Failure> {
    let settings = Settings::new(model, request)?;
    let (mut motion, trail) = Trail::of(model, request, watch)?;
    let count = tangents.len();
    let direction = |k: usize| Direction {
        name: format!("direction {k}"),
        source: Source::Initial(Quantity::Coordinate(0, 0)),
    };
    let varied = Varied {
        directions: (0..count).map(direction).collect(),
        changes: vec![vec![0.0; model.parameters.len()]; count],
        tangents: tangents
            .into_iter()
            .map(|(q, v)| StartTangent { q, v, multipliers: Vec::new() })
            .collect(),
    };
    let (along, rates) =
        follow((model, &settings), trail, vec![1.0; count], &varied, &mut motion)?;
    Ok(EndTangents { motion, along, rates })
}

/// The derivatives along a trail, and the rates in its end.
#[allow(clippy::type_complexity, reason = "rates of positions and of velocities")]
fn follow(
    (model, settings): (&Workspace, &Settings),
    Trail { pieces, mut maps }: Trail,
    sizes: Vec<f64>,
    Varied { directions, changes, tangents }: &Varied,
    motion: &mut Motion,
) -> Result<(Vec<Sensitivity>, Option<(Vec<f64>, Vec<f64>)>), Failure> {
    let Some(first) = pieces.first() else { return Ok((Vec::new(), None)) };
    let mut outputs = Outputs::new(model, first.dynamics(), directions, motion);
    // NOTE: the multipliers of a motion that switches belong to different equations.
    outputs.leave_out_multipliers();
    let mut task = Task {
        settings,
        dynamics: first.dynamics(),
        varied: varying(model, changes),
        changes,
        sizes,
        outputs,
        error: Some(0.0),
        steps: 0,
    };
    let mut whole = task.first(first.model(), &first.start, tangents)?;
    let mut flow = task.flow(first.model(), Evaluation::ByDirections)?;
    flow.begin(first.model(), first.from, &whole);
    // NOTE: contacts that are closed from the start are constraints of the motion, not of the initial values.
    let _ = flow.project(first.from, &mut whole);
    let parameters: Vec<f64> = model.parameters.iter().map(|p| p.value).collect();
    let mut stopped = None;
    'run: for (k, piece) in pieces.iter().enumerate() {
        task.dynamics = piece.dynamics();
        let mut from = piece.from;
        let next = pieces.get(k + 1);
        let end = piece.end.as_ref().filter(|_| next.is_some() && !piece.is_limit);
        let jumps = piece.jumps.iter().map(|jump| (jump, None));
        for (jump, next) in jumps.chain(end.map(|jump| (jump, next))) {
            stopped = task.segment(piece.model(), (from, jump.t), &mut whole, motion)?;
            let place = Place { piece, next, jump, parameters: &parameters };
            if stopped.is_some() || !task.cross(&mut maps, &place, &mut whole)? {
                stopped = stopped.or(Some(jump.t));
                break 'run;
            }
            from = jump.t;
        }
        if end.is_none() {
            stopped = task.segment(piece.model(), (from, piece.to), &mut whole, motion)?;
            stopped = stopped.or(next.map(|_| piece.to));
            break;
        }
    }
    let last = pieces.last().filter(|_| stopped.is_none());
    let rates = last.map(|last| task.rates_at(last, &whole)).transpose()?.flatten();
    Ok((task.finish(directions, stopped, motion), rates))
}

/// A jump of a motion: within a piece, or to the next one.
struct Place<'a> {
    piece: &'a Piece,
    next: Option<&'a Piece>,
    jump: &'a Jump,
    parameters: &'a [f64],
}

impl<'a> Task<'a> {
    /// The rates of positions and velocities at the end of a piece.
    #[allow(clippy::type_complexity, reason = "rates of positions and of velocities")]
    fn rates_at(
        &self,
        piece: &Piece,
        whole: &[f64],
    ) -> Result<Option<(Vec<f64>, Vec<f64>)>, Failure> {
        let mut flow = self.flow(piece.model(), Evaluation::ByDirections)?;
        let (d, n) = (flow.size(), piece.model().coordinates.len());
        flow.begin(piece.model(), piece.to, whole);
        if flow.solve(piece.to, whole).is_err() {
            return Ok(None);
        }
        let mut rates = vec![0.0; d];
        flow.state_rates(&whole[..d], &mut rates);
        Ok(Some(pair(piece.dynamics(), n, &rates)))
    }

    /// Takes the state of the flow across a jump (J); says whether it has derivatives there.
    fn cross(
        &mut self,
        maps: &mut JumpMaps,
        place: &Place<'a>,
        whole: &mut Vec<f64>,
    ) -> Result<bool, Failure> {
        let &Place { piece, next, jump, parameters } = place;
        let t = jump.t;
        let Some(&surface) = jump.events.first() else { return Ok(false) };
        let model = piece.model();
        let backend = self.settings.backend;
        let mut flow = self.flow(model, Evaluation::ByDirections)?;
        flow.begin(model, t, whole);
        let function = [model.events[surface].expr];
        let shifts = outputs::shifts(model, &mut flow, &function, (t, whole), backend)?;
        let (d, n) = (flow.size(), model.coordinates.len());
        let mut old = vec![0.0; d];
        if flow.solve(t, whole).is_err() {
            return Ok(false);
        }
        flow.state_rates(&whole[..d], &mut old);
        let (q, v) = pair(piece.dynamics(), n, &whole[..d]);
        let mut same = maps.map(piece, next, jump, parameters)?;
        let mut at = t;
        let Some((mut q_after, mut v_after)) = same.apply(&mut at, &q, &v) else {
            return Ok(false);
        };
        if let Some(next) = next {
            (q_after, v_after) = (next.start.q.clone(), next.start.v.clone());
        }
        let after = next.unwrap_or(piece);
        let mut system = CompiledSystem::new(after.model(), after.dynamics(), backend)?;
        self.dynamics = after.dynamics();
        let mut flow = self.flow(after.model(), Evaluation::ByDirections)?;
        let mut joined = |q: &[f64], v: &[f64]| {
            let mut y = system.state(t, q, v, &[]);
            y.truncate(flow.size());
            y
        };
        let y_after = joined(&q_after, &v_after);
        let mut parts = Vec::new();
        let sizes = |list: &[f64]| list.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (k, δt) in shifts.iter().enumerate() {
            // What the state just before the jump changes by, whenever that is.
            let part = whole[(k + 1) * d..(k + 2) * d].iter().zip(&old);
            let total: Vec<f64> = part.map(|(s, rate)| s + rate * δt).collect();
            let (δq, δv) = pair(piece.dynamics(), n, &total);
            let change = &self.changes[k];
            let has_parameters = change.iter().any(|x| *x != 0.0);
            let step = |x: &[f64], δ: &[f64]| STEP * sizes(x) / sizes(δ);
            let relative = parameters.iter().zip(change).filter(|(_, δ)| **δ != 0.0);
            let relative =
                relative.map(|(p, δ)| STEP * if *p == 0.0 { 1.0 } else { p.abs() } / δ.abs());
            let steps = [step(&q, &δq), step(&v, &δv)].into_iter().chain(relative);
            let h = steps.filter(|h| h.is_finite() && *h > 0.0).fold(f64::INFINITY, f64::min);
            let mut sums = [vec![0.0; 2 * n], vec![0.0; 2 * n]];
            for (i, sign) in (1..=4).flat_map(|i| [(i, 1.0), (i, -1.0)]) {
                if h.is_infinite() {
                    // Nothing varies.
                    break;
                }
                let ε = sign * h * f64::from(i);
                let mut other;
                let map = if has_parameters {
                    let moved = parameters.iter().zip(change).map(|(p, δ)| p + ε * δ);
                    other = maps.map(piece, next, jump, &moved.collect::<Vec<f64>>())?;
                    &mut other
                } else {
                    &mut same
                };
                let beside = |x: &[f64], δ: &[f64]| -> Vec<f64> {
                    x.iter().zip(δ).map(|(x, δ)| x + ε * δ).collect()
                };
                let mut at = t + ε * δt;
                let landed = map.apply(&mut at, &beside(&q, &δq), &beside(&v, &δv));
                let Some((q, v)) = landed else { return Ok(false) };
                for (sum, weights) in sums.iter_mut().zip([EIGHT, SIX]) {
                    let weight = sign * weights[i as usize - 1] / h;
                    let values = q.iter().chain(&v);
                    sum.iter_mut().zip(values).for_each(|(sum, x)| *sum += weight * x);
                }
            }
            let [eight, six] = &sums;
            let apart = eight.iter().zip(six).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            let is_smooth = apart <= SMOOTH * (sizes(eight) + sizes(&total));
            if !is_smooth {
                return Ok(false);
            }
            parts.push(joined(&eight[..n], &eight[n..]));
        }
        let mut new = vec![0.0; flow.size()];
        flow.begin(after.model(), t, &y_after);
        if flow.solve(t, &y_after).is_err() {
            return Ok(false);
        }
        flow.state_rates(&y_after, &mut new);
        for (part, δt) in parts.iter_mut().zip(&shifts) {
            part.iter_mut().zip(&new).for_each(|(x, rate)| *x -= rate * δt);
        }
        *whole = VariationalFlow::joined(&y_after, &parts);
        Ok(flow.project(t, whole).is_ok())
    }
}

/// Positions and velocities of a state, or their changes.
fn pair(dynamics: &Dynamics, n: usize, y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut v = vec![0.0; n];
    match dynamics {
        Dynamics::Ordinary(ordinary) => spread(&ordinary.orders, &y[n..], &mut v),
        Dynamics::Saddle(_) => v.copy_from_slice(&y[n..2 * n]),
    }
    (y[..n].to_vec(), v)
}
