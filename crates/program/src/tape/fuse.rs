//! Joins products to the sums and differences that read them: one multiply-add instead of two instructions.
//!
//! A product with one reader joins it. A product with two readers joins both, if neither has taken another
//! product: two instructions instead of three. Products that an output or the other part of the program reads
//! stay. Unless the program is [fused](crate::Program::fused), product and sum are still rounded one after
//! the other, so the bits stay the same. What is saved is an instruction dispatch and a round trip through
//! memory.
//!
//! Before that, a sign moves to a factor that is fixed during a run: $-(k x)$ becomes $(-k)\,x$, with the
//! same bits.

use rustc_hash::FxHashMap;

use crate::tape::instruction::{Instruction, Slot};
use crate::tape::lower::{SsaTape, ValueOrigin};

/// Joins products to their sums in both parts.
pub(crate) fn fuse(lowered: &mut SsaTape) {
    move_signs(lowered);
    let uses = count_uses(lowered);
    for part in [&mut lowered.per_run, &mut lowered.per_evaluation] {
        fuse_part(part, &uses);
    }
}

fn count_uses(lowered: &SsaTape) -> Vec<u32> {
    let mut uses = vec![0_u32; lowered.values.len()];
    let operands = [&lowered.per_run, &lowered.per_evaluation].into_iter().flatten();
    for v in operands.flat_map(|i| i.operands()).chain(lowered.outputs.iter().copied()) {
        uses[v as usize] += 1;
    }
    uses
}

/// Negatives of products of which one factor is fixed during a run.
fn move_signs(lowered: &mut SsaTape) {
    let is_sign = |i: &Instruction| matches!(i, Instruction::Neg { .. });
    if !lowered.per_evaluation.iter().any(is_sign) {
        return;
    }
    let uses = count_uses(lowered);
    let mut maker = vec![NONE; lowered.values.len()];
    for (i, instruction) in lowered.per_evaluation.iter().enumerate() {
        instruction.results().for_each(|v| maker[v as usize] = i as u32);
    }
    // Each is made once, however many products it is a factor of.
    let mut opposites: FxHashMap<Slot, Slot> = FxHashMap::default();
    for i in 0..lowered.per_evaluation.len() {
        let Instruction::Neg { to, a } = lowered.per_evaluation[i] else { continue };
        let Some(&product) = maker.get(a as usize).filter(|&&p| p != NONE) else { continue };
        let Instruction::Mul { a: x, b: y, .. } = lowered.per_evaluation[product as usize]
        else {
            continue;
        };
        if uses[a as usize] != 1 {
            continue;
        }
        // The factor that is fixed may be that of an inner product.
        let inner = |v: Slot| match maker.get(v as usize).map(|&p| (p, uses[v as usize])) {
            Some((p, 1)) if p != NONE => match lowered.per_evaluation[p as usize] {
                Instruction::Mul { a, b, .. } => Some((p, a, b)),
                _ => None,
            },
            _ => None,
        };
        let places = [Some((product, x, y)), inner(x), inner(y)];
        let fixed = |v: Slot| {
            !matches!(
                lowered.values[v as usize],
                ValueOrigin::Input(_) | ValueOrigin::PerEvaluation
            )
        };
        let found = places.into_iter().flatten().find_map(|(p, a, b)| {
            [(a, b), (b, a)].into_iter().find(|f| fixed(f.0)).map(|(k, x)| (p, k, x))
        });
        let Some((place, k, x)) = found else { continue };
        let k = *opposites.entry(k).or_insert_with(|| opposite(lowered, k));
        let Instruction::Mul { to: own, .. } = lowered.per_evaluation[place as usize] else {
            continue;
        };
        lowered.per_evaluation[place as usize] = Instruction::Mul { to: own, a: k, b: x };
        // The outer product takes the place of its negative, which then is nobody's.
        let outer = lowered.per_evaluation[product as usize];
        lowered.per_evaluation[product as usize] = outer.rename(|v| v, |_| to);
        maker[to as usize] = product;
        lowered.per_evaluation[i] = Instruction::Neg { to: a, a };
    }
    lowered.per_evaluation.retain(|i| !matches!(i, Instruction::Neg { to, a } if to == a));
}

