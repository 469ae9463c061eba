//! Models in normal form at a point on the constraint, with what the core says there.

use pfaff::{Point, Principle, Workspace, at_state};
use pfaff_expr::Expr;
use pfaff_mechanics::{Equations, NormalForm, derive, normal_form};

/// The message of a failure.
pub(crate) fn failed(failure: &pfaff::Error) -> String {
    match failure {
        pfaff::Error::Usage(message) => message.clone(),
        pfaff::Error::Text(pfaff::ParseErrors { diagnostics: all, .. }) => {
            all.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
        }
    }
}

/// A model in normal form at a point on the constraint, with the accelerations of the core.
pub(crate) struct Case {
    pub(crate) model: Workspace,
    pub(crate) equations: Equations,
    pub(crate) normal: NormalForm,
    pub(crate) point: Point,
    /// λ of the core.
    pub(crate) multipliers: Vec<f64>,
}

impl Case {
    pub(crate) fn new(text: &str, dependent: Option<&[usize]>, state: &str) -> Self {
        let frozen = super::model(text);
        let model = frozen.workspace();
        let equations = derive(&model, Principle::Chetaev).expect("equations");
        let normal = normal_form(&model, &equations, dependent).expect("a normal form");
        let point = Point::read(&model, state).expect("a state");
        let mut point = point
            .on_constraint(&model, &equations, &normal)
            .unwrap_or_else(|f| panic!("{}", failed(&f)));
        let dynamics = pfaff::derive(&frozen, Some(Principle::Chetaev)).expect("equations");
        let state = pfaff::State {
            t: point.t,
            q: point.q.clone(),
            v: point.v.clone(),
            multipliers: vec![0.0; model.constraints.len()],
        };
        let core = at_state(&dynamics, &state).expect("numbers");
        point.a = core.acceleration;
        Self { model, equations, normal, point, multipliers: core.multipliers }
    }

    pub(crate) fn at(&self, outputs: &[Expr]) -> Vec<f64> {
        self.point.evaluate(&self.model, outputs)
    }
}
