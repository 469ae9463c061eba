//! Everything about one instant of a motion.

/// A state with what follows from it. Lists are in declared order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// $t$
    pub t: f64,
    /// $q$
    pub q: Vec<f64>,
    /// $\dot q$
    pub v: Vec<f64>,
    /// $\ddot q$; not a number for coordinates of order one.
    pub a: Vec<f64>,
    /// $\lambda$, with $M\ddot q = f + A^\top\lambda$; or $\mu$ under the vakonomic principle
    pub multipliers: Vec<f64>,
    /// $\dot\mu$ under the vakonomic principle, not a number otherwise
    pub multiplier_rates: Vec<f64>,
    /// $R$, with $M\ddot q = f + R$
    pub reaction: Vec<f64>,
    /// $E = \dot q\cdot\partial L/\partial\dot q - L$; not a number for `equation` models.
    pub energy: f64,
    /// $E\[M\]$, zero under Chetaev's principle.
    pub constraint_energy: f64,
    /// $\Omega$, the divergence of the flow on $(q, p)$, where the model asks for it; not a number elsewhere.
    pub divergence: f64,
}

impl Sample {
    /// Room for n coordinates and m constraints.
    pub(crate) fn new(n: usize, m: usize) -> Self {
        let numbers = |k: usize| vec![f64::NAN; k];
        Self {
            t: 0.0,
            q: numbers(n),
            v: numbers(n),
            a: numbers(n),
            multipliers: numbers(m),
            multiplier_rates: numbers(m),
            reaction: numbers(n),
            energy: f64::NAN,
            constraint_energy: 0.0,
            divergence: f64::NAN,
        }
    }

    /// How many numbers [`Sample::inputs`] gives.
    pub(crate) fn width(n: usize, m: usize) -> usize {
        4 + 4 * n + 2 * m
    }

    /// $t, q, \dot q, \ddot q$, multipliers and their rates, $R$, $E$, $E\[M\]$ and $\Omega$ one after another.
    pub fn inputs(&self, inputs: &mut [f64]) {
        let parts: [&[f64]; 8] = [
            &[self.t],
            &self.q,
            &self.v,
            &self.a,
            &self.multipliers,
            &self.multiplier_rates,
            &self.reaction,
            &[self.energy, self.constraint_energy, self.divergence],
        ];
        let mut rest = inputs;
        for part in parts {
            let (head, tail) = rest.split_at_mut(part.len());
            head.copy_from_slice(part);
            rest = tail;
        }
    }
}

/// Instants that are looked at together.
pub(crate) const LANES: usize = 8;
