//! The coefficients of Dormand and Prince 8(5,3), rounded to the nearest double.
//!
//! Source: Hairer, Nørsett and Wanner (1993), §II.5, II.6 and II.10, and their program DOP853,
//! which gives 30 digits. Stages count from 0; terms with weight zero are left out.
#![expect(clippy::unreadable_literal, reason = "digits are to be compared with the source")]

use crate::ode::lanes::StageTerm;

/// The coefficients of Dormand and Prince 8(5,3), for systems that carry out
/// [explicit steps](crate::ExplicitSteps) themselves.
///
/// A row holds the weight of every stage: $k_0, \dots, k_{11}$, then stage 12, which is the end of the step,
/// then the stages 13 to 15 for dense output. Stages that do not take part have the weight 0.
#[derive(Clone, Copy, Debug)]
pub struct Dop853Tableau {
    /// $c_i$ of the stages 1 to 11.
    pub nodes: [f64; STAGES],
    /// $a_{ij}$ of the stages 1 to 11.
    pub rows: [[f64; 16]; STAGES],
    /// $b_i$
    pub weights: [f64; 16],
    /// Those of the error estimates $e_5$ and $e_3$, without $h$.
    pub errors: [[f64; 16]; 2],
    /// $c_i$ of the stages 13 to 15, for dense output.
    pub dense_nodes: [f64; LATER],
    /// Their $a_{ij}$.
    pub dense_rows: [[f64; 16]; LATER],
    /// The weights of the rows of dense output, without $h$.
    pub dense: [[f64; 16]; 4],
}

/// Stages after the first, and those for dense output.
pub(crate) const STAGES: usize = 11;
pub(crate) const LATER: usize = 3;

impl Dop853Tableau {
    /// The coefficients.
    pub const DOP853: Self = Self {
        nodes: nodes_from(1),
        rows: spread([
            &STAGE_1, &STAGE_2, &STAGE_3, &STAGE_4, &STAGE_5, &STAGE_6, &STAGE_7, &STAGE_8,
            &STAGE_9, &STAGE_10, &STAGE_11,
        ]),
        weights: spread([&WEIGHTS])[0],
        errors: spread([&ERROR_5, &ERROR_3]),
        dense_nodes: nodes_from(STAGES + 2),
        dense_rows: spread([&STAGE_13, &STAGE_14, &STAGE_15]),
        dense: spread([&DENSE[0], &DENSE[1], &DENSE[2], &DENSE[3]]),
    };
}

/// Some of the nodes, from one on.
const fn nodes_from<const N: usize>(first: usize) -> [f64; N] {
    let mut nodes = [0.0; N];
    let mut i = 0;
    while i < N {
        nodes[i] = NODES[first + i];
        i += 1;
    }
    nodes
}

/// Terms at the places of their stages.
const fn spread<const N: usize>(rows: [&[StageTerm]; N]) -> [[f64; 16]; N] {
    let mut spread = [[0.0; 16]; N];
    let mut i = 0;
    while i < N {
        let mut l = 0;
        while l < rows[i].len() {
            let (stage, weight) = rows[i][l];
            spread[i][stage] = weight;
            l += 1;
        }
        i += 1;
    }
    spread
}

/// Nodes $c_i$ of the 16 stages; stage 12 is the end of the step.
pub(crate) const NODES: [f64; 16] = [
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
    1.0,
    0.1,
    0.2,
    0.7777777777777778,
];
/// Row 1 of the matrix $a_{ij}$.
pub(crate) const STAGE_1: [StageTerm; 1] = [(0, 0.05260015195876773)];
/// Row 2 of the matrix $a_{ij}$.
pub(crate) const STAGE_2: [StageTerm; 2] = [(0, 0.0197250569845379), (1, 0.0591751709536137)];
/// Row 3 of the matrix $a_{ij}$.
pub(crate) const STAGE_3: [StageTerm; 2] = [(0, 0.02958758547680685), (2, 0.08876275643042054)];
/// Row 4 of the matrix $a_{ij}$.
pub(crate) const STAGE_4: [StageTerm; 3] =
    [(0, 0.2413651341592667), (2, -0.8845494793282861), (3, 0.924834003261792)];
/// Row 5 of the matrix $a_{ij}$.
pub(crate) const STAGE_5: [StageTerm; 3] =
    [(0, 0.037037037037037035), (3, 0.17082860872947386), (4, 0.12546768756682242)];
/// Row 6 of the matrix $a_{ij}$.
pub(crate) const STAGE_6: [StageTerm; 4] =
    [(0, 0.037109375), (3, 0.17025221101954405), (4, 0.06021653898045596), (5, -0.017578125)];
