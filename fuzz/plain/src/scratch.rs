//! A folder of this process, in memory where the system has such, which goes with it as far as that can be.

use std::path::{Path, PathBuf};

/// The folder.
#[cfg(feature = "commands")]
pub(crate) fn folder() -> &'static Path {
    static FOLDER: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = path(std::process::id());
        std::fs::create_dir_all(&folder).expect("a folder for temporary files can be made");
        folder
    })
}

/// The folder of a process.
pub(crate) fn path(process: u32) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    place.join(format!("pfaff-fuzz-{process}"))
}

/// Writes a file of the folder.
#[cfg(feature = "commands")]
pub(crate) fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    path
}
