//! `pfaff sweep`

mod batches;
mod given;
mod journal;
mod manifest;
mod merge;
mod pictures;
mod table_file;

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use clap::Args;
use pfaff::{Ensemble, Overrides, Run, Settings};
use pfaff_present::{Block, Heading, Keep, SweepSummary, SweepTable, json_text};
use serde_json::{Value, json};

use crate::arguments::MotionArguments;
use crate::command::sweep::batches::{Sweep, no_threads};
use crate::command::sweep::given::{bytes, cases};
use crate::command::sweep::journal::{Journal, NoJournal};
use crate::command::sweep::pictures::Pictures;
use crate::command::sweep::table_file::{TableFile, is_as_written, refused, write_manifest};
use crate::input::ModelText;
use crate::output::{Exit, failed, print, print_all, say, usage};
use crate::table::ending;
use crate::whole_file::Place;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff sweep sleigh --vary \"a=0.1..0.5:50\" --keep final --output a.parquet
  pfaff sweep sleigh --vary \"a=0.01..1:7:log, x'(0)=[1, 2]\" --output a.csv     the product: 14 cases
  pfaff sweep sleigh --draw \"a~normal(0.2,0.01), phi~uniform(0,2*pi)\" --count 1000 --seed 7 --output a.csv
  pfaff sweep sleigh --cases cases.csv --keep samples --output a.parquet       a row of the table is a case
  pfaff sweep sleigh --vary \"a=0.1..0.5:50\"                                    JSON: a list for each column
  pfaff sweep sleigh --vary \"a=0.1..0.5:50\" --chunk 2/8 --output part2.csv     one of eight parts
  pfaff sweep --merge part*.csv --output whole.csv                             all of them

What is varied is a parameter (a, J[1,2]) or a value at the start (x, x', mu(c), also written x'(0)). Cases are the
product of the rows of --cases, of the ranges of --vary and of the draws, the last varying fastest. Ranges are
a=FROM..TO:COUNT, with :log for equal ratios, or a=[1, 2, 5]. Distributions are uniform(low, high), normal(mean,
deviation), loguniform(low, high), lognormal(mean, deviation) and exponential(mean).

A table has the columns case (from 1), each varied name, stop, t, what is kept, and audit. A case is what `pfaff run`
gives with these values, up to the tolerance. One that cannot begin is a row whose stop is the diagnostic; the others go
on. The manifest F.manifest.json beside the table F has everything that the table depends on.

Complete cases are kept in F.sweep until the table is written. Ctrl-C, --seconds and --memory end the sweep and write a
table of what is complete; --resume goes on, also after a crash, and gives the same bytes as a sweep that was not
ended. If the disk is full, `pfaff sweep --merge F.sweep --output G.csv` reads what was complete.

