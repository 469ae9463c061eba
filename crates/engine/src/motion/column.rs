//! Quantities of a motion by name.

use pfaff_model::closest;

use crate::error::Error;
use crate::motion::dense::{Dense, Order};
use crate::motion::{Motion, Series};

/// One coordinate of a motion, or its velocity or acceleration, as a function of time.
///
/// ```
/// use pfaff::{Model, Run};
/// let model = Model::parse("coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n")?;
/// let motion = model.run(&Run::to(3.0).samples(4))?;
/// let x = motion.position("x")?;
/// assert_eq!(x.values().len(), 4);
/// assert!((x.at(1.5) - 1.5_f64.cos()).abs() < 1e-9);
/// assert!((motion.velocity("x")?.at(1.5) + 1.5_f64.sin()).abs() < 1e-8);
/// assert!(motion.position("z").is_err());
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Column<'a> {
    series: &'a Series,
    dense: std::borrow::Cow<'a, Dense>,
    index: usize,
    order: Order,
}

impl Column<'_> {
    /// The value at a time, to about the tolerance of the run; not a number before its start and after its end.
    ///
    /// Of motions with memory, and of runs that keep only their outputs, it is interpolated between the
    /// outputs.
    pub fn at(&self, t: f64) -> f64 {
        self.dense.value(self.index, self.order, t)
    }

    /// One value for each output time.
    pub fn values(&self) -> &[f64] {
        &self.series.values
    }

    /// The value at the last output time.
    pub fn last(&self) -> f64 {
        self.series.values.last().copied().unwrap_or(f64::NAN)
    }
}

impl Motion {
    /// A coordinate.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if there is none of this name; so for the others.
    pub fn position(&self, name: &str) -> Result<Column<'_>, Error> {
        self.column(&self.q, name, Order::Position)
    }

    /// The velocity of a coordinate.
    ///
    /// # Errors
    ///
    /// As [`position`](Self::position).
    pub fn velocity(&self, name: &str) -> Result<Column<'_>, Error> {
        self.column(&self.v, name, Order::Velocity)
    }

    /// The acceleration of a coordinate.
    ///
    /// # Errors
    ///
    /// As [`position`](Self::position).
    pub fn acceleration(&self, name: &str) -> Result<Column<'_>, Error> {
        self.column(&self.a, name, Order::Acceleration)
    }

    /// The multiplier of a constraint at the output times.
    ///
    /// # Errors
    ///
    /// As [`position`](Self::position).
    pub fn multiplier(&self, constraint: &str) -> Result<&[f64], Error> {
        named(&self.multipliers, "constraint", constraint).map(|(_, s)| &s.values[..])
    }

    /// The reaction on a coordinate at the output times.
    ///
    /// # Errors
    ///
    /// As [`position`](Self::position).
    pub fn reaction(&self, coordinate: &str) -> Result<&[f64], Error> {
        named(&self.reactions, "reaction on a coordinate", coordinate)
            .map(|(_, s)| &s.values[..])
    }

    /// What `observe` names, at the output times.
    ///
    /// # Errors
    ///
    /// As [`position`](Self::position).
    pub fn observed(&self, name: &str) -> Result<&[f64], Error> {
        named(&self.observed, "observed quantity", name).map(|(_, s)| &s.values[..])
    }

    fn column<'a>(
        &'a self,
        series: &'a [Series],
        name: &str,
        order: Order,
    ) -> Result<Column<'a>, Error> {
        let (index, series) = named(series, "coordinate", name)?;
        let dense = if self.dense.is_empty() {
            std::borrow::Cow::Owned(self.through_outputs())
        } else {
            std::borrow::Cow::Borrowed(&self.dense)
        };
        Ok(Column { series, dense, index, order })
    }

    /// The outputs as nodes.
    pub(crate) fn through_outputs(&self) -> Dense {
        let mut dense = Dense::new(self.q.len());
        for (i, &t) in self.t.iter().enumerate() {
            let rows = self.q.iter().chain(&self.v).chain(&self.a);
            dense.push(&crate::motion::dense::Node {
                t,
                row: rows.map(|s| s.values[i]).collect(),
            });
        }
        dense
    }
}

/// The series of a name and its place.
fn named<'a>(
    series: &'a [Series],
    what: &str,
    name: &str,
) -> Result<(usize, &'a Series), Error> {
    series.iter().enumerate().find(|(_, s)| s.name == name).ok_or_else(|| {
        let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
        let hint = closest(name, &names)
            .map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        Error::Usage(format!("the motion has no {what} `{name}`{hint}"))
    })
}
