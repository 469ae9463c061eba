//! Texts and files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pfaff::{Files, GALLERY, GalleryFiles, Model, Overrides, Source, closest, gallery_model};

use crate::arguments::ModelArguments;
use crate::clock::seconds;
use crate::output::{self, Exit};

/// Reads the model that the arguments name.
pub(crate) fn model(arguments: &ModelArguments, initial: Option<&str>) -> Result<Model, Exit> {
    reading(arguments, initial).map(|reading| reading.model)
}

/// Reads the model that the arguments name, and tells how long it took.
pub(crate) fn reading(
    arguments: &ModelArguments,
    initial: Option<&str>,
) -> Result<Reading, Exit> {
    let overrides =
        Overrides { set: arguments.set.clone(), initial: initial.map(ToOwned::to_owned) };
    let (source, folder) = source(&arguments.model)?;
    let files: Box<dyn Files> = match folder {
        Some(folder) => Box::new(Beside(folder)),
        None => Box::new(GalleryFiles),
    };
    let begun = seconds();
    let model = Model::read(source, &overrides, files.as_ref()).map_err(output::failed)?;
    let read_us = (seconds() - begun) * 1e6;
    output::show(model.remarks(), &model.source);
    Ok(Reading { model, read_us })
}

/// A model that was read.
pub(crate) struct Reading {
    pub(crate) model: Model,
    /// How long it took, in microseconds.
    pub(crate) read_us: f64,
}

/// The text of a model, and the folder in which its data files are looked for; none for a gallery model,
/// which brings its own.
fn source(name: &str) -> Result<(Source, Option<PathBuf>), Exit> {
    let here = PathBuf::from(".");
    if name == "-" {
        let bytes = limited(&mut io::stdin().lock(), "standard input")?;
        return Ok((text("standard input", &bytes)?, Some(here)));
    }
    let path = Path::new(name);
    if !path.exists()
        && let Some(model) = gallery_model(name)
    {
        return Ok((Source::new(name, model.text), None));
    }
    let mut file = File::open(path).map_err(|error| {
        let mut message = format!("the model `{name}` cannot be read: {error}");
        let names: Vec<&str> = GALLERY.iter().map(|m| m.name).collect();
        if let Some(near) = closest(name, &names) {
            message = format!("{message}; did you mean the gallery model `{near}`?");
        }
        output::say(&format!("error: {message}"));
        Exit::BadModel
    })?;
    let bytes = limited(&mut file, name)?;
    let folder = path.parent().map_or(here, Path::to_path_buf);
    Ok((text(name, &bytes)?, Some(folder)))
}

/// Reads to the end, but at most one byte more than a model may have: the reader then refuses it.
fn limited(from: &mut dyn Read, name: &str) -> Result<Vec<u8>, Exit> {
    /// Most models need one call of the system then.
    const ROOM: usize = 1 << 14;
    let mut bytes = Vec::with_capacity(ROOM);
    let limit = Source::LIMIT as u64 + 1;
    from.take(limit).read_to_end(&mut bytes).map_err(|error| {
        output::say(&format!("error: `{name}` cannot be read: {error}"));
        Exit::BadModel
    })?;
    Ok(bytes)
}

fn text(name: &str, bytes: &[u8]) -> Result<Source, Exit> {
    Source::from_bytes(name, bytes).map_err(output::failed)
}

/// Data files lie beside the model; those of the gallery are known everywhere, so that a gallery text can be
/// copied and piped.
struct Beside(PathBuf);

impl Files for Beside {
    fn read(&self, name: &str) -> Result<String, String> {
        let path = self.0.join(name);
        std::fs::read_to_string(path)
            .or_else(|error| GalleryFiles.read(name).map_err(|_| error.to_string()))
    }
}
