//! What the past contributes to the operands, in storage that does not grow.
//!
//! With $\mu = m + \nu$, $X_k = J^k x$ and the end $t_n$ of the last step
//!
//! $$ \int_{t_0}^{t_n} \frac{(t-\sigma)^{\mu-1}}{\Gamma(\mu)} x\,d\sigma
//!    = \sum_{k=1}^m \frac{(t-t_n)^{\mu-k}}{\Gamma(\mu-k+1)} X_k(t_n) + \sum_l w_l e^{-s_l(t-t_n)} \psi_l, \qquad
//!    \psi_l = \int_{t_0}^{t_n} e^{-s_l(t_n-\sigma)} X_m\,d\sigma \qquad (\mathrm H) $$
//!
//! The $X_k$ are compensated sums; the $\psi_l$ decay and take up one step at a time. A rate so fast that
//! nothing older than the last step is left of it
//! is not carried along, and made again from the last step when a shorter one asks for it.

use super::block_history::BlockHistory;
use super::damped_waves::{WaveTable, Waves};
use super::exponentials::{ExponentialSum, LagRange, moments};
use super::linear_kernel::{Linear, LinearTable};
use super::starting_step::StartingStep;
use super::system::{Kernel, Operand, VolterraSystem};
use crate::linalg::dot::dot_wide;
use crate::quadrature::{NodalBasis, integrate_coefficients};
use crate::quadrature::{QuadratureRule, gauss_jacobi, lagrange};

/// Exponents beyond which an exponential is nothing.
const NOTHING: f64 = 42.0;
/// Exponentials that are treated together; groups are filled up with weights 0.
const LANES: usize = 8;

/// The past of all operands.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) groups: Vec<ExponentialGroup>,
    pub(crate) pasts: Vec<Past>,
    /// Length of the last step, 0 before the first.
    last: f64,
    /// Node values and coefficients of one operand, re-used.
    values: Vec<f64>,
    next: Vec<f64>,
}

/// A step, from the start of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSpan {
    /// Where it begins.
    pub(crate) start: f64,
    /// Its length.
    pub(crate) h: f64,
}

/// Operands that share exponentials.
#[derive(Clone, Debug)]
pub(crate) struct ExponentialGroup {
    nu: f64,
    terms: ExponentialSum,
    /// Whether fast rates may be dropped.
    power: bool,
    /// How many rates are up to date.
    fresh: usize,
}

/// The past of one operand.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    unknown: usize,
    /// $\mu$, 0 for kernels that are no powers.
    mu: f64,
    whole: usize,
    group: Option<usize>,
    linear: Option<Linear>,
    waves: Option<Waves>,
    blocks: Option<BlockHistory>,
    /// $X_1 \dots X_m$ with what their sums lost.
    sums: Vec<(f64, f64)>,
    psi: Vec<f64>,
    /// Coefficients of $X_m$ over the last step.
    coefficients: Vec<f64>,
}

/// Everything that depends on the length of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) h: f64,
    /// For each operand the local integrals, s × s.
    pub(crate) local: Vec<Vec<f64>>,
    /// For each operand the factors of $X_k$, s × m.
    boundary: Vec<Vec<f64>>,
    groups: Vec<GroupTable>,
    /// For each operand with a linear kernel.
    linear: Vec<Option<LinearTable>>,
    /// For each operand with waves.
    waves: Vec<Option<WaveTable>>,
}

#[derive(Clone, Debug, Default)]
struct GroupTable {
    active: usize,
    /// $w_l e^{-s_l c_j h}$, s × active.
    reach: Vec<f64>,
    decay: Vec<f64>,
    degree: usize,
    /// $h$ times the moments: for each [`LANES`] rates those of one degree after the other.
    intake: Vec<f64>,
}

impl Tables {
    /// Makes room for a step of length `h`.
    fn resize(&mut self, h: f64, operands: usize, groups: usize) {
        self.h = h;
        self.local.resize(operands, Vec::new());
        self.boundary.resize(operands, Vec::new());
        self.groups.resize(groups, GroupTable::default());
        self.linear.resize(operands, None);
        self.waves.resize(operands, None);
    }
}

