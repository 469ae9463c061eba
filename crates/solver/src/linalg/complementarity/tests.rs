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
