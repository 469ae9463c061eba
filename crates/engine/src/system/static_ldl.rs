//! The saddle-point solve as one tape: elimination in a fixed order, watched by its pivots.
//!
//! Where a pivot falls far below its value at the start, the order may have become a bad one: the numeric
//! solve with pivoting then takes over at that state, and says
//! what is singular if something is.

use pfaff_expr::Expr;
use pfaff_mechanics::{Equations, solve_saddle};
use pfaff_model::{Principle, Workspace};
use pfaff_program::{Backend, Executor, Program};

/// A pivot below this fraction of its value at the start is not trusted: up to six digits may be lost to it.
const GROWTH: f64 = 1e-6;
/// Steps of elimination up to which it is written out, whatever the matrix.
const SHORT: usize = 6_000;
/// Steps for each unknown up to which a large matrix is sparse enough to be written out.
const SPARSE: usize = 256;
/// The numeric solve of a full matrix does so many steps in the time of one that is written out.
const DENSE: usize = 16;

/// $(t, q, \dot q, \mu)$ to $\ddot q$, $\lambda$, the powers and the pivots.
#[derive(Clone, Debug)]
pub(crate) struct StaticLdl {
    run: Executor,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// Which constraints are in it.
    pub(crate) active: Vec<bool>,
    /// $n + m$
    size: usize,
    /// What the pivots may not fall below.
    floor: Vec<f64>,
}

impl StaticLdl {
    /// For the active constraints, which are those of the equations. `None` where elimination in a fixed order does not
    /// apply, or multipliers take part in the mass, which then need not stay positive.
    pub(crate) fn new(
        model: &Workspace,
        equations: &Equations,
        active: &[bool],
        backend: Backend,
    ) -> Option<Self> {
        let g = &model.graph;
        if equations.multiplier_terms.mass.iter().flatten().any(|&e| e != g.zero()) {
            return None;
        }
        let v = model.velocities();
        let size = v.len() + equations.residual.len();
        let extra = equations.auxiliary.as_ref().map_or(0, |a| a.definitions.len());
        let unknowns = size + 2 * extra;
        let most = SHORT.max((SPARSE * unknowns).min(unknowns.saturating_pow(3) / DENSE));
        let solved = solve_saddle(g, equations, most)?;
        let powers = powers(model, equations, &solved.multipliers);
        let mut outputs = solved.accelerations;
        outputs.extend(&solved.multipliers);
        outputs.extend(powers);
        // What is the same at all states has been looked at where the solution was compared.
        let pivots: Vec<Expr> = solved.pivots.into_iter().filter(|&d| g.varies(d)).collect();
        outputs.extend(&pivots);
        let mut inputs = vec![model.time];
        inputs.extend(model.positions());
        inputs.extend(&v);
        inputs.extend(&equations.multipliers);
        let parameters = model.parameter_symbols();
        let program = Program::compile(g, &inputs, &parameters, &outputs).ok()?.fused();
        Some(Self {
            run: program.executor(&model.parameter_values(), backend),
            inputs: vec![0.0; inputs.len()],
            outputs: vec![0.0; outputs.len()],
            active: active.to_vec(),
            size,
            floor: vec![0.0; pivots.len()],
        })
    }

    /// Other parameters; the pivots have to be measured anew.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.run.set_parameters(parameters);
        self.floor.fill(0.0);
    }

    /// Other forces, which do not change the pivots.
    pub(crate) fn set_forces(&mut self, parameters: &[f64]) {
        self.run.set_parameters(parameters);
    }

    /// Takes the pivots at this state as the measure for others; `false` if the solution is not the expected one.
    pub(crate) fn calibrate(&mut self, state: [&[f64]; 4], expected: &[f64]) -> bool {
        /// Agreement with the pivoted solve: rounding, amplified by the condition.
        const AGREEMENT: f64 = 1e-8;
        if !self.evaluate(state) {
            return false;
        }
        let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let same = |(x, y): (&f64, &f64)| (x - y).abs() <= AGREEMENT * scale;
        if !self.solution().iter().zip(expected).all(same) {
            return false;
        }
        let pivots = &self.outputs[self.size + 2..];
        self.floor.iter_mut().zip(pivots).for_each(|(f, d)| *f = GROWTH * d);
        true
    }

    /// Whether the solution at $(t, q, \dot q, \mu)$ can be trusted.
    pub(crate) fn evaluate(&mut self, state: [&[f64]; 4]) -> bool {
        let mut rest = self.inputs.as_mut_slice();
        for part in state {
            let (head, tail) = rest.split_at_mut(part.len());
            head.copy_from_slice(part);
            rest = tail;
        }
        self.run.evaluate(&self.inputs, &mut self.outputs);
        let pivots = &self.outputs[self.size + 2..];
        #[allow(
            clippy::needless_bitwise_bool,
            reason = "without an early exit these are vectors"
        )]
        // A pivot keeps its sign as long as the mass is positive. NOTE: what is not a number is above no floor.
        let is_strong =
            |d: f64, f: f64| (d.abs() > f.abs()) & ((f == 0.0) | ((d > 0.0) == (f > 0.0)));
        // NOTE: without an early exit these are vectors.
        let strong =
            pivots.iter().zip(&self.floor).fold(true, |all, (&d, &f)| all & is_strong(d, f));
        let outputs = &self.outputs[..self.size + 2];
        strong && outputs.iter().fold(true, |all, x| all & x.is_finite())
    }

    /// $\ddot q$ and $\lambda$ (or $\dot\mu$).
    pub(crate) fn solution(&self) -> &[f64] {
        &self.outputs[..self.size]
    }

    /// The rates of $w$ and $u$.
    pub(crate) fn powers(&self) -> [f64; 2] {
        [self.outputs[self.size], self.outputs[self.size + 1]]
    }
}

