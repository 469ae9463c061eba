//! Expressions of columns: `x^2 + y^2` over the rows of a table.
//!
//! A name of a column counts as a whole, with its primes and brackets: `x'`, `lambda(blade)`, `phi[1,2]`. Everything
//! else is the model language.

use std::borrow::Cow;

use pfaff_expr::Expr;
use pfaff_model::{FormulaValue, NoFiles, closest, read_formula};
use pfaff_program::GraphEvaluator;

/// Columns of equal length by name.
type Columns<'a> = [(String, &'a [f64])];

/// A column, or an expression of columns; the error says what `owner`, such as "the motion", does not have.
///
/// # Errors
///
/// A sentence.
pub fn column_values<'a>(
    columns: &[(String, &'a [f64])],
    text: &str,
    owner: &str,
) -> Result<Cow<'a, [f64]>, String> {
    let text = text.trim();
    if let Some((_, values)) = columns.iter().find(|(name, _)| name == text) {
        return Ok(Cow::Borrowed(values));
    }
    let (formula, used) = placed(columns, text);
    let is_name = text.chars().all(|c| c.is_alphanumeric() || "_'[](), ".contains(c));
    if used.is_empty() || (is_name && !formula.contains('(')) {
        let known: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let hint = closest(text, &known).map_or_else(
            || format!("the columns are {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(format!("{owner} has no column `{text}`; {hint}"));
    }
    let names: Vec<(String, f64)> =
        used.iter().map(|(place, _)| (place.clone(), 0.0)).collect();
    let wrong = |why: &str| format!("`{text}` is no expression of columns: {why}");
    let formula = read_formula(&formula, &names, &NoFiles).map_err(|errors| {
        wrong(errors.diagnostics.first().map_or("", |d| d.message.as_str()))
    })?;
    let FormulaValue::Scalar(value) = formula.value else {
        return Err(wrong("it is not a number"));
    };
    let inputs: Vec<Expr> = formula.symbols.iter().map(|(_, symbol, _)| *symbol).collect();
    let mut evaluator = GraphEvaluator::new(&formula.graph, &inputs, &[], &[value])
        .map_err(|error| wrong(&error.to_string()))?;
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    let mut row_of = vec![0.0; used.len()];
    let mut found = [0.0];
    let value = |row: usize| {
        row_of.iter_mut().zip(&used).for_each(|(x, (_, values))| *x = values[row]);
        evaluator.evaluate(&row_of, &mut found);
        found[0]
    };
    Ok(Cow::Owned((0..rows).map(value).collect()))
}

/// The text with plain names in place of those of columns, and what these stand for.
fn placed<'a>(columns: &Columns<'a>, text: &str) -> (String, Vec<(String, &'a [f64])>) {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    let mut formula = String::new();
    let mut used: Vec<(String, &'a [f64])> = Vec::new();
    let mut rest = text;
    let mut inside = false;
    while let Some(first) = rest.chars().next() {
        let fits = |name: &str| {
            rest.strip_prefix(name).is_some_and(|after| {
                let next = after.chars().next();
                !next.is_some_and(|c| continues(c) || "'([".contains(c))
            })
        };
        let known = columns.iter().enumerate().filter(|(_, (name, _))| !inside && fits(name));
        if let Some((place, (name, values))) = known.max_by_key(|(_, (name, _))| name.len()) {
            let plain = format!("column_{place}");
            formula.push_str(&plain);
            if used.iter().all(|(known, _)| *known != plain) {
                used.push((plain, values));
            }
            rest = &rest[name.len()..];
            inside = true;
        } else {
            formula.push(first);
            rest = &rest[first.len_utf8()..];
            inside = continues(first);
        }
    }
    (formula, used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_names_and_expressions_of_them() {
        let (x, v, l, t) = ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [0.0, 0.5]);
        let columns: Vec<(String, &[f64])> = vec![
            ("t".into(), &t),
            ("x".into(), &x),
            ("x'".into(), &v),
            ("lambda(c[1,2])".into(), &l),
        ];
        let value =
            |text: &str| column_values(&columns, text, "the table").map(Cow::into_owned);
        assert_eq!(value("x'").unwrap(), v);
        assert_eq!(value("x^2 + x'^2").unwrap(), [10.0, 20.0]);
        assert_eq!(value("max(x, lambda(c[1,2])) - t").unwrap(), [5.0, 5.5]);
        assert_eq!(value("2*x").unwrap(), [2.0, 4.0]);
        assert_eq!(value("-x").unwrap(), [-1.0, -2.0]);
        assert!(value("y").unwrap_err().contains("the table has no column `y`"));
        assert!(value("x + y").unwrap_err().contains("`y`"));
        assert!(value("x +").unwrap_err().contains("no expression"));
        assert!(value("x''").is_err());
    }
}
