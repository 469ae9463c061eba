//! The elementary and special functions of the model language.
//!
//! Everything about one function (its name, value, derivative, Taylor series, exact values, identities,
//! typesetting and spelling in other languages) stands in the file that bears its name. This file lists them;
//! all other places ask [`Unary`] and [`Binary`].
//!
//! **To add a function:** write `math/NAME.rs` after the model of `math/erf.rs`, and add its two lines here.

#![allow(
    clippy::inline_always,
    reason = "functions of several numbers become parts of loops that are compiled for wider registers"
)]
#![allow(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch, and branches are not vectors"
)]
#![allow(clippy::excessive_precision, reason = "the constants are written as in fdlibm")]

mod abs;
mod acos;
mod asin;
mod atan;
mod atan2;
mod cos;
mod cosh;
mod digamma;
mod erf;
mod erfc;
mod exp;
mod gamma;
mod log;
mod max;
mod min;
mod mittag_leffler;
mod polygamma;
mod sign;
mod sin;
mod sinh;
mod sqrt;
mod tan;
mod tanh;

mod complex;
pub(crate) mod double_double;
pub(crate) mod function;
mod lanes;
pub(crate) mod notation;
pub(crate) mod power;
pub mod series;
pub mod special;
pub mod spelling;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use crate::graph::node::Expr;
use crate::graph::pairs::Pairs;
use crate::graph::store::Store;
use crate::math::notation::{BinaryNotation, Notation};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

use function::{
    BinaryArguments, BinaryFunction, CircleDirectionOfTwo, Identities, Parity, UnaryFunction,
};
use series::{RelationOfTwo, SeriesKind};
use spelling::Spellings;

/// Makes [`Unary`] of a list of functions.
macro_rules! unary_functions {
    ($($(#[$doc:meta])* $name:ident = $function:ty,)*) => {
        /// A function of one argument.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Unary {$(
            $(#[$doc])*
            $name,
        )*}

        impl Unary {
            /// Every function of one argument.
            pub const ALL: [Self; [$(<$function>::NAME),*].len()] = [$(Self::$name),*];
        }

        /// The same question to the function that is meant.
        macro_rules! of_unary {
            ($self:expr, $F:ident => $answer:expr) => {
                match $self {$(
                    Unary::$name => {
                        type $F = $function;
                        $answer
                    }
                )*}
            };
        }
    };
}

/// Makes [`Binary`] of a list of functions.
macro_rules! binary_functions {
    ($($(#[$doc:meta])* $name:ident = $function:ty,)*) => {
        /// A function of two arguments.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Binary {$(
            $(#[$doc])*
            $name,
        )*}

        impl Binary {
            /// Every function of two arguments.
            pub const ALL: [Self; [$(<$function>::NAME),*].len()] = [$(Self::$name),*];
        }

        /// The same question to the function that is meant.
        macro_rules! of_binary {
            ($self:expr, $F:ident => $answer:expr) => {
                match $self {$(
                    Binary::$name => {
                        type $F = $function;
                        $answer
                    }
                )*}
            };
        }
    };
}

unary_functions! {
    /// $\sin x$
    Sin = sin::Sin,
    /// $\cos x$
    Cos = cos::Cos,
    /// $\tan x$
    Tan = tan::Tan,
    /// $\arcsin x$
    Asin = asin::Asin,
    /// $\arccos x$
    Acos = acos::Acos,
    /// $\arctan x$
    Atan = atan::Atan,
    /// $\sinh x$
    Sinh = sinh::Sinh,
    /// $\cosh x$
    Cosh = cosh::Cosh,
    /// $\tanh x$
    Tanh = tanh::Tanh,
    /// $e^x$
    Exp = exp::Exp,
    /// $\ln x$
    Log = log::Log,
    /// $\sqrt x$
    Sqrt = sqrt::Sqrt,
    /// $|x|$
    Abs = abs::Abs,
    /// $x/|x|$, and 0 at 0.
    Sign = sign::Sign,
    /// $\operatorname{erf} x$, the error function.
    Erf = erf::Erf,
    /// $\Gamma(x)$
    Gamma = gamma::Gamma,
    /// $\psi(x) = \Gamma'(x)/\Gamma(x)$
    Digamma = digamma::Digamma,
    /// $\operatorname{erfc} x = 1 - \operatorname{erf} x$
    Erfc = erfc::Erfc,
}

binary_functions! {
    /// The angle of the point $(b, a)$: `atan2(a, b)`.
    Atan2 = atan2::Atan2,
    /// The smaller one.
    Min = min::Min,
    /// The larger one.
    Max = max::Max,
    /// $\psi^{(a)}(b)$, the `a`-th derivative of $\psi$ for a whole number $a \ge 1$.
    Polygamma = polygamma::Polygamma,
}

impl Unary {
    /// The function of this name in the model language.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// The word of the model language.
    pub fn name(self) -> &'static str {
        of_unary!(self, F => F::NAME)
    }

    /// What it is, in a few words.
    pub fn meaning(self) -> &'static str {
        of_unary!(self, F => F::MEANING)
    }

    /// Its value; not a number outside its domain.
    pub fn value(self, x: f64) -> f64 {
        of_unary!(self, F => F::value(x))
    }

    /// The values of several numbers at once, with the same bits; `None` if one after the other is as fast.
    #[inline(always)]
    pub fn row<const N: usize>(self, x: &[f64; N]) -> Option<[f64; N]> {
        of_unary!(self, F => F::row(x))
    }

    /// $f'(x)$ and $f''(x)$ where $y = f(x)$, in closed form.
    pub fn slopes(self, x: f64, y: f64) -> [f64; 2] {
        of_unary!(self, F => F::slopes(x, y))
    }

    /// How its Taylor coefficients follow from those of its argument.
    pub fn series(self) -> SeriesKind {
        of_unary!(self, F => F::SERIES)
    }

    /// How other languages write it.
    pub fn spellings(self) -> Spellings {
        of_unary!(self, F => F::SPELLINGS)
    }

    pub(crate) fn derivative(self, store: &mut Store, e: Expr, a: Expr) -> Expr {
        of_unary!(self, F => F::derivative(store, e, a))
    }

    pub(crate) fn parity(self) -> Parity {
        of_unary!(self, F => F::PARITY)
    }

    pub(crate) fn exact(self, store: &mut Store, a: Expr) -> Option<Expr> {
        of_unary!(self, F => F::exact(store, a))
    }

    pub(crate) fn is_smooth(self) -> bool {
        of_unary!(self, F => F::IS_SMOOTH)
    }

    pub(crate) fn range(self, a: Interval) -> Interval {
        of_unary!(self, F => F::range(a))
    }

    pub(crate) fn error(self, x: Bounded, y: f64) -> f64 {
        of_unary!(self, F => F::error(x, y))
    }

    pub(crate) fn residue(self, x: u64) -> u64 {
        of_unary!(self, F => F::residue(x))
    }

    pub(crate) fn identities(self) -> Identities {
        of_unary!(self, F => F::IDENTITIES)
    }

    pub(crate) fn modular(self, point: &mut FieldPoint<'_>, e: Expr, a: Expr) -> Option<Z> {
        of_unary!(self, F => F::modular(point, e, a))
    }

    pub(crate) fn notation(self) -> Notation {
        of_unary!(self, F => F::NOTATION)
    }
}

