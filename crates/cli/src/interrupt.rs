//! Ctrl-C during a run: the run ends after its step, and what was computed is printed. A second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

static UNDERWAY: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// What a shell reports for a program that was ended by Ctrl-C: 128 + 2.
const ENDED_BY_INTERRUPT: i32 = 130;

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
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
