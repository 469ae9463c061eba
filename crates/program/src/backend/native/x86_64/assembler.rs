//! Encodes instructions: the VEX and EVEX encodings of the few dozen instructions that tapes need.
//!
//! An instruction that has both encodings gets the shorter one: VEX (4 or 5 bytes) for registers below 16,
//! unless its displacement fits one byte only as a multiple of the operand's size, which EVEX (6 bytes)
//! allows. Constants stand in a pool behind the code and are addressed relative to the next instruction;
//! [`Assembler::finish`] fills in their distance.
//!
//! In tests the assembler notes what it means, and a disassembler must read the same.

use super::opcode::{Opcode, OpcodeForm};

/// How many doubles an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// The lowest of an xmm register.
    Scalar,
    Xmm,
    Ymm,
    Zmm,
}

impl Width {
    /// In memory.
    pub(super) fn bytes(self) -> i32 {
        match self {
            Self::Scalar => 8,
            Self::Xmm => 16,
            Self::Ymm => 32,
            Self::Zmm => 64,
        }
    }

    /// The narrowest that has whole registers.
    pub(super) fn whole(self) -> Self {
        if self == Self::Scalar { Self::Xmm } else { self }
    }

    fn level(self) -> u8 {
        match self {
            Self::Scalar | Self::Xmm => 0,
            Self::Ymm => 1,
            Self::Zmm => 2,
        }
    }
}

/// A general register, by its number in the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GeneralRegister(pub(super) u8);

pub(super) const RAX: GeneralRegister = GeneralRegister(0);
pub(super) const RCX: GeneralRegister = GeneralRegister(1);
pub(super) const RDX: GeneralRegister = GeneralRegister(2);
pub(super) const RBX: GeneralRegister = GeneralRegister(3);
pub(super) const RSP: GeneralRegister = GeneralRegister(4);
pub(super) const RBP: GeneralRegister = GeneralRegister(5);
pub(super) const RSI: GeneralRegister = GeneralRegister(6);
pub(super) const RDI: GeneralRegister = GeneralRegister(7);
pub(super) const R8: GeneralRegister = GeneralRegister(8);
pub(super) const R9: GeneralRegister = GeneralRegister(9);
pub(super) const R10: GeneralRegister = GeneralRegister(10);
pub(super) const R11: GeneralRegister = GeneralRegister(11);
pub(super) const R12: GeneralRegister = GeneralRegister(12);
pub(super) const R13: GeneralRegister = GeneralRegister(13);
pub(super) const R14: GeneralRegister = GeneralRegister(14);
pub(super) const R15: GeneralRegister = GeneralRegister(15);

/// The last operand of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MachineOperand {
    Register(u8),
    /// Base and displacement in bytes. The base is none of rsp, r12.
    Memory(GeneralRegister, i32),
    /// A row of the pool.
    Constant(u32),
}

/// Which lanes a result is written to: those whose bit is set in mask register 1, others staying or becoming 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Masking {
    None,
    Merge,
    Zero,
}

/// A vector instruction with its operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorInstruction {
    pub(super) opcode: &'static Opcode,
    pub(super) width: Width,
    /// The register of the result, and the first source.
    pub(super) registers: [u8; 2],
    pub(super) operand: MachineOperand,
    pub(super) masking: Masking,
    /// The immediate byte at its end, if it has one.
    pub(super) immediate: Option<u8>,
}

impl VectorInstruction {
    /// `to = opcode(a, operand)` in all lanes.
    #[inline]
    pub(super) fn new(
        opcode: &'static Opcode,
        width: Width,
        registers: [u8; 2],
        operand: MachineOperand,
    ) -> Self {
        Self { opcode, width, registers, operand, masking: Masking::None, immediate: None }
    }

    /// The same with an immediate byte.
    #[inline]
    pub(super) fn with_immediate(self, byte: u8) -> Self {
        Self { immediate: Some(byte), ..self }
    }

    /// The same for the lanes of mask register 1; EVEX only.
    #[inline]
    pub(super) fn with_masking(self, masking: Masking) -> Self {
        Self { masking, ..self }
    }
}

/// A place in the code that is jumped to, perhaps before it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeLabel(usize);

/// The code so far.
#[derive(Debug)]
pub(super) struct Assembler {
    pub(super) code: Vec<u8>,
    /// Whether the processor has EVEX.
    evex: bool,
    /// Where four bytes wait for the distance to a row of the pool, and how many bytes of the instruction follow them.
    pool_uses: Vec<(usize, u32, usize)>,
    /// Where each label is.
    labels: Vec<usize>,
    /// Where four bytes wait for the distance to a label.
    jumps: Vec<(usize, CodeLabel)>,
    /// Where the code ends, once it is finished.
    #[cfg(test)]
    pub(super) end: usize,
    /// Where each instruction begins, and what it is meant to be.
    #[cfg(test)]
    pub(super) meant: Vec<(usize, String)>,
}

