//! `cargo xtask longtime`: what the methods keep of eight nonholonomic systems over many steps.
//!
//! Writes the table in `docs/longtime.md` between its markers, and the pictures beside it. The number of steps may be
//! given; 1 000 000 if not.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal, not part of the library"
)]

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use pfaff::{Method, Model, Motion, Run, StopReason};
use pfaff_present::{Axis, Curve, Figure, Look};

/// A system: its name, what kind of motion it has, the step, and its text.
struct Example {
    name: &'static str,
    kind: &'static str,
    step: f64,
    text: &'static str,
}

const EXAMPLES: [Example; 8] = [
    Example {
        name: "contact oscillator",
        kind: "reversible, integrable",
        step: 0.05,
        text: "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - 2*y^2\nconstraint z' = y*x'\n\
               initial y = 0.5, x' = 0.9, y' = 0.3\n",
    },
    Example {
        name: "particle in a well",
        kind: "reversible, nearly integrable",
        step: 0.05,
        text: "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - (x^2 + y^2 + z^2)/2\n\
               constraint z' = y*x'\ninitial x = 0.6, y = 0.4, z = 0.1, x' = 0.3, y' = 0.5\n",
    },
    Example {
        name: "coupled particle",
        kind: "chaotic",
        step: 0.05,
        text: "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - (x^2 + y^2 + z^2)/2 - 2*x^2*z^2 - x^2*y^2\n\
               constraint z' = y*x'\ninitial x = 1, y = 0.8, z = 0.4, x' = 0.5, y' = -0.9\n",
    },
    Example {
        name: "variable gear",
        kind: "reversible, driven by a third body",
        step: 0.05,
        text: "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - (x^2 + 1.7*y^2 + z^2)/2\n\
               constraint x' = (1 + 0.4*sin(y))*z'\ninitial x = 0.5, y = 0.7, z' = 0.4, y' = 0.6\n",
    },
    Example {
        name: "tilted gear",
        kind: "not reversible across the gear",
        step: 0.05,
        text: "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - (x^2 + 1.7*y^2 + z^2)/2 - 0.2*y^3/3\n\
               constraint x' = (1 + 0.4*sin(y) + 0.2*x)*z'\ninitial x = 0.4, y = 0.5, z' = 0.4, y' = 0.6\n",
    },
    Example {
        name: "knife edge on a slope",
        kind: "integrable",
        step: 0.02,
        text: "coordinates x, y, phi\nlagrangian (x'^2 + y'^2)/2 + phi'^2/4 + x\n\
               constraint x'*sin(phi) = y'*cos(phi)\ninitial phi' = 1.5\n",
    },
    Example {
        name: "rolling disk in a bowl",
        kind: "quasi-periodic",
        step: 0.02,
        text: "coordinates x, y, phi, psi\nlagrangian (x'^2 + y'^2)/2 + phi'^2/8 + psi'^2/4 - (x^2 + y^2)/2\n\
               constraint x' = cos(phi)*psi'\nconstraint y' = sin(phi)*psi'\n\
               initial x = 0.5, phi = 0.3, phi' = 0.7, psi' = 0.8\n",
    },
    Example {
        name: "sleigh on a spring",
        kind: "not volume preserving",
        step: 0.02,
        text: "coordinates x, y, phi\nlagrangian ((x + 0.2*cos(phi))'^2 + (y + 0.2*sin(phi))'^2)/2 + phi'^2/4 \
               - (x^2 + y^2)/2\nconstraint y'*cos(phi) = x'*sin(phi)\ninitial x = 0.8, x' = 0.3, phi' = 0.4\n",
    },
];

const METHODS: [Method; 3] = [Method::Rk4, Method::Dalembert, Method::Energy];
const SAMPLES: usize = 401;

