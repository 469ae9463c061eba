//! The journal of a sweep: blocks of complete cases, appended as they come, from which the table is made.
//!
//! A head with the manifest, then for each block the first case, the one after its last, the number of bytes, the
//! bytes, and a check sum over all of these. Whatever ends the program, a journal begins with whole blocks; what
//! follows them is a part of one, and is cut off by the next run. Nothing is lost or doubled, because a block says
//! which cases it holds.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use pfaff_present::{Block, Kind};

use crate::fault::{self, Operation};

const MAGIC: &[u8] = b"pfaff sweep 1\n";
/// No block is longer: a length beyond it is damage.
const LONGEST: u64 = 1 << 32;

/// The file that a sweep grows.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes of the head and of all whole blocks.
    length: u64,
    /// The first case that it does not hold.
    pub(super) next: u64,
}

/// Why a journal cannot be gone on with.
pub(super) enum NoJournal {
    /// It belongs to a sweep with this manifest.
    Other(String),
    /// It is no journal, or damaged.
    Damaged(String),
    /// It cannot be read or written.
    File(io::Error),
}

impl From<io::Error> for NoJournal {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl Journal {
    /// The place of the journal of a table.
    pub(super) fn path_of(table: &str) -> PathBuf {
        PathBuf::from(format!("{table}.sweep"))
    }

    /// Begins a journal whose first case is `first`.
    pub(super) fn create(path: &Path, manifest: &str, first: u64) -> io::Result<Self> {
        fault::injected(Operation::Create)?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let mut journal = Self { path: path.to_owned(), file, length: 0, next: first };
        let begun = journal.add(&head(manifest));
        if begun.is_err() {
            let _ = fs::remove_file(path);
        }
        begun.map(|()| journal)
    }

    /// Goes on with the journal of a sweep that was ended, if its manifest is this one.
    pub(super) fn resume(path: &Path, manifest: &str, first: u64) -> Result<Self, NoJournal> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let (found, length) = match read_head(&mut BufReader::new(&file)) {
            Ok(head) => head,
            Err(why) => {
                // The program may have been ended while it wrote the head.
                let mut begun = Vec::new();
                file.seek(SeekFrom::Start(0))?;
                file.read_to_end(&mut begun)?;
                if !head(manifest).starts_with(&begun) {
                    return Err(why);
                }
                drop(file);
                fs::remove_file(path)?;
                return Ok(Self::create(path, manifest, first)?);
            }
        };
        if found != manifest {
            return Err(NoJournal::Other(found));
        }
        let mut journal = Self { path: path.to_owned(), file, length, next: first };
        let mut blocks = journal.frames()?;
        while let Some(frame) = blocks.next(journal.next)? {
            journal.next = frame.next;
        }
        journal.length = blocks.position;
        drop(blocks);
        journal.file.set_len(journal.length)?;
        Ok(journal)
    }

