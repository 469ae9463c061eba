//! Syntax tree into model: names get their meaning, sizes and families are written out, shapes are checked.
//!
//! ```text
//! text ─► parse ─► statements in order ─► draft ─► initial and final data ─► Model
//! ```
//!
//! Statements are read in the order of the text into a draft; what needs all declarations (initial and final
//! data, counts) comes at the end.
//! A mistake poisons its value and nothing else, so that every mistake of a text is reported once. The texts
//! of `--set` and `--initial` are
//! further parts of the same source, so that their mistakes are shown like those of the model.

mod affine;
mod command_line;
mod draft;
mod expression;
mod place;
mod scope;
mod statement;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use pfaff_expr::{Expr, Graph, Rates, Table};
use rustc_hash::{FxHashMap, FxHashSet};

pub use command_line::{
    ExpressionScope, Formula, FormulaValue, read_assignments, read_expression, read_formula,
    read_numbers,
};
pub use expression::table::{Files, NoFiles, NoTable, table_of};
pub use scope::Scope;

use crate::diagnostic::explain::usual_hint;
use crate::diagnostic::parse_errors::ParseErrors;
use crate::diagnostic::{Diagnostic, Severity};
use crate::elaborate::draft::Draft;
use crate::elaborate::expression::derivative::Content;
use crate::elaborate::expression::fold::Folds;
use crate::elaborate::expression::machine::Stacks;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::model::Model;
use crate::parser::{MISTAKES, parse, parse_assignments, too_many_mistakes};
use crate::shape::Value;
use crate::source::{Source, Span};
use crate::syntax::{Arena, Assignment, NodeKind, Statement, StatementKind};

/// What is said beside the text, and against it.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Values of parameters, such as `a=0.3, m=2`; diagnostics call this text `<set>`.
    pub set: Option<String>,
    /// Initial values, such as `x'=1`; diagnostics call this text `<initial>`.
    pub initial: Option<String>,
}

/// Reads a model.
///
/// ```
/// use pfaff_model::{NoFiles, Overrides, Source, read_model};
/// let text = "coordinates z\nparameters m = 1, g\nlagrangian m*z'^2/2 - m*g*z";
/// let set = Overrides { set: Some("g=9.81".into()), ..Overrides::default() };
/// let (model, _) = read_model(Source::new("fall", text), &set, &NoFiles).expect("well formed");
/// assert_eq!(model.parameters[1].value, 9.81);
/// let errors = read_model(Source::new("fall", text), &Overrides::default(), &NoFiles)
///     .expect_err("g has no value");
/// assert_eq!(errors.diagnostics[0].message, "the parameter `g` has no value");
/// ```
///
/// # Errors
///
/// All mistakes, with the source that shows them.
pub fn read_model(
    source: Source,
    overrides: &Overrides,
    files: &dyn Files,
) -> Result<(Model, Vec<Diagnostic>), ParseErrors> {
    /// Nodes for which there is room from the beginning: most models of a few coordinates have more.
    const ROOM: usize = 400;
    let graph = Graph::with_capacity(ROOM);
    let parsed = parse(&source);
    let arena = Arc::new(parsed.syntax.arena);
    let mut e = Elaborator::new(&graph, files, source, arena);
    e.diagnostics = parsed.diagnostics;
    e.draft.options.set = e.add_assignments("<set>", overrides.set.as_deref());
    e.draft.options.overriding = e.add_assignments("<initial>", overrides.initial.as_deref());
    e.look_ahead(&parsed.syntax.statements);
    for statement in &parsed.syntax.statements {
        e.statement(statement);
    }
    e.finish();
    let mut diagnostics = std::mem::take(&mut e.diagnostics);
    diagnostics.sort_by_key(|d| d.span.start);
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(ParseErrors { source: e.source, diagnostics });
    }
    let Elaborator { source, scope, mut draft, parts, consulted, .. } = e;
    draft.structural = consulted.into_inner();
    let arena = parts[0].arena.clone();
    Ok((draft.into_model(source, graph, scope, arena), diagnostics))
}

