//! Models that are made ready once: other parameters, starts, times and tolerances compile nothing anew.

use std::sync::{Arc, Mutex, PoisonError};

use pfaff::{Backend, Method, Model, PreparedModel, Principle, Run};

/// Models made ready, by what is varied.
#[derive(Default)]
pub(crate) struct PreparedRuns(Mutex<Vec<(Key, Option<Arc<PreparedModel>>)>>);

/// What a compiled run depends on, beside the model.
#[derive(Clone, PartialEq)]
struct Key {
    names: Vec<String>,
    principle: Option<Principle>,
    method: Option<Method>,
    backend: Option<Backend>,
}

/// Whether a run needs no compilation.
pub(crate) enum Ready {
    Yes(Arc<PreparedModel>),
    /// The run is made by itself, of a text that is read with the values.
    No,
}

/// How many are kept.
const KEPT: usize = 8;
/// Coordinates above which one run is worth no machine code that another would use.
const LARGE: usize = 40;

impl PreparedRuns {
    /// The model made ready for these values and this request.
    pub(crate) fn find(&self, model: &Model, values: &[(String, f64)], request: &Run) -> Ready {
        let has_derivatives = !request.sensitivities.is_empty()
            || request.transition
            || request.gradient.is_some();
        if has_derivatives || model.coordinates.len() > LARGE {
            return Ready::No;
        }
        let key = Key {
            names: values.iter().map(|(name, _)| name.clone()).collect(),
            principle: request.principle,
            method: request.method,
            backend: request.backend,
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            kept.iter().find(|(other, _)| *other == key).map(|(_, ready)| ready.clone());
        let ready = known.unwrap_or_else(|| {
            let names: Vec<&str> = key.names.iter().map(String::as_str).collect();
            let made = PreparedModel::new(model, &names, request).ok();
            let made = made.filter(PreparedModel::is_ready).map(Arc::new);
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((key, made.clone()));
            made
        });
        ready.map_or(Ready::No, Ready::Yes)
    }
}
