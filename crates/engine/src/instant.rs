//! Everything about one instant of a motion.

/// A state with what follows from it. Lists are in declared order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instant {
    /// $t$
    pub t: f64,
    /// $q$
    pub q: Vec<f64>,
    /// $\dot q$
    pub v: Vec<f64>,
    /// $\ddot q$; not a number for coordinates of order one.
    pub a: Vec<f64>,
    /// $\lambda$, with $M\ddot q = f + A^\top\lambda$
    pub multipliers: Vec<f64>,
    /// $R = W^\top\lambda$
    pub reaction: Vec<f64>,
    /// $E = \dot q\cdot\partial L/\partial\dot q - L$; not a number for `equation` models.
    pub energy: f64,
}

impl Instant {
    /// Room for n coordinates and m constraints.
    pub(crate) fn new(n: usize, m: usize) -> Self {
        let numbers = |k: usize| vec![f64::NAN; k];
        Self {
            t: 0.0,
            q: numbers(n),
            v: numbers(n),
            a: numbers(n),
            multipliers: numbers(m),
            reaction: numbers(n),
            energy: f64::NAN,
        }
    }

    /// $t, q, \dot q, \ddot q, \lambda, R, E$ one after another: the inputs of what is observed.
    pub(crate) fn inputs(&self, inputs: &mut [f64]) {
        let parts: [&[f64]; 7] = [
            &[self.t],
            &self.q,
            &self.v,
            &self.a,
            &self.multipliers,
            &self.reaction,
            &[self.energy],
        ];
        let mut rest = inputs;
        for part in parts {
            let (head, tail) = rest.split_at_mut(part.len());
            head.copy_from_slice(part);
            rest = tail;
        }
    }
}
