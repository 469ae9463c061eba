//! Hamilton's form of an extremum with memory, as formulas: what `derive --form hamilton` shows of it.

use pfaff_expr::{Expr, Node};
use pfaff_mechanics::{Refusal, adjoint};
use pfaff_model::{Dynamics, Principle, Workspace};
use pfaff_solver::FractionalOperator;

use super::formulate::Formulation;
use super::hamilton::Hamilton;
use super::is_fractional;
use crate::error::{Error, Failure};
use crate::model::Model;

/// Hamilton's form of an extremum with memory. A pair is a left and a right side.
#[derive(Clone, Debug)]
pub struct FractionalHamilton {
    /// The model, in whose graph the expressions are.
    pub model: Workspace,
    /// $p = \partial\mathcal L/\partial u$
    pub momenta: Vec<(Expr, Expr)>,
    /// The multipliers by momenta.
    pub multipliers: Vec<(Expr, Expr)>,
    /// $\mathcal H$
    pub hamiltonian: Expr,
    /// The velocities $u$ by momenta.
    pub velocities: Vec<(Expr, Expr)>,
    /// The equations of the momenta.
    pub equations: Vec<FractionalHamiltonEquation>,
}

/// An equation of the momenta.
#[derive(Clone, Copy, Debug)]
pub enum FractionalHamiltonEquation {
    /// $\dot p_k$ of this coordinate.
    Rate {
        /// Which coordinate.
        coordinate: usize,
        /// The right side.
        right: Expr,
    },
    /// An equation between two expressions.
    Equation {
        /// The left side.
        left: Expr,
        /// The right side.
        right: Expr,
    },
}

/// Hamilton's form of a model with memory between given ends; `None` for any other model or principle.
///
/// # Errors
///
/// [`Error`] says which hypothesis of the form fails.
pub fn fractional_hamilton(
    model: &Model,
    principle: Option<Principle>,
) -> Result<Option<FractionalHamilton>, Error> {
    in_workspace(model.workspace(), principle)
        .map_err(|failure| failure.in_source(&model.source))
}

fn in_workspace(
    workspace: Workspace,
    principle: Option<Principle>,
) -> Result<Option<FractionalHamilton>, Failure> {
    let model = &workspace;
    let principle = principle.unwrap_or(model.principle);
    let vakonomic = principle == Principle::Vakonomic || model.constraints.is_empty();
    if !is_fractional(model) || !vakonomic {
        return Ok(None);
    }
    let Dynamics::Lagrangian { span, .. } = model.dynamics else { return Ok(None) };
    let refused = |what: &'static str| {
        Failure::Model(vec![Refusal::NoHamilton { what, span }.diagnostic()])
    };
    let g = &model.graph;
    // The length of the interval does not enter the equations.
    let given = Formulation::new(model, 1.0).map_err(Failure::Model)?;
    if !given.operands.is_empty() {
        return Err(refused(
            "an operand of memory is not linear in the coordinates with constant coefficients; \
             a run solves it in this form all the same",
        ));
    }
    let form = Hamilton::new(model, &given).map_err(refused)?;
    let back: Vec<(Expr, Expr)> =
        given.symbols.iter().zip(&given.written).filter_map(|(&s, &w)| Some((s, w?))).collect();
    let shown = |e: Expr| g.substitute(&[e], &back)[0];
    let u: Vec<Expr> = form.pairs.iter().map(|&(_, at)| given.symbols[at]).collect();
    let slopes = g.gradient(given.lagrangian, &u);
    let H = form.legendre.hamiltonian;
    let by_operator = g.gradient(H, &given.symbols);
    // ∂H/∂q + Σ w*[∂H/∂w] by coordinate.
    let mut sides = vec![g.zero(); model.coordinates.len()];
    for (at, &(k, operator)) in given.problem.operators.iter().enumerate() {
        let (slope, plain) = (by_operator[at], operator == FractionalOperator::Derivative(0));
        if k >= sides.len() || slope == g.zero() {
            continue;
        }
        let part = match given.written[at].map(|w| g.node(w)) {
            None if plain => slope,
            Some(Node::Memory(kind, e, order)) if e == model.coordinates[k].position => {
                adjoint(g, kind, shown(slope), order)
            }
            _ => return Err(refused("an operator acts on a velocity")),
        };
        sides[k] = g.add(sides[k], shown(part));
    }
    let mut equations = Vec::new();
    for (k, &side) in sides.iter().enumerate() {
        use FractionalHamiltonEquation::{Equation, Rate};
        let pair = form.pairs.iter().position(|p| p.0 == k);
        equations.push(match pair.map(|i| (form.momenta[i], form.pairs[i].1)) {
            None => Equation { left: side, right: g.zero() },
            Some((p, at)) => match given.written[at].map(|w| g.node(w)) {
                Some(Node::Memory(kind, _, order)) => {
                    Equation { left: adjoint(g, kind, p, order), right: side }
                }
                _ => Rate { coordinate: k, right: g.neg(side) },
            },
        });
    }
    let pairs = |left: &[Expr], right: &[Expr]| -> Vec<(Expr, Expr)> {
        left.iter().zip(right).map(|(&l, &r)| (shown(l), shown(r))).collect()
    };
    let momenta = pairs(&form.momenta, &slopes);
    let multipliers = pairs(&model.results.mu, &form.legendre.multipliers);
    let hamiltonian = shown(H);
    let velocities = pairs(&u, &form.legendre.velocities);
    Ok(Some(FractionalHamilton {
        model: workspace,
        momenta,
        multipliers,
        hamiltonian,
        velocities,
        equations,
    }))
}
