//! The right-hand side `rhs(t, y)` for integrators of others: one state, or one in each row.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2,
    PyUntypedArrayMethods,
};
use pfaff::RightSide;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::fault::{exception, guarded};

/// Rows below which one thread does all.
const FEW: usize = 1 << 14;
/// Rows of a part that one thread takes.
const PART: usize = 1 << 13;

/// rhs(t, y): the rates of a state y, or of one state in each row of a two-dimensional y.
#[pyclass(frozen, module = "pfaff._native")]
pub(crate) struct RightHandSide {
    right: Mutex<RightSide>,
    names: Vec<String>,
}

impl RightHandSide {
    pub(crate) fn new(right: RightSide) -> Self {
        let names = right.names().to_vec();
        Self { right: Mutex::new(right), names }
    }

    fn wrong(&self, shape: &str) -> PyErr {
        let (n, names) = (self.names.len(), self.names.join(", "));
        PyValueError::new_err(format!(
            "y must have {n} numbers ({names}), or {n} in each row; its shape is {shape}"
        ))
    }

    fn one<'py>(
        &self,
        py: Python<'py>,
        t: f64,
        y: &PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let copy;
        let values = match y.as_slice() {
            Ok(values) => values,
            Err(_) => {
                copy = y.as_array().to_vec();
                copy.as_slice()
            }
        };
        if values.len() != self.names.len() {
            return Err(self.wrong(&format!("({},)", values.len())));
        }
        let rates = PyArray1::zeros(py, values.len(), false);
        {
            let mut out = rates.readwrite();
            let out = out.as_slice_mut()?;
            let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
            guarded(|| {
                right.evaluate(t, values, out);
                Ok(())
            })
            .map_err(|fault| exception(py, &fault))?;
        }
        Ok(rates)
    }

    fn rows<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        y: &PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, n) = y.as_array().dim();
        if n != self.names.len() {
            return Err(self.wrong(&format!("({rows}, {n})")));
        }
        let times = if let Ok(t) = t.extract::<f64>() {
            vec![t]
        } else {
            let times: PyReadonlyArray1<'_, f64> = t.extract().map_err(|_| {
                PyTypeError::new_err(
                    "t must be a number, or an array of floats, one for each row",
                )
            })?;
            times.as_array().to_vec()
        };
        if times.len() != 1 && times.len() != rows {
            return Err(PyValueError::new_err(format!(
                "t must be one number or one for each of the {rows} rows, not {}",
                times.len()
            )));
        }
        let copy;
        // NOTE: a slice of an array in Fortran's order has its columns one after the other.
        let values = match y.as_slice() {
            Ok(values) if y.is_c_contiguous() => values,
            _ => {
                copy = y.as_array().iter().copied().collect::<Vec<f64>>();
                copy.as_slice()
            }
        };
        let rates = PyArray2::zeros(py, [rows, n], false);
        {
            let mut out: PyReadwriteArray2<'_, f64> = rates.readwrite();
            let out = out.as_slice_mut()?;
            let right = self.right.lock().unwrap_or_else(PoisonError::into_inner).clone();
            py.detach(|| {
                guarded(|| {
                    evaluate(right, &times, values, out, n);
                    Ok(())
                })
            })
            .map_err(|fault| exception(py, &fault))?;
        }
        Ok(rates)
    }
}

/// All rows, by all cores where there are many.
fn evaluate(mut right: RightSide, t: &[f64], y: &[f64], rates: &mut [f64], n: usize) {
    if y.len() / n.max(1) < FEW {
        right.evaluate_rows(t, y, rates);
        return;
    }
    // Compiles the code for several states once, before it is copied.
    right.evaluate_rows(&t[..1], &y[..n], &mut rates[..n]);
    let parts = y.par_chunks(PART * n).zip(rates.par_chunks_mut(PART * n)).enumerate();
    parts.for_each_with(right, |right, (part, (y, rates))| {
        let first = part * PART;
        let t = if t.len() == 1 { t } else { &t[first..first + y.len() / n] };
        right.evaluate_rows(t, y, rates);
    });
}

#[pymethods]
impl RightHandSide {
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(y) = y.extract::<PyReadonlyArray1<'_, f64>>() {
            let t: f64 = t.extract()?;
            return Ok(self.one(py, t, &y)?.into_any());
        }
        if let Ok(y) = y.extract::<PyReadonlyArray2<'_, f64>>() {
            return Ok(self.rows(py, t, &y)?.into_any());
        }
        // Lists, integers and other kinds of numbers.
        let numpy = py.import("numpy")?;
        let y = numpy.call_method1("asarray", (y,))?;
        let kind: String = y.getattr("dtype")?.getattr("kind")?.extract()?;
        if !["f", "i", "u", "b"].contains(&kind.as_str()) {
            let dtype = y.getattr("dtype")?;
            return Err(PyTypeError::new_err(format!("y must hold real numbers, not {dtype}")));
        }
        let y = y.call_method1("astype", ("float64",))?;
        if let Ok(y) = y.extract::<PyReadonlyArray1<'_, f64>>() {
            return Ok(self.one(py, t.extract()?, &y)?.into_any());
        }
        match y.extract::<PyReadonlyArray2<'_, f64>>() {
            Ok(y) => Ok(self.rows(py, t, &y)?.into_any()),
            Err(_) => Err(self.wrong(&y.getattr("shape")?.to_string())),
        }
    }

    /// Seconds that the engine alone takes for one state, or for all rows in one thread, for measurements.
    fn seconds(&self, y: &Bound<'_, PyAny>, repetitions: usize) -> PyResult<f64> {
        let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Ok(rows) = y.extract::<PyReadonlyArray2<'_, f64>>() {
            let rows = rows.as_slice()?;
            let mut rates = vec![0.0; rows.len()];
            right.evaluate_rows(&[0.0], rows, &mut rates);
            let begun = Instant::now();
            for _ in 0..repetitions {
                right.evaluate_rows(&[0.0], rows, &mut rates);
            }
            return Ok(begun.elapsed().as_secs_f64() / repetitions as f64);
        }
        let y: PyReadonlyArray1<'_, f64> = y.extract()?;
        let (y, mut rates) = (y.as_slice()?, vec![0.0; self.names.len()]);
        let begun = Instant::now();
        for _ in 0..repetitions {
            right.evaluate(0.0, std::hint::black_box(y), &mut rates);
            std::hint::black_box(&rates);
        }
        Ok(begun.elapsed().as_secs_f64() / repetitions as f64)
    }

    /// The names of the numbers of a state.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn __repr__(&self) -> String {
        format!("rhs(t, y) with y = ({})", self.names.join(", "))
    }
}
