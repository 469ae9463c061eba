//! Models: a text, where its data files are, and other values than it has.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pfaff::{GALLERY, Model, Overrides, Progress, Source, closest, gallery_model};
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Value, json};

use crate::command;
use crate::equations::NativeEquations;
use crate::fault::{described, exception, guarded, released};
use crate::interrupt::Watch;
use crate::motion::NativeMotion;
use crate::options::{Options, principle};
use crate::prepared::{PreparedRuns, Ready};
use crate::source::{Beside, ModelRead, ModelText};
use crate::sweep::{self, Part};

/// A model that was read.
#[pyclass(frozen, module = "pfaff._native")]
pub(crate) struct NativeModel {
    read: ModelRead,
    prepared: PreparedRuns,
}

impl From<ModelRead> for NativeModel {
    fn from(read: ModelRead) -> Self {
        Self { read, prepared: PreparedRuns::default() }
    }
}

#[pymethods]
impl NativeModel {
    #[new]
    #[pyo3(signature = (text, name, folder=None, set=None, initial=None))]
    fn new(
        py: Python<'_>,
        text: &str,
        name: &str,
        folder: Option<PathBuf>,
        set: Option<String>,
        initial: Option<String>,
    ) -> PyResult<Self> {
        let bytes = text.as_bytes();
        released(py, || {
            let source = Source::from_bytes(name, bytes)?;
            let text = Arc::new(ModelText { source, files: Beside(folder) });
            Ok(ModelRead::new(text, Overrides { set, initial })?.into())
        })
    }

    /// The same text with other values.
    #[pyo3(signature = (set=None, initial=None))]
    fn varied(
        &self,
        py: Python<'_>,
        set: Option<String>,
        initial: Option<String>,
    ) -> PyResult<Self> {
        released(py, || {
            let text = self.read.text.clone();
            Ok(ModelRead::new(text, Overrides { set, initial })?.into())
        })
    }

