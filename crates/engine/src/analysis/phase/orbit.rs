//! Periodic motions: `pfaff orbit`.
//!
//! Newton's iteration on the return of the flow after the time $T$,
//!
//! $$ (S - 1)\,\delta w + \dot w(T)\,\delta T = w(0) - w(T), \qquad \dot w(0)\cdot\delta w = 0. \qquad (\mathrm P) $$
//!
//! $S = \partial w(T)/\partial w(0)$ comes from the variational equations; its eigenvalues are Floquet's multipliers.
//! Where time occurs explicitly, $T$ is given and there is no second condition.

use std::f64::consts::TAU;

use pfaff_model::{ExpressionScope, Workspace, read_expression};
use pfaff_solver::{eigenvalues, least_squares, singular_values};

use crate::analysis::phase::collocation::{First, collocated};
use crate::analysis::phase::integrals::Integrals;
use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::multiple_shooting::{bent, divided, equations, in_parts, refined};
use crate::analysis::phase::nearest_return::{followed, nearest_return};
use crate::analysis::phase::periodic::{Orbit, OrbitCheck, OrbitMethod, OrbitRequest};
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::return_map::has_jumps;
use crate::analysis::phase::returning::returning;
use crate::analysis::phase::section::{SectionRequest, sections};
use crate::analysis::phase::shooting::{Multipliers, Return, Shooter, largest, size};
use crate::analysis::phase::stability::Stability;
use crate::analysis::phase::symmetries::MovingFrame;
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::system::compiled::Dynamics;

/// Newton's iteration.
const ITERATIONS: usize = 40;
/// Crossings of a surface before the one from which the search starts.
const CROSSINGS: usize = 24;
const TOLERANCE: f64 = 1e-12;
/// Into how many parts the period is divided where one shot does not arrive.
const PARTS: [usize; 3] = [8, 20, 40];
/// A return to this part of the size of the state is one.
const CLOSED: f64 = 1e-8;
/// A search for a shorter period than this part of the guess ends.
const SHORTEST: f64 = 0.05;
/// A periodic motion this near to the start is the one that is meant.
const BESIDE: f64 = 1e-2;

