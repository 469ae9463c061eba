//! What `check` tells: degrees of freedom, classes, integrability, regularity.

use crate::model::Model;
use pfaff_expr::Graph;
use pfaff_mechanics::{Class, Equations, Refusal, classify, integrable, ranks};
use pfaff_model::{Dynamics as Written, Principle, Workspace};
use pfaff_program::Backend;

use crate::derivation::{Derivation, derive_in, derive_shortest_in};
use crate::problem::start::{Start, given, start};
use crate::run::variational::is_fractional;
use crate::system::compiled::Dynamics;
use crate::system::kkt::Kkt;
use crate::system::projection::{project, project_velocities};

/// A model at a glance.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// `title`, or the name of the text.
    pub title: String,
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// Coordinates minus independent constraints.
    pub degrees_of_freedom: usize,
    /// Whether accelerations are determined at almost every state; `None` where that is not known.
    pub regular: Option<bool>,
    /// One after another.
    pub constraints: Vec<ConstraintReport>,
    /// Names of the variables of first order (`state`, and what a sampled `control` holds).
    pub states: Vec<String>,
    /// Names of the modes; the constraints are those of the first.
    pub modes: Vec<String>,
    /// Names of the contacts, each with its law of impact.
    pub contacts: Vec<(String, &'static str)>,
    /// Names of the joints with friction that carry in several directions.
    pub joints: Vec<String>,
    /// Coordinates that white forces act on.
    pub noises: Vec<String>,
    /// Whether a run looks for an extremum with memory between given ends, so that no initial value problem
    /// is asked for.
    pub between_ends: bool,
    /// Kernels of `memory`, each with how its past is kept.
    pub kernels: Vec<(String, String)>,
    /// Why there are no equations of motion (yet), if there are none.
    pub refusal: Option<Refusal>,
    /// Whether there are so many coordinates that ranks are those near the initial state, and integrability is not
    /// tested.
    pub is_large: bool,
}

/// Coordinates from which on matrices of expressions are not examined.
const LARGE: usize = 100;

/// A constraint at a glance.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintReport {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: Class,
    /// Whether holonomy had to be left undecided.
    pub undecided: bool,
    /// Whether it comes from positions alone; `None` where that could not be decided.
    pub integrable: Option<bool>,
    /// Orders of its memory operators, ascending and each once; none for kernels and means.
    pub orders: Vec<f64>,
}

/// Surveys a model.
pub fn check(model: &Model) -> CheckReport {
    let workspace = model.workspace();
    let derive = if model.coordinates.len() > LARGE { derive_shortest_in } else { derive_in };
    let dynamics = derive(&workspace, Some(Principle::Chetaev));
    report(&workspace, dynamics.as_ref())
}

/// As [`check`], of equations that were derived by the principle of Chetaev.
pub fn check_of(derivation: &Derivation) -> CheckReport {
    report(&derivation.workspace(), Ok(&derivation.dynamics))
}

