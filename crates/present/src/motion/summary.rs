//! A motion for people: what ran, how long, the last state, the audit, a small plot.

use std::fmt::Write;

use pfaff::{Check, Motion, Principle, Series, StopReason, Verdict, signs};

use crate::number::{brief, changes, column, largest};
use crate::plot::Plot;

/// The most rows of each kind that are shown.
const ROWS: usize = 24;
const EVENTS: usize = 10;
/// The most numbers that are shown of an event.
const EVENT_VALUES: usize = 6;
const CHECKS: usize = 16;

/// The summary of a run, with colours if wanted.
pub fn summary(motion: &Motion, colour: bool) -> String {
    let mut text = String::new();
    heading(motion, &mut text);
    solutions(motion, &mut text);
    last_state(motion, &mut text);
    events(motion, &mut text);
    double_double(motion, &mut text);
    sensitivities(motion, &mut text);
    transition(motion, &mut text);
    gradient(motion, &mut text);
    audit(motion, colour, &mut text);
    text += &plot(motion, colour);
    text
}

fn heading(motion: &Motion, text: &mut String) {
    let s = &motion.statistics;
    let principle = motion.principle.map_or("equations as written", |p| p.name());
    let _ = writeln!(text, "{}", motion.title);
    let end = match &motion.stop.reason {
        StopReason::End => String::new(),
        StopReason::Event(name) => format!(", ended by the event `{name}`"),
        reason => format!(", stopped early: {}", reason.name().replace('_', " ")),
    };
    let _ = writeln!(
        text,
        "  {principle}, t = {} to {}{end}",
        brief(motion.start),
        brief(motion.stop.t)
    );
    let _ = writeln!(
        text,
        "  {}: {} steps ({} rejected), {} evaluations",
        motion.method, s.steps, s.rejected, s.evaluations
    );
    let _ = writeln!(
        text,
        "  {} to derive, {} to compile, {} to integrate and audit",
        duration(s.derive_us),
        duration(s.compile_us),
        duration(s.integrate_us + s.audit_us)
    );
}

fn duration(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.0} µs"),
        us if us < 1e6 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

