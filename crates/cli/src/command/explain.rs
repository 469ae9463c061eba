//! `pfaff explain`

use std::fmt::Write;

use clap::Args;
use pfaff::{EXPLANATIONS, Explanation, closest, explanation};
use pfaff_present::json_text;
use serde_json::{Value, json};

use crate::output::{Exit, print, usage};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff explain                all codes with their titles
  pfaff explain E0607          what it means, an example that provokes it, the repaired text
  pfaff explain --json         all pages for a program")]
pub(crate) struct ExplainArguments {
    /// Codes of diagnostics, such as E0607; all are listed if there is none
    pub(crate) codes: Vec<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn explain(arguments: &ExplainArguments) -> Result<Exit, Exit> {
    let chosen = arguments.codes.iter().map(|code| page(code));
    let chosen = chosen.collect::<Result<Vec<&Explanation>, Exit>>()?;
    let all = chosen.is_empty();
    let pages = if all { EXPLANATIONS.iter().collect() } else { chosen };
    print(&if arguments.json {
        let list: Vec<Value> = pages.iter().map(|e| entry(e)).collect();
        json_text(&json!({ "diagnostics": list })) + "\n"
    } else if all {
        list()
    } else {
        pages.iter().map(|e| e.page).collect::<Vec<_>>().join("\n")
    })?;
    Ok(Exit::Done)
}

fn page(word: &str) -> Result<&'static Explanation, Exit> {
    let code = word.to_uppercase();
    explanation(&code).ok_or_else(|| {
        let hint = nearest(&code).map_or_else(
            || "codes look like E0607, and `pfaff explain` lists them".to_owned(),
            |near| format!("did you mean {near}?"),
        );
        usage(&format!("there is no diagnostic `{word}`; {hint}"))
    })
}

/// The code that looks most like the given one, or else the one with the nearest number.
fn nearest(code: &str) -> Option<&'static str> {
    let codes: Vec<&str> = EXPLANATIONS.iter().map(|e| e.code).collect();
    let number = |code: &str| code.trim_start_matches('E').parse::<u32>().ok();
    closest(code, &codes).or_else(|| {
        let wanted = number(code)?;
        codes.into_iter().min_by_key(|c| number(c).map_or(u32::MAX, |n| n.abs_diff(wanted)))
    })
}

fn list() -> String {
    let mut text = String::new();
    for e in EXPLANATIONS {
        let _ = writeln!(text, "{}  {}", e.code, e.title());
    }
    text + "\nRead one with `pfaff explain CODE`.\n"
}

fn entry(e: &Explanation) -> Value {
    json!({ "code": e.code, "title": e.title(), "page": e.page })
}
