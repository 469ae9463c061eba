//! Settings of a run → the command that gives its numbers again, for a page that shows them.

use pfaff::{Motion, Overrides, Precision, Principle, Run};

/// `pfaff run …`, or `pfaff compare …` where several motions are compared.
pub(crate) fn command(
    name: &str,
    request: &Run,
    overrides: &Overrides,
    compared: Option<&[Motion]>,
) -> String {
    let r = request;
    let mut words = vec!["pfaff".to_owned()];
    words.push(if compared.is_some() { "compare" } else { "run" }.to_owned());
    words.push(quoted(name));
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push(format!("--{name} {}", quoted(&value)));
        }
    };
    option("set", overrides.set.clone());
    option("initial", overrides.initial.clone());
    if let Some(motions) = compared {
        let names: Vec<&str> =
            motions.iter().filter_map(|m| m.principle).map(Principle::name).collect();
        option("principles", Some(names.join(",")));
    } else {
        option("principle", r.principle.map(|p| p.name().to_owned()));
    }
    option("t0", r.t0.map(|x| x.to_string()));
    option("t1", r.t1.map(|x| x.to_string()));
    option("tolerance", r.tolerance.map(|x| format!("{x:e}")));
    option("method", r.method.map(|method| method.name().to_owned()));
    let word =
        |p: Precision| Precision::ALL.iter().find(|(known, _)| *known == p).map(|(_, w)| *w);
    option("precision", r.precision.and_then(word).map(str::to_owned));
    option("step", r.step.map(|x| x.to_string()));
    option("samples", r.samples.map(|n| n.to_string()));
    let times = |at: &Vec<f64>| at.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    option("at", r.at.as_ref().map(times));
    option("max-steps", r.max_steps.map(|n| n.to_string()));
    words.push("--json".into());
    words.join(" ")
}

/// For a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,+=:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!(
        "\"{}\"",
        word.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`")
    )
}
