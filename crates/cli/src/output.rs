//! The two streams, and how a command ends.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use pfaff::{Diagnostic, Error, Motion, Note, Severity, Source};
use pfaff_present::commands_a_screen;

use crate::guard::{self, Phase};
use crate::options;

/// Mistakes that are shown before the rest is only counted.
const SHOWN: usize = 100;

/// Codes that the last line names.
const EXPLAINED: usize = 8;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    BadModel,
    BadUsage,
    StoppedEarly,
    AuditFailed,
}

impl Exit {
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::BadModel => 1,
            Self::BadUsage => 2,
            Self::StoppedEarly => 3,
            Self::AuditFailed => 4,
        }
    }
}

/// Writes a result. A reader that has gone away is no mistake of ours.
pub(crate) fn print(text: &str) -> Result<(), Exit> {
    guard::enter(Phase::Answer);
    let text = &visible(text, wants_colour());
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Exit::Done),
        Err(error) => Err(usage(&format!("standard output cannot be written: {error}"))),
    }
}

/// Writes a result that may be as long as memory, piece by piece, as [`print`].
pub(crate) fn print_all(
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), Exit> {
    guard::enter(Phase::Answer);
    let mut out = Shown { out: io::stdout().lock(), pieces: Vec::with_capacity(2 * PIECE) };
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Exit::Done),
        Err(error) => Err(usage(&format!("standard output cannot be written: {error}"))),
    }
}

/// Bytes of a result that are looked at together.
const PIECE: usize = 1 << 16;

/// A stream whose text has its control characters written out.
struct Shown<W> {
    out: W,
    /// What is not written yet; it may end within a character.
    pieces: Vec<u8>,
}

impl<W: io::Write> Shown<W> {
    fn pass(&mut self) -> io::Result<()> {
        let end = match std::str::from_utf8(&self.pieces) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8_lossy(&self.pieces[..end]);
        self.out.write_all(visible(&text, wants_colour()).as_bytes())?;
        self.pieces.drain(..end);
        Ok(())
    }
}

impl<W: io::Write> io::Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pieces.extend_from_slice(bytes);
        if self.pieces.len() >= PIECE {
            self.pass()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass()?;
        self.out.flush()
    }
}

/// Says something beside the result.
pub(crate) fn say(text: &str) {
    // NOTE: where standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{}", visible(&shortened(text), false));
}

/// Characters of a line that are said: what is quoted may be a line of megabytes.
const LONGEST: usize = 4_000;

/// The text with the middle of long lines left out.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST || text.lines().all(|line| line.len() <= LONGEST) {
        return Cow::Borrowed(text);
    }
    let short = |line: &str| {
        let count = line.chars().count();
        if count <= LONGEST {
            return line.to_owned();
        }
        let ends = LONGEST / 2;
        let (begin, end): (String, String) =
            (line.chars().take(ends).collect(), line.chars().skip(count - ends).collect());
        format!("{begin} … {} characters … {end}", count - 2 * ends)
    };
    Cow::Owned(text.lines().map(short).collect::<Vec<_>>().join("\n"))
}

/// The text with its control characters written out, as JSON writes them: names of files, texts of models and columns
/// of tables may hold sequences that command a terminal. Colours of our own are kept.
pub(crate) fn visible(text: &str, colours: bool) -> Cow<'_, str> {
    // NOTE: without a branch for each byte, because results have megabytes.
    let is_plain = |b: u8| matches!(b, b' '..=b'~' | b'\n' | b'\t');
    let all_plain = text.bytes().fold(true, |all, b| all & is_plain(b));
    if all_plain || !text.contains(commands_a_screen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    for (at, c) in text.char_indices() {
        if !commands_a_screen(c) || (colours && c == '\u{1b}' && begins_colour(&text[at..])) {
            shown.push(c);
        } else {
            let _ = write!(shown, "\\u{:04x}", c as u32);
        }
    }
    Cow::Owned(shown)
}

/// Whether the text begins with `ESC[…m`.
fn begins_colour(text: &str) -> bool {
    text.strip_prefix("\u{1b}[").is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    })
}

/// Initial values that are told one by one.
const TOLD: usize = 12;

/// Says what a run did that was not asked for. Of many initial values that follow from the constraints, or were moved
/// onto them, the first are told.
pub(crate) fn notes(motion: &Motion) {
    let mut values = 0;
    for (note, sentence) in motion.notes.iter().zip(pfaff_present::notes(motion)) {
        let is_value = matches!(note, Note::Solved { .. } | Note::Moved { .. });
        values += usize::from(is_value);
        if !is_value || values <= TOLD {
            say(&format!("note: {sentence}"));
        }
    }
    if values > TOLD {
        let more = values - TOLD;
        say(&format!(
            "note: {more} more initial values follow from the constraints; --json has them all"
        ));
    }
}

