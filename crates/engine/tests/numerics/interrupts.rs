//! Work that is given up: deriving, reading, classifying, and runs inside of it.

use std::cell::Cell;
use std::rc::Rc;

use pfaff::{Model, Run, StopReason, derive, interruptible};

/// A chain of springs whose derivation takes some ten thousand nodes.
fn chain() -> Model {
    let text = "coordinates q[60]\n\
                lagrangian sum(i = 1..60, q[i]'^2/2) - sum(i = 2..60, (q[i] - sin(q[i-1]))^4)\n\
                initial q[1]' = 1\nsolve t = 0..1e9\n";
    Model::parse(text).expect("it is right")
}

/// Says yes so many times, and how often it was asked.
fn yes(times: usize) -> (impl Fn() -> bool + 'static, Rc<Cell<usize>>) {
    let count = Rc::new(Cell::new(0));
    let asked = Rc::clone(&count);
    let goes_on = move || {
        asked.set(asked.get() + 1);
        asked.get() <= times
    };
    (goes_on, count)
}

#[test]
fn deriving_is_given_up_and_leaves_the_model_as_it_was() {
    let model = chain();
    let (goes_on, asked) = yes(3);
    assert!(interruptible(goes_on, || derive(&model, None).is_ok()).is_none());
    assert_eq!(asked.get(), 4);
    let (goes_on, asked) = yes(usize::MAX);
    assert_eq!(interruptible(goes_on, || derive(&model, None).is_ok()), Some(true));
    assert!(asked.get() > 10, "{}", asked.get());
    // The same bits as those of a model that nobody has touched.
    let short = Run { max_steps: Some(5), samples: Some(3), ..Run::default() };
    let (a, b) = (model.run(&short).expect("a motion"), chain().run(&short).expect("a motion"));
    assert_eq!(a.columns(), b.columns());
}

#[test]
fn a_run_that_has_begun_ends_with_what_it_has() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n";
    let model = Model::parse(text).expect("a spring");
    let request = Run::to(1000.0);
    let (all, asked) = yes(usize::MAX);
    let whole = interruptible(all, || model.run(&request));
    assert_eq!(whole.expect("it ends").expect("a motion").stop.reason, StopReason::End);
    // Nothing while the equations are derived, then a part of the motion; at the end its audit is what is cut off.
    let found: Vec<Option<StopReason>> = (0..20)
        .map(|i| {
            let (some, _) = yes(asked.get() * i / 20);
            let part = interruptible(some, || model.run(&request))?;
            Some(part.expect("a motion").stop.reason)
        })
        .collect();
    assert_eq!(found[0], None);
    assert!(found.contains(&Some(StopReason::Interrupted)), "{found:?}");
    let begun = found.iter().position(Option::is_some).expect("it began");
    assert!(found[begun..].iter().all(Option::is_some), "{found:?}");
}
