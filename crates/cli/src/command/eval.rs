//! `pfaff eval`

use clap::Args;
use pfaff::{Range, Value, evaluate};
use pfaff_present::json_text;
use serde_json::json;

use crate::output::{Exit, failed, print};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff eval \"gamma(1/2)^2\"
  pfaff eval \"[cos(a), sin(a)]\" --with \"a=pi/6\"
  pfaff eval \"det([[1, 2], [3, 4]])\" --json")]
pub(crate) struct EvalArguments {
    /// An expression of the model language
    #[arg(allow_hyphen_values = true)]
    pub(crate) expression: String,
    /// Values of names, such as "a=1, t=2"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) with: Option<String>,
    /// Where memory operators begin (0 by default)
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub(crate) from: Option<f64>,
    /// Where memory operators end (t by default)
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) to: Option<f64>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn eval(arguments: &EvalArguments) -> Result<Exit, Exit> {
    let range = Range { from: arguments.from, to: arguments.to };
    let with = arguments.with.as_deref().unwrap_or("");
    let value = evaluate(&arguments.expression, with, range).map_err(failed)?;
    print(&if arguments.json {
        json_text(&json!({ "value": entry(&value) })) + "\n"
    } else {
        format!("{}\n", shown(&value))
    })?;
    Ok(Exit::Done)
}

fn entry(value: &Value) -> serde_json::Value {
    match value {
        Value::Number(x) => json!(x),
        Value::List(items) => items.iter().map(entry).collect(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(x) => format!("{x:?}"),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
    }
}
