//! What the collocation knows of a system with memory.
//!
//! $$ F(t, x, z) = 0, \qquad z_p(t) = \sum_i a_{pi}\,\tau^{e_{pi}} + \int_{t_0}^t k_p(t,
//! t-\sigma)\,x_{u(p)}(\sigma)\,d\sigma,
//!    \qquad \tau = t - t_0 \qquad (\mathrm Z) $$
//!
//! The unknowns $x$ are densities (highest derivatives, multipliers, operands of memory); the operands $z$
//! are everything that has been integrated:
//! velocities, positions, fractional derivatives. There are as many equations as unknowns.

use super::resolution::KernelResolution;
use crate::ode::system::{EvalError, EventKind};

/// A system (Z) with memory.
pub trait VolterraSystem {
    /// Number of unknowns $x$, and of equations.
    fn unknowns(&self) -> usize;

    /// The operands $z$. Asked for once, at the start of a run.
    fn operands(&self) -> Vec<Operand>;

    /// Where Newton's iteration of the first step begins; zeros where nothing is told.
    fn guess(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Writes $F$ into `out`.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if $F$ has no value there.
    fn residual(&mut self, at: VolterraPoint<'_>, out: &mut [f64]) -> Result<(), EvalError>;

    /// Writes $\partial F/\partial x$ and $\partial F/\partial z$ by rows.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if they have no value there.
    fn jacobian(
        &mut self,
        at: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError>;

    /// Writes the kernel $k_p(t, s)$ at these lags, for an operand whose kernel is [`Kernel::General`].
    fn kernel(&mut self, operand: usize, t: f64, lags: &[f64], out: &mut [f64]) {
        let _ = (operand, t, lags);
        out.fill(f64::NAN);
    }

    /// Times at which the equations are known not to be smooth, ascending: steps end there, and the mesh is graded
    /// from there on as it is from the start.
    fn breaks(&self) -> &[f64] {
        &[]
    }

    /// Times at which steps end besides, ascending: between them nothing is hidden.
    fn stops(&self) -> &[f64] {
        &[]
    }

    /// How many switching functions there are. Between their zeros the equations are smooth, with branches that
    /// [`VolterraSystem::choose`] fixes.
    fn switches(&self) -> usize {
        0
    }

    /// Writes the switching functions into `values`.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if one of them has no value there.
    fn switch_values(
        &mut self,
        at: VolterraPoint<'_>,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let _ = (at, values);
        Ok(())
    }

    /// Takes the branches that belong to these signs of the switching functions, whatever those become.
    fn choose(&mut self, signs: &[f64]) {
        let _ = signs;
    }

    /// The events to watch.
    fn events(&self) -> &[EventKind] {
        &[]
    }

    /// Writes the event functions at a point of the run into `values`.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if one of them has no value there.
    fn event_values(
        &mut self,
        at: VolterraPoint<'_>,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let _ = (at, values);
        Ok(())
    }
}

/// A point of a run: the time, the unknowns and the operands.
#[derive(Clone, Copy, Debug)]
pub struct VolterraPoint<'a> {
    /// $t$
    pub t: f64,
    /// $\tau = t - t_0$, with all its digits.
    pub elapsed: f64,
    /// $x$
    pub x: &'a [f64],
    /// $z$
    pub z: &'a [f64],
}

/// One operand $z_p$ of (Z).
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// $u(p)$, the unknown that is integrated.
    pub unknown: usize,
    /// $k_p$
    pub kernel: Kernel,
    /// The pairs $(a, e)$ of what the start contributes.
    pub start: Vec<(f64, f64)>,
    /// Whether it takes part in error control.
    pub controlled: bool,
}

/// The kernel of an operand, as a function of the lag $s$.
#[derive(Clone, Debug, PartialEq)]
pub enum Kernel {
    /// $s^{\mu-1}/\Gamma(\mu)$, the fractional integral of order $\mu > 0$.
    Power(f64),
    /// $\sum w\,e^{-r s}$ over the pairs $(w, r)$.
    Exponentials(Vec<(f64, f64)>),
    /// $k^{(d)} = \sum_j a_j k^{(j)}$ with the coefficients $a_j$ and the values $k^{(j)}(0)$: damped waves,
    /// polynomials times exponentials.
    Linear(Vec<f64>, Vec<f64>),
    /// $s^{\mu-1}/\Gamma(\mu)\,\mathrm{Re} \sum w\,e^{-zs}$ with $0 < \mu \le 1$: damped waves, alone or
    /// times a singular power.
    Waves(f64, Vec<DampedWave>),
    /// Any other, from [`VolterraSystem::kernel`], of which $s^{1-\mu} k$ is smooth or grows like a logarithm
    /// at the lag 0. With [`KernelResolution`] the past is kept in blocks, some
    /// $\log N$ of them; else the whole past is kept and summed anew, at a cost that grows with the square of
    /// the steps.
    General(f64, Option<KernelResolution>),
}

/// $w\,e^{-zs}$, real and imaginary parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DampedWave {
    /// $w$
    pub weight: [f64; 2],
    /// $z$
    pub rate: [f64; 2],
}

impl Operand {
    /// What the start contributes at $\tau = t - t_0$.
    pub fn start_at(&self, elapsed: f64) -> f64 {
        let power = |e: f64| {
            if e == 0.0 {
                1.0
            } else if e == 1.0 {
                elapsed
            } else if e == 0.5 {
                elapsed.sqrt()
            } else {
                libm::pow(elapsed, e)
            }
        };
        self.start.iter().map(|&(a, e)| a * power(e)).sum()
    }

    /// The order of smoothing: how $z$ scales with the length of a step.
    pub(crate) fn smoothing(&self) -> f64 {
        match self.kernel {
            Kernel::Power(mu) | Kernel::Waves(mu, _) | Kernel::General(mu, _) => mu,
            Kernel::Exponentials(_) | Kernel::Linear(..) => 1.0,
        }
    }
}
