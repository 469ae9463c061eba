//! The tensors of a geometry as blocks, with headings and letters.

use pfaff_expr::Graph;
use pfaff_mechanics::{Connection, Geometry, Tensor, simple};
use pfaff_model::Workspace;

use super::block::{Block, Repeats};

/// Names of the three kinds of indices.
struct Names {
    all: Vec<String>,
    base: Vec<String>,
    dependent: Vec<String>,
}

/// All blocks, in the order in which they are shown.
pub(crate) fn blocks(model: &Workspace, found: &Geometry) -> Vec<Block> {
    let name = |&k: &usize| model.coordinates[k].name.clone();
    let names = Names {
        all: model.coordinates.iter().map(|c| c.name.clone()).collect(),
        base: found.split.base.iter().map(name).collect(),
        dependent: found.split.dependent.iter().map(name).collect(),
    };
    let g = &model.graph;
    let mut blocks = constraints(g, found, &names);
    if let Ok(c) = &found.connection {
        blocks.extend(metric(c, &names, found.obstacle.is_none()));
        blocks.extend(nonholonomic(g, found, c, &names));
    }
    blocks
}

fn block(
    (key, heading): (&'static str, &'static str),
    letter: (&'static str, &'static str),
    (upper, repeats): (usize, Repeats),
    names: Vec<&[String]>,
    tensor: Tensor,
) -> Block {
    let names = names.into_iter().map(<[String]>::to_vec).collect();
    let group = "";
    Block { group, key, heading, letter, upper, names, repeats, tensor, values: None }
}

/// ε, the fields, the drift and F.
fn constraints(g: &Graph, found: &Geometry, names: &Names) -> Vec<Block> {
    let (m, d, n) = (names.base.len(), names.dependent.len(), names.all.len());
    let split = &found.split;
    let mut blocks = vec![
        block(
            ("epsilon", "Dependent velocities q'^a = eps^a_m q'^m"),
            ("eps", "\\varepsilon"),
            (1, Repeats::Nothing),
            vec![&names.dependent, &names.base],
            Tensor::new(&[d, m], |i| split.slopes[i[0]][i[1]]),
        ),
        block(
            ("fields", "Horizontal fields X_m"),
            ("X", "X"),
            (1, Repeats::Nothing),
            vec![&names.all, &names.base],
            Tensor::new(&[n, m], |i| found.frame.fields[i[1]][i[0]]),
        ),
    ];
    if split.drift.iter().any(|&b| b != g.zero()) {
        blocks.push(block(
            ("drift", "Drift: q'^a = eps^a_m q'^m + b^a"),
            ("b", "b"),
            (1, Repeats::Nothing),
            vec![&names.dependent],
            Tensor::new(&[d], |i| split.drift[i[0]]),
        ));
    }
    blocks.push(block(
        ("bundle_curvature", "Curvature F of the constraints (antisymmetric)"),
        ("F", "F"),
        (1, Repeats::Antisymmetric),
        vec![&names.dependent, &names.base, &names.base],
        found.bundle_curvature.clone(),
    ));
    blocks
}

/// Metric and connections.
fn metric(c: &Connection, names: &Names, on_base: bool) -> Vec<Block> {
    let base = names.base.as_slice();
    let of = |key, letter, repeats, tensor: &Tensor| {
        let names = vec![base; tensor.shape.len()];
        block(key, letter, (1, repeats), names, tensor.clone())
    };
    let plain = Repeats::Nothing;
    let mut blocks = vec![
        block(
            ("metric", "Metric g (symmetric)"),
            ("g", "g"),
            (0, Repeats::Symmetric),
            vec![base, base],
            c.metric.clone(),
        ),
        of(
            ("connection", "Connection Gamma (first lower index: direction)"),
            ("Gamma", "\\Gamma"),
            plain,
            &c.connection,
        ),
        of(
            ("torsion", "Torsion S (antisymmetric)"),
            ("S", "S"),
            Repeats::Antisymmetric,
            &c.torsion,
        ),
    ];
    if on_base {
        blocks.push(of(
            ("christoffel", "Christoffel symbols of g (symmetric)"),
            ("LC", "\\bar\\Gamma"),
            Repeats::Symmetric,
            &c.christoffel,
        ));
        blocks.push(of(
            ("contorsion", "Contorsion K = Gamma - LC"),
            ("K", "K"),
            plain,
            &c.contorsion,
        ));
    }
    if let Some((curvature, plain)) = &c.curvatures {
        let anti = Repeats::Antisymmetric;
        let heading = "Curvature R of Gamma (antisymmetric in the last two)";
        blocks.push(of(("curvature", heading), ("R", "R"), anti, curvature));
        let heading = "Curvature of the Christoffel symbols (antisymmetric in the last two)";
        let letter = ("RLC", "\\bar R");
        blocks.push(of(("christoffel_curvature", heading), letter, anti, plain));
    }
    if let Some(second) = &c.second_form {
        blocks.push(block(
            ("second_fundamental_form", "Second fundamental form f"),
            ("f", "f"),
            (1, plain),
            vec![&names.all, base, base],
            second.clone(),
        ));
    }
    blocks.push(block(
        ("metricity", "Metricity residual X_m g_ns - Gamma_snm - Gamma_nms"),
        ("Dg", "\\nabla g"),
        (0, plain),
        vec![base, base, base],
        c.metricity.clone(),
    ));
    blocks
}

/// The nonholonomic connection P∇ on the distribution, in the frame X.
fn nonholonomic(g: &Graph, found: &Geometry, c: &Connection, names: &Names) -> Vec<Block> {
    let (m, n) = (names.base.len(), names.all.len());
    let base = names.base.as_slice();
    // T(X_μ, X_ν) = P[X_μ, X_ν] − [X_μ, X_ν] = 2 S^σ_μν X_σ − F^α_μν ∂_α
    let torsion = Tensor::new(&[n, m, m], |i| {
        let (k, μ, ν) = (i[0], i[1], i[2]);
        let two = g.integer(2);
        let inside = (0..m)
            .map(|σ| g.mul(g.mul(two, c.torsion.at(&[σ, μ, ν])), found.frame.fields[σ][k]));
        let side = found.split.dependent.iter().position(|&α| α == k);
        let bracket = side.map_or(g.zero(), |α| found.bundle_curvature.at(&[α, μ, ν]));
        simple(g, g.sub(g.sum(inside), bracket))
    });
    let mut blocks = vec![
        block(
            ("torsion", "Torsion P[X,Y] - [X,Y] of the nonholonomic connection"),
            ("T", "T"),
            (1, Repeats::Antisymmetric),
            vec![&names.all, base, base],
            torsion,
        ),
        block(
            ("curvature", "Curvature of the nonholonomic connection on the distribution"),
            ("RP", "R^P"),
            (1, Repeats::Antisymmetric),
            vec![base; 4],
            c.nonholonomic_curvature.clone(),
        ),
        block(
            ("symmetric_product", "Symmetric product <X_m : X_n> (symmetric)"),
            ("Y", "Y"),
            (1, Repeats::Symmetric),
            vec![base; 3],
            c.symmetric_product.clone(),
        ),
    ];
    blocks.iter_mut().for_each(|b| b.group = "nonholonomic");
    blocks
}
