//! What has to be known of a function so that the whole engine can use it: the two traits that the files of
//! this folder implement, one function each.
//!
//! Nothing has a default. A function that leaves something out does not compile.

use crate::graph::node::Expr;
use crate::graph::pairs::Pairs;
use crate::graph::store::Store;
use crate::math::notation::{BinaryNotation, Notation};
use crate::math::series::{RelationOfTwo, SeriesKind};
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// A function $y = f(a)$ of one argument.
pub(crate) trait UnaryFunction {
    /// The word of the model language.
    const NAME: &'static str;
    /// What it is, as `docs/language.md` says it.
    const MEANING: &'static str;

    /// $f(x)$; not a number outside its domain.
    fn value(x: f64) -> f64;

    /// $f(x)$ for several numbers at once, with the bits of [`value`](Self::value); `None` if there is no way
    /// that is faster than one after the other.
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]>;

    /// $f'(x)$ and $f''(x)$ where $y = f(x)$. The audit compares them with the symbolic derivative.
    fn slopes(x: f64, y: f64) -> [f64; 2];

    /// $f'(a)$ as an expression, where `e` is $f(a)$.
    fn derivative(store: &mut Store, e: Expr, a: Expr) -> Expr;

    /// How the Taylor coefficients of $f(a)$ follow from those of $a$.
    const SERIES: SeriesKind;

    /// What $f(-a)$ is.
    const PARITY: Parity;

    /// $f(a)$ where it is known exactly, such as $\cos 0 = 1$.
    fn exact(store: &mut Store, a: Expr) -> Option<Expr>;

    /// Whether it is finite and smooth for every real argument.
    const IS_SMOOTH: bool;

    /// An interval that contains $f(a)$ for all $a$ in an interval.
    fn range(a: Interval) -> Interval;

    /// A bound of $|f(a) - f(x)|$ for $|a - x|$ up to the error of $x$, where $y = f(x)$. Rounding of $y$ is
    /// added by the caller.
    fn error(x: Bounded, y: f64) -> f64;

    /// $f(x)$ modulo a prime, as the graph stores it with each node: equal expressions get equal numbers.
    fn residue(x: u64) -> u64;

    /// What the zero test knows.
    const IDENTITIES: Identities;

    /// $f(a)$ at a random point of $\mathbb F_{p^2}$, where `e` is $f(a)$; `None` if the field has no such number.
    fn modular(point: &mut FieldPoint<'_>, e: Expr, a: Expr) -> Option<Z>;

    /// How it is typeset.
    const NOTATION: Notation;

    /// How other languages write it.
    const SPELLINGS: Spellings;
}

/// A function $y = f(a, b)$ of two arguments.
pub(crate) trait BinaryFunction {
    /// The word of the model language.
    const NAME: &'static str;
    /// How a call is written, such as `atan2(y, x)`.
    const FORM: &'static str;
    /// What it is, as `docs/language.md` says it.
    const MEANING: &'static str;
    /// What its arguments may be.
    const ARGUMENTS: BinaryArguments;

    /// $f(a, b)$ of two numbers; not a number outside its domain.
    fn value(a: f64, b: f64) -> f64;

    /// $f(a, b)$ for several pairs at once, with the bits of [`value`](Self::value); `None` if there is no way
    /// that is faster than one after the other.
    fn row<const N: usize>(a: &[f64; N], b: &[f64; N]) -> Option<[f64; N]>;

    /// $\partial f/\partial a$ and $\partial f/\partial b$ as expressions, each with its operand.
    fn partials(store: &mut Store, a: Expr, b: Expr) -> Pairs;

    /// How the Taylor coefficients follow from those of both arguments; `None` if they do not.
    const SERIES: Option<RelationOfTwo>;

    /// $f(a, b)$ where it is known exactly.
    fn exact(store: &mut Store, a: Expr, b: Expr) -> Option<Expr>;

    /// An interval that contains $f(a, b)$ for all $a$ and $b$ in their intervals.
    fn range(a: Interval, b: Interval) -> Interval;

    /// A bound of the error of $y = f(x_1, x_2)$, as [`UnaryFunction::error`].
    fn error(a: Bounded, b: Bounded, y: f64) -> f64;

    /// Whether it takes the sign of $b - a$ into account.
    const COMPARES: bool;

    /// Whether its value at a point of a finite field is one of several branches.
    const IS_BRANCHED: bool;

    /// $e^{if(a, b)}$ up to a positive factor, as [`Identities::direction`].
    const DIRECTION: Option<CircleDirectionOfTwo>;

    /// Its value at a random point of $\mathbb F_{p^2}$, as [`UnaryFunction::modular`].
    fn modular(point: &mut FieldPoint<'_>, e: Expr, a: Expr, b: Expr) -> Option<Z>;

    /// How it is typeset.
    const NOTATION: BinaryNotation;

    /// How other languages write it.
    const SPELLINGS: Spellings;
}

/// What a sign does to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parity {
    /// $f(-a) = -f(a)$
    Odd,
    /// $f(-a) = f(a)$
    Even,
    /// Neither.
    None,
}

/// What the arguments of a function of two may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryArguments {
    /// Two numbers.
    Two,
    /// Two or more, taken together from the left.
    TwoOrMore,
    /// A whole number that is known beforehand, then a number.
    OrderAndNumber,
}

/// What the exact part of the zero test knows of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identities {
    /// What the function needs of its argument.
    pub(crate) argument: ArgumentForm,
    /// Whether its value at a point of a finite field is one of several branches.
    pub(crate) branched: bool,
    /// $\log f(a)$
    pub(crate) log: LogForm,
    /// $e^{if(a)} = (u + iv)/\sqrt{u^2 + v^2}$ for an inverse function of the circle: $u$ and $v$ from $a$.
    pub(crate) direction: Option<CircleDirection>,
    /// Whether it takes the sign of its argument into account.
    pub(crate) compares: Compares,
}

impl Identities {
    /// Nothing but that equal arguments give equal values.
    pub(crate) const NONE: Self = Self {
        argument: ArgumentForm::Value,
        branched: false,
        log: LogForm::Opaque,
        direction: None,
        compares: Compares::Nothing,
    };
}

/// $u$ and $v$ in $(u + iv)/\sqrt{u^2 + v^2}$, from the argument of a function; `None` if a root is missing.
pub(crate) type CircleDirection = fn(a: Z) -> Option<[Z; 2]>;
/// The same from two arguments.
pub(crate) type CircleDirectionOfTwo = fn(a: Z, b: Z) -> Option<[Z; 2]>;

/// What a function needs of its argument in the zero test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentForm {
    /// Its value.
    Value,
    /// The argument as a sum of monomials, for addition theorems and recurrences.
    Sum,
    /// The argument as a product, for sums of logarithms.
    Product,
}

/// The logarithm of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogForm {
    /// Nothing simpler.
    Opaque,
    /// The argument.
    Argument,
    /// $\log a$ times a fraction.
    Multiple {
        /// Its numerator.
        numerator: i64,
        /// Its denominator.
        denominator: i64,
    },
}

/// What a function compares with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compares {
    /// Nothing.
    Nothing,
    /// Its argument.
    Argument,
    /// $u$ where the argument is $u^{2m}$.
    Base,
}
