//! The geometry of the constraints, as far as a page has room for it: split, growth vector, curvature, metric
//! and torsion.

use std::fmt::Write;

use pfaff_expr::{Expr, escape_markup as escape};
use pfaff_mechanics::Class;

use super::Report;
use super::formulas::formulas_within;
use crate::equations::headings;
use crate::geometry::{conventions, excerpt};
use pfaff::{Dynamics, GeometryRequest, geometry_of};

/// The most coordinates: brackets of longer chains of bodies may take seconds.
const COORDINATES: usize = 7;
/// The most nodes of masses and constraints together: beyond them connections take more than a second.
const NODES: usize = 250;
/// Bytes of formulas.
const ROOM: usize = 60_000;
/// Characters of a sentence: a bracket may be a page long.
const SENTENCE: usize = 240;
/// What is shown of the tensors.
const SHOWN: [&str; 5] = ["epsilon", "drift", "bundle_curvature", "metric", "torsion"];

/// The section; empty without constraints that are linear or affine in the velocities.
pub(crate) fn geometry(report: &Report<'_>) -> String {
    let model = report.model;
    let Some(derivation) = report.chetaev() else { return String::new() };
    let Dynamics::Saddle(equations) = &derivation.dynamics else { return String::new() };
    let bound = |c: &Class| matches!(c, Class::Linear | Class::Affine);
    let strange = |c: &Class| matches!(c, Class::Nonlinear | Class::Memory);
    if !equations.classes.iter().any(bound) || equations.classes.iter().any(strange) {
        return String::new();
    }
    let command = format!("pfaff geometry {}", report.name);
    let parts = equations.mass.iter().chain(&equations.jacobian);
    let parts: Vec<Expr> = parts.flatten().copied().collect();
    let size = derivation.workspace().graph.size(&parts);
    if model.coordinates.len() > COORDINATES || size > NODES {
        return format!(
            "<p>The tensors of this model are large: <code>{}</code> computes split, growth vector, metric, \
             curvature and torsion.</p>",
            escape(&command)
        );
    }
    let request = GeometryRequest::default();
    let Ok(found) = geometry_of(&derivation, &request, &["riemann"]) else {
        return String::new();
    };
    let (sentences, blocks) = excerpt(&found, &SHOWN);
    let typeset = |line| headings::html(line, &|c| blocks.has_letter(c));
    let conventions = conventions().map(typeset).join("; ");
    let mut out = String::from("<ul>");
    for sentence in &sentences {
        let sentence = sentence.trim();
        let short: String = sentence.chars().take(SENTENCE).collect();
        let more = if short.len() < sentence.len() { " …" } else { "" };
        let _ = write!(out, "<li>{}{more}</li>", escape(&short));
    }
    out += "</ul>";
    out += &formulas_within(&blocks, ROOM, &command);
    let _ = write!(
        out,
        "<p class=\"signs\">conventions: {conventions}</p>\
         <p class=\"note\">Components that are not written are zero. <code>{}</code> shows \
         connections and curvatures as well.</p>",
        escape(&command)
    );
    out
}
