//! The workbench: questions about a model as JSON, and their answers.
//!
//! ```text
//! {"ask": "run", "text": "coordinates x …", "t1": 20} ─► Workbench::ask ─► {"motion": …, "drawing": …}
//! ```
//!
//! One page has two homes. In a browser this crate is a WebAssembly module in a worker (`border.rs`); behind
//! `pfaff studio` it answers over the loopback interface. Both speak the same JSON ([`Workbench::ask`]), so the
//! page does not know where it is.
//!
//! A question names everything that its answer depends on: nothing is remembered between questions but what saves
//! time.

/// Whether this build answers every question. The first module of a page does without what few pages ask for, and says
/// `elsewhere` to that: the page then loads the second one.
pub(crate) const WHOLE: bool = cfg!(feature = "whole");

#[cfg(target_arch = "wasm32")]
mod border;
mod equations;
mod export;
mod format;
mod handles;
mod motion;
mod outline;
mod question;
#[cfg(not(target_arch = "wasm32"))]
mod server;
mod workbench;

#[cfg(not(target_arch = "wasm32"))]
pub use server::Server;
pub use workbench::Workbench;

/// The page and its scripts, as they are served and put into exported files.
pub mod page {
    /// The page.
    pub const HTML: &str = include_str!("../dist/index.html");
    /// The page of lessons.
    pub const LESSONS: &str = include_str!("../dist/lessons.html");
    /// The script of the lessons.
    pub const LESSONS_SCRIPT: &str = include_str!("../dist/lessons.js");
    /// The looks of both.
    pub const STYLE: &str = include_str!("../dist/workbench.css");
    /// Its script.
    pub const SCRIPT: &str = include_str!("../dist/workbench.js");
    /// The script of the worker in which the engine runs where there is no server.
    pub const WORKER: &str = include_str!("../dist/worker.js");
}
