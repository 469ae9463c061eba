//! The multipliers of all phases in the columns of one motion.

use pfaff_expr::Expr;

use crate::motion::note::Note;
use crate::motion::{Motion, Series};
use crate::run::hybrid::HybridRun;
use crate::run::hybrid::phase::Phase;

/// Leaves out what each segment says of its own method and of given data, if one before has said it.
pub(super) fn tell_once(before: Option<&Motion>, motion: &mut Motion) {
    const ONCE: [&str; 2] = ["the equations are stiff", "the smooth curve through the column"];
    for beginning in ONCE {
        let is_known =
            |note: &Note| matches!(note, Note::Remark(text) if text.starts_with(beginning));
        if before.is_some_and(|before| before.notes.iter().any(is_known)) {
            motion.notes.retain(|note| !is_known(note));
        }
    }
}

impl HybridRun<'_> {
    /// Gives a segment the columns of all multipliers.
    pub(super) fn complete_columns(names: &[String], phase: &Phase, motion: &mut Motion) {
        motion.events.retain(|event| !event.name.contains(' '));
        if motion.multipliers.iter().map(|s| &s.name).eq(names) {
            return;
        }
        let rows = motion.t.len();
        let empty = |name: &String| Series { name: name.clone(), values: vec![0.0; rows] };
        let mut all: Vec<Series> = names.iter().map(empty).collect();
        for (series, place) in
            std::mem::take(&mut motion.multipliers).into_iter().zip(&phase.places)
        {
            if let Some(place) = place {
                all[*place].values = series.values;
            }
        }
        for row in 0..rows {
            let lambda: Vec<f64> = all.iter().map(|series| series.values[row]).collect();
            let at = |series: &[Series]| series.iter().map(|s| s.values[row]).collect();
            let state: [Vec<f64>; 2] = [at(&motion.q), at(&motion.v)];
            for (place, value) in Self::sliding_friction(phase, motion.t[row], &state, &lambda)
            {
                all[place].values[row] = value;
            }
        }
        motion.multipliers = all;
        for event in &mut motion.events {
            let mut all = vec![0.0; names.len()];
            for (value, place) in event.multipliers.iter().zip(&phase.places) {
                if let Some(place) = place {
                    all[*place] = *value;
                }
            }
            let state = [event.q.clone(), event.v.clone()];
            for (place, value) in Self::sliding_friction(phase, event.t, &state, &all) {
                all[place] = value;
            }
            event.multipliers = all;
        }
    }

    /// Friction of contacts that slide, and its place among all multipliers.
    fn sliding_friction(
        phase: &Phase,
        t: f64,
        [q, v]: &[Vec<f64>; 2],
        lambda: &[f64],
    ) -> Vec<(usize, f64)> {
        let model = &phase.model;
        let g = &model.graph;
        let (positions, velocities) = (model.positions(), model.velocities());
        let at = |s: Expr| {
            let of = |list: &[Expr], values: &[f64]| {
                list.iter().position(|&x| x == s).and_then(|k| values.get(k).copied())
            };
            let parameter = || model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
            let load = || {
                let row = model.results.lambda.iter().position(|&l| l == s)?;
                lambda.get(phase.places[row]?).copied()
            };
            let time = (s == model.time).then_some(t);
            time.or(of(&positions, q))
                .or(of(&velocities, v))
                .or_else(parameter)
                .or_else(load)
                .unwrap_or(f64::NAN)
        };
        let values: Vec<Expr> = phase.sliding.iter().map(|(_, value)| *value).collect();
        let places = phase.sliding.iter().map(|(place, _)| *place);
        places.zip(g.evaluate(&values, &at)).collect()
    }
}
