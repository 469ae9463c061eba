//! Bytes → choices. Where they end, every choice is the first one, so that all bytes mean something.

/// Numbers that look random: SplitMix64.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Those of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed ^ 0x5851_f42d_4c95_7f2d);
        random.word();
        random
    }

    /// The next one.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.word() % n.max(1) as u64) as usize
    }
}

/// Bytes of a length up to some hundreds.
pub fn bytes(random: &mut SplitMix, input: &mut Vec<u8>) {
    let length = 16 + random.below(16).pow(2) + random.below(64);
    for _ in 0..length.div_ceil(8) {
        input.extend(random.word().to_le_bytes());
    }
}

/// Choices that are read off bytes.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Those of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// One of `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        let mut value = usize::from(self.byte());
        if n > 200 {
            value = value << 8 | usize::from(self.byte());
        }
        value % n.max(1)
    }

    /// One of a list.
    pub fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// True once in so many times.
    pub fn is_one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// Eight bytes as a number of any kind.
    pub fn bits(&mut self) -> f64 {
        f64::from_bits(u64::from_le_bytes([0; 8].map(|_: u8| self.byte())))
    }

    /// A number that is mostly of ordinary size.
    pub fn number(&mut self) -> f64 {
        const HARD: [f64; 24] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
            f64::EPSILON,
            1e16,
            -1e17,
            1e22,
            1e300,
            709.8,
            -745.2,
            std::f64::consts::FRAC_PI_2,
            std::f64::consts::PI,
            0.1,
        ];
        match self.below(8) {
            0 => self.one(&HARD),
            1 => self.bits(),
            _ => (self.below(65_536) as f64 - 32_768.0) / 8192.0,
        }
    }

    /// The rest, as text.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }
}
