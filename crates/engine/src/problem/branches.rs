//! Models whose functions have branches: `abs`, `sign`, `min`, `max`, `if`, roots of squares, tables.
//!
//! An integrator is right only where the equations are smooth. So every operation with branches is replaced by
//! one of them, chosen by a parameter $s = \pm1$, the sign of its *switching function* $u$:
//!
//! | operation | $u$ | branch |
//! |---|---|---|
//! | `abs(a)`, $\sqrt{a^2}$ | $a$ | $s\,a$ |
//! | `sign(a)` | $a$ | $s$ |
//! | `max(a, b)`, `min(a, b)` | $a - b$ | $a$ or $b$ |
//! | `a < b`, `a <= b` | $a - b$ | true or false |
//! | `atan2(y, x)` | $y$, $x$ | `atan2(y, x)`, or `atan2(-y, -x)` $+ s\pi$ |
//! | `acos(cos(a))`, `asin(sin(a))` | $\sin a$, $\cos a$ | as it is |
//! | a table with straight lines | its argument less a knot | the line |
//! | `atan(tan(a))` | $\cos a$ | `atan2(s*sin(a), s*cos(a))` |
//! | $(a^{2k})^r$ with a fraction $2kr$ | $a$ | as it is |
//!
//! Roots, logarithms and fractional powers of branches, such as `sqrt(abs(a))`, have no value where a branch goes on
//! below zero: there they are taken of its magnitude.
//!
//! With fixed branches the equations go on smoothly beyond $u = 0$, where the run stops by an event; it then goes
//! on with the other branch (`run/hybrid`). Where $u$ is linear in time, and at the knots of tables over
//! time, the place is known beforehand: a step ends there.

use pfaff_expr::number::from_f64;
use pfaff_expr::{Binary, Expr, Graph, Node, Relation, Role, Table, Unary};
use pfaff_model::{Direction, Dynamics, Event, ForceOrigin, Parameter, Span, Workspace};

use crate::motion::side::Side;
use crate::system::dynamical_parts::dynamical_parts;

/// A model with fixed branches.
#[derive(Clone, Debug)]
pub(crate) struct Branches {
    /// The model; its last parameters are the branches, and its last events their switching functions.
    pub(crate) model: Workspace,
    /// The switching functions.
    pub(crate) functions: Vec<Expr>,
    /// Those whose sign at zero counts: in `sign` and in comparisons.
    pub(crate) of_signs: Vec<Expr>,
    /// Places in time where the equations are not smooth, ascending.
    pub(crate) breaks: Vec<f64>,
    /// How many parameters and events the model has of its own.
    parameters: usize,
    events: usize,
}

impl Branches {
    /// The model with its branches fixed, all at $s = 1$; `None` if it has none.
    pub(crate) fn of(model: &Workspace) -> Option<Self> {
        let outputs = dynamical_parts(model);
        let g = &model.graph;
        if !g.live(&outputs).iter().any(|&e| may_have_branches(g.node(e))) {
            return None;
        }
        let mut fixed = model.clone();
        let mut state = vec![model.time];
        state.extend(model.positions().into_iter().chain(model.velocities()));
        let mut collector = Collector::new(&fixed, state);
        collector.action = g.live(&action(model));
        let outputs = collector.fix(&outputs);
        let Collector { functions, symbols, of_signs, breaks, .. } = collector;
        if functions.is_empty() && breaks.is_empty() {
            return None;
        }
        let (parameters, events) = (model.parameters.len(), model.events.len());
        replace(&mut fixed, &outputs);
        for (k, (&function, &symbol)) in functions.iter().zip(&symbols).enumerate() {
            let name = format!("branch {}", k + 1);
            fixed.parameters.push(Parameter {
                name: name.clone(),
                symbol,
                value: 1.0,
                definition: None,
                span: Span::default(),
            });
            fixed.events.push(Event {
                name,
                expr: function,
                direction: Direction::Both,
                stop: true,
                span: Span::default(),
            });
        }
        Some(Self { model: fixed, functions, of_signs, breaks, parameters, events })
    }

    /// A model without branches.
    pub(crate) fn none(model: Workspace) -> Self {
        let (parameters, events) = (model.parameters.len(), model.events.len());
        let (functions, of_signs, breaks) = (Vec::new(), Vec::new(), Vec::new());
        Self { model, functions, of_signs, breaks, parameters, events }
    }

