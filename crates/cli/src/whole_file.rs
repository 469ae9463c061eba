//! Files that are whole or not there: written beside their place under a name that nobody can guess, synced, and
//! moved to their place in one step.
//!
//! What is no plain file is refused, and so are links: nothing is written anywhere but at the name that was given.
//! Files of runs that were killed are removed by the next one that writes to the same place.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::fault::{self, Operation};
use crate::guard;
use crate::output::{Exit, usage};

/// A place for a file, which nothing but a plain file holds.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    path: PathBuf,
}

impl Place {
    /// The place of this name.
    ///
    /// `inputs` are files that were read: they are not overwritten.
    pub(crate) fn new(name: &str, inputs: &[PathBuf]) -> Result<Self, Exit> {
        let refused = |why: &str| Err(usage(&format!("`{name}` cannot be written: {why}")));
        let path = PathBuf::from(name);
        if path.file_name().is_none() {
            return refused("this is not the name of a file");
        }
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_symlink() => {
                return refused(
                    "it is a link, and links are not followed; name the file itself",
                );
            }
            Ok(there) if !there.is_file() => {
                return refused("it is not a plain file");
            }
            Ok(there) if there.permissions().readonly() => {
                return refused("it is write-protected");
            }
            Ok(there) if inputs.iter().any(|input| is_same(input, &there)) => {
                return refused("it is read by this command; choose another name");
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return refused(&error.to_string()),
        }
        let place = Self { path };
        place.remove_old_parts();
        // NOTE: tried before anything is computed.
        match place.part() {
            Ok(_) => Ok(place),
            Err(error) => refused(&error.to_string()),
        }
    }

    /// Writes the whole file.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut part = self.part()?;
        part.write_all(bytes)?;
        part.sync()?;
        part.take_place()
    }

    /// Writes the whole file, piece by piece.
    pub(crate) fn write_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 18, self.part()?);
        write(&mut out)?;
        let mut part = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        part.sync()?;
        part.take_place()
    }

    /// An empty file beside the place.
    pub(crate) fn part(&self) -> io::Result<Part> {
        let (path, file) = loop {
            let path = self.path.with_file_name(self.part_name());
            fault::injected(Operation::Create)?;
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        guard::remember(path.clone());
        if let Ok(there) = fs::symlink_metadata(&self.path)
            && there.is_file()
        {
            let _ = file.set_permissions(there.permissions());
        }
        Ok(Part { place: self.path.clone(), path, file, placed: false })
    }

    /// `.motion.json.4711-1f6c09c1c9b4a0e2.part`: the process, and a random number.
    fn part_name(&self) -> OsString {
        let random = RandomState::new().build_hasher().finish();
        let mut name = self.part_prefix();
        name.push(format!("{}-{random:016x}.part", std::process::id()));
        name
    }

    fn part_prefix(&self) -> OsString {
        let mut name = OsString::from(".");
        name.push(self.path.file_name().unwrap_or_default());
        name.push(".");
        name
    }

    /// Removes what processes left that are no longer there.
    fn remove_old_parts(&self) {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return };
        let prefix = self.part_prefix();
        let Some(prefix) = prefix.to_str() else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let process = name
                .to_str()
                .and_then(|name| name.strip_prefix(prefix)?.strip_suffix(".part"))
                .and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
            if let Some(process) = process
                && Path::new("/proc/self").exists()
                && is_over(process)
            {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether a process has ended, also if nobody has asked yet how.
fn is_over(process: u32) -> bool {
    // NOTE: the state stands behind the name, which may have spaces and brackets of its own.
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

/// A file that has not got its place yet. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Part {
    place: PathBuf,
    path: PathBuf,
    file: File,
    placed: bool,
}

impl Part {
    /// What was written so far, to be read again.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn sync(&mut self) -> io::Result<()> {
        fault::injected(Operation::Sync)?;
        self.file.sync_all()
    }

    /// Moves the file to its place, where it replaces an older one.
    pub(crate) fn take_place(mut self) -> io::Result<()> {
        self.rename()?;
        // What a crash of the system leaves is the new file or the old one.
        let folder = self.place.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Moves the file to its place, from which `earlier` goes back to being a part, if the system can do that.
    pub(crate) fn exchange_with(&mut self, earlier: Option<&mut Self>) -> io::Result<()> {
        if let Some(earlier) = earlier {
            let back = earlier.path.clone();
            guard::remember(back.clone());
            // NOTE: somebody else may have put a file of theirs there in the meantime.
            let is_there = earlier.file.metadata().is_ok_and(|m| is_same(&self.place, &m));
            if is_there && fs::hard_link(&self.place, &back).is_ok() {
                earlier.placed = false;
            } else {
                guard::forget(&back);
            }
        }
        self.rename()
    }

    fn rename(&mut self) -> io::Result<()> {
        fault::injected(Operation::Rename)?;
        fs::rename(&self.path, &self.place)?;
        self.placed = true;
        guard::forget(&self.path);
        Ok(())
    }

    /// Whether the file is at its place.
    pub(crate) fn is_placed(&self) -> bool {
        self.placed
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fault::injected(Operation::Write)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.placed {
            let _ = fs::remove_file(&self.path);
            guard::forget(&self.path);
        }
    }
}

/// Whether a path leads to this file.
#[cfg(unix)]
fn is_same(path: &Path, there: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|m| (m.dev(), m.ino()) == (there.dev(), there.ino()))
}

/// Whether a path leads to this file, as far as can be told without numbers of files.
#[cfg(not(unix))]
fn is_same(path: &Path, there: &Metadata) -> bool {
    fs::metadata(path).is_ok_and(|m| {
        m.len() == there.len() && m.created().ok() == there.created().ok() && m.is_file()
    })
}
