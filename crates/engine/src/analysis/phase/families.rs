//! Families of equilibria and steady motions: which of those that were found are linked by others.

use pfaff_solver::{least_squares, singular_values};

use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::linearize::Phase;
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::stability::{Stability, kernel};
use crate::analysis::phase::symmetries::{AffineSymmetry, Carried, MovingFrame};
use crate::analysis::phase::tangent_flow::add_to_basis;

/// How many of the nearest members of families a new one is compared with.
const NEIGHBOURS: usize = 6;
/// Steps between two equilibria that may belong to one family.
const LINKS: usize = 24;
/// The least cosine of the angle between the directions of a family at neighbouring links: where it is less, another
/// family begins.
const BEND: f64 = 0.7;

/// What members of one family have in common: its dimension, and whether they are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    family: usize,
    stability: Stability,
}

impl Kind {
    pub(crate) fn of(family: usize, stability: Stability) -> Self {
        Self { family, stability }
    }

    /// Whether a member may belong to a family: at the place where its stability changes nothing is decided.
    fn suits(self, other: Self) -> bool {
        self.family == other.family
            && (self.stability == other.stability || self.is_undecided())
    }

    fn is_undecided(self) -> bool {
        self.stability == Stability::Undecided
    }
}

/// The first member of each family, of members of these kinds: each is compared with those that are nearest to it.
pub(crate) fn one_of_each(
    kinds: &[Kind],
    mut distance: impl FnMut(usize, usize) -> f64,
    mut is_linked: impl FnMut(usize, usize) -> bool,
) -> Vec<usize> {
    // What is undecided comes last: it belongs to a family, but does not join two.
    let mut order: Vec<usize> = (0..kinds.len()).collect();
    order.sort_by_key(|&k| kinds[k].is_undecided());
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for k in order {
        let single = kinds[k].family == 0;
        let suits = |&&(other, _): &&(usize, usize)| !single && kinds[k].suits(kinds[other]);
        let mut near: Vec<(f64, usize)> = groups
            .iter()
            .filter(suits)
            .map(|&(other, _)| (distance(k, other), other))
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut group = kinds.len() + k;
        for (_, other) in near.into_iter().take(NEIGHBOURS) {
            let own = groups.iter().find(|(member, _)| *member == other).map(|(_, own)| *own);
            let Some(own) = own.filter(|own| *own != group) else { continue };
            if !is_linked(k, other) {
                continue;
            }
            if group < kinds.len() && !kinds[other].suits(kinds[k]) {
                break;
            }
            groups.iter_mut().filter(|(_, g)| *g == group).for_each(|(_, g)| *g = own);
            group = own;
            if !kinds[other].suits(kinds[k]) {
                break;
            }
        }
        groups.push((k, if group < kinds.len() { group } else { k }));
    }
    let mut firsts: Vec<usize> = Vec::new();
    for (place, &(member, group)) in groups.iter().enumerate() {
        if groups[..place].iter().all(|&(_, other)| other != group) {
            firsts.push(member);
        }
    }
    firsts.sort_unstable();
    firsts
}

/// The distance of two states.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The state to which symmetries carry one, where it is nearest to another one: by Gauss and Newton from whole turns
/// of each in parts.
pub(crate) fn nearest_copy(
    field: &Field,
    all: &[AffineSymmetry],
    to: &[f64],
    from: &[f64],
) -> Option<Vec<f64>> {
    const PARTS: usize = 6;
    const ITERATIONS: usize = 20;
    let part = std::f64::consts::TAU / PARTS as f64;
    let starts = (0..all.len()).flat_map(|k| (0..PARTS).map(move |j| (k, j as f64 * part)));
    let near = |(k, angle): (usize, f64)| {
        let mut s = vec![0.0; all.len()];
        s[k] = angle;
        let mut copy = Carried::along(field, all, &s).apply(field, from, true);
        for _ in 0..ITERATIONS {
            let fields: Vec<Vec<f64>> =
                all.iter().map(|one| field.prolonged(&one.frame, &copy)).collect();
            let rows: Vec<f64> =
                (0..copy.len()).flat_map(|i| fields.iter().map(move |x| x[i])).collect();
            let off: Vec<f64> = to.iter().zip(&copy).map(|(a, b)| a - b).collect();
            let step = least_squares(&rows, copy.len(), all.len(), &off, 1e-11).x;
            let next = Carried::along(field, all, &step).apply(field, &copy, true);
            if apart(&next, to) >= apart(&copy, to) * (1.0 - 1e-9) {
                break;
            }
            copy = next;
        }
        copy
    };
    let off = |copy: &Vec<f64>| apart(copy, to);
    starts.map(near).min_by(|a, b| off(a).total_cmp(&off(b)))
}

