//! The tensors of the parts as blocks, with headings and letters.

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Class, Equations, NormalForm, Tensor, closedness, constrained_system,
    cotangent as derive_cotangent, foliation as derive_foliation,
    lagrange_space as derive_space, simple,
};
use pfaff_model::{Dynamics, Workspace};

use super::{Fact, FactValue, Parts};
use crate::analysis::geometry::block::{Block, Repeats};

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
    fn push(
        &mut self,
        (key, heading): (&'static str, &'static str),
        letter: (&'static str, &'static str),
        (upper, repeats): (usize, Repeats),
        names: &[&Vec<String>],
        tensor: Tensor,
    ) {
        let names = names.iter().map(|n| (*n).clone()).collect();
        let group = self.name;
        self.blocks.push(Block {
            group,
            key,
            heading,
            letter,
            upper,
            names,
            repeats,
            tensor,
            values: None,
        });
    }
}

fn vector(entries: &[Expr]) -> Tensor {
    Tensor { shape: vec![entries.len()], entries: entries.to_vec() }
}

pub(super) fn foliation(model: &Workspace, normal: &NormalForm, parts: &mut Parts) {
    let Some(form) = derive_foliation(model, normal) else { return };
    let names = Names::new(model, parts);
    let (leaf, across) = (&names.leaf, &names.transverse);
    let mut group = Group { name: "foliation", blocks: &mut parts.blocks };
    let plain = Repeats::Nothing;
    group.push(
        ("C", "Constraint y^u = C^u"),
        ("C", "C"),
        (1, plain),
        &[leaf],
        vector(&normal.rates),
    );
    group.push(
        ("slopes", "Splitting C^u_k = dC^u/dy^k"),
        ("C", "C"),
        (1, plain),
        &[leaf, across],
        normal.slopes.clone(),
    );
    group.push(
        ("B", "Curvature B^u_kl = -[d_k + C_k d, d_l + C_l d]^u (antisymmetric)"),
        ("B", "B"),
        (1, Repeats::Antisymmetric),
        &[leaf, across, across],
        form.curvature,
    );
    if let Some(gamma) = form.gamma {
        group.push(
            ("gamma", "Affine part gamma of the curvature: R = gamma + B y"),
            ("gamma", "\\gamma"),
            (1, plain),
            &[leaf, across],
            gamma,
        );
    }
    group.push(
        (
            "S_curvature",
            "S-curvature R^u_k, with the accelerations of the transverse coordinates",
        ),
        ("R", "R"),
        (1, plain),
        &[leaf, across],
        form.s_curvature,
    );
    group.push(
        ("L_c", "Constrained Lagrangian"),
        ("L_c", "L_c"),
        (0, plain),
        &[],
        Tensor { shape: Vec::new(), entries: vec![form.lagrangian] },
    );
    group.push(
        (
            "hessian",
            "Hessian of L on the constraint: regular where it is invertible (symmetric)",
        ),
        ("h", "h"),
        (0, Repeats::Symmetric),
        &[across, across],
        form.hessian,
    );
    group.push(
        ("left", "Left sides d/dt dL_c/dy^k - dL_c/dx^k - C^u_k dL_c/dx^u"),
        ("left", "\\delta L_c"),
        (0, plain),
        &[across],
        vector(&form.left),
    );
    group.push(
        ("right", "Right sides (dL/dy^u) R^u_k + Q_k + C^u_k Q_u, equal to them on the motion"),
        ("right", "\\langle R, L_y\\rangle"),
        (0, plain),
        &[across],
        vector(&form.right),
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
    let plain = Repeats::Nothing;
    group.push(
        ("p", "Momenta p_k = dL/dy^k on the constraint"),
        ("p", "p"),
        (0, plain),
        &[across],
        vector(&form.momenta),
    );
    group.push(
        ("J", "J_kl = dp_k/dy^l, which must be invertible"),
        ("J", "J"),
        (0, plain),
        &[across, across],
        form.jacobian,
    );
    group.push(
        ("H", "H = 1 + C^T h J^-1, h_uk = dp_u/dy^k"),
        ("H", "H"),
        (0, plain),
        &[across, across],
        form.matrix,
    );
    group.push(
        ("right", "Right sides of H p' = right"),
        ("right", "r"),
        (0, plain),
        &[across],
        vector(&form.right),
    );
}

pub(super) fn lagrange_space(model: &Workspace, equations: &Equations, parts: &mut Parts) {
    let space = derive_space(model, equations);
    let names = Names::new(model, parts);
    let all = &names.all;
    let plain = Repeats::Nothing;
    let (mut notes, mut facts) = (Vec::new(), Vec::new());
    let mut group = Group { name: "lagrange_space", blocks: &mut parts.blocks };
    group.push(
        ("g", "Fundamental tensor g_ij = (1/2) d2L/dy^i dy^j (symmetric)"),
        ("g", "g"),
        (0, Repeats::Symmetric),
        &[all, all],
        space.metric,
    );
    group.push(
        (
            "elicoidal",
            "Elicoidal tensor F_ij = dF_j/dy^i - dF_i/dy^j of the forces (antisymmetric)",
        ),
        ("F", "F"),
        (0, Repeats::Antisymmetric),
        &[all, all],
        space.elicoidal,
    );
    match space.spray {
        Some(spray) => {
            let heading = "Spray: 2G^i = (1/2) g^ij (L_{y^j x^k} y^k + L_{y^j t} - L_{x^j})";
            group.push(("G", heading), ("G", "G"), (1, plain), &[all], vector(&spray));
        }
        None => notes.push(
            "no spray: the fundamental tensor is singular or too large; the constrained equations may still be \
             regular".to_owned(),
        ),
    }
    match space.semispray {
        Some(semispray) => {
            group.push(
                ("multipliers", "Multipliers from dQ/dt = 0"),
                ("lambda", "\\lambda"),
                (0, plain),
                &[&names.constraints],
                vector(&semispray.multipliers),
            );
            group.push(
                ("G_star", "Canonical semispray: x'' = -2 Gstar"),
                ("Gstar", "G^*"),
                (1, plain),
                &[all],
                vector(&semispray.coefficients),
            );
            match closed(model, equations, &semispray.multipliers) {
                Some((C, L)) => {
                    let verdict = FactValue::Verdict(Some(C.is_zero(&model.graph)));
                    facts.push(Fact { group: "lagrange_space", key: "closed", value: verdict });
                    let heading = "dC_ij of C = lambda_s a_s, zero where L* = L + lambda_s Q_s is equivalent to \
                        L (antisymmetric)";
                    let anti = (0, Repeats::Antisymmetric);
                    group.push(("closedness", heading), ("dC", "dC"), anti, &[all, all], C);
                    let heading = "L* = L + lambda_s Q_s";
                    let whole = Tensor { shape: Vec::new(), entries: vec![L] };
                    group.push(("L_star", heading), ("Lstar", "L^*"), (0, plain), &[], whole);
                }
                None => notes.push(
                    "lambda_s a_s is not a form on the positions, because multipliers or constraints contain \
                     velocities, time or terms without velocities: whether L* = L + lambda_s Q_s is equivalent \
                     to L is not tested"
                        .to_owned(),
                ),
            }
            if all.len() <= LARGEST {
                let N = semispray.connection(model);
                let R = semispray.curvature(model, &N);
                let heading = "Nonlinear connection N^i_j = dGstar^i/dy^j";
                group.push(("N", heading), ("N", "N"), (1, plain), &[all, all], N);
                let heading =
                    "Its curvature R^i_jk = delta_k N^i_j - delta_j N^i_k (antisymmetric)";
                let anti = (1, Repeats::Antisymmetric);
                group.push(("curvature", heading), ("R", "R"), anti, &[all, all, all], R);
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
    let plain = equations.classes.iter().all(|&c| c == Class::Linear);
    if λ.is_empty() || !plain || rows.iter().flatten().chain(λ).any(|&e| g.contains(e, &moving))
    {
        return None;
    }
    let added = g.dot(λ, &equations.residual);
    Some((closedness(model, rows, λ), simple(g, g.add(lagrangian, added))))
}

pub(super) fn krupkova(
    model: &Workspace,
    equations: &Equations,
    normal: &NormalForm,
    parts: &mut Parts,
) {
    let Some(system) = constrained_system(model, equations, normal) else {
        let note = "the constrained system needs Chetaev's reactions, but `along` gives a reaction another direction";
        parts.notes.push(("krupkova", note.into()));
        return;
    };
    let names = Names::new(model, parts);
    let across = &names.transverse;
    let k = across.len();
    let rows: Vec<Vec<Expr>> =
        system.matrix.entries.chunks(k.max(1)).map(<[Expr]>::to_vec).collect();
    let regular = model.graph.rank(&rows) == k;
    parts.facts.push(Fact {
        group: "krupkova",
        key: "regular",
        value: FactValue::Verdict(Some(regular)),
    });
    if !regular {
        let note = "det B' = 0 everywhere, so the constrained system is not regular";
        parts.notes.push(("krupkova", note.into()));
    }
    let mut group = Group { name: "krupkova", blocks: &mut parts.blocks };
    group.push(
        ("A", "A'_l of the reduced equation A'_l + B'_ls q''^s = 0"),
        ("A", "A'"),
        (0, Repeats::Nothing),
        &[across],
        vector(&system.force),
    );
    group.push(
        ("B", "B'_ls, regular where det B' is not zero (symmetric)"),
        ("B", "B'"),
        (0, Repeats::Symmetric),
        &[across, across],
        system.matrix,
    );
}
