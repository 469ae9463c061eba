//! A program: the tape of some expressions, and the contract of every backend that runs it.
//!
//! **Contract of a backend** (interpreter, batch interpreter, machine code):
//!
//! 1. Slots are numbered as `allocate.rs` says: inputs, parameters, constants, kept values, temporaries.
//!    Constants, parameters and kept values are only read during an evaluation; temporaries mean nothing
//!    between evaluations.
//! 2. The part `per_run` is carried out whenever parameters change, the part `per_evaluation` at every
//!    evaluation, each in its order; then the outputs are read from their slots. Independent instructions may
//!    be exchanged.
//! 3. An instruction reads its operands before it writes its results. A result may take the slot of an operand.
//! 4. Every result has the bits that the scalar interpreter gives. Each operation is rounded by itself,
//!    multiply-adds of a fused program once. Nothing is reassociated. Sine and cosine are those of
//!    [`sincos`](crate::sincos()) or [`sincos_fused`](crate::sincos_fused()), functions those of
//!    `pfaff_expr`. Only the sign and payload of a NaN are free.
//! 5. An evaluation allocates nothing.
//! 6. The last inputs may be parts of families of like terms: `layer.rs` says how these are computed first.

use std::fmt;
use std::sync::Arc;

use pfaff_expr::{Expr, Graph, Table};

use crate::backend::Backend;
use crate::backend::batch::BatchInterpreter;
use crate::backend::executor::Executor;
use crate::backend::interpreter::Interpreter;
use crate::backend::lane_executor::LaneExecutor;
use crate::backend::lanes::Lanes;
use crate::backend::native_executor::NativeCode;
use crate::backend::tiered::TieredExecutor;
use crate::error::CompileError;
use crate::tape::allocate::{AllocatedTape, SlotLayout, allocate};
use crate::tape::fuse::fuse;
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::layer::Layer;
use crate::tape::lower::{InputName, SsaTape, lower};

/// Expressions made ready for evaluation. Cheap to clone; it prints as its tape.
///
/// ```
/// use pfaff_expr::{Graph, Role};
/// use pfaff_program::Program;
///
/// let g = Graph::new();
/// let (x, m) = (g.symbol("x", Role::Coordinate { order: 0 }), g.symbol("m", Role::Parameter));
/// let program = Program::compile(&g, &[x], &[m], &[g.div(g.sin(x), m), x])?;
/// let (mut run, mut outputs) = (program.interpreter(&[2.0]), [0.0; 2]);
/// run.evaluate(&[0.0], &mut outputs);
/// assert_eq!(outputs, [0.0, 0.0]);
/// # Ok::<(), pfaff_program::CompileError>(())
/// ```
#[derive(Clone)]
pub struct Program {
    pub(crate) tape: Arc<Tape>,
}

/// How much there is to do, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Operations on numbers, carried out when the program was made.
    pub once: usize,
    /// Instructions at each change of parameters.
    pub per_run: usize,
    /// Instructions at each evaluation.
    pub per_evaluation: usize,
    /// Doubles of memory, inputs and constants included.
    pub slots: usize,
}

/// What an executor needs.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    pub(crate) layout: SlotLayout,
    pub(crate) constants: Vec<f64>,
    pub(crate) per_run: Vec<Instruction>,
    pub(crate) per_evaluation: Vec<Instruction>,
    pub(crate) outputs: Vec<Slot>,
    pub(crate) tables: Vec<Table>,
    /// Multiply-adds round once.
    pub(crate) fused: bool,
    /// What computes the last inputs from the others: families of like terms.
    pub(crate) layer: Option<Arc<Layer>>,
    once: usize,
    /// Of the inputs, then of the parameters.
    names: Vec<InputName>,
}

impl Program {
    /// Compiles the outputs, given what changes at every evaluation and what is fixed during a run.
    ///
    /// Any expression may be an input or a parameter, not only a symbol: what it is made of is then not
    /// looked at. So values that something else computes, such as those of memory operators, enter a program.
    ///
    /// # Errors
    ///
    /// [`CompileError`] if an output contains something that is not given and has no value at one instant, or
    /// a leaf is listed twice.
    pub fn compile(
        graph: &Graph,
        inputs: &[Expr],
        parameters: &[Expr],
        outputs: &[Expr],
    ) -> Result<Self, CompileError> {
        Self::compile_ordered(graph, inputs, parameters, outputs, &[])
    }

