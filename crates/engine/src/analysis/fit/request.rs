//! What a fit is asked for, and what it finds.

use crate::analysis::fit::data::Measurements;
use crate::motion::Motion;
use crate::problem::settings::Run;

/// What a fit is asked for.
#[derive(Clone, Debug, Default)]
pub struct FitRequest {
    /// The parameters and initial values (`x'(0)`) to find.
    pub parameters: Vec<String>,
    /// Their bounds, by name: lower and upper.
    pub bounds: Vec<(String, f64, f64)>,
    /// The columns of the data to fit; all that are coordinates, velocities or observed quantities, if empty.
    pub columns: Vec<String>,
    /// Standard deviations by column. A column `sigma(x)` of the data has them for each value of `x`.
    pub sigmas: Vec<(String, f64)>,
    /// The loss.
    pub loss: Loss,
    /// What is known of parameters before.
    pub priors: Vec<Prior>,
    /// Whether intervals by the profile of the likelihood are computed too, which takes many more motions.
    pub profile: bool,
    /// How the motions are computed; their output times are those of the data.
    pub run: Run,
}

/// A parameter that is known before to be normally distributed.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// The parameter or initial value.
    pub name: String,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub sigma: f64,
}

/// The measured data of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct FitRun {
    /// The data.
    pub data: Measurements,
    /// Parameters and initial values (`x'(0)`) that this run has other values of.
    pub values: Vec<(String, f64)>,
}

/// The loss of a residual in standard deviations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Loss {
    /// $r^2$
    #[default]
    Squares,
    /// $r^2$ up to $|r| = 1.345$, beyond that a straight line.
    Huber,
    /// $c^2 \log(1 + r^2/c^2)$ with $c = 2.385$.
    Cauchy,
}

impl Loss {
    /// All losses with their words.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Squares, "squares"), (Self::Huber, "huber"), (Self::Cauchy, "cauchy")];

    /// The loss of a word.
    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(loss, _)| *loss)
    }

    /// $\rho'(r^2)$: the weight of a squared residual.
    pub(super) fn weight(self, r: f64) -> f64 {
        // NOTE: with these constants, both have 95 % of the efficiency of least squares for normal errors.
        match self {
            Self::Squares => 1.0,
            Self::Huber => (1.345 / r.abs()).min(1.0),
            Self::Cauchy => 1.0 / (1.0 + (r / 2.385) * (r / 2.385)),
        }
    }

    /// The slope of $\psi(r) = r\,\rho'(r^2)$.
    pub(super) fn slope(self, r: f64) -> f64 {
        match self {
            Self::Squares => 1.0,
            Self::Huber => f64::from(u8::from(r.abs() <= 1.345)),
            Self::Cauchy => {
                let x = (r / 2.385) * (r / 2.385);
                (1.0 - x) / ((1.0 + x) * (1.0 + x))
            }
        }
    }

    /// $\rho$
    pub(super) fn value(self, r: f64) -> f64 {
        match self {
            Self::Squares => r * r,
            Self::Huber if r.abs() <= 1.345 => r * r,
            Self::Huber => 1.345 * (2.0 * r.abs() - 1.345),
            Self::Cauchy => 2.385 * 2.385 * libm::log1p((r / 2.385) * (r / 2.385)),
        }
    }
}

/// A parameter that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// As it was asked for.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its standard deviation; not a number if the data do not determine it, or if it is held at a bound.
    pub sigma: f64,
    /// The interval that contains the true value with a probability of 95 %.
    pub interval: [f64; 2],
    /// The same by the profile of the likelihood, where it was asked for: beyond its ends the least loss over all other
    /// parameters has risen too far. Infinite where no end was found.
    pub profile: Option<[f64; 2]>,
}

/// How parameters can change together without any measured value, as far as that was tried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Freedom {
    /// Each is multiplied by a power of any positive factor, with this exponent: of `m` and `k` with the exponents 1
    /// and 1, only `k/m` is determined.
    Factor(Vec<(String, f64)>),
    /// Each changes by so much times any number.
    Line(Vec<(String, f64)>),
    /// Each changes by so much times a small number; far from the values found, the curve is another one.
    Tangent(Vec<(String, f64)>),
}

/// What a fit found.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The parameters, in the order asked for.
    pub parameters: Vec<Estimate>,
    /// The covariance of the parameters, by rows; not numbers where the data determine nothing.
    pub covariance: Vec<Vec<f64>>,
    /// The root mean square of the residuals, in standard deviations if these are given, else in the units of the data.
    pub residual: f64,
    /// Directions in the space of parameters along which the data stay the same: a change of each parameter.
    pub unidentifiable: Vec<Vec<(String, f64)>>,
    /// How far they stay the same, direction by direction.
    pub freedoms: Vec<Freedom>,
    /// How many values were fitted.
    pub values: usize,
    /// Steps that were tried.
    pub iterations: usize,
    /// Whether the steps became small.
    pub is_converged: bool,
    /// The times of each column of residuals.
    pub times: Vec<Vec<f64>>,
    /// Residuals by column and run, in the units of the data; missing values stay missing.
    pub residuals: Vec<(String, Vec<Option<f64>>)>,
    /// The standard deviation of each column, given or estimated.
    pub sigmas: Vec<(String, f64)>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// The fitted motion at the times of the data.
    pub motion: Motion,
}
