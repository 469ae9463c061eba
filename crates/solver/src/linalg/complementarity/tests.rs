//! The guess that begins the search for states.

use super::*;

/// Without friction, and with a positive definite matrix, relaxation converges: the guess is the answer, and nothing
/// has to be tried.
#[test]
fn relaxation_finds_which_contacts_carry() {
    // P = (1, 0, 2, 0) and ζ = (0, 3, 0, 1/2).
    let matrix = [
        [4.0, 1.0, -1.0, 0.5],
        [1.0, 3.0, 0.5, 0.0],
        [-1.0, 0.5, 5.0, 1.0],
        [0.5, 0.0, 1.0, 2.0],
    ];
    let (carried, rates) = ([1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 0.5]);
    let free = |i: usize| {
        let row: f64 = matrix[i].iter().zip(carried).map(|(d, p)| d * p).sum();
        rates[i] - row
    };
    let problem = ContactProblem {
        matrix: matrix.concat(),
        free: (0..4).map(free).collect(),
        released: vec![false; 4],
        offset: vec![0.0; 4],
        noise: vec![1e-13; 4],
        ..ContactProblem::default()
    };
    let (guess, _) = problem.relaxed();
    let closed = ContactState::Closed(Vec::new());
    assert_eq!(guess, [closed.clone(), ContactState::Open, closed, ContactState::Open]);
    let found = problem.with_states(&guess).expect("they fit");
    for i in 0..4 {
        // Rounding of four equations.
        assert!((found.impulse[i] - carried[i]).abs() < 1e-14, "{found:?}");
        assert!((found.relative[i] - rates[i]).abs() < 1e-14, "{found:?}");
    }
}

/// Numbers in [−1, 1) from a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// Contacts with a positive definite D, some of them with frictions along lines and in planes.
fn random(contacts: usize, frictions: bool, numbers: &mut Numbers) -> ContactProblem {
    let mut pads = Vec::new();
    for contact in 0..contacts {
        if frictions && numbers.next() > -0.5 {
            let friction = 0.3 + 0.1 * numbers.next();
            let holding = friction * (1.1 + 0.1 * numbers.next());
            pads.push(Pad {
                contact,
                is_plane: contact % 2 == 1,
                friction,
                holding,
                sliding: None,
            });
        }
    }
    let m = contacts + 2 * pads.len();
    let unused = |i: usize| {
        i >= contacts && (i - contacts) % 2 == 1 && !pads[(i - contacts) / 2].is_plane
    };
    let mut factor: Vec<f64> = (0..m * m).map(|_| 0.4 * numbers.next()).collect();
    (0..m).for_each(|i| factor[i * m + i] += 1.0);
    let entry = |i: usize, j: usize| -> f64 {
        if unused(i) || unused(j) {
            return 0.0;
        }
        (0..m).map(|k| factor[i * m + k] * factor[j * m + k]).sum()
    };
    let matrix = (0..m * m).map(|e| entry(e / m, e % m)).collect();
    let free = (0..m)
        .map(|i| {
            if unused(i) {
                0.0
            } else if i < contacts {
                numbers.next()
            } else {
                0.4 * numbers.next()
            }
        })
        .collect();
    ContactProblem {
        matrix,
        free,
        pads,
        released: vec![false; contacts],
        offset: vec![0.0; contacts],
        noise: vec![1e-12; m],
    }
}

/// The law of Coulomb and Signorini, read off the impulses and rates alone.
fn obeys(problem: &ContactProblem, found: &ContactSolution) {
    let (n, x, rate) = (problem.count(), &found.impulse, &found.relative);
    let small = 1e-9;
    for i in 0..problem.size() {
        assert!((problem.rate(x, i) - rate[i]).abs() < small, "rate {i} of {found:?}");
    }
    for i in 0..n {
        let is_one = (x[i].abs() < small && rate[i] > -small)
            || (x[i] > -small && rate[i].abs() < small);
        assert!(is_one, "contact {i}: {} {}", x[i], rate[i]);
    }
    for (j, pad) in problem.pads.iter().enumerate() {
        let place = problem.place(j);
        let (q, v) = ([x[place], x[place + 1]], [rate[place], rate[place + 1]]);
        let load = x[pad.contact] + problem.offset[pad.contact];
        let (force, speed) = (libm::hypot(q[0], q[1]), libm::hypot(v[0], v[1]));
        if load < small {
            assert!(force < small, "friction {j} without a load: {q:?}");
        } else if speed < small {
            assert!(
                force <= pad.holding * load + small,
                "friction {j} holds {force} by {load}"
            );
        } else {
            assert!(
                (force - pad.friction * load).abs() < small,
                "friction {j}: {force} {load}"
            );
            // Against the motion: Q·ζ = −|Q| |ζ|.
            assert!(
                (q[0] * v[0] + q[1] * v[1] + force * speed).abs() < small,
                "friction {j}: {q:?} {v:?}"
            );
        }
    }
}

/// Whatever way is taken to the answer, impulses and rates obey the laws.
#[test]
fn contacts_and_frictions_obey_their_laws() {
    let mut numbers = Numbers(7);
    let (mut slides, mut holds) = (0, 0);
    for round in 0..120 {
        let problem = random(1 + round % 4, round % 3 > 0, &mut numbers);
        let found = problem.solve().expect("small frictions have an answer");
        obeys(&problem, &found);
        for state in &found.states {
            let ContactState::Closed(rubbing) = state else { continue };
            slides += rubbing.iter().filter(|r| matches!(r, Rubbing::Slip(_))).count();
            holds += rubbing.iter().filter(|r| **r == Rubbing::Stick).count();
        }
    }
    assert!(slides > 20 && holds > 5, "{slides} slide, {holds} hold");
}

/// Pivoting, which is the way of many contacts, finds what the trial of all states finds.
#[test]
fn pivoting_finds_what_trying_all_finds() {
    let mut numbers = Numbers(11);
    let mut lost = 0;
    for round in 0..90 {
        let frictions = round % 3 > 0;
        let problem = random(2 + round % 4, frictions, &mut numbers);
        let Some(found) = problem.pivoted() else {
            // Directions in planes are not looked for here.
            assert!(frictions, "{problem:?}");
            lost += 1;
            continue;
        };
        obeys(&problem, &found);
        let other = problem.solve().expect("there is one");
        for (a, b) in found.impulse.iter().zip(&other.impulse) {
            assert!((a - b).abs() < 1e-9, "{found:?} {other:?}");
        }
    }
    assert!(lost <= 20, "{lost}");
}

/// More contacts than all states of which could be tried: twenty, and thirty-six states of each pair of frictions.
#[test]
fn many_contacts_obey_their_laws() {
    let mut numbers = Numbers(13);
    for frictions in [false, true, true] {
        let problem = random(20, frictions, &mut numbers);
        let found = problem.solve().or_else(|| problem.pivoted());
        if let Some(found) = found {
            obeys(&problem, &found);
        } else {
            assert!(frictions, "without frictions there is an answer");
        }
    }
}
