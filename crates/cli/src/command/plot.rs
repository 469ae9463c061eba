//! `pfaff plot`

use clap::Args;
use pfaff::Motion;
use pfaff_present::Look;
use pfaff_present::report::{Still, figure_of, still};

use crate::arguments::{MotionArguments, times};
use crate::command::run::{request, watched};
use crate::input::Reading;
use crate::output::{Exit, say, usage};
use crate::whole_file::Place;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff plot sleigh -o path.svg --columns y --against x --equal
  pfaff plot sleigh -o speeds.pdf --columns \"x', y', phi'\"
  pfaff plot pendulum -o force.png --columns \"lambda(rod)\" --size 800x500 --scale 3
  pfaff plot sleigh -o both.svg                        all coordinates over time
  pfaff plot sleigh -o sleigh.svg --drawing 2,4,6      the system itself at these times

Columns are those of `pfaff run --output F.csv`: coordinates, x', x'', lambda(c), reaction(x), energy, work and
what is observed.")]
pub(crate) struct PlotArguments {
    #[command(flatten)]
    pub(crate) motion: MotionArguments,
    /// The figure: .svg, .pdf or .png by its ending
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// Columns to draw, such as "x, y'"; all coordinates if not given
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) columns: Option<String>,
    /// Draws the system itself instead of columns (.svg): at the last of these times, and faintly at the others
    #[arg(long, value_name = "TIMES", conflicts_with_all = ["columns", "against", "log", "equal", "title"])]
    #[arg(allow_hyphen_values = true)]
    pub(crate) drawing: Option<String>,
    /// The column on the horizontal axis
    #[arg(long, value_name = "COLUMN", default_value = "t")]
    pub(crate) against: String,
    /// Logarithmic vertical axis of absolute values
    #[arg(long)]
    pub(crate) log: bool,
    /// The same scale on both axes
    #[arg(long)]
    pub(crate) equal: bool,
    /// Width and height in pixels of 1/96 inch
    #[arg(long, value_name = "WxH", default_value = "640x400")]
    pub(crate) size: String,
    /// Pixels of a .png for each pixel of --size
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    pub(crate) scale: f64,
    /// A line above the figure
    #[arg(long)]
    pub(crate) title: Option<String>,
}

/// The longest side of a figure in pixels.
const LARGEST: f64 = 10_000.0;

enum Format {
    Svg,
    Pdf,
    Png,
}

pub(crate) fn plot(arguments: &PlotArguments) -> Result<Exit, Exit> {
    let name = &arguments.output;
    let format = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("svg") => Format::Svg,
        Some("pdf") => Format::Pdf,
        Some("png") => Format::Png,
        _ => return Err(usage(&format!("`{name}`: a figure must end in .svg, .pdf or .png"))),
    };
    let (width, height) = size(&arguments.size)?;
    let scale = arguments.scale;
    if !(scale > 0.0 && scale * width.max(height) <= LARGEST) {
        return Err(usage(&format!(
            "--scale {scale} gives an empty picture, or one of more than {LARGEST} pixels"
        )));
    }
    let request = request(&arguments.motion)?;
    let initial = arguments.motion.initial.as_deref();
    let Reading { model, inputs, .. } =
        crate::input::reading(&arguments.motion.model, initial)?;
    let place = Place::new(name, &inputs)?;
    let motion = watched(&model, &request, None)?;
    crate::output::notes(&motion);
    if let Some(text) = &arguments.drawing {
        let times = times(text)?;
        let Format::Svg = format else {
            return Err(usage(&format!("`{name}`: a drawing must end in .svg")));
        };
        let bytes = still(&model, &motion, &Still { width, height, times }).into_bytes();
        return written(name, &place, &bytes, &motion);
    }
    let columns = match arguments.columns.as_deref() {
        Some(text) => split(text),
        None => motion.q.iter().map(|s| s.name.clone()).collect(),
    };
    if columns.is_empty() {
        return Err(usage("--columns names no column"));
    }
    let mut figure = figure_of(&motion, &columns, &arguments.against, arguments.log)
        .map_err(|error| usage(&error.0))?;
    figure.equal = arguments.equal;
    figure.title = arguments.title.clone().unwrap_or_default();
    let look = Look { width, height, ..Look::default() };
    let bytes = match format {
        Format::Svg => figure.to_svg(look).into_bytes(),
        Format::Pdf => figure.to_pdf(look),
        Format::Png => figure.to_png(look, scale),
    };
    written(name, &place, &bytes, &motion)
}

fn written(name: &str, place: &Place, bytes: &[u8], motion: &Motion) -> Result<Exit, Exit> {
    place
        .write(bytes)
        .map_err(|error| usage(&format!("`{name}` could not be written: {error}")))?;
    let (size, verdict) = (bytes.len() as f64 / 1e3, motion.audit.verdict.name());
    say(&format!("{name}: {size:.0} kB, audit: {verdict}"));
    Ok(if motion.stop.reason.is_early() { Exit::StoppedEarly } else { Exit::Done })
}

/// `640x400`
fn size(text: &str) -> Result<(f64, f64), Exit> {
    let read =
        |word: &str| word.trim().parse::<f64>().ok().filter(|x| (40.0..=LARGEST).contains(x));
    let sides = text.split_once('x').and_then(|(w, h)| Some((read(w)?, read(h)?)));
    sides.ok_or_else(|| {
        usage(&format!(
            "`{text}` is not a size: write it as 640x400, each side from 40 to {LARGEST}"
        ))
    })
}

/// At the commas outside brackets.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_i32;
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth <= 0 {
            words.push(String::new());
        } else {
            words.last_mut().expect("there is always a last word").push(c);
        }
    }
    words.iter().map(|w| w.trim().to_owned()).filter(|w| !w.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_do_not_part() {
        assert_eq!(
            split("phi[1,2], x' ,lambda(c[1,2]),"),
            ["phi[1,2]", "x'", "lambda(c[1,2])"]
        );
        assert!(split(" , ").is_empty());
    }

    #[test]
    fn sizes() {
        assert_eq!(size("800x500").unwrap(), (800.0, 500.0));
        for bad in ["", "800", "axb", "1e9x3", "0x0", "-3x40", "nanx50"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
