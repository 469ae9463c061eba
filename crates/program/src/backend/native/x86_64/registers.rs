//! Register allocation: which value is in which register, and where in memory the others are.
//!
//! When no register is free, the value whose next use is farthest away is spilled (Belady), values that are
//! in memory already being preferred. Rows of spilled values are reused when their value is dead. Rows are
//! addressed from the middle: values that last for a run lie below it, spilled ones above, so that short
//! displacements reach both.

use super::assembler::{Assembler, GeneralRegister, MachineOperand, Width};
use crate::backend::native::liveness::{Liveness, NONE};
use crate::tape::instruction::Slot;

/// Not in a register.
const NOWHERE: u8 = u8::MAX;

/// Where a value is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryHome {
    None,
    /// The row of an input.
    Input(u32),
    /// A row below the middle.
    Fixed(u32),
    /// A row above it.
    Spilled(u32),
}

/// Where rows of memory begin, and how far apart they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameLayout {
    pub(super) inputs: GeneralRegister,
    pub(super) outputs: GeneralRegister,
    pub(super) middle: GeneralRegister,
    /// How far the registers of inputs and outputs point beyond their first row.
    pub(super) input_shift: i32,
    pub(super) output_shift: i32,
    /// From row to row in bytes.
    pub(super) stride: i32,
}

/// What there is to give out.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterFile {
    pub(super) frame: FrameLayout,
    pub(super) width: Width,
    /// Bits of the registers that values may be in.
    pub(super) allocatable: u32,
    /// How many values are inputs, and how many last beyond an evaluation, inputs included.
    pub(super) inputs: usize,
    pub(super) lasting: usize,
}

/// The state of registers and memory between two instructions.
#[derive(Debug)]
pub(super) struct Registers {
    pub(super) values: Liveness,
    pub(super) frame: FrameLayout,
    width: Width,
    /// By value.
    register: Vec<u8>,
    home: Vec<MemoryHome>,
    /// By register.
    held: [u32; 32],
    /// When its value is read next; a little later if it is in memory too.
    due: [u32; 32],
    /// Bits of registers.
    all: u32,
    free: u32,
    pinned: u32,
    /// Rows above the middle: how many, and which are not in use.
    pub(super) rows: u32,
    spare: Vec<u32>,
    /// The slots of the rows below the middle.
    pub(super) fixed: Vec<Slot>,
    inputs: u32,
    /// What has its slot.
    lasting: u32,
    /// Inputs that are read elsewhere than in their rows.
    elsewhere: Vec<(u32, GeneralRegister, i32)>,
}

impl Registers {
    /// With all values in memory.
    pub(super) fn new(values: Liveness, file: RegisterFile) -> Self {
        let RegisterFile { frame, width, allocatable: all, inputs, lasting } = file;
        let count = values.count;
        Self {
            values,
            frame,
            width,
            register: vec![NOWHERE; count],
            home: vec![MemoryHome::None; count],
            held: [NONE; 32],
            due: [0; 32],
            all,
            free: all,
            pinned: 0,
            rows: 0,
            spare: Vec::new(),
            fixed: Vec::new(),
            inputs: inputs as u32,
            lasting: lasting as u32,
            elsewhere: Vec::new(),
        }
    }

    /// Registers that never hold values.
    pub(super) fn withhold(&mut self, registers: u32) {
        self.all &= !registers;
        self.free &= !registers;
    }

    /// Where an input is read instead of in its row.
    pub(super) fn read_at(&mut self, input: u32, base: GeneralRegister, offset: i32) {
        self.elsewhere.push((input, base, offset));
    }

    /// The instruction at this place reads its operands now.
    pub(super) fn pass(&mut self, place: usize) {
        self.values.pass(place);
        for v in self.values.operands[place] {
            if v != NONE
                && let Some(r) = self.register_of(v)
            {
                self.due[usize::from(r)] = self.due(v);
            }
        }
    }

    /// A store is worth about eight instructions of distance.
    fn due(&self, v: u32) -> u32 {
        let bonus = if self.is_at_home(v) { 8 } else { 0 };
        self.values.next_use(v).saturating_add(bonus)
    }

