//! The kernel of `memory(k, g)` into parts that a run can carry along.
//!
//! $$ k(t, s) = \sum_i a_i(t)\,k_i(s) \qquad (\mathrm K) $$
//!
//! Each term is taken for what it is ([`term`]), or fitted ([`fit`]), or kept in blocks where it is smooth
//! ([`KernelResolution`]). One with the time in it is taken apart first, if few $a_i$ do: with values on
//! a grid of times and lags, $a_i(t) = \sum_j k(t, s_j)\,(A^{-1})_{ji}$ and $k_i(s) = k(t_i, s)$ for $A_{ij} =
//! k(t_i, s_j)$, the largest pivots first; (K) is then tried elsewhere.

use pfaff_expr::{Expr, Graph, Role, number};
use pfaff_model::Workspace;
use pfaff_solver::{Kernel, KernelResolution, Lu};

use crate::problem::break_points::Variable;
use crate::run::volterra::kernel::{KernelSymbols, Term, has_pieces, power, term, terms};
use crate::run::volterra::kernel_run::KernelRun;
use crate::run::volterra::prony::fit;
use crate::run::volterra::run_values::{RunTimes, parameter};
use crate::run::volterra::small_lag::{LagSymbols, SmallLag};

/// The most products of a function of the time and one of the lag.
const RANK: usize = 4;

/// A part of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// $a_i(t)$
    pub(crate) factor: Expr,
    pub(crate) kernel: Kernel,
    /// The kernel as it stands, where a run asks for its values.
    pub(crate) written: Option<Expr>,
}

impl Part {
    /// How its past is kept, for people.
    pub(crate) fn how(&self) -> &'static str {
        match &self.kernel {
            Kernel::Power(_) => "a power, compressed into exponentials",
            Kernel::Exponentials(terms) if terms.len() == 1 => "an exponential",
            Kernel::Exponentials(_) => "fitted by exponentials",
            Kernel::Linear(..) => "a damped wave",
            Kernel::Waves(mu, _) if *mu < 1.0 => {
                "a power times damped waves, compressed into exponentials"
            }
            Kernel::Waves(..) => "fitted by waves",
            Kernel::General(_, Some(_)) => "kept in blocks, at a cost of N log N for N steps",
            Kernel::General(_, None) => "not compressed, at a cost of N² for N steps",
        }
    }
}

/// The parts (K) of a kernel over a run at these times.
pub(crate) fn compress(model: &Workspace, kernel: Expr, times: RunTimes) -> Vec<Part> {
    let g = &model.graph;
    let case = Case { model, g, lag: g.symbol("s", Role::Free), times };
    let value = |e: Expr, s: f64| case.value(e, times.start, s);
    let mut parts = Vec::new();
    for term in terms(g, kernel, KernelSymbols { lag: case.lag, time: model.time }, &value) {
        match term {
            Term::Known(factor, kernel) => parts.push(case.known(factor, kernel)),
            Term::General(k) => parts.extend(case.general(k)),
        }
    }
    parts
}

/// Why a kernel has no integral over the lags of a run, or none that doubles can tell; `None` if it has one.
pub(crate) fn unusable(model: &Workspace, kernel: Expr, times: RunTimes) -> Option<String> {
    let g = &model.graph;
    let case = Case { model, g, lag: g.symbol("s", Role::Free), times };
    let name = g.to_text(kernel);
    let (length, end) = (times.length, times.start + times.length);
    // Parts that are no simple numbers.
    let lags = (0..61).map(|k| (f64::from(k) + 0.381_966) / 61.0 * length);
    if let Some(lag) = lags.into_iter().find(|s| !case.value(kernel, end, *s).is_finite()) {
        return Some(format!(
            "the kernel `{name}` has no finite value at the lag s = {lag:.3}"
        ));
    }
    let value = |e: Expr, s: f64| case.value(e, times.start, s);
    let symbols = KernelSymbols { lag: case.lag, time: model.time };
    let known = terms(g, kernel, symbols, &value);
    let is_known = known.iter().all(|t| matches!(t, Term::Known(..)));
    // s |k(s)| falls towards 0. A power of −0.999 gives 0.995 from one of these lags to the other; panels that halve
    // towards what is no power get as far as −0.74. What cancels (1/s − cos(s)/s) leaves rounding.
    let explicit = power(g, kernel, case.lag, &value).0;
    let is_power = (explicit > -1.0 && explicit < 0.0) || case.exponent(kernel) < 0.0;
    let most = if is_known || is_power { 0.998 } else { 0.3 };
    let weight = |s: f64| s * case.exact(kernel, times.start + 0.7 * length, s * length).abs();
    let (far, near, nearer) = (weight(0.1), weight(1e-10), weight(1e-12));
    if nearer > 1e-9 * far && nearer > most * near {
        return Some(format!(
            "the kernel `{name}` grows like 1/s or faster towards the lag 0, or nearly so, and its integral \
             diverges or is beyond what can be computed"
        ));
    }
    if is_known {
        return None;
    }
    let at_end = |e: Expr, s: f64| case.value(e, end, s);
    let variable = Variable {
        g,
        symbol: case.lag,
        others: &[model.time],
        value: &at_end,
        from: 0.0,
        to: length,
    };
    let diverges = |b: &f64| {
        let side = |d: f64| d * at_end(kernel, b + d * length).abs();
        [1.0, -1.0].into_iter().any(|sign| {
            let (near, nearer) = (side(sign * 1e-6).abs(), side(sign * 1e-9).abs());
            nearer > 1e-9 * far && nearer > 0.6 * near
        })
    };
    let place = variable.centres(&[kernel]).into_iter().find(diverges)?;
    Some(format!("the integral of the kernel `{name}` diverges at the lag s = {place}"))
}

