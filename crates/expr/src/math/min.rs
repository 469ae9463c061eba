//! The smaller of two numbers.

use crate::graph::node::{Expr, Relation};
use crate::graph::pairs::Pairs;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::function::{BinaryArguments, BinaryFunction, CircleDirectionOfTwo};
use crate::math::notation::{BinaryNotation, FunctionName};
use crate::math::series::RelationOfTwo;
use crate::math::spelling::{Spelling, Spellings};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// The smaller of two numbers.
pub(crate) struct Min;

impl BinaryFunction for Min {
    const NAME: &'static str = "min";
    const FORM: &'static str = "min(a, b, …)";
    const MEANING: &'static str = "the smallest of two or more numbers";
    const ARGUMENTS: BinaryArguments = BinaryArguments::TwoOrMore;

    fn value(a: f64, b: f64) -> f64 {
        a.min(b)
    }

    fn row<const N: usize>(_: &[f64; N], _: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn partials(store: &mut Store, a: Expr, b: Expr) -> Pairs {
        // 1 for the operand that is taken, 0 for the other.
        let takes_a = store.compare(Relation::LessEqual, a, b);
        let (x, y) = (store.choose(takes_a, ONE, ZERO), store.choose(takes_a, ZERO, ONE));
        Pairs::two((a, x), (b, y))
    }

    const SERIES: Option<RelationOfTwo> = None;

    fn exact(store: &mut Store, a: Expr, b: Expr) -> Option<Expr> {
        if a == b {
            return Some(a);
        }
        let (x, y) = (store.exact(a)?, store.exact(b)?);
        Some(if x <= y { a } else { b })
    }

    fn range(a: Interval, b: Interval) -> Interval {
        Interval { low: a.low.min(b.low), high: a.high.min(b.high) }
    }

    fn error(a: Bounded, b: Bounded, _: f64) -> f64 {
        a.error.max(b.error)
    }

    const COMPARES: bool = true;

    const IS_BRANCHED: bool = true;

    const DIRECTION: Option<CircleDirectionOfTwo> = None;

    fn modular(point: &mut FieldPoint<'_>, e: Expr, a: Expr, b: Expr) -> Option<Z> {
        let (x, y) = (point.value(a), point.value(b));
        Some(if point.sign(e, y.minus(x)) > 0 { x } else { y })
    }

    const NOTATION: BinaryNotation = BinaryNotation::Name(FunctionName {
        latex: "\\min",
        typst: "min",
        mathml: "<mi>min</mi>",
    });

    const SPELLINGS: Spellings = Spellings {
        c: Spelling::Helper(
            "
static inline double pfaff_min(double a, double b)
{
    return a != a || b != b ? NAN : a < b ? a : b;
}
",
        ),
        rust: Spelling::Helper(
            "
fn pfaff_min(a: f64, b: f64) -> f64 { if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) } }
",
        ),
        python: Spelling::Helper(
            "
def pfaff_min(a, b):
    return math.nan if a != a or b != b else a if a < b else b
",
        ),
    };
}
