//! Motions of an ensemble → rows of one table.
//!
//! Every table begins with `case` (from 1), the values that are varied, `stop` and `t`, and ends with `audit`. Between
//! them stands what is kept. Every case has a row: one that cannot begin has the diagnostic as its `stop`, and one
//! without events the time at which it ended; numbers that they do not have are missing.

use std::io::{self, Write};

use pfaff::{CaseMotion, Declarations, Error, EventRecord, LaneMotion, Motion, Verdict};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::json::write_text;
use crate::table::{Block, Cells, Heading, Kind};

/// What is kept of each motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The state in which it ended, and what is observed there.
    #[default]
    Final,
    /// States and what is observed at the output times.
    Samples,
    /// States and what is observed at the events.
    Events,
    /// What is observed at the output times.
    Observe,
    /// The checks of the audit.
    Audit,
}

impl Keep {
    /// All kinds with their words.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Final, "final"),
        (Self::Samples, "samples"),
        (Self::Events, "events"),
        (Self::Observe, "observe"),
        (Self::Audit, "audit"),
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::Samples => "samples",
            Self::Events => "events",
            Self::Observe => "observe",
            Self::Audit => "audit",
        }
    }
}

/// What is kept of the motion of a case until its rows are written.
#[derive(Debug)]
pub enum KeptMotion {
    /// In a lane.
    Lane(LaneMotion),
    /// By itself.
    Single(Box<Result<Motion, Error>>),
}

/// The table of an ensemble: its columns, and how motions become rows.
#[derive(Clone, Debug)]
pub struct SweepTable {
    keep: Keep,
    varied: usize,
    headings: Vec<Heading>,
    /// The names of the events and of the constraints.
    events: Vec<String>,
    constraints: Vec<String>,
}

impl SweepTable {
    /// The table of a model in which these quantities are varied.
    pub fn new(model: &Declarations, varied: &[String], keep: Keep) -> Self {
        let coordinates: Vec<String> =
            model.coordinates.iter().map(|c| c.name.clone()).collect();
        let observed: Vec<String> = model.observed.iter().map(|o| o.name.clone()).collect();
        let heading = |name: &str, kind| Heading { name: name.to_owned(), kind };
        let mut headings = vec![heading("case", Kind::Integer)];
        headings.extend(varied.iter().map(|name| heading(name, Kind::Number)));
        headings.push(heading("stop", Kind::Text));
        if keep == Keep::Events {
            headings.push(heading("event", Kind::Text));
            headings.push(heading("direction", Kind::Text));
        }
        headings.push(heading("t", Kind::Number));
        match keep {
            Keep::Final | Keep::Samples | Keep::Events => {
                headings.extend(coordinates.iter().map(|name| heading(name, Kind::Number)));
                let velocities = coordinates.iter().map(|name| format!("{name}'"));
                headings.extend(velocities.map(|name| heading(&name, Kind::Number)));
                headings.extend(observed.iter().map(|name| heading(name, Kind::Number)));
            }
            Keep::Observe => {
                headings.extend(observed.iter().map(|name| heading(name, Kind::Number)));
            }
            Keep::Audit => headings.extend([
                heading("check", Kind::Text),
                heading("value", Kind::Number),
                heading("limit", Kind::Number),
                heading("verdict", Kind::Text),
            ]),
        }
        headings.push(heading("audit", Kind::Text));
        let events = model.events.iter().map(|e| e.name.clone()).collect();
        let constraints = model.constraints.iter().map(|c| c.name.clone()).collect();
        Self { keep, varied: varied.len(), headings, events, constraints }
    }

    /// The columns.
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// No rows.
    pub fn block(&self) -> Block {
        Block::new(self.headings.iter().map(|heading| heading.kind))
    }

    /// Adds the rows of a case.
    pub fn push(
        &self,
        block: &mut Block,
        case: u64,
        values: &[f64],
        motion: &Result<Motion, Error>,
    ) {
        match motion {
            Ok(motion) => self.push_motion(block, case, values, motion),
            Err(error) => {
                let row = Row::begin(block, case, values).text(&diagnosis(error));
                row.skip_to_last(self.headings.len()).text(Verdict::Unchecked.name());
            }
        }
    }

