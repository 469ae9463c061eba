//! Evaluations allocate nothing: counted by the allocator itself.
#![allow(unsafe_code, reason = "an allocator cannot be written without")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use pfaff_program::{Lanes, Program};
use support::{Random, Sample, codes};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the allocator of the system; counting touches a cell of this thread only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: the layout is the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: place and layout are the caller's.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(mut work: impl FnMut()) -> usize {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

#[test]
fn evaluations_allocate_nothing() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1.0; 9]))) > 0, "the counter counts");
    let mut random = Random(10);
    for _ in 0..50 {
        let Sample { graph, inputs, parameters, outputs } =
            Sample::random(&mut random, 100, true);
        let program = Program::compile(&graph, &inputs, &parameters, &outputs).unwrap();
        let mut run = program.interpreter(&[1.0; 3]);
        let mut batch = program.batch_interpreter(70, &[1.0; 3]);
        let x: Vec<f64> = (0..inputs.len() * 70).map(|_| random.argument()).collect();
        let mut found = vec![0.0; outputs.len() * 70];
        let count = allocations(|| {
            run.evaluate(&x[..inputs.len()], &mut found[..outputs.len()]);
            run.set_parameters(&[2.0; 3]);
            batch.evaluate(&x, &mut found);
        });
        assert_eq!(count, 0);
        for (_, native) in Lanes::ALL.into_iter().flat_map(|lanes| codes(&program, lanes)) {
            let (mut run, n) = (native.start(&[1.0; 3]), native.lanes().count());
            let count = allocations(|| {
                run.evaluate(&x[..inputs.len() * n], &mut found[..outputs.len() * n]);
                run.set_parameters(&[2.0; 24][..3 * n]);
            });
            assert_eq!(count, 0);
        }
    }
}
