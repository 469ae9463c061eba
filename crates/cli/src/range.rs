//! Ranges of a parameter: `v=0..10`, or `v=0..10:50` with a number of values.

use crate::output::{Exit, usage};

/// A parameter and the values between two ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParameterRange {
    pub(crate) name: String,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) count: Option<usize>,
}

/// The most values of a range.
const MOST: usize = 100_000;

impl ParameterRange {
    /// Reads `v=0..10:50`.
    pub(crate) fn read(option: &str, text: &str) -> Result<Self, Exit> {
        let wrong = || {
            usage(&format!(
                "{option}: `{text}` is not a range; write \"v=0..10\", or \"v=0..10:50\" for 50 values"
            ))
        };
        let number = |text: &str| match pfaff::evaluate(text, "", pfaff::Range::default()) {
            Ok(pfaff::Value::Number(x)) if x.is_finite() => Some(x),
            _ => None,
        };
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        let (from, rest) = rest.split_once("..").ok_or_else(wrong)?;
        let (to, count) = match rest.split_once(':') {
            Some((to, count)) => {
                (to, Some(count.trim().parse::<usize>().map_err(|_| wrong())?))
            }
            None => (rest, None),
        };
        let from = number(from).ok_or_else(wrong)?;
        let to = number(to).ok_or_else(wrong)?;
        if from == to {
            return Err(usage(&format!("{option}: the range `{text}` is empty")));
        }
        if count.is_some_and(|count| !(2..=MOST).contains(&count)) {
            return Err(usage(&format!("{option}: a range has from 2 to {MOST} values")));
        }
        Ok(Self { name: name.trim().to_owned(), from, to, count })
    }

    /// The values, evenly spaced, with both ends.
    pub(crate) fn values(&self, default: usize) -> Vec<f64> {
        let last = self.count.unwrap_or(default).max(2) - 1;
        let value = |i: usize| {
            if i == last {
                self.to
            } else {
                self.from + (self.to - self.from) * (i as f64 / last as f64)
            }
        };
        (0..=last).map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let range = ParameterRange::read("--vary", "v = 0..2*pi:3").expect("it is one");
        assert_eq!((range.name.as_str(), range.count), ("v", Some(3)));
        assert_eq!(range.values(9), [0.0, std::f64::consts::PI, std::f64::consts::TAU]);
        assert_eq!(
            ParameterRange::read("--vary", "a=-1..1").expect("it is one").values(5).len(),
            5
        );
        for bad in ["", "v", "v=1", "v=1..", "v=1..x", "v=1..1", "v=0..1:1", "v=0..1:x"] {
            assert!(ParameterRange::read("--vary", bad).is_err(), "{bad}");
        }
    }
}
