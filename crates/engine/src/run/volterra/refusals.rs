//! Why a run from initial values cannot use a memory operator.

use pfaff_expr::Memory;
use pfaff_model::{Diagnostic, Span, Workspace};

use crate::run::volterra::run_values::mistake;

/// What to do about an operand that jumps.
pub(crate) const JUMPS: &str = "the derivative of a jump is no function that a run can follow; `integral`, \
     `memory` and `mean` may be applied to what jumps";

/// Right operators look at the future.
pub(crate) fn anticipative(kind: Memory, span: Span) -> Diagnostic {
    let text = format!(
        "`{}` is anticipative: it looks at the whole future of the motion, so a run from initial values cannot \
         use it",
        kind.name()
    );
    mistake(
        span,
        text,
        "left operators (`caputo`, `rl`, `integral`) look at the past; right ones have values in `pfaff eval`",
    )
}

/// A derivative beyond those that the equations determine.
pub(crate) fn too_high(
    model: &Workspace,
    k: usize,
    order: f64,
    highest: f64,
    span: Span,
) -> Diagnostic {
    let text = format!(
        "a derivative of order {order} of `{}` is used, but the equations determine only derivatives up to order \
         {highest}",
        model.coordinates[k].name
    );
    mistake(
        span,
        text,
        "outputs have derivatives up to the order of the equations: 2 in a Lagrangian model, more where its \
         forces have more",
    )
}
