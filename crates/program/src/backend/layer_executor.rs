//! Evaluates the families of a program: its [`Layer`], before the program itself.

use std::sync::Arc;

use crate::backend::Backend;
use crate::backend::batch::{BatchInterpreter, LANE_BLOCK};
use crate::backend::executor::Executor;
use crate::backend::lanes::Lanes;
use crate::backend::native::{RowRoom, sum_rows};
use crate::backend::native_executor::{AlignedBuffer, NativeExecutor};
use crate::tape::layer::{FamilyLoop, Layer, PartEvaluator};

/// Evaluates families one state at a time.
#[derive(Clone, Debug)]
pub(crate) struct LayerExecutor {
    layer: Arc<Layer>,
    operands: Executor,
    terms: Vec<TermRows>,
    /// The entries of all lists, and room beyond them for a block.
    list: Vec<f64>,
    /// The parts, and room for a block.
    results: Vec<f64>,
}

/// The terms of a family at eight rows.
#[derive(Clone, Debug)]
struct TermRows {
    run: RowProgram,
    inputs: AlignedBuffer,
    outputs: AlignedBuffer,
    room: RowRoom,
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
        let operands = layer.operands.executor(parameters, backend);
        let terms = layer.families.iter().map(|f| TermRows::new(f, backend)).collect();
        Box::new(Self {
            operands,
            terms,
            list: vec![0.0; layer.operands.outputs() + LANE_BLOCK],
            results: vec![0.0; layer.results + LANE_BLOCK],
            layer: Arc::clone(layer),
        })
    }
}

impl PartEvaluator for LayerExecutor {
    fn set_parameters(&mut self, parameters: &[f64]) {
        self.operands.set_parameters(parameters);
    }

    fn evaluate(&mut self, inputs: &[f64]) -> &[f64] {
        let Self { layer, operands, terms, list, results } = self;
        let entries = layer.operands.outputs();
        operands.evaluate(inputs, &mut list[..entries]);
        results.fill(0.0);
        for (family, terms) in layer.families.iter().zip(terms) {
            terms.add(family, list, results);
        }
        &results[..layer.results]
    }

    fn copy(&self) -> Box<dyn PartEvaluator> {
        Box::new(self.clone())
    }
}

impl TermRows {
    fn new(family: &FamilyLoop, backend: Backend) -> Self {
        let (inputs, outputs) = (family.terms.inputs(), family.terms.outputs());
        let run = match family.terms.native_code(Lanes::Eight, backend) {
            Some(native) => RowProgram::Native(native.start(&[])),
            None => RowProgram::Interpreted(family.terms.batch_interpreter(LANE_BLOCK, &[])),
        };
        Self {
            run,
            inputs: AlignedBuffer::new(inputs * LANE_BLOCK),
            outputs: AlignedBuffer::new(outputs * LANE_BLOCK),
            room: RowRoom::new(family),
        }
    }

    /// Adds all rows to the parts.
    fn add(&mut self, family: &FamilyLoop, list: &[f64], results: &mut [f64]) {
        let Self { run, inputs, outputs, room } = self;
        let (reads, writes) = (family.terms.inputs(), family.terms.outputs());
        let inputs = inputs.rows()[..reads * LANE_BLOCK].as_chunks_mut().0;
        let outputs = outputs.rows()[..writes * LANE_BLOCK].as_chunks_mut().0;
        for &(argument, place) in &family.uniform {
            inputs[argument] = [list[place as usize]; LANE_BLOCK];
        }
        let terms = (inputs, outputs);
        match run {
            RowProgram::Interpreted(run) => {
                sum_rows(family, list, results, terms, room, |inputs, outputs| {
                    run.evaluate(inputs.as_flattened(), outputs.as_flattened_mut());
                });
            }
            RowProgram::Native(run) => {
                sum_rows(family, list, results, terms, room, |inputs, outputs| {
                    run.evaluate(inputs.as_flattened(), outputs.as_flattened_mut());
                });
            }
        }
    }
}