    /// Keeps of a motion what its rows show.
    pub fn kept(&self, motion: CaseMotion<'_>) -> KeptMotion {
        let LaneMotion { t, event, state, checks, steps, events, .. } = match motion {
            CaseMotion::Single(motion) => return KeptMotion::Single(motion),
            CaseMotion::Lane(motion) => motion,
        };
        let (t, event, steps, errors) = (*t, *event, *steps, Vec::new());
        let empty = LaneMotion {
            t,
            event,
            state: Vec::new(),
            errors,
            checks: Vec::new(),
            steps,
            events: Vec::new(),
        };
        KeptMotion::Lane(match self.keep {
            Keep::Final => LaneMotion { state: state.clone(), ..empty },
            Keep::Audit => LaneMotion { checks: checks.clone(), ..empty },
            Keep::Events => LaneMotion { events: events.clone(), ..empty },
            Keep::Samples | Keep::Observe => empty,
        })
    }

    /// Adds the rows of a case that may have run in a lane.
    pub fn push_case(&self, block: &mut Block, case: u64, values: &[f64], motion: &KeptMotion) {
        match motion {
            KeptMotion::Single(motion) => self.push(block, case, values, motion),
            KeptMotion::Lane(motion) => self.push_lane(block, case, values, motion),
        }
    }

    fn push_lane(&self, block: &mut Block, case: u64, values: &[f64], motion: &LaneMotion) {
        let stop = if motion.event.is_some() { "event" } else { "end" };
        let audit = Verdict::Pass.name();
        match self.keep {
            Keep::Final => {
                let row = Row::begin(block, case, values).text(stop).numbers(&[motion.t]);
                row.numbers(&motion.state).text(audit);
            }
            Keep::Events => {
                if motion.events.is_empty() {
                    let row = Row::begin(block, case, values).text(stop).text("").text("");
                    row.numbers(&[motion.t]).skip_to_last(self.headings.len()).text(audit);
                }
                for event in &motion.events {
                    let direction = if event.direction > 0.0 { "rising" } else { "falling" };
                    let row = Row::begin(block, case, values).text(stop);
                    let row = row.text(&self.events[event.event]).text(direction);
                    row.numbers(&[event.t]).numbers(&event.state).text(audit);
                }
            }
            Keep::Audit => {
                for check in &motion.checks {
                    let row = Row::begin(block, case, values).text(stop);
                    let name = check.kind.name(&self.constraints);
                    let row = row.numbers(&[motion.t]).text(&name);
                    let row = row.numbers(&[check.value, check.limit]);
                    row.text(audit).text(audit);
                }
            }
            // NOTE: the states on the way are those of single runs.
            Keep::Samples | Keep::Observe => {}
        }
    }

    /// Whether motions in lanes have what is kept.
    pub fn takes_lanes(&self) -> bool {
        matches!(self.keep, Keep::Final | Keep::Events | Keep::Audit)
    }

    fn push_motion(&self, block: &mut Block, case: u64, values: &[f64], motion: &Motion) {
        let (stop, audit) = (motion.stop.reason.name(), motion.audit.verdict.name());
        let columns = self.headings.len();
        let before = block.rows();
        match self.keep {
            Keep::Final => {
                let last = motion.t.len().checked_sub(1);
                let t = last.map_or(motion.stop.t, |i| motion.t[i]);
                let mut row = Row::begin(block, case, values).text(stop).numbers(&[t]);
                let groups = [&motion.q, &motion.v, &motion.observed];
                for series in groups.into_iter().flatten() {
                    row = row.numbers(&[last.map_or(f64::NAN, |i| series.values[i])]);
                }
                row.skip_to_last(columns).text(audit);
            }
            Keep::Samples | Keep::Observe => {
                let states = self.keep == Keep::Samples;
                let groups = [&motion.q, &motion.v].into_iter().filter(|_| states);
                let groups: Vec<_> = groups.chain([&motion.observed]).collect();
                for (i, t) in motion.t.iter().enumerate() {
                    let mut row = Row::begin(block, case, values).text(stop).numbers(&[*t]);
                    for series in groups.iter().flat_map(|group| group.iter()) {
                        row = row.numbers(&series.values[i..=i]);
                    }
                    row.skip_to_last(columns).text(audit);
                }
            }
            Keep::Events => {
                for EventRecord { name, t, direction, q, v, observed, .. } in &motion.events {
                    let row = Row::begin(block, case, values).text(stop).text(name);
                    let row = row.text(direction).numbers(&[*t]);
                    let row = row.numbers(q).numbers(v).numbers(observed);
                    row.skip_to_last(columns).text(audit);
                }
            }
            Keep::Audit => {
                for check in &motion.audit.checks {
                    let row = Row::begin(block, case, values).text(stop);
                    let row = row.numbers(&[motion.stop.t]).text(&check.name);
                    let row = row.numbers(&[check.value, check.limit]);
                    row.text(check.verdict.name()).text(audit);
                }
            }
        }
        if block.rows() == before {
            // Nothing was to be kept, or the motion stopped before that: it is a row all the same.
            let mut row = Row::begin(block, case, values).text(stop);
            if self.keep == Keep::Events {
                row = row.text("").text("").numbers(&[motion.stop.t]);
            }
            row.skip_to_last(columns).text(audit);
        }
    }

