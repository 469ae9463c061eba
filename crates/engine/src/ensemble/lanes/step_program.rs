//! A step of eight lanes, by one of the methods.

use pfaff_expr::Expr;
use pfaff_model::Workspace;
use pfaff_program::{Backend, LANES, LaneExecutor, LaneRows, Program};

use crate::ensemble::lanes::dop853::dop853_program;
use crate::ensemble::lanes::field::Field;
use crate::ensemble::lanes::layout::StepLayout;
use crate::ensemble::lanes::taylor::TaylorPrograms;
use crate::system::features::has_algebraic_equations;

/// Instructions of a step beyond which single runs are as fast: the code no longer fits the caches.
const LONGEST: usize = 60_000;

/// A step as straight-line code.
pub(super) enum StepProgram {
    /// Rows to rows.
    Dop853(Program),
    /// Rows to coefficients, and both to rows.
    Taylor(TaylorPrograms),
}

impl StepProgram {
    /// The methods that apply to a model. Events are looked for between steps by cubics, for which those of the Taylor
    /// method are too long.
    pub(super) fn all(
        model: &Workspace,
        field: &Field<'_>,
        layout: StepLayout,
        parameters: &[Expr],
        tolerance: f64,
    ) -> Vec<Self> {
        let dop853 = dop853_program(field, layout, parameters).map(Self::Dop853);
        let is_plain =
            layout.events == 0 && layout.phases == 0 && has_algebraic_equations(model);
        let taylor = is_plain
            .then(|| TaylorPrograms::new(field, layout, parameters, tolerance))
            .flatten()
            .map(Self::Taylor);
        dop853.into_iter().chain(taylor).filter(|step| step.instructions() <= LONGEST).collect()
    }

    /// How many instructions a trial takes.
    pub(super) fn instructions(&self) -> usize {
        let of = |program: &Program| program.counts().per_evaluation;
        match self {
            Self::Dop853(step) => of(step),
            Self::Taylor(programs) => of(&programs.coefficients) + of(&programs.control),
        }
    }

    /// The power of the step with which errors grow.
    pub(super) fn order(&self) -> i32 {
        match self {
            Self::Dop853(_) => 8,
            Self::Taylor(programs) => programs.order as i32,
        }
    }

    pub(super) fn executor(
        &self,
        layout: StepLayout,
        values: &[f64],
        backend: Backend,
    ) -> StepExecutor {
        match self {
            Self::Dop853(step) => StepExecutor {
                layout,
                series: None,
                rows: layout.rows(),
                step: step.lane_executor(values, backend),
            },
            Self::Taylor(programs) => {
                let inputs = LaneRows::new(1 + 2 * layout.carried());
                let run = programs.coefficients.lane_executor(values, backend);
                StepExecutor {
                    layout,
                    series: Some((run, inputs)),
                    rows: layout.outputs() + programs.order * layout.carried(),
                    step: programs.control.lane_executor(values, backend),
                }
            }
        }
    }
}

/// Evaluates steps.
pub(super) struct StepExecutor {
    layout: StepLayout,
    /// Coefficients of series, with $(t, y, e)$ as they are given to it.
    series: Option<(LaneExecutor, LaneRows)>,
    /// What the step reads.
    rows: usize,
    step: LaneExecutor,
}

impl StepExecutor {
    /// Room for what a step reads and writes.
    pub(super) fn room(&self) -> LaneRows {
        LaneRows::new(self.rows.max(self.layout.outputs()))
    }

    /// A trial from some rows to others.
    #[inline]
    pub(super) fn evaluate(&mut self, from: &mut LaneRows, to: &mut LaneRows) {
        let outputs = self.layout.outputs() * LANES;
        if let Some((series, inputs)) = &mut self.series {
            let y = StepLayout::Y * LANES..(StepLayout::Y + self.layout.carried()) * LANES;
            let known = inputs.rows_mut();
            known[..LANES].copy_from_slice(&from.rows()[..LANES]);
            known[LANES..LANES + y.len()].copy_from_slice(&from.rows()[y]);
            series.evaluate(inputs.rows(), &mut from.rows_mut()[outputs..]);
        }
        self.step.evaluate(&from.rows()[..self.rows * LANES], &mut to.rows_mut()[..outputs]);
    }

    pub(super) fn set_parameters(&mut self, lane: usize, values: &[f64]) {
        if let Some((series, _)) = &mut self.series {
            series.set_parameters(lane, values);
        }
        self.step.set_parameters(lane, values);
    }
}
