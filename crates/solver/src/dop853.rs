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

use crate::dop853_table::{
    DENSE, ERROR_3, ERROR_5, NODES, STAGE_1, STAGE_2, STAGE_3, STAGE_4, STAGE_5, STAGE_6,
    STAGE_7, STAGE_8, STAGE_9, STAGE_10, STAGE_11, STAGE_13, STAGE_14, STAGE_15, WEIGHTS,
};
use crate::stepper::{Allowed, BLOCK, Base, Block, Stepper, Term, blocks, combine};
use crate::system::{Counted, Halt};

/// Storage of (DP).
pub(crate) struct Dop853 {
    /// The 16 stages, one after the other, in whole blocks.
    k: Vec<Block>,
    stage: Vec<Block>,
    /// The state that the step starts from, in whole blocks.
    y: Vec<Block>,
}

impl Dop853 {
    pub(crate) fn new(n: usize) -> Self {
        let row = vec![[0.0; BLOCK]; blocks(n)];
        Self { k: vec![[0.0; BLOCK]; 16 * row.len()], stage: row.clone(), y: row }
    }

    /// The components of a stage.
    fn row(&mut self, i: usize, n: usize) -> &mut [f64] {
        let width = self.stage.len();
        &mut self.k[i * width..(i + 1) * width].as_flattened_mut()[..n]
    }

    /// Evaluates stage `i`.
    fn stage<const N: usize>(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        i: usize,
        row: &[Term; N],
    ) -> Result<(), Halt> {
        let n = from.y.len();
        let Self { k, stage, y } = self;
        combine(row, k, stage, |b, sum| along(&y[b], from.h, sum));
        let width = stage.len();
        let rates = &mut k[i * width..(i + 1) * width].as_flattened_mut()[..n];
        system.rates(from.t + NODES[i] * from.h, &stage.as_flattened()[..n], rates)
    }
}

impl Stepper for Dop853 {
    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end: &mut [f64],
    ) -> Result<(), Halt> {
        let n = from.y.len();
        self.row(0, n).copy_from_slice(from.f);
        self.y.as_flattened_mut()[..n].copy_from_slice(from.y);
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
        let Self { k, stage, y } = self;
        combine(&WEIGHTS, k, stage, |b, sum| along(&y[b], from.h, sum));
        end.copy_from_slice(&stage.as_flattened()[..n]);
        Ok(())
    }

    fn error(&mut self, from: &Base<'_>, end: &[f64], allowed: &Allowed) -> f64 {
        let mut norm = |terms: &[Term; 8]| {
            combine(terms, &self.k, &mut self.stage, |_, sum| sum);
            let components =
                self.stage.as_flattened().iter().zip(from.y).zip(end).take(allowed.controlled);
            components.fold(0.0_f64, |largest, ((e, y), y1)| {
                largest.max(e.abs() / allowed.at(y.abs().max(y1.abs())))
            })
        };
        let (e5, e3) = (norm(&ERROR_5), norm(&ERROR_3));
        if e5 == 0.0 {
            return 0.0;
        }
        // (E), written so that squares do not overflow.
        from.h.abs() * e5 / libm::hypot(1.0, 0.1 * e3 / e5)
    }

    fn refine(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end_rates: &[f64],
        rows: &mut Vec<f64>,
    ) -> Result<(), Halt> {
        let n = from.y.len();
        self.row(12, n).copy_from_slice(end_rates);
        self.stage(system, from, 13, &STAGE_13)?;
        self.stage(system, from, 14, &STAGE_14)?;
        self.stage(system, from, 15, &STAGE_15)?;
        for terms in &DENSE {
            combine(terms, &self.k, &mut self.stage, |_, sum| sum);
            rows.extend(self.stage.as_flattened()[..n].iter().map(|sum| from.h * sum));
        }
        Ok(())
    }
}

/// $y + h s$
#[inline]
fn along(y: &Block, h: f64, s: Block) -> Block {
    std::array::from_fn(|c| y[c] + h * s[c])
}
