//! Random inputs for `pfaff`: targets that libFuzzer and plain loops share.
//!
//! ```text
//! bytes ──► Target::run ──► nothing, or a panic that says what is wrong
//! ```
//!
//! Each [`Target`] takes bytes, which are a text or a list of choices, and must neither panic nor hang. libFuzzer
//! (`fuzz/fuzz_targets`) finds bytes by coverage; [`main`](crate::run::main) draws them from a seed, so that a count
//! and a seed name every case: `cargo xtask fuzz TARGET COUNT SEED`. Inputs that once failed are kept under
//! `fuzz/cases` and run by every test.

#![allow(clippy::print_stdout, reason = "the counts are what people read")]

pub mod choices;
pub mod run;
mod scratch;
mod soak;
mod targets;
pub mod tokens;
pub mod writer;

use choices::SplitMix;

/// What is tested with bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is done with the bytes. It panics where something is wrong.
    pub run: fn(&[u8]),
    /// Writes the input of a case, from numbers that look random, into room that was cleared.
    pub input: fn(&mut SplitMix, &mut Vec<u8>),
    /// How many cases a usual test takes.
    pub usual: u64,
    /// Cases between two notes of how far it came: more where a case takes microseconds.
    pub every: u64,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "text",
        run: targets::text::read,
        input: tokens::text,
        usual: 4_000,
        every: 1024,
    },
    Target {
        name: "model",
        run: targets::model::moves,
        input: choices::bytes,
        usual: 150,
        every: 16,
    },
    #[cfg(feature = "commands")]
    Target {
        name: "command",
        run: targets::command::answer,
        input: choices::bytes,
        usual: 60,
        every: 1,
    },
    #[cfg(feature = "commands")]
    Target {
        name: "command-line",
        run: targets::command_line::read,
        input: choices::bytes,
        usual: 300,
        every: 64,
    },
    #[cfg(feature = "commands")]
    Target {
        name: "table",
        run: targets::table::read,
        input: choices::bytes,
        usual: 300,
        every: 64,
    },
    Target {
        name: "tape",
        run: targets::tape::native,
        input: choices::bytes,
        usual: 600,
        every: 256,
    },
    Target {
        name: "cranelift",
        run: targets::tape::cranelift,
        input: choices::bytes,
        usual: 50,
        every: 64,
    },
    Target {
        name: "expression",
        run: targets::expression::rewritten,
        input: choices::bytes,
        usual: 300,
        every: 64,
    },
    #[cfg(feature = "commands")]
    Target {
        name: "format",
        run: targets::format::saved,
        input: choices::bytes,
        usual: 200,
        every: 16,
    },
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

impl Target {
    /// The input of a case of a seed.
    pub fn case(&self, seed: u64, case: u64) -> Vec<u8> {
        let mut input = Vec::new();
        self.draw(seed, case, &mut input);
        input
    }

    /// Writes the input of a case of a seed over what is there.
    pub fn draw(&self, seed: u64, case: u64, input: &mut Vec<u8>) {
        input.clear();
        (self.input)(&mut SplitMix::new(seed.wrapping_shl(40) ^ case), input);
    }
}