fn last_state(motion: &Motion, text: &mut String) {
    let Some(&t) = motion.t.last() else { return };
    let _ = writeln!(text, "\nAt t = {}", brief(t));
    let mut rows: Vec<[String; 4]> = Vec::new();
    let last = |values: &[f64]| values.last().map_or(String::new(), |&x| column(x));
    for (k, q) in motion.q.iter().enumerate() {
        let reaction = motion.reactions.get(k).map_or(String::new(), |r| last(&r.values));
        rows.push([q.name.clone(), last(&q.values), last(&motion.v[k].values), reaction]);
    }
    let heads: [&str; 4] = if motion.multipliers.is_empty() {
        rows.iter_mut().for_each(|r| r[3].clear());
        ["", "position", "velocity", ""]
    } else {
        ["", "position", "velocity", "reaction"]
    };
    let width = |c: usize| {
        rows.iter().map(|r| r[c].chars().count()).chain([heads[c].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut line = |cells: [&str; 4]| {
        let row = format!(
            "  {:<w0$}  {:>w1$}  {:>w2$}  {:>w3$}",
            cells[0],
            cells[1],
            cells[2],
            cells[3],
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3]
        );
        let _ = writeln!(text, "{}", row.trim_end());
    };
    line(heads);
    for row in rows.iter().take(ROWS) {
        line([&row[0], &row[1], &row[2], &row[3]]);
    }
    if rows.len() > ROWS {
        let _ = writeln!(text, "  … and {} more; CSV and JSON have all", rows.len() - ROWS);
    }
    let named = |text: &mut String, name: String, values: &[f64]| {
        let _ = writeln!(text, "  {name} = {}", last(values));
    };
    for λ in motion.multipliers.iter().take(ROWS) {
        named(text, format!("{}({})", motion.multiplier_word(), λ.name), &λ.values);
    }
    for rate in motion.multiplier_rates.iter().take(ROWS) {
        named(text, format!("mu({})'", rate.name), &rate.values);
    }
    if !motion.multipliers.is_empty() && !motion.reaction_power.is_empty() {
        named(text, "power of the reactions".into(), &motion.reaction_power);
    }
    if !motion.energy.is_empty() {
        named(text, "energy".into(), &motion.energy);
    }
    let total: Vec<f64> =
        motion.energy.iter().zip(&motion.constraint_energy).map(|(e, c)| e + c).collect();
    match motion.principle {
        Some(Principle::Vakonomic) if !total.is_empty() => {
            named(text, "E[L,M]".into(), &total);
        }
        Some(Principle::Restricted) => named(text, "energy of L_c".into(), &total),
        Some(Principle::Chetaev | Principle::Vakonomic) | None => {}
    }
    for o in &motion.observed {
        named(text, o.name.clone(), &o.values);
    }
    if !motion.multipliers.is_empty() {
        let sentence = motion.principle.map_or("", signs);
        let _ = writeln!(text, "  ({sentence})");
    }
}

/// The motions between given ends, least action first.
fn solutions(motion: &Motion, text: &mut String) {
    let Some(list) = &motion.solutions else { return };
    let _ = writeln!(
        text,
        "\n{}",
        match list.len() {
            0 => "No motion between the ends was found".to_owned(),
            1 => "One motion between the ends was found".to_owned(),
            n => format!("{n} motions between the ends were found; shown is the first"),
        }
    );
    for s in list.iter().take(EVENTS) {
        let family = match s.family_dimension {
            0 => "isolated".to_owned(),
            1 => "one of a family with one parameter".to_owned(),
            n => format!("one of a family with {n} parameters"),
        };
        let conjugate = match s.conjugate.as_deref() {
            None => String::new(),
            Some([]) => ", no conjugate points".to_owned(),
            Some(times) => {
                let times: Vec<String> = times.iter().take(4).map(|t| brief(*t)).collect();
                format!(", conjugate points at t = {}", times.join(", "))
            }
        };
        let verdict = match s.minimum {
            Some(true) => ", a local minimum",
            Some(false) => ", not a minimum",
            None => "",
        };
        let _ = writeln!(
            text,
            "  action {}  residual {:.0e}{}  t = {}  {family}{conjugate}{verdict}{}",
            column(s.action),
            s.residual,
            s.error.map_or_else(String::new, |e| format!("  error {e:.0e}")),
            brief(s.t1),
            if s.abnormal { ", also abnormal" } else { "" }
        );
    }
    if list.len() > EVENTS {
        let _ = writeln!(text, "  … and {} more", list.len() - EVENTS);
    }
}

fn events(motion: &Motion, text: &mut String) {
    if motion.events.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nEvents");
    for event in motion.events.iter().take(EVENTS) {
        let _ = writeln!(text, "  t = {:<20} {} ({})", event.t, event.name, event.direction);
        let word = motion.multiplier_word();
        let groups = [
            (&motion.observed, &event.observed, None),
            (&motion.multipliers, &event.multipliers, Some(word)),
            (&motion.reactions, &event.reactions, Some("reaction")),
        ];
        let values = groups.into_iter().flat_map(|(names, values, word)| {
            names.iter().zip(values).map(move |(series, &x)| match word {
                Some(word) => format!("{word}({}) = {}", series.name, brief(x)),
                None => format!("{} = {}", series.name, brief(x)),
            })
        });
        let mut values: Vec<String> = values.collect();
        if values.len() > EVENT_VALUES {
            values.truncate(EVENT_VALUES);
            values.push("…".into());
        }
        if !values.is_empty() {
            let _ = writeln!(text, "      {}", values.join(", "));
        }
    }
    if motion.events.len() > EVENTS {
        let _ = writeln!(text, "  … and {} more", motion.events.len() - EVENTS);
    }
}

/// The state-transition matrix at the last output.
fn transition(motion: &Motion, text: &mut String) {
    let (Some(transition), Some(&t)) = (&motion.transition, motion.t.last()) else { return };
    let Some(matrix) = transition.matrices.last() else { return };
    let _ = writeln!(text, "\nState transition to t = {}", brief(t));
    let size = transition.names.len().max(1);
    let first = transition.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, row) in transition.names.iter().zip(matrix.chunks(size)) {
        let cells: Vec<String> = row.iter().map(|x| format!("{:>14}", column(*x))).collect();
        let _ = writeln!(text, "  {name:<first$}{}", cells.concat());
    }
}

/// The gradient by the adjoint equations.
fn gradient(motion: &Motion, text: &mut String) {
    let Some(gradient) = &motion.gradient else { return };
    let _ =
        writeln!(text, "\nGradient of {}, which is {}", gradient.of, column(gradient.value));
    let first = gradient.by.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, x) in &gradient.by {
        let _ = writeln!(text, "  by {name:<first$}  {}", column(*x));
    }
}

