//! Starts for paths, when nothing is known but the ends.
//!
//! First a straight line between the ends, improved as a whole. Then momenta at the start of many directions
//! and sizes, from a sequence that is the same in every run:
//! those whose paths end nearest are moved until they arrive. If none arrives, paths are led to the end by
//! continuation. Every distinct path is kept.
//! Where a start is given, all this is tried only if it leads nowhere.

use pfaff_solver::{
    BoundaryOptions, BoundaryPath, BoundaryProblem, Scheme, continuation, flow_map, shoot,
    shooting_residual, solve_boundary,
};

use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::guess::{PathPoint, state};
use crate::run::bvp::search_budget::SearchBudget;
use crate::split_mix::SplitMix64;

/// A path between the ends.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) path: BoundaryPath,
    pub(crate) residual: f64,
    /// Where (LT) begins, for constraints that are not linear.
    pub(crate) branch: Vec<f64>,
}

/// The best start that does not arrive.
#[derive(Clone, Debug)]
pub(crate) struct Best {
    pub(crate) first: Vec<f64>,
    pub(crate) residual: f64,
    pub(crate) branch: Vec<f64>,
}

/// What a search found.
pub(crate) struct Found {
    pub(crate) paths: Vec<Candidate>,
    pub(crate) best: Option<Best>,
    /// Integrations of a whole path.
    pub(crate) integrations: usize,
}

/// Starts whose end is only looked at, in one round.
const LOOKED_AT: usize = 192;
/// Starts that are moved until they arrive, in one round.
const AIMED: usize = 20;
/// Rounds of such starts as long as nothing is found.
const ROUNDS: usize = 4;
/// Starts that are led to the end by continuation.
const PURSUED: usize = 6;
/// Residual of a start that arrived; what is left is the matter of Newton's iteration.
const ARRIVED: f64 = 1e-5;
/// Distinct paths that are kept.
const KEPT: usize = 12;
/// Pieces of a path.
pub(crate) const PIECES: usize = 8;

/// Where a search begins: a path, and whether only its first state counts.
pub(crate) type Begin = (BoundaryPath, bool);

/// Searches for all paths between the ends; from the given places alone if they lead to one.
pub(crate) fn search(
    problem: &mut Canonical,
    scheme: Scheme,
    begin: Vec<(Begin, Vec<f64>)>,
    budget: &mut SearchBudget<'_>,
) -> Found {
    let mut hunt = Hunt {
        scatter: Scatter::new(),
        found: Found { paths: Vec::new(), best: None, integrations: 0 },
        seen: Vec::new(),
        scheme,
        budget,
    };
    for (begin, branch) in begin {
        problem.branch = branch;
        hunt.begun(problem, begin);
    }
    if !hunt.found.paths.is_empty() {
        return hunt.found;
    }
    hunt.straight(problem);
    for round in 0..ROUNDS {
        hunt.round(problem, round > 0);
        if !hunt.found.paths.is_empty() || hunt.over() {
            break;
        }
    }
    if hunt.found.paths.is_empty() {
        hunt.led(problem);
    }
    hunt.found
}

struct Hunt<'a, 'b> {
    scatter: Scatter,
    found: Found,
    /// Positions along the paths that were found.
    seen: Vec<Vec<f64>>,
    scheme: Scheme,
    budget: &'a mut SearchBudget<'b>,
}

impl Hunt<'_, '_> {
    fn over(&mut self) -> bool {
        self.budget.is_over(self.found.integrations)
    }

    /// From a given place.
    fn begun(&mut self, problem: &mut Canonical, (path, start_only): Begin) {
        let first = path.first().to_vec();
        self.fallback(problem, &first);
        if !start_only {
            self.whole(problem, path);
        }
        if self.found.paths.is_empty() && !self.over() {
            self.aimed(problem, &first);
        }
    }

    /// Something to show if nothing better comes.
    fn fallback(&mut self, problem: &mut Canonical, first: &[f64]) {
        self.found.integrations += 1;
        if let Ok(far) = shooting_residual(problem, first, 1e-6) {
            self.better(problem, first.to_vec(), far);
        }
    }

