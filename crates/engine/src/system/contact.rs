//! Contacts as numbers: how they are hit, and which of them carry.
//!
//! The equations without contacts give $K = \begin{pmatrix} M & -W^\top \\ A & 0\end{pmatrix}$. With the rows $J$ of
//! the contacts (along the normal of each, $\partial_q g$, and along its slip, $\partial_{\dot q}\sigma$)
//! impulses $P$ change the velocities by $K^{-1}J^\top P$, with all constraints kept, and forces change the
//! accelerations in the same way. What the contacts carry is a problem in $D = J K^{-1} J^\top$ alone
//! ([`ContactProblem`]).

mod impact;

use pfaff_expr::Expr;
use pfaff_mechanics::Equations;
use pfaff_model::{Contact, ImpactLaw, Workspace};
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{
    ContactProblem, ContactSolution, ContactState, EvalError, Pad, RankRevealing, Rubbing,
};

use crate::system::kkt::Kkt;
use crate::system::magnitude::magnitude;

pub(crate) use impact::Impacted;

/// What is smaller, in parts of its terms, is rounding.
const ROUNDING: f64 = 1e-10;

/// The part of that below which a gap is closed: what is closed is moved to zero, and others with it.
const CLOSED: f64 = 1e-2;

/// A bounce that is lower or shorter, in parts of the terms of the gap and of the time, cannot be seen. It is larger
/// than the rounding with which gaps are watched.
const UNSEEN: f64 = 64.0 * f64::EPSILON;

/// A slip in a plane that is smaller, in parts of the velocities that it is made of, has come to rest: what is left is
/// lost at once, which changes the motion by the square of it. It is also many times the tolerance, because below it
/// the direction of the slip is not known.
const HALT: f64 = 1e-7;
const HALT_TOLERANCES: f64 = 100.0;

/// Where slip in a plane begins, its direction is that of what was found for it until its speed is this part of what
/// it may become: before, the direction of the slip itself would be stiff.
const BEGIN: f64 = 1e-6;

/// How a friction in a plane begins and ends to slide: speeds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slowness {
    /// Below this it counts as rest.
    pub(crate) rest: f64,
    /// What is added to the slip along its first direction, as long as it is smaller than `width`.
    pub(crate) offset: f64,
    pub(crate) width: f64,
    /// Above this it goes on without the offset.
    pub(crate) wide: f64,
}

/// The contacts of a model in one of its modes.
#[derive(Clone, Debug)]
pub(crate) struct ContactSolver {
    /// The equations without contacts.
    kkt: Kkt,
    program: Executor,
    inputs: Vec<f64>,
    values: Vec<f64>,
    /// Where the numbers of each contact begin, and how many components each of its frictions has.
    layout: Vec<(usize, Vec<usize>)>,
    zeros: Vec<f64>,
    /// The index of the first friction of each among all frictions of the model.
    first_friction: Vec<usize>,
    /// The index of each among all contacts, of its event, and its law.
    pub(crate) contacts: Vec<(usize, usize, ImpactLaw)>,
    /// A time in which the motion changes.
    span: f64,
    /// Whether impacts have accumulated: the others of them are then closed as well as the state after them is known.
    pub(crate) has_accumulated: bool,
    /// How far away from zero each coordinate has been so far, and then how fast it was, as far as that is known.
    pub(crate) reach: Vec<f64>,
    /// Accelerations without contacts, where they were settled last.
    pub(crate) free: Vec<f64>,
}

/// A contact at a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch<'a> {
    pub(crate) gap: f64,
    /// $\dot g$
    pub(crate) closing: f64,
    /// $\partial g/\partial q$
    pub(crate) normal: &'a [f64],
    /// $\ddot g$ without accelerations.
    normal_drift: f64,
    restitution: f64,
    /// The size of the terms that the gap is a sum of.
    pub(crate) size: f64,
}

/// A friction of a contact at a state. What acts along a line has no second component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rub<'a> {
    is_plane: bool,
    /// $\sigma$
    pub(crate) slip: [f64; 2],
    /// $\partial\sigma/\partial\dot q$
    pub(crate) tangents: [&'a [f64]; 2],
    /// $\dot\sigma$ without accelerations.
    drifts: [f64; 2],
    friction: f64,
    holding: f64,
    /// The velocity below which it is proportional to the slip; zero where it is exact.
    regular: f64,
}

