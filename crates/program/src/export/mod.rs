//! Programs as source text: the same straight line in C, Rust or Python.
//!
//! ```text
//! Module { functions: [ExportedFunction { program }] } ──text──► prepare(p, c), then one function for each program
//! ```
//!
//! Every instruction of a tape becomes one assignment, in the order of the tape, so the text has the
//! operations of the tape and no others. Families of like terms are loops in C (`family.rs`). What depends on
//! parameters alone is computed by `prepare`, once. C
//! and Rust have the bits of the interpreter as long as no function of the platform is called (all but
//! `sqrt`, and sine and cosine up to 10⁸). Python rounds multiply-adds twice and takes its own sine and
//! cosine, which costs the last digits.

mod family;
mod helpers;
mod spelling;

use std::fmt;

use pfaff_expr::spelling::{Spelling, Spellings};

use crate::tape::program::{Program, Tape};
use helpers::Helpers;
use spelling::{Identifiers, number, statement};

/// A language that programs can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C99
    C,
    /// Rust, edition 2018 or later
    Rust,
    /// Python 3
    Python,
}

/// Some programs with the same parameters, as one text.
#[derive(Clone, Debug)]
pub struct Module {
    /// What the names of all functions begin with: letters, digits and underscores.
    pub prefix: String,
    /// Lines of the comment at the top.
    pub comment: Vec<String>,
    /// What each parameter is called, and its usual value.
    pub parameters: Vec<(String, f64)>,
    /// The functions in their order.
    pub functions: Vec<ExportedFunction>,
}

/// One program as a function.
#[derive(Clone, Debug)]
pub struct ExportedFunction {
    /// What follows the prefix in its name.
    pub name: String,
    /// What it computes, in a sentence.
    pub comment: String,
    /// Its inputs, cut into arguments.
    pub inputs: Vec<Argument>,
    /// The array of its outputs.
    pub output: String,
    /// What it computes.
    pub program: Program,
}

/// A number, or an array of numbers.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// How many numbers an array holds; `None` for a number by itself.
    pub length: Option<usize>,
}

/// Why there is no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedFunction {
    /// The function of the model language.
    pub function: &'static str,
    /// The language that has no such function.
    pub language: &'static str,
}

impl fmt::Display for UnsupportedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be written in {}", self.function, self.language)
    }
}

impl std::error::Error for UnsupportedFunction {}

impl Language {
    /// The language as it calls itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Rust => "Rust",
            Self::Python => "Python",
        }
    }

    /// How it writes a function.
    fn spelling(self, spellings: Spellings) -> Spelling {
        match self {
            Self::C => spellings.c,
            Self::Rust => spellings.rust,
            Self::Python => spellings.python,
        }
    }
}

impl Module {
    /// The whole text. Names of functions and arguments must be words of the language; comments may be anything.
    ///
    /// # Errors
    ///
    /// [`UnsupportedFunction`] where a function is used that the language has not. Families of like terms can be
    /// written in C only.
    ///
    /// # Panics
    ///
    /// If the arguments of a function do not cover the inputs of its program, or its program has other
    /// parameters than the module.
    pub fn text(&self, language: Language) -> Result<String, UnsupportedFunction> {
        let mut helpers = Helpers::default();
        let mut bodies = String::new();
        let tapes = self.functions.iter().flat_map(|f| f.program.tape.with_layers());
        let kept: usize = tapes.map(|tape| tape.layout.kept).sum();
        let constants = self.parameters.len() + kept;
        self.prepare(language, constants, &mut helpers, &mut bodies)?;
        let mut kept = KeptValues { first: self.parameters.len(), count: constants };
        for function in &self.functions {
            function.write(self, language, &mut kept, &mut helpers, &mut bodies)?;
        }
        let mut text = String::new();
        for line in &self.comment {
            text.push_str(&comment(language, line));
        }
        text.push_str(Helpers::opening(language));
        text.push_str(&self.usual(language));
        text.push_str(&helpers.text(language));
        text.push_str(&bodies);
        Ok(text)
    }

    /// The usual parameters.
    fn usual(&self, language: Language) -> String {
        let count = self.parameters.len();
        let values: Vec<String> =
            self.parameters.iter().map(|(_, x)| number(language, *x)).collect();
        let values = values.join(", ");
        let prefix = &self.prefix;
        match language {
            // NOTE: C has no empty arrays.
            Language::C if count == 0 => String::new(),
            Language::C => {
                format!("\nconst double {prefix}_parameters[{count}] = {{{values}}};\n")
            }
            Language::Rust => {
                let name = prefix.to_uppercase();
                format!("\npub const {name}_PARAMETERS: [f64; {count}] = [{values}];\n")
            }
            Language::Python => format!("\n{prefix}_parameters = [{values}]\n"),
        }
    }

