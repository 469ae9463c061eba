//! Boundary value problems with known solutions: orders, both methods, families, continuation.

use pfaff_solver::{
    BoundaryOptions, BoundaryPath, BoundaryProblem, DiscreteAction, EvalError,
    LagrangianDerivatives, Scheme, collocated_state, collocation_residuals, continuation,
    flow_map, relaxed, shoot, singular_values, solve_boundary,
};

/// $y'' = f(s, y)$ with given ends.
struct GivenEnds {
    /// $f$ and $\partial f/\partial y$
    force: fn(f64, f64) -> [f64; 2],
    ends: [f64; 2],
}

/// $y'' = \tfrac32 y^2$ with $y(0) = 4$, $y(1) = 1$: one solution is $4/(1+s)^2$, another one dips below zero
/// (Stoer and Bulirsch 2002, 7.3).
fn cubic() -> GivenEnds {
    GivenEnds { force: |_, y| [1.5 * y * y, 3.0 * y], ends: [4.0, 1.0] }
}

impl BoundaryProblem for GivenEnds {
    fn dimension(&self) -> usize {
        2
    }

    fn conditions(&self) -> usize {
        2
    }

    fn rates(&mut self, s: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates.copy_from_slice(&[y[1], (self.force)(s, y[0])[0]]);
        Ok(())
    }

    fn jacobian(
        &mut self,
        s: f64,
        y: &[f64],
        rates: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvalError> {
        jacobian.copy_from_slice(&[0.0, 1.0, (self.force)(s, y[0])[1], 0.0]);
        self.rates(s, y, rates)
    }

    fn ends(
        &mut self,
        first: &[f64],
        last: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        values.copy_from_slice(&[first[0] - self.ends[0], last[0] - self.ends[1]]);
        Ok(())
    }

    fn ends_jacobian(
        &mut self,
        _first: &[f64],
        _last: &[f64],
        at_first: &mut [f64],
        at_last: &mut [f64],
    ) -> Result<(), EvalError> {
        at_first.copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
        at_last.copy_from_slice(&[0.0, 0.0, 1.0, 0.0]);
        Ok(())
    }
}

fn straight(intervals: usize) -> BoundaryPath {
    BoundaryPath::even(intervals, &mut |s| vec![4.0 - 3.0 * s, -3.0])
}

/// The error at the mesh points with so many intervals.
fn error(stages: usize, intervals: usize) -> f64 {
    let options = BoundaryOptions {
        scheme: Scheme::Collocation { stages, adaptive: false },
        ..BoundaryOptions::default()
    };
    let report =
        solve_boundary(&mut cubic(), straight(intervals), &options).expect("it has values");
    assert!(report.converged, "{report:?}");
    let path = report.path;
    let exact = |s: f64| 4.0 / ((1.0 + s) * (1.0 + s));
    (0..=intervals).map(|i| (path.node(i)[0] - exact(path.mesh[i])).abs()).fold(0.0, f64::max)
}

/// $q$ Gauss points give order $2q$ at the mesh points.
#[test]
fn order_of_collocation_is_twice_its_points() {
    for (stages, intervals) in [(1, 32), (2, 16), (3, 8), (4, 6)] {
        let (coarse, fine) = (error(stages, intervals), error(stages, 2 * intervals));
        let order = (coarse / fine).log2();
        // The slope between two meshes is off by what the next order adds, a few per cent here.
        assert!((order - 2.0 * stages as f64).abs() < 0.3, "{stages} points: {order}");
    }
}

#[test]
fn mesh_follows_the_residual() {
    let options = BoundaryOptions {
        scheme: Scheme::Collocation { stages: 4, adaptive: true },
        tolerance: 1e-9,
        ..BoundaryOptions::default()
    };
    let report = solve_boundary(&mut cubic(), straight(2), &options).expect("it has values");
    assert!(report.converged);
    let lengths: Vec<f64> = report.path.mesh.windows(2).map(|m| m[1] - m[0]).collect();
    // 4/(1+s)² bends most at the start.
    assert!(lengths[0] < 0.7 * lengths[lengths.len() - 1], "{lengths:?}");
    let slope = report.path.first()[1];
    assert!((slope + 8.0).abs() < 1e-10, "{slope}");
}

#[test]
fn shooting_and_collocation_agree() {
    let shot = solve_boundary(&mut cubic(), straight(6), &BoundaryOptions::default())
        .expect("it has values");
    assert!(shot.converged && shot.residual < 1e-12, "{shot:?}");
    // y'(0) = −8; the slope at the start is the sensitive quantity.
    assert!((shot.path.first()[1] + 8.0).abs() < 1e-11);
}

/// The second solution starts with slope −35.858…; single shooting reaches it, and so does continuation.
#[test]
fn other_starts_reach_the_other_solution() {
    let aimed = shoot(&mut cubic(), &[4.0, -30.0], 1e-9, 60).expect("it has values");
    assert!(aimed.residual < 1e-9);
    assert!((aimed.first[1] + 35.858_548_7).abs() < 1e-5, "{aimed:?}");
    let led = continuation(&mut cubic(), &[4.0, -20.0], 1e-6, 200).expect("it has values");
    assert!(led.residual < 1e-5, "{led:?}");
}

/// $y'' = 0$ with the same ends: the curve of solutions is straight, its length is $\sqrt{4^2 + 3^2 + 1}$, and steps of
/// 0.1, each 1.7 times the one before, reach its end with the seventh.
struct Straight;

impl BoundaryProblem for Straight {
    fn dimension(&self) -> usize {
        2
    }

    fn conditions(&self) -> usize {
        2
    }

    fn rates(&mut self, _s: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates.copy_from_slice(&[y[1], 0.0]);
        Ok(())
    }