/// The rates of $w$ and $u$ as expressions, given $\lambda$ (or $\dot\mu$) as such.
pub(crate) fn powers(model: &Workspace, equations: &Equations, λ: &[Expr]) -> [Expr; 2] {
    let (g, v) = (&model.graph, model.velocities());
    g.merging(|| {
        let mut reaction: Vec<Expr> = vec![g.zero(); v.len()];
        if equations.principle == Principle::Vakonomic {
            reaction.copy_from_slice(&equations.multiplier_terms.force);
        }
        let given = equations.power;
        let along: Vec<Expr> = match &equations.auxiliary {
            // ∂ψ/∂q̇·q̇
            Some(_) => {
                let direction: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, v)).collect();
                g.directional(&equations.residual, &direction)
            }
            None => equations.directions.iter().map(|w| g.dot(w, &v)).collect(),
        };
        let work = g.sum(λ.iter().zip(along).map(|(&l, a)| g.mul(l, a)));
        let work = g.add(work, g.dot(&reaction, &v));
        let work = match equations.principle {
            // Off the constraints reactions do no work: see Kkt::power.
            Principle::Chetaev => g.sub(work, g.dot(λ, &equations.residual)),
            Principle::Vakonomic | Principle::Restricted => work,
        };
        [g.add(given, work), g.add(given, equations.multiplier_terms.power)]
    })
}

#[cfg(test)]
mod tests {
    use pfaff_model::{NoFiles, Overrides, Source, read_model};
    use pfaff_solver::Lu;

    use super::*;
    use crate::split_mix::SplitMix64;
    use crate::system::kkt::Kkt;
    use crate::system::saddle_point::write_matrix;

    fn workspace(text: &str) -> Workspace {
        let read = read_model(Source::new("test", text), &Overrides::default(), &NoFiles);
        read.map_err(|_| "the text is right").unwrap().0.workspace_with_families()
    }

    /// Accelerations and multipliers of every form of (K), at random states, against the factors of the full matrix.
    fn forms_agree(text: &str, has_auxiliary: bool) {
        let model = workspace(text);
        let full = pfaff_mechanics::derive(&model, Principle::Chetaev).unwrap();
        let short = pfaff_mechanics::derive_for_run(&model, Principle::Chetaev).unwrap();
        let extra = short.auxiliary.as_ref().map_or(0, |a| a.definitions.len());
        assert_eq!(extra > 0, has_auxiliary);
        let mut by_entries = Kkt::new(&model, &full, Backend::Interpreter).unwrap();
        let mut by_parts = Kkt::new(&model, &short, Backend::Interpreter).unwrap();
        let mut written = StaticLdl::new(&model, &short, &[], Backend::default());
        let is_condensed = short.auxiliary.as_ref().is_some_and(|a| a.is_condensed);
        assert_eq!(is_condensed, text.contains("condensed"));
        assert_eq!(is_condensed, written.is_none());
        let (n, m) = (by_entries.n, by_entries.m);
        let mut random = SplitMix64(19);
        let mut unit = || random.bits() as f64 / u64::MAX as f64;
        for _ in 0..5 {
            let q: Vec<f64> = (0..n).map(|_| 2.0 * unit() - 1.0).collect();
            let v: Vec<f64> = (0..n).map(|_| 2.0 * unit() - 1.0).collect();
            for kkt in [&mut by_entries, &mut by_parts] {
                kkt.evaluate(0.3, &q, &v, &[]);
            }
            // The full matrix by elimination with pivoting, whatever its size.
            let mut matrix = vec![0.0; (n + m) * (n + m)];
            let (mass, jacobian) = (by_entries.full_mass(), by_entries.full_jacobian());
            write_matrix(&mut matrix, [n, m], &mass, &jacobian, &jacobian);
            let mut lu = Lu::new(n + m);
            lu.factor(n + m, &matrix).unwrap();
            let mut expected = by_entries.right_side_list();
            lu.solve(&mut expected);
            let scale = expected.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
            let agrees = |found: &[f64]| {
                let worst = found.iter().zip(&expected).map(|(x, y)| (x - y).abs());
                let worst = worst.fold(0.0, f64::max) / scale;
                assert!(worst < 1e-10, "off by {worst:e} of the largest: {text}");
            };
            for kkt in [&mut by_entries, &mut by_parts] {
                kkt.solve().unwrap();
                agrees(&[kkt.acceleration(), kkt.multipliers()].concat());
                let mut reaction = vec![0.0; n];
                kkt.reaction(&mut reaction);
                for (k, r) in reaction.iter().enumerate() {
                    let carried = (0..m).map(|a| expected[n + a] * jacobian[a * n + k]);
                    assert!((r - carried.sum::<f64>()).abs() < 1e-9 * scale);
                }
            }
            let (one, other) = (by_entries.full_mass(), by_parts.full_mass());
            for (x, y) in one.iter().zip(&other) {
                // Rounding of sums of as many terms as there are bodies.
                assert!((x - y).abs() < 1e-11 * (1.0 + x.abs()), "{x} {y}");
            }
            if let Some(written) = &mut written {
                assert!(written.evaluate([&[0.3], &q, &v, &[]]));
                agrees(written.solution());
            }
        }
    }

