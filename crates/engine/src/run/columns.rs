//! The rows of a record as the columns of a motion.

use std::ops::Range;

use pfaff_model::Principle;

use crate::motion::dense::Dense;
use crate::motion::sample::SampleLayout;
use crate::motion::verdict::{Audit, Verdict};
use crate::motion::{EventRecord, Motion, Series, Statistics, Stop, StopReason};
use crate::run::record::Setting;
use crate::run::record::{Record, RecordedEvent, direction};

/// The recorded rows as columns.
pub(crate) fn collect(setting: &Setting<'_>, record: &Record) -> Motion {
    let columns = record.columns(&shown(setting, &record.layout));
    motion(setting, record, columns)
}

/// As [`collect`], in place of the rows.
pub(crate) fn take(setting: &Setting<'_>, record: &mut Record) -> Motion {
    let layout = record.layout.clone();
    let columns = record.take_columns(&shown(setting, &layout));
    motion(setting, record, columns)
}

fn is_mechanical(setting: &Setting<'_>) -> bool {
    matches!(setting.model.dynamics, pfaff_model::Dynamics::Lagrangian { .. })
}

/// Which places of a row a motion has as columns.
fn shown(setting: &Setting<'_>, layout: &SampleLayout) -> impl Fn(usize) -> bool {
    let is_mechanical = is_mechanical(setting);
    let has_rates = setting.principle == Some(Principle::Vakonomic);
    let layout = layout.clone();
    move |place| {
        let is_rate = layout.multiplier_rates.contains(&place);
        let of_forces = layout.reaction.contains(&place)
            || place == layout.energy
            || place == layout.constraint_energy;
        (!is_rate || has_rates) && (!of_forces || is_mechanical) && place != layout.divergence
    }
}

/// A motion of these columns.
fn motion(setting: &Setting<'_>, record: &Record, mut columns: Vec<Vec<f64>>) -> Motion {
    let model = setting.model;
    let layout = &record.layout;
    let mut column = |place: usize| std::mem::take(&mut columns[place]);
    let t = column(layout.t);
    let mut series = |names: Vec<String>, places: Range<usize>| -> Vec<Series> {
        let named = names.into_iter().zip(places);
        named.map(|(name, place)| Series { name, values: column(place) }).collect()
    };
    let coordinates = || model.coordinates.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let constraints = || model.constraints.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let observed: Vec<String> = model.observed.iter().map(|o| o.name.clone()).collect();
    let observed_places = layout.width..layout.width + observed.len();
    let is_mechanical = is_mechanical(setting);
    let q = series(coordinates(), layout.q.clone());
    let v = series(coordinates(), layout.v.clone());
    let a = series(coordinates(), layout.a.clone());
    let multipliers = series(constraints(), layout.multipliers.clone());
    let multiplier_rates = if setting.principle == Some(Principle::Vakonomic) {
        series(constraints(), layout.multiplier_rates.clone())
    } else {
        Vec::new()
    };
    let reactions =
        if is_mechanical { series(coordinates(), layout.reaction.clone()) } else { Vec::new() };
    let observed = series(observed, observed_places);
    let power = |i: usize| -> f64 {
        v.iter().zip(&reactions).map(|(v, r)| v.values[i] * r.values[i]).sum()
    };
    let rows = if is_mechanical { t.len() } else { 0 };
    let reaction_power = (0..rows).map(power).collect();
    Motion {
        title: model.title.clone().unwrap_or_else(|| model.source.name().to_owned()),
        principle: setting.principle,
        method: setting.method,
        start: setting.t0,
        form: setting.form,
        stop: Stop { reason: StopReason::End, t: 0.0 },
        t,
        q,
        v,
        a,
        multipliers,
        multiplier_rates,
        reaction_power,
        reactions,
        energy: column(layout.energy),
        constraint_energy: column(layout.constraint_energy),
        work: record.work.iter().map(|w| w[0]).collect(),
        observed,
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
