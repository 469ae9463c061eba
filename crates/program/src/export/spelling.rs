//! One instruction as one statement of a language.

use pfaff_expr::Relation;
use pfaff_expr::spelling::{Spelling, Spellings};

use super::helpers::{Helper, Helpers};
use super::{Language, UnsupportedFunction};
use crate::tape::instruction::{Instruction, Slot};

/// What the slots are called at this place of the text.
pub(super) struct Identifiers {
    pub(super) of: Vec<String>,
    /// The number of the next name.
    pub(super) next: usize,
}

impl Identifiers {
    fn at(&self, slot: Slot) -> &str {
        &self.of[slot as usize]
    }

    /// A name of its own for a result.
    fn fresh(&mut self, slot: Slot) -> String {
        let name = format!("w{}", self.next);
        self.next += 1;
        self.of[slot as usize].clone_from(&name);
        name
    }
}

/// A number that reads back exactly.
pub(super) fn number(language: Language, x: f64) -> String {
    let word = |c: &str, rust: &str, python: &str| match language {
        Language::C => c.to_owned(),
        Language::Rust => rust.to_owned(),
        Language::Python => python.to_owned(),
    };
    if x.is_nan() {
        word("NAN", "f64::NAN", "math.nan")
    } else if x == f64::INFINITY {
        word("INFINITY", "f64::INFINITY", "math.inf")
    } else if x == f64::NEG_INFINITY {
        word("(-INFINITY)", "f64::NEG_INFINITY", "(-math.inf)")
    } else {
        format!("{x:?}")
    }
}

/// A number as an operand: signs in parentheses.
fn operand(text: &str) -> String {
    if text.starts_with('-') { format!("({text})") } else { text.to_owned() }
}

/// The instruction as a line.
pub(super) fn statement(
    language: Language,
    instruction: Instruction,
    names: &mut Identifiers,
    helpers: &mut Helpers,
) -> Result<String, UnsupportedFunction> {
    if let Instruction::SinCos { sin, cos, a } = instruction {
        helpers.need(Helper::SinCos);
        let a = names.at(a).to_owned();
        let (s, c) = (names.fresh(sin), names.fresh(cos));
        return Ok(match language {
            Language::C => format!("    double {s}, {c}; pfaff_sincos({a}, &{s}, &{c});\n"),
            Language::Rust => format!("    let ({s}, {c}) = pfaff_sincos({a});\n"),
            Language::Python => format!("    {s} = math.sin({a}); {c} = math.cos({a})\n"),
        });
    }
    let right = right(language, instruction, names, helpers)?;
    let to = instruction.results().next().expect("every instruction has a result");
    let to = names.fresh(to);
    Ok(match language {
        Language::C => format!("    const double {to} = {right};\n"),
        Language::Rust => format!("    let {to} = {right};\n"),
        Language::Python => format!("    {to} = {right}\n"),
    })
}