/// The last state with some thirty digits.
fn double_double(motion: &Motion, text: &mut String) {
    let (Some(exact), Some(&t)) = (&motion.double_double, motion.t.last()) else { return };
    let digits = exact.digits.floor();
    let _ = writeln!(text, "\nWith thirty digits at t = {} ({digits} agree)", brief(t));
    let named = |list: &[pfaff::DoubleDoubleSeries], mark: &str| -> Vec<(String, String)> {
        let last = |s: &pfaff::DoubleDoubleSeries| {
            Some((format!("{}{mark}", s.name), s.values.last()?.to_decimal(32)))
        };
        list.iter().filter_map(last).collect()
    };
    let rows = [named(&exact.q, ""), named(&exact.v, "'"), named(&exact.observed, "")].concat();
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    for (name, value) in rows {
        let sign = if value.starts_with('-') { "" } else { " " };
        let _ = writeln!(text, "  {name:<width$}  {sign}{value}");
    }
}

/// Derivatives at the last output, by what varies; and how events move. Then second ones, if there are any.
fn sensitivities(motion: &Motion, text: &mut String) {
    let Some(&t) = motion.t.last() else { return };
    if motion.sensitivities.is_empty() {
        return;
    }
    let first = motion.sensitivities.iter().map(|s| (format!("by {}", s.name), s));
    let _ = writeln!(text, "\nSensitivities at t = {}", brief(t));
    derivative_table(motion, &first.collect::<Vec<_>>(), text);
    // Of two that are the same but for their order one is shown.
    let pairs = motion.sensitivities.iter().enumerate().flat_map(|(k, s)| {
        let later = s.second.iter().skip(k);
        later.map(move |second| (format!("by {}, {}", s.name, second.name), second))
    });
    let second: Vec<_> = pairs.collect();
    if !second.is_empty() {
        let _ = writeln!(text, "\nSecond derivatives at t = {}", brief(t));
        derivative_table(motion, &second, text);
    }
}

/// Derivatives at the last output under their headings.
fn derivative_table(
    motion: &Motion,
    list: &[(String, &pfaff::Sensitivity)],
    text: &mut String,
) {
    let last = |series: &[Series], k: usize| {
        series.get(k).and_then(|s| s.values.last()).map_or(String::new(), |&x| column(x))
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut add = |name: String, of: &dyn Fn(&pfaff::Sensitivity) -> String| {
        let cells = list.iter().map(|(_, s)| of(s));
        rows.push([name].into_iter().chain(cells).collect());
    };
    for (k, q) in motion.q.iter().enumerate() {
        add(q.name.clone(), &|s| last(&s.q, k));
        add(format!("{}'", q.name), &|s| last(&s.v, k));
    }
    for (k, o) in motion.observed.iter().enumerate() {
        add(o.name.clone(), &|s| last(&s.observed, k));
    }
    for (k, event) in motion.events.iter().enumerate().take(EVENTS) {
        let time =
            |s: &pfaff::Sensitivity| s.events.get(k).map_or(String::new(), |e| column(e.t));
        add(format!("time of {}", event.name), &time);
    }
    let first = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    let width = |c: usize| {
        let cells = rows.iter().map(|row| row[c + 1].chars().count());
        cells.chain([list[c].0.chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..list.len()).map(width).collect();
    let mut line = |name: &str, cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, w)| format!("  {cell:>w$}"));
        let row = format!("  {name:<first$}{}", cells.collect::<String>());
        let _ = writeln!(text, "{}", row.trim_end());
    };
    let heads: Vec<String> = list.iter().map(|(head, _)| head.clone()).collect();
    line("", &heads);
    rows.iter().take(ROWS).for_each(|row| line(&row[0], &row[1..]));
    if rows.len() > ROWS {
        let _ = writeln!(text, "  … and {} more; CSV and JSON have all", rows.len() - ROWS);
    }
}

