//! A tape to machine code by Cranelift, for processors that our own emitter does not know.
//!
//! ```text
//! Tape ──values──► who reads what ──Writer──► one block of CLIF ──Cranelift──► bytes without relocations
//! fn(inputs, outputs, middle of the rows), with the processor's ordinary calling convention
//! ```
//!
//! Bits are those of the interpreter: Cranelift neither reassociates nor contracts, multiply-adds that round once are the instruction of the processor or
//! the routine that the interpreter takes, sines, cosines and functions are calls of the interpreter's own, angles that do not wait for each other in rows as `schedule.rs` finds them. Several states go two at a time where the processor has registers of two
//! doubles, else one after the other.
//!
//! **Time to compile.** Register allocation is what costs, more than in proportion to the length. A value that is not read within the next [`REACH`] instructions
//! therefore waits in memory, which keeps the ranges short, and beyond [`LONG`] instructions a quicker allocator is taken, whose code is slower.

use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, F64X2, I64X2};
use cranelift_codegen::ir::{
    AbiParam, Endianness, Function as Body, InstBuilder, MemFlagsData, SigRef, Signature,
    StackSlot, StackSlotData, StackSlotKind, Type, UserFuncName, Value,
};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use pfaff_expr::{Relation, Unary};

use super::code::Written;
use super::function::{Call, Function};
use super::fused::sincos_row_fused;
use super::schedule::{Schedule, schedule};
use super::values::{NONE, Values};
use crate::instruction::{Instruction, Slot};
use crate::lanes::Lanes;
use crate::program::Tape;
use crate::rounding::{OnceByHand, Rounding};
use crate::sincos::{sincos, sincos_fused, sincos_lanes};

/// How many instructions ahead a value is kept in a register for its next reader.
const REACH: u32 = 24;
/// How many sines and cosines are evaluated at once.
const ROW: usize = 8;
/// Fewer at once are not worth a row.
const FEW: usize = 3;
/// Instructions beyond which the quicker allocator is taken.
const LONG: usize = 4_000;

/// How registers are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocator {
    /// With ranges that are split and tried again: good code.
    Backtracking,
    /// In one pass: quickly.
    SinglePass,
}

impl Allocator {
    pub(super) const ALL: [Self; 2] = [Self::Backtracking, Self::SinglePass];
}

/// What the code is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) allocator: Allocator,
    /// Multiply-adds that round once are an instruction.
    pub(super) multiply_add: bool,
}

/// The code of the part `per_evaluation`; `None` where Cranelift knows no such processor.
pub(super) fn write(tape: &Arc<Tape>, lanes: Lanes) -> Option<Written> {
    let is_long = tape.per_evaluation.len() > LONG;
    let allocator = if is_long { Allocator::SinglePass } else { Allocator::Backtracking };
    write_for(tape, lanes, Target { allocator, multiply_add: has_multiply_add() })
}

pub(super) fn write_for(tape: &Arc<Tape>, lanes: Lanes, target: Target) -> Option<Written> {
    let isa = isa(target.allocator)?;
    let kind = if lanes == Lanes::One || !HAS_PAIRS { F64 } else { F64X2 };
    let mut context = Context::new();
    context.func = Body::with_name_signature(UserFuncName::default(), entry(&*isa));
    let shape = Shape { kind, multiply_add: target.multiply_add, lanes: lanes.count() };
    let writer = Writer::new(tape, &mut context.func, &*isa, shape);
    let Finished { calls, fixed, rows } = writer.write()?;
    let code = context.compile(&*isa, &mut ControlPlane::default()).ok()?;
    // A relocation would ask for a routine that is not ours.
    let is_whole = code.buffer.relocs().is_empty();
    let bytes = code.code_buffer().to_vec();
    is_whole.then_some(Written { bytes, calls, fixed, rows, step: kind.lane_count() as usize })
}

/// Whether there is code for this processor.
pub(super) fn knows_processor() -> bool {
    isa(Allocator::Backtracking).is_some()
}