/// The negative of what is fixed during a run.
fn opposite(lowered: &mut SsaTape, k: Slot) -> Slot {
    let value = lowered.values.len() as Slot;
    match lowered.values[k as usize] {
        ValueOrigin::Constant(number) => lowered.values.push(ValueOrigin::Constant(-number)),
        _ => {
            lowered.values.push(ValueOrigin::PerRun);
            lowered.per_run.push(Instruction::Neg { to: value, a: k });
        }
    }
    value
}

fn fuse_part(part: &mut Vec<Instruction>, uses: &[u32]) {
    let products = products(part, uses);
    let readers = readers(part, &products);
    // The product that joins each instruction. Of two that could, the second does: it is the younger one.
    let mut partner = vec![NONE; part.len()];
    for (i, instruction) in part.iter().enumerate() {
        let of_one = |v: &Slot| uses[*v as usize] == 1 && products[*v as usize].is_some();
        if let Some((a, b)) = terms(*instruction) {
            partner[i] = [b, a].into_iter().find(of_one).unwrap_or(NONE);
        }
    }
    for v in (0..uses.len()).filter(|&v| uses[v] == 2 && products[v].is_some()) {
        let [i, j] = readers[v];
        let free = |i: u32| i != NONE && partner[i as usize] == NONE;
        if i != j && free(i) && free(j) {
            partner[i as usize] = v as Slot;
            partner[j as usize] = v as Slot;
        }
    }
    let mut joined = vec![false; uses.len()];
    for (instruction, &product) in part.iter_mut().zip(&partner) {
        if product != NONE {
            *instruction = with_product(*instruction, product, products[product as usize]);
            joined[product as usize] = true;
        }
    }
    part.retain(|i| !i.results().any(|r| joined[r as usize]));
}

/// No value, no instruction.
const NONE: u32 = u32::MAX;

/// The factors of products that are read once or twice, by their value.
fn products(part: &[Instruction], uses: &[u32]) -> Vec<Option<(Slot, Slot)>> {
    let mut factors = vec![None; uses.len()];
    for &instruction in part {
        let (to, pair) = match instruction {
            Instruction::Mul { to, a, b } => (to, (a, b)),
            Instruction::Square { to, a } => (to, (a, a)),
            _ => continue,
        };
        if uses[to as usize] <= 2 {
            factors[to as usize] = Some(pair);
        }
    }
    factors
}

/// The first two sums that read each product.
fn readers(part: &[Instruction], products: &[Option<(Slot, Slot)>]) -> Vec<[u32; 2]> {
    let mut readers = vec![[NONE; 2]; products.len()];
    for (i, &instruction) in part.iter().enumerate() {
        let Some((a, b)) = terms(instruction) else { continue };
        for v in [a, b] {
            if products[v as usize].is_some() {
                let [first, second] = &mut readers[v as usize];
                *(if *first == NONE { first } else { second }) = i as u32;
            }
        }
    }
    readers
}

/// The operands of a sum or a difference.
fn terms(instruction: Instruction) -> Option<(Slot, Slot)> {
    match instruction {
        Instruction::Add { a, b, .. } | Instruction::Sub { a, b, .. } => Some((a, b)),
        _ => None,
    }
}

/// The sum with the factors in place of their product.
fn with_product(sum: Instruction, product: Slot, factors: Option<(Slot, Slot)>) -> Instruction {
    let Some((a, b)) = factors else { return sum };
    match sum {
        Instruction::Add { to, a: c, b: p } if p == product => {
            Instruction::MulAdd { to, a, b, c }
        }
        Instruction::Add { to, b: c, .. } => Instruction::MulAdd { to, a, b, c },
        Instruction::Sub { to, a: c, b: p } if p == product => {
            Instruction::SubMul { to, a, b, c }
        }
        Instruction::Sub { to, b: c, .. } => Instruction::MulSub { to, a, b, c },
        other => other,
    }
}
