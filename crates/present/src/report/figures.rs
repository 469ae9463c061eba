//! Motions → figures: coordinates, velocities, multipliers, reactions, energies, residuals, phase portraits, traces.
//!
//! Names are the words of the model language. With several principles each quantity keeps its colour, and the
//! dashes tell the principle.

use std::borrow::Cow;

use pfaff_model::{Principle, Workspace};
use pfaff_program::Program;

use crate::column_values;
use crate::plot::{Axis, COLOUR_COUNT, Curve, Figure, Look, Style, embedded, layout};
use pfaff::{Motion, Series};

/// Curves in one figure.
const CURVES: usize = 6;
/// Figures of one kind.
const FIGURES: usize = 6;
/// Where zero is drawn on a logarithmic axis of residuals: below every rounding error of numbers near one.
const FLOOR: f64 = 1e-18;

/// Figures under a heading.
pub(crate) struct Group<'a> {
    pub(crate) key: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) note: String,
    pub(crate) figures: Vec<Figure<'a>>,
}

type Columns<'a> = Vec<(String, &'a [f64])>;

/// All figures of a page.
pub(crate) fn groups<'a>(model: &Workspace, motions: &'a [Motion]) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    let traces = traces(motions);
    if !traces.is_empty() {
        groups.push(Group {
            key: "trace",
            heading: "Trace",
            note: String::new(),
            figures: traces,
        });
    }
    let named = |before: &str, after: &str, series: &'a [Series]| -> Columns<'a> {
        let name = |s: &Series| format!("{before}{}{after}", s.name);
        series.iter().map(|s| (name(s), s.values.as_slice())).collect()
    };
    let mut add = |key, heading, of: &dyn Fn(&'a Motion) -> Columns<'a>| {
        groups.extend(over_time(key, heading, motions, of));
    };
    add("coordinates", "Coordinates", &|m| named("", "", &m.q));
    add("velocities", "Velocities", &|m| named("", "'", &m.v));
    add("observed", "Observed", &|m| named("", "", &m.observed));
    if motions.iter().any(|m| !m.multipliers.is_empty()) {
        add("multipliers", "Multipliers", &|m| {
            named(&format!("{}(", m.multiplier_word()), ")", &m.multipliers)
        });
        add("rates", "Rates of the multipliers", &|m| named("mu(", ")'", &m.multiplier_rates));
        add("reactions", "Reactions", &|m| named("reaction(", ")", &m.reactions));
    }
    groups.extend(energy(motions));
    groups.extend(residuals(model, motions));
    groups.extend(portraits(motions));
    // What has no value anywhere is not drawn: velocities of an order below 1, for one.
    let drawn = |f: &Figure<'_>| {
        f.curves.iter().any(|c| c.x.iter().zip(c.y.iter()).any(|(x, y)| (x + y).is_finite()))
    };
    groups.iter_mut().for_each(|g: &mut Group<'_>| g.figures.retain(drawn));
    groups.retain(|g| !g.figures.is_empty());
    groups
}

/// Figures of columns over time, some curves in each.
fn over_time<'a>(
    key: &'static str,
    heading: &'static str,
    motions: &'a [Motion],
    of: &dyn Fn(&'a Motion) -> Columns<'a>,
) -> Option<Group<'a>> {
    let all: Vec<(&Motion, Columns<'a>)> = motions.iter().map(|m| (m, of(m))).collect();
    let count = all.iter().map(|(_, c)| c.len()).max().unwrap_or(0);
    if count == 0 {
        return None;
    }
    let size = (CURVES / motions.len()).max(1);
    let mut figures = Vec::new();
    for start in (0..count).step_by(size).take(FIGURES) {
        let range = start..(start + size).min(count);
        let mut names: Vec<String> = Vec::new();
        let mut curves = Vec::new();
        for (i, (motion, columns)) in all.iter().enumerate() {
            for (k, (name, values)) in columns.iter().enumerate() {
                if range.contains(&k) {
                    if !names.contains(name) {
                        names.push(name.clone());
                    }
                    let shown = ShownMotion { motion, index: i, of: motions.len() };
                    curves.push(shown.curve(k - start, name, &motion.t, values));
                }
            }
        }
        figures.push(Figure {
            title: String::new(),
            x: Axis { label: "t".into(), log: false },
            y: Axis { label: joined(&names), log: false },
            curves,
            areas: Vec::new(),
            equal: false,
        });
    }
    let shown = figures.len() * size;
    let note = if shown < count {
        format!("The first {shown} of {count} are shown; `pfaff plot` draws any of them.")
    } else {
        String::new()
    };
    Some(Group { key, heading, note, figures })
}

