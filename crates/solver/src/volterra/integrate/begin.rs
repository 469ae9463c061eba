//! How a run begins: the length of its first step, and one in powers where densities are nearly not integrable.

use super::{RunFrame, VolterraObserver, VolterraOptions, VolterraRun, VolterraStep, past};
use crate::ode::observer::Control;
use crate::ode::options::StopReason;
use crate::ode::system::EvalError;
use crate::volterra::starting_step::{StartingStep, opens};
use crate::volterra::system::{Kernel, Operand};

/// Exponents below this ask for a step in powers.
const STEEP: f64 = -0.7;
/// How often a kink that a kernel makes is met by the end of a step; each time it is weaker.
const ECHOES: i32 = 8;

/// The length of the first step.
pub(super) fn first(frame: &RunFrame, options: &VolterraOptions) -> f64 {
    let h = options.first * (options.t1 - options.t0);
    if options.exponent < STEEP && !powers(frame, options, h) { far(options) } else { h }
}

/// So short that what is wrong in the first step of a steep density is nothing, or as short as numbers allow.
fn far(options: &VolterraOptions) -> f64 {
    let decades = (14.0 / (1.0 + options.exponent)).min(250.0);
    (options.t1 - options.t0) * options.first.min(libm::pow(10.0, -decades))
}

/// Whether a first step of length `h` is one in powers.
fn powers(frame: &RunFrame, options: &VolterraOptions, h: f64) -> bool {
    let later = options.outputs.iter().find(|t| **t > options.t0);
    options.exponent < STEEP
        && opens(&frame.operands)
        && later.is_none_or(|t| *t - options.t0 >= 1e3 * h)
}

/// Most places at which steps end.
const STOPS: usize = 100_000;

/// Breaks of the equations and of the kernels, and what the kernels make of them: what happened at the start or
/// at a break happens again there. With `further` places where steps end.
pub(super) fn stops(
    operands: &[Operand],
    breaks: &[f64],
    further: &[f64],
    span: f64,
) -> Vec<f64> {
    let inside = further.iter().copied().filter(|stop| *stop > 0.0 && *stop < span);
    let mut stops: Vec<f64> = breaks.iter().copied().chain(inside).collect();
    for operand in operands {
        let Kernel::General(_, Some(resolved)) = &operand.kernel else { continue };
        for b in &resolved.breaks {
            for from in [0.0].iter().chain(breaks) {
                let echoes = (1..=ECHOES).map(|k| from + f64::from(k) * b);
                stops.extend(echoes.filter(|stop| *stop < span));
            }
        }
    }
    stops.truncate(STOPS);
    stops.sort_by(f64::total_cmp);
    stops.dedup_by(|b, a| *b - *a <= 1e-13 * *a);
    stops
}

impl VolterraRun<'_> {
    /// A first step in powers, where densities are nearly not integrable.
    pub(super) fn open(
        &mut self,
        observer: &mut dyn VolterraObserver,
    ) -> Result<Option<StopReason>, EvalError> {
        let h = self.h;
        if !powers(&self.frame, self.options, h) {
            return Ok(None);
        }
        let (operands, options) = (&self.frame.operands, self.options);
        let opened =
            StartingStep::solve(self.system, operands, options.t0, h, options.exponent)?;
        let Some(starting) = opened else {
            self.h = far(self.options);
            let shortest = self.switching.shortest(self.h);
            self.history = past(&self.frame, self.options, shortest);
            return Ok(None);
        };
        let (s, n) = (self.frame.basis.stages, self.frame.n);
        let mut tables = std::mem::take(&mut self.main.tables);
        self.history.prepare(&self.frame.basis, &self.frame.units, h, &mut tables);
        self.history.open(&starting, &self.frame.basis, &tables);
        self.main.tables = tables;
        for j in 0..s {
            let τ = self.frame.basis.nodes[j] * h;
            for i in 0..n {
                self.last.values[j * n + i] = starting.density(i, τ);
            }
        }
        self.last.h = h;
        self.x.copy_from_slice(&self.last.values[(s - 1) * n..]);
        self.z.copy_from_slice(&starting.z);
        // For those who watch the step is a point: its mass, spread evenly.
        let means: Vec<f64> = (0..n).map(|i| starting.sum(i, 1) / h).collect();
        observer.piece(&VolterraStep { elapsed: 0.0, h, x: &means.repeat(s), unknowns: n });
        self.progress.elapsed = h;
        self.progress.steps += 1;
        self.h = 0.25 * h;
        let control = observer.step(self.options.t0 + h, &self.x, &self.z);
        Ok((control == Control::Stop).then_some(StopReason::Interrupted))
    }
}
