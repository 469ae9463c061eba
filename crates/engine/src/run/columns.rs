//! The rows of a record as the columns of a motion, and back as samples.

use std::ops::Range;

use pfaff_model::{Principle, Workspace};

use crate::motion::dense::Dense;
use crate::motion::sample::Sample;
use crate::motion::verdict::{Audit, Verdict};
use crate::motion::{EventRecord, Motion, Series, Statistics, Stop, StopReason};
use crate::run::record::Setting;
use crate::run::record::{Record, RecordedEvent, direction};

/// The recorded rows as columns.
pub(crate) fn collect(setting: &Setting<'_>, record: &Record) -> Motion {
    let model = setting.model;
    let layout = &record.layout;
    let column = |place: usize| -> Vec<f64> { record.rows().map(|row| row[place]).collect() };
    let series = |names: Vec<String>, places: Range<usize>| -> Vec<Series> {
        names
            .into_iter()
            .zip(places)
            .map(|(name, place)| Series { name, values: column(place) })
            .collect()
    };
    let coordinates = || model.coordinates.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let constraints = || model.constraints.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let observed: Vec<String> = model.observed.iter().map(|o| o.name.clone()).collect();
    let observed_places = layout.width..layout.width + observed.len();
    let is_mechanical = matches!(model.dynamics, pfaff_model::Dynamics::Lagrangian { .. });
    let mechanical = |place: usize| if is_mechanical { column(place) } else { Vec::new() };
    let power = |row: &[f64]| -> f64 {
        let (v, reaction) = (&row[layout.v.clone()], &row[layout.reaction.clone()]);
        v.iter().zip(reaction).map(|(v, r)| v * r).sum()
    };
    Motion {
        title: model.title.clone().unwrap_or_else(|| model.source.name().to_owned()),
        principle: setting.principle,
        method: setting.method,
        start: setting.t0,
        form: setting.form,
        stop: Stop { reason: StopReason::End, t: 0.0 },
        t: column(layout.t),
        q: series(coordinates(), layout.q.clone()),
        v: series(coordinates(), layout.v.clone()),
        a: series(coordinates(), layout.a.clone()),
        multipliers: series(constraints(), layout.multipliers.clone()),
        multiplier_rates: if setting.principle == Some(Principle::Vakonomic) {
            series(constraints(), layout.multiplier_rates.clone())
        } else {
            Vec::new()
        },
        reactions: if is_mechanical {
            series(coordinates(), layout.reaction.clone())
        } else {
            Vec::new()
        },
        reaction_power: if is_mechanical {
            record.rows().map(power).collect()
        } else {
            Vec::new()
        },
        energy: mechanical(layout.energy),
        constraint_energy: mechanical(layout.constraint_energy),
        work: record.work.iter().map(|w| w[0]).collect(),
        observed: series(observed, observed_places),
        events: record
            .events
            .iter()
            .map(|RecordedEvent { event, sample, observed }| EventRecord {
                name: model.events[event.index].name.clone(),
                t: event.t,
                direction: direction(event.crossing),
                q: sample.q.clone(),
                v: sample.v.clone(),
                multipliers: sample.multipliers.clone(),
                multiplier_rates: if setting.principle == Some(Principle::Vakonomic) {
                    sample.multiplier_rates.clone()
                } else {
                    Vec::new()
                },
                reactions: if is_mechanical { sample.reaction.clone() } else { Vec::new() },
                energy: if is_mechanical { sample.energy } else { f64::NAN },
                constraint_energy: if is_mechanical {
                    sample.constraint_energy
                } else {
                    f64::NAN
                },
                observed: observed.clone(),
            })
            .collect(),
        notes: Vec::new(),
        solutions: None,
        equivalence: None,
        errors: Vec::new(),
        velocity_errors: Vec::new(),
        audit: Audit { verdict: Verdict::Unchecked, checks: Vec::new() },
        sensitivities: Vec::new(),
        double_double: None,
        transition: None,
        gradient: None,
        statistics: Statistics::default(),
        switches: Vec::new(),
        tangents: None,
        dense: Dense::default(),
    }
}

/// The output rows as instants: each of them, or every second, third, … one.
pub(crate) fn samples(model: &Workspace, motion: &Motion, stride: usize) -> Vec<Sample> {
    let row = |series: &[Series], i: usize| -> Vec<f64> {
        series.iter().map(|s| s.values[i]).collect()
    };
    let n = model.coordinates.len();
    (0..motion.t.len())
        .step_by(stride)
        .map(|i| Sample {
            t: motion.t[i],
            q: row(&motion.q, i),
            v: row(&motion.v, i),
            a: row(&motion.a, i),
            multipliers: row(&motion.multipliers, i),
            multiplier_rates: row(&motion.multiplier_rates, i),
            reaction: if motion.reactions.is_empty() {
                vec![f64::NAN; n]
            } else {
                row(&motion.reactions, i)
            },
            energy: motion.energy.get(i).copied().unwrap_or(f64::NAN),
            constraint_energy: motion.constraint_energy.get(i).copied().unwrap_or(0.0),
            divergence: f64::NAN,
        })
        .collect()
}
