//! Parts of a model that the chosen principle has no use for: multipliers of another principle, and `along`.

use pfaff_model::{Diagnostic, Principle, Workspace};

use crate::error::Failure;
use crate::motion::note::Note;
use crate::system::compiled::Dynamics;

/// What is observed through multipliers that the principle does not have is noted; events that watch them are refused.
pub(crate) fn unused_multipliers(
    model: &Workspace,
    dynamics: &Dynamics,
) -> Result<Vec<Note>, Failure> {
    let Dynamics::Saddle(equations) = dynamics else { return Ok(Vec::new()) };
    let results = &model.results;
    let (word, unknown) = match equations.principle {
        Principle::Vakonomic => ("lambda", results.lambda.clone()),
        Principle::Chetaev | Principle::Restricted => {
            ("mu", [results.mu.clone(), results.mu_rate.clone()].concat())
        }
    };
    let name = equations.principle.name();
    let foreign = |e: pfaff_expr::Expr| model.graph.contains(e, &unknown);
    let refused = |e: &pfaff_model::Event| {
        let message = format!(
            "`event {}` watches {word}, which the principle `{name}` does not have",
            e.name
        );
        Diagnostic::error("E0611", e.span, message)
    };
    let refusals: Vec<Diagnostic> =
        model.events.iter().filter(|e| foreign(e.expr)).map(refused).collect();
    if !refusals.is_empty() {
        return Err(Failure::Model(refusals));
    }
    let remark = |o: &pfaff_model::Observed| {
        Note::Remark(format!(
            "`{}` has no value: it contains {word}, which the principle `{name}` does not have",
            o.name
        ))
    };
    Ok(model.observed.iter().filter(|o| foreign(o.expr)).map(remark).collect())
}

/// `along` is a rule for reactions that only Chetaev's principle leaves open.
pub(crate) fn without_along(model: &Workspace, principle: Option<Principle>) -> Vec<Note> {
    let principle = principle.filter(|p| *p != Principle::Chetaev);
    let Some(principle) = principle else { return Vec::new() };
    let given = model.constraints.iter().filter(|c| c.along.is_some());
    let remark = |name: &str| {
        Note::Remark(format!(
            "`along` of `{name}` is not used: the principle `{}` gives the reaction by itself",
            principle.name()
        ))
    };
    given.map(|c| remark(&c.name)).collect()
}
