//! Symmetries and the momenta that they keep.
//!
//! A field $\xi$ is a symmetry of $L$ where $\xi^k L_{q^k} + \dot\xi^k L_{\dot q^k} = 0$. With $J = p\cdot\xi$ then
//!
//! $$ \dot J = Q\cdot\xi + \lambda\cdot W\xi \quad\text{(Chetaev)}, \qquad \frac{d}{dt}\big(J -
//! \mu\cdot\varphi_{\dot q}\,\xi\big) = Q\cdot\xi \quad\text{(vakonomic, for a symmetry of $\varphi$ too)} .
//! $$
//!
//! So $J$ is kept under Chetaev's principle where the reactions have no component along $\xi$, and $J -
//! \mu\cdot\varphi_{\dot q}\xi$ under the vakonomic one. Otherwise combinations $\xi^c = c^s(q)\,\xi_s$ of
//! symmetries with
//! $A\,\xi^c = 0$ have the momentum equation $\dot J_c = \dot c^s\,p\cdot\xi_s + Q\cdot\xi^c$ \[Bloch,
//! Krishnaprasad, Marsden and Murray 1996\].

use pfaff_expr::{Expr, ZeroTest};
use pfaff_model::{Dynamics, Force, Principle, Workspace};

use crate::algebra::annihilator::{annihilator, plain_annihilator};
use crate::equations::{Equations, Refusal};
use crate::lagrangian::motion::motion_direction;
use crate::reduction::quasi_velocities;

/// A momentum and what happens to it.
#[derive(Clone, Debug)]
pub struct Momentum {
    /// The name of the symmetry, or of the cyclic coordinate.
    pub name: String,
    /// $\xi$, one component for each coordinate.
    pub generator: Vec<Expr>,
    /// $p\cdot\xi$, less $\mu\cdot\varphi_{\dot q}\,\xi$ under the vakonomic principle.
    pub momentum: Expr,
    /// $\dot J$: zero where it is kept. With `lambda(c)` where reactions act along $\xi$; `None` where
    /// nothing is known.
    pub rate: Option<Expr>,
    /// Whether the text gave the symmetry; else it is a cyclic coordinate or a combination.
    pub given: bool,
}

/// The momenta of the symmetries of a model under a principle: those that the text gives, then cyclic
/// coordinates, then combinations along the constraints that no single one replaces.
///
/// Under the restricted principle there are none to tell.
pub fn momenta(model: &Workspace, equations: &Equations) -> Vec<Momentum> {
    let g = &model.graph;
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return Vec::new() };
    if equations.principle == Principle::Restricted {
        return Vec::new();
    }
    g.merging(|| {
        let mut all = singles(model, equations, lagrangian, &|e| g.simplify(e));
        let combined = combinations(model, equations, &all);
        all.retain(|m| m.given || is_kept(model, m));
        all.extend(combined);
        all
    })
}

/// Those of the [`momenta`] that are kept, as they come: what has another value than zero somewhere need not
/// be written out to be left out.
pub fn kept_momenta(model: &Workspace, equations: &Equations) -> Vec<Momentum> {
    let g = &model.graph;
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return Vec::new() };
    if equations.principle == Principle::Restricted {
        return Vec::new();
    }
    if let Some(kept) = g.merging(|| kept_of_many(model, equations, lagrangian)) {
        return kept;
    }
    let quick = g.merging(|| {
        let short = if g.has_families() { g.gathered(lagrangian) } else { lagrangian };
        let mut all = singles(model, equations, short, &|e| e);
        let surely = |e: Expr| matches!(g.zero_test(e), ZeroTest::Nonzero { .. });
        let sure = all.iter().all(|m| is_kept(model, m) || m.rate.is_none_or(surely))
            && (all.len() > MOST_COMBINED
                || SymmetryFields::of(model, equations, &all, &|e| e)
                    .is_none_or(|f| f.moves(model)));
        all.retain(|m| is_kept(model, m));
        sure.then_some(all)
    });
    if quick.is_none() && model.coordinates.len() > MOST_COMBINED {
        return Vec::new();
    }
    quick.unwrap_or_else(|| {
        momenta(model, equations).into_iter().filter(|m| is_kept(model, m)).collect()
    })
}

