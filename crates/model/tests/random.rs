//! Numbers that look random and are the same in every run.

/// The shift-register generator of Marsaglia (2003) with the shifts 13, 7, 17.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).expect("less than a usize")
    }
}
