//! Evaluates expressions as they stand in the graph, without making a program: for expressions that are
//! evaluated a few times only, making a program takes longer than it saves.
//!
//! The bits are those of the [`Program`](crate::Program) of the same expressions.

use pfaff_expr::{Expr, Graph, Node, Table, Unary};

use crate::backend::interpreter::{Interpreter, execute};
use crate::error::CompileError;
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::lower::{impossible, operation, whole_exponent};
use crate::tape::program::Program;

/// Expressions ready to be evaluated a few times, with given parameters.
///
/// ```
/// use pfaff_expr::{Graph, Role};
/// use pfaff_program::GraphEvaluator;
///
/// let g = Graph::new();
/// let (x, m) = (g.symbol("x", Role::Coordinate { order: 0 }), g.symbol("m", Role::Parameter));
/// let mut evaluator = GraphEvaluator::new(&g, &[x], &[(m, 2.0)], &[g.div(x, m)])?;
/// let mut outputs = [0.0];
/// evaluator.evaluate(&[3.0], &mut outputs);
/// assert_eq!(outputs, [1.5]);
/// # Ok::<(), pfaff_program::CompileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphEvaluator {
    code: Vec<Instruction>,
    /// Inputs, parameters, then one for each result.
    slots: Vec<f64>,
    inputs: usize,
    parameters: usize,
    outputs: Vec<Slot>,
    tables: Vec<Table>,
    /// Evaluates expressions with families of like terms instead.
    program: Option<Box<Interpreter>>,
}

impl GraphEvaluator {
    /// The outputs over the inputs, with these parameters.
    ///
    /// # Errors
    ///
    /// [`CompileError`] if an output contains something that is not given and has no value at one instant.
    pub fn new(
        graph: &Graph,
        inputs: &[Expr],
        parameters: &[(Expr, f64)],
        outputs: &[Expr],
    ) -> Result<Self, CompileError> {
        if graph.live(outputs).iter().any(|&e| matches!(graph.node(e), Node::Family { .. })) {
            return Self::compiled(graph, inputs, parameters, outputs);
        }
        let given: Vec<Expr> =
            inputs.iter().copied().chain(parameters.iter().map(|p| p.0)).collect();
        let top = given.iter().chain(outputs).map(|e| e.index() + 1).max().unwrap_or(0);
        let mut slot_of: Vec<Slot> = vec![0; top];
        let mut slots = vec![0.0; inputs.len()];
        slots.extend(parameters.iter().map(|p| p.1));
        for (slot, e) in given.iter().enumerate() {
            slot_of[e.index()] = slot as Slot;
        }
        // A number keeps its value: an input in its place is never read.
        let known: Vec<Expr> =
            given.into_iter().filter(|&e| graph.double_of(e).is_none()).collect();
        let nodes = graph.live_beyond(outputs, &known);
        let mut made = Self {
            code: Vec::with_capacity(nodes.len()),
            slots,
            inputs: inputs.len(),
            parameters: parameters.len(),
            outputs: Vec::new(),
            tables: Vec::new(),
            program: None,
        };
        made.slots.reserve(nodes.len());
        for e in nodes {
            let of = |o: Expr| slot_of[o.index()];
            let slot = match graph.node(e) {
                Node::Number(_) | Node::Pi => {
                    made.slots.push(graph.double_of(e).expect("the node is a number"));
                    made.slots.len() as Slot - 1
                }
                Node::Pow(a, b) => {
                    let exponent = graph.double_of(b).and_then(whole_exponent);
                    made.power(of(a), of(b), exponent)
                }
                Node::Unary(Unary::Sin, a) => made.push(Instruction::Sin { to: 0, a: of(a) }),
                Node::Unary(Unary::Cos, a) => made.push(Instruction::Cos { to: 0, a: of(a) }),
                Node::If(c, a, b) => {
                    let (condition, a, b) = (of(c), of(a), of(b));
                    made.push(Instruction::Select { to: 0, condition, a, b })
                }
                Node::Table { table, order, argument } => {
                    made.tables.push(graph.table_of(table));
                    let (table, a) = (made.tables.len() as u32 - 1, of(argument));
                    made.push(Instruction::Table { table, order, to: 0, a })
                }
                node => match operation(node, of) {
                    Some(instruction) => made.push(instruction),
                    None => return Err(impossible(graph, e)),
                },
            };
            slot_of[e.index()] = slot;
        }
        made.outputs = outputs.iter().map(|o| slot_of[o.index()]).collect();
        Ok(made)
    }

    /// The program of the outputs takes the place of all else.
    fn compiled(
        graph: &Graph,
        inputs: &[Expr],
        parameters: &[(Expr, f64)],
        outputs: &[Expr],
    ) -> Result<Self, CompileError> {
        let (symbols, values): (Vec<Expr>, Vec<f64>) = parameters.iter().copied().unzip();
        let program = Program::compile(graph, inputs, &symbols, outputs)?;
        Ok(Self {
            code: Vec::new(),
            slots: Vec::new(),
            inputs: inputs.len(),
            parameters: parameters.len(),
            outputs: Vec::new(),
            tables: Vec::new(),
            program: Some(Box::new(program.interpreter(&values))),
        })
    }

    /// Other parameters.
    ///
    /// # Panics
    ///
    /// If their number is not that of the expressions.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        match &mut self.program {
            Some(program) => program.set_parameters(parameters),
            None => self.slots[self.inputs..][..self.parameters].copy_from_slice(parameters),
        }
    }

    /// The outputs at these inputs. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the lengths are not those of the expressions.
    pub fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        if let Some(program) = &mut self.program {
            return program.evaluate(inputs, outputs);
        }
        self.slots[..self.inputs].copy_from_slice(inputs);
        execute(&self.code, &mut self.slots, &self.tables);
        for (output, &slot) in outputs.iter_mut().zip(&self.outputs) {
            *output = self.slots[slot as usize];
        }
    }

    fn push(&mut self, instruction: Instruction) -> Slot {
        let to = self.slots.len() as Slot;
        self.slots.push(0.0);
        self.code.push(instruction.rename(|v| v, |_| to));
        to
    }

    /// $a^b$, a small whole exponent as products in the order of [`pfaff_expr::whole_power`].
    fn power(&mut self, a: Slot, b: Slot, whole: Option<u32>) -> Slot {
        let Some(mut rest) = whole else {
            return self.push(Instruction::Power { to: 0, a, b });
        };
        let (mut product, mut square) = (None, a);
        while rest > 0 {
            if rest & 1 == 1 {
                product = Some(match product {
                    None => square,
                    Some(a) => self.push(Instruction::Mul { to: 0, a, b: square }),
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.push(Instruction::Square { to: 0, a: square });
            }
        }
        product.unwrap_or_else(|| {
            self.slots.push(1.0);
            self.slots.len() as Slot - 1
        })
    }
}
