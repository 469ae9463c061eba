//! Motions: columns as arrays that numpy owns, everything else as JSON.
//!
//! Columns are handed over without a copy: once asked for, they belong to Python, and are read-only there. What needs
//! the whole motion again, such as a page, gets a copy back.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pfaff::{DenseOutput, Motion, Series};
use pfaff_present::report::{figure_of, thumbnail};
use pfaff_present::{FileFormat, Look, ToJson, summary, write_motion};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::fault::{Fault, broken, exception, guarded, released};

/// A motion.
#[pyclass(frozen, module = "pfaff._native")]
pub(crate) struct NativeMotion {
    motion: Mutex<Motion>,
    /// The columns, once Python has them.
    columns: Mutex<Option<Py<PyDict>>>,
    /// How long the engine worked.
    seconds: f64,
}

/// A group of columns of a motion.
type Group = (&'static str, fn(&mut Motion) -> &mut Vec<Series>);

const GROUPS: [Group; 7] = [
    ("q", |m| &mut m.q),
    ("v", |m| &mut m.v),
    ("a", |m| &mut m.a),
    ("multipliers", |m| &mut m.multipliers),
    ("multiplier_rates", |m| &mut m.multiplier_rates),
    ("reactions", |m| &mut m.reactions),
    ("observed", |m| &mut m.observed),
];

/// A column that stands by itself.
type Single = (&'static str, fn(&mut Motion) -> &mut Vec<f64>);

const SINGLES: [Single; 5] = [
    ("t", |m| &mut m.t),
    ("reaction_power", |m| &mut m.reaction_power),
    ("energy", |m| &mut m.energy),
    ("constraint_energy", |m| &mut m.constraint_energy),
    ("work", |m| &mut m.work),
];

impl NativeMotion {
    pub(crate) fn new(motion: Motion, seconds: f64) -> Self {
        Self { motion: Mutex::new(motion), columns: Mutex::new(None), seconds }
    }

    fn lock(&self) -> MutexGuard<'_, Motion> {
        self.motion.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The motion with the columns that Python has.
    pub(crate) fn whole(&self, py: Python<'_>) -> PyResult<Motion> {
        let mut motion = self.lock().clone();
        let columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(columns) = columns.as_ref().map(|columns| columns.bind(py)) else {
            return Ok(motion);
        };
        for (name, field) in SINGLES {
            *field(&mut motion) = numbers(&item(columns, name)?)?;
        }
        for (name, field) in GROUPS {
            let group = item(columns, name)?.cast_into::<PyDict>()?;
            for series in field(&mut motion) {
                series.values = numbers(&item(&group, &series.name)?)?;
            }
        }
        Ok(motion)
    }
}

fn item<'py>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    dict.get_item(name)?.ok_or_else(|| broken(format!("a motion has lost `{name}`")))
}

fn numbers(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array: PyReadonlyArray1<'_, f64> = array.extract()?;
    Ok(array.as_slice()?.to_vec())
}

/// An array that owns these numbers and cannot be written to.
fn array(py: Python<'_>, values: Vec<f64>) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let array = PyArray1::from_vec(py, values);
    let flags = PyDict::new(py);
    flags.set_item("write", false)?;
    array.call_method("setflags", (), Some(&flags))?;
    Ok(array)
}

#[pymethods]
impl NativeMotion {
    /// All columns: groups by name, and single ones.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut kept = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(columns) = kept.as_ref() {
            return Ok(columns.bind(py).clone());
        }
        let dict = PyDict::new(py);
        let mut motion = self.lock();
        for (name, field) in SINGLES {
            dict.set_item(name, array(py, std::mem::take(field(&mut motion)))?)?;
        }
        for (name, field) in GROUPS {
            let group = PyDict::new(py);
            for series in field(&mut motion) {
                let values = std::mem::take(&mut series.values);
                group.set_item(&series.name, array(py, values)?)?;
            }
            dict.set_item(name, group)?;
        }
        *kept = Some(dict.clone().unbind());
        Ok(dict)
    }

    /// Everything but the columns, as `run --json` has it.
    fn about(&self, py: Python<'_>) -> PyResult<String> {
        let mut motion = self.lock().clone();
        released(py, || {
            for (_, field) in SINGLES {
                field(&mut motion).clear();
            }
            for (_, field) in GROUPS {
                field(&mut motion).iter_mut().for_each(|series| series.values.clear());
            }
            Ok(motion.to_json_line())
        })
    }

    /// How long the engine worked, for measurements.
    fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Why it ended, and when.
    fn stop(&self) -> (&'static str, f64) {
        let motion = self.lock();
        (motion.stop.reason.name(), motion.stop.t)
    }

    /// The verdict of the audit.
    fn verdict(&self) -> &'static str {
        self.lock().audit.verdict.name()
    }

    /// How many output times there are.
    fn rows(&self, py: Python<'_>) -> PyResult<usize> {
        let columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        match columns.as_ref() {
            Some(columns) => item(columns.bind(py), "t")?.len(),
            None => Ok(self.lock().t.len()),
        }
    }

    /// The motion as a function of time.
    fn dense(&self, py: Python<'_>) -> PyResult<NativeDense> {
        let motion = self.whole(py)?;
        released(py, || Ok(NativeDense { dense: motion.dense_output() }))
    }

    /// What `pfaff run` prints.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let motion = self.whole(py)?;
        released(py, || Ok(summary(&motion, false)))
    }

    /// The names of all columns of a table, in their order.
    fn table_names(&self) -> Vec<String> {
        self.lock().columns().into_iter().map(|(name, _)| name).collect()
    }

    /// A file with the motion: csv, json or parquet.
    fn file<'py>(&self, py: Python<'py>, ending: &str) -> PyResult<Bound<'py, PyBytes>> {
        let motion = self.whole(py)?;
        let bytes = released(py, || {
            let Some(format) = FileFormat::of(ending) else {
                return Err(Fault::usage(format!(
                    "`.{ending}`: a motion is written as .csv, .json, .parquet or .arrow"
                )));
            };
            let mut bytes = Vec::new();
            write_motion(&motion, format, &mut bytes)
                .map_err(|e| Fault::usage(e.to_string()))?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A picture of columns over another, as SVG.
    fn figure(
        &self,
        py: Python<'_>,
        columns: Vec<String>,
        against: &str,
        size: (f64, f64),
    ) -> PyResult<String> {
        let motion = self.whole(py)?;
        released(py, || figure(&motion, &columns, against, size))
    }
}

/// A picture of columns of a motion over another column; of none, the picture that stands for the motion.
fn figure(
    motion: &Motion,
    columns: &[String],
    against: &str,
    size: (f64, f64),
) -> Result<String, Fault> {
    if columns.is_empty() {
        return Ok(thumbnail(motion));
    }
    let figure = figure_of(motion, columns, against, false);
    let figure = figure.map_err(|error| Fault::usage(error.0))?;
    Ok(figure.to_svg(Look { width: size.0, height: size.1, ..Look::default() }))
}

/// A motion as a function of time.
#[pyclass(frozen, module = "pfaff._native")]
pub(crate) struct NativeDense {
    dense: DenseOutput,
}

#[pymethods]
impl NativeDense {
    /// From nodes: times, and positions, velocities and accelerations of each.
    #[new]
    fn new(
        py: Python<'_>,
        coordinates: usize,
        t: PyReadonlyArray1<'_, f64>,
        rows: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let dense = guarded(|| {
            let read = |_| Fault::usage("nodes must be contiguous");
            let (t, rows) = (t.as_slice().map_err(read)?, rows.as_slice().map_err(read)?);
            Ok(DenseOutput::from_nodes(coordinates, t, rows)?)
        });
        Ok(Self { dense: dense.map_err(|fault| exception(py, &fault))? })
    }

    /// The nodes: times, and positions, velocities and accelerations of each.
    fn nodes<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let (t, rows) = self.dense.nodes();
        (PyArray1::from_slice(py, t), PyArray1::from_slice(py, rows))
    }

    /// Positions and velocities at these times, one after the other.
    fn states<'py>(
        &self,
        py: Python<'py>,
        t: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let times = t.as_slice()?;
        let width = 2 * self.dense.coordinates();
        let mut states = vec![0.0; width * t.len()];
        py.detach(|| {
            for (state, &t) in states.chunks_exact_mut(width.max(1)).zip(times) {
                self.dense.state(t, state);
            }
        });
        Ok(PyArray1::from_vec(py, states))
    }
}
