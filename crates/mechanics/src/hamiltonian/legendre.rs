//! Legendre's transformation of a Lagrangian with constraints, with respect to any velocities.
//!
//! For $L$ quadratic and $\varphi$ affine in velocities $u$ (ordinary or fractional ones),
//!
//! $$ p = \frac{\partial}{\partial u}(L - \mu\cdot\varphi) = Mu + g - A^\top\mu, \qquad Au + a = 0
//! \qquad\Longrightarrow\qquad \begin{pmatrix} M & -A^\top\\\\ A & 0\end{pmatrix}\begin{pmatrix}u\\\\
//! \mu\end{pmatrix} = \begin{pmatrix} p - g\\\\ -a\end{pmatrix}, $$
//!
//! and $\mathcal H = p\cdot u - L$ with these $u$. For $M = 1$ and one constraint $A\cdot u = 0$ this is $u =
//! (1 - AA^\top/A^2)\,p$, $\mu = -A\cdot p/A^2$ \[TZ06, (88)–(93) with $\mu \mapsto -\mu$\].

use pfaff_expr::{Expr, Graph, Node, Role, Unary};

use crate::algebra::elimination::solve_linear;
use crate::algebra::tensor::simple;

/// What is transformed.
#[derive(Clone, Copy, Debug)]
pub struct LegendreInput<'a> {
    /// $L$
    pub lagrangian: Expr,
    /// $\varphi$
    pub residuals: &'a [Expr],
    /// $u$
    pub velocities: &'a [Expr],
    /// $p$
    pub momenta: &'a [Expr],
}

/// The transformation.
#[derive(Clone, Debug)]
pub struct Legendre {
    /// $u$ by momenta.
    pub velocities: Vec<Expr>,
    /// $\mu$ by momenta.
    pub multipliers: Vec<Expr>,
    /// $\mathcal H$
    pub hamiltonian: Expr,
}

