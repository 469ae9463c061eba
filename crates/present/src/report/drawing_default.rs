//! What is drawn of a model that says nothing about it, found from its names.
//!
//! In this order: square matrices of affine bodies become ellipses and ellipsoids that deform; coordinates
//! `x, y(, z)`, vectors of two or three and rows of
//! them become points with trails, with a wheel where an angle goes with one point; abbreviations of two or
//! three components become a chain of points, those
//! whose velocities stand in the Lagrangian if there are any. Where there is nothing of the kind, the first
//! two coordinates are a point of configuration space.

use pfaff_expr::{Expr, Rates};
use pfaff_model::{Colour, Components, Drawing, Dynamics, Figure, Span, Style, Workspace};

/// Points of a chain that are drawn at most.
const CHAIN: usize = 200;

/// Names of angles that may be a heading.
const HEADINGS: [&str; 9] =
    ["phi", "theta", "th", "psi", "heading", "angle", "alpha", "θ", "φ"];

/// The default drawing.
pub(crate) fn default_drawings(model: &Workspace) -> Vec<Drawing> {
    let groups = groups(model);
    let mut out = bodies(model, &groups);
    if !out.is_empty() {
        return out;
    }
    let points = coordinate_points(&groups);
    if !points.is_empty() {
        for point in points.iter().take(CHAIN) {
            out.push(drawn(Figure::Trail { at: point.clone() }, None));
            out.push(drawn(Figure::Point { at: point.clone(), radius: None }, None));
        }
        if let ([point], Some(heading)) = (&points[..], heading(&groups))
            && point.len() == 2
        {
            out.push(wheel(model, point, heading));
        }
        return out;
    }
    let strict = moving_points(model, true);
    let chain = if strict.is_empty() { moving_points(model, false) } else { strict };
    if let Some(last) = chain.last() {
        let origin = vec![model.graph.zero(); last.len()];
        let points: Vec<Components> = std::iter::once(origin).chain(chain.clone()).collect();
        out.push(drawn(Figure::Trail { at: last.clone() }, None));
        out.push(drawn(Figure::Line { points, closed: false }, None));
        let dot = |at: &Components| drawn(Figure::Point { at: at.clone(), radius: None }, None);
        out.extend(chain.iter().map(dot));
        return out;
    }
    let position = |k: usize| model.coordinates.get(k).map(|c| c.position);
    let zero = model.graph.zero();
    let at = vec![position(0).unwrap_or(zero), position(1).unwrap_or(zero)];
    out.push(drawn(Figure::Trail { at: at.clone() }, None));
    out.push(drawn(Figure::Point { at, radius: None }, None));
    out
}

fn drawn(figure: Figure, colour: Option<Colour>) -> Drawing {
    Drawing { figure, style: Style { colour, ..Style::default() }, span: Span::default() }
}

/// Coordinates of one name, with their indices.
struct Group {
    name: String,
    members: Vec<(Vec<i64>, Expr)>,
}

impl Group {
    /// Rows and columns of a matrix.
    fn matrix(&self) -> Option<(usize, usize)> {
        let columns =
            self.members.iter().filter(|(i, _)| i.len() == 2 && i[0] == self.first()).count();
        (columns > 0).then(|| (self.members.len() / columns, columns))
    }

    fn first(&self) -> i64 {
        self.members.first().and_then(|(i, _)| i.first().copied()).unwrap_or(0)
    }

    fn entries(&self) -> Components {
        self.members.iter().map(|(_, e)| *e).collect()
    }
}

/// `phi[1,2]` as `phi` and its indices.
fn split(name: &str) -> (&str, Vec<i64>) {
    let Some((base, rest)) = name.split_once('[') else { return (name, Vec::new()) };
    let indices = rest.trim_end_matches(']').split(',').filter_map(|i| i.parse().ok());
    (base, indices.collect())
}

fn groups(model: &Workspace) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for coordinate in &model.coordinates {
        let (name, indices) = split(&coordinate.name);
        let member = (indices, coordinate.position);
        match groups.last_mut() {
            Some(group) if group.name == name => group.members.push(member),
            _ => groups.push(Group { name: name.to_owned(), members: vec![member] }),
        }
    }
    groups
}

/// Affine bodies at the vector of coordinates that goes with them, or at the origin.
fn bodies(model: &Workspace, groups: &[Group]) -> Vec<Drawing> {
    let mut out = Vec::new();
    for group in groups {
        let Some((n, m)) = group.matrix() else { continue };
        let known = model.bodies.iter().any(|body| body.name == group.name);
        if n != m || !(2..=3).contains(&n) || !(known || n == 3) {
            continue;
        }
        let vector = groups.iter().find(|g| {
            g.members.len() == n && g.members.iter().all(|(indices, _)| indices.len() == 1)
        });
        let centre = vector.map_or_else(|| vec![model.graph.zero(); n], Group::entries);
        if vector.is_some() {
            out.push(drawn(Figure::Trail { at: centre.clone() }, None));
        }
        let entries = group.entries();
        let column = |j: usize| (0..n).map(|i| entries[i * n + j]).collect();
        let axes = (0..n).map(column).collect();
        out.push(drawn(Figure::Ellipsoid { centre, axes }, None));
    }
    out
}

