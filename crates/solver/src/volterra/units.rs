//! A run with memory in other units of its unknowns.
//!
//! $$ x_u = X_u\,\tilde x_u, \qquad z_p = X_{u(p)}\,\tilde z_p, \qquad a_{pi} = X_{u(p)}\,\tilde a_{pi} $$
//!
//! The kernels stay what they are, because (Z) is linear in the unknowns. Tolerances are parts of $1 + |\tilde z|$, so
//! that a motion of the size $10^{-12}$ is as accurate in its units as one of the size 1. A run measures its own sizes
//! ([`VolterraOutcome::sizes`](super::VolterraOutcome)).

use super::integrate::{VolterraObserver, VolterraStep};
use super::system::{Operand, VolterraPoint, VolterraSystem};
use crate::ode::observer::{Control, LocatedEvent};
use crate::ode::system::{EvalError, EventKind};

/// Sizes between these need no units.
const ORDINARY: std::ops::RangeInclusive<f64> = 1e-2..=1e2;

/// What is so much smaller than the largest operand may be its rounding: it has no unit of its own.
const NOTHING: f64 = 1e-9;

/// Units of the unknowns for a run whose operands began and came to these sizes; ones where nothing asks for others.
///
/// The smallest operand of an unknown counts, at its start if it begins with a value: what grows from there is measured
/// by what it was.
pub fn natural_units(unknowns: usize, operands: &[Operand], sizes: &[f64]) -> Vec<f64> {
    let most = sizes.iter().copied().filter(|s| s.is_finite()).fold(0.0, f64::max);
    let mut units = vec![f64::INFINITY; unknowns];
    for (operand, &size) in operands.iter().zip(sizes) {
        let begun: f64 = operand.start.iter().filter(|s| s.1 == 0.0).map(|s| s.0).sum();
        let size = if begun == 0.0 { size } else { size.min(begun.abs()) };
        if operand.controlled && size.is_finite() && size > 0.0 {
            let unit = &mut units[operand.unknown];
            *unit = unit.min(size.max(NOTHING * most));
        }
    }
    units.iter_mut().for_each(|unit| *unit = ordinary_unit(*unit));
    units
}

/// The unit for a size: one where the size is ordinary, or not known.
pub fn ordinary_unit(size: f64) -> f64 {
    let needs_none = !size.is_finite() || size == 0.0 || ORDINARY.contains(&size);
    if needs_none { 1.0 } else { size }
}

/// Whether units serve where others were found.
pub fn units_serve(used: &[f64], found: &[f64]) -> bool {
    used.iter().zip(found).all(|(a, b)| ORDINARY.contains(&(a / b)))
}

/// Buffers in the units of the system.
#[derive(Clone, Debug, Default)]
struct Buffers {
    x: Vec<f64>,
    z: Vec<f64>,
}

/// The units of unknowns and operands.
#[derive(Clone, Debug)]
pub(super) struct Units {
    x: Vec<f64>,
    z: Vec<f64>,
}

impl Units {
    pub(super) fn new(unknowns: &[f64], operands: &[Operand]) -> Self {
        let z = operands.iter().map(|o| unknowns[o.unknown]).collect();
        Self { x: unknowns.to_vec(), z }
    }

    /// Unknowns, perhaps of several nodes, in the units of the system.
    pub(super) fn unknowns(&self, x: &[f64], into: &mut Vec<f64>) {
        scaled(x, &self.x, into);
    }

    /// Operands in the units of the system.
    pub(super) fn operands(&self, z: &[f64], into: &mut Vec<f64>) {
        scaled(z, &self.z, into);
    }
}

fn scaled(values: &[f64], units: &[f64], into: &mut Vec<f64>) {
    into.clear();
    into.extend(values.iter().zip(units.iter().cycle()).map(|(x, unit)| x * unit));
}

/// A system in units.
pub(super) struct SystemInUnits<'a> {
    system: &'a mut dyn VolterraSystem,
    units: &'a Units,
    buffers: Buffers,
}

impl<'a> SystemInUnits<'a> {
    pub(super) fn new(system: &'a mut dyn VolterraSystem, units: &'a Units) -> Self {
        Self { system, units, buffers: Buffers::default() }
    }

