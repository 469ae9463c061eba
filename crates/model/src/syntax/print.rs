//! The syntax tree as s-expressions, one statement a line.
//!
//! `x'` is `(' x)`, `q[1,2]` is `(@ q 1 2)`, `[a, b]` is `(vec a b)`, a call `(f a b)`, a call
//! without arguments `(f)`, a range `(.. a b)` and an index range `(i a b)`; a number is its
//! digits, with its power of ten after `e`.

use std::fmt::{self, Formatter, Write};

use crate::lexer::token::Keyword;
use crate::syntax::{
    Arena, Assignment, Binder, Clause, ClauseValue, Condition, Constraint, Contact, Control,
    DefinitionForm, Direction, Draw, Equation, Event, ExprId, Extent, Force, ForceTarget,
    Group, Input, NodeKind, Noise, Reset, Setting, SettingValue, Slot, State, Statement,
    StatementKind, Symmetry, Syntax, Target,
};

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.statements.iter().try_for_each(|statement| {
            let keyword = statement.keyword.map_or("?", Keyword::word);
            writeln!(f, "({keyword}{})", body(&self.arena, statement))
        })
    }
}

/// What is left to print of an expression.
enum Work {
    Node(ExprId),
    Text(&'static str),
}

impl Arena {
    /// An expression as s-expression.
    pub fn print(&self, root: ExprId) -> String {
        let mut out = String::new();
        let mut work = vec![Work::Node(root)];
        while let Some(next) = work.pop() {
            match next {
                Work::Text(text) => out.push_str(text),
                Work::Node(id) => self.print_node(id, &mut out, &mut work),
            }
        }
        out
    }

