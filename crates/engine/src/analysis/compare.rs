//! One model under several principles: motions at common times, where and how fast they part, what each keeps.
//!
//! All motions start from the same state. Two that differ first in the derivative of order $k$ part like
//! $C\,(t - t_0)^k$: $k$ and $C$ are measured by halving a short time. A quantity is kept
//! when it changes by no more than the energy balance of the audit may.

use crate::model::Model;
use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::Equations;
use pfaff_model::{Principle, Workspace};

use crate::analysis::equivalence::{along_chetaev, along_vakonomic};
use crate::clock::Interrupt;
use crate::derivation::{Derivation, derive};
use crate::error::Error;
use crate::motion::equivalence::Equivalence;
use crate::motion::{Motion, Series};
use crate::pipeline::run;
use crate::problem::settings::Run;
use crate::system::compiled::Dynamics;

/// A model under several principles.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The motions, one for each principle, at common times.
    pub motions: Vec<Motion>,
    /// The equations, one for each principle.
    pub derivations: Vec<Derivation>,
    /// Principles that were not asked for by name and have no equations or no motion here, with the reason.
    pub left_out: Vec<(Principle, String)>,
    /// Each pair of motions.
    pub partings: Vec<Parting>,
    /// What each motion keeps.
    pub kept: Vec<Kept>,
    /// Whether the motions of one principle are motions of the other.
    pub equivalences: Vec<Equivalence>,
}

/// How two motions part.
#[derive(Clone, Debug)]
pub struct Parting {
    /// The two principles.
    pub between: [Principle; 2],
    /// $q$ of the first less $q$ of the second at the common times.
    pub difference: Vec<Series>,
    /// The largest of them, each over 1 + |q|.
    pub distance: Vec<f64>,
    /// The difference of the accelerations at the start.
    pub acceleration: Vec<f64>,
    /// $k$ and $C$ of $C\,(t-t_0)^k$; `None` where the motions do not part.
    pub law: Option<(f64, f64)>,
    /// The first common time at which they are apart.
    pub apart_from: Option<f64>,
    /// The largest distance and its time.
    pub largest: (f64, f64),
    /// The largest difference of velocities at the last common time.
    pub speed: f64,
}

/// How much a quantity changes along each motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// `E`, `E\[L,M\]`, `p[z]`, `p[z] - mu*dphi/dz'`, or what is observed.
    pub name: String,
    /// The largest change since the start under each principle; `None` where the quantity is not defined.
    pub change: Vec<Option<f64>>,
    /// Whether that is nothing but rounding and integration error.
    pub kept: Vec<bool>,
}

/// Why a principle is left out, in a sentence.
fn reason(error: &Error) -> String {
    let first = error.diagnostics().first().map(|d| d.message.clone());
    first.unwrap_or_else(|| error.to_string())
}