impl History {
    pub(crate) fn new(operands: &[Operand], basis: &NodalBasis, lags: LagRange) -> Self {
        let mut groups: Vec<ExponentialGroup> = Vec::new();
        let pasts: Vec<Past> =
            operands.iter().map(|o| Past::new(o, basis, lags, &mut groups)).collect();
        let longest = pasts.iter().map(|p| p.coefficients.len()).max().unwrap_or(0);
        let (values, next) = (vec![0.0; basis.stages], vec![0.0; longest + 1]);
        Self { groups, pasts, last: 0.0, values, next }
    }

    /// Takes up a first step that is no polynomial.
    pub(crate) fn open(
        &mut self,
        starting: &StartingStep,
        basis: &NodalBasis,
        tables: &Tables,
    ) {
        let h = starting.h;
        let mut fresh = vec![0; self.groups.len()];
        for p in 0..self.pasts.len() {
            let (unknown, whole, mu) =
                (self.pasts[p].unknown, self.pasts[p].whole, self.pasts[p].mu);
            let mass = starting.sum(unknown, 1);
            if mu == 0.0 {
                // NOTE: for kernels without a singularity the step is a point.
                let constant = vec![mass / h; basis.stages];
                let past = &mut self.pasts[p];
                if let Some(table) = &tables.linear[p] {
                    table.advance(&mut past.psi, &constant);
                } else if let Some(g) = past.group {
                    let rates = &self.groups[g].terms.rates;
                    past.psi = rates.iter().map(|s| mass * libm::exp(-0.5 * s * h)).collect();
                    fresh[g] = rates.len();
                }
                continue;
            }
            self.pasts[p].sums = (1..=whole).map(|k| (starting.sum(unknown, k), 0.0)).collect();
            if let Some(g) = self.pasts[p].group {
                let rates = &self.groups[g].terms.rates;
                self.pasts[p].psi = starting.moments(unknown, whole, rates);
                fresh[g] = rates.len();
            }
        }
        for (group, fresh) in self.groups.iter_mut().zip(fresh) {
            group.fresh = fresh;
        }
        self.last = h;
    }

    /// The number of exponentials that are carried along at most.
    pub(crate) fn terms(&self) -> usize {
        let used = |g: &ExponentialGroup| g.terms.weights.iter().filter(|w| **w != 0.0).count();
        let waves = self.pasts.iter().filter_map(|p| p.waves.as_ref());
        self.groups.iter().map(used).sum::<usize>() + waves.map(Waves::len).sum::<usize>()
    }

    /// Fills `tables` for a step of length `h` that begins at `elapsed` and makes stale rates fresh.
    pub(crate) fn prepare(
        &mut self,
        basis: &NodalBasis,
        units: &[Vec<f64>],
        h: f64,
        tables: &mut Tables,
    ) {
        if tables.h != h {
            tables.resize(h, self.pasts.len(), self.groups.len());
            for p in 0..self.pasts.len() {
                self.fill_operand(p, basis, &units[p], tables);
            }
            for (g, table) in tables.groups.iter_mut().enumerate() {
                let members = self.pasts.iter().filter(|p| p.group == Some(g));
                let degrees = members.map(|p| basis.stages + p.whole);
                let degree = degrees.max().unwrap_or(basis.stages);
                table.fill(&self.groups[g], basis, h, degree);
            }
        }
        self.freshen(tables);
    }

