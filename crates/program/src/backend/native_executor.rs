//! Machine code of a program, and its execution.
//!
//! ```text
//! Tape ──MachineCode::compile──► NativeCode ──start(parameters)──► NativeExecutor ──evaluate──► outputs
//! ```
//!
//! What depends on parameters alone is left to the interpreter, whenever parameters change.

use std::sync::Arc;

use crate::backend::Backend;
use crate::backend::aligned_buffer::AlignedBuffer;
use crate::backend::lanes::Lanes;
use crate::backend::layer_lanes::LayerLanes;
use crate::backend::native::{MachineCode, RightSide};
use crate::backend::runge_kutta::{Block, RungeKuttaMethod, StepBuffers};
use crate::tape::instruction::Slot;
use crate::tape::program::Tape;

/// Machine code of a program. Cheap to clone: clones share the code.
#[derive(Clone, Debug)]
pub struct NativeCode {
    tape: Arc<Tape>,
    code: MachineCode,
    lanes: Lanes,
    backend: Backend,
}

impl NativeCode {
    pub(crate) fn new(tape: &Arc<Tape>, lanes: Lanes, backend: Backend) -> Option<Self> {
        let code = MachineCode::compile(tape, lanes, backend)?;
        Some(Self { tape: Arc::clone(tape), code, lanes, backend })
    }

    #[cfg(all(test, any(all(target_arch = "x86_64", unix), feature = "cranelift")))]
    pub(crate) fn with_code(tape: &Arc<Tape>, code: MachineCode, lanes: Lanes) -> Self {
        Self { tape: Arc::clone(tape), code, lanes, backend: Backend::default() }
    }

    /// Begins a run with these parameters, the same in all lanes.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program.
    pub fn start(&self, parameters: &[f64]) -> NativeExecutor {
        let lanes = self.lanes.count();
        let mut slots = vec![0.0; self.tape.layout.slots()];
        let first = self.tape.layout.first_constant();
        slots[first..first + self.tape.constants.len()].copy_from_slice(&self.tape.constants);
        let memory = AlignedBuffer::new(self.code.memory());
        let layers = LayerLanes::new(&self.tape, lanes, parameters, self.backend);
        let constants = first..first + self.tape.constants.len();
        let own = (1..).zip(self.code.fixed().iter().copied());
        let own = own.filter(|&(_, slot)| !constants.contains(&(slot as usize)));
        let own = own.map(|(row, slot)| (self.code.middle() - row * lanes, slot)).collect();
        let mut run = NativeExecutor { native: self.clone(), memory, slots, own, layers };
        let all: Vec<f64> =
            parameters.iter().flat_map(|&p| std::iter::repeat_n(p, lanes)).collect();
        run.set_parameters(&all);
        run
    }

    /// How many states it evaluates at once.
    pub fn lanes(&self) -> Lanes {
        self.lanes
    }

    /// The size of the code, constants included.
    pub fn bytes(&self) -> usize {
        self.code.bytes()
    }
}

/// Evaluates machine code with given parameters. It owns its memory: give each thread its own.
///
/// With several lanes number `i` of lane `l` stands at `i * lanes + l`, as in a
/// [`BatchInterpreter`](crate::BatchInterpreter).
#[derive(Clone, Debug)]
pub struct NativeExecutor {
    native: NativeCode,
    memory: AlignedBuffer,
    /// Where the interpreter evaluates what depends on parameters alone.
    slots: Vec<f64>,
    /// Where the rows before the middle begin whose values depend on parameters, with their slots.
    own: Vec<(usize, Slot)>,
    layers: LayerLanes,
}

impl NativeExecutor {
    /// How many states are evaluated at once.
    pub fn lanes(&self) -> Lanes {
        self.native.lanes
    }

