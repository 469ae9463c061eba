//! The cases of an ensemble: what is varied, and its values in each case.
//!
//! Cases are the product of the rows of a table, of grids and of draws, in this order; what stands last varies
//! fastest. The values of a case follow from its number, so that no list of them is kept.

use std::collections::HashSet;

use crate::analysis::eval::{Range, Value, evaluate};
use crate::ensemble::distribution::Distribution;
use crate::ensemble::sequence::{MOST_POINTS, SOBOL_DIMENSIONS, Sampling, Sequence};
use crate::error::Error;

/// What is varied, and how.
///
/// ```
/// use pfaff::{Cases, Sampling};
/// let cases = Cases::default().vary("a=0.1..0.5:5, x'=[1, 2]")?.draw("m~normal(1, 0.1)", 3, 7, Sampling::Sobol)?;
/// assert_eq!(cases.names(), ["a", "x'", "m"]);
/// assert_eq!(cases.count(), 5 * 2 * 3);
/// assert_eq!(cases.values(29)[..2], [0.5, 2.0]);
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cases {
    names: Vec<String>,
    table: Option<CaseTable>,
    grids: Vec<Vec<f64>>,
    draws: Option<Draws>,
}

/// Rows of given values.
#[derive(Clone, Debug)]
struct CaseTable {
    columns: Vec<Vec<f64>>,
    rows: u64,
}

#[derive(Clone, Debug)]
struct Draws {
    distributions: Vec<Distribution>,
    sequence: Sequence,
    count: u64,
}

/// Most points of one grid; each is kept.
const LONGEST_GRID: u64 = 10_000_000;
/// Most cases: their numbers are exact doubles in every table.
const MOST_CASES: u64 = 1 << 53;

impl Cases {
    /// Adds grids: `a=0.1..0.5:50`, `k=1e-3..1:7:log`, `x'=[1, 2, 5]`, separated by commas.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] says what cannot be read.
    pub fn vary(mut self, text: &str) -> Result<Self, Error> {
        for item in items(text) {
            let Some((name, range)) = item.split_once('=') else {
                return Err(wrong(&item, "write a range of values as `a=0.1..0.5:50`"));
            };
            self.add(name)?;
            self.grids.push(grid(&item, range.trim())?);
        }
        if self.grids.is_empty() {
            return Err(wrong(text, "write ranges of values as `a=0.1..0.5:50`"));
        }
        self.checked()
    }

    /// Adds draws: `a~normal(0.2, 0.01), phi~uniform(0, 2*pi)`, so many of them.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] says what cannot be read.
    pub fn draw(
        mut self,
        text: &str,
        count: u64,
        seed: u64,
        sampling: Sampling,
    ) -> Result<Self, Error> {
        let mut distributions = Vec::new();
        for item in items(text) {
            let parts = item.split_once('~').and_then(|(name, call)| {
                let (word, rest) = call.trim().split_once('(')?;
                Some((name, word.trim(), rest.strip_suffix(')')?))
            });
            let Some((name, word, arguments)) = parts else {
                return Err(wrong(&item, "write a draw as `a~normal(0.2, 0.01)`"));
            };
            self.add(name)?;
            let arguments =
                list_items(arguments).iter().map(|a| number(a)).collect::<Result<_, _>>();
            let arguments: Vec<f64> = arguments?;
            let distribution = Distribution::new(word, &arguments);
            distributions.push(distribution.map_err(|why| wrong(&item, &why))?);
        }
        if distributions.is_empty() {
            return Err(wrong(text, "write draws as `a~normal(0.2, 0.01)`"));
        }
        if count == 0 {
            return Err(Error::Usage("the number of draws must be at least 1, not 0".into()));
        }
        let dimensions = distributions.len();
        if sampling == Sampling::Sobol && dimensions > SOBOL_DIMENSIONS {
            return Err(Error::Usage(format!(
                "Sobol's sequence is known here for at most {SOBOL_DIMENSIONS} names, not {dimensions}: draw a Latin \
                 hypercube or random numbers"
            )));
        }
        if sampling != Sampling::Random && count > MOST_POINTS {
            return Err(Error::Usage(format!(
                "there can be at most {MOST_POINTS} draws of this kind, not {count}"
            )));
        }
        let sequence = Sequence::new(sampling, dimensions, count, seed);
        self.draws = Some(Draws { distributions, sequence, count });
        self.checked()
    }