/// Reads expressions and statements against what is declared so far.
pub(crate) struct Elaborator<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) files: &'a dyn Files,
    pub(crate) source: Source,
    /// The model's text, then those of the command line.
    pub(crate) parts: Vec<Part>,
    pub(crate) scope: Scope,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Places that have been reported, with the code.
    reported: FxHashSet<(&'static str, Span)>,
    /// Where the expression stands that is being read.
    pub(crate) place: Place,
    /// What a message calls the statement: `constraint `blade``.
    subject: Option<String>,
    /// The name that is being defined.
    pub(crate) defining: Option<(String, Span)>,
    pub(crate) stacks: Stacks,
    pub(crate) folds: Folds,
    pub(crate) cache: ReadingCache,
    pub(crate) effort: ReadingEffort,
    pub(crate) draft: Draft,
    /// Parameters whose values were needed to read the text.
    pub(crate) consulted: RefCell<BTreeSet<Expr>>,
}

/// What was found once and may be asked for again.
#[derive(Debug, Default)]
pub(crate) struct ReadingCache {
    /// Total derivatives.
    pub(crate) rates: Rates,
    /// What expressions contain.
    pub(crate) contents: FxHashMap<Expr, Content>,
    /// Tables by file and column.
    pub(crate) tables: FxHashMap<(String, String, bool), Table>,
}

/// How much has been done for a text, so that none takes forever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadingEffort {
    pub(crate) work: u64,
    /// Whether that was too much: nothing more is read or reported.
    pub(crate) exhausted: bool,
}

/// One of the texts.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) arena: Arc<Arena>,
    /// Where it begins in the source.
    pub(crate) base: u32,
}

/// An assignment of one of the texts.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) part: u8,
    pub(crate) assignment: Assignment,
}

