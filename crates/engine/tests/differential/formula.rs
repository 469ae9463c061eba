//! Formulas with two readings: the text of the model language, and a value that is computed here and not by the engine.
//!
//! A formula that is not smooth consists of smooth branches. Each of its switches is a function whose sign tells the
//! branch. The value is taken with the sides of all switches given, so that every branch goes on smoothly beyond its
//! own region, and the switch is found as a zero.

use std::f64::consts::{FRAC_PI_2, PI};
use std::rc::Rc;

/// A function of variables and of the time since the start.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Number(f64),
    /// A variable by its place.
    Of(usize),
    Time,
    Sum(Box<[Formula; 2]>),
    Product(Box<[Formula; 2]>),
    Sin(Box<Formula>),
    /// tanh(a/ε)
    Steep(f64, Box<Formula>),
    /// exp(−(a/w)²)
    Bump(f64, Box<Formula>),
    /// 1/(1 + exp(−a/w))
    Logistic(f64, Box<Formula>),
    /// A whole power.
    Power(i32, Box<Formula>),
    /// A power of what is not negative.
    RealPower(f64, Box<Formula>),
    /// The angle of a point (x, y) of the plane, with its cut at negative x.
    Angle(Box<[Formula; 2]>),
    /// The value between two bounds of the argument, else zero.
    Window([f64; 2], Box<[Formula; 2]>),
    /// The root of a sum of squares that does not vanish.
    Norm(Vec<Formula>),
    Abs(Box<Formula>),
    /// (a²)^(p/2) for odd p
    PowerOfSquare(i32, Box<Formula>),
    Sign(Box<Formula>),
    /// The smaller one, or the larger one.
    Least(Box<[Formula; 2]>),
    Largest(Box<[Formula; 2]>),
    /// The second if the first is positive, else the third.
    If(Box<[Formula; 3]>),
    /// acos(cos(a))
    Triangle(Box<Formula>),
    /// A cubic spline through points.
    Table(Rc<Spline>, Box<Formula>),
}

/// The state of one evaluation: time since the start, the side of each switch in the order of evaluation.
pub(crate) struct Reading<'a> {
    pub(crate) time: f64,
    pub(crate) sides: &'a [bool],
    next: usize,
    found: Option<&'a mut Found>,
}

/// Where the branches change, and what is narrow.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) switches: Vec<f64>,
    /// Distance and width.
    pub(crate) features: Vec<[f64; 2]>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(time: f64, sides: &'a [bool], found: Option<&'a mut Found>) -> Self {
        Self { time, sides, next: 0, found }
    }

    /// Whether this switch counts as positive.
    fn positive(&mut self, switch: f64) -> bool {
        if let Some(found) = &mut self.found {
            found.switches.push(switch);
        }
        let side = self.sides.get(self.next).copied().unwrap_or(switch > 0.0);
        self.next += 1;
        side
    }

    fn narrow(&mut self, distance: f64, width: f64) {
        if let Some(found) = &mut self.found {
            found.features.push([distance, width]);
        }
    }
}

/// Texts of the variables and of the time since the start.
pub(crate) struct Names {
    pub(crate) variables: Vec<String>,
    pub(crate) time: String,
}

