//! The reduced equations made short: polynomials in $u$ where that saves operations, and small solves written out.

use pfaff_expr::{Expr, Graph, Role};

/// Operations of one equation above which it is not tried as a polynomial.
const SMALL: usize = 60;
/// Operations that a term of such a polynomial takes at least, nearly always: its coefficient, products and a sum.
const TERM: usize = 5;

/// Writes each equation as a polynomial in $u$ where that takes fewer operations: coefficients that are zero
/// or constant show only there.
pub(super) fn polish(
    g: &Graph,
    u: &[Expr],
    velocities: &[Expr],
    mass: &[Expr],
    equations: &mut [Expr],
) {
    let shared: Vec<Expr> = velocities.iter().chain(mass).copied().collect();
    let with = |e: Expr| g.operations(&[shared.as_slice(), &[e]].concat());
    let still: Vec<(Expr, Expr)> = u.iter().map(|&u| (u, g.zero())).collect();
    let least = g.operations(&shared);
    for e in equations.iter_mut() {
        let before = with(*e);
        let own = before - least;
        let long = |terms: usize| TERM * terms > own;
        if own > SMALL || g.quadratic_terms(*e, u).is_none_or(long) {
            continue;
        }
        let mut taken = vec![*e];
        taken.extend(g.gradient(*e, u));
        let bends: Vec<Vec<Expr>> =
            (0..u.len()).map(|a| g.gradient(taken[1 + a], &u[..=a])).collect();
        let at_rest = g.substitute(&taken, &still);
        let mut parts = vec![(at_rest[0], Vec::new())];
        for (a, bends) in bends.iter().enumerate() {
            let bends = g.substitute(bends, &still);
            parts.push((at_rest[1 + a], vec![u[a]]));
            for (b, &bend) in bends.iter().enumerate() {
                let half = if a == b { g.mul(g.fraction(1, 2), bend) } else { bend };
                parts.push((half, vec![u[a], u[b]]));
            }
        }
        let polynomial = g.as_written(|| {
            let product = |(c, us): &(Expr, Vec<Expr>)| us.iter().fold(*c, |x, &u| g.mul(x, u));
            g.sum(parts.iter().map(product))
        });
        if with(polynomial) < before {
            *e = polynomial;
        }
    }
}