/// Finds a periodic motion. `watch` is asked after each period and may end the search by `false`.
///
/// ```
/// use pfaff::{Model, OrbitRequest, Stability, orbit};
/// let oscillator = Model::parse("coordinates x\nequation x'' = (1 - x^2)*x' - x\ninitial x = 2, x' = 0")?;
/// let request = OrbitRequest { period: Some("6.6".into()), ..OrbitRequest::default() };
/// let cycle = orbit(&oscillator, &request, &mut || true)?;
/// assert!((cycle.period - 6.6632868593231).abs() < 1e-9);
/// assert_eq!(cycle.stability, Stability::AsymptoticallyStable);
/// # Ok::<(), pfaff::Error>(())
/// ```
///
/// # Errors
///
/// [`Error`] if no motion can begin, or no periodic one is found.
pub fn orbit(
    model: &Model,
    request: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Orbit, Error> {
    search(model, request, watch).map_err(|failure| failure.in_source(&model.source))
}

fn search(
    model: &Model,
    request: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Orbit, Failure> {
    if has_jumps(&model.workspace()) {
        return returning(model, request, watch);
    }
    let (mut shooter, quotient, mut found) = closed(model, request, watch)?;
    let w = quotient.variables.len();
    graded(&mut shooter, &quotient, &mut found);
    let mut multipliers = Multipliers::of_return(&found, w, &shooter)
        .ok_or_else(|| Failure::usage("the multipliers could not be computed"))?;
    if multipliers.stability == Stability::Undecided
        && is_level_of_integrals(&mut shooter, &quotient, &found)
    {
        multipliers.stability = Stability::Stable;
    }
    let second = if request.method == OrbitMethod::Shooting {
        None
    } else {
        let first = First::along(&mut shooter, &quotient, &found);
        first.and_then(|first| collocated(&mut shooter, &quotient, &first, watch))
    };
    let check = second.as_ref().map(|second| OrbitCheck {
        intervals: second.intervals,
        period: second.period,
        difference: second.apart(&quotient, &found, &multipliers),
    });
    if request.method == OrbitMethod::Collocation {
        let second = second.ok_or_else(|| {
            Failure::usage(
                "collocation does not converge to the periodic motion that shooting finds",
            )
        })?;
        let stability = multipliers.stability;
        multipliers = second.multipliers;
        if multipliers.stability == Stability::Undecided {
            multipliers.stability = stability;
        }
        (found.period, found.point.y, shooter.turned) =
            (second.period, second.y, second.turned);
    }
    let names = &shooter.phase.field.names;
    let drift = |&c: &usize| (names[c].clone(), found.end.y[c] - found.point.y[c]);
    let drift = quotient.cyclic.iter().map(drift).collect();
    let mut trivial: Vec<(usize, String)> =
        multipliers.trivial.into_iter().map(|k| (k, "along the orbit".to_owned())).collect();
    for (k, value) in multipliers.values.iter().enumerate() {
        let is_one = libm::hypot(value[0] - 1.0, value[1]) < 1e-5;
        if multipliers.symmetric.contains(&k) {
            trivial.push((k, "of a symmetry".to_owned()));
        } else if is_one && Some(k) != multipliers.trivial {
            trivial.push((k, "of a conserved quantity or a family".to_owned()));
        }
    }
    let turns = shooter.turning.iter().map(|s| s.name.clone()).zip(shooter.turned.clone());
    let turns = turns.filter(|(_, x)| x.abs() > 1e-9).collect();
    shooter.phase.y.clone_from(&found.point.y);
    Ok(Orbit {
        title: model.name().to_owned(),
        period: found.period,
        state: shooter.phase.named(&found.point.y),
        drift,
        stability: multipliers.stability,
        trivial,
        turns,
        multipliers: multipliers.values,
        residual: largest(&found.miss),
        check,
    })
}

/// A periodic motion from where a request starts.
pub(crate) fn closed(
    model: &Model,
    request: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<(Shooter, Quotient, Return), Failure> {
    let workspace = model.workspace();
    if has_jumps(&workspace) {
        return Err(Failure::usage(
            "branches of periodic motions are followed for models without jumps and modes; `pfaff orbit` finds single \
             ones",
        ));
    }
    let given = request.period.as_deref().map(|text| period(&workspace, text));
    let given = given.transpose()?;
    let (y, period) = guess(model, request, given, watch)?;
    let tolerance = request.tolerance.unwrap_or(TOLERANCE);
    let state = |phase: &Phase| y.clone().unwrap_or_else(|| phase.y.clone());
    let (mut shooter, quotient, point) =
        Shooter::new(model, request.principle, request.backend, tolerance, &state)?;
    if shooter.is_driven && given.is_none() {
        return Err(Failure::usage(
            "the equations contain t: the period of what drives them is needed",
        ));
    }
    let failed = || {
        Failure::usage(
            "no periodic motion was found from here: try another start or another period",
        )
    };
    let mut single = shot(&mut shooter, &quotient, &point.y, period, watch)?;
    let distance = |found: &Option<(Quotient, Return)>| {
        let moved =
            |y: &[f64], &c: &usize| (y[c] - point.y[c]).abs() / (1.0 + point.y[c].abs());
        found.as_ref().map_or(f64::INFINITY, |(_, found)| {
            let all = quotient.variables.iter().map(|c| moved(&found.point.y, c));
            all.fold(0.0_f64, f64::max)
        })
    };
    if distance(&single) > BESIDE {
        // The motion from the start may return up to a turn, and is nearer then.
        shooter.allow_turns(&quotient, &point);
        let mut turned = None;
        if !shooter.turning.is_empty() {
            let time = nearest_return(&mut shooter, &quotient, &point, period, watch);
            turned = shot(&mut shooter, &quotient, &point.y, time.unwrap_or(period), watch)?;
        }
        if distance(&turned) < distance(&single) {
            single = turned;
        } else {
            shooter.turning.clear();
            shooter.turned.clear();
        }
    }
    let mut parts = PARTS.into_iter();
    while single.is_none()
        && let Some(count) = parts.next()
    {
        let found = in_parts(&mut shooter, &quotient, &point.y, period, count, watch);
        single = found.filter(|(there, found)| {
            let limit = CLOSED * (1.0 + largest(&found.point.y));
            largest(&found.miss) < limit && !is_still(&shooter, there, found)
        });
    }
    if single.is_none() && request.method != OrbitMethod::Shooting {
        let found = on_a_mesh(&mut shooter, &quotient, &point.y, period, watch);
        single = found.filter(|(there, found)| {
            let limit = CLOSED * (1.0 + largest(&found.point.y));
            largest(&found.miss) < limit && !is_still(&shooter, there, found)
        });
    }
    // A start that is far from any periodic motion may come near to one later.
    if single.is_none()
        && !shooter.is_driven
        && let Some((y, time)) = recurrence(&mut shooter, &quotient, &point.y, period, watch)
    {
        single = shot(&mut shooter, &quotient, &y, time, watch)?;
    }
    let Some((quotient, found)) = single else {
        // What one shot leads to says whether an equilibrium was in the way.
        let still = shooter.phase.field.at(shooter.phase.t, &point.y);
        let still = still.ok().and_then(|at| quotient.settle(&mut shooter.phase.field, &at));
        let near = still.is_some_and(|at| {
            let apart = at.y.iter().zip(&point.y).map(|(a, b)| a - b).collect::<Vec<f64>>();
            largest(&apart) < 0.2 * (1.0 + largest(&at.y))
        });
        return Err(if near {
            Failure::usage(
                "the search ended in an equilibrium, which is no periodic motion: start farther from it",
            )
        } else {
            failed()
        });
    };
    let (quotient, found) = if found.parts.is_empty() {
        shortest(&mut shooter, quotient, found, watch)?
    } else {
        (quotient, found)
    };
    Ok((shooter, quotient, found))
}

/// A periodic motion by single shots from a state, if Newton's iteration comes to one.
fn shot(
    shooter: &mut Shooter,
    quotient: &Quotient,
    y: &[f64],
    period: f64,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Option<(Quotient, Return)>, Failure> {
    let at = shooter.phase.field.at(shooter.phase.t, y);
    let Ok(at) = at else { return Ok(None) };
    let quotient = quotient.moved(&shooter.phase.field, &at);
    let Some(here) = shooter.shoot(&quotient, y, period) else { return Ok(None) };
    let (there, found) = newton(shooter, quotient, here, watch)?;
    let is_one =
        shooter.is_closed(&there, &found, CLOSED) && !is_still(shooter, &there, &found);
    Ok(is_one.then_some((there, found)))
}

/// A periodic motion by collocation from a state, then in parts.
fn on_a_mesh(
    shooter: &mut Shooter,
    quotient: &Quotient,
    y: &[f64],
    period: f64,
    watch: &mut dyn FnMut() -> bool,
) -> Option<(Quotient, Return)> {
    const COUNT: usize = 40;
    let nodes = bent(shooter, quotient, y, period, COUNT)?;
    let mut states: Vec<Vec<f64>> = nodes.into_iter().map(|node| node.y).collect();
    states.extend(states.first().cloned());
    let quotient = {
        let point = shooter.phase.field.at(shooter.phase.t, &states[0]).ok()?;
        quotient.moved(&shooter.phase.field, &point)
    };
    let found =
        collocated(shooter, &quotient, &First { states, period, families: Vec::new() }, watch)?;
    let nodes = found.nodes(shooter, &quotient, COUNT)?;
    refined(shooter, nodes, found.period, watch)
}

/// Divides the derivatives of a motion where its multipliers are of very different size, so that all keep their digits.
fn graded(shooter: &mut Shooter, quotient: &Quotient, found: &mut Return) {
    /// The logarithm of the ratio of multipliers above which one matrix does not hold both.
    const WIDE: f64 = 12.0;
    /// What a part may hold of it.
    const PART: f64 = 5.0;
    let is_turned = shooter.turned.iter().any(|x| *x != 0.0);
    let Some(values) = eigenvalues(quotient.variables.len(), &found.matrix) else { return };
    let sizes: Vec<f64> = values.iter().map(|v| libm::log(size(v).max(1e-300))).collect();
    let most = sizes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let wide = (most - least).max(found.divergence.abs());
    if !found.parts.is_empty() || is_turned || wide.is_nan() || wide < WIDE {
        return;
    }
    let count = (wide / PART).ceil().clamp(4.0, 40.0) as usize;
    if let Some(parts) = divided(shooter, quotient, found, count) {
        found.parts = parts;
    }
}

/// Whether energy and momenta have independent slopes in all directions but those of the motion and of symmetries that
/// keep them. Then those nearby are levels of them as well, closed curves beside this one that symmetries move, and it
/// is stable as a curve, up to these symmetries.
pub(crate) fn is_level_of_integrals(
    shooter: &mut Shooter,
    quotient: &Quotient,
    found: &Return,
) -> bool {
    let Phase { model, dynamics, field, .. } = &mut shooter.phase;
    let Dynamics::Saddle(equations) = &*dynamics else { return false };
    let (chart, held) = (&quotient.chart, &shooter.held);
    let integrals = Integrals::around(model, equations, field, chart, &found.point, held);
    let (Some(integrals), Some(here)) = (integrals, quotient.point(&found.point)) else {
        return false;
    };
    let w = quotient.variables.len();
    let unit = |row: Vec<f64>| -> Vec<f64> {
        let size = largest(&row).max(1e-300);
        row.into_iter().map(|x| x / size).collect()
    };
    let along = |gradient: &Vec<f64>| {
        let column = |j: usize| {
            let slopes = gradient.iter().enumerate();
            slopes.map(|(i, x)| x * here.tangent[i * w + j]).sum::<f64>()
        };
        unit((0..w).map(column).collect())
    };
    let slopes: Vec<Vec<f64>> = integrals.gradients(&found.point).iter().map(along).collect();
    if slopes.is_empty() {
        return false;
    }
    let moved = held.iter().map(|s| field.prolonged(&s.frame, &found.point.y));
    let fields: Vec<Vec<f64>> = std::iter::once(found.point.rates.clone())
        .chain(moved)
        .map(|x| unit(quotient.variables.iter().map(|&c| x[c]).collect()))
        .collect();
    // What symmetries do to the integrals: where this is not zero they lead to other levels.
    let changes: Vec<Vec<f64>> = fields
        .iter()
        .map(|x| {
            let product = |s: &Vec<f64>| s.iter().zip(x).map(|(a, b)| a * b).sum();
            slopes.iter().map(product).collect()
        })
        .collect();
    let rank = |rows: &[Vec<f64>], columns: usize| {
        let split = singular_values(&rows.concat(), rows.len(), columns);
        split.values.iter().filter(|s| **s > 1e-6).count()
    };
    let within = rank(&fields, w) - rank(&changes, slopes.len());
    rank(&slopes, w) + within == w
}
/// A place of the motion from a state, after a while, to which it comes back best after about a period; and after
/// what time.
fn recurrence(
    shooter: &mut Shooter,
    quotient: &Quotient,
    start: &[f64],
    period: f64,
    watch: &mut dyn FnMut() -> bool,
) -> Option<(Vec<f64>, f64)> {
    /// Periods that are looked at, those before, and places in each.
    const PERIODS: usize = 30;
    const BEFORE: usize = 15;
    const PLACES: usize = 60;
    let step = period / PLACES as f64;
    let mut states = followed(shooter, start, step, PERIODS * PLACES, watch)?;
    states.drain(..=BEFORE * PLACES);
    let mut best: Option<(f64, usize, usize)> = None;
    for i in 0..states.len() {
        for lag in PLACES * 3 / 4..=PLACES * 4 / 3 {
            let Some(later) = states.get(i + lag) else { continue };
            let apart = quotient.variables.iter();
            let apart = apart.map(|&c| shooter.less_turns(c, later[c] - states[i][c]).abs());
            let off = apart.fold(0.0_f64, f64::max);
            if best.is_none_or(|(known, ..)| off < known) {
                best = Some((off, i, lag));
            }
        }
    }
    best.map(|(_, i, lag)| (states.swap_remove(i), lag as f64 * step))
}

/// Whether what was found is an equilibrium, or a steady motion along the turns up to which it returns: that does so
/// after any time.
fn is_still(shooter: &Shooter, quotient: &Quotient, found: &Return) -> bool {
    let frame = MovingFrame::of(&shooter.phase.field, &shooter.turning, &found.point);
    if frame.is_some_and(|frame| frame.left < 1e-6) {
        return true;
    }
    let rates: Vec<f64> = quotient.variables.iter().map(|&c| found.point.rates[c]).collect();
    let limit = 1e-6 * (1.0 + largest(&found.point.y)) / found.period;
    largest(&rates) < limit && !shooter.is_driven
}

/// The same orbit with its least period: it may have been found as one of several turns.
fn shortest(
    shooter: &mut Shooter,
    mut quotient: Quotient,
    mut found: Return,
    watch: &mut dyn FnMut() -> bool,
) -> Result<(Quotient, Return), Failure> {
    if shooter.is_driven {
        return Ok((quotient, found));
    }
    for turns in [2, 2, 3, 5, 7] {
        let whole = shooter.turned.clone();
        let angle = whole.iter().map(|x| x * x).sum::<f64>().sqrt();
        let period = found.period / f64::from(turns);
        // So often turned it has come to the same, up to full turns.
        let full = if angle == 0.0 { 1 } else { turns };
        let mut is_shorter = false;
        for k in 0..full {
            let part =
                (1.0 + f64::from(k) * TAU / angle.max(f64::MIN_POSITIVE)) / f64::from(turns);
            shooter.turned = whole.iter().map(|x| part * x).collect();
            let once = shooter.shoot(&quotient, &found.point.y, period);
            let Some(once) = once.filter(|once| shooter.is_closed(&quotient, once, 1e-6))
            else {
                continue;
            };
            let (there, once) = newton(shooter, quotient.clone(), once, watch)?;
            if shooter.is_closed(&there, &once, CLOSED) {
                (quotient, found, is_shorter) = (there, once, true);
                break;
            }
        }
        if !is_shorter {
            shooter.turned = whole;
        }
    }
    Ok((quotient, found))
}

/// The value of a period.
pub(crate) fn period(model: &Workspace, text: &str) -> Result<f64, Failure> {
    let (_, entries) = read_expression(model, "<period>", text, ExpressionScope::State)?;
    let value = match entries[..] {
        [expr] if !model.graph.varies(expr) => model.constant(expr),
        _ => f64::NAN,
    };
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(Failure::usage("a period is a number above zero"))
    }
}

/// Newton's iteration, as far as it comes.
fn newton(
    shooter: &mut Shooter,
    mut quotient: Quotient,
    mut here: Return,
    watch: &mut dyn FnMut() -> bool,
) -> Result<(Quotient, Return), Failure> {
    let first = here.period;
    for _ in 0..ITERATIONS {
        if !watch() {
            return Err(Failure::usage("the search for a periodic motion was interrupted"));
        }
        // After no time every motion has returned.
        if here.period < SHORTEST * first {
            break;
        }
        let Some((next, change)) = improved(shooter, &quotient, &here) else { break };
        let is_done = change < 1e-12 * (1.0 + largest(&next.point.y));
        quotient = quotient.moved(&shooter.phase.field, &next.point);
        here = match shooter.shoot(&quotient, &next.point.y, next.period) {
            Some(again) => again,
            None => break,
        };
        if is_done {
            break;
        }
    }
    Ok((quotient, here))
}

/// One step of Newton's iteration, and its length. Where periodic motions form families, (P) is nearly singular away
/// from them: directions of small singular values are left out first, and taken where that is not enough.
fn improved(
    shooter: &mut Shooter,
    quotient: &Quotient,
    here: &Return,
) -> Option<(Return, f64)> {
    /// Singular values that are left out, in parts of the largest.
    const LEFT_OUT: [f64; 4] = [0.1, 1e-2, 1e-4, 1e-9];
    /// A step that reduces the miss so much is taken at once.
    const GOOD: f64 = 0.3;
    let w = quotient.variables.len();
    let (matrix, right) = equations(shooter, &[quotient], std::slice::from_ref(here));
    let columns = matrix.len() / right.len();
    let size = largest(&here.miss);
    let mut best: Option<((Return, f64), Vec<f64>)> = None;
    for left_out in LEFT_OUT {
        let step = least_squares(&matrix, right.len(), columns, &right, left_out).x;
        let mut part = 1.0;
        while part > 1e-3 {
            let change: Vec<f64> = step[..w].iter().map(|x| part * x).collect();
            let longer = if shooter.is_driven { 0.0 } else { part * step[w] };
            let period = here.period + longer;
            let before = shooter.turned.clone();
            if !shooter.turning.is_empty() {
                let turns = step[w + 1..].iter().map(|x| part * x);
                shooter.turned.iter_mut().zip(turns).for_each(|(turned, more)| *turned += more);
            }
            if period > 0.5 * here.period
                && period < 2.0 * here.period
                && let Some(moved) = shooter.moved(quotient, &here.point.y, &change)
                && let Some(next) = shooter.shoot(quotient, &moved, period)
                && largest(&next.miss) < (1.0 - 0.1 * part) * size + 1e-13
            {
                let is_better = |(known, _): &(Return, f64)| {
                    largest(&next.miss) < 0.5 * largest(&known.miss)
                };
                if best.as_ref().is_none_or(|known| is_better(&known.0)) {
                    let turned = shooter.turned.clone();
                    best = Some(((next, part * largest(&step)), turned));
                }
                shooter.turned = before;
                break;
            }
            shooter.turned = before;
            part *= 0.5;
        }
        if let Some(((next, _), _)) = &best
            && largest(&next.miss) < GOOD * size
        {
            break;
        }
    }
    let (found, turned) = best?;
    shooter.turned = turned;
    Some(found)
}

/// Where the search starts: a state, if it is not that of the model, and a period.
fn guess(
    model: &Model,
    request: &OrbitRequest,
    period: Option<f64>,
    watch: &mut dyn FnMut() -> bool,
) -> Result<(Option<Vec<f64>>, f64), Failure> {
    let workspace = model.workspace();
    let first = workspace.events.first().map(|event| event.name.clone());
    let on = match (&request.on, period, first) {
        (None, Some(period), _) => return Ok((None, period)),
        (Some(on), ..) => on.clone(),
        (None, None, Some(on)) => on,
        (None, None, None) => {
            return Err(Failure::usage(
                "a search for a periodic motion needs a guess of its period (--period), or a surface that it crosses \
                 (--on)",
            ));
        }
    };
    let asked = SectionRequest {
        on: on.clone(),
        count: CROSSINGS,
        principle: request.principle,
        t1: None,
        tolerance: None,
        backend: request.backend,
    };
    let found = sections(model, &asked, watch)?;
    let Some(last) = found.t.len().checked_sub(1) else {
        return Err(Failure::Usage(format!("the surface `{on}` is never met")));
    };
    let phase = Phase::new(model, &LinearizeRequest::default())?;
    let state = |k: usize| -> Vec<f64> {
        let velocities = found.v.iter().zip(&phase.field.velocity_at);
        let second = velocities.filter(|(_, place)| place.is_some()).map(|(s, _)| s.values[k]);
        found.q.iter().map(|s| s.values[k]).chain(second).collect()
    };
    let mut end = state(last);
    // NOTE: multipliers that the state carries are not in a section.
    end.extend(phase.y.get(end.len()..).unwrap_or_default());
    // The crossing before the last that is most like it, the later one unless an earlier one is clearly nearer.
    let distance = |k: &usize| {
        let pairs = state(*k).into_iter().zip(&end);
        let square: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
        square * (1.0 + (last - k) as f64)
    };
    let near = last.saturating_sub(4)..last;
    let best = near.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    match (period, best) {
        (Some(period), _) => Ok((Some(end), period)),
        (None, Some(k)) => Ok((Some(end), found.t[last] - found.t[k])),
        (None, None) => Err(Failure::Usage(format!("the surface `{on}` is met only once"))),
    }
}
