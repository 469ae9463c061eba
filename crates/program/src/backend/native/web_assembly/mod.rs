//! A tape as a WebAssembly module: one function over the memory and the functions of the page that made it.
//!
//! ```text
//! Tape ──module──► bytes of a module with `f(inputs, outputs, memory)`, which imports `env.memory` and `env.table`
//! ```
//!
//! Slots are local variables of the function; what is fixed during a run is read from memory, at the row of its place
//! in [`WebModule::fixed`] before the middle. Functions without instructions of their own are called through the table.
//! The bits are those of the interpreter where the page rounds multiply-adds once (`routine.rs`); else products that
//! join a sum are rounded twice here, also in a fused program.

mod code;
mod routine;
#[cfg(test)]
mod tests;

use pfaff_expr::Relation;

use self::code::{
    Code, DROP, F64, F64_ADD, F64_DIV, F64_EQ, F64_FROM_I32, F64_LE, F64_LT, F64_MUL, F64_NE,
    F64_NEG, F64_SQRT, F64_SUB, Function, I32, I32_ADD, I32_AND, I32_OR, SELECT, assemble,
};
use self::routine::{push_multiply_add, sincos};
use super::library_call::LibraryFunction;
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::program::Tape;

/// Local variables that every engine takes (V8: 50 000).
const LOCALS: usize = 40_000;
/// Bytes of a function that every engine takes (V8: 7 654 321).
const BYTES: usize = 6_000_000;

/// A module that is not instantiated yet.
#[derive(Debug)]
pub(super) struct WebModule {
    pub(super) bytes: Vec<u8>,
    /// The slots whose values it reads, from the last double before the middle downwards.
    pub(super) fixed: Vec<Slot>,
    /// How many doubles of memory lie before the middle.
    pub(super) middle: usize,
}

/// Doubles of memory behind the middle: where sine and cosine are handed over.
pub(super) const BEHIND: usize = 2;

/// What the module calls, by the numbers of the table.
pub(super) struct Functions<'a> {
    /// `(call, a, b) -> value` of a library function.
    pub(super) library: u32,
    /// `(x, to)`: writes sine and cosine.
    pub(super) sincos: u32,
    /// The address of a library call.
    pub(super) address: &'a mut dyn FnMut(LibraryFunction) -> u32,
}

/// The module of a tape, for a page whose multiply-adds round once or not; `None` where it would be too large.
pub(super) fn module(
    tape: &Tape,
    page_fuses: bool,
    functions: &mut Functions<'_>,
) -> Option<WebModule> {
    let layout = tape.layout;
    // Values that are fixed during a run have no local variable.
    let locals = layout.inputs + layout.temporaries;
    if locals > LOCALS {
        return None;
    }
    let fused = tape.fused && page_fuses;
    let mut writer =
        Writer { tape, fused, fixed: Vec::new(), code: Code::default(), middle: 0 };
    writer.collect_fixed();
    writer.middle = writer.fixed.len();
    writer.read_inputs();
    for &instruction in &tape.per_evaluation {
        writer.instruction(instruction, functions);
        if writer.code.0.len() > BYTES {
            return None;
        }
    }
    writer.write_outputs();
    let Writer { fixed, code, middle, .. } = writer;
    let mut all = vec![Function { kind: ENTRY, locals: vec![(locals, F64)], code }];
    if fused {
        all.push(sincos(ANGLE, [functions.sincos, SINCOS]));
    }
    Some(WebModule { bytes: assemble(&TYPES, &all), fixed, middle })
}

/// The parameters of the function, which are its first local variables.
const INPUTS: u32 = 0;
const OUTPUTS: u32 = 1;
const MEMORY: u32 = 2;
const PARAMETERS: u32 = 3;

/// The types of the module.
const ENTRY: u32 = 0;
const LIBRARY: u32 = 1;
const SINCOS: u32 = 2;
const ANGLE: u32 = 3;
const TYPES: [(&[u8], &[u8]); 4] = [
    (&[I32, I32, I32], &[]),
    (&[I32, F64, F64], &[F64]),
    (&[F64, I32], &[]),
    (&[F64, I32], &[F64, F64]),
];

/// The function that the module of a fused program brings along.
const ANGLES: u32 = 1;