/// As [`kept_momenta`], with further symmetries of the Lagrangian among those that are combined; what is kept where the
/// constraints hold counts too. The formulas of some momenta are given.
pub(super) fn kept_with(
    model: &Workspace,
    equations: &Equations,
    further: &[(Vec<Expr>, Option<Expr>)],
) -> Vec<Momentum> {
    let g = &model.graph;
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return Vec::new() };
    if further.is_empty() {
        return kept_momenta(model, equations);
    }
    let simple = |e: Expr| g.simplify(e);
    let mut all = singles(model, equations, lagrangian, &simple);
    for (ξ, written) in further {
        if !all.iter().any(|m| m.generator == *ξ) {
            let made = momentum(model, equations, ξ, &simple);
            all.push(Momentum { momentum: written.unwrap_or(made.momentum), ..made });
        }
    }
    let is_written = further.iter().any(|f| f.1.is_some());
    let mut combined = combinations(model, equations, &all);
    if is_written {
        combined.iter_mut().for_each(|m| m.momentum = in_given_words(model, &all, m));
    }
    all.extend(combined);
    let velocities = quasi_velocities(model, equations).map(|quasi| {
        let own = quasi.basis.iter().zip(&quasi.offset);
        let own = own.map(|(row, &b)| g.add(g.dot(row, &quasi.symbols), b));
        model.velocities().into_iter().zip(own).collect::<Vec<(Expr, Expr)>>()
    });
    let is_kept = |m: &Momentum| {
        let rate = m.rate.filter(|&r| !g.contains(r, &model.results.lambda));
        let inserted = |r: Expr| match &velocities {
            Some(own) => g.substitute(&[r], own)[0],
            None => r,
        };
        rate.is_some_and(|r| g.zero_test(inserted(r)) == ZeroTest::Zero)
    };
    all.retain(is_kept);
    all
}