    /// Fills the tables of one operand; `unit` holds its local integrals for a step of length 1.
    fn fill_operand(&self, p: usize, basis: &NodalBasis, unit: &[f64], tables: &mut Tables) {
        let (past, h) = (&self.pasts[p], tables.h);
        if past.blocks.is_some() {
            // NOTE: filled by the step, which knows the kernel.
            tables.local[p].clear();
        } else if let Some(waves) = &past.waves {
            let table = waves.table(basis, h);
            tables.local[p].clone_from(&table.local);
            tables.waves[p] = Some(table);
        } else if let Some(linear) = &past.linear {
            let table = linear.table(basis, h);
            tables.local[p].clone_from(&table.local);
            tables.linear[p] = Some(table);
        } else if past.mu > 0.0 {
            let scale = libm::pow(h, past.mu);
            tables.local[p].clear();
            tables.local[p].extend(unit.iter().map(|u| u * scale));
            tables.boundary[p].clear();
            for c in &basis.nodes {
                for k in 1..=past.whole {
                    let e = past.mu - k as f64;
                    tables.boundary[p].push(libm::pow(c * h, e) / libm::tgamma(e + 1.0));
                }
            }
        } else if let Some(g) = past.group {
            tables.local[p] = local_exponentials(basis, &self.groups[g].terms, h);
        }
    }

    /// Makes the rates that the tables use fresh from the last step.
    fn freshen(&mut self, tables: &Tables) {
        for (past, table) in self.pasts.iter_mut().zip(&tables.waves) {
            if let (Some(waves), Some(table)) = (&mut past.waves, table) {
                waves.freshen(table, self.last, &past.coefficients);
            }
        }
        for (g, group) in self.groups.iter_mut().enumerate() {
            let wanted = tables.groups[g].active;
            if wanted <= group.fresh {
                continue;
            }
            for past in self.pasts.iter_mut().filter(|p| p.group == Some(g)) {
                let mut found = vec![0.0; past.coefficients.len()];
                for l in group.fresh..wanted {
                    // NOTE: nothing older than the last step is left of these.
                    moments(group.terms.rates[l] * self.last, 0.0, &mut found);
                    let sum: f64 =
                        found.iter().zip(&past.coefficients).map(|(m, c)| m * c).sum();
                    past.psi[l] = self.last * sum;
                }
            }
            group.fresh = wanted;
        }
    }

    /// What the past (not the start) contributes to operand `p` at node `j` of the step of `tables`.
    pub(crate) fn value(&self, p: usize, j: usize, tables: &Tables) -> f64 {
        let past = &self.pasts[p];
        let mut sum = 0.0;
        if let Some(g) = past.group {
            let table = &tables.groups[g];
            let row = &table.reach[j * table.active..(j + 1) * table.active];
            sum = dot_wide(row, &past.psi[..table.active]);
        }
        if let Some(table) = &tables.linear[p] {
            let d = past.psi.len();
            sum = dot_wide(&table.reach[j * d..(j + 1) * d], &past.psi);
        }
        if let (Some(waves), Some(table)) = (&past.waves, &tables.waves[p]) {
            sum = waves.value(j, table);
        }
        for (k, (x, lost)) in past.sums.iter().enumerate() {
            sum += tables.boundary[p][j * past.whole + k] * (x + lost);
        }
        sum
    }

    /// Takes up a step of the tables' length with these node values (node by node).
    pub(crate) fn advance(
        &mut self,
        basis: &NodalBasis,
        elapsed: f64,
        x: &[f64],
        unknowns: usize,
        tables: &Tables,
    ) {
        let (s, h) = (basis.stages, tables.h);
        let Self { values, next, .. } = self;
        for (p, past) in self.pasts.iter_mut().enumerate() {
            for (j, v) in values.iter_mut().enumerate() {
                *v = x[j * unknowns + past.unknown];
            }
            if let Some(table) = &tables.linear[p] {
                table.advance(&mut past.psi, values);
                continue;
            }
            basis.coefficients(values, &mut past.coefficients[..s]);
            if let (Some(waves), Some(table)) = (&mut past.waves, &tables.waves[p]) {
                waves.advance(&past.coefficients, table);
                continue;
            }
            if let Some(blocks) = &mut past.blocks {
                blocks.advance(elapsed, h, &past.coefficients);
                continue;
            }
            past.integrate(s, h, next);
            if let Some(g) = past.group {
                past.take_up(&tables.groups[g]);
            }
        }
        for (group, table) in self.groups.iter_mut().zip(&tables.groups) {
            group.fresh = table.active;
        }
        self.last = h;
    }