/// The deviation of the energy from its start at each output, in parts of the mean kinetic and potential terms.
fn deviations(motion: &Motion) -> Vec<f64> {
    let first = motion.energy[0];
    let size = motion.energy.iter().fold(1e-3_f64, |m, e| m.max(e.abs()));
    motion.energy.iter().map(|e| (e - first).abs() / size).collect()
}

fn run(example: &Example, method: Method, steps: usize) -> Result<Motion, String> {
    let model = Model::parse(example.text).map_err(|error| error.to_string())?;
    let t1 = example.step * steps as f64;
    let request = Run {
        outputs_only: true,
        ..Run::to(t1).method(method).step(example.step).samples(SAMPLES)
    };
    let request = request.max_steps(2 * steps + 10);
    let motion = model.run(&request).map_err(|error| error.to_string())?;
    if motion.stop.reason != StopReason::End {
        return Err(format!("stopped at t = {}", motion.stop.t));
    }
    Ok(motion)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// What became of the energy: the largest deviation in the last tenth, and how that compares with the first tenth.
fn verdict(deviations: &[f64]) -> String {
    let tenth = deviations.len() / 10;
    let (first, last) =
        (largest(&deviations[..tenth]), largest(&deviations[deviations.len() - tenth..]));
    let word = if last < 1e-10 {
        "kept"
    } else if last < 3.0 * first {
        "bounded"
    } else {
        "drifts"
    };
    format!("{word}, {last:.0e}")
}

fn picture(curves: Vec<Curve<'static>>, title: &str) -> String {
    let figure = Figure {
        title: title.to_owned(),
        x: Axis { label: "t".into(), log: true },
        y: Axis { label: "deviation of the energy".into(), log: true },
        curves,
        areas: Vec::new(),
        equal: false,
    };
    figure.to_svg(Look::default())
}

fn main() -> ExitCode {
    let steps = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1_000_000);
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut table = String::from(
        "| system | motion | h | `rk4` | `dalembert` | `energy` |\n|---|---|---|---|---|---|\n",
    );
    let mut failed = false;
    for (k, example) in EXAMPLES.iter().enumerate() {
        let mut cells = Vec::new();
        let mut curves = Vec::new();
        for (colour, method) in METHODS.into_iter().enumerate() {
            match run(example, method, steps) {
                Ok(motion) => {
                    let found = deviations(&motion);
                    cells.push(verdict(&found));
                    let positive = |x: f64| x.max(1e-17);
                    let y: Vec<f64> = found[1..].iter().map(|x| positive(*x)).collect();
                    curves.push(Curve {
                        name: method.name().to_owned(),
                        x: motion.t[1..].to_vec().into(),
                        y: y.into(),
                        colour,
                        ..Curve::default()
                    });
                }
                Err(why) => {
                    eprintln!("{}, {}: {why}", example.name, method.name());
                    cells.push("stops".to_owned());
                    failed = true;
                }
            }
        }
        println!("{}: {}", example.name, cells.join("; "));
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} |",
            example.name,
            example.kind,
            example.step,
            cells.join(" | ")
        );
        if k == 0 || k == 2 {
            let file = if k == 0 { "longtime_regular.svg" } else { "longtime_chaotic.svg" };
            let svg = picture(curves, example.name);
            if let Err(error) = std::fs::write(docs.join("images").join(file), svg) {
                eprintln!("{file}: {error}");
                failed = true;
            }
        }
    }
    failed |= !insert(&docs.join("longtime.md"), &table, steps);
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Replaces what stands between the markers of the page.
fn insert(page: &std::path::Path, table: &str, steps: usize) -> bool {
    let (begin, end) = ("<!-- scoreboard -->\n", "<!-- end of scoreboard -->");
    let Ok(text) = std::fs::read_to_string(page) else { return false };
    let (Some(a), Some(b)) = (text.find(begin), text.find(end)) else { return false };
    let head = format!("After {steps} steps:\n\n{table}");
    let text = format!("{}{begin}{head}{}", &text[..a], &text[b..]);
    std::fs::write(page, text).is_ok()
}
