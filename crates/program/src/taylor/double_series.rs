//! Taylor coefficients of expressions with some thirty digits, for reference runs.
//!
//! The expressions are read off the graph and become a list of operations. Each has a series of its own, and
//! coefficient $k$ of all of them follows from those before by the recurrences of automatic differentiation, such as
//!
//! $$ (ab)_k = \sum_{j=0}^k a_j b_{k-j}, \qquad (e^a)_k = \frac1k \sum_{j=1}^k j\,a_j\,(e^a)_{k-j}. $$
//!
//! Speed does not matter here, and nothing is shared with the compiled series: one can check the other.

use pfaff_expr::{Binary, DoubleDouble, Expr, Graph, Node, Unary};

/// What has no series with so many digits: the word of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDoubleSeries(pub String);

/// One operation; numbers are places of series.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Constant(DoubleDouble),
    Input,
    Neg(usize),
    Add(usize, usize),
    Sub(usize, usize),
    Mul(usize, usize),
    Div(usize, usize),
    Exp(usize),
    Log(usize),
    Sqrt(usize),
    /// Sine; its cosine stands next.
    Sin(usize),
    Cos(usize),
    Sinh(usize),
    Cosh(usize),
    /// $y' = g\,a'$ from the value of a function at the start.
    Integral {
        slope: usize,
        argument: usize,
        first: First,
    },
    /// $a^\alpha$ with a constant exponent that is no small whole number.
    Power(usize, DoubleDouble),
}

/// The value with which an integral begins.
#[derive(Clone, Copy, Debug)]
enum First {
    Asin,
    Acos,
    Atan,
    Erf,
    Erfc,
    Zero,
    /// Of the argument and this one.
    Atan2(usize),
}

/// The series of some expressions.
#[derive(Clone, Debug)]
pub struct DoubleSeries {
    operations: Vec<Operation>,
    coefficients: Vec<Vec<DoubleDouble>>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

impl DoubleSeries {
    /// Of expressions over inputs, with numbers for all other symbols.
    ///
    /// # Errors
    ///
    /// [`NoDoubleSeries`] names what cannot be computed to so many digits.
    pub fn new(
        g: &Graph,
        inputs: &[Expr],
        values: &[(Expr, DoubleDouble)],
        outputs: &[Expr],
    ) -> Result<Self, NoDoubleSeries> {
        let mut writer = Writer { g, operations: Vec::new(), known: Vec::new() };
        let places: Vec<usize> = inputs
            .iter()
            .map(|&input| {
                let place = writer.push(Operation::Input);
                writer.known.push((input, place));
                place
            })
            .collect();
        for &(symbol, value) in values {
            if !inputs.contains(&symbol) {
                let place = writer.push(Operation::Constant(value));
                writer.known.push((symbol, place));
            }
        }
        // Operands come before what is made of them.
        writer.known.sort_by_key(|known| known.0);
        for e in g.live(outputs) {
            if writer.place(e).is_none() {
                let place = writer.write(e)?;
                let at = writer.known.partition_point(|known| known.0 < e);
                writer.known.insert(at, (e, place));
            }
        }
        let found: Option<Vec<usize>> = outputs.iter().map(|&e| writer.place(e)).collect();
        let outputs = found.ok_or_else(|| NoDoubleSeries("this expression".into()))?;
        let count = writer.operations.len();
        Ok(Self {
            operations: writer.operations,
            coefficients: vec![Vec::new(); count],
            inputs: places,
            outputs,
        })
    }

    /// Forgets all coefficients.
    pub fn begin(&mut self) {
        self.coefficients.iter_mut().for_each(Vec::clear);
    }

    /// Computes coefficient `k` of all expressions, given that of every input; those below `k` must be known.
    pub fn advance(&mut self, k: usize, inputs: &[DoubleDouble]) {
        let mut next = inputs.iter();
        for i in 0..self.operations.len() {
            let value = match self.operations[i] {
                Operation::Input => next.next().copied().unwrap_or_default(),
                operation => self.coefficient(operation, i, k),
            };
            self.coefficients[i].truncate(k);
            self.coefficients[i].push(value);
        }
        debug_assert!(self.inputs.len() == inputs.len(), "one number for each input");
    }