    #[test]
    fn large_systems_have_the_solution_of_the_full_matrix() {
        // A chain whose support moves.
        forms_agree(
            "parameters N = 60, g = 9.81\ncoordinates th[1..N]\nlet X[0] = sin(2*t)\nlet Y[0] = t^2\n\
             let X[i = 1..N] = X[i-1] + sin(th[i])\nlet Y[i = 1..N] = Y[i-1] - cos(th[i])\n\
             kinetic sum(i = 1..N, (X[i]'^2 + Y[i]'^2)/2)\npotential sum(i = 1..N, g*Y[i])\n",
            true,
        );
        // Two branches, bodies with a size, every second joint without a mass of its own.
        forms_agree(
            "parameters N = 40\ncoordinates a[1..N], b[1..N]\nlet X[0] = 0\nlet Y[0] = 0\n\
             let X[i = 1..N] = X[i-1] + cos(a[i])\nlet Y[i = 1..N] = Y[i-1] + sin(a[i])\n\
             let U[0] = X[N/2]\nlet V[0] = Y[N/2]\n\
             let U[i = 1..N] = U[i-1] + 0.5*cos(b[i])\nlet V[i = 1..N] = V[i-1] + 0.5*sin(b[i])\n\
             kinetic sum(i = 1..N/2, X[2*i]'^2 + Y[2*i]'^2 + U[2*i]'^2 + V[2*i]'^2)/2\n\
             kinetic sum(i = 1..N, a[i]'^2 + b[i]'^2)/10\npotential sum(i = 1..N, Y[i] + 2*V[i])\n",
            true,
        );
        // A closed chain in angles.
        forms_agree(
            "parameters N = 50\ncoordinates th[1..N]\nlet X[0] = 0\nlet Y[0] = 0\n\
             let X[i = 1..N] = X[i-1] + sin(th[i])\nlet Y[i = 1..N] = Y[i-1] - cos(th[i])\n\
             kinetic sum(i = 1..N, (X[i]'^2 + Y[i]'^2)/2)\nconstraint X[N] = 3\nconstraint Y[N] = 4\n",
            true,
        );
        // Knife edges under all bodies of a chain.
        forms_agree(
            "parameters N = 30\ncoordinates x, y, th[0..N]\nlet X[0] = x\nlet Y[0] = y\n\
             let X[i = 1..N] = X[i-1] - cos(th[i])\nlet Y[i = 1..N] = Y[i-1] - sin(th[i])\n\
             kinetic sum(i = 0..N, (X[i]'^2 + Y[i]'^2)/2 + th[i]'^2/10)\n\
             constraint e[i = 0..N]: Y[i]'*cos(th[i]) - X[i]'*sin(th[i]) = 0\n",
            true,
        );
        // Rods in space by two angles each: what they share has no mass of its own.
        forms_agree(
            "parameters N = 20\ncoordinates th[1..N], ph[1..N]\nlet P[0] = [0, 0, 0]\n\
             let P[i = 1..N] = P[i-1] + [sin(th[i])*cos(ph[i]), sin(th[i])*sin(ph[i]), -cos(th[i])]\n\
             kinetic sum(i = 1..N, dot(P[i]', P[i]'))/2\npotential sum(i = 1..N, P[i][3])\n",
            true,
        );
        // Angles between the rods: the sums of their rates have no mass of their own.
        forms_agree(
            "parameters N = 40\ncoordinates q[1..N]\nlet A[0] = 0\nlet X[0] = 0\nlet Y[0] = 0\n\
             let A[i = 1..N] = A[i-1] + 0.2*q[i]\nlet X[i = 1..N] = X[i-1] + sin(A[i])\n\
             let Y[i = 1..N] = Y[i-1] - cos(A[i])\n\
             kinetic sum(i = 1..N, (X[i]'^2 + Y[i]'^2)/2)\npotential sum(i = 1..N, Y[i])\n",
            true,
        );
        // Many of them, which rods hold together: replaced in numbers.
        forms_agree(
            "title \"condensed\"\nparameters N = 24\ncoordinates a[1..N], b[1..N]\n\
             let R[0] = identity(3)\nlet P[0] = [0, 0, 0]\n\
             let R[i = 1..N] = R[i-1]*rotation_z(a[i])*rotation_x(b[i])\n\
             let P[i = 1..N] = P[i-1] - R[i]*[0, 0.2, 1]\nlet w[i = 1..N] = vee(transpose(R[i])*R[i]')\n\
             kinetic sum(i = 1..N, dot(P[i]', P[i]')/2 + dot(w[i], w[i])/5)\npotential sum(i = 1..N, P[i][3])\n\
             constraint rod[i = 1..2]: dot(P[10*i] - P[4*i], P[10*i] - P[4*i]) = 9\n\
             constraint edge: P[N][1]' = a[1]*P[N][2]'\n",
            true,
        );
        // The same without rods: of nine rates of a body three are independent.
        forms_agree(
            "title \"condensed\"\nparameters N = 13\ncoordinates a[1..N], b[1..N]\n\
             let R[0] = identity(3)\nlet P[0] = [0, 0, 0]\n\
             let R[i = 1..N] = R[i-1]*rotation_z(a[i])*rotation_x(b[i])\n\
             let P[i = 1..N] = P[i-1] - R[i]*[0, 0.2, 1]\nlet w[i = 1..N] = vee(transpose(R[i])*R[i]')\n\
             kinetic sum(i = 1..N, dot(P[i]', P[i]')/2 + dot(w[i], w[i])/5)\n",
            true,
        );
        // Rods in Cartesian coordinates, closed.
        forms_agree(
            "parameters N = 60\ncoordinates X[1..N], Y[1..N]\nkinetic sum(i = 1..N, X[i]'^2 + Y[i]'^2)/2\n\
             constraint r[i = 2..N]: (X[i]-X[i-1])^2 + (Y[i]-Y[i-1])^2 = 1\n\
             constraint c: (X[1]-X[N])^2 + (Y[1]-Y[N])^2 = 1\n",
            false,
        );
    }

