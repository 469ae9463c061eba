//! Evaluates the families of a program: its [`Layer`], before the program itself.

use std::sync::Arc;

use crate::backend::Backend;
use crate::backend::batch::{BatchInterpreter, LANE_BLOCK, LaneBlock};
use crate::backend::executor::Executor;
use crate::backend::lanes::Lanes;
use crate::backend::native::sum_rows;
use crate::backend::native_executor::{AlignedBuffer, NativeExecutor};
use crate::tape::layer::{FamilyLoop, Layer};
use crate::tape::program::Tape;

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
    sums: Vec<LaneBlock>,
    targets: Vec<u32>,
}

#[derive(Clone, Debug)]
enum RowProgram {
    Interpreted(BatchInterpreter),
    Native(NativeExecutor),
}

impl RowProgram {
    #[inline]
    fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        match self {
            Self::Interpreted(run) => run.evaluate(inputs, outputs),
            Self::Native(run) => run.evaluate(inputs, outputs),
        }
    }
}

impl LayerExecutor {
    pub(crate) fn new(layer: &Arc<Layer>, parameters: &[f64], backend: Backend) -> Self {
        let operands = layer.operands.executor(parameters, backend);
        let terms = layer.families.iter().map(|f| TermRows::new(f, backend)).collect();
        Self {
            operands,
            terms,
            list: vec![0.0; layer.operands.outputs() + LANE_BLOCK],
            results: vec![0.0; layer.results + LANE_BLOCK],
            layer: Arc::clone(layer),
        }
    }

    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.operands.set_parameters(parameters);
    }

    /// All parts that are read. Allocates nothing.
    pub(crate) fn evaluate(&mut self, inputs: &[f64]) -> &[f64] {
        let Self { layer, operands, terms, list, results } = self;
        let entries = layer.operands.outputs();
        operands.evaluate(inputs, &mut list[..entries]);
        results.fill(0.0);
        for (family, terms) in layer.families.iter().zip(terms) {
            terms.add(family, list, results);
        }
        &results[..layer.results]
    }
}

/// The families of a program of several lanes, one lane after another; nothing for a program without any.
#[derive(Clone, Debug)]
pub(crate) struct LayerLanes {
    lanes: Vec<LayerExecutor>,
    /// The inputs of one lane.
    one: Vec<f64>,
    /// All inputs of all lanes, what is computed included.
    all: AlignedBuffer,
    length: usize,
}

impl LayerLanes {
    pub(crate) fn new(tape: &Tape, lanes: usize, parameters: &[f64], backend: Backend) -> Self {
        let Some(layer) = &tape.layer else {
            let all = AlignedBuffer::new(0);
            return Self { lanes: Vec::new(), one: Vec::new(), all, length: 0 };
        };
        let length = tape.layout.inputs * lanes;
        Self {
            lanes: vec![LayerExecutor::new(layer, parameters, backend); lanes],
            one: vec![0.0; tape.given()],
            all: AlignedBuffer::new(length),
            length,
        }
    }

    /// Parameter `i` of lane `l` is `parameters[i * lanes + l]`.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        let lanes = self.lanes.len();
        for (l, layer) in self.lanes.iter_mut().enumerate() {
            let own: Vec<f64> = parameters.iter().skip(l).step_by(lanes).copied().collect();
            layer.set_parameters(&own);
        }
    }

    /// The inputs with what is computed from them.
    #[inline]
    pub(crate) fn extended<'a>(&'a mut self, inputs: &'a [f64]) -> &'a [f64] {
        if self.lanes.is_empty() { inputs } else { self.computed(inputs) }
    }

    fn computed(&mut self, inputs: &[f64]) -> &[f64] {
        let Self { lanes, one, all, length } = self;
        let count = lanes.len();
        let all = &mut all.rows()[..*length];
        let (given, computed) = all.split_at_mut(one.len() * count);
        given.copy_from_slice(inputs);
        for (l, layer) in lanes.iter_mut().enumerate() {
            one.iter_mut().enumerate().for_each(|(i, x)| *x = inputs[i * count + l]);
            for (i, &part) in layer.evaluate(one).iter().enumerate() {
                computed[i * count + l] = part;
            }
        }
        all
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
            sums: vec![[0.0; LANE_BLOCK]; outputs],
            targets: vec![0; outputs],
        }
    }

    /// Adds all rows to the parts.
    fn add(&mut self, family: &FamilyLoop, list: &[f64], results: &mut [f64]) {
        let Self { run, inputs, outputs, sums, targets } = self;
        let (reads, writes) = (family.terms.inputs(), family.terms.outputs());
        let inputs = inputs.rows()[..reads * LANE_BLOCK].as_chunks_mut().0;
        let outputs = outputs.rows()[..writes * LANE_BLOCK].as_chunks_mut().0;
        for &(argument, place) in &family.uniform {
            inputs[argument] = [list[place as usize]; LANE_BLOCK];
        }
        let mut evaluate = |inputs: &[LaneBlock], outputs: &mut [LaneBlock]| {
            run.evaluate(inputs.as_flattened(), outputs.as_flattened_mut());
        };
        sum_rows(family, list, results, (inputs, outputs), (sums, targets), &mut evaluate);
    }
}
