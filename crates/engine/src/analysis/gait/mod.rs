//! What a loop in shape space does to the position of a body: `pfaff gait`.
//!
//! Shapes $r$ are moved at will, and the group coordinates $g$ follow from constraints, or from zero momentum, as a
//! horizontal lift of a principal connection: with the body velocity $\xi = g^{-1}\dot g$
//!
//! $$ \xi = \mathcal A(r)\,\dot r, \qquad \dot g = g\,\xi. \qquad (\mathrm G) $$
//!
//! The displacement over a closed loop does not depend on how fast it is run. To first order it is the integral of the
//! curvature over a surface $S$ that the loop bounds,
//!
//! $$ \iint_S \bigl(d\mathcal A + [\mathcal A, \mathcal A]\bigr) = \oint \mathcal A\,dr
//!    + \iint_S [\mathcal A_i, \mathcal A_j]\,dr^i dr^j . \qquad (\mathrm A) $$
//!
//! (A) is exact where the group commutes; for $SE(2)$ what is left out is of third order in the size of the loop.

mod connection;
mod optimum;
mod shape_loop;

use std::f64::consts::TAU;

use pfaff_model::{Workspace, closest};
use pfaff_solver::{EvalError, OdeOptions, StopReason, System, gauss_jacobi, integrate};

use crate::analysis::gait::connection::{Connection, bracket, moved, relative};
use crate::analysis::gait::optimum::best_loop;
use crate::analysis::gait::shape_loop::ShapeLoop;
use crate::error::{Error, Failure};
use crate::model::Model;

/// Points along the loop and across the surface for the integrals of (A).
const ALONG: usize = 512;
const ACROSS: usize = 16;

/// Which loop of which shapes.
#[derive(Clone, Debug, Default)]
pub struct GaitRequest {
    /// Names of the shape coordinates.
    pub shape: Vec<String>,
    /// `a1 = cos(s), a2 = sin(s)` for s from 0 to 2π; the best ellipse if `None`.
    pub path: Option<String>,
    /// How far the shapes of the best loop go from their initial values; 1 if `None`.
    pub within: Option<f64>,
}

/// What a loop does.
#[derive(Clone, Debug)]
pub struct Gait {
    /// The title of the model.
    pub title: String,
    /// The displacement over the loop by group coordinate, in the frame of the body at its start.
    pub displacement: Vec<(String, f64)>,
    /// The same by the area rule (A); `None` if the loop closes only up to turns of angles.
    pub area_rule: Option<Vec<(String, f64)>>,
    /// The loop as a text.
    pub path: String,
    /// Its length in shape space.
    pub length: f64,
    /// Whether the loop was looked for.
    pub is_best: bool,
    /// What gives the connection: `constraints`, `momenta` or both.
    pub by: &'static str,
}

