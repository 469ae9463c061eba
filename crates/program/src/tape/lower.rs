//! Lowers expressions to instructions on numbered values, each written once (SSA form).
//!
//! Every value is a constant, fixed during a run, or varying. Operations on constants are folded with the
//! interpreter itself, so that their bits are those of the tape. Powers with small whole exponents become the
//! products of [`pfaff_expr::whole_power`].
//!
//! **Invariant.** Instructions are in the order of their nodes, which is the order in which the expressions
//! were written. If the caller names expressions that come first, instructions are in depth-first order
//! instead: what those expressions need, in their order, then what the outputs need.

use std::sync::Arc;

use pfaff_expr::{Expr, Graph, Node, Symbol, Table, Unary};
use rustc_hash::FxHashMap;

use crate::error::CompileError;
use crate::tape::builder::{NONE, TapeBuilder};
use crate::tape::instruction::{Instruction, Slot};

/// Instructions on values, before slots are given out.
#[derive(Clone, Debug, Default)]
pub(crate) struct SsaTape {
    /// Where each value comes from.
    pub(crate) values: Vec<ValueOrigin>,
    /// What depends on parameters alone.
    pub(crate) per_run: Vec<Instruction>,
    /// The rest.
    pub(crate) per_evaluation: Vec<Instruction>,
    /// The values asked for.
    pub(crate) outputs: Vec<Slot>,
    /// How many operations on constants were carried out.
    pub(crate) once: usize,
    /// The data that instructions name.
    pub(crate) tables: Vec<Table>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ValueOrigin {
    Input(u32),
    Parameter(u32),
    Constant(f64),
    /// An instruction of the part `per_run`.
    PerRun,
    /// An instruction of the part `per_evaluation`.
    PerEvaluation,
}

/// Lowers the outputs, and drops what they do not need.
pub(crate) fn lower(
    graph: &Graph,
    inputs: &[Expr],
    parameters: &[Expr],
    outputs: &[Expr],
    first: &[Expr],
) -> Result<SsaTape, CompileError> {
    let top = inputs.iter().chain(parameters).chain(outputs).map(|e| e.index() + 1).max();
    let mut lowering = GraphLowering {
        graph,
        builder: TapeBuilder::default(),
        value_of: vec![NONE; top.unwrap_or(0)],
        tables: FxHashMap::default(),
    };
    lowering.declare(inputs, ValueOrigin::Input)?;
    lowering.declare(parameters, ValueOrigin::Parameter)?;
    let mut nodes = lowering.live(outputs, inputs.iter().chain(parameters).copied());
    if !first.is_empty() {
        nodes = depth_first(graph, &nodes, first, outputs);
    }
    let angles = angles(graph, &nodes);
    lowering.builder.reserve(nodes.len());
    for e in nodes {
        let value = lowering.node(e, &angles)?;
        lowering.value_of[e.index()] = value;
    }
    lowering.builder.tape.outputs =
        outputs.iter().map(|o| lowering.value_of[o.index()]).collect();
    lowering.builder.tape.drop_dead();
    Ok(lowering.builder.tape)
}

struct GraphLowering<'a> {
    graph: &'a Graph,
    builder: TapeBuilder,
    /// By the index of the node.
    value_of: Vec<Slot>,
    /// Tables of the graph to those of the program.
    tables: FxHashMap<u32, u32>,
}

