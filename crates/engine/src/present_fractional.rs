//! The equations of an extremum with memory, as `derive` shows them.

use crate::model::Model;
use pfaff_expr::{Expr, Node};
use pfaff_mechanics::{Refusal, adjoint, fractional_equations};
use pfaff_model::{Dynamics, Principle};
use pfaff_solver::FractionalOperator;

use crate::error::{Error, Failure};
use crate::present::{Label, Line, Presentation, Section};
use crate::run::variational::{Formulation, Hamilton, is_fractional};

/// Lays out the Euler–Lagrange equations of a model with memory between given ends; `None` for any other
/// model or principle.
///
/// # Errors
///
/// [`Error`] if an operator stands where no adjoint is known.
pub fn present_fractional(
    model: &Model,
    principle: Option<Principle>,
) -> Result<Option<Presentation>, Error> {
    let model = &model.workspace();
    let principle = principle.unwrap_or(model.principle);
    let vakonomic = principle == Principle::Vakonomic || model.constraints.is_empty();
    if !is_fractional(model) || !vakonomic {
        return Ok(None);
    }
    let g = &model.graph;
    let equations = fractional_equations(model)
        .map_err(|refusal| Failure::from(refusal).in_source(&model.source))?;
    let n = model.coordinates.len();
    let entry = |text: &'static str, latex: &'static str, k: usize, right: Expr| Line {
        label: Label::Entry { text, latex, indices: vec![model.coordinates[k].name.clone()] },
        right,
    };
    let zero = g.zero();
    let has = |k: usize| equations.momenta[k] != zero;
    let momenta = (0..n).filter(|&k| has(k)).map(|k| entry("p", "p", k, equations.momenta[k]));
    let rates = (0..n).map(|k| {
        let right = equations.rates[k];
        if has(k) {
            entry("p'", "\\dot p", k, right)
        } else {
            Line { label: Label::Expression(right), right: zero }
        }
    });
    let constraint =
        |c: &pfaff_model::Constraint| Line { label: Label::Expression(c.expr), right: zero };
    let vanishing = |list: &[Expr]| -> Vec<Line> {
        let lines = list.iter().filter(|e| **e != zero);
        lines.map(|&e| Line { label: Label::Expression(e), right: zero }).collect()
    };
    let sections = vec![
        Section { key: "momenta", heading: "Momenta", lines: momenta.collect() },
        Section {
            key: "equations",
            heading: "Euler–Lagrange equations",
            lines: rates.collect(),
        },
        Section {
            key: "constraints",
            heading: "Constraints",
            lines: model.constraints.iter().map(constraint).collect(),
        },
        Section {
            key: "natural",
            heading: "Where a position is free at an end",
            lines: vanishing(&equations.natural),
        },
        Section {
            key: "natural_velocity",
            heading: "Where a velocity is free at an end",
            lines: vanishing(&equations.natural_velocity),
        },
    ];
    let remarks = vec![
        "rl and rl_right of negative order are fractional integrals; operators from the right look at the future, so the equations join two ends".to_owned(),
    ];
    Ok(Some(Presentation::of(model, Some(principle), sections, remarks)))
}

/// Lays out Hamilton's form of a model with memory between given ends; `None` for any other model or principle.
///
/// # Errors
///
/// [`Error`] says which hypothesis of the form fails.
pub fn present_fractional_hamilton(
    model: &Model,
    principle: Option<Principle>,
) -> Result<Option<Presentation>, Error> {
    let model = &model.workspace();
    let principle = principle.unwrap_or(model.principle);
    let vakonomic = principle == Principle::Vakonomic || model.constraints.is_empty();
    if !is_fractional(model) || !vakonomic {
        return Ok(None);
    }
    let Dynamics::Lagrangian { span, .. } = model.dynamics else { return Ok(None) };
    let refused = |what: &'static str| {
        Failure::from(Refusal::NoHamilton { what, span }).in_source(&model.source)
    };
    let g = &model.graph;
    // The length of the interval does not enter the equations.
    let given = Formulation::new(model, 1.0)
        .map_err(|mistakes| Failure::Model(mistakes).in_source(&model.source))?;
    if !given.operands.is_empty() {
        return Err(refused(
            "an operand of memory is not linear in the coordinates with constant coefficients; a run solves it in this form all the same",
        ));
    }
    let form = Hamilton::new(model, &given).map_err(refused)?;
    let back: Vec<(Expr, Expr)> =
        given.symbols.iter().zip(&given.written).filter_map(|(&s, &w)| Some((s, w?))).collect();
    let shown = |e: Expr| g.substitute(&[e], &back)[0];
    let line = |left: Expr, right: Expr| Line { label: Label::Expression(left), right };
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
    for (k, c) in model.coordinates.iter().enumerate() {
        let pair = form.pairs.iter().position(|p| p.0 == k);
        equations.push(match pair.map(|i| (form.momenta[i], form.pairs[i].1)) {
            None => line(sides[k], g.zero()),
            Some((p, at)) => match given.written[at].map(|w| g.node(w)) {
                Some(Node::Memory(kind, _, order)) => {
                    line(adjoint(g, kind, p, order), sides[k])
                }
                _ => {
                    let indices = vec![c.name.clone()];
                    let label = Label::Entry { text: "p'", latex: "\\dot p", indices };
                    Line { label, right: g.neg(sides[k]) }
                }
            },
        });
    }
    let pairs = |left: &[Expr], right: &[Expr]| -> Vec<Line> {
        left.iter().zip(right).map(|(&l, &r)| line(shown(l), shown(r))).collect()
    };
    let section = |key, heading, lines| Section { key, heading, lines };
    let hamiltonian = Label::Entry { text: "H", latex: "\\mathcal H", indices: Vec::new() };
    let sections = vec![
        section("momenta", "Momenta p = d(L - mu*phi)/du", pairs(&form.momenta, &slopes)),
        section(
            "multipliers",
            "Multipliers in them",
            pairs(&model.results.mu, &form.legendre.multipliers),
        ),
        section(
            "hamiltonian",
            "Hamiltonian",
            vec![Line { label: hamiltonian, right: shown(H) }],
        ),
        section("velocities", "Velocities u", pairs(&u, &form.legendre.velocities)),
        section("equations", "Equations of the momenta", equations),
    ];
    let remarks = vec![
        "u is the operator of the highest order on each coordinate; rl_right looks at the future, so the equations join two ends".to_owned(),
    ];
    Ok(Some(Presentation::of(model, Some(principle), sections, remarks)))
}