/// Legendre's transformation.
///
/// # Errors
///
/// Which hypothesis fails, in words.
pub fn legendre(g: &Graph, given: LegendreInput<'_>) -> Result<Legendre, &'static str> {
    let LegendreInput { lagrangian, residuals, velocities: u, momenta: p } = given;
    let slopes = g.gradient(lagrangian, u);
    let mass = g.jacobian(&slopes, u);
    let rows = g.jacobian(residuals, u);
    let varies = |list: &[Vec<Expr>]| list.iter().flatten().any(|&e| g.contains(e, u));
    if varies(&mass) {
        return Err("the Lagrangian is not quadratic in the velocities");
    }
    if varies(&rows) {
        return Err("a constraint is not linear or affine in the velocities");
    }
    let still: Vec<(Expr, Expr)> = u.iter().map(|&u| (u, g.zero())).collect();
    let vector = g.substitute(&slopes, &still);
    let rest = g.substitute(residuals, &still);
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for i in 0..u.len() {
        let side = rows.iter().map(|row| g.neg(row[i]));
        matrix.push(mass[i].iter().copied().chain(side).collect::<Vec<_>>());
        right.push(vec![g.sub(p[i], vector[i])]);
    }
    for (row, &a) in rows.iter().zip(&rest) {
        let zeros = std::iter::repeat_n(g.zero(), rows.len());
        matrix.push(row.iter().copied().chain(zeros).collect());
        right.push(vec![g.neg(a)]);
    }
    let solved = solve_linear(g, &matrix, &right).ok_or(
        "the momenta do not determine the velocities and multipliers: the mass is singular on the constraint",
    )?;
    let solved: Vec<Expr> = solved.iter().map(|x| simple(g, x[0])).collect();
    let velocities = solved[..u.len()].to_vec();
    let pairs: Vec<(Expr, Expr)> = u.iter().copied().zip(velocities.iter().copied()).collect();
    let whole = g.sub(g.dot(p, u), lagrangian);
    let hamiltonian = simple(g, g.substitute(&[whole], &pairs)[0]);
    Ok(Legendre { velocities, multipliers: solved[u.len()..].to_vec(), hamiltonian })
}

/// Coordinates up to which [`short_legendre`] writes out an inverse.
const SHORT: usize = 4;

/// As [`legendre`], for a formula that people read: the entries of the mass are shortened first, and its inverse is
/// written by minors, one block of coupled coordinates after another. Constraints, and more than four coordinates, are
/// left to [`legendre`]. Also for $L = b\cdot u + c - k\sqrt{A - u\cdot Gu}$, as of a relativistic particle.
///
/// # Errors
///
/// As [`legendre`].
pub fn short_legendre(g: &Graph, given: LegendreInput<'_>) -> Result<Legendre, &'static str> {
    let LegendreInput { lagrangian, residuals, velocities: u, momenta: p } = given;
    if !residuals.is_empty() || u.len() > SHORT {
        return legendre(g, given);
    }
    let slopes = g.gradient(lagrangian, u);
    let mass = g.jacobian(&slopes, u).concat();
    if mass.iter().any(|&e| g.contains(e, u)) {
        return relativistic(g, given)
            .ok_or("the Lagrangian is not quadratic in the velocities");
    }
    let still: Vec<(Expr, Expr)> = u.iter().map(|&u| (u, g.zero())).collect();
    let mut given = mass;
    given.extend(g.substitute(&slopes, &still));
    given.extend(g.substitute(&[lagrangian], &still));
    let desk = Graph::new();
    let short = g.on_paper(&given, &desk);
    g.as_written(|| {
        let short = desk.in_reading_order(&short, g);
        let (mass, rest) = short.split_at(u.len() * u.len());
        let mass = Mass { g, entries: mass, n: u.len() };
        let π: Vec<Expr> = p.iter().zip(rest).map(|(&p, &a)| g.sub(p, a)).collect();
        let mut velocities = vec![g.zero(); u.len()];
        let mut squares: Vec<(Expr, Vec<Expr>)> = Vec::new();
        let two = g.integer(2);
        for block in mass.blocks() {
            let determinant = mass.minor(&block, &block);
            if g.is_zero(determinant) {
                return Err(
                    "the momenta do not determine the velocities: the mass is singular",
                );
            }
            let mut terms = Vec::new();
            for (i, &k) in block.iter().enumerate() {
                let mut sum = Vec::new();
                for (j, &l) in block.iter().enumerate() {
                    let cofactor = mass.cofactor(&block, i, j);
                    sum.push(g.mul(cofactor, π[l]));
                    if j == i {
                        terms.push(g.mul(cofactor, g.mul(π[k], π[k])));
                    } else if j > i {
                        let pair = g.mul(cofactor, g.mul(π[k], π[l]));
                        terms.push(g.mul(two, pair));
                    }
                }
                velocities[k] = g.div(g.sum(sum), determinant);
            }
            let below = g.mul(two, determinant);
            match squares.iter_mut().find(|(known, _)| *known == below) {
                Some((_, all)) => all.extend(terms),
                None => squares.push((below, terms)),
            }
        }
        let kinetic = squares.into_iter().map(|(below, terms)| g.div(g.sum(terms), below));
        let hamiltonian = g.sub(g.sum(kinetic), rest[u.len()]);
        Ok(Legendre { velocities, multipliers: Vec::new(), hamiltonian })
    })
}

/// As [`short_legendre`] for $L = b\cdot u + c - k\sqrt{A - u\cdot Gu}$, as of a relativistic particle: with $\pi = p -
/// b$,
///
/// $$ u = \frac{\sqrt A}{k\rho}\,G^{-1}\pi, \qquad \mathcal H = k\sqrt A\,\rho - c, \qquad \rho = \sqrt{1 +
/// \pi\cdot G^{-1}\pi/k^2}. $$
///
/// For $G > 0$, where the root is real, this is the transformation. `None` for other Lagrangians.
fn relativistic(g: &Graph, given: LegendreInput<'_>) -> Option<Legendre> {
    let LegendreInput { lagrangian, velocities: u, .. } = given;
    let radicand = |e: Expr| match g.node(e) {
        Node::Unary(Unary::Sqrt, a) if g.contains(a, u) => Some(a),
        _ => None,
    };
    let roots: Vec<Expr> =
        g.live(&[lagrangian]).into_iter().filter(|&e| radicand(e).is_some()).collect();
    let &[root] = &roots[..] else { return None };
    let radicand = radicand(root)?;
    let name = g.symbol("the root", Role::Free);
    let outer = g.substitute(&[lagrangian], &[(root, name)])[0];
    let k = g.simplify(g.neg(g.gradient(outer, &[name])[0]));
    let slopes = g.gradient(outer, u);
    let is_linear = !g.contains(k, u)
        && !g.contains(k, &[name])
        && slopes.iter().all(|&b| !g.contains(b, u) && !g.contains(b, &[name]));
    let still: Vec<(Expr, Expr)> = u.iter().map(|&u| (u, g.zero())).collect();
    let tilt = g.substitute(&g.gradient(radicand, u), &still);
    if !is_linear || g.is_zero(k) || !tilt.iter().all(|&e| g.is_zero(e)) {
        return None;
    }
    let rest = g.substitute(&[outer], &[(name, g.zero())])[0];
    let [scalar, height] = g.substitute(&[rest, radicand], &still)[..] else { return None };
    // L = b u + (A - Q)/2 has the mass G, and H = π G⁻¹ π/2.
    let two = g.integer(2);
    let square = g.div(g.sub(height, radicand), two);
    let lagrangian = g.add(g.sub(rest, scalar), square);
    let plain = short_legendre(g, LegendreInput { lagrangian, ..given }).ok()?;
    let ratio = g.div(g.mul(two, plain.hamiltonian), g.mul(k, k));
    let [ratio, height, k] = shortened(g, [ratio, height, k]);
    let (ρ, speed) = (g.sqrt(g.add(g.one(), ratio)), g.sqrt(height));
    let scale = g.div(speed, g.mul(k, ρ));
    let velocities = plain.velocities.iter().map(|&v| g.mul(scale, v)).collect();
    let hamiltonian = g.sub(g.mul(g.mul(k, speed), ρ), scalar);
    Some(Legendre { velocities, multipliers: Vec::new(), hamiltonian })
}

/// The shortest formulas of some expressions.
fn shortened<const N: usize>(g: &Graph, given: [Expr; N]) -> [Expr; N] {
    let desk = Graph::new();
    let short = g.on_paper(&given, &desk);
    let short = g.as_written(|| desk.in_reading_order(&short, g));
    std::array::from_fn(|i| short[i])
}

/// A symmetric matrix of expressions.
struct Mass<'a> {
    g: &'a Graph,
    entries: &'a [Expr],
    n: usize,
}

impl Mass<'_> {
    /// Coordinates that are coupled, in declared order.
    fn blocks(&self) -> Vec<Vec<usize>> {
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let is_coupled = |i: usize, j: usize| !self.g.is_zero(self.entries[i * self.n + j]);
        for k in 0..self.n {
            let (coupled, mut others): (Vec<_>, Vec<_>) = blocks
                .into_iter()
                .partition(|b: &Vec<usize>| b.iter().any(|&i| is_coupled(i, k)));
            let mut own: Vec<usize> = coupled.concat();
            own.push(k);
            own.sort_unstable();
            others.push(own);
            others.sort_unstable();
            blocks = others;
        }
        blocks
    }

    /// The determinant of some rows and columns; 1 for none.
    fn minor(&self, rows: &[usize], columns: &[usize]) -> Expr {
        let g = self.g;
        let Some((&first, rest)) = rows.split_first() else { return g.one() };
        let term = |(j, &c): (usize, &usize)| {
            let others: Vec<usize> = columns.iter().copied().filter(|&x| x != c).collect();
            let product = g.mul(self.entries[first * self.n + c], self.minor(rest, &others));
            if j.is_multiple_of(2) { product } else { g.neg(product) }
        };
        g.sum(columns.iter().enumerate().map(term))
    }

    fn cofactor(&self, block: &[usize], i: usize, j: usize) -> Expr {
        let without = |k: usize| -> Vec<usize> {
            block.iter().copied().enumerate().filter(|x| x.0 != k).map(|x| x.1).collect()
        };
        let minor = self.minor(&without(j), &without(i));
        if (i + j).is_multiple_of(2) { minor } else { self.g.neg(minor) }
    }
}
