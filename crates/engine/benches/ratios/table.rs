//! The table: what is compared with what, the times, their ratio and what it is held against.

use std::time::Instant;

/// One comparison.
pub(crate) struct Row {
    ours: String,
    rival: String,
    times: (f64, f64),
    limit: f64,
    note: String,
}

/// The first line.
pub(crate) fn head() {
    println!(
        "{:<34} {:<26} {:>10} {:>10} {:>7} {:>6}  error reached",
        "", "rival", "ours", "rival's", "ratio", "limit"
    );
}

impl Row {
    /// Nanoseconds of both, and what their ratio should not exceed.
    pub(crate) fn new(ours: &str, rival: &str, a: f64, b: f64, limit: f64) -> Self {
        Self {
            ours: ours.into(),
            rival: rival.into(),
            times: (a, b),
            limit,
            note: String::new(),
        }
    }

    /// With the largest difference of results.
    pub(crate) fn error(mut self, found: &[f64], wanted: &[f64]) -> Self {
        let pairs = found.iter().zip(wanted);
        let worst = pairs.fold(0.0_f64, |m, (a, b)| m.max((a - b).abs() / (1.0 + b.abs())));
        self.note = format!("{worst:.0e}");
        self
    }

    /// With something else to say.
    pub(crate) fn note(mut self, text: String) -> Self {
        self.note = text;
        self
    }

    /// Prints the line; an exclamation mark says that the limit is exceeded.
    pub(crate) fn print(&self) {
        let ratio = self.times.0 / self.times.1;
        let mark = if ratio > self.limit { "!" } else { "" };
        println!(
            "{:<34} {:<26} {:>10} {:>10} {ratio:>6.2}{mark:<1} {:>6}  {}",
            self.ours,
            self.rival,
            time(self.times.0),
            time(self.times.1),
            self.limit,
            self.note
        );
    }
}

fn time(ns: f64) -> String {
    if ns < 1e4 {
        format!("{ns:.1} ns")
    } else if ns < 1e6 {
        format!("{:.1} µs", ns / 1e3)
    } else {
        format!("{:.2} ms", ns / 1e6)
    }
}

/// The smallest means of both in nanoseconds, taken in turn so that both see the same machine.
pub(crate) fn pair(ours: &mut dyn FnMut(), rival: &mut dyn FnMut()) -> (f64, f64) {
    /// Rounds of both.
    const ROUNDS: usize = 150;
    let batch = |work: &mut dyn FnMut()| {
        let clock = Instant::now();
        work();
        let once = clock.elapsed().as_secs_f64().max(2e-8);
        (1e-4 / once).ceil() as usize
    };
    let counts = (batch(ours), batch(rival));
    let (mut a, mut b) = (f64::INFINITY, f64::INFINITY);
    let mean = |work: &mut dyn FnMut(), count: usize| {
        let clock = Instant::now();
        for _ in 0..count {
            work();
        }
        clock.elapsed().as_secs_f64() * 1e9 / count as f64
    };
    let begin = Instant::now();
    for round in 0..ROUNDS {
        a = a.min(mean(ours, counts.0));
        b = b.min(mean(rival, counts.1));
        if round >= 10 && begin.elapsed().as_secs_f64() > 3.0 {
            break;
        }
    }
    (a, b)
}
