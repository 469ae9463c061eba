//! Families of like terms run as loops: equal bits with every backend, and the values of the sum written out.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_program::{Backend, GraphEvaluator, Lanes, Program};

/// $V = \sum_{i<j} k\cos(x_i - x_j)/(1 + (x_i - y_j)^2)$, and the coordinates.
fn pairs(g: &Graph, n: usize) -> (Expr, Vec<Expr>, Expr) {
    let coordinate = |name: String| g.symbol(&name, Role::Coordinate { order: 0 });
    let x: Vec<Expr> = (0..n).map(|i| coordinate(format!("x[{i}]"))).collect();
    let y: Vec<Expr> = (0..n).map(|i| coordinate(format!("y[{i}]"))).collect();
    let k = g.symbol("k", Role::Parameter);
    let mut sum = g.zero();
    for i in 0..n {
        for j in 0..i {
            let below = g.add(g.one(), g.pow(g.sub(x[i], y[j]), g.integer(2)));
            sum = g.add(sum, g.div(g.mul(k, g.cos(g.sub(x[i], x[j]))), below));
        }
    }
    (sum, x.into_iter().chain(y).collect(), k)
}

fn states(count: usize, lanes: usize) -> Vec<f64> {
    (0..count * lanes).map(|i| 3.0 * libm::sin(1.0 + 1.3 * i as f64)).collect()
}

#[test]
fn all_backends_give_the_same_bits_and_the_sum_that_is_written() {
    let g = Graph::new();
    let (sum, q, k) = pairs(&g, 26);
    let gathered = g.gathered(sum);
    let outputs = |e: Expr| -> Vec<Expr> {
        g.merging(|| g.gradient(e, &q).into_iter().chain([e]).collect())
    };
    let compiled =
        |e: Expr| Program::compile(&g, &q, &[k], &outputs(e)).expect("all is given").fused();
    let (program, written) = (compiled(gathered), compiled(sum));
    assert!(program.counts().slots < written.counts().slots, "it is a loop");
    let at = states(q.len(), 1);
    let evaluated = |program: &Program, backend: Backend| {
        let mut outputs = vec![0.0; program.outputs()];
        let mut run = program.executor(&[1.5], backend);
        run.set_parameters(&[2.5]);
        run.evaluate(&at, &mut outputs);
        outputs
    };
    let first = evaluated(&program, Backend::Interpreter);
    for (a, b) in first.iter().zip(evaluated(&written, Backend::Interpreter)) {
        // The order of 325 additions differs.
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} instead of {b}");
    }
    for backend in Backend::ALL {
        assert_eq!(evaluated(&program, backend), first, "{}", backend.name());
    }
    let lanes = 5;
    let inputs = states(q.len(), lanes);
    let mut batch = program.batch_interpreter(lanes, &[2.5]);
    let mut all = vec![0.0; program.outputs() * lanes];
    batch.evaluate(&inputs, &mut all);
    let mut one = program.interpreter(&[2.5]);
    for l in 0..lanes {
        let own: Vec<f64> = inputs.iter().skip(l).step_by(lanes).copied().collect();
        let mut outputs = vec![0.0; program.outputs()];
        one.evaluate(&own, &mut outputs);
        assert!(all.iter().skip(l).step_by(lanes).eq(&outputs), "lane {l}");
    }
    if let Some(native) = program.native_code(Lanes::Four, Backend::default()) {
        let mut outputs = vec![0.0; program.outputs() * 4];
        let inputs = states(q.len(), 4);
        native.start(&[2.5]).evaluate(&inputs, &mut outputs);
        let mut batch = program.batch_interpreter(4, &[2.5]);
        let mut others = vec![0.0; program.outputs() * 4];
        batch.evaluate(&inputs, &mut others);
        assert_eq!(outputs, others);
    }
}

#[test]
fn evaluation_without_a_program_gives_its_bits() {
    let g = Graph::new();
    let (sum, q, k) = pairs(&g, 24);
    let outputs = g.gradient(g.gathered(sum), &q);
    let program = Program::compile(&g, &q, &[k], &outputs).expect("all is given");
    let mut evaluator = GraphEvaluator::new(&g, &q, &[(k, 0.5)], &outputs).expect("as before");
    let (mut a, mut b) = (vec![0.0; outputs.len()], vec![0.0; outputs.len()]);
    let at = states(q.len(), 1);
    evaluator.evaluate(&at, &mut a);
    program.interpreter(&[0.5]).evaluate(&at, &mut b);
    assert_eq!(a, b);
}

