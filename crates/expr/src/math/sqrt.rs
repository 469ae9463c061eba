//! $\sqrt x$. Processors have an instruction for it, and so have programs.

use crate::graph::node::Expr;
use crate::graph::number::Rational;
use crate::graph::residue;
use crate::graph::store::{ONE, Store, TWO};
use crate::math::Unary;
use crate::math::function::{Compares, Identities, LogForm, Parity, UnaryFunction};
use crate::math::notation::Notation;
use crate::math::series::SeriesKind;
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;
use num_traits::Signed;

/// $\sqrt x$. Processors have an instruction for it, and so have programs.
pub(crate) struct Sqrt;

impl UnaryFunction for Sqrt {
    const NAME: &'static str = "sqrt";
    const MEANING: &'static str = "the square root";

    fn value(x: f64) -> f64 {
        x.sqrt()
    }

    fn row<const N: usize>(_: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn slopes(x: f64, y: f64) -> [f64; 2] {
        [0.5 / y, -0.25 / (y * x)]
    }

    fn derivative(store: &mut Store, e: Expr, _: Expr) -> Expr {
        let twice = store.mul(TWO, e);
        store.div(ONE, twice)
    }

    const SERIES: SeriesKind = SeriesKind::Root;

    const PARITY: Parity = Parity::None;

    fn exact(store: &mut Store, a: Expr) -> Option<Expr> {
        // Of the square of a rational number.
        let x = store.exact(a).filter(|x| !x.is_negative())?;
        let root = Rational::new(x.numer().sqrt(), x.denom().sqrt());
        (&(&root * &root) == x).then(|| store.number(root))
    }

    const IS_SMOOTH: bool = false;

    fn range(a: Interval) -> Interval {
        Interval { low: a.low.max(0.0).sqrt(), high: a.high.max(0.0).sqrt() }
            .widened_above_zero()
    }

    fn error(x: Bounded, y: f64) -> f64 {
        if x.error < 0.5 * x.value { x.error / y } else { 2.0 * x.error.sqrt() }
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Sqrt, x)
    }

    const IDENTITIES: Identities = Identities {
        branched: true,
        log: LogForm::Multiple { numerator: 1, denominator: 2 },
        compares: Compares::Base,
        ..Identities::NONE
    };

    fn modular(point: &mut FieldPoint<'_>, e: Expr, a: Expr) -> Option<Z> {
        point.root(e, a)
    }

    const NOTATION: Notation = Notation::Root;

    const SPELLINGS: Spellings = Spellings::library("sqrt");
}
