//! What the integrators know of a problem: rates, invariants, events.
//!
//! $$ \dot y = f(t, y), \qquad c(t, y) = 0, \qquad g_i(t, y) \text{ to be watched for zeros}
//!    \qquad (\mathrm{Y}) $$
//!
//! **Conventions.** An evaluation that has no value says why ([`EvalError`]) instead of leaving
//! NaN behind; results that are not finite are recognised all the same. Evaluations may keep
//! caches, but the same arguments must give the same bits.

use crate::ode::capability::{ExplicitSteps, Jacobian, OwnSteps, TaylorSeries};

/// A first-order system (Y), with invariants to project onto and events to watch.
///
/// ```
/// use pfaff_solver::{EvalError, OdeOptions, System, integrate};
///
/// struct Oscillator;
/// impl System for Oscillator {
///     fn dimension(&self) -> usize { 2 }
///     fn rates(&mut self, _t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
///         rates.copy_from_slice(&[y[1], -y[0]]);
///         Ok(())
///     }
/// }
///
/// let options = OdeOptions { t1: std::f64::consts::PI, ..OdeOptions::default() };
/// let outcome = integrate(&mut Oscillator, &[1.0, 0.0], &options, &mut ());
/// assert!((outcome.y[0] + 1.0).abs() < 1e-9);
/// ```
pub trait System {
    /// Number of components of $y$.
    fn dimension(&self) -> usize;

    /// How many leading components take part in error control; the others are quadratures
    /// that are carried along.
    fn controlled(&self) -> usize {
        self.dimension()
    }

    /// How many leading components are the motion itself. Those after them, as far as they take part in error control,
    /// are derivatives of it, whose errors count a tenth: they are wanted to a digit less, and do not force the motion
    /// to shorter steps.
    fn motion(&self) -> usize {
        self.controlled()
    }

    /// Writes $f(t, y)$ into `rates`.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if $f$ has no value there.
    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError>;

    /// The system's own Runge–Kutta steps, if it has any. [`Method::Dop853`](crate::Method::Dop853) uses them
    /// instead of [`System::rates`].
    fn explicit_steps(&mut self) -> Option<&mut dyn ExplicitSteps> {
        None
    }

    /// The Taylor coefficients of solutions, if the system has them. [`Method::Taylor`](crate::Method::Taylor)
    /// needs them.
    fn taylor_series(&mut self) -> Option<&mut dyn TaylorSeries> {
        None
    }

    /// The system's own one-step method, if it has one. [`Method::Own`](crate::Method::Own) needs it.
    fn own_steps(&mut self) -> Option<&mut dyn OwnSteps> {
        None
    }

    /// The Jacobian of the rates, if the system has it. [`Method::Radau`](crate::Method::Radau) uses it.
    fn jacobian(&mut self) -> Option<&mut dyn Jacobian> {
        None
    }

    /// Moves `y` onto the invariants $c(t, y) = 0$; called once at the end of every step that
    /// passed the error control, before the rates there are evaluated.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if there is no way back; the step is then tried again with a smaller size.
    fn project(&mut self, t: f64, y: &mut [f64]) -> Result<(), EvalError> {
        let _ = (t, y);
        Ok(())
    }

    /// Whether there are invariants at all.
    fn has_invariants(&self) -> bool {
        true
    }

    /// May write the state in other variables, after a step was accepted and shown; says whether it did.
    /// Steps before and after are complete in
    /// themselves: none interpolates across a change of variables.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if the state has become useless and there are no other variables; the run ends there.
    fn change_chart(&mut self, t: f64, y: &mut [f64]) -> Result<bool, EvalError> {
        let _ = (t, y);
        Ok(false)
    }

    /// The size of the quadratures that are carried along, in which their errors are measured while they are
    /// smaller themselves.
    fn carried_scale(&mut self, t: f64, y: &[f64]) -> f64 {
        let _ = (t, y);
        0.0
    }

    /// Raises scales below which errors of the leading components do not matter, for steps of length `h`.
    fn raise_scales(&mut self, t: f64, y: &[f64], h: f64, scales: &mut [f64]) {
        let _ = (t, y, h, scales);
    }

    /// How many phases of narrow features the equations have.
    fn feature_count(&self) -> usize {
        0
    }

    /// Writes the phases at a state: functions that vary by about 1 each time that the distance to a narrow feature
    /// of the equations halves, and little elsewhere.
    fn feature_phases(&mut self, t: f64, y: &[f64], phases: &mut [f64]) {
        let _ = (t, y, phases);
    }