/// Processors whose registers of two doubles Cranelift always uses.
const HAS_PAIRS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// What this processor is, with an allocator.
fn isa(allocator: Allocator) -> Option<OwnedTargetIsa> {
    static FOUND: OnceLock<[Option<OwnedTargetIsa>; 2]> = OnceLock::new();
    FOUND.get_or_init(|| Allocator::ALL.map(find))[allocator as usize].clone()
}

fn find(allocator: Allocator) -> Option<OwnedTargetIsa> {
    let allocator = match allocator {
        Allocator::Backtracking => "backtracking",
        Allocator::SinglePass => "single_pass",
    };
    let mut flags = settings::builder();
    let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", "none"),
        ("regalloc_algorithm", allocator),
        ("enable_verifier", verifier),
        ("unwind_info", "false"),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags.set(name, value).ok()?;
    }
    cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
}

fn entry(isa: &dyn TargetIsa) -> Signature {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params = vec![AbiParam::new(isa.pointer_type()); 3];
    signature
}

/// Where a value can be read from memory.
#[derive(Clone, Copy, Debug)]
struct Home {
    base: Value,
    offset: i32,
}

/// What is known when the block is written.
struct Finished {
    calls: Vec<Arc<Call>>,
    fixed: Vec<Slot>,
    rows: usize,
}

/// How the block is to be written.
struct Shape {
    /// A double, or two.
    kind: Type,
    multiply_add: bool,
    lanes: usize,
}

/// The block so far.
struct Writer<'a> {
    cursor: FuncCursor<'a>,
    tape: &'a Arc<Tape>,
    values: Values,
    kind: Type,
    multiply_add: bool,
    pointer: Type,
    /// What is known of every access.
    flags: MemFlagsData,
    /// From one row to the next, in bytes.
    stride: i64,
    inputs: Value,
    outputs: Value,
    middle: Value,
    /// Values in registers.
    held: Vec<Option<Value>>,
    homes: Vec<Option<Home>>,
    /// The row of each value that waits in one, else [`NONE`].
    row_of: Vec<u32>,
    free: Vec<u32>,
    rows: usize,
    fixed: Vec<Slot>,
    calls: Vec<Arc<Call>>,
    /// `(call, a, b)` to a double.
    value: SigRef,
    /// `(x, to)` to nothing.
    angle: SigRef,
    /// `(angles)` to nothing.
    row: SigRef,
    /// `(a, b, c)` to a double.
    product: SigRef,
    /// Angles, sines and cosines, [`ROW`] of each.
    angles: StackSlot,
    /// Places of the first members of groups of angles, and how many members there are; ascending.
    groups: Vec<(usize, usize)>,
}

impl<'a> Writer<'a> {
    fn new(
        tape: &'a Arc<Tape>,
        body: &'a mut Body,
        isa: &dyn TargetIsa,
        Shape { kind, multiply_add, lanes }: Shape,
    ) -> Self {
        let pointer = isa.pointer_type();
        let mut import = |params: &[Type], returns: &[Type]| {
            let mut signature = Signature::new(isa.default_call_conv());
            signature.params = params.iter().copied().map(AbiParam::new).collect();
            signature.returns = returns.iter().copied().map(AbiParam::new).collect();
            body.import_signature(signature)
        };
        let value = import(&[pointer, F64, F64], &[F64]);
        let angle = import(&[F64, pointer], &[]);
        let row = import(&[pointer], &[]);
        let product = import(&[F64, F64, F64], &[F64]);
        let size = 3 * 8 * ROW as u32;
        let angles = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
        let angles = body.create_sized_stack_slot(angles);
        let mut cursor = FuncCursor::new(body);
        let block = cursor.func.dfg.make_block();
        let [inputs, outputs, middle] =
            [(); 3].map(|()| cursor.func.dfg.append_block_param(block, pointer));
        cursor.insert_block(block);
        let (values, groups) = ordered(tape, kind);
        let flags = MemFlagsData::new().with_notrap();
        Self {
            flags: if kind == F64 { flags.with_aligned() } else { flags },
            held: vec![None; values.count],
            homes: vec![None; values.count],
            row_of: vec![NONE; values.count],
            cursor,
            tape,
            values,
            kind,
            multiply_add,
            pointer,
            stride: 8 * lanes as i64,
            inputs,
            outputs,
            middle,
            free: Vec::new(),
            rows: 0,
            fixed: Vec::new(),
            calls: Vec::new(),
            value,
            angle,
            row,
            product,
            angles,
            groups,
        }
    }

