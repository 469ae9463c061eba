//! The workbench itself: a question in, an answer out, whatever the question is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pfaff::{
    Backend, Diagnostic, Files, GALLERY, Model, Severity, Source, explanation, interruptible,
};
use pfaff_present::json_text;
use serde_json::{Map, Value, json};

use crate::question::{Fault, Question};
use crate::{WHOLE, equations, export, format, handles, motion, outline};

/// Answers questions about models.
///
/// ```
/// let answer = pfaff_web::Workbench::default().ask(r#"{"ask": "gallery"}"#);
/// assert!(answer.contains("\"sleigh\""));
/// let question = r#"{"ask": "run", "text": "coordinates x\nlagrangian x'^2/2\ninitial x' = 1", "t1": 2}"#;
/// let answer = pfaff_web::Workbench::default().ask(question);
/// assert!(answer.contains("\"pass\""));
/// ```
#[derive(Default)]
pub struct Workbench<'a> {
    files: Option<&'a dyn Files>,
    backend: Option<Backend>,
}

impl<'a> Workbench<'a> {
    /// Lets models read these files instead of those of the gallery.
    #[must_use]
    pub fn with_files(self, files: &'a dyn Files) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Evaluates by this backend instead of the fastest one.
    #[must_use]
    pub fn with_backend(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// The answer to a question, as one JSON object. What is wrong is an answer too: an object with `error`.
    pub fn ask(&self, question: &str) -> String {
        self.ask_while(question, || true)
    }

    /// The same, for as long as `go_on` says so: a run that is ended early answers with what it has, and what has no
    /// part to show says so.
    pub fn ask_while(&self, question: &str, go_on: impl Fn() -> bool + 'static) -> String {
        // NOTE: a panic would be a mistake of ours; it must not take the page or the server with it.
        let work = || interruptible(go_on, || self.answer(question));
        let answer = catch_unwind(AssertUnwindSafe(work));
        let fault = |why: &str| Err(Fault::Question(why.to_owned()));
        let answer = match answer {
            Ok(Some(answer)) => answer,
            Ok(None) => fault("this question takes too much time or memory, and was given up"),
            Err(_) => fault(
                "this question hit a mistake in pfaff itself; please report it with the model",
            ),
        };
        json_text(&answer.unwrap_or_else(|fault| fault_answer(&fault)))
    }

    fn answer(&self, question: &str) -> Result<Value, Fault> {
        let parsed: Value = serde_json::from_str(question)
            .map_err(|error| Fault::Question(format!("the question is no JSON: {error}")))?;
        let Value::Object(map) = &parsed else {
            return Err(Fault::Question("a question is a JSON object".to_owned()));
        };
        let question = Question(map);
        match question.text("ask")? {
            "section" | "export" | "explain" if !WHOLE => Err(Fault::Elsewhere),
            "gallery" => Ok(gallery()),
            "words" => Ok(outline::words()),
            "read" => self.read(question),
            "equations" => equations::answer(&self.model(question)?, question),
            "formula" => equations::formula(&self.model(question)?, question),
            "format" => Ok(json!({"text": format::formatted(&question.source()?)})),
            "drag" => handles::drag(&self.model(question)?, question),
            "run" => motion::run(&self.model(question)?, question, &self.request(question)?),
            "compare" => {
                motion::compare(&self.model(question)?, question, &self.request(question)?)
            }
            "section" if WHOLE => {
                motion::section(&self.model(question)?, question, self.backend)
            }
            "check" => Ok(motion::check(&self.model(question)?)),
            "export" if WHOLE => {
                export::answer(&self.model(question)?, question, &self.request(question)?)
            }
            "explain" if WHOLE => explain(question),
            other => Err(Fault::Question(format!("nobody knows the question `{other}`"))),
        }
    }

    fn files(&self) -> &dyn Files {
        self.files.unwrap_or(&pfaff::GalleryFiles)
    }

    /// The model of a question, with its other values.
    fn model(&self, question: Question<'_>) -> Result<Model, Fault> {
        Ok(Model::read(question.source()?, &question.overrides()?, self.files())?)
    }

    fn request(&self, question: Question<'_>) -> Result<pfaff::Run, Fault> {
        // The interpreter is the check of what is generated.
        let backend = match question.words("backend")?.as_deref() {
            None => self.backend,
            Some("interpreter") => Some(Backend::Interpreter),
            Some(word) => {
                return Err(Fault::Question(format!("there is no backend `{word}`")));
            }
        };
        question.run(backend)
    }

    /// What an editor shows: colours, mistakes, names. It is an answer whether the text is right or not.
    fn read(&self, question: Question<'_>) -> Result<Value, Fault> {
        let source = question.source()?;
        let mut answer = Map::new();
        answer.insert("pieces".to_owned(), outline::pieces(&source));
        match self.model(question) {
            Ok(model) => {
                let remarks = diagnostics(model.remarks(), &model.source);
                answer.insert("diagnostics".to_owned(), remarks);
                answer.insert("model".to_owned(), outline::of(&model));
            }
            Err(Fault::Engine(pfaff::Error::Text(errors))) => {
                let list = diagnostics(&errors.diagnostics, &errors.source);
                answer.insert("diagnostics".to_owned(), list);
                answer.insert("model".to_owned(), Value::Null);
            }
            Err(fault) => return Err(fault),
        }
        Ok(Value::Object(answer))
    }
}

/// The built-in models.
fn gallery() -> Value {
    let entry =
        |m: &pfaff::GalleryModel| json!({"name": m.name, "title": m.title(), "text": m.text});
    json!({"pfaff": env!("CARGO_PKG_VERSION"), "models": GALLERY.iter().map(entry).collect::<Vec<_>>()})
}

/// The page of a diagnostic.
fn explain(question: Question<'_>) -> Result<Value, Fault> {
    let code = question.text("code")?;
    let found = explanation(code)
        .ok_or_else(|| Fault::Question(format!("there is no diagnostic `{code}`")))?;
    Ok(json!({"code": code, "title": found.title(), "page": found.page}))
}

/// Mistakes with their places: lines and columns for people, and offsets in UTF-16 units for editors.
pub(crate) fn diagnostics(list: &[Diagnostic], source: &Source) -> Value {
    let text = source.text();
    let units = |offset: usize| {
        let end = (0..=offset.min(text.len())).rev().find(|&k| text.is_char_boundary(k));
        text[..end.unwrap_or(0)].chars().map(char::len_utf16).sum::<usize>()
    };
    let one = |d: &Diagnostic| {
        let range = d.span.range();
        let place = source.position(d.span.start);
        json!({
            "code": d.code,
            "severity": match d.severity { Severity::Error => "error", _ => "warning" },
            "line": place.line,
            "column": place.column,
            "from": units(range.start),
            "to": units(range.end),
            "message": d.message,
            "hint": d.hint,
        })
    };
    Value::Array(list.iter().map(one).collect())
}

/// What went wrong, as an answer.
fn fault_answer(fault: &Fault) -> Value {
    match fault {
        Fault::Question(message) => json!({"error": {"message": message, "diagnostics": []}}),
        Fault::Elsewhere => json!({"elsewhere": true}),
        Fault::Engine(pfaff::Error::Text(errors)) => json!({"error": {
            "message": errors.diagnostics.first().map_or("", |d| d.message.as_str()),
            "diagnostics": diagnostics(&errors.diagnostics, &errors.source),
        }}),
        Fault::Engine(error) => {
            json!({"error": {"message": error.to_string(), "diagnostics": []}})
        }
    }
}