/// One of several motions in a figure.
#[derive(Clone, Copy)]
struct ShownMotion<'a> {
    motion: &'a Motion,
    index: usize,
    /// How many there are.
    of: usize,
}

impl ShownMotion<'_> {
    /// Alone in its figure.
    fn alone(motion: &Motion) -> ShownMotion<'_> {
        ShownMotion { motion, index: 0, of: 1 }
    }

    /// Its curve number `k`; the principle is in its name where there is a choice.
    fn curve<'a>(self, k: usize, name: &str, x: &'a [f64], y: &'a [f64]) -> Curve<'a> {
        let name = match self.motion.principle {
            Some(principle) if self.of > 1 => format!("{name} ({})", principle.name()),
            _ => name.to_owned(),
        };
        let dash = if self.of > 1 { self.index } else { k };
        Curve {
            name,
            x: Cow::Borrowed(x),
            y: Cow::Borrowed(y),
            colour: k % COLOUR_COUNT,
            dash: dash % 6,
            ..Curve::default()
        }
    }
}

fn joined(names: &[String]) -> String {
    names.join(", ")
}

/// Paths in the plane: `x` and `y`, `x[3]` and `y[3]`, `X` and `Y`.
fn traces(motions: &[Motion]) -> Vec<Figure<'_>> {
    let mut figures = Vec::new();
    let of = motions.len();
    for observed in [false, true] {
        let mut curves = Vec::new();
        let mut labels: [Vec<String>; 2] = [Vec::new(), Vec::new()];
        for (i, motion) in motions.iter().enumerate() {
            let shown = ShownMotion { motion, index: i, of };
            let series = if observed { &motion.observed } else { &motion.q };
            let pairs = pairs(series);
            for (k, (x, y)) in pairs.iter().take(CURVES).enumerate() {
                let name = format!("({}, {})", x.name, y.name);
                curves.push(shown.curve(k, &name, &x.values, &y.values));
                for (label, s) in labels.iter_mut().zip([x, y]) {
                    if !label.contains(&s.name) {
                        label.push(s.name.clone());
                    }
                }
            }
        }
        if !curves.is_empty() {
            figures.push(Figure {
                title: String::new(),
                x: Axis { label: joined(&labels[0]), log: false },
                y: Axis { label: joined(&labels[1]), log: false },
                curves,
                areas: Vec::new(),
                equal: true,
            });
        }
    }
    figures
}

/// Series whose names differ by x and y at the beginning alone.
fn pairs(series: &[Series]) -> Vec<(&Series, &Series)> {
    let partner = |x: &Series| {
        let rest = x.name.strip_prefix(['x', 'X'])?;
        let wanted = format!("{}{rest}", if x.name.starts_with('x') { 'y' } else { 'Y' });
        series.iter().find(|s| s.name == wanted)
    };
    series.iter().filter_map(|x| Some((x, partner(x)?))).collect()
}

fn energy(motions: &[Motion]) -> Option<Group<'_>> {
    let mut curves = Vec::new();
    let of = motions.len();
    for (i, motion) in motions.iter().enumerate() {
        let shown = ShownMotion { motion, index: i, of };
        if motion.energy.is_empty() {
            continue;
        }
        curves.push(shown.curve(0, "energy", &motion.t, &motion.energy));
        if motion.principle != Some(Principle::Chetaev) {
            let total: Vec<f64> = motion
                .energy
                .iter()
                .zip(&motion.constraint_energy)
                .map(|(e, c)| e + c)
                .collect();
            let name = match motion.principle {
                Some(Principle::Restricted) => "energy of L_c",
                Some(Principle::Chetaev | Principle::Vakonomic) | None => "E[L,M]",
            };
            let mut total_curve = shown.curve(2, name, &motion.t, &[]);
            total_curve.y = Cow::Owned(total);
            curves.push(total_curve);
        }
        if motion.work.len() == motion.t.len() {
            curves.push(shown.curve(1, "work", &motion.t, &motion.work));
        }
    }
    (!curves.is_empty()).then(|| Group {
        key: "energy",
        heading: "Energy balance",
        note: "The energy changes by the work of forces and reactions since the start; the figure of the \
            residuals shows how exactly.".into(),
        figures: vec![Figure {
            title: String::new(),
            x: Axis { label: "t".into(), log: false },
            y: Axis { label: "energy, work".into(), log: false },
            curves,
            areas: Vec::new(),
            equal: false,
        }],
    })
}

