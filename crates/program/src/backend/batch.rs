//! Evaluates many states at once: every slot holds a row of lanes, and an instruction runs over the row.
//!
//! Lanes are handled in tiles of at most 32, so that the slots of one tile stay in the first-level cache and
//! an instruction is dispatched once for all lanes of a tile. Within a tile they form blocks of eight, which
//! the compiler turns into vector instructions. Each lane has the bits that
//! [`Interpreter`](crate::Interpreter) gives.

use std::array::from_fn;
use std::sync::Arc;

use pfaff_expr::{Table, power};

use crate::backend::Backend;
use crate::backend::interpreter::{binary_value, indicator, unary_value};
pub(crate) use crate::backend::lanes::LANE_BLOCK;
use crate::backend::layer_lanes::LayerLanes;
use crate::backend::native::{Rowed, function_row, sweep_fused};
use crate::rounding::{Rounding, TwoRoundings};
use crate::sincos::sincos_lanes;
use crate::tape::allocate::SlotLayout;
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::program::Tape;

/// Lanes that are handled together.
pub(crate) type LaneBlock = [f64; LANE_BLOCK];

/// Evaluates a program at many states, as a structure of arrays: number `i` of lane `l` stands at `i * lanes + l`.
#[derive(Clone, Debug)]
pub struct BatchInterpreter {
    tape: Arc<Tape>,
    lanes: usize,
    rows: LaneRows,
    /// The rows of parameters, constants and kept values of every tile, if there is more than one.
    fixed: Vec<LaneBlock>,
    layers: LayerLanes,
}

impl BatchInterpreter {
    pub(crate) fn new(tape: &Arc<Tape>, lanes: usize, parameters: &[f64]) -> Self {
        assert!(lanes > 0, "a batch has at least one lane");
        assert_eq!(parameters.len(), tape.layout.parameters, "number of parameters");
        let width = match lanes.div_ceil(LANE_BLOCK) {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        let mut slots = vec![[0.0; LANE_BLOCK]; tape.layout.slots() * width];
        let first = tape.layout.first_constant();
        for (i, &constant) in tape.constants.iter().enumerate() {
            slots[(first + i) * width..][..width].fill([constant; LANE_BLOCK]);
        }
        let rows = LaneRows { width, slots };
        let layers = LayerLanes::new(tape, lanes, parameters, Backend::Interpreter);
        let mut batch = Self { tape: Arc::clone(tape), lanes, rows, fixed: Vec::new(), layers };
        let everywhere: Vec<f64> =
            parameters.iter().flat_map(|&p| std::iter::repeat_n(p, lanes)).collect();
        batch.set_parameters(&everywhere);
        batch
    }

    /// How many states are evaluated at once.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Each lane its own parameters: parameter `i` of lane `l` is `parameters[i * lanes + l]`.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program times the lanes.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        let Self { tape, lanes, rows, fixed, layers } = self;
        layers.set_parameters(parameters);
        assert_eq!(parameters.len(), tape.layout.parameters * *lanes, "number of parameters");
        fixed.clear();
        for tile in tiles(*lanes, rows.width) {
            rows.load(tape.layout.first_parameter(), parameters, *lanes, tile);
            rows.sweep(tape, &tape.per_run, tile.count);
            if *lanes > rows.width * LANE_BLOCK {
                fixed.extend_from_slice(rows.fixed(tape.layout));
            }
        }
    }

    /// The number of a lane in a slot that evaluations do not change; there is one tile.
    pub(crate) fn slot(&self, slot: Slot, lane: usize) -> f64 {
        self.rows.row(slot as usize)[lane]
    }

