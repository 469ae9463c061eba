//! The tensors of the parts as blocks, with headings and letters.

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Class, Equations, NormalForm, Tensor, closedness, constrained_system,
    cotangent as derive_cotangent, foliation as derive_foliation,
    lagrange_space as derive_space, simple,
};
use pfaff_model::{Dynamics, Workspace};

use super::{Fact, FactValue, Parts, Point};
use crate::analysis::geometry::block::{Block, Indices, Letter, Title};
use crate::analysis::geometry::ranks::Ranks;

/// The largest space whose nonlinear connection and curvature are written out: the curvature has its third
/// power of entries.
const LARGEST: usize = 4;

struct Names {
    all: Vec<String>,
    leaf: Vec<String>,
    transverse: Vec<String>,
    constraints: Vec<String>,
}

impl Names {
    fn new(model: &Workspace, parts: &Parts) -> Self {
        let name = |&k: &usize| model.coordinates[k].name.clone();
        Self {
            all: model.coordinates.iter().map(|c| c.name.clone()).collect(),
            leaf: parts.leaf.iter().map(name).collect(),
            transverse: parts.transverse.iter().map(name).collect(),
            constraints: model.constraints.iter().map(|c| c.name.clone()).collect(),
        }
    }
}

/// What is the same for the blocks of a group.
struct Group<'a> {
    name: &'static str,
    blocks: &'a mut Vec<Block>,
}

impl Group<'_> {
    fn push(&mut self, title: Title, indices: Indices<'_>, tensor: Tensor) {
        self.blocks.push(Block { group: self.name, ..Block::new(title, indices, tensor) });
    }
}

fn vector(entries: &[Expr]) -> Tensor {
    Tensor { shape: vec![entries.len()], entries: entries.to_vec() }
}

pub(super) fn foliation(
    model: &Workspace,
    equations: &Equations,
    normal: &NormalForm,
    parts: &mut Parts,
) {
    let Some(form) = derive_foliation(model, equations, normal) else { return };
    let names = Names::new(model, parts);
    let (leaf, across) = (&names.leaf, &names.transverse);
    let mut group = Group { name: "foliation", blocks: &mut parts.blocks };
    group.push(
        Title { key: "C", heading: "Constraint y^u = C^u", letter: Letter::plain("C") },
        Indices::new(1, &[leaf]),
        vector(&normal.rates),
    );
    group.push(
        Title {
            key: "slopes",
            heading: "Splitting C^u_k = dC^u/dy^k",
            letter: Letter::plain("C"),
        },
        Indices::new(1, &[leaf, across]),
        normal.slopes.clone(),
    );
    group.push(
        Title {
            key: "B",
            heading: "Curvature B^u_kl = -[d_k + C_k d, d_l + C_l d]^u (antisymmetric)",
            letter: Letter::plain("B"),
        },
        Indices::new(1, &[leaf, across, across]).antisymmetric(),
        form.curvature,
    );
    if let Some(gamma) = form.gamma {
        group.push(
            Title {
                key: "gamma",
                heading: "Affine part gamma of the curvature: R = gamma + B y",
                letter: Letter { text: "gamma", latex: "\\gamma" },
            },
            Indices::new(1, &[leaf, across]),
            gamma,
        );
    }
    group.push(
        Title {
            key: "S_curvature",
            heading: "S-curvature R^u_k, with the accelerations of the transverse coordinates",
            letter: Letter::plain("R"),
        },
        Indices::new(1, &[leaf, across]),
        form.s_curvature,
    );
    group.push(
        Title { key: "L_c", heading: "Constrained Lagrangian", letter: Letter::plain("L_c") },
        Indices::new(0, &[]),
        Tensor { shape: Vec::new(), entries: vec![form.lagrangian] },
    );
    let Some(sides) = form.equations else {
        let note = "`along` gives a reaction another direction than Chetaev's: the equations of the motion are not \
                    those of L_c and the curvature, and are left out";
        parts.notes.push(("foliation", note.into()));
        return;
    };
    group.push(
        Title {
            key: "hessian",
            heading: "Hessian of L on the constraint: regular where it is invertible \
                      (symmetric)",
            letter: Letter::plain("h"),
        },
        Indices::new(0, &[across, across]).symmetric(),
        sides.hessian,
    );
    group.push(
        Title {
            key: "left",
            heading: "Left sides d/dt dL_c/dy^k - dL_c/dx^k - C^u_k dL_c/dx^u",
            letter: Letter { text: "left", latex: "\\delta L_c" },
        },
        Indices::new(0, &[across]),
        vector(&sides.left),
    );
    group.push(
        Title {
            key: "right",
            heading: "Right sides (dL/dy^u) R^u_k + Q_k + C^u_k Q_u, equal to them on the \
                      motion",
            letter: Letter { text: "right", latex: "\\langle R, L_y\\rangle" },
        },
        Indices::new(0, &[across]),
        vector(&sides.right),
    );
}

