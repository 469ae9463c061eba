//! Faults for tests: the variable `PFAFF_FAULT` makes an operation on an output file fail, such as `write:2` the
//! second write. Only debug builds look at it.

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

    static ASKED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let asked = ASKED.get_or_init(|| {
        let text = std::env::var("PFAFF_FAULT").ok()?;
        let (word, count) = text.split_once(':')?;
        Some((word.to_owned(), count.parse().ok()?))
    });
    let Some((word, from)) = asked else { return Ok(()) };
    let name = match operation {
        Operation::Create => "create",
        Operation::Write => "write",
        Operation::Sync => "sync",
        Operation::Rename => "rename",
        Operation::Thread => "thread",
    };
    // NOTE: a disk that is full stays full, so all later ones fail as well.
    if word == name && COUNT.fetch_add(1, Ordering::Relaxed) + 1 >= *from {
        return Err(io::Error::from(io::ErrorKind::StorageFull));
    }
    Ok(())
}
