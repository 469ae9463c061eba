//! An event function over one step.

/// A function over a step, from its values and slopes at both ends.
#[derive(Clone, Copy)]
pub(super) struct Cubic {
    pub(super) g0: f64,
    pub(super) g1: f64,
    pub(super) d0: f64,
    pub(super) d1: f64,
}

impl Cubic {
    fn at(self, x: f64) -> f64 {
        let Self { g0, g1, d0, d1 } = self;
        let y = 1.0 - x;
        y * y * (1.0 + 2.0 * x) * g0 + x * x * (1.0 + 2.0 * y) * g1 + x * y * (y * d0 - x * d1)
    }

    fn slope(self, x: f64) -> f64 {
        let Self { g0, g1, d0, d1 } = self;
        let y = 1.0 - x;
        6.0 * x * y * (g1 - g0) + y * (1.0 - 3.0 * x) * d0 + x * (1.0 - 3.0 * y) * d1
    }

    /// Whether it goes from one sign to the other without turning.
    pub(super) fn is_monotone(self) -> bool {
        let sign = self.g1 - self.g0;
        (0..=8).all(|i| self.slope(f64::from(i) / 8.0) * sign > 0.0)
    }

    /// Whether it comes near zero although its ends have the same sign.
    pub(super) fn may_touch(self) -> bool {
        let Self { g0, g1, .. } = self;
        let least = 0.3 * g0.abs().min(g1.abs());
        (1..16).any(|i| self.at(f64::from(i) / 16.0) * g0.signum() < least)
    }

    /// The zero of a monotone one.
    pub(super) fn zero(self) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        let mut x = self.g0 / (self.g0 - self.g1);
        for _ in 0..60 {
            let value = self.at(x);
            if (value > 0.0) == (self.g0 > 0.0) {
                low = x;
            } else {
                high = x;
            }
            let newton = x - value / self.slope(x);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - x).abs() < 1e-15 {
                return next;
            }
            x = next;
        }
        x
    }
}