    /// The function that computes what depends on parameters alone.
    fn prepare(
        &self,
        language: Language,
        constants: usize,
        helpers: &mut Helpers,
        text: &mut String,
    ) -> Result<(), UnsupportedFunction> {
        let count = self.parameters.len();
        let arguments = [Argument { name: "p".into(), length: Some(count) }];
        text.push('\n');
        text.push_str(&comment(language, "What depends on the parameters p alone."));
        text.push_str(&head(
            language,
            &format!("{}_prepare", self.prefix),
            &arguments,
            &Argument { name: "c".into(), length: Some(constants) },
        ));
        let mut results: Vec<String> = (0..count).map(|i| format!("p[{i}]")).collect();
        let mut first = 0;
        for tape in self.functions.iter().flat_map(|f| f.program.tape.with_layers()) {
            assert_eq!(tape.layout.parameters, count, "number of parameters");
            let mut names = names(tape, language, first);
            for i in 0..count {
                names.of[tape.layout.first_parameter() + i] = format!("p[{i}]");
            }
            helpers.enter(tape);
            for &instruction in &tape.per_run {
                text.push_str(&statement(language, instruction, &mut names, helpers)?);
            }
            first = names.next;
            let kept = tape.layout.first_kept()..tape.layout.first_temporary();
            results.extend(kept.map(|slot| names.of[slot].clone()));
        }
        text.push_str(&foot(language, "c", &results));
        Ok(())
    }
}

/// The array of what `prepare` computes: where the values of the next tape begin, and how many there are in all.
struct KeptValues {
    first: usize,
    count: usize,
}

impl ExportedFunction {
    fn write(
        &self,
        module: &Module,
        language: Language,
        kept: &mut KeptValues,
        helpers: &mut Helpers,
        text: &mut String,
    ) -> Result<(), UnsupportedFunction> {
        let tape = &*self.program.tape;
        let mut inputs = Vec::new();
        for argument in &self.inputs {
            for i in 0..argument.length.unwrap_or(1) {
                inputs.push(match argument.length {
                    Some(_) => format!("{}[{i}]", argument.name),
                    None => argument.name.clone(),
                });
            }
        }
        assert_eq!(inputs.len(), tape.given(), "arguments cover the inputs");
        let used = self.inputs.iter().cloned();
        let c = Argument { name: "c".into(), length: Some(kept.count) };
        let arguments: Vec<Argument> = used.chain([c]).collect();
        let name = format!("{}_{}", module.prefix, self.name);
        let mut lines =
            FunctionLines { name: &name, kept, next: 0, loops: 0, before: String::new() };
        let mut body = String::new();
        let results = lines.write(tape, language, &inputs, helpers, &mut body)?;
        text.push_str(&lines.before);
        text.push('\n');
        text.push_str(&comment(language, &self.comment));
        text.push_str(&head(
            language,
            &name,
            &arguments,
            &Argument { name: self.output.clone(), length: Some(tape.outputs.len()) },
        ));
        text.push_str(&body);
        text.push_str(&foot(language, &self.output, &results));
        Ok(())
    }
}

/// The lines of a function, and what stands before it.
struct FunctionLines<'a> {
    name: &'a str,
    kept: &'a mut KeptValues,
    /// The number of the next name.
    next: usize,
    /// How many loops there are.
    loops: usize,
    before: String,
}

impl FunctionLines<'_> {
    /// Writes a tape with its families first; gives what its outputs are called.
    fn write(
        &mut self,
        tape: &Tape,
        language: Language,
        inputs: &[String],
        helpers: &mut Helpers,
        text: &mut String,
    ) -> Result<Vec<String>, UnsupportedFunction> {
        let mut inputs = inputs.to_vec();
        if let Some(layer) = &tape.layer {
            self.layer(layer, language, &mut inputs, helpers, text)?;
        }
        let mut names = names(tape, language, self.next);
        names.of[..inputs.len()].clone_from_slice(&inputs);
        for i in 0..tape.layout.parameters {
            names.of[tape.layout.first_parameter() + i] = format!("c[{i}]");
        }
        for i in 0..tape.layout.kept {
            names.of[tape.layout.first_kept() + i] = format!("c[{}]", self.kept.first + i);
        }
        self.kept.first += tape.layout.kept;
        helpers.enter(tape);
        for &instruction in &tape.per_evaluation {
            text.push_str(&statement(language, instruction, &mut names, helpers)?);
        }
        self.next = names.next;
        Ok(tape.outputs.iter().map(|&o| names.of[o as usize].clone()).collect())
    }
}

