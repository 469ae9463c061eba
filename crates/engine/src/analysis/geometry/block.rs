//! A tensor with its names: one block of what `pfaff geometry` shows.

use pfaff_expr::Expr;
use pfaff_mechanics::Tensor;

use crate::json::Json;
use crate::present::{Label, Line};

/// Which components repeat others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    Nothing,
    /// Symmetric in the last two indices.
    Symmetric,
    /// Antisymmetric in the last two indices.
    Antisymmetric,
}

/// A tensor under its key and heading.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The key of the object that it stands in, empty at the top.
    pub(crate) group: &'static str,
    pub(crate) key: &'static str,
    pub(crate) heading: &'static str,
    /// Its letter in text and in LaTeX.
    pub(crate) letter: (&'static str, &'static str),
    /// How many of the first indices stand above.
    pub(crate) upper: usize,
    /// Names of the values of each index.
    pub(crate) names: Vec<Vec<String>>,
    pub(crate) repeats: Repeats,
    pub(crate) tensor: Tensor,
    /// The components at the state, where one is given.
    pub(crate) values: Option<Vec<f64>>,
}

impl Block {
    /// The part of the report that it belongs to.
    pub(crate) fn part(&self) -> &'static str {
        if matches!(self.group, "" | "nonholonomic") { "riemann" } else { self.group }
    }

    /// Indices of components that do not repeat others.
    fn places(&self) -> Vec<(usize, Vec<usize>)> {
        let own = |i: &Vec<usize>| {
            let [.., a, b] = i[..] else { return true };
            match self.repeats {
                Repeats::Nothing => true,
                Repeats::Symmetric => a <= b,
                Repeats::Antisymmetric => a < b,
            }
        };
        self.tensor.indices().into_iter().enumerate().filter(|(_, i)| own(i)).collect()
    }

    fn label(&self, index: &[usize]) -> Label {
        let mut upper: Vec<String> =
            index.iter().zip(&self.names).map(|(&i, names)| names[i].clone()).collect();
        let lower = upper.split_off(self.upper);
        Label::Component { text: self.letter.0, latex: self.letter.1, upper, lower }
    }

    /// Components that are not zero, as lines.
    pub(crate) fn lines(&self, zero: Expr) -> Vec<Line> {
        let line = |(place, i): (usize, Vec<usize>)| {
            let right = self.tensor.entries[place];
            (right != zero).then(|| Line { label: self.label(&i), right })
        };
        self.places().into_iter().filter_map(line).collect()
    }

    /// Components that are not zero, as numbers.
    pub(crate) fn numbers(&self) -> Vec<(String, f64)> {
        let Some(values) = &self.values else { return Vec::new() };
        let name = |i: &[usize]| -> String {
            let names: Vec<&str> =
                i.iter().zip(&self.names).map(|(&i, names)| names[i].as_str()).collect();
            if names.is_empty() {
                return self.letter.0.to_owned();
            }
            format!("{}[{}]", self.letter.0, names.join(","))
        };
        let places = self.places().into_iter();
        places.filter(|(p, _)| values[*p] != 0.0).map(|(p, i)| (name(&i), values[p])).collect()
    }

    /// `{"symbolic": …, "value": …}` with the texts of the components.
    pub(crate) fn to_json(&self, texts: &[String]) -> Json {
        let texts: Vec<Json> = texts.iter().map(|t| Json::text(t)).collect();
        let mut entries = vec![("symbolic", nested(&self.tensor.shape, &texts))];
        if let Some(values) = &self.values {
            let numbers: Vec<Json> = values.iter().map(|&x| Json::Number(x)).collect();
            entries.push(("value", nested(&self.tensor.shape, &numbers)));
        }
        Json::object(entries)
    }
}

/// Nested lists of the given shape.
fn nested(shape: &[usize], items: &[Json]) -> Json {
    let [size, rest @ ..] = shape else {
        return items.first().cloned().unwrap_or(Json::Null);
    };
    let width = rest.iter().product::<usize>();
    Json::List((0..*size).map(|i| nested(rest, &items[i * width..(i + 1) * width])).collect())
}
