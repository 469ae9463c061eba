//! The factors of (K) written out: how many steps they take, and for which blocks they are.

use pfaff_mechanics::{Principle, derive, solve_saddle};

use crate::support::{Case, model};

/// A pivot with $k$ neighbours takes $1 + k(k+5)/2$ steps: one division, $k$ factors, $k(k+1)/2$ entries and $2k$ right
/// sides on the way down and up.
#[test]
fn steps_of_elimination_are_counted() {
    let takes = |text: &str| {
        let m = model(text).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        (0..100).find(|&most| solve_saddle(&m.graph, &e, most).is_some())
    };
    assert_eq!(takes("coordinates x\nlagrangian x'^2/2"), Some(1));
    assert_eq!(takes("coordinates x, y\nlagrangian x'^2 + y'^2 + x*x'*y'"), Some(4 + 1));
    let chain = "coordinates x, y, z\nlagrangian x'^2 + y'^2 + z'^2 + x'*y' + y'*z'";
    assert_eq!(takes(chain), Some(4 + 4 + 1), "the ends first");
    let full = format!("{chain} + x'*z'");
    assert_eq!(takes(&full), Some(8 + 4 + 1));
}

/// The elimination of (K) is for symmetric matrices with Chetaev's or vakonomic reactions.
#[test]
fn factors_are_for_symmetric_blocks() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 + 0.2*x'*y'
        constraint c: z' = x*y'";
    let case = Case::new(text, Principle::Chetaev, 1);
    let (g, mut e) = (&case.model.graph, case.equations.clone());
    assert!(solve_saddle(g, &e, 1_000).is_some());
    e.principle = Principle::Restricted;
    assert!(solve_saddle(g, &e, 1_000).is_none(), "restricted");
    let mut e = case.equations.clone();
    e.mass[2][0] = g.one();
    assert!(solve_saddle(g, &e, 1_000).is_none(), "a mass that is not symmetric");
    let mut e = case.equations.clone();
    e.directions[0][0] = g.one();
    assert!(solve_saddle(g, &e, 1_000).is_none(), "a reaction along something else");
}
