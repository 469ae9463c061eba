//! `pfaff geometry`: the geometry of a model as symbols, and as numbers at a state.
//!
//! What is symbolic comes from `mechanics`; here it gets names, values and its place in the report. Every
//! tensor is a [`Block`]: text, LaTeX and JSON show all blocks in the same manner.

pub(crate) mod block;
mod blocks;
mod curve;
mod fractional;
mod lift;
mod point;
pub(crate) mod ranks;
mod trace;

use crate::model::Model;
use pfaff_expr::Expr;
use pfaff_mechanics::{
    Abnormal, Class, Distribution, Equations, Flag, Geometry, Momentum, NoMetric, Obstacle,
    abnormal, generates_everywhere, geometry as derive_geometry, integrals, momenta,
};
use pfaff_model::{Declarations, Dynamics as ModelDynamics, Principle, Workspace, closest};

use crate::analysis::forms::{self, Parts, Point, WORTH_WRITING};
use crate::derivation::{Derivation, derive, derive_in};
use crate::error::{Error, Failure};
use crate::problem::state::State;
use crate::system::compiled::Dynamics;

pub use curve::{CurveKind, curve};
pub use fractional::{FractionalGeometry, fractional_geometry};
pub use lift::{Path, lift};
pub use trace::Trace;

pub use block::{Block, Letter, Repeats};
use point::{Growth, Place};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct GeometryRequest {
    /// The dependent coordinates by index; found by themselves if not given. See [`named_coordinates`].
    pub dependent: Option<Vec<usize>>,
    /// Where the tensors get numbers. See [`Point::parse`].
    pub state: Option<Point>,
}

/// The geometry of a model, ready to be shown.
#[derive(Clone, Debug)]
pub struct GeometryReport {
    /// The model, in whose graph the expressions are.
    pub model: Workspace,
    /// Names of the base coordinates.
    pub base: Vec<String>,
    /// Names of the dependent coordinates.
    pub dependent: Vec<String>,
    /// Why the constraints and the metric are not those of a system of Chaplygin.
    pub obstacle: Option<String>,
    /// A dependent coordinate, or `t`, in the Lagrangian: then the motion is not one on the base.
    pub held: Option<String>,
    /// Why there is no connection.
    pub unmetric: Option<&'static str>,
    /// What kind of torsion the connection has.
    pub torsion: Option<&'static str>,
    /// The tensors.
    pub blocks: Vec<Block>,
    /// `None` where constraints are nonlinear.
    pub distribution: Option<DistributionReport>,
    /// Momenta under the principle of the model.
    pub momenta: Vec<Momentum>,
    /// Entries of the parts beside this one that are no tensors, and what is worth knowing of them.
    pub parts: Parts,
    /// The parts that text and LaTeX show.
    pub shown: Vec<&'static str>,
    /// Whether the numbers are those of a given state.
    pub at_state: bool,
    /// What is worth knowing beside the result.
    pub notes: Vec<String>,
}

/// What is true of the distribution, at a generic point or at the state.
#[derive(Clone, Debug)]
pub struct DistributionReport {
    /// The growth vector.
    pub growth: Vec<usize>,
    /// The dimension of the space.
    pub dimension: usize,
    /// Whether the brackets were followed to their end.
    pub complete: bool,
    /// What can be reached; `None` where the brackets were not followed to their end.
    pub reach: Option<Reach>,
    /// Whether $F = 0$ everywhere.
    pub integrable: bool,
    /// A bracket that leaves the distribution, with its components.
    pub witness: Option<(String, Vec<(String, Expr)>)>,
    /// How many positions the constraints keep, and those that were found.
    pub kept: (usize, Vec<Expr>),
    /// Directions of abnormal curves, where they were looked for.
    pub abnormal: Option<Abnormal>,
}