    /// The register of a value, if it is in one.
    #[inline]
    pub(super) fn register_of(&self, v: u32) -> Option<u8> {
        let r = self.register[v as usize];
        (r != NOWHERE).then_some(r)
    }

    /// Its place in memory.
    pub(super) fn memory_of(&mut self, v: u32) -> (GeneralRegister, i32) {
        let FrameLayout { inputs, middle, input_shift, stride, .. } = self.frame;
        match self.home_of(v) {
            MemoryHome::Input(row) => {
                let elsewhere = self.elsewhere.iter().find(|e| e.0 == row);
                elsewhere.map_or((inputs, row as i32 * stride - input_shift), |e| (e.1, e.2))
            }
            MemoryHome::Fixed(row) => (middle, -(row as i32 + 1) * stride),
            MemoryHome::Spilled(row) => (middle, row as i32 * stride),
            MemoryHome::None => {
                unreachable!("a value that is read is in a register or in memory")
            }
        }
    }

    /// What lasts gets its row when it is first asked for.
    fn home_of(&mut self, v: u32) -> MemoryHome {
        if self.home[v as usize] == MemoryHome::None {
            if v < self.inputs {
                self.home[v as usize] = MemoryHome::Input(v);
            } else if v < self.lasting {
                self.fixed.push(v);
                self.home[v as usize] = MemoryHome::Fixed(self.fixed.len() as u32 - 1);
            }
        }
        self.home[v as usize]
    }

    /// Whether it is read where the caller has it.
    pub(super) fn is_input(&self, v: u32) -> bool {
        v < self.inputs
    }

    fn is_at_home(&self, v: u32) -> bool {
        v < self.lasting || self.home[v as usize] != MemoryHome::None
    }

    /// The register or the memory where it is.
    pub(super) fn operand(&mut self, v: u32) -> MachineOperand {
        if let Some(r) = self.register_of(v) {
            self.pin(r);
            return MachineOperand::Register(r);
        }
        let (base, offset) = self.memory_of(v);
        MachineOperand::Memory(base, offset)
    }

    /// The same; first into a register if one is free and the value is read again.
    pub(super) fn operand_near(&mut self, assembler: &mut Assembler, v: u32) -> MachineOperand {
        if self.register_of(v).is_none() && self.free != 0 && !self.values.is_dead(v) {
            return MachineOperand::Register(self.load(assembler, v));
        }
        self.operand(v)
    }

    /// Its register, into which it is loaded if it is in none.
    pub(super) fn load(&mut self, assembler: &mut Assembler, v: u32) -> u8 {
        if let Some(r) = self.register_of(v) {
            self.pin(r);
            return r;
        }
        let (base, offset) = self.memory_of(v);
        let r = self.allocate(assembler);
        assembler.load(self.width, r, MachineOperand::Memory(base, offset));
        self.bind(v, r);
        r
    }

    /// A register without a value.
    pub(super) fn allocate(&mut self, assembler: &mut Assembler) -> u8 {
        if self.free == 0 {
            self.spill_farthest(assembler);
        }
        let r = self.free.trailing_zeros() as u8;
        self.free &= !(1 << r);
        r
    }

    /// This register, which has just been given back.
    pub(super) fn claim(&mut self, r: u8) {
        self.free &= !(1 << r);
    }

    /// The value is in this register.
    pub(super) fn bind(&mut self, v: u32, r: u8) {
        self.register[v as usize] = r;
        self.held[usize::from(r)] = v;
        self.due[usize::from(r)] = self.due(v);
        self.pin(r);
    }

    /// Not to be taken from its value until the instruction is over.
    fn pin(&mut self, r: u8) {
        self.pinned |= 1 << r;
    }

    /// Registers of operands that nothing reads any more are free for the results.
    pub(super) fn release(&mut self, operands: [u32; 3]) {
        for v in operands {
            if v != NONE && self.values.is_dead(v) {
                self.forget(v);
            }
        }
    }

