//! Time as the caller tells it. The engine has no clock of its own, so that it runs where there is none.

use pfaff_expr::is_interrupted;

/// A clock: seconds since any fixed moment.
///
/// ```
/// use std::sync::LazyLock;
/// use std::time::Instant;
/// use pfaff::{Clock, Model, Run};
/// static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// let clock = Clock(|| BEGIN.elapsed().as_secs_f64());
/// let model = Model::parse("coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n")?;
/// let motion = model.run(&Run::to(5.0).clock(clock))?;
/// assert!(motion.statistics.integrate_us > 0.0);
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock(pub fn() -> f64);

/// Whether work is to end: asked after every step of a run, and in the midst of searches. What is there by then is
/// given back. Deriving, and all other work that has no part to show, is ended by
/// [`interruptible`](crate::interruptible).
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use pfaff::{Interrupt, Model, Run, StopReason};
/// static ENOUGH: AtomicBool = AtomicBool::new(true);
/// let interrupt = Interrupt(|| ENOUGH.load(Ordering::Relaxed));
/// let model = Model::parse("coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n")?;
/// let motion = model.run(&Run::to(1e6).interrupt(interrupt))?;
/// assert_eq!(motion.stop.reason, StopReason::Interrupted);
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Interrupt(pub fn() -> bool);

impl Interrupt {
    /// Whether work is to end: by what was given, or by [`interruptible`](crate::interruptible) around it.
    pub(crate) fn is_asked(interrupt: Option<Self>) -> bool {
        interrupt.is_some_and(|Self(asked)| asked()) || is_interrupted()
    }
}

/// How long something takes; nothing where there is no clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    clock: Option<Clock>,
    begun: f64,
}

impl Stopwatch {
    pub(crate) fn start(clock: Option<Clock>) -> Self {
        Self { clock, begun: clock.map_or(0.0, |Clock(now)| now()) }
    }

    /// Since the start; 0 without a clock.
    pub(crate) fn seconds(&self) -> f64 {
        self.clock.map_or(0.0, |Clock(now)| now() - self.begun)
    }

    /// Since the start, for statistics.
    pub(crate) fn microseconds(&self) -> f64 {
        self.seconds() * 1e6
    }
}
