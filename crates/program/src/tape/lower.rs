//! Expressions to instructions on numbered values, each value written once.
//!
//! Every value belongs to a class: a constant, fixed during a run, or varying. Operations on constants are
//! carried out here, by the interpreter
//! itself, so that their bits are those of the tape. Whole powers become the products of [`pfaff_expr::whole_power`].
//!
//! **Invariant.** Instructions ascend with the handles of their nodes, the order in which the expressions
//! were written; or, where some expressions are named to come
//! first, they stand depth first: what each of those needs, in their order, then the outputs.

use std::sync::Arc;

use pfaff_expr::{Expr, Graph, Node, Symbol, Table, Unary};
use rustc_hash::FxHashMap;

use crate::error::CompileError;
use crate::tape::builder::{Maker, NONE};
use crate::tape::instruction::{Instruction, Slot};

/// Instructions on values, before slots are given out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lowered {
    /// Where each value comes from.
    pub(crate) values: Vec<Origin>,
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
pub(crate) enum Origin {
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
) -> Result<Lowered, CompileError> {
    let top = inputs.iter().chain(parameters).chain(outputs).map(|e| e.index() + 1).max();
    let mut lowering = Lowering {
        graph,
        maker: Maker::default(),
        value_of: vec![NONE; top.unwrap_or(0)],
        tables: FxHashMap::default(),
    };
    lowering.declare(inputs, Origin::Input)?;
    lowering.declare(parameters, Origin::Parameter)?;
    let mut nodes = lowering.live(outputs, inputs.iter().chain(parameters).copied());
    if !first.is_empty() {
        nodes = depth_first(graph, &nodes, first, outputs);
    }
    let angles = angles(graph, &nodes);
    lowering.maker.reserve(nodes.len());
    for e in nodes {
        let value = lowering.node(e, &angles)?;
        lowering.value_of[e.index()] = value;
    }
    lowering.maker.made.outputs =
        outputs.iter().map(|o| lowering.value_of[o.index()]).collect();
    lowering.maker.made.drop_dead();
    Ok(lowering.maker.made)
}

struct Lowering<'a> {
    graph: &'a Graph,
    maker: Maker,
    /// By the index of the node.
    value_of: Vec<Slot>,
    /// Tables of the graph to those of the program.
    tables: FxHashMap<u32, u32>,
}

impl Lowering<'_> {
    fn declare(
        &mut self,
        leaves: &[Expr],
        origin: impl Fn(u32) -> Origin,
    ) -> Result<(), CompileError> {
        for (i, &e) in leaves.iter().enumerate() {
            let value = self.maker.value(origin(i as u32));
            // A number keeps its value: an input in its place is never read.
            if self.graph.double_of(e).is_some() {
                continue;
            }
            if self.value_of[e.index()] != NONE {
                return Err(CompileError::Repeated { name: Name::of(self.graph, e).text() });
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

    fn node(&mut self, e: Expr, angles: &FxHashMap<Expr, Angle>) -> Result<Slot, CompileError> {
        let of = |e: Expr| self.value_of[e.index()];
        let to = NONE;
        let instruction = match self.graph.node(e) {
            Node::Number(_) | Node::Pi => {
                let number = self.graph.double_of(e).expect("the node is a number");
                return Ok(self.maker.constant(number));
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
        Ok(self.maker.emit_new(instruction))
    }

    /// $a^b$: a small whole exponent becomes products, in the order of [`pfaff_expr::whole_power`]. The graph
    /// writes negative ones as quotients.
    fn power(&mut self, a: Slot, b: Slot) -> Slot {
        let to = NONE;
        let Some(whole) = self.maker.constant_of(b).and_then(whole_exponent) else {
            return self.maker.emit(Instruction::Power { to, a, b });
        };
        let (mut product, mut square, mut rest) = (None, a, whole);
        while rest > 0 {
            if rest & 1 == 1 {
                product = Some(match product {
                    None => square, // 1·x is x
                    Some(a) => self.maker.emit(Instruction::Mul { to, a, b: square }),
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.maker.emit(Instruction::Square { to, a: square });
            }
        }
        product.unwrap_or_else(|| self.maker.constant(1.0))
    }

    fn select(&mut self, condition: Slot, a: Slot, b: Slot) -> Slot {
        match self.maker.constant_of(condition) {
            Some(0.0) => b,
            Some(_) => a,
            None => self.maker.emit(Instruction::Select { to: NONE, condition, a, b }),
        }
    }

    fn trigonometric(&mut self, f: Unary, a: Slot, angle: Angle) -> Slot {
        let to = NONE;
        if angle.sin && angle.cos && self.maker.constant_of(a).is_none() {
            let sin = self.maker.emit(Instruction::SinCos { sin: to, cos: to, a });
            // The cosine is the value after the sine.
            return if f == Unary::Sin { sin } else { sin + 1 };
        }
        let sin = f == Unary::Sin;
        self.maker.emit(if sin {
            Instruction::Sin { to, a }
        } else {
            Instruction::Cos { to, a }
        })
    }

    fn table(&mut self, index: u32) -> u32 {
        *self.tables.entry(index).or_insert_with(|| {
            self.maker.made.tables.push(self.graph.table_of(index));
            self.maker.made.tables.len() as u32 - 1
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
        | Node::Memory(..) => return None,
    })
}

/// Why a node has no instruction.
pub(crate) fn impossible(graph: &Graph, e: Expr) -> CompileError {
    match graph.node(e) {
        Node::Memory(kind, ..) => CompileError::Memory { text: kind.name().into() },
        Node::MittagLeffler(..) => CompileError::MittagLeffler,
        _ => CompileError::UnknownSymbol { name: Name::of(graph, e).text() },
    }
}

/// The exponent of a power that is written as products.
pub(crate) fn whole_exponent(exponent: f64) -> Option<u32> {
    (0..=64).find(|&n| f64::from(n) == exponent)
}

impl Lowered {
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
    enum Mark {
        Dead,
        Live,
        Open,
        Done,
    }
    let top = live.last().map_or(0, |e| e.index() + 1);
    let mut marks = vec![Mark::Dead; top];
    live.iter().for_each(|e| marks[e.index()] = Mark::Live);
    let mark = |marks: &[Mark], e: Expr| marks.get(e.index()).copied().unwrap_or(Mark::Dead);
    let mut order = Vec::with_capacity(live.len());
    let mut stack: Vec<Expr> = Vec::new();
    for &root in first.iter().chain(outputs) {
        stack.push(root);
        while let Some(&e) = stack.last() {
            match mark(&marks, e) {
                Mark::Live => {
                    marks[e.index()] = Mark::Open;
                    let operands = graph.node(e).operands().rev();
                    stack.extend(operands.filter(|&o| mark(&marks, o) == Mark::Live));
                }
                Mark::Open => {
                    marks[e.index()] = Mark::Done;
                    order.push(e);
                    stack.pop();
                }
                Mark::Dead | Mark::Done => {
                    stack.pop();
                }
            }
        }
    }
    order
}

/// Whether sine and cosine of an expression are wanted.
#[derive(Clone, Copy, Default)]
struct Angle {
    sin: bool,
    cos: bool,
}

fn angles(graph: &Graph, nodes: &[Expr]) -> FxHashMap<Expr, Angle> {
    let mut angles: FxHashMap<Expr, Angle> = FxHashMap::default();
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
pub(crate) enum Name {
    Symbol(Arc<Symbol>),
    Text(String),
}

impl Name {
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
