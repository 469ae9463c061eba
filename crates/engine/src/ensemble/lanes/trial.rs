//! What a trial of a step comes to, whatever the method: the rows after it, and whether a lane wants attention.
//!
//! The rows are those of an accepted trial. A lane whose trial is rejected says so, and is set back by who runs it: few
//! are, and a choice in every row would be a tenth of the instructions.

use pfaff_expr::{Expr, Relation};

use crate::ensemble::lanes::field::{Field, larger, magnitude, real};
use crate::ensemble::lanes::layout::StepLayout;

/// Trials after which a motion is left to a single run, which may change its method.
const MOST_TRIES: f64 = 20_000.0;
/// A chart is left to a single run when its pivot falls below this part of the largest candidate.
const LEAVE: f64 = 0.5;

/// A trial of a step as expressions.
pub(super) struct Trial<'a> {
    /// The rows before it.
    pub(super) rows: &'a [Expr],
    pub(super) h: Expr,
    /// Its end: time, state with the work, rates with the power.
    pub(super) time: Expr,
    pub(super) end: Vec<Expr>,
    pub(super) end_rates: Vec<Expr>,
    /// The rates at its start.
    pub(super) rates: Vec<Expr>,
    /// Whether it is accepted.
    pub(super) is_good: Expr,
    /// The length of the next trial, and what it may not exceed.
    pub(super) next: Expr,
    pub(super) most: Expr,
}

impl Trial<'_> {
    /// The rows after it, attention, doubt and rejection.
    pub(super) fn outputs(&self, field: &Field<'_>, layout: StepLayout) -> Vec<Expr> {
        let Self { rows, time, ref end, ref end_rates, next, .. } = *self;
        let g = field.g;
        let (d, all) = (layout.controlled(), layout.carried());
        let (t, t1) = (rows[StepLayout::T], rows[StepLayout::T1]);
        let only_if_good = |flag: Expr| g.logic_and(self.is_good, flag);
        let tries = g.add(rows[StepLayout::TRIES], g.one());
        let steps = g.add(rows[StepLayout::STEPS], g.one());
        let mut outputs =
            vec![time, next, t1, tries, steps, rows[StepLayout::TOLERANCE], self.most];
        let energies = field.at(&[field.energy, field.energy_size], time, &end[..d]);
        let start = rows[StepLayout::ENERGY];
        let work = end.get(d).copied().unwrap_or_else(|| g.zero());
        let off = magnitude(g, g.sub(g.sub(energies[0], start), work));
        let off = larger(g, rows[StepLayout::OFF], off);
        let size = larger(g, rows[StepLayout::ENERGY_SIZE], energies[1]);
        outputs.extend([start, off, size]);
        outputs.extend(&end[..all]);
        outputs.extend(&end_rates[..all]);
        let largest = |i: usize| larger(g, rows[layout.largest(i)], magnitude(g, end[i]));
        outputs.extend((0..d).map(largest));
        // Attention: the end, a step too short, too many of them, events, and what a single run has to judge.
        let is_short = g.compare(
            Relation::Less,
            magnitude(g, next),
            g.mul(real(g, 1e-14), g.add(magnitude(g, t), magnitude(g, t1))),
        );
        let is_over = only_if_good(g.compare(Relation::LessEqual, t1, time));
        let is_long = g.compare(Relation::Less, real(g, MOST_TRIES), tries);
        let mut doubt = g.logic_or(g.logic_and(is_short, g.logic_not(is_over)), is_long);
        let mut attention = g.logic_or(is_over, doubt);
        let values = field.at(&field.events, time, &end[..d]);
        let slopes = field.at(&field.event_rates, time, &end[..d]);
        for (i, (&value, &slope)) in values.iter().zip(&slopes).enumerate() {
            let (before, rate) = (rows[layout.event(i)], rows[layout.event_rate(i)]);
            let crossed = g.compare(Relation::LessEqual, g.mul(before, value), g.zero());
            // Towards zero at the start, and away from it at the end: it may have been there in between.
            let nears = g.compare(Relation::Less, g.mul(before, rate), g.zero());
            let leaves = g.compare(Relation::Less, g.zero(), g.mul(value, slope));
            let seen = g.logic_or(crossed, g.logic_and(nears, leaves));
            attention = g.logic_or(attention, seen);
        }
        outputs.extend(values);
        outputs.extend(slopes);
        let phases = self.phases(field, layout);
        for &(after, is_quiet) in &phases {
            doubt = g.logic_or(doubt, only_if_good(g.logic_not(is_quiet)));
            outputs.push(after);
        }
        for (a, residual) in field.at(&field.residuals, time, &end[..d]).into_iter().enumerate()
        {
            outputs.push(larger(g, rows[layout.residual(a)], residual));
        }
        outputs.extend((0..d).map(|i| rows[layout.scale(i)]));
        if !field.pivots.is_empty() {
            let fine = field.charted(time, &end[..d], LEAVE);
            doubt = g.logic_or(doubt, only_if_good(g.logic_not(fine)));
        }
        let rejected = g.logic_not(self.is_good);
        outputs.extend([g.logic_or(g.logic_or(attention, doubt), rejected), doubt, rejected]);
        outputs
    }

    /// Narrow features: each phase at the end, and whether it varies little over both halves of the step.
    fn phases(&self, field: &Field<'_>, layout: StepLayout) -> Vec<(Expr, Expr)> {
        if field.phases.is_empty() {
            return Vec::new();
        }
        let Self { rows, h, ref end, ref end_rates, ref rates, .. } = *self;
        let (g, d) = (field.g, layout.controlled());
        let middle: Vec<Expr> = (0..d)
            .map(|i| {
                let mean = g.mul(real(g, 0.5), g.add(rows[StepLayout::y(i)], end[i]));
                let bend = g.mul(real(g, 0.125), g.mul(h, g.sub(rates[i], end_rates[i])));
                g.add(mean, bend)
            })
            .collect();
        let half = g.add(rows[StepLayout::T], g.mul(real(g, 0.5), h));
        let within = field.at(&field.phases, half, &middle);
        let after = field.at(&field.phases, self.time, &end[..d]);
        let each = within.iter().zip(&after).enumerate().map(|(i, (&within, &after))| {
            let is_quiet = |side: Expr| {
                let change = magnitude(g, g.sub(side, within));
                g.logic_or(
                    g.compare(Relation::LessEqual, change, real(g, field.quiet[i])),
                    g.compare(Relation::Equal, side, within),
                )
            };
            let before = rows[layout.phase(i)];
            (after, g.logic_and(is_quiet(before), is_quiet(after)))
        });
        each.collect()
    }
}
