//! The Jacobian $J = \partial f/\partial y$ for implicit methods, and the linear systems $(\mu - J)\,x = b$.
//!
//! $J$ comes from the system ([`Jacobian`](crate::Jacobian)), full or by its entries, or from differences of the rates.
//! Where entries are given, $x$ may have further components that follow from the others,
//!
//! $$ \left[\mu\begin{pmatrix} I & 0 \\\\ 0 & 0 \end{pmatrix} - N\right]
//!    \begin{pmatrix} x \\\\ \xi \end{pmatrix} = \begin{pmatrix} b \\\\ 0 \end{pmatrix}, $$
//!
//! and a complex $\mu$ makes a real matrix of twice the size.

use num_complex::Complex64;

use crate::linalg::complex_lu::ShiftedLu;
use crate::linalg::lu::Lu;
use crate::linalg::sparse_lu::SparseLu;
use crate::ode::capability::SparseJacobian;
use crate::ode::stepper::Base;
use crate::ode::system::{Counted, EvalError, finite};

/// $J$ at a state.
#[derive(Default)]
pub(crate) struct StateJacobian {
    n: usize,
    /// By rows; empty where the entries are known.
    full: Vec<f64>,
    entries: Option<Entries>,
    /// The largest values that the components have had.
    largest: Vec<f64>,
    /// Whether it belongs to the state from which the next step starts, or at least to an earlier one.
    pub(crate) is_current: bool,
    pub(crate) is_known: bool,
}

/// $N$ by columns, with a place for every diagonal entry of $\mu$.
#[derive(Default)]
struct Entries {
    begins: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl Entries {
    fn take(&mut self, n: usize, from: &SparseJacobian<'_>) {
        self.begins.clear();
        self.rows.clear();
        self.values.clear();
        self.begins.push(0);
        for (j, ends) in from.begins.windows(2).enumerate() {
            let mut has_diagonal = j >= n;
            let push = |entries: &mut Self, i: usize, x: f64| {
                entries.rows.push(i);
                entries.values.push(x);
            };
            for p in ends[0]..ends[1] {
                let i = from.rows[p];
                if i >= j && !has_diagonal {
                    has_diagonal = true;
                    if i > j {
                        push(self, j, 0.0);
                    }
                }
                push(self, i, from.values[p]);
            }
            if !has_diagonal {
                push(self, j, 0.0);
            }
            self.begins.push(self.rows.len());
        }
    }

    fn size(&self) -> usize {
        self.begins.len() - 1
    }
}

impl StateJacobian {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, largest: vec![0.0; n], ..Self::default() }
    }

    /// Evaluates $J$ at a state; `rates` and `state` are storage.
    pub(crate) fn evaluate(
        &mut self,
        system: &mut Counted<'_>,
        at: &Base<'_>,
        state: &mut [f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        let n = self.n;
        (self.is_known, self.is_current) = (true, true);
        if let Some(jacobian) = system.system.jacobian() {
            if let Ok(Some(sparse)) = jacobian.sparse(at.t, at.y)
                && finite(sparse.values).is_ok()
            {
                self.entries.get_or_insert_default().take(n, &sparse);
                return Ok(());
            }
            self.entries = None;
            self.full.resize(n * n, 0.0);
            let exact = jacobian.jacobian(at.t, at.y, &mut self.full);
            if exact.and_then(|()| finite(&self.full)).is_ok() {
                return Ok(());
            }
        }
        self.entries = None;
        self.full.resize(n * n, 0.0);
        let differences = self.differences(system, at, state, rates);
        self.is_known = differences.is_ok();
        differences
    }

    /// Differences of the rates, one evaluation for each component.
    fn differences(
        &mut self,
        system: &mut Counted<'_>,
        at: &Base<'_>,
        state: &mut [f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        /// The square root of the rounding.
        const PART: f64 = 1.5e-8;
        let n = self.n;
        state.copy_from_slice(at.y);
        for j in 0..n {
            // NOTE: differences over less than what a component has been would be rounding of the other terms.
            self.largest[j] = self.largest[j].max(at.y[j].abs());
            let known = if self.largest[j] > 0.0 { 0.0 } else { (at.h * at.f[j]).abs() };
            let size = self.largest[j].max(known);
            let size = if size > 1e-40 { size } else { 1.0 };
            state[j] = at.y[j] + (PART * size).copysign(at.h * at.f[j]);
            if system.rates(at.t, state, rates).is_err() {
                state[j] = at.y[j] - (PART * size).copysign(at.h * at.f[j]);
                system.rates(at.t, state, rates)?;
            }
            let δ = state[j] - at.y[j];
            for (i, (a, b)) in rates.iter().zip(at.f).enumerate() {
                self.full[i * n + j] = (a - b) / δ;
            }
            state[j] = at.y[j];
        }
        Ok(())
    }
}

/// The factors of $\mu - J$ with a real $\mu$.
#[derive(Default)]
pub(crate) struct RealFactors {
    matrix: Vec<f64>,
    full: Lu,
    sparse: Option<SparseLu>,
    right: Vec<f64>,
}

impl RealFactors {
    pub(crate) fn factor(
        &mut self, μ: f64, jacobian: &StateJacobian
    ) -> Result<(), EvalError> {
        let n = jacobian.n;
        self.matrix.clear();
        let Some(entries) = &jacobian.entries else {
            self.sparse = None;
            self.matrix.extend(jacobian.full.iter().map(|x| -x));
            (0..n).for_each(|i| self.matrix[i * n + i] += μ);
            let factored = self.full.factor_nonzero(n, &self.matrix);
            return factored.map_err(|_| EvalError::Singular);
        };
        self.matrix.extend(entries.values.iter().map(|x| -x));
        for j in 0..n {
            let column = entries.begins[j]..entries.begins[j + 1];
            let place = entries.rows[column.clone()].iter().position(|&i| i == j);
            self.matrix[column.start + place.expect("each diagonal entry has a place")] += μ;
        }
        let lu = self.sparse.get_or_insert_default();
        lu.factor_nonzero(&entries.begins, &entries.rows, &self.matrix)
            .map_err(|_| EvalError::Singular)
    }

    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        let Some(lu) = &mut self.sparse else { return self.full.solve(b) };
        self.right.clear();
        self.right.extend_from_slice(b);
        self.right.resize(lu.size(), 0.0);
        lu.solve(&mut self.right);
        b.copy_from_slice(&self.right[..b.len()]);
    }
}

