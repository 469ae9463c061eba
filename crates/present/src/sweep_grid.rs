//! The cells of a map over two varied quantities, and their colours.

use crate::plot::{Area, Figure};
use crate::sweep_figure::axis;

/// Cells of a map in each direction.
const MOST_CELLS: usize = 400;
const BINNED: usize = 40;

/// Dark blue to yellow, evenly in lightness.
pub(crate) fn shade(part: f64) -> [u8; 3] {
    const SHADES: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let place = 4.0 * part.clamp(0.0, 1.0);
    let low = (place as usize).min(3);
    let share = place - low as f64;
    std::array::from_fn(|c| {
        (SHADES[low][c] + share * (SHADES[low + 1][c] - SHADES[low][c])).round() as u8
    })
}

/// The cells of one direction.
pub(crate) struct Edges(Vec<f64>);

impl Edges {
    /// Around the values of a grid, or so many of equal width.
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut list: Vec<f64> = values.filter(|x| x.is_finite()).collect();
        list.sort_by(f64::total_cmp);
        list.dedup();
        let (low, high) =
            (list.first().copied().unwrap_or(0.0), list.last().copied().unwrap_or(1.0));
        if list.len() > MOST_CELLS {
            let width = (high - low) / BINNED as f64;
            return Self((0..=BINNED).map(|i| low + i as f64 * width).collect());
        }
        let mut edges: Vec<f64> = list.windows(2).map(|w| f64::midpoint(w[0], w[1])).collect();
        let (first, last) = match edges[..] {
            [] => (low - 0.5, high + 0.5),
            [.., end] => (2.0 * low - edges[0], 2.0 * high - end),
        };
        edges.insert(0, first);
        edges.push(last);
        Self(edges)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len() - 1
    }

    pub(crate) fn cell(&self, x: f64) -> usize {
        self.0.partition_point(|edge| *edge <= x).saturating_sub(1).min(self.count() - 1)
    }
}

/// A column, a row and a case for each.
pub(crate) type CellsOfCases = Vec<(usize, usize, usize)>;

pub(crate) struct Grid {
    pub(crate) x: Edges,
    pub(crate) y: Edges,
    pub(crate) labels: [String; 2],
}

impl Grid {
    pub(crate) fn count(&self) -> usize {
        self.x.count() * self.y.count()
    }

    pub(crate) fn place(&self, i: usize, j: usize) -> usize {
        i * self.y.count() + j
    }

    pub(crate) fn area(&self, place: usize, colour: [u8; 3]) -> Area {
        let (i, j) = (place / self.y.count(), place % self.y.count());
        let (a, b) = (self.x.0[i], self.x.0[i + 1]);
        let (c, d) = (self.y.0[j], self.y.0[j + 1]);
        Area { name: String::new(), points: vec![[a, c], [b, c], [b, d], [a, d]], colour }
    }

    pub(crate) fn figure(self, title: String, areas: Vec<Area>) -> Figure<'static> {
        let [x, y] = self.labels;
        Figure { title, x: axis(&x), y: axis(&y), areas, ..Figure::default() }
    }
}
