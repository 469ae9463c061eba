//! What an affine body must satisfy at the start, and what is worth knowing of it after a run.
//!
//! At the start $\det\varphi > 0$, the kinetic energy is positive in $\dot\varphi$, and a `conformal` body
//! has $\varphi^T g\varphi = \lambda\eta$. After the run: why it
//! stopped where $\det\varphi = 0$, and where a polar part that is asked for lost its digits, the smallest
//! singular value of $\varphi$ being far below the largest.

use pfaff_expr::Expr;
use pfaff_model::{AffineBody, AffineWord, Diagnostic, Workspace};
use pfaff_solver::{cholesky, symmetric_eigenvalues};

use crate::motion::note::Note;
use crate::motion::{Motion, StopReason};
use crate::system::kkt::Kkt;

/// How far from proportional the two metrics of a conformal start may be: what a user rounds to ten digits passes.
const CONFORMAL: f64 = 1e-9;

/// A ratio of singular values below this loses half of the digits of $U$.
const NEARLY_SINGULAR: f64 = 1e-8;

/// What is wrong with the bodies of a model at positions `q`.
pub(crate) fn at_start(model: &Workspace, t0: f64, q: &[f64]) -> Vec<Diagnostic> {
    let mut mistakes: Vec<Diagnostic> =
        model.bodies.iter().filter_map(|body| volume(model, body, t0, q)).collect();
    if mistakes.is_empty() {
        mistakes = conformal(model, t0, q);
    }
    mistakes
}

/// Whether the kinetic energy of each body is positive, given the evaluated equations.
pub(crate) fn kinetic(model: &Workspace, kkt: &Kkt) -> Vec<Diagnostic> {
    if model.bodies.is_empty() {
        return Vec::new();
    }
    let (n, mass) = (kkt.n, kkt.inertia());
    let indefinite = |body: &&AffineBody| {
        let size = body.size * body.size;
        let mut block: Vec<f64> = (0..size * size)
            .map(|k| mass[(body.first + k / size) * n + body.first + k % size])
            .collect();
        block.iter().all(|x| x.is_finite()) && cholesky(size, &mut block).is_err()
    };
    let refuse = |body: &AffineBody| {
        let message = format!(
            "the kinetic energy of the body `{}` is not positive: its inertia is not positive definite",
            body.name
        );
        Diagnostic::error("E0622", crate::problem::dynamics_span(model), message)
            .with_hint("all eigenvalues of the inertia J, and of the metric g, must be above 0")
    };
    model.bodies.iter().filter(indefinite).map(refuse).collect()
}

/// Why a run stopped at a body that lost its volume.
pub(crate) fn collapse(model: &Workspace, reason: &StopReason, t: f64) -> Option<Note> {
    let StopReason::Event(name) = reason else { return None };
    let body = model.bodies.iter().find(|b| *name == format!("collapse({})", b.name))?;
    Some(Note::Stopped(format!(
        "at t = {t} the body `{0}` has lost its volume: det({0}) = 0; to go on through it write `event continue \
         inversion: det({0})`",
        body.name
    )))
}

/// Where polar parts that are asked for are not to be relied upon.
pub(crate) fn nearly_singular(model: &Workspace, motion: &Motion) -> Vec<Note> {
    let bodies = model.bodies.iter().filter(|b| b.polar);
    bodies.filter_map(|body| worst(body, motion)).collect()
}

fn worst(body: &AffineBody, motion: &Motion) -> Option<Note> {
    let n = body.size;
    let own = body.first..body.first + n * n;
    let sampled = motion.t.iter().enumerate().map(|(i, &t)| {
        let phi = motion.q[own.clone()].iter().map(|s| s.values[i]).collect();
        (t, phi)
    });
    let events = motion.events.iter().map(|e| (e.t, e.q[own.clone()].to_vec()));
    let mut least = (f64::INFINITY, 0.0);
    for (t, phi) in sampled.chain(events) {
        let phi: Vec<f64> = phi;
        let ratio = condition(n, &phi);
        if ratio < least.0 {
            least = (ratio, t);
        }
    }
    (least.0 < NEARLY_SINGULAR).then(|| {
        Note::Remark(format!(
            "near t = {} the body `{}` is nearly singular (its smallest singular value is below \
             {NEARLY_SINGULAR:e} of the largest): \
             its rotation, and everything computed from it, is not determined there",
            least.1, body.name
        ))
    })
}

