//! The vector instructions that tapes need, by their encoding: map, prefix, opcode, the bit W, and whether
//! there are VEX and EVEX forms.
//!
//! The numbers are those of Intel's manual, volume 2. Instructions on doubles have W = 1 in EVEX.

use super::assembler::Width;

/// A vector instruction. Packed and scalar forms of the same work are one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opcode {
    pub(super) packed: OpcodeForm,
    pub(super) scalar: OpcodeForm,
    encodings: Encodings,
    pub(super) operands: OperandPattern,
    /// What it reads from memory.
    memory: MemoryAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryAccess {
    /// Its width.
    Width,
    /// The whole register, also if only its lowest double counts.
    Register,
    /// One double.
    Double,
}

/// How an instruction is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpcodeForm {
    pub(super) name: &'static str,
    pub(super) map: u8,
    pub(super) prefix: u8,
    pub(super) opcode: u8,
    /// The bit W of VEX.
    pub(super) wide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encodings {
    Both,
    Vex,
    Evex,
}

/// What the fields of the encoding mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandPattern {
    /// Result, first source, second source.
    Three,
    /// Result, source.
    Two,
    /// Source, then the memory it goes to.
    Store,
    /// A mask register and two sources.
    Mask,
    /// The first field belongs to the opcode; result and source follow.
    Shift,
    /// A fourth register stands in the upper half of the last byte.
    Four,
    /// A general register and a source.
    General,
    /// Like `Three`; the second source has half the width.
    Insert,
}

impl Opcode {
    #[inline]
    pub(super) fn form(&self, width: Width) -> OpcodeForm {
        if width == Width::Scalar { self.scalar } else { self.packed }
    }

    /// The unit of short displacements in EVEX.
    #[inline]
    pub(super) fn memory_bytes(&self, width: Width) -> i32 {
        match self.memory {
            MemoryAccess::Width => width.bytes(),
            MemoryAccess::Register => width.whole().bytes(),
            MemoryAccess::Double => 8,
        }
    }

    /// Whether it can read one double for all lanes, by a bit of EVEX.
    #[inline]
    pub(super) fn spreads(&self) -> bool {
        self.operands != OperandPattern::Two
    }

    #[inline]
    pub(super) fn has_evex(&self) -> bool {
        self.encodings != Encodings::Vex
    }

    #[inline]
    pub(super) fn evex_only(&self) -> bool {
        self.encodings == Encodings::Evex
    }
}

const PLAIN: u8 = 1;
const SCALAR: u8 = 3;

const fn form(name: &'static str, map: u8, prefix: u8, opcode: u8) -> OpcodeForm {
    OpcodeForm { name, map, prefix, opcode, wide: false }
}

/// Packed and scalar forms that differ in the prefix.
const fn arithmetic(packed: &'static str, scalar: &'static str, opcode: u8) -> Opcode {
    Opcode {
        packed: form(packed, 1, PLAIN, opcode),
        scalar: form(scalar, 1, SCALAR, opcode),
        encodings: Encodings::Both,
        operands: OperandPattern::Three,
        memory: MemoryAccess::Width,
    }
}

/// Multiply-adds; the scalar opcode is the next one.
const fn multiply_add(packed: &'static str, scalar: &'static str, opcode: u8) -> Opcode {
    Opcode {
        packed: OpcodeForm { wide: true, ..form(packed, 2, PLAIN, opcode) },
        scalar: OpcodeForm { wide: true, ..form(scalar, 2, PLAIN, opcode + 1) },
        ..arithmetic(packed, scalar, opcode)
    }
}

/// Whole registers only.
const fn whole(name: &'static str, opcode: u8, operands: OperandPattern) -> Opcode {
    let form = form(name, 1, PLAIN, opcode);
    Opcode {
        packed: form,
        scalar: form,
        encodings: Encodings::Both,
        operands,
        memory: MemoryAccess::Register,
    }
}

const fn vex(map: u8, operation: Opcode) -> Opcode {
    let form = OpcodeForm { map, ..operation.packed };
    Opcode { packed: form, scalar: form, encodings: Encodings::Vex, ..operation }
}

const fn evex(map: u8, operation: Opcode) -> Opcode {
    let form = OpcodeForm { map, ..operation.packed };
    Opcode { packed: form, scalar: form, encodings: Encodings::Evex, ..operation }
}

pub(super) const ADD: &Opcode = &arithmetic("vaddpd", "vaddsd", 0x58);
pub(super) const MUL: &Opcode = &arithmetic("vmulpd", "vmulsd", 0x59);
pub(super) const SUB: &Opcode = &arithmetic("vsubpd", "vsubsd", 0x5c);
pub(super) const DIV: &Opcode = &arithmetic("vdivpd", "vdivsd", 0x5e);
/// One source when packed, two when scalar: the first then gives the upper half.
pub(super) const SQRT: &Opcode = &arithmetic("vsqrtpd", "vsqrtsd", 0x51);

