//! Values to slots: linear scan over each part, a slot being free again after the last use of its value.
//!
//! | slots | hold | written |
//! |---|---|---|
//! | `inputs` | the inputs in their order | at every evaluation |
//! | `parameters` | the parameters in their order | at the start of a run |
//! | `constants` | the constants that are used | when the program is made |
//! | `kept` | what the first part leaves for the second or for the outputs | at the start of a run |
//! | `temporaries` | everything else | by either part |

use crate::tape::instruction::{Instruction, Slot};
use crate::tape::lower::{SsaTape, ValueOrigin};

/// How many slots of each kind there are; they follow each other in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotLayout {
    pub(crate) inputs: usize,
    pub(crate) parameters: usize,
    pub(crate) constants: usize,
    pub(crate) kept: usize,
    pub(crate) temporaries: usize,
}

impl SlotLayout {
    /// Where the parameters begin.
    pub(crate) fn first_parameter(self) -> usize {
        self.inputs
    }

    /// Where the constants begin.
    pub(crate) fn first_constant(self) -> usize {
        self.first_parameter() + self.parameters
    }

    /// Where the kept values begin.
    pub(crate) fn first_kept(self) -> usize {
        self.first_constant() + self.constants
    }

    /// Where the temporaries begin.
    pub(crate) fn first_temporary(self) -> usize {
        self.first_kept() + self.kept
    }

    /// All of them.
    pub(crate) fn slots(self) -> usize {
        self.first_temporary() + self.temporaries
    }
}

/// Both parts on slots.
#[derive(Debug)]
pub(crate) struct AllocatedTape {
    pub(crate) layout: SlotLayout,
    pub(crate) constants: Vec<f64>,
    pub(crate) per_run: Vec<Instruction>,
    pub(crate) per_evaluation: Vec<Instruction>,
    pub(crate) outputs: Vec<Slot>,
}

/// Gives every value its slot.
pub(crate) fn allocate(lowered: &SsaTape) -> AllocatedTape {
    let PersistentSlots { mut layout, constants, mut slot_of } = place_lasting(lowered);
    let base = layout.first_temporary();
    let (per_run, run_top) = scan(&lowered.per_run, &[], base, &mut slot_of);
    let (per_evaluation, evaluation_top) =
        scan(&lowered.per_evaluation, &lowered.outputs, base, &mut slot_of);
    layout.temporaries = run_top.max(evaluation_top) - base;
    let slot = |v: &Slot| slot_of[*v as usize].expect("what is read was written before");
    let outputs = lowered.outputs.iter().map(slot).collect();
    AllocatedTape { layout, constants, per_run, per_evaluation, outputs }
}

/// What keeps its slot for longer than one pass over a part.
struct PersistentSlots {
    layout: SlotLayout,
    constants: Vec<f64>,
    /// By value; `None` for temporaries.
    slot_of: Vec<Option<Slot>>,
}

/// Places inputs, parameters, constants and kept values.
fn place_lasting(lowered: &SsaTape) -> PersistentSlots {
    let values = &lowered.values;
    let (mut used, mut passed_on) = (vec![false; values.len()], vec![false; values.len()]);
    for v in lowered.per_run.iter().flat_map(|i| i.operands()) {
        used[v as usize] = true;
    }
    let later = lowered.per_evaluation.iter().flat_map(|i| i.operands());
    for v in later.chain(lowered.outputs.iter().copied()) {
        used[v as usize] = true;
        passed_on[v as usize] = true;
    }
    let count = |lasts: &dyn Fn(usize) -> bool| (0..values.len()).filter(|&v| lasts(v)).count();
    let is_constant = |v: usize| used[v] && matches!(values[v], ValueOrigin::Constant(_));
    let is_kept = |v: usize| passed_on[v] && values[v] == ValueOrigin::PerRun;
    let layout = SlotLayout {
        inputs: count(&|v| matches!(values[v], ValueOrigin::Input(_))),
        parameters: count(&|v| matches!(values[v], ValueOrigin::Parameter(_))),
        constants: count(&is_constant),
        kept: count(&is_kept),
        temporaries: 0,
    };
    let mut constants = Vec::with_capacity(layout.constants);
    let mut next_kept = layout.first_kept();
    let slot_of = (0..values.len())
        .map(|v| match values[v] {
            ValueOrigin::Input(i) => Some(i as usize),
            ValueOrigin::Parameter(i) => Some(layout.first_parameter() + i as usize),
            ValueOrigin::Constant(number) if is_constant(v) => {
                constants.push(number);
                Some(layout.first_constant() + constants.len() - 1)
            }
            _ if is_kept(v) => {
                next_kept += 1;
                Some(next_kept - 1)
            }
            _ => None,
        })
        .map(|slot| slot.map(|s| s as Slot))
        .collect();
    PersistentSlots { layout, constants, slot_of }
}

/// Renames one part, giving its temporaries slots from `base` on; also the first slot beyond them.
fn scan(
    part: &[Instruction],
    outputs: &[Slot],
    base: usize,
    slot_of: &mut [Option<Slot>],
) -> (Vec<Instruction>, usize) {
    let mut last_use = vec![0; slot_of.len()];
    for (i, instruction) in part.iter().enumerate() {
        instruction.operands().for_each(|v| last_use[v as usize] = i);
    }
    for &o in outputs {
        last_use[o as usize] = part.len();
    }
    let (mut free, mut top, mut renamed) = (Vec::new(), base, Vec::with_capacity(part.len()));
    for (i, instruction) in part.iter().enumerate() {
        for v in instruction.operands() {
            // Freed once, also when the instruction reads it twice.
            if last_use[v as usize] == i {
                last_use[v as usize] = usize::MAX;
                free.extend(slot_of[v as usize].filter(|&s| s as usize >= base));
            }
        }
        for v in instruction.results() {
            slot_of[v as usize].get_or_insert_with(|| {
                free.pop().unwrap_or_else(|| {
                    top += 1;
                    top as Slot - 1
                })
            });
        }
        let slot = |v: Slot| slot_of[v as usize].expect("what is read was written before");
        renamed.push(instruction.rename(slot, slot));
    }
    (renamed, top)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $x_1 + 1 + 1 + …$ as values: each sum dies in the next one.
    #[test]
    fn a_chain_needs_one_temporary() {
        let mut lowered = SsaTape {
            values: vec![ValueOrigin::Input(0), ValueOrigin::Constant(1.0)],
            ..SsaTape::default()
        };
        for to in 2..100 {
            lowered.values.push(ValueOrigin::PerEvaluation);
            let a = if to == 2 { 0 } else { to - 1 };
            lowered.per_evaluation.push(Instruction::Add { to, a, b: 1 });
        }
        lowered.outputs = vec![99];
        let made = allocate(&lowered);
        assert_eq!((made.layout.temporaries, made.layout.slots()), (1, 3));
        assert_eq!(made.outputs, [2]);
    }

    #[test]
    fn an_output_outlives_its_last_reader() {
        // v1 = x²; v2 = v1²; v3 = v2²; outputs v1 and v3.
        let square = |to, a| Instruction::Square { to, a };
        let lowered = SsaTape {
            values: [&[ValueOrigin::Input(0)][..], &[ValueOrigin::PerEvaluation; 3]].concat(),
            per_evaluation: vec![square(1, 0), square(2, 1), square(3, 2)],
            outputs: vec![1, 3],
            ..SsaTape::default()
        };
        let made = allocate(&lowered);
        assert_eq!(made.outputs, [1, 2]);
        assert_eq!(made.per_evaluation, [square(1, 0), square(2, 1), square(2, 2)]);
    }
}