/// The signs of a product that joins a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signs {
    Plus,
    /// $ab - c$
    MinusSum,
    /// $c - ab$
    MinusProduct,
}

struct Writer<'a> {
    tape: &'a Tape,
    /// Whether multiply-adds round once.
    fused: bool,
    fixed: Vec<Slot>,
    code: Code,
    middle: usize,
}

impl AsMut<Code> for Writer<'_> {
    fn as_mut(&mut self) -> &mut Code {
        &mut self.code
    }
}

impl Writer<'_> {
    /// Parameters and kept values that evaluations read.
    fn collect_fixed(&mut self) {
        let layout = self.tape.layout;
        let is_fixed = |slot: &Slot| {
            let slot = *slot as usize;
            (layout.first_parameter()..layout.first_constant()).contains(&slot)
                || (layout.first_kept()..layout.first_temporary()).contains(&slot)
        };
        let read = self.tape.per_evaluation.iter().flat_map(|i| i.operands());
        let mut fixed: Vec<Slot> =
            read.chain(self.tape.outputs.iter().copied()).filter(is_fixed).collect();
        fixed.sort_unstable();
        fixed.dedup();
        self.fixed = fixed;
    }

    /// The local variable of an input or temporary.
    fn local(&self, slot: Slot) -> u32 {
        let layout = self.tape.layout;
        let slot = slot as usize;
        let index = if slot < layout.inputs {
            slot
        } else {
            layout.inputs + slot - layout.first_temporary()
        };
        PARAMETERS + index as u32
    }

    fn get(&mut self, slot: Slot) {
        let layout = self.tape.layout;
        let place = slot as usize;
        if place < layout.inputs || place >= layout.first_temporary() {
            self.code.get(self.local(slot));
        } else if (layout.first_constant()..layout.first_kept()).contains(&place) {
            self.code.number(self.tape.constants[place - layout.first_constant()]);
        } else {
            let row = self.fixed.binary_search(&slot).expect("collected before") + 1;
            self.load(MEMORY, self.middle - row);
        }
    }

    fn set(&mut self, slot: Slot) {
        self.code.set(self.local(slot));
    }

    /// The double of this number behind an address in a local variable.
    fn load(&mut self, base: u32, double: usize) {
        self.code.get(base);
        self.code.load(double);
    }

    fn read_inputs(&mut self) {
        for slot in 0..self.tape.layout.inputs {
            self.load(INPUTS, slot);
            self.set(slot as Slot);
        }
    }

    fn write_outputs(&mut self) {
        for (k, &slot) in self.tape.outputs.iter().enumerate() {
            self.code.get(OUTPUTS);
            self.get(slot);
            self.code.store(k);
        }
    }

    /// Operands, operations, result.
    fn plain(&mut self, to: Slot, operands: &[Slot], operations: &[u8]) {
        for &operand in operands {
            self.get(operand);
        }
        self.code.extend(operations);
        self.set(to);
    }

    /// Whether a value is not zero, as a condition.
    fn condition(&mut self, slot: Slot) {
        self.get(slot);
        self.code.number(0.0);
        self.code.push(F64_NE);
    }

    fn library(
        &mut self,
        to: Slot,
        function: LibraryFunction,
        operands: [Slot; 2],
        functions: &mut Functions<'_>,
    ) {
        let address = (functions.address)(function);
        self.code.integer(address);
        self.get(operands[0]);
        self.get(operands[1]);
        self.code.call_table(LIBRARY, functions.library);
        self.set(to);
    }

    /// $ab + c$, or $c - ab$ for `minus`, rounded once.
    fn multiply_add(&mut self, to: Slot, [a, b, c]: [Slot; 3], signs: Signs) {
        let third = |writer: &mut Self| {
            writer.get(c);
            if signs == Signs::MinusSum {
                writer.code.push(F64_NEG);
            }
        };
        let minus = signs == Signs::MinusProduct;
        push_multiply_add(self, minus, [&|w| w.get(a), &|w| w.get(b), &third]);
        self.set(to);
    }

    /// Sine and cosine, each where it is wanted.
    fn sincos(&mut self, a: Slot, wanted: [Option<Slot>; 2], functions: &Functions<'_>) {
        self.get(a);
        self.code.get(MEMORY);
        self.code.integer(8 * self.middle as u32);
        self.code.push(I32_ADD);
        if self.fused {
            self.code.call(ANGLES);
            // The cosine lies on top.
            for to in wanted.into_iter().rev() {
                match to {
                    Some(to) => self.set(to),
                    None => self.code.push(DROP),
                }
            }
            return;
        }
        self.code.call_table(SINCOS, functions.sincos);
        for (which, to) in wanted.into_iter().enumerate() {
            if let Some(to) = to {
                self.load(MEMORY, self.middle + which);
                self.set(to);
            }
        }
    }

    fn instruction(&mut self, instruction: Instruction, functions: &mut Functions<'_>) {
        use Instruction as I;
        match instruction {
            I::Add { to, a, b } => self.plain(to, &[a, b], &[F64_ADD]),
            I::Sub { to, a, b } => self.plain(to, &[a, b], &[F64_SUB]),
            I::Mul { to, a, b } => self.plain(to, &[a, b], &[F64_MUL]),
            I::Div { to, a, b } => self.plain(to, &[a, b], &[F64_DIV]),
            I::MulAdd { to, a, b, c } if self.fused => {
                self.multiply_add(to, [a, b, c], Signs::Plus);
            }
            I::MulSub { to, a, b, c } if self.fused => {
                self.multiply_add(to, [a, b, c], Signs::MinusSum);
            }
            I::SubMul { to, a, b, c } if self.fused => {
                self.multiply_add(to, [a, b, c], Signs::MinusProduct);
            }
            I::MulAdd { to, a, b, c } => {
                self.get(a);
                self.get(b);
                self.code.push(F64_MUL);
                self.plain(to, &[c], &[F64_ADD]);
            }
            I::MulSub { to, a, b, c } => {
                self.get(a);
                self.get(b);
                self.code.push(F64_MUL);
                self.plain(to, &[c], &[F64_SUB]);
            }
            I::SubMul { to, a, b, c } => {
                self.plain(to, &[c, a, b], &[F64_MUL, F64_SUB]);
            }
            I::Neg { to, a } => self.plain(to, &[a], &[F64_NEG]),
            I::Square { to, a } => self.plain(to, &[a, a], &[F64_MUL]),
            I::Sqrt { to, a } => self.plain(to, &[a], &[F64_SQRT]),
            I::Sin { to, a } => self.sincos(a, [Some(to), None], functions),
            I::Cos { to, a } => self.sincos(a, [None, Some(to)], functions),
            I::SinCos { sin, cos, a } => self.sincos(a, [Some(sin), Some(cos)], functions),
            I::Power { to, a, b } => {
                self.library(to, LibraryFunction::Power, [a, b], functions);
            }
            I::Unary { function, to, a } => {
                self.library(to, LibraryFunction::Unary(function), [a, a], functions);
            }
            I::Binary { function, to, a, b } => {
                self.library(to, LibraryFunction::Binary(function), [a, b], functions);
            }
            I::Table { table, order, to, a } => {
                let function = LibraryFunction::Table { table, order };
                self.library(to, function, [a, a], functions);
            }
            I::Compare { relation, to, a, b } => {
                let compare = match relation {
                    Relation::Less => F64_LT,
                    Relation::LessEqual => F64_LE,
                    Relation::Equal => F64_EQ,
                    Relation::NotEqual => F64_NE,
                };
                self.plain(to, &[a, b], &[compare, F64_FROM_I32]);
            }
            I::Not { to, a } => {
                self.get(a);
                self.code.number(0.0);
                self.code.extend(&[F64_EQ, F64_FROM_I32]);
                self.set(to);
            }
            I::And { to, a, b } | I::Or { to, a, b } => {
                let joined =
                    if matches!(instruction, I::And { .. }) { I32_AND } else { I32_OR };
                self.condition(a);
                self.condition(b);
                self.code.extend(&[joined, F64_FROM_I32]);
                self.set(to);
            }
            I::Select { to, condition, a, b } => {
                self.get(a);
                self.get(b);
                self.condition(condition);
                self.code.push(SELECT);
                self.set(to);
            }
        }
    }
}