impl<'a> Elaborator<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        files: &'a dyn Files,
        source: Source,
        arena: Arc<Arena>,
    ) -> Self {
        Self {
            graph,
            files,
            source,
            parts: vec![Part { arena, base: 0 }],
            scope: Scope::default(),
            diagnostics: Vec::new(),
            reported: FxHashSet::default(),
            place: Place::Let,
            subject: None,
            defining: None,
            stacks: Stacks::default(),
            folds: Folds::default(),
            cache: ReadingCache::default(),
            effort: ReadingEffort::default(),
            draft: Draft::default(),
            consulted: RefCell::default(),
        }
    }

    /// Adds the text of an option as a further part and parses it.
    pub(crate) fn add_assignments(&mut self, name: &str, text: Option<&str>) -> Vec<Given> {
        let Some(text) = text else { return Vec::new() };
        let base = self.source.append_part(name, text);
        match parse_assignments(&Source::new(name, text)) {
            Ok(parsed) => {
                let part = self.add_part(parsed.arena, base);
                let given = |assignment| Given { part, assignment };
                parsed.assignments.into_iter().map(given).collect()
            }
            Err(mistakes) => {
                self.diagnostics.extend(mistakes.into_iter().map(|d| shift(d, base)));
                Vec::new()
            }
        }
    }

    pub(crate) fn add_part(&mut self, arena: Arena, base: u32) -> u8 {
        self.parts.push(Part { arena: Arc::new(arena), base });
        self.parts.len() as u8 - 1
    }

    fn statement(&mut self, statement: &Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Title(text) => self.title(&text.value, span),
            StatementKind::Coordinates(list) => self.coordinates(list),
            StatementKind::Parameters(list) => self.parameters(list),
            StatementKind::Let(definition) => self.definition(definition),
            StatementKind::Lagrangian(id) => self.energy_term(Place::Lagrangian, *id, span),
            StatementKind::Kinetic(id) => self.energy_term(Place::Kinetic, *id, span),
            StatementKind::Potential(id) => self.energy_term(Place::Potential, *id, span),
            StatementKind::Constraint(constraint) => self.constraint(constraint, span),
            StatementKind::Force(force) => self.force(force, span),
            StatementKind::Noise(noise) => self.noise(noise, span),
            StatementKind::Dissipation(id) => self.dissipation(*id, span),
            StatementKind::Equation(equation) => self.equation(equation, span),
            StatementKind::Principle(name) => self.principle(*name, span),
            StatementKind::Initial(list) => {
                let given =
                    list.iter().cloned().map(|assignment| Given { part: 0, assignment });
                self.draft.conditions.initial.extend(given);
            }
            StatementKind::Final(list) => {
                let given =
                    list.iter().cloned().map(|assignment| Given { part: 0, assignment });
                self.draft.conditions.terminal.extend(given);
            }
            StatementKind::History(list) => {
                let given =
                    list.iter().cloned().map(|assignment| Given { part: 0, assignment });
                self.draft.conditions.history.extend(given);
            }
            StatementKind::Observe(observation) => self.observe(observation, span),
            StatementKind::Event(event) => self.event(event, span),
            StatementKind::On(reset) => self.reset(reset, span),
            StatementKind::State(state) => self.state(state, span),
            StatementKind::Input(input) => self.input(input, span),
            StatementKind::Control(control) => self.control(control, span),
            StatementKind::Mode(names) => self.modes(names),
            StatementKind::Contact(contact) => self.contact(contact, span),
            StatementKind::Draw(draw) => self.draw(draw, span),
            StatementKind::Solve(settings) => self.solve(settings, span),
            StatementKind::Symmetry(symmetry) => self.symmetry(symmetry, span),
            StatementKind::Group(group) => self.group(group, span),
            StatementKind::Faulty { mentions } => {
                self.draft.faulty = true;
                for mention in mentions {
                    let name = self.parts[0].arena.name(mention.symbol).to_owned();
                    let known = expression::functions::is_function(&name)
                        || matches!(name.as_str(), "t" | "pi");
                    if !known && self.scope.get(&name).is_none() {
                        self.scope.insert(&name, scope::Meaning::Poison, mention.span);
                    }
                }
            }
        }
        self.subject = None;
    }

    /// Reads an expression of a statement.
    pub(crate) fn read(&mut self, site: Site, place: Place) -> Value {
        self.place = place;
        self.evaluate(site)
    }

    /// What messages call the statement from here on.
    pub(crate) fn speak_of(&mut self, subject: String) {
        self.subject = Some(subject);
    }

    /// What messages call the statement.
    pub(crate) fn subject(&self) -> String {
        self.subject.clone().unwrap_or_else(|| self.place.words().to_owned())
    }

    pub(crate) fn arena(&self, site: Site) -> &Arena {
        &self.parts[usize::from(site.part)].arena
    }

    pub(crate) fn kind(&self, site: Site) -> NodeKind {
        self.arena(site).kind(site.id)
    }

    /// Where an expression stands in the whole source.
    pub(crate) fn span(&self, site: Site) -> Span {
        self.shifted(site.part, self.arena(site).span(site.id))
    }

    /// A span of a part in the whole source.
    pub(crate) fn shifted(&self, part: u8, span: Span) -> Span {
        let base = self.parts[usize::from(part)].base;
        Span::new(span.start + base, span.end + base)
    }

    /// An expression as written.
    pub(crate) fn text(&self, site: Site) -> &str {
        self.source.slice(self.span(site))
    }

    /// Reports something once for each place and code, and gives the poisoned value.
    pub(crate) fn report(&mut self, mut diagnostic: Diagnostic) -> Value {
        if diagnostic.hint.is_none() {
            diagnostic.hint = usual_hint(diagnostic.code).map(ToOwned::to_owned);
        }
        let key = (diagnostic.code, diagnostic.span);
        // NOTE: several things may be missing at one place.
        let first = self.reported.insert(key) || diagnostic.span.is_empty();
        if !self.effort.exhausted && first {
            let span = diagnostic.span;
            self.diagnostics.push(diagnostic);
            if self.diagnostics.len() >= MISTAKES {
                self.effort.exhausted = true;
                self.diagnostics.push(too_many_mistakes(span));
            }
        }
        Value::Poison
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Span, message: String) -> Value {
        self.report(Diagnostic::error(code, span, message))
    }

    pub(crate) fn error_hint(
        &mut self,
        code: &'static str,
        span: Span,
        message: String,
        hint: &str,
    ) -> Value {
        self.report(Diagnostic::error(code, span, message).with_hint(hint))
    }
}

/// A diagnostic of a part in the whole source.
pub(crate) fn shift(mut diagnostic: Diagnostic, base: u32) -> Diagnostic {
    let moved = |span: Span| Span::new(span.start + base, span.end + base);
    diagnostic.span = moved(diagnostic.span);
    for note in &mut diagnostic.notes {
        note.0 = moved(note.0);
    }
    diagnostic
}