/// Solves $M x = r$, the lower triangle of $M$ given by rows, and tells whether that took no elimination: no
/// other $u$ makes it lighter.
pub(super) fn solve(g: &Graph, mass: &[Expr], right: &[Expr]) -> (Vec<Expr>, bool) {
    let k = right.len();
    let entry = |a: usize, b: usize| mass[a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
    let is_diagonal = (0..k).all(|a| (0..a).all(|b| entry(a, b) == g.zero()));
    if is_diagonal {
        return (ldl(g, mass, right), true);
    }
    if let Some(c) = factor(g, &entry, right) {
        let inverse = g.div(g.one(), c);
        return (right.iter().map(|&r| g.mul(r, inverse)).collect(), true);
    }
    (if k == 3 { adjugate(g, mass, right) } else { ldl(g, mass, right) }, false)
}

/// A constant $c$ with $M r = c\,r$, as where a homogeneous ball rolls: then $r/c$ is the solution.
fn factor(g: &Graph, entry: &dyn Fn(usize, usize) -> Expr, right: &[Expr]) -> Option<Expr> {
    /// More unknowns, or longer equations, have no such constant worth looking for.
    const MOST: usize = 4;
    const LONG: usize = 400;
    let k = right.len();
    let symbols = g.symbols(&(0..k).map(|a| entry(a, a)).collect::<Vec<_>>());
    let still: Vec<(Expr, Expr)> =
        symbols.into_iter().filter(|&s| g.varies(s)).map(|s| (s, g.zero())).collect();
    if k > MOST || still.is_empty() || g.size(right) > LONG {
        return None;
    }
    // One proof for all rows: weights that the rows do not know keep them apart.
    let weights: Vec<Expr> =
        (0..k).map(|a| g.symbol(&format!("weight {a}"), Role::Free)).collect();
    let is_factor = |&c: &Expr| {
        g.is_zero(g.sum((0..k).map(|a| {
            let image = g.sum((0..k).map(|b| g.mul(entry(a, b), right[b])));
            g.mul(weights[a], g.sub(image, g.mul(c, right[a])))
        })))
    };
    let mut candidates: Vec<Expr> =
        (0..k).map(|a| g.substitute(&[entry(a, a)], &still)[0]).collect();
    candidates.dedup();
    candidates.into_iter().filter(|&c| !g.vanishes_modulo_prime(c)).find(is_factor)
}

/// Three unknowns with a single division: shorter than LDLᵀ for a processor that waits for the result.
fn adjugate(g: &Graph, m: &[Expr], r: &[Expr]) -> Vec<Expr> {
    let [a, b, c, d, e, f] = [m[0], m[1], m[2], m[3], m[4], m[5]];
    let minor = |p: Expr, q: Expr, r: Expr, s: Expr| g.sub(g.mul(p, q), g.mul(r, s));
    let (aa, ab, ad) = (minor(c, f, e, e), minor(d, e, b, f), minor(b, e, c, d));
    let (bb, bd, dd) = (minor(a, f, d, d), minor(b, d, a, e), minor(a, c, b, b));
    let dot = |x: [Expr; 3], y: [Expr; 3]| {
        g.add(g.mul(x[0], y[0]), g.add(g.mul(x[1], y[1]), g.mul(x[2], y[2])))
    };
    let inverse = g.div(g.one(), dot([a, b, d], [aa, ab, ad]));
    let r = [r[0], r[1], r[2]];
    [[aa, ab, ad], [ab, bb, bd], [ad, bd, dd]]
        .into_iter()
        .map(|row| g.mul(dot(row, r), inverse))
        .collect()
}

/// LDLᵀ written out.
fn ldl(g: &Graph, mass: &[Expr], right: &[Expr]) -> Vec<Expr> {
    let k = right.len();
    let (mut m, mut x) = (mass.to_vec(), right.to_vec());
    let ix = |a: usize, b: usize| a * (a + 1) / 2 + b;
    let mut inverses = Vec::with_capacity(k);
    for p in 0..k {
        let inverse = g.div(g.one(), m[ix(p, p)]);
        inverses.push(inverse);
        let column: Vec<Expr> = (p + 1..k).map(|i| m[ix(i, p)]).collect();
        for i in p + 1..k {
            m[ix(i, p)] = g.mul(column[i - p - 1], inverse);
            for j in p + 1..=i {
                let product = g.mul(m[ix(i, p)], column[j - p - 1]);
                m[ix(i, j)] = g.sub(m[ix(i, j)], product);
            }
        }
    }
    for i in 0..k {
        for j in 0..i {
            x[i] = g.sub(x[i], g.mul(m[ix(i, j)], x[j]));
        }
    }
    for i in (0..k).rev() {
        x[i] = g.mul(x[i], inverses[i]);
        for j in i + 1..k {
            x[i] = g.sub(x[i], g.mul(m[ix(j, i)], x[j]));
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $M = c + ww^\top$ and $r \perp w$: then $Mr = cr$, with $w = (\sin x, \cos x, 0, \dots)$ among so many
    /// unknowns, and $r$ of so many nodes.
    fn is_light(k: usize, size: usize) -> bool {
        let g = Graph::new();
        let x = g.symbol("x", Role::Coordinate { order: 0 });
        let c = g.symbol("c", Role::Parameter);
        let w = |a: usize| match a {
            0 => g.sin(x),
            1 => g.cos(x),
            _ => g.zero(),
        };
        let entry = |a: usize, b: usize| {
            let own = if a == b { c } else { g.zero() };
            g.add(own, g.mul(w(a), w(b)))
        };
        let mass: Vec<Expr> = (0..k)
            .flat_map(|a| (0..=a).map(move |b| (a, b)))
            .map(|(a, b)| entry(a, b))
            .collect();
        let mut scale = g.sin(g.integer(3));
        let made = |scale: Expr| {
            let mut right = vec![g.zero(); k];
            right[0] = g.mul(g.cos(x), scale);
            right[1] = g.neg(g.mul(g.sin(x), scale));
            right
        };
        scale = g.add(scale, x);
        while g.size(&made(scale)) < size {
            scale = g.cos(scale);
        }
        let right = made(scale);
        assert!(size == 0 || g.size(&right) == size);
        let (found, light) = g.merging(|| solve(&g, &mass, &right));
        let value = |e: Expr| g.evaluate(&[e], &|s| if s == x { 0.7 } else { 1.3 })[0];
        for (&x, &r) in found.iter().zip(&right) {
            assert!((value(x) - value(r) / 1.3).abs() < 1e-14, "rounding of a few terms");
        }
        light
    }

    /// $Mx = r$ for full matrices of numbers, exactly.
    #[test]
    fn written_solutions_are_exact() {
        let g = Graph::new();
        for k in 1..=6 {
            let number = |a: usize, b: usize| {
                let own = if a == b { 20 } else { 0 };
                (own + (a + 2 * b) * (b + 2 * a) % 7) as i64
            };
            let entry = |a: usize, b: usize| g.integer(number(a, b));
            let pairs = (0..k).flat_map(|a| (0..=a).map(move |b| (a, b)));
            let mass: Vec<Expr> = pairs.map(|(a, b)| entry(a, b)).collect();
            let right: Vec<Expr> = (0..k).map(|a| g.integer(a as i64 * a as i64 - 3)).collect();
            let (x, light) = solve(&g, &mass, &right);
            assert_eq!(light, k == 1);
            for a in 0..k {
                let row: Vec<Expr> = (0..k).map(|b| entry(a, b)).collect();
                assert_eq!(g.dot(&row, &x), right[a], "{k} unknowns");
            }
        }
    }

    #[test]
    fn equations_along_an_eigenvector_are_divided_by_a_constant() {
        assert!(is_light(2, 0) && is_light(3, 0) && is_light(4, 0));
        assert!(!is_light(5, 0), "too many unknowns to look");
        assert!(is_light(2, 400) && !is_light(2, 401));
    }
}
