//! `pfaff plot`

use std::collections::HashSet;
use std::path::PathBuf;

use clap::Args;
use pfaff::Motion;
use pfaff_present::report::{NamedTable, Still, figure_of, figure_of_tables, still};
use pfaff_present::{Block, Cells, Figure, Heading, Look};

use crate::arguments::{MotionArguments, times};
use crate::command::run::{request, watched};
use crate::input::Reading;
use crate::output::{Exit, say, usage};
use crate::table::{Ending, whole_table};
use crate::whole_file::Place;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff plot sleigh -o path.svg --columns y --against x --equal
  pfaff plot sleigh -o speeds.pdf --columns \"x', y', phi'\"
  pfaff plot pendulum -o force.png --columns \"lambda(rod)\" --size 800x500 --scale 3
  pfaff plot sleigh -o both.svg                        all coordinates over time
  pfaff plot sleigh -o sleigh.svg --drawing 2,4,6      the system itself at these times
  pfaff plot sleigh -o r.svg --columns \"x^2 + y^2\"      an expression of columns
  pfaff plot a.csv b.csv -o both.svg --columns x       saved runs, one over the other; .parquet and .arrow likewise

Columns are those of `pfaff run --output F.csv`: coordinates, x', x'', lambda(c), reaction(x), energy, work and
what is observed.")]
pub(crate) struct PlotArguments {
    #[command(flatten)]
    pub(crate) motion: MotionArguments,
    /// Further tables, where the first is one and no model
    #[arg(value_name = "TABLE")]
    pub(crate) tables: Vec<String>,
    /// The figure: .svg, .pdf or .png by its ending
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// Columns to draw or expressions of them, such as "x, y', x^2+y^2"; all coordinates if not given
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

/// The kind of a picture by its ending.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    Svg,
    Pdf,
    Png,
}

impl Format {
    /// The format of a file of this name.
    pub(crate) fn of(name: &str) -> Result<Self, Exit> {
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("svg") => Ok(Self::Svg),
            Some("pdf") => Ok(Self::Pdf),
            Some("png") => Ok(Self::Png),
            _ => Err(usage(&format!("`{name}`: a figure must end in .svg, .pdf or .png"))),
        }
    }
}

pub(crate) fn plot(arguments: &PlotArguments) -> Result<Exit, Exit> {
    let name = &arguments.output;
    let format = Format::of(name)?;
    let (width, height) = size(&arguments.size)?;
    let scale = arguments.scale;
    if !(scale > 0.0 && scale * width.max(height) <= LARGEST) {
        return Err(usage(&format!(
            "--scale {scale} gives an empty picture, or one of more than {LARGEST} pixels"
        )));
    }
    let look = Look { width, height, ..Look::default() };
    let first = &arguments.motion.model.model;
    if Ending::of(first).is_some() {
        let tables: Vec<&String> = std::iter::once(first).chain(&arguments.tables).collect();
        return saved(arguments, &tables, format, look);
    }
    if let Some(other) = arguments.tables.first() {
        return Err(usage(&format!(
            "`{first}` is no table, so `{other}` cannot be drawn over it"
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
    let bytes = drawn(arguments, &mut figure, format, look);
    written(name, &place, &bytes, &motion)
}

/// The bytes of a figure.
fn drawn(
    arguments: &PlotArguments,
    figure: &mut Figure<'_>,
    format: Format,
    look: Look,
) -> Vec<u8> {
    figure.equal = arguments.equal;
    figure.title = arguments.title.clone().unwrap_or_default();
    match format {
        Format::Svg => figure.to_svg(look).into_bytes(),
        Format::Pdf => figure.to_pdf(look),
        Format::Png => figure.to_png(look, arguments.scale),
    }
}

/// Draws tables over each other.
fn saved(
    arguments: &PlotArguments,
    names: &[&String],
    format: Format,
    look: Look,
) -> Result<Exit, Exit> {
    if arguments.drawing.is_some() {
        return Err(usage("--drawing needs a model, not a table"));
    }
    let inputs: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
    let place = Place::new(&arguments.output, &inputs)?;
    let tables = names.iter().map(|name| whole_table(name));
    let tables = tables.map(|table| table.map(with_gaps)).collect::<Result<Vec<_>, _>>()?;
    let shown: Vec<NamedTable<'_>> = names
        .iter()
        .zip(&tables)
        .map(|(name, (headings, block))| {
            let columns = headings.iter().zip(&block.columns);
            let numbers = columns.filter_map(|(heading, cells)| match cells {
                Cells::Numbers(values) => Some((heading.name.clone(), values.as_slice())),
                Cells::Integers(_) | Cells::Texts(_) => None,
            });
            ((*name).clone(), numbers.collect())
        })
        .collect();
    let columns = match arguments.columns.as_deref() {
        Some(text) => split(text),
        // The coordinates are the columns that have a velocity.
        None => {
            let all = &shown[0].1;
            let velocities: HashSet<&str> =
                all.iter().filter_map(|(name, _)| name.strip_suffix('\'')).collect();
            let names = all.iter().map(|(name, _)| name.clone());
            names
                .filter(|name| !name.ends_with('\'') && velocities.contains(name.as_str()))
                .collect()
        }
    };
    if columns.is_empty() {
        return Err(usage("--columns names no column"));
    }
    let mut figure = figure_of_tables(&shown, &columns, &arguments.against, arguments.log)
        .map_err(|error| usage(&error.0))?;
    let bytes = drawn(arguments, &mut figure, format, look);
    let name = &arguments.output;
    place
        .write(&bytes)
        .map_err(|error| usage(&format!("`{name}` could not be written: {error}")))?;
    say(&format!("{name}: {:.0} kB", bytes.len() as f64 / 1e3));
    Ok(Exit::Done)
}

/// The cases of a sweep with rows on the way are curves of their own: a row without numbers stands between them.
fn with_gaps((headings, block): (Vec<Heading>, Block)) -> (Vec<Heading>, Block) {
    let place = headings.iter().position(|heading| heading.name == "case");
    let runs: Vec<usize> = match place.map(|place| &block.columns[place]) {
        Some(Cells::Integers(cases)) => {
            cases.chunk_by(|a, b| a == b).map(<[i64]>::len).collect()
        }
        // In text they are numbers like others.
        Some(Cells::Numbers(cases)) => {
            cases.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
        }
        _ => return (headings, block),
    };
    if runs.iter().all(|rows| *rows == 1) {
        return (headings, block);
    }
    let apart = |cells: &Cells| match cells {
        Cells::Numbers(values) => {
            let mut rest = values.as_slice();
            let mut all = Vec::with_capacity(values.len() + runs.len());
            for rows in &runs {
                let (case, others) = rest.split_at(*rows);
                all.extend_from_slice(case);
                all.push(f64::NAN);
                rest = others;
            }
            Cells::Numbers(all)
        }
        other => other.clone(),
    };
    let columns = block.columns.iter().map(apart).collect();
    (headings, Block { columns })
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
pub(crate) fn split(text: &str) -> Vec<String> {
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
