//! Texts and files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pfaff::{
    Diagnostic, Files, GALLERY, GalleryFiles, Model, Overrides, Source, closest, gallery_model,
};

use crate::arguments::ModelArguments;
use crate::clock::seconds;
use crate::guard;
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
    let text = ModelText::open(&arguments.model)?;
    let begun = seconds();
    let model =
        Model::read(text.source.clone(), &overrides, text.files()).map_err(output::failed)?;
    let read_us = (seconds() - begun) * 1e6;
    output::show(model.remarks(), &model.source);
    Ok(Reading { model, read_us, inputs: text.inputs() })
}

/// The text of a model, and where its data files are.
pub(crate) struct ModelText {
    pub(crate) source: Source,
    name: PathBuf,
    beside: Option<Beside>,
}

impl ModelText {
    /// The text of a path, of `-` or of a gallery model.
    pub(crate) fn open(name: &str) -> Result<Self, Exit> {
        let (source, folder) = source(name)?;
        let sandboxed = guard::is_sandboxed(name == "-");
        let beside = folder.map(|folder| Beside { folder, sandboxed, read: Mutex::default() });
        Ok(Self { source, name: PathBuf::from(name), beside })
    }

    /// The data files that it may read.
    pub(crate) fn files(&self) -> &(dyn Files + Sync) {
        match &self.beside {
            Some(beside) => beside,
            None => &GalleryFiles,
        }
    }

    /// The data files that were read, each once.
    pub(crate) fn data_files(&self) -> Vec<PathBuf> {
        let Some(beside) = &self.beside else { return Vec::new() };
        let read = beside.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files: Vec<PathBuf> = read.clone();
        files.sort();
        files.dedup();
        files
    }

    /// The files that were read.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs = self.data_files();
        inputs.push(self.name.clone());
        inputs
    }
}

/// The files in the current folder and below, whatever a model asks for.
pub(crate) fn sandbox() -> impl Files + Send + Sync {
    Beside { folder: PathBuf::from("."), sandboxed: true, read: Mutex::default() }
}

/// The text of a model, from which it is read again with other parameters.
pub(crate) struct VariedModel {
    text: ModelText,
    set: Option<String>,
    initial: Option<String>,
}

impl VariedModel {
    /// Reads the text that the arguments name.
    pub(crate) fn open(
        arguments: &ModelArguments,
        initial: Option<&str>,
    ) -> Result<Self, Exit> {
        let text = ModelText::open(&arguments.model)?;
        let (set, initial) = (arguments.set.clone(), initial.map(ToOwned::to_owned));
        Ok(Self { text, set, initial })
    }

    /// The model with another value of a parameter, or of an initial position or velocity.
    pub(crate) fn changed(&self, name: &str, value: f64) -> Result<Model, Exit> {
        let with = |known: &Option<String>| {
            let also = format!("{name}={value:?}");
            Some(known.iter().cloned().chain([also]).collect::<Vec<_>>().join(", "))
        };
        let source = || self.text.source.clone();
        let as_parameter = Overrides { set: with(&self.set), initial: self.initial.clone() };
        let as_start = Overrides { set: self.set.clone(), initial: with(&self.initial) };
        let model = Model::read(source(), &as_start, self.text.files());
        let Err(error) = model else { return model.map_err(output::failed) };
        Model::read(source(), &as_parameter, self.text.files())
            .map_err(|_| output::failed(error))
    }

    /// The files that were read, which no output may replace.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        self.text.inputs()
    }

    /// The model, with one parameter changed if one is given.
    pub(crate) fn model(&self, parameter: Option<(&str, f64)>) -> Result<Model, Exit> {
        let also = parameter.map(|(name, value)| format!("{name}={value:?}"));
        let set: Vec<String> = self.set.clone().into_iter().chain(also).collect();
        let set = if set.is_empty() { None } else { Some(set.join(", ")) };
        let overrides = Overrides { set, initial: self.initial.clone() };
        let source = self.text.source.clone();
        Model::read(source, &overrides, self.text.files()).map_err(|error| {
            let own = |(name, _): &(&str, f64)| {
                let missing = format!("there is no parameter `{name}`");
                let other = format!("`{name}` is a coordinate, not a parameter");
                let all = &mut error.diagnostics.iter();
                all.find(|d| d.message == missing || d.message == other).cloned()
            };
            // What is varied was not written as an assignment.
            match parameter.as_ref().and_then(own) {
                Some(Diagnostic { message, hint, .. }) => {
                    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
                    output::usage(&format!("--vary: {message}{hint}"))
                }
                None => output::failed(error),
            }
        })
    }
}

