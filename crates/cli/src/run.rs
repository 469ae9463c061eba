//! `pfaff run`

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};

use pfaff::{Motion, Request, Series, Verdict};

use crate::arguments::{PlainFormat, RunArguments};
use crate::output::{Exit, failed, print, say, usage};
use crate::summary::summary;

pub(crate) fn run(arguments: &RunArguments) -> Result<Exit, Exit> {
    let request = request(arguments)?;
    if let Some(file) = &arguments.output {
        format_of(file)?;
    }
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let motion = pfaff::run(&model, &request, &mut |_, _| true)
        .map_err(|failure| failed(&failure, &model.source))?;
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    if let Some(file) = &arguments.output {
        write(&motion, file)?;
    }
    for note in &motion.notes {
        say(&format!("note: {note}"));
    }
    print(&if json {
        format!("{}\n", motion.to_json())
    } else {
        summary(&motion, std::io::stdout().is_terminal())
    })?;
    if motion.stop.reason.is_early() {
        return Ok(Exit::StoppedEarly);
    }
    if arguments.strict && motion.audit.verdict == Verdict::Fail {
        return Ok(Exit::AuditFailed);
    }
    Ok(Exit::Done)
}

fn request(arguments: &RunArguments) -> Result<Request, Exit> {
    let at = arguments.at.as_deref().map(times).transpose()?;
    Ok(Request {
        principle: arguments.principle.as_deref().map(crate::derive::principle).transpose()?,
        t0: arguments.t0,
        t1: arguments.t1,
        tolerance: arguments.tolerance,
        method: arguments.method.clone(),
        at,
        samples: arguments.samples,
        step: arguments.step,
        max_steps: arguments.max_steps,
    })
}

/// The numbers of `--at`.
fn times(text: &str) -> Result<Vec<f64>, Exit> {
    text.split(',')
        .map(|word| {
            let time = word.trim().parse::<f64>().ok().filter(|t| t.is_finite());
            time.ok_or_else(|| usage(&format!("`{}` in --at is not a time", word.trim())))
        })
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    Csv,
    Json,
}

fn format_of(file: &str) -> Result<FileFormat, Exit> {
    match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("csv") => Ok(FileFormat::Csv),
        Some("json") => Ok(FileFormat::Json),
        Some("parquet") => Err(usage("Parquet output is not built yet: use .csv or .json")),
        _ => Err(usage(&format!("`{file}`: the output must end in .csv or .json"))),
    }
}

fn write(motion: &Motion, name: &str) -> Result<(), Exit> {
    let written = File::create(name).map(BufWriter::new).and_then(|mut file| {
        match format_of(name) {
            Ok(FileFormat::Json) => writeln!(file, "{}", motion.to_json())?,
            _ => csv(motion, &mut file)?,
        }
        file.flush()
    });
    // NOTE: the motion is still printed; a full disk loses nothing that was computed.
    if let Err(error) = written {
        say(&format!("error: `{name}` could not be written: {error}"));
    }
    Ok(())
}

/// One row for each output time: t, q, q', q'', multipliers, reactions, energy, what is observed.
fn csv(motion: &Motion, file: &mut dyn Write) -> std::io::Result<()> {
    let mut columns: Vec<(String, &[f64])> = vec![("t".into(), &motion.t)];
    let add = |series: &'_ [Series], name: &dyn Fn(&str) -> String| {
        series.iter().map(|s| (name(&s.name), s.values.clone())).collect::<Vec<_>>()
    };
    let owned: Vec<(String, Vec<f64>)> = [
        add(&motion.q, &|n| n.to_owned()),
        add(&motion.v, &|n| format!("{n}'")),
        add(&motion.a, &|n| format!("{n}''")),
        add(&motion.multipliers, &|n| format!("lambda({n})")),
        add(&motion.reactions, &|n| format!("reaction({n})")),
    ]
    .concat();
    columns.extend(owned.iter().map(|(name, values)| (name.clone(), values.as_slice())));
    if !motion.energy.is_empty() {
        columns.push(("energy".into(), &motion.energy));
        columns.push(("work".into(), &motion.work));
    }
    columns.extend(motion.observed.iter().map(|s| (s.name.clone(), s.values.as_slice())));
    let quoted = |name: &str| {
        if name.contains([',', '"']) {
            format!("\"{}\"", name.replace('"', "\"\""))
        } else {
            name.into()
        }
    };
    let names: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
    writeln!(file, "{}", names.join(","))?;
    for row in 0..motion.t.len() {
        for (i, (_, values)) in columns.iter().enumerate() {
            if i > 0 {
                file.write_all(b",")?;
            }
            // NOTE: what is not finite is an empty field.
            if values[row].is_finite() {
                write!(file, "{:?}", values[row])?;
            }
        }
        file.write_all(b"\n")?;
    }
    Ok(())
}