/// Whether two motions that are steady along symmetries are linked by others.
pub(crate) fn is_linked_in_motion(
    phase: &mut Phase,
    all: &[AffineSymmetry],
    a: &[f64],
    b: &[f64],
) -> bool {
    let Some(b) = nearest_copy(&phase.field, all, a, b) else { return false };
    let limit = 4.0 * apart(a, &b) / LINKS as f64;
    let mut here = a.to_vec();
    for link in 1..LINKS {
        let left = (LINKS - link + 1) as f64;
        let Some(next) = next_steady(phase, all, &here, &b, left) else { return false };
        if apart(&here, &next) > limit {
            return false;
        }
        here = next;
    }
    apart(&here, &b) <= limit
}

/// The steady motion next to the place one of several steps from one state to another.
fn next_steady(
    phase: &mut Phase,
    all: &[AffineSymmetry],
    from: &[f64],
    to: &[f64],
    steps: f64,
) -> Option<Vec<f64>> {
    let t = phase.t;
    let point = phase.field.at(t, from).ok()?;
    let chart = Quotient::at(&mut phase.field, &point)?.chart;
    let mut y = from.to_vec();
    for &c in &chart.free {
        y[c] += (to[c] - from[c]) / steps;
    }
    chart.complete(&mut phase.field, t, &mut y).ok()?;
    let point = phase.field.at(t, &y).ok()?;
    phase.field.frame = Some(MovingFrame::of(&phase.field, all, &point)?.frame);
    let settled = phase.field.at(t, &y).ok().and_then(|point| {
        Quotient::at(&mut phase.field, &point)?.settle(&mut phase.field, &point)
    });
    phase.field.frame = None;
    Some(settled?.y)
}

/// The distance of two states beside cyclic coordinates.
pub(crate) fn distance(quotient: &Quotient, a: &FieldPoint, b: &FieldPoint) -> f64 {
    let all = (0..a.y.len()).filter(|c| !quotient.cyclic.contains(c));
    all.map(|c| (a.y[c] - b.y[c]).powi(2)).sum::<f64>().sqrt()
}

/// Directions of the family of equilibria through one, in all components: an orthonormal basis.
fn directions(quotient: &Quotient, point: &FieldPoint) -> Option<Vec<Vec<f64>>> {
    let w = quotient.variables.len();
    let here = quotient.point(point)?;
    let mut basis = Vec::new();
    for along in kernel(&here.matrix, w) {
        let rows = here.tangent.chunks(w.max(1));
        let lifted = rows.map(|row| row.iter().zip(&along).map(|(a, b)| a * b).sum());
        add_to_basis(&mut basis, lifted.collect());
    }
    Some(basis)
}

/// Whether the directions of a family at two places are about the same.
fn goes_on(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let cosines: Vec<f64> = a
        .iter()
        .flat_map(|x| b.iter().map(|y| x.iter().zip(y).map(|(x, y)| x * y).sum()))
        .collect();
    let split = singular_values(&cosines, a.len(), b.len());
    split.values.iter().all(|cosine| *cosine >= BEND)
}

/// Whether two equilibria of a family are linked by others, without a corner at which families meet.
pub(crate) fn is_linked(
    phase: &mut Phase,
    quotient: &Quotient,
    a: &FieldPoint,
    b: &FieldPoint,
) -> bool {
    let distance = |a: &FieldPoint, b: &FieldPoint| distance(quotient, a, b);
    let whole = distance(a, b);
    let mut here = a.clone();
    let Some(mut along) = directions(&quotient.moved(&phase.field, a), a) else { return false };
    let mut goes_on_to = |phase: &Phase, to: &FieldPoint| {
        let next = directions(&quotient.moved(&phase.field, to), to);
        let smooth = next.as_ref().is_some_and(|next| goes_on(&along, next));
        along = next.unwrap_or_default();
        smooth
    };
    for link in 1..LINKS {
        let left = (LINKS - link + 1) as f64;
        let chart = quotient.moved(&phase.field, &here);
        let mut y = here.y.clone();
        for &c in &chart.variables {
            y[c] += (b.y[c] - here.y[c]) / left;
        }
        if chart.chart.complete(&mut phase.field, here.t, &mut y).is_err() {
            return false;
        }
        let Ok(moved) = phase.field.at(here.t, &y) else { return false };
        let Some(settled) = chart.settle(&mut phase.field, &moved) else { return false };
        if distance(&here, &settled) > 4.0 * whole / LINKS as f64
            || !goes_on_to(phase, &settled)
        {
            return false;
        }
        here = settled;
    }
    distance(&here, b) <= 4.0 * whole / LINKS as f64 && goes_on_to(phase, b)
}
