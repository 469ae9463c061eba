//! Loops over rows against rows block by block: the same bits for every instruction set of this processor.

use pfaff_expr::{Expr, Graph, Role};

use super::row_code::RowCode;
use super::simd::{RowRoom, RowWork, sum_rows};
use super::x86_64;
use crate::Program;
use crate::backend::batch::LANE_BLOCK;
use crate::backend::row_plan::{BY_BLOCKS, RowPlan, TermPlace};
use crate::tape::layer::{FamilyLoop, LONGEST_STRETCH, Layer};

/// The families of the slopes of a potential over points of a plane, and the points.
fn layer(
    term: impl Fn(&Graph, [Expr; 4]) -> Expr,
    n: usize,
    pairs: &[(usize, usize)],
) -> Program {
    let g = Graph::new();
    let at = |name: &str| -> Vec<Expr> {
        let symbol =
            |i: usize| g.symbol(&format!("{name}[{i}]"), Role::Coordinate { order: 0 });
        (0..n).map(symbol).collect()
    };
    let (x, y) = (at("x"), at("y"));
    let terms = pairs.iter().map(|&(i, j)| term(&g, [x[i], x[j], y[i], y[j]]));
    let sum = g.gathered(g.sum(terms));
    let q = [x.as_slice(), &y].concat();
    let program = Program::compile(&g, &q, &[], &g.gradient(sum, &q));
    program.expect("all is given").fused()
}

/// $1/(1 + r^2)$
fn repulsion(g: &Graph, [a, b, c, d]: [Expr; 4]) -> Expr {
    let square = |a, b| g.pow(g.sub(a, b), g.integer(2));
    g.div(g.one(), g.add(g.one(), g.add(square(a, b), square(c, d))))
}

/// $\cos(x_i - x_j)/(2 + (y_i - y_j)^2)$
fn turned(g: &Graph, [a, b, c, d]: [Expr; 4]) -> Expr {
    let below = g.add(g.integer(2), g.pow(g.sub(c, d), g.integer(2)));
    g.div(g.cos(g.sub(a, b)), below)
}

fn all_pairs(n: usize) -> Vec<(usize, usize)> {
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect()
}

/// What the rows of the families of a program add to the list.
fn summed(layer: &Layer, isa: Option<x86_64::InstructionSet>) -> (Vec<u64>, Vec<RowPlan>) {
    let count = layer.first + layer.results + LANE_BLOCK;
    let mut list: Vec<f64> =
        (0..count).map(|i| 2.0 * libm::sin(1.0 + 1.7 * i as f64)).collect();
    list[layer.first..].fill(0.0);
    let mut plans = Vec::new();
    for family in &layer.families {
        let plan = planned(family, layer.first, isa);
        let compiled =
            plan.shapes.iter().filter_map(|shape| RowCode::compile_for(family, shape, isa?));
        let mut loops: Vec<RowCode> = compiled.collect();
        assert_eq!(loops.len(), plan.shapes.len());
        let (reads, writes) = (family.terms.inputs().max(1), family.terms.outputs());
        let mut inputs = vec![[0.0; LANE_BLOCK]; LONGEST_STRETCH * reads];
        let mut outputs = vec![[0.0; LANE_BLOCK]; LONGEST_STRETCH * writes];
        for &(argument, place) in &family.uniform {
            let block = [list[place as usize]; LANE_BLOCK];
            inputs.iter_mut().skip(argument).step_by(reads).for_each(|to| *to = block);
        }
        let mut room = RowRoom::new(family);
        let mut run = family.terms.batch_interpreter(LANE_BLOCK, &[]);
        let work = RowWork {
            family,
            plan: &plan,
            loops: &mut loops,
            inputs: &mut inputs,
            outputs: &mut outputs,
            room: &mut room,
        };
        sum_rows(work, &mut list, layer.first, |inputs, outputs| {
            run.evaluate(inputs.as_flattened(), outputs.as_flattened_mut());
        });
        plans.push(plan);
    }
    (list.iter().map(|x| x.to_bits()).collect(), plans)
}

