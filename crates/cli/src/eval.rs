//! `pfaff eval`

use pfaff::{Json, Range, Value, evaluate};

use crate::arguments::EvalArguments;
use crate::output::{Exit, print, rejected};

pub(crate) fn eval(arguments: &EvalArguments) -> Result<Exit, Exit> {
    let range = Range { from: arguments.from, to: arguments.to };
    let with = arguments.with.as_deref().unwrap_or("");
    let value = evaluate(&arguments.expression, with, range).map_err(|r| rejected(&r))?;
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