/// |φ| of each constraint, and |E − E₀ − w|.
fn residuals<'a>(model: &Workspace, motions: &'a [Motion]) -> Option<Group<'a>> {
    let g = &model.graph;
    let rows: Vec<_> = model.constraints.iter().filter(|c| !g.has_memory(c.expr)).collect();
    let mut inputs = vec![model.time];
    inputs.extend(model.positions());
    inputs.extend(model.velocities());
    let outputs: Vec<_> = rows.iter().map(|c| c.expr).collect();
    let program = Program::compile(g, &inputs, &model.parameter_symbols(), &outputs).ok()?;
    let mut executor = program.interpreter(&model.parameter_values());
    let of = motions.len();
    let mut list: Vec<Vec<Curve<'a>>> = vec![Vec::new(); rows.len() + 1];
    for (i, motion) in motions.iter().enumerate() {
        let shown = ShownMotion { motion, index: i, of };
        let mut values = vec![Vec::with_capacity(motion.t.len()); rows.len()];
        let (mut state, mut found) = (vec![0.0; inputs.len()], vec![0.0; rows.len()]);
        for (r, &t) in motion.t.iter().enumerate() {
            state[0] = t;
            for (k, s) in motion.q.iter().chain(&motion.v).enumerate() {
                state[k + 1] = s.values[r];
            }
            executor.evaluate(&state, &mut found);
            for (column, &x) in values.iter_mut().zip(&found) {
                column.push(x.abs().max(FLOOR));
            }
        }
        for (k, (row, column)) in rows.iter().zip(values).enumerate() {
            let mut c = shown.curve(1 + k % (CURVES - 1), &row.name, &motion.t, &[]);
            c.y = Cow::Owned(column);
            list[k + 1].push(c);
        }
        if motion.work.len() == motion.t.len() && !motion.energy.is_empty() {
            let balance = |r: usize| {
                let gained = motion.energy[r] - motion.energy[0];
                (gained - (motion.work[r] - motion.work[0])).abs().max(FLOOR)
            };
            let mut c = shown.curve(0, "energy balance", &motion.t, &[]);
            c.y = Cow::Owned((0..motion.t.len()).map(balance).collect());
            list[0].push(c);
        }
    }
    list.retain(|curves| !curves.is_empty());
    let size = (CURVES / of).max(1);
    let count = list.len();
    let figures: Vec<Figure<'a>> = list
        .chunks(size)
        .take(FIGURES)
        .map(|chunk| Figure {
            title: String::new(),
            x: Axis { label: "t".into(), log: false },
            y: Axis { label: "residual".into(), log: true },
            curves: chunk.iter().flatten().cloned().collect(),
            areas: Vec::new(),
            equal: false,
        })
        .collect();
    let left = if figures.len() * size < count {
        format!(" The first {} of {count} are shown.", figures.len() * size)
    } else {
        String::new()
    };
    (!figures.is_empty()).then(|| Group {
        key: "residuals",
        heading: "Residuals",
        note: format!("Absolute values at the outputs, on a logarithmic axis. Zero is drawn at 1e-18.{left}"),
        figures,
    })
}

