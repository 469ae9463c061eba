//! A question: the words that it may have, read with care.

use pfaff::{Backend, Method, Overrides, Principle, Run, Source};
use serde_json::{Map, Value};

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The question itself is wrong.
    Question(String),
    /// The model is wrong, or cannot be done.
    Engine(pfaff::Error),
    /// This build leaves the answer to the whole one; see [`crate::WHOLE`].
    Elsewhere,
}

impl From<pfaff::Error> for Fault {
    fn from(error: pfaff::Error) -> Self {
        match error {
            pfaff::Error::Usage(why) if !crate::WHOLE && why == pfaff::LEFT_OUT => {
                Self::Elsewhere
            }
            error => Self::Engine(error),
        }
    }
}

impl From<pfaff::ParseErrors> for Fault {
    fn from(errors: pfaff::ParseErrors) -> Self {
        Self::Engine(errors.into())
    }
}

/// The entries of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Question<'a> {
    /// A text that must be there.
    pub(crate) fn text(self, key: &str) -> Result<&'a str, Fault> {
        self.optional_text(key)?
            .ok_or_else(|| Fault::Question(format!("the question needs `{key}`")))
    }

    /// A text that may be there.
    pub(crate) fn optional_text(self, key: &str) -> Result<Option<&'a str>, Fault> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Fault::Question(format!("`{key}` must be a text"))),
        }
    }

    /// A text that may be there and is not empty.
    pub(crate) fn words(self, key: &str) -> Result<Option<String>, Fault> {
        let text = self.optional_text(key)?;
        Ok(text.map(str::trim).filter(|text| !text.is_empty()).map(ToOwned::to_owned))
    }

    /// A finite number that may be there.
    pub(crate) fn number(self, key: &str) -> Result<Option<f64>, Fault> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_f64()
                .filter(|x| x.is_finite())
                .map(Some)
                .ok_or_else(|| Fault::Question(format!("`{key}` must be a number"))),
        }
    }

    /// A list of finite numbers that may be there, of this length.
    pub(crate) fn optional_numbers(
        self,
        key: &str,
        length: usize,
    ) -> Result<Option<Vec<f64>>, Fault> {
        let list = match self.0.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value.as_array(),
        };
        let numbers: Option<Vec<f64>> = list.and_then(|list| {
            list.iter().map(|v| v.as_f64().filter(|x| x.is_finite())).collect()
        });
        numbers.filter(|numbers| numbers.len() == length).map(Some).ok_or_else(|| {
            Fault::Question(format!("`{key}` must be a list of {length} numbers"))
        })
    }

    /// A list of finite numbers that must be there.
    pub(crate) fn numbers(self, key: &str, length: usize) -> Result<Vec<f64>, Fault> {
        self.optional_numbers(key, length)?
            .ok_or_else(|| Fault::Question(format!("the question needs `{key}`")))
    }

    /// A list of texts, empty if it is not there.
    pub(crate) fn texts(self, key: &str) -> Result<Vec<String>, Fault> {
        let list = match self.0.get(key) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(value) => value.as_array(),
        };
        list.and_then(|list| list.iter().map(|v| v.as_str().map(ToOwned::to_owned)).collect())
            .ok_or_else(|| Fault::Question(format!("`{key}` must be a list of texts")))
    }

    /// Whether something is said to be so.
    pub(crate) fn is_set(self, key: &str) -> bool {
        self.0.get(key) == Some(&Value::Bool(true))
    }

    /// A count that may be there, at most `most`.
    pub(crate) fn count(self, key: &str, most: usize) -> Result<Option<usize>, Fault> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_u64()
                .and_then(|n| usize::try_from(n).ok())
                .filter(|&n| n >= 1 && n <= most)
                .map(Some)
                .ok_or_else(|| {
                    Fault::Question(format!("`{key}` must be a whole number from 1 to {most}"))
                }),
        }
    }

    /// The text of the model.
    pub(crate) fn source(self) -> Result<Source, Fault> {
        let name = self.optional_text("name")?.unwrap_or("model");
        Ok(Source::new(name, self.text("text")?))
    }

    /// Other parameters and initial values.
    pub(crate) fn overrides(self) -> Result<Overrides, Fault> {
        Ok(Overrides { set: self.words("set")?, initial: self.words("initial")? })
    }

    /// The principle, if it is not the model's own.
    pub(crate) fn principle(self) -> Result<Option<Principle>, Fault> {
        let Some(word) = self.words("principle")? else { return Ok(None) };
        principle(&word).map(Some)
    }

    /// What is asked of a run.
    pub(crate) fn run(self, backend: Option<Backend>) -> Result<Run, Fault> {
        let method = match self.words("method")? {
            None => None,
            Some(word) => Some(
                Method::from_name(&word)
                    .ok_or_else(|| Fault::Question(format!("there is no method `{word}`")))?,
            ),
        };
        Ok(Run {
            principle: self.principle()?,
            t0: self.number("t0")?,
            t1: self.number("t1")?,
            tolerance: self.number("tolerance")?,
            samples: self.count("samples", 100_000)?,
            method,
            backend,
            draft: self.is_set("draft"),
            // Nobody asks for the states between the rows of a table.
            outputs_only: true,
            ..Run::default()
        })
    }
}

/// A principle by its word.
pub(crate) fn principle(word: &str) -> Result<Principle, Fault> {
    [Principle::Chetaev, Principle::Vakonomic, Principle::Restricted]
        .into_iter()
        .find(|p| p.name() == word)
        .ok_or_else(|| {
            Fault::Question(format!(
                "there is no principle `{word}`: choose chetaev, vakonomic or restricted"
            ))
        })
}