    /// Prints what stands before the children of a node, and leaves them as work.
    fn print_node(&self, id: ExprId, out: &mut String, work: &mut Vec<Work>) {
        let mut close = |head: &str, children: &[ExprId]| {
            out.push('(');
            out.push_str(head);
            work.push(Work::Text(")"));
            for &child in children.iter().rev() {
                work.push(Work::Node(child));
                work.push(Work::Text(" "));
            }
        };
        match self.kind(id) {
            NodeKind::Number(number) => {
                let number = self.decimal(number);
                out.push_str(&number.digits);
                if number.exponent != 0 {
                    put(out, format_args!("e{}", number.exponent));
                }
            }
            NodeKind::Text(text) => put(out, format_args!("{:?}", self.text(text))),
            NodeKind::Name(name) => out.push_str(self.name(name)),
            NodeKind::Call { function, arguments } => {
                close(self.name(function.symbol), self.list(arguments));
            }
            NodeKind::Fold { fold, binder: Binder { name, from, to }, body } => {
                put(out, format_args!("({} ({}", fold.word(), self.name(name.symbol)));
                let parts =
                    [Work::Text(")"), Work::Node(body), Work::Text(") "), Work::Node(to)];
                work.extend(parts);
                work.extend([Work::Text(" "), Work::Node(from), Work::Text(" ")]);
            }
            NodeKind::Vector(list) => close("vec", self.list(list)),
            NodeKind::Index { base, indices } => {
                close("@", &[&[base], self.list(indices)].concat());
            }
            NodeKind::Prime { base, order } => close(&"'".repeat(order as usize), &[base]),
            NodeKind::Negate(a) => close("-", &[a]),
            NodeKind::Not(a) => close("not", &[a]),
            NodeKind::Binary { operator, left, right } => {
                close(operator.sign(), &[left, right]);
            }
        }
    }
}

/// A statement after its keyword, each part with a blank before it.
fn body(arena: &Arena, statement: &Statement) -> String {
    let mut out = String::new();
    let o = &mut out;
    match &statement.kind {
        StatementKind::Title(text) => put(o, format_args!(" {:?}", text.value)),
        StatementKind::Coordinates(items) => items.iter().for_each(|item| {
            let extents: String = item.extents.iter().map(|e| extent(arena, *e)).collect();
            named(o, arena.name(item.name.symbol), &extents);
        }),
        StatementKind::Parameters(items) => items.iter().for_each(|item| {
            let name = arena.name(item.name.symbol);
            match item.value {
                Some(value) => put(o, format_args!(" (= {name} {})", arena.print(value))),
                None => put(o, format_args!(" {name}")),
            }
        }),
        StatementKind::Let(definition) => {
            let rest = match &definition.form {
                DefinitionForm::Plain => String::new(),
                DefinitionForm::Function(arguments) => {
                    let names: Vec<&str> =
                        arguments.iter().map(|a| arena.name(a.symbol)).collect();
                    format!(" (of {})", names.join(" "))
                }
                DefinitionForm::Family(list) => slots(arena, list),
            };
            named(o, arena.name(definition.name.symbol), &rest);
            value(o, arena, definition.value);
        }
        StatementKind::Lagrangian(e)
        | StatementKind::Kinetic(e)
        | StatementKind::Potential(e)
        | StatementKind::Dissipation(e) => value(o, arena, *e),
        StatementKind::Constraint(constraint) => print_constraint(o, arena, constraint),
        StatementKind::Force(Force { on, value: force, condition }) => {
            match on {
                ForceTarget::Coordinate { name, slots: list } => {
                    named(o, arena.name(name.symbol), &slots(arena, list));
                }
                ForceTarget::Point(point) => {
                    put(o, format_args!(" (at {})", arena.print(*point)));
                }
                ForceTarget::Density { point, name, body } => {
                    let (point, body) = (arena.print(*point), arena.print(*body));
                    let name = arena.name(name.symbol);
                    put(o, format_args!(" (density {point} (in {name} {body}))"));
                }
            }
            value(o, arena, *force);
            print_condition(o, arena, condition);
        }
        StatementKind::Noise(Noise { name, slots: list, value: strength }) => {
            named(o, arena.name(name.symbol), &slots(arena, list));
            value(o, arena, *strength);
        }
        StatementKind::Equation(Equation { name, slots: list, left, right }) => {
            let name = name.map_or("_", |name| arena.name(name.symbol));
            named(o, name, &slots(arena, list));
            put(o, format_args!(" (= {} {})", arena.print(*left), arena.print(*right)));
        }
        StatementKind::Principle(name) => put(o, format_args!(" {}", arena.name(name.symbol))),
        StatementKind::Initial(items)
        | StatementKind::Final(items)
        | StatementKind::History(items) => {
            assignments(o, arena, items);
        }
        StatementKind::Observe(observation) => {
            let rest = slots(arena, &observation.slots);
            named(o, arena.name(observation.name.symbol), &rest);
            value(o, arena, observation.value);
        }
        StatementKind::Event(event) => print_event(o, arena, event),
        StatementKind::On(Reset { event, slots: list, values }) => {
            named(o, arena.name(event.symbol), &slots(arena, list));
            assignments(o, arena, values);
        }
        StatementKind::State(State { name, rate }) => {
            named(o, arena.name(name.symbol), "");
            value(o, arena, *rate);
        }
        StatementKind::Input(Input { name, value: given, is_function }) => {
            let sign = if *is_function { ":" } else { "=" };
            let name = arena.name(name.symbol);
            put(o, format_args!(" ({sign} {name} {})", arena.print(*given)));
        }
        StatementKind::Control(Control { name, value: law, every }) => {
            put(o, format_args!(" (= {} {})", arena.name(name.symbol), arena.print(*law)));
            if let Some(every) = every {
                put(o, format_args!(" (every {})", arena.print(*every)));
            }
        }
        StatementKind::Mode(names) => {
            names.iter().for_each(|name| named(o, arena.name(name.symbol), ""));
        }
        StatementKind::Contact(contact) => print_contact(o, arena, contact),
        StatementKind::Draw(draw) => print_draw(o, arena, draw),
        StatementKind::Solve(list) => settings(o, arena, list),
        StatementKind::Symmetry(Symmetry { name, components }) => {
            put(o, format_args!(" {}", name.map_or("_", |name| arena.name(name.symbol))));
            assignments(o, arena, components);
        }
        StatementKind::Group(Group { name, size, coordinates }) => {
            put(o, format_args!(" {}({size})", arena.name(name.symbol)));
            let names = coordinates.iter();
            names
                .for_each(|target| put(o, format_args!(" {}", arena.name(target.name.symbol))));
        }
        StatementKind::Faulty { .. } => o.push_str(" !"),
    }
    out
}

impl Assignment {
    /// The assignment as s-expression.
    pub fn print(&self, arena: &Arena) -> String {
        let Target { name, of, slots: list, order, .. } = &self.target;
        let name = arena.name(name.symbol);
        let rest = slots(arena, list);
        let mut target = String::new();
        match of {
            Some(of) => {
                named(&mut target, arena.name(of.symbol), &rest);
                target = format!(" ({name}{target})");
            }
            None => named(&mut target, name, &rest),
        }
        if *order > 0 {
            target = format!(" ({}{target})", "'".repeat(*order as usize));
        }
        format!("(={target} {})", arena.print(self.value))
    }
}

fn print_constraint(out: &mut String, arena: &Arena, constraint: &Constraint) {
    let name = constraint.name.map_or("_", |name| arena.name(name.symbol));
    named(out, name, &slots(arena, &constraint.slots));
    if let Some(along) = constraint.along {
        put(out, format_args!(" (along {})", arena.print(along)));
    }
    let left = arena.print(constraint.left);
    match constraint.right {
        Some(right) => put(out, format_args!(" (= {left} {})", arena.print(right))),
        None => put(out, format_args!(" {left}")),
    }
    print_condition(out, arena, &constraint.condition);
}

fn print_condition(out: &mut String, arena: &Arena, Condition { modes, when }: &Condition) {
    if !modes.is_empty() {
        let names: Vec<&str> = modes.iter().map(|name| arena.name(name.symbol)).collect();
        put(out, format_args!(" (in {})", names.join(" ")));
    }
    if let Some(when) = when {
        put(out, format_args!(" (when {})", arena.print(*when)));
    }
}

fn print_contact(out: &mut String, arena: &Arena, contact: &Contact) {
    named(out, arena.name(contact.name.symbol), &slots(arena, &contact.slots));
    value(out, arena, contact.relation);
    settings(out, arena, &contact.settings);
    print_condition(out, arena, &contact.condition);
}

fn settings(out: &mut String, arena: &Arena, list: &[Setting]) {
    for setting in list {
        let value = match setting.value {
            SettingValue::Range(a, b) => {
                format!("(.. {} {})", arena.print(a), arena.print(b))
            }
            SettingValue::Value(a) => arena.print(a),
        };
        put(out, format_args!(" (= {} {value})", arena.name(setting.name.symbol)));
    }
}

fn print_event(out: &mut String, arena: &Arena, event: &Event) {
    if event.stop {
        out.push_str(" stop");
    }
    if event.goes_on {
        out.push_str(" continue");
    }
    match event.direction {
        Direction::Both => {}
        Direction::Rising => out.push_str(" rising"),
        Direction::Falling => out.push_str(" falling"),
    }
    named(out, arena.name(event.name.symbol), &slots(arena, &event.slots));
    value(out, arena, event.value);
    print_condition(out, arena, &event.condition);
}

fn print_draw(out: &mut String, arena: &Arena, draw: &Draw) {
    named(out, arena.name(draw.shape.symbol), &slots(arena, &draw.slots));
    if let Some(subject) = draw.subject {
        value(out, arena, subject);
    }
    for Clause { word, value } in &draw.clauses {
        let rest = match value {
            ClauseValue::Nothing => String::new(),
            ClauseValue::Value(e) => format!(" {}", arena.print(*e)),
            ClauseValue::Word(name) => format!(" {}", arena.name(name.symbol)),
            ClauseValue::Ranges(ranges) => {
                let each: Vec<Slot> = ranges.iter().copied().map(Slot::Each).collect();
                slots(arena, &each)
            }
        };
        named(out, arena.name(word.symbol), &rest);
    }
}

fn assignments(out: &mut String, arena: &Arena, items: &[Assignment]) {
    for item in items {
        put(out, format_args!(" {}", item.print(arena)));
    }
}

/// ` name`, or ` (name rest)`.
fn named(out: &mut String, name: &str, rest: &str) {
    if rest.is_empty() {
        put(out, format_args!(" {name}"));
    } else {
        put(out, format_args!(" ({name}{rest})"));
    }
}

fn value(out: &mut String, arena: &Arena, value: ExprId) {
    put(out, format_args!(" {}", arena.print(value)));
}

fn extent(arena: &Arena, Extent { from, to }: Extent) -> String {
    match from {
        Some(from) => format!(" (.. {} {})", arena.print(from), arena.print(to)),
        None => format!(" {}", arena.print(to)),
    }
}

fn slots(arena: &Arena, slots: &[Slot]) -> String {
    let print = |slot: &Slot| match slot {
        Slot::At(e) => format!(" {}", arena.print(*e)),
        Slot::Each(Binder { name, from, to }) => {
            format!(
                " ({} {} {})",
                arena.name(name.symbol),
                arena.print(*from),
                arena.print(*to)
            )
        }
    };
    slots.iter().map(print).collect()
}

fn put(out: &mut String, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}