/// Velocity against position.
fn portraits(motions: &[Motion]) -> Option<Group<'_>> {
    let first = motions.first()?;
    let count = first.q.len();
    let of = motions.len();
    let portrait = |k: usize| Figure {
        title: String::new(),
        x: Axis { label: first.q[k].name.clone(), log: false },
        y: Axis { label: format!("{}'", first.v[k].name), log: false },
        curves: motions
            .iter()
            .enumerate()
            .map(|(i, m)| {
                let name = format!("({0}, {0}')", m.q[k].name);
                // NOTE: one quantity in each figure, so that colour and dashes can both tell the principle.
                let shown = ShownMotion { motion: m, index: i, of };
                let mut c = shown.curve(0, &name, &m.q[k].values, &m.v[k].values);
                c.colour = i;
                c
            })
            .collect(),
        areas: Vec::new(),
        equal: false,
    };
    let figures: Vec<Figure<'_>> = (0..count.min(FIGURES)).map(portrait).collect();
    let note = if count > FIGURES {
        format!("The first {FIGURES} of {count} coordinates.")
    } else {
        String::new()
    };
    (!figures.is_empty()).then_some(Group {
        key: "portraits",
        heading: "Phase portraits",
        note,
        figures,
    })
}

/// A small picture of a motion: the path in the plane where there is one, else the first coordinates over time.
pub fn thumbnail(motion: &Motion) -> String {
    let motions = std::slice::from_ref(motion);
    let mut figure = match traces(motions).into_iter().next() {
        Some(trace) => trace,
        None => {
            let columns = |m: &'_ Motion| -> Vec<(String, Vec<f64>)> {
                m.q.iter().take(3).map(|s| (s.name.clone(), s.values.clone())).collect()
            };
            let curves = columns(motion)
                .into_iter()
                .enumerate()
                .map(|(k, (name, y))| {
                    let mut c = ShownMotion::alone(motion).curve(k, &name, &motion.t, &[]);
                    c.y = Cow::Owned(y);
                    c
                })
                .collect();
            Figure { x: Axis { label: "t".into(), log: false }, curves, ..Figure::default() }
        }
    };
    figure.title = motion.title.clone();
    let look =
        Look { width: 240.0, height: 150.0, legend: false, axes: false, style: Style::Page };
    embedded(&figure, &layout(&figure, look), false)
}

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureError(pub String);

/// The columns of a motion by name, over another one.
///
/// # Errors
///
/// A sentence that names the column that is not there.
pub fn figure_of<'a>(
    motion: &'a Motion,
    names: &[String],
    against: &str,
    log: bool,
) -> Result<Figure<'a>, FigureError> {
    let columns = motion.columns();
    let find = |name: &str| column_values(&columns, name, "the motion").map_err(FigureError);
    let x = find(against)?;
    let mut curves = Vec::new();
    for (k, name) in names.iter().enumerate() {
        let mut y = find(name)?;
        if log {
            y = Cow::Owned(y.iter().map(|v| v.abs()).collect());
        }
        let x = x.clone();
        curves.push(Curve { x, y, ..ShownMotion::alone(motion).curve(k, name, &[], &[]) });
    }
    Ok(Figure {
        title: String::new(),
        x: Axis { label: against.to_owned(), log: false },
        y: Axis { label: joined(names), log },
        curves,
        areas: Vec::new(),
        equal: false,
    })
}

/// A table with the name under which its curves are shown.
pub type NamedTable<'a> = (String, Vec<(String, &'a [f64])>);

/// Columns of several tables over one axis: each column keeps its colour, and the dashes tell the table. Of one column
/// alone each table has its colour.
///
/// # Errors
///
/// As [`figure_of`].
pub fn figure_of_tables<'a>(
    tables: &[NamedTable<'a>],
    names: &[String],
    against: &str,
    log: bool,
) -> Result<Figure<'a>, FigureError> {
    let mut curves = Vec::new();
    for (i, (title, columns)) in tables.iter().enumerate() {
        let owner = format!("`{title}`");
        let find = |name: &str| column_values(columns, name, &owner).map_err(FigureError);
        for (k, name) in names.iter().enumerate() {
            let (x, mut y) = (find(against)?, find(name)?);
            if log {
                y = Cow::Owned(y.iter().map(|v| v.abs()).collect());
            }
            let colour = if names.len() == 1 { i } else { k } % COLOUR_COUNT;
            let name = match (tables.len(), names.len()) {
                (1, _) => name.clone(),
                (_, 1) => title.clone(),
                _ => format!("{name} ({title})"),
            };
            curves.push(Curve { name, x, y, colour, dash: i, ..Curve::default() });
        }
    }
    Ok(Figure {
        title: String::new(),
        x: Axis { label: against.to_owned(), log: false },
        y: Axis { label: joined(names), log },
        curves,
        areas: Vec::new(),
        equal: false,
    })
}