/// Coordinates that look Cartesian.
fn coordinate_points(groups: &[Group]) -> Vec<Components> {
    let mut points = Vec::new();
    for group in groups {
        let n = group.members.len();
        if let Some((_, columns @ (2 | 3))) = group.matrix() {
            points.extend(group.entries().chunks(columns).map(<[Expr]>::to_vec));
        } else if (2..=3).contains(&n)
            && group.members.iter().all(|(i, _)| i.len() == 1)
            && partner(&group.name, 'y').and_then(|y| named(groups, &y)).is_none()
        {
            points.push(group.entries());
        }
        let Some(y) = partner(&group.name, 'y').and_then(|y| named(groups, &y)) else {
            continue;
        };
        let z = partner(&group.name, 'z').and_then(|z| named(groups, &z));
        for (k, (indices, x)) in group.members.iter().enumerate() {
            let with = |other: &Group| {
                other.members.get(k).filter(|(i, _)| i == indices).map(|(_, e)| *e)
            };
            let Some(y) = with(y) else { continue };
            points.push([Some(*x), Some(y), z.and_then(with)].into_iter().flatten().collect());
        }
    }
    points
}

fn named<'a>(groups: &'a [Group], name: &str) -> Option<&'a Group> {
    groups.iter().find(|group| group.name == name)
}

/// `y1` for `x1`, `Y` for `X`.
fn partner(name: &str, letter: char) -> Option<String> {
    let first = name.chars().next()?;
    let letter = match first {
        'x' => letter,
        'X' => letter.to_ascii_uppercase(),
        _ => return None,
    };
    Some(format!("{letter}{}", &name[1..]))
}

fn heading(groups: &[Group]) -> Option<Expr> {
    let is_heading = |g: &&Group| g.members.len() == 1 && HEADINGS.contains(&g.name.as_str());
    groups.iter().find(is_heading).map(|g| g.members[0].1)
}

/// A blade at a point. Its length is a fifth of a unit: nothing in the model says it.
fn wheel(model: &Workspace, at: &Components, heading: Expr) -> Drawing {
    let g = &model.graph;
    let fifth = g.div(g.one(), g.integer(5));
    let thin = g.div(g.one(), g.integer(25));
    let (cos, sin) = (g.cos(heading), g.sin(heading));
    let edges = vec![
        vec![g.mul(fifth, cos), g.mul(fifth, sin)],
        vec![g.neg(g.mul(thin, sin)), g.mul(thin, cos)],
    ];
    drawn(Figure::Wheel { centre: at.clone(), edges }, Some(Colour::Ink))
}

/// Abbreviations of two or three components that move, and whose velocities stand in the Lagrangian if that
/// is asked for.
fn moving_points(model: &Workspace, massive: bool) -> Vec<Components> {
    let Dynamics::Lagrangian { lagrangian, .. } = &model.dynamics else { return Vec::new() };
    let g = &model.graph;
    let mut live = g.live(&[*lagrangian]);
    live.sort_unstable();
    let mut rates = Rates::default();
    let velocities = model.velocities();
    let mut moves = |e: Expr| {
        if g.has_memory(e) || g.contains(e, &velocities) {
            return false;
        }
        let rate = g.rate_of(e, &mut rates);
        rate != g.zero() && (!massive || live.binary_search(&rate).is_ok())
    };
    let mut points: Vec<Components> = Vec::new();
    let list = &model.abbreviations;
    let mut k = 0;
    while k < list.len() && points.len() < CHAIN {
        let (base, _) = list[k].0.rsplit_once('[').unwrap_or((&list[k].0, ""));
        let same = list[k..].iter().take_while(|(name, _)| {
            name.rsplit_once('[').is_some_and(|(other, _)| other == base)
        });
        let vector: Components = same.map(|(_, e)| *e).collect();
        let step = if (2..=3).contains(&vector.len()) { vector.len() } else { 1 };
        if (2..=3).contains(&vector.len()) && vector.iter().any(|&e| moves(e)) {
            points.push(vector);
        } else if moves(list[k].1)
            && let Some(y) = partner(&list[k].0, 'y')
            && let Some((_, y)) = list.iter().find(|(name, _)| *name == y)
        {
            points.push(vec![list[k].1, *y]);
            k += 1;
            continue;
        }
        k += step;
    }
    let dimension = points.first().map_or(0, Vec::len);
    points.retain(|point| point.len() == dimension);
    points
}
