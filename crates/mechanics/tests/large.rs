//! Large systems: the blocks of (K) by auxiliary velocities are those of the mass matrix written out.

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Equations, Principle, SparseBlocks, derive, derive_for_run, kept_momenta, solve_saddle,
    sparse_rows,
};
use pfaff_model::Workspace;

use crate::support::{CLOSE, all_close, dot, model, solve};

/// A chain of links of which the first hangs on a support that moves.
fn chain(links: usize, rest: &str) -> String {
    format!(
        "parameters N = {links}
         coordinates th[1..N]
         let X[0] = sin(2*t)
         let Y[0] = t^2
         let X[i = 1..N] = X[i-1] + sin(th[i])
         let Y[i = 1..N] = Y[i-1] - cos(th[i])
         lagrangian sum(i = 1..N, (X[i]'^2 + Y[i]'^2)/2)
         {rest}"
    )
}

const SNAKE: &str = "parameters N = 24
    coordinates x, y, th[0..N]
    let X[0] = x
    let Y[0] = y
    let X[i = 1..N] = X[i-1] - cos(th[i])
    let Y[i = 1..N] = Y[i-1] - sin(th[i])
    kinetic sum(i = 0..N, (X[i]'^2 + Y[i]'^2)/2 + th[i]'^2/10)
    constraint e[i = 0..3]: Y[i]'*cos(th[i]) - X[i]'*sin(th[i]) = 0.1*t
    force x: -x' + th[1]";

const RODS: &str = "parameters N = 12
    coordinates X[1..N], Y[1..N]
    kinetic sum(i = 1..N, X[i]'^2 + Y[i]'^2)/2
    constraint r[i = 2..N]: (X[i]-X[i-1])^2 + (Y[i]-Y[i-1])^2 = 1";

/// Values at a point that looks random.
fn at(m: &Workspace, es: &[Expr]) -> Vec<f64> {
    m.graph.evaluate(es, &|s| 0.2 + (0.618_033_988_749_895 * s.index() as f64).fract())
}

fn full(m: &Workspace, rows: &[Vec<(usize, Expr)>], width: usize) -> Vec<Vec<f64>> {
    let full = |row: &Vec<(usize, Expr)>| {
        assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0), "ascending columns");
        let mut full = vec![0.0; width];
        let entries: Vec<Expr> = row.iter().map(|entry| entry.1).collect();
        row.iter().zip(at(m, &entries)).for_each(|(entry, x)| full[entry.0] = x);
        full
    };
    rows.iter().map(full).collect()
}

/// $M = J^\top\tilde M J$ and $A = \tilde A J$ where $D\xi = 0$ gives $\xi = J\dot q$; all else is the same.
#[test]
fn blocks_by_auxiliary_velocities_are_those_written_out() {
    let closed = chain(24, "constraint X[N] = 3\nconstraint a: Y[N]' = 2*th[1]'*X[N] + t");
    // Not quadratic in the velocities of the points.
    let bent = chain(24, "").replace("(X[i]'^2 + Y[i]'^2)/2", "-sqrt(9 + X[i]'^2 + Y[i]'^2)");
    for text in [&chain(24, "force th[2]: th[1]'"), &closed, &bent, SNAKE] {
        let m = &model(text).workspace();
        let whole = &derive(m, Principle::Chetaev).unwrap();
        let short = derive_for_run(m, Principle::Chetaev).unwrap();
        assert!(
            short.auxiliary.is_some() && short.mass.is_empty() && short.jacobian.is_empty()
        );
        let n = m.coordinates.len();
        let SparseBlocks { mass, definitions, jacobian, directions } = short.sparse(&m.graph);
        let width = mass.len();
        assert_eq!((width, &jacobian), (n + definitions.len(), &directions));
        let (mass, rows) = (full(m, &mass, width), full(m, &definitions, width));
        // J column by column: each definition by those before it.
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for k in 0..n {
            let mut column = vec![0.0; width];
            column[k] = 1.0;
            for (i, row) in rows.iter().enumerate() {
                assert!(
                    (row[n + i] - 1.0).abs() < 1e-15
                        && row[n + i + 1..].iter().all(|x| *x == 0.0)
                );
                column[n + i] = -dot(&row[..n + i], &column[..n + i]);
            }
            columns.push(column);
        }
        let wanted = full(m, &sparse_rows(&m.graph, &whole.mass), n);
        for (i, x) in columns.iter().enumerate() {
            let image: Vec<f64> = mass.iter().map(|row| dot(row, x)).collect();
            let found: Vec<f64> = columns.iter().map(|y| dot(y, &image)).collect();
            all_close(&found, &wanted[i], text);
        }
        let wanted = full(m, &sparse_rows(&m.graph, &whole.jacobian), n);
        for (row, wanted) in full(m, &jacobian, width).iter().zip(&wanted) {
            let found: Vec<f64> = columns.iter().map(|x| dot(row, x)).collect();
            all_close(&found, wanted, text);
        }
        assert_eq!(short.classes, whole.classes);
        assert_eq!(short.position, whole.position);
        for (one, other) in [
            (&short.force, &whole.force),
            (&short.drift, &whole.drift),
            (&short.residual, &whole.residual),
            (&short.momenta, &whole.momenta),
        ] {
            all_close(&at(m, one), &at(m, other), text);
        }
        solution_is_that_of_the_full_matrix(m, whole, &short);
    }
}

