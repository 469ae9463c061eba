//! Ctrl-C during a run: the run ends after its step, and what was computed is printed. A second one ends the
//! program at once.
//!
//! Listening costs a thread, which takes longer to start than a short run: whoever waits less than [`SOON`]
//! is interrupted as any other program is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static UNDERWAY: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// What a shell reports for a program that was ended by Ctrl-C: 128 + 2.
const ENDED_BY_INTERRUPT: i32 = 130;
/// A run that ends so soon has nothing to save from an interruption.
const SOON: Duration = Duration::from_millis(10);

/// Notices Ctrl-C, and listens for it once a run gets long.
pub(crate) struct Interrupt {
    since: Instant,
    listens: bool,
    /// Steps so far, and the one after which the clock is looked at again.
    steps: usize,
    next: usize,
}

impl Interrupt {
    /// Not yet listening.
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), listens: false, steps: 0, next: 1 }
    }

    /// Whether the run is to end; begins to listen when it is time.
    pub(crate) fn is_asked_to_end(&mut self) -> bool {
        self.steps += 1;
        if !self.listens && self.steps >= self.next {
            // Steps may take less time than looking at the clock: after many short ones it is looked at less often.
            self.next = self.steps + (self.steps / 4).clamp(1, 64);
            if self.since.elapsed() > SOON {
                listen();
                self.listens = true;
            }
        }
        asked()
    }
}

/// Listens to Ctrl-C, and to the signals by which a batch system ends a job.
pub(crate) fn listen() {
    let heard = || {
        let first = UNDERWAY.load(Ordering::SeqCst) && !ASKED.swap(true, Ordering::SeqCst);
        if !first {
            std::process::exit(ENDED_BY_INTERRUPT);
        }
    };
    // NOTE: where signals cannot be listened to, they end the program as they always did.
    let _ = ctrlc::set_handler(heard);
}

/// From here on, or up to here, an interruption ends the run and not the program.
pub(crate) fn underway(yes: bool) {
    UNDERWAY.store(yes, Ordering::SeqCst);
}

/// Whether the run is to end.
fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