    #[test]
    fn the_large_gallery_models_have_the_solution_of_the_full_matrix() {
        let sizes = [
            ("elastic_net", "N = 30", "N = 12", false),
            ("falling_chain", "N = 200", "N = 40", true),
            ("isokinetic_gas", "n = 300", "n = 26", false),
            ("ring_of_rods", "N = 100", "N = 40", false),
            ("train", "N = 100", "N = 30", true),
        ];
        for (name, size, smaller, has_auxiliary) in sizes {
            let text = crate::gallery::gallery_model(name).expect("it is there").text;
            assert!(text.contains(size), "{name}");
            forms_agree(&text.replace(size, smaller), has_auxiliary);
        }
    }

    #[test]
    fn a_pivot_that_falls_away_is_not_trusted() {
        let text =
            "coordinates x, y\nlagrangian x^2*x'^2/2 + y'^2/2 - x\nconstraint y' = x*x'\n";
        let model = workspace(text);
        let equations = pfaff_mechanics::derive(&model, Principle::Chetaev).unwrap();
        let mut static_ldl =
            StaticLdl::new(&model, &equations, &[], Backend::default()).unwrap();
        let (t, v) = ([0.0], [0.3, 0.3]);
        // 2x²ẍ + 2xẋ² = −1 on ẏ = xẋ; λ = x ẍ + ẋ².
        let a = (-1.0 - 2.0 * 0.09) / 2.0;
        let λ = a + 0.09;
        assert!(static_ldl.calibrate([&t, &[1.0, 0.0], &v, &[]], &[a, λ, λ]));
        assert!(static_ldl.evaluate([&t, &[0.5, 0.0], &v, &[]]));
        assert!(!static_ldl.evaluate([&t, &[1e-4, 0.0], &v, &[]]), "x² fell by 10⁸");
        assert!(!static_ldl.evaluate([&t, &[f64::NAN, 0.0], &v, &[]]));
        assert!(!static_ldl.calibrate([&t, &[1.0, 0.0], &v, &[]], &[a, λ, -λ]), "another sign");
    }
}
