//! A model as its users hold it: read once, asked many things, never changed.

use std::ops::Deref;

use pfaff_model::{Diagnostic, Files, NoFiles, Overrides, ParseErrors, Source, read_model};

use crate::error::Error;
use crate::gallery::{GalleryFiles, gallery_model};

/// A constrained system as the user wrote it.
///
/// Nothing that is done with a model changes it: the same call gives the same bits whatever was called
/// before, on any thread. Copies share what they hold.
///
/// ```
/// use pfaff::{Model, Principle, Run};
/// let model = Model::parse("
///     coordinates  x, y, phi
///     parameters   m = 1, J = 0.5
///     lagrangian   m*(x'^2 + y'^2)/2 + J*phi'^2/2
///     constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
///     initial      x' = 1, phi' = 0.3
/// ")?;
/// let motion = model.derive(Principle::Chetaev)?.run(Run::to(5.0).tolerance(1e-10))?;
/// // A blade without an offset runs in a circle of radius v/ω.
/// let exact = (0.3_f64 * 2.5).sin() / 0.3;
/// assert!((motion.position("x")?.at(2.5) - exact).abs() < 1e-9);
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    inner: pfaff_model::Model,
    remarks: Vec<Diagnostic>,
}

impl Model {
    /// Reads a text of the model language.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] with all mistakes of the text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(Self::read(Source::new("model", text), &Overrides::default(), &NoFiles)?)
    }

    /// Reads a named text with other parameters and initial values, and the files of its tables.
    ///
    /// # Errors
    ///
    /// All mistakes of the text.
    pub fn read(
        source: Source,
        overrides: &Overrides,
        files: &dyn Files,
    ) -> Result<Self, ParseErrors> {
        let (inner, remarks) = read_model(source, overrides, files)?;
        Ok(Self { inner, remarks })
    }

    /// A built-in model.
    ///
    /// ```
    /// # use pfaff::Model;
    /// assert_eq!(Model::gallery("sleigh")?.coordinates.len(), 3);
    /// # Ok::<(), pfaff::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if there is none of this name.
    pub fn gallery(name: &str) -> Result<Self, Error> {
        let entry = gallery_model(name)
            .ok_or_else(|| Error::Usage(format!("the gallery has no model `{name}`")))?;
        let source = Source::new(entry.name, entry.text);
        Ok(Self::read(source, &Overrides::default(), &GalleryFiles)?)
    }

    /// What is worth knowing of the text although it is right.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }
}

impl From<pfaff_model::Model> for Model {
    fn from(inner: pfaff_model::Model) -> Self {
        Self { inner, remarks: Vec::new() }
    }
}

impl Deref for Model {
    type Target = pfaff_model::Model;

    fn deref(&self) -> &pfaff_model::Model {
        &self.inner
    }
}
