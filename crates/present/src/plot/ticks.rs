//! Scales and their ticks: a range of numbers → round numbers on an axis with short labels.
//!
//! Steps are 1, 2 or 5 times a power of ten. Where all labels would be long, a common power of ten, and a
//! common offset if need be, is taken out and told in the label of the axis.

use crate::number::{decimal, significant};

/// A range of numbers on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// The number at the beginning.
    pub(crate) low: f64,
    /// The number at the end.
    pub(crate) high: f64,
    /// Whether equal lengths are equal ratios.
    pub(crate) log: bool,
}

/// Marked numbers of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    /// Place from 0 to 1, and label.
    pub(crate) marks: Vec<(f64, String)>,
    /// Places of the marks between them, without labels.
    pub(crate) minor: Vec<f64>,
    /// What the label of the axis has to add, such as ` − 1.5, in 10⁻⁶`.
    pub(crate) unit: String,
}

impl Scale {
    /// The scale that shows all finite values, with a little room; drawn apart if they are equal.
    pub(crate) fn of(values: impl Iterator<Item = f64>, log: bool) -> Self {
        let shown = |x: &f64| x.is_finite() && (!log || *x > 0.0);
        let (mut low, mut high) = values
            .filter(shown)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        if low > high {
            (low, high) = if log { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        if log {
            let (mut a, mut b) = (libm::log10(low).floor(), libm::log10(high).ceil());
            if b - a < 1.0 {
                (a, b) = (a - 1.0, b + 1.0);
            }
            // NOTE: 10³⁰⁹ is no double, nor is 10⁻³²⁴.
            let power = |e: f64| libm::pow(10.0, e).clamp(f64::from_bits(1), f64::MAX);
            return Self { low: power(a), high: power(b), log };
        }
        let size = low.abs().max(high.abs());
        let within = |x: f64| x.clamp(-f64::MAX, f64::MAX);
        // Differences that are rounding alone make no picture.
        if high - low <= 1e-12 * size || size == 0.0 {
            let half = if size == 0.0 { 1.0 } else { 0.5 * size };
            return Self { low: within(low - half), high: within(high + half), log };
        }
        // NOTE: parts do not overflow where the whole does.
        let room = 0.04 * high - 0.04 * low;
        Self { low: within(low - room), high: within(high + room), log }
    }

    /// The scale from one end of the values to the other, without room.
    pub(crate) fn tight(self, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|x| x.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        if self.log || low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
            return self;
        }
        Self { low, high, ..self }
    }

    /// Where a number lies, 0 at the beginning and 1 at the end.
    pub(crate) fn place(self, x: f64) -> f64 {
        if self.log {
            let (a, b) = (libm::log10(self.low), libm::log10(self.high));
            return (libm::log10(x) - a) / (b - a);
        }
        // NOTE: halves do not overflow.
        (x / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
    }

    /// About `count` round numbers.
    pub(crate) fn ticks(self, count: usize) -> Ticks {
        if self.log { self.log_ticks(count) } else { self.linear_ticks(count) }
    }

    fn linear_ticks(self, count: usize) -> Ticks {
        let parts = count.max(1) as f64;
        let step = round_step(self.high / parts - self.low / parts);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        // NOTE: a step that vanishes beside its numbers would be taken for ever.
        let is_step = step.is_finite() && step > 0.0 && first.abs().max(last.abs()) < 1e15;
        if !is_step {
            return Ticks { marks: Vec::new(), minor: Vec::new(), unit: String::new() };
        }
        let size = self.low.abs().max(self.high.abs());
        // An offset where the labels would need more than six digits.
        let offset =
            if size / step > 1e6 { (self.low / step / 10.0).round() * 10.0 } else { 0.0 };
        let largest = (first - offset).abs().max((last - offset).abs()) * step;
        let exponent = libm::log10(largest.max(step)).floor();
        let small = libm::log10(step).floor();
        let power = if exponent >= 5.0 || small < -3.0 { exponent } else { 0.0 };
        let unit = libm::pow(10.0, power);
        let decimals = (power - small + 1e-9).floor().max(0.0) as usize;
        let mut marks = Vec::new();
        let mut k = first;
        while k <= last {
            let value = (k - offset) * step / unit;
            marks.push((self.place(k * step), typographic(&decimal(value, decimals))));
            k += 1.0;
        }
        let mut text = String::new();
        if offset != 0.0 {
            let base = offset * step;
            let sign = if base < 0.0 { "+" } else { "−" };
            text = format!(" {sign} {}", significant(base.abs(), 12));
        }
        if power != 0.0 {
            text = format!("{text}, in {}", power_of_ten(power));
        }
        // Five parts of a step; four where it is 2, 20, 0.2 ….
        let parts = if (step / libm::pow(10.0, small) - 2.0).abs() < 0.1 { 4.0 } else { 5.0 };
        let part = step / parts;
        let (from, to) = ((self.low / part).ceil(), (self.high / part).floor());
        let count = (to - from).clamp(-1.0, 100.0) as i32;
        let minor = (0..=count).map(|i| self.place((from + f64::from(i)) * part)).collect();
        Ticks { marks, minor, unit: typographic(&text) }
    }

    fn log_ticks(self, count: usize) -> Ticks {
        let (low, high) = (libm::log10(self.low), libm::log10(self.high));
        let place = |x: f64| (x - low) / (high - low);
        // NOTE: the ends are powers of ten, except where these are no doubles.
        let (a, b) = ((low - 1e-9).ceil(), (high + 1e-9).floor());
        let every = ((b - a) / count.max(1) as f64).ceil().max(1.0);
        let decades = (b - a) as i32;
        let label = |k: f64| {
            if (-2.0..=3.0).contains(&k) {
                decimal(libm::pow(10.0, k), 2)
            } else {
                power_of_ten(k)
            }
        };
        let marks = (0..=decades)
            .step_by(every as usize)
            .map(|d| a + f64::from(d))
            .map(|k| (place(k), typographic(&label(k))))
            .collect();
        // Two to nine times each power, or every power where not all have labels.
        let minor = if every == 1.0 {
            let within =
                |d: i32| (2..10).map(move |m| f64::from(d) + libm::log10(f64::from(m)));
            (0..decades).flat_map(within).map(|x| place(a + x)).collect()
        } else {
            (0..=decades).map(|d| place(a + f64::from(d))).collect()
        };
        Ticks { marks, minor, unit: String::new() }
    }
}

/// The next of 1, 2, 5 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(rough).floor());
    let factor = rough / power;
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| factor <= n * (1.0 + 1e-9));
    nice.unwrap_or(10.0) * power
}