    fn jacobian(
        &mut self,
        s: f64,
        y: &[f64],
        rates: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvalError> {
        jacobian.copy_from_slice(&[0.0, 1.0, 0.0, 0.0]);
        self.rates(s, y, rates)
    }

    fn ends(
        &mut self,
        first: &[f64],
        last: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        cubic().ends(first, last, values)
    }

    fn ends_jacobian(
        &mut self,
        first: &[f64],
        last: &[f64],
        at_first: &mut [f64],
        at_last: &mut [f64],
    ) -> Result<(), EvalError> {
        cubic().ends_jacobian(first, last, at_first, at_last)
    }
}

/// The last step lands on the goal: no step beyond it, and none on the way back.
#[test]
fn a_straight_curve_is_followed_to_its_end() {
    let led = continuation(&mut Straight, &[0.0, 0.0], 0.0, 200).expect("it has values");
    // The corrections stop at 1e-7 of the conditions.
    assert!(led.residual < 1e-6, "{led:?}");
    assert!((led.first[0] - 4.0).abs() < 1e-6 && (led.first[1] + 3.0).abs() < 1e-6, "{led:?}");
    assert_eq!(led.integrations, 8, "the first one, and one for each step");
}

#[test]
fn sensitivities_are_those_of_differences() {
    let first = [4.0, -8.0];
    let whole = flow_map(&mut cubic(), &first, 1e-13).expect("it has values");
    for k in 0..2 {
        let end = |δ: f64| {
            let mut moved = first;
            moved[k] += δ;
            flow_map(&mut cubic(), &moved, 1e-13).expect("it has values").last
        };
        let (plus, minus) = (end(1e-5), end(-1e-5));
        for i in 0..2 {
            let slope = (plus[i] - minus[i]) / 2e-5;
            // Differences of step 1e-5 are right to about 1e-9 of the third derivative.
            assert!((slope - whole.sensitivity[i * 2 + k]).abs() < 1e-6 * (1.0 + slope.abs()));
        }
    }
    let σ = singular_values(&whole.sensitivity, 2, 2).values;
    // The flow keeps area: the determinant is one.
    assert!((σ[0] * σ[1] - 1.0).abs() < 1e-9);
}

/// $L = \dot q^2/2 + 6sq$, whose path between 0 and 1 is $q = s^3$.
struct Pushed;

impl DiscreteAction for Pushed {
    fn size(&self) -> usize {
        1
    }

    fn value(&mut self, s: f64, q: &[f64], v: &[f64]) -> Result<f64, EvalError> {
        Ok(0.5 * v[0] * v[0] + 6.0 * s * q[0])
    }

    fn derivatives(
        &mut self,
        s: f64,
        _q: &[f64],
        v: &[f64],
    ) -> Result<LagrangianDerivatives, EvalError> {
        Ok(LagrangianDerivatives {
            by_q: vec![6.0 * s],
            by_v: vec![v[0]],
            by_qq: vec![0.0],
            by_vq: vec![0.0],
            by_vv: vec![1.0],
        })
    }
}

/// A path that is led to the least action is that of the equation of motion: here also that of the discretised one.
#[test]
fn a_relaxed_path_obeys_the_equation_of_motion() {
    for intervals in [5, 16] {
        let straight: Vec<f64> =
            (0..=intervals).map(|i| f64::from(i) / f64::from(intervals)).collect();
        let path = relaxed(&mut Pushed, &straight, [&[true], &[true]]).expect("it stays");
        for (s, q) in straight.iter().zip(&path) {
            // What is left where the action falls by less than 1e-8 of itself, while each step takes away three
            // quarters of what is left or more.
            assert!((q - s * s * s).abs() < 1e-5, "{intervals}: {q} at {s}");
        }
    }
}

/// $y'' = y^2 - \sin^2 2s - 4\sin 2s$ with $y(0) = 0$, $y(1) = \sin 2$: one solution is $\sin 2s$. The rates depend on
/// $s$ itself.
fn driven() -> GivenEnds {
    let force = |s: f64, y: f64| {
        let sine = libm::sin(2.0 * s);
        [y * y - sine * sine - 4.0 * sine, 2.0 * y]
    };
    GivenEnds { force, ends: [0.0, libm::sin(2.0)] }
}

/// Rates are taken at the Gauss points of each interval, and the path between nodes is the polynomial through them.
#[test]
fn a_driven_path_is_right_between_its_nodes() {
    let even = || BoundaryPath::even(16, &mut |s| vec![s, 1.0]);
    for adaptive in [false, true] {
        let options = BoundaryOptions {
            scheme: Scheme::Collocation { stages: 4, adaptive },
            tolerance: 1e-9,
            ..BoundaryOptions::default()
        };
        let report = solve_boundary(&mut driven(), even(), &options).expect("it has values");
        assert!(report.converged, "{report:?}");
        let path = &report.path;
        for k in 0..=40 {
            let s = f64::from(k) / 40.0;
            let y = collocated_state(path, 4, s);
            // Order four and a half between nodes: 16⁻⁵ times 2⁵/5!, or what the tolerance lets pass.
            let exact = [libm::sin(2.0 * s), 2.0 * libm::cos(2.0 * s)];
            let off = (y[0] - exact[0]).abs().max((y[1] - exact[1]).abs());
            assert!(off < 2e-8, "{adaptive} {s}: off by {off:e}");
        }
        let residuals = collocation_residuals(&mut driven(), path, 4).expect("it has values");
        let worst = residuals.iter().fold(0.0_f64, |m, r| m.max(*r));
        // The fourth derivative of the slopes, 2⁵·2, over sixteenths, and the distance from four points: 1/4!/140.
        assert!(worst < 2e-7, "{adaptive}: {worst:e}");
    }
}