impl Rub<'_> {
    /// Whether it can hold.
    pub(crate) fn is_exact(&self) -> bool {
        self.regular <= 0.0
    }

    /// $|\sigma|$
    pub(crate) fn speed(&self) -> f64 {
        libm::hypot(self.slip[0], self.slip[1])
    }
}

/// What is known of contacts before they are settled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// Contacts that rest, however they are left.
    pub(crate) closed: Vec<usize>,
    /// Contacts that have just let go.
    pub(crate) released: Vec<usize>,
    /// Contacts of which a friction has just come to rest.
    pub(crate) stopped: Vec<(usize, usize)>,
    /// Contacts of which a friction has just begun to slide, and in which direction.
    pub(crate) sliding: Vec<(usize, usize, [f64; 2])>,
}

/// What contacts do from a state on.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    /// One for each contact of the mode.
    pub(crate) states: Vec<ContactState>,
    pub(crate) is_unique: bool,
}

impl ContactSolver {
    /// Of the contacts in a mode, given the equations without them.
    pub(crate) fn new(
        model: &Workspace,
        equations: &Equations,
        active: &[usize],
        span: f64,
        backend: Backend,
    ) -> Result<Option<Self>, CompileError> {
        if active.is_empty() {
            return Ok(None);
        }
        let kkt = Kkt::new(model, equations, backend)?;
        let inputs: Vec<Expr> =
            [vec![model.time], model.positions(), model.velocities()].concat();
        let all = &model.hybrid.contacts;
        let (mut outputs, mut layout) = (Vec::new(), Vec::new());
        for &k in active {
            let components = all[k].frictions.iter().map(|f| f.rates.len()).collect();
            layout.push((outputs.len(), components));
            outputs.extend(self::outputs(model, &all[k]));
        }
        let program =
            Program::compile(&model.graph, &inputs, &model.parameter_symbols(), &outputs)?;
        Ok(Some(Self {
            kkt,
            program: program.tiered(&model.parameter_values(), backend),
            inputs: vec![0.0; inputs.len()],
            values: vec![0.0; outputs.len()],
            layout,
            zeros: vec![0.0; model.coordinates.len()],
            first_friction: active
                .iter()
                .map(|&k| all[..k].iter().map(|contact| contact.frictions.len()).sum())
                .collect(),
            contacts: active.iter().map(|&k| (k, all[k].event, all[k].law)).collect(),
            span,
            has_accumulated: false,
            reach: Vec::new(),
            free: Vec::new(),
        }))
    }

    /// Evaluates everything at a state.
    pub(crate) fn measure(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.kkt.evaluate(t, q, v, &[]);
        self.measure_contacts(t, q, v);
    }

    /// Evaluates what belongs to the contacts alone.
    pub(crate) fn measure_contacts(&mut self, t: f64, q: &[f64], v: &[f64]) {
        let n = q.len();
        self.inputs[0] = t;
        self.inputs[1..=n].copy_from_slice(q);
        self.inputs[n + 1..].copy_from_slice(v);
        self.program.evaluate(&self.inputs, &mut self.values);
    }

    fn n(&self) -> usize {
        self.kkt.n
    }

