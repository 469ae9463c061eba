//! Systems with known solutions.
#![allow(dead_code, reason = "every test file uses some of them")]

use pfaff_solver::{EvalError, EventKind, OdeOptions, Outcome, System, Trajectory, integrate};

/// Rates as a plain function.
pub(crate) type Rates = fn(f64, &[f64], &mut [f64]);
/// Event values as a plain function.
pub(crate) type Values = fn(f64, &[f64], &mut [f64]);
/// A projection as a plain function.
pub(crate) type Projection = fn(&mut [f64]);

/// A system made of plain functions.
pub(crate) struct Plain {
    pub(crate) dimension: usize,
    pub(crate) controlled: usize,
    pub(crate) rates: Rates,
    pub(crate) project: Projection,
    pub(crate) events: Vec<EventKind>,
    pub(crate) values: Values,
}

impl Plain {
    pub(crate) fn new(dimension: usize, rates: Rates) -> Self {
        Self {
            dimension,
            controlled: dimension,
            rates,
            project: |_| {},
            events: Vec::new(),
            values: |_, _, _| {},
        }
    }

    pub(crate) fn watching(mut self, events: &[EventKind], values: Values) -> Self {
        self.events = events.to_vec();
        self.values = values;
        self
    }

    pub(crate) fn projected(mut self, project: Projection) -> Self {
        self.project = project;
        self
    }
}

impl System for Plain {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn controlled(&self) -> usize {
        self.controlled
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        (self.rates)(t, y, rates);
        Ok(())
    }

    fn project(&mut self, _t: f64, y: &mut [f64]) -> Result<(), EvalError> {
        (self.project)(y);
        Ok(())
    }

    fn events(&self) -> &[EventKind] {
        &self.events
    }

    fn event_values(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        (self.values)(t, y, values);
        Ok(())
    }
}

/// ẍ = −x as (x, ẋ); from (1, 0) it is (cos t, −sin t).
pub(crate) fn oscillator() -> Plain {
    Plain::new(2, |_, y, rates| rates.copy_from_slice(&[y[1], -y[0]]))
}

/// The plane Kepler problem with unit attraction, (x, y, ẋ, ẏ).
pub(crate) fn kepler() -> Plain {
    Plain::new(4, |_, y, rates| {
        let r = libm::hypot(y[0], y[1]);
        rates.copy_from_slice(&[y[2], y[3], -y[0] / (r * r * r), -y[1] / (r * r * r)]);
    })
}

/// The start of an ellipse of half-axis 1 at its pericentre; its period is 2π.
pub(crate) fn ellipse(eccentricity: f64) -> [f64; 4] {
    let e = eccentricity;
    [1.0 - e, 0.0, 0.0, ((1.0 + e) / (1.0 - e)).sqrt()]
}

/// y′ = −2ty² with y(0) = 1 is 1/(1 + t²): nonlinear and not autonomous.
pub(crate) fn witch() -> Plain {
    Plain::new(1, |t, y, rates| rates[0] = -2.0 * t * y[0] * y[0])
}

/// A run that keeps everything.
pub(crate) fn record(
    system: &mut Plain,
    y0: &[f64],
    options: &OdeOptions,
) -> (Outcome, Trajectory) {
    let mut trajectory = Trajectory::default();
    let outcome = integrate(system, y0, options, &mut trajectory);
    (outcome, trajectory)
}
