//! A closed path of the shapes, $r(s)$ for $s$ from 0 to $2\pi$.

use std::f64::consts::TAU;

use pfaff_expr::Expr;
use pfaff_model::{ExpressionScope, Workspace, read_expression};

use crate::error::Failure;
use crate::model::Model;

/// What closes to this part of its size is closed.
const CLOSED: f64 = 1e-9;

/// A path with its rate.
pub(crate) struct ShapeLoop {
    /// As it was written.
    pub(crate) text: String,
    kind: Kind,
}

enum Kind {
    /// Formulas of `s`: positions and rates.
    Formulas { model: Box<Workspace>, symbol: Expr, position: Vec<Expr>, rate: Vec<Expr> },
    /// $c + p\cos s + q\sin s$
    Ellipse { centre: Vec<f64>, cos: Vec<f64>, sin: Vec<f64> },
}

impl ShapeLoop {
    /// Reads `a1 = cos(s), a2 = sin(s)`; shapes that are not named stay at their initial values.
    pub(crate) fn read(
        model: &Workspace,
        shape: &[usize],
        text: &str,
    ) -> Result<Self, Failure> {
        let mut declared = String::from("coordinates s\nlagrangian s'^2/2\n");
        for parameter in &model.parameters {
            let is_plain = parameter.name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_plain && parameter.name != "s" && parameter.value.is_finite() {
                declared.push_str(&format!(
                    "parameters {} = {:?}\n",
                    parameter.name, parameter.value
                ));
            }
        }
        let own = Model::parse(&declared)
            .map_err(|_| {
                Failure::usage("the parameters of the model cannot be used in a loop")
            })?
            .workspace();
        let symbol = own.coordinates[0].position;
        let names: Vec<&str> =
            shape.iter().map(|&k| model.coordinates[k].name.as_str()).collect();
        let mut position: Vec<Option<Expr>> = vec![None; shape.len()];
        for part in split(text) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(Failure::Usage(format!(
                    "`{}` is no part of a loop; write \"a1 = cos(s), a2 = sin(s)\"",
                    part.trim()
                )));
            };
            let name: String = name.split_whitespace().collect();
            let Some(place) = names.iter().position(|known| **known == name) else {
                return Err(Failure::Usage(format!(
                    "`{name}` is not one of the shapes {}",
                    names.join(", ")
                )));
            };
            if position[place].is_some() {
                return Err(Failure::Usage(format!("`{name}` is given twice in the loop")));
            }
            let (_, entries) = read_expression(&own, "<loop>", value, ExpressionScope::State)?;
            let [e] = entries[..] else {
                return Err(Failure::Usage(format!("`{name}` needs one expression of s")));
            };
            if own.graph.contains(e, &[own.coordinates[0].velocity, own.time]) {
                return Err(Failure::Usage(format!("`{name}` may depend on s only")));
            }
            position[place] = Some(e);
        }
        let g = &own.graph;
        let position: Vec<Expr> = position
            .into_iter()
            .zip(initial(model, shape))
            .map(|(e, start)| {
                e.unwrap_or_else(|| {
                    pfaff_expr::number::from_f64(start).map_or(g.zero(), |x| g.number(x))
                })
            })
            .collect();
        let rate = position.iter().map(|&e| g.derivative(e, symbol)).collect();
        let kind = Kind::Formulas { model: Box::new(own), symbol, position, rate };
        Ok(Self { text: text.trim().to_owned(), kind })
    }

    /// An ellipse.
    pub(crate) fn ellipse(
        names: &[&str],
        centre: Vec<f64>,
        cos: Vec<f64>,
        sin: Vec<f64>,
    ) -> Self {
        let one = |k: usize| {
            let mut text = format!("{} = {:.6}", names[k], centre[k]);
            for (x, word) in [(cos[k], "cos(s)"), (sin[k], "sin(s)")] {
                let sign = if x < 0.0 { '-' } else { '+' };
                text.push_str(&format!(" {sign} {:.6}*{word}", x.abs()));
            }
            text
        };
        let text = (0..names.len()).map(one).collect::<Vec<_>>().join(", ");
        // The numbers are those of the text, so that it gives the same loop again.
        let rounded =
            |list: Vec<f64>| list.into_iter().map(|x| (x * 1e6).round() / 1e6).collect();
        let kind =
            Kind::Ellipse { centre: rounded(centre), cos: rounded(cos), sin: rounded(sin) };
        Self { text, kind }
    }

    pub(crate) fn dimension(&self) -> usize {
        match &self.kind {
            Kind::Formulas { position, .. } => position.len(),
            Kind::Ellipse { centre, .. } => centre.len(),
        }
    }

    /// $r$ and $dr/ds$
    pub(crate) fn at(&self, s: f64) -> (Vec<f64>, Vec<f64>) {
        match &self.kind {
            Kind::Formulas { model, symbol, position, rate } => {
                let value = |e: Expr| {
                    if e == *symbol {
                        return s;
                    }
                    let parameter = model.parameters.iter().find(|p| p.symbol == e);
                    parameter.map_or(f64::NAN, |p| p.value)
                };
                let all = [position.as_slice(), rate].concat();
                let mut values = model.graph.evaluate(&all, &value);
                let rates = values.split_off(position.len());
                (values, rates)
            }
            Kind::Ellipse { centre, cos, sin } => {
                let (y, x) = (libm::sin(s), libm::cos(s));
                let each = || cos.iter().zip(sin);
                let r =
                    centre.iter().zip(each()).map(|(c, (p, q))| c + p * x + q * y).collect();
                (r, each().map(|(p, q)| q * x - p * y).collect())
            }
        }
    }

    /// What each shape has turned by in the end: zero, or whole turns.
    pub(crate) fn turns(&self) -> Result<Vec<f64>, Failure> {
        let ((a, _), (b, _)) = (self.at(0.0), self.at(TAU));
        a.iter()
            .zip(&b)
            .map(|(a, b)| {
                let moved = b - a;
                let turns = (moved / TAU).round();
                let limit = CLOSED * (1.0 + a.abs() + b.abs());
                if !moved.is_finite() {
                    Err(Failure::usage("the loop has no finite values"))
                } else if (moved - TAU * turns).abs() > limit {
                    Err(Failure::Usage(format!(
                        "the loop does not close: at s = 2*pi a shape is {b}, and {a} at s = 0"
                    )))
                } else {
                    Ok(turns)
                }
            })
            .collect()
    }

    /// Its length in shape space.
    pub(crate) fn length(&self) -> f64 {
        const POINTS: usize = 512;
        let speed = |k: usize| {
            let (_, dr) = self.at(TAU * k as f64 / POINTS as f64);
            dr.iter().map(|x| x * x).sum::<f64>().sqrt()
        };
        (0..POINTS).map(speed).sum::<f64>() * TAU / POINTS as f64
    }
}

/// Initial values of the shapes, zero where there are none.
pub(crate) fn initial(model: &Workspace, shape: &[usize]) -> Vec<f64> {
    let t = model.solve.range.map_or(0.0, |range| range.0);
    let given = crate::problem::start::given(model, t);
    shape.iter().map(|&k| given.q[k].unwrap_or(0.0)).collect()
}

/// At the commas outside brackets.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|c: char| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        c == ',' && depth <= 0
    })
    .filter(|part| !part.trim().is_empty())
    .collect()
}
