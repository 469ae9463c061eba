//! Evaluates the families of a program: its [`Layer`], before the program itself.

use std::sync::Arc;

use crate::backend::Backend;
use crate::backend::aligned_buffer::AlignedBuffer;
use crate::backend::batch::{BatchInterpreter, LANE_BLOCK};
use crate::backend::executor::Executor;
use crate::backend::lanes::Lanes;
use crate::backend::native::{RowCode, RowRoom, RowWork, sum_rows};
use crate::backend::native_executor::NativeExecutor;
use crate::backend::row_plan::RowPlan;
use crate::tape::layer::{FamilyLoop, LONGEST_STRETCH, Layer, PartEvaluator};

/// Evaluates families one state at a time.
#[derive(Clone, Debug)]
pub(crate) struct LayerExecutor {
    layer: Arc<Layer>,
    inner: Option<Box<dyn PartEvaluator>>,
    operands: Executor,
    terms: Vec<TermRows>,
}

/// The terms of a family at the rows of a stretch.
#[derive(Clone, Debug)]
struct TermRows {
    run: RowProgram,
    inputs: AlignedBuffer,
    outputs: AlignedBuffer,
    room: RowRoom,
    plan: Arc<RowPlan>,
    /// Those of the shapes of the plan.
    loops: Vec<RowCode>,
}

#[derive(Clone, Debug)]
enum RowProgram {
    Interpreted(BatchInterpreter),
    Native(NativeExecutor),
}

impl LayerExecutor {
    /// Ready to evaluate, with these parameters.
    pub(crate) fn start(
        layer: &Arc<Layer>,
        parameters: &[f64],
        backend: Backend,
    ) -> Box<dyn PartEvaluator> {
        let inner = layer.inner.as_ref().map(|inner| (inner.start)(inner, parameters, backend));
        let operands = layer.operands.executor(parameters, backend);
        let terms =
            layer.families.iter().map(|f| TermRows::new(f, layer.first, backend)).collect();
        Box::new(Self { layer: Arc::clone(layer), inner, operands, terms })
    }
}

impl PartEvaluator for LayerExecutor {
    fn set_parameters(&mut self, parameters: &[f64]) {
        self.inner.iter_mut().for_each(|inner| inner.set_parameters(parameters));
        self.operands.set_parameters(parameters);
    }

    fn evaluate(&mut self, list: &mut [f64]) {
        let Self { layer, inner, operands, terms } = self;
        inner.iter_mut().for_each(|inner| inner.evaluate(list));
        let (known, others) = list.split_at_mut(layer.operands.inputs());
        operands.evaluate(known, &mut others[..layer.operands.outputs()]);
        list[layer.first..][..layer.results].fill(0.0);
        for (family, terms) in layer.families.iter().zip(terms) {
            terms.add(family, list, layer.first);
        }
    }

    fn copy(&self) -> Box<dyn PartEvaluator> {
        Box::new(self.clone())
    }
}

impl TermRows {
    /// Parts begin at `first` in the list.
    fn new(family: &FamilyLoop, first: usize, backend: Backend) -> Self {
        let (inputs, outputs) = (family.terms.inputs().max(1), family.terms.outputs());
        let run = match family.terms.native_code(Lanes::Eight, backend) {
            Some(native) => RowProgram::Native(native.start(&[])),
            None => RowProgram::Interpreted(family.terms.batch_interpreter(LANE_BLOCK, &[])),
        };
        let limits = RowCode::limits(family, backend);
        let planned = limits.map(|limits| RowPlan::with_loops(family, first, limits));
        let compiled = planned.and_then(|plan| {
            let loops = plan.shapes.iter().map(|shape| RowCode::compile(family, shape));
            Some((loops.collect::<Option<Vec<_>>>()?, plan))
        });
        let (loops, plan) =
            compiled.unwrap_or_else(|| (Vec::new(), RowPlan::by_blocks(family)));
        Self {
            run,
            inputs: AlignedBuffer::new(LONGEST_STRETCH * inputs * LANE_BLOCK),
            outputs: AlignedBuffer::new(LONGEST_STRETCH * outputs * LANE_BLOCK),
            room: RowRoom::new(family),
            plan: Arc::new(plan),
            loops,
        }
    }

    /// Adds all rows to the parts, which begin at `first` in the list.
    fn add(&mut self, family: &FamilyLoop, list: &mut [f64], first: usize) {
        let Self { run, inputs, outputs, room, plan, loops } = self;
        let (reads, writes) = (family.terms.inputs().max(1), family.terms.outputs());
        let inputs = inputs.rows()[..LONGEST_STRETCH * reads * LANE_BLOCK].as_chunks_mut().0;
        let outputs = outputs.rows()[..LONGEST_STRETCH * writes * LANE_BLOCK].as_chunks_mut().0;
        for &(argument, place) in &family.uniform {
            let block = [list[place as usize]; LANE_BLOCK];
            inputs.iter_mut().skip(argument).step_by(reads).for_each(|to| *to = block);
        }
        let work = RowWork { family, plan, loops, inputs, outputs, room };
        match run {
            RowProgram::Interpreted(run) => sum_rows(work, list, first, |inputs, outputs| {
                run.evaluate(inputs.as_flattened(), outputs.as_flattened_mut());
            }),
            RowProgram::Native(run) => sum_rows(work, list, first, |inputs, outputs| {
                run.evaluate(inputs.as_flattened(), outputs.as_flattened_mut());
            }),
        }
    }
}