fn solution_is_that_of_the_full_matrix(m: &Workspace, whole: &Equations, short: &Equations) {
    let (n, rows) = (whole.mass.len(), whole.jacobian.len());
    let mass = full(m, &sparse_rows(&m.graph, &whole.mass), n);
    let jacobian = full(m, &sparse_rows(&m.graph, &whole.jacobian), n);
    let mut matrix = vec![vec![0.0; n + rows]; n + rows];
    for i in 0..n {
        matrix[i][..n].copy_from_slice(&mass[i]);
        for a in 0..rows {
            (matrix[i][n + a], matrix[n + a][i]) = (-jacobian[a][i], jacobian[a][i]);
        }
    }
    let wanted = solve(matrix, [at(m, &whole.force), at(m, &whole.drift)].concat());
    let found = solve_saddle(&m.graph, short, 100_000).expect("few steps");
    let found = [at(m, &found.accelerations), at(m, &found.multipliers)].concat();
    let scale = wanted.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
    assert_eq!(found.len(), wanted.len());
    for (x, y) in found.iter().zip(&wanted) {
        // Rounding of a few hundred operations, in a matrix that is not far from singular.
        assert!((x - y).abs() < CLOSE * scale, "{x} instead of {y}");
    }
}

/// Knife edges under all bodies of a chain: twice as many bodies take twice the nodes, and not four times as many.
#[test]
fn large_systems_are_derived_in_proportion_to_their_size() {
    let nodes = |bodies: usize| {
        let text = SNAKE.replace("N = 24", &format!("N = {bodies}")).replace("0..3", "0..N");
        let m = model(&text).workspace();
        let before = m.graph.len();
        let e = derive_for_run(&m, Principle::Chetaev).unwrap();
        let derived = m.graph.len() - before;
        solve_saddle(&m.graph, &e, 1_000 * bodies).expect("few steps");
        (derived, m.graph.len() - before - derived)
    };
    let (short, long) = (nodes(30), nodes(60));
    assert!(long.0 < 2 * short.0 + short.0 / 10, "derivation: {short:?} {long:?}");
    assert!(long.1 < 2 * short.1 + short.1 / 10, "solution: {short:?} {long:?}");
}

/// Edges hold the snake along x and y; nothing holds it along z, or turns its first body: by whichever form.
#[test]
fn reactions_along_symmetries_are_those_of_the_rows() {
    let text = SNAKE.replace("x, y, th", "x, y, z, th").replace("force x", "force th[2]");
    let m = &model(&format!("{text}\nkinetic z'^2")).workspace();
    let names = |e: &Equations| -> Vec<String> {
        kept_momenta(m, e).into_iter().map(|j| j.name).collect()
    };
    let short = derive_for_run(m, Principle::Chetaev).unwrap();
    assert!(short.auxiliary.is_some());
    assert_eq!(names(&short), ["z", "th[0]"]);
    assert_eq!(names(&derive(m, Principle::Chetaev).unwrap()), ["z", "th[0]"]);
}

/// Of very many cyclic coordinates those are kept that neither a force nor a reaction acts on: with all rates at once,
/// and one by one.
#[test]
fn momenta_of_many_cyclic_coordinates() {
    let text = "coordinates x[1..70], y\nkinetic (sum(i = 1..70, x[i]'^2) + y'^2)/2\n\
        constraint x[1]' = x[2]*y'\nforce x[3]: 1 + t\npotential x[2]^2";
    let m = &model(text).workspace();
    let names = |e: &Equations| -> Vec<String> {
        kept_momenta(m, e).into_iter().map(|j| j.name).collect()
    };
    let expected: Vec<String> = (4..=70).map(|i| format!("x[{i}]")).collect();
    let short = derive_for_run(m, Principle::Chetaev).unwrap();
    assert!(short.auxiliary.is_some());
    assert_eq!(names(&short), expected);
    assert_eq!(names(&derive(m, Principle::Chetaev).unwrap()), expected);
}

/// Auxiliary velocities are for systems of 24 coordinates or more, without reactions along other directions and without
/// memory, where they are shorter.
#[test]
fn auxiliary_velocities_are_for_large_systems() {
    let has = |text: &str| {
        let m = model(text).workspace();
        let short = derive_for_run(&m, Principle::Chetaev).unwrap();
        let full = derive(&m, Principle::Chetaev).unwrap();
        assert!(full.auxiliary.is_none() && full.kinetic.is_some() && short.kinetic.is_none());
        let written = short.by_full_rows(&m.graph);
        if let Some(written) = &written {
            // As expressions that may be put together in another order.
            for (one, other) in [
                (&written.mass, &full.mass),
                (&written.jacobian, &full.jacobian),
                (&written.directions, &full.directions),
            ] {
                assert_eq!(one.len(), other.len());
                all_close(&at(&m, &one.concat()), &at(&m, &other.concat()), text);
            }
        }
        written.is_none()
    };
    assert!(has(&chain(24, "")) && !has(&chain(23, "")));
    let along = format!("constraint c along [{}1]: th[1]' = 0", "0, ".repeat(23));
    assert!(!has(&chain(24, &along)));
    let memory = "constraint c: th[1]' = caputo(th[2], 0.5)";
    assert!(!has(&chain(24, memory)));
    assert!(!has(RODS), "every velocity stands by itself");
    let few = model(&chain(24, "")).workspace();
    let vakonomic = derive_for_run(&few, Principle::Vakonomic).unwrap();
    assert!(vakonomic.auxiliary.is_none(), "for Chetaev's principle alone");
}
