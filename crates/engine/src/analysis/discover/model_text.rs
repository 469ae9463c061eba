//! The constraints that were found, as the text of a model.

use crate::analysis::discover::DiscoveredRow;
use crate::analysis::discover::smooth::Smoothed;

/// A model with the rows as constraints, that starts where the first motion does.
pub(super) fn model_text(
    names: &[String],
    rows: &[DiscoveredRow],
    motions: &[&(Vec<f64>, Vec<Vec<f64>>)],
    all: &[(usize, Vec<Smoothed>)],
) -> String {
    let squares: Vec<String> = names.iter().map(|name| format!("{name}'^2")).collect();
    let mut text = String::from(
        "# Constraints from measured motions; the masses are not known from them.\n",
    );
    text += &format!("coordinates  {}\n", names.join(", "));
    text += &format!("lagrangian   ({})/2\n", squares.join(" + "));
    for (k, row) in rows.iter().enumerate() {
        text += &format!("constraint   c{}: {} = 0\n", k + 1, row.text);
    }
    if let (Some((_, at)), Some((t, columns))) = (all.first(), motions.first()) {
        let (from, to) = (t[0], t[t.len() - 1]);
        let (mut positions, mut velocities) = (Vec::new(), Vec::new());
        for ((name, start), column) in names.iter().zip(at).zip(columns) {
            let size = column.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let speed = start.v.abs().max(size / (to - from));
            positions.push(format!("{name} = {}", to_six_digits(start.q, size)));
            velocities.push(format!("{name}' = {}", to_six_digits(start.v, speed)));
        }
        text += &format!("initial      {}\n", positions.join(", "));
        text += &format!("initial      {}\n", velocities.join(", "));
        text += &format!("solve        t = {from}..{to}\n");
    }
    text
}

/// A value to a millionth of the size of its kind.
fn to_six_digits(x: f64, size: f64) -> f64 {
    if size == 0.0 {
        return 0.0;
    }
    let decimals = (6.0 - libm::log10(size).floor()).clamp(0.0, 300.0) as usize;
    // NOTE: what is rounded to zero from below is no -0.
    format!("{x:.decimals$}").parse().unwrap_or(x) + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_of_their_size() {
        assert_eq!(to_six_digits(0.123_456_789, 2.0), 0.123_457);
        assert_eq!(to_six_digits(1.234_567_89e-7, 3e-7), 1.234_568e-7);
        assert_eq!(to_six_digits(123_456_789.4, 2e8), 123_456_789.0);
        assert!(to_six_digits(-1e-12, 1.0).is_sign_positive(), "no -0");
        assert_eq!(to_six_digits(0.0, 0.0), 0.0);
    }
}
