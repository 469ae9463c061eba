//! A motion with some thirty digits.

use pfaff_expr::DoubleDouble;

/// Values with some thirty digits at the output times of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubleDoubleMotion {
    /// $q$, by coordinate.
    pub q: Vec<DoubleDoubleSeries>,
    /// $\dot q$, by coordinate.
    pub v: Vec<DoubleDoubleSeries>,
    /// What is observed; empty series where it has no value with so many digits.
    pub observed: Vec<DoubleDoubleSeries>,
    /// How many digits two integrations of different orders agree to, of the largest value of each component.
    pub digits: f64,
    /// Steps of the first integration.
    pub steps: usize,
}

/// One quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubleDoubleSeries {
    /// Its name.
    pub name: String,
    /// One value for each output time.
    pub values: Vec<DoubleDouble>,
}

impl DoubleDoubleSeries {
    /// The values as decimals with 32 significant digits.
    pub fn decimals(&self) -> Vec<String> {
        self.values.iter().map(|x| x.to_decimal(32)).collect()
    }
}
