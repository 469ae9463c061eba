//! Expressions of the syntax tree into values, without recursion.
//!
//! Steps wait on one stack and values on another, so neither long sums nor deep nesting nor chains of
//! functions need the machine's own stack. The
//! amount of work is bounded ([`WORK`]): what would not end in reasonable time is refused.

use pfaff_expr::number;

use crate::elaborate::Elaborator;
use crate::elaborate::expression::fold::Loop;
use crate::elaborate::expression::functions;
use crate::elaborate::scope::{Meaning, Site};
use crate::shape::algebra;
use crate::shape::{Shape, Value};
use crate::syntax::{ExprId, List, NodeKind, Symbol};

/// How many steps the expressions of one model may take.
pub(crate) const WORK: u64 = 20_000_000;

/// Something left to do. Operands are on the stack of values, the last one on top.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Visit(Site),
    /// A sign or operator.
    Apply(Site),
    /// A built-in function.
    Call(Site),
    /// A function of the user.
    Enter(Site),
    /// The end of a function of the user: how many local names there were, and where those of the caller began.
    Leave {
        locals: usize,
        frame: usize,
    },
    /// The end of a kernel: its `s` is forgotten.
    Forget,
    /// The condition of `if` is known.
    Choose(Site),
    /// Condition and both branches of `if` are known.
    Blend(Site),
    /// The entries of a bracket are known.
    Bracket(Site),
    /// A value and its indices are known.
    Component(Site),
    /// The indices of a name are known.
    Member {
        index: Site,
        base: Site,
    },
    /// What is differentiated is known.
    Derive {
        site: Site,
        base: Site,
        order: u32,
    },
    /// The indices in `lambda(c[i])` are known.
    Result(Site),
    /// Both ends of a `sum` or `product` are known.
    Range(Site),
    /// The next term of a fold.
    Next(Loop),
    /// A term of a fold is known.
    Accumulate(Loop),
}

/// What the steps work on.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    pub(crate) steps: Vec<Step>,
    pub(crate) values: Vec<Value>,
    /// Index variables and arguments.
    pub(crate) locals: Vec<(Symbol, Value)>,
    /// Where the visible ones begin.
    pub(crate) frame: usize,
}

