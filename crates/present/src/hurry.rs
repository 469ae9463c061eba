//! Answers that are wanted soon: parts that take long, as the equations of a model, are left out of them.

use pfaff_expr::{interruptible, with_shield};

/// Writes something. What takes long is left out, with a word about it, once `goes_on` says no; the rest is written in
/// any case.
pub fn hurried<T>(goes_on: impl Fn() -> bool + 'static, write: impl FnOnce() -> T) -> T {
    let shielded = || {
        with_shield(|shield| {
            shield();
            write()
        })
    };
    interruptible(goes_on, shielded).expect("nothing unwinds through a shield")
}

/// A part that can be left out; `None` if it was.
pub(crate) fn in_time<T>(write: impl FnOnce() -> T) -> Option<T> {
    interruptible(|| true, write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_parts_are_left_out_and_short_ones_written() {
        let long = || {
            let g = pfaff_expr::Graph::new();
            (0..2000).fold(g.pi(), |sum, i| g.sin(g.add(sum, g.integer(i)))).index()
        };
        let written = || (in_time(long).is_some(), in_time(|| 3), 2 + 2);
        assert_eq!(hurried(|| false, written), (false, Some(3), 4));
        assert_eq!(hurried(|| true, written), (true, Some(3), 4));
        assert_eq!(written(), (true, Some(3), 4));
        // What cannot be left out is written in any case.
        assert!(hurried(|| false, long) > 0);
    }
}