const UNKNOWN: usize = usize::MAX;

impl Assembler {
    pub(super) fn new(evex: bool, capacity: usize) -> Self {
        Self {
            code: Vec::with_capacity(capacity),
            evex,
            pool_uses: Vec::new(),
            labels: Vec::new(),
            jumps: Vec::new(),
            #[cfg(test)]
            end: 0,
            #[cfg(test)]
            meant: Vec::new(),
        }
    }

    /// Writes down what the next bytes mean.
    #[cfg(test)]
    fn note(&mut self, text: impl FnOnce() -> String) {
        self.meant.push((self.code.len(), text()));
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "it is used in tests")]
    #[inline]
    fn note(&mut self, _: impl FnOnce() -> String) {}

    /// `to = opcode(a, b)`; also `to = opcode(b)`, where `a` is 0.
    #[inline]
    pub(super) fn vector(
        &mut self,
        opcode: &'static Opcode,
        width: Width,
        to: u8,
        a: u8,
        b: MachineOperand,
    ) {
        self.encode(VectorInstruction::new(opcode, width, [to, a], b));
    }

    /// A register from a register or memory, nothing if it is there already.
    pub(super) fn load(&mut self, width: Width, to: u8, from: MachineOperand) {
        match from {
            MachineOperand::Register(r) if r == to => {}
            MachineOperand::Register(_) => {
                self.vector(super::opcode::MOVE, width.whole(), to, 0, from);
            }
            _ if broadcasts(width, from) => {
                self.vector(super::opcode::SPREAD, width, to, 0, from);
            }
            _ => self.vector(super::opcode::LOAD, width, to, 0, from),
        }
    }

    /// Memory from a register.
    pub(super) fn store(&mut self, width: Width, base: GeneralRegister, offset: i32, from: u8) {
        self.vector(super::opcode::STORE, width, from, 0, MachineOperand::Memory(base, offset));
    }

    /// Appends the bytes of a vector instruction.
    pub(super) fn encode(&mut self, instruction: VectorInstruction) {
        self.note(|| super::listing::vector(&instruction));
        let VectorInstruction { opcode, width, registers, operand, masking, immediate } =
            instruction;
        let [reg, second] = registers;
        let (extension, base, third) = match operand {
            MachineOperand::Register(r) => ((r >> 4) & 1, (r >> 3) & 1, r),
            MachineOperand::Memory(GeneralRegister(r), _) => (0, (r >> 3) & 1, 0),
            MachineOperand::Constant(_) => (0, 0, 0),
        };
        let form = opcode.form(width);
        let OpcodeForm { map, prefix, opcode: number, wide, .. } = form;
        let high = reg.max(second).max(third) >= 16;
        let evex = high
            || width == Width::Zmm
            || masking != Masking::None
            || opcode.evex_only()
            || self.evex && compresses(opcode, width, operand);
        if evex {
            let p0 =
                (!reg & 8) << 4 | (!extension & 1) << 6 | (!base & 1) << 5 | (!reg & 16) | map;
            let p1 = 0x80 | (!second & 15) << 3 | 4 | prefix;
            let (zero, mask) = match masking {
                Masking::None => (0, 0),
                Masking::Merge => (0, 1),
                Masking::Zero => (0x80, 1),
            };
            // One double of the pool for all lanes: half the work of reading a row.
            let spread = broadcasts(width, operand) && opcode.spreads();
            let p2 =
                zero | width.level() << 5 | u8::from(spread) << 4 | (!second & 16) >> 1 | mask;
            self.code.extend([0x62, p0, p1, p2, number]);
        } else if map == 1 && base == 0 && !wide {
            let p = (!reg & 8) << 4 | (!second & 15) << 3 | width.level() << 2 | prefix;
            self.code.extend([0xc5, p, number]);
        } else {
            let p0 = (!reg & 8) << 4 | 0x40 | (!base & 1) << 5 | map;
            let p1 = u8::from(wide) << 7 | (!second & 15) << 3 | width.level() << 2 | prefix;
            self.code.extend([0xc4, p0, p1, number]);
        }
        let unit = if evex { opcode.memory_bytes(width) } else { 1 };
        self.operand(reg, operand, unit, usize::from(immediate.is_some()));
        self.code.extend(immediate);
    }

    /// The bytes that name a register and a place; displacements of one byte count in units.
    fn operand(&mut self, reg: u8, place: MachineOperand, unit: i32, trailing: usize) {
        let reg = (reg & 7) << 3;
        match place {
            MachineOperand::Register(r) => self.code.push(0xc0 | reg | (r & 7)),
            MachineOperand::Constant(row) => {
                self.code.push(reg | 5);
                self.pool_uses.push((self.code.len(), row, trailing));
                self.code.extend([0; 4]);
            }
            MachineOperand::Memory(GeneralRegister(base), d) => {
                let base = base & 7;
                debug_assert_ne!(base, 4, "rsp and r12 need another byte");
                if d == 0 && base != 5 {
                    self.code.push(reg | base);
                } else if d % unit == 0 && fits(d / unit) {
                    self.code.extend([0x40 | reg | base, (d / unit) as u8]);
                } else {
                    self.code.push(0x80 | reg | base);
                    self.code.extend(d.to_le_bytes());
                }
            }
        }
    }
}

