//! No allocation per step: a run of many steps allocates no more than a short one.
//!
//! Each thread counts its own allocations, so that tests that run at the same time do not count.

#![allow(unsafe_code, reason = "an allocator that counts is unsafe by its trait")]

#[allow(dead_code, reason = "this test uses a small part")]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    // NOTE: constant, without a destructor: reading it allocates nothing.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System` by `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Events are kept, one after another; steps are not.
fn without_events(text: &str) -> String {
    let lines = text.lines().filter(|l| !l.starts_with("event"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Allocations between two step counts of one run: none.
#[test]
fn steps_do_not_allocate() {
    // A holonomic, an affine and a nonlinear constraint, so that every projection is at work.
    let texts = [
        without_events(pfaff::gallery_model("pendulum").expect("built in").text),
        pfaff::gallery_model("sleigh_centred").expect("built in").text.to_owned(),
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - 2*y\nconstraint x'^2 + y'^2 = 2.25\n\
         initial x' = 1.5\nsolve t = 0..4000"
            .to_owned(),
        // The other kinds of systems: reduced with more than one row, vakonomic, without constraints, and
        // equations as they stand.
        without_events(pfaff::gallery_model("trailers").expect("built in").text),
        without_events(pfaff::gallery_model("disk_vakonomic").expect("built in").text),
        without_events(pfaff::gallery_model("double_pendulum").expect("built in").text),
        // Charts that are changed again and again.
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - 3*x*y\nconstraint x*x' + y*y' + z*z' = 0\ninitial x = 1, y' = 1.3, z' = 0.4\nsolve t = 0..4000"
            .to_owned(),
        "coordinates x, y\nequation x'' = sin(t) - x - x'/4 - exp(-y^2)\nequation y' = tan(x/9) - y\ninitial x = 1\nsolve t = 0..4000"
            .to_owned(),
    ];
    let methods = ["dop853", "taylor"];
    for (text, method) in texts.iter().flat_map(|text| methods.map(|method| (text, method))) {
        let model = support::model(text);
        let request = pfaff::Run {
            t1: Some(if method == "taylor" { 20_000.0 } else { 4000.0 }),
            samples: Some(20),
            method: pfaff::Method::from_name(method),
            outputs_only: true,
            ..pfaff::Run::default()
        };
        let mut counts = [0; 3];
        // The first 130 steps fill the storage that is then used again; every chart has such of its own.
        let (warm, middle, end) =
            if text.contains("z*z'") { (4_000, 4_250, 4_500) } else { (130, 215, 300) };
        let mut watch = |_: f64, steps: usize| {
            let count = ALLOCATIONS.with(Cell::get);
            if let Some(place) = [warm, middle, end].iter().position(|&known| known == steps) {
                counts[place] = count;
            }
            true
        };
        let motion = pfaff::run(&model, &request, &mut watch).expect("a motion");
        let steps = motion.statistics.steps;
        assert!(steps > end, "{} by {method}: {steps} steps, {:?}", motion.title, motion.stop);
        // NOTE: what is evaluated once in many steps may become machine code in one of the halves.
        let least = (counts[1] - counts[0]).min(counts[2] - counts[1]);
        assert_eq!(least, 0, "{} by {method}: {counts:?}", motion.title);
    }
}
