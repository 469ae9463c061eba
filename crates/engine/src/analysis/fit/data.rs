//! Measured data: a table of times and columns, with gaps.

use std::collections::HashSet;

use crate::analysis::fit::request::Prior;
use crate::error::Error;
use crate::problem::settings::separated;

/// What can be squared and summed.
const LARGEST: f64 = 1e150;

/// A table of measured values.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The times, ascending.
    pub t: Vec<f64>,
    /// Named columns with one value for each time; `None` where nothing was measured.
    pub columns: Vec<(String, Vec<Option<f64>>)>,
}

impl Measurements {
    /// Reads comma-separated values with a line of names, of which one is `t`. Empty cells are missing values, lines
    /// that begin with `#` are comments. `file` names the text in errors.
    ///
    /// ```
    /// let data = pfaff::Measurements::read("m.csv", "t,x\n0,1\n0.5,\n1,0.5\n")?;
    /// assert_eq!(data.columns[0].1, [Some(1.0), None, Some(0.5)]);
    /// assert!(pfaff::Measurements::read("m.csv", "t,x\n1,1\n0,2\n").is_err());
    /// # Ok::<(), pfaff::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] says what is wrong in which line: cells that are no finite numbers, times that do not ascend,
    /// rows of another length, no column `t`.
    pub fn read(file: &str, text: &str) -> Result<Self, Error> {
        let wrong = |line: usize, what: String| {
            Err(Error::Usage(format!("`{file}`, line {}: {what}", line + 1)))
        };
        let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        let mut lines =
            lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let Some((_, head)) = lines.next() else {
            return Err(Error::Usage(format!("`{file}` is empty: a line of names is needed")));
        };
        let names = cells(head);
        let Some(time) = names.iter().position(|name| name == "t") else {
            let hint = if head.contains([';', '\t']) {
                "; columns are separated by commas, and numbers have a decimal point"
            } else {
                ""
            };
            let message = format!("`{file}` has no column `t` with the times{hint}");
            return Err(Error::Usage(message));
        };
        let mut t: Vec<f64> = Vec::new();
        let mut columns: Vec<(String, Vec<Option<f64>>)> =
            names.iter().map(|name| (name.clone(), Vec::new())).collect();
        for (number, line) in lines {
            let row = cells(line);
            if row.len() != names.len() {
                let what = format!("{} cells, but there are {} names", row.len(), names.len());
                return wrong(number, what);
            }
            for (k, cell) in row.iter().enumerate() {
                if cell.is_empty() && k != time {
                    columns[k].1.push(None);
                    continue;
                }
                let Some(value) = cell.parse::<f64>().ok().filter(|x| x.is_finite()) else {
                    let hint = if k == time {
                        ""
                    } else {
                        "; leave a cell empty if nothing was measured"
                    };
                    let what = format!(
                        "`{cell}` in the column `{}` is not a finite number{hint}",
                        names[k]
                    );
                    return wrong(number, what);
                };
                if value.abs() > LARGEST {
                    let what = format!("`{cell}` in the column `{}` is too large", names[k]);
                    return wrong(number, what);
                }
                columns[k].1.push(Some(value));
                if k == time {
                    if let Some(&before) = t.last()
                        && value < before
                    {
                        return wrong(
                            number,
                            format!("the times must ascend, but {value} comes after {before}"),
                        );
                    }
                    t.push(value);
                }
            }
        }
        columns.remove(time);
        let mut known = HashSet::new();
        if let Some((k, (name, _))) =
            columns.iter().enumerate().find(|(_, (name, _))| !known.insert(name.as_str()))
        {
            let message =
                format!("`{file}` has two columns `{name}`, the second at place {}", k + 1);
            return Err(Error::Usage(message));
        }
        if t.is_empty() {
            return Err(Error::Usage(format!("`{file}` has names but no data")));
        }
        Ok(Self { t, columns })
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&[Option<f64>]> {
        self.columns.iter().find(|(n, _)| n == name).map(|(_, values)| values.as_slice())
    }
}

/// The cells of a line, without quotes around them.
pub(crate) fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(letter);
                }
            }
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Reads standard deviations by column, `x=0.01, x'=0.1`.
///
/// # Errors
///
/// [`Error::Usage`] for what is no name and number.
pub fn named_values(text: &str) -> Result<Vec<(String, f64)>, Error> {
    separated(text)
        .iter()
        .map(|part| {
            let pair = part.split_once('=');
            let pair = pair.and_then(|(name, x)| Some((name.trim(), x.trim().parse().ok()?)));
            let Some((name, x)) = pair.filter(|(_, x): &(&str, f64)| x.is_finite()) else {
                return Err(Error::Usage(format!(
                    "`{part}` is not a name with a number, as in x=0.01"
                )));
            };
            Ok((name.to_owned(), x))
        })
        .collect()
}

/// Reads priors, `m=1+-0.1, k=4±0.5`: mean and standard deviation.
///
/// # Errors
///
/// [`Error::Usage`] for what is no name with two numbers.
pub fn named_priors(text: &str) -> Result<Vec<Prior>, Error> {
    separated(text)
        .iter()
        .map(|part| {
            let number = |x: &str| x.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            let prior = part.split_once('=').and_then(|(name, rest)| {
                let (mean, sigma) = rest.split_once('±').or_else(|| rest.split_once("+-"))?;
                let (mean, sigma) = (number(mean)?, number(sigma)?);
                Some(Prior { name: name.trim().to_owned(), mean, sigma })
            });
            prior.ok_or_else(|| {
                Error::Usage(format!("`{part}` is not a prior, as in m=1±0.1 or m=1+-0.1"))
            })
        })
        .collect()
}

/// Reads bounds, `m=0..10, k=1..`; a side that is left out has none.
///
/// # Errors
///
/// [`Error::Usage`] for what is no name and range.
pub fn named_bounds(text: &str) -> Result<Vec<(String, f64, f64)>, Error> {
    separated(text)
        .iter()
        .map(|part| {
            let side = |x: &str, open: f64| match x.trim() {
                "" => Some(open),
                x => x.parse::<f64>().ok().filter(|x| !x.is_nan()),
            };
            let range = part.split_once('=').and_then(|(name, range)| {
                let (low, high) = range.split_once("..")?;
                Some((
                    name.trim().to_owned(),
                    side(low, f64::NEG_INFINITY)?,
                    side(high, f64::INFINITY)?,
                ))
            });
            range.ok_or_else(|| {
                Error::Usage(format!("`{part}` is not a name with a range, as in m=0..10"))
            })
        })
        .collect()
}
