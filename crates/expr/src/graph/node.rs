//! What an expression is made of.
//!
//! An [`Expr`] is a handle into a [`Graph`](crate::Graph); the [`Node`] behind it names its operands by their
//! handles. Operands are always older than the node that uses them, so ascending handles are an order of
//! evaluation.

use crate::math::{Binary, Unary};

/// A handle to one node of a [`Graph`](crate::Graph). Equal handles mean equal expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expr(pub(crate) u32);

impl Expr {
    /// Position in the graph: operands come before the node that uses them.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The first three nodes of every graph.
pub(crate) const ZERO: Expr = Expr(0);
pub(crate) const ONE: Expr = Expr(1);
pub(crate) const TWO: Expr = Expr(2);

/// One node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An exact rational number; [`Graph::number_of`](crate::Graph::number_of) has its value.
    Number(u32),
    /// The circle's constant.
    Pi,
    /// A variable; [`Graph::symbol_of`](crate::Graph::symbol_of) has its name and role.
    Symbol(u32),
    /// $-a$
    Neg(Expr),
    /// $a + b$
    Add(Expr, Expr),
    /// $a - b$
    Sub(Expr, Expr),
    /// $a b$; a number stands first.
    Mul(Expr, Expr),
    /// $a / b$
    Div(Expr, Expr),
    /// $a^b$
    Pow(Expr, Expr),
    /// A function of one argument.
    Unary(Unary, Expr),
    /// A function of two arguments.
    Binary(Binary, Expr, Expr),
    /// $E_{\alpha,\beta}(z)$
    MittagLeffler(Expr, Expr, Expr),
    /// `if(condition, a, b)`
    If(Expr, Expr, Expr),
    /// A comparison, 1 if it holds and 0 if not.
    Compare(Relation, Expr, Expr),
    /// `not a`
    Not(Expr),
    /// `a and b`
    And(Expr, Expr),
    /// `a or b`
    Or(Expr, Expr),
    /// The `order`-th derivative of given data at the argument.
    Table {
        /// Index of the data, see [`Graph::table_of`](crate::Graph::table_of).
        table: u32,
        /// Order of the derivative.
        order: u32,
        /// Where it is taken.
        argument: Expr,
    },
    /// A memory operator: its operand, and its order or kernel.
    Memory(Memory, Expr, Expr),
    /// A list of expressions: its first entry, and the rest, which is a list or zero. It has no value.
    List(Expr, Expr),
    /// One part of a sum of many like terms, see [`Graph::family_of`](crate::Graph::family_of).
    Family {
        /// Index of the family.
        family: u32,
        /// Which of its parts.
        part: u32,
        /// What the rows take their operands from.
        list: Expr,
    },
}

impl Node {
    /// The operands in the order in which they are written.
    #[inline]
    pub fn operands(self) -> impl DoubleEndedIterator<Item = Expr> {
        const NONE: Expr = Expr(u32::MAX);
        let (count, three) = match self {
            Self::Number(_) | Self::Pi | Self::Symbol(_) => (0, [NONE; 3]),
            Self::Neg(a)
            | Self::Unary(_, a)
            | Self::Not(a)
            | Self::Table { argument: a, .. }
            | Self::Family { list: a, .. } => (1, [a, NONE, NONE]),
            Self::Add(a, b)
            | Self::Sub(a, b)
            | Self::Mul(a, b)
            | Self::Div(a, b)
            | Self::Pow(a, b)
            | Self::Binary(_, a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b)
            | Self::Memory(_, a, b)
            | Self::List(a, b) => (2, [a, b, NONE]),
            Self::MittagLeffler(a, b, c) | Self::If(a, b, c) => (3, [a, b, c]),
        };
        three.into_iter().take(count)
    }
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
}

impl Relation {
    /// Whether it holds between two numbers.
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Less => a < b,
            Self::LessEqual => a <= b,
            Self::Equal => a == b,
            Self::NotEqual => a != b,
        }
    }
}

/// The operators that look at the past (or the future) of their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// `caputo(g, alpha)`, from the start of the run.
    Caputo,
    /// `rl(g, alpha)`, Riemann–Liouville from the start of the run.
    RiemannLiouville,
    /// `caputo_right(g, alpha)`, to the end of the run.
    CaputoRight,
    /// `rl_right(g, alpha)`, to the end of the run.
    RiemannLiouvilleRight,
    /// `integral(g, mu)`, the fractional integral.
    Integral,
    /// `memory(k, g)` $= \int_{t_0}^t k\,g\,d\tau$ with the lag `s` in the kernel $k$.
    Kernel,
    /// `mean(g)`, the running average; its second operand is zero and means nothing.
    Mean,
}

impl Memory {
    /// The word of the model language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Caputo => "caputo",
            Self::RiemannLiouville => "rl",
            Self::CaputoRight => "caputo_right",
            Self::RiemannLiouvilleRight => "rl_right",
            Self::Integral => "integral",
            Self::Kernel => "memory",
            Self::Mean => "mean",
        }
    }
}

/// A variable: the name of the quantity and what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// As declared, with its indices and without primes: `x`, `phi[1,2]`.
    pub name: String,
    /// What it stands for.
    pub role: Role,
}

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// $t$
    Time,
    /// A coordinate and its derivatives: order 0 is $q$, 1 is $\dot q$, 2 is $\ddot q$.
    Coordinate {
        /// How many dots.
        order: u8,
    },
    /// A number that is fixed during a run.
    Parameter,
    /// A multiplier $\mu$ of a constraint and its rates; the name is that of the constraint.
    Multiplier {
        /// How many dots.
        order: u8,
    },
    /// Anything else, such as the lag `s` of a kernel or the argument of a function.
    Free,
}

impl Symbol {
    /// The symbol as the model language writes it: `x''`, `phi[1,2]'`, `mu(blade)'`.
    pub fn text(&self) -> String {
        let primes = |order: u8| "'".repeat(usize::from(order));
        match self.role {
            Role::Coordinate { order } => self.name.clone() + &primes(order),
            Role::Multiplier { order } => format!("mu({}){}", self.name, primes(order)),
            Role::Time | Role::Parameter | Role::Free => self.name.clone(),
        }
    }
}
