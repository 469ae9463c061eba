//! Faults for tests: the variable `PFAFF_FAULT` makes an operation on an output file fail, such as `write:2` the
//! second write and all later ones, or `write:2:eio` with another error than that of a full disk. Only debug builds
//! look at it.

use std::io;

/// What can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Write,
    Sync,
    Rename,
    /// The start of the thread that keeps the limits.
    Thread,
}

/// The failure that is asked for at this operation, if there is one.
#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "in debug builds it can fail")]
pub(crate) fn injected(_: Operation) -> io::Result<()> {
    Ok(())
}

/// The failure that is asked for at this operation, if there is one.
#[cfg(debug_assertions)]
pub(crate) fn injected(operation: Operation) -> io::Result<()> {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static ASKED: OnceLock<Option<(String, u32, String)>> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let asked = ASKED.get_or_init(|| {
        let text = std::env::var("PFAFF_FAULT").ok()?;
        let (word, rest) = text.split_once(':')?;
        let (count, kind) = rest.split_once(':').unwrap_or((rest, "enospc"));
        Some((word.to_owned(), count.parse().ok()?, kind.to_owned()))
    });
    let Some((word, from, kind)) = asked else { return Ok(()) };
    let name = match operation {
        Operation::Create => "create",
        Operation::Write => "write",
        Operation::Sync => "sync",
        Operation::Rename => "rename",
        Operation::Thread => "thread",
    };
    // NOTE: a disk that is full stays full, so all later ones fail as well.
    if word == name && COUNT.fetch_add(1, Ordering::Relaxed) + 1 >= *from {
        return Err(match kind.as_str() {
            "eio" => io::Error::from_raw_os_error(5),
            "edquot" => io::Error::from(io::ErrorKind::QuotaExceeded),
            "erofs" => io::Error::from(io::ErrorKind::ReadOnlyFilesystem),
            "efbig" => io::Error::from(io::ErrorKind::FileTooLarge),
            _ => io::Error::from(io::ErrorKind::StorageFull),
        });
    }
    Ok(())
}
