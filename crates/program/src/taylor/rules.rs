//! Instructions into rules between power series.
//!
//! Sums, products, quotients and roots keep their form. Every other function $y$ is known by an equation
//! between derivatives,
//!
//! $$ w\,\dot y = \sum_i \pm f_i\,\dot g_i \qquad (\mathrm W) $$
//!
//! which stands with the function in `pfaff_expr`, such as $\dot y = y\,\dot a$ for $y = e^a$. For a power
//! with a fixed exponent it is $a\,\dot y = c\,y\,\dot a$, and $a^b$ with a varying exponent is that of $e^m$
//! with $m = b\ln a$. What is not analytic has no rule; `if` has one where its condition does not vary.

use pfaff_expr::Unary;
use pfaff_expr::series::{FunctionPair, SeriesKind, SeriesRelation, SeriesTerm, SeriesWriter};
use rustc_hash::FxHashMap;

use super::NotAnalytic;
use crate::tape::builder::NONE;
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::lower::{SsaTape, ValueOrigin};

/// How one series follows from others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SeriesRule {
    Sum {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Difference {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Opposite {
        to: Slot,
        a: Slot,
    },
    Product {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Square {
        to: Slot,
        a: Slot,
    },
    Quotient {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Root {
        to: Slot,
        a: Slot,
    },
    /// One of two series, by a condition that does not vary.
    Choice {
        to: Slot,
        condition: Slot,
        a: Slot,
        b: Slot,
    },
    /// (W), with the instruction that gives the value.
    Function {
        to: Slot,
        first: Instruction,
        over: Option<Slot>,
        terms: [Option<SeriesTerm>; 2],
    },
}

/// All rules of a tape, in an order in which each finds the coefficients that it needs.
#[derive(Clone, Debug)]
pub(super) struct SeriesRules {
    pub(super) rules: Vec<SeriesRule>,
    /// Where each value comes from; the values of the rules follow those of the tape.
    pub(super) values: Vec<ValueOrigin>,
}

impl SeriesRules {
    /// The rules of the part `per_evaluation`.
    pub(super) fn of(lowered: &SsaTape) -> Result<Self, NotAnalytic> {
        let mut writer = RuleBuilder {
            made: Self { rules: Vec::new(), values: lowered.values.clone() },
            pairs: FxHashMap::default(),
            result: None,
        };
        for &instruction in &lowered.per_evaluation {
            writer.instruction(instruction)?;
        }
        Ok(writer.made)
    }

    /// Whether the value changes along the motion.
    pub(super) fn varies(&self, v: Slot) -> bool {
        matches!(self.values[v as usize], ValueOrigin::Input(_) | ValueOrigin::PerEvaluation)
    }
}

impl SeriesRule {
    /// The series that it gives.
    pub(super) fn to(self) -> Slot {
        match self {
            Self::Sum { to, .. }
            | Self::Difference { to, .. }
            | Self::Opposite { to, .. }
            | Self::Product { to, .. }
            | Self::Square { to, .. }
            | Self::Quotient { to, .. }
            | Self::Root { to, .. }
            | Self::Choice { to, .. }
            | Self::Function { to, .. } => to,
        }
    }

    /// The series of which it reads the coefficient of the same order.
    pub(super) fn reads(self) -> impl Iterator<Item = Slot> {
        let [a, b, c] = match self {
            Self::Sum { a, b, .. }
            | Self::Difference { a, b, .. }
            | Self::Product { a, b, .. }
            | Self::Quotient { a, b, .. }
            | Self::Choice { a, b, .. } => [Some(a), Some(b), None],
            Self::Opposite { a, .. } | Self::Square { a, .. } | Self::Root { a, .. } => {
                [Some(a), None, None]
            }
            Self::Function { first, .. } => {
                let mut operands = first.operands();
                [operands.next(), operands.next(), operands.next()]
            }
        };
        [a, b, c].into_iter().flatten()
    }
}

struct RuleBuilder {
    made: SeriesRules,
    pairs: FxHashMap<(FunctionPair, Slot), (Slot, Slot)>,
    /// The function whose relation is being written.
    result: Option<Pending>,
}

/// A series that has no rule yet, and the rules that wait for it.
struct Pending {
    to: Slot,
    rules: Vec<SeriesRule>,
}

impl SeriesWriter for RuleBuilder {
    fn constant(&mut self, number: f64) -> Slot {
        self.made.values.push(ValueOrigin::Constant(number));
        self.made.values.len() as Slot - 1
    }

    fn sum(&mut self, a: Slot, b: Slot) -> Slot {
        self.fresh(|to| SeriesRule::Sum { to, a, b })
    }

    fn difference(&mut self, a: Slot, b: Slot) -> Slot {
        self.fresh(|to| SeriesRule::Difference { to, a, b })
    }

    fn opposite(&mut self, a: Slot) -> Slot {
        self.fresh(|to| SeriesRule::Opposite { to, a })
    }

    fn product(&mut self, a: Slot, b: Slot) -> Slot {
        self.fresh(|to| SeriesRule::Product { to, a, b })
    }

    fn square(&mut self, a: Slot) -> Slot {
        self.fresh(|to| SeriesRule::Square { to, a })
    }

    fn root(&mut self, a: Slot) -> Slot {
        self.fresh(|to| SeriesRule::Root { to, a })
    }

    fn exponential(&mut self, a: Slot) -> Slot {
        let first = Instruction::Unary { function: Unary::Exp, to: NONE, a };
        self.fresh(|to| {
            let SeriesRelation { over, terms } = SeriesRelation::along(to, a);
            SeriesRule::Function { to, first, over, terms }
        })
    }
}

impl RuleBuilder {
    fn instruction(&mut self, instruction: Instruction) -> Result<(), NotAnalytic> {
        use Instruction as I;
        let refused = |name: &str| Err(NotAnalytic { function: name.to_owned() });
        let rule = match instruction {
            I::Add { to, a, b } => SeriesRule::Sum { to, a, b },
            I::Sub { to, a, b } => SeriesRule::Difference { to, a, b },
            I::Mul { to, a, b } if a == b => SeriesRule::Square { to, a },
            I::Mul { to, a, b } => SeriesRule::Product { to, a, b },
            I::Div { to, a, b } => SeriesRule::Quotient { to, a, b },
            I::Neg { to, a } => SeriesRule::Opposite { to, a },
            I::Square { to, a } => SeriesRule::Square { to, a },
            I::Sqrt { to, a } => SeriesRule::Root { to, a },
            I::Sin { to, a } => return self.unary(Unary::Sin, to, a),
            I::Cos { to, a } => return self.unary(Unary::Cos, to, a),
            I::SinCos { sin, cos, a } => {
                let SeriesKind::Pair(pair) = Unary::Sin.series() else {
                    unreachable!("sine and cosine are a pair")
                };
                self.pair(pair, a, [sin, cos]);
                return Ok(());
            }
            I::Power { to, a, b } => {
                self.power(to, a, b);
                return Ok(());
            }
            I::Unary { function, to, a } => return self.unary(function, to, a),
            I::Binary { function, to, a, b } => {
                let Some(relation) = function.series() else { return refused(function.name()) };
                let SeriesRelation { over, terms } = relation(self, a, b);
                SeriesRule::Function { to, first: instruction, over, terms }
            }
            I::Compare { .. } | I::Not { .. } | I::And { .. } | I::Or { .. } => {
                return refused("a comparison");
            }
            I::Select { to, condition, a, b } if !self.made.varies(condition) => {
                SeriesRule::Choice { to, condition, a, b }
            }
            I::Select { .. } => return refused("if"),
            I::Table { .. } => return refused("a table"),
            I::MulAdd { .. } | I::MulSub { .. } | I::SubMul { .. } => {
                unreachable!("products join their sums after this")
            }
        };
        self.made.rules.push(rule);
        Ok(())
    }

    fn unary(&mut self, function: Unary, to: Slot, a: Slot) -> Result<(), NotAnalytic> {
        match function.series() {
            SeriesKind::None => {
                return Err(NotAnalytic { function: function.name().to_owned() });
            }
            SeriesKind::Root => self.made.rules.push(SeriesRule::Root { to, a }),
            SeriesKind::Pair(pair) if pair.odd == function => self.pair(pair, a, [to, NONE]),
            SeriesKind::Pair(pair) => self.pair(pair, a, [NONE, to]),
            SeriesKind::Relation(relation) => {
                let first = Instruction::Unary { function, to: NONE, a };
                let outer = self.result.replace(Pending { to, rules: Vec::new() });
                let SeriesRelation { over, terms } = relation(self, a, to);
                // NOTE: what is made of y follows y in the list; (W) reads its lower orders only.
                let pending = std::mem::replace(&mut self.result, outer);
                self.made.rules.push(SeriesRule::Function { to, first, over, terms });
                self.made.rules.extend(pending.into_iter().flat_map(|p| p.rules));
            }
        }
        Ok(())
    }

    fn power(&mut self, to: Slot, a: Slot, b: Slot) {
        let first = Instruction::Power { to: NONE, a, b };
        if self.made.varies(b) {
            // y' = y m' with m = b log a.
            let logarithm = if self.made.varies(a) {
                let term = SeriesTerm { negative: false, f: None, g: a };
                let first = Instruction::Unary { function: Unary::Log, to: NONE, a };
                self.fresh(|to| SeriesRule::Function {
                    to,
                    first,
                    over: Some(a),
                    terms: [Some(term), None],
                })
            } else {
                // A logarithm of what does not vary: its rule gives one coefficient.
                let first = Instruction::Unary { function: Unary::Log, to: NONE, a };
                self.fresh(|to| SeriesRule::Function {
                    to,
                    first,
                    over: None,
                    terms: [None; 2],
                })
            };
            let m = self.fresh(|to| SeriesRule::Product { to, a: b, b: logarithm });
            let term = SeriesTerm { negative: false, f: Some(to), g: m };
            self.made.rules.push(SeriesRule::Function {
                to,
                first,
                over: None,
                terms: [Some(term), None],
            });
            return;
        }
        // a y' = b y a'; the scaled y follows it in the list, and only lower orders are read.
        let scaled = self.value();
        let term = SeriesTerm { negative: false, f: Some(scaled), g: a };
        self.made.rules.push(SeriesRule::Function {
            to,
            first,
            over: Some(a),
            terms: [Some(term), None],
        });
        self.made.rules.push(SeriesRule::Product { to: scaled, a: b, b: to });
    }

    /// Both functions of a pair at once; [`NONE`] where one has no name yet. Another instruction for the same
    /// pair copies what is there.
    fn pair(&mut self, pair: FunctionPair, a: Slot, names: [Slot; 2]) {
        if let Some(&(odd, even)) = self.pairs.get(&(pair, a)) {
            for (to, from) in names.into_iter().zip([odd, even]) {
                if to != NONE {
                    let zero = self.constant(0.0);
                    self.made.rules.push(SeriesRule::Sum { to, a: from, b: zero });
                }
            }
            return;
        }
        let [odd, even] = names.map(|name| if name == NONE { self.value() } else { name });
        let firsts = [pair.odd, pair.even].map(|f| first_value(f, a));
        let both = [(odd, even, false), (even, odd, pair.turns)];
        for (first, (to, f, negative)) in firsts.into_iter().zip(both) {
            let term = SeriesTerm { negative, f: Some(f), g: a };
            let terms = [Some(term), None];
            self.made.rules.push(SeriesRule::Function { to, first, over: None, terms });
        }
        self.pairs.insert((pair, a), (odd, even));
    }

    /// A series of its own for a rule; where it needs the pending one, it waits for it.
    fn fresh(&mut self, rule: impl FnOnce(Slot) -> SeriesRule) -> Slot {
        let rule = rule(self.value());
        match &mut self.result {
            Some(pending) if pending.is_needed_by(rule) => pending.rules.push(rule),
            _ => self.made.rules.push(rule),
        }
        rule.to()
    }

    fn value(&mut self) -> Slot {
        self.made.values.push(ValueOrigin::PerEvaluation);
        self.made.values.len() as Slot - 1
    }
}

impl Pending {
    fn is_needed_by(&self, rule: SeriesRule) -> bool {
        rule.reads().any(|v| v == self.to || self.rules.iter().any(|waiting| waiting.to() == v))
    }
}

/// The instruction that gives the value of a function, with no result yet.
fn first_value(function: Unary, a: Slot) -> Instruction {
    let to = NONE;
    match function {
        Unary::Sin => Instruction::Sin { to, a },
        Unary::Cos => Instruction::Cos { to, a },
        function => Instruction::Unary { function, to, a },
    }
}
