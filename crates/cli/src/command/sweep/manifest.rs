//! The manifest of a sweep: everything that its table depends on, as JSON beside the table.

use pfaff::Run;
use pfaff_present::{Heading, Kind};
use serde_json::{Map, Value, json};

use super::SweepArguments;
use super::given::seed;
use super::journal::check_sum;
use crate::input::ModelText;

/// The key for the bytes of the table.
const TABLE: &str = "table";

/// The file of the manifest of a table.
pub(super) fn path_of(table: &str) -> String {
    format!("{table}.manifest.json")
}

/// The manifest of a sweep; `part` is left to the caller.
pub(super) fn of(
    arguments: &SweepArguments,
    text: &ModelText,
    request: &Run,
    headings: &[Heading],
    cases: &Given<'_>,
) -> Value {
    let digest = |bytes: &[u8]| format!("{:016x}", check_sum(bytes));
    let data: Map<String, Value> = text
        .data_files()
        .iter()
        .map(|path| {
            let bytes = std::fs::read(path).unwrap_or_default();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, Value::from(digest(&bytes)))
        })
        .collect();
    let draws = arguments.draw.is_some();
    json!({
        "pfaff": env!("CARGO_PKG_VERSION"),
        "model": arguments.motion.model.model,
        "text": text.source.text(),
        "data": data,
        "set": arguments.motion.model.set,
        "initial": arguments.motion.initial,
        "settings": {
            "principle": request.principle.map(pfaff::Principle::name),
            "t0": request.t0,
            "t1": request.t1,
            "tolerance": request.tolerance,
            "method": request.method.map(pfaff::Method::name),
            "at": request.at,
            "samples": request.samples,
            "step": request.step,
            "max_steps": request.max_steps,
        },
        "vary": arguments.vary,
        "draw": arguments.draw,
        "count": draws.then_some(arguments.count.as_deref()),
        "seed": seed(arguments),
        "sampling": draws.then_some(arguments.sampling.as_str()),
        "cases": cases.table.map(digest),
        "keep": arguments.keep,
        "lanes": cases.in_lanes,
        "columns": headings.iter().map(column).collect::<Vec<_>>(),
        "count_of_cases": cases.count,
    })
}

/// The cases.
pub(super) struct Given<'a> {
    pub(super) count: u64,
    /// Whether they run eight at once.
    pub(super) in_lanes: bool,
    /// The bytes of `--cases`.
    pub(super) table: Option<&'a [u8]>,
}

/// The manifest of one part of a sweep.
pub(super) fn of_chunk(manifest: &Value, chunk: Option<(u64, u64)>) -> Value {
    let mut manifest = manifest.clone();
    manifest["chunk"] = chunk.map_or(Value::Null, |(i, n)| json!([i, n]));
    manifest
}

/// The chunk of a manifest, and the manifest of the whole.
pub(super) fn split(manifest: &Value) -> (Option<(u64, u64)>, Value) {
    let chunk = &manifest["chunk"];
    let chunk = chunk[0].as_u64().zip(chunk[1].as_u64());
    (chunk, of_chunk(manifest, None))
}

/// A manifest that also says what bytes its table has.
pub(super) fn with_table(manifest: &Value, bytes: Value) -> Value {
    let mut manifest = manifest.clone();
    manifest[TABLE] = bytes;
    manifest
}

/// What a manifest says of the bytes of its table, and the manifest without that.
pub(super) fn without_table(mut manifest: Value) -> (Value, Value) {
    let bytes = manifest.as_object_mut().and_then(|keys| keys.remove(TABLE));
    (manifest, bytes.unwrap_or_default())
}

fn column(heading: &Heading) -> Value {
    let kind = match heading.kind {
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Text => "text",
    };
    json!([heading.name, kind])
}

/// The columns of a manifest.
pub(super) fn headings(manifest: &Value) -> Option<Vec<Heading>> {
    let column = |value: &Value| {
        let kind = match value[1].as_str()? {
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "text" => Kind::Text,
            _ => return None,
        };
        Some(Heading { name: value[0].as_str()?.to_owned(), kind })
    };
    manifest["columns"].as_array()?.iter().map(column).collect()
}

/// What differs between two manifests, by the names of their keys.
pub(super) fn difference(a: &Value, b: &Value) -> String {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else {
        return "the manifest".into();
    };
    let keys = a.keys().filter(|key| a.get(*key) != b.get(*key));
    let words = keys.map(|key| match key.as_str() {
        "pfaff" => "the version of pfaff",
        "model" | "text" => "the model",
        "data" => "the data of the model",
        "set" => "--set",
        "initial" => "--initial",
        "settings" => "the settings of the runs",
        "vary" => "--vary",
        "draw" => "--draw",
        "count" | "count_of_cases" => "the number of cases",
        "seed" => "--seed",
        "sampling" => "--sampling",
        "cases" => "--cases",
        "keep" => "--keep",
        "lanes" => "--single",
        "chunk" => "--chunk",
        _ => "the columns",
    });
    let mut words: Vec<&str> = words.collect();
    words.dedup();
    words.join(", ")
}
