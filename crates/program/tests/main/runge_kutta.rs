//! A step around machine code against the same step stage by stage.

use pfaff_expr::{Graph, Role};
use pfaff_program::{
    Backend, Block, Interpreter, Lanes, NativeExecutor, Program, RungeKuttaMethod, StepBuffers,
    Tableau, Weights,
};

use crate::support::codes;

/// A method with arbitrary coefficients, so that no two numbers are alike.
struct Arbitrary;

/// Rows of weights for the stages before each, one in three of them zero.
const fn rows<const N: usize>(first: usize, seed: u64) -> [Weights; N] {
    let mut rows = [[0.0; 16]; N];
    let (mut i, mut state) = (0, seed);
    while i < N {
        let mut j = 0;
        while j < first + i && j < 16 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = (state >> 40) as f64 / (1_u64 << 24) as f64;
            // The latest stage always counts.
            if (state >> 33) % 3 != 0 || j + 1 == first + i {
                rows[i][j] = number - 0.4;
            }
            j += 1;
        }
        i += 1;
    }
    rows
}

impl RungeKuttaMethod for Arbitrary {
    const TABLEAU: Tableau = Tableau {
        nodes: &[0.21, 0.37, 0.83, 0.05, 0.5, 0.61, 0.3, 0.9, 0.77, 0.12, 1.0],
        rows: &rows::<11>(1, 1),
        weights: rows::<1>(12, 2)[0],
        errors: [rows::<1>(12, 3)[0], rows::<1>(12, 4)[0]],
        dense_nodes: &[0.1, 0.2, 0.7],
        dense_rows: &rows::<3>(13, 5),
        dense: &rows::<4>(16, 6),
    };
}

/// A short method with other numbers of everything: four stages, one of them for dense output.
struct Short;

impl RungeKuttaMethod for Short {
    const TABLEAU: Tableau = Tableau {
        nodes: &[0.4],
        rows: &rows::<1>(1, 7),
        weights: rows::<1>(2, 8)[0],
        errors: [rows::<1>(3, 9)[0], [0.0; 16]],
        dense_nodes: &[0.3],
        dense_rows: &rows::<1>(3, 10),
        dense: &rows::<2>(3, 11),
    };
}

/// $(t, x, \varphi, z, p, q)$ to their rates and two components that are carried along, a quadrature and a
/// constant: two blocks, one of them not full.
fn right_side() -> Program {
    let g = Graph::new();
    let [t, x, φ, z, p, q] =
        ["t", "x", "φ", "z", "p", "q"].map(|name| g.symbol(name, Role::Free));
    let c = g.symbol("c", Role::Parameter);
    let twice = g.mul(g.sin(φ), g.cos(g.add(x, φ)));
    let outputs = [
        g.mul(c, g.mul(t, twice)),
        g.div(x, c),
        g.sub(p, z),
        g.mul(q, g.sin(z)),
        g.neg(g.mul(x, p)),
        g.mul(x, g.cos(φ)),
        g.zero(),
    ];
    Program::compile(&g, &[t, x, φ, z, p, q], &[c], &outputs).expect("all symbols are given")
}

/// Components that the right-hand side reads beside the time, and rates that it gives.
const READ: usize = 5;
const GIVEN: usize = 7;
const H: f64 = 0.1;
const T: f64 = 0.4;
const START: [Block; 2] = [[0.7, 1.2, -0.3, 0.4], [-1.1, 5.0, 2.0, 0.0]];

/// All stages with the rates at the end, the end, the sums, and the rows of dense output.
#[derive(Debug, PartialEq)]
struct Found {
    k: Vec<[Block; 2]>,
    end: [Block; 2],
    errors: [[Block; 2]; 2],
    dense: Vec<[Block; 2]>,
}