    /// `None` if a row would be too far away for a displacement.
    fn write(mut self) -> Option<Finished> {
        for v in 0..self.tape.layout.first_temporary() as u32 {
            if self.values.output_of(v).is_some() {
                let value = self.read(v)?;
                self.put_out(v, value)?;
                self.held[v as usize] = None;
            }
        }
        let mut groups = std::mem::take(&mut self.groups).into_iter().peekable();
        let mut place = 0;
        while place < self.tape.per_evaluation.len() {
            let count = groups.next_if(|group| group.0 == place).map_or(1, |group| group.1);
            self.steps(place, count)?;
            place += count;
        }
        self.cursor.ins().return_(&[]);
        let Self { calls, fixed, rows, .. } = self;
        Some(Finished { calls, fixed, rows })
    }

    /// One instruction, or a group of angles.
    fn steps(&mut self, first: usize, count: usize) -> Option<()> {
        let places = first..first + count;
        let mut operands = [[self.middle; 3]; ROW];
        for (place, operands) in places.clone().zip(&mut operands) {
            let read = self.values.operands[place].into_iter().zip(operands);
            for (v, operand) in read.filter(|(v, _)| *v != NONE) {
                *operand = self.read(v)?;
            }
        }
        for place in places.clone() {
            self.values.pass(place);
        }
        for place in places.clone() {
            for v in self.values.operands[place].into_iter().filter(|&v| v != NONE) {
                self.settle(v, first)?;
            }
        }
        let row = (count > 1).then(|| self.row(&operands[..count]));
        for (member, place) in places.enumerate() {
            let instruction = self.tape.per_evaluation[self.values.order[place] as usize];
            let results = match row {
                Some(row) => self.of_row(instruction, row, member),
                None => self.carry_out(instruction, operands[0]),
            };
            for (v, value) in self.values.results[place].into_iter().zip(results) {
                if v != NONE {
                    self.held[v as usize] = Some(value);
                    self.put_out(v, value)?;
                    self.settle(v, place)?;
                }
            }
        }
        Some(())
    }

