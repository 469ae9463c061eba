//! Motions between given ends: models of the gallery, and what their solutions say.

use pfaff::{Motion, Run, Solution, gallery_model};

use super::{model_with, run};

pub(crate) fn gallery(name: &str, set: &str) -> Motion {
    gallery_by(name, set, &Run::default())
}

pub(crate) fn gallery_by(name: &str, set: &str, request: &Run) -> Motion {
    let text = gallery_model(name).expect("it is in the gallery").text;
    run(&model_with(text, set, ""), request)
}

pub(crate) fn solutions(motion: &Motion) -> &[Solution] {
    motion.solutions.as_deref().expect("a boundary value problem lists its solutions")
}

pub(crate) fn best(motion: &Motion) -> &Solution {
    solutions(motion).first().expect("there is a solution")
}

pub(crate) fn named(list: &[(String, f64)], name: &str) -> f64 {
    list.iter().find(|(n, _)| n == name).expect("the name is there").1
}

pub(crate) fn last(motion: &Motion, name: &str) -> f64 {
    let series = motion.q.iter().find(|s| s.name == name).expect("the coordinate is there");
    *series.values.last().expect("there are output times")
}