Exit status: 0 done, 1 the model or its data is wrong, or no case could begin, 2 wrong usage or a file that cannot be
written, 3 the sweep was ended early, 4 an audit failed and --strict was given.")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct SweepArguments {
    #[command(flatten)]
    pub(crate) motion: MotionArguments,
    /// With --merge: further tables of chunks
    #[arg(value_name = "PART", requires = "merge")]
    pub(crate) parts: Vec<String>,
    /// Ranges of values, such as "a=0.1..0.5:50, x'=[1, 2]"
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true)]
    pub(crate) vary: Option<String>,
    /// Random values, such as "a~normal(0.2,0.01), phi~uniform(0,2*pi)"
    #[arg(long, value_name = "DRAWS", allow_hyphen_values = true, requires = "count")]
    pub(crate) draw: Option<String>,
    /// How many draws
    #[arg(long, value_name = "N", requires = "draw", allow_hyphen_values = true)]
    pub(crate) count: Option<String>,
    /// How draws fill their space: random, sobol or latin
    #[arg(long, value_name = "KIND", default_value = "random", requires = "draw")]
    pub(crate) sampling: String,
    /// A table of cases, .csv, .parquet or .arrow, with the names of what is varied as columns
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Option<String>,
    /// What is kept of each motion: final, samples, events, observe or audit
    #[arg(long, value_name = "WHAT", default_value = "final")]
    pub(crate) keep: String,
    /// The table: .csv, .parquet or .arrow; without it JSON is printed
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Goes on with a sweep that was ended
    #[arg(long, requires = "output")]
    pub(crate) resume: bool,
    /// Runs one part of the cases only, such as 2/8
    #[arg(long, value_name = "I/N", requires = "output", allow_hyphen_values = true)]
    pub(crate) chunk: Option<String>,
    /// Puts the tables of all chunks together
    #[arg(long, conflicts_with_all = ["vary", "draw", "cases", "chunk", "resume"])]
    pub(crate) merge: bool,
    /// Threads; as many as there are cores if not given
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Runs each case by itself, not eight at once in lanes
    #[arg(long)]
    pub(crate) single: bool,
    /// Draws the table: .svg, .pdf or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<String>,
    /// What is drawn: fan, heat, histogram, basins or overlay; what suits the table if not given
    #[arg(long, value_name = "KIND", requires = "plot")]
    pub(crate) plot_as: Option<String>,
    /// Columns to draw or expressions of them, such as "x, x^2+y^2"; the first coordinate if not given
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) columns: Option<String>,
    /// Writes a page with the figure, the first rows and the manifest
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<String>,
    /// Exit status 4 if an audit fails
    #[arg(long)]
    pub(crate) strict: bool,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn sweep(arguments: &SweepArguments) -> Result<Exit, Exit> {
    if arguments.merge {
        return merged(arguments);
    }
    let keep = word("--keep", &arguments.keep, &Keep::ALL)?;
    let pictures = Pictures::new(arguments)?;
    let request = request(arguments, keep)?;
    let table_bytes = arguments.cases.as_deref().map(bytes).transpose()?;
    let cases = cases(arguments)?;
    let text = ModelText::open(&arguments.motion.model.model)?;
    let overrides = Overrides {
        set: arguments.motion.model.set.clone(),
        initial: arguments.motion.initial.clone(),
    };
    let ensemble =
        Ensemble::new(text.source.clone(), overrides, text.files(), &cases, request.clone())
            .map_err(failed)?;
    crate::output::show(ensemble.first().remarks(), &ensemble.first().source);
    if ensemble.first().terminal.is_empty() {
        Settings::of(ensemble.first(), &request).map_err(failed)?;
    }
    if keep == Keep::Observe && ensemble.first().observed.is_empty() {
        return Err(usage("--keep observe keeps nothing: the model has no `observe`"));
    }
    let table = SweepTable::new(ensemble.first(), &ensemble.columns(), keep);
    duplicates(table.headings())?;
    let chunk = arguments.chunk.as_deref().map(chunk).transpose()?;
    let count = cases.count();
    let in_lanes = !arguments.single && table.takes_lanes() && ensemble.has_lanes();
    let given = manifest::Given { count, in_lanes, table: table_bytes.as_deref() };
    let whole = manifest::of(arguments, &text, &request, table.headings(), &given);
    let about = manifest::of_chunk(&whole, chunk);
    let range = match chunk {
        Some((i, n)) => part(i - 1, n, count)..part(i, n, count),
        None => 0..count,
    };
    crate::fault::injected(crate::fault::Operation::Thread)
        .map_err(|error| no_threads(&error))?;
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(given::threads(arguments)?)
        .build()
        .map_err(|error| no_threads(&error))?;
    let alone = AtomicU64::new(0);
    let sweep = Sweep {
        ensemble: &ensemble,
        cases: &cases,
        table: &table,
        range,
        threads,
        in_lanes,
        alone,
    };
    pictures.check(&sweep)?;
    match arguments.output.as_deref() {
        Some(name) => to_file(arguments, &sweep, name, &about, &text, &pictures),
        None => to_json(arguments, &sweep, &about, &pictures),
    }
}

