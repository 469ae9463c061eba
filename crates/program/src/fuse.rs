//! Products that only one sum or difference reads join it: one step instead of two.
//!
//! Product and sum are still rounded one after the other, so the bits stay; what is saved is the choice of an instruction and the way of the product
//! through memory. A product whose sum belongs to another part of the program stays where it is.

use crate::instruction::{Instruction, Slot};
use crate::lower::Lowered;

/// Joins products to their sums in both parts.
pub(crate) fn fuse(lowered: &mut Lowered) {
    let mut uses = vec![0_u32; lowered.values.len()];
    let operands = [&lowered.per_run, &lowered.per_evaluation].into_iter().flatten();
    for v in operands.flat_map(|i| i.operands()).chain(lowered.outputs.iter().copied()) {
        uses[v as usize] += 1;
    }
    for part in [&mut lowered.per_run, &mut lowered.per_evaluation] {
        fuse_part(part, &uses);
    }
}

fn fuse_part(part: &mut Vec<Instruction>, uses: &[u32]) {
    // The factors of products that are read once, by their value.
    let mut factors: Vec<Option<(Slot, Slot)>> = vec![None; uses.len()];
    for &instruction in part.iter() {
        match instruction {
            Instruction::Mul { to, a, b } if uses[to as usize] == 1 => {
                factors[to as usize] = Some((a, b));
            }
            Instruction::Square { to, a } if uses[to as usize] == 1 => {
                factors[to as usize] = Some((a, a));
            }
            _ => {}
        }
    }
    let mut joined = vec![false; uses.len()];
    for instruction in part.iter_mut() {
        let product = |v: Slot| factors[v as usize];
        // Of two products the second joins: it is the younger one.
        let (with, value) = match *instruction {
            Instruction::Add { to, a: c, b: p } if product(p).is_some() => {
                (product(p).map(|(a, b)| Instruction::MulAdd { to, a, b, c }), p)
            }
            Instruction::Add { to, a: p, b: c } => {
                (product(p).map(|(a, b)| Instruction::MulAdd { to, a, b, c }), p)
            }
            Instruction::Sub { to, a: c, b: p } if product(p).is_some() => {
                (product(p).map(|(a, b)| Instruction::SubMul { to, a, b, c }), p)
            }
            Instruction::Sub { to, a: p, b: c } => {
                (product(p).map(|(a, b)| Instruction::MulSub { to, a, b, c }), p)
            }
            _ => continue,
        };
        if let Some(with) = with {
            *instruction = with;
            joined[value as usize] = true;
        }
    }
    part.retain(|i| !i.results().any(|r| joined[r as usize]));
}
