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
            Self::Taylor(programs) => programs.all().map(of).sum(),
        }
    }

    /// What a trial takes, in multiply-adds.
    pub(super) fn work(&self) -> usize {
        match self {
            Self::Dop853(step) => step.work(),
            Self::Taylor(programs) => programs.all().map(Program::work).sum(),
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
                let coefficients = programs.coefficients.lane_executor(values, backend);
                let length = programs.length.lane_executor(values, backend);
                let series = SeriesExecutor {
                    inputs: LaneRows::new(1 + 2 * layout.carried()),
                    parts: if coefficients.parts() == length.parts() {
                        length.parts()
                    } else {
                        1
                    },
                    coefficients,
                    length,
                    known: programs.length.inputs(),
                };
                StepExecutor {
                    layout,
                    series: Some(series),
                    rows: programs.end.inputs(),
                    step: programs.end.lane_executor(values, backend),
                }
            }
        }
    }
}

/// Evaluates steps.
#[derive(Clone)]
pub(super) struct StepExecutor {
    layout: StepLayout,
    series: Option<SeriesExecutor>,
    /// What the step reads.
    rows: usize,
    step: LaneExecutor,
}

/// Coefficients of series, and the step that they allow.
#[derive(Clone)]
struct SeriesExecutor {
    /// $(t, y, e)$
    inputs: LaneRows,
    coefficients: LaneExecutor,
    length: LaneExecutor,
    /// How many rows the length is found from.
    known: usize,
    /// In how many parts both are evaluated.
    parts: usize,
}

/// Copies whole rows: a few of them, without a call.
#[inline]
fn copy_rows(from: &[f64], to: &mut [f64]) {
    let (from, to) = (from.as_chunks::<LANES>().0, to.as_chunks_mut::<LANES>().0);
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

impl StepExecutor {
    /// Room for what a step reads and writes.
    pub(super) fn room(&self) -> LaneRows {
        LaneRows::new(self.rows.max(self.layout.outputs()))
    }

    /// How many groups of lanes take turns, phase by phase: two where one register holds a whole row, so that one of
    /// them goes on while the roots of the other wait for each other. Otherwise the parts of a row do.
    pub(super) fn groups(&self) -> usize {
        match &self.series {
            Some(series) if series.parts == 1 => 2,
            _ => 1,
        }
    }

    /// The first phase of a trial, written behind the rows that it begins from.
    #[inline]
    pub(super) fn begin(&mut self, from: &mut LaneRows) {
        let outputs = self.layout.outputs() * LANES;
        let Some(SeriesExecutor { inputs, coefficients, length, known, parts }) =
            &mut self.series
        else {
            return;
        };
        let y = StepLayout::Y * LANES..(StepLayout::Y + self.layout.carried()) * LANES;
        let state = inputs.rows_mut();
        copy_rows(&from.rows()[..LANES], &mut state[..LANES]);
        copy_rows(&from.rows()[y], &mut state[LANES..]);
        let (known, lengths) = from.rows_mut().split_at_mut(*known * LANES);
        if *parts == 1 {
            coefficients.evaluate(inputs.rows(), &mut known[outputs..]);
            return;
        }
        let count = self.rows * LANES - known.len();
        for part in 0..*parts {
            coefficients.evaluate_part(part, inputs.rows(), &mut known[outputs..]);
            length.evaluate_part(part, known, &mut lengths[..count]);
        }
    }

    /// The phase after it.
    #[inline]
    pub(super) fn go_on(&mut self, from: &mut LaneRows) {
        if let Some(SeriesExecutor { length, known, parts: 1, .. }) = &mut self.series {
            let (known, lengths) = from.rows_mut().split_at_mut(*known * LANES);
            let count = self.rows * LANES - known.len();
            length.evaluate(known, &mut lengths[..count]);
        }
    }

    /// The last one: other rows.
    #[inline]
    pub(super) fn end(&mut self, from: &LaneRows, to: &mut LaneRows) {
        let outputs = self.layout.outputs() * LANES;
        self.step.evaluate(&from.rows()[..self.rows * LANES], &mut to.rows_mut()[..outputs]);
    }

    /// Evaluates what depends on parameters alone, for rows of eight.
    pub(super) fn prepare(&mut self, parameters: &[f64]) {
        if let Some(series) = &mut self.series {
            series.coefficients.prepare(parameters);
            series.length.prepare(parameters);
        }
        self.step.prepare(parameters);
    }

    /// What was found of one of the eight.
    pub(super) fn prepared(&self, lane: usize, values: &mut Vec<f64>) {
        values.clear();
        if let Some(series) = &self.series {
            series.coefficients.prepared(lane, values);
            series.length.prepared(lane, values);
        }
        self.step.prepared(lane, values);
    }

    /// Gives it to a lane.
    pub(super) fn set_prepared(&mut self, lane: usize, values: &[f64]) {
        let mut rest = values;
        if let Some(series) = &mut self.series {
            rest = series.coefficients.set_prepared(lane, rest);
            rest = series.length.set_prepared(lane, rest);
        }
        self.step.set_prepared(lane, rest);
    }
}
