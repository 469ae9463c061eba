//! A motion → a file, `.csv`, `.json` or `.parquet`, written as the run goes on.
//!
//! **CSV** grows by whole lines (a kill in the midst of a write can leave a part of the last). **JSON** and
//! **Parquet** cannot grow and stay readable, so the whole file is written beside its place and then takes it
//! in one move. Whatever ends the program, the file on the disk is a readable one with what was computed up
//! to the last writing. Writing takes at most
//! a twentieth of the time of a run.
//!
//! What is no plain file (a device, a pipe) is written once, at the end. A disk that is full costs the file,
//! never the motion, which is still printed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pfaff::{Motion, Progress};
use pfaff_present::{FileFormat, motion_table, write_motion};

use crate::output::{Exit, say, usage};

/// The shortest time between two writings.
const PAUSE: Duration = Duration::from_millis(500);
/// A writing that takes this part of the time is the most that is allowed.
const SHARE: u32 = 20;

/// The file of `--output`.
pub(crate) struct OutputFile {
    name: String,
    path: PathBuf,
    format: FileFormat,
    place: Place,
    begun: Instant,
    next: Duration,
    /// Rows that a growing file has.
    rows: usize,
    failed: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Place {
    /// Lines are added to it.
    Grows,
    /// A new one is written at this path and moved to its place.
    Moves(PathBuf),
    /// Written in place, once.
    Once,
}

impl OutputFile {
    /// The file of this name, which must be writable. Nothing of an older file is lost yet.
    pub(crate) fn open(name: &str) -> Result<Self, Exit> {
        let ending = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
        let Some(format) = FileFormat::of(ending) else {
            let endings = FileFormat::ALL.map(|(_, ending)| format!(".{ending}"));
            let (last, first) = endings.split_last().expect("there are formats");
            let list = format!("{} or {last}", first.join(", "));
            return Err(usage(&format!("`{name}`: the output must end in {list}")));
        };
        // NOTE: through a link the file behind it is written, not the link replaced.
        let path = fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        let there = fs::metadata(&path).ok();
        let created = there.is_none();
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        if let Err(error) = opened {
            return Err(usage(&format!(
                "`{name}` cannot be written: {error}; nothing was computed"
            )));
        }
        if created {
            let _ = fs::remove_file(&path);
        }
        let plain = there.is_none_or(|m| m.is_file());
        let place = match (plain, format.grows()) {
            (false, _) => Place::Once,
            (true, true) => Place::Grows,
            (true, false) => beside(&path).map_or(Place::Once, Place::Moves),
        };
        Ok(Self {
            name: name.into(),
            path,
            format,
            place,
            begun: Instant::now(),
            next: PAUSE,
            rows: 0,
            failed: false,
        })
    }

    /// Writes what was computed so far, if it is time.
    pub(crate) fn update(&mut self, progress: &Progress<'_>) {
        let elapsed = self.begun.elapsed();
        if elapsed < self.next || self.failed || self.place == Place::Once {
            return;
        }
        let mut motion = progress.motion();
        motion.notes.push(pfaff::Note::Remark(
            "written during the run, which did not reach its end".into(),
        ));
        let done = self.write(&motion);
        self.report(done);
        let took = self.begun.elapsed().saturating_sub(elapsed);
        self.next = elapsed + PAUSE.max(SHARE * took);
    }

    /// Writes the whole motion; says whether that succeeded.
    pub(crate) fn finish(&mut self, motion: &Motion) -> bool {
        // NOTE: after a failure everything is written anew; there may be room again.
        let failed_before = std::mem::take(&mut self.failed);
        if failed_before {
            self.rows = 0;
        }
        let done = self.write(motion);
        self.report(done);
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

    fn write(&mut self, motion: &Motion) -> io::Result<()> {
        match self.place.clone() {
            Place::Grows => self.grow(motion),
            Place::Moves(part) => {
                let written = self.whole(motion, &part);
                let moved = written.and_then(|()| fs::rename(&part, &self.path));
                if moved.is_err() {
                    let _ = fs::remove_file(&part);
                }
                moved
            }
            Place::Once => self.whole(motion, &self.path),
        }
    }

    /// Adds the rows that the file does not have yet.
    fn grow(&mut self, motion: &Motion) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = if self.rows == 0 {
            options.write(true).create(true).truncate(true).open(&self.path)?
        } else {
            options.append(true).open(&self.path)?
        };
        let mut lines = Vec::new();
        motion_table(motion).write_csv(self.rows, &mut lines)?;
        file.write_all(&lines)?;
        self.rows = motion.t.len();
        Ok(())
    }

    fn whole(&self, motion: &Motion, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        write_motion(motion, self.format, &mut file)?;
        file.flush()
    }
}

/// A path in the same folder, if that can be written.
fn beside(path: &Path) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    File::create(&part).ok()?;
    let _ = fs::remove_file(&part);
    Some(part)
}
