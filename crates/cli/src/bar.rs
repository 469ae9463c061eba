//! The progress of a long run, on one line of standard error: part done, time reached, rate, time left.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use pfaff::Progress;
use pfaff_present::brief;

/// Runs that are over sooner show nothing.
const PATIENCE: Duration = Duration::from_millis(400);
/// The time between two pictures.
const PAUSE: Duration = Duration::from_millis(100);
const CELLS: usize = 20;

/// A bar that is drawn over itself.
pub(crate) struct Bar {
    begun: Instant,
    next: Duration,
    drawn: bool,
    text: String,
}

impl Bar {
    /// A bar, if standard error is a terminal that can draw over a line.
    pub(crate) fn new() -> Option<Self> {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let wanted = std::io::stderr().is_terminal() && !dumb;
        wanted.then(|| Self {
            begun: Instant::now(),
            next: PATIENCE,
            drawn: false,
            text: String::with_capacity(160),
        })
    }

    /// Draws the bar of a run if it is time.
    pub(crate) fn update(&mut self, progress: &Progress<'_>) {
        let (t, end) = (progress.t, progress.range().1);
        self.draw(|text, elapsed| line(text, progress.done(), t, end, progress.steps, elapsed));
    }

    /// Draws the bar of a sweep if it is time: of all its cases so many are done, some of them before.
    pub(crate) fn update_cases(&mut self, done: u64, before: u64, all: u64) {
        self.draw(|text, elapsed| cases(text, done, before, all, elapsed));
    }

    fn draw(&mut self, line: impl FnOnce(&mut String, Duration)) {
        let elapsed = self.begun.elapsed();
        if elapsed < self.next {
            return;
        }
        self.next = elapsed + PAUSE;
        self.drawn = true;
        self.text.clear();
        line(&mut self.text, elapsed);
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K{}", self.text);
    }

    /// Removes the bar.
    pub(crate) fn clear(&mut self) {
        if self.drawn {
            let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
            self.drawn = false;
        }
    }
}

fn cells(text: &mut String, done: f64) {
    let full = (done * CELLS as f64) as usize;
    let _ = write!(text, "{:3.0} % ", 100.0 * done);
    (0..CELLS).for_each(|cell| text.push(if cell < full { '█' } else { '░' }));
}

fn cases(text: &mut String, done: u64, before: u64, all: u64, elapsed: Duration) {
    cells(text, done as f64 / all.max(1) as f64);
    let rate = (done - before) as f64 / elapsed.as_secs_f64();
    let _ = write!(text, "  {done} of {all} cases, {} cases/s", brief(rate.round()));
    if done > before {
        text.push_str(", ");
        left(text, (all - done) as f64 / rate);
        text.push_str(" left");
    }
}

fn line(text: &mut String, done: f64, t: f64, end: f64, steps: usize, elapsed: Duration) {
    let done = done.clamp(0.0, 1.0);
    let seconds = elapsed.as_secs_f64();
    cells(text, done);
    let _ = write!(text, "  t = {} of {}", brief(t), brief(end));
    let _ = write!(text, ", {} steps/s", brief((steps as f64 / seconds).round()));
    if done > 0.0 {
        text.push_str(", ");
        left(text, seconds * (1.0 - done) / done);
        text.push_str(" left");
    }
}

fn left(text: &mut String, seconds: f64) {
    let _ = match seconds {
        s if s < 99.5 => write!(text, "{s:.0} s"),
        s if s < 99.5 * 60.0 => write!(text, "{:.0} min", s / 60.0),
        s if s < 99.5 * 3600.0 => write!(text, "{:.0} h", s / 3600.0),
        s => write!(text, "{:.0} days", s / 86400.0),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_tells_part_time_rate_and_what_is_left() {
        let mut text = String::new();
        line(&mut text, 0.25, 5.0, 20.0, 3000, Duration::from_secs(2));
        assert_eq!(text, " 25 % █████░░░░░░░░░░░░░░░  t = 5 of 20, 1500 steps/s, 6 s left");
        text.clear();
        cases(&mut text, 2500, 500, 10_000, Duration::from_secs(2));
        assert_eq!(
            text,
            " 25 % █████░░░░░░░░░░░░░░░  2500 of 10000 cases, 1000 cases/s, 8 s left"
        );
        text.clear();
        line(&mut text, 0.0, 0.0, 20.0, 0, Duration::from_secs(2));
        assert!(!text.contains("left"), "nothing is known yet: {text}");
    }
}
