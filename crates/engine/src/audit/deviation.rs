//! How far something is from zero, in parts of what cancels in it.

/// A deviation from zero, and the size of the terms that cancel, $\sum|A_i|\,|x_i|$: the largest of each on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Deviation {
    value: f64,
    /// The deviation times the length of its step: what it does to the motion.
    impulse: f64,
    size: f64,
}

impl Deviation {
    pub(crate) fn new(value: f64, size: f64) -> Self {
        Self { value: value.abs(), impulse: 0.0, size }
    }

    /// A deviation within a step of this length.
    pub(crate) fn within(value: f64, size: f64, length: f64) -> Self {
        Self { value: value.abs(), impulse: (value * length).abs(), size }
    }

    /// Takes another one into account.
    pub(crate) fn include(&mut self, other: Self) {
        self.value = worse(self.value, other.value);
        self.impulse = worse(self.impulse, other.impulse);
        self.size = worse(self.size, other.size);
    }

    pub(crate) fn size(self) -> f64 {
        self.size
    }

    /// The deviation as a part of the size, which is at least `least`.
    pub(crate) fn relative(self, least: f64) -> f64 {
        if self.value == 0.0 { 0.0 } else { self.value / self.size.max(least) }
    }

    /// The same, or what it does to the motion if that is less. A deviation as large as the size changes the motion
    /// by its own scale in the time $1/r$, with the rate r.
    pub(crate) fn relative_in_motion(self, least: f64, rate: f64) -> f64 {
        let relative = self.relative(least);
        let moved = self.impulse * rate / self.size.max(least);
        if moved < relative { moved } else { relative }
    }
}

/// The larger one; not a number wins, so that it is seen.
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