    /// As [`Program::compile`], with instructions in another order: what `first` needs comes first, in its
    /// order. The order of instructions matters more for the time of an evaluation than their number: values
    /// that are used together should be computed together.
    ///
    /// # Errors
    ///
    /// As [`Program::compile`].
    pub fn compile_ordered(
        graph: &Graph,
        inputs: &[Expr],
        parameters: &[Expr],
        outputs: &[Expr],
        first: &[Expr],
    ) -> Result<Self, CompileError> {
        let given: Vec<Expr> = inputs.iter().chain(parameters).copied().collect();
        let outputs = graph.alike(outputs, &given);
        let (inputs, layer) = Layer::extended(graph, inputs, parameters, &outputs)?;
        let made = Self::straight(graph, &inputs, parameters, &outputs, first)?;
        let Some(layer) = layer else { return Ok(made) };
        let tape = Tape { layer: Some(layer), ..Arc::unwrap_or_clone(made.tape) };
        Ok(Self { tape: Arc::new(tape) })
    }

    /// A program without families but those that are inputs.
    pub(crate) fn straight(
        graph: &Graph,
        inputs: &[Expr],
        parameters: &[Expr],
        outputs: &[Expr],
        first: &[Expr],
    ) -> Result<Self, CompileError> {
        let lowered = lower(graph, inputs, parameters, outputs, first)?;
        let names = inputs.iter().chain(parameters).map(|&e| InputName::of(graph, e)).collect();
        Ok(Self::from_lowered(lowered, names))
    }

    /// Instructions on values into a program; `names` are those of the inputs, then of the parameters.
    pub(crate) fn from_lowered(mut lowered: SsaTape, names: Vec<InputName>) -> Self {
        fuse(&mut lowered);
        let AllocatedTape { layout, constants, per_run, per_evaluation, outputs } =
            allocate(&lowered);
        let (tables, once) = (lowered.tables, lowered.once);
        let tape = Tape {
            layout,
            constants,
            per_run,
            per_evaluation,
            outputs,
            tables,
            fused: false,
            layer: None,
            once,
            names,
        };
        Self { tape: Arc::new(tape) }
    }

    /// The same steps, where products that join a sum are rounded with it, once, and sines and cosines are
    /// those of [`sincos_fused`](crate::sincos_fused). Faster on processors that have the instruction, and
    /// with the same bits on those that have not.
    ///
    /// What cancels exactly when rounded twice, as $ab - cd$ does for $a = d$, $b = c$, leaves a rounding error here.
    #[must_use]
    pub fn fused(self) -> Self {
        let tape = Arc::unwrap_or_clone(self.tape);
        let layer = tape.layer.map(|l| Arc::new(Arc::unwrap_or_clone(l).fused()));
        let tape = Tape { fused: true, layer, ..tape };
        Self { tape: Arc::new(tape) }
    }

    /// Begins a run with these parameters: everything that depends on them alone is evaluated here.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program.
    pub fn interpreter(&self, parameters: &[f64]) -> Interpreter {
        Interpreter::new(&self.tape, parameters)
    }

    /// Begins a run of many states at once, all with these parameters.
    ///
    /// # Panics
    ///
    /// If the number of parameters is not that of the program, or there are no lanes.
    pub fn batch_interpreter(&self, lanes: usize, parameters: &[f64]) -> BatchInterpreter {
        BatchInterpreter::new(&self.tape, lanes, parameters)
    }

    /// Machine code for this processor that evaluates so many states at once; `None` if the backend has none.
    /// It is compiled anew at each call: keep it.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// use pfaff_program::{Backend, Lanes, Program};
    ///
    /// let g = Graph::new();
    /// let x = g.symbol("x", Role::Free);
    /// let program = Program::compile(&g, &[x], &[], &[g.cos(x), g.mul(x, x)])?.fused();
    /// if let Some(native) = program.native_code(Lanes::Four, Backend::default()) {
    ///     let mut outputs = [0.0; 8];
    ///     native.start(&[]).evaluate(&[0.0, 1.0, 2.0, 3.0], &mut outputs);
    ///     assert_eq!(outputs[0], 1.0);
    ///     assert_eq!(outputs[4..], [0.0, 1.0, 4.0, 9.0]);
    /// }
    /// # Ok::<(), pfaff_program::CompileError>(())
    /// ```
    pub fn native_code(&self, lanes: Lanes, backend: Backend) -> Option<NativeCode> {
        NativeCode::new(&self.tape, lanes, backend)
    }

