//! `pfaff geometry --fractional`: the fractional Poincaré–Cartan form of a model, and what follows from it.

use crate::model::Model;
use pfaff_expr::Expr;
use pfaff_mechanics::{FractionalForms, Orders, fractional_forms};
use pfaff_model::{ExpressionScope, Principle, Shape, Workspace, read_expression};

use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::system::compiled::Dynamics;

/// The fractional forms of a model.
#[derive(Clone, Debug)]
pub struct FractionalGeometry {
    /// The model, in whose graph the expressions are.
    pub model: Workspace,
    /// The two orders.
    pub orders: Orders,
    /// The forms.
    pub forms: FractionalForms,
}

/// The fractional forms of a model; `orders` is `alpha, beta`, numbers or parameters, and one of them alone
/// stands for both.
///
/// # Errors
///
/// [`Error`] says what is wrong with the orders, or why there is no such form.
pub fn fractional_geometry(model: &Model, orders: &str) -> Result<FractionalGeometry, Error> {
    fractional_geometry_in(model.workspace(), orders)
        .map_err(|failure| failure.in_source(&model.source))
}

fn fractional_geometry_in(
    model: Workspace,
    orders: &str,
) -> Result<FractionalGeometry, Failure> {
    let orders = read_orders(&model, orders)?;
    let Dynamics::Saddle(equations) = derive_in(&model, Some(Principle::Chetaev))? else {
        let message = "an `equation` model has no Lagrangian, and so no Poincaré–Cartan form";
        return Err(Failure::usage(message));
    };
    let forms = fractional_forms(&model, &equations, orders)?;
    Ok(FractionalGeometry { model, orders, forms })
}

/// Two constants, or one for both.
fn read_orders(model: &Workspace, text: &str) -> Result<Orders, Failure> {
    let usage = |message: String| Failure::Usage(message);
    let parts = crate::analysis::variations::split(text);
    let read = |part: &str| -> Result<Expr, Failure> {
        let (shape, entries) =
            read_expression(model, "<orders>", part.trim(), ExpressionScope::State)?;
        match (shape, &entries[..]) {
            (Shape::Scalar, [e]) if !model.constant(*e).is_nan() => Ok(*e),
            _ => Err(usage(format!(
                "the order `{}` is not a number: orders consist of numbers and parameters",
                part.trim()
            ))),
        }
    };
    match &parts[..] {
        [one] => read(one).map(|e| Orders { alpha: e, beta: e }),
        [alpha, beta] => Ok(Orders { alpha: read(alpha)?, beta: read(beta)? }),
        _ => Err(usage("fractional forms take two orders at most, such as 0.5,1".into())),
    }
}
