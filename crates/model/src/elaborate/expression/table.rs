//! `table(t, "file.csv", "column")`: given data as a smooth function; with `"linear"` behind, straight lines.
//!
//! The file is CSV with a header; its first column is the abscissa. Commas, semicolons or tabs separate,
//! quotes may stand around a field.

use pfaff_expr::{Table, TableError};

use crate::diagnostic::explain::usual_hint;
use crate::diagnostic::{Diagnostic, closest};
use crate::elaborate::Elaborator;
use crate::elaborate::scope::Site;
use crate::shape::Value;

/// Where tables come from. The model itself reads no file.
pub trait Files {
    /// The text of a file, as the model names it.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn read(&self, name: &str) -> Result<String, String>;
}

/// Refuses every file.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<String, String> {
        Err("files cannot be read here".into())
    }
}

impl Elaborator<'_> {
    pub(crate) fn table(&mut self, site: Site, values: &[Value]) -> Value {
        // Without an argument it is a function of time, and without a column the one beside the first.
        let of_time = matches!(values[0], Value::Text(_));
        let argument = if of_time {
            Some(self.time())
        } else {
            self.scalar(&values[0], self.argument(site, 0), "the argument of `table`")
        };
        let first = usize::from(!of_time);
        if values.len() > first + 3 {
            let message = "`table` takes one file, one column and one manner".to_owned();
            return self.error("E0303", self.span(self.argument(site, first + 3)), message);
        }
        let mut texts = Vec::new();
        for (k, value) in values.iter().enumerate().skip(first) {
            if let Value::Text(text) = value {
                texts.push(text.to_string());
            } else {
                let at = self.argument(site, k);
                let what = ["the file", "the column", "the manner"][k - first];
                let message = format!("{what} of a table must be a text in quotes");
                let hint = "it is written `table(t, \"file.csv\", \"column\")`";
                self.error_hint("E0303", self.span(at), message, hint);
            }
        }
        if texts.is_empty() && values.len() == first {
            let message = "a table needs a file".to_owned();
            let hint = "it is written `table(t, \"file.csv\", \"column\")`";
            return self.error_hint("E0303", self.span(site), message, hint);
        }
        let (Some(argument), true) = (argument, texts.len() == values.len() - first) else {
            return Value::Poison;
        };
        let (file, column) = (&texts[0], texts.get(1).map(String::as_str));
        let is_linear = match texts.get(2).map(String::as_str) {
            None | Some("smooth") => false,
            Some("linear") => true,
            Some(other) => {
                let at = self.argument(site, first + 2);
                let message = format!("a table is `smooth` or `linear`, not `{other}`");
                let hint = "without that word it is smooth: a cubic spline";
                return self.error_hint("E0303", self.span(at), message, hint);
            }
        };
        let key = (file.clone(), column.unwrap_or_default().to_owned(), is_linear);
        if let Some(table) = self.cache.tables.get(&key) {
            return Value::Scalar(self.graph.table(table.clone(), argument));
        }
        match self.load((site, first), file, column, is_linear) {
            Ok(table) => {
                self.cache.tables.insert(key, table.clone());
                Value::Scalar(self.graph.table(table, argument))
            }
            Err(diagnostic) => self.report(*diagnostic),
        }
    }

    fn load(
        &self,
        (site, first): (Site, usize),
        file: &str,
        column: Option<&str>,
        is_linear: bool,
    ) -> Result<Table, Box<Diagnostic>> {
        let file_span = self.span(self.argument(site, first));
        let column_span = match column {
            Some(_) => self.span(self.argument(site, first + 1)),
            None => file_span,
        };
        let text = self.files.read(file).map_err(|why| {
            let message = format!("the file `{file}` cannot be read: {why}");
            Box::new(
                Diagnostic::error("E0504", file_span, message)
                    .with_hint("the path is relative to the folder of the model"),
            )
        })?;
        let second = second_column(&text);
        joined(&text, (file, column.unwrap_or(&second)), is_linear).map_err(|why| {
            let span = if why.no_column { column_span } else { file_span };
            Box::new(Diagnostic::error("E0504", span, why.message).with_hint(&why.hint))
        })
    }
}

/// Why a column makes no function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTable {
    /// What is wrong.
    pub message: String,
    /// What helps.
    pub hint: String,
    /// Whether the column is missing.
    pub no_column: bool,
}

/// The name of the second column.
fn second_column(text: &str) -> String {
    let (names, _) = header_of(text);
    names.into_iter().nth(1).unwrap_or_default()
}

/// The names of the columns, and what separates them.
fn header_of(text: &str) -> (Vec<String>, char) {
    let text = text.trim_start_matches('\u{feff}');
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let separator = [',', ';', '\t'].into_iter().find(|&c| header.contains(c)).unwrap_or(',');
    (fields(header, separator), separator)
}

/// A column of a CSV text as a smooth function of the first one.
///
/// # Errors
///
/// [`NoTable`] says what is wrong with the text.
pub fn table_of(text: &str, file: &str, column: &str) -> Result<Table, NoTable> {
    joined(text, (file, column), false)
}

/// The same by straight lines, or smoothly.
fn joined(text: &str, (file, column): (&str, &str), is_linear: bool) -> Result<Table, NoTable> {
    let text = text.trim_start_matches('\u{feff}');
    let (names, separator) = header_of(text);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).skip(1);
    let Some(index) = names.iter().position(|name| name == column) else {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = format!("the file `{file}` has no column `{column}`");
        // NOTE: what is no table is not shown: the model may name a file that its author must not see.
        let is_table = lines.next().is_some_and(|line| {
            let row = fields(line, separator);
            row.len() == names.len()
                && row.iter().all(|f| f.is_empty() || f.parse::<f64>().is_ok())
        });
        let hint = match closest(column, &known).filter(|_| is_table) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if is_table => format!("its columns are {}", known.join(", ")),
            None => "a table has the names of its columns in the first line, and numbers below"
                .into(),
        };
        return Err(NoTable { message, hint, no_column: true });
    };
    let number = |row: &[String], k: usize| {
        row.get(k).and_then(|field| field.parse::<f64>().ok()).unwrap_or(f64::NAN)
    };
    let rows: Vec<Vec<String>> = lines.map(|line| fields(line, separator)).collect();
    let x: Vec<f64> = rows.iter().map(|row| number(row, 0)).collect();
    let y: Vec<f64> = rows.iter().map(|row| number(row, index)).collect();
    let make = if is_linear { Table::lines } else { Table::new };
    let table = make(file, column, &x, &y);
    table.map_err(|error: TableError| NoTable {
        message: format!("column `{column}` of `{file}` cannot be interpolated: {error}"),
        hint: usual_hint("E0504").unwrap_or_default().to_owned(),
        no_column: false,
    })
}

/// The fields of a line without the quotes and blanks around them.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        if c == '"' {
            quoted = !quoted;
        } else if c == separator && !quoted {
            fields.push(String::new());
        } else if let Some(field) = fields.last_mut() {
            field.push(c);
        }
    }
    for field in &mut fields {
        *field = field.trim().to_owned();
    }
    fields
}