struct Case<'a> {
    model: &'a Workspace,
    g: &'a Graph,
    lag: Expr,
    times: RunTimes,
}

impl Case<'_> {
    fn value(&self, e: Expr, t: f64, s: f64) -> f64 {
        let at = |x: Expr| {
            if x == self.lag {
                s
            } else if x == self.model.time {
                t
            } else {
                parameter(self.model, x)
            }
        };
        self.g.evaluate(&[e], &at)[0]
    }

    /// The value at a small lag.
    fn exact(&self, e: Expr, t: f64, s: f64) -> f64 {
        let value = |x: Expr| parameter(self.model, x);
        let symbols = LagSymbols { lag: self.lag, time: self.model.time, parameter: &value };
        let exact = SmallLag::new(self.g, e, &symbols);
        exact.map_or_else(|| self.value(e, t, s), |exact| exact.value(t, s))
    }

    fn real(&self, x: f64) -> Expr {
        number::from_f64(x).map_or(self.g.zero(), |x| self.g.number(x))
    }

    fn known(&self, factor: f64, kernel: Kernel) -> Part {
        Part { factor: self.real(factor), kernel, written: None }
    }

    fn general(&self, k: Expr) -> Vec<Part> {
        let steady = !self.g.contains(k, &[self.model.time]);
        if steady {
            return vec![self.steady(k)];
        }
        let Some(pairs) = self.separated(k) else { return vec![self.resolved(k, false)] };
        let parts: Vec<Part> = pairs
            .into_iter()
            .map(|(factor, k)| {
                let value = |e: Expr, s: f64| self.value(e, self.times.start, s);
                let part = match term(
                    self.g,
                    k,
                    KernelSymbols { lag: self.lag, time: self.model.time },
                    &value,
                ) {
                    Term::Known(factor, kernel) => self.known(factor, kernel),
                    Term::General(k) => self.steady(k),
                };
                Part { factor: self.g.mul(factor, part.factor), ..part }
            })
            .collect();
        // Several sums over blocks cost more than one with the time in it.
        let blocks = |p: &Part| matches!(p.kernel, Kernel::General(..));
        if parts.len() > 1 && parts.iter().any(blocks) {
            return vec![self.resolved(k, false)];
        }
        parts
    }

    /// A kernel of the lag alone that is nothing known.
    fn steady(&self, k: Expr) -> Part {
        let fitted = if has_pieces(self.g, k) {
            None
        } else {
            fit(self.times.length, &|s| self.value(k, self.times.start, s))
        };
        match fitted {
            Some(kernel) => self.known(1.0, kernel),
            None => self.resolved(k, true),
        }
    }

    /// A kernel whose past is kept in blocks, or as it is.
    fn resolved(&self, k: Expr, steady: bool) -> Part {
        let value =
            |e: Expr, s: f64| self.value(e, self.times.start + 0.7 * self.times.length, s);
        let (p, _) = power(self.g, k, self.lag, &value);
        let mut mu = if p > -1.0 && p.is_finite() { p + 1.0 } else { 1.0 };
        let start = value(k, 0.0);
        if mu == 1.0 && !start.is_finite() {
            mu = 1.0 + self.exponent(k);
        }
        let mut run = KernelRun::new(self.model, k, self.times);
        let mut kernel = |t: f64, s: f64| run.value(self.times.start + t, s);
        let length = self.times.length;
        let others = [self.model.time];
        let variable = Variable {
            g: self.g,
            symbol: self.lag,
            others: &others,
            value: &value,
            from: 0.0,
            to: length,
        };
        let breaks = variable.breaks(&[k]);
        let resolved = KernelResolution::new(mu, length, steady, &breaks, &mut kernel);
        Part { factor: self.g.one(), kernel: Kernel::General(mu, resolved), written: Some(k) }
    }

    /// The exponent with which a kernel that is infinite at the lag 0 begins; 0 if it is no power there.
    fn exponent(&self, k: Expr) -> f64 {
        let t = self.times.start + 0.7 * self.times.length;
        let slope = self.g.mul(self.lag, self.g.div(self.g.derivative(k, self.lag), k));
        let at = |s: f64| self.exact(slope, t, s * self.times.length);
        let (near, nearer) = (at(1e-24), at(1e-28));
        let settled = (near - nearer).abs() <= 1e-14;
        if settled && nearer > -1.0 && nearer < 0.0 { nearer } else { 0.0 }
    }

    /// (K) for a kernel with the time in it, as pairs of $a_i$ and $k_i$.
    fn separated(&self, k: Expr) -> Option<Vec<(Expr, Expr)>> {
        const TIMES: [f64; 7] = [0.97, 0.11, 0.53, 0.71, 0.29, 0.83, 0.41];
        const LAGS: [f64; 7] = [0.05, 0.92, 0.37, 0.64, 0.19, 0.78, 0.48];
        let time = |i: usize| self.times.start + TIMES[i] * self.times.length;
        let lag = |j: usize| LAGS[j] * self.times.length;
        let value = |t: f64, s: f64| self.value(k, t, s);
        let mut rest: Vec<Vec<f64>> =
            (0..7).map(|i| (0..7).map(|j| value(time(i), lag(j))).collect()).collect();
        if rest.iter().flatten().any(|x| !x.is_finite()) {
            return None;
        }
        let largest = rest.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut pivots: Vec<(usize, usize)> = Vec::new();
        loop {
            let places = (0..7).flat_map(|i| (0..7).map(move |j| (i, j)));
            let (i, j) =
                places.max_by(|a, b| rest[a.0][a.1].abs().total_cmp(&rest[b.0][b.1].abs()))?;
            let pivot = rest[i][j];
            if pivot.abs() <= 1e-13 * largest {
                break;
            }
            if pivots.len() == RANK {
                return None;
            }
            pivots.push((i, j));
            let row = rest[i].clone();
            for other in &mut rest {
                let factor = other[j] / pivot;
                other.iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
            }
        }
        let r = pivots.len();
        if r == 0 {
            return None;
        }
        let matrix: Vec<f64> = pivots
            .iter()
            .flat_map(|&(i, _)| pivots.iter().map(move |&(_, j)| (i, j)))
            .map(|(i, j)| value(time(i), lag(j)))
            .collect();
        let mut lu = Lu::new(r);
        lu.factor(r, &matrix).ok()?;
        // Columns of the inverse: (A⁻¹)_{ji}.
        let inverse: Vec<Vec<f64>> = (0..r)
            .map(|i| {
                let mut unit = vec![0.0; r];
                unit[i] = 1.0;
                lu.solve(&mut unit);
                unit
            })
            .collect();
        for n in 0..60 {
            let (u, v) = (0.618_034 * f64::from(n), 0.754_877 * f64::from(n));
            let t = self.times.start + (u - u.floor()) * self.times.length;
            let s = (v - v.floor()).max(1e-3) * self.times.length;
            let sum: f64 = (0..r)
                .map(|i| {
                    let a: f64 =
                        (0..r).map(|j| inverse[i][j] * value(t, lag(pivots[j].1))).sum();
                    a * value(time(pivots[i].0), s)
                })
                .sum();
            let exact = value(t, s);
            // NOTE: an exact product leaves rounding; what is merely close is no product.
            if (sum - exact).abs() > 1e-12 * (largest + exact.abs()) || !sum.is_finite() {
                return None;
            }
        }
        let g = self.g;
        let at = |symbol: Expr, x: f64| g.substitute(&[k], &[(symbol, self.real(x))])[0];
        let pair = |i: usize| {
            let factor = g.sum(
                (0..r).map(|j| g.mul(self.real(inverse[i][j]), at(self.lag, lag(pivots[j].1)))),
            );
            (factor, at(self.model.time, time(pivots[i].0)))
        };
        Some((0..r).map(pair).collect())
    }
}