    /// How many splines over the state the equations have.
    fn knot_count(&self) -> usize {
        0
    }

    /// Writes the places of a state in the splines: continuous numbers that are whole at the knots.
    fn knot_places(&mut self, t: f64, y: &[f64], places: &mut [f64]) {
        let _ = (t, y, places);
    }

    /// The first place after `t`, on the way to `t1`, where the rates are known not to be smooth in time: steps
    /// end there.
    fn next_break(&self, t: f64, t1: f64) -> Option<f64> {
        let _ = (t, t1);
        None
    }

    /// The events to watch, in declared order. Asked for once, at the start of a run.
    fn events(&self) -> &[EventKind] {
        &[]
    }

    /// The *phases* of the event functions, each by the event that it belongs to: quantities which vary by about
    /// one wherever the function may oscillate, jump or have a narrow feature, as the argument of a sine does.
    /// Where a phase varies fast, the function is looked at closely. Asked for once, at the start of a run.
    fn event_phases(&self) -> &[usize] {
        &[]
    }

    /// Writes $g_i(t, y)$ into `values`, one for each of [`System::events`], and then the values of
    /// [`System::event_phases`].
    ///
    /// # Errors
    ///
    /// [`EvalError`] if one of them has no value there.
    fn event_values(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        let _ = (t, y, values);
        Ok(())
    }

    /// Whether no event function vanishes while time and all components of the state are within bounds. Steps for
    /// which that is known are not searched.
    fn is_clear(&mut self, t: [f64; 2], low: &[f64], high: &[f64]) -> bool {
        let _ = (t, low, high);
        false
    }

    /// Writes the sizes of the terms that event functions are sums of: what is below their rounding is zero. Asked for
    /// [barriers](EventKind::barrier); leaves the others.
    fn event_sizes(&mut self, t: f64, y: &[f64], sizes: &mut [f64]) {
        let _ = (t, y, sizes);
    }

    /// Writes sizes that components are known to have had before the start; leaves the others.
    fn known_sizes(&self, sizes: &mut [f64]) {
        let _ = sizes;
    }

    /// Replaces the state at a break where a control is sampled; says whether `t` is such a place.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if there is no such state; the run ends there.
    fn sample(&mut self, t: f64, y: &mut [f64]) -> Result<bool, EvalError> {
        let _ = (t, y);
        Ok(false)
    }

    /// Replaces the state at some events, all at the time `t`, by the one from which the run goes on. Writes the
    /// rates $\dot g_i$ there of the functions of these events into `rates`, not a number where they are unknown.
    /// Says whether the run goes on: if not, it ends there by the first of these events.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if there is no such state; the run ends there.
    fn jump(
        &mut self,
        events: &[usize],
        t: f64,
        y: &mut [f64],
        rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        let _ = (events, t, y);
        rates.fill(f64::NAN);
        Ok(true)
    }
}

/// Why an evaluation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A linear system for it is singular.
    Singular,
    /// It is infinite or not a number.
    NotFinite,
}

/// Which zeros of an event function count, and what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct EventKind {
    /// Which zeros count.
    pub direction: Direction,
    /// Whether the first of them ends the run.
    pub stop: bool,
    /// Whether the state jumps there ([`System::jump`]), unless the run ends.
    pub jump: bool,
    /// Whether the run stays where the function is positive, as the gap of a contact: at zero it is on that side.
    pub barrier: bool,
}

/// Which zeros of an event function count, in the order in which the run meets them (a
/// run backward in time meets a rising function as a falling one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
    /// Both, and touching without a change of sign.
    #[default]
    Both,
}

/// A system that counts its evaluations and refuses rates that are not finite.
pub(crate) struct Counted<'a> {
    pub(crate) system: &'a mut dyn System,
    pub(crate) evaluations: usize,
}

impl Counted<'_> {
    pub(crate) fn rates(
        &mut self,
        t: f64,
        y: &[f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        self.evaluations += 1;
        self.system.rates(t, y, rates)?;
        finite(rates)
    }
}

/// Refuses values that are not finite.
pub(crate) fn finite(values: &[f64]) -> Result<(), EvalError> {
    // NOTE: no early exit and no sum of doubles, so that it vectorises: sums wait for each other.
    let bad = values.iter().fold(false, |bad, x| bad | !x.is_finite());
    if bad { Err(EvalError::NotFinite) } else { Ok(()) }
}
