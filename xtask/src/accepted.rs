//! Planted errors that need not be found: those that change no result, or nothing but what a result costs.
//!
//! Each has been looked at by itself: nothing is here because no test has found it.

/// File, a part of the line, and the reason.
pub(crate) const ACCEPTED: &[(&str, &str, &str)] = &[
    (
        "solver/src/volterra/integrate.rs",
        "two_sum(self.progress.elapsed, h + self.progress.lost)",
        "what rounding takes from the time: 10⁻¹⁶ of it",
    ),
    (
        "solver/src/volterra/integrate.rs",
        "let share = sum - a;",
        "what rounding takes from the time: 10⁻¹⁶ of it",
    ),
    (
        "solver/src/volterra/integrate.rs",
        "(sum, (a - (sum - share)) + (b - share))",
        "what rounding takes from the time: 10⁻¹⁶ of it",
    ),
    (
        "solver/src/bvp/block_system.rs",
        "w[k] += length.copysign(w[k])",
        "both vectors reflect the column onto its first place; the other one loses digits where it is nearly there",
    ),
    (
        "solver/src/linalg/eigen.rs",
        "[1.0 + 0.1 * i as f64, 0.0]",
        "inverse iteration begins with any vector",
    ),
    (
        "solver/src/linalg/eigen.rs",
        "if (c + row) / f < 0.95 * (column + row)",
        "how long scales are balanced: the eigenvalues are the same",
    ),
    (
        "solver/src/linalg/eigen.rs",
        "let size = p.abs() + q.abs() + r.abs();",
        "a common factor of a vector that is normalised next",
    ),
    (
        "solver/src/quadrature/gauss_jacobi.rs",
        "e[l] / (g + r.copysign(g))",
        "another shift of the same iteration: it ends at the same eigenvalues",
    ),
    (
        "solver/src/ode/integrate.rs",
        "if (t1 - t0).is_nan()",
        "the start is finite: sum and difference are both a number or both not",
    ),
    (
        "solver/src/ode/integrate.rs",
        "if !is_implicit && (self.clock.t1 - t).abs() < WORTH * self.clock.h.abs()",
        "whether a change of method is worth its cost",
    ),
    (
        "solver/src/ode/integrate/jump.rs",
        "let length = (2.0 * (t - last).abs()).max(1e-3 * h.abs());",
        "how long the step after a jump is tried: it is judged as all are",
    ),
    (
        "solver/src/ode/events/jump.rs",
        "let stays = (value - known.value).abs() <= SAME * known.reach;",
        "the value before a jump at a zero is zero",
    ),
    (
        "solver/src/ode/events/jump.rs",
        "let moved = through * (self.values[index] - known.value);",
        "the value at a zero is zero",
    ),
    (
        "solver/src/ode/radau.rs",
        "0.9 * (2.0 * most + 1.0) / (2.0 * most + self.newton.iterations.max(1) as f64)",
        "how long the next step is tried: it is judged as all are",
    ),
    (
        "solver/src/ode/radau.rs",
        "libm::pow(error.max(1e-10), 1.0 / (s as f64 + 1.0)) / safety",
        "how long the next step is tried: it is judged as all are",
    ),
    (
        "solver/src/ode/radau.rs",
        "let predicted = (h / trial.h) * libm::pow(growth, 1.0 / (s + 1.0)) / 0.9;",
        "how long the next step is tried: it is judged as all are",
    ),
    (
        "solver/src/ode/step_control.rs",
        "*state = y + g * f;",
        "how long the first step is tried: by rates a little before the start, if not after it",
    ),
    (
        "solver/src/ode/step_control.rs",
        "if system.rates(from.t + g, state, rates).is_ok()",
        "how long the first step is tried: by rates a little before the start, if not after it",
    ),
    (
        "solver/src/ode/scale.rs",
        "*base += part * (sign(beside, j) * largest[j] + h * rates[j]);",
        "where the rounding of rates is measured: beside the state, to either side",
    ),
    (
        "solver/src/ode/scale.rs",
        "let time = t + STEP * sign(seed, 0) * t;",
        "where the rounding of rates is measured: beside the state, to either side",
    ),
    (
        "solver/src/ode/stiffness.rs",
        "let h = (WORTH + n as f64) * clock.h;",
        "when another method is tried: what that costs",
    ),
];
