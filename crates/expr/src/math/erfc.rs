//! $\operatorname{erfc} x = 1 - \operatorname{erf} x = \frac{2}{\sqrt\pi}\int_x^\infty e^{-t^2}\,dt$.

use super::erf;
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::Unary;
use crate::math::function::{Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::{SeriesKind, SeriesRelation, SeriesTerm};
use crate::math::spelling::{Spelling, Spellings};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::{self, Z};

/// $\operatorname{erfc} x$.
pub(crate) struct Erfc;

impl UnaryFunction for Erfc {
    const NAME: &'static str = "erfc";
    const MEANING: &'static str = "1 - erf(x), with full accuracy where it is small";

    fn value(x: f64) -> f64 {
        libm::erfc(x)
    }

    fn row<const N: usize>(_: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn slopes(x: f64, _: f64) -> [f64; 2] {
        let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x);
        [-slope, 2.0 * x * slope]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        let slope = erf::slope(store, a);
        store.neg(slope)
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|series, a, _| {
        // y' = −2/√π e^{−a²} a'
        let term = SeriesTerm { negative: true, f: Some(erf::bell(series, a)), g: a };
        SeriesRelation { over: None, terms: [Some(term), None] }
    });

    const PARITY: Parity = Parity::None;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ONE)
    }

    const IS_SMOOTH: bool = true;

    fn range(_: Interval) -> Interval {
        Interval { low: 0.0, high: 2.0 }
    }

    fn error(x: Bounded, _: f64) -> f64 {
        1.2 * x.error
    }

    // NOTE: a number of its own, so that the graph does not put 1 − erf x, which cancels, in its place.
    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Erfc, x)
    }

    const IDENTITIES: Identities = Identities::NONE;

    fn modular(point: &mut FieldPoint<'_>, e: Expr, a: Expr) -> Option<Z> {
        Some(quadratic::ONE.minus(erf::Erf::modular(point, e, a)?))
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName {
            latex: "\\operatorname{erfc}",
            typst: "op(\"erfc\")",
            mathml: "<mi>erfc</mi>",
        },
        style: NameStyle::Brackets,
    };

    const SPELLINGS: Spellings = Spellings {
        c: Spelling::Library("erfc"),
        rust: Spelling::None,
        python: Spelling::Library("erfc"),
    };
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role, Unary};

    #[test]
    fn values_far_out_keep_their_digits() {
        // erfc 5 [AS64, table 7.3]
        let value = Unary::Erfc.value(5.0);
        assert!((value - 1.537_459_794_428_035e-12).abs() < 1e-15 * value, "{value:e}");
    }

    #[test]
    fn the_derivative_is_the_opposite_of_that_of_erf() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let [erf, erfc] = [Unary::Erf, Unary::Erfc].map(|f| g.derivative(g.unary(f, x), x));
        assert_eq!(erfc, g.neg(erf));
        assert_eq!(g.to_text(erfc), "-2*exp(-x^2)/sqrt(pi)");
    }
}