    /// The outputs of all lanes: input `i` of lane `l` is `inputs[i * lanes + l]`, and outputs likewise.
    /// Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the lengths are not those of the program times the lanes.
    pub fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        let Self { tape, lanes, rows, fixed, layers } = self;
        assert_eq!(inputs.len(), tape.given() * *lanes, "number of inputs");
        let inputs = layers.extended(inputs);
        assert_eq!(outputs.len(), tape.outputs.len() * *lanes, "number of outputs");
        for (i, tile) in tiles(*lanes, rows.width).enumerate() {
            if !fixed.is_empty() {
                let place = rows.fixed(tape.layout);
                place.copy_from_slice(&fixed[i * place.len()..][..place.len()]);
            }
            rows.load(0, inputs, *lanes, tile);
            rows.sweep(tape, &tape.per_evaluation, tile.count);
            for (&slot, output) in tape.outputs.iter().zip(outputs.chunks_exact_mut(*lanes)) {
                let row = rows.row(slot as usize);
                output[tile.first..][..tile.count].copy_from_slice(&row[..tile.count]);
            }
        }
    }
}

/// The rows of one tile, slot by slot.
#[derive(Clone, Debug)]
struct LaneRows {
    /// Blocks in a row: 1, 2 or 4.
    width: usize,
    slots: Vec<LaneBlock>,
}

impl LaneRows {
    fn row(&self, slot: usize) -> &[f64] {
        self.slots[slot * self.width..][..self.width].as_flattened()
    }

    /// The rows that evaluations do not change: parameters, constants and kept values.
    fn fixed(&mut self, layout: SlotLayout) -> &mut [LaneBlock] {
        let (first, end) = (layout.first_parameter(), layout.first_temporary());
        &mut self.slots[first * self.width..end * self.width]
    }

    /// Copies the numbers of a tile into the rows from slot `first` on; unused lanes repeat the last one.
    fn load(&mut self, first: usize, numbers: &[f64], lanes: usize, tile: Tile) {
        let rows = self.slots[first * self.width..].chunks_exact_mut(self.width);
        for (row, given) in rows.zip(numbers.chunks_exact(lanes)) {
            let (used, unused) = row.as_flattened_mut().split_at_mut(tile.count);
            used.copy_from_slice(&given[tile.first..][..tile.count]);
            unused.fill(used[tile.count - 1]);
        }
    }

    fn sweep(&mut self, tape: &Tape, part: &[Instruction], count: usize) {
        match self.width {
            1 => self.sweep_width::<1>(tape, part, count),
            2 => self.sweep_width::<2>(tape, part, count),
            _ => self.sweep_width::<4>(tape, part, count),
        }
    }

    fn sweep_width<const W: usize>(&mut self, tape: &Tape, part: &[Instruction], count: usize) {
        let slots = self.slots.as_chunks_mut::<W>().0;
        if tape.fused {
            sweep_fused(part, slots, &tape.tables, count);
        } else {
            sweep_with::<TwoRoundings, W>(part, slots, &tape.tables, count, sincos_lanes);
        }
    }
}

fn tiles(lanes: usize, width: usize) -> impl Iterator<Item = Tile> {
    let step = width * LANE_BLOCK;
    (0..lanes).step_by(step).map(move |first| Tile { first, count: step.min(lanes - first) })
}

/// Lanes `first`, …, `first + count - 1`.
#[derive(Clone, Copy)]
struct Tile {
    first: usize,
    count: usize,
}

