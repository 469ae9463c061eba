//! A damped oscillator with power-law memory, audited. `cargo run -p pfaff --example memory`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use pfaff::{Error, Model, Run};

fn main() -> Result<(), Error> {
    // x″ + D^{1/2} x + x = 0: a half-derivative in the place of a damper (Bagley and Torvik).
    let model = Model::parse(
        "
         coordinates x
         lagrangian  x'^2/2 - x^2/2
         force       x: -caputo(x, 1/2)
         initial     x = 1",
    )?;
    let motion = model.run(&Run::to(10.0).samples(6))?;
    for (t, x) in motion.t.iter().zip(motion.position("x")?.values()) {
        println!("t = {t:>4}   x = {x:>10.7}");
    }
    for check in &motion.audit.checks {
        println!(
            "{:<9} {}: {:.1e} ≤ {:.1e}",
            check.verdict.name(),
            check.name,
            check.value,
            check.limit
        );
    }
    Ok(())
}
