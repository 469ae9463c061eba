//! Branches of equilibria and periodic motions over a parameter.

use std::fmt::Write;

use pfaff::{Branch, BranchPoint, Continuation, SpecialPoint, Stability};
use serde_json::Value;

use crate::json::{number, numbers, object, string};
use crate::number::{changes, largest, significant};
use crate::phase::words::{listed, named};
use crate::plot::{Axis, Curve, Figure, Look, Points};
use crate::report::{analysis_page, figure_html, preformatted};
use crate::table::Table;
use crate::{ToJson, ToText};

impl ToJson for Continuation {
    /// As `continue --json` prints it.
    fn to_json(&self) -> Value {
        let extent = |p: &BranchPoint| {
            let names = p.state.iter().map(|(name, _)| name.clone());
            object(names.zip(&p.extent).map(|(name, x)| (name, numbers(x))))
        };
        let point = |p: &BranchPoint| {
            object(
                [
                    ("parameter", number(p.parameter)),
                    ("state", named(&p.state)),
                    ("stability", string(p.stability.name())),
                ]
                .into_iter()
                .chain((!p.frame.is_empty()).then(|| ("frame", named(&p.frame))))
                .chain(p.period.map(|period| ("period", number(period))))
                .chain((!p.extent.is_empty()).then(|| ("extent", extent(p)))),
            )
        };
        let special = |p: &SpecialPoint| {
            object([
                ("kind", string(p.kind)),
                ("parameter", number(p.parameter)),
                ("state", named(&p.state)),
                ("frequency", p.frequency.map_or(Value::Null, number)),
            ])
        };
        let held = |(name, value): &(String, Option<f64>)| {
            object([("name", string(name)), ("value", value.map_or(Value::Null, number))])
        };
        let branch = |b: &Branch| {
            object([
                ("points", Value::Array(b.points.iter().map(point).collect())),
                ("special", Value::Array(b.special.iter().map(special).collect())),
                ("held", Value::Array(b.held.iter().map(held).collect())),
                ("loose", number(b.loose as f64)),
                ("end", string(b.end)),
                ("of", string(if is_orbit(b) { "orbits" } else { "equilibria" })),
                (
                    "from",
                    b.from.map_or(Value::Null, |(kind, p)| {
                        object([("kind", string(kind)), ("parameter", number(p))])
                    }),
                ),
            ])
        };
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("parameter", string(&self.parameter)),
            ("branches", Value::Array(self.branches.iter().map(branch).collect())),
            ("interrupted", Value::Bool(self.interrupted)),
        ])
    }
}

impl ToText for Continuation {
    /// For people: ends and special points of each branch.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for (k, branch) in self.branches.iter().enumerate() {
            let count = branch.points.len();
            let of = if is_orbit(branch) { " of periodic motions" } else { "" };
            let from = branch.from.map_or(String::new(), |(kind, p)| {
                format!(", from the {kind} at {} = {}", self.parameter, significant(p, 10))
            });
            let _ = writeln!(text, "\nBranch {}{of}, {count} points{from}", k + 1);
            let line = |p: f64, what: &str, state: &[(String, f64)]| {
                format!(
                    "  {} = {:<14} {what:12} {}\n",
                    self.parameter,
                    significant(p, 10),
                    listed(state)
                )
            };
            let end_point = |point: &BranchPoint| {
                let period = point.period.map(|period| ("period".to_owned(), period));
                let shown: Vec<(String, f64)> = period
                    .into_iter()
                    .chain(point.frame.iter().cloned())
                    .chain(point.state.iter().cloned())
                    .collect();
                line(point.parameter, point.stability.name(), &shown)
            };
            text.extend(branch.points.first().map(end_point));
            for special in &branch.special {
                text.push_str(&line(special.parameter, special.kind, &special.state));
            }
            text.extend(branch.points.last().map(end_point));
            let held: Vec<String> = branch
                .held
                .iter()
                .map(|(name, value)| match value {
                    Some(value) => format!("{name} = {}", significant(*value, 10)),
                    None => name.clone(),
                })
                .collect();
            if !held.is_empty() {
                let _ = writeln!(text, "  held: {}", held.join(", "));
            }
            if branch.loose > 0 {
                let _ = writeln!(
                    text,
                    "  a family of dimension {} for each value of {}: the member nearest to the last one",
                    branch.loose, self.parameter
                );
            }
            let _ = match branch.end {
                "range" => writeln!(text, "  ends: the end of the range"),
                "points" => writeln!(text, "  ends: after {} points", branch.points.len()),
                end => writeln!(text, "  ends: {end}"),
            };
        }
        text
    }
}