/// Runs a model under each of the principles. Without names these are Chetaev's and the vakonomic one, and
/// the restricted one where it has equations; those whose motion cannot begin are left out.
///
/// # Errors
///
/// [`Error`] if a motion that was asked for by name cannot begin, or none can.
pub fn compare(
    model: &Model,
    request: &Run,
    principles: Option<&[Principle]>,
) -> Result<Comparison, Error> {
    if !matches!(model.dynamics, pfaff_model::Dynamics::Lagrangian { .. }) {
        let message = "an `equation` model has no principle to compare: its equations are used as written";
        return Err(Error::Usage(message.into()));
    }
    // NOTE: initial multipliers belong to one of the motions, so the model may carry them whatever its own
    // principle is.
    let mut changed = model.workspace();
    changed.principle = Principle::Vakonomic;
    let model = &Model::from(changed.freeze());
    let (mut left_out, mut first_error) = (Vec::new(), None);
    let asked: Vec<Principle> = match principles {
        Some(list) => list.to_vec(),
        None => Principle::ALL.iter().map(|(p, _)| *p).collect(),
    };
    let (mut motions, mut derivations) = (Vec::new(), Vec::new());
    for principle in asked {
        let derivation = match derive(model, Some(principle)) {
            Ok(derivation) => derivation,
            Err(error) if principles.is_none() && principle != Principle::Chetaev => {
                left_out.push((principle, reason(&error)));
                continue;
            }
            Err(error) => return Err(error),
        };
        let request = Run { principle: Some(principle), ..request.clone() };
        match run(model, &request, &mut |_, _| true) {
            Ok(motion) => {
                motions.push(motion);
                derivations.push(derivation);
            }
            Err(error) if principles.is_none() => {
                left_out.push((principle, reason(&error)));
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    if let (true, Some(error)) = (motions.is_empty(), first_error) {
        return Err(error);
    }
    // NOTE: a motion that an event stopped ends with a row of its own.
    let shortest = motions.iter().map(|m| m.t.len()).min().unwrap_or(0);
    let is_common = |&i: &usize| motions.iter().all(|m| m.t[i] == motions[0].t[i]);
    let common = (0..shortest).take_while(is_common).count();
    motions.iter_mut().for_each(|m| m.truncate(common));
    let mut partings = Vec::new();
    for i in 0..motions.len() {
        for j in i + 1..motions.len() {
            partings.push(parting(model, request, &motions[i], &motions[j])?);
        }
    }
    let (mut equivalences, backend) = (Vec::new(), request.chosen_backend());
    if !model.constraints.is_empty() {
        for motion in &motions {
            equivalences.extend(match motion.principle {
                Some(Principle::Chetaev) => {
                    along_chetaev(&model.workspace(), motion, backend, request.interrupt)
                }
                Some(Principle::Vakonomic) => {
                    along_vakonomic(&model.workspace(), motion, backend)
                }
                Some(Principle::Restricted) | None => None,
            });
        }
    }
    let kept = kept(model, &motions, &derivations);
    Ok(Comparison { motions, derivations, left_out, partings, kept, equivalences })
}

fn parting(model: &Model, request: &Run, a: &Motion, b: &Motion) -> Result<Parting, Error> {
    let difference: Vec<Series> =
        a.q.iter()
            .zip(&b.q)
            .map(|(x, y)| Series {
                name: x.name.clone(),
                values: x.values.iter().zip(&y.values).map(|(x, y)| x - y).collect(),
            })
            .collect();
    let distance = distances(a, b);
    let tolerance = request.tolerance.unwrap_or(model.solve.tolerance);
    // The errors of two motions of some hundred steps are below a thousand tolerances.
    let apart = 1e3 * tolerance + 1e-13;
    let apart_from = (0..a.t.len()).find(|&i| distance[i] > apart).map(|i| a.t[i]);
    let mut largest = (0.0, a.t.first().copied().unwrap_or(0.0));
    for (&t, &d) in a.t.iter().zip(&distance) {
        if d > largest.0 {
            largest = (d, t);
        }
    }
    let ends = |m: &Motion| -> Vec<f64> {
        m.v.iter().map(|s| s.values.last().copied().unwrap_or(f64::NAN)).collect()
    };
    let speed = ends(a).iter().zip(&ends(b)).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
    let law = match apart_from {
        Some(_) => law(model, request, a, b)?,
        None => None,
    };
    let principle = |m: &Motion| m.principle.unwrap_or(Principle::Chetaev);
    let first = |s: &Series| s.values.first().copied().unwrap_or(f64::NAN);
    Ok(Parting {
        between: [principle(a), principle(b)],
        acceleration: a.a.iter().zip(&b.a).map(|(x, y)| first(x) - first(y)).collect(),
        difference,
        distance,
        law,
        apart_from,
        largest,
        speed,
    })
}

fn distances(a: &Motion, b: &Motion) -> Vec<f64> {
    (0..a.t.len())
        .map(|i| {
            a.q.iter().zip(&b.q).fold(0.0_f64, |m, (x, y)| {
                m.max((x.values[i] - y.values[i]).abs() / (1.0 + y.values[i].abs()))
            })
        })
        .collect()
}

/// $k$ and $C$, from the distances after a short time and half of it.
fn law(
    model: &Model,
    request: &Run,
    a: &Motion,
    b: &Motion,
) -> Result<Option<(f64, f64)>, Error> {
    let (Some(&t0), Some(&t1)) = (a.t.first(), a.t.last()) else { return Ok(None) };
    // The shortest time after which the distance is far above rounding.
    for shorter in (2..=10).rev() {
        if Interrupt::is_asked(request.interrupt) {
            return Ok(None);
        }
        let h = (t1 - t0) * libm::exp2(-f64::from(shorter));
        let at = |m: &Motion| {
            let request = Run {
                principle: m.principle,
                t0: Some(t0),
                t1: Some(t0 + h),
                tolerance: Some(1e-14),
                at: Some(vec![t0 + h / 2.0, t0 + h]),
                samples: None,
                ..request.clone()
            };
            run(model, &request, &mut |_, _| true)
        };
        let d = distances(&at(a)?, &at(b)?);
        if let [half, whole] = d[..]
            && half > 1e-9
        {
            let k = libm::log2(whole / half);
            return Ok(Some((k, whole / libm::pow(h, libm::round(k)))));
        }
    }
    Ok(None)
}

fn kept(model: &Model, motions: &[Motion], derivations: &[Derivation]) -> Vec<Kept> {
    let spaces: Vec<Workspace> = derivations.iter().map(Derivation::workspace).collect();
    let mut blocks: Vec<(&Workspace, &Equations)> = Vec::new();
    for (space, derivation) in spaces.iter().zip(derivations) {
        if let Dynamics::Saddle(equations) = &derivation.dynamics {
            blocks.push((space, equations));
        }
    }
    let mut rows: Vec<(String, Vec<Option<Vec<f64>>>)> = Vec::new();
    let energy = |m: &Motion| Some(m.energy.clone());
    rows.push(("E".into(), motions.iter().map(energy).collect()));
    let extended = motions.iter().any(|m| m.constraint_energy.iter().any(|e| e.abs() > 1e-12));
    if extended {
        let total = |m: &Motion| {
            let sum = m.energy.iter().zip(&m.constraint_energy).map(|(e, c)| e + c);
            (m.principle != Some(Principle::Chetaev)).then(|| sum.collect())
        };
        rows.push(("E[L,M]".into(), motions.iter().map(total).collect()));
    }
    for (k, c) in model.coordinates.iter().enumerate() {
        let along = |e: &dyn Fn(&Graph, &Equations) -> Option<Expr>| {
            let pairs = motions.iter().zip(&blocks);
            pairs.map(|(m, (space, b))| Some(values(space, m, e(&space.graph, b)?))).collect()
        };
        rows.push((format!("p[{}]", c.name), along(&|_, b| Some(b.momenta[k]))));
        let touches = |(space, b): &(&Workspace, &Equations)| {
            b.jacobian.iter().any(|row| row[k] != space.graph.zero())
        };
        if blocks.iter().any(touches) && blocks.iter().any(|(_, b)| !b.multipliers.is_empty()) {
            let canonical = |g: &Graph, b: &Equations| {
                let terms = b.multipliers.iter().zip(&b.jacobian);
                let carried = g.sum(terms.map(|(&μ, row)| g.mul(μ, row[k])));
                (!b.multipliers.is_empty()).then(|| g.sub(b.momenta[k], carried))
            };
            rows.push((format!("p[{0}] - mu*dphi/d{0}'", c.name), along(&canonical)));
        }
    }
    for (i, o) in model.observed.iter().enumerate() {
        let seen = motions.iter().map(|m| Some(m.observed[i].values.clone()));
        rows.push((o.name.clone(), seen.collect()));
    }
    rows.into_iter().map(|(name, series)| changed(name, &series, motions)).collect()
}

fn changed(name: String, series: &[Option<Vec<f64>>], motions: &[Motion]) -> Kept {
    let (mut change, mut kept) = (Vec::new(), Vec::new());
    for (values, motion) in series.iter().zip(motions) {
        let worst = values.as_ref().map(|v| {
            let first = v.first().copied().unwrap_or(0.0);
            v.iter().fold(0.0_f64, |m, x| m.max((x - first).abs()))
        });
        // As for energies: every step may err by the tolerance, and the errors add up.
        let balance = motion.audit.checks.iter().find(|c| c.name == "energy balance");
        let limit = balance.map_or(1e-9, |c| c.limit);
        kept.push(worst.is_some_and(|w| w <= limit));
        change.push(worst);
    }
    Kept { name, change, kept }
}

/// An expression along a motion.
fn values(model: &Workspace, motion: &Motion, e: Expr) -> Vec<f64> {
    (0..motion.t.len())
        .map(|i| {
            let at = |s: Expr| {
                let find = |list: &[Expr], series: &[Series]| {
                    list.iter().position(|&x| x == s).map(|k| series[k].values[i])
                };
                let parameter = model.parameters.iter().find(|p| p.symbol == s);
                find(&model.positions(), &motion.q)
                    .or_else(|| find(&model.velocities(), &motion.v))
                    .or_else(|| find(&model.results.mu, &motion.multipliers))
                    .or_else(|| parameter.map(|p| p.value))
                    .unwrap_or(if s == model.time { motion.t[i] } else { f64::NAN })
            };
            model.graph.evaluate(&[e], &at)[0]
        })
        .collect()
}
