//! Lyapunov exponents that others have published, and of nonholonomic systems those of closed form.

use pfaff::{LyapunovRequest, Model, lyapunov};

use super::{Row, row};

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

/// Nonholonomic systems come to rest in motions whose exponents are known: a sleigh that goes straight on, and a body
/// after Suslov that turns about one axis.
pub(super) fn nonholonomic(rows: &mut Vec<Row>) {
    let least = |text: &str| {
        let model = Model::parse(text).expect("the text is right");
        let found = lyapunov(&model, &LyapunovRequest::default(), &mut || true);
        *found.expect("the motion begins").exponents.last().expect("it has exponents")
    };
    let sleigh = "
        coordinates x, y, phi
        parameters m = 1.3, J = 0.7, a = 0.4
        let P = [x + a*cos(phi), y + a*sin(phi)]
        lagrangian m*dot(P', P')/2 + J*phi'^2/2
        constraint x'*sin(phi) - y'*cos(phi) = 0
        initial phi = 0.2, x' = 0.8*cos(0.2), y' = 0.8*sin(0.2), phi' = 1.1";
    let (m, J, a) = (1.3_f64, 0.7, 0.4);
    let energy = 0.5 * (m * (0.64 + a * a * 1.21) + J * 1.21);
    rows.push(row(
        "Chaplygin sleigh, least Lyapunov exponent",
        "−a √(2 m E)/(J + m a²) [Bloch15, ch. 1]",
        -a * (2.0 * m * energy).sqrt() / (J + m * a * a),
        least(sleigh),
        9,
    ));
    let suslov = "
        coordinates psi, th, phi
        parameters A = 1.2, B = 1.7, C = 1.5, D = 0.3, F = 0.4
        let w1 = psi'*sin(th)*sin(phi) + th'*cos(phi)
        let w2 = psi'*sin(th)*cos(phi) - th'*sin(phi)
        let w3 = psi'*cos(th) + phi'
        lagrangian (A*w1^2 + B*w2^2 + C*w3^2)/2 + D*w1*w3 + F*w2*w3
        constraint psi'*cos(th) + phi' = 0
        initial th = 1.2, psi' = 0.9, th' = 0.5";
    let (A, B, D, F) = (1.2, 1.7, 0.3, 0.4);
    let [w1, w2] = [0.5, 0.9 * libm::sin(1.2)];
    let energy: f64 = 0.5 * (A * w1 * w1 + B * w2 * w2);
    rows.push(row(
        "Suslov's body, least Lyapunov exponent",
        "−√(2E (I₁₃² I₂₂ + I₂₃² I₁₁))/(I₁₁ I₂₂) (after Suslov 1902)",
        -(2.0 * energy * (D * D * B + F * F * A)).sqrt() / (A * B),
        least(suslov),
        5,
    ));
}
