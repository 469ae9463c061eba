//! What contacts that carry add to a phase: their constraints, their friction, and where these end.
//!
//! A contact that carries is the constraint $g = 0$. A friction that holds is $\sigma = 0$, up to $|\lambda_\sigma| =
//! \mu\lambda$. One that slides turns the direction of the contact's own force,
//!
//! $$ w = \partial_q g - \mu\, s\cdot\partial_{\dot q}\sigma, \qquad s = \sigma/|\sigma|, $$
//!
//! where $s$ is a sign along a line. In a plane it is an expression of the velocities, with an offset where the
//! motion begins from rest, which fades as the slip grows; where friction is regularised,
//! $s = \sigma/\sqrt{|\sigma|^2 + \varepsilon^2}$.

use std::rc::Rc;

use pfaff_expr::{Expr, Role};
use pfaff_model::{Constraint, Contact, Direction, Friction};
use pfaff_solver::{ContactState, Rubbing};

use crate::run::hybrid::phase::{MARGIN, Making, Switch, slack_name, slip_name};

/// A friction among all.
#[derive(Clone, Copy)]
struct Place {
    contact: usize,
    friction: usize,
    /// Its first place among the names of multipliers.
    name: usize,
}

impl Making<'_> {
    /// What contacts that carry add.
    pub(super) fn contacts(&mut self) {
        let hybrid = self.model.hybrid.clone();
        let first = hybrid.constraints.len();
        let mut name = first + hybrid.contacts.len();
        let margin = self.parameter(MARGIN);
        for (k, contact) in hybrid.contacts.iter().enumerate() {
            let own = name;
            name += contact.frictions.iter().map(|f| f.rates.len()).sum::<usize>();
            let g = Rc::clone(&self.graph);
            if self.now.contacts[k] == ContactState::Idle {
                self.idle(k, contact);
            }
            let ContactState::Closed(rubbing) = self.now.contacts[k].clone() else { continue };
            let normal = g.gradient(contact.gap, &self.model.positions());
            let carried = g.symbol(&format!("lambda({})", contact.name), Role::Free);
            let mut along = normal.clone();
            let mut place = Place { contact: k, friction: 0, name: own };
            for (f, (friction, rubs)) in contact.frictions.iter().zip(&rubbing).enumerate() {
                place.friction = f;
                if let Rubbing::Slip(_) = rubs {
                    let parts = self.parts(place, friction);
                    for (&rate, &part) in friction.rates.iter().zip(&parts) {
                        let tangent = g.gradient(rate, &self.model.velocities());
                        let tilted = |(w, t): (&Expr, &Expr)| g.sub(*w, g.mul(part, *t));
                        along = along.iter().zip(&tangent).map(tilted).collect();
                    }
                    for (c, part) in parts.iter().enumerate() {
                        let force = g.neg(g.mul(*part, carried));
                        self.sliding.push((place.name + c, force));
                    }
                }
                place.name += friction.rates.len();
            }
            let along = (along != normal).then_some(along);
            let own_row = constraint(contact, contact.name.clone(), contact.gap, along);
            self.constrain(own_row, Some(first + k));
            self.switch(Switch::Lift(k), g.add(carried, margin), Direction::Falling);
            let mut place = Place { contact: k, friction: 0, name: own };
            for (f, (friction, rubs)) in contact.frictions.iter().zip(&rubbing).enumerate() {
                place.friction = f;
                match rubs {
                    Rubbing::Stick => self.hold(place, contact, friction, carried),
                    // The others hold it.
                    Rubbing::Follow(_) => {}
                    Rubbing::Slip(_) if friction.regular.is_some() => {}
                    Rubbing::Slip(_) => self.until_rest(place, friction),
                }
                place.name += friction.rates.len();
            }
        }
    }

    /// $\mu s$: what friction takes of the load, in each of its components.
    fn parts(&mut self, place: Place, friction: &Friction) -> Vec<Expr> {
        let g = Rc::clone(&self.graph);
        let Place { contact: k, friction: f, .. } = place;
        let length = |of: &[Expr], more: Expr| {
            g.sqrt(g.add(g.sum(of.iter().map(|&x| g.mul(x, x))), g.mul(more, more)))
        };
        let parts = |of: &[Expr], length: Expr| {
            of.iter().map(|&x| g.mul(friction.sliding, g.div(x, length))).collect()
        };
        match (&friction.rates[..], friction.regular) {
            (rates, Some(regular)) => parts(rates, length(rates, regular)),
            ([_], None) => {
                let sign = self.parameter(&slip_name(k, f, "sign"));
                vec![g.mul(sign, friction.sliding)]
            }
            (rates, None) => {
                let [first, second, width] = ["first", "second", "width"]
                    .map(|word| self.parameter(&slip_name(k, f, word)));
                let squares = g.sum(rates.iter().map(|&x| g.mul(x, x)));
                let part = g.add(g.one(), g.div(squares, g.mul(width, width)));
                let moved: Vec<Expr> = rates
                    .iter()
                    .zip([first, second])
                    .map(|(&rate, offset)| g.add(rate, g.div(offset, part)))
                    .collect();
                parts(&moved, length(&moved, g.zero()))
            }
        }
    }

    /// A friction that holds, as long as it can.
    fn hold(&mut self, place: Place, contact: &Contact, friction: &Friction, carried: Expr) {
        let g = Rc::clone(&self.graph);
        let Place { contact: k, friction: f, name } = place;
        let mut held = Vec::new();
        for (c, (rate, row)) in
            friction.rates.iter().zip(contact.friction_names(friction)).enumerate()
        {
            held.push(g.symbol(&format!("lambda({row})"), Role::Free));
            self.constrain(constraint(contact, row, *rate, None), Some(name + c));
        }
        let most = g.add(g.mul(friction.holding, carried), self.lent(k, f));
        if let [held] = held[..] {
            // Friction acts against the slip that it prevents.
            let (above, below) = (g.sub(most, held), g.add(most, held));
            self.switch(Switch::Break(k, f, Some(-1.0)), above, Direction::Falling);
            self.switch(Switch::Break(k, f, Some(1.0)), below, Direction::Falling);
        } else {
            let force = g.sqrt(g.sum(held.iter().map(|&x| g.mul(x, x))));
            self.switch(Switch::Break(k, f, None), g.sub(most, force), Direction::Falling);
        }
    }

    /// What frictions that repeat one which holds could hold for it.
    fn lent(&mut self, k: usize, f: usize) -> Expr {
        let g = Rc::clone(&self.graph);
        let contacts = self.model.hybrid.contacts.clone();
        let before: usize = contacts[..k].iter().map(|contact| contact.frictions.len()).sum();
        let mut sum = g.zero();
        for (other, contact) in contacts.iter().enumerate() {
            let ContactState::Closed(rubbing) = &self.now.contacts[other] else { continue };
            for (i, (friction, rubs)) in contact.frictions.iter().zip(rubbing).enumerate() {
                if matches!(rubs, Rubbing::Follow(Some((leader, _))) if *leader == before + f) {
                    let share = self.parameter(&slip_name(other, i, "share"));
                    let load = g.symbol(&format!("lambda({})", contact.name), Role::Free);
                    sum = g.add(sum, g.mul(share, g.mul(friction.holding, load)));
                }
            }
        }
        sum
    }

    /// Where a contact that others keep closed opens or is pressed after all.
    fn idle(&mut self, k: usize, contact: &Contact) {
        let g = Rc::clone(&self.graph);
        let slack = self.parameter(&slack_name(k));
        let quarter = g.div(slack, g.integer(4));
        self.switch(Switch::Stir, g.add(contact.gap, quarter), Direction::Falling);
        let double = g.mul(g.integer(2), slack);
        self.switch(Switch::Stir, g.sub(double, contact.gap), Direction::Falling);
    }

    /// Where a friction that slides comes to rest.
    fn until_rest(&mut self, place: Place, friction: &Friction) {
        let g = Rc::clone(&self.graph);
        let Place { contact: k, friction: f, .. } = place;
        if let [rate] = friction.rates[..] {
            self.switch(Switch::Halt(k, f), rate, Direction::Falling);
            return;
        }
        let slow = self.parameter(&slip_name(k, f, "slow"));
        let squares = g.sum(friction.rates.iter().map(|&x| g.mul(x, x)));
        let beyond = g.sub(squares, g.mul(slow, slow));
        self.switch(Switch::Halt(k, f), beyond, Direction::Falling);
        let wide = self.parameter(&slip_name(k, f, "wide"));
        let grown = g.sub(squares, g.mul(wide, wide));
        self.switch(Switch::Stir, grown, Direction::Rising);
    }
}

fn constraint(
    contact: &Contact,
    name: String,
    expr: Expr,
    along: Option<Vec<Expr>>,
) -> Constraint {
    Constraint { name, expr, along, word: None, is_rate: false, span: contact.span }
}