    /// $s$ for each switching function.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = Expr> + '_ {
        self.model.parameters[self.parameters..].iter().map(|p| p.symbol)
    }

    /// Takes these branches. A function is then watched for leaving its sign; what rounding has left on the other
    /// side at the start does not count.
    pub(crate) fn set(&mut self, sides: &[Side]) {
        let (parameters, events) = (self.parameters, self.events);
        for (parameter, side) in self.model.parameters[parameters..].iter_mut().zip(sides) {
            parameter.value = side.sign();
        }
        for (event, side) in self.model.events[events..].iter_mut().zip(sides) {
            event.direction = side.leaving();
        }
    }
}

/// Expressions with fixed branches.
#[derive(Clone, Debug)]
pub(crate) struct FixedBranches {
    /// The expressions.
    pub(crate) outputs: Vec<Expr>,
    /// The switching functions.
    pub(crate) functions: Vec<Expr>,
    /// $s$ for each of them.
    pub(crate) symbols: Vec<Expr>,
    /// Places in time where the expressions are not smooth, ascending.
    pub(crate) breaks: Vec<f64>,
}

impl FixedBranches {
    /// Fixes the branches of expressions that depend on the time and on the other symbols of a state.
    pub(crate) fn of(model: &Workspace, state: &[Expr], outputs: &[Expr]) -> Self {
        let all = [model.time].into_iter().chain(state.iter().copied()).collect();
        let mut collector = Collector::new(model, all);
        let outputs = collector.fix(outputs);
        let Collector { functions, symbols, breaks, .. } = collector;
        Self { outputs, functions, symbols, breaks }
    }
}

/// What is differentiated by the time for the work that it does.
fn action(model: &Workspace) -> Vec<Expr> {
    let mut parts: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
    if let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics {
        parts.push(lagrangian);
    }
    parts
}

/// Puts other expressions in the places of [`dynamical_parts`].
fn replace(model: &mut Workspace, outputs: &[Expr]) {
    let mut next = outputs.iter().copied();
    let mut put = |e: &mut Expr| *e = next.next().expect("as many expressions as there were");
    match &mut model.dynamics {
        Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } => {
            put(lagrangian);
            kinetic.iter_mut().chain(potential).for_each(&mut put);
        }
        Dynamics::Equations(equations) => equations.iter_mut().for_each(|e| put(&mut e.expr)),
    }
    for constraint in &mut model.constraints {
        put(&mut constraint.expr);
        constraint.along.iter_mut().flatten().for_each(&mut put);
    }
    for force in &mut model.forces {
        let before = force.components.clone();
        force.components.iter_mut().for_each(&mut put);
        if force.components != before {
            // What they were made from has kinks, at which it does not say which branch holds.
            force.origin = ForceOrigin::Components;
        }
    }
}

/// Whether an operation may have branches, or places where it is not smooth.
fn may_have_branches(node: Node) -> bool {
    matches!(
        node,
        Node::Unary(
            Unary::Abs | Unary::Sign | Unary::Sqrt | Unary::Acos | Unary::Asin | Unary::Atan,
            _
        ) | Node::Binary(Binary::Min | Binary::Max | Binary::Atan2, ..)
            | Node::Compare(..)
            | Node::Table { .. }
            | Node::Pow(..)
    )
}

/// Replaces operations with branches from the innermost on.
struct Collector<'a> {
    model: &'a Workspace,
    /// $t$ first, then $q$ and $\dot q$: what a switching function may depend on.
    state: Vec<Expr>,
    replacement: Vec<(Expr, Expr)>,
    functions: Vec<Expr>,
    symbols: Vec<Expr>,
    of_signs: Vec<Expr>,
    breaks: Vec<f64>,
    /// Everything in what is differentiated by the time.
    action: Vec<Expr>,
}

impl<'a> Collector<'a> {
    fn new(model: &'a Workspace, state: Vec<Expr>) -> Self {
        Self {
            model,
            state,
            replacement: Vec::new(),
            functions: Vec::new(),
            symbols: Vec::new(),
            of_signs: Vec::new(),
            breaks: Vec::new(),
            action: Vec::new(),
        }
    }

    fn fix(&mut self, outputs: &[Expr]) -> Vec<Expr> {
        let g = &self.model.graph;
        for e in g.live(outputs) {
            if let Some(image) = self.branch(e) {
                self.replacement.push((e, image));
            }
        }
        self.breaks.sort_by(f64::total_cmp);
        self.breaks.dedup();
        self.image(outputs)
    }

    fn image(&self, outputs: &[Expr]) -> Vec<Expr> {
        if self.replacement.is_empty() {
            return outputs.to_vec();
        }
        self.model.graph.substitute(outputs, &self.replacement)
    }