    /// Coefficient `k` of an output.
    pub fn output(&self, i: usize, k: usize) -> DoubleDouble {
        self.coefficients[self.outputs[i]][k]
    }

    fn coefficient(&self, operation: Operation, own: usize, k: usize) -> DoubleDouble {
        let c = &self.coefficients;
        let zero = DoubleDouble::default();
        let order = DoubleDouble::from(k as f64);
        let number = |j: usize| DoubleDouble::from(j as f64);
        // Σ_{j=1}^{k} j a_j b_{k−j}
        let weighted = |a: usize, b: usize| {
            (1..=k).fold(zero, |sum, j| sum + number(j) * c[a][j] * c[b][k - j])
        };
        match operation {
            Operation::Input => zero,
            Operation::Constant(x) => {
                if k == 0 {
                    x
                } else {
                    zero
                }
            }
            Operation::Neg(a) => -c[a][k],
            Operation::Add(a, b) => c[a][k] + c[b][k],
            Operation::Sub(a, b) => c[a][k] - c[b][k],
            Operation::Mul(a, b) => (0..=k).fold(zero, |sum, j| sum + c[a][j] * c[b][k - j]),
            Operation::Div(a, b) => {
                let known = (1..=k).fold(c[a][k], |sum, j| sum - c[b][j] * c[own][k - j]);
                known / c[b][0]
            }
            Operation::Exp(a) if k == 0 => c[a][0].exp(),
            Operation::Exp(a) => weighted(a, own) / order,
            Operation::Log(a) if k == 0 => c[a][0].ln(),
            Operation::Log(a) => {
                let sum = (1..k).fold(zero, |sum, j| sum + number(j) * c[own][j] * c[a][k - j]);
                (c[a][k] - sum / order) / c[a][0]
            }
            Operation::Sqrt(a) if k == 0 => c[a][0].sqrt(),
            Operation::Sqrt(a) => {
                let sum = (1..k).fold(zero, |sum, j| sum + c[own][j] * c[own][k - j]);
                (c[a][k] - sum) / (c[own][0] + c[own][0])
            }
            Operation::Sin(a) if k == 0 => c[a][0].sin_cos().0,
            Operation::Cos(a) if k == 0 => c[a][0].sin_cos().1,
            Operation::Sinh(a) if k == 0 => c[a][0].sinh_cosh().0,
            Operation::Cosh(a) if k == 0 => c[a][0].sinh_cosh().1,
            Operation::Sin(a) | Operation::Sinh(a) => weighted(a, own + 1) / order,
            Operation::Cos(a) => -(weighted(a, own - 1) / order),
            Operation::Cosh(a) => weighted(a, own - 1) / order,
            Operation::Integral { argument, first, .. } if k == 0 => {
                let x = c[argument][0];
                let one = DoubleDouble::from(1.0);
                let root = || ((one - x) * (one + x)).sqrt();
                match first {
                    First::Asin => DoubleDouble::atan2(x, root()),
                    First::Acos => DoubleDouble::atan2(root(), x),
                    First::Atan => DoubleDouble::atan2(x, one),
                    First::Erf => x.erf(),
                    First::Erfc => one - x.erf(),
                    First::Zero => zero,
                    First::Atan2(b) => DoubleDouble::atan2(x, c[b][0]),
                }
            }
            Operation::Integral { slope, argument, .. } => weighted(argument, slope) / order,
            Operation::Power(a, exponent) if k == 0 => (exponent * c[a][0].ln()).exp(),
            Operation::Power(a, exponent) => {
                let sum = (1..=k).fold(zero, |sum, j| {
                    let weight = number(j) * exponent - number(k - j);
                    sum + weight * c[a][j] * c[own][k - j]
                });
                sum / (order * c[a][0])
            }
        }
    }
}

/// Writes operations.
struct Writer<'a> {
    g: &'a Graph,
    operations: Vec<Operation>,
    /// Expressions and their places, ascending.
    known: Vec<(Expr, usize)>,
}

