//! Options as JSON → requests of the engine.

use std::sync::LazyLock;
use std::time::Instant;

use pfaff::{
    Backend, Clock, Error, Guess, Method, Model, Precision, Principle, Run, named_coordinates,
    read_named_numbers, separated,
};
use serde_json::Value;

use crate::fault::Fault;

/// Named options, each of which must be used.
pub(crate) struct Options(Value);

static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn seconds() -> f64 {
    BEGIN.elapsed().as_secs_f64()
}

impl Options {
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| Fault::usage(format!("the options cannot be read: {error}")))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(ToOwned::to_owned)
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    pub(crate) fn whole(&self, name: &str) -> Option<usize> {
        self.0.get(name).and_then(Value::as_u64).map(|n| n as usize)
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let list = self.0.get(name)?.as_array()?;
        Some(list.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect())
    }

    pub(crate) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let list = self.0.get(name)?.as_array()?;
        Some(list.iter().filter_map(|x| x.as_str().map(ToOwned::to_owned)).collect())
    }

    pub(crate) fn principle(&self) -> Result<Option<Principle>, Fault> {
        self.text("principle").map(|word| principle(&word)).transpose()
    }

    pub(crate) fn dependent(&self, model: &Model) -> Result<Option<Vec<usize>>, Fault> {
        let names = self.text("dependent");
        Ok(names.map(|text| named_coordinates(model, &text)).transpose()?)
    }

    /// What a run is asked for; output times stand apart, because they may be many.
    pub(crate) fn run(&self, at: Option<Vec<f64>>) -> Result<Run, Fault> {
        let method = self.text("method").map(|word| {
            Method::from_name(&word).ok_or_else(|| {
                let words: Vec<String> =
                    Method::ALL.iter().map(|(_, word)| format!("`{word}`")).collect();
                Fault::usage(format!(
                    "there is no method `{word}`: choose from {}",
                    words.join(", ")
                ))
            })
        });
        let precision = self.text("precision").map(|word| {
            Precision::from_name(&word).ok_or_else(|| {
                let words = Precision::ALL.map(|(_, word)| format!("`{word}`")).join(", ");
                Fault::usage(format!("there is no precision `{word}`: choose from {words}"))
            })
        });
        let mut run = Run {
            principle: self.principle()?,
            precision: precision.transpose()?,
            seed: self.whole("seed").map(|seed| seed as u64),
            second: self.is_set("second"),
            t0: self.number("t0"),
            t1: self.number("t1"),
            tolerance: self.number("tolerance"),
            method: method.transpose()?,
            at: at.or_else(|| self.numbers("at")),
            samples: self.whole("samples"),
            step: self.number("step"),
            max_steps: self.whole("max_steps"),
            seconds: self.number("seconds"),
            outputs_only: !self.is_set("dense"),
            with_last_state: false,
            clock: Some(Clock(seconds)),
            backend: self.backend()?,
            ..Run::default()
        };
        if let Some(names) = self.text("sensitivity") {
            run.sensitivities = separated(&names);
        }
        run.transition = self.is_set("transition");
        if let Some(of) = self.text("gradient") {
            run = run.gradient(&of, self.text("by").as_deref().unwrap_or_default());
        }
        Ok(run)
    }

    /// Where the search between given ends begins.
    pub(crate) fn search(&self, model: &Model, run: &mut Run) -> Result<(), Fault> {
        if let Some(text) = self.text("lead") {
            run.lead = read_named_numbers("lead", &text)?;
        }
        if let Some(text) = self.text("guess") {
            run.guess = Some(Guess::start(model, &text)?);
        }
        if let Some(table) = self.text("from_table") {
            run.guess = Some(Guess::motion(model, "from", &table)?);
        }
        let is_used = run.guess.is_some() || !run.lead.is_empty();
        if is_used && model.terminal.is_empty() {
            let why = "`guess`, `start_from` and `lead` need a model with `final`";
            return Err(Fault::usage(why));
        }
        Ok(())
    }

    pub(crate) fn backend(&self) -> Result<Option<Backend>, Fault> {
        let Some(word) = self.text("backend") else { return Ok(None) };
        let found = Backend::ALL.into_iter().find(|b| b.name() == word);
        match found {
            Some(backend) if backend.is_available() => Ok(Some(backend)),
            Some(_) => Err(Fault::usage(format!("the backend `{word}` is not available here"))),
            None => Err(Fault::usage(format!("there is no backend `{word}`"))),
        }
    }
}

/// A principle by its word.
pub(crate) fn principle(word: &str) -> Result<Principle, Fault> {
    let known = Principle::ALL.iter().find(|(_, name)| *name == word);
    known.map(|(principle, _)| *principle).ok_or_else(|| {
        Fault::usage(format!(
            "there is no principle `{word}`: choose chetaev, vakonomic or restricted"
        ))
    })
}

/// Finds a range: `v=0..10`, or `v=0..10:50`.
pub(crate) fn range(text: &str) -> Result<(String, f64, f64, Option<usize>), Error> {
    let wrong = || {
        Error::Usage(format!(
            "`{text}` is not a range; write \"v=0..10\", or \"v=0..10:50\" for 50 values"
        ))
    };
    let number = |text: &str| match pfaff::evaluate(text, "", pfaff::Range::default()) {
        Ok(pfaff::Value::Number(x)) if x.is_finite() => Some(x),
        _ => None,
    };
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (from, rest) = rest.split_once("..").ok_or_else(wrong)?;
    let (to, count) = match rest.split_once(':') {
        Some((to, count)) => (to, Some(count.trim().parse::<usize>().map_err(|_| wrong())?)),
        None => (rest, None),
    };
    let (from, to) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
    if from == to || count.is_some_and(|count| !(2..=100_000).contains(&count)) {
        return Err(wrong());
    }
    Ok((name.trim().to_owned(), from, to, count))
}