/// The right side of its assignment.
fn right(
    language: Language,
    instruction: Instruction,
    names: &Identifiers,
    helpers: &mut Helpers,
) -> Result<String, UnsupportedFunction> {
    use Instruction as I;
    let x = |slot: Slot| operand(names.at(slot));
    let infix = |a, sign: &str, b| format!("{} {sign} {}", x(a), x(b));
    let indicator = |condition: String| match language {
        Language::C => format!("({condition}) ? 1.0 : 0.0"),
        Language::Rust => format!("if {condition} {{ 1.0 }} else {{ 0.0 }}"),
        Language::Python => format!("1.0 if {condition} else 0.0"),
    };
    Ok(match instruction {
        I::Add { a, b, .. } => infix(a, "+", b),
        I::Sub { a, b, .. } => infix(a, "-", b),
        I::Mul { a, b, .. } => infix(a, "*", b),
        I::Div { a, b, .. } => infix(a, "/", b),
        I::MulAdd { a, b, c, .. } => fused(language, ["", &x(a), &x(b), "+", "", &x(c)]),
        I::MulSub { a, b, c, .. } => fused(language, ["", &x(a), &x(b), "-", "-", &x(c)]),
        I::SubMul { a, b, c, .. } => fused(language, ["-", &x(a), &x(b), "+", "", &x(c)]),
        I::Neg { a, .. } => format!("-{}", x(a)),
        I::Square { a, .. } => infix(a, "*", a),
        I::Sqrt { a, .. } => library(language, "sqrt", &x(a)),
        I::Sin { a, .. } | I::Cos { a, .. } => {
            let sine = matches!(instruction, I::Sin { .. });
            helpers.need(if sine { Helper::Sin } else { Helper::Cos });
            let word = if sine { "sin" } else { "cos" };
            match language {
                Language::Python => format!("math.{word}({})", x(a)),
                _ => format!("pfaff_{word}({})", x(a)),
            }
        }
        I::SinCos { .. } => unreachable!("it has two results and a statement of its own"),
        I::Power { a, b, .. } => {
            helpers.need(Helper::Power);
            format!("pfaff_power({}, {})", x(a), x(b))
        }
        I::Unary { function, a, .. } => {
            let (spellings, helper) = (function.spellings(), Helper::Unary(function));
            let call = Call { function: function.name(), spellings, helper };
            call.text(language, &x(a), helpers)?
        }
        I::Binary { function, a, b, .. } => {
            let (spellings, helper) = (function.spellings(), Helper::Binary(function));
            let call = Call { function: function.name(), spellings, helper };
            call.text(language, &format!("{}, {}", x(a), x(b)), helpers)?
        }
        I::Compare { relation, a, b, .. } => indicator(infix(a, sign(relation), b)),
        I::Not { a, .. } => indicator(format!("{} == 0.0", x(a))),
        I::And { a, b, .. } => indicator(both(language, &x(a), ["&&", "and"], &x(b))),
        I::Or { a, b, .. } => indicator(both(language, &x(a), ["||", "or"], &x(b))),
        I::Select { condition, a, b, .. } => {
            let (condition, a, b) = (x(condition), x(a), x(b));
            match language {
                Language::C => format!("{condition} == 0.0 ? {b} : {a}"),
                Language::Rust => format!("if {condition} == 0.0 {{ {b} }} else {{ {a} }}"),
                Language::Python => format!("{b} if {condition} == 0.0 else {a}"),
            }
        }
        I::Table { table, order, a, .. } => {
            helpers.need(Helper::Table);
            let first = helpers.table(table);
            format!("pfaff_table({first}, {order}, {})", x(a))
        }
    })
}

/// $\pm ab \pm c$, rounded once where the language can.
fn fused(language: Language, [minus, a, b, sign, negated, c]: [&str; 6]) -> String {
    match language {
        Language::C => format!("fma({minus}{a}, {b}, {negated}{c})"),
        Language::Rust => format!("f64::mul_add({minus}{a}, {b}, {negated}{c})"),
        Language::Python if minus.is_empty() => format!("{a} * {b} {sign} {c}"),
        Language::Python => format!("{c} - {a} * {b}"),
    }
}

/// A function of the mathematical library.
fn library(language: Language, function: &str, arguments: &str) -> String {
    match language {
        Language::C => format!("{function}({arguments})"),
        Language::Rust => format!("f64::{function}({arguments})"),
        Language::Python => format!("math.{function}({arguments})"),
    }
}

/// A call of a function of the model language.
struct Call {
    function: &'static str,
    spellings: Spellings,
    helper: Helper,
}

impl Call {
    fn text(
        &self,
        language: Language,
        arguments: &str,
        helpers: &mut Helpers,
    ) -> Result<String, UnsupportedFunction> {
        match language.spelling(self.spellings) {
            Spelling::Library(word) => Ok(library(language, word, arguments)),
            Spelling::Helper(_) => {
                helpers.need(self.helper);
                Ok(format!("pfaff_{}({arguments})", self.function))
            }
            Spelling::None => {
                Err(UnsupportedFunction { function: self.function, language: language.name() })
            }
        }
    }
}

fn both(language: Language, a: &str, [sign, word]: [&str; 2], b: &str) -> String {
    let sign = if language == Language::Python { word } else { sign };
    format!("{a} != 0.0 {sign} {b} != 0.0")
}

fn sign(relation: Relation) -> &'static str {
    match relation {
        Relation::Less => "<",
        Relation::LessEqual => "<=",
        Relation::Equal => "==",
        Relation::NotEqual => "!=",
    }
}
