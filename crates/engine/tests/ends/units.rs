//! Motions between given ends do not depend on the units of the model: lengths, masses and times from those of atoms to
//! those of planets give the same motion, the same verdicts and the same number of solutions.

use pfaff::{Run, Verdict};

use crate::support;
use crate::support::ends::solutions;

/// Units of length, time and mass.
const UNITS: [[&str; 3]; 5] = [
    ["1", "1", "1"],
    ["1e-6", "1e-9", "1e-15"],
    ["1e9", "1e5", "1e20"],
    ["1e-10", "1e-15", "1e-30"],
    ["1e-3", "1e3", "1e-12"],
];

/// Positions in units of length, one coordinate after another, and how many solutions there are.
fn motion(model: &str, [L, T, M]: [&str; 3], angles: &[&str]) -> (Vec<f64>, usize) {
    let text = model.replace("{L}", L).replace("{T}", T).replace("{M}", M);
    let model = support::model_with(&text, "", "");
    let motion = support::run(&model, &Run { samples: Some(5), ..Run::default() });
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{text}\n{:?}", motion.audit);
    let length: f64 = L.parse().expect("it is a number");
    let unit = |name: &str| if angles.contains(&name) { 1.0 } else { length };
    let columns = motion.q.iter();
    let q = columns.flat_map(|c| c.values.iter().map(|x| x / unit(&c.name)));
    (q.collect(), solutions(&motion).len())
}

fn same_in_all_units(model: &str, angles: &[&str]) {
    let (wanted, count) = motion(model, UNITS[0], angles);
    for units in &UNITS[1..] {
        let (found, other) = motion(model, *units, angles);
        assert_eq!(count, other, "{units:?}");
        for (a, b) in wanted.iter().zip(&found) {
            // The ends are met to 1e-12, and the sizes of units are decimal.
            assert!((a - b).abs() < 1e-10, "{units:?}: {a} {b}\n{model}");
        }
    }
}

#[test]
fn a_ball_between_two_places() {
    same_in_all_units(
        "coordinates x, y
parameters m = {M}, g = 9.81*{L}/{T}^2
lagrangian m*(x'^2 + y'^2)/2 - m*g*y
initial x = 0, y = 0
final x = 3*{L}, y = {L}
solve t = 0..1.3*{T}",
        &[],
    );
}

/// Lengths beside an angle, and a conserved momentum of other dimension than the other one.
#[test]
fn an_orbit_between_two_places() {
    same_in_all_units(
        "coordinates r, th
parameters m = {M}, k = {M}*{L}^3/{T}^2
lagrangian m*(r'^2 + r^2*th'^2)/2 + k/r
initial r = {L}, th = 0
final r = 1.2*{L}, th = 2
solve t = 0..2*{T}",
        &["th"],
    );
}

/// The relation of velocities and momenta is not linear.
#[test]
fn a_relativistic_oscillator() {
    same_in_all_units(
        "coordinates x
parameters m = {M}, c = 2*{L}/{T}, k = {M}/{T}^2
lagrangian -m*c^2*sqrt(1 - (x'/c)^2) - k*x^2/2
initial x = 0
final x = {L}
solve t = 0..1.5*{T}",
        &[],
    );
}

/// A free end, and a coordinate of which nothing else is given.
#[test]
fn a_coordinate_that_is_free_at_the_end() {
    same_in_all_units(
        "coordinates x, y
parameters m = {M}, k = {M}/{T}^2
lagrangian m*(x'^2 + y'^2)/2 - k*(x^2 + 2*y^2)/2 - k*x^2*y/{L}
initial x = {L}, y = 0
final x = 0.2*{L}
solve t = 0..{T}",
        &[],
    );
}

/// A holonomic constraint and its multiplier.
#[test]
fn a_bead_on_a_sphere() {
    same_in_all_units(
        "coordinates x, y, z
parameters m = {M}, R = {L}, g = 9.81*{L}/{T}^2
lagrangian m*(x'^2 + y'^2 + z'^2)/2 - m*g*z
constraint s: x^2 + y^2 + z^2 = R^2
initial x = 0.6*{L}, y = 0, z = -0.8*{L}
final x = 0, y = 0.6*{L}, z = -0.8*{L}
solve t = 0..0.7*{T}",
        &[],
    );
}

/// A velocity constraint, a free duration, and its multiplier.
#[test]
fn a_blade_whose_time_is_free() {
    same_in_all_units(
        "coordinates x, y, th
lagrangian 1/{T} + (x'^2 + y'^2)/{L}^2*{T} + th'^2*{T}
principle vakonomic
constraint blade: x'*sin(th) - y'*cos(th) = 0
initial x = 0, y = 0, th = 0
final x = {L}, y = 0.4*{L}, th = 0.3, t = free
solve t = 0..{T}",
        &["th"],
    );
}

/// Nothing but the force says how large the motion is. Mirrored motions have equal actions: which one is first is
/// rounding.
#[test]
fn a_pendulum_that_returns_to_where_it_hung() {
    let model = "coordinates a
parameters L = {L}
lagrangian a'^2/2 + (L/{T})^2*cos(a/L)
initial a = 0
final a = 0
solve t = 0..10*{T}";
    let (wanted, count) = motion(model, UNITS[0], &[]);
    for units in &UNITS[1..] {
        let (found, other) = motion(model, *units, &[]);
        assert_eq!(count, other, "{units:?}");
        let sign = if found[2] * wanted[2] < 0.0 { -1.0 } else { 1.0 };
        for (a, b) in wanted.iter().zip(&found) {
            assert!((a - sign * b).abs() < 1e-9, "{units:?}: {a} {b}");
        }
    }
}
