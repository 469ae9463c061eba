//! The observer of a run with memory: rows of output, and the numbers that the audit judges.

use std::cell::Cell;
use std::ops::Range;

use pfaff_expr::{Expr, Graph, Node};
use pfaff_model::Workspace;
use pfaff_program::{CompileError, Interpreter, Program};
use pfaff_solver::{Control, DirectQuadrature, LocatedEvent, VolterraObserver, VolterraStep};

use crate::motion::sample::Sample;
use crate::run::progress::Progress;
use crate::run::record::{Record, RecordedEvent, Setting};
use crate::run::volterra::compiled::Signs;
use crate::run::volterra::formulate::Formulation;
use crate::run::volterra::kernel_run::KernelRun;
use crate::run::volterra::projection::Projection;
use crate::run::volterra::slow_inputs::SlowInputs;

/// Everything that is read off a point of the run, compiled.
pub(crate) struct Reader {
    run: Interpreter,
    projection: Projection,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// Which outputs have no value.
    missing: Vec<bool>,
    n: usize,
    m: usize,
    places: Places,
    /// Observed quantities that have no tape (Mittag-Leffler functions): where they stand, and how they are found.
    slow: Vec<(usize, Expr)>,
    graph: Graph,
    symbols: Vec<Expr>,
    parameters: Vec<(Expr, f64)>,
    /// The branches of the run.
    signs: Signs,
    slow_inputs: SlowInputs,
    /// $t_0$
    start: f64,
}

impl Reader {
    pub(crate) fn new(
        model: &Workspace,
        formulation: &Formulation,
        observed: &[Expr],
        signs: Signs,
    ) -> Result<Self, CompileError> {
        let g: &Graph = &model.graph;
        let plan = &formulation.plan;
        let place = |symbol: Expr| plan.place(symbol).map(|_| symbol);
        let reaction = &formulation.reaction;
        let n = model.coordinates.len();
        let mut parts: Vec<Option<Expr>> = Vec::new();
        let places = Places {
            q: append(&mut parts, model.positions().into_iter().map(place)),
            v: append(&mut parts, model.velocities().into_iter().map(place)),
            a: append(&mut parts, model.accelerations().into_iter().map(place)),
            multipliers: append(&mut parts, model.results.lambda.iter().map(|&λ| Some(λ))),
            reaction: append(&mut parts, (0..n).map(|k| reaction.get(k).copied())),
            energy: append(&mut parts, [formulation.energy.map(|e| e.0)]).start,
            work: append(&mut parts, [formulation.energy.map(|e| e.1)]).start,
            observed: append(&mut parts, observed.iter().map(|&o| Some(o))),
            held: append(&mut parts, formulation.held.iter().map(|h| Some(h.1))),
            written: append(&mut parts, plan.written.iter().map(|w| Some(w.image))),
        };
        let inputs = plan.inputs(model);
        let mut outputs: Vec<Expr> = parts.iter().map(|p| p.unwrap_or(g.zero())).collect();
        let mut slow = Vec::new();
        for (i, e) in outputs.iter_mut().enumerate() {
            let live = g.live(&[*e]);
            if live.iter().any(|&e| matches!(g.node(e), Node::MittagLeffler(..))) {
                slow.push((i, *e));
                *e = g.zero();
            }
        }
        let program = Program::compile(g, &inputs, &model.parameter_symbols(), &outputs)?;
        Ok(Self {
            run: program.interpreter(&model.parameter_values()),
            projection: Projection::new(model, plan)?,
            inputs: vec![0.0; inputs.len()],
            outputs: vec![0.0; outputs.len()],
            missing: parts.iter().map(Option::is_none).collect(),
            n: model.coordinates.len(),
            m: model.constraints.len(),
            places,
            slow,
            graph: g.clone(),
            symbols: inputs,
            parameters: model.parameters.iter().map(|p| (p.symbol, p.value)).collect(),
            signs,
            slow_inputs: SlowInputs::new(model, plan),
            start: plan.times.start,
        })
    }

    pub(crate) fn read(&mut self, t: f64, x: &[f64], z: &[f64]) -> (Sample, f64) {
        let (first, second) = (2 + x.len(), 2 + x.len() + z.len());
        self.inputs[0] = t;
        self.inputs[1] = t - self.start;
        self.inputs[2..first].copy_from_slice(x);
        self.inputs[first..second].copy_from_slice(z);
        let third = second + self.signs.borrow().len();
        self.inputs[second..third].copy_from_slice(&self.signs.borrow());
        self.slow_inputs.fill(t - self.start, &mut self.inputs[third..]);
        if self.projection.apply(t, &mut self.inputs[first..second]).is_err() {
            self.inputs[first..second].fill(f64::NAN);
        }
        self.run.evaluate(&self.inputs, &mut self.outputs);
        for &(i, e) in &self.slow {
            let at = |s: Expr| {
                let input = self.symbols.iter().position(|&x| x == s).map(|k| self.inputs[k]);
                let parameter = self.parameters.iter().find(|p| p.0 == s).map(|p| p.1);
                input.or(parameter).unwrap_or(f64::NAN)
            };
            self.outputs[i] = self.graph.evaluate(&[e], &at)[0];
        }
        for (value, missing) in self.outputs.iter_mut().zip(&self.missing) {
            if *missing {
                *value = f64::NAN;
            }
        }
        let (n, m) = (self.n, self.m);
        let places = &self.places;
        let part = |place: &Range<usize>| self.outputs[place.clone()].to_vec();
        let sample = Sample {
            t,
            q: part(&places.q),
            v: part(&places.v),
            a: part(&places.a),
            multipliers: part(&places.multipliers),
            reaction: part(&places.reaction),
            energy: self.outputs[places.energy],
            ..Sample::new(n, m)
        };
        (sample, self.outputs[places.work])
    }

