//! What the audit says of a motion: numbers, limits, verdicts.

/// All checks of one motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// The worst of them.
    pub verdict: Verdict,
    /// One after another.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What is checked.
    pub name: String,
    /// The largest deviation found.
    pub value: f64,
    /// What it may be.
    pub limit: f64,
    /// Why that limit.
    pub reason: &'static str,
    /// How it came out.
    pub verdict: Verdict,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Within its limit.
    Pass,
    /// There was nothing to compare with.
    Unchecked,
    /// Beyond its limit, within a hundred times it.
    Warn,
    /// Far beyond its limit.
    Fail,
}

impl Verdict {
    /// The word for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Unchecked => "unchecked",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

impl Check {
    /// A number against its limit.
    pub(crate) fn new(name: String, value: f64, limit: f64, reason: &'static str) -> Self {
        let verdict = if value <= limit {
            Verdict::Pass
        } else if value <= 100.0 * limit {
            Verdict::Warn
        } else {
            // NOTE: what is not a number fails.
            Verdict::Fail
        };
        Self { name, value, limit, reason, verdict }
    }

    /// A check that could not be made.
    pub(crate) fn unchecked(name: String, limit: f64, reason: &'static str) -> Self {
        Self { name, value: f64::NAN, limit, reason, verdict: Verdict::Unchecked }
    }
}