    /// What the past contributes to a general operand `later` than `elapsed`, where it ends.
    pub(crate) fn general(
        &self,
        p: usize,
        t: f64,
        span: StepSpan,
        system: &mut dyn VolterraSystem,
    ) -> f64 {
        let mut kernel = |lags: &[f64], out: &mut [f64]| system.kernel(p, t, lags, out);
        let blocks = self.pasts[p].blocks.as_ref();
        blocks.map_or(0.0, |blocks| blocks.value(span.start, span.h, &mut kernel))
    }
}

impl ExponentialGroup {
    /// The group of the power of order `nu`, a new one if there is none.
    fn power(nu: f64, lags: LagRange, groups: &mut Vec<Self>) -> usize {
        let same = |g: &Self| g.power && g.nu == nu;
        groups.iter().position(same).unwrap_or_else(|| {
            let terms = filled(lags.power(nu));
            let fresh = terms.rates.len();
            groups.push(Self { nu, terms, power: true, fresh });
            groups.len() - 1
        })
    }

    /// A group of given exponentials.
    fn given(pairs: &[(f64, f64)], groups: &mut Vec<Self>) -> usize {
        let (weights, rates): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let terms = filled(ExponentialSum { rates, weights });
        let fresh = terms.rates.len();
        groups.push(Self { nu: 0.0, terms, power: false, fresh });
        groups.len() - 1
    }
}

impl Past {
    /// An empty past of an operand.
    fn new(
        operand: &Operand,
        basis: &NodalBasis,
        lags: LagRange,
        groups: &mut Vec<ExponentialGroup>,
    ) -> Self {
        let mut past = Self {
            unknown: operand.unknown,
            mu: 0.0,
            whole: 0,
            group: None,
            linear: None,
            waves: None,
            blocks: None,
            sums: Vec::new(),
            psi: Vec::new(),
            coefficients: Vec::new(),
        };
        match &operand.kernel {
            Kernel::Power(mu) => {
                let whole = mu.floor();
                past.mu = *mu;
                past.whole = whole as usize;
                let nu = mu - whole;
                past.group = (nu > 0.0).then(|| ExponentialGroup::power(nu, lags, groups));
            }
            Kernel::Exponentials(pairs) => {
                past.group = Some(ExponentialGroup::given(pairs, groups));
            }
            Kernel::Linear(coefficients, start) => {
                let linear = Linear::new(coefficients, start);
                past.psi = vec![0.0; linear.size()];
                past.linear = Some(linear);
            }
            Kernel::Waves(mu, waves) => past.waves = Some(Waves::new(*mu, waves, lags)),
            Kernel::General(_, resolved) => {
                past.blocks = Some(BlockHistory::new(resolved.clone()));
            }
        }
        past.sums = vec![(0.0, 0.0); past.whole];
        past.coefficients = vec![0.0; basis.stages + past.whole];
        if let Some(g) = past.group {
            past.psi = vec![0.0; groups[g].terms.rates.len()];
        }
        past
    }

    /// Takes up a step of length `h` in the repeated integrals $X_k$; its coefficients become those of $X_m$.
    /// `next` is storage.
    fn integrate(&mut self, stages: usize, h: f64, next: &mut [f64]) {
        for k in 0..self.whole {
            let (n, mean) = (stages + k, self.coefficients[0]);
            let (sum, lost) = self.sums[k];
            // The last integral is wanted as a number only, unless exponentials take it up.
            if k + 1 < self.whole || self.group.is_some() {
                integrate_coefficients(&self.coefficients[..n], &mut next[..=n]);
                for (c, integral) in self.coefficients.iter_mut().zip(&next[..=n]) {
                    *c = h * integral;
                }
                self.coefficients[0] += sum + lost;
            }
            // Neumaier's sum.
            let gain = h * mean;
            let total = sum + gain;
            let error = if sum.abs() >= gain.abs() {
                (sum - total) + gain
            } else {
                (gain - total) + sum
            };
            self.sums[k] = (total, lost + error);
        }
    }

