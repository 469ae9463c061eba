//! Instructions into rules between power series.
//!
//! Sums, products, quotients and roots keep their form. Every other function $y$ is known by an equation
//! between derivatives,
//!
//! $$ w\,\dot y = \sum_i \pm f_i\,\dot g_i \qquad (\mathrm W) $$
//!
//! | $y$ | $w$ | right side | | $y$ | $w$ | right side |
//! |---|---|---|---|---|---|---|
//! | $e^a$ | 1 | $y\dot a$ | | $\ln a$ | $a$ | $\dot a$ |
//! | $\sin a$ | 1 | $\cos a\;\dot a$ | | $\cos a$ | 1 | $-\sin a\;\dot a$ |
//! | $\sinh a$ | 1 | $\cosh a\;\dot a$ | | $\cosh a$ | 1 | $\sinh a\;\dot a$ |
//! | $\tan a$ | 1 | $(1+y^2)\,\dot a$ | | $\tanh a$ | 1 | $(1-y^2)\,\dot a$ |
//! | $\arcsin a$ | $\sqrt{1-a^2}$ | $\dot a$ | | $\arccos a$ | $\sqrt{1-a^2}$ | $-\dot a$ |
//! | $\arctan a$ | $1+a^2$ | $\dot a$ | | $\mathrm{atan2}(a,b)$ | $a^2+b^2$ | $b\dot a - a\dot b$ |
//! | $a^c$ | $a$ | $c\,y\,\dot a$ | | $\mathrm{erf}\,a$ | 1 | $\tfrac{2}{\sqrt\pi} e^{-a^2}\dot a$ |
//!
//! and $a^b$ with a varying exponent is that of $e^m$ with $m = b\ln a$. What is not analytic has no rule.

use pfaff_expr::{Binary, Unary};
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
    /// (W), with the instruction that gives the value.
    Function {
        to: Slot,
        first: Instruction,
        over: Option<Slot>,
        terms: [Option<RuleTerm>; 2],
    },
}

