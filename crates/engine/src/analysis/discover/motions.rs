//! Measured motions from a table: one after another in time, or told apart by a column.

use crate::analysis::fit::cells;
use crate::error::Error;

/// Samples that a motion needs at least.
const LEAST: usize = 8;
/// Columns that may tell motions apart.
const MARKS: [&str; 3] = ["case", "run", "motion"];

/// Measured positions of some motions.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredMotions {
    /// The coordinates.
    pub coordinates: Vec<String>,
    /// The times of each motion, ascending, and the positions by coordinate.
    pub motions: Vec<(Vec<f64>, Vec<Vec<f64>>)>,
}

impl MeasuredMotions {
    /// Reads comma-separated values with a line of names: `t` and the coordinates; other columns are ignored. A column
    /// `case`, `run` or `motion` tells motions apart; without one, a motion ends where the time goes back to where it
    /// began, or before. Rows in which a coordinate is missing are left out. `file` names the text in errors.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] says what is wrong in which line.
    pub fn read(file: &str, text: &str, coordinates: &[&str]) -> Result<Self, Error> {
        let usage = |message: String| Err(Error::Usage(message));
        let wrong = |line: usize, what: String| {
            Err(Error::Usage(format!("`{file}`, line {}: {what}", line + 1)))
        };
        for (k, name) in coordinates.iter().enumerate() {
            if coordinates[..k].contains(name) {
                return usage(format!("`{name}` is asked for twice"));
            }
        }
        if coordinates.is_empty() {
            return usage("no coordinates are asked for".into());
        }
        let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        let mut lines =
            lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let Some((_, head)) = lines.next() else {
            return usage(format!("`{file}` is empty: a line of names is needed"));
        };
        let names = cells(head);
        let place = |name: &str| names.iter().position(|n| n == name);
        let Some(time) = place("t") else {
            return usage(format!("`{file}` has no column `t` with the times"));
        };
        let mut places = Vec::new();
        for name in coordinates {
            let Some(k) = place(name) else {
                return usage(format!(
                    "`{file}` has no column `{name}`; it has {}",
                    names.join(", ")
                ));
            };
            places.push(k);
        }
        let mark = MARKS.iter().find_map(|name| place(name).filter(|k| !places.contains(k)));
        let mut motions: Vec<Told> = Vec::new();
        for (number, line) in lines {
            let row = cells(line);
            if row.len() != names.len() {
                let what = format!("{} cells, but there are {} names", row.len(), names.len());
                return wrong(number, what);
            }
            let mut values = Vec::with_capacity(places.len());
            let mut is_whole = true;
            for &k in [time].iter().chain(&places) {
                if row[k].is_empty() && k != time {
                    is_whole = false;
                    continue;
                }
                match row[k].parse::<f64>() {
                    Ok(x) if x.is_finite() => values.push(x),
                    _ => {
                        let what = format!(
                            "`{}` in the column `{}` is not a finite number",
                            row[k], names[k]
                        );
                        return wrong(number, what);
                    }
                }
            }
            if !is_whole {
                continue;
            }
            let t = values[0];
            let name = mark.map_or_else(String::new, |k| row[k].clone());
            let known = match mark {
                Some(_) => motions.iter().position(|m| m.name == name),
                None => motions.len().checked_sub(1),
            };
            let known = match known {
                Some(k) if motions[k].t.last().is_some_and(|&last| t <= last) => {
                    let (first, last) = (motions[k].t[0], motions[k].t[motions[k].t.len() - 1]);
                    if mark.is_some() || t > first {
                        let what = format!("the times must ascend, but {t} comes after {last}");
                        return wrong(number, what);
                    }
                    None
                }
                known => known,
            };
            let k = known.unwrap_or_else(|| {
                let columns = vec![Vec::new(); places.len()];
                motions.push(Told { name, line: number, t: Vec::new(), columns });
                motions.len() - 1
            });
            motions[k].t.push(t);
            motions[k].columns.iter_mut().zip(&values[1..]).for_each(|(list, x)| list.push(*x));
        }
        if motions.is_empty() {
            return usage(format!("`{file}` has names but no data"));
        }
        if let Some(Told { line, t, .. }) = motions.iter().find(|m| m.t.len() < LEAST) {
            let what = format!(
                "the motion that begins here has {} samples; {LEAST} are needed",
                t.len()
            );
            return wrong(*line, what);
        }
        Ok(Self {
            coordinates: coordinates.iter().map(|name| (*name).to_owned()).collect(),
            motions: motions.into_iter().map(|m| (m.t, m.columns)).collect(),
        })
    }
}

/// A motion of the table so far.
struct Told {
    name: String,
    /// Where it begins.
    line: usize,
    t: Vec<f64>,
    columns: Vec<Vec<f64>>,
}
