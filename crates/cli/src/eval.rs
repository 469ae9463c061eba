//! `pfaff eval`

use pfaff::{Json, Value, evaluate};

use crate::arguments::EvalArguments;
use crate::output::{Exit, print, rejected, usage};

pub(crate) fn eval(arguments: &EvalArguments) -> Result<Exit, Exit> {
    if arguments.from.is_some() || arguments.to.is_some() {
        return Err(usage(
            "--from and --to belong to memory operators, which are not built yet",
        ));
    }
    let with = arguments.with.as_deref().unwrap_or("");
    let value = evaluate(&arguments.expression, with).map_err(|r| rejected(&r))?;
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