impl Formula {
    pub(crate) fn value(&self, at: &mut Reading<'_>, y: &[f64]) -> f64 {
        match self {
            Self::Number(c) => *c,
            Self::Of(i) => y[*i],
            Self::Time => at.time,
            Self::Sum(two) => two[0].value(at, y) + two[1].value(at, y),
            Self::Product(two) => two[0].value(at, y) * two[1].value(at, y),
            Self::Sin(a) => libm::sin(a.value(at, y)),
            Self::Steep(width, a) => {
                let a = a.value(at, y);
                at.narrow(a, *width);
                libm::tanh(a / width)
            }
            Self::Bump(width, a) => {
                let a = a.value(at, y);
                at.narrow(a, *width);
                libm::exp(-(a / width) * (a / width))
            }
            Self::Logistic(width, a) => {
                let a = a.value(at, y);
                at.narrow(a, *width);
                1.0 / (1.0 + libm::exp(-a / width))
            }
            Self::Power(p, a) => a.value(at, y).powi(*p),
            Self::RealPower(p, a) => libm::pow(a.value(at, y).max(0.0), *p),
            Self::Angle(two) => {
                let (x, y) = (two[0].value(at, y), two[1].value(at, y));
                let turn = if x < 0.0 { 2.0 * PI } else { 0.0 };
                match (at.positive(y), y > 0.0) {
                    (true, false) => libm::atan2(y, x) + turn,
                    (false, true) => libm::atan2(y, x) - turn,
                    (true, true) | (false, false) => libm::atan2(y, x),
                }
            }
            Self::Window([low, high], two) => {
                let (a, value) = (two[0].value(at, y), two[1].value(at, y));
                let (above, below) = (at.positive(a - low), at.positive(high - a));
                if above && below { value } else { 0.0 }
            }
            Self::Norm(all) => {
                let squares: f64 = all.iter().map(|a| a.value(at, y)).map(|a| a * a).sum();
                at.narrow(squares.sqrt(), 1e-9);
                squares.sqrt()
            }
            Self::Abs(a) => {
                let a = a.value(at, y);
                if at.positive(a) { a } else { -a }
            }
            Self::PowerOfSquare(p, a) => {
                let a = a.value(at, y);
                let power =
                    libm::pow(a.abs(), f64::from(*p)) * if a < 0.0 { -1.0 } else { 1.0 };
                if at.positive(a) { power } else { -power }
            }
            Self::Sign(a) => {
                let a = a.value(at, y);
                if at.positive(a) { 1.0 } else { -1.0 }
            }
            Self::Least(two) => {
                let (a, b) = (two[0].value(at, y), two[1].value(at, y));
                if at.positive(b - a) { a } else { b }
            }
            Self::Largest(two) => {
                let (a, b) = (two[0].value(at, y), two[1].value(at, y));
                if at.positive(a - b) { a } else { b }
            }
            Self::If(three) => {
                let condition = three[0].value(at, y);
                let yes = at.positive(condition);
                let (a, b) = (three[1].value(at, y), three[2].value(at, y));
                if yes { a } else { b }
            }
            Self::Triangle(a) => {
                let a = a.value(at, y);
                let turn = a - 2.0 * PI * libm::floor(a / (2.0 * PI));
                if at.positive(libm::sin(a)) {
                    if turn > 3.0 * FRAC_PI_2 { turn - 2.0 * PI } else { turn }
                } else if turn < FRAC_PI_2 {
                    -turn
                } else {
                    2.0 * PI - turn
                }
            }
            Self::Table(spline, a) => {
                let a = a.value(at, y);
                let inner = &spline.knots[1..spline.knots.len() - 1];
                let piece = inner.iter().filter(|knot| at.positive(a - **knot)).count();
                spline.piece(piece, a)
            }
        }
    }

    /// As the model language writes it.
    pub(crate) fn text(&self, names: &Names) -> String {
        let t = |a: &Self| a.text(names);
        match self {
            Self::Number(c) if *c < 0.0 => format!("({c:?})"),
            Self::Number(c) => format!("{c:?}"),
            Self::Of(i) => names.variables[*i].clone(),
            Self::Time => names.time.clone(),
            Self::Sum(two) => format!("({} + {})", t(&two[0]), t(&two[1])),
            Self::Product(two) => format!("{}*{}", t(&two[0]), t(&two[1])),
            Self::Sin(a) => format!("sin({})", t(a)),
            Self::Steep(width, a) => format!("tanh({}/{width:?})", t(a)),
            Self::Bump(width, a) => format!("exp(-({}/{width:?})^2)", t(a)),
            Self::Logistic(width, a) => format!("1/(1 + exp(-{}/{width:?}))", t(a)),
            Self::Power(p, a) => format!("{}^{p}", t(a)),
            Self::RealPower(p, a) if *p == 0.5 => format!("sqrt({})", t(a)),
            Self::RealPower(p, a) => format!("{}^{p:?}", t(a)),
            Self::Angle(two) => format!("atan2({}, {})", t(&two[1]), t(&two[0])),
            Self::Window([low, high], two) => {
                let a = t(&two[0]);
                format!("if({a} > {low:?} and {a} < {high:?}, {}, 0)", t(&two[1]))
            }
            Self::Norm(all) => {
                format!("norm([{}])", all.iter().map(t).collect::<Vec<_>>().join(", "))
            }
            Self::Abs(a) => format!("abs({})", t(a)),
            Self::PowerOfSquare(1, a) => format!("sqrt({}^2)", t(a)),
            Self::PowerOfSquare(p, a) => format!("({}^2)^({p}/2)", t(a)),
            Self::Sign(a) => format!("sign({})", t(a)),
            Self::Least(two) => format!("min({}, {})", t(&two[0]), t(&two[1])),
            Self::Largest(two) => format!("max({}, {})", t(&two[0]), t(&two[1])),
            Self::If(three) => {
                format!("if({} > 0, {}, {})", t(&three[0]), t(&three[1]), t(&three[2]))
            }
            Self::Triangle(a) => format!("acos(cos({}))", t(a)),
            Self::Table(spline, a) => format!("table({}, \"{}\", \"f\")", t(a), spline.file()),
        }
    }