/// All points as CSV: `branch`, the parameter, the period of periodic motions, the components of the state.
pub fn branch_csv(found: &Continuation) -> String {
    let points = || {
        let branches = found.branches.iter().enumerate();
        branches.flat_map(|(k, branch)| branch.points.iter().map(move |point| (k, point)))
    };
    let mut columns: Vec<(String, Vec<f64>)> = vec![
        ("branch".into(), points().map(|(k, _)| (k + 1) as f64).collect()),
        (found.parameter.clone(), points().map(|(_, point)| point.parameter).collect()),
    ];
    if points().any(|(_, point)| point.period.is_some()) {
        let periods = points().map(|(_, point)| point.period.unwrap_or(f64::NAN));
        columns.push(("period".into(), periods.collect()));
    }
    let first = points().next();
    for (c, (name, _)) in first.iter().flat_map(|(_, point)| point.state.iter().enumerate()) {
        columns.push((name.clone(), points().map(|(_, point)| point.state[c].1).collect()));
    }
    if points().any(|(_, point)| !point.extent.is_empty()) {
        let names: Vec<String> =
            first.iter().flat_map(|(_, p)| p.state.iter().map(|(n, _)| n.clone())).collect();
        for (c, name) in names.iter().enumerate() {
            for (part, word) in ["min", "max"].into_iter().enumerate() {
                let value = |p: &BranchPoint| p.extent.get(c).map_or(p.state[c].1, |x| x[part]);
                let values = points().map(|(_, point)| value(point)).collect();
                columns.push((format!("{word} {name}"), values));
            }
        }
    }
    let mut rates: Vec<&String> = Vec::new();
    for (name, _) in points().flat_map(|(_, point)| &point.frame) {
        if !rates.contains(&name) {
            rates.push(name);
        }
    }
    for name in rates {
        let rate = |point: &BranchPoint| {
            let own = point.frame.iter().find(|(known, _)| known == name);
            own.map_or(f64::NAN, |(_, rate)| *rate)
        };
        columns.push((name.clone(), points().map(|(_, point)| rate(point)).collect()));
    }
    let stable = |point: &BranchPoint| match point.stability {
        Stability::Stable | Stability::AsymptoticallyStable => 1.0,
        Stability::Unstable => 0.0,
        Stability::Undecided => f64::NAN,
    };
    columns.push(("stable".into(), points().map(|(_, point)| stable(point)).collect()));
    let columns = columns.iter().map(|(name, values)| (name.clone(), values.as_slice()));
    Table { columns: columns.collect(), ..Table::default() }.to_csv()
}

fn is_orbit(branch: &Branch) -> bool {
    branch.points.iter().any(|point| point.period.is_some())
}

/// The component that changes most over all branches, beside those that are constant.
fn changing(found: &Continuation) -> usize {
    let first = found.branches.iter().flat_map(|b| &b.points).next();
    let count = first.map_or(0, |point| point.state.len());
    let spread = |c: usize| {
        let values = found.branches.iter().flat_map(|b| &b.points).map(|p| p.state[c].1);
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        (high - low) / (1.0 + low.abs().max(high.abs()))
    };
    // Earlier components unless a later one changes clearly more.
    (0..count).fold(0, |best, c| if spread(c) > 1.5 * spread(best) { c } else { best })
}

