//! Numbers for people, in one place: with few digits in a sentence, with six in a table, all of one length in a
//! column.

pub use pfaff::brief;

/// At most six significant digits, for a table or a sentence; a dash if it is not finite.
pub(crate) fn short(x: f64) -> String {
    significant(x, 6)
}

/// At most so many significant digits, none of them a zero at the end.
pub(crate) fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return "–".into();
    }
    let size = libm::log10(x.abs()).floor();
    if !(-4.0..7.0).contains(&size) {
        let text = format!("{x:.*e}", digits - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", without_zeros(mantissa));
    }
    decimal(x, (digits as f64 - 1.0 - size).max(0.0) as usize)
}

/// At most so many decimals, none of them a zero at the end.
pub(crate) fn decimal(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    let text = without_zeros(&text);
    if text == "-0" { "0".into() } else { text.to_owned() }
}

/// Ten digits, for numbers below each other; a dash if there is no value.
pub(crate) fn column(x: f64) -> String {
    if x.is_nan() {
        "–".into()
    } else if x == 0.0 {
        "0".into()
    } else if (1e-4..1e7).contains(&x.abs()) {
        format!("{x:.10}")
    } else {
        format!("{x:.9e}")
    }
}

/// The largest absolute value; zero if there is none.
pub(crate) fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Whether a column changes by more than rounding: its own, and that of the largest value of its table.
pub(crate) fn changes(values: impl IntoIterator<Item = f64>, largest: f64) -> bool {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.into_iter().fold(none, |(a, b), x| (a.min(x), b.max(x)));
    high - low > (1e-9 * low.abs().max(high.abs())).max(1e-15 * largest)
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_change_and_small_units_are_no_rounding() {
        assert!(!changes([0.3, 0.3 + 1e-16], 0.3));
        assert!(!changes([0.0, 7e-18, -7e-18], 0.3), "zero to rounding");
        assert!(changes([1e-10, 2e-10], 1e3), "nanometres beside a fast angle");
        assert!(!changes([], 1.0) && !changes([f64::NAN], 1.0));
        assert_eq!(largest([1.0, -3.0, f64::NAN]), 3.0);
    }

    #[test]
    fn numbers_have_sensible_digits() {
        assert_eq!(short(0.1 + 0.2), "0.3");
        assert_eq!((brief(-0.0), short(-0.0)), ("0".into(), "0".into()));
        assert_eq!(short(1234.567), "1234.57");
        assert_eq!(short(-1.0e-9), "-1e-9");
        assert_eq!(short(f64::NAN), "–");
        assert_eq!(column(2.0 / 3.0), "0.6666666667");
        assert_eq!(column(-1e9), "-1.000000000e9");
        assert_eq!(brief(123.45678), "123.4568");
        assert_eq!(brief(1e-9), "1.00e-9");
    }
}