impl Writer<'_> {
    fn push(&mut self, operation: Operation) -> usize {
        self.operations.push(operation);
        self.operations.len() - 1
    }

    fn place(&self, e: Expr) -> Option<usize> {
        let at = self.known.binary_search_by_key(&e, |known| known.0).ok()?;
        Some(self.known[at].1)
    }

    fn constant(&mut self, x: f64) -> usize {
        self.push(Operation::Constant(DoubleDouble::from(x)))
    }

    fn operand(&self, e: Expr) -> Result<usize, NoDoubleSeries> {
        self.place(e).ok_or_else(|| NoDoubleSeries(self.g.to_text(e)))
    }

    fn write(&mut self, e: Expr) -> Result<usize, NoDoubleSeries> {
        let g = self.g;
        let refused = |word: &str| Err(NoDoubleSeries(word.into()));
        Ok(match g.node(e) {
            Node::Number(_) => {
                let value = g.number_of(e).map(|x| DoubleDouble::from_rational(&x));
                self.push(Operation::Constant(value.unwrap_or_default()))
            }
            Node::Pi => self.push(Operation::Constant(DoubleDouble::PI)),
            Node::Symbol(_) => return refused(&g.to_text(e)),
            Node::Neg(a) => {
                let a = self.operand(a)?;
                self.push(Operation::Neg(a))
            }
            Node::Add(a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                self.push(Operation::Add(a, b))
            }
            Node::Sub(a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                self.push(Operation::Sub(a, b))
            }
            Node::Mul(a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                self.push(Operation::Mul(a, b))
            }
            Node::Div(a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                self.push(Operation::Div(a, b))
            }
            Node::Pow(a, b) => self.power(a, b)?,
            Node::Unary(f, a) => {
                let a = self.operand(a)?;
                self.unary(f, a)?
            }
            Node::Binary(Binary::Atan2, a, b) => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                self.angle(a, b)
            }
            Node::Binary(f @ (Binary::Min | Binary::Max | Binary::Polygamma), ..) => {
                return refused(f.name());
            }
            Node::MittagLeffler(..) => return refused("mittag_leffler"),
            Node::If(..) | Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => {
                return refused("if");
            }
            Node::Table { .. } => return refused("table"),
            Node::Memory(..) => return refused("memory"),
            Node::List(..) | Node::Family { .. } => return refused("a family of terms"),
        })
    }

    fn unary(&mut self, f: Unary, a: usize) -> Result<usize, NoDoubleSeries> {
        Ok(match f {
            Unary::Exp => self.push(Operation::Exp(a)),
            Unary::Log => self.push(Operation::Log(a)),
            Unary::Sqrt => self.push(Operation::Sqrt(a)),
            Unary::Sin => self.circle(a).0,
            Unary::Cos => self.circle(a).1,
            Unary::Tan => {
                let (sin, cos) = self.circle(a);
                self.push(Operation::Div(sin, cos))
            }
            Unary::Sinh => self.hyperbola(a).0,
            Unary::Cosh => self.hyperbola(a).1,
            Unary::Tanh => {
                let (sinh, cosh) = self.hyperbola(a);
                self.push(Operation::Div(sinh, cosh))
            }
            Unary::Asin | Unary::Acos => {
                let one = self.constant(1.0);
                let square = self.push(Operation::Mul(a, a));
                let rest = self.push(Operation::Sub(one, square));
                let root = self.push(Operation::Sqrt(rest));
                let sign = self.constant(if f == Unary::Asin { 1.0 } else { -1.0 });
                let slope = self.push(Operation::Div(sign, root));
                let first = if f == Unary::Asin { First::Asin } else { First::Acos };
                self.push(Operation::Integral { slope, argument: a, first })
            }
            Unary::Atan => {
                let one = self.constant(1.0);
                let square = self.push(Operation::Mul(a, a));
                let sum = self.push(Operation::Add(one, square));
                let slope = self.push(Operation::Div(one, sum));
                self.push(Operation::Integral { slope, argument: a, first: First::Atan })
            }
            Unary::Erf | Unary::Erfc => {
                let square = self.push(Operation::Mul(a, a));
                let minus = self.push(Operation::Neg(square));
                let bell = self.push(Operation::Exp(minus));
                let factor = DoubleDouble::TWO_OVER_ROOT_PI;
                let factor = if f == Unary::Erf { factor } else { -factor };
                let factor = self.push(Operation::Constant(factor));
                let slope = self.push(Operation::Mul(factor, bell));
                let first = if f == Unary::Erf { First::Erf } else { First::Erfc };
                self.push(Operation::Integral { slope, argument: a, first })
            }
            Unary::Abs | Unary::Sign | Unary::Gamma | Unary::Digamma => {
                return Err(NoDoubleSeries(f.name().into()));
            }
        })
    }

    fn circle(&mut self, a: usize) -> (usize, usize) {
        let sin = self.push(Operation::Sin(a));
        (sin, self.push(Operation::Cos(a)))
    }

    fn hyperbola(&mut self, a: usize) -> (usize, usize) {
        let sinh = self.push(Operation::Sinh(a));
        (sinh, self.push(Operation::Cosh(a)))
    }

    /// $y' = (b\,a' - a\,b')/(a^2 + b^2)$
    fn angle(&mut self, a: usize, b: usize) -> usize {
        let squares = (self.push(Operation::Mul(a, a)), self.push(Operation::Mul(b, b)));
        let radius = self.push(Operation::Add(squares.0, squares.1));
        let slope = self.push(Operation::Div(b, radius));
        let first = First::Atan2(b);
        let along = self.push(Operation::Integral { slope, argument: a, first });
        let slope = self.push(Operation::Div(a, radius));
        let across = self.push(Operation::Integral { slope, argument: b, first: First::Zero });
        self.push(Operation::Sub(along, across))
    }

    fn power(&mut self, a: Expr, b: Expr) -> Result<usize, NoDoubleSeries> {
        let base = self.operand(a)?;
        if let Some(exponent) = self.g.number_of(b) {
            let value = DoubleDouble::from_rational(&exponent);
            let whole = value.high;
            if value.low == 0.0 && whole.fract() == 0.0 && whole.abs() <= 64.0 {
                return Ok(self.whole_power(base, whole as i32));
            }
            if value.low == 0.0 && (2.0 * whole).fract() == 0.0 && whole.abs() <= 32.0 {
                let root = self.push(Operation::Sqrt(base));
                return Ok(self.whole_power(root, (2.0 * whole) as i32));
            }
            return Ok(self.push(Operation::Power(base, value)));
        }
        let exponent = self.operand(b)?;
        if let Operation::Constant(value) = self.operations[exponent] {
            return Ok(
                if value.low == 0.0 && value.high.fract() == 0.0 && value.high.abs() <= 64.0 {
                    self.whole_power(base, value.high as i32)
                } else {
                    self.push(Operation::Power(base, value))
                },
            );
        }
        let log = self.push(Operation::Log(base));
        let product = self.push(Operation::Mul(exponent, log));
        Ok(self.push(Operation::Exp(product)))
    }

    fn whole_power(&mut self, a: usize, n: i32) -> usize {
        let mut rest = n.unsigned_abs();
        let (mut result, mut square) = (None, a);
        while rest > 0 {
            if rest & 1 == 1 {
                result = Some(match result {
                    Some(known) => self.push(Operation::Mul(known, square)),
                    None => square,
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.push(Operation::Mul(square, square));
            }
        }
        let one = self.constant(1.0);
        let power = result.unwrap_or(one);
        if n < 0 { self.push(Operation::Div(one, power)) } else { power }
    }
}
