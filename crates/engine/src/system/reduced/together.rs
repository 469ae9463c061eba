//! What follows from several states at once, by one pass over the tape: for the audit, which looks at too few
//! of them to be worth machine code.

use crate::motion::sample::LANES;
use crate::motion::sample::Sample;

use super::Reduced;
use super::chart::{Chart, FollowProgram};

/// A state, with the rates that it is to move with where they are not its own.
pub(crate) struct LaneSamples<'a> {
    pub(crate) t: f64,
    pub(crate) y: &'a [f64],
    pub(crate) rates: Option<&'a [f64]>,
}

impl Reduced {
    /// The instants of some states, at most [`LANES`]; says whether that could be done, or they must be
    /// looked at one by one.
    ///
    /// Where rates are given, $\ddot q$ is that of them, and everything else that of the state.
    pub(crate) fn resolve_together(
        &mut self,
        states: &[LaneSamples<'_>],
        instants: &mut [Sample],
    ) -> bool {
        let (n, k) = (self.n, self.k);
        let Some(first) = states.first() else { return true };
        let place = self.place_of_work() + 1;
        let mark = first.y[place];
        if !self.chart(first.y).follow.has_multipliers
            || states.iter().any(|s| s.y[place] != mark)
        {
            return false;
        }
        let mut rates = std::mem::take(&mut self.scratch);
        let mut moving = [const { Vec::new() }; LANES];
        for ((state, sample), moving) in states.iter().zip(&mut *instants).zip(&mut moving) {
            if self.plain_rates(state.t, state.y, &mut rates).is_err() {
                self.scratch = rates;
                return false;
            }
            sample.t = state.t;
            sample.q.copy_from_slice(&state.y[..n]);
            sample.v.copy_from_slice(&rates[..n]);
            moving.extend_from_slice(&rates[n..n + k]);
        }
        self.scratch = rates;
        let chart = self.chart(first.y);
        let u_rates = |l: usize| moving[l].as_slice();
        let followed = chart.follow_together(states, instants, &u_rates);
        for (l, sample) in instants.iter_mut().enumerate().take(states.len()) {
            let at = |i: usize| followed[i * LANES + l];
            sample.a.iter_mut().enumerate().for_each(|(i, a)| *a = at(i));
            sample.reaction.iter_mut().enumerate().for_each(|(i, r)| *r = at(n + i));
            sample.energy = at(2 * n);
            sample.multipliers.iter_mut().enumerate().for_each(|(i, λ)| *λ = at(2 * n + 1 + i));
        }
        if states.iter().all(|s| s.rates.is_none()) {
            return true;
        }
        let given = |l: usize| states[l].rates.map_or(u_rates(l), |rates| &rates[n..n + k]);
        let followed = chart.follow_together(states, instants, &given);
        for (l, sample) in instants.iter_mut().enumerate().take(states.len()) {
            let a = sample.a.iter_mut().enumerate();
            a.for_each(|(i, a)| *a = followed[i * LANES + l]);
        }
        true
    }
}

impl Chart {
    /// [`Chart::follow`] in lanes; those that are left over repeat the last state.
    fn follow_together<'a>(
        &mut self,
        states: &[LaneSamples<'_>],
        instants: &[Sample],
        u_rates: &dyn Fn(usize) -> &'a [f64],
    ) -> Vec<f64> {
        let known = instants[0].q.len() + self.k;
        let mut inputs = vec![0.0; LANES * self.inputs.len()];
        for l in 0..LANES {
            let from = l.min(states.len() - 1);
            let LaneSamples { t, y, .. } = &states[from];
            let numbers = [&[*t], &y[..known], u_rates(from), &instants[from].v];
            let numbers = numbers.into_iter().flatten();
            numbers.enumerate().for_each(|(i, x)| inputs[i * LANES + l] = *x);
        }
        let mut followed = vec![0.0; LANES * self.follow.outputs.len()];
        let FollowProgram { tape, parameters, batch, .. } = &mut self.follow;
        let batch = batch.get_or_insert_with(|| tape.batch_interpreter(LANES, parameters));
        batch.evaluate(&inputs, &mut followed);
        followed
    }
}
