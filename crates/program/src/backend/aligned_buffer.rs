//! Doubles in memory that begin at a line of the cache.

/// A line of the cache: the row of eight lanes then touches one only.
const LINE: usize = 64;

/// Doubles that begin at a line of the cache.
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    doubles: Vec<f64>,
    start: usize,
}

impl AlignedBuffer {
    pub(crate) fn new(count: usize) -> Self {
        let doubles = vec![0.0; count + LINE / 8];
        let start = doubles.as_ptr().align_offset(LINE).min(LINE / 8);
        Self { doubles, start }
    }

    #[inline]
    pub(crate) fn rows(&mut self) -> &mut [f64] {
        &mut self.doubles[self.start..]
    }

    #[inline]
    pub(crate) fn all(&self) -> &[f64] {
        &self.doubles[self.start..]
    }
}

// A copy begins elsewhere.
impl Clone for AlignedBuffer {
    fn clone(&self) -> Self {
        let used = &self.doubles[self.start..];
        let mut copy = Self::new(self.doubles.len() - LINE / 8);
        let count = used.len().min(copy.rows().len());
        copy.rows()[..count].copy_from_slice(&used[..count]);
        copy
    }
}
