//! Starts for paths, when nothing is known but the ends.
//!
//! First a straight line between the ends and arches beside it (of the independent coordinates alone where constraints
//! bind the velocities), improved as a whole. Then momenta at the start of many directions and sizes, from a sequence
//! that is the same in every run: those whose paths end nearest are moved until they arrive. If none arrives, paths
//! are led to the end by continuation. Every distinct path is kept.
//! Where a start is given, all this is tried only if it leads nowhere.

use pfaff_solver::{
    BoundaryOptions, BoundaryPath, BoundaryProblem, BoundaryReport, Scheme, continuation,
    flow_map, shoot, shooting_residual, solve_boundary,
};

use crate::run::bvp::arch::{self, arches, curve, least};
use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::driven::Driven;
use crate::run::bvp::guess::{PIECES, PathPoint, state, straight_ends};
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
/// Pieces of a path that leaves its neighbours fast.
const MANY_PIECES: usize = 6 * PIECES;
/// Steps of one piece of a path that is improved: large multipliers would make it turn without end.
const PIECE_STEPS: usize = 200;
/// Arches in a row that lead to nothing new before the rest is left out.
const IN_VAIN: usize = 12;

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
    problem.limit = Some(hunt.budget.limit());
    hunt.everything(problem, begin);
    problem.limit = None;
    hunt.found
}

impl Hunt<'_, '_> {
    fn everything(&mut self, problem: &mut Canonical, begin: Vec<(Begin, Vec<f64>)>) {
        for (begin, branch) in begin {
            problem.branch = branch;
            self.begun(problem, begin);
        }
        if !self.found.paths.is_empty() {
            return;
        }
        self.straight(problem);
        self.arched(problem);
        for round in 0..ROUNDS {
            self.round(problem, round > 0);
            if !self.found.paths.is_empty() || self.over() {
                break;
            }
        }
        if self.found.paths.is_empty() {
            self.led(problem);
        }
    }
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
        // NOTE: also if there is no time left.
        let limit = problem.limit.take();
        if let Ok(far) = shooting_residual(problem, first, 1e-6) {
            self.better(problem, first.to_vec(), far);
        }
        problem.limit = limit;
    }

    /// A path improved as a whole; says whether it arrives.
    fn whole(&mut self, problem: &mut Canonical, path: BoundaryPath) -> bool {
        let options = BoundaryOptions {
            tolerance: 1e-8,
            iterations: 25,
            steps: PIECE_STEPS,
            ..BoundaryOptions::default()
        };
        self.found.integrations += path.intervals();
        match solve_boundary(problem, path, &options) {
            Ok(report) if report.converged => {
                self.keep(problem, report.path);
                true
            }
            _ => false,
        }
    }

    /// A start moved until it arrives.
    fn aimed(&mut self, problem: &mut Canonical, first: &[f64]) {
        let Ok(aimed) = shoot(problem, first, ARRIVED, 40) else { return };
        self.found.integrations += aimed.integrations;
        if aimed.residual <= ARRIVED {
            self.keep_start(problem, &aimed.first);
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

    /// Arches beside the straight line, as they are and led to a minimum.
    fn arched(&mut self, problem: &mut Canonical) {
        if problem.m > 0 {
            return self.driven(problem);
        }
        let arches = arches(problem);
        let mut minima: Vec<Vec<f64>> = Vec::new();
        for arch in arches.iter().filter(|arch| arch.waves == 1) {
            let nodes = curve(problem, arch);
            let Some(nodes) = least(problem, &nodes) else { continue };
            if minima.iter().any(|known| arch::is_near(known, &nodes)) {
                continue;
            }
            for pieces in [PIECES, MANY_PIECES] {
                if self.over() {
                    return;
                }
                let path = arch::path(problem, &nodes, pieces);
                if self.whole(problem, path) {
                    break;
                }
            }
            minima.push(nodes);
        }
        let mut in_vain = 0;
        for arch in arches {
            let before = self.found.paths.len();
            if in_vain >= IN_VAIN || self.over() {
                return;
            }
            let nodes = curve(problem, &arch);
            let path = arch::path(problem, &nodes, PIECES);
            self.whole(problem, path);
            in_vain = if self.found.paths.len() > before { 0 } else { in_vain + 1 };
        }
    }

    /// Curves that satisfy the constraints, with arches of the independent coordinates.
    fn driven(&mut self, problem: &mut Canonical) {
        let Some(driven) = Driven::new(problem) else { return };
        let mut curves: Vec<Vec<f64>> = Vec::new();
        let mut in_vain = 0;
        for first in driven.firsts() {
            if in_vain >= IN_VAIN || self.over() {
                return;
            }
            let Some(nodes) = driven.arriving(problem, &first) else { continue };
            if curves.iter().any(|known| arch::is_near(known, &nodes)) {
                continue;
            }
            let before = self.found.paths.len();
            let path = arch::path(problem, &nodes, PIECES);
            self.whole(problem, path);
            curves.push(nodes);
            in_vain = if self.found.paths.len() > before { 0 } else { in_vain + 1 };
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
                    self.keep_start(problem, &aimed.first);
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

    /// The path of a start, if it is new.
    fn keep_start(&mut self, problem: &mut Canonical, first: &[f64]) {
        if let Some(path) = pieces(problem, first) {
            self.keep(problem, path);
        }
    }

    /// Improves a path to the last digit, and keeps it if it is new.
    fn keep(&mut self, problem: &mut Canonical, path: BoundaryPath) {
        let branch = problem.branch.clone();
        let near = |tolerance: f64, places: &[f64], seen: &[Vec<f64>]| {
            seen.iter().any(|s| {
                s.iter().zip(places).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + b.abs()))
            })
        };
        if near(1e-5, &places(problem, &path), &self.seen) || self.found.paths.len() >= 4 * KEPT
        {
            return;
        }
        // NOTE: by shooting also where collocation is asked for: then all paths have the same nodes to compare.
        let options = BoundaryOptions::default();
        let report = match solve_boundary(problem, path, &options) {
            Ok(report) if report.converged => report,
            Ok(report) => {
                return self.better(problem, report.path.first().to_vec(), report.residual);
            }
            Err(_) => return,
        };
        let places = places(problem, &report.path);
        if near(1e-6, &places, &self.seen) {
            return;
        }
        self.seen.push(places);
        let report = if self.scheme == Scheme::Shooting {
            report
        } else {
            let options = BoundaryOptions { scheme: self.scheme, tolerance: 1e-10, ..options };
            match solve_boundary(problem, report.path, &options) {
                Ok(report) if report.converged => report,
                _ => return,
            }
        };
        let BoundaryReport { path, residual, .. } = report;
        self.found.paths.push(Candidate { path, residual, branch });
    }
}

/// Positions at some nodes of a path, the same ones for every number of pieces.
fn places(problem: &Canonical, path: &BoundaryPath) -> Vec<f64> {
    let every = path.intervals() / PIECES;
    (0..=PIECES).flat_map(|i| path.node(i * every)[..problem.n].to_vec()).collect()
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