    /// Sines and cosines of several angles: where they are.
    fn row(&mut self, operands: &[[Value; 3]]) -> Value {
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
    fn of_row(&mut self, instruction: Instruction, row: Value, member: usize) -> [Value; 2] {
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

    /// The value in a register.
    fn read(&mut self, v: u32) -> Option<Value> {
        if let Some(value) = self.held[v as usize] {
            return Some(value);
        }
        let Home { base, offset } = self.home(v)?;
        let value = self.cursor.ins().load(self.kind, self.flags, base, offset);
        self.held[v as usize] = Some(value);
        Some(value)
    }

    /// Keeps the value in its register if it is read soon, leaves it in memory if it is read later, forgets it otherwise.
    fn settle(&mut self, v: u32, place: usize) -> Option<()> {
        let index = v as usize;
        let next = self.values.next_use(v);
        if self.values.is_dead(v) {
            self.held[index] = None;
            if self.row_of[index] != NONE {
                self.free.push(std::mem::replace(&mut self.row_of[index], NONE));
            }
        } else if next - place as u32 > REACH
            && let Some(value) = self.held[index].take()
            && self.homes[index].is_none()
            && index >= self.tape.layout.first_temporary()
        {
            let row = self.free.pop().unwrap_or_else(|| {
                self.rows += 1;
                self.rows as u32 - 1
            });
            self.row_of[index] = row;
            let home = Home { base: self.middle, offset: self.offset(i64::from(row))? };
            self.homes[index] = Some(home);
            self.cursor.ins().store(self.flags, value, home.base, home.offset);
        }
        Some(())
    }

    /// Where the value is in memory; what is given gets its place when it is first read.
    fn home(&mut self, v: u32) -> Option<Home> {
        let index = v as usize;
        if let Some(home) = self.homes[index] {
            return Some(home);
        }
        let home = if index < self.tape.layout.inputs {
            Home { base: self.inputs, offset: self.offset(index as i64)? }
        } else {
            self.fixed.push(v);
            Home { base: self.middle, offset: self.offset(-(self.fixed.len() as i64))? }
        };
        self.homes[index] = Some(home);
        Some(home)
    }

    /// Writes the value to all outputs that it is; it can be read there again.
    fn put_out(&mut self, v: u32, value: Value) -> Option<()> {
        let mut next = self.values.output_of(v);
        while let Some(output) = next {
            let home = Home { base: self.outputs, offset: self.offset(i64::from(output))? };
            self.cursor.ins().store(self.flags, value, home.base, home.offset);
            self.homes[v as usize].get_or_insert(home);
            next = self.values.output_after(output);
        }
        Some(())
    }

    fn offset(&self, row: i64) -> Option<i32> {
        i32::try_from(row * self.stride).ok()
    }

    fn carry_out(&mut self, instruction: Instruction, [a, b, c]: [Value; 3]) -> [Value; 2] {
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
            I::Power { .. } => self.function(Function::Power, a, b),
            I::Unary { function, .. } => self.function(Function::Unary(function), a, a),
            I::Binary { function, .. } => self.function(Function::Binary(function), a, b),
            I::Table { table, order, .. } => {
                self.function(Function::Table { table, order }, a, a)
            }
            I::Compare { relation, .. } => {
                let holds = self.cursor.ins().fcmp(condition(relation), a, b);
                self.truth(holds)
            }
            I::Not { .. } => {
                let holds = self.is(FloatCC::Equal, a);
                self.truth(holds)
            }
            I::And { .. } => {
                let (a, b) = (self.is(FloatCC::NotEqual, a), self.is(FloatCC::NotEqual, b));
                let holds = self.cursor.ins().band(a, b);
                self.truth(holds)
            }
            I::Or { .. } => {
                let (a, b) = (self.is(FloatCC::NotEqual, a), self.is(FloatCC::NotEqual, b));
                let holds = self.cursor.ins().bor(a, b);
                self.truth(holds)
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

    fn function(&mut self, function: Function, a: Value, b: Value) -> Value {
        let call = Arc::new(Call { tape: Arc::clone(self.tape), function, lanes: 1 });
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
    fn truth(&mut self, holds: Value) -> Value {
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

/// The values in the order in which code is written, and the groups of angles that are worth a row.
fn ordered(tape: &Tape, kind: Type) -> (Values, Vec<(usize, usize)>) {
    let values = Values::of(tape);
    let lanes = kind.lane_count() as usize;
    match schedule(tape, &values, ROW / lanes) {
        Some(Schedule { order, mut groups }) => {
            groups.retain(|group| group.1 * lanes >= FEW);
            (values.reordered(order), groups)
        }
        None => (values, Vec::new()),
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

/// Whether multiply-adds that round once are an instruction: of all processors that Cranelift knows, only x86-64 may lack it.
pub(super) fn has_multiply_add() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    true
}

/// The value of a function that is called.
///
/// # Safety
///
/// `call` points at a call.
unsafe extern "C" fn value(call: *const Call, a: f64, b: f64) -> f64 {
    // SAFETY: by the caller's promise.
    unsafe { (*call).value(a, b) }
}

/// Sine and cosine.
///
/// # Safety
///
/// `to` points at two doubles.
unsafe extern "C" fn angle<const FUSED: bool>(x: f64, to: *mut [f64; 2]) {
    let found = if FUSED { sincos_fused(x) } else { sincos(x) };
    // SAFETY: by the caller's promise.
    unsafe { *to = found.into() }
}

/// Sines and cosines of a row of angles, behind it.
///
/// # Safety
///
/// `row` points at three rows.
unsafe extern "C" fn angles<const FUSED: bool>(row: *mut [[f64; ROW]; 3]) {
    // SAFETY: by the caller's promise.
    let [x, sines, cosines] = unsafe { &mut *row };
    (*sines, *cosines) = if FUSED { sincos_row_fused(x) } else { sincos_lanes(x) };
}

/// $ab + c$, rounded once, where there is no instruction for it.
extern "C" fn fused_product(a: f64, b: f64, c: f64) -> f64 {
    OnceByHand::mul_add(a, b, c)
}
