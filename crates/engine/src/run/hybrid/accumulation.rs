//! Impacts that follow each other ever faster, each of which changes what holds.
//!
//! A block that rocks on two corners hits the ground with one and lifts the other, again and again. If the times
//! between every $p$-th impact have $\Delta_n/\Delta_{n-1} = r < 1$, they end at $t_n + \Delta_n\,r/(1 - r)$.
//! From there on the contacts that took part are closed.

use crate::problem::start::Start;

/// What is left up to an accumulation, in parts of the run so far.
const LEFT: f64 = 1e-9;
/// How much two ratios of times may differ, in parts of $1 - r$.
const STEADY: f64 = 1e-3;
/// Impacts after which a pattern may repeat itself.
const PERIODS: usize = 4;

/// The last impacts of a run.
#[derive(Debug, Default)]
pub(super) struct ImpactLog {
    hits: Vec<Hit>,
}

#[derive(Clone, Debug)]
struct Hit {
    t: f64,
    contacts: Vec<usize>,
    state: Start,
}

/// Where impacts end.
#[derive(Debug)]
pub(super) struct Accumulation {
    pub(super) t: f64,
    pub(super) state: Start,
    /// The contacts that took part.
    pub(super) contacts: Vec<usize>,
}

impl ImpactLog {
    /// Takes note of an impact and the state after it; says where such impacts accumulate, if that is near.
    pub(super) fn note(
        &mut self,
        (t0, t): (f64, f64),
        contacts: Vec<usize>,
        state: &Start,
    ) -> Option<Accumulation> {
        self.hits.push(Hit { t, contacts, state: state.clone() });
        let most = 3 * PERIODS + 1;
        if self.hits.len() > most {
            self.hits.remove(0);
        }
        let found = (1..=PERIODS).find_map(|period| self.limit(t0, period))?;
        self.hits.clear();
        Some(found)
    }

    fn limit(&self, t0: f64, period: usize) -> Option<Accumulation> {
        let before = |k: usize| {
            let index = (self.hits.len()).checked_sub(1 + k * period)?;
            self.hits.get(index)
        };
        let [now, one, two, three] = [before(0)?, before(1)?, before(2)?, before(3)?];
        let gaps = [now.t - one.t, one.t - two.t, two.t - three.t];
        let (ratio, earlier) = (gaps[0] / gaps[1], gaps[1] / gaps[2]);
        let beyond = ratio / (1.0 - ratio);
        let is_steady = ratio < 1.0 && (ratio - earlier).abs() <= STEADY * (1.0 - ratio);
        if !is_steady || (gaps[0] * beyond).abs() > LEFT * (now.t - t0).abs() {
            return None;
        }
        let mut state = now.state.clone();
        let extend = |now: &mut [f64], before: &[f64]| {
            now.iter_mut().zip(before).for_each(|(x, before)| *x += beyond * (*x - before));
        };
        extend(&mut state.q, &one.state.q);
        extend(&mut state.v, &one.state.v);
        // NOTE: earlier impacts need not belong to the pattern.
        let last = &self.hits[self.hits.len() - 2 * period..];
        let mut contacts: Vec<usize> =
            last.iter().flat_map(|hit| hit.contacts.clone()).collect();
        contacts.sort_unstable();
        contacts.dedup();
        Some(Accumulation { t: now.t + gaps[0] * beyond, state, contacts })
    }
}
