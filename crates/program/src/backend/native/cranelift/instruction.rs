//! One instruction of a tape in CLIF, for one double or for two at once.

use std::sync::Arc;

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, F64X2, I64X2};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Value};
use pfaff_expr::{Relation, Unary};

use super::builder::{ClifBuilder, ROW};
use super::routine::{angle, angles, fused_product, value};
use crate::backend::native::library_call::{LibraryCall, LibraryFunction};
use crate::tape::instruction::Instruction;

impl ClifBuilder<'_> {
    pub(super) fn carry_out(
        &mut self,
        instruction: Instruction,
        [a, b, c]: [Value; 3],
    ) -> [Value; 2] {
        use Instruction as I;
        let to = match instruction {
            I::Add { .. } => self.cursor.ins().fadd(a, b),
            I::Sub { .. } => self.cursor.ins().fsub(a, b),
            I::Mul { .. } => self.cursor.ins().fmul(a, b),
            I::Div { .. } => self.cursor.ins().fdiv(a, b),
            I::MulAdd { .. } => self.mul_add(a, b, c),
            I::MulSub { .. } => {
                let c = self.cursor.ins().fneg(c);
                self.mul_add(a, b, c)
            }
            I::SubMul { .. } => {
                let a = self.cursor.ins().fneg(a);
                self.mul_add(a, b, c)
            }
            I::Neg { .. } => self.cursor.ins().fneg(a),
            I::Square { .. } => self.cursor.ins().fmul(a, a),
            I::Sqrt { .. } | I::Unary { function: Unary::Sqrt, .. } => {
                self.cursor.ins().sqrt(a)
            }
            I::Unary { function: Unary::Abs, .. } => self.cursor.ins().fabs(a),
            I::Sin { .. } => self.angle(a)[0],
            I::Cos { .. } => self.angle(a)[1],
            I::SinCos { .. } => return self.angle(a),
            I::Power { .. } => self.function(LibraryFunction::Power, a, b),
            I::Unary { function, .. } => self.function(LibraryFunction::Unary(function), a, a),
            I::Binary { function, .. } => {
                self.function(LibraryFunction::Binary(function), a, b)
            }
            I::Table { table, order, .. } => {
                self.function(LibraryFunction::Table { table, order }, a, a)
            }
            I::Compare { relation, .. } => {
                let holds = self.cursor.ins().fcmp(condition(relation), a, b);
                self.indicator(holds)
            }
            I::Not { .. } => {
                let holds = self.is(FloatCC::Equal, a);
                self.indicator(holds)
            }
            I::And { .. } => {
                let (a, b) = (self.is(FloatCC::NotEqual, a), self.is(FloatCC::NotEqual, b));
                let holds = self.cursor.ins().band(a, b);
                self.indicator(holds)
            }
            I::Or { .. } => {
                let (a, b) = (self.is(FloatCC::NotEqual, a), self.is(FloatCC::NotEqual, b));
                let holds = self.cursor.ins().bor(a, b);
                self.indicator(holds)
            }
            I::Select { .. } => {
                let (condition, then, otherwise) = (a, b, c);
                let fails = self.is(FloatCC::Equal, condition);
                self.select(fails, otherwise, then)
            }
        };
        [to, to]
    }

    /// $ab + c$, rounded as the program says.
    fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        if !self.tape.fused {
            let product = self.cursor.ins().fmul(a, b);
            return self.cursor.ins().fadd(product, c);
        }
        if self.multiply_add {
            return self.cursor.ins().fma(a, b, c);
        }
        let callee = self.address(fused_product as *const ());
        self.in_lanes([a, b, c], |writer, operands| {
            let call = writer.cursor.ins().call_indirect(writer.product, callee, &operands);
            writer.cursor.func.dfg.first_result(call)
        })
    }

    /// Sine and cosine.
    fn angle(&mut self, x: Value) -> [Value; 2] {
        let routine = if self.tape.fused { angle::<true> } else { angle::<false> };
        let callee = self.address(routine as *const ());
        let to = self.cursor.ins().stack_addr(self.pointer, self.angles, 0);
        let mut found = [[None; 2]; 2];
        for lane in 0..self.kind.lane_count() as usize {
            let x = self.lane(x, lane);
            self.cursor.ins().call_indirect(self.angle, callee, &[x, to]);
            for (function, offset) in [0, 8].into_iter().enumerate() {
                let flags = self.flags.with_aligned();
                let value = self.cursor.ins().load(F64, flags, to, offset);
                found[function][lane] = Some(value);
            }
        }
        found.map(|lanes| self.joined(lanes))
    }

    /// Sines and cosines of several angles: where they are.
    pub(super) fn row(&mut self, operands: &[[Value; 3]]) -> Value {
        let row = self.cursor.ins().stack_addr(self.pointer, self.angles, 0);
        let lanes = self.kind.lane_count() as usize;
        for member in 0..ROW / lanes {
            // Unused places repeat the first angle.
            let angle = operands.get(member).unwrap_or(&operands[0])[0];
            self.cursor.ins().store(self.flags, angle, row, (8 * lanes * member) as i32);
        }
        let routine = if self.tape.fused { angles::<true> } else { angles::<false> };
        let callee = self.address(routine as *const ());
        self.cursor.ins().call_indirect(self.row, callee, &[row]);
        row
    }

    /// What the instruction takes from a row.
    pub(super) fn of_row(
        &mut self,
        instruction: Instruction,
        row: Value,
        member: usize,
    ) -> [Value; 2] {
        let mut load = |part: usize| {
            let offset = 8 * (ROW * part + self.kind.lane_count() as usize * member);
            self.cursor.ins().load(self.kind, self.flags, row, offset as i32)
        };
        match instruction {
            Instruction::Sin { .. } => [load(1); 2],
            Instruction::Cos { .. } => [load(2); 2],
            _ => [load(1), load(2)],
        }
    }

    fn function(&mut self, function: LibraryFunction, a: Value, b: Value) -> Value {
        let call = Arc::new(LibraryCall { tape: Arc::clone(self.tape), function, lanes: 1 });
        let this = self.address(Arc::as_ptr(&call));
        self.calls.push(call);
        let callee = self.address(value as *const ());
        self.in_lanes([a, b, b], |writer, [a, b, _]| {
            let call = writer.cursor.ins().call_indirect(writer.value, callee, &[this, a, b]);
            writer.cursor.func.dfg.first_result(call)
        })
    }

    /// A function of doubles for each lane.
    fn in_lanes(
        &mut self,
        operands: [Value; 3],
        function: impl Fn(&mut Self, [Value; 3]) -> Value,
    ) -> Value {
        let mut found = [None; 2];
        for lane in 0..self.kind.lane_count() as usize {
            let operands = operands.map(|v| self.lane(v, lane));
            found[lane] = Some(function(self, operands));
        }
        self.joined(found)
    }

    fn lane(&mut self, v: Value, lane: usize) -> Value {
        if self.kind == F64 { v } else { self.cursor.ins().extractlane(v, lane as u8) }
    }

    fn joined(&mut self, [first, second]: [Option<Value>; 2]) -> Value {
        let first = first.expect("there is at least one lane");
        let Some(second) = second else { return first };
        let both = self.cursor.ins().splat(F64X2, first);
        self.cursor.ins().insertlane(both, second, 1)
    }

    fn address<T>(&mut self, at: *const T) -> Value {
        self.cursor.ins().iconst(self.pointer, at.addr() as i64)
    }

    fn number(&mut self, x: f64) -> Value {
        let number = self.cursor.ins().f64const(x);
        if self.kind == F64 { number } else { self.cursor.ins().splat(F64X2, number) }
    }

    /// Compares with zero.
    fn is(&mut self, condition: FloatCC, a: Value) -> Value {
        let zero = self.number(0.0);
        self.cursor.ins().fcmp(condition, a, zero)
    }

    /// 1 where it holds, else 0.
    fn indicator(&mut self, holds: Value) -> Value {
        let (one, zero) = (self.number(1.0), self.number(0.0));
        self.select(holds, one, zero)
    }

    fn select(&mut self, holds: Value, a: Value, b: Value) -> Value {
        if self.kind == F64 {
            return self.cursor.ins().select(holds, a, b);
        }
        let same_order = MemFlagsData::new().with_endianness(Endianness::Little);
        let [a, b] = [a, b].map(|v| self.cursor.ins().bitcast(I64X2, same_order, v));
        let bits = self.cursor.ins().bitselect(holds, a, b);
        self.cursor.ins().bitcast(F64X2, same_order, bits)
    }
}

fn condition(relation: Relation) -> FloatCC {
    match relation {
        Relation::Less => FloatCC::LessThan,
        Relation::LessEqual => FloatCC::LessThanOrEqual,
        Relation::Equal => FloatCC::Equal,
        Relation::NotEqual => FloatCC::NotEqual,
    }
}