/// Whether results are shown in colours: in a terminal, unless `NO_COLOR` forbids it.
pub(crate) fn wants_colour() -> bool {
    allows_colour(io::stdout().is_terminal(), std::env::var_os("NO_COLOR").as_deref())
}

/// `NO_COLOR` counts when it is there and not empty, whatever it says.
fn allows_colour(terminal: bool, no_color: Option<&OsStr>) -> bool {
    terminal && no_color.is_none_or(OsStr::is_empty)
}

/// Words that are no command with its options.
pub(crate) fn mistaken(error: &clap::Error) {
    let no_color = std::env::var_os("NO_COLOR");
    let colours = allows_colour(io::stderr().is_terminal(), no_color.as_deref());
    let text = error.render();
    let text = if colours { text.ansi().to_string() } else { text.to_string() };
    // NOTE: where standard error is closed there is nobody to tell.
    let _ = write!(io::stderr().lock(), "{}", visible(&text, colours));
}

/// Wrong usage.
pub(crate) fn usage(message: &str) -> Exit {
    say(&format!("error: {message}"));
    Exit::BadUsage
}

/// Shows diagnostics, and says how to read more about the errors.
pub(crate) fn show(diagnostics: &[Diagnostic], source: &Source) {
    let source = options::named(source);
    for diagnostic in diagnostics.iter().take(SHOWN) {
        say(options::hinted(diagnostic, &source).render(&source).trim_end());
    }
    if diagnostics.len() > SHOWN {
        say(&format!("… and {} more", diagnostics.len() - SHOWN));
        // There reading ended.
        if let Some(end) = diagnostics[SHOWN..].iter().find(|d| d.code == "E0126") {
            say(end.render(&source).trim_end());
        }
    }
    let mut codes: Vec<&str> = Vec::new();
    for diagnostic in diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        if !codes.contains(&diagnostic.code) && codes.len() < EXPLAINED {
            codes.push(diagnostic.code);
        }
    }
    if !codes.is_empty() {
        say(&format!("for more: pfaff explain {}", codes.join(" ")));
    }
}

/// A result that could not be had.
pub(crate) fn failed(error: impl Into<Error>) -> Exit {
    match error.into() {
        Error::Text(errors) => {
            show(&errors.diagnostics, &errors.source);
            Exit::BadModel
        }
        Error::Usage(message) => {
            let exit = usage(&options::advised(&message));
            // NOTE: what was asked for may only need more time.
            if guard::was_asked_to_end() { Exit::StoppedEarly } else { exit }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_do_not_act() {
        assert_eq!(visible("a\tb\nc", false), "a\tb\nc");
        assert_eq!(visible("\u{1b}[2Jx\r\u{9b}1m", false), "\\u001b[2Jx\\u000d\\u009b1m");
        assert_eq!(
            visible("\u{1b}[31mred\u{1b}]0;t\u{7}", true),
            "\u{1b}[31mred\\u001b]0;t\\u0007"
        );
        assert_eq!(visible("\u{202e}evil", true), "\\u202eevil");
    }

    #[test]
    fn long_quotes_are_shortened() {
        let long = format!("first\n`{}` is no number", "é".repeat(1_000_000));
        let said = shortened(&long);
        assert!(said.len() < 10_000 && said.starts_with("first\n`éé"), "{}", said.len());
        assert!(said.ends_with("é` is no number") && said.contains(" characters … "));
        assert_eq!(shortened("a\nb"), "a\nb");
    }

    /// In pieces as in one: characters may be cut anywhere.
    #[test]
    fn pieces_are_shown_as_the_whole() {
        let text = "é\u{1b}[2J\u{202e}ab".repeat(20_000);
        for size in [1, 3, 7, 70_000] {
            let mut shown = Shown { out: Vec::new(), pieces: Vec::new() };
            for piece in text.as_bytes().chunks(size) {
                shown.write_all(piece).expect("a vector takes every byte");
            }
            shown.flush().expect("a vector takes every byte");
            let whole = visible(&text, false);
            assert!(shown.out == whole.as_bytes() && !whole.contains('\u{1b}'), "{size}");
        }
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        assert!(allows_colour(true, None));
        assert!(allows_colour(true, Some(OsStr::new(""))));
        assert!(!allows_colour(true, Some(OsStr::new("1"))));
        assert!(!allows_colour(true, Some(OsStr::new("0"))));
        assert!(!allows_colour(false, None));
    }
}
