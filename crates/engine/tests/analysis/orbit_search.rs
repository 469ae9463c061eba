//! Periodic motions from starts at which contacts are closed, or after which other modes hold.

use pfaff::{Model, Orbit, OrbitRequest, Stability, orbit};

fn gallery(name: &str) -> Orbit {
    let model = Model::gallery(name).expect("a model of the gallery");
    orbit(&model, &OrbitRequest::default(), &mut || true).expect("there is a periodic motion")
}

/// Of two events that change modes, that after which the first mode holds.
#[test]
fn a_walker_begins_after_the_event_that_leads_to_the_first_mode() {
    let found = gallery("compass_walker");
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
}

/// A woodpecker on its pole: after the beak and the sleeve have struck a contact stays closed, so that no motion can
/// begin beside it. Its cycle attracts, and it comes down a little each time.
#[test]
fn a_woodpecker_comes_down_in_a_cycle() {
    let found = gallery("woodpecker");
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
    let [(name, moved)] = &found.drift[..] else { panic!("{:?}", found.drift) };
    assert!(name == "y" && *moved < 0.0 && found.residual < 1e-10, "{found:?}");
}
