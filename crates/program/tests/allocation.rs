//! Evaluations allocate nothing: counted by the allocator itself.
#![allow(unsafe_code, reason = "an allocator cannot be written without")]

#[path = "main/support/mod.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use pfaff_program::Lanes;
use support::{Mix, PARAMETERS, Size, arguments, codes, draw, recipe};

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
    let size = Size { inputs: 4..5, operations: 100..101, reach: 12 };
    let mut arguments = draw(arguments(), 1).remove(0);
    for recipe in draw(recipe(Mix::All, size), 50) {
        let program = recipe.build().compile();
        let mut run = program.interpreter(&[1.0; PARAMETERS]);
        let mut batch = program.batch_interpreter(70, &[1.0; PARAMETERS]);
        let (inputs, outputs) = (program.inputs(), program.outputs());
        let x = arguments.take(inputs * 70);
        let mut found = vec![0.0; outputs * 70];
        let count = allocations(|| {
            run.evaluate(&x[..inputs], &mut found[..outputs]);
            run.set_parameters(&[2.0; PARAMETERS]);
            batch.evaluate(&x, &mut found);
        });
        assert_eq!(count, 0);
        for (_, native) in Lanes::ALL.into_iter().flat_map(|lanes| codes(&program, lanes)) {
            let (mut run, n) = (native.start(&[1.0; 3]), native.lanes().count());
            let count = allocations(|| {
                run.evaluate(&x[..inputs * n], &mut found[..outputs * n]);
                run.set_parameters(&[2.0; 24][..3 * n]);
            });
            assert_eq!(count, 0);
        }
    }
}