/// Stage by stage, each operation rounded by itself.
fn by_hand<M: RungeKuttaMethod>(run: &mut Interpreter) -> Found {
    let mut rates = |node: f64, y: &[Block; 2]| {
        let mut at = vec![T + node * H];
        at.extend(&y.as_flattened()[..READ]);
        let mut row = [[0.0; 4]; 2];
        run.evaluate(&at, &mut row.as_flattened_mut()[..GIVEN]);
        row
    };
    let each = |f: &dyn Fn(usize, usize) -> f64| -> [Block; 2] {
        std::array::from_fn(|b| std::array::from_fn(|c| f(b, c)))
    };
    let sum = |k: &[[Block; 2]], weights: &Weights| -> [Block; 2] {
        let terms: Vec<usize> = (0..16).filter(|&j| weights[j] != 0.0).collect();
        let term = |j: usize, b: usize, c: usize| weights[j] * k[j][b][c];
        each(&|b, c| terms.iter().map(|&j| term(j, b, c)).reduce(|a, b| a + b).unwrap_or(-0.0))
    };
    let along = |k: &[[Block; 2]], weights: &Weights| -> [Block; 2] {
        let sum = sum(k, weights);
        each(&|b, c| START[b][c] + H * sum[b][c])
    };
    let tableau = M::TABLEAU;
    let mut k = vec![rates(0.0, &START)];
    for (node, row) in tableau.nodes.iter().zip(tableau.rows) {
        let state = along(&k, row);
        k.push(rates(*node, &state));
    }
    let end = along(&k, &tableau.weights);
    k.push(rates(1.0, &end));
    let errors = tableau.errors.map(|weights| sum(&k, &weights));
    for (node, row) in tableau.dense_nodes.iter().zip(tableau.dense_rows) {
        let state = along(&k, row);
        k.push(rates(*node, &state));
    }
    let row = |weights: &Weights| sum(&k, weights).map(|row| row.map(|x| H * x));
    let dense = tableau.dense.iter().map(row).collect();
    Found { k, end, errors, dense }
}

/// At once, from the same start; also whether all numbers are finite.
fn at_once<M: RungeKuttaMethod>(
    run: &mut NativeExecutor,
    start: [Block; 2],
) -> (Found, [bool; 2]) {
    let mut k = vec![[[0.0; 4]; 2]; M::TABLEAU.stages()];
    let mut at = vec![T];
    at.extend(&start.as_flattened()[..READ]);
    run.evaluate(&at, &mut k[0].as_flattened_mut()[..GIVEN]);
    let (mut end, mut errors) = ([[0.0; 4]; 2], [[[0.0; 4]; 2]; 2]);
    let mut dense = vec![[[0.0; 4]; 2]; M::TABLEAU.dense.len()];
    let [first, second] = &mut errors;
    let mut rows = StepBuffers {
        t: T,
        h: H,
        y: &start,
        k: k.as_flattened_mut(),
        stage: &mut [[0.0; 4]; 3],
        end: &mut end,
        errors: [first, second],
    };
    let finite =
        [run.step::<M>(&mut rows), run.dense_output::<M>(&mut rows, dense.as_flattened_mut())];
    (Found { k, end, errors, dense }, finite)
}

fn check_step<M: RungeKuttaMethod>() {
    for program in [right_side(), right_side().fused()] {
        let wanted = by_hand::<M>(&mut program.interpreter(&[1.7]));
        for (backend, native) in codes(&program, Lanes::One) {
            let (found, finite) = at_once::<M>(&mut native.start(&[1.7]), START);
            assert_eq!(finite, [true; 2]);
            assert_eq!(found, wanted, "{backend:?}");
        }
    }
}

#[test]
fn a_step_at_once_is_its_stages_to_the_bit() {
    check_step::<Arbitrary>();
}

#[test]
fn a_tableau_of_any_size_will_do() {
    check_step::<Short>();
}

#[test]
fn numbers_that_are_not_finite_are_reported() {
    let Some(native) = right_side().native_code(Lanes::One, Backend::default()) else { return };
    let finite = |parameter: f64, start: [Block; 2]| {
        at_once::<Arbitrary>(&mut native.start(&[parameter]), start).1
    };
    // Division by zero: the second rate is infinite, and so is the state from there on.
    assert_eq!(finite(0.0, START), [false; 2]);
    let mut start = START;
    start[1][0] = f64::NAN;
    assert_eq!(finite(1.7, start), [false; 2]);
}