    /// Adds the rows of a table, whose columns have the names of what is varied.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if it has no rows or no columns, or a value that is not finite.
    pub fn table(mut self, columns: Vec<(String, Vec<f64>)>) -> Result<Self, Error> {
        let rows = columns.first().map_or(0, |(_, values)| values.len());
        if rows == 0 {
            return Err(Error::Usage("the table of cases has no rows".into()));
        }
        let mut kept = Vec::with_capacity(columns.len());
        let mut names = Vec::with_capacity(columns.len());
        let mut known: HashSet<String> = self.names.iter().cloned().collect();
        for (name, values) in columns {
            if let Some(row) = values.iter().position(|x| !x.is_finite()) {
                return Err(Error::Usage(format!(
                    "the table of cases has no number in row {} of the column `{name}`",
                    row + 1
                )));
            }
            names.push(varied(&name, |name| !known.insert(name.to_owned()))?);
            kept.push(values);
        }
        // The columns of the table come first.
        names.append(&mut self.names);
        self.names = names;
        self.table = Some(CaseTable { columns: kept, rows: rows as u64 });
        self.checked()
    }

    /// The names of what is varied, as given.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many cases there are.
    pub fn count(&self) -> u64 {
        self.lengths().into_iter().fold(1, u64::saturating_mul)
    }

    /// The values of a case, one for each name. Requires `case < count()`.
    pub fn values(&self, case: u64) -> Vec<f64> {
        let mut values = vec![0.0; self.names.len()];
        self.write_values(case, &mut values);
        values
    }

    /// Writes the values of a case, one for each name. Requires `case < count()`.
    ///
    /// # Panics
    ///
    /// If there is not one place for each name.
    pub fn write_values(&self, case: u64, values: &mut [f64]) {
        assert_eq!(values.len(), self.names.len(), "one place for each name");
        let mut rest = case;
        let mut next = |length: u64| {
            let place = rest % length;
            rest /= length;
            place
        };
        // From the last, which varies fastest.
        let drawn = self.draws.as_ref().map_or(0, |draws| draws.distributions.len());
        let (values, last) = values.split_at_mut(values.len() - drawn);
        if let Some(draws) = &self.draws {
            let point = next(draws.count);
            for (d, (value, law)) in last.iter_mut().zip(&draws.distributions).enumerate() {
                *value = law.quantile(draws.sequence.coordinate(d, point));
            }
        }
        let (first, values) = values.split_at_mut(values.len() - self.grids.len());
        for (value, grid) in values.iter_mut().zip(&self.grids).rev() {
            *value = grid[next(grid.len() as u64) as usize];
        }
        if let Some(table) = &self.table {
            let row = next(table.rows) as usize;
            for (value, column) in first.iter_mut().zip(&table.columns) {
                *value = column[row];
            }
        }
    }

    /// The numbers of rows, points and draws.
    fn lengths(&self) -> Vec<u64> {
        let rows = self.table.iter().map(|table| table.rows);
        let grids = self.grids.iter().map(|grid| grid.len() as u64);
        rows.chain(grids).chain(self.draws.iter().map(|draws| draws.count)).collect()
    }

    fn add(&mut self, name: &str) -> Result<(), Error> {
        let name = varied(name, |name| self.names.iter().any(|known| known == name))?;
        self.names.push(name);
        Ok(())
    }