/// Row 7 of the matrix $a_{ij}$.
pub(crate) const STAGE_7: [StageTerm; 5] = [
    (0, 0.03709200011850479),
    (3, 0.17038392571223998),
    (4, 0.10726203044637328),
    (5, -0.015319437748624402),
    (6, 0.008273789163814023),
];
/// Row 8 of the matrix $a_{ij}$.
pub(crate) const STAGE_8: [StageTerm; 6] = [
    (0, 0.6241109587160757),
    (3, -3.3608926294469414),
    (4, -0.868219346841726),
    (5, 27.59209969944671),
    (6, 20.154067550477894),
    (7, -43.48988418106996),
];
/// Row 9 of the matrix $a_{ij}$.
pub(crate) const STAGE_9: [StageTerm; 7] = [
    (0, 0.47766253643826434),
    (3, -2.4881146199716677),
    (4, -0.590290826836843),
    (5, 21.230051448181193),
    (6, 15.279233632882423),
    (7, -33.28821096898486),
    (8, -0.020331201708508627),
];
/// Row 10 of the matrix $a_{ij}$.
pub(crate) const STAGE_10: [StageTerm; 8] = [
    (0, -0.9371424300859873),
    (3, 5.186372428844064),
    (4, 1.0914373489967295),
    (5, -8.149787010746927),
    (6, -18.52006565999696),
    (7, 22.739487099350505),
    (8, 2.4936055526796523),
    (9, -3.0467644718982196),
];
/// Row 11 of the matrix $a_{ij}$.
pub(crate) const STAGE_11: [StageTerm; 9] = [
    (0, 2.273310147516538),
    (3, -10.53449546673725),
    (4, -2.0008720582248625),
    (5, -17.9589318631188),
    (6, 27.94888452941996),
    (7, -2.8589982771350235),
    (8, -8.87285693353063),
    (9, 12.360567175794303),
    (10, 0.6433927460157636),
];
/// Weights $b_i$ of the eighth-order result.
pub(crate) const WEIGHTS: [StageTerm; 8] = [
    (0, 0.054293734116568765),
    (5, 4.450312892752409),
    (6, 1.8915178993145003),
    (7, -5.801203960010585),
    (8, 0.3111643669578199),
    (9, -0.1521609496625161),
    (10, 0.20136540080403034),
    (11, 0.04471061572777259),
];
/// Row 13 of the matrix $a_{ij}$, for dense output only.
pub(crate) const STAGE_13: [StageTerm; 8] = [
    (0, 0.056167502283047954),
    (6, 0.25350021021662483),
    (7, -0.2462390374708025),
    (8, -0.12419142326381637),
    (9, 0.15329179827876568),
    (10, 0.00820105229563469),
    (11, 0.007567897660545699),
    (12, -0.008298),
];
/// Row 14 of the matrix $a_{ij}$, for dense output only.
pub(crate) const STAGE_14: [StageTerm; 8] = [
    (0, 0.03183464816350214),
    (5, 0.028300909672366776),
    (6, 0.053541988307438566),
    (7, -0.05492374857139099),
    (10, -0.00010834732869724932),
    (11, 0.0003825710908356584),
    (12, -0.00034046500868740456),
    (13, 0.1413124436746325),
];
/// Row 15 of the matrix $a_{ij}$, for dense output only.
pub(crate) const STAGE_15: [StageTerm; 8] = [
    (0, -0.42889630158379194),
    (5, -4.697621415361164),
    (6, 7.683421196062599),
    (7, 4.06898981839711),
    (8, 0.3567271874552811),
    (12, -0.0013990241651590145),
    (13, 2.9475147891527724),
    (14, -9.15095847217987),
];
/// The fifth-order error estimate $b - \hat b$.
pub(crate) const ERROR_5: [StageTerm; 8] = [
    (0, 0.01312004499419488),
    (5, -1.2251564463762044),
    (6, -0.4957589496572502),
    (7, 1.6643771824549864),
    (8, -0.35032884874997366),
    (9, 0.3341791187130175),
    (10, 0.08192320648511571),
    (11, -0.022355307863886294),
];
/// The third-order error estimate $b - \hat{\hat b}$.
pub(crate) const ERROR_3: [StageTerm; 8] = [
    (0, -0.18980075407240762),
    (5, 4.450312892752409),
    (6, 1.8915178993145003),
    (7, -5.801203960010585),
    (8, -0.42268232132379197),
    (9, -0.1521609496625161),
    (10, 0.20136540080403034),
    (11, 0.022651792198360825),
];
/// Rows 4 to 7 of the dense output.
pub(crate) const DENSE: [[StageTerm; 12]; 4] = [
    [
        (0, -8.428938276109013),
        (5, 0.5667149535193777),
        (6, -3.0689499459498917),
        (7, 2.38466765651207),
        (8, 2.117034582445028),
        (9, -0.871391583777973),
        (10, 2.2404374302607883),
        (11, 0.6315787787694688),
        (12, -0.08899033645133331),
        (13, 18.148505520854727),
        (14, -9.194632392478356),
        (15, -4.436036387594894),
    ],
    [
        (0, 10.427508642579134),
        (5, 242.28349177525817),
        (6, 165.20045171727028),
        (7, -374.5467547226902),
        (8, -22.113666853125306),
        (9, 7.733432668472264),
        (10, -30.674084731089398),
        (11, -9.332130526430229),
        (12, 15.697238121770845),
        (13, -31.139403219565178),
        (14, -9.35292435884448),
        (15, 35.81684148639408),
    ],
    [
        (0, 19.985053242002433),
        (5, -387.0373087493518),
        (6, -189.17813819516758),
        (7, 527.8081592054236),
        (8, -11.57390253995963),
        (9, 6.8812326946963),
        (10, -1.0006050966910838),
        (11, 0.7777137798053443),
        (12, -2.778205752353508),
        (13, -60.19669523126412),
        (14, 84.32040550667716),
        (15, 11.99229113618279),
    ],
    [
        (0, -25.69393346270375),
        (5, -154.18974869023643),
        (6, -231.5293791760455),
        (7, 357.6391179106141),
        (8, 93.40532418362432),
        (9, -37.45832313645163),
        (10, 104.0996495089623),
        (11, 29.8402934266605),
        (12, -43.53345659001114),
        (13, 96.32455395918828),
        (14, -39.17726167561544),
        (15, -149.72683625798564),
    ],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ode::dense_output::{DenseStep, Kind};

    /// $\sum_j a_{ij} = c_i$ for every stage, $\sum_i b_i c_i^q = 1/(q+1)$ up to order eight.
    #[test]
    fn rows_sum_to_nodes_and_weights_integrate_polynomials() {
        let sum = |terms: &[StageTerm]| terms.iter().map(|t| t.1).sum::<f64>();
        let rows: [&[StageTerm]; 15] = [
            &STAGE_1, &STAGE_2, &STAGE_3, &STAGE_4, &STAGE_5, &STAGE_6, &STAGE_7, &STAGE_8,
            &STAGE_9, &STAGE_10, &STAGE_11, &WEIGHTS, &STAGE_13, &STAGE_14, &STAGE_15,
        ];
        for (i, row) in rows.iter().enumerate() {
            // Entries up to 43: half an ulp of each.
            assert!((sum(row) - NODES[i + 1]).abs() < 3e-14, "row {}", i + 1);
        }
        for q in 0..8 {
            let moment: f64 = WEIGHTS.iter().map(|&(i, b)| b * NODES[i].powi(q)).sum();
            // Weights up to 6: half an ulp of each.
            assert!((moment - 1.0 / f64::from(q + 1)).abs() < 5e-15, "q = {q}");
        }
        // The error estimates vanish on polynomials below their order.
        for (estimate, order) in [(&ERROR_3, 3), (&ERROR_5, 5)] {
            for q in 0..order {
                let moment: f64 = estimate.iter().map(|&(i, e)| e * NODES[i].powi(q)).sum();
                assert!(moment.abs() < 5e-15, "order {order}, q = {q}");
            }
        }
    }

    /// Dense output integrates $\dot y = t^q$ exactly below its order: $u(\theta) =
    /// \theta^{q+1}/(q+1)$.
    #[test]
    fn dense_output_integrates_polynomials() {
        for q in 0..7 {
            let k = NODES.map(|c| c.powi(q));
            let end = 1.0 / f64::from(q + 1);
            let mut rows = vec![0.0, end, k[0] - end, 2.0 * end - (k[0] + k[12])];
            rows.extend(
                DENSE.iter().map(|row| row.iter().map(|&(j, d)| d * k[j]).sum::<f64>()),
            );
            let step = DenseStep {
                start: 0.0,
                end: 1.0,
                length: 1.0,
                kind: Kind::Hermite,
                rows: &rows,
                at_end: &[end],
            };
            for i in 0..=20 {
                let θ = f64::from(i) / 20.0;
                let mut y = [0.0];
                step.state(θ, &mut y);
                // Entries up to 500, half an ulp of each, times θ(1−θ)… below 0.1.
                assert!((y[0] - end * θ.powi(q + 1)).abs() < 2e-14, "q = {q}, θ = {θ}");
            }
        }
    }

    /// The weights of the stages in the derivative of dense output in the middle of the step, one after another.
    #[test]
    fn rounding_is_spread_as_told() {
        let mut sum = [0.0, 0.0];
        for stage in 0..16 {
            let mut k = [0.0; 16];
            k[stage] = 1.0;
            let of = |row: &[StageTerm]| row.iter().map(|&(j, d)| d * k[j]).sum::<f64>();
            let end = of(&WEIGHTS);
            let mut rows = vec![0.0, end, k[0] - end, 2.0 * end - (k[0] + k[12])];
            rows.extend(DENSE.iter().map(|row| of(row)));
            let step = DenseStep {
                start: 0.0,
                end: 1.0,
                length: 1.0,
                kind: Kind::Hermite,
                rows: &rows,
                at_end: &[end],
            };
            let mut weight = [0.0];
            step.derivative(0.5, &mut weight);
            sum[0] += weight[0];
            sum[1] += weight[0].abs();
            assert!(step.spread() < 58.3);
        }
        // Entries up to 500, half an ulp of each.
        assert!((sum[0] - 1.0).abs() < 1e-12 && (sum[1] - 58.28353).abs() < 1e-5, "{sum:?}");
    }
}