    /// A path improved as a whole.
    fn whole(&mut self, problem: &mut Canonical, path: BoundaryPath) {
        let options =
            BoundaryOptions { tolerance: 1e-8, iterations: 25, ..BoundaryOptions::default() };
        self.found.integrations += PIECES;
        if let Ok(report) = solve_boundary(problem, path, &options)
            && report.converged
        {
            self.keep(problem, report.path.first().to_vec());
        }
    }

    /// A start moved until it arrives.
    fn aimed(&mut self, problem: &mut Canonical, first: &[f64]) {
        let Ok(aimed) = shoot(problem, first, ARRIVED, 40) else { return };
        self.found.integrations += aimed.integrations;
        if aimed.residual <= ARRIVED {
            self.keep(problem, aimed.first);
        } else {
            self.better(problem, aimed.first, aimed.residual);
        }
    }

    fn straight(&mut self, problem: &mut Canonical) {
        let (q0, q1, duration) = straight_ends(problem);
        let slope: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| (b - a) / duration).collect();
        for push in [0.0, 1.0, -1.0] {
            let μ = vec![push; problem.m];
            problem.branch = [slope.as_slice(), &μ].concat();
            let t0 = problem.conditions.t0;
            let path = BoundaryPath::even(PIECES, &mut |s| {
                let q: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| a + s * (b - a)).collect();
                let at = PathPoint { t: t0 + s * duration, q: &q, v: &slope, multipliers: &μ };
                state(problem, at, duration)
            });
            if self.found.best.is_none() {
                self.fallback(problem, path.first());
            }
            if self.over() {
                return;
            }
            self.whole(problem, path);
        }
    }

    /// A start of random direction and size; multipliers have their own size if they are to be `apart`.
    fn random(&mut self, problem: &mut Canonical, apart: bool) -> Vec<f64> {
        let n = problem.n;
        let (q0, q1, duration) = straight_ends(problem);
        let slope: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| (b - a) / duration).collect();
        let t0 = problem.conditions.t0;
        let size = slope.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let size = if size > 1e-9 { size } else { 1.0 / duration };
        let first: Vec<f64> = (0..n)
            .map(|k| match problem.conditions.first[k] {
                Some(x) => x,
                None => q0[k] + size * duration * self.scatter.gaussian(),
            })
            .collect();
        let radius = self.scatter.radius();
        let v: Vec<f64> = (0..n).map(|_| radius * size * self.scatter.gaussian()).collect();
        let radius = if apart { radius * self.scatter.radius() } else { radius };
        let μ: Vec<f64> =
            (0..problem.m).map(|_| radius * size * self.scatter.gaussian()).collect();
        let mut y =
            state(problem, PathPoint { t: t0, q: &first, v: &v, multipliers: &μ }, duration);
        problem.branch = [v, μ].concat();
        if problem.conditions.duration.is_none() {
            let d = y.len();
            y[d - 1] = duration * libm::exp(self.scatter.gaussian());
        }
        y
    }

    /// Many starts, of which some are moved: the nearest ones, or some of the nearer half where the nearest
    /// led nowhere.
    fn round(&mut self, problem: &mut Canonical, again: bool) {
        let mut looked: Vec<(f64, Vec<f64>, Vec<f64>)> = Vec::new();
        for _ in 0..LOOKED_AT {
            if self.over() {
                return;
            }
            let y = self.random(problem, again);
            self.found.integrations += 1;
            if let Ok(far) = shooting_residual(problem, &y, 1e-4) {
                looked.push((far, y, problem.branch.clone()));
            }
        }
        looked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let stride = if again { looked.len().div_ceil(2 * AIMED).max(1) } else { 1 };
        for (_, y, branch) in looked.into_iter().step_by(stride).take(AIMED) {
            if self.over() {
                return;
            }
            problem.branch = branch;
            self.aimed(problem, &y);
        }
    }

    fn led(&mut self, problem: &mut Canonical) {
        for attempt in 0..PURSUED {
            if self.over() {
                return;
            }
            let y = match &self.found.best {
                Some(best) if attempt == 0 => {
                    problem.branch.clone_from(&best.branch);
                    best.first.clone()
                }
                _ => self.random(problem, true),
            };
            let Ok(led) = continuation(problem, &y, ARRIVED, 120) else { continue };
            self.found.integrations += led.integrations;
            if led.residual <= 1e-3 {
                let Ok(aimed) = shoot(problem, &led.first, ARRIVED, 30) else { continue };
                if aimed.residual <= ARRIVED {
                    self.keep(problem, aimed.first);
                    return;
                }
            }
            self.better(problem, led.first, led.residual);
        }
    }

    fn better(&mut self, problem: &Canonical, first: Vec<f64>, residual: f64) {
        if self.found.best.as_ref().is_none_or(|b| residual < b.residual) {
            let branch = problem.branch.clone();
            self.found.best = Some(Best { first, residual, branch });
        }
    }

    /// Makes a start a path to the last digit, and keeps it if it is new.
    fn keep(&mut self, problem: &mut Canonical, first: Vec<f64>) {
        let branch = problem.branch.clone();
        let Some(places) = places(problem, &first) else { return };
        let near = |tolerance: f64, places: &[f64], seen: &[Vec<f64>]| {
            seen.iter().any(|s| {
                s.iter().zip(places).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + b.abs()))
            })
        };
        if near(1e-5, &places, &self.seen) || self.found.paths.len() >= 4 * KEPT {
            return;
        }
        let Some(path) = pieces(problem, &first) else { return };
        let options = BoundaryOptions {
            scheme: self.scheme,
            tolerance: if self.scheme == Scheme::Shooting { 1e-13 } else { 1e-10 },
            ..BoundaryOptions::default()
        };
        match solve_boundary(problem, path, &options) {
            Ok(report) if report.converged => {
                let Some(places) = self::places(problem, report.path.first()) else { return };
                if near(1e-6, &places, &self.seen) {
                    return;
                }
                self.seen.push(places);
                let residual = report.residual;
                self.found.paths.push(Candidate { path: report.path, residual, branch });
            }
            Ok(report) => self.better(problem, report.path.first().to_vec(), report.residual),
            Err(_) => {}
        }
    }
}

