//! `delay(g, tau)`, what g was some time ago; and `history`, what coordinates were before the start.

use pfaff_expr::{Expr, Role};

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::model::{Delay, Quantity};
use crate::shape::Value;

impl Elaborator<'_> {
    pub(crate) fn delay(&mut self, site: Site, values: &[Value]) -> Value {
        use Place::{Equation, Force, Let, Observe};
        if !matches!(self.place, Force | Equation | Observe | Let) {
            let message = format!("{} cannot contain `delay`", self.subject());
            let hint = "`delay` may stand in forces, equations, controls, states and `observe`";
            return self.error_hint("E0412", self.span(site), message, hint);
        }
        let at = self.argument(site, 1);
        let Some(lag) = self.constant_value(&values[1], at, "a delay") else {
            return Value::Poison;
        };
        if !(lag.value.is_finite() && lag.value > 0.0) {
            let message = format!("a delay must be positive, not {}", lag.value);
            return self.error("E0456", self.span(at), message);
        }
        if self.highest_order(values[0].entries()) > 1 {
            let message = "an acceleration cannot be delayed";
            let hint = "delay positions and velocities";
            return self.error_hint("E0456", self.span(site), message.into(), hint);
        }
        let (operand, time) = (self.argument(site, 0), self.text(at).to_owned());
        let text = self.text(operand).to_owned();
        let span = self.span(site);
        let mut place = 0;
        values[0].clone().map(|e| {
            place += 1;
            let name = match values[0].entries().len() {
                1 => format!("delay({text}, {time})"),
                _ => format!("delay({text}, {time})[{place}]"),
            };
            self.delayed(name, e, lag.value, span)
        })
    }

    /// The symbol of a delayed value.
    fn delayed(
        &mut self,
        name: String,
        operand: Expr,
        lag: f64,
        span: crate::source::Span,
    ) -> Expr {
        let known = self.draft.hybrid.delays.iter();
        if let Some(same) = known.clone().find(|d| d.operand == operand && d.lag == lag) {
            return same.symbol;
        }
        let g = self.graph;
        let same = known.filter(|d| g.symbol_of(d.symbol).is_some_and(|s| s.name == name));
        let name = match same.count() {
            0 => name,
            // NOTE: a parameter may have another value in another place.
            count => format!("{name} {}", count + 1),
        };
        let symbol = g.symbol(&name, Role::Free);
        self.draft.hybrid.delays.push(Delay { symbol, operand, lag, span });
        symbol
    }

    /// `history x = cos(t)`, and the time from which on it is known: `history t = -1, x = cos(t)`.
    pub(crate) fn finish_history(&mut self) {
        for given in std::mem::take(&mut self.draft.conditions.history) {
            let span = self.shifted(given.part, given.assignment.target.span);
            let Some(goal) = self.goal(given.part, &given.assignment.target, true) else {
                continue;
            };
            self.speak_of("the history".into());
            let site = Site { part: given.part, id: given.assignment.value };
            for (scalar, value) in self.assigned_values(&goal, site, Place::Initial) {
                match scalar.quantity {
                    Quantity::Time => match self.constant(value) {
                        Some(from) => self.draft.hybrid.known_from = Some(from.value),
                        None => {
                            let message = "the history begins at a number";
                            self.error("E0456", span, message.into());
                        }
                    },
                    Quantity::Coordinate(k, 0) if !self.content(value).moves => {
                        self.draft.hybrid.histories.push((k, value));
                    }
                    Quantity::Coordinate(_, 0) => {
                        let message =
                            format!("the history of `{}` depends on the motion", scalar.name);
                        let hint = "write it as a function of `t`";
                        self.error_hint("E0456", span, message, hint);
                    }
                    Quantity::Coordinate(..) | Quantity::Multiplier(_) => {
                        let message = format!("`{}` has no history of its own", scalar.name);
                        let hint = "give positions as functions of `t`; velocities are their derivatives";
                        self.error_hint("E0456", span, message, hint);
                    }
                }
            }
        }
        let hybrid = &self.draft.hybrid;
        let start = self.draft.solve.as_ref().and_then(|s| s.range).map_or(0.0, |(t0, _)| t0);
        if let Some(from) = hybrid.known_from {
            let late: Vec<Diagnostic> = hybrid
                .delays
                .iter()
                .filter(|delay| start - delay.lag < from)
                .map(|delay| {
                    let message = format!(
                        "the delay of {} is longer than the history, which begins at t = {from}",
                        delay.lag
                    );
                    let hint = "give a longer history, or a later start";
                    Diagnostic::error("E0456", delay.span, message).with_hint(hint)
                })
                .collect();
            for diagnostic in late {
                self.report(diagnostic);
            }
        }
    }
}