/// Writes the table and its manifest.
fn to_file(
    arguments: &SweepArguments,
    sweep: &Sweep<'_>,
    name: &str,
    about: &Value,
    text: &ModelText,
    pictures: &Pictures,
) -> Result<Exit, Exit> {
    let form = ending(name)?;
    let mut inputs = text.inputs();
    inputs.extend(arguments.cases.iter().map(Into::into));
    let place = Place::new(name, &inputs)?;
    let beside = Place::new(&manifest::path_of(name), &inputs)?;
    let begun = Instant::now();
    let Some(mut journal) = begin(arguments, sweep, name, about)? else {
        say(&format!("note: `{name}` is complete"));
        return Ok(Exit::Done);
    };
    let before = journal.next;
    write_manifest(name, &beside, about)?;
    let end = sweep.range.end;
    let kept = Journal::path_of(name);
    let mut summary = SweepSummary::default();
    let headings = sweep.table.headings();
    let kinds: Vec<_> = headings.iter().map(|heading| heading.kind).collect();
    let mut rows = 0;
    let mut drawn = sweep.table.block();
    let mut table = TableFile::create(name, &place, form, headings, about)?;
    let mut add = |block: &Block| {
        rows += block.rows();
        pictures.take(&mut drawn, block);
        sweep.table.count(block, &mut summary);
        table.write(block)
    };
    journal.blocks(&kinds, &mut add).map_err(|error| refused(name, &error))?;
    let next = sweep.run(before, |to, block| {
        let written = journal.append(to, block).map_err(|error| (kept.display().to_string(), error));
        let written = written.and_then(|()| add(block).map_err(|error| (name.to_owned(), error)));
        written.map_err(|(file, error)| {
            let cases = journal.next - sweep.range.start;
            usage(&format!(
                "`{file}` could not be written: {error}; {cases} cases are complete, and --resume goes on with them"
            ))
        })
    })?;
    let bytes = table.finish()?;
    write_manifest(name, &beside, &manifest::with_table(about, bytes))?;
    let seconds = begun.elapsed().as_secs_f64();
    let rate = (next - before) as f64 / seconds;
    say(&format!("{} cases in {seconds:.2} s: {rate:.0} cases/s", next - before));
    let cases = next - sweep.range.start;
    if arguments.json {
        let answer = json!({
            "pfaff": env!("CARGO_PKG_VERSION"),
            "output": name,
            "cases": cases,
            "rows": rows,
            "stops": counts(&summary.stops),
            "audits": counts(&summary.audits),
            "runs": sweep.how(),
        });
        print(&(json_text(&answer) + "\n"))?;
    } else {
        print(&shown(name, cases, rows, &summary))?;
        print(&format!("runs   {}\n", sweep.how()))?;
    }
    pictures.write(sweep, &drawn, &summary, about)?;
    if next < end {
        say(&format!("note: {} of {} cases; --resume goes on", cases, end - sweep.range.start));
        return Ok(Exit::StoppedEarly);
    }
    journal.remove();
    exit(arguments, sweep, &summary)
}

/// The journal in which complete cases are kept; `None` if the table is there already.
fn begin(
    arguments: &SweepArguments,
    sweep: &Sweep<'_>,
    name: &str,
    about: &Value,
) -> Result<Option<Journal>, Exit> {
    let path = Journal::path_of(name);
    let (shown, first) = (path.display(), sweep.range.start);
    let manifest = json_text(about);
    let refused = |why: String| usage(&format!("`{shown}` cannot be gone on with: {why}"));
    if path.exists() && !arguments.resume {
        return Err(usage(&format!(
            "`{shown}` has cases of a sweep that was ended: --resume goes on with it, or remove that file"
        )));
    }
    if path.exists() {
        return match Journal::resume(&path, &manifest, first) {
            Ok(journal) if journal.next > sweep.range.end => {
                Err(refused("it has more cases than there are".into()))
            }
            Ok(journal) => Ok(Some(journal)),
            Err(NoJournal::Other(found)) => {
                let found = serde_json::from_str(&found).unwrap_or(Value::Null);
                let what = manifest::difference(about, &found);
                Err(refused(format!("it belongs to another sweep ({what})")))
            }
            Err(NoJournal::Damaged(why)) => {
                Err(refused(format!("{why}; remove it to begin again")))
            }
            Err(NoJournal::File(error)) => Err(refused(error.to_string())),
        };
    }
    if arguments.resume && Path::new(name).exists() {
        let there = crate::input::data(Path::new(&manifest::path_of(name))).ok();
        let there = there.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let no_table = |why: &str| usage(&format!("`{name}` cannot be gone on with: {why}"));
        let Some(there) = there else {
            return Err(no_table("it has no manifest, so it is not the table of a sweep"));
        };
        let (there, bytes) = manifest::without_table(there);
        if there != *about {
            let what = manifest::difference(about, &there);
            return Err(no_table(&format!("it is the table of another sweep ({what})")));
        }
        return match is_as_written(name, &bytes) {
            Ok(true) => Ok(None),
            Ok(false) => Err(no_table("its bytes have changed; remove it to begin again")),
            Err(error) => Err(no_table(&error.to_string())),
        };
    }
    let created = Journal::create(&path, &manifest, first);
    created.map(Some).map_err(|error| usage(&format!("`{shown}` cannot be written: {error}")))
}

/// Prints the table as JSON.
fn to_json(
    arguments: &SweepArguments,
    sweep: &Sweep<'_>,
    about: &Value,
    pictures: &Pictures,
) -> Result<Exit, Exit> {
    let mut whole = sweep.table.block();
    let next = sweep.run(sweep.range.start, |_, block| {
        whole.extend(block, 0, block.rows());
        Ok(())
    })?;
    let mut summary = SweepSummary::default();
    sweep.table.count(&whole, &mut summary);
    let words = json!({
        "pfaff": env!("CARGO_PKG_VERSION"),
        "model": sweep.ensemble.first().name(),
        "keep": arguments.keep,
        "cases": next - sweep.range.start,
        "stops": counts(&summary.stops),
        "audits": counts(&summary.audits),
    });
    // A column wins over what is said about the whole.
    print_all(|out| sweep.table.write_json_line(&words, &whole, out))?;
    pictures.write(sweep, &whole, &summary, about)?;
    if next < sweep.range.end {
        return Ok(Exit::StoppedEarly);
    }
    exit(arguments, sweep, &summary)
}

