//! Figures and pages of analyses as files.

use std::path::PathBuf;

use pfaff_present::{Figure, Look};

use crate::output::{Exit, say, usage};
use crate::whole_file::Place;

/// Pixels of a .png for each pixel of the figure.
const SCALE: f64 = 2.0;

/// Writes a figure: .svg, .pdf or .png by its ending.
pub(crate) fn write_figure(
    name: &str,
    inputs: &[PathBuf],
    figure: &Figure<'_>,
) -> Result<(), Exit> {
    let look = Look { width: 760.0, height: 480.0, ..Look::default() };
    let bytes = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("svg") => figure.to_svg(look).into_bytes(),
        Some("pdf") => figure.to_pdf(look),
        Some("png") => figure.to_png(look, SCALE),
        _ => return Err(usage(&format!("`{name}`: a figure must end in .svg, .pdf or .png"))),
    };
    write_bytes(name, inputs, &bytes)
}

/// Whether a name is that of a page.
pub(crate) fn is_page(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|ending| ending == "html")
}

/// Writes a page.
pub(crate) fn write_page(name: &str, inputs: &[PathBuf], page: &str) -> Result<(), Exit> {
    if !is_page(name) {
        return Err(usage(&format!("`{name}`: a page must end in .html")));
    }
    write_bytes(name, inputs, page.as_bytes())
}

fn write_bytes(name: &str, inputs: &[PathBuf], bytes: &[u8]) -> Result<(), Exit> {
    let place = Place::new(name, inputs)?;
    let written = place.write(bytes);
    written.map_err(|error| usage(&format!("`{name}` could not be written: {error}")))?;
    say(&format!("{name}: {:.0} kB", bytes.len() as f64 / 1e3));
    Ok(())
}

/// The command line as a shell would take it again.
pub(crate) fn command_line() -> String {
    let quoted = |word: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words: Vec<String> = std::env::args().skip(1).map(quoted).collect();
    format!("pfaff {}", words.join(" "))
}