/// Instructions on general registers.
impl Assembler {
    pub(super) fn push(&mut self, GeneralRegister(r): GeneralRegister) {
        self.note(|| format!("push {}", super::listing::general(GeneralRegister(r))));
        self.code.extend((r >= 8).then_some(0x41));
        self.code.push(0x50 | (r & 7));
    }

    pub(super) fn pop(&mut self, GeneralRegister(r): GeneralRegister) {
        self.note(|| format!("pop {}", super::listing::general(GeneralRegister(r))));
        self.code.extend((r >= 8).then_some(0x41));
        self.code.push(0x58 | (r & 7));
    }

    /// Copies a register.
    pub(super) fn copy(&mut self, to: GeneralRegister, from: GeneralRegister) {
        self.note(|| {
            let name = super::listing::general;
            format!("mov {}, {}", name(to), name(from))
        });
        self.rex(from.0, to.0);
        self.code.extend([0x89, 0xc0 | (from.0 & 7) << 3 | (to.0 & 7)]);
    }

    /// A whole number into a register.
    pub(super) fn immediate(&mut self, to: GeneralRegister, number: u64) {
        self.note(|| format!("mov {}, {number:#x}", super::listing::general(to)));
        self.rex(0, to.0);
        self.code.push(0xb8 | (to.0 & 7));
        self.code.extend(number.to_le_bytes());
    }

    /// An address into a register.
    pub(super) fn address(&mut self, to: GeneralRegister, base: GeneralRegister, offset: i32) {
        self.note(|| {
            let name = super::listing::general;
            format!("lea {}, {}", name(to), super::listing::memory(base, offset))
        });
        self.rex(to.0, base.0);
        self.code.push(0x8d);
        self.operand(to.0, MachineOperand::Memory(base, offset), 1, 0);
    }

    /// Eight bytes of memory into a register.
    pub(super) fn read(&mut self, to: GeneralRegister, base: GeneralRegister, offset: i32) {
        self.note(|| {
            let name = super::listing::general;
            format!("mov {}, {}", name(to), super::listing::memory(base, offset))
        });
        self.rex(to.0, base.0);
        self.code.push(0x8b);
        self.operand(to.0, MachineOperand::Memory(base, offset), 1, 0);
    }

    /// Adds a number that is not negative.
    pub(super) fn add(&mut self, to: GeneralRegister, number: i32) {
        self.note(|| format!("add {}, {number:#x}", super::listing::general(to)));
        self.rex(0, to.0);
        self.code.extend([0x81, 0xc0 | (to.0 & 7)]);
        self.code.extend(number.to_le_bytes());
    }

    /// Subtracts a small number; whether bits are left is tested.
    pub(super) fn subtract(&mut self, from: GeneralRegister, number: i8) {
        self.note(|| format!("sub {}, {number:#x}", super::listing::general(from)));
        self.rex(0, from.0);
        self.code.extend([0x83, 0xe8 | (from.0 & 7), number as u8]);
    }

    /// Compares with a small number.
    pub(super) fn compare(&mut self, register: GeneralRegister, number: i8) {
        self.note(|| format!("cmp {}, {number:#x}", super::listing::general(register)));
        self.rex(0, register.0);
        self.code.extend([0x83, 0xf8 | (register.0 & 7), number as u8]);
    }

    /// Copies a register if the last comparison found equal numbers.
    pub(super) fn copy_if_equal(&mut self, to: GeneralRegister, from: GeneralRegister) {
        self.note(|| {
            let name = super::listing::general;
            format!("cmove {}, {}", name(to), name(from))
        });
        self.rex(to.0, from.0);
        self.code.extend([0x0f, 0x44, 0xc0 | (to.0 & 7) << 3 | (from.0 & 7)]);
    }

    /// Lowers the stack by some bytes and to a multiple of 64.
    pub(super) fn lower_stack(&mut self, bytes: i32) {
        self.note(|| format!("sub rsp, {bytes:#x}"));
        self.code.extend([0x48, 0x81, 0xec]);
        self.code.extend(bytes.to_le_bytes());
        self.note(|| "and rsp, 0xffffffffffffffc0".into());
        self.code.extend([0x48, 0x83, 0xe4, 0xc0]);
    }

