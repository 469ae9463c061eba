//! The instructions of a tape: what each reads, what it writes, and how it is printed.
//!
//! Operands and results are numbers: of values while a program is being made, of slots afterwards. An
//! instruction reads all its operands before it writes a result, so a result may take the slot of an operand
//! that dies there.

use pfaff_expr::{Binary, Relation, Unary};

/// The number of a value or of a slot.
pub(crate) type Slot = u32;

/// One step of a tape.
///
/// Each operation is rounded by itself; multiply-adds are rounded twice, or once if the program is fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Instruction {
    Add {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Sub {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Mul {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Div {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    /// $ab + c$
    MulAdd {
        to: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
    },
    /// $ab - c$
    MulSub {
        to: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
    },
    /// $c - ab$
    SubMul {
        to: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
    },
    Neg {
        to: Slot,
        a: Slot,
    },
    /// $a \cdot a$
    Square {
        to: Slot,
        a: Slot,
    },
    Sqrt {
        to: Slot,
        a: Slot,
    },
    Sin {
        to: Slot,
        a: Slot,
    },
    Cos {
        to: Slot,
        a: Slot,
    },
    /// Both at the price of one.
    SinCos {
        sin: Slot,
        cos: Slot,
        a: Slot,
    },
    /// [`pfaff_expr::power`], where the exponent is no small whole number known beforehand.
    Power {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Unary {
        function: Unary,
        to: Slot,
        a: Slot,
    },
    Binary {
        function: Binary,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Compare {
        relation: Relation,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Not {
        to: Slot,
        a: Slot,
    },
    And {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Or {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    /// $b$ where the condition is 0, else $a$.
    Select {
        to: Slot,
        condition: Slot,
        a: Slot,
        b: Slot,
    },
    /// The `order`-th derivative of the `table`-th data of the program.
    Table {
        table: u32,
        order: u32,
        to: Slot,
        a: Slot,
    },
}

impl Instruction {
    /// About how many multiply-adds it takes the time of, where the processor has vector instructions for it; functions
    /// of the library are called lane by lane.
    pub(crate) fn work(&self) -> usize {
        match self {
            Self::Sin { .. } | Self::Cos { .. } | Self::SinCos { .. } => 45,
            Self::Div { .. } | Self::Sqrt { .. } => 8,
            Self::Select { .. } | Self::Compare { .. } | Self::Not { .. } => 2,
            Self::And { .. } | Self::Or { .. } => 4,
            Self::Unary { function: Unary::Abs, .. } => 1,
            Self::Unary { function: Unary::Sqrt, .. } => 8,
            Self::Power { .. } | Self::Unary { .. } => 400,
            Self::Binary { .. } | Self::Table { .. } => 400,
            Self::Add { .. }
            | Self::Sub { .. }
            | Self::Mul { .. }
            | Self::MulAdd { .. }
            | Self::MulSub { .. }
            | Self::SubMul { .. }
            | Self::Neg { .. }
            | Self::Square { .. } => 1,
        }
    }

    /// The same step with other numbers.
    pub(crate) fn rename(
        self,
        operand: impl Fn(Slot) -> Slot,
        result: impl Fn(Slot) -> Slot,
    ) -> Self {
        let mut renamed = self;
        let (operands, results) = renamed.numbers();
        for slot in operands.into_iter().flatten() {
            *slot = operand(*slot);
        }
        for slot in results.into_iter().flatten() {
            *slot = result(*slot);
        }
        renamed
    }

    /// What it reads.
    pub(crate) fn operands(self) -> impl Iterator<Item = Slot> {
        let (count, slots) = match self {
            Self::Neg { a, .. }
            | Self::Square { a, .. }
            | Self::Sqrt { a, .. }
            | Self::Sin { a, .. }
            | Self::Cos { a, .. }
            | Self::Unary { a, .. }
            | Self::Not { a, .. }
            | Self::Table { a, .. }
            | Self::SinCos { a, .. } => (1, [a, a, a]),
            Self::Add { a, b, .. }
            | Self::Sub { a, b, .. }
            | Self::Mul { a, b, .. }
            | Self::Div { a, b, .. }
            | Self::Power { a, b, .. }
            | Self::Binary { a, b, .. }
            | Self::Compare { a, b, .. }
            | Self::And { a, b, .. }
            | Self::Or { a, b, .. } => (2, [a, b, b]),
            Self::MulAdd { a, b, c, .. }
            | Self::MulSub { a, b, c, .. }
            | Self::SubMul { a, b, c, .. } => (3, [a, b, c]),
            Self::Select { condition, a, b, .. } => (3, [condition, a, b]),
        };
        slots.into_iter().take(count)
    }

    /// What it writes.
    pub(crate) fn results(self) -> impl Iterator<Item = Slot> {
        let (count, slots) = match self {
            Self::SinCos { sin, cos, .. } => (2, [sin, cos]),
            Self::Neg { to, .. }
            | Self::Square { to, .. }
            | Self::Sqrt { to, .. }
            | Self::Sin { to, .. }
            | Self::Cos { to, .. }
            | Self::Unary { to, .. }
            | Self::Not { to, .. }
            | Self::Table { to, .. }
            | Self::Add { to, .. }
            | Self::Sub { to, .. }
            | Self::Mul { to, .. }
            | Self::Div { to, .. }
            | Self::Power { to, .. }
            | Self::Binary { to, .. }
            | Self::Compare { to, .. }
            | Self::And { to, .. }
            | Self::Or { to, .. }
            | Self::MulAdd { to, .. }
            | Self::MulSub { to, .. }
            | Self::SubMul { to, .. }
            | Self::Select { to, .. } => (1, [to, to]),
        };
        slots.into_iter().take(count)
    }

    /// Its operands and its results, in place.
    fn numbers(&mut self) -> ([Option<&mut Slot>; 3], [Option<&mut Slot>; 2]) {
        match self {
            Self::Neg { to, a }
            | Self::Square { to, a }
            | Self::Sqrt { to, a }
            | Self::Sin { to, a }
            | Self::Cos { to, a }
            | Self::Unary { to, a, .. }
            | Self::Not { to, a }
            | Self::Table { to, a, .. } => ([Some(a), None, None], [Some(to), None]),
            Self::SinCos { sin, cos, a } => ([Some(a), None, None], [Some(sin), Some(cos)]),
            Self::Add { to, a, b }
            | Self::Sub { to, a, b }
            | Self::Mul { to, a, b }
            | Self::Div { to, a, b }
            | Self::Power { to, a, b }
            | Self::Binary { to, a, b, .. }
            | Self::Compare { to, a, b, .. }
            | Self::And { to, a, b }
            | Self::Or { to, a, b } => ([Some(a), Some(b), None], [Some(to), None]),
            Self::MulAdd { to, a, b, c }
            | Self::MulSub { to, a, b, c }
            | Self::SubMul { to, a, b, c } => ([Some(a), Some(b), Some(c)], [Some(to), None]),
            Self::Select { to, condition, a, b } => {
                ([Some(condition), Some(a), Some(b)], [Some(to), None])
            }
        }
    }

    /// The step as a line of text, with the given names of slots.
    pub(crate) fn text(self, name: &dyn Fn(Slot) -> String) -> String {
        let infix =
            |to, a, sign: &str, b| format!("{} = {} {sign} {}", name(to), name(a), name(b));
        let call = |to, function: &str, a| format!("{} = {function}({})", name(to), name(a));
        match self {
            Self::Add { to, a, b } => infix(to, a, "+", b),
            Self::Sub { to, a, b } => infix(to, a, "-", b),
            Self::Mul { to, a, b } => infix(to, a, "*", b),
            Self::Div { to, a, b } => infix(to, a, "/", b),
            Self::Power { to, a, b } => infix(to, a, "^", b),
            Self::And { to, a, b } => infix(to, a, "and", b),
            Self::Or { to, a, b } => infix(to, a, "or", b),
            Self::Compare { relation, to, a, b } => infix(to, a, sign(relation), b),
            Self::MulAdd { to, a, b, c } => {
                format!("{} = {} * {} + {}", name(to), name(a), name(b), name(c))
            }
            Self::MulSub { to, a, b, c } => {
                format!("{} = {} * {} - {}", name(to), name(a), name(b), name(c))
            }
            Self::SubMul { to, a, b, c } => {
                format!("{} = {} - {} * {}", name(to), name(c), name(a), name(b))
            }
            Self::Neg { to, a } => format!("{} = -{}", name(to), name(a)),
            Self::Square { to, a } => format!("{} = {}^2", name(to), name(a)),
            Self::Not { to, a } => format!("{} = not {}", name(to), name(a)),
            Self::Sqrt { to, a } => call(to, "sqrt", a),
            Self::Sin { to, a } => call(to, "sin", a),
            Self::Cos { to, a } => call(to, "cos", a),
            Self::SinCos { sin, cos, a } => {
                format!("{}, {} = sincos({})", name(sin), name(cos), name(a))
            }
            Self::Unary { function, to, a } => call(to, function.name(), a),
            Self::Binary { function, to, a, b } => {
                format!("{} = {}({}, {})", name(to), function.name(), name(a), name(b))
            }
            Self::Select { to, condition, a, b } => {
                format!("{} = if({}, {}, {})", name(to), name(condition), name(a), name(b))
            }
            Self::Table { table, order, to, a } => {
                format!(
                    "{} = table{table}{}({})",
                    name(to),
                    "'".repeat(order as usize),
                    name(a)
                )
            }
        }
    }
}

/// The comparison as the model language writes it.
fn sign(relation: Relation) -> &'static str {
    match relation {
        Relation::Less => "<",
        Relation::LessEqual => "<=",
        Relation::Equal => "==",
        Relation::NotEqual => "!=",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_stays_small() {
        // Tag, and four numbers: tapes of 10⁴ instructions shall stay in the second cache.
        assert!(size_of::<Instruction>() <= 20);
    }

    #[test]
    fn renaming_reaches_every_number() {
        let select = Instruction::Select { to: 1, condition: 2, a: 3, b: 4 };
        let renamed = select.rename(|s| s + 10, |s| s + 100);
        assert_eq!(renamed, Instruction::Select { to: 101, condition: 12, a: 13, b: 14 });
        assert_eq!(renamed.operands().collect::<Vec<_>>(), [12, 13, 14]);
        assert_eq!(renamed.results().collect::<Vec<_>>(), [101]);
    }
}
