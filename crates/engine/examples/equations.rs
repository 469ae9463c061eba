//! The blocks of M q″ = f + Aᵀλ, A q″ = b at one state. `cargo run -p pfaff --example equations`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use pfaff::{Error, Model, Principle, State, at_state};

fn main() -> Result<(), Error> {
    let model = Model::gallery("sleigh")?;
    let report = model.check();
    println!("{} degrees of freedom", report.degrees_of_freedom);
    for constraint in &report.constraints {
        println!(
            "{}: {:?}, integrable: {:?}",
            constraint.name, constraint.class, constraint.integrable
        );
    }
    let equations = model.derive(Principle::Chetaev)?;
    let state = State {
        t: 0.0,
        q: vec![0.0, 0.0, 0.3],
        v: vec![libm::cos(0.3), libm::sin(0.3), 0.5],
        multipliers: vec![],
    };
    let at = at_state(&equations, &state)?;
    println!("M  = {:?}", at.mass);
    println!("A  = {:?}", at.jacobian);
    println!("q″ = {:?}", at.acceleration);
    println!("λ  = {:?}   (the force across the blade, R = +Aᵀλ)", at.multipliers);
    Ok(())
}