/// The momentum of a combination as the same combination of momenta, if its coefficients are constant.
fn in_given_words(model: &Workspace, all: &[Momentum], combined: &Momentum) -> Expr {
    let g = &model.graph;
    let rows: Vec<Vec<Expr>> = (0..model.coordinates.len())
        .map(|k| {
            let own = all.iter().map(|m| m.generator[k]);
            own.chain([combined.generator[k]]).collect()
        })
        .collect();
    let columns: Vec<Vec<Expr>> =
        (0..=all.len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
    let found = g.constant_relations(&columns).unwrap_or_default();
    let relation = found.into_iter().find(|c| c.last().is_some_and(|&c| c != g.zero()));
    match relation.as_deref() {
        Some([own @ .., last]) => {
            let parts = own.iter().zip(all).map(|(&c, m)| g.mul(c, m.momentum));
            let written = g.neg(g.div(g.sum(parts), *last));
            let is_it = g.zero_test(g.sub(written, combined.momentum)) == ZeroTest::Zero;
            if is_it { written } else { combined.momentum }
        }
        _ => combined.momentum,
    }
}

/// The momenta of cyclic coordinates that are kept, where there are too many for combinations: with the rates of all of
/// them at once, $Q + \partial(\lambda\cdot\psi)/\partial\dot q$.
fn kept_of_many(
    model: &Workspace,
    equations: &Equations,
    lagrangian: Expr,
) -> Option<Vec<Momentum>> {
    let g = &model.graph;
    if equations.auxiliary.is_none() || !model.symmetries.is_empty() {
        return None;
    }
    let short = if g.has_families() { g.gathered(lagrangian) } else { lagrangian };
    let slopes = g.gradient(short, &model.positions());
    let cyclic: Vec<usize> =
        (0..slopes.len()).filter(|&k| g.vanishes_modulo_prime(slopes[k])).collect();
    if cyclic.len() <= MOST_COMBINED {
        return None;
    }
    let carried = model.results.lambda.iter().zip(&equations.residual);
    let pushed = g.gradient(g.sum(carried.map(|(&λ, &ψ)| g.mul(λ, ψ))), &model.velocities());
    let given = |k: usize| g.sum(model.forces.iter().map(|f| f.components[k]));
    let rates: Vec<Expr> = cyclic.iter().map(|&k| g.add(given(k), pushed[k])).collect();
    let moving = g.shown_nonzero(&rates);
    let mut kept = Vec::new();
    for ((&k, rate), is_moving) in cyclic.iter().zip(rates).zip(moving) {
        if !is_moving && g.is_zero(rate) && g.is_zero(slopes[k]) {
            let mut ξ = vec![g.zero(); slopes.len()];
            ξ[k] = g.one();
            kept.push(Momentum {
                name: model.coordinates[k].name.clone(),
                generator: ξ,
                momentum: equations.momenta[k],
                rate: Some(g.zero()),
                given: false,
            });
        }
    }
    Some(kept)
}

/// Symmetries up to which [`kept_momenta`] looks for combinations of them: that is work of the third power.
const MOST_COMBINED: usize = 64;

/// Given symmetries, then cyclic coordinates.
fn singles(
    model: &Workspace,
    equations: &Equations,
    lagrangian: Expr,
    simple: &dyn Fn(Expr) -> Expr,
) -> Vec<Momentum> {
    let g = &model.graph;
    let mut all: Vec<Momentum> = Vec::new();
    for s in &model.symmetries {
        let momentum = momentum(model, equations, &s.generator, simple);
        all.push(Momentum { name: s.name.clone(), given: true, ..momentum });
    }
    let slopes = g.gradient(lagrangian, &model.positions());
    let given = all.len();
    for (k, c) in model.coordinates.iter().enumerate() {
        // NOTE: what has another value modulo a prime needs no further test, which takes longer.
        let is_cyclic =
            g.vanishes_modulo_prime(slopes[k]) && g.zero_test(slopes[k]) == ZeroTest::Zero;
        if !is_cyclic {
            continue;
        }
        let mut ξ = vec![g.zero(); model.coordinates.len()];
        ξ[k] = g.one();
        if !all[..given].iter().any(|m| m.generator == ξ) {
            let momentum = momentum(model, equations, &ξ, simple);
            all.push(Momentum { name: c.name.clone(), ..momentum });
        }
    }
    all
}

fn is_kept(model: &Workspace, momentum: &Momentum) -> bool {
    momentum.rate == Some(model.graph.zero())
}

fn momentum(
    model: &Workspace,
    equations: &Equations,
    ξ: &[Expr],
    simple: &dyn Fn(Expr) -> Expr,
) -> Momentum {
    let g = &model.graph;
    let pushed = pushed(model, ξ);
    let mut momentum = along(model, &equations.momenta, ξ);
    let mut rate = Some(pushed);
    if equations.principle == Principle::Vakonomic {
        // NOTE: without `along`, W = A.
        let parts = components(model, equations, ξ).into_iter();
        let carried = equations.multipliers.iter().zip(parts).map(|(&μ, a)| g.mul(μ, a));
        momentum = g.sub(momentum, g.sum(carried));
        // One sum with free multipliers is invariant only where each of the constraints is.
        let weighted = equations.residual.iter().zip(&model.results.lambda);
        let all = g.sum(weighted.map(|(&ψ, &λ)| g.mul(λ, ψ)));
        let invariant = g.is_zero(change(model, all, ξ));
        rate = rate.filter(|_| invariant);
    } else {
        let reactions = components(model, equations, ξ).into_iter().zip(&model.results.lambda);
        let terms = reactions.map(|(w, &λ)| g.mul(λ, simple(w)));
        rate = rate.map(|r| g.add(r, g.sum(terms)));
    }
    let rate = rate.map(|r| if g.is_zero(r) { g.zero() } else { simple(r) });
    Momentum {
        name: String::new(),
        generator: ξ.to_vec(),
        momentum: simple(momentum),
        rate,
        given: false,
    }
}

/// $a\cdot\xi$
fn along(model: &Workspace, a: &[Expr], ξ: &[Expr]) -> Expr {
    model.graph.dot(a, ξ)
}

/// $W\xi$: what the reactions have along a field.
fn components(model: &Workspace, equations: &Equations, ξ: &[Expr]) -> Vec<Expr> {
    let g = &model.graph;
    let parts = ξ.iter().copied().enumerate().filter(|part| part.1 != g.zero());
    let parts: Vec<(usize, Expr)> = parts.collect();
    if equations.auxiliary.is_some() {
        let v = model.velocities();
        let direction: Vec<(Expr, Expr)> = parts.iter().map(|&(k, ξ)| (v[k], ξ)).collect();
        return g.directional(&equations.residual, &direction);
    }
    let component = |row: &Vec<Expr>| {
        let terms = parts.iter().filter(|part| row[part.0] != g.zero());
        g.sum(terms.map(|&(k, ξ)| g.mul(row[k], ξ)))
    };
    equations.directions.iter().map(component).collect()
}

/// $Q\cdot\xi$
fn pushed(model: &Workspace, ξ: &[Expr]) -> Expr {
    let g = &model.graph;
    let moved: Vec<usize> = (0..ξ.len()).filter(|&k| ξ[k] != g.zero()).collect();
    let component = |f: &[Expr], &k: &usize| (f[k] != g.zero()).then(|| g.mul(f[k], ξ[k]));
    let power = |f: &Force| g.sum(moved.iter().filter_map(|k| component(&f.components, k)));
    g.sum(model.forces.iter().map(power))
}

/// $\xi^k F_{q^k} + \dot\xi^k F_{\dot q^k}$
pub(super) fn change(model: &Workspace, f: Expr, ξ: &[Expr]) -> Expr {
    let g = &model.graph;
    let is_constant = ξ.iter().all(|&ξ| !g.varies(ξ));
    let turned = if is_constant {
        vec![g.zero(); ξ.len()]
    } else {
        g.directional(ξ, &motion_direction(model))
    };
    let pairs = model.coordinates.iter().enumerate();
    let pairs = pairs.flat_map(|(k, c)| [(c.position, ξ[k]), (c.velocity, turned[k])]);
    let direction: Vec<(Expr, Expr)> = pairs.filter(|pair| pair.1 != g.zero()).collect();
    g.directional(&[f], &direction)[0]
}

/// Coefficients of more nodes tell nobody anything: they are written in one line each.
const WORTH_TELLING: usize = 200;

/// Combinations of symmetries of $L$ that the constraints allow, where no single one with reactions is allowed.
fn combinations(model: &Workspace, equations: &Equations, all: &[Momentum]) -> Vec<Momentum> {
    let g = &model.graph;
    let simple = |e: Expr| g.simplify(e);
    let Some(SymmetryFields { fields, rows }) =
        SymmetryFields::of(model, equations, all, &simple)
    else {
        return Vec::new();
    };
    if rows.iter().flatten().any(|&e| is_moving(model, e)) {
        return Vec::new();
    }
    let combine = |c: Vec<Expr>| {
        let generator: Vec<Expr> =
            combined(model, &fields, &c).into_iter().map(simple).collect();
        let parts = c.iter().zip(&fields).filter(|(c, _)| **c != g.zero());
        let parts: Vec<String> = parts
            .map(|(&c, m)| match g.to_text(c).as_str() {
                "1" => m.name.clone(),
                text => format!("({text})*{}", m.name),
            })
            .collect();
        Momentum {
            name: parts.join(" + "),
            momentum: g.simplify(g.dot(&equations.momenta, &generator)),
            rate: Some(g.simplify(combined_rate(model, &fields, &c, &generator))),
            generator,
            given: false,
        }
    };
    let found = annihilator(g, &rows, fields.len()).into_iter();
    found.filter(|c| g.size(c) <= WORTH_TELLING).map(combine).collect()
}

/// Symmetries that reactions act along, and the component of each constraint along each of them.
struct SymmetryFields<'a> {
    fields: Vec<&'a Momentum>,
    rows: Vec<Vec<Expr>>,
}

