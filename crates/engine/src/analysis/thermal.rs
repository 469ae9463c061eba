//! Whether Boltzmann's distribution is stationary: the test of constant-temperature systems.
//!
//! Along the flow on $(q, p)$ Liouville's equation leaves of $\rho = e^{-H/kT}$
//!
//! $$ \frac{1}{\rho}\Big(\frac{\partial\rho}{\partial t} + \operatorname{div}(\rho X)\Big) = \Omega -
//! \frac{\dot H}{kT}, \qquad
//!    \dot H = \mathcal P - \partial_t L, $$
//!
//! with the divergence $\Omega$ and the power $\mathcal P$ of all forces that are not in $L$: stationary
//! exactly when $\mathcal P = kT\,\Omega$. Looked at on the constraints in scattered
//! states, for the given forces alone (the condition that Tarasov and Zaslavsky 2006 [TZ06, §6] impose as a
//! constraint) and for forces and reactions together.

use pfaff_program::Backend;

use crate::derivation::Derivation;
use crate::error::Error;
use crate::motion::sample::Sample;
use crate::problem::start::{given, start};
use crate::split_mix::SplitMix64;
use crate::system::compiled::Dynamics;
use crate::system::kkt::Kkt;
use crate::system::phase_divergence::Flow;
use crate::system::projection::project;

/// How a model stands to a temperature.
#[derive(Clone, Debug, PartialEq)]
pub struct Thermal {
    /// $kT$
    pub temperature: f64,
    /// How many states on the constraints were looked at.
    pub states: usize,
    /// The largest $|\mathcal P - kT\,\Omega|$ of the given forces.
    pub forces: f64,
    /// The largest $|\Omega - \dot H/kT|$ of forces and reactions: what is left of Liouville's equation for
    /// $e^{-H/kT}$.
    pub stationarity: f64,
    /// Whether that is rounding.
    pub stationary: bool,
}

/// States that are tried.
const TRIALS: u32 = 48;
/// Rounding of sums of some hundred terms, relative to the largest of them.
const ROUNDING: f64 = 1e-9;

/// Tests the temperature $kT$ in states scattered about the initial one.
///
/// # Errors
///
/// [`Error`] if the model has no Hamiltonian flow with forces, or no consistent state.
pub fn thermal(derivation: &Derivation, temperature: f64) -> Result<Thermal, Error> {
    let model = &derivation.workspace();
    let usage = |message: &str| Error::Usage(message.into());
    if !(temperature.is_finite() && temperature > 0.0) {
        return Err(usage("the temperature must be a positive number"));
    }
    let Dynamics::Saddle(equations) = &derivation.dynamics else {
        return Err(usage("`equation` models have no energy: there is no temperature to test"));
    };
    let compiled = |e: pfaff_program::CompileError| Error::Usage(e.to_string());
    let mut kkt = Kkt::new(model, equations, Backend::Interpreter).map_err(compiled)?;
    let Some(mut flow) = Flow::new(model, equations, Backend::Interpreter).map_err(compiled)?
    else {
        return Err(usage("the temperature is tested under the principle `chetaev` only"));
    };
    let t0 = model.solve.range.map_or(0.0, |(t0, _)| t0);
    let begin = start(model, &mut kkt, t0, &given(model, t0))
        .map_err(|_| usage("no consistent state is near the initial one"))?;
    let mut found =
        Thermal { temperature, states: 0, forces: 0.0, stationarity: 0.0, stationary: true };
    let mut sample = Sample::new(kkt.n, kkt.m);
    let mut random = SplitMix64(1);
    for _ in 0..TRIALS {
        sample.t = t0 + 0.3 * (1.0 + signed(&mut random));
        for k in 0..kkt.n {
            sample.q[k] = begin.q[k] + 0.3 * signed(&mut random);
            sample.v[k] = begin.v[k] + signed(&mut random);
        }
        if let Some(terms) = judge(&mut kkt, &mut flow, &mut sample, temperature) {
            found.states += 1;
            found.forces = found.forces.max(terms.forces.abs());
            found.stationarity = found.stationarity.max(terms.stationarity.abs());
            found.stationary &= terms.stationarity.abs() <= ROUNDING * terms.scale;
        }
    }
    if found.states == 0 {
        return Err(usage(
            "the momenta do not determine the velocities: there is no flow on (q, p)",
        ));
    }
    Ok(found)
}

struct Terms {
    forces: f64,
    stationarity: f64,
    scale: f64,
}

fn judge(kkt: &mut Kkt, flow: &mut Flow, sample: &mut Sample, kT: f64) -> Option<Terms> {
    project(kkt, sample.t, &mut sample.q, &mut sample.v, &[]).ok()?;
    kkt.evaluate(sample.t, &sample.q, &sample.v, &[]);
    kkt.solve_reviewed().ok()?;
    sample.a.copy_from_slice(kkt.acceleration());
    sample.multipliers.copy_from_slice(kkt.multipliers());
    kkt.reaction(&mut sample.reaction);
    let rate = flow.divergence(kkt, sample);
    let given = kkt.given_power();
    let whole = kkt.power(&sample.v);
    let stationarity = rate.whole - whole / kT;
    let forces = given - kT * rate.given;
    let work: f64 = sample.reaction.iter().zip(&sample.v).map(|(r, v)| (r * v).abs()).sum();
    let scale = 1.0 + rate.whole.abs() + (given.abs() + work) / kT;
    (stationarity.is_finite() && forces.is_finite()).then_some(Terms {
        forces,
        stationarity,
        scale,
    })
}

/// Between −1 and 1.
fn signed(random: &mut SplitMix64) -> f64 {
    (random.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}