    /// The branch of an operation in terms of its switching function.
    fn branch(&mut self, e: Expr) -> Option<Expr> {
        let g = &self.model.graph;
        match g.node(e) {
            Node::Unary(Unary::Abs, a) => {
                let [a] = self.image(&[a])[..] else { return None };
                Some(g.mul(self.sign(a)?, a))
            }
            Node::Unary(Unary::Sign, a) => {
                let [a] = self.image(&[a])[..] else { return None };
                self.by_sides(a, &|this, a| match this.sign(a) {
                    None if this.is_fixed(a) => Some(g.unary(Unary::Sign, a)),
                    None => None,
                    Some(sign) => {
                        this.of_signs.push(a);
                        Some(sign)
                    }
                })
            }
            Node::Unary(Unary::Sqrt, a) => match even_power(g, a) {
                Some((base, exponent)) => {
                    let half = g.div(g.one(), g.integer(2));
                    self.root(base, exponent, 0.5, half)
                }
                None => Some(g.unary(Unary::Sqrt, self.positive_image(a)?)),
            },
            Node::Unary(Unary::Log, a) => Some(g.unary(Unary::Log, self.positive_image(a)?)),
            Node::Pow(a, r) => {
                let exponent = g.double_of(r);
                if exponent.is_some_and(|r| r.fract() == 0.0) {
                    return None;
                }
                match (even_power(g, a), exponent) {
                    (Some((base, even)), Some(exponent)) => self.root(base, even, exponent, r),
                    _ => {
                        let [r] = self.image(&[r])[..] else { return None };
                        Some(g.pow(self.positive_image(a)?, r))
                    }
                }
            }
            Node::Unary(f @ (Unary::Acos | Unary::Asin), a) => {
                let ((Unary::Acos, Node::Unary(Unary::Cos, angle))
                | (Unary::Asin, Node::Unary(Unary::Sin, angle))) = (f, g.node(a))
                else {
                    return None;
                };
                let [angle] = self.image(&[angle])[..] else { return None };
                let (cos, sin) = (g.cos(angle), g.sin(angle));
                // NOTE: both go on smoothly beyond the ends of a branch, where the slope of the function is 0/0.
                Some(if f == Unary::Acos {
                    let across = g.mul(self.sign(sin)?, sin);
                    let right_angle = g.div(g.pi(), g.integer(2));
                    g.sub(right_angle, g.binary(Binary::Atan2, cos, across))
                } else {
                    let across = g.mul(self.sign(cos)?, cos);
                    g.binary(Binary::Atan2, sin, across)
                })
            }
            Node::Unary(Unary::Atan, a) => {
                let Node::Unary(Unary::Tan, angle) = g.node(a) else { return None };
                let [angle] = self.image(&[angle])[..] else { return None };
                let (cos, sin) = (g.cos(angle), g.sin(angle));
                // NOTE: the tangent has a pole where this jumps, and no step comes near it.
                let side = self.sign(cos)?;
                Some(g.binary(Binary::Atan2, g.mul(side, sin), g.mul(side, cos)))
            }
            Node::Binary(Binary::Atan2, y, x) => {
                let [y, x] = self.image(&[y, x])[..] else { return None };
                let right = self.sign(x)?;
                let above = self.by_sides(y, &|this, y| match this.sign(y) {
                    None if this.is_fixed(y) => {
                        let is_below = g.compare(Relation::Less, y, g.zero());
                        Some(g.choose(is_below, g.integer(-1), g.one()))
                    }
                    sign => sign,
                })?;
                let opposite = g.binary(Binary::Atan2, g.neg(y), g.neg(x));
                let turned = g.add(opposite, g.mul(above, g.pi()));
                let positive = g.compare(Relation::Less, g.zero(), right);
                Some(g.choose(positive, g.binary(Binary::Atan2, y, x), turned))
            }
            Node::Binary(f @ (Binary::Min | Binary::Max), a, b) => {
                let [a, b] = self.image(&[a, b])[..] else { return None };
                let sign = self.sign(g.sub(a, b))?;
                let positive = g.compare(Relation::Less, g.zero(), sign);
                let (above, below) = if f == Binary::Max { (a, b) } else { (b, a) };
                Some(g.choose(positive, above, below))
            }
            Node::Compare(relation, a, b) => {
                let [a, b] = self.image(&[a, b])[..] else { return None };
                self.by_sides(g.sub(a, b), &|this, u| {
                    // NOTE: what stays at zero has the sign 1 or 0, with which `<` is false and `<=` is true.
                    let of = if relation == Relation::LessEqual { g.neg(u) } else { u };
                    let Some(s) = this.sign(of) else {
                        return this.is_fixed(u).then(|| g.compare(relation, u, g.zero()));
                    };
                    this.of_signs.push(of);
                    // NOTE: with random numbers for s, which show what vanishes, both sides are met in this way.
                    let half = g.div(g.one(), g.integer(2));
                    let equal = || g.compare(Relation::Less, g.mul(s, s), half);
                    Some(match relation {
                        Relation::LessEqual => {
                            g.logic_not(g.compare(Relation::Less, s, g.zero()))
                        }
                        Relation::Less => g.compare(relation, s, g.zero()),
                        // Equality at single moments is nothing that a motion notices.
                        Relation::Equal => equal(),
                        Relation::NotEqual => g.logic_not(equal()),
                    })
                })
            }
            Node::Table { table, order, argument } => {
                self.knots(table, argument);
                let [image] = self.image(&[argument])[..] else { return None };
                // NOTE: over time its knots are known, and only what is differentiated jumps there.
                let is_known = self.linear_in_time(image, 0.0).is_some();
                if is_known && self.action.binary_search(&e).is_err() {
                    None
                } else {
                    self.lines(&g.table_of(table), order, image)
                }
            }
            _ => None,
        }
    }