    /// What is declared, as JSON.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        released(py, || Ok(pfaff_present::json_text(&declared(&self.read.model))))
    }

    /// What is worth knowing of the text although it is right.
    fn remarks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for remark in self.read.model.remarks() {
            list.append(described(py, remark, &self.read.model.source)?)?;
        }
        Ok(list)
    }

    /// A motion, and whether Ctrl-C ended it. With `values` of parameters and of the start, by name, nothing is
    /// compiled that was compiled before; `None` if the text must be read anew with them.
    #[pyo3(signature = (options, at=None, progress=None, values=None))]
    fn run(
        &self,
        py: Python<'_>,
        options: &str,
        at: Option<Vec<f64>>,
        progress: Option<Py<PyAny>>,
        values: Option<Vec<(String, f64)>>,
    ) -> PyResult<Option<(NativeMotion, bool)>> {
        let mut watch = Watch::new(progress);
        let ran = py.detach(|| {
            guarded(|| {
                let options = Options::parse(options)?;
                let mut request = options.run(at)?;
                options.search(&self.read.model, &mut request)?;
                let values = values.unwrap_or_default();
                let ready = self.prepared.find(&self.read.model, &values, &request);
                let begun = Instant::now();
                let mut told = |p: &Progress<'_>| watch.goes_on(|| (p.done(), p.t));
                let motion = match ready {
                    Ready::Yes(prepared) => {
                        let numbers: Vec<f64> = values.iter().map(|(_, x)| *x).collect();
                        prepared.motion(&numbers, &request, &mut told)?
                    }
                    Ready::No if values.is_empty() => {
                        pfaff::run_watched(&self.read.model, &request, &mut told)?
                    }
                    Ready::No => return Ok(None),
                };
                Ok(Some(NativeMotion::new(motion, begun.elapsed().as_secs_f64())))
            })
        });
        let interrupted = watch.interrupted(py)?;
        let ran = ran.map_err(|fault| exception(py, &fault))?;
        Ok(ran.map(|motion| (motion, interrupted)))
    }

    /// The equations under a principle.
    #[pyo3(signature = (principle=None))]
    fn equations(
        &self,
        py: Python<'_>,
        principle: Option<String>,
    ) -> PyResult<NativeEquations> {
        released(py, || {
            let chosen = principle.as_deref().map(self::principle).transpose()?;
            NativeEquations::derive(self.read.model.clone(), chosen)
        })
    }

    /// What a command of the command line answers: JSON, text, and LaTeX or a picture where there is one.
    #[pyo3(signature = (name, options, progress=None))]
    fn command(
        &self,
        py: Python<'_>,
        name: &str,
        options: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<command::Answer> {
        if !command::listens(name) {
            return released(py, || {
                let mut watch = Watch::new(None);
                command::run(&self.read, name, &Options::parse(options)?, &mut watch)
            });
        }
        let mut watch = Watch::new(progress);
        let answer = py.detach(|| {
            guarded(|| command::run(&self.read, name, &Options::parse(options)?, &mut watch))
        });
        watch.interrupted(py)?;
        answer.map_err(|fault| exception(py, &fault))
    }

    /// A page about a motion.
    fn report(
        &self,
        py: Python<'_>,
        options: &str,
        name: &str,
        shell: &str,
        motion: &NativeMotion,
    ) -> PyResult<String> {
        let motion = motion.whole(py)?;
        released(py, || {
            let request = Options::parse(options)?.run(None)?;
            Ok(command::page(&self.read, &request, name, shell, &motion))
        })
    }

    /// The columns of a sweep and how many cases it has, as JSON.
    fn sweep_plan(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        released(py, || sweep::plan(&self.read, &Options::parse(options)?))
    }

    /// The rows of some cases of a sweep, and whether Ctrl-C ended it.
    fn sweep(
        &self,
        py: Python<'_>,
        options: &str,
        first: u64,
        end: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Part, bool)> {
        let mut watch = Watch::new(progress);
        let part = py.detach(|| {
            guarded(|| {
                sweep::run(&self.read, &Options::parse(options)?, first..end, &mut watch)
            })
        });
        let interrupted = watch.interrupted(py)?;
        Ok((part.map_err(|fault| exception(py, &fault))?, interrupted))
    }
}

/// What a model declares.
fn declared(model: &Model) -> Value {
    let (t0, t1) = model.solve.range.map_or((None, None), |(a, b)| (Some(a), Some(b)));
    let names = |list: Vec<&str>| Value::from(list);
    let parameters: serde_json::Map<String, Value> = model
        .parameters
        .iter()
        .zip(model.parameter_values())
        .map(|(p, x)| (p.name.clone(), Value::from(x)))
        .collect();
    json!({
        "name": model.name(),
        "title": model.title,
        "coordinates": names(model.coordinates.iter().map(|c| c.name.as_str()).collect()),
        "parameters": parameters,
        "constraints": names(model.constraints.iter().map(|c| c.name.as_str()).collect()),
        "observed": names(model.observed.iter().map(|o| o.name.as_str()).collect()),
        "events": names(model.events.iter().map(|e| e.name.as_str()).collect()),
        "principle": model.principle.name(),
        "has_ends": !model.terminal.is_empty(),
        "has_memory": pfaff::has_memory(&model.workspace()),
        "t0": t0,
        "t1": t1,
    })
}

/// The names and titles of the built-in models.
#[pyfunction]
pub(crate) fn gallery() -> Vec<(&'static str, &'static str)> {
    GALLERY.iter().map(|model| (model.name, model.title())).collect()
}

/// The text of a built-in model; of an unknown name, the nearest.
#[pyfunction]
pub(crate) fn gallery_text(name: &str) -> (Option<&'static str>, Option<&'static str>) {
    let names: Vec<&'static str> = GALLERY.iter().map(|model| model.name).collect();
    match gallery_model(name) {
        Some(model) => (Some(model.text), None),
        None => (None, closest(name, &names)),
    }
}
