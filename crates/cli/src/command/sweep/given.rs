//! What is varied in a sweep, as given on the command line.

use std::io::Read;
use std::path::Path;

use pfaff::{Cases, Sampling};
use pfaff_present::{Cells, Heading};

use super::{SweepArguments, word};
use crate::output::{Exit, failed, usage};
use crate::table::whole_table;

/// Each thread has a stack and programs of its own.
const MOST_THREADS: usize = 1024;

/// What is varied.
pub(super) fn cases(arguments: &SweepArguments) -> Result<Cases, Exit> {
    let mut cases = Cases::default();
    if arguments.vary.is_none() && arguments.draw.is_none() && arguments.cases.is_none() {
        return Err(usage("a sweep needs --vary, --draw or --cases"));
    }
    if let Some(text) = &arguments.vary {
        cases = cases.vary(text).map_err(failed)?;
    }
    if let Some(text) = &arguments.draw {
        let count = arguments.count.as_deref().unwrap_or_default().trim();
        let count = count.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| {
            usage(&format!("--count is `{count}`; it must be a whole number of at least 1"))
        })?;
        let sampling = word("--sampling", &arguments.sampling, &Sampling::ALL)?;
        cases = cases.draw(text, count, seed(arguments), sampling).map_err(failed)?;
    }
    if let Some(name) = &arguments.cases {
        cases = cases.table(columns(name)?).map_err(failed)?;
    }
    Ok(cases)
}

pub(super) fn seed(arguments: &SweepArguments) -> u64 {
    arguments.motion.seed.unwrap_or(0)
}

/// The number of threads; 0 stands for as many as there are cores.
pub(super) fn threads(arguments: &SweepArguments) -> Result<usize, Exit> {
    let Some(text) = &arguments.threads else { return Ok(0) };
    text.trim().parse::<usize>().ok().filter(|n| (1..=MOST_THREADS).contains(n)).ok_or_else(
        || {
            usage(&format!(
                "--threads is `{text}`; it must be a whole number from 1 to {MOST_THREADS}"
            ))
        },
    )
}

/// The bytes of a file.
pub(super) fn bytes(name: &str) -> Result<Vec<u8>, Exit> {
    let mut bytes = Vec::new();
    let read = crate::input::plain_file(Path::new(name));
    read.and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| usage(&format!("`{name}` cannot be read: {error}")))?;
    Ok(bytes)
}

/// The columns of a table of cases; `case` only numbers them.
fn columns(name: &str) -> Result<Vec<(String, Vec<f64>)>, Exit> {
    let (headings, block) = whole_table(name)?;
    let mut columns = Vec::new();
    for (Heading { name: column, .. }, cells) in headings.into_iter().zip(block.columns) {
        match cells {
            _ if column.trim() == "case" => {}
            Cells::Numbers(values) => columns.push((column.trim().to_owned(), values)),
            Cells::Integers(_) | Cells::Texts(_) => {
                return Err(usage(&format!(
                    "`{name}`: the column `{column}` holds texts, but a case needs numbers"
                )));
            }
        }
    }
    Ok(columns)
}