    /// Takes up a step in the exponentials.
    fn take_up(&mut self, table: &GroupTable) {
        let (psis, _) = self.psi.as_chunks_mut::<LANES>();
        let (decays, _) = table.decay.as_chunks::<LANES>();
        let (rows, _) = table.intake.as_chunks::<LANES>();
        let taken = psis.iter_mut().zip(decays).zip(rows.chunks_exact(table.degree));
        for ((psi, d), rows) in taken {
            let mut sum: [f64; LANES] = std::array::from_fn(|i| psi[i] * d[i]);
            for (c, row) in self.coefficients.iter().zip(rows) {
                sum = std::array::from_fn(|i| sum[i] + c * row[i]);
            }
            *psi = sum;
        }
    }
}

impl GroupTable {
    fn fill(&mut self, group: &ExponentialGroup, basis: &NodalBasis, h: f64, degree: usize) {
        let ExponentialSum { rates, weights } = &group.terms;
        let first = basis.nodes[0];
        self.active = if group.power {
            rates.partition_point(|s| s * first * h <= NOTHING).next_multiple_of(LANES)
        } else {
            rates.len()
        };
        let active = self.active;
        self.reach.clear();
        for c in &basis.nodes {
            self.reach.extend(
                rates[..active].iter().zip(weights).map(|(s, w)| w * libm::exp(-s * c * h)),
            );
        }
        self.decay.clear();
        self.decay.extend(rates[..active].iter().map(|s| libm::exp(-s * h)));
        self.degree = degree;
        self.intake.resize(degree * active, 0.0);
        let mut found = vec![0.0; degree];
        for l in 0..active {
            if rates[l] >= 0.0 {
                moments(rates[l] * h, self.decay[l], &mut found);
            } else {
                // ∫ e^{−z(1−θ)} P_m = e^{−z} (−1)^m ∫ e^{z(1−θ)} P_m for a growing kernel.
                moments(-rates[l] * h, 1.0 / self.decay[l], &mut found);
                for (m, f) in found.iter_mut().enumerate() {
                    *f *= self.decay[l] * if m % 2 == 0 { 1.0 } else { -1.0 };
                }
            }
            let place = l / LANES * LANES * degree + l % LANES;
            for (m, f) in found.iter().enumerate() {
                self.intake[place + m * LANES] = h * f;
            }
        }
    }
}

/// The same sum with terms of weight 0 at the last rate, up to a multiple of [`LANES`].
fn filled(mut terms: ExponentialSum) -> ExponentialSum {
    let count = terms.rates.len().next_multiple_of(LANES);
    let last = terms.rates.last().copied().unwrap_or(0.0);
    terms.rates.resize(count, last);
    terms.weights.resize(count, 0.0);
    terms
}

/// Local integrals of a sum of exponentials, by as many panels as the fastest needs.
fn local_exponentials(basis: &NodalBasis, terms: &ExponentialSum, h: f64) -> Vec<f64> {
    let QuadratureRule { nodes: x, weights: w } = gauss_jacobi(16, 1.0);
    let s = basis.stages;
    let mut matrix = vec![0.0; s * s];
    for (j, c) in basis.nodes.iter().enumerate() {
        for (rate, weight) in terms.rates.iter().zip(&terms.weights) {
            let panels = (rate.abs() * c * h / 8.0).ceil().clamp(1.0, 1000.0);
            for panel in 0..panels as usize {
                for (x, w) in x.iter().zip(&w) {
                    let θ = c * (panel as f64 + x) / panels;
                    let share = h * c / panels * w * weight * libm::exp(-rate * h * (c - θ));
                    for k in 0..s {
                        matrix[j * s + k] += share * lagrange(&basis.nodes, k, θ);
                    }
                }
            }
        }
    }
    matrix
}
