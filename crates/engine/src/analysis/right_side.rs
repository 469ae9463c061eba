//! The right-hand side $\dot y = F(t, y)$ of a model for integrators of others, one state or many at once.
//!
//! The state is $y = (q, \dot q)$, with $\mu$ behind it under the vakonomic principle. Where the solve of (K) can be
//! written out, $F$ is one straight-line program, eight states in a register; else (K) is solved at each state.

use pfaff_model::Principle;
use pfaff_program::{Backend, BatchInterpreter, Executor, Lanes, NativeExecutor, Program};

use crate::analysis::export::{ExportForm, exported};
use crate::analysis::state::StateEvaluator;
use crate::derivation::derive;
use crate::error::Error;
use crate::model::Model;
use crate::run::volterra;

/// A compiled right-hand side.
///
/// ```
/// use pfaff::{Model, RightSide};
/// let model = Model::parse("coordinates th\nlagrangian th'^2/2 + cos(th)")?;
/// let mut right = RightSide::new(&model, None)?;
/// let y = [0.3, 0.0, 0.1, -0.2];
/// let (mut each, mut together) = ([0.0; 4], [0.0; 4]);
/// right.evaluate(0.0, &y[..2], &mut each[..2]);
/// right.evaluate(0.0, &y[2..], &mut each[2..]);
/// right.evaluate_rows(&[0.0], &y, &mut together);
/// assert_eq!(each, together);
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RightSide {
    names: Vec<String>,
    way: Way,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Way {
    Program { one: Executor, program: Program, parameters: Vec<f64>, many: Option<Many> },
    Solve(Box<StateEvaluator>),
}

/// Several states at once.
#[derive(Clone, Debug)]
enum Many {
    Native(NativeExecutor),
    Interpreted(BatchInterpreter),
}

/// States that the interpreter takes together.
const TILE: usize = 32;

impl RightSide {
    /// Derives and compiles the equations of a model; `principle` overrides its own.
    ///
    /// # Errors
    ///
    /// [`Error`] says what stands in the way: the rates of a motion with memory depend on its past.
    pub fn new(model: &Model, principle: Option<Principle>) -> Result<Self, Error> {
        if volterra::has_memory(&model.workspace()) {
            let why = "the rates of a motion with memory depend on its past".to_owned();
            return Err(Error::Usage(why));
        }
        let derivation = derive(model, principle)?;
        let evaluator = StateEvaluator::new(&derivation)?;
        let names = evaluator.state_names();
        let written = exported(model, principle, ExportForm::Saddle).ok();
        let rates = written.and_then(|module| module.functions.into_iter().next());
        let way = match rates.filter(|f| f.program.outputs() == names.len()) {
            Some(function) => {
                let parameters = model.parameter_values();
                Way::Program {
                    one: function.program.executor(&parameters, Backend::fastest()),
                    program: function.program,
                    parameters,
                    many: None,
                }
            }
            None => Way::Solve(Box::new(evaluator)),
        };
        Ok(Self { inputs: vec![0.0; 1 + names.len()], outputs: Vec::new(), names, way })
    }

    /// The names of the numbers of a state.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the solve is written out.
    pub fn is_written_out(&self) -> bool {
        matches!(self.way, Way::Program { .. })
    }

    /// The rates at one state; not numbers where they are not determined.
    ///
    /// # Panics
    ///
    /// If a slice has another length than the state.
    #[inline]
    pub fn evaluate(&mut self, t: f64, y: &[f64], rates: &mut [f64]) {
        match &mut self.way {
            Way::Program { one, .. } => {
                self.inputs[0] = t;
                self.inputs[1..].copy_from_slice(y);
                one.evaluate(&self.inputs, rates);
            }
            Way::Solve(evaluator) => {
                evaluator.rates(t, y, rates);
            }
        }
    }

    /// The rates at many states, one after the other in `y`; `t` has one time for all or one for each.
    ///
    /// # Panics
    ///
    /// If the lengths do not fit.
    pub fn evaluate_rows(&mut self, t: &[f64], y: &[f64], rates: &mut [f64]) {
        let n = self.names.len();
        assert_eq!(y.len(), rates.len(), "as many rates as numbers");
        assert!(y.len().is_multiple_of(n) && (t.len() == 1 || t.len() == y.len() / n));
        let time = |row: usize| if t.len() == 1 { t[0] } else { t[row] };
        let Way::Program { program, parameters, many, .. } = &mut self.way else {
            for (row, (y, rates)) in
                y.chunks_exact(n).zip(rates.chunks_exact_mut(n)).enumerate()
            {
                self.evaluate(time(row), y, rates);
            }
            return;
        };
        let many = many.get_or_insert_with(|| {
            match program.native_code(Lanes::Eight, Backend::fastest()) {
                Some(code) => Many::Native(code.start(parameters)),
                None => Many::Interpreted(program.batch_interpreter(TILE, parameters)),
            }
        });
        let lanes = match many {
            Many::Native(run) => run.lanes().count(),
            Many::Interpreted(run) => run.lanes(),
        };
        self.inputs.resize((1 + n) * lanes, 0.0);
        self.outputs.resize(n * lanes, 0.0);
        let tiles = y.chunks(n * lanes).zip(rates.chunks_mut(n * lanes));
        for (tile, (y, rates)) in tiles.enumerate() {
            let count = y.len() / n;
            for l in 0..lanes {
                // NOTE: lanes without a row repeat the last one, so that they have a value.
                let row = l.min(count - 1);
                self.inputs[l] = time(tile * lanes + row);
                for (i, &x) in y[row * n..][..n].iter().enumerate() {
                    self.inputs[(1 + i) * lanes + l] = x;
                }
            }
            match many {
                Many::Native(run) => run.evaluate(&self.inputs, &mut self.outputs),
                Many::Interpreted(run) => run.evaluate(&self.inputs, &mut self.outputs),
            }
            for (row, rates) in rates.chunks_exact_mut(n).enumerate() {
                for (i, rate) in rates.iter_mut().enumerate() {
                    *rate = self.outputs[i * lanes + row];
                }
            }
        }
        self.inputs.truncate(1 + n);
    }
}
