//! Evaluates one state at a time: the slots of a program, and the loop over its instructions.

use std::sync::Arc;

use pfaff_expr::{Binary, Table, Unary, power};

use crate::backend::Backend;
use crate::backend::layer_lanes::LayerLanes;
use crate::backend::native::execute_fused;
use crate::rounding::{Rounding, TwoRoundings};
use crate::sincos::sincos;
use crate::tape::instruction::Instruction;
use crate::tape::program::Tape;

/// Evaluates a program with given parameters. It owns its slots: give each thread its own.
#[derive(Clone, Debug)]
pub struct Interpreter {
    tape: Arc<Tape>,
    slots: Vec<f64>,
    layers: LayerLanes,
}

impl Interpreter {
    pub(crate) fn new(tape: &Arc<Tape>, parameters: &[f64]) -> Self {
        let mut slots = vec![0.0; tape.layout.slots()];
        let first = tape.layout.first_constant();
        slots[first..first + tape.constants.len()].copy_from_slice(&tape.constants);
        let layers = LayerLanes::new(tape, 1, parameters, Backend::Interpreter);
        let mut run = Self { tape: Arc::clone(tape), slots, layers };
        run.set_parameters(parameters);
        run
    }

    /// Other parameters, in the order of the program; what depends on them alone is evaluated here.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        let first = self.tape.layout.first_parameter();
        let place = &mut self.slots[first..first + self.tape.layout.parameters];
        place.copy_from_slice(parameters);
        self.tape.execute(&self.tape.per_run, &mut self.slots);
        self.layers.set_parameters(parameters);
    }

    /// The outputs at these inputs, both in the order of the program. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the lengths are not those of the program.
    pub fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        assert_eq!(outputs.len(), self.tape.outputs.len(), "number of outputs");
        assert_eq!(inputs.len(), self.tape.given(), "number of inputs");
        let inputs = self.layers.extended(inputs);
        self.slots[..inputs.len()].copy_from_slice(inputs);
        self.tape.execute(&self.tape.per_evaluation, &mut self.slots);
        for (output, &slot) in outputs.iter_mut().zip(&self.tape.outputs) {
            *output = self.slots[slot as usize];
        }
    }
}

impl Tape {
    /// Carries out one of its parts on the slots.
    pub(crate) fn execute(&self, part: &[Instruction], slots: &mut [f64]) {
        if self.fused {
            execute_fused(part, slots, &self.tables);
        } else {
            execute(part, slots, &self.tables);
        }
    }
}

/// Carries out the instructions on the slots, each operation rounded by itself.
pub(crate) fn execute(code: &[Instruction], slots: &mut [f64], tables: &[Table]) {
    execute_with::<TwoRoundings>(code, slots, tables, sincos);
}

/// Carries out the instructions on the slots, with this rounding and these sines and cosines.
#[allow(
    clippy::inline_always,
    reason = "it must become part of loops that are compiled for more instructions"
)]
#[inline(always)]
pub(crate) fn execute_with<R: Rounding>(
    code: &[Instruction],
    slots: &mut [f64],
    tables: &[Table],
    sincos: impl Fn(f64) -> (f64, f64),
) {
    use Instruction as I;
    macro_rules! at {
        ($slot:expr) => {
            slots[$slot as usize]
        };
    }
    for &instruction in code {
        match instruction {
            I::Add { to, a, b } => at!(to) = at!(a) + at!(b),
            I::Sub { to, a, b } => at!(to) = at!(a) - at!(b),
            I::Mul { to, a, b } => at!(to) = at!(a) * at!(b),
            I::Div { to, a, b } => at!(to) = at!(a) / at!(b),
            I::MulAdd { to, a, b, c } => at!(to) = R::mul_add(at!(a), at!(b), at!(c)),
            I::MulSub { to, a, b, c } => at!(to) = R::mul_add(at!(a), at!(b), -at!(c)),
            I::SubMul { to, a, b, c } => at!(to) = R::mul_add(-at!(a), at!(b), at!(c)),
            I::Neg { to, a } => at!(to) = -at!(a),
            I::Square { to, a } => at!(to) = at!(a) * at!(a),
            I::Sqrt { to, a } => at!(to) = at!(a).sqrt(),
            I::Sin { to, a } => at!(to) = sincos(at!(a)).0,
            I::Cos { to, a } => at!(to) = sincos(at!(a)).1,
            I::SinCos { sin, cos, a } => (at!(sin), at!(cos)) = sincos(at!(a)),
            I::Power { to, a, b } => at!(to) = power(at!(a), at!(b)),
            I::Unary { function, to, a } => at!(to) = unary_value(function, at!(a)),
            I::Binary { function, to, a, b } => {
                at!(to) = binary_value(function, at!(a), at!(b));
            }
            I::Compare { relation, to, a, b } => {
                at!(to) = indicator(relation.holds(at!(a), at!(b)));
            }
            I::Not { to, a } => at!(to) = indicator(at!(a) == 0.0),
            I::And { to, a, b } => at!(to) = indicator(at!(a) != 0.0 && at!(b) != 0.0),
            I::Or { to, a, b } => at!(to) = indicator(at!(a) != 0.0 || at!(b) != 0.0),
            I::Select { to, condition, a, b } => {
                at!(to) = if at!(condition) == 0.0 { at!(b) } else { at!(a) };
            }
            I::Table { table, order, to, a } => {
                at!(to) = tables[table as usize].value(order, at!(a));
            }
        }
    }
}

/// 1 or 0.
#[inline]
pub(crate) fn indicator(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

// NOTE: never inlined, so that one lane and many run the same machine code: which zero `min(0, -0)` returns,
// for one, is left to the compiler.
#[inline(never)]
pub(crate) fn unary_value(function: Unary, x: f64) -> f64 {
    function.value(x)
}

#[inline(never)]
pub(crate) fn binary_value(function: Binary, a: f64, b: f64) -> f64 {
    function.value(a, b)
}

#[cfg(test)]
mod tests {
    use pfaff_expr::{Graph, Role};

    use crate::Program;

    #[test]
    fn what_depends_on_parameters_alone_is_evaluated_once_a_run() {
        let g = Graph::new();
        let (x, k) = (g.symbol("x", Role::Free), g.symbol("k", Role::Parameter));
        let program = Program::compile(&g, &[x], &[k], &[g.mul(g.sqrt(k), x)]).unwrap();
        let (mut run, mut output) = (program.interpreter(&[4.0]), [0.0]);
        run.evaluate(&[3.0], &mut output);
        assert_eq!(output, [6.0]);
        // A mark in the slot of √k survives evaluations, and goes with the next parameters.
        let slot = run.tape.layout.first_kept();
        run.slots[slot] = 100.0;
        run.evaluate(&[3.0], &mut output);
        assert_eq!(output, [300.0]);
        run.set_parameters(&[9.0]);
        run.evaluate(&[3.0], &mut output);
        assert_eq!(output, [9.0]);
    }
}
