//! `pfaff eval`

use clap::Args;
use pfaff::{Json, Range, Value, evaluate};

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
        format!("{}\n", Json::object([("value", json(&value))]))
    } else {
        format!("{}\n", shown(&value))
    })?;
    Ok(Exit::Done)
}

fn json(value: &Value) -> Json {
    match value {
        Value::Number(x) => Json::Number(*x),
        Value::List(items) => Json::List(items.iter().map(json).collect()),
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