    /// The value is in no register.
    pub(super) fn forget(&mut self, v: u32) {
        if let Some(r) = self.register_of(v) {
            self.register[v as usize] = NOWHERE;
            self.held[usize::from(r)] = NONE;
            self.free |= 1 << r;
            self.pinned &= !(1 << r);
        }
    }

    /// After an instruction: rows of dead operands are spare.
    pub(super) fn end(&mut self, operands: [u32; 3]) {
        self.pinned = 0;
        for v in operands {
            if v != NONE && self.values.is_dead(v) {
                self.free_row(v);
            }
        }
    }

    /// Its row is spare.
    pub(super) fn free_row(&mut self, v: u32) {
        if let MemoryHome::Spilled(row) = self.home[v as usize] {
            self.home[v as usize] = MemoryHome::None;
            self.spare.push(row);
        }
    }

    /// A row for a value that is in none.
    pub(super) fn new_row(&mut self, v: u32) {
        let row = self.spare.pop().unwrap_or_else(|| {
            self.rows += 1;
            self.rows - 1
        });
        self.home[v as usize] = MemoryHome::Spilled(row);
    }

    /// Rows that follow each other, the first a multiple of their number, for values of which some may be
    /// [`NONE`]; the offset of the first.
    pub(super) fn new_rows(&mut self, values: &[u32]) -> i32 {
        let count = values.len() as u32;
        let first = self.rows.next_multiple_of(count);
        self.spare.extend(self.rows..first);
        self.rows = first + count;
        for (row, &v) in (first..).zip(values) {
            if v == NONE {
                self.spare.push(row);
            } else {
                self.home[v as usize] = MemoryHome::Spilled(row);
            }
        }
        first as i32 * self.frame.stride
    }

    /// The value that is needed last gives way.
    fn spill_farthest(&mut self, assembler: &mut Assembler) {
        let (mut latest, mut chosen) = (0, NOWHERE);
        let mut candidates = self.all & !self.pinned;
        while candidates != 0 {
            let r = candidates.trailing_zeros() as u8;
            candidates &= candidates - 1;
            let when = self.due[usize::from(r)];
            if when >= latest {
                (latest, chosen) = (when, r);
            }
        }
        debug_assert_ne!(chosen, NOWHERE, "an instruction locks few registers");
        let v = self.held[usize::from(chosen)];
        self.spill(assembler, v);
        self.forget(v);
    }

    /// Into memory, if it is not there.
    fn spill(&mut self, assembler: &mut Assembler, v: u32) {
        if !self.is_at_home(v) {
            let r = self.register[v as usize];
            self.new_row(v);
            let (base, offset) = self.memory_of(v);
            assembler.store(self.width, base, offset, r);
        }
    }

    /// Empties some registers: into others if they are free, else into memory. What is `read` for the last time stays.
    pub(super) fn evict(&mut self, assembler: &mut Assembler, registers: u32, read: u32) {
        let mut rest = self.all & registers & !self.free;
        while rest != 0 {
            let r = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let v = self.held[usize::from(r)];
            if v == read && self.values.is_dead(v) {
                continue;
            }
            let elsewhere = self.free & !registers;
            if elsewhere == 0 {
                self.spill(assembler, v);
                self.forget(v);
            } else {
                let to = elsewhere.trailing_zeros() as u8;
                assembler.load(self.width, to, MachineOperand::Register(r));
                self.forget(v);
                self.claim(to);
                self.bind(v, to);
            }
        }
    }

    /// Keeps empty registers from being taken.
    pub(super) fn reserve(&mut self, registers: u32) {
        self.free &= !registers;
        self.pinned |= registers;
    }

    /// They may be taken again.
    pub(super) fn allow(&mut self, registers: u32) {
        self.free |= registers & self.all;
        self.pinned &= !registers;
    }

    /// Empties all registers into memory, operands included.
    pub(super) fn spill_all(&mut self, assembler: &mut Assembler) {
        let mut rest = self.all & !self.free;
        while rest != 0 {
            let r = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let v = self.held[usize::from(r)];
            self.spill(assembler, v);
            self.forget(v);
        }
    }
}