    /// Adds the rows of the cases from `next` to before `end`, or leaves the journal as it was.
    pub(super) fn append(&mut self, end: u64, block: &Block) -> io::Result<()> {
        let mut frame = Vec::new();
        for word in [self.next, end, 0] {
            frame.extend(word.to_le_bytes());
        }
        block.write_bytes(&mut frame);
        let length = (frame.len() - 24) as u64;
        frame[16..24].copy_from_slice(&length.to_le_bytes());
        let sum = check_sum(&frame);
        frame.extend(sum.to_le_bytes());
        self.add(&frame)?;
        self.next = end;
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        let written =
            fault::injected(Operation::Write).and_then(|()| self.file.write_all(bytes));
        if let Err(error) = written {
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Hands over all blocks in order.
    pub(super) fn blocks(
        &self,
        kinds: &[Kind],
        mut take: impl FnMut(&Block) -> io::Result<()>,
    ) -> io::Result<()> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the journal is damaged");
        let mut frames = self.frames().map_err(|_| damaged())?;
        let mut case = None;
        while let Some(frame) = frames.next_any(case).map_err(|_| damaged())? {
            case = Some(frame.next);
            take(&Block::from_bytes(kinds, &frame.bytes).ok_or_else(damaged)?)?;
        }
        Ok(())
    }

    fn frames(&self) -> Result<Frames, NoJournal> {
        let mut reader = BufReader::with_capacity(1 << 16, File::open(&self.path)?);
        let (_, position) = read_head(&mut reader)?;
        let there = reader.get_ref().metadata()?.len();
        Ok(Frames { reader, position, there })
    }

    /// Removes the journal, whose table is at its place.
    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The manifest of a journal that is only read, and all its blocks.
pub(super) fn opened(path: &Path) -> Result<(String, Journal), NoJournal> {
    let file = File::open(path)?;
    let (manifest, length) = read_head(&mut BufReader::new(&file))?;
    Ok((manifest, Journal { path: path.to_owned(), file, length, next: 0 }))
}

/// A block as it is written.
struct Frame {
    next: u64,
    bytes: Vec<u8>,
}

struct Frames {
    reader: BufReader<File>,
    /// Where the next frame begins.
    position: u64,
    there: u64,
}

impl Frames {
    /// The next whole frame, which must begin with this case; `None` where the rest is only a part of one.
    fn next(&mut self, case: u64) -> Result<Option<Frame>, NoJournal> {
        self.next_any(Some(case))
    }

    fn next_any(&mut self, case: Option<u64>) -> Result<Option<Frame>, NoJournal> {
        let left = self.there - self.position;
        if left < 32 {
            return Ok(None);
        }
        let mut frame = vec![0; 24];
        self.reader.read_exact(&mut frame)?;
        let word = |i: usize| {
            let bytes = frame[8 * i..8 * i + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(bytes)
        };
        let (first, next, length) = (word(0), word(1), word(2));
        let damaged = || {
            let place = self.position;
            NoJournal::Damaged(format!("it is damaged at byte {place}"))
        };
        if length > LONGEST || next <= first || case.is_some_and(|case| case != first) {
            return Err(damaged());
        }
        if left < 32 + length {
            return Ok(None);
        }
        frame.resize(24 + length as usize, 0);
        self.reader.read_exact(&mut frame[24..])?;
        let mut sum = [0; 8];
        self.reader.read_exact(&mut sum)?;
        if u64::from_le_bytes(sum) != check_sum(&frame) {
            return Err(damaged());
        }
        self.position += 32 + length;
        frame.drain(..24);
        Ok(Some(Frame { next, bytes: frame }))
    }
}

fn head(manifest: &str) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend((manifest.len() as u64).to_le_bytes());
    head.extend(manifest.as_bytes());
    head.extend(check_sum(manifest.as_bytes()).to_le_bytes());
    head
}

/// The manifest, and the bytes of the head.
fn read_head(reader: &mut impl Read) -> Result<(String, u64), NoJournal> {
    let foreign = || NoJournal::Damaged("it is no journal of a sweep".into());
    let mut magic = [0; MAGIC.len()];
    let mut word = [0; 8];
    reader.read_exact(&mut magic).map_err(|_| foreign())?;
    if magic != MAGIC {
        return Err(foreign());
    }
    reader.read_exact(&mut word).map_err(|_| foreign())?;
    let length = u64::from_le_bytes(word);
    let mut manifest = Vec::new();
    reader.take(length.min(LONGEST)).read_to_end(&mut manifest)?;
    reader.read_exact(&mut word).map_err(|_| foreign())?;
    if u64::from_le_bytes(word) != check_sum(&manifest) {
        return Err(NoJournal::Damaged("its head is damaged".into()));
    }
    let bytes = MAGIC.len() as u64 + 16 + length;
    Ok((String::from_utf8(manifest).map_err(|_| foreign())?, bytes))
}

/// A sum in which every bit and its place count: not against malice, but against disks.
pub(super) fn check_sum(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    let mut mix = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 29;
    };
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| mix(u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(u64::from_le_bytes(last));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_sums_notice_every_bit_and_the_length() {
        let bytes: Vec<u8> = (0..29).collect();
        let sum = check_sum(&bytes);
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(check_sum(&other), sum, "{bit}");
        }
        assert_ne!(check_sum(&[bytes.as_slice(), &[0]].concat()), sum);
    }
}
