//! The explicit Runge–Kutta method of Dormand and Prince of order 8(5,3).
//!
//! $$ k_i = f\Bigl(t + c_i h,\; y + h \sum_{j<i} a_{ij} k_j\Bigr), \qquad
//!    y_1 = y + h \sum_i b_i k_i \qquad (\mathrm{DP}) $$
//!
//! with twelve stages, the rates at the end as the first stage of the next step, and error
//! estimates of orders five and three combined to
//!
//! $$ e = |h|\, \frac{e_5^2}{\sqrt{e_5^2 + 0.01\, e_3^2}} \qquad (\mathrm{E}) $$
//!
//! (Hairer, Nørsett and Wanner 1993, §II.10). They take $e_5$, $e_3$ in the root mean square
//! over all components; here it is the maximum over the controlled ones, since the tolerance
//! is promised for every component.
//!
//! Dense output of order seven takes three further stages, evaluated only when asked for.

use crate::ode::capability::RungeKuttaStep;
use crate::ode::dop853_tableau::{
    DENSE, ERROR_3, ERROR_5, LATER, NODES, STAGE_1, STAGE_2, STAGE_3, STAGE_4, STAGE_5,
    STAGE_6, STAGE_7, STAGE_8, STAGE_9, STAGE_10, STAGE_11, STAGE_13, STAGE_14, STAGE_15,
    STAGES, WEIGHTS,
};
use crate::ode::lanes::{BLOCK, Block, StageTerm, blocks, combine};
use crate::ode::runge_kutta::ExplicitMethod;
use crate::ode::scale::Scale;
use crate::ode::stepper::Base;
use crate::ode::system::{Counted, EvalError};

/// Storage of (DP).
pub(crate) struct Dop853 {
    /// The 16 stages, one after the other, in whole blocks.
    k: Vec<Block>,
    /// A state on the way, behind a block for its time.
    stage: Vec<Block>,
    /// The state that the step starts from, and the one that it comes to.
    y: Vec<Block>,
    end: Vec<Block>,
    /// $e_5$ and $e_3$
    errors: [Vec<Block>; 2],
    /// The rows of dense output that the system computed.
    dense: Vec<Block>,
    /// How much the error of every component counts.
    counts: Vec<Block>,
    /// Whether the system carried out the last step.
    is_whole: bool,
}

impl Dop853 {
    /// For so many components, whose errors count as the scale says.
    pub(crate) fn new(n: usize, scale: &Scale) -> Self {
        let row = vec![[0.0; BLOCK]; blocks(n)];
        let mut counts = row.clone();
        let places = counts.as_flattened_mut()[..n].iter_mut().enumerate();
        places.for_each(|(i, count)| *count = scale.weight(i));
        Self {
            k: vec![[0.0; BLOCK]; 16 * row.len()],
            stage: vec![[0.0; BLOCK]; 1 + row.len()],
            y: row.clone(),
            end: row.clone(),
            dense: vec![[0.0; BLOCK]; 4 * row.len()],
            counts,
            errors: [row.clone(), row],
            is_whole: false,
        }
    }

    /// Has the system carry out the step.
    fn is_carried_out(&mut self, system: &mut Counted<'_>, from: &Base<'_>) -> bool {
        let steps = system.system.explicit_steps();
        self.is_whole = steps.is_some_and(|steps| steps.step(&mut self.whole(from)));
        if self.is_whole {
            system.evaluations += STAGES + 1;
        }
        self.is_whole
    }

    fn whole<'a>(&'a mut self, from: &Base<'_>) -> RungeKuttaStep<'a> {
        let Self { k, stage, y, end, errors: [five, three], .. } = self;
        RungeKuttaStep { t: from.t, h: from.h, y, k, stage, end, errors: [five, three] }
    }

    /// The largest $e_5$ and $e_3$ as multiples of the allowed error.
    fn largest(&self, h: f64, scale: &Scale) -> [f64; 2] {
        let larger = |a: f64, b: f64| if b > a { b } else { a };
        let Self { end, errors: [five, three], counts, .. } = self;
        let mut worst = [[0.0; BLOCK]; 2];
        for b in 0..end.len() {
            // A block at a time, so that it vectorises.
            let (sizes, noise) = (scale.block(b, h, &end[b]), scale.rounding(b));
            for c in 0..BLOCK {
                let weight = counts[b][c] / sizes[c];
                // What is below the rounding of the rates is not seen.
                worst[0][c] = larger(worst[0][c], (five[b][c].abs() - noise[c]) * weight);
                worst[1][c] = larger(worst[1][c], (three[b][c].abs() - noise[c]) * weight);
            }
        }
        worst.map(|row| row.into_iter().fold(0.0, larger) / scale.tolerance)
    }

