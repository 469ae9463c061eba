//! Motions that stay at a switching function of what has no inertia: `equation` models, and rates of states.
//!
//! Where both branches push the motion back to $u = 0$, it stays there by a mean of both (Filippov 1988),
//!
//! $$ f = \tfrac{1 + \alpha}{2} f^+ + \tfrac{1 - \alpha}{2} f^-, \qquad
//!    \alpha = -\frac{h^+ + h^-}{h^+ - h^-}, \qquad h^\pm = \dot u \text{ along } f^\pm, $$
//!
//! until $\lvert\alpha\rvert = 1$. Of several such functions one after another is replaced by its mean.

use std::rc::Rc;

use pfaff_expr::{Expr, Graph};
use pfaff_model::{Direction, Dynamics, Workspace};

use crate::problem::branches::Branches;
use crate::run::hybrid::phase::{Making, Switch};

/// How the motion moves what a switching function may depend on: derivatives, and what they are.
fn rates(g: &Graph, model: &Workspace) -> Option<Vec<(Expr, Expr)>> {
    match &model.dynamics {
        Dynamics::Equations(equations) => {
            let residuals: Vec<Expr> = equations.iter().map(|e| e.expr).collect();
            let highest = |c: &pfaff_model::Coordinate| {
                if contains_any(g, &residuals, c.acceleration) {
                    c.acceleration
                } else {
                    c.velocity
                }
            };
            let unknowns: Vec<Expr> = model.coordinates.iter().map(highest).collect();
            residuals.iter().map(|&e| solved(g, e, &unknowns)).collect()
        }
        Dynamics::Lagrangian { .. } => {
            let of_state = |name: &str| {
                model
                    .coordinates
                    .iter()
                    .find(|c| c.is_state && c.name == name)
                    .map(|c| c.velocity)
            };
            let velocities: Vec<Expr> =
                model.coordinates.iter().filter(|c| c.is_state).map(|c| c.velocity).collect();
            let own = model.constraints.iter().filter(|c| c.is_rate);
            own.map(|c| {
                let velocity = of_state(&c.name)?;
                let rate = g.neg(g.substitute(&[c.expr], &[(velocity, g.zero())])[0]);
                (!g.contains(rate, &velocities)).then_some((velocity, rate))
            })
            .collect()
        }
    }
}

fn contains_any(g: &Graph, expressions: &[Expr], symbol: Expr) -> bool {
    expressions.iter().any(|&e| g.contains(e, &[symbol]))
}

/// The one unknown of an equation that is linear in it, and its value.
fn solved(g: &Graph, residual: Expr, unknowns: &[Expr]) -> Option<(Expr, Expr)> {
    let mut own = unknowns.iter().filter(|&&x| g.contains(residual, &[x]));
    let (Some(&unknown), None) = (own.next(), own.next()) else { return None };
    let split = g.try_linear(residual, &[unknown])?;
    let [slope] = split.coefficients[..] else { return None };
    Some((unknown, g.neg(g.div(split.rest, slope))))
}

/// $\dot u$ along the motion, if velocities and accelerations without inertia give it and the sign decides it.
fn rate_of(g: &Graph, model: &Workspace, u: Expr, sign: Expr) -> Option<Expr> {
    let rates = rates(g, model)?;
    let is_given = |x: Expr| rates.iter().any(|(of, _)| *of == x);
    let mut rate = g.derivative(u, model.time);
    for c in &model.coordinates {
        let (by_position, by_velocity) =
            (g.derivative(u, c.position), g.derivative(u, c.velocity));
        if by_velocity != g.zero() && !is_given(c.acceleration) {
            return None;
        }
        rate = g.add(rate, g.mul(by_position, c.velocity));
        rate = g.add(rate, g.mul(by_velocity, c.acceleration));
    }
    let rate = g.substitute(&[rate], &rates)[0];
    g.contains(rate, &[sign]).then_some(rate)
}

/// Whether a motion can stay at a switching function by a mean of both branches.
pub(super) fn can_slide(branches: &Branches, k: usize) -> bool {
    let model = &branches.model;
    let g = &model.graph;
    let Some(sign) = branches.symbols().nth(k) else { return false };
    let mut fixed: Vec<Expr> = branches.functions.clone();
    if let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics {
        fixed.push(lagrangian);
    }
    fixed.extend(model.constraints.iter().filter(|c| !c.is_rate).map(|c| c.expr));
    fixed.extend(model.constraints.iter().flat_map(|c| c.along.iter().flatten().copied()));
    !contains_any(g, &fixed, sign) && rate_of(g, model, branches.functions[k], sign).is_some()
}

/// What a switching function may be moved by: positions whose rates are given, and velocities whose accelerations are.
pub(super) fn movable(branches: &Branches) -> [Vec<bool>; 2] {
    let model = &branches.model;
    let rates = rates(&model.graph, model).unwrap_or_default();
    let is_given = |x: Expr| rates.iter().any(|(of, _)| *of == x);
    let of = |pick: fn(&pfaff_model::Coordinate) -> Expr| {
        model.coordinates.iter().map(|c| is_given(pick(c))).collect()
    };
    [of(|c| c.velocity), of(|c| c.acceleration)]
}

impl Making<'_> {
    /// Lets the motion stay at a switching function by a mean of both branches; says whether it can.
    pub(super) fn slide(&mut self, k: usize, u: Expr, sign: Expr) -> bool {
        let g = Rc::clone(&self.graph);
        let Some(rate) = rate_of(&g, &self.model, u, sign) else { return false };
        let at = |e: Expr, s: Expr| g.substitute(&[e], &[(sign, s)])[0];
        let sides = |e: Expr| (at(e, g.one()), at(e, g.neg(g.one())));
        let (above, below) = sides(rate);
        let part = g.neg(g.div(g.add(above, below), g.sub(above, below)));
        let half = |e: Expr| g.div(e, g.integer(2));
        let mean = |e: &mut Expr| {
            if g.contains(*e, &[sign]) {
                let (above, below) = sides(*e);
                let (sum, difference) = (half(g.add(above, below)), half(g.sub(above, below)));
                *e = g.add(sum, g.mul(part, difference));
            }
        };
        let rates = rates(&g, &self.model);
        if let Dynamics::Equations(equations) = &mut self.model.dynamics {
            for (equation, (unknown, value)) in
                equations.iter_mut().zip(rates.into_iter().flatten())
            {
                if g.contains(equation.expr, &[sign]) {
                    let mut value = value;
                    mean(&mut value);
                    equation.expr = g.sub(unknown, value);
                }
            }
        }
        self.model.constraints.iter_mut().filter(|c| c.is_rate).for_each(|c| mean(&mut c.expr));
        self.model.forces.iter_mut().flat_map(|f| &mut f.components).for_each(&mean);
        self.slides.iter_mut().for_each(|(_, earlier)| mean(earlier));
        self.slides.push((k, part));
        true
    }

    /// Where the motion leaves the switching functions at which it stays.
    pub(super) fn slides_end(&mut self) {
        let g = Rc::clone(&self.graph);
        for (k, part) in std::mem::take(&mut self.slides) {
            self.switch(Switch::Leave(k, 1.0), g.sub(g.one(), part), Direction::Falling);
            self.switch(Switch::Leave(k, -1.0), g.add(g.one(), part), Direction::Falling);
        }
    }
}