/// Which points the constraints allow to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every point: brackets of the free velocities span all directions everywhere.
    Every,
    /// Every point near the state, or near a generic point.
    Near,
    /// Points that fill an open set, but only brackets with the drift span all directions: it may keep others out of
    /// reach.
    Interior,
    /// Points of a leaf of fewer dimensions.
    Leaf,
}

impl Reach {
    /// Its word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::Near => "near",
            Self::Interior => "interior",
            Self::Leaf => "leaf",
        }
    }
}

/// The geometry of a model: connections and distributions, or its foliation where constraints are nonlinear.
///
/// # Errors
///
/// [`Error`] says what is wrong.
pub fn geometry(model: &Model, request: &GeometryRequest) -> Result<GeometryReport, Error> {
    geometry_with(model, request, &["riemann"])
}

/// As [`geometry`], with these [`PARTS`](crate::PARTS).
///
/// # Errors
///
/// As [`geometry`].
pub fn geometry_with(
    model: &Model,
    request: &GeometryRequest,
    parts: &[&'static str],
) -> Result<GeometryReport, Error> {
    geometry_of(&derive(model, Some(Principle::Chetaev))?, request, parts)
}

/// As [`geometry_with`], of equations that were derived by the principle of Chetaev.
///
/// # Errors
///
/// [`Error`] says what is wrong.
pub fn geometry_of(
    derivation: &Derivation,
    request: &GeometryRequest,
    parts: &[&'static str],
) -> Result<GeometryReport, Error> {
    geometry_in(derivation, request, parts)
        .map_err(|failure| failure.in_source(&derivation.model.source))
}

fn geometry_in(
    derivation: &Derivation,
    request: &GeometryRequest,
    parts: &[&'static str],
) -> Result<GeometryReport, Failure> {
    let model = &derivation.workspace();
    let shown = parts;
    let Dynamics::Saddle(equations) = &derivation.dynamics else {
        let message = "an `equation` model has no Lagrangian, and so no geometry";
        return Err(Failure::usage(message));
    };
    let dependent = &request.dependent;
    let place = request.state.clone();
    let state = place.as_ref().map(|point| point.state(model));
    let nonlinear = equations.classes.contains(&Class::Nonlinear);
    let shown = if nonlinear && shown == ["riemann"] { &["foliation"] } else { shown };
    let parts = if shown == ["riemann"] {
        Parts::default()
    } else {
        forms::parts(model, equations, dependent.as_deref(), place, shown)?
    };
    // NOTE: without a distribution the other parts remain.
    if nonlinear || !shown.contains(&"riemann") {
        let report = without_distribution(model, parts, state.is_some(), nonlinear);
        return Ok(GeometryReport { shown: shown.to_vec(), ..report });
    }
    let found = derive_geometry(model, equations, dependent.as_deref())?;
    let place = match &state {
        Some(state) => Some(point::growth_at(model, equations, state)?),
        None => None,
    };
    let momenta = if model.principle == Principle::Chetaev {
        momenta(model, equations)
    } else {
        match derive_in(model, None) {
            Ok(Dynamics::Saddle(equations)) => momenta(model, &equations),
            _ => Vec::new(),
        }
    };
    let mut parts = parts;
    let mut report = report(model, equations, &found, state.as_ref(), place);
    report.blocks.append(&mut parts.blocks);
    Ok(GeometryReport { momenta, parts, shown: shown.to_vec(), ..report })
}

/// The indices of coordinates, given by names with commas between them.
///
/// # Errors
///
/// [`Error::Usage`] names what is no coordinate.
pub fn named_coordinates(model: &Declarations, text: &str) -> Result<Vec<usize>, Error> {
    let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let parts = crate::analysis::variations::split(text);
    let wanted = parts.iter().map(|p| p.trim()).filter(|p| !p.is_empty());
    wanted
        .map(|name| {
            names.iter().position(|n| *n == name).ok_or_else(|| {
                let hint = closest(name, &names)
                    .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                Error::Usage(format!("`{name}` is not a coordinate of the model{hint}"))
            })
        })
        .collect()
}

fn report(
    model: &Workspace,
    equations: &Equations,
    found: &Geometry,
    state: Option<&State>,
    place: Option<Place>,
) -> GeometryReport {
    let g = &model.graph;
    let name = |&k: &usize| model.coordinates[k].name.clone();
    let mut blocks = blocks::blocks(model, found);
    let mut notes = Vec::new();
    if let Some(state) = state {
        let at = point::symbol(model, state);
        for block in &mut blocks {
            block.values = Some(g.evaluate(&block.tensor.entries, &at));
        }
        let infinite = |b: &Block| b.values.iter().flatten().any(|x| !x.is_finite());
        if let Some(block) = blocks.iter().find(|b| infinite(b)) {
            notes.push(format!(
                "at this state {} is infinite or not a number: other dependent coordinates may help",
                block.heading
            ));
        }
    }
    let torsion = found.connection.as_ref().ok().map(|c| torsion_kind(g, c));
    GeometryReport {
        base: found.split.base.iter().map(name).collect(),
        dependent: found.split.dependent.iter().map(name).collect(),
        obstacle: found.obstacle.as_ref().map(obstacle_text),
        held: held(model, &found.split.dependent),
        unmetric: found.connection.as_ref().err().map(|&why| unmetric_text(why)),
        torsion,
        blocks,
        distribution: Some(distribution_report(model, equations, found, place)),
        momenta: Vec::new(),
        parts: Parts::default(),
        shown: vec!["riemann"],
        at_state: state.is_some(),
        notes,
        // NOTE: last, so that it has all that the other fields name.
        model: model.clone(),
    }
}

/// A report of the other parts alone.
fn without_distribution(
    model: &Workspace,
    mut parts: Parts,
    at_state: bool,
    nonlinear: bool,
) -> GeometryReport {
    let name = |&k: &usize| model.coordinates[k].name.clone();
    GeometryReport {
        base: parts.transverse.iter().map(name).collect(),
        dependent: parts.leaf.iter().map(name).collect(),
        obstacle: None,
        held: None,
        unmetric: None,
        torsion: None,
        blocks: std::mem::take(&mut parts.blocks),
        distribution: None,
        momenta: Vec::new(),
        parts,
        shown: Vec::new(),
        at_state,
        notes: if nonlinear {
            vec!["a constraint is nonlinear in the velocities: there is no distribution, and so no growth \
                vector, connection or torsion".into()]
        } else {
            Vec::new()
        },
        model: model.clone(),
    }
}

/// The parts that a text names, with commas between them; `all` means every one.
///
/// # Errors
///
/// [`Error::Usage`] names what is no part.
pub fn geometry_parts(text: &str) -> Result<Vec<&'static str>, Error> {
    let mut parts = Vec::new();
    for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        match forms::PARTS.iter().find(|p| **p == word) {
            Some(part) => parts.push(*part),
            None if word == "all" => parts.extend(forms::PARTS),
            None => {
                return Err(Error::Usage(format!(
                    "there is no part `{word}`; choose from {} or all",
                    forms::PARTS.join(", ")
                )));
            }
        }
    }
    Ok(parts)
}

/// The first dependent coordinate in the Lagrangian, or `t`.
fn held(model: &Workspace, dependent: &[usize]) -> Option<String> {
    let ModelDynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
    let contains = |symbol: Expr| model.graph.contains(lagrangian, &[symbol]);
    let coordinates = dependent.iter().map(|&k| &model.coordinates[k]);
    let inside = coordinates.filter(|c| contains(c.position)).map(|c| c.name.clone()).next();
    inside.or_else(|| contains(model.time).then(|| "t".to_owned()))
}

fn obstacle_text(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Contains { coefficient, name } => {
            format!("the coefficient {coefficient} contains `{name}`")
        }
        Obstacle::Drift { name } => {
            format!("the constraint for `{name}'` has a part without velocities")
        }
    }
}