    fn observed(&self) -> &[f64] {
        &self.outputs[self.places.observed.clone()]
    }

    fn held(&self) -> &[f64] {
        &self.outputs[self.places.held.clone()]
    }

    /// What the run has for the kernels as they are written, at the point that was read last.
    fn written(&self) -> &[f64] {
        &self.outputs[self.places.written.clone()]
    }
}

/// Where each quantity stands among the outputs of the program.
struct Places {
    q: Range<usize>,
    v: Range<usize>,
    a: Range<usize>,
    multipliers: Range<usize>,
    reaction: Range<usize>,
    energy: usize,
    work: usize,
    observed: Range<usize>,
    held: Range<usize>,
    written: Range<usize>,
}

/// Appends expressions; where they stand.
fn append(
    parts: &mut Vec<Option<Expr>>,
    more: impl IntoIterator<Item = Option<Expr>>,
) -> Range<usize> {
    let start = parts.len();
    parts.extend(more);
    start..parts.len()
}

/// Watches a run with memory.
pub(crate) struct VolterraRecorder<'a> {
    pub(crate) reader: Reader,
    pub(crate) record: Record,
    /// The units of the unknowns; ones if there are none.
    pub(crate) units: Vec<f64>,
    /// The largest residual of each held equation at the outputs, relative to $X + |\dot q|$ with the largest unit.
    pub(crate) worst: Vec<f64>,
    /// Whether there was an output after the start.
    pub(crate) judged: bool,
    /// $|E - E_0 - w|$, and the scale it is judged by.
    pub(crate) imbalance: (f64, f64),
    pub(crate) first_energy: f64,
    pub(crate) steps: usize,
    /// Unknowns after the first two steps, for what is shown at the start.
    pub(crate) begin: Vec<Vec<f64>>,
    /// Time, unknowns and operands at the last event.
    pub(crate) at_event: (f64, Vec<f64>, Vec<f64>),
    /// The memory a second time.
    pub(crate) direct_quadrature: DirectQuadrature,
    /// The kernels as they are written.
    pub(crate) kernels: Vec<KernelRun>,
    pub(crate) setting: Setting<'a>,
    pub(crate) watch: &'a mut dyn FnMut(&Progress<'_>) -> bool,
}

impl VolterraRecorder<'_> {
    /// The row at the event that ended the run, unless it is an output already.
    pub(crate) fn stopped(&mut self) {
        let (t, x, z) = std::mem::take(&mut self.at_event);
        if self.record.last_time() != Some(t) {
            self.row(t, &x, &z, false);
        }
    }

    /// One row of output.
    pub(crate) fn row(&mut self, t: f64, x: &[f64], z: &[f64], start: bool) {
        let (sample, work) = self.reader.read(t, x, z);
        self.record.push(&sample, self.reader.observed());
        if !sample.energy.is_nan() {
            self.record.work.push([work, work]);
            let scale = 1.0 + sample.energy.abs() + work.abs();
            if self.first_energy.is_nan() {
                self.first_energy = sample.energy - work;
            }
            let off = (sample.energy - self.first_energy - work).abs();
            self.imbalance = (self.imbalance.0.max(off), self.imbalance.1.max(scale));
        }
        if !start {
            self.judged = true;
            let unit = self.units.iter().copied().reduce(f64::max).unwrap_or(1.0);
            let speed: f64 = sample.v.iter().filter(|v| v.is_finite()).map(|v| v.abs()).sum();
            for (worst, held) in self.worst.iter_mut().zip(self.reader.held()) {
                let off = held.abs() / (unit + speed);
                *worst = if off.is_nan() { f64::NAN } else { worst.max(off) };
            }
        }
    }
}

impl VolterraObserver for VolterraRecorder<'_> {
    fn sample(&mut self, t: f64, x: &[f64], z: &[f64]) {
        self.row(t, x, z, false);
        self.direct_quadrature.compare(t, z, self.reader.written(), &self.units);
    }

    fn last(&mut self, t: f64, piece: &VolterraStep<'_>) {
        let kernels = &mut self.kernels;
        self.direct_quadrature.last(t, piece, &mut |k, t, s| kernels[k].value(t, s));
    }

    fn piece(&mut self, piece: &VolterraStep<'_>) {
        let kernels = &mut self.kernels;
        self.direct_quadrature.piece(piece, &mut |k, t, s| kernels[k].value(t, s));
    }

    fn step(&mut self, t: f64, x: &[f64], _z: &[f64]) -> Control {
        self.steps += 1;
        if self.begin.len() < 2 {
            self.begin.push(x.to_vec());
        }
        let progress = Progress {
            t,
            steps: self.steps,
            rows: self.record.len(),
            is_last: false,
            setting: self.setting,
            record: &self.record,
            forgotten: &Cell::new(0),
            earlier: None,
            complete: None,
        };
        if (self.watch)(&progress) { Control::Continue } else { Control::Stop }
    }

    fn event(&mut self, event: &LocatedEvent, x: &[f64], z: &[f64]) {
        let (sample, _) = self.reader.read(event.t, x, z);
        let observed = self.reader.observed().to_vec();
        self.record.events.push(RecordedEvent { event: *event, sample, observed });
        self.at_event = (event.t, x.to_vec(), z.to_vec());
    }
}
