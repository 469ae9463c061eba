//! A whole step of an explicit Runge–Kutta method as one program.
//!
//! $$ k_i = f\Bigl(t + c_i h,\; y + h \sum_{j<i} a_{ij} k_j\Bigr), \qquad y_1 = y + h \sum_i b_i k_i, \qquad e_l = \sum_i d_{li} k_i \qquad (\mathrm{RK}) $$
//!
//! from $(t, h, y, k_0)$. A small right-hand side waits more than it computes. Here nothing is called and nothing passes through arrays between stages, so that sums over
//! stages known early fill the time in which the latest is waited for; angles that wait for nothing are evaluated several at once, across stages.

use crate::instruction::{Instruction, Slot};
use crate::lower::Origin;
use crate::maker::{Maker, NONE};
use crate::program::{Program, Tape};

/// A stage and its weight.
pub type Term = (usize, f64);

/// The coefficients of (RK). Stage 0 is the start of the step.
#[derive(Clone, Copy, Debug)]
pub struct Stages<'a> {
    /// $c_i$ of the stages from 1 on.
    pub nodes: &'a [f64],
    /// $a_{ij}$ of the stages from 1 on.
    pub rows: &'a [&'a [Term]],
    /// $b_i$
    pub weights: &'a [Term],
    /// $d_{li}$
    pub sums: &'a [&'a [Term]],
}

impl Stages<'_> {
    /// How many rows of numbers a step gives: the stages, the end, the sums, and the rates at the end.
    pub fn outputs(&self) -> usize {
        self.rows.len() + 2 + self.sums.len()
    }
}

impl Program {
    /// This program, from $(t, y)$ to $f(t, y)$, as a whole step: from $(t, h, y, f(t, y))$ to $k_1, k_2, \dots$, then $y_1$, then $e_1, e_2, \dots$, then $f(t + h, y_1)$.
    /// It may give rates of more components than it reads: those are carried along behind the others.
    ///
    /// `None` if it gives fewer.
    pub fn step(&self, stages: &Stages<'_>) -> Option<Self> {
        let dimension = self.outputs();
        if self.inputs() == 0 || dimension + 1 < self.inputs() {
            return None;
        }
        let mut writer = Writer::new(&self.tape, dimension);
        let mut k = vec![writer.start_rates.clone()];
        for (&node, &row) in stages.nodes.iter().zip(stages.rows) {
            let node = writer.maker.constant(node);
            let passed = writer.product(node, writer.h);
            let t = writer.sum(writer.t, passed);
            let state = writer.along(&k, row, self.inputs() - 1);
            k.push(writer.rates(t, &state));
        }
        let mut outputs: Vec<Slot> = k[1..].concat();
        let end = writer.along(&k, stages.weights, dimension);
        outputs.extend(&end);
        for &terms in stages.sums {
            outputs.extend((0..dimension).map(|i| writer.combined(&k, terms, i)));
        }
        let t = writer.sum(writer.t, writer.h);
        outputs.extend(writer.rates(t, &end));
        let mut made = writer.maker.made;
        made.outputs = outputs;
        made.drop_dead();
        let names = self.tape.step_names(dimension);
        let program = Self::from_lowered(made, names);
        Some(if self.tape.fused { program.fused() } else { program })
    }
}

/// Values of the step, and where they stand in the right-hand side.
struct Writer<'a> {
    tape: &'a Tape,
    maker: Maker,
    /// The value of each slot of the right-hand side.
    current: Vec<Slot>,
    t: Slot,
    h: Slot,
    y: Vec<Slot>,
    /// $k_0$
    start_rates: Vec<Slot>,
}

impl<'a> Writer<'a> {
    fn new(tape: &'a Tape, dimension: usize) -> Self {
        let mut maker = Maker::default();
        let inputs: Vec<Slot> =
            (0..2 + 2 * dimension as u32).map(|i| maker.value(Origin::Input(i))).collect();
        maker.made.tables.clone_from(&tape.tables);
        let mut current = vec![NONE; tape.layout.slots()];
        for i in 0..tape.layout.parameters {
            current[tape.layout.first_parameter() + i] =
                maker.value(Origin::Parameter(i as u32));
        }
        for (i, &number) in tape.constants.iter().enumerate() {
            current[tape.layout.first_constant() + i] = maker.constant(number);
        }
        let (y, start_rates) = inputs[2..].split_at(dimension);
        let (y, start_rates) = (y.to_vec(), start_rates.to_vec());
        let mut writer =
            Self { tape, maker, current, t: inputs[0], h: inputs[1], y, start_rates };
        writer.copy(&tape.per_run);
        writer
    }

    /// The instructions on the values that their slots have now.
    fn copy(&mut self, part: &[Instruction]) {
        for instruction in part {
            let current = &self.current;
            let made =
                self.maker.emit(instruction.rename(|slot| current[slot as usize], |_| NONE));
            for (value, slot) in (made..).zip(instruction.results()) {
                self.current[slot as usize] = value;
            }
        }
    }

    /// $f(t, y)$
    fn rates(&mut self, t: Slot, y: &[Slot]) -> Vec<Slot> {
        let tape = self.tape;
        self.current[0] = t;
        let read = tape.layout.inputs - 1;
        self.current[1..=read].copy_from_slice(&y[..read]);
        self.copy(&tape.per_evaluation);
        tape.outputs.iter().map(|&slot| self.current[slot as usize]).collect()
    }

    fn product(&mut self, a: Slot, b: Slot) -> Slot {
        self.maker.emit(Instruction::Mul { to: NONE, a, b })
    }

    fn sum(&mut self, a: Slot, b: Slot) -> Slot {
        self.maker.emit(Instruction::Add { to: NONE, a, b })
    }

    /// $\sum_j w_j k_j$ of a component, without what is zero.
    fn combined(&mut self, k: &[Vec<Slot>], terms: &[Term], component: usize) -> Slot {
        let mut sum = None;
        for &(j, weight) in terms {
            let rate = k[j][component];
            if self.maker.constant_of(rate) == Some(0.0) {
                continue;
            }
            let weight = self.maker.constant(weight);
            let term = self.product(weight, rate);
            sum = Some(match sum {
                None => term,
                Some(sum) => self.sum(sum, term),
            });
        }
        sum.unwrap_or_else(|| self.maker.constant(0.0))
    }

    /// $y + h \sum_j w_j k_j$ of the first components.
    fn along(&mut self, k: &[Vec<Slot>], terms: &[Term], count: usize) -> Vec<Slot> {
        (0..count)
            .map(|i| {
                let slope = self.combined(k, terms, i);
                let way = self.product(self.h, slope);
                self.sum(self.y[i], way)
            })
            .collect()
    }
}
