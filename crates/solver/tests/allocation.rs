//! The loop over steps does not allocate: a longer run takes as many allocations as a short one.
#![expect(unsafe_code, reason = "a counting global allocator cannot be written without")]

#[path = "ode/systems.rs"]
mod systems;

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

use pfaff_solver::{
    Control, DenseStep, EventKind, Lu, Method, Observer, OdeOptions, RankRevealing, StoredStep,
    System, integrate,
};
use systems::kepler;

thread_local! {
    /// Allocations of this thread; tests run side by side.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending has no counter any more; nothing here counts on it.
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's contract is passed on.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is passed on.
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(action: impl FnOnce()) -> usize {
    let before = COUNT.get();
    action();
    COUNT.get() - before
}

/// Looks at the middle of every step and keeps the last one.
struct Keep {
    y: [f64; 4],
    last: StoredStep,
}

impl Observer for Keep {
    fn step(&mut self, step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        step.state(0.5 * (step.start() + step.end()), &mut self.y);
        self.last.copy_from(step);
        Control::Continue
    }
}

#[test]
fn a_longer_run_does_not_allocate_more() {
    for method in [Method::Dop853, Method::Rk4, Method::Radau] {
        let count = |t1: f64| {
            let mut system = kepler().watching(&[EventKind::default(); 2], |_, y, g| {
                g.copy_from_slice(&[y[0], y[1]]);
            });
            let options = OdeOptions { t1, method, step: Some(0.01), ..OdeOptions::default() };
            let mut keep = Keep { y: [0.0; 4], last: StoredStep::default() };
            let mut steps = 0;
            let count = allocations(|| {
                let start = systems::ellipse(0.5);
                steps = integrate(&mut system, &start, &options, &mut keep).statistics.steps;
            });
            (steps, count)
        };
        let (short, long) = (count(1.0), count(200.0));
        assert!(long.0 > 10 * short.0, "{} and {} steps", short.0, long.0);
        assert_eq!(short.1, long.1);
        assert!(short.1 > 0, "the counter counts");
    }
}

#[test]
fn factorisations_are_repeated_without_allocation() {
    let a: Vec<f64> = (0..400).map(|i| f64::from((i * i + 7 * i) % 31) - 15.0).collect();
    let (mut lu, mut split) = (Lu::new(20), RankRevealing::default());
    split.factor(20, 20, &a, 1e-10);
    let mut x = vec![1.0; 20];
    let b = vec![1.0; 20];
    let count = allocations(|| {
        for _ in 0..10 {
            let regular = lu.factor(20, &a).is_ok();
            if regular {
                lu.solve(&mut x);
            }
            split.factor(20, 20, &a, 1e-10);
            split.solve(&b, &mut x);
        }
    });
    assert_eq!(count, 0);
}
