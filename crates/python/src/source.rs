//! The text of a model, its data files, and the model that was read from them with other values.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use pfaff::{Files, GalleryFiles, Model, Overrides, Source};

use crate::fault::Fault;

/// A text, and where its data files are.
pub(crate) struct ModelText {
    pub(crate) source: Source,
    pub(crate) files: Beside,
}

/// Data files lie in a folder; those of the gallery are known everywhere.
pub(crate) struct Beside(pub(crate) Option<PathBuf>);

/// The longest data file that is read, in bytes.
const LONGEST: u64 = 1 << 28;

impl Files for Beside {
    fn read(&self, name: &str) -> Result<String, String> {
        let Some(folder) = &self.0 else { return GalleryFiles.read(name) };
        let path = folder.join(name);
        let read = || {
            let there = fs::metadata(&path).map_err(|error| error.to_string())?;
            if !there.is_file() || there.len() > LONGEST {
                return Err("it is no plain file, or too long".to_owned());
            }
            fs::read_to_string(&path).map_err(|error| error.to_string())
        };
        read().or_else(|why| GalleryFiles.read(name).map_err(|_| why))
    }
}

/// A model that was read from a text with other values.
pub(crate) struct ModelRead {
    pub(crate) model: Model,
    pub(crate) text: Arc<ModelText>,
    pub(crate) overrides: Overrides,
}

impl ModelRead {
    pub(crate) fn new(text: Arc<ModelText>, overrides: Overrides) -> Result<Self, Fault> {
        let model = Model::read(text.source.clone(), &overrides, &text.files)?;
        Ok(Self { model, text, overrides })
    }

    /// The model with one more parameter changed.
    pub(crate) fn with_parameter(&self, name: &str, value: f64) -> Result<Model, Fault> {
        let also = format!("{name}={value:?}");
        let set: Vec<String> = self.overrides.set.clone().into_iter().chain([also]).collect();
        let overrides = Overrides { set: Some(set.join(", ")), ..self.overrides.clone() };
        Ok(Model::read(self.text.source.clone(), &overrides, &self.text.files)?)
    }
}