#[test]
fn families_inside_of_families_are_computed_first() {
    let g = Graph::new();
    let (sum, q, k) = pairs(&g, 24);
    let inner = g.gathered(sum);
    // A second family over expressions that contain the first one.
    let entries: Vec<Expr> = q.iter().map(|&x| g.add(x, inner)).collect();
    let terms = (0..q.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let outer = |of: &[Expr]| {
        g.sum(terms.clone().map(|(i, j)| {
            let square = g.pow(g.sub(of[i], of[j]), g.integer(2));
            g.div(of[i], g.add(g.one(), g.mul(square, of[j])))
        }))
    };
    let plain: Vec<Expr> = q.iter().map(|&x| g.add(x, sum)).collect();
    let (nested, written) = (g.gathered(outer(&entries)), outer(&plain));
    let program = Program::compile(&g, &q, &[k], &[nested, written]).expect("all is given");
    let mut outputs = [0.0; 2];
    program.interpreter(&[0.5]).evaluate(&states(q.len(), 1), &mut outputs);
    assert!((outputs[0] - outputs[1]).abs() <= 1e-9 * outputs[1].abs(), "{outputs:?}");
}

/// Accelerations of bodies in a plane, `wide` in each row, with springs along and across, and the symbols.
fn net(g: &Graph, rows: usize, wide: usize, gather: bool) -> (Vec<Expr>, Vec<Expr>, Vec<Expr>) {
    let at = |name: &str, order: u8| -> Vec<Expr> {
        let symbol = |i: usize| g.symbol(&format!("{name}[{i}]"), Role::Coordinate { order });
        (0..rows * wide).map(symbol).collect()
    };
    let (x, y) = (at("x", 0), at("y", 0));
    let [k, m] = ["k", "m"].map(|name| g.symbol(name, Role::Parameter));
    let two = g.integer(2);
    let spring = |i: usize, j: usize| {
        let square = |x: &[Expr]| g.pow(g.sub(x[i], x[j]), two);
        let length = g.sqrt(g.add(square(&x), g.add(square(&y), g.one())));
        g.mul(k, g.pow(g.sub(length, two), two))
    };
    let along = (0..rows * wide).filter(|i| i % wide > 0).map(|i| spring(i, i - 1));
    let across = (wide..rows * wide).map(|i| spring(i, i - wide));
    let energy = g.add(g.sum(along), g.sum(across));
    let energy = if gather { g.gathered(energy) } else { energy };
    let q = [x, y].concat();
    let forces = g.gradient(energy, &q).into_iter().enumerate().map(|(i, slope)| {
        let slope = if i == 0 { g.add(slope, q[0]) } else { slope };
        g.neg(g.div(slope, m))
    });
    (forces.collect(), q, vec![k, m])
}

#[test]
fn outputs_of_one_shape_are_a_loop_with_the_same_bits_in_every_backend() {
    // Rows of 30, 26 and 9 bodies end in blocks of five, one and no springs.
    for (rows, wide) in [(10, 30), (11, 26), (40, 9)] {
        let g = Graph::new();
        let (forces, q, parameters) = net(&g, rows, wide, true);
        let (written, ..) = net(&g, rows, wide, false);
        let compile = |e: &[Expr]| Program::compile(&g, &q, &parameters, e).unwrap().fused();
        let (program, plain) = (compile(&forces), compile(&written));
        let (loops, all) = (program.counts().per_evaluation, plain.counts().per_evaluation);
        assert!(8 * loops < 3 * all, "{loops} instructions of {all}");
        let at: Vec<f64> = states(q.len(), 1);
        let evaluated = |program: &Program, backend: Backend| {
            let mut outputs = vec![f64::NAN; program.outputs()];
            let mut run = program.executor(&[2.5, 0.7], backend);
            // Twice, so that nothing is left of an evaluation.
            run.evaluate(&vec![1.0; at.len()], &mut outputs);
            run.evaluate(&at, &mut outputs);
            outputs
        };
        let first = evaluated(&program, Backend::Interpreter);
        for (a, b) in first.iter().zip(evaluated(&plain, Backend::Interpreter)) {
            // The order of four additions differs.
            assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{a} instead of {b}");
        }
        for backend in Backend::ALL {
            assert_eq!(evaluated(&program, backend), first, "{}", backend.name());
        }
    }
}

#[test]
fn a_term_without_operands_is_added_once_for_each_row() {
    let g = Graph::new();
    let symbol = |i: usize| g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 0 });
    let x: Vec<Expr> = (0..601).map(symbol).collect();
    // Every spring of a line pulls with the force 3, whatever the place.
    let term = |i: usize| g.mul(g.integer(3), g.add(g.sub(x[i], x[i + 1]), x[600]));
    let sum = g.gathered(g.sum((0..600).map(term)));
    let slopes = g.gradient(sum, &x[600..]);
    let program = Program::compile(&g, &x, &[], &slopes).unwrap();
    let mut outputs = [0.0];
    program.executor(&[], Backend::default()).evaluate(&states(x.len(), 1), &mut outputs);
    assert_eq!(outputs, [3.0 * 599.0]);
}
