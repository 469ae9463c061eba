//! The defect (D) of the Taylor method at points within a step.

use super::{BLOCK, StepSeries};
use crate::ode::stepper::Trial;
use crate::ode::system::{Counted, EvalError};

/// Looks at the defect (D) within steps.
pub(super) struct Probe {
    /// Where, as parts of a step: a sequence that comes near every point and repeats none.
    place: f64,
    state: Vec<f64>,
    /// The rates of the series, and those of the system.
    slopes: Vec<f64>,
    rates: Vec<f64>,
}

impl Probe {
    pub(super) fn new(n: usize) -> Self {
        Self { place: 0.5, state: vec![0.0; n], slopes: vec![0.0; n], rates: vec![0.0; n] }
    }

    /// The largest defect at some points of a trial, as a multiple of the allowed one.
    pub(super) fn defect(
        &mut self,
        system: &mut Counted<'_>,
        series: &StepSeries,
        trial: Trial,
        points: usize,
    ) -> Result<f64, EvalError> {
        /// The golden section spreads points most evenly.
        const GOLDEN: f64 = 0.618_033_988_749_894_8;
        let mut worst = 0.0_f64;
        for _ in 0..points {
            self.place = (self.place + GOLDEN).fract();
            let s = self.place * trial.h;
            series.at(s, &mut self.state, &mut self.slopes);
            system.rates(trial.t + s, &self.state, &mut self.rates)?;
            for (i, weight) in series.weights.iter().enumerate() {
                worst = worst.max((self.slopes[i] - self.rates[i]).abs() * weight);
            }
        }
        Ok(series.relative(worst, trial.h))
    }
}

impl StepSeries {
    /// (P) and its derivative.
    fn at(&self, s: f64, state: &mut [f64], slopes: &mut [f64]) {
        let mut first = 0;
        while first + BLOCK <= self.n {
            self.part::<BLOCK>(first, s, state, slopes);
            first += BLOCK;
        }
        (first..self.n).for_each(|i| self.part::<1>(i, s, state, slopes));
    }

    /// A few components of [`StepSeries::at`], which stay in registers.
    #[inline]
    fn part<const N: usize>(
        &self,
        first: usize,
        s: f64,
        state: &mut [f64],
        slopes: &mut [f64],
    ) {
        let (mut y, mut d) = ([0.0; N], [0.0; N]);
        for row in self.all.chunks_exact(self.n).rev() {
            let row: &[f64; N] = row[first..].first_chunk().expect("the components of a row");
            for i in 0..N {
                d[i] = y[i] + s * d[i];
                y[i] = row[i] + s * y[i];
            }
        }
        state[first..first + N].copy_from_slice(&y);
        slopes[first..first + N].copy_from_slice(&d);
    }
}