impl<'a> SymmetryFields<'a> {
    /// `None` where there is nothing to combine.
    fn of(
        model: &Workspace,
        equations: &Equations,
        all: &'a [Momentum],
        simple: &dyn Fn(Expr) -> Expr,
    ) -> Option<Self> {
        let own = equations.has_chetaev_reactions();
        let mut fields: Vec<&Momentum> = all.iter().filter(|m| !is_kept(model, m)).collect();
        if equations.principle != Principle::Chetaev || !own || fields.len() < 2 {
            return None;
        }
        // NOTE: those of coordinates first, for they make the simpler pivots.
        fields.sort_by_key(|m| m.given);
        let columns: Vec<Vec<Expr>> =
            fields.iter().map(|m| components(model, equations, &m.generator)).collect();
        let row = |a: usize| columns.iter().map(|column| simple(column[a])).collect();
        let rows = (0..equations.residual.len()).map(row).collect();
        Some(Self { fields, rows })
    }

    /// Whether every combination has surely another rate than zero, or there is surely none; whether
    /// something is zero is not asked.
    fn moves(&self, model: &Workspace) -> bool {
        let g = &model.graph;
        let surely = |e: Expr| matches!(g.zero_test(e), ZeroTest::Nonzero { .. });
        let moving = self.rows.iter().flatten().copied().filter(|&e| is_moving(model, e));
        let moving: Vec<Expr> = moving.collect();
        if !moving.is_empty() {
            let mut by = model.velocities();
            by.push(model.time);
            return moving.into_iter().flat_map(|e| g.gradient(e, &by)).any(surely);
        }
        if self.moves_at_a_point(model) {
            return true;
        }
        plain_annihilator(g, &self.rows, self.fields.len()).iter().all(|c| {
            let ξ = combined(model, &self.fields, c);
            surely(combined_rate(model, &self.fields, c, &ξ))
        })
    }