/// to ← a · to + b
pub(super) const MUL_ADD_213: &Opcode = &multiply_add("vfmadd213pd", "vfmadd213sd", 0xa8);
/// to ← a · b + to
pub(super) const MUL_ADD_231: &Opcode = &multiply_add("vfmadd231pd", "vfmadd231sd", 0xb8);
pub(super) const MUL_SUB_213: &Opcode = &multiply_add("vfmsub213pd", "vfmsub213sd", 0xaa);
pub(super) const MUL_SUB_231: &Opcode = &multiply_add("vfmsub231pd", "vfmsub231sd", 0xba);
/// to ← b − a · to
pub(super) const SUB_MUL_213: &Opcode = &multiply_add("vfnmadd213pd", "vfnmadd213sd", 0xac);
pub(super) const SUB_MUL_231: &Opcode = &multiply_add("vfnmadd231pd", "vfnmadd231sd", 0xbc);

pub(super) const AND: &Opcode = &whole("vandpd", 0x54, OperandPattern::Three);
pub(super) const OR: &Opcode = &whole("vorpd", 0x56, OperandPattern::Three);
pub(super) const XOR: &Opcode = &whole("vxorpd", 0x57, OperandPattern::Three);
pub(super) const ADD_WHOLE: &Opcode = &whole("vpaddq", 0xd4, OperandPattern::Three);
/// To the left, by the byte that follows; the first field is 6.
pub(super) const SHIFT: &Opcode = &whole("vpsllq", 0x73, OperandPattern::Shift);
/// The first field of [`SHIFT`].
pub(super) const SHIFT_LEFT: u8 = 6;

/// From register to register.
pub(super) const MOVE: &Opcode = &whole("vmovapd", 0x28, OperandPattern::Two);
/// From memory.
pub(super) const LOAD: &Opcode =
    &Opcode { operands: OperandPattern::Two, ..arithmetic("vmovupd", "vmovsd", 0x10) };
/// One double from memory to all lanes.
pub(super) const SPREAD: &Opcode = &Opcode {
    memory: MemoryAccess::Double,
    ..evex(2, whole("vbroadcastsd", 0x19, OperandPattern::Two))
};
/// To memory.
pub(super) const STORE: &Opcode =
    &Opcode { operands: OperandPattern::Store, ..arithmetic("vmovupd", "vmovsd", 0x11) };

/// Compares the lowest doubles into the flags of the processor.
pub(super) const COMPARE_FLAGS: &Opcode =
    &Opcode { memory: MemoryAccess::Double, ..whole("vucomisd", 0x2e, OperandPattern::Two) };
/// All bits of a lane where the relation holds, else none.
pub(super) const COMPARE: &Opcode =
    &Opcode { encodings: Encodings::Vex, ..arithmetic("vcmppd", "vcmpsd", 0xc2) };
/// A bit of a mask register where it holds.
pub(super) const COMPARE_MASK: &Opcode = &Opcode {
    encodings: Encodings::Evex,
    operands: OperandPattern::Mask,
    ..arithmetic("vcmppd", "vcmpsd", 0xc2)
};
/// A bit of a mask register where both have a bit in common.
pub(super) const TEST_MASK: &Opcode = &evex(2, whole("vptestmq", 0x27, OperandPattern::Mask));
/// The second source where the sign of the fourth register is set, else the first.
pub(super) const BLEND: &Opcode = &vex(3, whole("vblendvpd", 0x4b, OperandPattern::Four));
/// The second source where the mask is set, else the first.
pub(super) const BLEND_MASK: &Opcode =
    &evex(2, whole("vblendmpd", 0x65, OperandPattern::Three));
/// Any function of three bits, by its table in the byte that follows; the result is the first of the three.
pub(super) const TERNARY: &Opcode = &evex(3, whole("vpternlogq", 0x25, OperandPattern::Three));
/// $a \oplus (b \wedge c)$ for [`TERNARY`].
pub(super) const XOR_OF_AND: u8 = 0x78;
/// The signs of all lanes as bits of a general register.
pub(super) const SIGNS: &Opcode = &vex(1, whole("vmovmskpd", 0x50, OperandPattern::General));

/// The lower halves of two xmm registers.
pub(super) const PAIR: &Opcode = &whole("vunpcklpd", 0x14, OperandPattern::Three);
/// A double from memory as the upper half.
pub(super) const PAIR_MEMORY: &Opcode =
    &Opcode { memory: MemoryAccess::Double, ..whole("vmovhpd", 0x16, OperandPattern::Three) };
/// An xmm register into the upper half of a ymm register.
pub(super) const JOIN_TWO: &Opcode =
    &vex(3, whole("vinsertf128", 0x18, OperandPattern::Insert));
pub(super) const JOIN_TWO_EVEX: &Opcode =
    &evex(3, whole("vinsertf64x2", 0x18, OperandPattern::Insert));
/// A ymm register into the upper half of a zmm register.
pub(super) const JOIN_FOUR: &Opcode =
    &evex(3, whole("vinsertf64x4", 0x1a, OperandPattern::Insert));

/// How two numbers compare: the byte of [`COMPARE`] and [`COMPARE_MASK`]. All are quiet; only the last two
/// hold for what is not a number.
pub(super) mod relation {
    pub(in super::super) const EQUAL: u8 = 0x00;
    pub(in super::super) const LESS: u8 = 0x11;
    pub(in super::super) const LESS_EQUAL: u8 = 0x12;
    pub(in super::super) const NOT_EQUAL: u8 = 0x04;
    pub(in super::super) const NOT_LESS_EQUAL: u8 = 0x16;
}