pub(super) fn cotangent(
    model: &Workspace,
    equations: &Equations,
    normal: &NormalForm,
    parts: &mut Parts,
) {
    let form = match derive_cotangent(model, equations, normal) {
        Ok(form) => form,
        Err(refusal) => {
            let diagnostic = refusal.diagnostic();
            let hint = diagnostic.hint.unwrap_or_default();
            parts.notes.push(("cotangent", format!("{}; {hint}", diagnostic.message)));
            return;
        }
    };
    let names = Names::new(model, parts);
    let across = &names.transverse;
    let mut group = Group { name: "cotangent", blocks: &mut parts.blocks };
    group.push(
        Title {
            key: "p",
            heading: "Momenta p_k = dL/dy^k on the constraint",
            letter: Letter::plain("p"),
        },
        Indices::new(0, &[across]),
        vector(&form.momenta),
    );
    group.push(
        Title {
            key: "J",
            heading: "J_kl = dp_k/dy^l, which must be invertible",
            letter: Letter::plain("J"),
        },
        Indices::new(0, &[across, across]),
        form.jacobian,
    );
    group.push(
        Title {
            key: "H",
            heading: "H = 1 + C^T h J^-1, h_uk = dp_u/dy^k",
            letter: Letter::plain("H"),
        },
        Indices::new(0, &[across, across]),
        form.matrix,
    );
    group.push(
        Title {
            key: "right",
            heading: "Right sides of H p' = right",
            letter: Letter { text: "right", latex: "r" },
        },
        Indices::new(0, &[across]),
        vector(&form.right),
    );
}

pub(super) fn lagrange_space(model: &Workspace, equations: &Equations, parts: &mut Parts) {
    let space = derive_space(model, equations);
    let names = Names::new(model, parts);
    let all = &names.all;
    let (mut notes, mut facts) = (Vec::new(), Vec::new());
    let mut group = Group { name: "lagrange_space", blocks: &mut parts.blocks };
    group.push(
        Title {
            key: "g",
            heading: "Fundamental tensor g_ij = (1/2) d2L/dy^i dy^j (symmetric)",
            letter: Letter::plain("g"),
        },
        Indices::new(0, &[all, all]).symmetric(),
        space.metric,
    );
    group.push(
        Title {
            key: "elicoidal",
            heading: "Elicoidal tensor F_ij = dF_j/dy^i - dF_i/dy^j of the forces \
                      (antisymmetric)",
            letter: Letter::plain("F"),
        },
        Indices::new(0, &[all, all]).antisymmetric(),
        space.elicoidal,
    );
    match space.spray {
        Some(spray) => {
            let heading = "Spray: 2G^i = (1/2) g^ij (L_{y^j x^k} y^k + L_{y^j t} - L_{x^j})";
            let title = Title { key: "G", heading, letter: Letter::plain("G") };
            group.push(title, Indices::new(1, &[all]), vector(&spray));
        }
        None => notes.push(
            "no spray: the fundamental tensor is singular or too large; the constrained equations may still be \
             regular".to_owned(),
        ),
    }
    match space.semispray {
        Some(semispray) => {
            group.push(
                Title {
                    key: "multipliers",
                    heading: "Multipliers from dQ/dt = 0",
                    letter: Letter { text: "lambda", latex: "\\lambda" },
                },
                Indices::new(0, &[&names.constraints]),
                vector(&semispray.multipliers),
            );
            group.push(
                Title {
                    key: "G_star",
                    heading: "Canonical semispray: x'' = -2 Gstar",
                    letter: Letter { text: "Gstar", latex: "G^*" },
                },
                Indices::new(1, &[all]),
                vector(&semispray.coefficients),
            );
            match closed(model, equations, &semispray.multipliers) {
                Some((C, L)) => {
                    let verdict = FactValue::Verdict(Some(C.is_zero(&model.graph)));
                    facts.push(Fact { group: "lagrange_space", key: "closed", value: verdict });
                    let heading = "dC_ij of C = lambda_s a_s, zero where L* = L + lambda_s Q_s is equivalent to \
                        L (antisymmetric)";
                    let letter = Letter::plain("dC");
                    let title = Title { key: "closedness", heading, letter };
                    group.push(title, Indices::new(0, &[all, all]).antisymmetric(), C);
                    let heading = "L* = L + lambda_s Q_s";
                    let whole = Tensor { shape: Vec::new(), entries: vec![L] };
                    let letter = Letter { text: "Lstar", latex: "L^*" };
                    group.push(
                        Title { key: "L_star", heading, letter },
                        Indices::new(0, &[]),
                        whole,
                    );
                }
                None => {
                    let why = if equations.has_chetaev_reactions() {
                        "lambda_s a_s is not a form on the positions, because multipliers or constraints contain \
                         velocities, time or terms without velocities"
                    } else {
                        "`along` gives a reaction another direction than lambda_s a_s"
                    };
                    notes.push(format!(
                        "{why}: whether L* = L + lambda_s Q_s is equivalent to L is not tested"
                    ));
                }
            }
            if all.len() <= LARGEST {
                let N = semispray.connection(model);
                let R = semispray.curvature(model, &N);
                let heading = "Nonlinear connection N^i_j = dGstar^i/dy^j";
                group.push(
                    Title { key: "N", heading, letter: Letter::plain("N") },
                    Indices::new(1, &[all, all]),
                    N,
                );
                let heading =
                    "Its curvature R^i_jk = delta_k N^i_j - delta_j N^i_k (antisymmetric)";
                let title = Title { key: "curvature", heading, letter: Letter::plain("R") };
                group.push(title, Indices::new(1, &[all, all, all]).antisymmetric(), R);
            } else {
                notes.push(format!(
                    "nonlinear connection and curvature are shown for at most {LARGEST} coordinates"
                ));
            }
        }
        None => notes.push(
            "no semispray: the equations are singular or too large to be solved symbolically"
                .to_owned(),
        ),
    }
    parts.facts.extend(facts);
    parts.notes.extend(notes.into_iter().map(|note| ("lagrange_space", note)));
}

