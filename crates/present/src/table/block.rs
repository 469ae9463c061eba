//! Rows of whole numbers, numbers and texts by columns, and their bytes.

use super::Kind;

/// Some rows of a table with typed columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// One for each column, all of the same length.
    pub columns: Vec<Cells>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers; those that are not finite are missing.
    Numbers(Vec<f64>),
    /// Texts.
    Texts(Texts),
}

/// Texts of which many are equal; an empty one is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    words: Vec<String>,
    codes: Vec<u32>,
}

/// How many of the last words are compared with a new one.
const RECENT: usize = 16;

impl Texts {
    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        let recent = self.words.len().saturating_sub(RECENT);
        let known = self.words[recent..].iter().position(|word| word == text);
        let code = known.map_or(self.words.len(), |place| recent + place);
        if known.is_none() {
            self.words.push(text.to_owned());
        }
        self.codes.push(code as u32);
    }

    /// Adds those of another list from one to before another.
    fn extend(&mut self, other: &Self, from: usize, to: usize) {
        let mut known: Vec<Option<u32>> = vec![None; other.words.len()];
        for &code in &other.codes[from..to] {
            match known[code as usize] {
                Some(own) => self.codes.push(own),
                None => {
                    self.push(&other.words[code as usize]);
                    known[code as usize] = self.codes.last().copied();
                }
            }
        }
    }

    /// The different texts (far apart some may be equal), and for each row the number of its text.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn parts(&self) -> (&[String], &[u32]) {
        (&self.words, &self.codes)
    }

    /// All texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.codes.iter().map(|&code| self.words[code as usize].as_str())
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> &str {
        &self.words[self.codes[row] as usize]
    }
}

impl Cells {
    /// No rows of this kind.
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integers(Vec::new()),
            Kind::Number => Self::Numbers(Vec::new()),
            Kind::Text => Self::Texts(Texts::default()),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(texts) => texts.codes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Block {
    /// No rows of columns of these kinds.
    pub fn new(kinds: impl IntoIterator<Item = Kind>) -> Self {
        Self { columns: kinds.into_iter().map(Cells::new).collect() }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Cells::len)
    }

    /// Adds the rows of another block of the same kinds, from one to before another.
    pub fn extend(&mut self, other: &Self, from: usize, to: usize) {
        for (own, more) in self.columns.iter_mut().zip(&other.columns) {
            match (own, more) {
                (Cells::Integers(own), Cells::Integers(more)) => {
                    own.extend_from_slice(&more[from..to]);
                }
                (Cells::Numbers(own), Cells::Numbers(more)) => {
                    own.extend_from_slice(&more[from..to]);
                }
                (Cells::Texts(own), Cells::Texts(more)) => own.extend(more, from, to),
                (Cells::Integers(_) | Cells::Numbers(_) | Cells::Texts(_), _) => {}
            }
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        for cells in &mut self.columns {
            match cells {
                Cells::Integers(values) => values.clear(),
                Cells::Numbers(values) => values.clear(),
                Cells::Texts(texts) => *texts = Texts::default(),
            }
        }
    }

    /// Adds the rows as bytes that [`Block::from_bytes`] reads.
    pub fn write_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.rows() as u32).to_le_bytes());
        for cells in &self.columns {
            bytes.reserve(8 * cells.len());
            match cells {
                Cells::Integers(v) => v.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
                Cells::Numbers(v) => v.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
                Cells::Texts(texts) => {
                    bytes.extend((texts.words.len() as u32).to_le_bytes());
                    for word in &texts.words {
                        bytes.extend((word.len() as u32).to_le_bytes());
                        bytes.extend(word.as_bytes());
                    }
                    texts.codes.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
                }
            }
        }
    }

    /// The rows of these bytes, or `None` if they are not those of such columns.
    pub fn from_bytes(kinds: &[Kind], bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { bytes };
        let rows = reader.count()?;
        let mut columns = Vec::with_capacity(kinds.len());
        for kind in kinds {
            columns.push(match kind {
                Kind::Integer => Cells::Integers(reader.words(rows, i64::from_le_bytes)?),
                Kind::Number => Cells::Numbers(reader.words(rows, f64::from_le_bytes)?),
                Kind::Text => {
                    let count = reader.count()?;
                    let mut words = Vec::new();
                    for _ in 0..count {
                        let length = reader.count()?;
                        words.push(String::from_utf8(reader.take(length)?.to_vec()).ok()?);
                    }
                    let codes = reader.words(rows, u32::from_le_bytes)?;
                    if codes.iter().any(|&code| code as usize >= words.len()) {
                        return None;
                    }
                    Cells::Texts(Texts { words, codes })
                }
            });
        }
        reader.bytes.is_empty().then_some(Self { columns })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        let bytes = self.take(4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    }

    fn words<const N: usize, T>(
        &mut self,
        count: usize,
        read: fn([u8; N]) -> T,
    ) -> Option<Vec<T>> {
        let bytes = self.take(count.checked_mul(N)?)?;
        let words = bytes.as_chunks::<N>().0;
        Some(words.iter().map(|&word| read(word)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 3] = [Kind::Integer, Kind::Number, Kind::Text];

    fn block() -> Block {
        let mut texts = Texts::default();
        (0..40).for_each(|i| texts.push(&format!("word {}", i % 20)));
        Block {
            columns: vec![
                Cells::Integers((0..40).collect()),
                Cells::Numbers((0..40).map(|i| f64::from(i) / 3.0).collect()),
                Cells::Texts(texts),
            ],
        }
    }

    #[test]
    fn bytes_read_back_and_no_part_of_them_does() {
        let mut bytes = Vec::new();
        block().write_bytes(&mut bytes);
        assert_eq!(Block::from_bytes(&KINDS, &bytes), Some(block()));
        for length in 0..bytes.len() {
            assert_eq!(Block::from_bytes(&KINDS, &bytes[..length]), None, "{length}");
        }
        assert_eq!(Block::from_bytes(&KINDS[..2], &bytes), None);
    }

    #[test]
    fn blocks_grow_by_rows_of_others() {
        let mut grown = Block::new(KINDS);
        grown.extend(&block(), 0, 7);
        grown.extend(&block(), 7, 40);
        let (Cells::Texts(a), Cells::Texts(b)) = (&grown.columns[2], &block().columns[2])
        else {
            panic!("texts");
        };
        assert!(a.iter().eq(b.iter()));
        assert_eq!(grown.columns[..2], block().columns[..2]);
        grown.clear();
        assert_eq!(grown, Block::new(KINDS));
    }
}
