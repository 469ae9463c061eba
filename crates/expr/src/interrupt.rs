//! Work that can be given up: while expressions grow, the caller is asked now and then whether to go on.
//!
//! Constructors give back expressions and no results, so there is no other way out of them than to unwind. Nothing
//! that others see is changed on that way: a model is frozen, and the graph that grew is dropped. Nobody is asked
//! outside of [`interruptible`].

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Says whether work is to go on.
type GoesOn = Rc<dyn Fn() -> bool>;

#[derive(Clone)]
struct Scope {
    goes_on: GoesOn,
    /// Whether work is given up. If not, it is only asked to end.
    unwinds: bool,
}

thread_local! {
    /// What the work of this thread is asked; none where it cannot be given up.
    static SCOPE: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// What unwinds.
struct GivenUp;

/// The result of some work in this thread, or `None` if `goes_on` said no before there was anything to show. Runs
/// within it end after their step, with what they have.
///
/// ```
/// use pfaff_expr::{Graph, interruptible};
/// let grown = interruptible(|| false, || {
///     let g = Graph::new();
///     (0..1000).fold(g.pi(), |sum, i| g.sin(g.add(sum, g.integer(i)))).index()
/// });
/// assert_eq!(grown, None);
/// assert_eq!(interruptible(|| true, || 2 + 2), Some(4));
/// ```
pub fn interruptible<T>(
    goes_on: impl Fn() -> bool + 'static,
    work: impl FnOnce() -> T,
) -> Option<T> {
    let outer = SCOPE.replace(None);
    let around = outer.as_ref().map(|outer| Rc::clone(&outer.goes_on));
    let _restored = Restored(outer);
    let goes_on = Rc::new(move || goes_on() && around.as_ref().is_none_or(|around| around()));
    SCOPE.set(Some(Scope { goes_on, unwinds: true }));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(cause) if cause.is::<GivenUp>() => None,
        Err(cause) => resume_unwind(cause),
    }
}

/// Some work that is not given up from the moment at which it calls the function that it gets: what it has by then
/// would be lost. From there on it asks [`is_interrupted`] itself.
pub fn with_shield<T>(work: impl FnOnce(fn()) -> T) -> T {
    let _restored = Restored(SCOPE.with_borrow(Clone::clone));
    work(|| {
        SCOPE.with_borrow_mut(|scope| {
            if let Some(scope) = scope {
                scope.unwinds = false;
            }
        });
    })
}

/// Whether the work around this is to end.
pub fn is_interrupted() -> bool {
    let goes_on =
        SCOPE.with_borrow(|scope| scope.as_ref().map(|scope| Rc::clone(&scope.goes_on)));
    goes_on.is_some_and(|goes_on| !goes_on())
}

/// Puts back what was there before, however the work ends.
struct Restored(Option<Scope>);

impl Drop for Restored {
    fn drop(&mut self) {
        SCOPE.set(self.0.take());
    }
}

/// Gives the work up if it is to end.
///
/// Called now and then in whatever an input can stretch.
pub fn checkpoint() {
    let unwinds = SCOPE.with_borrow(|scope| scope.as_ref().is_some_and(|scope| scope.unwinds));
    if unwinds && is_interrupted() {
        // NOTE: no panic: nothing is wrong, and no hook is called.
        resume_unwind(Box::new(GivenUp));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::Graph;

    fn grow(n: i64) -> usize {
        let g = Graph::new();
        let x = g.symbol("x", crate::Role::Free);
        let sum = (0..n).fold(x, |sum, i| g.add(g.sin(sum), g.integer(i)));
        g.size(&[sum])
    }

    #[test]
    fn work_is_given_up_when_it_is_asked() {
        let asked = Rc::new(Cell::new(0));
        let count = Rc::clone(&asked);
        let goes_on = move || {
            count.set(count.get() + 1);
            count.get() < 5
        };
        assert_eq!(interruptible(goes_on, || grow(1_000_000)), None);
        assert_eq!(asked.get(), 5);
        // Outside nobody is asked.
        assert!(grow(2_000) > 2_000);
        assert_eq!(asked.get(), 5);
    }

    #[test]
    fn an_outer_question_counts_inside() {
        let found = interruptible(|| false, || interruptible(|| true, || grow(2_000)));
        assert!(matches!(found, None | Some(None)));
        let shielded = interruptible(
            || false,
            || {
                with_shield(|shield| {
                    shield();
                    (grow(2_000), is_interrupted())
                })
            },
        );
        assert!(shielded.is_some_and(|(_, asked)| asked));
        let after = interruptible(
            || false,
            || {
                with_shield(|shield| shield());
                grow(2_000)
            },
        );
        assert_eq!(after, None);
    }

    #[test]
    fn other_panics_go_on() {
        let caught =
            catch_unwind(|| interruptible(|| true, || resume_unwind(Box::new("mine"))));
        assert!(caught.is_err_and(|cause| cause.is::<&str>()));
    }
}