    /// Whether every combination has a rate other than zero at one point, beyond rounding.
    fn moves_at_a_point(&self, model: &Workspace) -> bool {
        /// Rates below this fraction of their terms are left to exact tests.
        const RATE: f64 = 1e-6;
        let rates = self.rates_at(model, &somewhere);
        rates.is_some_and(|rates| rates.iter().all(|(sum, size)| sum.abs() > RATE * size))
    }

    /// The rates of all combinations at a point, each with the size of its terms; `None` where a pivot is
    /// too small to be told from zero.
    ///
    /// $A c = 0$ is solved there with numbers, and with it $A\dot c = -\dot A c$; free components of $c$ are
    /// 1 or 0 everywhere.
    fn rates_at(&self, model: &Workspace, at: &dyn Fn(Expr) -> f64) -> Option<Vec<(f64, f64)>> {
        /// Pivots below this fraction of the largest coefficient are left to exact tests.
        const PIVOT: f64 = 1e-3;
        let g = &model.graph;
        let (m, n) = (self.rows.len(), self.fields.len());
        let mut wanted: Vec<Expr> = self.rows.concat();
        wanted.extend(g.directional(&wanted, &motion_direction(model)));
        wanted.extend(self.fields.iter().map(|f| f.momentum));
        wanted.extend(self.fields.iter().map(|f| pushed(model, &f.generator)));
        let values = g.evaluate(&wanted, at);
        let (a, rest) = values.split_at(m * n);
        let (a_rate, rest) = rest.split_at(m * n);
        let (p, push) = rest.split_at(n);
        // Rows of (A, 1), brought to echelon form.
        let mut rows: Vec<Vec<f64>> = (0..m)
            .map(|i| {
                let unit = (0..m).map(|j| f64::from(u8::from(i == j)));
                a[i * n..][..n].iter().copied().chain(unit).collect()
            })
            .collect();
        let size = a.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        let mut pivots: Vec<usize> = Vec::new();
        for k in 0..n {
            let from = pivots.len();
            let Some(best) =
                (from..m).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()))
            else {
                break;
            };
            let pivot = rows[best][k];
            if pivot.abs() <= 1e-12 * size {
                continue;
            }
            // NOTE: written so that what is not a number is no pivot.
            let sound = pivot.abs() >= PIVOT * size;
            if !sound {
                return None;
            }
            rows.swap(from, best);
            rows[from].iter_mut().for_each(|x| *x /= pivot);
            let row = rows[from].clone();
            for other in (0..m).filter(|&i| i != from) {
                let factor = rows[other][k];
                rows[other].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            }
            pivots.push(k);
        }
        let rate = |free: usize| {
            let mut c = vec![0.0; n];
            c[free] = 1.0;
            pivots.iter().zip(&rows).for_each(|(&k, row)| c[k] = -row[free]);
            let right: Vec<f64> = a_rate
                .chunks_exact(n)
                .map(|row| -row.iter().zip(&c).map(|(x, c)| x * c).sum::<f64>())
                .collect();
            let spun = pivots.iter().zip(&rows).map(|(&k, row)| {
                p[k] * row[n..].iter().zip(&right).map(|(x, r)| x * r).sum::<f64>()
            });
            let terms = spun.chain(c.iter().zip(push).map(|(c, q)| c * q));
            terms.fold((0.0, 0.0), |(s, t), x: f64| (s + x, t + x.abs()))
        };
        Some((0..n).filter(|k| !pivots.contains(k)).map(rate).collect())
    }
}

/// A value for each symbol, between 0.2 and 1.2, by multiples of the golden ratio.
fn somewhere(symbol: Expr) -> f64 {
    0.2 + (0.618_033_988_749_895 * symbol.index() as f64).fract()
}

/// Coefficients that contain velocities or time are those of nonlinear or moving constraints.
fn is_moving(model: &Workspace, e: Expr) -> bool {
    model.graph.contains(e, &model.velocities()) || model.graph.contains(e, &[model.time])
}

/// $\xi^c = c^s\,\xi_s$
fn combined(model: &Workspace, fields: &[&Momentum], c: &[Expr]) -> Vec<Expr> {
    let g = &model.graph;
    let component =
        |k: usize| g.sum(c.iter().zip(fields).map(|(&c, m)| g.mul(c, m.generator[k])));
    (0..model.coordinates.len()).map(component).collect()
}

