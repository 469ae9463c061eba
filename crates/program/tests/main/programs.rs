//! What becomes of expressions: classes, shared and dropped instructions, slots, refusals, text.

use crate::support::same;
use pfaff_expr::{Expr, Graph, Memory, Relation, Role};
use pfaff_program::{CompileError, Counts, Program};

fn setting() -> (Graph, [Expr; 2], [Expr; 2]) {
    let g = Graph::new();
    let inputs = [("x", 0), ("x", 1)].map(|(n, order)| g.symbol(n, Role::Coordinate { order }));
    let parameters = ["m", "k"].map(|n| g.symbol(n, Role::Parameter));
    (g, inputs, parameters)
}

fn check(g: &Graph, outputs: &[Expr], inputs: &[Expr], parameters: &[Expr], expected: &str) {
    let program =
        Program::compile(g, inputs, parameters, outputs).expect("every symbol is given");
    assert_eq!(program.to_string().trim(), expected.trim());
    assert_eq!(format!("{program:?}"), program.to_string());
}

#[test]
fn the_tape_can_be_read() {
    let (g, [x, v], [m, k]) = setting();
    let angle = g.mul(g.div(k, m), x);
    let work = g.add(g.mul(g.sin(angle), v), g.mul(g.cos(angle), g.pow(v, g.integer(3))));
    let half = g.mul(g.sqrt(g.integer(2)), work);
    let clipped = g.choose(g.compare(Relation::Less, x, g.pi()), half, g.neg(v));
    check(
        &g,
        &[clipped, g.sqrt(m), x, g.pi()],
        &[x, v],
        &[m, k],
        "
inputs: x, x'
parameters: m, k
per run:
  k0 = k / m
  k1 = sqrt(m)
per evaluation:
  t0 = k0 * x
  t0, t1 = sincos(t0)
  t0 = t0 * x'
  t2 = x'^2
  t2 = x' * t2
  t0 = t1 * t2 + t0
  t0 = 1.4142135623730951 * t0
  t2 = x < 3.141592653589793
  t1 = -x'
  t1 = if(t2, t0, t1)
outputs: t1, k1, x, 3.141592653589793",
    );
}

#[test]
fn each_part_is_counted() {
    let (g, [x, v], [m, k]) = setting();
    let number = g.sqrt(g.add(g.pi(), g.one())); // 2 operations on numbers
    let fixed = g.mul(number, g.div(k, m)); // 2 on parameters
    let varying = g.div(g.mul(fixed, x), v); // 2 on inputs
    let program = Program::compile(&g, &[x, v], &[m, k], &[varying]).unwrap();
    let expected = Counts {
        once: 2,
        per_run: 2,
        per_evaluation: 2,
        // 2 inputs, 2 parameters, 1 constant, 1 kept value, 1 temporary.
        slots: 7,
    };
    assert_eq!(program.counts(), expected);
    assert_eq!((program.inputs(), program.parameters(), program.outputs()), (2, 2, 1));
}

#[test]
fn powers_share_their_squares() {
    let (g, [x, _], _) = setting();
    let powers: Vec<Expr> = (2..=8).map(|n| g.pow(x, g.integer(n))).collect();
    let program = Program::compile(&g, &[x], &[], &powers).unwrap();
    // Squares x², x⁴, x⁸; products x³ = x·x², x⁵ = x·x⁴, x⁶ = x²·x⁴, x⁷ = x³·x⁴.
    assert_eq!(program.counts().per_evaluation, 7);
}

#[test]
fn a_product_joins_the_sums_that_read_it() {
    let (g, [x, v], [m, k]) = setting();
    let (product, fixed, often) = (g.mul(x, v), g.mul(m, k), g.mul(m, v));
    let outputs = [
        g.add(g.mul(m, x), v),
        g.sub(g.mul(k, x), v),
        g.sub(v, g.pow(x, g.integer(2))),
        g.add(product, m), // read by two sums: joins both
        g.sub(product, k),
        g.add(fixed, x),                 // computed once a run: stays there
        g.add(often, x),                 // read more often: stays
        g.add(g.mul(k, v), g.mul(m, x)), // one joins, the other stays
        g.sub(x, often),
        g.sin(often),
    ];
    let expected = "
inputs: x, x'
parameters: m, k
per run:
  k0 = m * k
per evaluation:
  t0 = m * x'
  t1 = m * x
  t2 = t1 + x'
  t3 = k * x - x'
  t4 = x' - x * x
  t5 = x * x' + m
  t6 = x * x' - k
  t7 = k0 + x
  t8 = t0 + x
  t1 = k * x' + t1
  t9 = x - t0
  t0 = sin(t0)
outputs: t2, t3, t4, t5, t6, t7, t8, t1, t9, t0";
    check(&g, &outputs, &[x, v], &[m, k], expected);
}

