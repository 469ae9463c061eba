//! $\psi(x) = \Gamma'(x)/\Gamma(x)$.

use super::polygamma::polygamma;
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store};
use crate::math::function::{ArgumentForm, Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::SeriesKind;
use crate::math::spelling::Spellings;
use crate::math::{Binary, Unary};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// $\psi(x) = \Gamma'(x)/\Gamma(x)$.
pub(crate) struct Digamma;

impl UnaryFunction for Digamma {
    const NAME: &'static str = "digamma";
    const MEANING: &'static str = "ψ = Γ′/Γ, the derivative of log Γ";

    fn value(x: f64) -> f64 {
        polygamma(0, x)
    }

    fn row<const N: usize>(_: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn slopes(x: f64, _: f64) -> [f64; 2] {
        [Binary::Polygamma.value(1.0, x), Binary::Polygamma.value(2.0, x)]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        store.binary(Binary::Polygamma, ONE, a)
    }

    const SERIES: SeriesKind = SeriesKind::None;

    const PARITY: Parity = Parity::None;

    fn exact(_: &mut Store, _: Expr) -> Option<Expr> {
        None
    }

    const IS_SMOOTH: bool = false;

    fn range(_: Interval) -> Interval {
        Interval::ALL
    }

    fn error(x: Bounded, y: f64) -> f64 {
        let slope = Binary::Polygamma.value(1.0, x.value);
        4.0 * slope * x.error * x.factor_below(1e-3) + 1e-13 * (1.0 + y.abs() + x.value.abs())
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Digamma, x)
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        point.polygamma_of(0, a)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\psi", typst: "ψ", mathml: "<mi>ψ</mi>" },
        style: NameStyle::Brackets,
    };

    const SPELLINGS: Spellings = Spellings::NONE;
}
