//! Ensembles: many motions of one model with other values.
//!
//! Each case is what [`run`](crate::run) gives for the model with these values, up to rounding, and the same bits on
//! any thread and in any order. [`Cases`] says what is varied; who calls chooses the cases, the threads and what is
//! kept.

pub(crate) mod cases;
mod distribution;
pub(crate) mod lanes;
pub(crate) mod prepared;
pub(crate) mod sequence;

use std::fmt::Write as _;
use std::sync::OnceLock;

use pfaff_model::{Files, Overrides, ParseErrors, Source};

use crate::ensemble::lanes::{LaneMotion, LaneRun, Lanes};
use crate::ensemble::prepared::{PreparedModel, Varied};
use crate::error::Error;
use crate::model::Model;
use crate::motion::verdict::Verdict;
use crate::motion::{Motion, StopReason};
use crate::pipeline::run_watched;
use crate::problem::settings::Run;
use crate::run::progress::Progress;

/// A model of which some parameters and initial values are varied.
///
/// ```
/// use pfaff::{Cases, Ensemble, NoFiles, Overrides, Run, Source};
/// let text = "coordinates x\nparameters k = 1\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1";
/// let cases = Cases::default().vary("k=1..4:4, x'(0)=[0, 1]")?;
/// let source = Source::new("oscillator", text);
/// let ensemble = Ensemble::new(source, Overrides::default(), &NoFiles, &cases, Run::to(1.0))?;
/// assert_eq!(ensemble.columns(), ["k", "x'(0)"]);
/// let motion = ensemble.motion(&cases.values(6), &mut |_| true)?;
/// assert!((motion.position("x")?.last() - 2.0_f64.cos()).abs() < 1e-9);
/// # Ok::<(), pfaff::Error>(())
/// ```
pub struct Ensemble<'a> {
    source: Source,
    overrides: Overrides,
    files: &'a (dyn Files + Sync),
    varied: Vec<Varied>,
    request: Run,
    first: Model,
    /// The first case made ready, if the others need not be read and derived.
    prepared: Option<PreparedModel>,
    lanes: OnceLock<Option<Lanes>>,
}

/// The motion of a case.
#[derive(Debug)]
pub enum CaseMotion<'a> {
    /// In a lane, which has passed its checks. The next one takes its place.
    Lane(&'a LaneMotion),
    /// By itself.
    Single(Box<Result<Motion, Error>>),
}

impl<'a> Ensemble<'a> {
    /// A model whose cases are run as asked for.
    ///
    /// # Errors
    ///
    /// [`Error`] if the model cannot be read, or has nothing of a name that is varied.
    pub fn new(
        source: Source,
        overrides: Overrides,
        files: &'a (dyn Files + Sync),
        cases: &cases::Cases,
        request: Run,
    ) -> Result<Self, Error> {
        let values = cases.values(0);
        let known = read(&source, &overrides, files, cases.names(), &values)?;
        let mut varied: Vec<Varied> = Vec::with_capacity(values.len());
        for name in cases.names() {
            let one = Varied::named(name, &known)?;
            if varied.contains(&one) {
                return Err(Error::Usage(format!("`{}` is varied twice", one.column())));
            }
            if is_given(&one, &overrides) {
                let name = one.column();
                return Err(Error::Usage(format!(
                    "`{name}` is varied, and has a given value too"
                )));
            }
            varied.push(one);
        }
        let mut ensemble = Self {
            source,
            overrides,
            files,
            varied,
            request,
            first: known,
            prepared: None,
            lanes: OnceLock::new(),
        };
        ensemble.first = ensemble.model(&values)?;
        // NOTE: if the first case cannot begin, another one is made ready; without any, each is tried by itself.
        let last = cases.count() - 1;
        let mut tried = vec![0, last, last / 2, last / 3, 1.min(last)];
        tried.dedup();
        for case in tried {
            let Ok(model) = ensemble.model(&cases.values(case)) else { continue };
            let prepared = PreparedModel::ready(&model, &ensemble.varied, &ensemble.request);
            if let Ok(prepared) = prepared {
                ensemble.prepared = prepared;
                break;
            }
        }
        Ok(ensemble)
    }

    /// The names of what is varied, as columns of a table: `a`, `x'(0)`.
    pub fn columns(&self) -> Vec<String> {
        self.varied.iter().map(Varied::column).collect()
    }

    /// The model of the first case.
    pub fn first(&self) -> &Model {
        &self.first
    }

    /// The model with these values, one for each name that is varied.
    ///
    /// # Errors
    ///
    /// [`Error`] if the text makes no model with them.
    pub fn model(&self, values: &[f64]) -> Result<Model, Error> {
        let mut overrides = self.overrides.clone();
        for (varied, value) in self.varied.iter().zip(values) {
            let (list, name) = match varied {
                Varied::Parameter(name) => (&mut overrides.set, name),
                Varied::Initial(name) => (&mut overrides.initial, name),
            };
            assign(list, name, *value);
        }
        Ok(Model::read(self.source.clone(), &overrides, self.files)?)
    }