impl Elaborator<'_> {
    /// The value of an expression. Mistakes are reported, and the value is then poisoned.
    pub(crate) fn evaluate(&mut self, site: Site) -> Value {
        let (steps, values) = (self.stacks.steps.len(), self.stacks.values.len());
        let (locals, frame) = (self.stacks.locals.len(), self.stacks.frame);
        self.stacks.steps.push(Step::Visit(site));
        while self.stacks.steps.len() > steps {
            if !self.spend(1, site) {
                self.stacks.steps.truncate(steps);
                self.stacks.values.truncate(values);
                self.stacks.locals.truncate(locals);
                self.stacks.frame = frame;
                return Value::Poison;
            }
            if let Some(step) = self.stacks.steps.pop() {
                self.step(step);
            }
        }
        self.stacks.values.pop().unwrap_or(Value::Poison)
    }

    /// Counts work; false once there was too much, which is reported once.
    pub(crate) fn spend(&mut self, work: usize, site: Site) -> bool {
        if self.effort.exhausted {
            return false;
        }
        self.effort.work += work as u64;
        if self.effort.work > WORK {
            let message = format!("the model takes more than {WORK} steps to write out");
            let hint = "use smaller sums and families, or fewer nested functions";
            self.error_hint("E0308", self.span(site), message, hint);
            self.effort.exhausted = true;
        }
        !self.effort.exhausted
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Visit(site) => self.visit(site),
            Step::Apply(site) => self.apply(site),
            Step::Call(site) => self.call(site),
            Step::Enter(site) => self.enter(site),
            Step::Leave { locals, frame } => {
                self.stacks.locals.truncate(locals);
                self.stacks.frame = frame;
            }
            Step::Forget => {
                self.stacks.locals.pop();
            }
            Step::Choose(site) => self.choose(site),
            Step::Blend(site) => self.blend(site),
            Step::Bracket(site) => self.bracket(site),
            Step::Component(site) => {
                let NodeKind::Index { indices, .. } = self.kind(site) else { return };
                let indices = self.pop_many(indices.len());
                let base = self.pop();
                let value = self.component(&base, &indices, site);
                self.push(value);
            }
            Step::Member { index, base } => self.member(index, base),
            Step::Derive { site, base, order } => self.derive(site, base, order),
            Step::Result(site) => self.result(site),
            Step::Range(site) => self.fold_range(site),
            Step::Next(at) => self.fold_next(at),
            Step::Accumulate(at) => self.fold_accumulate(at),
        }
    }

    fn visit(&mut self, site: Site) {
        match self.kind(site) {
            NodeKind::Number(id) => {
                let decimal = self.arena(site).decimal(id);
                let whole = decimal.digits.parse().ok().filter(|_| decimal.exponent == 0);
                let made = match whole {
                    Some(whole) => Some(self.graph.integer(whole)),
                    None => number::decimal(&decimal.digits, decimal.exponent)
                        .map(|exact| self.graph.number(exact)),
                };
                self.push(made.map_or(Value::Poison, Value::Scalar));
            }
            NodeKind::Text(id) => {
                let text = self.arena(site).text(id).into();
                self.push(Value::Text(text));
            }
            NodeKind::Name(symbol) => {
                let value = self.name(site, symbol);
                self.push(value);
            }
            NodeKind::Call { arguments, .. } => self.visit_call(site, arguments),
            NodeKind::Fold { binder, .. } => {
                self.later(Step::Range(site));
                self.visit_all(site, &[binder.from, binder.to]);
            }
            NodeKind::Vector(list) => self.visit_list(site, Step::Bracket(site), list),
            NodeKind::Index { base, indices } => self.visit_index(site, base, indices),
            NodeKind::Prime { .. } => {
                let (base, order) = self.unprimed(site);
                self.later(Step::Derive { site, base, order });
                self.later(Step::Visit(base));
            }
            NodeKind::Negate(a) | NodeKind::Not(a) => {
                self.later(Step::Apply(site));
                self.visit_all(site, &[a]);
            }
            NodeKind::Binary { left, right, .. } => {
                self.later(Step::Apply(site));
                self.visit_all(site, &[left, right]);
            }
        }
    }

    /// `base[i, j]`. Derivatives are taken after the component: `q'[i]` is `q[i]'`.
    fn visit_index(&mut self, site: Site, base: ExprId, indices: List) {
        let (base, order) = self.unprimed(Site { id: base, ..site });
        if order > 0 {
            self.later(Step::Derive { site, base, order });
        }
        if let NodeKind::Name(_) = self.kind(base) {
            self.visit_list(site, Step::Member { index: site, base }, indices);
        } else {
            self.visit_list(site, Step::Component(site), indices);
            self.later(Step::Visit(base));
        }
    }

    /// What stands before the `'` signs, and how many there are.
    fn unprimed(&self, mut site: Site) -> (Site, u32) {
        let mut total = 0_u32;
        while let NodeKind::Prime { base, order } = self.kind(site) {
            total = total.saturating_add(order);
            site.id = base;
        }
        (site, total)
    }

    fn visit_call(&mut self, site: Site, arguments: List) {
        let name = self.called(site);
        if let Some(entry) = self.scope.get(&name)
            && matches!(entry.meaning, Meaning::Function { .. } | Meaning::Poison)
            && !functions::is_reserved(&name)
        {
            return match entry.meaning {
                Meaning::Poison => self.push(Value::Poison),
                _ => self.visit_list(site, Step::Enter(site), arguments),
            };
        }
        if !self.is_callable(site, &name, arguments.len()) {
            return self.push(Value::Poison);
        }
        match name.as_str() {
            "if" => {
                self.later(Step::Choose(site));
                let condition = self.arena(site).list(arguments)[0];
                self.visit_all(site, &[condition]);
            }
            "memory" => self.visit_kernel(site, arguments),
            _ if functions::is_result(&name) => self.visit_result(site, arguments),
            _ => self.visit_list(site, Step::Call(site), arguments),
        }
    }

    /// `memory(k, g)`: the lag `s` is known in the kernel alone.
    fn visit_kernel(&mut self, site: Site, arguments: List) {
        let (kernel, operand) = {
            let list = self.arena(site).list(arguments);
            (list[0], list[1])
        };
        self.later(Step::Call(site));
        self.visit_all(site, &[operand]);
        if let Some(symbol) = self.arena(site).find_symbol("s") {
            self.later(Step::Forget);
            let lag = Value::Scalar(self.lag());
            self.stacks.locals.push((symbol, lag));
        }
        self.visit_all(site, &[kernel]);
    }

    fn enter(&mut self, site: Site) {
        let NodeKind::Call { arguments: given, .. } = self.kind(site) else { return };
        let values = self.pop_many(given.len());
        let name = self.called(site);
        let Some(Meaning::Function { arguments, body }) =
            self.scope.get(&name).map(|entry| entry.meaning.clone())
        else {
            return self.push(Value::Poison);
        };
        if arguments.len() != values.len() {
            let wanted = functions::count(arguments.len(), "argument");
            let message = format!("`{name}` takes {wanted}, not {}", values.len());
            self.error("E0302", self.span(site), message);
            return self.push(Value::Poison);
        }
        if values.iter().any(Value::is_poison) {
            return self.push(Value::Poison);
        }
        let (locals, frame) = (self.stacks.locals.len(), self.stacks.frame);
        self.later(Step::Leave { locals, frame });
        self.stacks.frame = locals;
        self.stacks.locals.extend(arguments.into_iter().zip(values));
        self.later(Step::Visit(body));
    }

    fn choose(&mut self, site: Site) {
        let NodeKind::Call { arguments, .. } = self.kind(site) else { return };
        let (first, a, b) = {
            let list = self.arena(site).list(arguments);
            (list[0], list[1], list[2])
        };
        let condition = match self.pop() {
            Value::Truth(condition) => condition,
            Value::Poison => return self.push(Value::Poison),
            other => {
                let message =
                    format!("the condition of `if` is {}, not a comparison", other.describe());
                let span = self.span(Site { id: first, ..site });
                self.error_hint("E0303", span, message, "write for example `if(x > 0, a, b)`");
                return self.push(Value::Poison);
            }
        };
        if let Some(holds) = self.decided(condition) {
            self.visit_all(site, &[if holds { a } else { b }]);
        } else {
            self.push(Value::Truth(condition));
            self.later(Step::Blend(site));
            self.visit_all(site, &[a, b]);
        }
    }

    fn blend(&mut self, site: Site) {
        let (b, a, condition) = (self.pop(), self.pop(), self.pop());
        let Value::Truth(condition) = condition else { return self.push(Value::Poison) };
        if a.is_poison() || b.is_poison() {
            return self.push(Value::Poison);
        }
        let g = self.graph;
        let zeros = |like: &Value| like.map(|_| g.zero());
        let (a, b) = match (a.is_plain_zero(g), b.is_plain_zero(g)) {
            (true, false) => (zeros(&b), b),
            (false, true) => {
                let zero = zeros(&a);
                (a, zero)
            }
            _ => (a, b),
        };
        if a.shape().is_none() || a.shape() != b.shape() {
            let (one, other) = (a.describe(), b.describe());
            let message = format!("the branches of `if` differ: {one} and {other}");
            self.error("E0301", self.span(site), message);
            return self.push(Value::Poison);
        }
        let pairs = a.entries().iter().zip(b.entries());
        let entries = pairs.map(|(&x, &y)| g.choose(condition, x, y)).collect();
        self.push(a.with_entries(entries));
    }

    /// `[a, b]`, or a matrix of rows `[[a, b], [c, d]]`.
    fn bracket(&mut self, site: Site) {
        let NodeKind::Vector(list) = self.kind(site) else { return };
        let items = self.pop_many(list.len());
        if items.iter().any(Value::is_poison) {
            return self.push(Value::Poison);
        }
        let shape = items[0].shape();
        for (k, item) in items.iter().enumerate() {
            let at = Site { id: self.arena(site).list(list)[k], ..site };
            let wrong = match item.shape() {
                Some(Shape::Matrix(..)) => {
                    Some("a matrix cannot be an entry of brackets".to_owned())
                }
                Some(Shape::Row(_)) => {
                    Some("a transposed vector cannot be an entry of brackets".to_owned())
                }
                None => Some(format!("{} cannot be an entry of brackets", item.describe())),
                found if found != shape => Some(format!(
                    "entry {} of the brackets is {}, but entry 1 is {}",
                    k + 1,
                    item.describe(),
                    items[0].describe()
                )),
                _ => None,
            };
            if let Some(message) = wrong {
                let code = if item.shape().is_some() { "E0301" } else { "E0303" };
                self.error(code, self.span(at), message);
                return self.push(Value::Poison);
            }
        }
        let entries: Vec<_> = items.iter().flat_map(|v| v.entries().iter().copied()).collect();
        let shape = match shape {
            Some(Shape::Vector(m)) => Shape::Matrix(items.len(), m),
            _ => Shape::Vector(items.len()),
        };
        self.push(Value::new(shape, entries));
    }

    /// Adds a term or multiplies by a factor, from the left.
    pub(crate) fn accumulate(
        &mut self,
        so_far: &Value,
        term: &Value,
        product: bool,
        site: Site,
    ) -> Value {
        let result = if product {
            algebra::multiply(self.graph, so_far, term)
        } else {
            algebra::add(self.graph, so_far, term, false)
        };
        self.settle(result, site)
    }

    pub(crate) fn push(&mut self, value: Value) {
        self.stacks.values.push(value);
    }

    pub(crate) fn pop(&mut self) -> Value {
        self.stacks.values.pop().unwrap_or(Value::Poison)
    }

    /// The last values in the order in which they were computed.
    pub(crate) fn pop_many(&mut self, count: usize) -> Vec<Value> {
        let from = self.stacks.values.len().saturating_sub(count);
        self.stacks.values.split_off(from)
    }

    pub(crate) fn later(&mut self, step: Step) {
        self.stacks.steps.push(step);
    }

    /// Computes expressions in the order given, before any step that waits.
    fn visit_all(&mut self, site: Site, ids: &[ExprId]) {
        self.stacks.steps.extend(ids.iter().rev().map(|&id| Step::Visit(Site { id, ..site })));
    }

    /// Computes the members of a list in order, then does the step.
    pub(crate) fn visit_list(&mut self, site: Site, then: Step, list: List) {
        self.later(then);
        let ids = self.arena(site).list(list).to_vec();
        self.visit_all(site, &ids);
    }
}
