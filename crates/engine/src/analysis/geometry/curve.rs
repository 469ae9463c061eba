//! Geodesics of the metric on the base, and autoparallels of the connection, as curves of their own.
//!
//! $$ \dot q = v^\mu X_\mu, \qquad g_{\rho\sigma}\dot v^\sigma = -\Gamma_{\rho\mu\nu}v^\mu v^\nu $$
//!
//! with $\bar\Gamma$ for geodesics. Autoparallels are the motions of Chetaev's principle where $L$ is kinetic
//! energy alone; geodesics those of the restricted one. Nothing is inverted symbolically; the speed is
//! constant along both,
//! for both connections are metric, and its change is told.

use crate::model::Model;
use pfaff_expr::Expr;
use pfaff_mechanics::{Equations, Geometry, NoMetric, geometry as derive_geometry};
use pfaff_model::{Diagnostic, Principle, Span, Workspace};
use pfaff_program::{Backend, Interpreter, Program};
use pfaff_solver::{EvalError, Lu, System};

use super::trace::{Trace, series, states};
use super::{obstacle_text, unmetric_text};
use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::problem::settings::{Run, Settings};
use crate::problem::start::{given, start};
use crate::run::consistent_start::inconsistent;
use crate::system::compiled::Dynamics;
use crate::system::kkt::Kkt;

/// Which curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveKind {
    /// Of the Levi-Civita connection of the metric on the base.
    Geodesic,
    /// Of the connection of the constraints.
    Autoparallel,
}

/// A curve from the initial state of a model.
///
/// # Errors
///
/// [`Error`] says what is wrong: geodesics need a system of Chaplygin, both need a metric and
/// constraints without drift.
pub fn curve(
    model: &Model,
    kind: CurveKind,
    dependent: Option<&[usize]>,
    request: &Run,
) -> Result<Trace, Error> {
    curve_in(&model.workspace(), kind, dependent, request)
        .map_err(|failure| failure.in_source(&model.source))
}

fn curve_in(
    model: &Workspace,
    kind: CurveKind,
    dependent: Option<&[usize]>,
    request: &Run,
) -> Result<Trace, Failure> {
    let Dynamics::Saddle(equations) = derive_in(model, Some(Principle::Chetaev))? else {
        let message = "an `equation` model has no Lagrangian, and so no geometry";
        return Err(Failure::usage(message));
    };
    let geometry = derive_geometry(model, &equations, dependent)?;
    allowed(model, kind, &geometry)?;
    let settings = Settings::new(model, request)?;
    let (q, v) = initial(model, &equations, settings.t0)?;
    let mut flow = Flow::new(model, kind, &geometry)?;
    let moving = geometry.split.base.iter().map(|&k| v[k]);
    let y: Vec<f64> = q.iter().copied().chain(moving).collect();
    let (reached, reason, end) = states(&mut flow, &y, &settings);
    let n = model.coordinates.len();
    let (mut t, mut positions, mut velocities) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first, mut change) = (None, 0.0_f64);
    for (time, y) in reached {
        let speed = flow.speed(&y);
        let begin = *first.get_or_insert(speed);
        change = change.max((speed - begin).abs() / (1.0 + begin.abs()));
        let mut rates = vec![0.0; y.len()];
        // NOTE: the rates were finite when the step was taken.
        let _ = flow.rates(time, &y, &mut rates);
        t.push(time);
        positions.push(y[..n].to_vec());
        velocities.push(rates[..n].to_vec());
    }
    let name = |&k: &usize| model.coordinates[k].name.clone();
    Ok(Trace {
        kind: match kind {
            CurveKind::Geodesic => "geodesic",
            CurveKind::Autoparallel => "autoparallel",
        },
        title: model.name().to_owned(),
        base: geometry.split.base.iter().map(name).collect(),
        dependent: geometry.split.dependent.iter().map(name).collect(),
        reason,
        end,
        t,
        q: series(model, &positions),
        v: series(model, &velocities),
        figures: vec![("largest change of the kinetic energy", change)],
        holonomy: None,
    })
}

