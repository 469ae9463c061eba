//! Equations of motion: as text and formulas, as numbers at a state, as source code, as a graph of expressions.

use std::sync::{Mutex, PoisonError};

use numpy::PyArray1;
use pfaff::{
    Derivation, ExportForm, Language, Model, Principle, RightSide, State, StateEvaluator,
    export, named_coordinates, read_state,
};
use pfaff_present::{
    Presentation, StandardForm, ToJson, ToLatex, ToText, expression_graph, json_text, present,
    present_fractional, present_fractional_hamilton, present_hamilton, present_outline,
    present_reduced, present_standard,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fault::{Fault, released};
use crate::right_side::RightHandSide;

/// The time, positions, velocities and multipliers of a state.
type Numbers = (f64, Vec<f64>, Vec<f64>, Vec<f64>);

/// The equations of a model under a principle.
#[pyclass(frozen, module = "pfaff._native")]
pub(crate) struct NativeEquations {
    model: Model,
    principle: Option<Principle>,
    derivation: Derivation,
    evaluator: Mutex<Option<StateEvaluator>>,
}

/// Coordinates above which blocks are shown in outline, unless their form is named.
const LARGE: usize = 100;

impl NativeEquations {
    pub(crate) fn derive(model: Model, principle: Option<Principle>) -> Result<Self, Fault> {
        let derivation = pfaff::derive(&model, principle)?;
        Ok(Self { model, principle, derivation, evaluator: Mutex::new(None) })
    }

    fn presentation(
        &self,
        form: Option<&str>,
        dependent: Option<&str>,
    ) -> Result<Presentation, Fault> {
        let standard = form.and_then(StandardForm::named);
        match form {
            None | Some("multipliers" | "reduced" | "hamilton") => {}
            Some(_) if standard.is_some() => {}
            Some(other) => {
                let words: Vec<&str> =
                    StandardForm::ALL.iter().map(|(_, word)| *word).collect();
                return Err(Fault::usage(format!(
                    "there is no form `{other}`: choose multipliers, reduced, hamilton, {}",
                    words.join(", ")
                )));
            }
        }
        let dependent =
            dependent.map(|text| named_coordinates(&self.model, text)).transpose()?;
        if let Some(standard) = standard {
            return Ok(present_standard(&self.derivation, standard, dependent.as_deref())?);
        }
        if form != Some("reduced") {
            let shown = match form {
                Some("hamilton") => present_fractional_hamilton(&self.model, self.principle)?,
                _ => present_fractional(&self.model, self.principle)?,
            };
            if let Some(shown) = shown {
                return Ok(shown);
            }
        }
        if self.model.coordinates.len() > LARGE && form.is_none() {
            return Ok(present_outline(&pfaff::derive_for_run(&self.model, self.principle)?));
        }
        match form {
            Some("reduced") => present_reduced(&self.derivation).ok_or_else(|| {
                Fault::usage("an `equation` model has no multipliers to eliminate")
            }),
            Some("hamilton") => Ok(present_hamilton(&self.derivation, dependent.as_deref())?),
            _ => Ok(present(&self.derivation)),
        }
    }
}

#[pymethods]
impl NativeEquations {
    /// The principle, if the model has one.
    #[getter]
    fn principle(&self) -> Option<&'static str> {
        self.derivation.principle().map(Principle::name)
    }

    /// The equations in a format: text, latex, mathml, typst or json.
    #[pyo3(signature = (format, form=None, dependent=None, document=false))]
    fn written(
        &self,
        py: Python<'_>,
        format: &str,
        form: Option<&str>,
        dependent: Option<&str>,
        document: bool,
    ) -> PyResult<String> {
        released(py, || {
            let shown = self.presentation(form, dependent)?;
            Ok(match format {
                "latex" if document => shown.to_latex_document(),
                "latex" => shown.to_latex(),
                "mathml" if document => shown.to_mathml_document(),
                "mathml" => shown.to_mathml(),
                "typst" if document => shown.to_typst_document(),
                "typst" => shown.to_typst(),
                "json" => shown.to_json_line(),
                _ => shown.to_text(),
            })
        })
    }

    /// The right-hand side as source code.
    fn code(&self, py: Python<'_>, language: &str, form: Option<&str>) -> PyResult<String> {
        released(py, || {
            let language = match language {
                "c" => Language::C,
                "rust" => Language::Rust,
                _ => Language::Python,
            };
            let form = match form {
                None => ExportForm::Best,
                Some("reduced") => ExportForm::Reduced,
                Some("multipliers") => ExportForm::Saddle,
                Some(other) => {
                    return Err(Fault::usage(format!(
                        "there is no source code in the form `{other}`: choose multipliers or reduced"
                    )));
                }
            };
            Ok(export(&self.model, self.principle, form, language)?)
        })
    }

    /// The numbers of a state that is given as text.
    fn read_state(&self, py: Python<'_>, text: &str) -> PyResult<Numbers> {
        released(py, || {
            let State { t, q, v, multipliers } = read_state(&self.model, text)?;
            Ok((t, q, v, multipliers))
        })
    }

    /// Everything that follows from a state.
    fn at<'py>(
        &self,
        py: Python<'py>,
        t: f64,
        q: Vec<f64>,
        v: Vec<f64>,
        multipliers: Vec<f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let report = released(py, || {
            let mut kept = self.evaluator.lock().unwrap_or_else(PoisonError::into_inner);
            let evaluator = match kept.as_mut() {
                Some(evaluator) => evaluator,
                None => kept.insert(StateEvaluator::new(&self.derivation)?),
            };
            Ok(evaluator.report(&State { t, q, v, multipliers })?)
        })?;
        let dict = PyDict::new(py);
        let set =
            |name: &str, values: Vec<f64>| dict.set_item(name, PyArray1::from_vec(py, values));
        set("mass", report.mass)?;
        set("effective_mass", report.effective_mass)?;
        set("jacobian", report.jacobian)?;
        set("acceleration", report.acceleration)?;
        set("multipliers", report.multipliers)?;
        set("multiplier_rates", report.multiplier_rates)?;
        set("reaction", report.reaction)?;
        dict.set_item("energy", report.energy)?;
        dict.set_item("constraint_energy", report.constraint_energy)?;
        Ok(dict)
    }

    /// The right-hand side for an integrator.
    fn right_side(&self, py: Python<'_>) -> PyResult<RightHandSide> {
        released(py, || Ok(RightHandSide::new(RightSide::new(&self.model, self.principle)?)))
    }

    /// L, φ and the blocks of the equations as a graph of expressions, in JSON.
    fn graph(&self, py: Python<'_>) -> PyResult<String> {
        released(py, || Ok(json_text(&expression_graph(&self.derivation)?)))
    }
}