/// The displacement over a loop in shape space. `watch` is asked now and then and may end a search by `false`.
///
/// ```
/// use pfaff::{GaitRequest, Model, gait};
/// let text = "
///     coordinates x, y, theta, a, b
///     group SE(2): x, y, theta
///     lagrangian (x'^2 + y'^2 + theta'^2 + a'^2 + b'^2)/2
///     constraint slip: -x'*sin(theta) + y'*cos(theta) = 0
///     constraint drive: x'*cos(theta) + y'*sin(theta) = a'
///     constraint steer: theta' = b'";
/// let car = Model::parse(text)?;
/// let request = GaitRequest {
///     shape: vec!["a".into(), "b".into()],
///     path: Some("a = 0.1*cos(s), b = 0.1*sin(s)".into()),
///     ..GaitRequest::default()
/// };
/// let found = gait(&car, &request, &mut || true)?;
/// // Sideways by the area of the loop, [drive, steer] being the sideways motion.
/// assert!((found.displacement[1].1.abs() - 0.01 * std::f64::consts::PI).abs() < 1e-3);
/// # Ok::<(), pfaff::Error>(())
/// ```
///
/// # Errors
///
/// [`Error`] if the shapes do not determine the group coordinates, or the loop is none.
pub fn gait(
    model: &Model,
    request: &GaitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Gait, Error> {
    found(model, request, watch).map_err(|failure| failure.in_source(&model.source))
}

/// The coordinates of the shapes.
fn shapes(model: &Workspace, request: &GaitRequest) -> Result<Vec<usize>, Failure> {
    let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let mut shape = Vec::new();
    for name in &request.shape {
        let Some(k) = names.iter().position(|known| known == name) else {
            let hint = closest(name, &names).map_or_else(
                || format!("the coordinates are {}", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(Failure::Usage(format!("there is no coordinate `{name}`; {hint}")));
        };
        if shape.contains(&k) {
            return Err(Failure::Usage(format!("the shape `{name}` is named twice")));
        }
        shape.push(k);
    }
    if shape.is_empty() {
        return Err(Failure::usage("a gait needs shape coordinates, such as \"a1, a2\""));
    }
    Ok(shape)
}

fn found(
    model: &Model,
    request: &GaitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Gait, Failure> {
    let workspace = model.workspace();
    let shape = shapes(&workspace, request)?;
    let mut connection = Connection::new(&workspace, &shape)?;
    let path = match &request.path {
        Some(text) => ShapeLoop::read(&workspace, &shape, text)?,
        None => {
            let within = request.within.unwrap_or(1.0);
            if !(within.is_finite() && within > 0.0) {
                return Err(Failure::usage("the size of a loop is a number above zero"));
            }
            best_loop(&mut connection, &workspace, &shape, within, watch)?
        }
    };
    let turns = path.turns()?;
    if turns.iter().zip(&shape).any(|(turn, &k)| *turn != 0.0 && !connection.is_angle(k)) {
        return Err(Failure::usage("the loop does not close"));
    }
    let displacement = displacement(&mut connection, &path)?;
    let is_closed = turns.iter().all(|turn| *turn == 0.0);
    let area = if is_closed { Some(area_rule(&mut connection, &path)?) } else { None };
    let named = |values: Vec<f64>| -> Vec<(String, f64)> {
        let names = connection.group.iter().map(|&k| workspace.coordinates[k].name.clone());
        names.zip(values).collect()
    };
    Ok(Gait {
        title: model.name().to_owned(),
        displacement: named(displacement),
        area_rule: area.map(named),
        path: path.text.clone(),
        length: path.length(),
        is_best: request.path.is_none(),
        by: connection.origin(),
    })
}

/// (G) along a loop.
struct Lift<'a> {
    connection: &'a mut Connection,
    path: &'a ShapeLoop,
}

impl System for Lift<'_> {
    fn dimension(&self) -> usize {
        self.connection.group.len()
    }

    fn rates(&mut self, s: f64, g: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let (r, dr) = self.path.at(s);
        let body = self.connection.body_velocity(&r, &dr).ok_or(EvalError::Singular)?;
        let velocity = moved(&self.connection.factors, g, &body);
        rates.copy_from_slice(&velocity);
        Ok(())
    }
}

/// Where the body is after the loop, seen from where it was.
pub(crate) fn displacement(
    connection: &mut Connection,
    path: &ShapeLoop,
) -> Result<Vec<f64>, Failure> {
    let start = vec![0.0; connection.group.len()];
    let options = OdeOptions {
        t0: 0.0,
        t1: TAU,
        tolerance: 1e-13,
        absolute: 1e-3,
        ..OdeOptions::default()
    };
    let factors = connection.factors.clone();
    let outcome = integrate(&mut Lift { connection, path }, &start, &options, &mut ());
    match outcome.stop {
        StopReason::End => Ok(relative(&factors, &start, &outcome.y)),
        _ => Err(Failure::Usage(format!(
            "on the loop, at s = {:.6}, the shapes do not determine the velocity of the body: the loop meets a \
             singular shape",
            outcome.t
        ))),
    }
}

/// (A) over the cone from the loop to its centre.
fn area_rule(connection: &mut Connection, path: &ShapeLoop) -> Result<Vec<f64>, Failure> {
    let singular = || {
        Failure::usage("the loop encloses a singular shape: the area rule has no value there")
    };
    let count = connection.group.len();
    let mut sum = vec![0.0; count];
    let step = TAU / ALONG as f64;
    let points: Vec<(Vec<f64>, Vec<f64>)> =
        (0..ALONG).map(|k| path.at(step * k as f64)).collect();
    for (r, dr) in &points {
        let body = connection.body_velocity(r, dr).ok_or_else(singular)?;
        sum.iter_mut().zip(&body).for_each(|(sum, x)| *sum += step * x);
    }
    if !connection.commutes() {
        let n = path.dimension();
        let centre: Vec<f64> = (0..n)
            .map(|i| points.iter().map(|(r, _)| r[i]).sum::<f64>() / ALONG as f64)
            .collect();
        let rule = gauss_jacobi(ACROSS, 1.0);
        for (r, dr) in &points {
            let outward: Vec<f64> = r.iter().zip(&centre).map(|(r, c)| r - c).collect();
            for (ρ, weight) in rule.points() {
                let at: Vec<f64> =
                    centre.iter().zip(&outward).map(|(c, o)| c + ρ * o).collect();
                // The surface element of the cone is ρ·(outward ∧ along).
                let a = connection.body_velocity(&at, &outward).ok_or_else(singular)?;
                let b = connection.body_velocity(&at, dr).ok_or_else(singular)?;
                let c = bracket(&connection.factors, &a, &b);
                sum.iter_mut().zip(&c).for_each(|(sum, x)| *sum += step * weight * ρ * x);
            }
        }
    }
    Ok(sum)
}
