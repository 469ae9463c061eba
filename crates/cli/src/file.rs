//! A motion → a file, `.csv`, `.json`, `.parquet` or `.arrow`, written as the run goes on.
//!
//! Whatever ends the program, the file on the disk is whole: the older one, or one with what was computed up to the
//! last writing. **JSON**, **Parquet** and **Arrow** cannot grow and stay readable, so each writing makes the whole
//! file beside its place and moves it there. **CSV** grows, and two files take turns: the new rows are added to the one
//! that is not at its place, and then they change places. So every row is written twice, and no reader sees a part of
//! one. Writing takes at most a twentieth of the time of a run.
//!
//! A disk that is full costs the file, never the motion, which is still printed.
//!
//! Rows of a table that are on the disk need not be held any longer, in both files of a CSV table or in a [`Spool`] for
//! Parquet and Arrow: a run of any length takes the memory of [`WINDOW`] rows and of those that its audit looks at.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pfaff::{Motion, Progress};
use pfaff_present::{FileFormat, motion_table, write_motion};

use crate::guard;
use crate::output::{Exit, say, usage};
use crate::spool::Spool;
use crate::whole_file::{Part, Place};

/// The shortest time between two writings.
const PAUSE: Duration = Duration::from_millis(500);
/// A writing that takes this part of the time is the most that is allowed.
const SHARE: u32 = 20;

/// Rows that are not written yet, beyond which they are, whatever time that takes.
const WINDOW: usize = 200_000;

/// The file of `--output`.
pub(crate) struct OutputFile {
    name: String,
    format: FileFormat,
    place: Place,
    begun: Instant,
    next: Duration,
    turns: Turns,
    spool: Option<Spool>,
    failed: bool,
    /// The rows of the last writing.
    written: usize,
    /// Whether rows are in the file that the motion has no longer, and whether all are.
    streamed: bool,
    complete: bool,
}

/// Rows that are not written yet, beyond which they are: fewer where rows are long.
fn window(progress: &Progress<'_>) -> usize {
    let rows = (progress.rows - progress.first_row()).max(1);
    let bytes = (progress.bytes() / rows).max(1);
    WINDOW.min(guard::waiting_room() / bytes)
}

/// The two files of a table that grows.
#[derive(Default)]
struct Turns {
    /// The one to which rows are added next.
    hidden: Option<Growing>,
    /// The one that is at its place.
    shown: Option<Growing>,
}

struct Growing {
    part: Part,
    rows: usize,
}

impl OutputFile {
    /// The file of this name, which must be writable. Nothing of an older file is lost yet.
    pub(crate) fn open(name: &str, inputs: &[PathBuf]) -> Result<Self, Exit> {
        let ending = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
        let Some(format) = FileFormat::of(ending) else {
            let endings = FileFormat::ALL.map(|(_, ending)| format!(".{ending}"));
            let (last, first) = endings.split_last().expect("there are formats");
            let list = format!("{} or {last}", first.join(", "));
            return Err(usage(&format!("`{name}`: the output must end in {list}")));
        };
        Ok(Self {
            name: name.into(),
            format,
            place: Place::new(name, inputs)?,
            begun: Instant::now(),
            next: PAUSE,
            turns: Turns::default(),
            spool: None,
            failed: false,
            written: 0,
            streamed: false,
            complete: false,
        })
    }

    /// Whether rows that it has need not be held.
    pub(crate) fn streams(&self) -> bool {
        self.format.has_blocks()
    }

    /// Writes what was computed so far, if it is time.
    pub(crate) fn update(&mut self, progress: &Progress<'_>) {
        if progress.is_last {
            self.end(progress);
            return;
        }
        let elapsed = self.begun.elapsed();
        self.streamed = progress.first_row() > 0;
        // NOTE: a run of segments keeps all its rows, whatever is said, and is not to write them at every step.
        let window = window(progress);
        let is_new = progress.rows.saturating_sub(self.written) > window / 8;
        let is_full = self.streams() && is_new && progress.rows - progress.first_row() > window;
        // NOTE: a copy for which there is no memory is left out: the motion itself must still be ended.
        let has_room = is_full || guard::has_room(progress.bytes());
        if (elapsed < self.next && !is_full) || self.failed || !has_room {
            return;
        }
        let mut motion = progress.motion();
        motion.notes.push(pfaff::Note::Remark(
            "written during the run, which did not reach its end".into(),
        ));
        let done = if self.format.grows() {
            self.turns.grow(&self.place, &motion, progress.first_row(), false)
        } else if is_full || self.spool.is_some() {
            let is_time = elapsed >= self.next;
            self.spooled(&motion, progress.first_row())
                .and_then(|()| if is_time { self.unspooled(&motion, false) } else { Ok(()) })
        } else {
            self.write(&motion, false)
        };
        self.report(done);
        let kept = self.spool.as_ref().map(Spool::rows).or_else(|| self.turns.common());
        if !self.failed
            && let Some(row) = kept
            && row - progress.first_row() > window / 2
        {
            progress.forget(row);
        }
        self.written = progress.rows;
        let took = self.begun.elapsed().saturating_sub(elapsed);
        self.next = elapsed + PAUSE.max(SHARE * took);
    }

