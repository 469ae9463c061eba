//! The models of the benchmarks, what the engine makes of them, and how time is taken.

use std::time::Instant;

use pfaff::{Dynamics, Model, NoFiles, Overrides, Source, derive, gallery_model};
use pfaff_expr::Expr;
use pfaff_mechanics::{ChartPoint, Class, LagrangianData, Reduction, solve_saddle};
use pfaff_program::Program;

pub(crate) const SLEIGH: &str = "
coordinates  x, y, phi
parameters   m = 1, J = 0.5, a = 0.2
let          X = x + a*cos(phi)
let          Y = y + a*sin(phi)
lagrangian   m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
";
pub(crate) const DISK: &str = "
coordinates  x, y, th, phi
parameters   m = 1, R = 0.5, I = 0.125, J = 0.0625, g = 9.81, beta = 0.2
lagrangian   m*(x'^2 + y'^2)/2 + I*th'^2/2 + J*phi'^2/2 + m*g*sin(beta)*x
constraint   x' = R*cos(phi)*th'
constraint   y' = R*sin(phi)*th'
";
pub(crate) const BALL: &str = "
coordinates  x, y, z, psi, theta, phi
parameters   m = 1, R = 0.3, g = 9.81, k1 = 0.5, k2 = 0.8, I = 0.036
let          w1 = theta'*cos(psi) + phi'*sin(theta)*sin(psi)
let          w2 = theta'*sin(psi) - phi'*sin(theta)*cos(psi)
let          w3 = psi' + phi'*cos(theta)
let          s = 1/sqrt(1 + (k1*x)^2 + (k2*y)^2)
let          n = [-k1*x*s, -k2*y*s, s]
lagrangian   m*(x'^2 + y'^2 + z'^2)/2 + I*(psi'^2 + theta'^2 + phi'^2 + 2*psi'*phi'*cos(theta))/2 - m*g*z
constraint   roll: [x', y', z'] = R*cross([w1, w2, w3], n)
";

pub(crate) fn chain_text(n: usize) -> String {
    let text = gallery_model("trailers").expect("a gallery model").text;
    text.replace("N = 5", &format!("N = {n}"))
}

pub(crate) fn model(text: &str) -> Model {
    let read = Model::read(Source::new("bench", text), &Overrides::default(), &NoFiles);
    read.unwrap_or_else(|_| panic!("a model of the benchmark is wrong"))
}

pub(crate) fn reduction(model: &Model, q: &[f64]) -> Reduction {
    let statement = LagrangianData::of(&model.workspace()).expect("a Lagrangian");
    let classes = vec![Class::Linear; model.constraints.len()];
    statement
        .reduce(&classes, ChartPoint { t: 0.0, q, scale: &[] })
        .expect("linear constraints")
}

/// $(t, q, u)$ to $(\dot q, \dot u)$.
pub(crate) fn program(model: &Model, reduction: &Reduction) -> Program {
    let mut inputs: Vec<Expr> = vec![reduction.time];
    inputs.extend(&reduction.positions);
    inputs.extend(&reduction.independent);
    let rates = reduction.rates.as_ref().expect("few unknowns");
    let outputs: Vec<Expr> = reduction.velocities.iter().chain(rates).copied().collect();
    let parameters = model.parameter_symbols();
    // As the engine does it.
    let order: &[Expr] = if reduction.operations() > 500 { &reduction.order } else { &[] };
    let graph = &reduction.graph;
    let compiled = Program::compile_ordered(graph, &inputs, &parameters, &outputs, order);
    compiled.expect("every symbol is an input").fused()
}

/// $(t, q, u, \dot u, \dot q)$ to $\lambda$.
pub(crate) fn multipliers(model: &Model, reduction: &Reduction) -> Program {
    let mut inputs: Vec<Expr> = vec![reduction.time];
    inputs.extend(&reduction.positions);
    inputs.extend(&reduction.independent);
    inputs.extend(&reduction.independent_rates);
    inputs.extend(&reduction.velocity_symbols);
    let λ = reduction.multipliers().multipliers.expect("triangular rows");
    let first: Vec<Expr> = λ.iter().rev().copied().collect();
    let parameters = model.parameter_symbols();
    let compiled = Program::compile_ordered(&reduction.graph, &inputs, &parameters, &λ, &first);
    compiled.expect("every symbol is an input").fused()
}

/// $(q, \dot q)$ to $(\ddot q, \lambda)$: (K) with its solve written out.
pub(crate) fn saddle(model: &Model) -> Program {
    let derivation = derive(model, None).expect("equations");
    let model = derivation.workspace();
    let Dynamics::Saddle(equations) = &derivation.dynamics else { panic!("a Lagrangian") };
    let solved = solve_saddle(&model.graph, equations, usize::MAX).expect("symmetric");
    let inputs = [model.positions(), model.velocities()].concat();
    let outputs = [solved.accelerations, solved.multipliers].concat();
    let parameters = model.parameter_symbols();
    let compiled = Program::compile(&model.graph, &inputs, &parameters, &outputs);
    compiled.expect("every symbol is an input").fused()
}

/// Nanoseconds a call when each input hangs on the output before.
pub(crate) fn waiting(
    x: &mut [f64],
    y: &mut [f64],
    mut f: impl FnMut(&[f64], &mut [f64]),
) -> f64 {
    let start = x.to_vec();
    let skip = x.len() - y.len();
    let ns = best(&mut || {
        f(x, y);
        for (x, y) in x[skip..].iter_mut().zip(&*y) {
            *x += 1e-18 * y;
        }
    });
    x.copy_from_slice(&start);
    ns
}

/// The smallest mean of many batches, in nanoseconds.
pub(crate) fn best(work: &mut dyn FnMut()) -> f64 {
    let clock = Instant::now();
    work();
    let once = clock.elapsed().as_secs_f64().max(2e-8);
    let batch = (2e-4 / once).ceil() as usize;
    let rounds = if once > 1e-2 { 3 } else { 60 };
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let clock = Instant::now();
        (0..batch).for_each(|_| work());
        best = best.min(clock.elapsed().as_secs_f64() / batch as f64);
    }
    1e9 * best
}
