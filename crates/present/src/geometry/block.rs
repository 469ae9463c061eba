//! A tensor with its names, as lines, as numbers and as JSON.

use pfaff::Block;
use pfaff_expr::Expr;
use serde_json::Value;

use crate::equations::{Label, Line};
use crate::json::{number, object, string};

fn label(block: &Block, index: &[usize]) -> Label {
    let mut upper: Vec<String> =
        index.iter().zip(&block.names).map(|(&i, names)| names[i].clone()).collect();
    let lower = upper.split_off(block.upper);
    Label::Component { text: block.letter.text, latex: block.letter.latex, upper, lower }
}

/// Components that are not zero, as lines.
pub(super) fn lines(block: &Block, zero: Expr) -> Vec<Line> {
    let line = |(place, i): (usize, Vec<usize>)| {
        let right = block.tensor.entries[place];
        (right != zero).then(|| Line { label: label(block, &i), right })
    };
    block.places().into_iter().filter_map(line).collect()
}

/// Components that are not zero, as numbers.
pub(super) fn values(block: &Block) -> Vec<(String, f64)> {
    let Some(values) = &block.values else { return Vec::new() };
    let name = |i: &[usize]| -> String {
        let names: Vec<&str> =
            i.iter().zip(&block.names).map(|(&i, names)| names[i].as_str()).collect();
        if names.is_empty() {
            return block.letter.text.to_owned();
        }
        format!("{}[{}]", block.letter.text, names.join(","))
    };
    let places = block.places().into_iter();
    places.filter(|(p, _)| values[*p] != 0.0).map(|(p, i)| (name(&i), values[p])).collect()
}

/// `{"symbolic": …, "value": …}` with the texts of the components.
pub(super) fn block_json(block: &Block, texts: &[String]) -> Value {
    let texts: Vec<Value> = texts.iter().map(|t| string(t)).collect();
    let mut entries = vec![("symbolic", nested(&block.tensor.shape, &texts))];
    if let Some(values) = &block.values {
        let numbers: Vec<Value> = values.iter().map(|&x| number(x)).collect();
        entries.push(("value", nested(&block.tensor.shape, &numbers)));
    }
    object(entries)
}

/// Nested lists of the given shape.
fn nested(shape: &[usize], items: &[Value]) -> Value {
    let [size, rest @ ..] = shape else {
        return items.first().cloned().unwrap_or(Value::Null);
    };
    let width = rest.iter().product::<usize>();
    Value::Array((0..*size).map(|i| nested(rest, &items[i * width..(i + 1) * width])).collect())
}