    /// The components of a stage.
    fn row(&mut self, i: usize, n: usize) -> &mut [f64] {
        let width = self.y.len();
        &mut self.k[i * width..(i + 1) * width].as_flattened_mut()[..n]
    }

    /// Evaluates stage `i`.
    fn stage<const N: usize>(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        i: usize,
        row: &[StageTerm; N],
    ) -> Result<(), EvalError> {
        let n = from.y.len();
        let Self { k, stage, y, .. } = self;
        let stage = &mut stage[1..];
        combine(row, k, stage, |b, sum| along(&y[b], from.h, sum));
        let width = stage.len();
        let rates = &mut k[i * width..(i + 1) * width].as_flattened_mut()[..n];
        system.rates(from.t + NODES[i] * from.h, &stage.as_flattened()[..n], rates)
    }
}

impl ExplicitMethod for Dop853 {
    const CONTROLLED: bool = true;

    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end: &mut [f64],
    ) -> Result<(), EvalError> {
        let n = from.y.len();
        self.row(0, n).copy_from_slice(from.f);
        self.y.as_flattened_mut()[..n].copy_from_slice(from.y);
        if self.is_carried_out(system, from) {
            end.copy_from_slice(&self.end.as_flattened()[..n]);
            return Ok(());
        }
        self.stage(system, from, 1, &STAGE_1)?;
        self.stage(system, from, 2, &STAGE_2)?;
        self.stage(system, from, 3, &STAGE_3)?;
        self.stage(system, from, 4, &STAGE_4)?;
        self.stage(system, from, 5, &STAGE_5)?;
        self.stage(system, from, 6, &STAGE_6)?;
        self.stage(system, from, 7, &STAGE_7)?;
        self.stage(system, from, 8, &STAGE_8)?;
        self.stage(system, from, 9, &STAGE_9)?;
        self.stage(system, from, 10, &STAGE_10)?;
        self.stage(system, from, 11, &STAGE_11)?;
        let Self { k, y, end: row, .. } = self;
        combine(&WEIGHTS, k, row, |b, sum| along(&y[b], from.h, sum));
        end.copy_from_slice(&row.as_flattened()[..n]);
        Ok(())
    }

    fn end_rates(&self) -> Option<&[f64]> {
        let width = self.y.len();
        self.is_whole.then(|| self.k[(STAGES + 1) * width..(STAGES + 2) * width].as_flattened())
    }

    fn error(&mut self, from: &Base<'_>, scale: &Scale) -> f64 {
        if !self.is_whole {
            let Self { k, errors: [five, three], .. } = self;
            combine(&ERROR_5, k, five, |_, sum| sum);
            combine(&ERROR_3, k, three, |_, sum| sum);
        }
        let [e5, e3] = self.largest(from.h, scale);
        if e5 == 0.0 {
            return 0.0;
        }
        // (E), written so that squares do not overflow.
        let ratio = 0.1 * e3 / e5;
        let root = if ratio < 1e8 { (1.0 + ratio * ratio).sqrt() } else { ratio };
        from.h.abs() * e5 / root
    }

    fn refine(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end_rates: &[f64],
        rows: &mut Vec<f64>,
    ) -> Result<(), EvalError> {
        let n = from.y.len();
        if self.is_whole {
            let mut dense = std::mem::take(&mut self.dense);
            let steps = system.system.explicit_steps();
            let refined = steps
                .is_some_and(|steps| steps.dense_output(&mut self.whole(from), &mut dense));
            self.dense = dense;
            if refined {
                system.evaluations += LATER;
                for row in self.dense.chunks_exact(self.y.len()) {
                    rows.extend_from_slice(&row.as_flattened()[..n]);
                }
                return Ok(());
            }
        }
        self.row(12, n).copy_from_slice(end_rates);
        self.stage(system, from, 13, &STAGE_13)?;
        self.stage(system, from, 14, &STAGE_14)?;
        self.stage(system, from, 15, &STAGE_15)?;
        for terms in &DENSE {
            combine(terms, &self.k, &mut self.end, |_, sum| sum.map(|x| from.h * x));
            rows.extend(self.end.as_flattened()[..n].iter());
        }
        Ok(())
    }
}

/// $y + h s$
#[inline]
fn along(y: &Block, h: f64, s: Block) -> Block {
    std::array::from_fn(|c| y[c] + h * s[c])
}
