//! Random mechanisms with impacts: no energy is gained, momenta across the contacts are kept, nothing gets through.
//!
//! A part of each; with `PFAFF_TESTS=full` 1 000 mechanisms and 500 linkages.

#![allow(clippy::print_stdout, reason = "counts of random cases")]

use std::fmt::Write;

use pfaff::{Motion, Run, StopReason, Verdict};

use super::motion;
use crate::support;

/// Numbers that look random, the same in every run.
struct Numbers(support::Random);

impl Numbers {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        0.5 * (1.0 + self.0.number())
    }

    fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.next()
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() * n as f64) as usize).min(n - 1)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Directions across all rows, by Gram and Schmidt.
fn across(rows: &[Vec<f64>], n: usize, numbers: &mut Numbers) -> Vec<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let random = (0..n).map(|_| numbers.between(-1.0, 1.0)).collect();
    for row in rows.iter().cloned().chain([random]) {
        let mut rest: Vec<f64> = row;
        for _ in 0..2 {
            for other in &basis {
                let part = dot(&rest, other);
                rest.iter_mut().zip(other).for_each(|(x, o)| *x -= part * o);
            }
        }
        let length = dot(&rest, &rest).sqrt();
        basis.push(rest.iter().map(|x| x / length).collect());
    }
    basis.pop().expect("the random one is the last")
}

/// Masses, contacts and frictions that are all random: energy after ≤ before, and momentum along what no contact
/// feels is kept.
#[test]
fn no_random_impact_gains_energy() {
    let cases = support::count(200, 1000);
    let mut numbers = Numbers(support::Random::new(2026));
    let (mut impacts, mut reduced) = (0, 0);
    for case in 0..cases {
        let law = ["poisson", "moreau"][case % 2];
        let n = 3 + numbers.below(3);
        let factor: Vec<Vec<f64>> =
            (0..n).map(|_| (0..n).map(|_| numbers.between(-1.0, 1.0)).collect()).collect();
        let mass =
            |i: usize, j: usize| dot(&factor[i], &factor[j]) + if i == j { 0.3 } else { 0.0 };
        let count = 1 + numbers.below(2);
        let with_friction = numbers.next() < 0.5 && n > 2 * count;
        let mut text = format!("coordinates x[{n}]\nlagrangian ");
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let terms: Vec<String> = pairs
            .map(|(i, j)| format!("{}*x[{}]'*x[{}]'/2", mass(i, j), i + 1, j + 1))
            .collect();
        let _ = writeln!(text, "{}", terms.join(" + "));
        let mut rows = Vec::new();
        let row = |numbers: &mut Numbers| -> Vec<f64> {
            (0..n).map(|_| numbers.between(-1.0, 1.0)).collect()
        };
        let sum = |row: &[f64], mark: &str| {
            let terms = row.iter().enumerate().map(|(i, c)| format!("{c}*x[{}]{mark}", i + 1));
            terms.collect::<Vec<_>>().join(" + ")
        };
        let velocities = row(&mut numbers);
        for k in 0..count {
            let mut normal = row(&mut numbers);
            if dot(&normal, &velocities) > 0.0 {
                normal.iter_mut().for_each(|x| *x = -*x);
            }
            // Some are hit at the same time.
            let gap = -dot(&normal, &velocities)
                * if k == 0 { 1.0 } else { [1.0, 0.7][numbers.below(2)] };
            let e = numbers.next();
            let _ = write!(
                text,
                "contact c{k}: {} + {gap} >= 0, restitution = {e}, law = {law}",
                sum(&normal, "")
            );
            rows.push(normal);
            if with_friction {
                let tangent = row(&mut numbers);
                let μ = numbers.next();
                let _ = write!(text, ", friction = {μ}, slip = {}", sum(&tangent, "'"));
                rows.push(tangent);
            }
            text.push('\n');
        }
        let given: Vec<String> = velocities
            .iter()
            .enumerate()
            .map(|(i, v)| format!("x'[{}] = {v}", i + 1))
            .collect();
        let _ = write!(text, "initial {}\nsolve t = 0..3", given.join(", "));
        let motion = motion(&text, &Run::default());
        assert_eq!(motion.stop.reason, StopReason::End, "{text}\n{:?}", motion.notes);
        assert!(!motion.events.is_empty(), "nothing is hit: {text}");
        impacts += motion.events.len();
        reduced += usize::from(
            pfaff_present::notes(&motion)
                .iter()
                .any(|note| note.contains("restitution is less")),
        );
        for pair in motion.energy.windows(2) {
            // What several contacts that are hit at once gain by rounding, 1e-14 each.
            assert!(pair[1] <= pair[0] * (1.0 + 1e-13), "{text}\n{pair:?}");
        }
        let u = across(&rows, n, &mut numbers);
        let momentum = |v: &[f64]| -> f64 {
            (0..n).map(|i| u[i] * (0..n).map(|j| mass(i, j) * v[j]).sum::<f64>()).sum()
        };
        let end: Vec<f64> = motion.v.iter().map(|s| *s.values.last().expect("a row")).collect();
        let (before, after) = (momentum(&velocities), momentum(&end));
        assert!(
            (before - after).abs() < 1e-12 * (1.0 + before.abs()),
            "{text}\n{before} {after}"
        );
    }
    println!("{cases} mechanisms, {impacts} impacts, restitution reduced in {reduced}");
}