/// How many errors are shown.
const ERRORS: usize = 4;

/// The largest estimated errors: at the end, or along the path between given ends.
fn errors(motion: &Motion, text: &mut String) {
    let mut order: Vec<usize> = (0..motion.errors.len()).collect();
    order.sort_by(|&a, &b| motion.errors[b].total_cmp(&motion.errors[a]));
    for &i in order.iter().take(ERRORS) {
        let (name, error) = (&motion.q[i].name, motion.errors[i]);
        let _ = match motion.solutions {
            None => writeln!(text, "  error of {name} at the end ≈ {error:.0e}"),
            Some(_) => writeln!(text, "  largest error of {name} ≈ {error:.0e}"),
        };
    }
}

fn audit(motion: &Motion, colour: bool, text: &mut String) {
    let paint = |verdict: Verdict| {
        let code = match verdict {
            Verdict::Pass => "32",
            Verdict::Warn | Verdict::Unchecked => "33",
            Verdict::Fail => "31",
        };
        let word = format!("{:<9}", verdict.name());
        if colour { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word }
    };
    let _ = writeln!(text, "\nAudit: {}", paint(motion.audit.verdict).trim_end());
    let width = motion.audit.checks.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
    let line = |c: &Check| {
        let value = if c.value.is_nan() { "–".into() } else { format!("{:.1e}", c.value) };
        format!("  {} {:width$}  {value:>8} ≤ {:.1e}\n", paint(c.verdict), c.name, c.limit)
    };
    let mut checks: Vec<&Check> = motion.audit.checks.iter().collect();
    if checks.len() > CHECKS {
        // The worst ones, then the rest as a number.
        checks.sort_by(|a, b| {
            let rank = |c: &Check| (c.verdict, c.value / c.limit);
            let ((v, x), (w, y)) = (rank(b), rank(a));
            v.cmp(&w).then(x.total_cmp(&y))
        });
    }
    checks.iter().take(CHECKS).for_each(|c| text.push_str(&line(c)));
    if checks.len() > CHECKS {
        let _ = writeln!(text, "  … and {} more, none worse", checks.len() - CHECKS);
    }
    errors(motion, text);
}

/// The path in the plane where there is one, else the coordinates that change over time: some of them in colours, or
/// the first.
fn plot(motion: &Motion, colour: bool) -> String {
    let largest = largest(motion.q.iter().flat_map(|q| q.values.iter().copied()));
    let moves = |q: &&Series| changes(q.values.iter().copied(), largest);
    let find = |name: &str| motion.q.iter().filter(moves).find(|s| s.name == name);
    let (x, x_name, curves) = match (find("x"), find("y")) {
        (Some(x), Some(y)) => (&x.values, "x", vec![("y", y.values.as_slice())]),
        _ => {
            let still = motion.q.iter().filter(|q| !moves(q));
            let all = motion.q.iter().filter(moves).chain(still);
            (&motion.t, "t", all.map(|q| (q.name.as_str(), q.values.as_slice())).collect())
        }
    };
    let drawn = Plot { x, x_name, curves, colour }.render();
    if drawn.is_empty() { drawn } else { format!("\n{drawn}") }
}
