//! Builds the block of CLIF: which values are in registers, where the others are, and when they are loaded and stored.

use std::sync::Arc;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::types::F64;
use cranelift_codegen::ir::{
    AbiParam, Function as Body, InstBuilder, MemFlagsData, SigRef, Signature, StackSlot,
    StackSlotData, StackSlotKind, Type, Value,
};
use cranelift_codegen::isa::TargetIsa;

use crate::backend::native::library_call::LibraryCall;
use crate::backend::native::liveness::{Liveness, NONE};
use crate::backend::native::schedule::{AngleGroup, Schedule, schedule};
use crate::tape::instruction::Slot;
use crate::tape::program::Tape;

/// How many instructions ahead a value is kept in a register for its next reader.
const REACH: u32 = 24;
/// How many sines and cosines are evaluated at once.
pub(super) const ROW: usize = 8;
/// Fewer at once are not worth a row.
const FEW: usize = 3;

/// Where a value can be read from memory.
#[derive(Clone, Copy, Debug)]
struct MemoryAddress {
    base: Value,
    offset: i32,
}

/// What is known when the block is written.
pub(super) struct BuiltFunction {
    pub(super) calls: Vec<Arc<LibraryCall>>,
    pub(super) fixed: Vec<Slot>,
    pub(super) rows: usize,
}

/// How the block is to be written.
pub(super) struct FunctionShape {
    /// A double, or two.
    pub(super) kind: Type,
    pub(super) multiply_add: bool,
    pub(super) lanes: usize,
}

/// The block so far.
pub(super) struct ClifBuilder<'a> {
    pub(super) cursor: FuncCursor<'a>,
    pub(super) tape: &'a Arc<Tape>,
    values: Liveness,
    pub(super) kind: Type,
    pub(super) multiply_add: bool,
    pub(super) pointer: Type,
    /// What is known of every access.
    pub(super) flags: MemFlagsData,
    /// From one row to the next, in bytes.
    stride: i64,
    inputs: Value,
    outputs: Value,
    middle: Value,
    /// Values in registers.
    held: Vec<Option<Value>>,
    homes: Vec<Option<MemoryAddress>>,
    /// The row of each value that waits in one, else [`NONE`].
    row_of: Vec<u32>,
    free: Vec<u32>,
    rows: usize,
    fixed: Vec<Slot>,
    pub(super) calls: Vec<Arc<LibraryCall>>,
    /// `(call, a, b)` to a double.
    pub(super) value: SigRef,
    /// `(x, to)` to nothing.
    pub(super) angle: SigRef,
    /// `(angles)` to nothing.
    pub(super) row: SigRef,
    /// `(a, b, c)` to a double.
    pub(super) product: SigRef,
    /// Angles, sines and cosines, [`ROW`] of each.
    pub(super) angles: StackSlot,
    /// Angles that are evaluated together, in ascending order.
    groups: Vec<AngleGroup>,
}

impl<'a> ClifBuilder<'a> {
    pub(super) fn new(
        tape: &'a Arc<Tape>,
        body: &'a mut Body,
        isa: &dyn TargetIsa,
        FunctionShape { kind, multiply_add, lanes }: FunctionShape,
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
    pub(super) fn write(mut self) -> Option<BuiltFunction> {
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
            let count =
                groups.next_if(|group| group.first == place).map_or(1, |group| group.count);
            self.instructions(place, count)?;
            place += count;
        }
        self.cursor.ins().return_(&[]);
        let Self { calls, fixed, rows, .. } = self;
        Some(BuiltFunction { calls, fixed, rows })
    }

    /// One instruction, or a group of angles.
    fn instructions(&mut self, first: usize, count: usize) -> Option<()> {
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

    /// The value in a register.
    fn read(&mut self, v: u32) -> Option<Value> {
        if let Some(value) = self.held[v as usize] {
            return Some(value);
        }
        let MemoryAddress { base, offset } = self.home(v)?;
        let value = self.cursor.ins().load(self.kind, self.flags, base, offset);
        self.held[v as usize] = Some(value);
        Some(value)
    }

    /// Keeps the value in its register if it is read soon, leaves it in memory if it is read later, forgets
    /// it otherwise.
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
            let home =
                MemoryAddress { base: self.middle, offset: self.offset(i64::from(row))? };
            self.homes[index] = Some(home);
            self.cursor.ins().store(self.flags, value, home.base, home.offset);
        }
        Some(())
    }

    /// Where the value is in memory; what is given gets its place when it is first read.
    fn home(&mut self, v: u32) -> Option<MemoryAddress> {
        let index = v as usize;
        if let Some(home) = self.homes[index] {
            return Some(home);
        }
        let home = if index < self.tape.layout.inputs {
            MemoryAddress { base: self.inputs, offset: self.offset(index as i64)? }
        } else {
            self.fixed.push(v);
            MemoryAddress {
                base: self.middle,
                offset: self.offset(-(self.fixed.len() as i64))?,
            }
        };
        self.homes[index] = Some(home);
        Some(home)
    }

    /// Writes the value to all outputs that it is; it can be read there again.
    fn put_out(&mut self, v: u32, value: Value) -> Option<()> {
        let mut next = self.values.output_of(v);
        while let Some(output) = next {
            let home =
                MemoryAddress { base: self.outputs, offset: self.offset(i64::from(output))? };
            self.cursor.ins().store(self.flags, value, home.base, home.offset);
            self.homes[v as usize].get_or_insert(home);
            next = self.values.output_after(output);
        }
        Some(())
    }

    fn offset(&self, row: i64) -> Option<i32> {
        i32::try_from(row * self.stride).ok()
    }
}

/// The values in the order in which code is written, and the groups of angles that are worth a row.
fn ordered(tape: &Tape, kind: Type) -> (Liveness, Vec<AngleGroup>) {
    let values = Liveness::of(tape);
    let lanes = kind.lane_count() as usize;
    match schedule(tape, &values, ROW / lanes) {
        Some(Schedule { order, mut groups }) => {
            groups.retain(|group| group.count * lanes >= FEW);
            (values.reordered(order), groups)
        }
        None => (values, Vec::new()),
    }
}
