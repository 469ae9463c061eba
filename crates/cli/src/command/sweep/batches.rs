//! The cases of a sweep, batch by batch on all cores; while the rows of one batch are taken the next one runs.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use pfaff::{CaseMotion, Cases, Ensemble, StopReason};
use pfaff_present::{Block, KeptMotion, SweepTable};
use rayon::prelude::*;

use crate::bar::Bar;
use crate::guard::{self, Phase};
use crate::output::{Exit, usage};

/// The cases that are run, and how.
pub(super) struct Sweep<'a> {
    pub(super) ensemble: &'a Ensemble<'a>,
    pub(super) cases: &'a Cases,
    pub(super) table: &'a SweepTable,
    pub(super) range: Range<u64>,
    pub(super) threads: rayon::ThreadPool,
    /// Whether eight cases run at once in each thread, and how many of them had to be run by themselves.
    pub(super) in_lanes: bool,
    pub(super) alone: AtomicU64,
}

/// The time that a batch of cases is to take.
const BATCH: Duration = Duration::from_millis(500);
/// Fewest cases of a part in lanes: fewer would leave lanes empty while the last of them end.
const LEAST_IN_LANES: u64 = 32;
/// Most cases of a batch.
const LARGEST_BATCH: u64 = 1 << 17;
/// Most rows that a batch may have before it is made smaller.
const MOST_ROWS: usize = 1 << 18;

impl Sweep<'_> {
    /// How the cases were run.
    pub(super) fn how(&self) -> String {
        let threads = match self.threads.current_num_threads() {
            1 => "1 thread".to_owned(),
            n => format!("{n} threads"),
        };
        let what = match self.alone.load(Ordering::Relaxed) {
            0 if self.in_lanes => "eight at once in lanes".to_owned(),
            alone if self.in_lanes => {
                format!("eight at once in lanes, {alone} of them again one by one")
            }
            _ if self.ensemble.is_prepared() => "one by one, compiled once".to_owned(),
            _ => "one by one, each compiled anew".to_owned(),
        };
        format!("{what}, {threads}")
    }

    /// Runs the cases from `first` on and hands over the rows of complete ones, with the case after the last of them.
    /// While some rows are taken the next cases run.
    pub(super) fn run(
        &self,
        first: u64,
        mut take: impl FnMut(u64, &Block) -> Result<(), Exit>,
    ) -> Result<u64, Exit> {
        guard::enter(Phase::Run);
        let (send, batches) = mpsc::sync_channel(1);
        let taken = thread::scope(|scope| {
            thread::Builder::new()
                .spawn_scoped(scope, move || self.compute(first, &send))
                .map_err(|error| no_threads(&error))?;
            let mut next = first;
            for (to, block) in batches.into_iter().flatten() {
                take(to, &block)?;
                next = to;
            }
            Ok(next)
        });
        guard::enter(Phase::Answer);
        taken
    }

    /// Computes the cases from `first` on and sends the rows of complete ones in order, until nobody takes them.
    fn compute(&self, first: u64, send: &SyncSender<Vec<(u64, Block)>>) {
        let mut bar = Bar::new();
        let Range { start, end } = self.range;
        let threads = self.threads.current_num_threads() as u64;
        let least = if self.in_lanes { LEAST_IN_LANES } else { 1 };
        let (mut next, mut size) = (first, threads * least);
        while next < end && !guard::is_asked_to_end() {
            let begun = Instant::now();
            let size_now = size.min(end - next);
            // Some parts for each thread, so that a long case leaves the others something to do.
            let grain = (size_now / (8 * threads)).max(least);
            let parts = size_now.div_ceil(grain);
            let part = |i: u64| {
                let from = next + i * grain;
                self.rows(from..(from + grain).min(next + size_now))
            };
            let mut done: Vec<(u64, Block)> =
                self.threads.install(|| (0..parts).into_par_iter().map(part).collect());
            let (mut reached, mut whole) = (next, 0);
            for (to, _) in &done {
                if *to == reached {
                    break;
                }
                let is_whole = *to == (reached + grain).min(next + size_now);
                (reached, whole) = (*to, whole + 1);
                if !is_whole {
                    break;
                }
            }
            done.truncate(whole);
            let rows: usize = done.iter().map(|(_, block)| block.rows()).sum();
            let took = begun.elapsed().max(Duration::from_micros(1));
            if send.send(done).is_err() {
                break;
            }
            next = reached;
            if let Some(bar) = &mut bar {
                bar.update_cases(next - start, first - start, end - start);
            }
            let factor = (BATCH.as_secs_f64() / took.as_secs_f64()).clamp(0.25, 4.0);
            let fitting = (size as f64 * factor) as u64;
            let by_rows = size * MOST_ROWS as u64 / (rows as u64).max(1);
            size = fitting.min(by_rows).clamp(threads * least, LARGEST_BATCH);
        }
        if let Some(bar) = &mut bar {
            bar.clear();
        }
    }

    /// The rows of some cases, up to the first that was interrupted, and the number of that.
    fn rows(&self, cases: Range<u64>) -> (u64, Block) {
        let count = (cases.end - cases.start) as usize;
        let mut motions: Vec<Option<KeptMotion>> = (0..count).map(|_| None).collect();
        let mut values = |i: usize, own: &mut [f64]| {
            self.cases.write_values(cases.start + i as u64, own);
        };
        let mut own = vec![0.0; self.cases.names().len()];
        let goes_on = || !guard::is_asked_to_end();
        if self.in_lanes {
            let mut done = |i: usize, motion: CaseMotion<'_>| {
                let is_alone = matches!(motion, CaseMotion::Single(_));
                self.alone.fetch_add(u64::from(is_alone), Ordering::Relaxed);
                motions[i] = Some(self.table.kept(motion));
            };
            self.ensemble.run_cases((cases.start, count), &mut values, &goes_on, &mut done);
        } else {
            for (i, place) in motions.iter_mut().enumerate() {
                let number = cases.start + i as u64;
                values(i, &mut own);
                let motion = self.ensemble.motion_of(number, &own, &mut |_| goes_on());
                let is_over =
                    matches!(&motion, Ok(m) if m.stop.reason == StopReason::Interrupted);
                if is_over || !goes_on() {
                    break;
                }
                *place = Some(KeptMotion::Single(Box::new(motion)));
            }
        }
        let mut block = self.table.block();
        for (i, motion) in motions.iter().enumerate() {
            let case = cases.start + i as u64;
            let Some(motion) = motion else { return (case, block) };
            values(i, &mut own);
            self.table.push_case(&mut block, case, &own, motion);
        }
        (cases.end, block)
    }
}

/// Threads that cannot be started.
pub(super) fn no_threads(error: &dyn std::fmt::Display) -> Exit {
    usage(&format!("threads cannot be started: {error}"))
}