/// A model that was read.
pub(crate) struct Reading {
    pub(crate) model: Model,
    /// How long it took, in microseconds.
    pub(crate) read_us: f64,
    /// The files that were read.
    pub(crate) inputs: Vec<PathBuf>,
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
    let mut file = plain_file(path).map_err(|error| {
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

/// The longest data file that is read, in bytes.
const LONGEST: u64 = 1 << 28;

/// The text of a data file.
pub(crate) fn data(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = plain_file(path)?;
    file.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        let why = format!("it is longer than {} MiB", LONGEST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(text)
}

/// Opens a file that has an end: what is read from a device or a pipe may have none.
pub(crate) fn plain_file(path: &Path) -> io::Result<File> {
    let check = |is_file: bool, is_dir: bool| {
        let why = if is_dir { "it is a folder" } else { "it is not a plain file" };
        if is_file { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, why)) }
    };
    // NOTE: before it is opened, because opening a pipe waits for somebody who writes.
    let there = fs::metadata(path)?;
    check(there.is_file(), there.is_dir())?;
    // NOTE: reading what the system makes up, such as its log, may wait for ever as well.
    let is_made_up =
        |path: PathBuf| ["/proc", "/sys"].iter().any(|system| path.starts_with(system));
    check(!fs::canonicalize(path).is_ok_and(is_made_up), false)?;
    let file = File::open(path)?;
    let there = file.metadata()?;
    check(there.is_file(), there.is_dir())?;
    Ok(file)
}

/// Data files lie beside the model; those of the gallery are known everywhere, so that a gallery text can be
/// copied and piped.
struct Beside {
    folder: PathBuf,
    /// Whether other folders are out of reach.
    sandboxed: bool,
    /// What was read.
    read: Mutex<Vec<PathBuf>>,
}

impl Beside {
    fn text(&self, name: &str) -> Result<String, String> {
        let path = self.folder.join(name);
        if self.sandboxed {
            stays_inside(&self.folder, name)?;
        }
        let text = data(&path).map_err(|error| error.to_string())?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if !read.contains(&path) {
            read.push(path);
        }
        Ok(text)
    }
}

impl Files for Beside {
    fn read(&self, name: &str) -> Result<String, String> {
        self.text(name).or_else(|why| GalleryFiles.read(name).map_err(|_| why))
    }
}

/// A name that leads to a file in this folder or below, and not by a link to another one.
fn stays_inside(folder: &Path, name: &str) -> Result<(), String> {
    let outside = || {
        "in a sandbox a model reads only files beside it; --no-sandbox lifts this".to_owned()
    };
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !plain {
        return Err(outside());
    }
    let Ok(path) = fs::canonicalize(folder.join(name)) else { return Ok(()) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = fs::canonicalize(folder).map_err(|error| error.to_string())?;
    if path.starts_with(folder) { Ok(()) } else { Err(outside()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_has_no_way_out() {
        let here = Path::new(".");
        for name in ["/etc/passwd", "../a.csv", "a/../../b.csv", "./../a.csv", "", "/"] {
            // NOTE: the empty name is the folder itself, which is no plain file.
            let refused = stays_inside(here, name).is_err() || data(&here.join(name)).is_err();
            assert!(refused, "{name}");
        }
        assert!(stays_inside(here, "Cargo.toml").is_ok());
        assert!(stays_inside(here, "src/main.rs").is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_not_read() {
        let made_up = ["/proc/self/status", "/proc/kmsg"];
        let made_up = made_up.into_iter().filter(|name| Path::new(name).exists());
        for name in made_up.chain(["/dev/zero"]) {
            let error = data(Path::new(name)).expect_err("it need not have an end");
            assert_eq!(error.to_string(), "it is not a plain file", "{name}");
        }
    }
}
