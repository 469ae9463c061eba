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
    /// Whether nothing passes as long as this could not be checked.
    pub is_needed: bool,
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

impl Audit {
    /// The audit of some checks: as bad as the worst of them. What could not be checked does not count as long
    /// as something passed, unless it is needed.
    pub(crate) fn of(checks: Vec<Check>) -> Self {
        let worst = checks.iter().map(|c| c.verdict).max().unwrap_or(Verdict::Unchecked);
        let is_missing = |c: &Check| c.is_needed && c.verdict == Verdict::Unchecked;
        let passed =
            checks.iter().any(|c| c.verdict == Verdict::Pass) && !checks.iter().any(is_missing);
        let verdict = if worst == Verdict::Unchecked && passed { Verdict::Pass } else { worst };
        Self { verdict, checks }
    }

    /// The audit of a motion of two parts: of each check the worse one.
    pub(crate) fn join(&mut self, later: Self) {
        for check in later.checks {
            match self.checks.iter_mut().find(|c| c.name == check.name) {
                Some(known) if check.is_worse_than(known) => *known = check,
                Some(_) => {}
                None => self.checks.push(check),
            }
        }
        *self = Self::of(std::mem::take(&mut self.checks));
    }

    /// Adds checks. An audit that checked nothing before goes on as unchecked.
    pub(crate) fn add(&mut self, checks: Vec<Check>) {
        for check in checks {
            if self.verdict != Verdict::Unchecked || self.checks.is_empty() {
                self.verdict = self.verdict.max(check.verdict);
            }
            self.checks.push(check);
        }
    }
}

impl Check {
    /// Whether this one says more against the motion: what was measured says more than what was not.
    fn is_worse_than(&self, other: &Self) -> bool {
        if self.is_needed && self.verdict != other.verdict {
            return self.verdict > other.verdict;
        }
        let measured = |check: &Self| check.verdict != Verdict::Unchecked;
        if measured(self) != measured(other) {
            return measured(self);
        }
        let part = |check: &Self| check.value / check.limit;
        part(self).is_nan() || part(self) > part(other)
    }

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
        Self { name, value, limit, reason, verdict, is_needed: false }
    }

    /// A number against its limit, if it could be measured.
    pub(crate) fn measured(
        name: String,
        value: Option<f64>,
        limit: f64,
        reason: &'static str,
    ) -> Self {
        match value {
            Some(value) => Self::new(name, value, limit, reason),
            None => Self::unchecked(name, limit, reason),
        }
    }

    /// A check that could not be made.
    pub(crate) fn unchecked(name: String, limit: f64, reason: &'static str) -> Self {
        Self {
            name,
            value: f64::NAN,
            limit,
            reason,
            verdict: Verdict::Unchecked,
            is_needed: false,
        }
    }
}