    /// The magnitude of the image of an argument that must not be negative; `None` if it has no branches.
    fn positive_image(&self, argument: Expr) -> Option<Expr> {
        let g = &self.model.graph;
        let [image] = self.image(&[argument])[..] else { return None };
        let is_positive = g.compare(Relation::Less, g.zero(), image);
        // NOTE: not `abs`, which is a branch that is not watched, and has no series.
        (image != argument).then(|| g.choose(is_positive, image, g.neg(image)))
    }

    /// $(u^{2k})^r = (s u)^{2kr}$ if $2kr$ is whole. Otherwise $(su)^{2kr}$ would have no value beyond $u = 0$: there
    /// it is taken of the magnitude, which has no series, because near $u = 0$ none converges for as long as a step.
    fn root(&mut self, base: Expr, exponent: i64, r: f64, exact: Expr) -> Option<Expr> {
        let g = &self.model.graph;
        let [base] = self.image(&[base])[..] else { return None };
        let power = exponent as f64 * r;
        let magnitude = g.mul(self.sign(base)?, base);
        if power.fract() == 0.0 && power.abs() < 1e6 {
            return Some(g.pow(magnitude, g.integer(power as i64)));
        }
        let is_positive = g.compare(Relation::Less, g.zero(), base);
        let magnitude = g.choose(is_positive, base, g.neg(base));
        Some(g.pow(magnitude, g.mul(g.integer(exponent), exact)))
    }

    /// An operation on a function that does not move on one side of a switch, such as `sign(max(x, 0))`: there it has
    /// the value that it has by itself, also where the function is zero as long as the switch does not turn.
    fn by_sides(
        &mut self,
        function: Expr,
        operation: &dyn Fn(&mut Self, Expr) -> Option<Expr>,
    ) -> Option<Expr> {
        let g = &self.model.graph;
        if self.is_fixed(function) {
            return None;
        }
        for symbol in g.symbols(&[function]) {
            if !self.symbols.contains(&symbol) {
                continue;
            }
            let on = |sign: i64| g.substitute(&[function], &[(symbol, g.integer(sign))])[0];
            let sides = [on(1), on(-1)].map(|side| (side, self.constant(side)));
            if sides.iter().any(|(_, constant)| constant.is_some()) {
                let [above, below] = sides.map(|(side, constant)| match constant {
                    Some(constant) => operation(self, constant),
                    None => self.by_sides(side, operation),
                });
                let is_above = g.compare(Relation::Less, g.zero(), symbol);
                return Some(g.choose(is_above, above?, below?));
            }
        }
        operation(self, function)
    }

    /// The same without what moves, if it has the same value wherever the motion is: $x - x$.
    fn constant(&self, e: Expr) -> Option<Expr> {
        let g = &self.model.graph;
        if self.is_fixed(e) {
            return Some(e);
        }
        let has_steps = g.live(&[e]).iter().any(|&e| may_have_branches(g.node(e)));
        if has_steps || g.gradient(e, &self.state).iter().any(|&slope| slope != g.zero()) {
            return None;
        }
        let origin: Vec<(Expr, Expr)> = self.state.iter().map(|&x| (x, g.zero())).collect();
        let there = g.substitute(&[e], &origin)[0];
        self.is_fixed(there).then_some(there)
    }