    /// A contact at the state last evaluated.
    pub(crate) fn touch(&self, k: usize) -> Touch<'_> {
        let n = self.n();
        let values = &self.values[self.layout[k].0..];
        let (normal, rest) = values[2..].split_at(n);
        Touch {
            gap: values[0],
            closing: values[1],
            normal,
            normal_drift: rest[0],
            restitution: rest[1].clamp(0.0, 1.0),
            size: rest[2],
        }
    }

    /// The frictions of a contact at the state last evaluated.
    pub(crate) fn rubs(&self, k: usize) -> impl Iterator<Item = Rub<'_>> {
        let n = self.n();
        let (start, components) = &self.layout[k];
        let mut rest = &self.values[start + n + 5..];
        components.iter().map(move |&count| {
            let mut rub = Rub {
                is_plane: count > 1,
                slip: [0.0; 2],
                tangents: [&self.zeros; 2],
                drifts: [0.0; 2],
                friction: 0.0,
                holding: 0.0,
                regular: 0.0,
            };
            for i in 0..count {
                let (own, others) = rest.split_at(n + 2);
                (rub.slip[i], rub.drifts[i], rub.tangents[i]) = (own[0], own[1], &own[2..]);
                rest = others;
            }
            (rub.friction, rub.holding) = (rest[0].max(0.0), rest[1].max(0.0));
            rub.regular = rest[2];
            rest = &rest[3..];
            rub
        })
    }

    /// $\sum_k |c_k|\,(|x_k| + |\dot x_k| \tau)$
    fn size(&self, row: &[f64], x: &[f64], rates: &[f64]) -> f64 {
        let terms = row.iter().zip(x).zip(rates);
        terms.map(|((c, x), rate)| c.abs() * (x.abs() + rate.abs() * self.span)).sum()
    }

    /// How fast something was at most so far: what is left of that when it stops is rounding.
    pub(crate) fn fastest(&self, row: &[f64]) -> f64 {
        let speeds = self.reach.get(self.n()..).unwrap_or_default();
        row.iter().zip(speeds).map(|(c, speed)| (c * speed).abs()).sum()
    }

    /// Gaps that are smaller are rounding at the state last evaluated.
    pub(crate) fn slack(&self, k: usize) -> f64 {
        let (q, v) = self.inputs[1..].split_at(self.n());
        let normal = self.touch(k).normal;
        let reach = normal.iter().zip(&self.reach).map(|(c, far)| (c * far).abs());
        ROUNDING * self.size(normal, q, v).max(reach.sum::<f64>())
    }

    /// $\max_i |\partial g/\partial q_i|$ at the state last evaluated.
    pub(crate) fn steepness(&self, k: usize) -> f64 {
        self.touch(k).normal.iter().fold(0.0, |m, slope| m.max(slope.abs()))
    }

    /// Whether the gap of a contact is closed at the state last evaluated, up to rounding.
    pub(crate) fn is_touching(&self, k: usize) -> bool {
        let part = if self.has_accumulated { 1.0 } else { CLOSED };
        self.touch(k).gap <= part * self.slack(k)
    }

    /// By how much a contact is violated at the state last evaluated, beyond rounding.
    pub(crate) fn violation(&self, k: usize) -> Option<f64> {
        let gap = self.touch(k).gap;
        (gap < -100.0 * self.slack(k)).then_some(-gap)
    }

    /// Whether a contact is left so slowly, with these accelerations, that it comes back before the rounding of its gap
    /// or of the time could show that.
    pub(crate) fn is_unresolved(&self, k: usize, a: &[f64]) -> bool {
        let touch = self.touch(k);
        let dot = |x: &[f64]| touch.normal.iter().zip(x).map(|(n, x)| n * x).sum::<f64>();
        let terms = touch.normal.iter().zip(a).map(|(n, a)| (n * a).abs()).sum::<f64>();
        let pull = -(dot(a) + touch.normal_drift);
        let is_pulled = pull > ROUNDING * (terms + touch.normal_drift.abs());
        let lowest = touch.closing * touch.closing <= 2.0 * pull * UNSEEN * touch.size;
        is_pulled && (lowest || touch.closing <= pull * UNSEEN * self.inputs[0].abs())
    }

    /// How far the motion would go without contacts, and the energy that it would gain.
    pub(crate) fn reach(&self) -> (f64, f64) {
        let forces = self.kkt.right_side().0;
        let far = |a: &f64| a.abs() * self.span * self.span;
        let gained = forces.iter().zip(&self.free).map(|(f, a)| f.abs() * far(a)).sum();
        (self.free.iter().map(far).fold(0.0, f64::max), gained)
    }

    /// How a friction in a plane slides from here on, in the direction found for it.
    pub(crate) fn slowness(
        &self,
        k: usize,
        f: usize,
        v: &[f64],
        tolerance: f64,
        has_stopped: bool,
    ) -> Slowness {
        let Some(rub) = self.rubs(k).nth(f) else { return Slowness::default() };
        let terms =
            |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(c, x)| (c * x).abs()).sum();
        let largest = |x: &[f64]| {
            let parts = rub.tangents.iter().map(|row| terms(row, x));
            parts.fold(0.0_f64, |m, part: f64| m.max(part))
        };
        let size = largest(v).max(1e-3 * largest(&self.free) * self.span);
        let rest = HALT.max((HALT_TOLERANCES * tolerance).min(1e-4)) * size;
        let width = 100.0 * BEGIN * size;
        if has_stopped || rub.speed() <= rest {
            // NOTE: slip that comes back to minus the offset would have no direction.
            let offset = BEGIN * size;
            Slowness { rest: rest.max(3.0 * offset), offset, width, wide: 10.0 * width }
        } else {
            Slowness { rest, offset: 0.0, width, wide: 1e150 }
        }
    }

    /// The largest force at the state last evaluated.
    pub(crate) fn largest_force(&self) -> f64 {
        self.kkt.right_side().0.iter().fold(0.0, |m, f| m.max(f.abs()))
    }

    /// $K$ factorised at the state last evaluated.
    fn factorised(&self) -> Factorised {
        let (n, m) = (self.n(), self.kkt.m);
        let size = n + m;
        let (mass, rows) = (self.kkt.inertia(), self.kkt.full_jacobian());
        let mut matrix = vec![0.0; size * size];
        for i in 0..n {
            matrix[i * size..i * size + n].copy_from_slice(&mass[i * n..(i + 1) * n]);
        }
        for a in 0..m {
            let direction = self.kkt.full_row(self.kkt.direction(a));
            for i in 0..n {
                matrix[i * size + n + a] = -direction[i];
                matrix[(n + a) * size + i] = rows[a * n + i];
            }
        }
        let mut split = RankRevealing::default();
        split.factor(size, size, &matrix, 1e-13);
        Factorised { split, n, size, mass }
    }

    /// The problem of some contacts with what is free of them. `x` and `rates` give the sizes of the terms.
    fn problem(
        &self,
        factorised: &mut Factorised,
        some: &[usize],
        (x, rates): (&[f64], &[f64]),
    ) -> (ContactProblem, Vec<Vec<f64>>) {
        let rubs: Vec<(usize, Rub<'_>)> = (some.iter().enumerate())
            .flat_map(|(i, &k)| self.rubs(k).map(move |rub| (i, rub)))
            .collect();
        let rows: Vec<&[f64]> = some
            .iter()
            .map(|&k| self.touch(k).normal)
            .chain(rubs.iter().flat_map(|(_, rub)| rub.tangents))
            .collect();
        let columns: Vec<Vec<f64>> =
            rows.iter().map(|row| factorised.solve(row, &[])).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let matrix =
            rows.iter().flat_map(|row| columns.iter().map(move |c| dot(row, c))).collect();
        // NOTE: what is at rest beside what moves has the rounding of that.
        let noise =
            ROUNDING * rows.iter().map(|row| self.size(row, x, rates)).fold(0.0, f64::max);
        let pad = |(contact, rub): &(usize, Rub<'_>)| Pad {
            contact: *contact,
            is_plane: rub.is_plane,
            friction: rub.friction,
            holding: rub.holding,
            sliding: None,
        };
        let problem = ContactProblem {
            matrix,
            free: vec![0.0; rows.len()],
            pads: rubs.iter().map(pad).collect(),
            released: vec![false; some.len()],
            offset: vec![0.0; some.len()],
            noise: vec![noise; rows.len()],
        };
        (problem, columns)
    }

    /// Which contacts carry from a state on, and how they slide; `None` where nothing fits.
    pub(crate) fn settle(
        &mut self,
        t: f64,
        q: &[f64],
        v: &[f64],
        hints: &Hints,
    ) -> Result<Option<Rest>, EvalError> {
        self.measure(t, q, v);
        let mut factorised = self.factorised();
        let (force, drift) = self.kkt.right_side();
        let a = factorised.solve(&force, &drift);
        if a.iter().any(|a| !a.is_finite()) {
            return Err(EvalError::NotFinite);
        }
        self.free.clone_from(&a);
        let rests = |k: &usize| {
            let index = self.contacts[*k].0;
            let touch = self.touch(*k);
            let slow = ROUNDING * self.size(touch.normal, v, &a);
            let is_slow = touch.closing <= slow || self.is_unresolved(*k, &a);
            let is_hinted = hints.closed.contains(&index) && touch.gap <= self.slack(*k);
            is_hinted || (self.is_touching(*k) && is_slow)
        };
        let mut some: Vec<usize> = (0..self.contacts.len()).filter(rests).collect();
        loop {
            let Some((rest, a)) = self.carry(&mut factorised, &some, v, &a, hints) else {
                return Ok(None);
            };
            // What is left too slowly with what the others carry rests as well.
            let before = some.len();
            let is_left = |k: &usize| !some.contains(k) && self.is_touching(*k);
            let others: Vec<usize> = (0..self.contacts.len())
                .filter(is_left)
                .filter(|&k| self.is_unresolved(k, &a))
                .collect();
            some.extend(others);
            some.sort_unstable();
            if some.len() == before {
                return Ok(Some(rest));
            }
        }
    }

    /// What some contacts that rest carry, given the accelerations without them; and the accelerations with them.
    fn carry(
        &self,
        factorised: &mut Factorised,
        some: &[usize],
        v: &[f64],
        a: &[f64],
        hints: &Hints,
    ) -> Option<(Rest, Vec<f64>)> {
        let mut states = vec![ContactState::Open; self.contacts.len()];
        let (mut problem, columns) = self.problem(factorised, some, (a, &vec![0.0; a.len()]));
        let count = some.len();
        let mut frictions = Vec::new();
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let mut pad = 0;
        for (i, &k) in some.iter().enumerate() {
            let touch = self.touch(k);
            let index = self.contacts[k].0;
            problem.free[i] = dot(touch.normal, a) + touch.normal_drift;
            problem.noise[i] += ROUNDING * touch.normal_drift.abs();
            problem.released[i] = hints.released.contains(&index);
            for (f, rub) in self.rubs(k).enumerate() {
                let place = count + 2 * pad;
                for (c, (tangent, drift)) in rub.tangents.iter().zip(rub.drifts).enumerate() {
                    problem.free[place + c] = dot(tangent, a) + drift;
                    problem.noise[place + c] += ROUNDING * drift.abs();
                }
                let begun = hints.sliding.iter().find(|(k, b, _)| (*k, *b) == (index, f));
                let size = |t: &&[f64]| self.size(t, v, a).max(self.fastest(t));
                let slow = ROUNDING * rub.tangents.iter().map(size).fold(0.0, f64::max);
                problem.pads[pad].sliding = match begun {
                    _ if !rub.is_exact() => {
                        let length = libm::hypot(rub.speed(), rub.regular);
                        Some(rub.slip.map(|s| s / length))
                    }
                    Some((.., direction)) => Some(*direction),
                    None if hints.stopped.contains(&(index, f)) || rub.speed() <= slow => None,
                    None => Some(rub.slip.map(|s| s / rub.speed())),
                };
                frictions.push(self.first_friction[k] + f);
                pad += 1;
            }
        }
        let found = problem.without_repeats(problem.solve()?);
        let ContactSolution { states: found, impulse, is_unique, .. } = found;
        for (&k, mut state) in some.iter().zip(found) {
            if let ContactState::Closed(rubbing) = &mut state {
                for rubs in rubbing {
                    if let Rubbing::Follow(Some((leader, _))) = rubs {
                        *leader = frictions[*leader];
                    }
                }
            }
            states[k] = state;
        }
        let mut with = a.to_vec();
        for (column, force) in columns.iter().zip(&impulse) {
            with.iter_mut().zip(column).for_each(|(a, c)| *a += c * force);
        }
        Some((Rest { states, is_unique }, with))
    }
}