#[test]
fn sine_and_cosine_of_one_angle_are_one_instruction() {
    let (g, [x, v], _) = setting();
    let count = |outputs: &[Expr]| {
        Program::compile(&g, &[x, v], &[], outputs).unwrap().counts().per_evaluation
    };
    assert_eq!(count(&[g.cos(x), g.sin(x)]), 1);
    assert_eq!(count(&[g.cos(x), g.sin(v)]), 2);
    assert_eq!(count(&[g.cos(x)]), 1);
}

#[test]
fn what_no_output_needs_is_dropped() {
    let (g, [x, v], _) = setting();
    // The condition is a number only after π is one: the graph keeps both branches, the program one.
    let condition = g.compare(Relation::Less, g.pi(), g.integer(3));
    let output = g.choose(condition, g.mul(g.cos(x), v), g.sin(x));
    let expected =
        "inputs: x\nparameters: x'\nper run:\nper evaluation:\n  t0 = sin(x)\noutputs: t0";
    check(&g, &[output], &[x], &[v], expected);
}

#[test]
fn leaves_can_be_outputs() {
    let (g, [x, v], [m, k]) = setting();
    let outputs = [v, m, g.fraction(1, 4), v, g.pi(), g.zero()];
    let program = Program::compile(&g, &[x, v], &[m, k], &outputs).unwrap();
    assert_eq!(program.counts().per_evaluation, 0);
    let mut found = [0.0; 6];
    program.interpreter(&[5.0, 6.0]).evaluate(&[1.0, 2.0], &mut found);
    assert_eq!(found, [2.0, 5.0, 0.25, 2.0, std::f64::consts::PI, 0.0]);
    let mut lanes = [0.0; 12];
    program.batch_interpreter(2, &[5.0, 6.0]).evaluate(&[1.0, 1.5, 2.0, 2.5], &mut lanes);
    assert_eq!(lanes[..4], [2.0, 2.5, 5.0, 5.0]);
}

#[test]
fn threads_may_share_programs_and_own_runs() {
    fn shared<T: Send + Sync>() {}
    shared::<Program>();
    shared::<pfaff_program::Interpreter>();
    shared::<pfaff_program::BatchInterpreter>();
}

#[test]
fn a_program_may_be_empty() {
    let g = Graph::new();
    let program = Program::compile(&g, &[], &[], &[]).unwrap();
    assert_eq!(program.counts(), Counts::default());
    program.interpreter(&[]).evaluate(&[], &mut []);
    program.batch_interpreter(5, &[]).evaluate(&[], &mut []);
    // Inputs that nobody reads are still taken.
    let x = g.symbol("x", Role::Free);
    let program = Program::compile(&g, &[x], &[], &[]).unwrap();
    program.interpreter(&[]).evaluate(&[1.0], &mut []);
    program.batch_interpreter(2, &[]).evaluate(&[1.0, 2.0], &mut []);
}

#[test]
fn refusals_name_the_culprit() {
    let (g, [x, v], [m, _]) = setting();
    let refusal = |inputs: &[Expr], outputs: &[Expr]| {
        Program::compile(&g, inputs, &[m], outputs).unwrap_err()
    };
    assert_eq!(
        refusal(&[x], &[g.add(x, v)]),
        CompileError::UnknownSymbol { name: "x'".into() }
    );
    assert_eq!(refusal(&[x, v, x], &[x]), CompileError::Repeated { name: "x".into() });
    assert_eq!(refusal(&[m], &[m]), CompileError::Repeated { name: "m".into() });
    let past = g.memory(Memory::Caputo, x, g.fraction(1, 2));
    assert_eq!(refusal(&[x], &[g.sin(past)]), CompileError::Memory { text: "caputo".into() });
    let special = g.mittag_leffler(m, m, x);
    assert_eq!(refusal(&[x], &[g.neg(special)]), CompileError::MittagLeffler);
    let text = refusal(&[x], &[g.add(x, v)]).to_string();
    assert_eq!(text, "`x'` is neither an input nor a parameter of the program");
}