/// How a sweep ends of which every case was tried.
fn exit(
    arguments: &SweepArguments,
    sweep: &Sweep<'_>,
    summary: &SweepSummary,
) -> Result<Exit, Exit> {
    let begun = summary.audits.iter().any(|(word, _)| word != "unchecked");
    let refused = |word: &str| word == "refused" || word.starts_with('E');
    let stops = &summary.stops;
    if !begun && !stops.is_empty() && stops.iter().all(|(word, _)| refused(word)) {
        say("no case could begin; the first one says:");
        let values = sweep.cases.values(sweep.range.start);
        return match sweep.ensemble.motion(&values, &mut |_| true) {
            Err(error) => Err(failed(error)),
            Ok(_) => Ok(Exit::BadModel),
        };
    }
    let failed = summary.audits.iter().any(|(word, _)| word == "fail");
    Ok(if arguments.strict && failed { Exit::AuditFailed } else { Exit::Done })
}

fn counts(list: &[(String, u64)]) -> Value {
    Value::Object(list.iter().map(|(word, n)| (word.clone(), Value::from(*n))).collect())
}

fn shown(name: &str, cases: u64, rows: usize, summary: &SweepSummary) -> String {
    let list = |list: &[(String, u64)]| {
        let words: Vec<String> = list.iter().map(|(word, n)| format!("{word} {n}")).collect();
        words.join(", ")
    };
    format!(
        "{name}: {cases} cases, {rows} rows\nstop   {}\naudit  {}\n",
        list(&summary.stops),
        list(&summary.audits)
    )
}

/// What each run is asked for.
fn request(arguments: &SweepArguments, keep: Keep) -> Result<Run, Exit> {
    let mut request = crate::command::run::request(&arguments.motion)?;
    let only_ends = matches!(keep, Keep::Final | Keep::Events | Keep::Audit);
    if only_ends && request.at.is_none() && request.samples.is_none() {
        request.samples = Some(2);
    }
    request.with_last_state = keep == Keep::Final;
    request.clock = None;
    Ok(request)
}

/// `2/8`
fn chunk(text: &str) -> Result<(u64, u64), Exit> {
    let read = |word: &str| word.trim().parse::<u64>().ok();
    let numbers = text.split_once('/').and_then(|(i, n)| Some((read(i)?, read(n)?)));
    numbers.filter(|(i, n)| (1..=*n).contains(i)).ok_or_else(|| {
        usage(&format!("`{text}` is not a chunk: write 1/8 to 8/8 for the parts of eight"))
    })
}

/// Where the chunk after the first `i` of `n` begins.
fn part(i: u64, n: u64, count: u64) -> u64 {
    (u128::from(i) * u128::from(count) / u128::from(n)) as u64
}

/// The value of a word.
fn word<T: Copy>(option: &str, word: &str, all: &[(T, &'static str)]) -> Result<T, Exit> {
    let known = all.iter().find(|(_, name)| *name == word);
    known.map(|(value, _)| *value).ok_or_else(|| {
        let words: Vec<String> = all.iter().map(|(_, name)| format!("`{name}`")).collect();
        usage(&format!("{option} is `{word}`; it can be {}", words.join(", ")))
    })
}

/// Names of columns stand once.
fn duplicates(headings: &[Heading]) -> Result<(), Exit> {
    for (i, heading) in headings.iter().enumerate() {
        if headings[..i].iter().any(|other| other.name == heading.name) {
            let name = &heading.name;
            return Err(usage(&format!(
                "the table would have two columns `{name}`: give that name in the model another one"
            )));
        }
    }
    Ok(())
}

/// `--merge`, where the model may be left out.
fn merged(arguments: &SweepArguments) -> Result<Exit, Exit> {
    let first = arguments.motion.model.model.clone();
    let parts: Vec<String> =
        std::iter::once(first).chain(arguments.parts.iter().cloned()).collect();
    merge::merge(&parts, arguments.output.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_all_cases_once() {
        for (n, count) in [(1, 5), (3, 10), (7, 3), (8, 0)] {
            assert_eq!((part(0, n, count), part(n, n, count)), (0, count));
            assert!((1..=n).all(|i| part(i - 1, n, count) <= part(i, n, count)));
        }
        assert_eq!(chunk("2/8").unwrap(), (2, 8));
        for bad in ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", ""] {
            assert!(chunk(bad).is_err(), "{bad}");
        }
    }
}