/// A chain of links with contacts of its joints with floors and walls.
fn linkage(numbers: &mut Numbers) -> String {
    let n = 2 + numbers.below(3);
    let mut text = format!("coordinates th[{n}]\nparameters g = 9.81\nlet P[0] = [0, 0]\n");
    let lengths: Vec<f64> = (0..n).map(|_| numbers.between(0.4, 1.2)).collect();
    for (i, l) in lengths.iter().enumerate() {
        let k = i + 1;
        let _ = writeln!(text, "let P[{k}] = P[{i}] + {l}*[sin(th[{k}]), -cos(th[{k}])]");
    }
    let kinetic: Vec<String> = (1..=n)
        .map(|k| {
            let m = numbers.between(0.3, 2.0);
            format!("{m}*(dot(P[{k}]', P[{k}]')/2 - g*P[{k}][2])")
        })
        .collect();
    let _ = writeln!(text, "lagrangian {}", kinetic.join(" + "));
    let angles: Vec<f64> = (0..n).map(|_| numbers.between(-1.0, 1.0)).collect();
    let mut place = [0.0, 0.0];
    let mut places = Vec::new();
    for (l, a) in lengths.iter().zip(&angles) {
        place = [place[0] + l * libm::sin(*a), place[1] - l * libm::cos(*a)];
        places.push(place);
    }
    let count = 2 + numbers.below(5);
    let law = ["newton", "poisson", "moreau"][numbers.below(3)];
    for c in 0..count {
        let k = numbers.below(n);
        let [x, y] = places[k];
        let room = numbers.between(0.02, 0.4);
        let (gap, along) = match numbers.below(3) {
            0 => (format!("P[{}][2] - ({})", k + 1, y - room), 1),
            1 => (format!("{} - P[{}][1]", x + room, k + 1), 2),
            _ => (format!("P[{}][1] - ({})", k + 1, x - room), 2),
        };
        let _ = writeln!(text, "observe gap{c} = {gap}");
        let e = [0.0, numbers.next(), 1.0][numbers.below(3)];
        let _ = write!(text, "contact c{c}: {gap} >= 0, restitution = {e}, law = {law}");
        if numbers.next() < 0.4 {
            let _ =
                write!(text, ", friction = {}, slip = P[{}]'[{along}]", numbers.next(), k + 1);
        }
        text.push('\n');
    }
    for (i, a) in angles.iter().enumerate() {
        let v = numbers.between(-2.0, 2.0);
        let _ = writeln!(text, "initial th[{k}] = {a}, th'[{k}] = {v}", k = i + 1);
    }
    text.push_str("solve t = 0..2, tolerance = 1e-10\n");
    text
}

/// The smallest gap at the rows of a motion.
fn penetration(text: &str, motion: &Motion) -> f64 {
    let gaps = motion.observed.iter().filter(|s| s.name.starts_with("gap"));
    let least = gaps.flat_map(|s| &s.values).fold(f64::INFINITY, |m, x| m.min(*x));
    assert!(least.is_finite(), "{text}");
    least
}

/// Nothing gets through, nothing hangs, and what ends early says why.
#[test]
fn no_random_linkage_gets_through_its_walls() {
    let cases = support::count(40, 500);
    let mut numbers = Numbers(support::Random::new(25));
    let (mut early, mut failed, mut worst) = (0, 0, f64::INFINITY);
    for case in 0..cases {
        let text = linkage(&mut numbers);
        let motion = motion(&text, &Run::default().max_steps(100_000));
        if motion.stop.reason.is_early() {
            early += 1;
            assert!(!motion.notes.is_empty(), "{text}\n{:?}", motion.stop);
        }
        for check in motion.audit.checks.iter().filter(|c| c.verdict == Verdict::Fail) {
            let (name, value, limit) = (&check.name, check.value, check.limit);
            println!("case {case}: {name}, {value:e} above {limit:e}\n{text}");
        }
        failed += usize::from(motion.audit.verdict == Verdict::Fail);
        let least = penetration(&text, &motion);
        worst = worst.min(least);
        assert!(least > -1e-9, "case {case}: {least:e}\n{text}");
    }
    println!(
        "{cases} linkages, {early} ended early, {failed} failed audits, smallest gap {worst:e}"
    );
    assert_eq!(failed, 0, "audits fail");
    assert!(early * 20 <= cases, "{early} of {cases} ended early");
}