#[test]
fn a_memory_operator_can_be_an_input() {
    let (g, [x, v], _) = setting();
    let past = g.memory(Memory::Caputo, v, g.fraction(1, 2));
    // Its operand v is not looked at.
    let program = Program::compile(&g, &[x, past], &[], &[g.mul(x, past)]).unwrap();
    let mut found = [0.0];
    program.interpreter(&[]).evaluate(&[3.0, 5.0], &mut found);
    assert_eq!(found, [15.0]);
}

#[test]
fn a_number_in_place_of_an_input_keeps_its_value() {
    let (g, [x, _], _) = setting();
    let program = Program::compile(&g, &[g.zero(), x], &[], &[x, g.zero()]).unwrap();
    let mut found = [1.0; 2];
    program.interpreter(&[]).evaluate(&[7.0, 3.0], &mut found);
    assert_eq!(found, [3.0, 0.0]);
}

#[test]
fn depth_costs_neither_stack_nor_slots() {
    let (g, [x, v], _) = setting();
    let mut deep = x;
    for i in 0..100_000 {
        deep = if i % 2 == 0 { g.div(deep, v) } else { g.sub(x, deep) };
    }
    let program = Program::compile(&g, &[x, v], &[], &[deep]).unwrap();
    assert_eq!(program.counts().per_evaluation, 100_000);
    assert_eq!(program.counts().slots, 3);
    let mut found = [0.0];
    program.interpreter(&[]).evaluate(&[0.7, 1.1], &mut found);
    let expected = g.evaluate(&[deep], &|e| if e == x { 0.7 } else { 1.1 })[0];
    assert!(same(found[0], expected) && expected.is_finite());
}

#[test]
fn many_values_at_once_are_kept_apart() {
    // 70 000 sums that all live until the end: more slots than sixteen bits can number.
    let (g, [x, v], _) = setting();
    let terms: Vec<Expr> = (0..70_000).map(|i| g.add(x, g.mul(g.integer(i + 2), v))).collect();
    let program = Program::compile(&g, &[x, v], &[], &terms).unwrap();
    let mut found = vec![0.0; terms.len()];
    program.interpreter(&[]).evaluate(&[1.0, 2.0], &mut found);
    assert!((0..70_000).all(|i| found[i] == 1.0 + (i + 2) as f64 * 2.0));
}

/// $-(kx)$ is $(-k)x$ to the bit, zeros included, and costs nothing where $k$ is fixed during a run.
#[test]
fn signs_go_to_what_is_fixed_during_a_run() {
    let g = Graph::new();
    let [x, y] = ["x", "y"].map(|name| g.symbol(name, Role::Free));
    let [p, q] = ["p", "q"].map(|name| g.symbol(name, Role::Parameter));
    let inner = g.mul(g.mul(q, x), y);
    let outputs = [g.neg(g.mul(p, x)), g.neg(inner), g.neg(g.mul(x, y))];
    let program = Program::compile(&g, &[x, y], &[p, q], &outputs).unwrap();
    assert_eq!(
        (program.counts().per_evaluation, program.counts().per_run),
        (5, 2),
        "{program}"
    );
    let (a, b) = (1.7, 0.3);
    for [x, y] in [[0.0, 1.0], [-0.0, 3.0], [1.1, 0.7], [-2.3, 5e-324]] {
        let mut found = [0.0; 3];
        program.interpreter(&[a, b]).evaluate(&[x, y], &mut found);
        let wanted = [-(a * x), -(b * x * y), -(x * y)];
        assert_eq!(found.map(f64::to_bits), wanted.map(f64::to_bits), "{x} {y}");
    }
}
