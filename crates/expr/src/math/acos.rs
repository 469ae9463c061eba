//! $\arccos x$, in $[0, \pi]$.

use super::asin::{ArcParts, error_of_arc};
use super::lanes::{FRAC_PI_2_LO, row};
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store};
use crate::math::Unary;
use crate::math::function::{Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::{SeriesKind, SeriesRelation, SeriesTerm};
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::{self, Z};
use std::f64::consts::FRAC_PI_2;

/// $\arccos x$, in $[0, \pi]$.
pub(crate) struct Acos;

impl UnaryFunction for Acos {
    const NAME: &'static str = "acos";
    const MEANING: &'static str = "the angle between 0 and π that has this cosine";

    fn value(x: f64) -> f64 {
        libm::acos(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::acos))
    }

    fn slopes(x: f64, _: f64) -> [f64; 2] {
        let r = 1.0 / (1.0 - x * x).sqrt();
        [-r, -x * r * r * r]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        // −1/√(1 − a²)
        let square = store.mul(a, a);
        let rest = store.sub(ONE, square);
        let root = store.unary(Unary::Sqrt, rest);
        let slope = store.div(ONE, root);
        store.neg(slope)
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|series, a, _| {
        // √(1 − a²) y' = −a'
        let (one, square) = (series.constant(1.0), series.square(a));
        let rest = series.difference(one, square);
        let terms = [Some(SeriesTerm { negative: true, f: None, g: a }), None];
        SeriesRelation { over: Some(series.root(rest)), terms }
    });

    const PARITY: Parity = Parity::None;

    fn exact(_: &mut Store, _: Expr) -> Option<Expr> {
        None
    }

    const IS_SMOOTH: bool = false;

    fn range(_: Interval) -> Interval {
        Interval { low: 0.0, high: 3.2 }
    }

    fn error(x: Bounded, _: f64) -> f64 {
        error_of_arc(x)
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Acos, x)
    }

    const IDENTITIES: Identities = Identities {
        branched: true,
        direction: Some(|a| Some([a, quadratic::ONE.minus(a.times(a)).root()?])),
        ..Identities::NONE
    };

    fn modular(point: &mut FieldPoint<'_>, e: Expr, _: Expr) -> Option<Z> {
        point.inverse_of_circle(e)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\arccos", typst: "arccos", mathml: "<mi>arccos</mi>" },
        style: NameStyle::Plain,
    };

    const SPELLINGS: Spellings = Spellings::library("acos");
}

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    let ArcParts { size, small, r, s, f, c } = ArcParts::of(x);
    let above = 2.0 * (f + (r * s + c));
    let below = 2.0 * (FRAC_PI_2 - (s + (r * s - FRAC_PI_2_LO)));
    let large = if x < 0.0 { below } else { above };
    (if small { FRAC_PI_2 - (x - (FRAC_PI_2_LO - x * r)) } else { large }, size < 1.0)
}