impl GraphLowering<'_> {
    fn declare(
        &mut self,
        leaves: &[Expr],
        origin: impl Fn(u32) -> ValueOrigin,
    ) -> Result<(), CompileError> {
        for (i, &e) in leaves.iter().enumerate() {
            let value = self.builder.value(origin(i as u32));
            // A number keeps its value: an input in its place is never read.
            if self.graph.double_of(e).is_some() {
                continue;
            }
            if self.value_of[e.index()] != NONE {
                return Err(CompileError::Repeated {
                    name: InputName::of(self.graph, e).text(),
                });
            }
            self.value_of[e.index()] = value;
        }
        Ok(())
    }

    /// The nodes below the outputs that have no value yet, operands first.
    fn live(&self, outputs: &[Expr], given: impl Iterator<Item = Expr>) -> Vec<Expr> {
        let known: Vec<Expr> = given.filter(|e| self.value_of[e.index()] != NONE).collect();
        self.graph.live_beyond(outputs, &known)
    }

    fn node(
        &mut self,
        e: Expr,
        angles: &FxHashMap<Expr, AngleUse>,
    ) -> Result<Slot, CompileError> {
        let of = |e: Expr| self.value_of[e.index()];
        let to = NONE;
        let instruction = match self.graph.node(e) {
            Node::Number(_) | Node::Pi => {
                let number = self.graph.double_of(e).expect("the node is a number");
                return Ok(self.builder.constant(number));
            }
            Node::Pow(a, b) => return Ok(self.power(of(a), of(b))),
            Node::If(c, a, b) => return Ok(self.select(of(c), of(a), of(b))),
            Node::Unary(f @ (Unary::Sin | Unary::Cos), a) => {
                return Ok(self.trigonometric(f, of(a), angles[&a]));
            }
            Node::Table { table, order, argument } => {
                let a = of(argument);
                Instruction::Table { table: self.table(table), order, to, a }
            }
            node => operation(node, of).ok_or_else(|| impossible(self.graph, e))?,
        };
        Ok(self.builder.emit_new(instruction))
    }

    /// $a^b$: a small whole exponent becomes products, in the order of [`pfaff_expr::whole_power`]. The graph
    /// writes negative ones as quotients.
    fn power(&mut self, a: Slot, b: Slot) -> Slot {
        let to = NONE;
        let Some(whole) = self.builder.constant_of(b).and_then(whole_exponent) else {
            return self.builder.emit(Instruction::Power { to, a, b });
        };
        let (mut product, mut square, mut rest) = (None, a, whole);
        while rest > 0 {
            if rest & 1 == 1 {
                product = Some(match product {
                    None => square, // 1·x is x
                    Some(a) => self.builder.emit(Instruction::Mul { to, a, b: square }),
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.builder.emit(Instruction::Square { to, a: square });
            }
        }
        product.unwrap_or_else(|| self.builder.constant(1.0))
    }

    fn select(&mut self, condition: Slot, a: Slot, b: Slot) -> Slot {
        match self.builder.constant_of(condition) {
            Some(0.0) => b,
            Some(_) => a,
            None => self.builder.emit(Instruction::Select { to: NONE, condition, a, b }),
        }
    }

    fn trigonometric(&mut self, f: Unary, a: Slot, angle: AngleUse) -> Slot {
        let to = NONE;
        if angle.sin && angle.cos && self.builder.constant_of(a).is_none() {
            let sin = self.builder.emit(Instruction::SinCos { sin: to, cos: to, a });
            // The cosine is the value after the sine.
            return if f == Unary::Sin { sin } else { sin + 1 };
        }
        let sin = f == Unary::Sin;
        self.builder.emit(if sin {
            Instruction::Sin { to, a }
        } else {
            Instruction::Cos { to, a }
        })
    }

    fn table(&mut self, index: u32) -> u32 {
        *self.tables.entry(index).or_insert_with(|| {
            self.builder.tape.tables.push(self.graph.table_of(index));
            self.builder.tape.tables.len() as u32 - 1
        })
    }
}

/// The instruction of an operation that is one, with no result yet: not of numbers, powers, sines and
/// cosines, choices and tables.
pub(crate) fn operation(node: Node, of: impl Fn(Expr) -> Slot) -> Option<Instruction> {
    let to = NONE;
    Some(match node {
        Node::Neg(a) => Instruction::Neg { to, a: of(a) },
        Node::Add(a, b) => Instruction::Add { to, a: of(a), b: of(b) },
        Node::Sub(a, b) => Instruction::Sub { to, a: of(a), b: of(b) },
        Node::Mul(a, b) => Instruction::Mul { to, a: of(a), b: of(b) },
        Node::Div(a, b) => Instruction::Div { to, a: of(a), b: of(b) },
        Node::Unary(Unary::Sqrt, a) => Instruction::Sqrt { to, a: of(a) },
        Node::Unary(function, a) => Instruction::Unary { function, to, a: of(a) },
        Node::Binary(function, a, b) => {
            Instruction::Binary { function, to, a: of(a), b: of(b) }
        }
        Node::Compare(relation, a, b) => {
            Instruction::Compare { relation, to, a: of(a), b: of(b) }
        }
        Node::Not(a) => Instruction::Not { to, a: of(a) },
        Node::And(a, b) => Instruction::And { to, a: of(a), b: of(b) },
        Node::Or(a, b) => Instruction::Or { to, a: of(a), b: of(b) },
        Node::Number(_)
        | Node::Pi
        | Node::Symbol(_)
        | Node::Pow(..)
        | Node::MittagLeffler(..)
        | Node::If(..)
        | Node::Table { .. }
        | Node::List(..)
        | Node::Family { .. }
        | Node::Memory(..) => return None,
    })
}

/// Why a node has no instruction.
pub(crate) fn impossible(graph: &Graph, e: Expr) -> CompileError {
    match graph.node(e) {
        Node::Memory(kind, ..) => CompileError::Memory { text: kind.name().into() },
        Node::MittagLeffler(..) => CompileError::MittagLeffler,
        _ => CompileError::UnknownSymbol { name: InputName::of(graph, e).text() },
    }
}

/// The exponent of a power that is written as products.
pub(crate) fn whole_exponent(exponent: f64) -> Option<u32> {
    (0..=64).find(|&n| f64::from(n) == exponent)
}

impl SsaTape {
    /// Drops instructions that no output needs, and the half of a [`Instruction::SinCos`] that nobody reads.
    pub(crate) fn drop_dead(&mut self) {
        let mut live = vec![false; self.values.len()];
        for &o in &self.outputs {
            live[o as usize] = true;
        }
        for part in [&mut self.per_evaluation, &mut self.per_run] {
            for instruction in part.iter_mut().rev() {
                if !instruction.results().any(|r| live[r as usize]) {
                    continue;
                }
                instruction.operands().for_each(|o| live[o as usize] = true);
                match *instruction {
                    Instruction::SinCos { sin, cos, a } if !live[cos as usize] => {
                        *instruction = Instruction::Sin { to: sin, a };
                    }
                    Instruction::SinCos { sin, cos, a } if !live[sin as usize] => {
                        *instruction = Instruction::Cos { to: cos, a };
                    }
                    _ => {}
                }
            }
            part.retain(|instruction| instruction.results().any(|r| live[r as usize]));
        }
    }
}

/// The live nodes, operands first: what `first` needs in its order, then what the outputs need.
fn depth_first(graph: &Graph, live: &[Expr], first: &[Expr], outputs: &[Expr]) -> Vec<Expr> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        Dead,
        Live,
        Open,
        Done,
    }
    let top = live.last().map_or(0, |e| e.index() + 1);
    let mut marks = vec![VisitState::Dead; top];
    live.iter().for_each(|e| marks[e.index()] = VisitState::Live);
    let mark = |marks: &[VisitState], e: Expr| {
        marks.get(e.index()).copied().unwrap_or(VisitState::Dead)
    };
    let mut order = Vec::with_capacity(live.len());
    let mut stack: Vec<Expr> = Vec::new();
    for &root in first.iter().chain(outputs) {
        stack.push(root);
        while let Some(&e) = stack.last() {
            match mark(&marks, e) {
                VisitState::Live => {
                    marks[e.index()] = VisitState::Open;
                    let operands = graph.node(e).operands().rev();
                    stack.extend(operands.filter(|&o| mark(&marks, o) == VisitState::Live));
                }
                VisitState::Open => {
                    marks[e.index()] = VisitState::Done;
                    order.push(e);
                    stack.pop();
                }
                VisitState::Dead | VisitState::Done => {
                    stack.pop();
                }
            }
        }
    }
    order
}

