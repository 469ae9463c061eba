//! $x/|x|$, and 0 at 0.

use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::Unary;
use crate::math::function::{Compares, Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::SeriesKind;
use crate::math::spelling::{Spelling, Spellings};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// $x/|x|$, and 0 at 0.
pub(crate) struct Sign;

impl UnaryFunction for Sign {
    const NAME: &'static str = "sign";
    const MEANING: &'static str = "1, 0 or -1, as the argument is positive, zero or negative";

    fn value(x: f64) -> f64 {
        if x == 0.0 { 0.0 } else { x.signum() }
    }

    fn row<const N: usize>(_: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn slopes(_: f64, _: f64) -> [f64; 2] {
        [0.0, 0.0]
    }

    fn derivative(_: &mut Store, _: Expr, _: Expr) -> Expr {
        ZERO
    }

    const SERIES: SeriesKind = SeriesKind::None;

    const PARITY: Parity = Parity::Odd;

    fn exact(store: &mut Store, a: Expr) -> Option<Expr> {
        if a == ZERO {
            return Some(ZERO);
        }
        if !store.is_number(a) {
            return None;
        }
        Some(if store.is_negative(a) { store.neg(ONE) } else { ONE })
    }

    const IS_SMOOTH: bool = false;

    fn range(_: Interval) -> Interval {
        Interval { low: -1.0, high: 1.0 }
    }

    fn error(x: Bounded, _: f64) -> f64 {
        if x.error == 0.0 || x.value.abs() > 4.0 * x.error { 0.0 } else { f64::INFINITY }
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Sign, x)
    }

    const IDENTITIES: Identities =
        Identities { branched: true, compares: Compares::Argument, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, e: Expr, a: Expr) -> Option<Z> {
        Some(point.signed(e, a))
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName {
            latex: "\\operatorname{sgn}",
            typst: "op(\"sgn\")",
            mathml: "<mi>sgn</mi>",
        },
        style: NameStyle::Brackets,
    };

    const SPELLINGS: Spellings = Spellings {
        c: Spelling::Helper(
            "
static inline double pfaff_sign(double x)
{
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x;
}
",
        ),
        rust: Spelling::Helper(
            "
fn pfaff_sign(x: f64) -> f64 { if x == 0.0 { 0.0 } else { x.signum() } }
",
        ),
        python: Spelling::Helper(
            "
def pfaff_sign(x):
    return 1.0 if x > 0 else -1.0 if x < 0 else 0.0 if x == 0 else x
",
        ),
    };
}
