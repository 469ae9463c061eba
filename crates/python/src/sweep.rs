//! Sweeps: cases as the options give them → rows of one table, on all cores.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::PyArray1;
use pfaff::{CaseMotion, Cases, Ensemble, Progress, Run, Sampling, Settings, StopReason};
use pfaff_present::{Block, Cells, Keep, KeptMotion, SweepTable, json_text};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use serde_json::json;

use crate::fault::Fault;
use crate::interrupt::Watch;
use crate::options::Options;
use crate::source::ModelRead;

/// Rows of a sweep: the case after the last that is complete, and the columns.
pub(crate) struct Part {
    names: Vec<String>,
    next: u64,
    block: Block,
}

impl<'py> IntoPyObject<'py> for Part {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let columns = PyDict::new(py);
        for (name, cells) in self.names.iter().zip(self.block.columns) {
            match cells {
                Cells::Integers(values) => {
                    columns.set_item(name, PyArray1::from_vec(py, values))?;
                }
                Cells::Numbers(values) => {
                    columns.set_item(name, PyArray1::from_vec(py, values))?;
                }
                Cells::Texts(texts) => {
                    columns.set_item(name, texts.iter().collect::<Vec<_>>())?;
                }
            }
        }
        Ok((self.next, columns).into_pyobject(py)?.into_any())
    }
}

/// What the options ask for.
fn asked(options: &Options) -> Result<(Cases, Run, Keep), Fault> {
    let word = options.text("keep").unwrap_or_else(|| "final".into());
    let Some(&(keep, _)) = Keep::ALL.iter().find(|(_, name)| *name == word) else {
        let words: Vec<&str> = Keep::ALL.iter().map(|(_, word)| *word).collect();
        return Err(Fault::usage(format!(
            "there is no `{word}` to keep: choose {}",
            words.join(", ")
        )));
    };
    let mut cases = Cases::default();
    if let Some(names) = options.texts("table_names") {
        let columns = names
            .iter()
            .map(|name| {
                (name.clone(), options.numbers(&format!("table:{name}")).unwrap_or_default())
            })
            .collect();
        cases = cases.table(columns)?;
    }
    if let Some(text) = options.text("vary") {
        cases = cases.vary(&text)?;
    }
    if let Some(text) = options.text("draw") {
        let word = options.text("sampling").unwrap_or_else(|| "random".into());
        let Some(&(sampling, _)) = Sampling::ALL.iter().find(|(_, name)| *name == word) else {
            return Err(Fault::usage(format!(
                "there is no sampling `{word}`: choose random, sobol or latin"
            )));
        };
        let count = options.whole("count").unwrap_or(0) as u64;
        cases =
            cases.draw(&text, count, options.whole("seed").unwrap_or(0) as u64, sampling)?;
    }
    if cases.names().is_empty() {
        return Err(Fault::usage("a sweep needs something to vary"));
    }
    let mut run = options.run(None)?;
    run.outputs_only = true;
    run.clock = None;
    run.with_last_state = keep == Keep::Final;
    let only_ends = matches!(keep, Keep::Final | Keep::Events | Keep::Audit);
    if only_ends && run.at.is_none() && run.samples.is_none() {
        run.samples = Some(2);
    }
    Ok((cases, run, keep))
}

/// The columns of a sweep and how many cases it has.
pub(crate) fn plan(model: &ModelRead, options: &Options) -> Result<String, Fault> {
    let (cases, run, keep) = asked(options)?;
    let ensemble = ensemble(model, &cases, run)?;
    let table = SweepTable::new(ensemble.first(), &ensemble.columns(), keep);
    let names: Vec<&str> = table.headings().iter().map(|h| h.name.as_str()).collect();
    Ok(json_text(&json!({
        "cases": cases.count(),
        "varied": ensemble.columns(),
        "columns": names,
    })))
}

fn ensemble<'a>(model: &'a ModelRead, cases: &Cases, run: Run) -> Result<Ensemble<'a>, Fault> {
    let text = &model.text;
    let ensemble = Ensemble::new(
        text.source.clone(),
        model.overrides.clone(),
        &text.files,
        cases,
        run.clone(),
    )?;
    if ensemble.first().terminal.is_empty() {
        Settings::of(ensemble.first(), &run)?;
    }
    Ok(ensemble)
}

