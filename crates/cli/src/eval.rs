//! `pfaff eval`

use pfaff::{Formula, Json, Value, read_formula};

use crate::arguments::EvalArguments;
use crate::output::{Exit, failed, print, rejected, say};

pub(crate) fn eval(arguments: &EvalArguments) -> Result<Exit, Exit> {
    let with = arguments.with.as_deref().unwrap_or("");
    let formula = read_formula(&arguments.expression, with).map_err(|r| rejected(&r))?;
    let value = value(&formula)?;
    let shown = shown(&value);
    print(&if arguments.json {
        format!("{}\n", Json::object([("value", json(&value))]))
    } else {
        format!("{shown}\n")
    })?;
    Ok(Exit::Done)
}

fn value(formula: &Formula) -> Result<Value, Exit> {
    let value = formula.value().map_err(|failure| failed(&failure, formula.source()))?;
    let finite = match &value {
        Value::Number(x) => x.is_finite(),
        Value::List(_) => true,
    };
    if !finite {
        say("error: the value is infinite or not a number");
        return Err(Exit::BadModel);
    }
    Ok(value)
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
