//! A model of Chaplygin with its tensors as expressions, and their numbers at a point.

use pfaff::{Point, Principle, StateReport, Workspace, at_state};
use pfaff_expr::Expr;
use pfaff_mechanics::{Connection, Equations, Geometry, Tensor, derive, geometry};

/// A model with its tensors, and a point at which they are evaluated.
pub(crate) struct Local {
    pub(crate) model: Workspace,
    pub(crate) equations: Equations,
    pub(crate) geometry: Geometry,
    pub(crate) point: Point,
}

/// A tensor as numbers.
pub(crate) struct Numbers {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl Numbers {
    pub(crate) fn at(&self, index: &[usize]) -> f64 {
        let place = self.shape.iter().zip(index).fold(0, |place, (size, i)| place * size + i);
        self.values[place]
    }
}

impl Local {
    pub(crate) fn new(text: &str, state: &str) -> Self {
        let model = super::model(text).workspace();
        let equations = derive(&model, Principle::Chetaev).expect("equations");
        let geometry = geometry(&model, &equations, None).expect("linear constraints");
        assert_eq!(geometry.obstacle, None, "a system of Chaplygin");
        let point = Point::read(&model, state).expect("a state");
        Self { model, equations, geometry, point }
    }

    /// Numbers of coordinates and of base coordinates.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.model.coordinates.len(), self.geometry.split.base.len())
    }

    pub(crate) fn connection(&self) -> &Connection {
        self.geometry.connection.as_ref().expect("a metric")
    }

    pub(crate) fn numbers(&self, tensor: &Tensor) -> Numbers {
        let values = self.point.evaluate(&self.model, &tensor.entries);
        Numbers { shape: tensor.shape.clone(), values }
    }

    /// The base coordinate of a Greek index.
    pub(crate) fn base(&self, μ: usize) -> Expr {
        self.model.positions()[self.geometry.split.base[μ]]
    }

    /// ε^i_μ with ε^ν_μ = δ^ν_μ.
    pub(crate) fn embedding(&self) -> Tensor {
        let (n, m) = self.sizes();
        Tensor::new(&[n, m], |i| self.geometry.frame.fields[i[1]][i[0]])
    }

    /// ∂_ρ of a tensor, the index of differentiation first.
    pub(crate) fn slopes(&self, tensor: &Tensor) -> Tensor {
        let shape = [&[self.sizes().1], tensor.shape.as_slice()].concat();
        let g = &self.model.graph;
        Tensor::new(&shape, |i| g.derivative(tensor.at(&i[1..]), self.base(i[0])))
    }

    /// g_ij
    pub(crate) fn ambient(&self) -> Tensor {
        let n = self.sizes().0;
        let metric = &self.equations.kinetic.as_ref().expect("a quadratic Lagrangian").metric;
        Tensor::new(&[n, n], |i| metric[i[0]][i[1]])
    }

    /// ε_i^μ = g^μν g_ij ε^j_ν by i, then μ.
    pub(crate) fn coframe(&self) -> Tensor {
        let (g, (n, m)) = (&self.model.graph, self.sizes());
        let (ε, metric, inverse) =
            (self.embedding(), self.ambient(), &self.connection().inverse);
        Tensor::new(&[n, m], |i| {
            let pairs = (0..m).flat_map(|ν| (0..n).map(move |j| (ν, j)));
            g.sum(pairs.map(|(ν, j)| {
                let lowered = g.mul(metric.at(&[i[0], j]), ε.at(&[j, ν]));
                g.mul(inverse.at(&[i[1], ν]), lowered)
            }))
        })
    }

    /// Γ^σ_μν as (5) prints it: g^σρ g_ij ε^i_ρ ∂_μ ε^j_ν.
    pub(crate) fn printed_connection(&self) -> Numbers {
        let (n, m) = self.sizes();
        let (coframe, slopes) =
            (self.numbers(&self.coframe()), self.numbers(&self.slopes(&self.embedding())));
        let mut values = Vec::new();
        for k in 0..m * m * m {
            let (σ, μ, ν) = (k / (m * m), k / m % m, k % m);
            values.push((0..n).map(|i| coframe.at(&[i, σ]) * slopes.at(&[μ, i, ν])).sum());
        }
        Numbers { shape: vec![m; 3], values }
    }

    /// The state with velocities that obey the constraints, and what the engine says there.
    pub(crate) fn moving(&mut self, principle: Principle, multipliers: &[f64]) -> StateReport {
        let ε = self.numbers(&self.embedding());
        let (n, m) = self.sizes();
        let base: Vec<f64> =
            self.geometry.split.base.iter().map(|&k| self.point.v[k]).collect();
        self.point.v = (0..n).map(|i| (0..m).map(|μ| ε.at(&[i, μ]) * base[μ]).sum()).collect();
        let dynamics = pfaff::derive(&self.model.clone().freeze().into(), Some(principle))
            .expect("equations");
        let state = pfaff::State {
            t: 0.0,
            q: self.point.q.clone(),
            v: self.point.v.clone(),
            multipliers: multipliers.to_vec(),
        };
        let report = at_state(&dynamics, &state).expect("numbers");
        self.point.a.clone_from(&report.acceleration);
        report
    }

    /// [F]_i = d/dt ∂F/∂v^i − ∂F/∂q^i with the accelerations of the point.
    pub(crate) fn euler(&self, f: Expr) -> Vec<f64> {
        let (g, q, v) = (&self.model.graph, self.model.positions(), self.model.velocities());
        let momenta = g.gradient(f, &v);
        let by_q = self.jacobian(&momenta, &q);
        let by_v = self.jacobian(&momenta, &v);
        let pull = self.point.evaluate(&self.model, &g.gradient(f, &q));
        let turned = |i: usize| -> f64 {
            let along = by_q[i].iter().zip(&self.point.v).map(|(a, b)| a * b);
            along.chain(by_v[i].iter().zip(&self.point.a).map(|(a, b)| a * b)).sum()
        };
        (0..q.len()).map(|i| turned(i) - pull[i]).collect()
    }

    pub(crate) fn jacobian(&self, outputs: &[Expr], by: &[Expr]) -> Vec<Vec<f64>> {
        let rows = self.model.graph.jacobian(outputs, by);
        rows.iter().map(|row| self.point.evaluate(&self.model, row)).collect()
    }

    pub(crate) fn lagrangian(&self) -> Expr {
        let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = self.model.dynamics else {
            unreachable!("the models here have Lagrangians")
        };
        lagrangian
    }

    /// L_c: the dependent velocities inserted.
    pub(crate) fn inserted(&self) -> Expr {
        let (g, v, split) = (&self.model.graph, self.model.velocities(), &self.geometry.split);
        let base: Vec<Expr> = split.base.iter().map(|&k| v[k]).collect();
        let pairs: Vec<(Expr, Expr)> = split
            .dependent
            .iter()
            .zip(&split.slopes)
            .map(|(&k, row)| (v[k], g.dot(row, &base)))
            .collect();
        g.substitute(&[self.lagrangian()], &pairs)[0]
    }

    pub(crate) fn value(&self, e: Expr) -> f64 {
        self.point.evaluate(&self.model, &[e])[0]
    }
}

/// The largest entry by size.
pub(crate) fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |m, x| m.max(x.abs()))
}