/// $\dot c^s\,p\cdot\xi_s + Q\cdot\xi^c$
fn combined_rate(model: &Workspace, fields: &[&Momentum], c: &[Expr], ξ: &[Expr]) -> Expr {
    let g = &model.graph;
    let spun = g.directional(c, &motion_direction(model));
    let carried = spun.iter().zip(fields).map(|(&c, m)| g.mul(c, m.momentum));
    g.add(pushed(model, ξ), g.sum(carried))
}

/// Refuses a `symmetry` along which the Lagrangian changes.
///
/// # Errors
///
/// [`Refusal::NotSymmetric`] says at which rate.
pub(crate) fn check(model: &Workspace, lagrangian: Expr) -> Result<(), Refusal> {
    let g = &model.graph;
    for s in &model.symmetries {
        let defect = g.merging(|| change(model, lagrangian, &s.generator));
        if matches!(g.zero_test(defect), ZeroTest::Nonzero { .. }) {
            return Err(Refusal::NotSymmetric {
                name: s.name.clone(),
                rate: g.to_text(g.simplify(defect)),
                span: s.span,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::principle::derive;
    use pfaff_model::{NoFiles, Overrides, Source, read_model};

    /// Rates of combinations by numbers are those of the formulas that elimination gives.
    #[test]
    fn rates_at_a_point_are_those_of_the_formulas() {
        let sleigh = "let X = x + 0.2*cos(phi)\nlet Y = y + 0.2*sin(phi)
            lagrangian 1.3*(X'^2 + Y'^2)/2 + phi'^2/4
            constraint blade: y'*cos(phi) - 2*x'*sin(phi) = 0";
        let several =
            "lagrangian (2*x'^2 + y'^2 + z'^2 + (1 + phi^2)*w'^2 + phi'^2)/2 + 0.3*x'*w'
            constraint a: x'*cos(phi) + 0.4*y' + (2 + phi)*z' = phi^2*w'
            constraint b: (1 + phi)*y' - 3*z' + w'*sin(phi) = 0
            force x: 0.3*y'\nforce w: 0.2*phi";
        let zeros = "lagrangian (x'^2 + y'^2 + z'^2 + w'^2 + phi'^2)/2
            constraint a: phi*z' + sin(phi)*w'/9 = 0\nforce y: 0.4*phi'\nforce z: phi";
        for (coordinates, text, count) in [
            ("x, y, phi", sleigh, 1),
            ("x, y, z, w, phi", several, 2),
            ("x, y, z, w, phi", zeros, 2),
        ] {
            let text = format!("coordinates {coordinates}\n{text}");
            let lines = text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
            let (model, _) =
                read_model(Source::new("test", &lines), &Overrides::default(), &NoFiles)
                    .expect("a model");
            let model = model.workspace();
            let g = &model.graph;
            let equations = derive(&model, Principle::Chetaev).expect("equations");
            let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
                panic!("{text}")
            };
            let all = singles(&model, &equations, lagrangian, &|e| e);
            let fields = SymmetryFields::of(&model, &equations, &all, &|e| e).expect("fields");
            let found = fields.rates_at(&model, &somewhere).expect("sound pivots");
            let wanted = plain_annihilator(g, &fields.rows, fields.fields.len());
            assert_eq!((found.len(), wanted.len()), (count, count), "{text}");
            for ((sum, size), c) in found.into_iter().zip(wanted) {
                let ξ = combined(&model, &fields.fields, &c);
                let rate = combined_rate(&model, &fields.fields, &c, &ξ);
                let rate = g.evaluate(&[rate], &somewhere)[0];
                // Rounding of a few operations with pivots above a thousandth of the rest.
                assert!((sum - rate).abs() < 1e-11 * size, "{text}: {sum} instead of {rate}");
                assert!(size >= sum.abs() && size < 100.0, "{size}");
            }
            assert!(fields.moves_at_a_point(&model), "{text}");
            // The first pivot of the sleigh is 2 sin(phi), too small to be trusted beside a cosine.
            let phi = model.coordinates.last().expect("an angle").position;
            let near =
                |x: f64| fields.rates_at(&model, &|s| if s == phi { x } else { 0.5 }).is_some();
            if count == 1 {
                assert!(near(0.01) && !near(1e-4) && near(0.0));
            }
        }
    }
}
