//! Derivatives of a motion by parameters and initial values.

use pfaff_model::closest;

use crate::error::Error;
use crate::motion::{Motion, Series};

/// The derivatives of a motion by one parameter or initial value. Series are in declared order, with one value for
/// each output time, and derivatives are those at a fixed time.
///
/// ```
/// use pfaff::{Model, Run};
/// let model = Model::parse("coordinates x\nparameters k = 4\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1\n")?;
/// let motion = model.run(&Run::to(1.0).sensitivity("k, x'(0)"))?;
/// // x = cos(ωt) with ω² = k, so that ∂x/∂k = −t sin(ωt)/(2ω); and ∂x/∂x'(0) = sin(ωt)/ω.
/// let by_k = motion.sensitivity("k")?.q[0].values.last();
/// assert!(by_k.is_some_and(|x| (x + 2.0_f64.sin() / 4.0).abs() < 1e-8));
/// let by_velocity = motion.sensitivity("x'(0)")?.q[0].values.last();
/// assert!(by_velocity.is_some_and(|x| (x - 2.0_f64.sin() / 2.0).abs() < 1e-8));
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// What varies: `a`, `x'(0)`.
    pub name: String,
    /// $\partial q/\partial p$
    pub q: Vec<Series>,
    /// $\partial\dot q/\partial p$
    pub v: Vec<Series>,
    /// $\partial\lambda/\partial p$, or that of $\mu$ under the vakonomic principle; empty where constraints repeat
    /// each other, so that their multipliers are not unique.
    pub multipliers: Vec<Series>,
    /// The derivatives of what is observed; not numbers where it depends on a quantity that is not differentiated.
    pub observed: Vec<Series>,
    /// Derivatives of events, in the order of [`Motion::events`].
    pub events: Vec<EventSensitivity>,
    /// $dt_1/dp$ of the end time, where that is free between given ends.
    pub end: Option<f64>,
    /// The derivatives of all these by the other quantities, where second derivatives are asked for.
    pub second: Vec<Sensitivity>,
}

/// How an event moves when a parameter or initial value varies.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSensitivity {
    /// The name of the event.
    pub name: String,
    /// $dt/dp$ of its time; not a number where its function only touches zero.
    pub t: f64,
    /// $dq/dp$ at the event, whose time moves.
    pub q: Vec<f64>,
    /// $d\dot q/dp$ at the event, whose time moves.
    pub v: Vec<f64>,
}

impl Motion {
    /// The derivatives by a parameter or initial value that the run was asked for.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if it was not.
    pub fn sensitivity(&self, name: &str) -> Result<&Sensitivity, Error> {
        self.sensitivities.iter().find(|s| s.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.sensitivities.iter().map(|s| s.name.as_str()).collect();
            let hint = closest(name, &names)
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Error::Usage(format!("the run was not asked for sensitivities to `{name}`{hint}"))
        })
    }
}

impl Sensitivity {
    /// The columns of a table: `d(x)/d(a)`, `d(x')/d(a)`, multipliers with their word, and what is observed.
    pub(crate) fn columns(&self, multiplier: &str) -> Vec<(String, &[f64])> {
        let name = &self.name;
        let groups: [(&[Series], String, &str); 4] = [
            (&self.q, String::new(), ""),
            (&self.v, String::new(), "'"),
            (&self.multipliers, format!("{multiplier}("), ")"),
            (&self.observed, String::new(), ""),
        ];
        let of_group = |(series, before, after): (&'_ [Series], String, &str)| {
            let column = |s: &'_ Series| format!("d({before}{}{after})/d({name})", s.name);
            series.iter().map(column).collect::<Vec<String>>()
        };
        let names: Vec<String> = groups.clone().into_iter().flat_map(of_group).collect();
        let values = groups.into_iter().flat_map(|(series, ..)| series);
        names.into_iter().zip(values.map(|s| s.values.as_slice())).collect()
    }
}

/// The state-transition matrix of a motion: $\Phi(t) = \partial y(t)/\partial y(t_0)$ on the tangent space of the
/// constraints, to which initial changes are moved by the smallest change in the kinetic metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The components of the state: `x`, `x'`, `mu(c)`.
    pub names: Vec<String>,
    /// The matrix at each output time, by rows.
    pub matrices: Vec<Vec<f64>>,
}

impl Transition {
    /// From the derivatives by every component of the state.
    pub(crate) fn of(names: &[String], columns: &[Sensitivity], times: usize) -> Self {
        let entry = |name: &String, column: &Sensitivity, t: usize| {
            let of = |list: &[Series], name: &str| {
                list.iter().find(|s| s.name == name).map(|s| s.values[t])
            };
            let multiplier = || {
                let inner = name.strip_prefix("mu(")?.strip_suffix(')')?;
                of(&column.multipliers, inner)
            };
            of(&column.q, name)
                .or_else(|| of(&column.v, name.strip_suffix('\'')?))
                .or_else(multiplier)
                .unwrap_or(f64::NAN)
        };
        let matrix = |t: usize| {
            let rows = names.iter().flat_map(|name| columns.iter().map(move |c| (name, c)));
            rows.map(|(name, column)| entry(name, column, t)).collect()
        };
        Self { names: names.to_vec(), matrices: (0..times).map(matrix).collect() }
    }
}

/// The gradient of a scalar of a motion, by the adjoint equations.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// What is differentiated: an observed quantity at the end, or its integral.
    pub of: String,
    /// Its value.
    pub value: f64,
    /// The derivatives by parameters and initial values.
    pub by: Vec<(String, f64)>,
}