    fn checked(self) -> Result<Self, Error> {
        let count = self.count();
        if count > MOST_CASES {
            return Err(Error::Usage(format!("there are more than {MOST_CASES} cases")));
        }
        Ok(self)
    }
}

/// The name of what is varied, which must be new.
fn varied(name: &str, mut is_known: impl FnMut(&str) -> bool) -> Result<String, Error> {
    let name = name.trim();
    if name.is_empty() {
        return Err(Error::Usage("what is varied needs a name".into()));
    }
    if is_known(name) {
        return Err(Error::Usage(format!("`{name}` is varied twice")));
    }
    Ok(name.to_owned())
}

fn wrong(item: &str, why: &str) -> Error {
    Error::Usage(format!("`{item}`: {why}"))
}

/// `0.1..0.5:50`, `1e-3..1:7:log`, `[1, 2, 5]` or one value.
fn grid(item: &str, range: &str) -> Result<Vec<f64>, Error> {
    if let Some(list) = range.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        if list.trim().is_empty() {
            return Err(wrong(item, "the list of values is empty"));
        }
        return list_items(list).iter().map(|x| number(x)).collect();
    }
    let Some((low, rest)) = range.split_once("..") else {
        if range.contains(':') {
            return Err(wrong(item, "a range has two ends, as in `0.1..0.5:50`"));
        }
        return Ok(vec![number(range)?]);
    };
    let mut words = rest.split(':');
    let (high, count) = (words.next().unwrap_or_default(), words.next());
    let spacing = words.next().map(str::trim);
    let Some(count) = count.map(str::trim) else {
        return Err(wrong(item, "write how many values the range has, as in `0.1..0.5:50`"));
    };
    let count = match count.parse::<i128>() {
        Ok(n) if n >= 1 && n <= i128::from(LONGEST_GRID) => n as usize,
        Ok(n) => {
            let why = format!("the number of values must be from 1 to {LONGEST_GRID}, not {n}");
            return Err(wrong(item, &why));
        }
        Err(_) => return Err(wrong(item, &format!("`{count}` is not a number of values"))),
    };
    let logarithmic = match spacing {
        None | Some("linear") => false,
        Some("log") => true,
        Some(other) => {
            return Err(wrong(
                item,
                &format!("`{other}` is not a spacing: leave it out, or write `log`"),
            ));
        }
    };
    if words.next().is_some() {
        return Err(wrong(item, "write a range as `0.1..0.5:50` or `0.001..1:7:log`"));
    }
    let (low, high) = (number(low)?, number(high)?);
    let same_sign = (low > 0.0 && high > 0.0) || (low < 0.0 && high < 0.0);
    if logarithmic && !same_sign {
        return Err(wrong(
            item,
            "both ends of a logarithmic range must be positive, or both negative",
        ));
    }
    let last = count - 1;
    let at = |i: usize| {
        let part = i as f64 / last as f64;
        match i {
            0 => low,
            i if i == last => high,
            _ if logarithmic => low * libm::pow(high / low, part),
            _ => low + (high - low) * part,
        }
    };
    let values: Vec<f64> = (0..count).map(at).collect();
    if values.iter().any(|x| !x.is_finite()) {
        return Err(wrong(item, "the range is too wide: its values are not finite"));
    }
    Ok(values)
}

/// A number, or a constant expression.
fn number(text: &str) -> Result<f64, Error> {
    match evaluate(text.trim(), "", Range::default()) {
        Ok(Value::Number(x)) if x.is_finite() => Ok(x),
        _ => Err(Error::Usage(format!("`{}` is not a number", text.trim()))),
    }
}

/// What stands between commas, where there is something.
fn items(text: &str) -> Vec<String> {
    let mut items = list_items(text);
    items.retain(|item| !item.is_empty());
    items
}