/// $K$ in factors.
struct Factorised {
    split: RankRevealing,
    n: usize,
    size: usize,
    mass: Vec<f64>,
}

impl Factorised {
    /// The first n components of $K^{-1}(f, b)$; a shorter b is zero.
    fn solve(&mut self, force: &[f64], drift: &[f64]) -> Vec<f64> {
        let mut right = vec![0.0; self.size];
        right[..self.n].copy_from_slice(force);
        right[self.n..self.n + drift.len()].copy_from_slice(drift);
        let mut x = vec![0.0; self.size];
        self.split.solve(&right, &mut x);
        x.truncate(self.n);
        x
    }

    /// $\tfrac12 v\cdot M v$
    fn kinetic(&self, v: &[f64]) -> f64 {
        let rows = self.mass.chunks_exact(self.n).zip(v);
        rows.map(|(row, v_i)| 0.5 * v_i * row.iter().zip(v).map(|(m, v)| m * v).sum::<f64>())
            .sum()
    }
}

/// What is computed of a contact, in the order of [`ContactSolver::touch`] and [`ContactSolver::rubs`].
fn outputs(model: &Workspace, contact: &Contact) -> Vec<Expr> {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let place = [vec![model.time], q.clone()].concat();
    let rates = [vec![g.one()], v.clone()].concat();
    let along = |e: Expr| g.dot(&g.gradient(e, &place), &rates);
    let closing = along(contact.gap);
    let mut outputs = vec![contact.gap, closing];
    outputs.extend(g.gradient(contact.gap, &q));
    let size = magnitude(g, contact.gap, &place);
    outputs.extend([along(closing), contact.restitution, size]);
    for friction in &contact.frictions {
        for &slip in &friction.rates {
            outputs.extend([slip, along(slip)]);
            outputs.extend(g.gradient(slip, &v));
        }
        let regular = friction.regular.unwrap_or(g.zero());
        outputs.extend([friction.sliding, friction.holding, regular]);
    }
    outputs
}
