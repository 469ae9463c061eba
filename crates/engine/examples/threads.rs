//! One model, many runs on all cores: a parameter study. `cargo run -p pfaff --example threads`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use pfaff::{Error, Model, NoFiles, Overrides, Run, Source};

const TEXT: &str = "
coordinates  th
parameters   g = 9.81, l = 1, amplitude
lagrangian   l^2*th'^2/2 + g*l*cos(th)
initial      th = amplitude
event        falling zero: th
";

/// The period of a pendulum from its first two downward zeros.
fn period(amplitude: f64) -> Result<f64, Error> {
    let set = Overrides { set: Some(format!("amplitude={amplitude}")), ..Overrides::default() };
    let model = Model::read(Source::new("pendulum", TEXT), &set, &NoFiles)?;
    let motion = model.run(&Run::to(12.0).tolerance(1e-12))?;
    Ok(motion.events[1].t - motion.events[0].t)
}

fn main() -> Result<(), Error> {
    let amplitudes = [0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0];
    let periods: Vec<Result<f64, Error>> = std::thread::scope(|scope| {
        let runs: Vec<_> = amplitudes.map(|a| scope.spawn(move || period(a))).into();
        runs.into_iter().map(|run| run.join().expect("a run does not panic")).collect()
    });
    for (amplitude, period) in amplitudes.iter().zip(periods) {
        println!("amplitude {amplitude:.1}: period {:.9} s", period?);
    }
    Ok(())
}