/// Constants by their value, everything else not named yet.
fn names(tape: &Tape, language: Language, next: usize) -> Identifiers {
    let mut of = vec![String::new(); tape.layout.slots()];
    for (slot, &value) in (tape.layout.first_constant()..).zip(&tape.constants) {
        of[slot] = number(language, value);
    }
    Identifiers { of, next }
}

/// Lines of a comment. Nothing in them can end it.
fn comment(language: Language, line: &str) -> String {
    let mark = if language == Language::Python { "#" } else { "//" };
    let clean = |c: char| if c.is_control() || c == '\\' || c == '\u{2028}' { ' ' } else { c };
    let line: String = line.chars().map(clean).collect();
    // A question mark less keeps C from reading a trigraph.
    let line = line.replace("??/", "?/");
    if line.is_empty() { format!("{mark}\n") } else { format!("{mark} {line}\n") }
}

/// The first line of a function.
fn head(language: Language, name: &str, arguments: &[Argument], output: &Argument) -> String {
    let (output, count) = (&output.name, output.length.unwrap_or(1));
    let written = |a: &Argument| match (language, a.length) {
        (Language::C, None) => format!("double {}", a.name),
        (Language::C, Some(_)) => format!("const double *restrict {}", a.name),
        (Language::Rust, None) => format!("{}: f64", a.name),
        (Language::Rust, Some(n)) => format!("{}: &[f64; {n}]", a.name),
        (Language::Python, _) => a.name.clone(),
    };
    let arguments: Vec<String> = arguments.iter().map(written).collect();
    let arguments = arguments.join(", ");
    match language {
        Language::C => format!("void {name}({arguments}, double *restrict {output})\n{{\n"),
        Language::Rust => format!(
            "#[allow(unused_variables, unused_parens, clippy::all)]\n\
             pub fn {name}({arguments}, {output}: &mut [f64; {count}]) {{\n"
        ),
        Language::Python => format!("def {name}({arguments}):\n"),
    }
}

/// The results, and the end of a function.
fn foot(language: Language, output: &str, results: &[String]) -> String {
    if language == Language::Python {
        return format!("    return [{}]\n", results.join(", "));
    }
    let mut text = String::new();
    for (i, result) in results.iter().enumerate() {
        text.push_str(&format!("    {output}[{i}] = {result};\n"));
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use pfaff_expr::{Graph, Role};

    use super::*;

    fn module() -> Module {
        let g = Graph::new();
        let (x, y) = (g.symbol("x", Role::Free), g.symbol("y", Role::Free));
        let m = g.symbol("m", Role::Parameter);
        let outputs = [g.add(g.mul(g.sin(x), g.sqrt(m)), y), g.div(g.cos(x), y), x];
        let program = Program::compile(&g, &[x, y], &[m], &outputs).unwrap().fused();
        let inputs = vec![
            Argument { name: "t".into(), length: None },
            Argument { name: "y".into(), length: Some(1) },
        ];
        let function = ExportedFunction {
            name: "rates".into(),
            comment: "Both.".into(),
            inputs,
            output: "dy".into(),
            program,
        };
        Module {
            prefix: "model".into(),
            comment: vec!["a\nb \\".into(), "??/".into()],
            parameters: vec![("m".into(), -0.5)],
            functions: vec![function],
        }
    }

    #[test]
    fn one_assignment_an_instruction() {
        let module = module();
        let steps = module.functions[0].program.counts().per_evaluation;
        let text = module.text(Language::C).unwrap();
        let body = text.split("void model_rates").nth(1).unwrap();
        let assigned = body.matches("const double ").count() - 2;
        let paired = body.matches("pfaff_sincos").count();
        assert_eq!(assigned + paired, steps, "{text}");
        assert!(body.contains("fma(") && body.contains("c[1]"), "{text}");
        assert!(text.contains("const double model_parameters[1] = {-0.5};"));
    }

    #[test]
    fn comments_stay_comments() {
        for language in [Language::C, Language::Rust, Language::Python] {
            let text = module().text(language).unwrap();
            let top: Vec<&str> = text.lines().take(2).collect();
            assert!(top[0].ends_with("a b  ") && top[1].ends_with(" ?/"), "{top:?}");
        }
    }
}
