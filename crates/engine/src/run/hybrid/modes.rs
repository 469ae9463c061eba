//! The modes of a model, and how events lead from one to another.

use pfaff_model::Workspace;

/// Modes that no event leads to, or out of.
pub(super) fn unconnected(model: &Workspace) -> Vec<String> {
    let modes = &model.hybrid.modes;
    let leads = |mode: usize| model.resets.iter().any(|reset| reset.mode == Some(mode));
    let counts_in = |event: usize, mode: usize| {
        let of = &model.hybrid.event_modes[event];
        of.is_empty() || of.contains(&mode)
    };
    let is_left = |mode: usize| {
        let out = |reset: &pfaff_model::Reset| {
            reset.mode.is_some_and(|to| to != mode) && counts_in(reset.event, mode)
        };
        model.resets.iter().any(out)
    };
    let told = |(k, name): (usize, &String)| {
        if k > 0 && !leads(k) {
            return Some(format!("the mode `{name}` is never entered: no event leads to it"));
        }
        let stays = "no event that counts in it leads to another one";
        (!is_left(k)).then(|| format!("the mode `{name}` has no way out: {stays}"))
    };
    modes.iter().enumerate().filter(|_| modes.len() > 1).filter_map(told).collect()
}
