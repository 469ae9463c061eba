//! Where a function of one variable changes its sign: regula falsi with the modification of Illinois.
//!
//! The caller evaluates the function and decides when it is near enough; [`Bracket`] says where to look next.

/// Two points with values of different signs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    a: f64,
    fa: f64,
    b: f64,
    fb: f64,
}

impl Bracket {
    /// Between two points, each with its value.
    pub(super) fn new((a, fa): (f64, f64), (b, fb): (f64, f64)) -> Self {
        Self { a, fa, b, fb }
    }

    /// The next point to look at: where the chord is zero, or the middle.
    pub(super) fn next(&self) -> f64 {
        let Self { a, fa, b, fb } = *self;
        let s = (a * fb - b * fa) / (fb - fa);
        // NOTE: what is not a number lies between no points.
        if s > a.min(b) && s < a.max(b) { s } else { 0.5 * (a + b) }
    }

    /// How far apart the points are.
    pub(super) fn width(&self) -> f64 {
        (self.b - self.a).abs()
    }

    /// Takes the value at [`Bracket::next`].
    pub(super) fn include(&mut self, s: f64, f: f64) {
        if f.signum() == self.fb.signum() {
            self.fa *= 0.5;
        } else {
            (self.a, self.fa) = (self.b, self.fb);
        }
        (self.b, self.fb) = (s, f);
    }
}
