//! What an editor and its sliders need to know of a text: coloured pieces, names, values.

use pfaff::{Model, Source};
use pfaff_expr::{Binary, Unary};
use pfaff_model::{Keyword, Piece, Quantity, highlight};
use serde_json::{Value, json};

/// The pieces that have a colour: where they begin and end in UTF-16 units, and what they are.
pub(crate) fn pieces(source: &Source) -> Value {
    let mut at = 0;
    let mut list = Vec::new();
    for (piece, kind) in highlight(source) {
        let end = at + piece.chars().map(char::len_utf16).sum::<usize>();
        let word = match kind {
            Piece::Keyword => "keyword",
            Piece::Name => "name",
            Piece::Call => "call",
            Piece::Number => "number",
            Piece::Text => "text",
            Piece::Comment => "comment",
            Piece::Other => "",
        };
        if !word.is_empty() {
            list.push(json!([at, end, word]));
        }
        at = end;
    }
    Value::Array(list)
}

/// Names and values of a model.
pub(crate) fn of(model: &Model) -> Value {
    let workspace = model.workspace();
    let parameters: Vec<Value> = model
        .parameters
        .iter()
        .map(|p| {
            // What follows from other parameters has no slider of its own.
            let symbols = model.parameter_symbols();
            let follows = |e| workspace.graph.contains(e, &symbols);
            json!({
                "name": p.name,
                "value": p.value,
                "derived": p.definition.is_some_and(follows),
                // Sizes, orders, conditions: another value is another model.
                "structural": model.structural.contains(&p.symbol),
            })
        })
        .collect();
    let initial: Vec<Value> = model
        .initial
        .iter()
        .map(|datum| {
            let name = match datum.quantity {
                Quantity::Coordinate(k, dots) => {
                    format!("{}{}", model.coordinates[k].name, "'".repeat(usize::from(dots)))
                }
                Quantity::Multiplier(k) => format!("mu({})", model.constraints[k].name),
                Quantity::Time => "t".to_owned(),
            };
            json!({"name": name, "value": workspace.constant(datum.value)})
        })
        .collect();
    let names = |list: Vec<&String>| Value::from(list.into_iter().cloned().collect::<Vec<_>>());
    let names_of_lets = model.abbreviations.iter().map(|(name, _)| name).collect();
    json!({
        "title": model.name(),
        "coordinates": names(model.coordinates.iter().map(|c| &c.name).collect()),
        "parameters": parameters,
        "initial": initial,
        "lets": names(names_of_lets),
        "constraints": names(model.constraints.iter().map(|c| &c.name).collect()),
        "observed": names(model.observed.iter().map(|o| &o.name).collect()),
        "events": names(model.events.iter().map(|e| &e.name).collect()),
        "principle": model.principle.name(),
        "range": model.solve.range.map(|(a, b)| [a, b]),
        "tolerance": model.solve.tolerance,
        "samples": model.solve.samples,
        "ends": !model.terminal.is_empty(),
    })
}

/// The words of the language, for completion and help.
pub(crate) fn words() -> Value {
    let keywords: Vec<Value> =
        Keyword::ALL.iter().map(|k| json!({"word": k.word(), "form": k.form()})).collect();
    let one = Unary::ALL.iter().map(
        |f| json!({"word": f.name(), "form": format!("{}(x)", f.name()), "meaning": f.meaning()}),
    );
    let two = Binary::ALL
        .iter()
        .map(|f| json!({"word": f.name(), "form": f.form(), "meaning": f.meaning()}));
    let further = FURTHER
        .iter()
        .map(|(word, form, meaning)| json!({"word": word, "form": form, "meaning": meaning}));
    json!({"keywords": keywords, "functions": one.chain(two).chain(further).collect::<Vec<_>>()})
}

/// Functions of several arguments, of vectors and with memory: word, form, meaning.
const FURTHER: [(&str, &str, &str); 22] = [
    ("if", "if(condition, a, b)", "a where the condition holds, else b"),
    ("sum", "sum(i = 1..N, …)", "the sum over a range"),
    ("product", "product(i = 1..N, …)", "the product over a range"),
    ("table", "table(t, \"file.csv\", \"column\")", "given data, joined smoothly"),
    ("dot", "dot(a, b)", "the scalar product"),
    ("cross", "cross(a, b)", "the vector product"),
    ("norm", "norm(a)", "the length of a vector"),
    ("transpose", "transpose(A)", "rows for columns"),
    ("tr", "tr(A)", "the trace"),
    ("det", "det(A)", "the determinant"),
    ("inv", "inv(A)", "the inverse"),
    ("sym", "sym(A)", "half of A plus its transpose"),
    ("skew", "skew(A)", "half of A minus its transpose"),
    ("identity", "identity(n)", "the unit matrix"),
    ("rotation_x", "rotation_x(a)", "the rotation about the first axis"),
    ("rotation_y", "rotation_y(a)", "the rotation about the second axis"),
    ("rotation_z", "rotation_z(a)", "the rotation about the third axis"),
    ("hat", "hat(v)", "the matrix of the vector product with v"),
    ("vee", "vee(W)", "the vector of a skew matrix"),
    ("caputo", "caputo(g, alpha)", "Caputo's fractional derivative from the start of the run"),
    ("rl", "rl(g, alpha)", "the fractional derivative of Riemann and Liouville"),
    ("memory", "memory(k, g)", "the integral of kernel times g over the past, with the lag s"),
];
