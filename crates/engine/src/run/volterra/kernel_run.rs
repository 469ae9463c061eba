//! The values of a kernel, compiled where it has a tape.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_model::Workspace;
use pfaff_program::{Interpreter, Program};

use crate::run::volterra::run_values::{RunTimes, parameter};
use crate::run::volterra::small_lag::{LagSymbols, SmallLag};

/// The values of a kernel.
#[derive(Clone, Debug)]
pub(crate) enum KernelRun {
    /// Compiled.
    Tape(Interpreter),
    /// Compiled, for kernels that would lose their digits at small lags.
    SmallLag(SmallLag),
    /// Evaluated as it stands: Mittag-Leffler functions have no tape.
    Slow { graph: Graph, kernel: Expr, symbols: [Expr; 2], parameters: Vec<(Expr, f64)> },
}

impl KernelRun {
    pub(crate) fn new(model: &Workspace, kernel: Expr, times: RunTimes) -> Self {
        if let Some(exact) = loses_digits(model, kernel, times) {
            return Self::SmallLag(exact);
        }
        let symbols = [model.time, model.graph.symbol("s", Role::Free)];
        match Program::compile(&model.graph, &symbols, &model.parameter_symbols(), &[kernel]) {
            Ok(program) => Self::Tape(program.interpreter(&model.parameter_values())),
            Err(_) => Self::Slow {
                graph: model.graph.clone(),
                kernel,
                symbols,
                parameters: model.parameters.iter().map(|p| (p.symbol, p.value)).collect(),
            },
        }
    }

    /// $k(t, s)$
    pub(crate) fn value(&mut self, t: f64, lag: f64) -> f64 {
        match self {
            Self::SmallLag(kernel) => kernel.value(t, lag),
            Self::Tape(run) => {
                let mut value = [f64::NAN];
                run.evaluate(&[t, lag], &mut value);
                value[0]
            }
            Self::Slow { graph, kernel, symbols, parameters } => {
                let at = |x: Expr| {
                    let parameter = || parameters.iter().find(|p| p.0 == x).map(|p| p.1);
                    match symbols.iter().position(|s| *s == x) {
                        Some(0) => t,
                        Some(_) => lag,
                        None => parameter().unwrap_or(f64::NAN),
                    }
                };
                graph.evaluate(&[*kernel], &at)[0]
            }
        }
    }
}

/// A kernel in a form that keeps its digits at small lags, if it loses them otherwise.
fn loses_digits(model: &Workspace, kernel: Expr, times: RunTimes) -> Option<SmallLag> {
    let g = &model.graph;
    let lag = g.symbol("s", Role::Free);
    let value = |s: Expr| parameter(model, s);
    let symbols = LagSymbols { lag, time: model.time, parameter: &value };
    let exact = SmallLag::new(g, kernel, &symbols)?;
    let t = times.start + 0.7 * times.length;
    let loses = |part: f64| {
        let s = part * times.length;
        let at = |x: Expr| match x {
            x if x == lag => s,
            x if x == model.time => t,
            x => value(x),
        };
        let (plain, exact) = (g.evaluate(&[kernel], &at)[0], exact.value(t, s));
        let agree = (plain - exact).abs() <= 1e-12 * exact.abs();
        exact.is_finite() && !agree
    };
    [1e-6, 1e-12, 1e-18].into_iter().any(loses).then_some(exact)
}