/// The closedness tensor of $\lambda_\sigma a_\sigma$ and $L^* = L + \lambda_\sigma Q_\sigma$, where
/// multipliers and rows are functions of the positions and there are constraints.
fn closed(model: &Workspace, equations: &Equations, λ: &[Expr]) -> Option<(Tensor, Expr)> {
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
    let g = &model.graph;
    let mut moving = model.velocities();
    moving.push(model.time);
    let rows = &equations.jacobian;
    let plain = equations.classes.iter().all(|&c| c == Class::Linear)
        && equations.has_chetaev_reactions();
    if λ.is_empty() || !plain || rows.iter().flatten().chain(λ).any(|&e| g.contains(e, &moving))
    {
        return None;
    }
    let added = g.dot(λ, &equations.residual);
    Some((closedness(model, rows, λ), simple(g, g.add(lagrangian, added))))
}

/// Whether $\det B' \ne 0$, at a point or generically: whether
///
/// $$ \begin{pmatrix} M & A^\top \\ A & 0 \end{pmatrix} $$
///
/// is regular, since $-B'$ is $M$ on the kernel of $A$. No chart of the velocities enters.
fn is_regular(
    model: &Workspace,
    equations: &Equations,
    rows: &[usize],
    there: Option<&Point>,
) -> bool {
    let zero = model.graph.zero();
    let n = model.coordinates.len();
    let A: Vec<&Vec<Expr>> = rows.iter().map(|&a| &equations.jacobian[a]).collect();
    let above = (0..n)
        .map(|i| equations.mass[i].iter().copied().chain(A.iter().map(|row| row[i])).collect());
    let below = A.iter().map(|row| {
        row.iter().copied().chain(std::iter::repeat_n(zero, rows.len())).collect::<Vec<Expr>>()
    });
    let saddle: Vec<Vec<Expr>> = above.chain(below).collect();
    let rank = match there {
        Some(point) => Ranks::new(model, &point.state(model)).rank(&saddle),
        None => model.graph.rank(&saddle),
    };
    rank == saddle.len()
}

pub(super) fn krupkova(
    model: &Workspace,
    equations: &Equations,
    normal: &NormalForm,
    there: Option<&Point>,
    parts: &mut Parts,
) {
    let Some(system) = constrained_system(model, equations, normal) else {
        let note = "the constrained system needs Chetaev's reactions, but `along` gives a reaction another direction";
        parts.notes.push(("krupkova", note.into()));
        return;
    };
    let names = Names::new(model, parts);
    let across = &names.transverse;
    let regular = is_regular(model, equations, &normal.rows, there);
    parts.facts.push(Fact {
        group: "krupkova",
        key: "regular",
        value: FactValue::Verdict(Some(regular)),
    });
    if !regular {
        let place = if there.is_some() { "at this state" } else { "everywhere" };
        let note =
            format!("det B' = 0 {place}, so the constrained system is not regular there");
        parts.notes.push(("krupkova", note));
    }
    let mut group = Group { name: "krupkova", blocks: &mut parts.blocks };
    group.push(
        Title {
            key: "A",
            heading: "A'_l of the reduced equation A'_l + B'_ls q''^s = 0",
            letter: Letter { text: "A", latex: "A'" },
        },
        Indices::new(0, &[across]),
        vector(&system.force),
    );
    group.push(
        Title {
            key: "B",
            heading: "B'_ls, regular where det B' is not zero (symmetric)",
            letter: Letter { text: "B", latex: "B'" },
        },
        Indices::new(0, &[across, across]).symmetric(),
        system.matrix,
    );
}
