//! Motions by other roads: the cotangent form, the canonical semispray, Krupková's reduced equation, and
//! Hamilton's form of the vakonomic principle, each integrated by itself.
//!
//! | view | state | rates |
//! |---|---|---|
//! | [`View::Cotangent`] | $(x, p_{\bar u})$ | (Co), $\bar y$, $y^u$ by Newton's method from $p$ and the constraints |
//! | [`View::Semispray`] | $(x, y)$ | $\dot y = -2G^*$ |
//! | [`View::Krupkova`] | $(x, \bar y)$ | (Kr), $y^u$ from (N) |
//! | [`View::Hamilton`] | $(q, p)$ | (Ha) |
//!
//! They are views: the motions that count are those of [`run`](crate::run), and these must agree with them.

mod rates;

use crate::model::Model;
use pfaff_mechanics::{Refusal, derive};
use pfaff_model::{Diagnostic, Principle, Span};
use pfaff_solver::{Trajectory, integrate};

use crate::error::{Error, Failure};
use crate::pipeline::run;
use crate::problem::settings::{Run, Settings};
use rates::Road;

/// Another form of the equations with a motion of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Momenta of the transverse coordinates \[PP, Theorem 4.1\].
    Cotangent,
    /// The canonical semispray of the Lagrange space \[BN, (2.8)\].
    Semispray,
    /// The reduced equation on the constraint \[BN, (3.7)\].
    Krupkova,
    /// Momenta of the vakonomic principle \[TZ06, (84)–(93)\].
    Hamilton,
}

impl View {
    /// All views of a principle with their words.
    pub fn of(principle: Principle) -> &'static [(Self, &'static str)] {
        match principle {
            Principle::Chetaev => &[
                (Self::Cotangent, "cotangent"),
                (Self::Semispray, "semispray"),
                (Self::Krupkova, "krupkova"),
            ],
            Principle::Vakonomic => &[(Self::Hamilton, "hamilton")],
            Principle::Restricted => &[],
        }
    }

    fn principle(self) -> Principle {
        if self == Self::Hamilton { Principle::Vakonomic } else { Principle::Chetaev }
    }
}

/// A motion in another form, and how far it is from that of the core.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewMotion {
    /// The output times that were reached.
    pub t: Vec<f64>,
    /// $q$ by time, then coordinate.
    pub q: Vec<Vec<f64>>,
    /// $\dot q$ by time, then coordinate.
    pub v: Vec<Vec<f64>>,
    /// The largest $|q - q_\text{core}|/(1 + |q_\text{core}|)$ of positions and velocities.
    pub deviation: f64,
}

/// Integrates a model in another form, from the same consistent start as [`run`], and compares.
///
/// # Errors
///
/// [`Error`] if the form does not exist for this model, or no motion can begin.
pub fn view_motion(
    model: &Model,
    view: View,
    dependent: Option<&[usize]>,
    request: &Run,
) -> Result<ViewMotion, Error> {
    integrated(model, view, dependent, request)
        .map_err(|failure| failure.in_source(&model.source))
}

fn integrated(
    model: &Model,
    view: View,
    dependent: Option<&[usize]>,
    request: &Run,
) -> Result<ViewMotion, Failure> {
    let principle = request.principle.unwrap_or(model.principle);
    // NOTE: without constraints the principles agree.
    if principle != view.principle() && !model.constraints.is_empty() {
        return Err(other_principle(view, principle));
    }
    let request = Run { principle: Some(view.principle()), ..request.clone() };
    let settings = Settings::new(model, &request)?;
    let kkt = run(model, &request, &mut |_, _| true)?;
    let begun = Run { at: Some(vec![settings.t0]), max_steps: Some(1), ..request.clone() };
    let first = run(model, &begun, &mut |_, _| true)?;
    let at = |series: &[crate::motion::Series], i: usize| -> Vec<f64> {
        series.iter().map(|s| s.values[i]).collect()
    };
    let refused = |r: Refusal| Failure::Model(vec![r.diagnostic()]);
    let model = &model.workspace();
    let equations = derive(model, view.principle()).map_err(refused)?;
    let mut road = Road::new(model, &equations, view, dependent, settings.backend)?;
    let (q0, v0) = (at(&first.q, 0), at(&first.v, 0));
    let y0 = road.state(settings.t0, &q0, &v0, &at(&first.multipliers, 0));
    let mut kept = Trajectory::default();
    let outcome = integrate(&mut road, &y0, &settings.options, &mut kept);
    let (mut t, mut q, mut v) = (Vec::new(), Vec::new(), Vec::new());
    let mut deviation = 0.0_f64;
    for (i, &time) in kkt.t.iter().enumerate() {
        let state = if time == settings.t0 { Some(y0.clone()) } else { kept.state(time) };
        let Some(y) = state.filter(|_| time <= outcome.t) else { break };
        let Ok((position, velocity)) = road.velocities(time, &y) else { break };
        for (mine, theirs) in [(&position, at(&kkt.q, i)), (&velocity, at(&kkt.v, i))] {
            for (a, b) in mine.iter().zip(theirs) {
                deviation = deviation.max((a - b).abs() / (1.0 + b.abs()));
            }
        }
        t.push(time);
        q.push(position);
        v.push(velocity);
    }
    if t.len() < kkt.t.len() {
        return Err(stopped(outcome.t));
    }
    Ok(ViewMotion { t, q, v, deviation })
}

fn other_principle(view: View, principle: Principle) -> Failure {
    let own = view.principle();
    let name = View::of(own).iter().find(|v| v.0 == view).map_or("", |v| v.1);
    let forms = match View::of(principle) {
        [] => "it has no other form with a motion".to_owned(),
        all => {
            let names: Vec<&str> = all.iter().map(|v| v.1).collect();
            format!("its forms are {}", names.join(", "))
        }
    };
    Failure::usage(format!(
        "the form `{name}` is one of the principle {}, but the motion follows the principle {}: {forms}",
        own.name(),
        principle.name()
    ))
}

fn stopped(t: f64) -> Failure {
    let message = format!(
        "in this form the motion ends at t = {t}: its equations have no solution beyond that time"
    );
    let diagnostic = Diagnostic::error("E0615", Span::default(), message)
        .with_hint("`pfaff run` does not need this form");
    Failure::Model(vec![diagnostic])
}
