//! The built-in functions: their names, how many arguments they take, and what they make of them.

use pfaff_expr::{Binary, BinaryArguments, Expr, Unary};

use crate::diagnostic::{Diagnostic, closest};
use crate::elaborate::Elaborator;
use crate::elaborate::scope::{Meaning, Site};
use crate::shape::Value;
use crate::shape::algebra;
use crate::syntax::NodeKind;

/// Functions that are neither [`Unary`] nor [`Binary`], with the smallest and largest number of arguments and how
/// they are written.
const FUNCTIONS: &[(&str, usize, usize, &str)] = &[
    ("mittag_leffler", 3, 3, "mittag_leffler(alpha, beta, z)"),
    ("if", 3, 3, "if(condition, a, b)"),
    ("table", 1, 4, "table(t, \"file.csv\", \"column\")"),
    ("transpose", 1, 1, "transpose(A)"),
    ("tr", 1, 1, "tr(A)"),
    ("det", 1, 1, "det(A)"),
    ("inv", 1, 1, "inv(A)"),
    ("dot", 2, 2, "dot(u, v)"),
    ("cross", 2, 2, "cross(u, v)"),
    ("norm", 1, 1, "norm(v)"),
    ("sym", 1, 1, "sym(A)"),
    ("skew", 1, 1, "skew(A)"),
    ("identity", 1, 1, "identity(n)"),
    ("rotation", 2, 2, "rotation(axis, angle)"),
    ("rotation_x", 1, 1, "rotation_x(angle)"),
    ("rotation_y", 1, 1, "rotation_y(angle)"),
    ("rotation_z", 1, 1, "rotation_z(angle)"),
    ("hat", 1, 1, "hat(v)"),
    ("vee", 1, 1, "vee(W)"),
    ("inertia_points", 1, 1, "inertia_points([[m, x, y, z], …])"),
    ("centre_of_points", 1, 1, "centre_of_points([[m, x, y, z], …])"),
    ("mass_of_points", 1, 1, "mass_of_points([[m, x, y, z], …])"),
    ("inertia_box", 3, 4, "inertia_box(M, a, b, c)"),
    ("inertia_ellipsoid", 3, 4, "inertia_ellipsoid(M, a, b, c)"),
    ("inertia_ball", 2, 2, "inertia_ball(M, r)"),
    ("inertia_disc", 2, 2, "inertia_disc(M, r)"),
    ("green", 1, 2, "green(phi, g)"),
    ("gyration", 1, 1, "gyration(phi)"),
    ("comoving_gyration", 1, 1, "comoving_gyration(phi)"),
    ("affine_spin", 2, 2, "affine_spin(phi, J)"),
    ("spin", 2, 2, "spin(phi, J)"),
    ("dipole", 2, 3, "dipole(phi, Q, g)"),
    ("comoving_dipole", 2, 3, "comoving_dipole(phi, Q, g)"),
    ("reaction_moment", 1, 2, "reaction_moment(phi, g)"),
    ("stretch", 1, 3, "stretch(phi, g, eta)"),
    ("stretch_rate", 1, 3, "stretch_rate(phi, g, eta)"),
    ("rotation_part", 1, 3, "rotation_part(phi, g, eta)"),
    ("polar_spin", 1, 3, "polar_spin(phi, g, eta)"),
    ("singular_values", 1, 3, "singular_values(phi, g, eta)"),
    ("caputo", 2, 2, "caputo(g, alpha)"),
    ("rl", 2, 2, "rl(g, alpha)"),
    ("caputo_right", 2, 2, "caputo_right(g, alpha)"),
    ("rl_right", 2, 2, "rl_right(g, alpha)"),
    ("integral", 2, 2, "integral(g, mu)"),
    ("delay", 2, 2, "delay(x, 0.1)"),
    ("memory", 2, 2, "memory(exp(-s), g)"),
    ("mean", 1, 1, "mean(g)"),
    ("lambda", 1, 1, "lambda(c)"),
    ("mu", 1, 1, "mu(c)"),
    ("reaction", 1, 1, "reaction(x)"),
    ("applied", 1, 1, "applied(x)"),
    ("friction", 1, 1, "friction(c)"),
    ("rolling", 1, 1, "rolling(c)"),
];

/// What makes an inertia, or goes with it.
const INERTIA: &[&str] = &[
    "inertia_points",
    "centre_of_points",
    "mass_of_points",
    "inertia_box",
    "inertia_ellipsoid",
    "inertia_ball",
    "inertia_disc",
];

/// The functions of an affine body.
const BODY: &[&str] = &[
    "green",
    "gyration",
    "comoving_gyration",
    "affine_spin",
    "spin",
    "dipole",
    "comoving_dipole",
    "reaction_moment",
    "stretch",
    "stretch_rate",
    "rotation_part",
    "polar_spin",
    "singular_values",
];