    /// The files that the text names.
    pub(crate) fn files(&self, into: &mut Vec<(String, String)>) {
        match self {
            Self::Number(_) | Self::Of(_) | Self::Time => {}
            Self::Sum(two)
            | Self::Product(two)
            | Self::Least(two)
            | Self::Largest(two)
            | Self::Angle(two)
            | Self::Window(_, two) => two.iter().for_each(|a| a.files(into)),
            Self::If(three) => three.iter().for_each(|a| a.files(into)),
            Self::Norm(all) => all.iter().for_each(|a| a.files(into)),
            Self::Sin(a)
            | Self::Steep(_, a)
            | Self::Bump(_, a)
            | Self::Logistic(_, a)
            | Self::Power(_, a)
            | Self::RealPower(_, a)
            | Self::Abs(a)
            | Self::PowerOfSquare(_, a)
            | Self::Sign(a)
            | Self::Triangle(a) => a.files(into),
            Self::Table(spline, a) => {
                into.push((spline.file(), spline.csv()));
                a.files(into);
            }
        }
    }
}

pub(crate) fn number(c: f64) -> Formula {
    Formula::Number(c)
}

pub(crate) fn of(i: usize) -> Formula {
    Formula::Of(i)
}

pub(crate) fn sum(a: Formula, b: Formula) -> Formula {
    Formula::Sum(Box::new([a, b]))
}

pub(crate) fn times(a: Formula, b: Formula) -> Formula {
    Formula::Product(Box::new([a, b]))
}

/// a − c
pub(crate) fn from(a: Formula, c: f64) -> Formula {
    if c == 0.0 { a } else { sum(a, number(-c)) }
}

/// A cubic spline with the not-a-knot condition: its third derivative does not jump at the second and at the last but
/// one knot.
#[derive(Clone, Debug)]
pub(crate) struct Spline {
    pub(crate) knots: Vec<f64>,
    values: Vec<f64>,
    /// Second derivatives at the knots.
    bends: Vec<f64>,
}

impl Spline {
    /// At least four points.
    pub(crate) fn new(knots: Vec<f64>, values: Vec<f64>) -> Self {
        let n = knots.len();
        let h = |i: usize| knots[i + 1] - knots[i];
        let slope = |i: usize| (values[i + 1] - values[i]) / h(i);
        let mut rows = vec![vec![0.0; n + 1]; n];
        for i in 1..n - 1 {
            rows[i][i - 1] = h(i - 1);
            rows[i][i] = 2.0 * (h(i - 1) + h(i));
            rows[i][i + 1] = h(i);
            rows[i][n] = 6.0 * (slope(i) - slope(i - 1));
        }
        for (row, i) in [(0, 1), (n - 1, n - 2)] {
            rows[row][i - 1] = -h(i);
            rows[row][i] = h(i) + h(i - 1);
            rows[row][i + 1] = -h(i - 1);
        }
        let bends = solved(rows);
        Self { knots, values, bends }
    }

    /// Not a number outside the range of the data, as the language has it.
    fn piece(&self, i: usize, x: f64) -> f64 {
        if x < self.knots[0] || x > self.knots[self.knots.len() - 1] {
            return f64::NAN;
        }
        let (h, s) = (self.knots[i + 1] - self.knots[i], x - self.knots[i]);
        let (a, b) = (self.bends[i], self.bends[i + 1]);
        let slope = (self.values[i + 1] - self.values[i]) / h - h * (2.0 * a + b) / 6.0;
        self.values[i] + s * (slope + s * (a / 2.0 + s * (b - a) / (6.0 * h)))
    }

    /// A name that depends on the data.
    fn file(&self) -> String {
        let mix = |hash: u64, x: &f64| (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3) >> 3;
        let hash = self.knots.iter().chain(&self.values).fold(7, mix);
        format!("table{hash}.csv")
    }

    fn csv(&self) -> String {
        let rows = self.knots.iter().zip(&self.values).map(|(x, y)| format!("{x:?},{y:?}\n"));
        format!("x,f\n{}", rows.collect::<String>())
    }
}

/// Gaussian elimination with pivoting; the last column is the right side.
fn solved(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs()));
        rows.swap(k, pivot.expect("there is a row"));
        for i in (0..n).filter(|i| *i != k) {
            let factor = rows[i][k] / rows[k][k];
            for j in k..=n {
                rows[i][j] -= factor * rows[k][j];
            }
        }
    }
    (0..n).map(|k| rows[k][n] / rows[k][k]).collect()
}

#[test]
fn a_cubic_is_its_own_spline() {
    let cubic = |x: f64| 1.0 - x + 2.0 * x * x - 0.5 * x * x * x;
    let knots = vec![0.0, 0.3, 1.0, 1.4, 2.0];
    let spline = Spline::new(knots.clone(), knots.iter().map(|x| cubic(*x)).collect());
    for (i, x) in [0.1, 0.7, 1.2, 1.9].into_iter().enumerate() {
        assert!((spline.piece(i, x) - cubic(x)).abs() < 1e-14, "{x}");
    }
}
