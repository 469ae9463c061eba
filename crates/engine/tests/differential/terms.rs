//! Random terms of forces: kinks, steps, pulses, narrow and steep features, tables.

use std::f64::consts::PI;
use std::rc::Rc;

use super::formula::{Formula, Spline, from, number, of, sum, times};
use crate::support::Random;

/// Between two numbers, with three digits.
pub(crate) fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    let value = low + (high - low) * 0.5 * (1.0 + random.number());
    format!("{value:.2e}").parse().expect("a number")
}

/// A power of ten between two powers.
pub(crate) fn decade(random: &mut Random, low: f64, high: f64) -> f64 {
    let value = libm::pow(10.0, between(random, low, high));
    format!("{value:.1e}").parse().expect("a number")
}

fn boxed(a: Formula) -> Box<Formula> {
    Box::new(a)
}

/// The names of the kinds of terms, in the order of `term`.
pub(crate) const KINDS: [&str; 28] = [
    "abs",
    "drag",
    "sign",
    "clamp",
    "stop",
    "jump",
    "pulse",
    "time bump",
    "place bump",
    "steep",
    "steep friction",
    "table of time",
    "table of place",
    "triangle",
    "root of square",
    "power of square",
    "square wave",
    "oscillating",
    "smooth",
    "window of time",
    "window of place",
    "step in time",
    "root of time",
    "power of time",
    "wall",
    "angle",
    "nested",
    "ripple",
];

/// A force that depends on the place `x` and the velocity `v` (places among the variables) and on time up to `span`.
pub(crate) fn term(random: &mut Random, kind: &str, x: usize, v: usize, span: f64) -> Formula {
    let a = between(random, 0.1, 1.0);
    let c = between(random, -0.6, 0.6);
    let when = between(random, 0.1, 0.9) * span;
    let short = decade(random, -5.0, -1.0) * span;
    let body = match kind {
        "abs" => Formula::Abs(boxed(from(of(x), c))),
        "drag" => return times(number(-a), times(Formula::Abs(boxed(of(v))), of(v))),
        "sign" => Formula::Sign(boxed(from(of([x, v][random.below(2)]), c))),
        "clamp" => {
            let bound = between(random, 0.05, 0.5);
            let inner = Formula::Least(Box::new([number(bound), of(x)]));
            return times(
                number(-2.0 * a),
                Formula::Largest(Box::new([number(-bound), inner])),
            );
        }
        "stop" => {
            // A spring beyond c.
            let k = decade(random, 0.0, 4.0);
            let spring = times(number(-k), from(of(x), c));
            Formula::If(Box::new([from(of(x), c), spring, number(0.0)]))
        }
        "jump" => Formula::If(Box::new([from(of(x), c), number(a), number(-0.5)])),
        "pulse" => {
            let late = Formula::If(Box::new([
                from(Formula::Time, when + short),
                number(0.0),
                number((a / short).min(100.0)),
            ]));
            Formula::If(Box::new([from(Formula::Time, when), late, number(0.0)]))
        }
        "time bump" => {
            let strength = (a / short).min(100.0);
            let bump = Formula::Bump(short, boxed(from(Formula::Time, when)));
            return times(number(strength), bump);
        }
        "place bump" => {
            let width = decade(random, -4.0, -0.5);
            let bump = Formula::Bump(width, boxed(from(of(x), c)));
            return times(number((a / width).min(30.0)), bump);
        }
        "steep" => {
            let width = decade(random, -4.0, -0.5);
            Formula::Steep(width, boxed(from(of(x), c)))
        }
        "steep friction" => {
            let width = decade(random, -3.5, -0.5);
            return times(number(-0.3 * a), Formula::Steep(width, boxed(of(v))));
        }
        "table of time" => {
            let count = 4 + random.below(12);
            let blow = random.below(2) == 0;
            // Even knots with any values, or a blow between two knots.
            let mut knots: Vec<f64> =
                (0..=count).map(|k| span * 1.01 * k as f64 / count as f64).collect();
            let mut values: Vec<f64> = knots.iter().map(|_| random.number()).collect();
            if blow {
                knots = vec![0.0, 0.5 * when, when, when + short / 2.0, when + short];
                knots.extend([when + 2.0 * short, span * 1.2]);
                values = vec![0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0];
            }
            Formula::Table(Rc::new(Spline::new(knots, values)), boxed(Formula::Time))
        }
        "table of place" => {
            let knots: Vec<f64> = (0..=8).map(|k| f64::from(k) * 3.0 - 12.0).collect();
            let values = knots.iter().map(|_| random.number()).collect();
            Formula::Table(Rc::new(Spline::new(knots, values)), boxed(of(x)))
        }
        "triangle" => Formula::Triangle(boxed(times(number(between(random, 0.5, 3.0)), of(x)))),
        "root of square" => {
            Formula::PowerOfSquare(1, boxed(from(of([x, v][random.below(2)]), c)))
        }
        "power of square" => Formula::PowerOfSquare(3, boxed(from(of(x), c))),
        "square wave" => {
            let w = decade(random, -0.5, 1.0).min(300.0 / span);
            let wave = Formula::Sin(boxed(times(number(w), Formula::Time)));
            Formula::Sign(boxed(from(wave, c)))
        }
        "oscillating" => {
            let w = decade(random, -1.0, 2.0).min(2000.0 * PI / span);
            Formula::Sin(boxed(times(number(w), Formula::Time)))
        }
        "window of time" => {
            let strength = number((1.0 / short).min(100.0));
            Formula::Window([when, when + short], Box::new([Formula::Time, strength]))
        }
        "window of place" => {
            let width = decade(random, -4.0, -0.3);
            let strength = number((1.0 / width).min(30.0));
            Formula::Window([c, c + width], Box::new([of(x), strength]))
        }
        "step in time" => Formula::Logistic(short, boxed(from(Formula::Time, when))),
        "root of time" => Formula::RealPower(0.5, boxed(Formula::Time)),
        "power of time" => Formula::RealPower(between(random, 0.2, 2.8), boxed(Formula::Time)),
        "wall" => return times(number(-a), Formula::Power(31, boxed(of(x)))),
        "angle" => Formula::Angle(Box::new([from(of(x), c), of(v)])),
        "nested" => {
            let inner = Formula::Abs(boxed(from(Formula::Abs(boxed(of(x))), c.abs())));
            Formula::Largest(Box::new([inner, times(number(0.5), of(v))]))
        }
        "ripple" => Formula::Sin(boxed(times(number(decade(random, 0.0, 2.5)), of(x)))),
        "smooth" => Formula::Sin(boxed(sum(of(x), times(number(c), of(v))))),
        other => unreachable!("{other} is no kind"),
    };
    let strength = if random.below(2) == 0 { a } else { -a };
    times(number(strength), body)
}