fn planned(family: &FamilyLoop, first: usize, isa: Option<x86_64::InstructionSet>) -> RowPlan {
    let limits = isa.and_then(|isa| x86_64::loop_limits(&family.terms.tape, isa));
    limits.map_or_else(
        || RowPlan::by_blocks(family),
        |limits| RowPlan::with_loops(family, first, limits),
    )
}

/// Runs of partners of random lengths from random places, with single ones between them.
fn scattered(n: usize, seed: u64) -> Vec<(usize, usize)> {
    let mut state = seed;
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut pairs = Vec::new();
    for i in 1..n {
        let (from, length) = (draw(i), 1 + draw(40));
        pairs.extend((from..i.min(from + length)).map(|j| (i, j)));
        pairs.extend((draw(3) == 0).then(|| (i, draw(i))));
    }
    pairs
}

/// Whatever the rows are: places that follow no rule among runs that end anywhere, and runs that meet.
#[test]
fn random_rows_have_the_bits_of_blocks() {
    let mut shapes = 0;
    for seed in 0..12 {
        let pairs = scattered(60, seed);
        for program in [layer(repulsion, 60, &pairs), layer(turned, 60, &pairs)] {
            let layer = program.tape.layer.as_ref().expect("there is a family");
            let (expected, _) = summed(layer, None);
            for isa in x86_64::instruction_sets() {
                let (found, plans) = summed(layer, Some(isa));
                assert!(found == expected, "{isa:?}, seed {seed}");
                shapes += plans.iter().map(|plan| plan.shapes.len()).sum::<usize>();
            }
        }
    }
    assert!(shapes > 0 || x86_64::instruction_sets().next().is_none());
}

#[test]
fn loops_have_the_bits_of_blocks() {
    let mut places = Vec::new();
    // Pairs of all numbers, whose runs end in blocks of every length; neighbours, whose sums meet; and springs across.
    let line: Vec<(usize, usize)> = (1..300).map(|i| (i, i - 1)).collect();
    let across: Vec<(usize, usize)> = (40..300).map(|i| (i, i - 40)).collect();
    for pairs in [all_pairs(77), line, across] {
        let n = 1 + pairs.iter().map(|p| p.0).max().unwrap_or(0);
        for program in [layer(repulsion, n, &pairs), layer(turned, n, &pairs)] {
            let layer = program.tape.layer.as_ref().expect("there is a family");
            let (expected, _) = summed(layer, None);
            for isa in x86_64::instruction_sets() {
                let (found, plans) = summed(layer, Some(isa));
                assert!(found == expected, "{isa:?}, {n}");
                let passes = plans.iter().flat_map(|p| &p.passes);
                let (looped, all) = passes.fold((0, 0), |(looped, all), pass| {
                    let of = if pass.shape == BY_BLOCKS { 0 } else { pass.blocks };
                    (looped + of, all + pass.blocks)
                });
                assert!(10 * looped > 9 * all, "{looped} of {all} blocks in loops");
                places.extend(plans.into_iter().flat_map(|p| p.shapes).flat_map(|s| s.terms));
            }
        }
    }
    // Every kind of place has been met.
    if x86_64::instruction_sets().next().is_some() {
        assert!(places.contains(&TermPlace::Sum) && places.contains(&TermPlace::Kept));
        assert!(places.iter().any(|p| matches!(p, TermPlace::Run(..))));
    }
}

/// Rows in a loop that are joined from several stretches take as many calls as there are partners.
#[test]
fn stretches_that_go_on_are_one_call() {
    let program = layer(repulsion, 200, &all_pairs(200));
    let layer = program.tape.layer.as_ref().expect("there is a family");
    let Some(isa) = x86_64::instruction_sets().next() else { return };
    let plan = planned(&layer.families[0], layer.first, Some(isa));
    assert!(plan.passes.len() <= 205, "{} passes", plan.passes.len());
    assert_eq!(plan.shapes.len(), 1);
    assert_eq!(plan.shapes[0].groups, 1, "{:?}", plan.shapes);
}
