//! L, φ and the blocks of (K) as a graph of expressions, for other algebra systems: derivation → JSON.
//!
//! ```text
//! { "symbols": [{"name", "role", "order"}], "nodes": [["number", "1/2"], ["symbol", 0], ["mul", 0, 1], …],
//!   "L": node, "phi": [node], "M": [[node]], "f": [node], "A": [[node]], "b": [node] }
//! ```
//!
//! Every node names earlier ones by their places, so that shared parts stay shared.

use pfaff::{Derivation, Dynamics, Error, Workspace};
use pfaff_expr::{Expr, Graph, Node, Relation, Role};
use pfaff_model::Dynamics as Statement;
use serde_json::{Value, json};

use crate::json::object;

/// L, φ, M, f, A and b of a derivation, or the equations of an `equation` model.
///
/// # Errors
///
/// [`Error`] for what other systems have no node for: data of tables, and families of like terms.
pub fn expression_graph(derivation: &Derivation) -> Result<Value, Error> {
    let model = &derivation.workspace();
    let mut writer = Writer {
        graph: &model.graph,
        places: Vec::new(),
        nodes: Vec::new(),
        symbols: Vec::new(),
    };
    let mut entries: Vec<(&str, Value)> = Vec::new();
    if let Statement::Lagrangian { lagrangian, .. } = model.dynamics {
        entries.push(("L", writer.one(lagrangian)?));
    }
    let phi: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
    entries.push(("phi", writer.list(&phi)?));
    match &derivation.dynamics {
        Dynamics::Saddle(e) => {
            entries.push(("M", writer.matrix(&e.mass)?));
            entries.push(("f", writer.list(&e.force)?));
            entries.push(("A", writer.matrix(&e.jacobian)?));
            entries.push(("b", writer.list(&e.drift)?));
            entries.push(("momenta", writer.list(&e.momenta)?));
            entries.push(("energy", writer.one(e.energy)?));
        }
        Dynamics::Ordinary(o) => entries.push(("equations", writer.list(&o.residual)?)),
    }
    let names = |list: Vec<&str>| Value::from(list);
    let coordinates = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let constraints = model.constraints.iter().map(|c| c.name.as_str()).collect();
    entries.push(("coordinates", names(coordinates)));
    entries.push(("constraints", names(constraints)));
    entries.push(("parameters", parameters(model)));
    entries.push(("symbols", Value::Array(writer.symbols)));
    entries.push(("nodes", Value::Array(writer.nodes)));
    Ok(object(entries))
}

fn parameters(model: &Workspace) -> Value {
    let values = model.parameter_values();
    object(model.parameters.iter().zip(values).map(|(p, x)| (p.name.clone(), Value::from(x))))
}

/// Nodes that were written, each once.
struct Writer<'a> {
    graph: &'a Graph,
    /// The place of each node of the graph.
    places: Vec<Option<usize>>,
    nodes: Vec<Value>,
    symbols: Vec<Value>,
}

impl Writer<'_> {
    fn list(&mut self, expressions: &[Expr]) -> Result<Value, Error> {
        expressions
            .iter()
            .map(|&e| self.one(e))
            .collect::<Result<Vec<_>, _>>()
            .map(Value::Array)
    }

    fn matrix(&mut self, rows: &[Vec<Expr>]) -> Result<Value, Error> {
        rows.iter().map(|row| self.list(row)).collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn one(&mut self, e: Expr) -> Result<Value, Error> {
        // Operands come before the nodes that use them; the stack has no depth that a model could exceed.
        let mut waiting = vec![e];
        while let Some(&top) = waiting.last() {
            if self.place(top).is_some() {
                waiting.pop();
                continue;
            }
            let node = self.graph.node(top);
            let open: Vec<Expr> =
                node.operands().filter(|&x| self.place(x).is_none()).collect();
            if open.is_empty() {
                let written = self.written(top, node)?;
                self.nodes.push(written);
                if self.places.len() <= top.index() {
                    self.places.resize(top.index() + 1, None);
                }
                self.places[top.index()] = Some(self.nodes.len() - 1);
                waiting.pop();
            } else {
                waiting.extend(open);
            }
        }
        Ok(Value::from(self.place(e).unwrap_or_default()))
    }

    fn place(&self, e: Expr) -> Option<usize> {
        self.places.get(e.index()).copied().flatten()
    }

    fn written(&mut self, e: Expr, node: Node) -> Result<Value, Error> {
        let at = |x: Expr| self.place(x).unwrap_or_default();
        let refused = |what: &str| {
            Err(Error::Usage(format!("{what} cannot be handed to another algebra system")))
        };
        Ok(match node {
            Node::Number(_) => {
                let exact =
                    self.graph.number_of(e).map(|x| format!("{}/{}", x.numer(), x.denom()));
                json!(["number", exact.unwrap_or_else(|| "0/1".into())])
            }
            Node::Pi => json!(["pi"]),
            Node::Symbol(_) => {
                let symbol = self.graph.symbol_of(e);
                let (name, (role, order)) = symbol
                    .map_or_else(|| (String::new(), ("free", 0)), |s| (s.name, role(s.role)));
                self.symbols.push(json!({ "name": name, "role": role, "order": order }));
                json!(["symbol", self.symbols.len() - 1])
            }
            Node::Neg(a) => json!(["neg", at(a)]),
            Node::Add(a, b) => json!(["add", at(a), at(b)]),
            Node::Sub(a, b) => json!(["sub", at(a), at(b)]),
            Node::Mul(a, b) => json!(["mul", at(a), at(b)]),
            Node::Div(a, b) => json!(["div", at(a), at(b)]),
            Node::Pow(a, b) => json!(["pow", at(a), at(b)]),
            Node::Unary(function, a) => json!([function.name(), at(a)]),
            Node::Binary(function, a, b) => json!([function.name(), at(a), at(b)]),
            Node::MittagLeffler(a, b, z) => json!(["mittag_leffler", at(a), at(b), at(z)]),
            Node::If(c, a, b) => json!(["if", at(c), at(a), at(b)]),
            Node::Compare(relation, a, b) => json!([compared(relation), at(a), at(b)]),
            Node::Not(a) => json!(["not", at(a)]),
            Node::And(a, b) => json!(["and", at(a), at(b)]),
            Node::Or(a, b) => json!(["or", at(a), at(b)]),
            Node::Memory(memory, a, b) => json!([memory.name(), at(a), at(b)]),
            Node::Table { .. } => return refused("data of a `table`"),
            Node::List(..) | Node::Family { .. } => return refused("a family of like terms"),
        })
    }
}

fn role(role: Role) -> (&'static str, u8) {
    match role {
        Role::Time => ("time", 0),
        Role::Coordinate { order } => ("coordinate", order),
        Role::Parameter => ("parameter", 0),
        Role::Multiplier { order } => ("multiplier", order),
        Role::Free => ("free", 0),
    }
}

fn compared(relation: Relation) -> &'static str {
    match relation {
        Relation::Less => "<",
        Relation::LessEqual => "<=",
        Relation::Equal => "==",
        Relation::NotEqual => "!=",
    }
}