    /// Calls what the register points at.
    pub(super) fn call_register(&mut self, GeneralRegister(r): GeneralRegister) {
        debug_assert!(r < 8, "others need another byte");
        self.note(|| format!("call {}", super::listing::general(GeneralRegister(r))));
        self.code.extend([0xff, 0xd0 | r]);
    }

    pub(super) fn ret(&mut self) {
        self.note(|| "ret".into());
        self.code.push(0xc3);
    }

    /// Clears the upper parts of vector registers, which slow down code that does not know of them.
    pub(super) fn clear_upper(&mut self) {
        self.note(|| "vzeroupper".into());
        self.code.extend([0xc5, 0xf8, 0x77]);
    }

    /// Whether eax has bits.
    pub(super) fn test_eax(&mut self) {
        self.note(|| "test eax, eax".into());
        self.code.extend([0x85, 0xc0]);
    }

    /// Whether mask register 1 has bits among its first eight.
    pub(super) fn test_mask(&mut self) {
        self.note(|| "kortestb k1, k1".into());
        self.code.extend([0xc5, 0xf9, 0x98, 0xc9]);
    }

    fn rex(&mut self, reg: u8, base: u8) {
        self.code.push(0x48 | (reg >> 3) << 2 | base >> 3);
    }
}

/// Jumps, and the pool.
impl Assembler {
    pub(super) fn label(&mut self) -> CodeLabel {
        self.labels.push(UNKNOWN);
        CodeLabel(self.labels.len() - 1)
    }

    /// The label is here.
    pub(super) fn place(&mut self, label: CodeLabel) {
        self.labels[label.0] = self.code.len();
    }

    pub(super) fn call(&mut self, label: CodeLabel) {
        self.note(|| format!("call L{}", label.0));
        self.code.push(0xe8);
        self.distance(label);
    }

    /// Jumps if the last test found bits.
    pub(super) fn jump_if_any(&mut self, label: CodeLabel) {
        self.note(|| format!("jne L{}", label.0));
        self.code.extend([0x0f, 0x85]);
        self.distance(label);
    }

    /// Jumps if the last comparison of doubles found the first one larger; not if one is no number.
    pub(super) fn jump_if_larger(&mut self, label: CodeLabel) {
        self.note(|| format!("ja L{}", label.0));
        self.code.extend([0x0f, 0x87]);
        self.distance(label);
    }

    /// Jumps in any case.
    pub(super) fn jump(&mut self, label: CodeLabel) {
        self.note(|| format!("jmp L{}", label.0));
        self.code.push(0xe9);
        self.distance(label);
    }

    fn distance(&mut self, label: CodeLabel) {
        self.jumps.push((self.code.len(), label));
        self.code.extend([0; 4]);
    }

    /// Puts the pool behind the code, each constant as often as a row is long, and fills in all distances.
    pub(super) fn finish(&mut self, pool: &[u64], row: usize) {
        for (at, label) in std::mem::take(&mut self.jumps) {
            self.fill(at, self.labels[label.0], 0);
        }
        #[cfg(test)]
        {
            self.end = self.code.len();
        }
        if self.pool_uses.is_empty() {
            return;
        }
        while !self.code.len().is_multiple_of(64) {
            self.code.push(0xcc);
        }
        let start = self.code.len();
        for constant in pool {
            for _ in 0..row / 8 {
                self.code.extend(constant.to_le_bytes());
            }
        }
        for (at, index, trailing) in std::mem::take(&mut self.pool_uses) {
            self.fill(at, start + index as usize * row, trailing);
        }
    }

    /// The label of a place.
    #[cfg(test)]
    pub(super) fn label_at(&self, place: usize) -> String {
        let label = self.labels.iter().position(|&l| l == place);
        format!("L{}", label.expect("jumps lead to labels"))
    }

    /// The distance from the end of an instruction to the target.
    fn fill(&mut self, at: usize, target: usize, trailing: usize) {
        let distance = target as i64 - (at + 4 + trailing) as i64;
        let distance = i32::try_from(distance).expect("code is shorter than 2 GiB");
        self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }
}

/// Whether EVEX makes a displacement of one byte of one that has four in VEX: as a multiple of the operand's
/// size.
fn compresses(opcode: &Opcode, width: Width, operand: MachineOperand) -> bool {
    let memory = opcode.memory_bytes(width);
    match operand {
        MachineOperand::Memory(_, d) => {
            !fits(d) && d % memory == 0 && fits(d / memory) && opcode.has_evex()
        }
        MachineOperand::Register(_) | MachineOperand::Constant(_) => false,
    }
}

/// Whether a place is read as one double for all lanes.
pub(super) fn broadcasts(width: Width, place: MachineOperand) -> bool {
    width == Width::Zmm && matches!(place, MachineOperand::Constant(_))
}

fn fits(displacement: i32) -> bool {
    i8::try_from(displacement).is_ok()
}
