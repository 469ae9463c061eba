//! Instructions as text, to be compared with what a disassembler reads.

use super::assembler::{
    GeneralRegister, MachineOperand, Masking, VectorInstruction, Width, broadcasts,
};
use super::opcode::OperandPattern;

/// A vector instruction as the assembler means it.
pub(super) fn vector(instruction: &VectorInstruction) -> String {
    let VectorInstruction { opcode: operation, width, registers, operand: place, .. } =
        *instruction;
    let VectorInstruction { masking, immediate: byte, .. } = *instruction;
    let [reg, second] = registers;
    let v = |n: u8| register(width, n);
    let at = |place: MachineOperand, width: Width| match place {
        MachineOperand::Register(n) => register(width, n),
        MachineOperand::Memory(base, d) => memory(base, d),
        MachineOperand::Constant(row) if broadcasts(width, place) && operation.spreads() => {
            format!("[pool {row}]{{1to8}}")
        }
        MachineOperand::Constant(row) => format!("[pool {row}]"),
    };
    let p = at(place, width);
    let mask = match masking {
        Masking::None => "",
        Masking::Merge => " {k1}",
        Masking::Zero => " {k1}{z}",
    };
    let mut operands = match operation.operands {
        // A packed root has one source.
        OperandPattern::Three
            if operation.packed.name == "vsqrtpd" && width != Width::Scalar =>
        {
            vec![v(reg), p]
        }
        OperandPattern::Three => vec![v(reg), v(second), p],
        OperandPattern::Two => vec![v(reg), p],
        OperandPattern::Store => vec![p, v(reg)],
        OperandPattern::Mask => vec![format!("k{reg}"), v(second), p],
        OperandPattern::Shift => vec![v(second), p],
        OperandPattern::Four => {
            vec![v(reg), v(second), p, v(byte.expect("the fourth register") >> 4)]
        }
        OperandPattern::General => vec!["eax".into(), p],
        OperandPattern::Insert => {
            let half = if width == Width::Zmm { Width::Ymm } else { Width::Xmm };
            vec![v(reg), v(second), at(place, half)]
        }
    };
    operands[0] += mask;
    if operation.operands != OperandPattern::Four {
        operands.extend(byte.map(|b| format!("{b:#x}")));
    }
    format!("{} {}", operation.form(width).name, operands.join(", "))
}

pub(super) fn register(width: Width, n: u8) -> String {
    match width {
        Width::Scalar | Width::Xmm => format!("xmm{n}"),
        Width::Ymm => format!("ymm{n}"),
        Width::Zmm => format!("zmm{n}"),
    }
}

pub(super) fn memory(base: GeneralRegister, displacement: i32) -> String {
    format!("[{}{displacement:+}]", general(base))
}

pub(super) fn general(GeneralRegister(n): GeneralRegister) -> &'static str {
    [
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11",
        "r12", "r13", "r14", "r15",
    ][usize::from(n)]
}