    /// Writes an object of some words, and then of a list for each column, in one line. A column wins over a word.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_json_line(
        &self,
        words: &Value,
        block: &Block,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let names = self.headings.iter().map(|heading| heading.name.as_str());
        write_text(&Columns { words, names: names.collect(), block }, out)?;
        out.write_all(b"\n")
    }

    /// Counts the cases of some rows.
    pub fn count(&self, block: &Block, summary: &mut SweepSummary) {
        let (stop, audit) = (1 + self.varied, self.headings.len() - 1);
        let columns = (&block.columns[0], &block.columns[stop], &block.columns[audit]);
        let (Cells::Integers(cases), Cells::Texts(stops), Cells::Texts(audits)) = columns
        else {
            return;
        };
        for (row, case) in cases.iter().enumerate() {
            if summary.last == Some(*case) {
                continue;
            }
            summary.last = Some(*case);
            let stop = stops.get(row);
            // A diagnostic is counted by its code.
            let stop = stop.split_once(':').map_or(stop, |(code, _)| code);
            add(&mut summary.stops, stop);
            add(&mut summary.audits, audits.get(row));
        }
    }
}

/// Columns are written from where they are: as values they take many times their memory.
struct Columns<'a> {
    words: &'a Value,
    names: Vec<&'a str>,
    block: &'a Block,
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let column = |name: &str| {
            let place = self.names.iter().rposition(|known| *known == name)?;
            Some(Column(&self.block.columns[place]))
        };
        // NOTE: a column that replaces a word stands where that stood.
        let words = self.words.as_object();
        for (key, value) in words.into_iter().flatten() {
            match column(key) {
                Some(column) => map.serialize_entry(key, &column)?,
                None => map.serialize_entry(key, value)?,
            }
        }
        for (name, cells) in self.names.iter().zip(&self.block.columns) {
            if !words.is_some_and(|words| words.contains_key(*name)) {
                map.serialize_entry(name, &Column(cells))?;
            }
        }
        map.end()
    }
}

struct Column<'a>(&'a Cells);

impl Serialize for Column<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Cells::Integers(values) => serializer.collect_seq(values),
            Cells::Numbers(values) => serializer.collect_seq(values),
            Cells::Texts(texts) => serializer.collect_seq(texts.iter()),
        }
    }
}

fn add(counts: &mut Vec<(String, u64)>, word: &str) {
    match counts.iter_mut().find(|(known, _)| known == word) {
        Some((_, count)) => *count += 1,
        None => counts.push((word.to_owned(), 1)),
    }
}

/// How the cases of a table ended, by those that have rows.
#[derive(Clone, Debug, Default)]
pub struct SweepSummary {
    /// Reasons to stop, in the order in which they came, with the numbers of cases.
    pub stops: Vec<(String, u64)>,
    /// Verdicts of the audit, likewise.
    pub audits: Vec<(String, u64)>,
    last: Option<i64>,
}

/// The first mistake in one line: `E0601: no positions near …`.
fn diagnosis(error: &Error) -> String {
    match error.diagnostics().first() {
        Some(diagnostic) => format!("{}: {}", diagnostic.code, diagnostic.message),
        None => format!("refused: {error}"),
    }
}

/// A row that is being filled from the left.
struct Row<'a> {
    block: &'a mut Block,
    next: usize,
}

impl<'a> Row<'a> {
    fn begin(block: &'a mut Block, case: u64, values: &[f64]) -> Self {
        if let Cells::Integers(cases) = &mut block.columns[0] {
            cases.push(case as i64 + 1);
        }
        Self { block, next: 1 }.numbers(values)
    }

    fn numbers(mut self, values: &[f64]) -> Self {
        for value in values {
            if let Cells::Numbers(cells) = &mut self.block.columns[self.next] {
                cells.push(*value);
            }
            self.next += 1;
        }
        self
    }

    fn text(mut self, text: &str) -> Self {
        if let Cells::Texts(cells) = &mut self.block.columns[self.next] {
            cells.push(text);
        }
        self.next += 1;
        self
    }

    /// Leaves out everything but the last column.
    fn skip_to_last(mut self, columns: usize) -> Self {
        while self.next + 1 < columns {
            match &mut self.block.columns[self.next] {
                Cells::Integers(cells) => cells.push(0),
                Cells::Numbers(cells) => cells.push(f64::NAN),
                Cells::Texts(cells) => cells.push(""),
            }
            self.next += 1;
        }
        self
    }
}
