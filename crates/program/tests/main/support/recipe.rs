//! Random expressions that proptest can shrink: a list of operations, each on results of earlier ones.
//!
//! This file is part of the tests of the crate and of the tests inside its module `native`; it knows
//! `pfaff_expr` only.
#![allow(dead_code, reason = "each binary uses its part")]

use std::ops::Range;

use pfaff_expr::{Binary, Expr, Graph, Relation, Role, Table, Unary};
use proptest::array::uniform3;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

/// Random expressions as data.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    inputs: usize,
    mix: Mix,
    /// From how many of the latest results two of three operands are taken.
    reach: usize,
    operations: Vec<Operation>,
    /// Counted from the last result.
    outputs: Vec<usize>,
}

/// What random expressions are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mix {
    /// Everything.
    All,
    /// Everything but sines and cosines.
    NoAngles,
    /// Only what machine code has instructions for.
    Own,
    /// Products, sums and angles.
    Smooth,
}

#[derive(Clone, Debug)]
struct Operation {
    kind: usize,
    /// Which exponent, relation or function.
    variant: usize,
    operands: [usize; 3],
}

/// How many inputs and operations a recipe has, and how far back operands are.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    pub(crate) inputs: Range<usize>,
    pub(crate) operations: Range<usize>,
    pub(crate) reach: usize,
}

/// Recipes of this kind.
pub(crate) fn recipe(mix: Mix, size: Size) -> impl Strategy<Value = Recipe> {
    let operation = (0..1_000_usize, 0..1_000_usize, uniform3(0..10_000_usize))
        .prop_map(|(kind, variant, operands)| Operation { kind, variant, operands });
    let Size { inputs, operations, reach } = size;
    let most = operations.end;
    (inputs, vec(operation, operations), vec(0..most, 1..9)).prop_map(
        move |(inputs, operations, outputs)| Recipe { inputs, mix, reach, operations, outputs },
    )
}

/// Expressions of a recipe, with all that they contain.
#[derive(Debug)]
pub(crate) struct Expressions {
    pub(crate) graph: Graph,
    pub(crate) inputs: Vec<Expr>,
    pub(crate) parameters: Vec<Expr>,
    pub(crate) outputs: Vec<Expr>,
}

/// How many parameters a recipe has.
pub(crate) const PARAMETERS: usize = 3;

impl Recipe {
    pub(crate) fn build(&self) -> Expressions {
        let g = Graph::new();
        let symbols = |name: &str, role, n: usize| -> Vec<Expr> {
            (0..n).map(|i| g.symbol(&format!("{name}{i}"), role)).collect()
        };
        let inputs = symbols("x", Role::Free, self.inputs);
        let parameters = symbols("p", Role::Parameter, PARAMETERS);
        let numbers = [g.fraction(1, 3), g.pi(), g.integer(-2), g.integer(7)];
        let mut known = [&inputs[..], &parameters, &numbers].concat();
        for operation in &self.operations {
            known.push(operation.build(&g, self, &known));
        }
        let from_last = |&back: &usize| known[known.len() - 1 - back % known.len()];
        let outputs = self.outputs.iter().map(from_last).collect();
        Expressions { inputs, parameters, outputs, graph: g }
    }
}

impl Operation {
    fn build(&self, g: &Graph, recipe: &Recipe, known: &[Expr]) -> Expr {
        let operand = |back: usize| {
            let reach = if back.is_multiple_of(3) {
                known.len()
            } else {
                recipe.reach.min(known.len())
            };
            known[known.len() - 1 - back / 3 % reach]
        };
        let [a, b, c] = self.operands.map(operand);
        let relation =
            [Relation::Less, Relation::LessEqual, Relation::Equal, Relation::NotEqual]
                [self.variant % 4];
        match recipe.mix.kind(self.kind) {
            0 => g.add(a, b),
            1 => g.sub(a, b),
            2 => g.mul(a, b),
            3 => g.div(a, b),
            4 => g.neg(a),
            5 => g.add(g.mul(a, b), c),
            6 => g.sub(g.mul(a, b), c),
            7 => g.sub(c, g.mul(a, b)),
            8 => g.pow(a, g.integer([2, 3, 5, -2, -6, -1, 4, 7, 9, 14][self.variant % 10])),
            9 => g.sin(a),
            10 => g.cos(a),
            11 => g.mul(g.sin(a), g.cos(a)),
            12 => g.sqrt(a),
            13 => g.unary(Unary::Abs, a),
            14 | 15 => g.choose(g.compare(relation, a, b), c, b),
            16 => g.logic_not(g.compare(relation, a, b)),
            17 => g.logic_and(a, b),
            18 => g.logic_or(a, b),
            19 => g.choose(a, b, c),
            20 => g.pow(a, b),
            21 => match Unary::ALL[self.variant % Unary::ALL.len()] {
                Unary::Sin | Unary::Cos => g.unary(Unary::Tanh, a),
                function => g.unary(function, a),
            },
            22 => g.binary(Binary::ALL[self.variant % Binary::ALL.len()], a, b),
            _ => g.table(wave(), a),
        }
    }
}

impl Mix {
    fn kind(self, number: usize) -> usize {
        match self {
            Self::All => number % 24,
            Self::NoAngles => {
                [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]
                    [number % 21]
            }
            Self::Own => number % 20,
            Self::Smooth => number % 12,
        }
    }
}

/// Data on [-4, 4].
pub(crate) fn wave() -> Table {
    let x: Vec<f64> = (-8..=8).map(|i| 0.5 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x - 1.0 / (1.0 + x * x)).collect();
    Table::new("wave.csv", "y", &x, &y).expect("the rows grow")
}

/// Arguments mostly of ordinary size, one in six from [`HARD`].
pub(crate) fn argument() -> impl Strategy<Value = f64> {
    prop_oneof![5 => -3.0..3.0, 1 => select(&HARD[..])]
}

/// Arguments that are taken one after the other, over and over.
#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    all: Vec<f64>,
    next: usize,
}

impl Arguments {
    pub(crate) fn take(&mut self, count: usize) -> Vec<f64> {
        let first = self.next;
        self.next += count;
        (first..self.next).map(|i| self.all[i % self.all.len()]).collect()
    }
}

/// A prime number of them, so that every lane gets others.
pub(crate) fn arguments() -> impl Strategy<Value = Arguments> {
    vec(argument(), 97).prop_map(|all| Arguments { all, next: 0 })
}

/// The same cases in every run; a failure is reported with the smallest recipe that fails.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

/// Some values of a strategy, the same in every run.
pub(crate) fn draw<S: Strategy>(strategy: S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    let mut one = || strategy.new_tree(&mut runner).expect("nothing is filtered").current();
    (0..count).map(|_| one()).collect()
}

/// Arguments at which functions are apt to differ.
pub(crate) const HARD: [f64; 26] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    3.0,
    -4.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1e-160,
    1e160,
    1e8,
    -1.000_000_1e8,
    1e22,
    std::f64::consts::PI,
    std::f64::consts::FRAC_PI_2,
    -std::f64::consts::FRAC_PI_4,
    45.553_093_477_052,
    710.0,
];

/// Equal bits. What is not a number has no bits of its own: its sign and payload depend on the order of
/// operands in the machine.
pub(crate) fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}