/// Carries out the instructions on rows of `W` blocks. Slow functions are spared the lanes beyond `count`.
#[allow(
    clippy::inline_always,
    reason = "it must become part of loops that are compiled for more instructions"
)]
#[inline(always)]
pub(crate) fn sweep_with<R: Rounding, const W: usize>(
    code: &[Instruction],
    slots: &mut [[LaneBlock; W]],
    tables: &[Table],
    count: usize,
    sincos_lanes: impl Fn(&LaneBlock) -> (LaneBlock, LaneBlock),
) {
    use Instruction as I;
    // Each block is read before it is written, so that a result may take the slot of an operand.
    macro_rules! blocks {
        ($to:ident, |$($x:ident),+| $value:expr) => {
            for k in 0..W {
                $(let $x = slots[$x as usize][k];)+
                slots[$to as usize][k] = from_fn(|l| { $(let $x = $x[l];)+ $value });
            }
        };
    }
    macro_rules! lanes {
        ($to:ident, |$($x:ident),+| $value:expr) => {
            for l in 0..count {
                $(let $x = slots[$x as usize][l / LANE_BLOCK][l % LANE_BLOCK];)+
                slots[$to as usize][l / LANE_BLOCK][l % LANE_BLOCK] = $value;
            }
        };
    }
    for &instruction in code {
        match instruction {
            I::Add { to, a, b } => blocks!(to, |a, b| a + b),
            I::Sub { to, a, b } => blocks!(to, |a, b| a - b),
            I::Mul { to, a, b } => blocks!(to, |a, b| a * b),
            I::Div { to, a, b } => blocks!(to, |a, b| a / b),
            I::MulAdd { to, a, b, c } => blocks!(to, |a, b, c| R::mul_add(a, b, c)),
            I::MulSub { to, a, b, c } => blocks!(to, |a, b, c| R::mul_add(a, b, -c)),
            I::SubMul { to, a, b, c } => blocks!(to, |a, b, c| R::mul_add(-a, b, c)),
            I::Neg { to, a } => blocks!(to, |a| -a),
            I::Square { to, a } => blocks!(to, |a| a * a),
            I::Sqrt { to, a } => blocks!(to, |a| a.sqrt()),
            I::Sin { to, a } => {
                for k in 0..W {
                    slots[to as usize][k] = sincos_lanes(&slots[a as usize][k]).0;
                }
            }
            I::Cos { to, a } => {
                for k in 0..W {
                    slots[to as usize][k] = sincos_lanes(&slots[a as usize][k]).1;
                }
            }
            I::SinCos { sin, cos, a } => {
                for k in 0..W {
                    let (s, c) = sincos_lanes(&slots[a as usize][k]);
                    slots[sin as usize][k] = s;
                    slots[cos as usize][k] = c;
                }
            }
            I::Power { to, a, b } => {
                if !rowed(slots, Rowed::Power, [a, b], to) {
                    lanes!(to, |a, b| power(a, b));
                }
            }
            I::Unary { function, to, a } => {
                if !rowed(slots, Rowed::Unary(function), [a, a], to) {
                    lanes!(to, |a| unary_value(function, a));
                }
            }
            I::Binary { function, to, a, b } => {
                if !rowed(slots, Rowed::Binary(function), [a, b], to) {
                    lanes!(to, |a, b| binary_value(function, a, b));
                }
            }
            I::Compare { relation, to, a, b } => {
                blocks!(to, |a, b| indicator(relation.holds(a, b)))
            }
            I::Not { to, a } => blocks!(to, |a| indicator(a == 0.0)),
            I::And { to, a, b } => blocks!(to, |a, b| indicator(a != 0.0 && b != 0.0)),
            I::Or { to, a, b } => blocks!(to, |a, b| indicator(a != 0.0 || b != 0.0)),
            I::Select { to, condition, a, b } => {
                blocks!(to, |condition, a, b| if condition == 0.0 { b } else { a });
            }
            I::Table { table, order, to, a } => {
                let table = &tables[table as usize];
                lanes!(to, |a| table.value(order, a));
            }
        }
    }
}

/// The function of every block of a row; `false` where there is none of all lanes at once.
fn rowed<const W: usize>(
    slots: &mut [[LaneBlock; W]],
    function: Rowed,
    [a, b]: [Slot; 2],
    to: Slot,
) -> bool {
    for k in 0..W {
        let (a, b) = (slots[a as usize][k], slots[b as usize][k]);
        if !function_row(function, [&a, &b], &mut slots[to as usize][k]) {
            return false;
        }
    }
    true
}
