//! Reorders instructions so that sines and cosines stand together.
//!
//! With one state at a time, sines and cosines that do not depend on each other are evaluated several at once
//! in one vector register. With several states they follow each other, so that the next begins before the
//! last has ended, at places where few values occupy the registers that they need.
//!
//! An angle is early if it is an input, or made of inputs by sums and products alone. What early angles need
//! goes first, in its order; as soon as there are enough of them to fill a register they form a group.
//! Everything else follows in its order. Among that, angles join the first one after which all of them are
//! known, as the angles of one stage of a step are. Fewer than [`FEW`] angles stay where they are: packing
//! would cost more than it saves.

use super::liveness::{Liveness, NONE};
use crate::tape::instruction::Instruction;
use crate::tape::program::Tape;

/// Fewer angles are not worth a group.
const FEW: usize = 2;

/// A new order of the instructions, and the groups in it.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) order: Vec<u32>,
    /// In ascending order.
    pub(super) groups: Vec<AngleGroup>,
}

/// Sines and cosines that are evaluated together: the place of the first, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct AngleGroup {
    pub(super) first: usize,
    pub(super) count: usize,
}

/// The order with groups of up to `size` angles, if there are enough of them.
pub(super) fn schedule(tape: &Tape, values: &Liveness, size: usize) -> Option<Schedule> {
    let code = &tape.per_evaluation;
    let angles: Vec<usize> = (0..code.len()).filter(|&i| is_angle(code[i])).collect();
    if angles.len() < FEW {
        return None;
    }
    let maker = early(tape, values);
    let is_early = |i: &usize| maker[values.operands[*i][0] as usize] != LATE;
    let (mut early_angles, mut late): (Vec<usize>, Vec<usize>) =
        angles.into_iter().partition(is_early);
    if early_angles.len() < FEW {
        late.append(&mut early_angles);
        late.sort_unstable();
    }
    let late_groups = late_groups(values, &late, size);
    if early_angles.is_empty() && late_groups.is_empty() {
        return None;
    }
    let mut placed = vec![false; code.len()];
    let needed = needed(values, &maker, &early_angles);
    let (mut order, mut groups) = (Vec::with_capacity(code.len()), Vec::new());
    let mut upcoming = 0;
    for chunk in early_angles.chunks(size) {
        let last = chunk[chunk.len() - 1];
        for i in upcoming..last {
            if needed[i] {
                placed[i] = true;
                order.push(i as u32);
            }
        }
        upcoming = upcoming.max(last);
        groups.push(AngleGroup { first: order.len(), count: chunk.len() });
        for &i in chunk {
            placed[i] = true;
            order.push(i as u32);
        }
    }
    let mut late_groups = late_groups.into_iter().peekable();
    for i in 0..code.len() {
        if let Some(group) = late_groups.next_if(|group| group[0] == i) {
            groups.push(AngleGroup { first: order.len(), count: group.len() });
            order.extend(group.iter().map(|&j| j as u32));
            group.into_iter().for_each(|j| placed[j] = true);
        } else if !placed[i] {
            order.push(i as u32);
        }
    }
    Some(Schedule { order, groups })
}

/// Angles that can stand where the first of them stands: what they are made of is older.
fn late_groups(values: &Liveness, late: &[usize], size: usize) -> Vec<Vec<usize>> {
    let mut made = vec![0; values.count];
    for (i, results) in values.results.iter().enumerate() {
        results.iter().filter(|&&v| v != NONE).for_each(|&v| made[v as usize] = i + 1);
    }
    let mut groups = Vec::new();
    let mut rest = late.iter().copied().peekable();
    while let Some(first) = rest.next() {
        let mut group = vec![first];
        let joins = |i: &usize| made[values.operands[*i][0] as usize] <= first;
        while group.len() < size
            && let Some(i) = rest.next_if(joins)
        {
            group.push(i);
        }
        if group.len() >= FEW {
            groups.push(group);
        }
    }
    groups
}

pub(super) fn is_angle(instruction: Instruction) -> bool {
    use Instruction as I;
    matches!(instruction, I::Sin { .. } | I::Cos { .. } | I::SinCos { .. })
}

/// A value that waits for more than sums and products.
const LATE: u32 = u32::MAX;
/// A value that no instruction makes.
const GIVEN: u32 = u32::MAX - 1;

/// The instruction that makes each value, if it is early.
fn early(tape: &Tape, values: &Liveness) -> Vec<u32> {
    use Instruction as I;
    let mut maker = vec![LATE; values.count];
    maker[..tape.layout.first_temporary()].fill(GIVEN);
    for (i, instruction) in tape.per_evaluation.iter().enumerate() {
        let simple = matches!(
            instruction,
            I::Add { .. }
                | I::Sub { .. }
                | I::Mul { .. }
                | I::Neg { .. }
                | I::Square { .. }
                | I::MulAdd { .. }
                | I::MulSub { .. }
                | I::SubMul { .. }
        );
        let known = |&v: &u32| v == NONE || maker[v as usize] != LATE;
        if simple && values.operands[i].iter().all(known) {
            maker[values.results[i][0] as usize] = i as u32;
        }
    }
    maker
}

/// Which instructions the angles need.
fn needed(values: &Liveness, maker: &[u32], angles: &[usize]) -> Vec<bool> {
    let mut needed = vec![false; values.operands.len()];
    let mut stack: Vec<u32> = angles.iter().map(|&i| values.operands[i][0]).collect();
    while let Some(v) = stack.pop() {
        let i = maker[v as usize];
        if i != GIVEN && !std::mem::replace(&mut needed[i as usize], true) {
            stack.extend(values.operands[i as usize].into_iter().filter(|&v| v != NONE));
        }
    }
    needed
}
