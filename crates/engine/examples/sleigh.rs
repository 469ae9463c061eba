//! A Chaplygin sleigh: from the text of a paper to numbers. `cargo run -p pfaff --example sleigh`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use pfaff::{Error, Model, Principle, Run};

const SLEIGH: &str = "
title        \"Chaplygin sleigh\"
coordinates  x, y, phi
parameters   m = 1, J = 0.5, a = 0.2
let          X = x + a*cos(phi)               # centre of mass
let          Y = y + a*sin(phi)
lagrangian   m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
initial      x' = 1, phi' = 0.3
observe      speed = x'*cos(phi) + y'*sin(phi)
";

fn main() -> Result<(), Error> {
    let model = Model::parse(SLEIGH)?;
    let motion = model.derive(Principle::Chetaev)?.run(Run::to(20.0).tolerance(1e-10))?;

    println!(
        "{}: {} steps, audit {}",
        motion.title,
        motion.statistics.steps,
        motion.audit.verdict.name()
    );
    let (x, y) = (motion.position("x")?, motion.position("y")?);
    for t in [0.0, 2.5, 5.0, 10.0, 20.0] {
        println!("t = {t:>4}   x = {:>9.6}   y = {:>9.6}", x.at(t), y.at(t));
    }
    let speed = motion.observed("speed")?;
    println!("the blade's speed grows from {} to {:.6}", speed[0], speed[speed.len() - 1]);
    Ok(())
}