    /// Writes the last rows of a motion whose first ones are not held any more.
    fn end(&mut self, progress: &Progress<'_>) {
        self.streamed = progress.first_row() > 0;
        if self.streamed && !self.failed {
            let motion = progress.motion();
            let done = if self.spool.is_some() {
                self.spooled(&motion, progress.first_row())
            } else {
                self.turns.grow(&self.place, &motion, progress.first_row(), true)
            };
            self.complete = done.is_ok();
            self.report(done);
        }
    }

    /// Writes the whole motion; says whether that succeeded.
    pub(crate) fn finish(&mut self, motion: &Motion) -> bool {
        if self.streamed {
            if self.complete && self.spool.is_some() {
                let done = self.unspooled(motion, true);
                self.complete = done.is_ok();
                self.report(done);
            }
            (self.turns, self.spool) = (Turns::default(), None);
            return self.complete;
        }
        // NOTE: after a failure it is tried once more; there may be room again.
        self.failed = false;
        self.spool = None;
        let done = self.write(motion, true);
        self.report(done);
        self.turns = Turns::default();
        !self.failed
    }

    fn report(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            self.failed = true;
            say(&format!(
                "error: `{}` could not be written: {error}; the motion is printed to standard output instead",
                self.name
            ));
        }
    }

    /// Adds the rows that the spool does not have yet. The first row of the motion has the number `first`.
    fn spooled(&mut self, motion: &Motion, first: usize) -> io::Result<()> {
        let table = motion_table(motion);
        let spool = match self.spool.take() {
            Some(spool) => spool,
            None => Spool::new(&self.place, table.columns.len())?,
        };
        let spool = self.spool.insert(spool);
        spool.add(&table, spool.rows() - first)
    }

    /// Makes the file from the spool.
    fn unspooled(&mut self, motion: &Motion, last: bool) -> io::Result<()> {
        let spool = self.spool.as_mut().expect("only called where there is one");
        spool.write(&self.place, self.format, &motion_table(motion), last)
    }

    /// The last time what is written must also be on the disk.
    fn write(&mut self, motion: &Motion, last: bool) -> io::Result<()> {
        if self.format.grows() {
            return self.turns.grow(&self.place, motion, 0, last);
        }
        let mut file = BufWriter::new(self.place.part()?);
        write_motion(motion, self.format, &mut file)?;
        let mut part = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        if last {
            part.sync()?;
        }
        part.take_place()
    }
}

impl Turns {
    /// The rows that both files have.
    fn common(&self) -> Option<usize> {
        Some(self.hidden.as_ref()?.rows.min(self.shown.as_ref()?.rows))
    }

    /// Adds the rows that the hidden file does not have yet, and lets it take its place. The first row of the motion
    /// has the number `first`.
    fn grow(
        &mut self,
        place: &Place,
        motion: &Motion,
        first: usize,
        last: bool,
    ) -> io::Result<()> {
        let mut growing = match self.hidden.take() {
            Some(growing) => growing,
            None if first > 0 => {
                return Err(io::Error::other(
                    "it was moved, and its first rows are not held any more",
                ));
            }
            None => Growing { part: place.part()?, rows: 0 },
        };
        // NOTE: if this fails, the hidden file goes and the one at its place stays.
        let mut lines = BufWriter::with_capacity(1 << 18, &mut growing.part);
        let table = motion_table(motion);
        if growing.rows == 0 {
            table.write_csv(0, &mut lines)?;
        } else {
            table.write_csv_rows(growing.rows - first, &mut lines)?;
        }
        lines.flush()?;
        drop(lines);
        growing.rows = first + motion.t.len();
        if last {
            growing.part.sync()?;
            return growing.part.take_place();
        }
        let mut earlier = self.shown.take();
        growing.part.exchange_with(earlier.as_mut().map(|earlier| &mut earlier.part))?;
        self.shown = Some(growing);
        self.hidden = earlier.filter(|earlier| !earlier.part.is_placed());
        Ok(())
    }
}