fn report(model: &Workspace, dynamics: Result<&Dynamics, &Refusal>) -> CheckReport {
    let title = model.name().to_owned();
    let n = model.coordinates.len();
    let velocities = model.velocities();
    let is_large = n > LARGE;
    let mut constraints: Vec<ConstraintReport> = model
        .constraints
        .iter()
        .enumerate()
        .map(|(a, c)| {
            let (class, undecided) = match dynamics {
                Ok(Dynamics::Saddle(e)) => (e.classes[a], e.undecided.contains(&a)),
                Ok(Dynamics::Ordinary(_)) | Err(_) => {
                    classify(&model.graph, c.expr, &velocities)
                }
            };
            let integrable = (class == Class::Holonomic).then_some(true);
            let orders = crate::run::volterra::orders(model, c.expr);
            ConstraintReport { name: c.name.clone(), class, undecided, integrable, orders }
        })
        .collect();
    let (mut regular, mut degrees_of_freedom, mut refusal) = (None, n, None);
    match dynamics {
        Ok(Dynamics::Saddle(equations)) if is_large => {
            let found = on_the_constraints(model, equations);
            let rank = found.as_ref().map_or(constraints.len(), |found| found.rank);
            regular = found.map(|found| found.regular);
            degrees_of_freedom = n - rank.min(n);
        }
        Ok(Dynamics::Saddle(equations)) => {
            let rank = ranks(model, equations);
            regular = Some(rank.regular);
            degrees_of_freedom = rank.degrees_of_freedom;
            if equations.position.iter().any(Option::is_some)
                && let Some(found) = on_the_constraints(model, equations)
                && n - found.rank > degrees_of_freedom
            {
                degrees_of_freedom = n - found.rank;
                regular = Some(found.regular);
            }
            for (row, verdict) in constraints.iter_mut().zip(integrable(model, equations)) {
                row.integrable = verdict;
            }
        }
        Ok(Dynamics::Ordinary(ordinary)) => {
            // NOTE: fractional orders are planned by the run, which says if they determine the motion.
            let has_memory = ordinary.residual.iter().any(|&e| model.graph.has_memory(e));
            let g = &model.graph;
            let is_regular = || match ordinary.own_unknowns() {
                Some(own) => !own.into_iter().any(|(_, e)| g.is_zero(e)),
                None => g.rank(&ordinary.full_jacobian(g)) == n,
            };
            regular = (!has_memory).then(is_regular);
        }
        Err(why) => {
            degrees_of_freedom = n - independent(&model.graph, model);
            refusal = Some(why.clone());
        }
    }
    let between_ends = is_fractional(model);
    if between_ends {
        (regular, refusal) = (None, None);
    }
    let mut rates = model.constraints.iter().map(|c| c.is_rate);
    constraints.retain(|_| rates.next() != Some(true));
    let states = model.coordinates.iter().filter(|c| c.is_state);
    let contacts = model.hybrid.contacts.iter();
    CheckReport {
        title,
        states: states.map(|c| c.name.clone()).collect(),
        modes: model.hybrid.modes.clone(),
        contacts: contacts.map(|c| (c.name.clone(), c.law.name())).collect(),
        joints: model.hybrid.joints.iter().map(|joint| joint.name.clone()).collect(),
        noises: model
            .noises
            .iter()
            .map(|noise| model.coordinates[noise.coordinate].name.clone())
            .collect(),
        coordinates: model
            .coordinates
            .iter()
            .filter(|c| !c.is_state)
            .map(|c| c.name.clone())
            .collect(),
        degrees_of_freedom,
        regular,
        constraints,
        between_ends,
        kernels: crate::run::volterra::kernels(model),
        refusal,
        is_large,
    }
}

struct Found {
    rank: usize,
    regular: bool,
}

/// The rank at states that satisfy the holonomic constraints: there more rows may repeat others than in general.
///
/// The initial state and neighbours along random admissible directions; the largest rank counts.
fn on_the_constraints(model: &Workspace, equations: &Equations) -> Option<Found> {
    let mut kkt = Kkt::new(model, equations, Backend::Interpreter).ok()?;
    let t0 = model.solve.range.map_or(0.0, |(t0, _)| t0);
    let Start { q, v, .. } = start(model, &mut kkt, t0, &given(model, t0)).ok()?;
    let mut best: Option<Found> = None;
    for trial in 0..4 {
        let mut at = (q.clone(), v.clone());
        kkt.active.fill(true);
        kkt.evaluate(t0, &q, &v, &[]);
        kkt.decide();
        if trial > 0 {
            let seed = f64::from(trial);
            at.1.iter_mut()
                .enumerate()
                .for_each(|(k, v)| *v += libm::sin(seed + 1.7 * k as f64));
            project_velocities(&mut kkt, t0, &q, &mut at.1, &[]).ok()?;
            at.0.iter_mut().zip(&at.1).zip(&v).for_each(|((q, v), v0)| *q += 0.03 * (v - v0));
            if project(&mut kkt, t0, &mut at.0, &mut at.1, &[]).is_err() {
                continue;
            }
        }
        kkt.active.fill(true);
        kkt.evaluate(t0, &at.0, &at.1, &[]);
        kkt.decide();
        let rank = kkt.active.iter().filter(|&&a| a).count();
        if best.as_ref().is_none_or(|b| rank > b.rank) {
            best = Some(Found { rank, regular: kkt.solve().is_ok() });
        }
    }
    best
}

/// How many constraints are independent, memory terms held fixed.
fn independent(g: &Graph, model: &Workspace) -> usize {
    if matches!(model.dynamics, Written::Equations(_)) {
        return 0;
    }
    let (q, v) = (model.positions(), model.velocities());
    let rows: Vec<_> = model
        .constraints
        .iter()
        .map(|c| match classify(g, c.expr, &v).0 {
            Class::Holonomic => g.gradient(c.expr, &q),
            Class::Linear | Class::Affine | Class::Nonlinear | Class::Memory => {
                g.gradient(c.expr, &v)
            }
        })
        .collect();
    g.rank(&rows)
}

impl Model {
    /// Degrees of freedom, the class of each constraint, integrable or not, regular or not.
    pub fn check(&self) -> CheckReport {
        check(self)
    }
}