/// The factors of $\mu - J$ with a complex $\mu$.
#[derive(Clone, Default)]
pub(crate) struct ComplexFactors {
    full: ShiftedLu,
    sparse: Option<SparseLu>,
    begins: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
    right: Vec<f64>,
}

impl ComplexFactors {
    pub(crate) fn factor(
        &mut self,
        μ: Complex64,
        jacobian: &StateJacobian,
    ) -> Result<(), EvalError> {
        let n = jacobian.n;
        let Some(entries) = &jacobian.entries else {
            self.sparse = None;
            let factored = self.full.factor(n, μ, &jacobian.full);
            return factored.map_err(|_| EvalError::Singular);
        };
        self.begins.clear();
        self.rows.clear();
        self.values.clear();
        self.begins.push(0);
        // Each entry a + b i becomes (a, −b; b, a).
        for j in 0..entries.size() {
            for part in 0..2 {
                for p in entries.begins[j]..entries.begins[j + 1] {
                    let i = entries.rows[p];
                    let own = if i == j && j < n { μ } else { Complex64::ZERO };
                    let entry = own - entries.values[p];
                    let [above, below] =
                        if part == 0 { [entry.re, entry.im] } else { [-entry.im, entry.re] };
                    let both = i == j && j < n;
                    if part == 0 || both {
                        self.rows.push(2 * i);
                        self.values.push(above);
                    }
                    if part == 1 || both {
                        self.rows.push(2 * i + 1);
                        self.values.push(below);
                    }
                }
                self.begins.push(self.rows.len());
            }
        }
        let lu = self.sparse.get_or_insert_default();
        lu.factor_nonzero(&self.begins, &self.rows, &self.values)
            .map_err(|_| EvalError::Singular)
    }

    pub(crate) fn solve(&mut self, b: &mut [Complex64]) {
        let Some(lu) = &mut self.sparse else { return self.full.solve(b) };
        self.right.clear();
        self.right.extend(b.iter().flat_map(|x| [x.re, x.im]));
        self.right.resize(lu.size(), 0.0);
        lu.solve(&mut self.right);
        for (x, parts) in b.iter_mut().zip(self.right.chunks_exact(2)) {
            *x = Complex64::new(parts[0], parts[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ode::system::System;

    /// Rates that have no value where the first component is larger than 1, or the second smaller than −2.
    struct Walled;

    impl System for Walled {
        fn dimension(&self) -> usize {
            2
        }

        fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
            if y[0] > 1.0 || y[1] < -2.0 {
                return Err(EvalError::NotFinite);
            }
            rates.copy_from_slice(&[t * y[0] * y[0] - y[1], 3.0 * y[0] * y[1]]);
            Ok(())
        }
    }

    /// Differences go the way of the motion, and the other way where the rates have no value there.
    #[test]
    fn differences_are_derivatives_on_both_sides_of_a_wall() {
        let t = 2.0;
        // In the corner of both walls the motion of h > 0 goes into them.
        for (y, h) in
            [([0.5, 0.7], 0.1), ([0.5, 0.7], -0.1), ([1.0, -2.0], 0.1), ([1.0, -2.0], -0.1)]
        {
            let mut f = [0.0; 2];
            Walled.rates(t, &y, &mut f).expect("it is on this side of the walls");
            let mut system = Counted { system: &mut Walled, evaluations: 0 };
            let mut jacobian = StateJacobian::new(2);
            let at = Base { t, h, y: &y, f: &f };
            let found = jacobian.evaluate(&mut system, &at, &mut [0.0; 2], &mut [0.0; 2]);
            found.expect("one of both sides has values");
            let exact = [2.0 * t * y[0], -1.0, 3.0 * y[1], 3.0 * y[0]];
            for (k, (found, exact)) in jacobian.full.iter().zip(exact).enumerate() {
                // Half of the second derivative, and the rounding of the rates, over 10⁻⁸.
                assert!((found - exact).abs() < 1e-6, "{y:?} {h} {k}: {found} {exact}");
            }
        }
    }
}
