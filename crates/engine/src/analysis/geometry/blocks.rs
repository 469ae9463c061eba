//! The tensors of a geometry as blocks, with headings and letters.

use pfaff_expr::Graph;
use pfaff_mechanics::{Connection, Geometry, Tensor, simple};
use pfaff_model::Workspace;

use super::block::{Block, Indices, Letter, Repeats, Title};

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

/// ε, the fields, the drift and F.
fn constraints(g: &Graph, found: &Geometry, names: &Names) -> Vec<Block> {
    let (m, d, n) = (names.base.len(), names.dependent.len(), names.all.len());
    let split = &found.split;
    let mut blocks = vec![
        Block::new(
            Title {
                key: "epsilon",
                heading: "Dependent velocities q'^a = eps^a_m q'^m",
                letter: Letter { text: "eps", latex: "\\varepsilon" },
            },
            Indices::new(1, &[&names.dependent, &names.base]),
            Tensor::new(&[d, m], |i| split.slopes[i[0]][i[1]]),
        ),
        Block::new(
            Title {
                key: "fields",
                heading: "Horizontal fields X_m",
                letter: Letter::plain("X"),
            },
            Indices::new(1, &[&names.all, &names.base]),
            Tensor::new(&[n, m], |i| found.frame.fields[i[1]][i[0]]),
        ),
    ];
    if split.drift.iter().any(|&b| b != g.zero()) {
        blocks.push(Block::new(
            Title {
                key: "drift",
                heading: "Drift: q'^a = eps^a_m q'^m + b^a",
                letter: Letter::plain("b"),
            },
            Indices::new(1, &[&names.dependent]),
            Tensor::new(&[d], |i| split.drift[i[0]]),
        ));
    }
    blocks.push(Block::new(
        Title {
            key: "bundle_curvature",
            heading: "Curvature F of the constraints (antisymmetric)",
            letter: Letter::plain("F"),
        },
        Indices::new(1, &[&names.dependent, &names.base, &names.base]).antisymmetric(),
        found.bundle_curvature.clone(),
    ));
    blocks
}

/// Metric and connections.
fn metric(c: &Connection, names: &Names, on_base: bool) -> Vec<Block> {
    let base = names.base.as_slice();
    // All indices on the base, the first above.
    let of = |title, repeats, tensor: &Tensor| {
        let names = vec![base; tensor.shape.len()];
        Block::new(title, Indices { repeats, ..Indices::new(1, &names) }, tensor.clone())
    };
    let plain = Repeats::Nothing;
    let mut blocks = vec![
        Block::new(
            Title {
                key: "metric",
                heading: "Metric g (symmetric)",
                letter: Letter::plain("g"),
            },
            Indices::new(0, &[base, base]).symmetric(),
            c.metric.clone(),
        ),
        of(
            Title {
                key: "connection",
                heading: "Connection Gamma (first lower index: direction)",
                letter: Letter { text: "Gamma", latex: "\\Gamma" },
            },
            plain,
            &c.connection,
        ),
        of(
            Title {
                key: "torsion",
                heading: "Torsion S (antisymmetric)",
                letter: Letter::plain("S"),
            },
            Repeats::Antisymmetric,
            &c.torsion,
        ),
    ];
    if on_base {
        blocks.push(of(
            Title {
                key: "christoffel",
                heading: "Christoffel symbols of g (symmetric)",
                letter: Letter { text: "LC", latex: "\\bar\\Gamma" },
            },
            Repeats::Symmetric,
            &c.christoffel,
        ));
        blocks.push(of(
            Title {
                key: "contorsion",
                heading: "Contorsion K = Gamma - LC",
                letter: Letter::plain("K"),
            },
            plain,
            &c.contorsion,
        ));
    }
    if let Some((curvature, plain)) = &c.curvatures {
        let anti = Repeats::Antisymmetric;
        let heading = "Curvature R of Gamma (antisymmetric in the last two)";
        blocks.push(of(
            Title { key: "curvature", heading, letter: Letter::plain("R") },
            anti,
            curvature,
        ));
        let heading = "Curvature of the Christoffel symbols (antisymmetric in the last two)";
        let letter = Letter { text: "RLC", latex: "\\bar R" };
        blocks.push(of(Title { key: "christoffel_curvature", heading, letter }, anti, plain));
    }
    if let Some(second) = &c.second_form {
        blocks.push(Block::new(
            Title {
                key: "second_fundamental_form",
                heading: "Second fundamental form f",
                letter: Letter::plain("f"),
            },
            Indices::new(1, &[&names.all, base, base]),
            second.clone(),
        ));
    }
    blocks.push(Block::new(
        Title {
            key: "metricity",
            heading: "Metricity residual X_m g_ns - Gamma_snm - Gamma_nms",
            letter: Letter { text: "Dg", latex: "\\nabla g" },
        },
        Indices::new(0, &[base, base, base]),
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
        Block::new(
            Title {
                key: "torsion",
                heading: "Torsion P[X,Y] - [X,Y] of the nonholonomic connection",
                letter: Letter::plain("T"),
            },
            Indices::new(1, &[&names.all, base, base]).antisymmetric(),
            torsion,
        ),
        Block::new(
            Title {
                key: "curvature",
                heading: "Curvature of the nonholonomic connection on the distribution",
                letter: Letter { text: "RP", latex: "R^P" },
            },
            Indices::new(1, &[base; 4]).antisymmetric(),
            c.nonholonomic_curvature.clone(),
        ),
        Block::new(
            Title {
                key: "symmetric_product",
                heading: "Symmetric product <X_m : X_n> (symmetric)",
                letter: Letter::plain("Y"),
            },
            Indices::new(1, &[base; 3]).symmetric(),
            c.symmetric_product.clone(),
        ),
    ];
    blocks.iter_mut().for_each(|b| b.group = "nonholonomic");
    blocks
}