/// Refuses what has no such curves.
fn allowed(model: &Workspace, kind: CurveKind, geometry: &Geometry) -> Result<(), Failure> {
    let refused = |message: String, hint: &str| {
        let span = Span::new(0, 0);
        Err(Failure::Model(vec![Diagnostic::error("E0613", span, message).with_hint(hint)]))
    };
    if let (CurveKind::Geodesic, Some(obstacle)) = (kind, &geometry.obstacle) {
        return refused(
            format!("this is not a Chaplygin system: {}", obstacle_text(obstacle)),
            "geodesics of the base need constraints and a metric that depend on base coordinates alone; choose \
             other dependent coordinates, or ask for autoparallels",
        );
    }
    if geometry.split.drift_field(model).is_some() {
        return refused(
            "the constraints are affine: their motions are not autoparallels".into(),
            "a connection needs constraints that are linear in the velocities",
        );
    }
    match &geometry.connection {
        Ok(_) => Ok(()),
        Err(NoMetric::Timely) => refused(
            unmetric_text(NoMetric::Timely).into(),
            "a connection needs a metric and constraints that do not depend on the time",
        ),
        Err(why) => refused(
            unmetric_text(*why).into(),
            "a connection needs a kinetic energy that is regular along the constraints",
        ),
    }
}

/// A consistent state.
fn initial(
    model: &Workspace,
    equations: &Equations,
    t0: f64,
) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let mut kkt = Kkt::new(model, equations, Backend::Interpreter)
        .map_err(|e| Failure::Usage(e.to_string()))?;
    let found = start(model, &mut kkt, t0, &given(model, t0))
        .map_err(|none| Failure::Model(vec![inconsistent(model, &none)]))?;
    Ok((found.q, found.v))
}

/// The curve as a first-order system in $(q, v^\mu)$.
struct Flow {
    run: Interpreter,
    n: usize,
    m: usize,
    /// $\dot q$, $\Gamma_{\rho\mu\nu}v^\mu v^\nu$, $g_{\rho\sigma}$
    outputs: Vec<f64>,
    factors: Lu,
}

impl Flow {
    fn new(model: &Workspace, kind: CurveKind, geometry: &Geometry) -> Result<Self, Failure> {
        let g = &model.graph;
        let connection =
            geometry.connection.as_ref().expect("curves are refused without a connection");
        let lowered = match kind {
            CurveKind::Geodesic => &connection.christoffel_lowered,
            CurveKind::Autoparallel => &connection.lowered,
        };
        let (n, m) = (model.coordinates.len(), geometry.split.base.len());
        let velocities = model.velocities();
        let v: Vec<Expr> = geometry.split.base.iter().map(|&k| velocities[k]).collect();
        let outputs = g.merging(|| {
            let fields = &geometry.frame.fields;
            let rate = |k: usize| g.sum((0..m).map(|μ| g.mul(fields[μ][k], v[μ])));
            let turn = |ρ: usize| {
                let pairs = (0..m).flat_map(|μ| (0..m).map(move |ν| (μ, ν)));
                g.sum(pairs.map(|(μ, ν)| g.mul(lowered.at(&[ρ, μ, ν]), g.mul(v[μ], v[ν]))))
            };
            let mut outputs: Vec<Expr> = (0..n).map(rate).collect();
            outputs.extend((0..m).map(turn));
            outputs.extend(&connection.metric.entries);
            outputs
        });
        let inputs: Vec<Expr> = model.positions().into_iter().chain(v).collect();
        let program = Program::compile(g, &inputs, &model.parameter_symbols(), &outputs)
            .map_err(|e| Failure::Usage(e.to_string()))?;
        Ok(Self {
            run: program.interpreter(&model.parameter_values()),
            n,
            m,
            outputs: vec![0.0; outputs.len()],
            factors: Lu::new(m),
        })
    }

    /// $\tfrac12 g_{\mu\nu}v^\mu v^\nu$
    fn speed(&mut self, y: &[f64]) -> f64 {
        self.run.evaluate(y, &mut self.outputs);
        let (m, v) = (self.m, &y[self.n..]);
        let metric = &self.outputs[self.n + m..];
        let form = |i: usize| (0..m).map(|j| metric[i * m + j] * v[j]).sum::<f64>();
        0.5 * (0..m).map(|i| v[i] * form(i)).sum::<f64>()
    }
}

impl System for Flow {
    fn dimension(&self) -> usize {
        self.n + self.m
    }

    fn rates(&mut self, _: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let (n, m) = (self.n, self.m);
        self.run.evaluate(y, &mut self.outputs);
        rates[..n].copy_from_slice(&self.outputs[..n]);
        let (turn, metric) = self.outputs[n..].split_at(m);
        rates[n..].iter_mut().zip(turn).for_each(|(r, c)| *r = -c);
        self.factors.factor(m, metric).map_err(|_| EvalError::Singular)?;
        self.factors.solve(&mut rates[n..]);
        Ok(())
    }
}
