//! Where equilibria are looked for: a box of positions and velocities, and states that fill it evenly.

use pfaff_model::closest;

use crate::analysis::phase::equilibria::EquilibriaRequest;
use crate::analysis::phase::field::FieldPoint;
use crate::analysis::phase::linearize::Phase;
use crate::error::Failure;
use crate::problem::start::Given;

/// Starts in a box.
const STARTS: usize = 64;
/// Where positions are looked for that no box is given for.
const BOX: f64 = 4.0;
/// How many starts lie in a box so many times as large, if no box is given.
const FAR: (usize, f64) = (32, 10.0);

/// A range of a quantity: its coordinate, and whether it is a velocity.
pub(super) struct Side {
    pub(super) coordinate: usize,
    pub(super) is_velocity: bool,
    pub(super) from: f64,
    pub(super) to: f64,
    /// Whether it was asked for, so that nothing outside counts.
    pub(super) is_given: bool,
}

pub(super) fn sides(phase: &Phase, request: &EquilibriaRequest) -> Result<Vec<Side>, Failure> {
    let model = &phase.model;
    let mut sides: Vec<Side> = Vec::new();
    for range in &request.search {
        let (name, is_velocity) = match range.name.strip_suffix('\'') {
            Some(name) => (name.trim(), true),
            None => (range.name.as_str(), false),
        };
        let Some(k) = model.coordinates.iter().position(|c| c.name == name) else {
            let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
            let hint = closest(name, &names).map_or_else(
                || format!("the coordinates are {}", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(Failure::Usage(format!("there is no coordinate `{name}`; {hint}")));
        };
        if is_velocity && phase.field.velocity_at[k].is_none() {
            return Err(Failure::Usage(format!(
                "`{name}'` is not part of the state: the equations are of first order in `{name}`"
            )));
        }
        if sides.iter().any(|s| s.coordinate == k && s.is_velocity == is_velocity) {
            return Err(Failure::Usage(format!("`{}` is given twice", range.name)));
        }
        let (from, to) = (range.from.min(range.to), range.from.max(range.to));
        sides.push(Side { coordinate: k, is_velocity, from, to, is_given: true });
    }
    if sides.is_empty() {
        let all = 0..model.coordinates.len();
        let side = |k| Side {
            coordinate: k,
            is_velocity: false,
            from: -BOX,
            to: BOX,
            is_given: false,
        };
        sides.extend(all.map(side));
    }
    Ok(sides)
}

/// A number in [0, 1) of the sequence of Halton to a base.
fn halton(mut index: usize, base: usize) -> f64 {
    let (mut part, mut sum) = (1.0, 0.0);
    while index > 0 {
        part /= base as f64;
        sum += part * (index % base) as f64;
        index /= base;
    }
    sum
}

const PRIMES: [usize; 16] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];

/// The initial state, its positions at rest, and states that fill the box.
pub(super) fn guesses(own: &Given, sides: &[Side]) -> Vec<Given> {
    let mut guesses = vec![own.clone(), Given { v: vec![None; own.v.len()], ..own.clone() }];
    let is_given = sides.iter().any(|side| side.is_given);
    let more = if is_given { 0 } else { FAR.0 };
    for index in 1..=STARTS + more {
        let wide = if index > STARTS { FAR.1 } else { 1.0 };
        let mut guess = Given { v: vec![None; own.v.len()], ..own.clone() };
        for (side, place) in sides.iter().zip(0..) {
            let unit = match PRIMES.get(place) {
                Some(&base) => halton(index, base),
                // Beyond sixteen sides an even sequence in each is as good.
                None => (index as f64 * (0.618_033_988_749_894_9 + place as f64)).fract(),
            };
            let list = if side.is_velocity { &mut guess.v } else { &mut guess.q };
            list[side.coordinate] = Some(wide * (side.from + (side.to - side.from) * unit));
        }
        guesses.push(guess);
    }
    guesses
}

/// Whether a state lies in the box that was asked for.
pub(super) fn is_inside(phase: &Phase, sides: &[Side], at: &FieldPoint) -> bool {
    sides.iter().filter(|s| s.is_given).all(|s| {
        let c = if s.is_velocity {
            phase.field.velocity_at[s.coordinate].unwrap_or(s.coordinate)
        } else {
            s.coordinate
        };
        let room = 1e-9 * (1.0 + s.to.abs().max(s.from.abs()));
        (s.from - room..=s.to + room).contains(&at.y[c])
    })
}
