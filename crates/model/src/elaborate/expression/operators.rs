//! Signs and operators between values.

use pfaff_expr::Relation;

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::scope::Site;
use crate::shape::algebra::{self as algebra, Misfit};
use crate::shape::{Shape, Value};
use crate::syntax::{Binary, NodeKind};

/// The largest exponent of a matrix.
const POWER: i64 = 64;

impl Elaborator<'_> {
    pub(crate) fn apply(&mut self, site: Site) {
        let value = match self.kind(site) {
            NodeKind::Negate(_) => {
                let a = self.pop();
                self.negate(site, &a)
            }
            NodeKind::Not(_) => match self.pop() {
                Value::Truth(a) => Value::Truth(self.graph.logic_not(a)),
                a => self.refuse_operand(site, "not", &a),
            },
            NodeKind::Binary { operator, .. } => {
                let (b, a) = (self.pop(), self.pop());
                if a.is_poison() || b.is_poison() {
                    Value::Poison
                } else {
                    self.binary(site, operator, &a, &b)
                }
            }
            _ => Value::Poison,
        };
        self.push(value);
    }

    fn negate(&mut self, site: Site, a: &Value) -> Value {
        if a.shape().is_none() {
            return self.refuse_operand(site, "-", a);
        }
        let g = self.graph;
        a.map(|x| g.neg(x))
    }

    fn binary(&mut self, site: Site, operator: Binary, a: &Value, b: &Value) -> Value {
        let sign = operator.sign();
        if matches!(operator, Binary::And | Binary::Or) {
            return match (a, b) {
                (Value::Truth(x), Value::Truth(y)) if operator == Binary::And => {
                    Value::Truth(self.graph.logic_and(*x, *y))
                }
                (Value::Truth(x), Value::Truth(y)) => Value::Truth(self.graph.logic_or(*x, *y)),
                (Value::Truth(_), wrong) | (wrong, _) => {
                    self.refuse_operand(site, sign, &wrong.clone())
                }
            };
        }
        for operand in [a, b] {
            if operand.shape().is_none() {
                return self.refuse_operand(site, sign, operand);
            }
        }
        let work = a.entries().len().max(b.entries().len());
        if !self.spend(work, site) {
            return Value::Poison;
        }
        match operator {
            Binary::Add | Binary::Subtract => {
                let sum = algebra::add(self.graph, a, b, operator == Binary::Subtract);
                self.settle(sum, site)
            }
            Binary::Multiply => self.multiply(site, a, b),
            Binary::Divide => self.divide(site, a, b),
            Binary::Power => self.power(site, a, b),
            _ => self.compare(site, operator, a, b),
        }
    }

    fn multiply(&mut self, site: Site, a: &Value, b: &Value) -> Value {
        if let (Value::Matrix(n, m, _), Value::Matrix(_, q, _)) = (a, b)
            && !self.spend(n * m * q, site)
        {
            return Value::Poison;
        }
        let product = algebra::multiply(self.graph, a, b);
        self.settle(product, site)
    }

    fn divide(&mut self, site: Site, a: &Value, b: &Value) -> Value {
        let Value::Scalar(denominator) = *b else {
            let message = format!("`/` between {} and {}", a.describe(), b.describe());
            let misfit = match b {
                Value::Matrix(..) => {
                    Misfit::new(message).with_hint("write `inv(A)` for an inverse")
                }
                _ => Misfit::new(message),
            };
            return self.settle(Err(misfit), site);
        };
        if self.graph.vanishes_modulo_prime(denominator) {
            let at = match self.kind(site) {
                NodeKind::Binary { right, .. } => Site { id: right, ..site },
                _ => site,
            };
            return self.refuse_zero(at);
        }
        let g = self.graph;
        a.map(|x| g.div(x, denominator))
    }

    /// Reports a denominator that is zero whatever the state.
    pub(crate) fn refuse_zero(&mut self, site: Site) -> Value {
        let text = self.text(site);
        let message = if text == "0" {
            "division by zero".to_owned()
        } else {
            format!("division by `{text}`, which is always zero")
        };
        self.error("E0309", self.span(site), message)
    }

    fn power(&mut self, site: Site, a: &Value, b: &Value) -> Value {
        let (base, exponent) = match self.kind(site) {
            NodeKind::Binary { left, right, .. } => {
                (Site { id: left, ..site }, Site { id: right, ..site })
            }
            _ => (site, site),
        };
        let Value::Scalar(n) = *b else {
            let message = format!("the exponent is {}, not a number", b.describe());
            return self.error("E0301", self.span(exponent), message);
        };
        match a {
            Value::Scalar(x) => {
                let value = self.graph.double_of(n).or_else(|| Some(self.constant(n)?.value));
                let negative = value.is_some_and(|value| value < 0.0);
                if negative && self.graph.vanishes_modulo_prime(*x) {
                    return self.refuse_zero(base);
                }
                Value::Scalar(self.graph.pow(*x, n))
            }
            Value::Matrix(rows, columns, x) if rows == columns => {
                let Some(n) = self.whole(b, exponent, "the power of a matrix") else {
                    return Value::Poison;
                };
                if n.abs() > POWER {
                    let message = format!("powers of a matrix go up to {POWER}");
                    return self.error("E0308", self.span(exponent), message);
                }
                let start = match n {
                    0 => return algebra::identity(self.graph, *rows),
                    1.. => a.clone(),
                    _ => self.inverse(base, *rows, x),
                };
                if start.is_poison() || !self.spend(16 * rows * rows * rows, site) {
                    return Value::Poison;
                }
                let power = algebra::matrix_power(self.graph, &start, n.unsigned_abs() as u32);
                self.settle(power, site)
            }
            _ => {
                let misfit = Misfit::new(format!("a power of {}", a.describe()));
                let misfit = match a {
                    Value::Vector(_) => misfit.with_hint("write `dot(v, v)` for the square"),
                    _ => misfit,
                };
                self.settle(Err(misfit), site)
            }
        }
    }

    fn compare(&mut self, site: Site, operator: Binary, a: &Value, b: &Value) -> Value {
        let (Value::Scalar(x), Value::Scalar(y)) = (a, b) else {
            let message =
                format!("`{}` between {} and {}", operator.sign(), a.describe(), b.describe());
            return self.settle(Err(Misfit::new(message)), site);
        };
        let g = self.graph;
        Value::Truth(match operator {
            Binary::Less => g.compare(Relation::Less, *x, *y),
            Binary::AtMost => g.compare(Relation::LessEqual, *x, *y),
            Binary::Greater => g.compare(Relation::Less, *y, *x),
            Binary::AtLeast => g.compare(Relation::LessEqual, *y, *x),
            Binary::Same => g.compare(Relation::Equal, *x, *y),
            _ => g.compare(Relation::NotEqual, *x, *y),
        })
    }

    /// The inverse of a square matrix.
    pub(crate) fn inverse(&mut self, site: Site, n: usize, x: &[pfaff_expr::Expr]) -> Value {
        if !self.fits_determinant(site, n) {
            return Value::Poison;
        }
        let (inverse, det) = algebra::inverse(self.graph, n, x);
        if self.graph.vanishes_modulo_prime(det) {
            let message =
                format!("`{}` has no inverse: its determinant is zero", self.text(site));
            return self.error("E0309", self.span(site), message);
        }
        inverse
    }

    /// Whether a determinant of this size is written out.
    pub(crate) fn fits_determinant(&mut self, site: Site, n: usize) -> bool {
        let limit = algebra::MAX_DETERMINANT;
        if n > limit {
            let message = format!(
                "determinants and inverses are written out up to {limit}×{limit}, but this matrix is {n}×{n}"
            );
            self.error("E0308", self.span(site), message);
        }
        n <= limit && self.spend((n * n) << n, site)
    }

    fn refuse_operand(&mut self, site: Site, sign: &str, operand: &Value) -> Value {
        if operand.is_poison() {
            return Value::Poison;
        }
        let message = format!("`{sign}` cannot be applied to {}", operand.describe());
        let diagnostic = Diagnostic::error("E0303", self.span(site), message);
        self.report(match operand {
            Value::Truth(_) => {
                diagnostic.with_hint("a condition can be used only in `if(condition, a, b)`")
            }
            _ => diagnostic,
        })
    }

    /// A result, or its misfit reported.
    pub(crate) fn settle(&mut self, result: Result<Value, Misfit>, site: Site) -> Value {
        match result {
            Ok(value) => value,
            Err(Misfit { message, hint }) => {
                let diagnostic = Diagnostic::error("E0301", self.span(site), message);
                self.report(match hint {
                    Some(hint) => diagnostic.with_hint(&hint),
                    None => diagnostic,
                })
            }
        }
    }

    /// The components as a number, or a report of what else it is.
    pub(crate) fn scalar(
        &mut self,
        value: &Value,
        site: Site,
        what: &str,
    ) -> Option<pfaff_expr::Expr> {
        match value {
            Value::Scalar(e) => Some(*e),
            Value::Poison => None,
            other => {
                let code = if other.shape().is_some() { "E0301" } else { "E0303" };
                let message = format!("{what} must be a number, not {}", other.describe());
                self.error(code, self.span(site), message);
                None
            }
        }
    }

    /// The components of a value that must have this shape; the number 0 fits every one.
    pub(crate) fn shaped(
        &mut self,
        value: &Value,
        shape: Shape,
        site: Site,
        what: &str,
    ) -> Option<Vec<pfaff_expr::Expr>> {
        if value.shape() == Some(shape) {
            return Some(value.entries().to_vec());
        }
        if value.is_plain_zero(self.graph) {
            return Some(vec![self.graph.zero(); shape.len()]);
        }
        if !value.is_poison() {
            let code = if value.shape().is_some() { "E0301" } else { "E0303" };
            let message = format!("{what} must be {shape}, not {}", value.describe());
            self.error(code, self.span(site), message);
        }
        None
    }
}
