//! A motion in another form of the equations, as `geometry --motion` shows it.

use pfaff::{Model, ViewMotion};
use serde_json::Value;

use crate::json::{number, numbers, object, string};

/// As `geometry --motion --json` prints it.
pub fn view_json(motion: &ViewMotion, model: &Model, view: &str) -> Value {
    let table = |rows: &[Vec<f64>]| {
        let column = |k: usize| rows.iter().map(|r| r[k]).collect::<Vec<f64>>();
        let names = model.coordinates.iter().enumerate();
        object(names.map(|(k, c)| (c.name.clone(), numbers(&column(k)))))
    };
    object([
        ("pfaff", string(env!("CARGO_PKG_VERSION"))),
        ("model", string(model.name())),
        ("motion", string(view)),
        ("t", numbers(&motion.t)),
        ("q", table(&motion.q)),
        ("v", table(&motion.v)),
        ("deviation", number(motion.deviation)),
    ])
}

/// For people: the last state, and how far the two motions are apart.
pub fn view_text(motion: &ViewMotion, model: &Model, view: &str) -> String {
    use std::fmt::Write;
    let title = model.name();
    let mut text = format!("{title}\nmotion in the form {view}\n");
    if let (Some(t), Some(q), Some(v)) = (motion.t.last(), motion.q.last(), motion.v.last()) {
        let _ = writeln!(text, "\nat t = {t}");
        for (k, c) in model.coordinates.iter().enumerate() {
            let _ = writeln!(text, "  {0} = {1}, {0}' = {2}", c.name, q[k], v[k]);
        }
    }
    let _ = writeln!(
        text,
        "\nlargest distance from the motion of `run` at {} times: {:.1e}, relative to 1 + |q|",
        motion.t.len(),
        motion.deviation
    );
    text
}
