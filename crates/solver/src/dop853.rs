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
use crate::system::{Counted, Halt, finite};

/// The numbers of (DP) and (E), for systems that carry out [whole steps](crate::System::whole_step).
#[derive(Clone, Copy, Debug)]
pub struct Coefficients {
    /// $c_i$ of the stages 1 to 11.
    pub nodes: &'static [f64],
    /// $a_{ij}$ of the stages 1 to 11: stages and their weights.
    pub rows: [&'static [(usize, f64)]; STAGES],
    /// $b_i$
    pub weights: &'static [(usize, f64)],
    /// Those of $e_5$ and $e_3$, without $h$.
    pub errors: [&'static [(usize, f64)]; 2],
}

/// Stages after the first.
const STAGES: usize = 11;

impl Coefficients {
    /// What a whole step gives: the stages 1 to 11, the state at the end, $e_5$, $e_3$, and the rates at the end.
    pub const ROWS: usize = STAGES + 4;

    /// Dormand and Prince 8(5,3).
    pub fn dop853() -> Self {
        Self {
            nodes: &NODES[1..=STAGES],
            rows: [
                &STAGE_1, &STAGE_2, &STAGE_3, &STAGE_4, &STAGE_5, &STAGE_6, &STAGE_7, &STAGE_8,
                &STAGE_9, &STAGE_10, &STAGE_11,
            ],
            weights: &WEIGHTS,
            errors: [&ERROR_5, &ERROR_3],
        }
    }
}

/// Storage of (DP).
pub(crate) struct Dop853 {
    /// The 16 stages, one after the other, in whole blocks.
    k: Vec<Block>,
    stage: Vec<Block>,
    /// The state that the step starts from, in whole blocks.
    y: Vec<Block>,
    /// $(t, h, y, f)$ and the rows of a step that the system carries out at once.
    at: Vec<f64>,
    rows: Vec<f64>,
    is_whole: bool,
}

impl Dop853 {
    pub(crate) fn new(n: usize) -> Self {
        let row = vec![[0.0; BLOCK]; blocks(n)];
        Self {
            k: vec![[0.0; BLOCK]; 16 * row.len()],
            stage: row.clone(),
            y: row,
            at: vec![0.0; 2 + 2 * n],
            rows: vec![0.0; Coefficients::ROWS * n],
            is_whole: false,
        }
    }

    /// Has the system carry out the step.
    fn is_carried_out(&mut self, system: &mut Counted<'_>, from: &Base<'_>) -> bool {
        let n = from.y.len();
        self.at[..2].copy_from_slice(&[from.t, from.h]);
        self.at[2..2 + n].copy_from_slice(from.y);
        self.at[2 + n..].copy_from_slice(from.f);
        self.is_whole =
            system.system.whole_step(&self.at, &mut self.rows) && finite(&self.rows).is_ok();
        if self.is_whole {
            system.evaluations += STAGES + 1;
        }
        self.is_whole
    }

    /// A row of what the system gave, counted from the stages on.
    fn given(&self, row: usize) -> &[f64] {
        let n = self.rows.len() / Coefficients::ROWS;
        &self.rows[row * n..(row + 1) * n]
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
        let Self { k, stage, y, .. } = self;
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
        if self.is_carried_out(system, from) {
            end.copy_from_slice(self.given(STAGES));
            return Ok(());
        }
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
        let Self { k, stage, y, .. } = self;
        combine(&WEIGHTS, k, stage, |b, sum| along(&y[b], from.h, sum));
        end.copy_from_slice(&stage.as_flattened()[..n]);
        Ok(())
    }

    fn end_rates(&self) -> Option<&[f64]> {
        self.is_whole.then(|| self.given(STAGES + 3))
    }

    fn error(&mut self, from: &Base<'_>, end: &[f64], allowed: &Allowed) -> f64 {
        let n = from.y.len();
        if !self.is_whole {
            for (row, terms) in [&ERROR_5, &ERROR_3].into_iter().enumerate() {
                combine(terms, &self.k, &mut self.stage, |_, sum| sum);
                let place = (STAGES + 1 + row) * n;
                self.rows[place..place + n].copy_from_slice(&self.stage.as_flattened()[..n]);
            }
        }
        let errors = [self.given(STAGES + 1), self.given(STAGES + 2)];
        let [e5, e3] = largest(errors, from.y, end, allowed);
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
    ) -> Result<(), Halt> {
        let n = from.y.len();
        if self.is_whole {
            self.row(0, n).copy_from_slice(from.f);
            self.y.as_flattened_mut()[..n].copy_from_slice(from.y);
            for i in 0..STAGES {
                let width = self.stage.len();
                let row = &mut self.k[(i + 1) * width..].as_flattened_mut()[..n];
                row.copy_from_slice(&self.rows[i * n..(i + 1) * n]);
            }
        }
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

/// The largest errors as multiples of the allowed one.
fn largest(errors: [&[f64]; 2], y: &[f64], end: &[f64], allowed: &Allowed) -> [f64; 2] {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let [five, three] = errors;
    let components = five.iter().zip(three).zip(y.iter().zip(end)).take(allowed.controlled);
    components.fold([0.0; 2], |[a, b], ((e5, e3), (y, y1))| {
        let scale = 1.0 / allowed.at(larger(y.abs(), y1.abs()));
        [larger(a, e5.abs() * scale), larger(b, e3.abs() * scale)]
    })
}

/// $y + h s$
#[inline]
fn along(y: &Block, h: f64, s: Block) -> Block {
    std::array::from_fn(|c| y[c] + h * s[c])
}