    /// The motion with these values; `watch` sees after each step what was computed so far, and may end it.
    ///
    /// # Errors
    ///
    /// [`Error`] if no motion can begin.
    pub fn motion(
        &self,
        values: &[f64],
        watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Result<Motion, Error> {
        self.motion_of(0, values, watch)
    }

    /// The motion of a case by its number, which says which path noise takes.
    ///
    /// # Errors
    ///
    /// As [`motion`](Self::motion).
    pub fn motion_of(
        &self,
        case: u64,
        values: &[f64],
        watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Result<Motion, Error> {
        match &self.prepared {
            Some(prepared) => prepared.motion(values, &self.request, watch),
            None => {
                let request = Run { stream: Some(case), ..self.request.clone() };
                run_watched(&self.model(values)?, &request, watch)
            }
        }
    }

    /// Whether the cases run in lanes, eight at once, if nothing but their ends, events and audits is asked for. Then
    /// the first case has passed its whole audit.
    pub fn has_lanes(&self) -> bool {
        self.lanes().is_some()
    }

    fn lanes(&self) -> Option<&Lanes> {
        let made = self.lanes.get_or_init(|| {
            let prepared = self.prepared.as_ref()?;
            let lanes = prepared.lanes(&self.request)?;
            let values = prepared.first_values();
            let first = prepared.motion(&values, &self.request, &mut |_| true).ok()?;
            (first.audit.verdict == Verdict::Pass).then_some(lanes)
        });
        made.as_ref()
    }

    /// Runs some cases from number `first` on, with the values that `values` writes, and hands each over when it is
    /// complete, in any order. What is not handed over was interrupted: `goes_on` is asked now and then.
    pub fn run_cases(
        &self,
        (first, count): (u64, usize),
        values: &mut dyn FnMut(usize, &mut [f64]),
        goes_on: &dyn Fn() -> bool,
        done: &mut dyn FnMut(usize, CaseMotion<'_>),
    ) {
        let mut single: Vec<usize> = Vec::new();
        let mut own = vec![0.0; self.varied.len()];
        match (self.lanes(), &self.prepared) {
            (Some(lanes), Some(prepared)) => {
                let mut place = |case: usize, all: &mut [f64]| {
                    values(case, &mut own);
                    prepared.place(&own, all);
                };
                let mut take = |case: usize, motion: Option<&LaneMotion>| match motion {
                    Some(motion) => done(case, CaseMotion::Lane(motion)),
                    None => single.push(case),
                };
                LaneRun::new(lanes).run(count, &mut place, &mut take, goes_on);
                single.sort_unstable();
            }
            _ => single.extend(0..count),
        }
        for case in single {
            if !goes_on() {
                return;
            }
            let number = first + case as u64;
            values(case, &mut own);
            let motion = self.motion_of(number, &own, &mut |_| goes_on());
            let is_whole =
                !matches!(&motion, Ok(m) if m.stop.reason == StopReason::Interrupted);
            if is_whole {
                done(case, CaseMotion::Single(Box::new(motion)));
            }
        }
    }

    /// Whether the cases are read, derived and compiled once for all.
    pub fn is_prepared(&self) -> bool {
        self.prepared.is_some()
    }
}

/// Whether a value of this quantity is among those that are given for all cases.
fn is_given(varied: &Varied, overrides: &Overrides) -> bool {
    let (list, name) = match varied {
        Varied::Parameter(name) => (&overrides.set, name),
        Varied::Initial(name) => (&overrides.initial, name),
    };
    let given = cases::list_items(list.as_deref().unwrap_or_default());
    given.iter().any(|item| {
        let left = item.split_once('=').map_or("", |(left, _)| left).trim();
        let left = left.strip_suffix("(0)").unwrap_or(left);
        left.split_whitespace().collect::<String>() == *name
    })
}

/// Adds `name=value` to a list of assignments.
fn assign(list: &mut Option<String>, name: &str, value: f64) {
    let list = list.get_or_insert_with(String::new);
    if !list.trim().is_empty() {
        list.push_str(", ");
    }
    // The shortest digits that read back as the same number.
    let _ = write!(list, "{name}={value:?}");
}

/// The model as it stands. Parameters that the text leaves open have the values of the first case.
fn read(
    source: &Source,
    overrides: &Overrides,
    files: &dyn Files,
    names: &[String],
    values: &[f64],
) -> Result<Model, ParseErrors> {
    let errors = match Model::read(source.clone(), overrides, files) {
        Ok(model) => return Ok(model),
        Err(errors) => errors,
    };
    let open: Vec<&str> = errors
        .diagnostics
        .iter()
        .filter(|d| d.code == "E0501")
        .map(|d| errors.source.slice(d.span))
        .collect();
    let mut overrides = overrides.clone();
    for (name, value) in names.iter().zip(values).filter(|(n, _)| open.contains(&n.as_str())) {
        assign(&mut overrides.set, name, *value);
    }
    Model::read(source.clone(), &overrides, files)
}
