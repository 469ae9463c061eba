//! A run made ready once, for many starts and many values of parameters: nothing is derived or compiled again.
//!
//! What a run compiles depends on its start in a few places only: the chart of the reduced form, which constraints
//! repeat others, and the pivots of a solve that is written out. A start at which the first chart is a poor one, or at
//! which constraints repeat each other, is made ready by itself instead.

use pfaff_mechanics::{Conserved, LagrangianData, Reduction};
use pfaff_model::Workspace;
use pfaff_solver::{Method, System};

use crate::clock::Stopwatch;
use crate::error::Failure;
use crate::motion::sample::Sample;
use crate::problem::settings::Settings;
use crate::problem::start::Start;
use crate::run::consistent_start::begin;
use crate::run::initial_value::kept_quantities;
use crate::run::prepare::{Prepared, RunInput, prepare};
use crate::run::rank_watch::RankWatch;
use crate::system::compiled::{Compiled, CompiledSystem, Dynamics};
use crate::system::reduced::scale;

/// Everything of a run that other values do not change.
pub(crate) struct RunTemplate {
    system: CompiledSystem,
    /// The method that was chosen, and the tolerance that it was chosen for.
    method: Method,
    falls_back: bool,
    tolerance: f64,
    /// Whether the reduced form was asked for.
    pub(crate) reduces: bool,
    rank: Option<RankWatch>,
    /// In the graph of the workspace that the template was made in.
    pub(crate) momenta: Vec<Conserved>,
}

impl RunTemplate {
    /// Makes a model ready at its own start; `None` where every run must be made ready by itself.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        lagrangian: Option<LagrangianData>,
        settings: &Settings,
    ) -> Result<Option<Self>, Failure> {
        let mut settings = settings.clone();
        let reduces = lagrangian.is_some();
        let known = RunInput { lagrangian, ..RunInput::default() };
        let Prepared { mut system, y0, repeated, .. } =
            prepare(model, dynamics, known, &mut settings)?;
        if repeated.is_some() || !system.takes_parameters() {
            return Ok(None);
        }
        let (mut rank, mut momenta) = (None, Vec::new());
        if let Dynamics::Saddle(equations) = dynamics {
            if let Some(kkt) = system.saddle_at(settings.t0, &y0) {
                let metric = scale(kkt);
                let tolerance = settings.options.tolerance;
                rank = RankWatch::new(model, equations, tolerance, metric, settings.backend)?;
            }
            momenta = kept_quantities(model, equations);
        }
        system.promote(model);
        rank.iter_mut().for_each(RankWatch::promote);
        Ok(Some(Self {
            system,
            method: settings.options.method,
            falls_back: settings.options.falls_back,
            tolerance: settings.options.tolerance,
            reduces,
            rank,
            momenta,
        }))
    }

    /// The system with the values of a model and its start; `None` if that must be made ready by itself.
    pub(crate) fn prepared(
        &self,
        model: &Workspace,
        dynamics: &Dynamics,
        settings: &mut Settings,
    ) -> Result<Option<Prepared>, Failure> {
        let clock = Stopwatch::start(settings.clock);
        let asked = settings.options.method;
        // NOTE: the order of Taylor series follows from the tolerance.
        let is_taylor = self.method == Method::Taylor;
        let may_be_taylor = asked == Method::Taylor || settings.auto;
        let is_same = (!is_taylor && !may_be_taylor)
            || settings.options.tolerance == self.tolerance
            || (settings.auto && !is_taylor && settings.options.tolerance >= self.tolerance);
        if !is_same || (!is_taylor && asked != self.method) {
            return Ok(None);
        }
        let values = model.parameter_values();
        let mut system = self.system.with_parameters(&values);
        let Start { q, v, multipliers, notes } =
            begin(model, dynamics, &mut system, settings.t0)?;
        if let Compiled::Saddle(kkt) = &mut system.dynamics {
            kkt.scale.measure(model, settings.t0, &q);
            let zeros = vec![0.0; kkt.carried];
            let μ = if multipliers.is_empty() { &zeros } else { &multipliers };
            kkt.evaluate(settings.t0, &q, &v, μ);
            kkt.measure_velocities(&v);
            kkt.measure_held(&q);
            if !kkt.is_whole() {
                return Ok(None);
            }
        }
        if let Compiled::Reduced(reduced) = &mut system.dynamics {
            let kkt = &mut reduced.kkt;
            kkt.scale.measure(model, settings.t0, &q);
            kkt.evaluate(settings.t0, &q, &v, &[]);
            kkt.measure_velocities(&v);
            kkt.measure_held(&q);
            let is_regular = kkt.is_whole() && kkt.solve_reviewed().is_ok();
            if !is_regular || !kkt.repeated().is_empty() || !reduced.fits(settings.t0, &q) {
                return Ok(None);
            }
        }
        let y0 = system.state(settings.t0, &q, &v, &multipliers);
        let mut at = Sample::new(system.n, system.m);
        if system.resolve(settings.t0, &y0, false, &mut at).is_err() {
            return Ok(None);
        }
        if let Some(kkt) = system.saddle_at(settings.t0, &y0)
            && !kkt.repeated().is_empty()
        {
            return Ok(None);
        }
        system.calibrate(&values, &y0, &at);
        settings.options.method = self.method;
        settings.options.falls_back = self.falls_back;
        let compile_us = clock.microseconds();
        Ok(Some(Prepared { system, y0, notes, repeated: None, compile_us }))
    }

    /// The reduced equations, if runs take them, they are solved for the rates, and no table over the state asks steps
    /// to end at its knots.
    pub(crate) fn reduction(&self) -> Option<Reduction> {
        match &self.system.dynamics {
            Compiled::Reduced(reduced) if self.system.knot_count() == 0 => {
                reduced.written_out()
            }
            _ => None,
        }
    }

    /// What watches the rank, with the values of a model and the metric at its start.
    pub(crate) fn rank(
        &self,
        model: &Workspace,
        tolerance: f64,
        metric: Vec<f64>,
    ) -> Option<RankWatch> {
        let values = model.parameter_values();
        self.rank.as_ref().map(|rank| rank.with_parameters(&values, tolerance, metric))
    }
}
