//! The rows of a record as the columns of a motion, and back as samples.

use pfaff_model::{Principle, Workspace};

use crate::motion::dense::Dense;
use crate::motion::sample::Sample;
use crate::motion::verdict::{Audit, Verdict};
use crate::motion::{EventRecord, Motion, Series, Statistics, Stop, StopReason};
use crate::run::record::Setting;
use crate::run::record::{Record, direction};

/// The recorded rows as columns.
pub(crate) fn collect(setting: &Setting<'_>, record: &Record) -> Motion {
    let model = setting.model;
    let (n, m) = (model.coordinates.len(), model.constraints.len());
    let count = record.reached;
    let column = |c: usize| -> Vec<f64> {
        (0..count).map(|r| record.rows[r * record.width + c]).collect()
    };
    let series = |names: Vec<String>, start: usize| -> Vec<Series> {
        names
            .into_iter()
            .enumerate()
            .map(|(k, name)| Series { name, values: column(start + k) })
            .collect()
    };
    let coordinates = || model.coordinates.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let constraints = || model.constraints.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let observed = model.observed.iter().map(|o| o.name.clone()).collect();
    let is_mechanical = matches!(model.dynamics, pfaff_model::Dynamics::Lagrangian { .. });
    let reaction_power = (0..if is_mechanical { count } else { 0 })
        .map(|r| {
            let row = &record.rows[r * record.width..];
            let (v, reaction) = (&row[1 + n..=2 * n], &row[1 + 3 * n + 2 * m..][..n]);
            v.iter().zip(reaction).map(|(v, r)| v * r).sum()
        })
        .collect();
    Motion {
        title: model.title.clone().unwrap_or_else(|| model.source.name().to_owned()),
        principle: setting.principle,
        method: setting.method,
        start: setting.t0,
        form: setting.form,
        stop: Stop { reason: StopReason::End, t: 0.0 },
        t: column(0),
        q: series(coordinates(), 1),
        v: series(coordinates(), 1 + n),
        a: series(coordinates(), 1 + 2 * n),
        multipliers: series(constraints(), 1 + 3 * n),
        multiplier_rates: if setting.principle == Some(Principle::Vakonomic) {
            series(constraints(), 1 + 3 * n + m)
        } else {
            Vec::new()
        },
        reactions: if is_mechanical {
            series(coordinates(), 1 + 3 * n + 2 * m)
        } else {
            Vec::new()
        },
        reaction_power,
        energy: if is_mechanical { column(1 + 4 * n + 2 * m) } else { Vec::new() },
        constraint_energy: if is_mechanical { column(2 + 4 * n + 2 * m) } else { Vec::new() },
        work: record.work.iter().map(|w| w[0]).collect(),
        observed: series(observed, Sample::width(n, m)),
        events: record
            .events
            .iter()
            .map(|(event, sample)| EventRecord {
                name: model.events[event.index].name.clone(),
                t: event.t,
                direction: direction(event.crossing),
                q: sample.q.clone(),
                v: sample.v.clone(),
            })
            .collect(),
        notes: Vec::new(),
        solutions: None,
        equivalence: None,
        audit: Audit { verdict: Verdict::Unchecked, checks: Vec::new() },
        statistics: Statistics::default(),
        dense: Dense::default(),
    }
}

/// The output rows as instants.
pub(crate) fn samples(model: &Workspace, motion: &Motion) -> Vec<Sample> {
    let row = |series: &[Series], i: usize| -> Vec<f64> {
        series.iter().map(|s| s.values[i]).collect()
    };
    let n = model.coordinates.len();
    (0..motion.t.len())
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
