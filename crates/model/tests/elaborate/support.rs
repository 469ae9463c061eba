//! Reading models and their values at a point.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, NoFiles, Overrides, Source, Workspace, read_model};

pub(crate) fn read_with(text: &str, overrides: &Overrides) -> Workspace {
    match read_model(Source::new("m.pfaff", text), overrides, &NoFiles) {
        Ok((model, _)) => model.workspace(),
        Err(errors) => panic!("{errors}"),
    }
}

pub(crate) fn read(text: &str) -> Workspace {
    read_with(text, &Overrides::default())
}

pub(crate) fn gallery(name: &str) -> Workspace {
    let path = format!("{}/tests/models/{name}.pfaff", env!("CARGO_MANIFEST_DIR"));
    read(&std::fs::read_to_string(path).expect("the model is in the repository"))
}

/// A value for every symbol: parameters have theirs, the others a fixed one that looks random.
pub(crate) fn value_of(model: &Workspace, s: Expr) -> f64 {
    if let Some(p) = model.parameters.iter().find(|p| p.symbol == s) {
        return p.value;
    }
    let text = model.graph.symbol_of(s).expect("a symbol").text();
    let hash = text.bytes().fold(17_u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b)));
    0.2 + (hash % 1009) as f64 / 1009.0
}

pub(crate) fn evaluate(model: &Workspace, e: Expr) -> f64 {
    model.graph.evaluate(&[e], &|s| value_of(model, s))[0]
}

pub(crate) fn lagrangian(model: &Workspace) -> Expr {
    match &model.dynamics {
        Dynamics::Lagrangian { lagrangian, .. } => *lagrangian,
        Dynamics::Equations(_) => panic!("a lagrangian was given"),
    }
}

/// Positions and velocities at the point of [`value_of`].
pub(crate) fn state(model: &Workspace) -> (Vec<f64>, Vec<f64>) {
    let q = model.coordinates.iter().map(|c| value_of(model, c.position)).collect();
    let v = model.coordinates.iter().map(|c| value_of(model, c.velocity)).collect();
    (q, v)
}

/// Rounding only: the same formula in another order of operations.
pub(crate) fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} is not {b}");
}

pub(crate) fn close_all(model: &Workspace, exprs: &[Expr], expected: &[f64]) {
    assert_eq!(exprs.len(), expected.len());
    for (&e, &x) in exprs.iter().zip(expected) {
        close(evaluate(model, e), x);
    }
}

pub(crate) fn constraints(model: &Workspace) -> Vec<(String, Expr)> {
    model.constraints.iter().map(|c| (c.name.clone(), c.expr)).collect()
}

pub(crate) fn names(model: &Workspace) -> Vec<&str> {
    model.constraints.iter().map(|c| c.name.as_str()).collect()
}
