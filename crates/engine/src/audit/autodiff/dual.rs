//! Dual numbers $x + \dot x\,\varepsilon$ with $\varepsilon^2 = 0$, at several instants together.

use crate::motion::sample::LANES;

/// A number at each of them.
pub(crate) type Lanes = [f64; LANES];

pub(super) const ZERO: Lanes = [0.0; LANES];

/// A number and its rate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Dual {
    pub(crate) x: Lanes,
    pub(crate) d: Lanes,
}

impl Dual {
    pub(crate) fn constant(x: f64) -> Self {
        Self { x: [x; LANES], d: ZERO }
    }

    /// Both numbers at every lane from those of two others. Written as a loop: the compiler makes vectors of
    /// it wherever it stands.
    #[inline]
    fn of(a: &Self, b: &Self, f: impl Fn([f64; 2], [f64; 2]) -> [f64; 2]) -> Self {
        let mut made = Self::default();
        for l in 0..LANES {
            [made.x[l], made.d[l]] = f([a.x[l], a.d[l]], [b.x[l], b.d[l]]);
        }
        made
    }

    #[inline]
    pub(crate) fn add(&self, o: &Self) -> Self {
        Self::of(self, o, |[x, d], [y, e]| [x + y, d + e])
    }

    #[inline]
    pub(super) fn sub(&self, o: &Self) -> Self {
        Self::of(self, o, |[x, d], [y, e]| [x - y, d - e])
    }

    #[inline]
    pub(super) fn neg(&self) -> Self {
        Self::of(self, self, |[x, d], _| [-x, -d])
    }

    #[inline]
    pub(super) fn mul(&self, o: &Self) -> Self {
        Self::of(self, o, |[x, d], [y, e]| [x * y, d * y + x * e])
    }

    pub(super) fn recip(&self) -> Self {
        Self::of(self, self, |[x, d], _| {
            let r = 1.0 / x;
            [r, term(-r * r, d)]
        })
    }

    /// $\bar n\,\partial n/\partial a$; what is zero stays zero even where the other factor is infinite.
    #[inline]
    pub(crate) fn chain(&self, partial: &Self) -> Self {
        let plain = self.mul(partial);
        let mut odd = false;
        for l in 0..LANES {
            odd |= plain.x[l].is_nan() | plain.d[l].is_nan();
        }
        if odd { self.careful_chain(partial) } else { plain }
    }

    #[cold]
    fn careful_chain(&self, partial: &Self) -> Self {
        Self::of(self, partial, |[x, d], [y, e]| [term(x, y), term(d, y) + term(x, e)])
    }

    #[inline]
    pub(super) fn is_zero(&self) -> bool {
        let mut zero = true;
        for l in 0..LANES {
            zero &= self.x[l] == 0.0;
            zero &= self.d[l] == 0.0;
        }
        zero
    }
}

/// A product that is zero if a factor is.
pub(super) fn term(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
