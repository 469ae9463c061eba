//! Lyapunov exponents.

use std::fmt::Write;

use pfaff::{Lyapunov, ZeroExponents};
use serde_json::Value;

use crate::json::{number, numbers, object, string};
use crate::number::significant;
use crate::{ToJson, ToText};

impl ToJson for Lyapunov {
    /// As `lyapunov --json` prints it.
    fn to_json(&self) -> Value {
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("exponents", numbers(&self.exponents)),
            ("error", numbers(&self.error)),
            ("sum", number(self.sum)),
            ("divergence", number(self.divergence)),
            ("dimension", number(self.dimension)),
            ("zeros", Value::from(self.zeros.count() as u64)),
            (
                "zero_reasons",
                object(
                    reasons(self.zeros).map(|(why, count)| (why, Value::from(count as u64))),
                ),
            ),
            ("time", numbers(&[self.time.0, self.time.1])),
            ("stretches", Value::from(self.stretches as u64)),
            ("steps", Value::from(self.steps as u64)),
            ("stop", string(self.stop.as_ref().map_or("end", |stop| stop.name()))),
        ])
    }
}

/// How many exponents are zero for which reason.
fn reasons(zeros: ZeroExponents) -> [(&'static str, usize); 3] {
    let ZeroExponents { time, symmetries, conserved } = zeros;
    [("time", time), ("symmetries", symmetries), ("conserved quantities", conserved)]
}

impl ToText for Lyapunov {
    /// For people.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        let (from, to) = (significant(self.time.0, 6), significant(self.time.1, 6));
        let beside = match self.stretches {
            1 => String::new(),
            count => format!(" in {count} stretches beside each other"),
        };
        let _ = writeln!(text, "  from t = {from} to {to}{beside}, {} steps", self.steps);
        if let Some(stop) = &self.stop {
            let _ = writeln!(text, "  stopped early: {}", stop.name());
        }
        let _ = writeln!(text, "\nLyapunov exponents\n  {:>14}  {:>10}", "", "error");
        for (λ, ε) in self.exponents.iter().zip(&self.error) {
            let _ = writeln!(text, "  {λ:>14.6}  {ε:>10.1e}");
        }
        let _ = writeln!(text, "\n  sum                     {}", significant(self.sum, 10));
        if self.divergence.is_finite() {
            let mean = significant(self.divergence, 10);
            let _ = writeln!(text, "  mean divergence         {mean}");
        }
        let _ = writeln!(text, "  Kaplan-Yorke dimension  {}", significant(self.dimension, 6));
        let known = reasons(self.zeros).into_iter().filter(|(_, count)| *count > 0);
        let known: Vec<String> = known.map(|(why, count)| format!("{why} {count}")).collect();
        if !known.is_empty() {
            let count = self.zeros.count();
            let _ = writeln!(text, "  known to be zero        {count} ({})", known.join(", "));
        }
        text
    }
}