    /// Other parameters: parameter `i` of lane `l` is `parameters[i * lanes + l]`. What depends on them alone
    /// is evaluated here.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program times the lanes.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        let Self {
            native: NativeCode { tape, code, lanes, .. }, memory, slots, layers, ..
        } = self;
        layers.set_parameters(parameters);
        let (lanes, first) = (lanes.count(), tape.layout.first_parameter());
        assert_eq!(parameters.len(), tape.layout.parameters * lanes, "number of parameters");
        let memory = memory.rows();
        for l in 0..lanes {
            for (i, row) in parameters.chunks_exact(lanes).enumerate() {
                slots[first + i] = row[l];
            }
            tape.execute(&tape.per_run, slots);
            for (row, &slot) in (1..).zip(code.fixed()) {
                memory[code.middle() - row * lanes + l] = slots[slot as usize];
            }
        }
    }

    /// Other parameters of one lane.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program, or there is no such lane.
    pub fn set_lane_parameters(&mut self, lane: usize, parameters: &[f64]) {
        let Self {
            native: NativeCode { tape, code, lanes, .. }, memory, slots, layers, ..
        } = self;
        let (lanes, first) = (lanes.count(), tape.layout.first_parameter());
        assert!(lane < lanes, "a lane");
        slots[first..][..tape.layout.parameters].copy_from_slice(parameters);
        layers.set_lane_parameters(lane, parameters);
        tape.execute(&tape.per_run, slots);
        let memory = memory.rows();
        for (row, &slot) in (1..).zip(code.fixed()) {
            memory[code.middle() - row * lanes + lane] = slots[slot as usize];
        }
    }

    /// Whether slots are all that parameters decide: there are no families of like terms.
    #[inline]
    pub(crate) fn reads_slots_only(&self) -> bool {
        self.layers.is_empty()
    }

    /// The slots whose values depend on parameters, with the places of their rows.
    pub(crate) fn lane_slots(&self) -> &[(usize, Slot)] {
        &self.own
    }

    /// The values of these slots in one lane.
    pub(crate) fn set_lane_slots(&mut self, lane: usize, values: &[f64]) {
        let Self { memory, own, .. } = self;
        let memory = memory.rows();
        for (&(row, _), value) in own.iter().zip(values) {
            memory[row + lane] = *value;
        }
    }

    /// The outputs of all lanes. Allocates nothing. Eight lanes are fastest where inputs and outputs begin at
    /// a multiple of 64 bytes.
    ///
    /// # Panics
    ///
    /// If the lengths are not those of the program times the lanes.
    #[inline]
    pub fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        self.native.code.run(self.layers.extended(inputs), outputs, self.memory.rows());
    }

    /// How many parts the lanes are evaluated in.
    pub(crate) fn parts(&self) -> usize {
        self.native.code.parts()
    }

    /// The outputs of the lanes of one part; there are no families of like terms.
    #[inline]
    pub(crate) fn evaluate_part(&mut self, part: usize, inputs: &[f64], outputs: &mut [f64]) {
        self.native.code.run_part(part, inputs, outputs, self.memory.rows());
    }

    /// A whole step of this right-hand side, from $(t, y)$ to $f(t, y)$. It may give rates of more components
    /// than it reads: those are carried along behind the others. Says whether all numbers are finite.
    ///
    /// # Panics
    ///
    /// If the rows are shorter than that.
    pub fn step<M: RungeKuttaMethod>(&mut self, buffers: &mut StepBuffers<'_>) -> bool {
        self.right_side().step::<M>(buffers)
    }

    /// Adds to a step the stages for dense output, and writes its rows into `dense`. Says whether all stages
    /// are finite.
    ///
    /// # Panics
    ///
    /// If the rows are too short.
    pub fn dense_output<M: RungeKuttaMethod>(
        &mut self,
        buffers: &mut StepBuffers<'_>,
        dense: &mut [Block],
    ) -> bool {
        self.right_side().dense_output::<M>(buffers, dense)
    }

    fn right_side(&mut self) -> RightSide<impl FnMut(&[f64], &mut [f64])> {
        let Self { native: NativeCode { tape, code, .. }, memory, layers, .. } = self;
        let memory = memory.rows();
        RightSide {
            read: tape.given(),
            given: tape.outputs.len(),
            rates: |at: &[f64], rates: &mut [f64]| code.run(layers.extended(at), rates, memory),
        }
    }
}
