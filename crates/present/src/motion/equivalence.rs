//! Whether one motion satisfies two principles: in a sentence and as JSON.

use pfaff::{Equivalence, Motion, Principle, Series};
use serde_json::Value;

use crate::json::{number, object, string};

pub(crate) fn sentence(e: &Equivalence, first: &Motion) -> String {
    let names = first.multipliers.iter().map(|s| &s.name);
    let μ: Vec<String> =
        names.zip(&e.multipliers).map(|(n, x)| format!("mu({n}) = {x:.8}")).collect();
    let part = percent(e.residual, e.reaction);
    match (e.along, e.equivalent) {
        (Principle::Chetaev, true) => {
            format!(
                "this chetaev motion is also vakonomic, with {} at the start ({part} of its reaction (RMS) \
                 remains unexplained)",
                μ.join(", ")
            )
        }
        (Principle::Chetaev, false) => format!(
            "this chetaev motion is not vakonomic, whatever mu is at the start: the best choice, {}, leaves \
             {part} of its reaction (RMS) unexplained",
            μ.join(", ")
        ),
        (_, true) => format!(
            "this vakonomic motion also satisfies the d'Alembert–Chetaev equations ({part} of its reaction (RMS) lies \
             outside the span of the constraint gradients)"
        ),
        (_, false) => format!(
            "this vakonomic motion does not satisfy the d'Alembert–Chetaev equations: {part} of its reaction (RMS) \
             lies outside the span of the constraint gradients"
        ),
    }
}

/// As JSON, with the names of the multipliers.
pub(super) fn equivalence_json(e: &Equivalence, names: &[Series]) -> Value {
    let values = names.iter().zip(&e.multipliers);
    let μ = values.map(|(s, &x)| (s.name.clone(), number(x)));
    object([
        ("along", string(e.along.name())),
        ("equivalent", Value::Bool(e.equivalent)),
        ("residual", number(e.residual)),
        ("reaction", number(e.reaction)),
        ("mu0", object(μ)),
    ])
}

/// A part of a whole: `8.2 %`, `3e-7 %`.
fn percent(part: f64, whole: f64) -> String {
    let percent = if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
    if percent < 0.1 { format!("{percent:.0e} %") } else { format!("{percent:.1} %") }
}
