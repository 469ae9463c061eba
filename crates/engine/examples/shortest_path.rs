//! Parking a car: all extremals between two poses, the shortest first. `cargo run -p pfaff --example shortest_path`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use pfaff::{Error, Model, Run};

fn main() -> Result<(), Error> {
    // A unicycle from one pose to another, with the least ∫ (v² + ω²)/2 dt.
    let model = Model::parse(
        "
         coordinates x, y, th
         lagrangian  (x'^2 + y'^2 + th'^2)/2
         constraint  wheel: y'*cos(th) - x'*sin(th) = 0
         principle   vakonomic
         initial     x = 0, y = 0, th = 0
         final       x = 0, y = 1, th = 0
         solve       t = 0..1",
    )?;
    let motion = model.run(&Run::default())?;
    for (k, solution) in motion.solutions.iter().flatten().enumerate() {
        println!(
            "{}. action {:.9}, residual {:.1e}",
            k + 1,
            solution.action,
            solution.residual
        );
    }
    let (x, th) = (motion.position("x")?, motion.position("th")?);
    println!("halfway the shortest one is at x = {:.6}, th = {:.6}", x.at(0.5), th.at(0.5));
    println!("audit {}", motion.audit.verdict.name());
    Ok(())
}