/// $\pm f\,\dot g$, $f = 1$ if there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RuleTerm {
    pub(super) negative: bool,
    pub(super) f: Option<Slot>,
    pub(super) g: Slot,
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
            | Self::Function { to, .. } => to,
        }
    }

    /// The series of which it reads the coefficient of the same order.
    pub(super) fn reads(self) -> impl Iterator<Item = Slot> {
        let [a, b, c] = match self {
            Self::Sum { a, b, .. }
            | Self::Difference { a, b, .. }
            | Self::Product { a, b, .. }
            | Self::Quotient { a, b, .. } => [Some(a), Some(b), None],
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

/// Hyperbolic functions of one argument, or its sine and cosine: each is the other's derivative.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FunctionPair {
    Circular,
    Hyperbolic,
}

struct RuleBuilder {
    made: SeriesRules,
    pairs: FxHashMap<(FunctionPair, Slot), (Slot, Slot)>,
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
            I::Sin { to, a } => {
                self.pair(FunctionPair::Circular, a, [to, NONE]);
                return Ok(());
            }
            I::Cos { to, a } => {
                self.pair(FunctionPair::Circular, a, [NONE, to]);
                return Ok(());
            }
            I::SinCos { sin, cos, a } => {
                self.pair(FunctionPair::Circular, a, [sin, cos]);
                return Ok(());
            }
            I::Power { to, a, b } => {
                self.power(to, a, b);
                return Ok(());
            }
            I::Unary { function, to, a } => return self.unary(function, to, a),
            I::Binary { function: Binary::Atan2, to, a, b } => {
                let (a2, b2) = (self.square(a), self.square(b));
                let w = self.fresh(|to| SeriesRule::Sum { to, a: a2, b: b2 });
                let terms = [
                    Some(RuleTerm { negative: false, f: Some(b), g: a }),
                    Some(RuleTerm { negative: true, f: Some(a), g: b }),
                ];
                SeriesRule::Function { to, first: instruction, over: Some(w), terms }
            }
            I::Binary { function, .. } => return refused(function.name()),
            I::Compare { .. } | I::Not { .. } | I::And { .. } | I::Or { .. } => {
                return refused("a comparison");
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
        let first = Instruction::Unary { function, to: NONE, a };
        let plain = RuleTerm { negative: false, f: None, g: a };
        let along = |f: Slot| [Some(RuleTerm { f: Some(f), ..plain }), None];
        let (over, terms) = match function {
            Unary::Exp => (None, along(to)),
            Unary::Log => (Some(a), [Some(plain), None]),
            Unary::Sinh => {
                self.pair(FunctionPair::Hyperbolic, a, [to, NONE]);
                return Ok(());
            }
            Unary::Cosh => {
                self.pair(FunctionPair::Hyperbolic, a, [NONE, to]);
                return Ok(());
            }
            Unary::Tan | Unary::Tanh => {
                // NOTE: f follows y in the list; (W) reads its lower orders only.
                let [square, f] = [self.value(), self.value()];
                self.made.rules.push(SeriesRule::Function {
                    to,
                    first,
                    over: None,
                    terms: along(f),
                });
                self.made.rules.push(SeriesRule::Square { to: square, a: to });
                let one = self.constant(1.0);
                self.made.rules.push(if function == Unary::Tan {
                    SeriesRule::Sum { to: f, a: one, b: square }
                } else {
                    SeriesRule::Difference { to: f, a: one, b: square }
                });
                return Ok(());
            }
            Unary::Asin | Unary::Acos => {
                let (one, square) = (self.constant(1.0), self.square(a));
                let below = self.fresh(|to| SeriesRule::Difference { to, a: one, b: square });
                let w = self.fresh(|to| SeriesRule::Root { to, a: below });
                (Some(w), [Some(RuleTerm { negative: function == Unary::Acos, ..plain }), None])
            }
            Unary::Atan => {
                let (one, square) = (self.constant(1.0), self.square(a));
                let w = self.fresh(|to| SeriesRule::Sum { to, a: one, b: square });
                (Some(w), [Some(plain), None])
            }
            Unary::Erf => {
                let square = self.square(a);
                let m = self.fresh(|to| SeriesRule::Opposite { to, a: square });
                let e = self.exponential(m);
                let factor = self.constant(std::f64::consts::FRAC_2_SQRT_PI);
                (None, along(self.fresh(|to| SeriesRule::Product { to, a: factor, b: e })))
            }
            Unary::Sin | Unary::Cos | Unary::Sqrt => {
                unreachable!("these have instructions of their own")
            }
            Unary::Abs | Unary::Sign | Unary::Gamma | Unary::Digamma => {
                return Err(NotAnalytic { function: function.name().to_owned() });
            }
        };
        self.made.rules.push(SeriesRule::Function { to, first, over, terms });
        Ok(())
    }

    /// $e^m$
    fn exponential(&mut self, m: Slot) -> Slot {
        let first = Instruction::Unary { function: Unary::Exp, to: NONE, a: m };
        self.fresh(|to| {
            let term = RuleTerm { negative: false, f: Some(to), g: m };
            SeriesRule::Function { to, first, over: None, terms: [Some(term), None] }
        })
    }

    fn power(&mut self, to: Slot, a: Slot, b: Slot) {
        let first = Instruction::Power { to: NONE, a, b };
        if self.made.varies(b) {
            // y' = y m' with m = b log a.
            let logarithm = if self.made.varies(a) {
                let term = RuleTerm { negative: false, f: None, g: a };
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
            let term = RuleTerm { negative: false, f: Some(to), g: m };
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
        let term = RuleTerm { negative: false, f: Some(scaled), g: a };
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
        let to = NONE;
        let firsts = match pair {
            FunctionPair::Circular => [Instruction::Sin { to, a }, Instruction::Cos { to, a }],
            FunctionPair::Hyperbolic => [
                Instruction::Unary { function: Unary::Sinh, to, a },
                Instruction::Unary { function: Unary::Cosh, to, a },
            ],
        };
        let both = [(odd, even, false), (even, odd, pair == FunctionPair::Circular)];
        for (first, (to, f, negative)) in firsts.into_iter().zip(both) {
            let term = RuleTerm { negative, f: Some(f), g: a };
            let terms = [Some(term), None];
            self.made.rules.push(SeriesRule::Function { to, first, over: None, terms });
        }
        self.pairs.insert((pair, a), (odd, even));
    }

    fn square(&mut self, a: Slot) -> Slot {
        self.fresh(|to| SeriesRule::Square { to, a })
    }

    fn fresh(&mut self, rule: impl FnOnce(Slot) -> SeriesRule) -> Slot {
        let to = self.value();
        self.made.rules.push(rule(to));
        to
    }

    fn value(&mut self) -> Slot {
        self.made.values.push(ValueOrigin::PerEvaluation);
        self.made.values.len() as Slot - 1
    }

    fn constant(&mut self, number: f64) -> Slot {
        self.made.values.push(ValueOrigin::Constant(number));
        self.made.values.len() as Slot - 1
    }
}