    /// The system, and a point in its units.
    fn placed(
        &mut self,
        at: VolterraPoint<'_>,
    ) -> (&mut dyn VolterraSystem, VolterraPoint<'_>) {
        self.units.unknowns(at.x, &mut self.buffers.x);
        self.units.operands(at.z, &mut self.buffers.z);
        let Buffers { x, z } = &self.buffers;
        (&mut *self.system, VolterraPoint { t: at.t, elapsed: at.elapsed, x, z })
    }
}

impl VolterraSystem for SystemInUnits<'_> {
    fn unknowns(&self) -> usize {
        self.system.unknowns()
    }

    fn operands(&self) -> Vec<Operand> {
        let mut operands = self.system.operands();
        for (operand, unit) in operands.iter_mut().zip(&self.units.z) {
            operand.start.iter_mut().for_each(|(a, _)| *a /= unit);
        }
        operands
    }

    fn guess(&self) -> Vec<f64> {
        let mut guess = self.system.guess();
        guess.iter_mut().zip(&self.units.x).for_each(|(x, unit)| *x /= unit);
        guess
    }

    fn residual(&mut self, at: VolterraPoint<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        let (system, at) = self.placed(at);
        system.residual(at, out)
    }

    fn jacobian(
        &mut self,
        at: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        let (system, at) = self.placed(at);
        system.jacobian(at, by_x, by_z)?;
        by_x.iter_mut().zip(self.units.x.iter().cycle()).for_each(|(a, unit)| *a *= unit);
        by_z.iter_mut().zip(self.units.z.iter().cycle()).for_each(|(a, unit)| *a *= unit);
        Ok(())
    }

    fn kernel(&mut self, operand: usize, t: f64, lags: &[f64], out: &mut [f64]) {
        self.system.kernel(operand, t, lags, out);
    }

    fn breaks(&self) -> &[f64] {
        self.system.breaks()
    }

    fn stops(&self) -> &[f64] {
        self.system.stops()
    }

    fn switches(&self) -> usize {
        self.system.switches()
    }

    fn switch_values(
        &mut self,
        at: VolterraPoint<'_>,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let (system, at) = self.placed(at);
        system.switch_values(at, values)
    }

    fn choose(&mut self, signs: &[f64]) {
        self.system.choose(signs);
    }

    fn events(&self) -> &[EventKind] {
        self.system.events()
    }

    fn event_values(
        &mut self,
        at: VolterraPoint<'_>,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let (system, at) = self.placed(at);
        system.event_values(at, values)
    }
}

/// Who watches a run in units, and sees it in those of the system.
pub(super) struct ObserverInUnits<'a> {
    observer: &'a mut dyn VolterraObserver,
    units: &'a Units,
    buffers: Buffers,
}

impl<'a> ObserverInUnits<'a> {
    pub(super) fn new(observer: &'a mut dyn VolterraObserver, units: &'a Units) -> Self {
        Self { observer, units, buffers: Buffers::default() }
    }

    fn placed(&mut self, x: &[f64], z: &[f64]) -> (&mut dyn VolterraObserver, &[f64], &[f64]) {
        self.units.unknowns(x, &mut self.buffers.x);
        self.units.operands(z, &mut self.buffers.z);
        (&mut *self.observer, &self.buffers.x, &self.buffers.z)
    }

    fn stepped(
        &mut self,
        piece: &VolterraStep<'_>,
    ) -> (&mut dyn VolterraObserver, VolterraStep<'_>) {
        self.units.unknowns(piece.x, &mut self.buffers.x);
        let VolterraStep { elapsed, h, unknowns, .. } = *piece;
        (&mut *self.observer, VolterraStep { elapsed, h, x: &self.buffers.x, unknowns })
    }
}

impl VolterraObserver for ObserverInUnits<'_> {
    fn sample(&mut self, t: f64, x: &[f64], z: &[f64]) {
        let (observer, x, z) = self.placed(x, z);
        observer.sample(t, x, z);
    }

    fn last(&mut self, t: f64, piece: &VolterraStep<'_>) {
        let (observer, piece) = self.stepped(piece);
        observer.last(t, &piece);
    }

    fn piece(&mut self, piece: &VolterraStep<'_>) {
        let (observer, piece) = self.stepped(piece);
        observer.piece(&piece);
    }

    fn step(&mut self, t: f64, x: &[f64], z: &[f64]) -> Control {
        let (observer, x, z) = self.placed(x, z);
        observer.step(t, x, z)
    }

    fn event(&mut self, event: &LocatedEvent, x: &[f64], z: &[f64]) {
        let (observer, x, z) = self.placed(x, z);
        observer.event(event, x, z);
    }
}