/// At the commas outside brackets; what is left out between two of them is empty.
pub(super) fn list_items(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_i32;
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        match items.last_mut() {
            Some(item) if c != ',' || depth > 0 => item.push(c),
            _ => items.push(String::new()),
        }
    }
    items.iter().map(|item| item.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(cases: &Cases) -> Vec<Vec<f64>> {
        (0..cases.count()).map(|case| cases.values(case)).collect()
    }

    #[test]
    fn grids_have_exact_ends_and_are_multiplied() {
        let cases = Cases::default().vary("a=0.1..0.5:5, b = [2*pi,-1]").unwrap();
        let rows = all(&cases);
        assert_eq!(rows.len(), 10);
        assert_eq!(rows[0], [0.1, std::f64::consts::TAU]);
        assert_eq!(rows[1], [0.1, -1.0]);
        assert_eq!(rows[9], [0.5, -1.0]);
        assert!((rows[4][0] - 0.3).abs() < 1e-15);
        let log = all(&Cases::default().vary("k=1e-3..1:7:log").unwrap());
        assert_eq!((log[0][0], log[6][0]), (1e-3, 1.0));
        assert!((log[2][0] - 1e-2).abs() < 1e-16);
        assert_eq!(all(&Cases::default().vary("k=1..2:1").unwrap()), [[1.0]]);
        assert_eq!(all(&Cases::default().vary("k=-1..-3:3").unwrap())[1], [-2.0]);
    }

    #[test]
    fn tables_come_first_and_draws_last() {
        let cases = Cases::default().vary("a=1..2:2").unwrap();
        let cases = cases.draw("m~uniform(0, 1)", 2, 3, Sampling::Random).unwrap();
        let cases = cases.table(vec![("c".into(), vec![7.0, 8.0, 9.0])]).unwrap();
        assert_eq!(cases.names(), ["c", "a", "m"]);
        let rows = all(&cases);
        assert_eq!(rows.len(), 12);
        assert_eq!(rows[0][..2], [7.0, 1.0]);
        assert_eq!(rows[1][..2], [7.0, 1.0]);
        assert_eq!(rows[2][..2], [7.0, 2.0]);
        assert_eq!(rows[11][..2], [9.0, 2.0]);
        assert_eq!(rows[0][2], rows[2][2], "the same draws at each point of the grid");
        assert_ne!(rows[0][2], rows[1][2]);
    }

    #[test]
    fn mistakes_are_named() {
        let refused = |text: &str| match Cases::default().vary(text) {
            Err(error) => error.to_string(),
            Ok(cases) => panic!("{text}: {cases:?}"),
        };
        assert!(refused("a=0.1..0.5:0").contains("not 0"));
        assert!(refused("a=0.1..0.5:-3").contains("not -3"));
        assert!(refused("a=0.1..0.5:1e3").contains("`1e3` is not a number of values"));
        assert!(refused("a=0.1..0.5").contains("how many"));
        assert!(refused("a=0..1:3:log").contains("logarithmic"));
        assert!(refused("a=1..2:3:cubic").contains("cubic"));
        assert!(refused("a=1..2:3, a=2..3:4").contains("twice"));
        assert!(refused("a").contains("a=0.1..0.5:50"));
        assert!(refused("a=1..x:3").contains("`x` is not a number"));
        assert!(refused("").contains("a=0.1..0.5:50"));
        assert!(refused("a=[]").contains("empty"));
        assert!(refused("a=[1,,2]").contains("`` is not a number"));
        assert!(refused("=1..2:3").contains("name"));
        let draw = |text: &str, count: u64| {
            let drawn = Cases::default().draw(text, count, 0, Sampling::Random);
            drawn.expect_err("refused").to_string()
        };
        assert!(draw("a~normal(0.2, -0.01)", 3).contains("positive, not -0.01"));
        assert!(draw("a~normal(0.2, 0.01)", 0).contains("not 0"));
        assert!(draw("a=1", 3).contains("a~normal(0.2, 0.01)"));
    }
}
