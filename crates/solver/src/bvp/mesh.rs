//! A mesh that follows the residual: intervals are long where the polynomials of collocation are good.
//!
//! The residual on an interval behaves as $C h^q$ with $q$ Gauss points. The new mesh has equal shares of
//! $\int C^{1/q} ds$, as many as the tolerance needs.

use crate::bvp::collocation::GaussScheme;
use crate::bvp::path::BoundaryPath;

/// The path on a mesh with the residual spread evenly below the tolerance; none if that needs more than
/// `most` intervals.
pub(crate) fn redistributed(
    path: &BoundaryPath,
    residuals: &[f64],
    tolerance: f64,
    scheme: &GaussScheme,
    most: usize,
) -> Option<BoundaryPath> {
    let q = scheme.points().len();
    let d = path.dimension();
    let worst = residuals.iter().fold(0.0_f64, |m, r| m.max(*r));
    if !worst.is_finite() {
        return None;
    }
    // NOTE: a quarter of the tolerance leaves room for what the power law does not see; a floor keeps
    // intervals from growing without bound.
    let share = |r: &f64| libm::pow(r.max(1e-4 * worst) / (0.25 * tolerance), 1.0 / q as f64);
    let shares: Vec<f64> = residuals.iter().map(share).collect();
    let total: f64 = shares.iter().sum();
    let wanted = total.ceil().max(1.0);
    if wanted > most as f64 {
        return None;
    }
    // At least half as many, at most four times as many as before: the law holds for small changes.
    let before = path.intervals();
    let count = (wanted as usize).clamp(before.div_ceil(2), 4 * before);
    let mut mesh = vec![0.0];
    let (mut i, mut passed) = (0, 0.0);
    for k in 1..count {
        let goal = total * k as f64 / count as f64;
        while i + 1 < shares.len() && passed + shares[i] < goal {
            passed += shares[i];
            i += 1;
        }
        let part = ((goal - passed) / shares[i]).clamp(0.0, 1.0);
        mesh.push(path.mesh[i] + part * (path.mesh[i + 1] - path.mesh[i]));
    }
    mesh.push(1.0);
    let at = |s: f64| -> (usize, f64, f64) {
        let i = path.mesh.partition_point(|x| *x <= s).clamp(1, before) - 1;
        let h = path.mesh[i + 1] - path.mesh[i];
        (i, h, (s - path.mesh[i]) / h)
    };
    let mut nodes = Vec::with_capacity(mesh.len() * d);
    for &s in &mesh {
        let (i, h, θ) = at(s);
        nodes.extend(scheme.state(path.node(i), &path.slopes[i * q * d..], h, θ));
    }
    let mut slopes = Vec::with_capacity(count * q * d);
    for pair in mesh.windows(2) {
        for &c in scheme.points() {
            let (i, _, θ) = at(pair[0] + c * (pair[1] - pair[0]));
            slopes.extend(scheme.slope(&path.slopes[i * q * d..], d, θ));
        }
    }
    Some(BoundaryPath { mesh, nodes, slopes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path that is a polynomial of the scheme's degree on an uneven mesh is the same one on another mesh.
    #[test]
    fn another_mesh_has_the_same_path() {
        let scheme = GaussScheme::new(3);
        let state = |s: f64| vec![1.0 + s - 2.0 * s * s + s * s * s, 4.0 - s * s * s];
        let slope = |s: f64| [1.0 - 4.0 * s + 3.0 * s * s, -3.0 * s * s];
        let mesh = vec![0.0, 0.1, 0.45, 0.7, 1.0];
        let nodes = mesh.iter().flat_map(|&s| state(s)).collect();
        let points = |mesh: &[f64]| -> Vec<f64> {
            let at = |pair: &[f64]| {
                scheme.points().iter().map(|c| pair[0] + c * (pair[1] - pair[0])).collect()
            };
            mesh.windows(2).flat_map(|pair| -> Vec<f64> { at(pair) }).collect()
        };
        let slopes = points(&mesh).into_iter().flat_map(slope).collect();
        let path = BoundaryPath { mesh, nodes, slopes };
        for residuals in [[1.0, 1.0, 1.0, 1.0], [1e-3, 5.0, 0.2, 1.0], [8.0, 1e-2, 1.0, 30.0]] {
            let other =
                redistributed(&path, &residuals, 1.0, &scheme, 100).expect("it is small");
            assert_ne!(other.mesh, path.mesh);
            assert!(other.mesh.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", other.mesh);
            // Some roundings of numbers of about four.
            for (&s, found) in other.mesh.iter().zip(other.nodes.chunks(2)) {
                let off = found.iter().zip(state(s)).map(|(a, b)| (a - b).abs());
                assert!(off.fold(0.0, f64::max) < 1e-14, "{s}: {found:?}");
            }
            for (s, found) in points(&other.mesh).into_iter().zip(other.slopes.chunks(2)) {
                let off = found.iter().zip(slope(s)).map(|(a, b)| (a - b).abs());
                assert!(off.fold(0.0, f64::max) < 1e-13, "{s}: {found:?}");
            }
        }
    }
}