/// Words that are called like functions, in one place only.
const WORDS: &[(&str, &str)] = &[
    (
        "complex",
        "`complex(re, im)` may only be an argument of `gamma` or `mittag_leffler` in `pfaff eval`",
    ),
    ("gyroscopic", "it is a constraint by itself: `constraint c: gyroscopic(phi)`"),
    ("isochoric", "it is a constraint by itself: `constraint c: isochoric(phi)`"),
    ("rotation_free", "it is a constraint by itself: `constraint c: rotation_free(phi)`"),
    ("conformal", "it is a constraint by itself: `constraint c: conformal(phi)`"),
    ("sum", "it is written `sum(i = 1..N, …)`"),
    ("product", "it is written `product(i = 1..N, …)`"),
    ("transversal", "it is written `initial multipliers = transversal(z)`"),
];

/// Words of other languages and what they are called here.
const ALIASES: &[(&str, &str)] = &[
    ("ln", "log"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("trace", "tr"),
    ("inverse", "inv"),
    ("sgn", "sign"),
    ("fabs", "abs"),
    ("pow", "^"),
    ("eye", "identity"),
];

/// Whether a user may not define a function of this name. The functions of affine bodies give way to one's own.
pub(crate) fn is_reserved(name: &str) -> bool {
    let gives_way = INERTIA.contains(&name) || BODY.contains(&name);
    let gives_way = gives_way || matches!(name, "applied" | "delay" | "friction" | "rolling");
    is_function(name) && !gives_way
}

/// Whether there is a built-in function of this name.
pub(crate) fn is_function(name: &str) -> bool {
    arity(name).is_some() || WORDS.iter().any(|(word, _)| *word == name)
}

/// Whether it stands for a result of the motion.
pub(crate) fn is_result(name: &str) -> bool {
    matches!(name, "lambda" | "mu" | "reaction" | "applied" | "friction" | "rolling")
}

/// `1 argument`, `2 arguments`
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// `1 index`, `2 indices`
pub(crate) fn count_indices(n: usize) -> String {
    if n == 1 { "1 index".into() } else { format!("{n} indices") }
}

/// Smallest and largest number of arguments, and the form.
fn arity(name: &str) -> Option<(usize, usize, String)> {
    if Unary::named(name).is_some() {
        return Some((1, 1, format!("{name}(x)")));
    }
    if let Some(f) = Binary::named(name) {
        let most = match f.arguments() {
            BinaryArguments::Two | BinaryArguments::OrderAndNumber => 2,
            BinaryArguments::TwoOrMore => usize::MAX,
        };
        return Some((2, most, f.form().to_owned()));
    }
    let found = FUNCTIONS.iter().find(|(function, ..)| *function == name);
    found.map(|(_, least, most, form)| (*least, *most, (*form).to_owned()))
}

impl Elaborator<'_> {
    /// The name that a call calls.
    pub(crate) fn called(&self, site: Site) -> String {
        match self.kind(site) {
            NodeKind::Call { function, .. } => {
                self.arena(site).name(function.symbol).to_owned()
            }
            _ => String::new(),
        }
    }

    /// Whether there is a built-in function of this name that takes so many arguments; else a report.
    pub(crate) fn is_callable(&mut self, site: Site, name: &str, given: usize) -> bool {
        let NodeKind::Call { function, .. } = self.kind(site) else { return false };
        let span = self.shifted(site.part, function.span);
        if let Some((least, most, form)) = arity(name) {
            if (least..=most).contains(&given) {
                return true;
            }
            let wanted = match (least, most) {
                (least, usize::MAX) => format!("at least {}", count(least, "argument")),
                _ if least < most => format!("{least} to {}", count(most, "argument")),
                _ => count(least, "argument"),
            };
            let message = format!("`{name}` takes {wanted}, not {given}");
            let hint = format!("it is written `{form}`");
            self.error_hint("E0302", self.span(site), message, &hint);
            return false;
        }
        if let Some((_, hint)) = WORDS.iter().find(|(word, _)| *word == name) {
            let message = format!("`{name}` cannot be used in an expression");
            self.error_hint("E0205", span, message, hint);
            return false;
        }
        let is_local = self.local(function.symbol).is_some();
        if is_local || self.scope.get(name).is_some() {
            let what = match self.scope.get(name) {
                Some(entry) if !is_local => entry.meaning.describe(),
                _ => "a local name",
            };
            let message = format!("`{name}` is {what}, not a function");
            let hint = format!("to multiply, write `{name}*(…)`");
            self.error_hint("E0205", span, message, &hint);
            return false;
        }
        self.unknown_function(span, name);
        false
    }

    fn unknown_function(&mut self, span: crate::source::Span, name: &str) {
        if self.defining.as_ref().is_some_and(|(of, _)| of == name) {
            let message = format!("`{name}` is defined in terms of itself");
            let hint = "for a recursion write a family, such as `let X[i = 1..N] = X[i-1] + …`";
            self.error_hint("E0206", span, message, hint);
            return;
        }
        let message = format!("there is no function `{name}`");
        let diagnostic = Diagnostic::error("E0205", span, message);
        let alias = ALIASES.iter().find(|(word, _)| *word == name).map(|(_, meant)| *meant);
        let users = self.scope.names().filter(|n| {
            let meaning = self.scope.get(n).map(|entry| &entry.meaning);
            matches!(meaning, Some(Meaning::Function { .. }))
        });
        let known: Vec<&str> = Unary::ALL
            .iter()
            .map(|f| f.name())
            .chain(Binary::ALL.iter().map(|f| f.name()))
            .chain(FUNCTIONS.iter().map(|f| f.0))
            .chain(users)
            .collect();
        let hint = match alias.or_else(|| closest(name, &known)) {
            Some("^") => "powers are written `x^n`".to_owned(),
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "functions of your own are written `let f(u) = …`".to_owned(),
        };
        self.report(diagnostic.with_hint(&hint));
    }

    /// A built-in function with its arguments on the stack.
    pub(crate) fn call(&mut self, site: Site) {
        let NodeKind::Call { arguments, .. } = self.kind(site) else { return };
        let values = self.pop_many(arguments.len());
        let name = self.called(site);
        let value = if values.iter().any(Value::is_poison) {
            Value::Poison
        } else {
            self.function(site, &name, &values)
        };
        self.push(value);
    }

    fn function(&mut self, site: Site, name: &str, values: &[Value]) -> Value {
        if let Some(f) = Unary::named(name) {
            let what = format!("the argument of `{name}`");
            let Some(x) = self.scalar(&values[0], self.argument(site, 0), &what) else {
                return Value::Poison;
            };
            return Value::Scalar(self.graph.unary(f, x));
        }
        if let Some(f) = Binary::named(name) {
            return self.function_of_two(site, f, values);
        }
        match name {
            "mittag_leffler" => self.mittag_leffler(site, values),
            "table" => self.table(site, values),
            "caputo" | "rl" | "caputo_right" | "rl_right" | "integral" | "memory" | "mean" => {
                self.memory_operator(site, name, values)
            }
            "delay" => self.delay(site, values),
            "identity" => {
                let at = self.argument(site, 0);
                let Some(n) = self.whole(&values[0], at, "the size of `identity`") else {
                    return Value::Poison;
                };
                if !(1..=100).contains(&n) {
                    let message = format!("`identity` takes a size from 1 to 100, not {n}");
                    return self.error("E0308", self.span(at), message);
                }
                algebra::identity(self.graph, n as usize)
            }
            "rotation_x" | "rotation_y" | "rotation_z" => {
                let at = self.argument(site, 0);
                let Some(angle) = self.scalar(&values[0], at, "the angle of a rotation") else {
                    return Value::Poison;
                };
                let axis = usize::from(name.as_bytes()[name.len() - 1] - b'x');
                algebra::rotation_about(self.graph, axis, angle)
            }
            _ if INERTIA.contains(&name) => self.inertia(site, name, values),
            _ if BODY.contains(&name) => self.body_function(site, name, values),
            _ => self.matrix_function(site, name, values),
        }
    }

    fn function_of_two(&mut self, site: Site, f: Binary, values: &[Value]) -> Value {
        let Some(x) = self.scalars(site, f.name(), values) else { return Value::Poison };
        let g = self.graph;
        Value::Scalar(match f.arguments() {
            BinaryArguments::Two => g.binary(f, x[0], x[1]),
            BinaryArguments::TwoOrMore => x[1..].iter().fold(x[0], |a, &b| g.binary(f, a, b)),
            BinaryArguments::OrderAndNumber => {
                let (at, what) =
                    (self.argument(site, 0), format!("the order of `{}`", f.name()));
                let Some(n) = self.whole(&values[0], at, &what) else { return Value::Poison };
                if !(0..=100).contains(&n) {
                    let message =
                        format!("`{}` takes an order from 0 to 100, not {n}", f.name());
                    return self.error("E0308", self.span(at), message);
                }
                g.binary(f, g.integer(n), x[1])
            }
        })
    }

    fn mittag_leffler(&mut self, site: Site, values: &[Value]) -> Value {
        match self.scalars(site, "mittag_leffler", values).as_deref() {
            Some(&[alpha, beta, z]) => Value::Scalar(self.graph.mittag_leffler(alpha, beta, z)),
            _ => Value::Poison,
        }
    }

    /// All arguments as numbers; a report if one is none.
    fn scalars(&mut self, site: Site, name: &str, values: &[Value]) -> Option<Vec<Expr>> {
        let what = format!("an argument of `{name}`");
        let number = |(k, value)| self.scalar(value, self.argument(site, k), &what);
        values.iter().enumerate().map(number).collect()
    }

    fn matrix_function(&mut self, site: Site, name: &str, values: &[Value]) -> Value {
        let g = self.graph;
        match (name, values) {
            ("transpose", [a @ (Value::Matrix(..) | Value::Vector(_) | Value::Row(_))]) => {
                algebra::transpose(a)
            }
            ("tr", [Value::Matrix(n, m, x)]) if n == m => {
                self.see_trace(site);
                Value::Scalar(g.sum((0..*n).map(|i| x[i * n + i])))
            }
            ("det", [Value::Matrix(n, m, x)]) if n == m => {
                if !self.fits_determinant(site, *n) {
                    return Value::Poison;
                }
                self.see_determinant(site, &values[0]);
                Value::Scalar(algebra::determinant(g, *n, x))
            }
            ("inv", [Value::Matrix(n, m, x)]) if n == m => {
                let at = self.argument(site, 0);
                self.see_determinant(site, &values[0]);
                self.inverse(at, *n, x)
            }
            ("sym" | "skew", [Value::Matrix(n, m, x)]) if n == m => {
                algebra::half(g, *n, x, name == "skew")
            }
            ("dot", [Value::Vector(u), Value::Vector(v)]) if u.len() == v.len() => {
                Value::Scalar(g.dot(u, v))
            }
            ("cross", [Value::Vector(u), Value::Vector(v)]) if u.len() == 3 && v.len() == 3 => {
                algebra::cross(g, u, v)
            }
            ("norm", [Value::Vector(v)]) => Value::Scalar(g.sqrt(g.dot(v, v))),
            ("hat", [Value::Vector(v)]) if v.len() == 3 => algebra::hat(g, v),
            ("vee", [Value::Matrix(3, 3, w)]) => self.vee(site, w),
            ("rotation", [Value::Vector(axis), Value::Scalar(angle)]) if axis.len() == 3 => {
                if axis.iter().all(|&x| g.vanishes_modulo_prime(x)) {
                    let at = self.argument(site, 0);
                    return self.error(
                        "E0309",
                        self.span(at),
                        "the axis of a rotation is zero".into(),
                    );
                }
                algebra::rotation(g, axis, *angle)
            }
            _ => self.refuse_arguments(site, name, values),
        }
    }

    /// $(W_{32}, W_{13}, W_{21})$; a matrix that is not seen to be skew is worth a warning.
    fn vee(&mut self, site: Site, w: &[Expr]) -> Value {
        let g = self.graph;
        let skew = (0..3).all(|i| {
            (0..=i).all(|j| g.vanishes_modulo_prime(g.add(w[i * 3 + j], w[j * 3 + i])))
        });
        if !skew {
            let message = "the argument of `vee` could not be shown to be skew-symmetric; its entries (3,2), \
                           (1,3), (2,1) are used";
            let warning = Diagnostic::warning("E0311", self.span(site), message.to_owned())
                .with_hint("write `vee(skew(W))` to use the skew-symmetric part");
            self.report(warning);
        }
        Value::Vector([w[7], w[2], w[3]].into())
    }

    fn refuse_arguments(&mut self, site: Site, name: &str, values: &[Value]) -> Value {
        let wanted = match name {
            "transpose" => "a vector or a matrix",
            "tr" | "det" | "inv" | "sym" | "skew" => "a square matrix",
            "dot" => "two vectors of equal length",
            "cross" => "two vectors of length 3",
            "norm" => "a vector",
            "hat" => "a vector of 3",
            "vee" => "a 3×3 matrix",
            _ => "a vector of length 3 and an angle",
        };
        let given: Vec<String> = values.iter().map(Value::describe).collect();
        let message = format!("`{name}` takes {wanted}, not {}", given.join(" and "));
        self.error("E0301", self.span(site), message)
    }

    /// The `k`-th argument of a call.
    pub(crate) fn argument(&self, site: Site, k: usize) -> Site {
        match self.kind(site) {
            NodeKind::Call { arguments, .. } => {
                let id = self.arena(site).list(arguments).get(k).copied().unwrap_or(site.id);
                Site { id, ..site }
            }
            _ => site,
        }
    }
}
