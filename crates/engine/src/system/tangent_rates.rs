//! The rates of derivatives as expressions, given those of the state.
//!
//! $$ \dot s_k = \frac{\partial f}{\partial y}\,s_k + \frac{\partial f}{\partial p}\,\delta p_k $$
//!
//! are written direction by direction, so that only what varies is differentiated, or by the entries of the Jacobian,
//! which all directions share: whichever is shorter.

use pfaff_expr::{Expr, Graph, Role, number};

/// Operations of motion and derivatives together, at most: beyond, machine code does not fit the caches.
const LONGEST: usize = 40_000;

/// Symbols for the derivatives, direction by direction, and their rates.
pub(crate) struct TangentRates {
    pub(crate) symbols: Vec<Expr>,
    pub(crate) rates: Vec<Expr>,
}

/// For the rates `plain` of a state, along directions with these changes of parameters; `None` where it would be long.
pub(crate) fn tangent_rates(
    g: &Graph,
    plain: &[Expr],
    state: &[Expr],
    changes: &[Vec<(Expr, f64)>],
) -> Option<TangentRates> {
    let symbols: Vec<Expr> = (0..changes.len())
        .flat_map(|k| (0..state.len()).map(move |i| format!("tangent {k} of state {i}")))
        .map(|name| g.symbol(&name, Role::Free))
        .collect();
    let real = |x: f64| number::from_f64(x).map_or(g.zero(), |x| g.number(x));
    let directions: Vec<Vec<(Expr, Expr)>> = symbols
        .chunks_exact(state.len().max(1))
        .zip(changes)
        .map(|(s, change)| {
            let of_state = state.iter().copied().zip(s.iter().copied());
            of_state.chain(change.iter().map(|&(p, δ)| (p, real(δ)))).collect()
        })
        .collect();
    let length = |rates: &[Expr]| g.live(&[plain, rates].concat()).len();
    let mut rates = Vec::new();
    for direction in &directions {
        rates.extend(g.merging(|| g.directional(plain, direction)));
        if length(&rates) > LONGEST {
            return None;
        }
    }
    if changes.len() > 1 {
        let shared = by_jacobian(g, plain, &directions);
        if length(&shared) < length(&rates) {
            rates = shared;
        }
    }
    Some(TangentRates { symbols, rates })
}

/// The rates along some directions by the entries of the Jacobian.
fn by_jacobian(g: &Graph, plain: &[Expr], directions: &[Vec<(Expr, Expr)>]) -> Vec<Expr> {
    let mut by: Vec<Expr> = directions.iter().flatten().map(|&(symbol, _)| symbol).collect();
    by.sort_unstable();
    by.dedup();
    g.merging(|| {
        let columns = g.jacobian_columns(plain, &by);
        let mut rates = Vec::with_capacity(plain.len() * directions.len());
        for direction in directions {
            let mut terms: Vec<Vec<Expr>> = vec![Vec::new(); plain.len()];
            for &(symbol, δ) in direction {
                let Ok(place) = by.binary_search(&symbol) else { continue };
                for &(i, slope) in &columns[place] {
                    terms[i].push(g.mul(slope, δ));
                }
            }
            rates.extend(terms.into_iter().map(|terms| g.sum(terms)));
        }
        rates
    })
}