/// The bifurcation diagram of a component, by name or of that which changes most: full lines where it is stable, dashes
/// where it is not, rings at special points. Of periodic motions the greatest value is shown.
pub fn diagram(found: &Continuation, name: Option<&str>) -> Option<Figure<'static>> {
    let first = found.branches.iter().flat_map(|b| &b.points).next()?;
    let c = match name {
        Some(name) => first.state.iter().position(|(known, _)| known == name)?,
        None => changing(found),
    };
    let shown = |p: &BranchPoint| p.extent.get(c).map_or(p.state[c].1, |x| x[1]);
    let (mut curves, mut named_kinds): (Vec<Curve<'static>>, Vec<(bool, bool)>) =
        (Vec::new(), Vec::new());
    for branch in &found.branches {
        let of = is_orbit(branch);
        for stable in [true, false] {
            let is_so = |p: &BranchPoint| (p.stability != Stability::Unstable) == stable;
            // A part reaches to the first point of the next one.
            let count = branch.points.len();
            let kept = |k: usize| {
                is_so(&branch.points[k])
                    || (k > 0 && is_so(&branch.points[k - 1]) && !is_so(&branch.points[k]))
            };
            let y: Vec<f64> = (0..count)
                .map(|k| if kept(k) { shown(&branch.points[k]) } else { f64::NAN })
                .collect();
            if y.iter().all(|y| y.is_nan()) {
                continue;
            }
            let kind = (of, stable);
            let word = if of { "periodic" } else { "equilibria" };
            let state = if stable { "stable" } else { "unstable" };
            let name = if named_kinds.contains(&kind) {
                String::new()
            } else {
                named_kinds.push(kind);
                format!("{word}, {state}")
            };
            curves.push(Curve {
                name,
                x: branch.points.iter().map(|p| p.parameter).collect::<Vec<_>>().into(),
                y: y.into(),
                colour: usize::from(of),
                dash: usize::from(!stable),
                ..Curve::default()
            });
        }
    }
    for (colour, kind) in [(2, "fold"), (3, "branch"), (4, "hopf"), (5, "flip"), (7, "torus")] {
        let places = found.branches.iter().flat_map(|branch| {
            branch.special.iter().filter(|s| s.kind == kind).map(move |s| {
                // On the curve, which shows the greatest value of a motion.
                let near = branch.points.iter().min_by(|a, b| {
                    let off = |p: &BranchPoint| distance(p, s);
                    off(a).total_cmp(&off(b))
                });
                let y = match near {
                    Some(point) if !point.extent.is_empty() => shown(point),
                    _ => s.state[c].1,
                };
                (s.parameter, y)
            })
        });
        let (x, y): (Vec<f64>, Vec<f64>) = places.unzip();
        if !x.is_empty() {
            curves.push(Curve {
                name: kind.into(),
                x: x.into(),
                y: y.into(),
                colour,
                points: Points::Rings,
                ..Curve::default()
            });
        }
    }
    curves.sort_by_key(|curve| curve.name.is_empty());
    Some(Figure {
        x: Axis { label: found.parameter.clone(), log: false },
        y: Axis { label: first.state[c].0.clone(), log: false },
        curves,
        ..Figure::default()
    })
}

fn distance(point: &BranchPoint, special: &SpecialPoint) -> f64 {
    let pairs = point.state.iter().zip(&special.state).map(|(a, b)| (a.1 - b.1).powi(2));
    pairs.sum::<f64>() + (point.parameter - special.parameter).powi(2)
}

/// The diagram of each component that changes, and the numbers, on a page.
pub fn diagram_page(found: &Continuation, command: &str) -> String {
    let look = Look { width: 760.0, height: 460.0, ..Look::default() };
    let first = found.branches.iter().flat_map(|b| &b.points).next();
    let names: Vec<String> =
        first.iter().flat_map(|p| p.state.iter().map(|(n, _)| n.clone())).collect();
    let mut parts: Vec<(String, String)> = Vec::new();
    let points = || found.branches.iter().flat_map(|b| &b.points);
    let all = points().flat_map(|p| {
        p.state.iter().map(|(_, x)| *x).chain(p.extent.iter().flatten().copied())
    });
    let largest = largest(all);
    for (c, name) in names.iter().enumerate() {
        let moves = points().any(|p| p.extent.get(c).is_some_and(|x| changes(*x, largest)));
        if moves || changes(points().map(|p| p.state[c].1), largest) {
            let figure = diagram(found, Some(name)).map(|figure| figure_html(&figure, look));
            parts.extend(figure.map(|figure| (name.clone(), figure)));
        }
    }
    parts.push(("Numbers".into(), preformatted(&found.to_text())));
    analysis_page(&found.title, command, &parts)
}