/// Whether sine and cosine of an expression are wanted.
#[derive(Clone, Copy, Default)]
struct AngleUse {
    sin: bool,
    cos: bool,
}

fn angles(graph: &Graph, nodes: &[Expr]) -> FxHashMap<Expr, AngleUse> {
    let mut angles: FxHashMap<Expr, AngleUse> = FxHashMap::default();
    for &e in nodes {
        match graph.node(e) {
            Node::Unary(Unary::Sin, a) => angles.entry(a).or_default().sin = true,
            Node::Unary(Unary::Cos, a) => angles.entry(a).or_default().cos = true,
            _ => {}
        }
    }
    angles
}

/// The name of an input, written out when it is asked for.
#[derive(Clone, Debug)]
pub(crate) enum InputName {
    Symbol(Arc<Symbol>),
    Text(String),
}

impl InputName {
    /// An input as the user knows it; one that is no symbol goes by its operation.
    pub(crate) fn of(graph: &Graph, e: Expr) -> Self {
        match (graph.shared_symbol(e), graph.node(e)) {
            (Some(symbol), _) => Self::Symbol(symbol),
            (None, Node::Memory(kind, ..)) => Self::Text(format!("{}(…)", kind.name())),
            (None, Node::MittagLeffler(..)) => Self::Text("mittag_leffler(…)".into()),
            (None, _) => Self::Text(format!("expression {}", e.index())),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Symbol(symbol) => symbol.text(),
            Self::Text(text) => text.clone(),
        }
    }
}
