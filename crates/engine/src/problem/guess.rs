//! Starts of a search that the user gives: velocities and multipliers, or a whole motion as a table.

use pfaff_expr::Table;
use pfaff_model::{Declarations, ParseErrors, Quantity, read_assignments, table_of};

use crate::error::Error;
use crate::model::Model;

/// Where a search between given ends begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Guess {
    /// Velocities and multipliers at the start; what is missing is that of the straight line, multipliers 0.
    Start(Vec<(Quantity, f64)>),
    /// A motion: positions, velocities and multipliers as functions of time, each with its index.
    Motion {
        /// One for each coordinate.
        positions: Vec<Table>,
        /// As many as the table has; the others are slopes.
        velocities: Vec<(usize, Table)>,
        /// As many as the table has; the others are 0.
        multipliers: Vec<(usize, Table)>,
    },
}

impl Guess {
    /// Reads `x'=1, mu(c)=2`.
    ///
    /// # Errors
    ///
    /// [`ParseErrors`] with all mistakes.
    pub fn start(model: &Model, text: &str) -> Result<Self, ParseErrors> {
        read_assignments(&model.workspace(), "<guess>", text).map(Self::Start)
    }

    /// Reads a table as `run --output` writes it: columns `t`, `x`, and if they are there `x'` and `mu(c)`.
    ///
    /// # Errors
    ///
    /// [`Error`] names the column that is missing or makes no function of time.
    pub fn motion(model: &Declarations, file: &str, text: &str) -> Result<Self, Error> {
        let column = |name: &str| table_of(text, file, name);
        let positions = model
            .coordinates
            .iter()
            .map(|c| {
                column(&c.name)
                    .map_err(|no| Error::Usage(format!("{}: {}", no.message, no.hint)))
            })
            .collect::<Result<_, _>>()?;
        let known = |names: Vec<String>| {
            names.iter().enumerate().filter_map(|(k, n)| Some((k, column(n).ok()?))).collect()
        };
        let velocities = model.coordinates.iter().map(|c| format!("{}'", c.name)).collect();
        let multipliers = model.constraints.iter().map(|c| format!("mu({})", c.name)).collect();
        Ok(Self::Motion {
            positions,
            velocities: known(velocities),
            multipliers: known(multipliers),
        })
    }
}
