//! The systems with memory that the tests check and the benchmark times.

#![allow(dead_code, unreachable_pub, reason = "each of the two uses a part")]

use pfaff_solver::{EvalError, Kernel, Operand, VolterraPoint, VolterraSystem};

pub fn power(unknown: usize, mu: f64, start: &[(f64, f64)]) -> Operand {
    Operand { unknown, kernel: Kernel::Power(mu), start: start.to_vec(), controlled: mu >= 1.0 }
}

/// $\ddot q + 0.3 D^{1/2} q + \dots = 0$ for two coupled masses.
pub struct Duffing;

impl VolterraSystem for Duffing {
    fn unknowns(&self) -> usize {
        2
    }
    fn operands(&self) -> Vec<Operand> {
        let damped = 0.3 / libm::tgamma(1.5);
        vec![
            power(0, 2.0, &[(1.0, 0.0)]),
            power(1, 2.0, &[(-0.5, 0.0), (0.3, 1.0)]),
            power(0, 1.0, &[]),
            power(1, 1.0, &[(0.3, 0.0)]),
            power(0, 1.5, &[]),
            power(1, 1.5, &[(damped, 0.5)]),
        ]
    }
    fn residual(
        &mut self,
        VolterraPoint { t, x, z, .. }: VolterraPoint<'_>,
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let spring = 0.5 * (z[1] - z[0]);
        out[0] =
            x[0] + 0.3 * z[4] + z[0] + z[0] * z[0] * z[0] - spring - 0.4 * libm::cos(1.2 * t);
        out[1] = x[1] + 0.3 * z[5] + z[1] + 0.5 * z[1] * z[1] * z[1] + spring;
        Ok(())
    }
    fn jacobian(
        &mut self,
        VolterraPoint { z, .. }: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        by_x.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        by_z.fill(0.0);
        by_z[0] = 1.5 + 3.0 * z[0] * z[0];
        by_z[1] = -0.5;
        by_z[4] = 0.3;
        by_z[6] = -0.5;
        by_z[7] = 1.5 + 1.5 * z[1] * z[1];
        by_z[11] = 0.3;
        Ok(())
    }
}

/// $\ddot q = -Kq + \lambda a$ with $a\cdot\dot q + b\cdot D^\alpha q = 0$, $0 < \alpha < 2$: a density
/// $\lambda$ that is singular at the start.
pub struct Constrained {
    pub alpha: f64,
    pub a: [f64; 2],
    pub b: [f64; 2],
    pub stiffness: [[f64; 2]; 2],
    pub q: [f64; 2],
    pub v: [f64; 2],
}

impl VolterraSystem for Constrained {
    fn unknowns(&self) -> usize {
        3
    }
    fn operands(&self) -> Vec<Operand> {
        let mut operands = Vec::new();
        for (mu, shift) in [(2.0, 0.0), (1.0, 1.0), (2.0 - self.alpha, self.alpha)] {
            for k in 0..2 {
                let mut start = Vec::new();
                for (j, value) in [self.q[k], self.v[k]].into_iter().enumerate() {
                    let j = j as f64;
                    if j >= shift {
                        start.push((value / libm::tgamma(j + 1.0 - shift), j - shift));
                    }
                }
                let kernel = Kernel::Power(mu);
                operands.push(Operand { unknown: k, kernel, start, controlled: mu >= 1.0 });
            }
        }
        operands
    }
    fn residual(
        &mut self,
        VolterraPoint { x, z, .. }: VolterraPoint<'_>,
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        for k in 0..2 {
            let spring = self.stiffness[k][0] * z[0] + self.stiffness[k][1] * z[1];
            out[k] = x[k] + spring - self.a[k] * x[2];
        }
        out[2] = (0..2).map(|k| self.a[k] * z[2 + k] + self.b[k] * z[4 + k]).sum();
        Ok(())
    }
    fn jacobian(
        &mut self,
        _at: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        by_x.copy_from_slice(&[1.0, 0.0, -self.a[0], 0.0, 1.0, -self.a[1], 0.0, 0.0, 0.0]);
        by_z.fill(0.0);
        for k in 0..2 {
            by_z[6 * k..6 * k + 2].copy_from_slice(&self.stiffness[k]);
            by_z[14 + k] = self.a[k];
            by_z[16 + k] = self.b[k];
        }
        Ok(())
    }
}

