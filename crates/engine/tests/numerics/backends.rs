//! Motions have the same bits by every backend. With the feature `cranelift` Cranelift is among them.

use pfaff::{Backend, Motion, Run, gallery_model};

use crate::support;

/// Reduced and saddle-point forms, charts that change, an `equation` model, functions that are called,
/// tables, events, long Taylor series, memory: each evaluated so often that machine code takes over, also where
/// it takes long to compile.
const CASES: [(&str, &str, f64); 12] = [
    ("sleigh", "rk4", 5.0),
    ("trailers", "dop853", 30.0),
    ("ball_in_bowl", "dop853", 2.0),
    ("rattleback", "dop853", 0.5),
    ("double_pendulum", "dop853", 3.0),
    ("double_pendulum", "taylor", 60.0),
    ("four_bar", "dop853", 20.0),
    ("driven_bead", "dop853", 6.0),
    ("contact_oscillator", "dop853", 20.0),
    ("sleigh_vakonomic", "dop853", 10.0),
    ("isokinetic", "dop853", 10.0),
    ("fractional_oscillator", "auto", 2.0),
];
/// More evaluations than the interpreter makes before Cranelift compiles a program of 20 instructions.
const MANY: usize = 1_400;

#[test]
fn every_backend_gives_the_bits_of_the_interpreter() {
    let available: Vec<Backend> =
        Backend::ALL.into_iter().filter(|backend| backend.is_available()).collect();
    assert_eq!(available.contains(&Backend::Cranelift), cfg!(feature = "cranelift"));
    for (name, method, t1) in CASES {
        let text = gallery_model(name).unwrap_or_else(|| panic!("{name} is there")).text;
        let motion = |backend| {
            let request = Run {
                method: pfaff::Method::from_name(method),
                t1: Some(t1),
                step: (method == "rk4").then_some(0.01),
                backend: Some(backend),
                ..Run::default()
            };
            support::run(&support::model(text), &request)
        };
        let interpreted = motion(Backend::Interpreter);
        assert!(interpreted.statistics.evaluations > MANY, "{name}, {method} is long");
        let interpreted = bits(&interpreted);
        for &backend in &available[1..] {
            let compiled = bits(&motion(backend));
            let part = interpreted.iter().zip(&compiled).find(|(a, b)| a != b);
            assert!(part.is_none(), "{name}, {method}: {backend:?} differs at {part:?}");
            assert_eq!(interpreted.len(), compiled.len(), "{name}, {method}: {backend:?}");
        }
    }
}

/// All numbers of a motion, by their names.
fn bits(motion: &Motion) -> Vec<(String, u64)> {
    let Motion { q, v, a, multipliers, reactions, observed, .. } = motion;
    let series = [q, v, a, multipliers, reactions, observed].into_iter().flatten();
    let series = series.flat_map(|s| s.values.iter().map(|x| (s.name.clone(), *x)));
    let energy = motion.energy.iter().map(|x| ("energy".to_owned(), *x));
    let times = motion.t.iter().map(|x| ("t".to_owned(), *x));
    let all = times.chain(series).chain(energy);
    // What is not a number has no bits of its own.
    all.map(|(name, x)| (name, if x.is_nan() { u64::MAX } else { x.to_bits() })).collect()
}