fn unmetric_text(why: NoMetric) -> &'static str {
    match why {
        NoMetric::NotQuadratic => "the Lagrangian is not quadratic in the velocities",
        NoMetric::Singular => "the metric of the Lagrangian is singular on the distribution",
        NoMetric::Timely => "the metric or a coefficient of the constraints contains t",
    }
}

/// `zero`, `totally antisymmetric` or `general`.
fn torsion_kind(g: &pfaff_expr::Graph, c: &pfaff_mechanics::Connection) -> &'static str {
    let m = c.metric.shape[0];
    let lowered = |σ: usize, μ: usize, ν: usize| {
        g.sub(c.lowered.at(&[σ, μ, ν]), c.lowered.at(&[σ, ν, μ]))
    };
    let all = |test: &dyn Fn(usize, usize, usize) -> bool| {
        (0..m).all(|σ| (0..m).all(|μ| (0..m).all(|ν| test(σ, μ, ν))))
    };
    if all(&|σ, μ, ν| g.is_zero(lowered(σ, μ, ν))) {
        "zero"
    } else if all(&|σ, μ, ν| g.is_zero(g.add(lowered(σ, μ, ν), lowered(μ, σ, ν)))) {
        "totally antisymmetric"
    } else {
        "general"
    }
}

fn distribution_report(
    model: &Workspace,
    equations: &Equations,
    found: &Geometry,
    place: Option<Place>,
) -> DistributionReport {
    let g = &model.graph;
    let distribution = g.merging(|| Distribution::new(model, &found.split));
    let flag: Flag = distribution.flag(g);
    let dimension = distribution.dimension();
    let lost = if flag.complete { dimension - flag.closure_rank() } else { 0 };
    let functions =
        if lost > 0 { g.merging(|| integrals(g, &distribution, &flag)) } else { Vec::new() };
    let witness = flag.levels.get(1).and_then(|l| l.first()).map(|b| {
        let mut names: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
        names.push("t".into());
        // NOTE: a large bracket is named, and its components are left out.
        let field: &[Expr] = if g.size(&b.field) > WORTH_WRITING { &[] } else { &b.field };
        let parts = names.into_iter().zip(field).map(|(n, &e)| (n, g.simplify(e)));
        (distribution.text(&b.word), parts.filter(|(_, e)| *e != g.zero()).collect())
    });
    let plain = dimension == model.coordinates.len();
    let abnormal = (plain && flag.complete && !found.split.dependent.is_empty()).then(|| {
        g.merging(|| {
            abnormal(g, &distribution, &flag, &found.bundle_curvature, &equations.jacobian)
        })
    });
    let integrable = flag.levels.len() == 1;
    let Place { growth, free } = place.unwrap_or_else(|| {
        let free = distribution.without_drift();
        Place {
            growth: Growth::generic(&distribution, &flag),
            free: free.map(|d| Growth::generic(&d, &d.flag(g))),
        }
    });
    let reach = reach(model, equations, &growth, free.as_ref());
    let Growth { ranks: growth, dimension, complete } = growth;
    DistributionReport {
        growth,
        dimension,
        complete,
        reach,
        integrable,
        witness,
        kept: (lost, functions),
        abnormal,
    }
}

/// What can be reached, from the ranks of all brackets and of those without the drift, if there is one.
fn reach(
    model: &Workspace,
    equations: &Equations,
    all: &Growth,
    free: Option<&Growth>,
) -> Option<Reach> {
    let controlled = free.unwrap_or(all);
    if !all.complete || !controlled.complete {
        return None;
    }
    Some(match (controlled.is_full(), all.is_full()) {
        (true, _) if generates_everywhere(model, equations) => Reach::Every,
        (true, _) => Reach::Near,
        (false, true) => Reach::Interior,
        (false, false) => Reach::Leaf,
    })
}
