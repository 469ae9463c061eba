//! One model under two principles: do they give the same motion? `cargo run -p pfaff --example principles`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use pfaff::{Error, Model, Principle, Run, compare};

fn main() -> Result<(), Error> {
    let model = Model::parse(
        "
         coordinates x, y, z
         lagrangian  (x'^2 + y'^2 + z'^2)/2
         constraint  c: z' - y*x' = 0
         initial     x' = 1, y' = 0.5, multipliers = zero",
    )?;
    let both = [Principle::Chetaev, Principle::Vakonomic];
    let found = compare(&model, &Run::to(4.0).samples(5), Some(&both))?;
    for motion in &found.motions {
        let name = motion.principle.map_or("", Principle::name);
        let ends: Vec<String> =
            motion.q.iter().map(|s| format!("{} = {:.6}", s.name, s.values[4])).collect();
        println!("{name:<10} {}   audit {}", ends.join(", "), motion.audit.verdict.name());
    }
    for parting in &found.partings {
        match parting.law {
            Some((k, c)) => println!("they part like {c:.3}·t^{k:.2}"),
            None => println!("they stay together"),
        }
    }
    Ok(())
}
