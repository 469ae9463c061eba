//! `pfaff compare`

use pfaff::{Comparison, Request, compare as compare_principles};

use crate::arguments::{CompareArguments, TableFormat};
use crate::output::{Exit, failed, print, say, usage};

pub(crate) fn compare(arguments: &CompareArguments) -> Result<Exit, Exit> {
    let principles = arguments.principles.as_deref().map(words).transpose()?;
    let request = Request {
        t0: arguments.t0,
        t1: arguments.t1,
        tolerance: arguments.tolerance,
        at: arguments.at.as_deref().map(crate::run::times).transpose()?,
        samples: arguments.samples,
        ..Request::default()
    };
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let comparison = compare_principles(&model, &request, principles.as_deref())
        .map_err(|failure| failed(&failure, &model.source))?;
    notes(&comparison);
    let format = if arguments.json {
        TableFormat::Json
    } else {
        arguments.format.unwrap_or(TableFormat::Text)
    };
    print(&rendered(&comparison, format))?;
    if let Some(name) = &arguments.output {
        let format = match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("csv") => TableFormat::Csv,
            Some("json") => TableFormat::Json,
            _ => return Err(usage(&format!("`{name}`: the output must end in .csv or .json"))),
        };
        std::fs::write(name, rendered(&comparison, format))
            .map_err(|error| usage(&format!("`{name}` could not be written: {error}")))?;
    }
    let early = comparison.motions.iter().any(|m| m.stop.reason.is_early());
    Ok(if early { Exit::StoppedEarly } else { Exit::Done })
}

/// What all motions say once, the rest with the name of the principle.
pub(crate) fn notes(comparison: &Comparison) {
    for (i, motion) in comparison.motions.iter().enumerate() {
        for note in &motion.notes {
            let everywhere = comparison.motions.iter().all(|m| m.notes.contains(note));
            let name = motion.principle.map_or("", |p| p.name());
            match (everywhere, i) {
                (true, 0) => say(&format!("note: {note}")),
                (true, _) => {}
                (false, _) => say(&format!("note: {name}: {note}")),
            }
        }
    }
}

fn rendered(comparison: &Comparison, format: TableFormat) -> String {
    match format {
        TableFormat::Text => comparison.to_text(),
        TableFormat::Json => format!("{}\n", comparison.to_json()),
        TableFormat::Csv => comparison.to_csv(),
    }
}

/// The principles of `--principles`, each once.
pub(crate) fn words(text: &str) -> Result<Vec<pfaff::Principle>, Exit> {
    let mut list = Vec::new();
    for word in text.split(',') {
        let principle = crate::derive::principle(word.trim())?;
        if list.contains(&principle) {
            return Err(usage(&format!("`{}` stands twice in --principles", word.trim())));
        }
        list.push(principle);
    }
    Ok(list)
}