/// Positions where nothing is known of them, and the duration.
pub(crate) fn straight_ends(problem: &Canonical) -> (Vec<f64>, Vec<f64>, f64) {
    let c = &problem.conditions;
    let pair = |a: &[Option<f64>], b: &[Option<f64>]| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| a.or(*b).unwrap_or(0.0)).collect()
    };
    (pair(&c.first, &c.towards), pair(&c.towards, &c.first), c.guess)
}

/// Positions at some places of a path.
fn places(problem: &mut Canonical, first: &[f64]) -> Option<Vec<f64>> {
    let n = problem.n;
    let along = flow_map(problem, first, 1e-8).ok()?;
    let mut places = Vec::new();
    for i in 0..=8 {
        places.extend_from_slice(&along.trajectory.state(f64::from(i) / 8.0)?[..n]);
    }
    Some(places)
}

/// A path in pieces from its start.
fn pieces(problem: &mut Canonical, first: &[f64]) -> Option<BoundaryPath> {
    let d = problem.dimension();
    let along = flow_map(problem, first, 1e-10).ok()?;
    Some(BoundaryPath::even(PIECES, &mut |s| {
        along.trajectory.state(s).map_or_else(|| along.last.clone(), |y| y[..d].to_vec())
    }))
}

/// Guesses that look random and are the same in every run.
struct Scatter(SplitMix64);

impl Scatter {
    fn new() -> Self {
        Self(SplitMix64(0x243f_6a88_85a3_08d3))
    }

    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        (self.0.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From a third to thirty, all sizes alike.
    fn radius(&mut self) -> f64 {
        libm::exp(self.uniform() * libm::log(100.0)) / 3.0
    }

    /// Of mean 0 and variance 1 (Box and Muller).
    fn gaussian(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}