/// The smallest singular value over the largest.
fn condition(n: usize, phi: &[f64]) -> f64 {
    let green: Vec<f64> = (0..n * n)
        .map(|k| (0..n).map(|i| phi[i * n + k / n] * phi[i * n + k % n]).sum())
        .collect();
    let eigenvalues = symmetric_eigenvalues(n, &green);
    let largest = eigenvalues.iter().fold(0.0_f64, |m, x| m.max(*x));
    let smallest = eigenvalues.iter().fold(f64::INFINITY, |m, x| m.min(*x));
    (smallest.max(0.0) / largest).sqrt()
}

fn volume(model: &Workspace, body: &AffineBody, t0: f64, q: &[f64]) -> Option<Diagnostic> {
    let det = value(model, t0, q, &[body.determinant])[0];
    if det > 0.0 || !body.named && body.let_go {
        return None;
    }
    let own = body.first..body.first + body.size * body.size;
    let given = model.initial.iter().find(|datum| {
        matches!(datum.quantity, pfaff_model::Quantity::Coordinate(k, 0) if own.contains(&k))
    });
    let message = if given.is_none() {
        format!(
            "the body `{}` has no initial value: it would start as the zero matrix",
            body.name
        )
    } else if det < 0.0 {
        format!("the body `{0}` starts inside out: det({0}) = {det}", body.name)
    } else {
        format!("the body `{0}` starts without volume: det({0}) = {det}", body.name)
    };
    let mut hint = format!(
        "an affine body has a positive determinant, such as `initial {} = identity({})`",
        body.name, body.size
    );
    if !body.named {
        hint += &format!(
            "; with `event continue inversion: det({})` any determinant is allowed",
            body.name
        );
    }
    let span = given.map_or(body.span, |datum| datum.span);
    Some(Diagnostic::error("E0621", span, message).with_hint(&hint))
}

fn conformal(model: &Workspace, t0: f64, q: &[f64]) -> Vec<Diagnostic> {
    let mut mistakes: Vec<Diagnostic> = Vec::new();
    for constraint in &model.constraints {
        let Some(AffineWord::Conformal { green, eta }) = &constraint.word else { continue };
        // NOTE: each row of the word carries the same matrices.
        if mistakes.iter().any(|d| d.span == constraint.span) {
            continue;
        }
        let green = value(model, t0, q, &green.concat());
        let eta = value(model, t0, q, &eta.concat());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let factor = dot(&green, &eta) / dot(&eta, &eta);
        let off: Vec<f64> = green.iter().zip(&eta).map(|(g, e)| g - factor * e).collect();
        let relative = (dot(&off, &off) / dot(&green, &green)).sqrt();
        // NOTE: not a number is a mistake too.
        if relative <= CONFORMAL && factor > 0.0 {
            continue;
        }
        let name = constraint.name.split('[').next().unwrap_or_default();
        let message = format!(
            "the constraint `{name}` keeps φᵀgφ proportional to η, but at the start it is not: the relative \
             difference is {relative:.2e}"
        );
        mistakes.push(Diagnostic::error("E0623", constraint.span, message).with_hint(
            "start with a multiple of an isometry, such as `initial phi = 1.2*rotation_z(0.3)`, or use the \
             metrics of the start",
        ));
    }
    mistakes
}

/// Expressions of positions and parameters at the start.
fn value(model: &Workspace, t0: f64, q: &[f64], e: &[Expr]) -> Vec<f64> {
    let at = |symbol: Expr| {
        let position = model.coordinates.iter().position(|c| c.position == symbol);
        let parameter =
            || model.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.value);
        match position {
            Some(k) => q[k],
            None if symbol == model.time => t0,
            None => parameter().unwrap_or(f64::NAN),
        }
    };
    model.graph.evaluate(e, &at)
}