    /// An executor of one state at a time by this backend; by the interpreter where the backend is not
    /// available. Cranelift, which takes long to compile, only takes over once it is worth it, as in
    /// [`Program::tiered`].
    ///
    /// # Panics
    ///
    /// If the number of parameters is not that of the program.
    pub fn executor(&self, parameters: &[f64], backend: Backend) -> Executor {
        if backend.compiles_slowly() && backend.is_available() {
            return self.tiered(parameters, backend);
        }
        match self.native_code(Lanes::One, backend) {
            Some(native) => Executor::Native(native.start(parameters)),
            None => Executor::Interpreted(self.interpreter(parameters)),
        }
    }

    /// An executor of eight states at a time by this backend; by the interpreter where the backend is not available.
    ///
    /// # Panics
    ///
    /// If the number of parameters is not that of the program.
    pub fn lane_executor(&self, parameters: &[f64], backend: Backend) -> LaneExecutor {
        LaneExecutor::new(self, parameters, backend)
    }

    /// An executor for a run that may be short: the interpreter first, then machine code of this backend once
    /// enough evaluations were made to be worth it.
    ///
    /// # Panics
    ///
    /// If the number of parameters is not that of the program.
    pub fn tiered(&self, parameters: &[f64], backend: Backend) -> Executor {
        Executor::Tiered(Box::new(TieredExecutor::new(self, parameters, backend)))
    }

    /// How much there is to do, and when.
    pub fn counts(&self) -> Counts {
        Counts {
            once: self.tape.once,
            per_run: self.tape.per_run.len(),
            per_evaluation: self.tape.per_evaluation.len()
                + self.tape.layer.as_ref().map_or(0, |l| l.instructions()),
            slots: self.tape.layout.slots(),
        }
    }

    /// About how long an evaluation takes in several lanes, in multiply-adds.
    pub fn work(&self) -> usize {
        let layer = self.tape.layer.as_ref().map_or(0, |l| l.instructions());
        layer + self.tape.per_evaluation.iter().map(Instruction::work).sum::<usize>()
    }

    /// How many inputs an evaluation takes.
    pub fn inputs(&self) -> usize {
        self.tape.given()
    }

    /// How many parameters a run takes.
    pub fn parameters(&self) -> usize {
        self.tape.layout.parameters
    }

    /// How many values depend on parameters alone and are kept for evaluations.
    pub fn kept(&self) -> usize {
        self.tape.layout.kept
    }

    /// How many outputs an evaluation gives.
    pub fn outputs(&self) -> usize {
        self.tape.outputs.len()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tape = &*self.tape;
        let names: Vec<String> = tape.names.iter().map(InputName::text).collect();
        let (inputs, parameters) = names.split_at(tape.layout.inputs);
        writeln!(f, "inputs: {}", inputs.join(", "))?;
        writeln!(f, "parameters: {}", parameters.join(", "))?;
        for (title, part) in
            [("per run", &tape.per_run), ("per evaluation", &tape.per_evaluation)]
        {
            writeln!(f, "{title}:")?;
            for instruction in part {
                writeln!(f, "  {}", instruction.text(&|slot| tape.name_of(slot)))?;
            }
        }
        let outputs: Vec<String> = tape.outputs.iter().map(|&o| tape.name_of(o)).collect();
        writeln!(f, "outputs: {}", outputs.join(", "))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Tape {
    /// How many inputs the caller gives; the others are computed before.
    pub(crate) fn given(&self) -> usize {
        self.layer.as_ref().map_or(self.layout.inputs, |l| l.given)
    }

    /// The tapes of the operands of its families, those of these before them, then itself.
    pub(crate) fn with_layers(&self) -> Vec<&Self> {
        let mut all = self.layer.as_ref().map_or_else(Vec::new, |l| l.tapes());
        all.push(self);
        all
    }

    /// Inputs and parameters by their names, constants by their value, `k0` … what is kept, `t0` … temporaries.
    fn name_of(&self, slot: Slot) -> String {
        let (layout, slot) = (self.layout, slot as usize);
        if slot < layout.first_constant() {
            self.names[slot].text()
        } else if slot < layout.first_kept() {
            format!("{:?}", self.constants[slot - layout.first_constant()])
        } else if slot < layout.first_temporary() {
            format!("k{}", slot - layout.first_kept())
        } else {
            format!("t{}", slot - layout.first_temporary())
        }
    }
}