impl Binary {
    /// The function of this name in the model language.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// The word of the model language.
    pub fn name(self) -> &'static str {
        of_binary!(self, F => F::NAME)
    }

    /// How a call is written.
    pub fn form(self) -> &'static str {
        of_binary!(self, F => F::FORM)
    }

    /// What it is, in a few words.
    pub fn meaning(self) -> &'static str {
        of_binary!(self, F => F::MEANING)
    }

    /// What its arguments may be.
    pub fn arguments(self) -> BinaryArguments {
        of_binary!(self, F => F::ARGUMENTS)
    }

    /// Its value. As soon as one argument is not a number, neither is the value.
    pub fn value(self, a: f64, b: f64) -> f64 {
        if a.is_nan() || b.is_nan() {
            return f64::NAN;
        }
        of_binary!(self, F => F::value(a, b))
    }

    /// The values of several pairs at once, with the same bits; `None` if one after the other is as fast.
    #[inline(always)]
    pub fn row<const N: usize>(self, a: &[f64; N], b: &[f64; N]) -> Option<[f64; N]> {
        of_binary!(self, F => F::row(a, b))
    }

    /// How its Taylor coefficients follow from those of its arguments; `None` if they do not.
    pub fn series(self) -> Option<RelationOfTwo> {
        of_binary!(self, F => F::SERIES)
    }

    /// How other languages write it.
    pub fn spellings(self) -> Spellings {
        of_binary!(self, F => F::SPELLINGS)
    }

    pub(crate) fn partials(self, store: &mut Store, a: Expr, b: Expr) -> Pairs {
        of_binary!(self, F => F::partials(store, a, b))
    }

    pub(crate) fn exact(self, store: &mut Store, a: Expr, b: Expr) -> Option<Expr> {
        of_binary!(self, F => F::exact(store, a, b))
    }

    pub(crate) fn range(self, a: Interval, b: Interval) -> Interval {
        of_binary!(self, F => F::range(a, b))
    }

    pub(crate) fn error(self, a: Bounded, b: Bounded, y: f64) -> f64 {
        of_binary!(self, F => F::error(a, b, y))
    }

    pub(crate) fn compares(self) -> bool {
        of_binary!(self, F => F::COMPARES)
    }

    pub(crate) fn is_branched(self) -> bool {
        of_binary!(self, F => F::IS_BRANCHED)
    }

    pub(crate) fn direction(self) -> Option<CircleDirectionOfTwo> {
        of_binary!(self, F => F::DIRECTION)
    }

    pub(crate) fn modular(
        self,
        point: &mut FieldPoint<'_>,
        e: Expr,
        a: Expr,
        b: Expr,
    ) -> Option<Z> {
        of_binary!(self, F => F::modular(point, e, a, b))
    }

    pub(crate) fn notation(self) -> BinaryNotation {
        of_binary!(self, F => F::NOTATION)
    }
}