/// `10⁻⁶`
fn power_of_ten(exponent: f64) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        c => c.to_digit(10).and_then(|d| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(d as usize)).unwrap_or(c),
    };
    format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
}

/// With a true minus sign.
fn typographic(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> (Vec<String>, String) {
        let ticks = Scale { low, high, log: false }.ticks(5);
        (ticks.marks.into_iter().map(|m| m.1).collect(), ticks.unit)
    }

    #[test]
    fn labels_are_round_and_short() {
        assert_eq!(labels(0.0, 20.0).0, ["0", "5", "10", "15", "20"]);
        assert_eq!(labels(-0.31, 0.97).0, ["0", "0.5"]);
        assert_eq!(
            labels(0.0, 3e-7),
            (["0", "1", "2", "3"].map(String::from).to_vec(), ", in 10⁻⁷".into())
        );
        let (marks, unit) = labels(1.5, 1.5 + 3e-9);
        assert_eq!(unit, " − 1.5, in 10⁻⁹");
        assert_eq!(marks, ["0", "1", "2", "3"]);
        assert_eq!(labels(2e6, 5e6).1, ", in 10⁶");
    }

    #[test]
    fn every_range_has_some_ticks_in_order_and_none_outside() {
        let mut x = 1_u64;
        for _ in 0..2000 {
            let mut next = || {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (x >> 33) as f64 / 2_147_483_648.0
            };
            let low = (next() - 0.5) * libm::pow(10.0, 40.0 * next() - 20.0);
            let high = low + libm::pow(10.0, 40.0 * next() - 20.0);
            let scale = Scale::of([low, high].into_iter(), false);
            let ticks = scale.ticks(5);
            assert!((1..=11).contains(&ticks.marks.len()), "{low} {high} {ticks:?}");
            for pair in ticks.marks.windows(2) {
                assert!(
                    pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1,
                    "{low} {high} {ticks:?}"
                );
            }
            // Tick and range are rounded by some units in the last place of the larger.
            assert!(ticks.marks.iter().all(|m| (-1e-3..=1.001).contains(&m.0)), "{ticks:?}");
            assert!(ticks.marks.iter().all(|m| m.1.chars().count() <= 9), "{ticks:?}");
        }
    }

    /// Ends of the doubles, steps of one unit in the last place, and nothing at all: ticks come to an end.
    #[test]
    fn extreme_ranges_have_ticks_that_end() {
        let above = |x: f64| f64::from_bits(x.to_bits() + 1);
        let tiny = f64::from_bits(1);
        let ranges = [
            [1.0, above(1.0)],
            [1e16, above(1e16)],
            [tiny, above(tiny)],
            [0.0, tiny],
            [f64::MAX, f64::MAX],
            [f64::MIN, f64::MAX],
            [1e308, f64::MAX],
            [tiny, f64::MAX],
            [0.0, 0.0],
            [-1e300, above(-1e300)],
        ];
        for range in ranges {
            for log in [false, true] {
                let scale = Scale::of(range.into_iter(), log);
                for scale in [scale, scale.tight(range.into_iter())] {
                    assert!(scale.low.is_finite() && scale.high.is_finite(), "{range:?}");
                    let ticks = scale.ticks(5);
                    assert!(ticks.marks.len() <= 12 && ticks.minor.len() <= 700, "{range:?}");
                    assert!(
                        ticks.marks.iter().all(|m| (-0.01..=1.01).contains(&m.0)),
                        "{range:?} {log} {ticks:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn decades_are_marked() {
        let scale = Scale::of([3e-16, 2e-9].into_iter(), true);
        assert_eq!((scale.low, scale.high), (1e-16, 1e-8));
        let ticks = scale.ticks(4);
        assert_eq!(
            ticks.marks.iter().map(|m| m.1.as_str()).collect::<Vec<_>>(),
            ["10⁻¹⁶", "10⁻¹⁴", "10⁻¹²", "10⁻¹⁰", "10⁻⁸"]
        );
    }
}