/// $D^{\alpha} y = f(y)$ with one order for each component.
pub struct Fractional {
    pub orders: Vec<f64>,
    pub start: Vec<Vec<(f64, f64)>>,
    pub rates: fn(&[f64], &mut [f64]),
    pub slopes: fn(&[f64], &mut [f64]),
}

impl VolterraSystem for Fractional {
    fn unknowns(&self) -> usize {
        self.orders.len()
    }
    fn operands(&self) -> Vec<Operand> {
        let one =
            |k: usize| Operand { controlled: true, ..power(k, self.orders[k], &self.start[k]) };
        (0..self.orders.len()).map(one).collect()
    }
    fn residual(
        &mut self,
        VolterraPoint { x, z, .. }: VolterraPoint<'_>,
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        (self.rates)(z, out);
        out.iter_mut().zip(x).for_each(|(o, x)| *o = x - *o);
        Ok(())
    }
    fn jacobian(
        &mut self,
        VolterraPoint { z, .. }: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        let n = self.orders.len();
        by_x.fill(0.0);
        (0..n).for_each(|k| by_x[k * n + k] = 1.0);
        (self.slopes)(z, by_z);
        by_z.iter_mut().for_each(|s| *s = -*s);
        Ok(())
    }
}

/// $D^\alpha y = -y$, $y(0) = 1$, $\dot y(0) = 0$: the solution is $E_\alpha(-t^\alpha)$.
pub fn relaxation(alpha: f64) -> Fractional {
    Fractional {
        orders: vec![alpha],
        start: vec![vec![(1.0, 0.0)]],
        rates: |z, o| o[0] = -z[0],
        slopes: |_, s| s[0] = -1.0,
    }
}

/// Two oscillators with the constraint of order `alpha` of Tarasov and Zaslavsky 2006, (63)–(64), from velocities `v`.
pub fn constrained(alpha: f64, b: [f64; 2], v: [f64; 2]) -> Constrained {
    Constrained {
        alpha,
        a: [1.0, 1.0],
        b,
        stiffness: [[2.0, 0.5], [0.5, 1.0]],
        q: [1.0, -0.5],
        v,
    }
}

/// A kernel at a time since the start and a lag.
pub type Values = fn(f64, f64) -> f64;

/// $\dot y = -y - \int k(t, t-\sigma)\,y\,d\sigma$, $y(0) = 1$; the unknowns are $\dot y$ and $y$.
pub struct Remembering {
    pub kernel: Kernel,
    pub values: Values,
}

impl VolterraSystem for Remembering {
    fn unknowns(&self) -> usize {
        2
    }
    fn operands(&self) -> Vec<Operand> {
        let operand =
            |unknown, kernel, start| Operand { unknown, kernel, start, controlled: true };
        vec![
            operand(0, Kernel::Power(1.0), vec![(1.0, 0.0)]),
            operand(1, self.kernel.clone(), Vec::new()),
        ]
    }
    fn residual(
        &mut self,
        VolterraPoint { x, z, .. }: VolterraPoint<'_>,
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        out[0] = x[0] + z[0] + z[1];
        out[1] = x[1] - z[0];
        Ok(())
    }
    fn jacobian(
        &mut self,
        _at: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        by_x.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        by_z.copy_from_slice(&[1.0, 1.0, -1.0, 0.0]);
        Ok(())
    }
    fn kernel(&mut self, _operand: usize, t: f64, lags: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(lags).for_each(|(k, s)| *k = (self.values)(t, *s));
    }
}
