//! `pfaff sweep --merge`: the tables of all chunks, put together into that of the whole.

use std::fs::File;
use std::io;
use std::path::Path;

use pfaff_present::{Block, Heading, TableReader};
use serde_json::Value;

use super::journal::{self, NoJournal};
use super::manifest;
use super::table_file::{TableFile, is_as_written, refused, write_manifest};
use super::{Exit, usage};
use crate::output::{print, say};
use crate::table::{Ending, ending, quietly};
use crate::whole_file::Place;

/// One chunk.
struct Part {
    name: String,
    chunk: (u64, u64),
    whole: Value,
}

pub(super) fn merge(parts: &[String], output: Option<&str>) -> Result<Exit, Exit> {
    let Some(output) = output else {
        return Err(usage("--merge needs --output, the table of the whole"));
    };
    if let [journal] = parts
        && Path::new(journal).extension().is_some_and(|e| e == "sweep")
    {
        return from_journal(journal, output);
    }
    let mut parts = parts.iter().map(|name| part(name)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = parts.first() else {
        return Err(usage("--merge needs the tables of the chunks"));
    };
    let (whole, count) = (first.whole.clone(), first.chunk.1);
    for other in &parts {
        if other.whole != whole || other.chunk.1 != count {
            let mut what = manifest::difference(&whole, &other.whole);
            if what.is_empty() {
                what = "the number of chunks".into();
            }
            let (a, b) = (&parts[0].name, &other.name);
            return Err(usage(&format!(
                "`{a}` and `{b}` belong to different sweeps: {what} differ"
            )));
        }
    }
    parts.sort_by_key(|part| part.chunk.0);
    for i in 1..=count {
        let found = parts.iter().filter(|part| part.chunk.0 == i).count();
        if found != 1 {
            let how = if found == 0 { "is missing" } else { "is there twice" };
            return Err(usage(&format!("chunk {i} of {count} {how}")));
        }
    }
    let headings = manifest::headings(&whole)
        .ok_or_else(|| usage(&format!("the manifest of `{}` is damaged", parts[0].name)))?;
    let inputs: Vec<_> = parts.iter().map(|part| part.name.clone().into()).collect();
    let place = Place::new(output, &inputs)?;
    let about = Place::new(&manifest::path_of(output), &inputs)?;
    let form = ending(output)?;
    let mut rows = 0;
    let mut table = TableFile::create(output, &place, form, &headings, &whole)?;
    for part in &parts {
        let copied = quietly(|| copy(&part.name, &headings, &mut |block| table.write(block)));
        rows += copied.map_err(|error| refused(output, &error))?;
    }
    let bytes = table.finish()?;
    write_manifest(output, &about, &manifest::with_table(&whole, bytes))?;
    print(&format!("{output}: {count} chunks, {rows} rows\n"))?;
    Ok(Exit::Done)
}

/// The rows of a sweep that was ended, as a table.
fn from_journal(name: &str, output: &str) -> Result<Exit, Exit> {
    let unread = |why: String| usage(&format!("`{name}` cannot be read: {why}"));
    let (text, journal) = journal::opened(Path::new(name)).map_err(|why| match why {
        NoJournal::Damaged(why) => unread(why),
        NoJournal::Other(_) => unread("it belongs to another sweep".into()),
        NoJournal::File(error) => unread(error.to_string()),
    })?;
    let about: Value = serde_json::from_str(&text).map_err(|e| unread(e.to_string()))?;
    let headings =
        manifest::headings(&about).ok_or_else(|| unread("its head is damaged".into()))?;
    let place = Place::new(output, &[name.into()])?;
    let kinds: Vec<_> = headings.iter().map(|heading| heading.kind).collect();
    let mut rows = 0;
    let form = ending(output)?;
    let mut table = TableFile::create(output, &place, form, &headings, &about)?;
    let read = journal.blocks(&kinds, |block| {
        rows += block.rows();
        table.write(block)
    });
    read.map_err(|error| refused(output, &error))?;
    table.finish()?;
    say("note: the sweep is not complete; --resume goes on with it");
    print(&format!("{output}: {rows} rows\n"))?;
    Ok(Exit::Done)
}

fn part(name: &str) -> Result<Part, Exit> {
    let no_part = |why: &str| usage(&format!("`{name}` cannot be merged: {why}"));
    ending(name)?;
    let path = manifest::path_of(name);
    let text = crate::input::data(Path::new(&path))
        .map_err(|error| no_part(&format!("its manifest `{path}` cannot be read: {error}")))?;
    let manifest = serde_json::from_str::<Value>(&text).ok().filter(Value::is_object);
    let manifest = manifest.ok_or_else(|| no_part(&format!("`{path}` is damaged")))?;
    let (manifest, bytes) = manifest::without_table(manifest);
    let (chunk, whole) = manifest::split(&manifest);
    let Some(chunk) = chunk else {
        return Err(no_part("it is no chunk of a sweep"));
    };
    if journal::Journal::path_of(name).exists() {
        return Err(no_part("it is not complete; --resume goes on with it"));
    }
    if !is_as_written(name, &bytes).map_err(|error| no_part(&error.to_string()))? {
        return Err(no_part("its bytes have changed; run that chunk again"));
    }
    Ok(Part { name: name.to_owned(), chunk, whole })
}

/// Hands over the rows of a table with these columns, and counts them.
fn copy(
    name: &str,
    headings: &[Heading],
    take: &mut dyn FnMut(&Block) -> io::Result<()>,
) -> io::Result<usize> {
    let file: File = crate::input::plain_file(Path::new(name))?;
    let mut reader = match ending(name).map_err(|_| io::Error::other("another ending"))? {
        Ending::Csv => TableReader::csv(file)?,
        Ending::Parquet => TableReader::parquet(file)?,
        Ending::Arrow => TableReader::arrow(file)?,
    };
    if !reader.expect(headings) {
        return Err(io::Error::other(format!("`{name}` has not the columns of its manifest")));
    }
    let mut rows = 0;
    while let Some(block) = reader.block()? {
        rows += block.rows();
        take(&block)?;
    }
    Ok(rows)
}