    /// Whether nothing in an expression moves between two switches.
    fn is_fixed(&self, e: Expr) -> bool {
        let g = &self.model.graph;
        let known = |s: &Expr| {
            self.symbols.contains(s) || self.model.parameters.iter().any(|p| p.symbol == *s)
        };
        g.symbols(&[e]).iter().all(known) && !g.has_memory(e)
    }

    /// The parameter $s$ of a switching function; `None` if nothing in it moves, or if more than the state
    /// decides.
    fn sign(&mut self, function: Expr) -> Option<Expr> {
        let g = &self.model.graph;
        if !g.contains(function, &self.state) {
            return None;
        }
        let known = |s: &Expr| {
            self.state.contains(s)
                || self.symbols.contains(s)
                || self.model.parameters.iter().any(|p| p.symbol == *s)
        };
        if !g.symbols(&[function]).iter().all(known) || g.has_memory(function) {
            return None;
        }
        if let Some(k) = self.functions.iter().position(|&f| f == function) {
            return Some(self.symbols[k]);
        }
        if let Some(place) = self.linear_in_time(function, 0.0) {
            self.breaks.push(place);
        }
        let symbol = g.symbol(&format!("branch {}", self.functions.len() + 1), Role::Parameter);
        self.functions.push(function);
        self.symbols.push(symbol);
        Some(symbol)
    }

    /// Where a function that is linear in time, and depends on nothing else that moves, takes a value.
    fn linear_in_time(&self, function: Expr, value: f64) -> Option<f64> {
        let model = self.model;
        let g = &model.graph;
        if g.contains(function, &self.state[1..]) || g.contains(function, &self.symbols) {
            return None;
        }
        let split = g.try_linear(function, &[model.time])?;
        let [slope] = split.coefficients[..] else { return None };
        let place = (value - model.constant(split.rest)) / model.constant(slope);
        place.is_finite().then_some(place)
    }

    /// The straight lines of a table over the state, or over time in a Lagrangian: at its knots the derivative jumps.
    /// The first and the last line are tables still, which have no values beyond the data.
    fn lines(&mut self, table: &Table, order: u32, argument: Expr) -> Option<Expr> {
        /// Lines up to which each knot is a switch; those of longer tables would be looked at all the time, and the
        /// control of the steps finds their knots.
        const MOST: usize = 16;
        let (count, model) = (table.pieces().len(), self.model);
        let g = &model.graph;
        if !table.is_linear || count > MOST {
            return None;
        }
        let (first, last) = table.range();
        let mut lines = Vec::new();
        for (i, (&[value, slope, ..], &start)) in
            table.pieces().iter().zip(table.knots()).enumerate()
        {
            let at = |x: f64| value + slope * (x - start);
            lines.push(if i == 0 || i + 1 == count {
                let ends = ([first, last], [at(first), at(last)]);
                let line = Table::lines(&table.file, &table.column, &ends.0, &ends.1).ok()?;
                g.table_derivative(line, order, argument)
            } else {
                let [value, slope, start] =
                    [value, slope, start].map(|x| from_f64(x).map(|x| g.number(x)));
                match order {
                    0 => g.add(value?, g.mul(slope?, g.sub(argument, start?))),
                    1 => slope?,
                    _ => g.zero(),
                }
            });
        }
        let mut image = lines[0];
        for (line, &knot) in lines.into_iter().zip(table.knots()).skip(1) {
            let passed = self.sign(g.sub(argument, g.number(from_f64(knot)?)))?;
            image = g.choose(g.compare(Relation::Less, g.zero(), passed), line, image);
        }
        Some(image)
    }

    /// The knots of a table over time.
    fn knots(&mut self, table: u32, argument: Expr) {
        let knots = self.model.graph.table_of(table).knots().to_vec();
        let places: Vec<f64> =
            knots.into_iter().filter_map(|x| self.linear_in_time(argument, x)).collect();
        self.breaks.extend(places);
    }
}

/// $u$ and $2k$ of $u^{2k}$.
fn even_power(g: &Graph, e: Expr) -> Option<(Expr, i64)> {
    let Node::Pow(base, exponent) = g.node(e) else { return None };
    let exponent = g.double_of(exponent)?;
    let even = exponent > 0.0 && exponent < 1e6 && exponent % 2.0 == 0.0;
    even.then_some((base, exponent as i64))
}
