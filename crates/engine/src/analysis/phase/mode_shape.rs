//! Modes of the linear equations as motions that can be drawn.
//!
//! About the state $y_0$ the positions swing as $q_0 + a\,\mathrm{Re}(T x\,e^{i\omega t})$ with the tangent $T$ of the
//! constraints, an eigenvector $x$ and an amplitude $a$ that can be seen; then they are put onto the constraints.
//! Growth and
//! decay are left out, and what does not oscillate is swung to and fro.

use std::f64::consts::TAU;

use crate::analysis::phase::linearize::{Linearization, LinearizeRequest, Phase};
use crate::analysis::phase::quotient::Quotient;
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::motion::{Motion, Series};

/// Pictures of a swing.
const ROWS: usize = 97;
/// How far the coordinate that moves most does.
const AMPLITUDE: f64 = 0.25;

/// The modes that move positions, each by its place among the eigenvalues; of a complex pair the first.
///
/// # Errors
///
/// [`Error`] as [`linearize`](crate::linearize).
pub fn mode_motions(
    model: &Model,
    request: &LinearizeRequest,
    found: &Linearization,
) -> Result<Vec<(usize, Motion)>, Error> {
    motions(model, request, found).map_err(|failure| failure.in_source(&model.source))
}

fn motions(
    model: &Model,
    request: &LinearizeRequest,
    found: &Linearization,
) -> Result<Vec<(usize, Motion)>, Failure> {
    let mut phase = Phase::new(model, request)?;
    let point = phase.point()?;
    let quotient = Quotient::at(&mut phase.field, &point);
    let tangent = quotient.as_ref().and_then(|q| q.chart.tangent(&point));
    let (Some(quotient), Some(tangent)) = (quotient, tangent) else { return Ok(Vec::new()) };
    let (n, d, r) = (phase.field.n, phase.field.size(), quotient.chart.free.len());
    let names = phase.field.names.clone();
    // The place of each variable among those of the chart.
    let place = |name: &String| {
        let component = names.iter().position(|known| known == name)?;
        quotient.chart.free.iter().position(|&c| c == component)
    };
    let Some(places) = found.variables.iter().map(place).collect::<Option<Vec<usize>>>() else {
        return Ok(Vec::new());
    };
    let mut list = Vec::new();
    for (k, (value, mode)) in found.eigenvalues.iter().zip(&found.modes).enumerate() {
        let Some(mode) = mode.as_ref().filter(|_| value[1] >= 0.0) else { continue };
        let shape: Vec<[f64; 2]> = (0..d)
            .map(|i| {
                let terms = places.iter().zip(&mode.components);
                terms.fold([0.0; 2], |[a, b], (&p, x)| {
                    [a + tangent[i * r + p] * x[0], b + tangent[i * r + p] * x[1]]
                })
            })
            .collect();
        let largest = shape[..n].iter().fold(0.0_f64, |m, x| m.max(libm::hypot(x[0], x[1])));
        if largest < 1e-9 {
            continue;
        }
        let ω = if value[1] > 0.0 { value[1] } else { TAU / 2.0 };
        let end = 2.0 * TAU / ω;
        let mut motion = Motion::empty(&phase.model);
        motion.principle = found.principle;
        let empty =
            |c: usize| Series { name: names[c].clone(), values: Vec::with_capacity(ROWS) };
        motion.q = (0..n).map(empty).collect();
        motion.v = motion.q.clone();
        motion.a = motion.q.clone();
        for row in 0..ROWS {
            let t = end * row as f64 / (ROWS - 1) as f64;
            let (sin, cos) = (libm::sin(ω * t), libm::cos(ω * t));
            let a = AMPLITUDE / largest;
            let mut y: Vec<f64> = point
                .y
                .iter()
                .zip(&shape)
                .map(|(y, x)| {
                    // Real shapes begin where the state is.
                    let swing =
                        if value[1] > 0.0 { x[0] * cos - x[1] * sin } else { x[0] * sin };
                    y + a * swing
                })
                .collect();
            if quotient.chart.complete(&mut phase.field, point.t, &mut y).is_err() {
                motion.t.clear();
                break;
            }
            motion.t.push(t);
            for (c, series) in motion.q.iter_mut().enumerate() {
                series.values.push(y[c]);
            }
            motion.a.iter_mut().for_each(|s| s.values.push(0.0));
        }
        if !motion.t.is_empty() {
            motion.stop.t = end;
            for (v, q) in motion.v.iter_mut().zip(&motion.q) {
                v.values = slopes(&motion.t, &q.values);
            }
            list.push((k, motion));
        }
    }
    Ok(list)
}

/// Rates of a column by differences, for curves between the pictures.
fn slopes(t: &[f64], x: &[f64]) -> Vec<f64> {
    let last = t.len() - 1;
    let slope = |k: usize| {
        let (a, b) = (k.saturating_sub(1), (k + 1).min(last));
        (x[b] - x[a]) / (t[b] - t[a])
    };
    (0..=last).map(slope).collect()
}