/// The rows of the cases of a range, up to the first that was interrupted.
pub(crate) fn run(
    model: &ModelRead,
    options: &Options,
    range: Range<u64>,
    watch: &mut Watch,
) -> Result<Part, Fault> {
    let (cases, run, keep) = asked(options)?;
    let ensemble = ensemble(model, &cases, run)?;
    let table = SweepTable::new(ensemble.first(), &ensemble.columns(), keep);
    let end = range.end.min(cases.count());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.whole("threads").unwrap_or(0))
        .build()
        .map_err(|error| Fault::usage(format!("threads cannot be started: {error}")))?;
    let threads = pool.current_num_threads() as u64;
    let ended = AtomicBool::new(false);
    let mut block = table.block();
    let mut next = range.start;
    // Fewer cases of a part would leave lanes empty while the last of them end.
    let least = if table.takes_lanes() && ensemble.has_lanes() { 32 } else { 1 };
    let mut size = threads * least;
    while next < end {
        let to = (next + size).min(end);
        let grain = ((to - next) / (8 * threads)).max(least);
        let parts = (to - next).div_ceil(grain);
        let part = |i: u64| {
            let from = next + i * grain;
            rows(&ensemble, &cases, &table, from..(from + grain).min(to), &ended)
        };
        let begun = std::time::Instant::now();
        let done: Vec<(u64, Block)> =
            pool.install(|| (0..parts).into_par_iter().map(part).collect());
        for (i, (reached, rows)) in (0..).zip(&done) {
            block.extend(rows, 0, rows.rows());
            let from = next + i * grain;
            if *reached < (from + grain).min(to) {
                return Ok(part_of(&table, *reached, block));
            }
        }
        next = to;
        let whole = cases.count().max(1) as f64;
        if !watch.goes_on_now(|| (next as f64 / whole, next as f64)) {
            break;
        }
        // Batches of about a tenth of a second, so that Ctrl-C is heard.
        let factor = 0.1 / begun.elapsed().as_secs_f64().max(1e-6);
        size = ((size as f64 * factor.clamp(0.25, 4.0)) as u64).clamp(threads * least, 1 << 16);
    }
    Ok(part_of(&table, next, block))
}

fn part_of(table: &SweepTable, next: u64, block: Block) -> Part {
    let names = table.headings().iter().map(|heading| heading.name.clone()).collect();
    Part { names, next, block }
}

/// The rows of some cases, and the case after the last complete one.
fn rows(
    ensemble: &Ensemble<'_>,
    cases: &Cases,
    table: &SweepTable,
    range: Range<u64>,
    ended: &AtomicBool,
) -> (u64, Block) {
    let count = (range.end - range.start) as usize;
    let mut motions: Vec<Option<KeptMotion>> = (0..count).map(|_| None).collect();
    let mut values =
        |i: usize, own: &mut [f64]| cases.write_values(range.start + i as u64, own);
    let mut own = vec![0.0; cases.names().len()];
    if table.takes_lanes() && ensemble.has_lanes() {
        let goes_on = || !ended.load(Ordering::Relaxed);
        let mut done = |i: usize, motion: CaseMotion<'_>| motions[i] = Some(table.kept(motion));
        ensemble.run_cases((range.start, count), &mut values, &goes_on, &mut done);
    } else {
        for (i, place) in motions.iter_mut().enumerate() {
            let number = range.start + i as u64;
            let goes_on = &mut |_: &Progress<'_>| !ended.load(Ordering::Relaxed);
            values(i, &mut own);
            let motion = ensemble.motion_of(number, &own, goes_on);
            if matches!(&motion, Ok(m) if m.stop.reason == StopReason::Interrupted) {
                break;
            }
            *place = Some(KeptMotion::Single(Box::new(motion)));
        }
    }
    let mut block = table.block();
    for (i, motion) in motions.iter().enumerate() {
        let case = range.start + i as u64;
        let Some(motion) = motion else { return (case, block) };
        values(i, &mut own);
        table.push_case(&mut block, case, &own, motion);
    }
    (range.end, block)
}
