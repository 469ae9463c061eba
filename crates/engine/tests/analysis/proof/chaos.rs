//! Lyapunov exponents that others have published.

use pfaff::{LyapunovRequest, Model, lyapunov};

use super::Row;

const SPROTT: &str = "Sprott 2003, appendix A";
const FROM_MEMORY: &str = "Sprott 2003, appendix A (typed from memory)";
const SIMPLEST: &str = "Sprott 1997";

/// Means over an attractor: theirs and ours are known to a few units of the fourth decimal.
pub(super) fn exponents(rows: &mut Vec<Row>) {
    let lorenz = "
        coordinates x, y, z
        equation x' = 10*(y - x)
        equation y' = x*(28 - z) - y
        equation z' = x*y - 8/3*z
        initial x = 1, y = 1, z = 20";
    let rössler = "
        coordinates x, y, z
        equation x' = -y - z
        equation y' = x + 0.2*y
        equation z' = 0.2 + z*(x - 5.7)
        initial x = 1, y = 1, z = 0";
    let duffing = "
        coordinates x
        equation x'' = -0.25*x' + x - x^3 + 0.4*sin(t)
        initial x = 0.2, x' = 0";
    let ueda = "
        coordinates x
        equation x'' = -0.05*x' - x^3 + 7.5*sin(t)
        initial x = 2.5, x' = 0";
    let simplest = "
        coordinates x, y, z
        equation x' = y
        equation y' = z
        equation z' = -x + y^2 - 2.017*z
        initial x = 0, y = 0, z = 1";
    let mut add = |text: &str, source, wanted: &[(&'static str, usize, f64)]| {
        let model = Model::parse(text).expect("the text is right");
        let found = lyapunov(&model, &LyapunovRequest::default(), &mut || true);
        let found = found.expect("the motion begins");
        for &(what, k, theirs) in wanted {
            let ours = found.exponents[k];
            rows.push(Row { what, source, theirs, ours, least: 2, decimals: 4 });
        }
    };
    add(
        lorenz,
        SPROTT,
        &[
            ("Lorenz's system, largest Lyapunov exponent", 0, 0.9056),
            ("Lorenz's system, least Lyapunov exponent", 2, -14.5723),
        ],
    );
    add(
        rössler,
        SPROTT,
        &[
            ("Rössler's system, largest Lyapunov exponent", 0, 0.0714),
            ("Rössler's system, least Lyapunov exponent", 2, -5.3943),
        ],
    );
    add(
        duffing,
        FROM_MEMORY,
        &[("Duffing's oscillator, largest Lyapunov exponent", 0, 0.1572)],
    );
    add(ueda, FROM_MEMORY, &[("Ueda's oscillator, largest Lyapunov exponent", 0, 0.1034)]);
    add(
        simplest,
        SIMPLEST,
        &[
            ("simplest dissipative chaotic flow, largest Lyapunov exponent", 0, 0.0551),
            ("simplest dissipative chaotic flow, least Lyapunov exponent", 2, -2.0721),
        ],
    );
}
