//! A state on the constraint, with accelerations: where the forms are evaluated.
//!
//! What is given of the leaf velocities is where Newton's method for $\varphi(t, x, \bar y, y^u) = 0$ begins,
//! and so chooses the branch; positions and transverse velocities are kept.

use pfaff_expr::Expr;
use pfaff_mechanics::{Equations, NormalForm};
use pfaff_model::{Diagnostic, ParseErrors, Quantity, Span, Workspace, read_assignments};
use pfaff_solver::{Advance, Lu, NewtonProblem, NewtonRule, Singular, newton};

use crate::error::{Error, Failure};
use crate::model::Model;
use crate::problem::state::{State, state_in};

/// Newton's method from a guess of the user's: more than these steps lead nowhere.
const ITERATIONS: usize = 60;
/// Corrections of this part of the velocities are rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Residuals of this size after the last step count as zero: sums of a few products of numbers of size one.
const SMALL: f64 = 1e-10;

/// A time with positions, velocities and accelerations.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// $t$
    pub t: f64,
    /// $q$
    pub q: Vec<f64>,
    /// $\dot q$
    pub v: Vec<f64>,
    /// $\ddot q$
    pub a: Vec<f64>,
}

impl Point {
    /// Reads `x=1, x'=2, x''=3, t=0`; what is missing is 0.
    ///
    /// # Errors
    ///
    /// [`ParseErrors`] with all mistakes.
    pub fn parse(model: &Model, text: &str) -> Result<Self, ParseErrors> {
        Self::read(&model.workspace(), text)
    }

    /// As [`parse`](Self::parse), in a workspace that is there already.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn read(model: &Workspace, text: &str) -> Result<Self, ParseErrors> {
        let state = state_in(model, text)?;
        let given = read_assignments(model, "<state>", text)?;
        let mut a = vec![0.0; model.coordinates.len()];
        for (quantity, value) in given {
            if let Quantity::Coordinate(k, 2) = quantity {
                a[k] = value;
            }
        }
        Ok(Self { t: state.t, q: state.q, v: state.v, a })
    }

    /// The values of the symbols of a model.
    pub fn symbol<'a>(&'a self, model: &'a Workspace) -> impl Fn(Expr) -> f64 + 'a {
        move |s| {
            for (k, c) in model.coordinates.iter().enumerate() {
                match s {
                    s if s == c.position => return self.q[k],
                    s if s == c.velocity => return self.v[k],
                    s if s == c.acceleration => return self.a[k],
                    _ => {}
                }
            }
            let parameter = model.parameters.iter().find(|p| p.symbol == s);
            parameter.map_or(if s == model.time { self.t } else { f64::NAN }, |p| p.value)
        }
    }

    /// The same without accelerations.
    pub(crate) fn state(&self, model: &Workspace) -> State {
        State {
            t: self.t,
            q: self.q.clone(),
            v: self.v.clone(),
            multipliers: vec![0.0; model.constraints.len()],
        }
    }

    /// The values of expressions.
    pub fn evaluate(&self, model: &Workspace, outputs: &[Expr]) -> Vec<f64> {
        model.graph.evaluate(outputs, &self.symbol(model))
    }

    /// The point with the leaf velocities that the constraints ask for.
    ///
    /// # Errors
    ///
    /// [`Error`] where the constraints cannot be solved for them.
    pub fn on_constraint(
        mut self,
        model: &Workspace,
        equations: &Equations,
        normal: &NormalForm,
    ) -> Result<Self, Error> {
        let m = normal.leaf.len();
        if normal.is_explicit {
            let values = self.evaluate(model, &normal.rates);
            if values.iter().any(|x| !x.is_finite()) {
                return Err(unsolvable(model, normal, "they have no finite value there"));
            }
            normal.leaf.iter().zip(&values).for_each(|(&k, &x)| self.v[k] = x);
            return Ok(self);
        }
        let mut outputs: Vec<Expr> =
            normal.rows.iter().map(|&a| equations.residual[a]).collect();
        outputs.extend(normal.block.iter().flatten());
        let (lu, step) = (Lu::new(m), Vec::new());
        let rule = NewtonRule { steps: ITERATIONS, converged: ROUNDING, ..NewtonRule::DEFAULT };
        let mut leaf =
            LeafVelocities { point: &mut self, model, normal, outputs: &outputs, lu, step };
        if newton(&mut leaf, &rule).is_err() {
            let why = "the derivatives of the constraints by these velocities are singular";
            return Err(unsolvable(model, normal, why));
        }
        let left = self.evaluate(model, &outputs[..m]);
        if left.iter().all(|x| x.abs() <= SMALL) {
            return Ok(self);
        }
        Err(unsolvable(model, normal, "no solution was found from the given values"))
    }
}

/// The constraints as equations for the leaf velocities.
struct LeafVelocities<'a> {
    point: &'a mut Point,
    model: &'a Workspace,
    normal: &'a NormalForm,
    /// Residuals, then their derivatives by rows.
    outputs: &'a [Expr],
    lu: Lu,
    step: Vec<f64>,
}

impl NewtonProblem for LeafVelocities<'_> {
    type Error = Singular;

    fn linearise(&mut self) -> Result<f64, Singular> {
        let m = self.normal.leaf.len();
        let values = self.point.evaluate(self.model, self.outputs);
        self.lu.factor(m, &values[m..])?;
        self.step = values[..m].to_vec();
        self.lu.solve(&mut self.step);
        Ok(0.0)
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, Singular> {
        if self.step.iter().any(|x| !x.is_finite()) {
            return Ok(Advance::Taken(f64::NAN));
        }
        let mut change = 0.0_f64;
        for (&k, d) in self.normal.leaf.iter().zip(&self.step) {
            self.point.v[k] -= d;
            change = change.max(d.abs() / (1.0 + self.point.v[k].abs()));
        }
        Ok(Advance::Taken(change))
    }
}

fn unsolvable(model: &Workspace, normal: &NormalForm, why: &str) -> Error {
    let names: Vec<String> =
        normal.leaf.iter().map(|&k| format!("`{}'`", model.coordinates[k].name)).collect();
    let diagnostic = Diagnostic::error(
        "E0614",
        Span::default(),
        format!("at this state the constraints do not give {}: {why}", names.join(", ")),
    )
    .with_hint("give values of these velocities near the branch you mean, move the state, or choose other \
                dependent coordinates");
    Failure::from(diagnostic).in_source(&model.source)
}
