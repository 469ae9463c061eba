//! Tables of ensembles as figures: fans, heat maps, histograms, basins and overlays.

use crate::number::brief;
use crate::plot::ticks::Scale;
use crate::plot::{Area, Axis, COLOUR_COUNT, Curve, Figure, Paint, Points};
use crate::sweep_grid::{CellsOfCases, Edges, Grid, shade};
use crate::table::{Block, Cells, Heading, column_values};

/// What is drawn of the table of an ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SweepPlot {
    /// The spread of a quantity over time: its median, and where half and nine tenths of the cases lie.
    Fan,
    /// A quantity over two that are varied, by colours.
    Heat,
    /// How often each value of a quantity occurs.
    Histogram,
    /// Which cases end alike, over two quantities that are varied.
    Basins,
    /// The curves of all cases, or a quantity over one that is varied.
    Overlay,
}

impl SweepPlot {
    /// All kinds with their words.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Fan, "fan"),
        (Self::Heat, "heat"),
        (Self::Histogram, "histogram"),
        (Self::Basins, "basins"),
        (Self::Overlay, "overlay"),
    ];
}

/// A table of an ensemble, and what is varied in it.
#[derive(Clone, Copy, Debug)]
pub struct SweepRows<'a> {
    /// The columns.
    pub headings: &'a [Heading],
    /// The rows.
    pub block: &'a Block,
    /// The names of what is varied.
    pub varied: &'a [String],
    /// Whether there is a row for each output time of a case.
    pub has_samples: bool,
    /// Whether values were drawn, and do not lie on a grid.
    pub is_drawn: bool,
}

/// Curves beyond which a fan is easier to read.
const MOST_CURVES: usize = 60;
/// Curves up to which each has its name in the legend.
const NAMED: usize = 12;
/// Kinds of ends that are told apart.
const MOST_KINDS: usize = 8;

impl SweepRows<'_> {
    /// The kind that suits the table.
    pub fn usual(&self) -> SweepPlot {
        self.usual_of(self.cases())
    }

    /// The kind that suits the table of so many cases.
    pub fn usual_of(&self, cases: usize) -> SweepPlot {
        match (self.has_samples, self.varied.len()) {
            (true, _) if cases <= NAMED => SweepPlot::Overlay,
            (true, _) => SweepPlot::Fan,
            (false, 2..) if !self.is_drawn => SweepPlot::Heat,
            (false, 1) if !self.is_drawn => SweepPlot::Overlay,
            (false, _) => SweepPlot::Histogram,
        }
    }

    fn cases(&self) -> usize {
        let Some(Cells::Integers(cases)) = self.block.columns.first() else { return 0 };
        let mut list = cases.clone();
        list.dedup();
        list.len()
    }

    fn numbers(&self) -> Vec<(String, &[f64])> {
        let pairs = self.headings.iter().zip(&self.block.columns);
        let numbers = pairs.filter_map(|(heading, cells)| match cells {
            Cells::Numbers(values) => Some((heading.name.clone(), values.as_slice())),
            Cells::Integers(_) | Cells::Texts(_) => None,
        });
        numbers.collect()
    }

    fn texts(&self, name: &str) -> Option<Vec<&str>> {
        let place = self.headings.iter().position(|heading| heading.name == name)?;
        match &self.block.columns[place] {
            Cells::Texts(texts) => Some(texts.iter().collect()),
            Cells::Integers(_) | Cells::Numbers(_) => None,
        }
    }

    /// The rows of each case.
    fn ranges(&self) -> Vec<std::ops::Range<usize>> {
        let Some(Cells::Integers(cases)) = self.block.columns.first() else {
            return Vec::new();
        };
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        for (row, case) in cases.iter().enumerate() {
            match ranges.last_mut() {
                Some(last) if cases[last.start] == *case => last.end = row + 1,
                _ => ranges.push(row..row + 1),
            }
        }
        ranges
    }

    /// A column that is drawn if none is named: the first coordinate, or what is observed first.
    fn usual_column(&self) -> Option<String> {
        let is_usual = |name: &str| {
            name != "t" && name != "case" && !self.varied.iter().any(|varied| varied == name)
        };
        self.numbers().into_iter().map(|(name, _)| name).find(|name| is_usual(name))
    }

    /// A figure of some columns or expressions of columns.
    ///
    /// # Errors
    ///
    /// A sentence that says what cannot be drawn.
    pub fn figure(
        &self,
        kind: SweepPlot,
        columns: &[String],
    ) -> Result<Figure<'static>, String> {
        let columns = self.drawable(kind, columns)?;
        if self.block.rows() == 0 {
            return Err("the table has no rows".into());
        }
        let column = &columns[0];
        match kind {
            SweepPlot::Fan => self.fan(column),
            SweepPlot::Heat => self.heat(column),
            SweepPlot::Histogram => self.histogram(column),
            SweepPlot::Basins => self.basins(column),
            SweepPlot::Overlay => self.overlay(&columns),
        }
    }

    /// The columns that a figure shows, at least one. Whether they can be drawn does not depend on the rows.
    ///
    /// # Errors
    ///
    /// A sentence that says what cannot be drawn.
    pub fn drawable(&self, kind: SweepPlot, columns: &[String]) -> Result<Vec<String>, String> {
        let usual = self.usual_column().into_iter().collect();
        let columns = if columns.is_empty() { usual } else { columns.to_vec() };
        if columns.is_empty() {
            return Err("the table has no column that could be drawn".into());
        }
        let what = match kind {
            SweepPlot::Fan => "a fan",
            SweepPlot::Heat => "a heat map",
            SweepPlot::Histogram => "a histogram",
            SweepPlot::Basins => "a map of basins",
            SweepPlot::Overlay => "",
        };
        if kind == SweepPlot::Fan && !self.has_samples {
            return Err("a fan needs the states on the way: keep samples or observe".into());
        }
        if matches!(kind, SweepPlot::Heat | SweepPlot::Basins) && self.varied.len() < 2 {
            return Err(format!("{what} needs two quantities that are varied"));
        }
        if kind == SweepPlot::Overlay && !self.has_samples && self.varied.len() > 1 {
            return Err("an overlay of ends needs one quantity that is varied".into());
        }
        if kind != SweepPlot::Overlay && columns.len() > 1 {
            return Err(format!("{what} shows one column, not {}", columns.join(", ")));
        }
        for column in &columns {
            if kind != SweepPlot::Basins || self.texts(column).is_none() {
                self.values(column)?;
            }
        }
        Ok(columns)
    }

    fn values(&self, name: &str) -> Result<Vec<f64>, String> {
        Ok(column_values(&self.numbers(), name, "the table")?.into_owned())
    }

    fn fan(&self, column: &str) -> Result<Figure<'static>, String> {
        let (t, values) = (self.values("t")?, self.values(column)?);
        let mut rows: Vec<(f64, f64)> =
            t.into_iter().zip(values).filter(|(t, x)| t.is_finite() && x.is_finite()).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut bands: Vec<(f64, [f64; 5])> = Vec::new();
        // NOTE: cases that stopped early have a last time of their own.
        let groups: Vec<&[(f64, f64)]> = rows.chunk_by(|a, b| a.0 == b.0).collect();
        let most = groups.iter().map(|group| group.len()).max().unwrap_or(0);
        for group in groups.into_iter().filter(|group| 2 * group.len() > most) {
            let at = |part: f64| {
                let place = part * (group.len() - 1) as f64;
                let (low, share) = (place.floor() as usize, place.fract());
                let next = group[(low + 1).min(group.len() - 1)].1;
                group[low].1 + share * (next - group[low].1)
            };
            bands.push((group[0].0, [0.05, 0.25, 0.5, 0.75, 0.95].map(at)));
        }
        let band = |low: usize, high: usize, name: &str, colour: [u8; 3]| {
            let up = bands.iter().map(|(t, q)| [*t, q[low]]);
            let down = bands.iter().rev().map(|(t, q)| [*t, q[high]]);
            Area { name: name.into(), points: up.chain(down).collect(), colour }
        };
        let median = Curve {
            name: "median".into(),
            x: bands.iter().map(|b| b.0).collect::<Vec<_>>().into(),
            y: bands.iter().map(|b| b.1[2]).collect::<Vec<_>>().into(),
            colour: 0,
            dash: 0,
            points: Points::Joined,
        };
        Ok(Figure {
            x: axis("t"),
            y: axis(column),
            curves: vec![median],
            areas: vec![
                band(0, 4, "90 % of the cases", [204, 227, 240]),
                band(1, 3, "50 %", [127, 184, 216]),
            ],
            ..Figure::default()
        })
    }

    /// The cells of two varied quantities, and the cell of each case.
    fn cells(&self) -> Result<(Grid, CellsOfCases), String> {
        let [first, second, ..] = self.varied else {
            return Err("two quantities must be varied".into());
        };
        let (a, b) = (self.values(first)?, self.values(second)?);
        let last: Vec<usize> = self.ranges().iter().map(|range| range.end - 1).collect();
        let grid = Grid {
            x: Edges::new(last.iter().map(|&row| a[row])),
            y: Edges::new(last.iter().map(|&row| b[row])),
            labels: [first.clone(), second.clone()],
        };
        let place = |&row: &usize| (grid.x.cell(a[row]), grid.y.cell(b[row]), row);
        let places = last.iter().map(place).collect();
        Ok((grid, places))
    }

    fn heat(&self, column: &str) -> Result<Figure<'static>, String> {
        let (grid, places) = self.cells()?;
        let values = self.values(column)?;
        let mut sums = vec![(0.0, 0_usize); grid.count()];
        for (i, j, row) in places {
            if values[row].is_finite() {
                let cell = &mut sums[grid.place(i, j)];
                *cell = (cell.0 + values[row], cell.1 + 1);
            }
        }
        let means: Vec<Option<f64>> =
            sums.iter().map(|&(sum, n)| (n > 0).then(|| sum / n as f64)).collect();
        let known = || means.iter().flatten().copied();
        let (low, high) =
            (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return Err(format!("`{column}` has no values"));
        }
        let part = |x: f64| if high > low { (x - low) / (high - low) } else { 0.5 };
        let mut areas = Vec::new();
        for (place, mean) in means.iter().enumerate() {
            if let Some(mean) = mean {
                areas.push(grid.area(place, shade(part(*mean))));
            }
        }
        let ticks = Scale { low, high, log: false }.ticks(5);
        for (part, name) in ticks.marks {
            areas.push(Area { name, points: Vec::new(), colour: shade(part) });
        }
        if low == high {
            areas.push(Area { name: brief(low), points: Vec::new(), colour: shade(0.5) });
        }
        Ok(grid.figure(format!("{column}{}", ticks.unit), areas))
    }

    fn basins(&self, column: &str) -> Result<Figure<'static>, String> {
        let (grid, places) = self.cells()?;
        let mut order: Vec<usize> = places.iter().map(|&(_, _, row)| row).collect();
        let kinds: Vec<String> = match self.texts(column) {
            Some(texts) => texts.into_iter().map(str::to_owned).collect(),
            None => {
                let values = self.values(column)?;
                order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
                alike(&values)
            }
        };
        // Numbers ascend in the legend, and texts stand as they come.
        let mut names: Vec<&String> = Vec::new();
        for row in order {
            if !names.contains(&&kinds[row]) {
                names.push(&kinds[row]);
            }
        }
        let mut cells: Vec<Option<usize>> = vec![None; grid.count()];
        for (i, j, row) in places {
            cells[grid.place(i, j)] = names.iter().position(|name| **name == kinds[row]);
        }
        if names.len() > MOST_KINDS {
            return Err(format!(
                "`{column}` has {} kinds of ends, and {MOST_KINDS} can be told apart: draw a heat map",
                names.len()
            ));
        }
        let colour = |kind: usize| {
            Paint::Curve(kind).rgb().map(|x| (255.0 * (0.35 + 0.65 * x)).round() as u8)
        };
        let mut areas: Vec<Area> = Vec::new();
        for (place, kind) in cells.iter().enumerate() {
            if let Some(kind) = kind {
                areas.push(grid.area(place, colour(*kind)));
            }
        }
        for (kind, name) in names.into_iter().enumerate() {
            let name = if name.is_empty() { "none" } else { name };
            areas.push(Area { name: name.into(), points: Vec::new(), colour: colour(kind) });
        }
        Ok(grid.figure(column.to_owned(), areas))
    }

    fn histogram(&self, column: &str) -> Result<Figure<'static>, String> {
        let values = self.values(column)?;
        let last = self.ranges().into_iter().map(|range| values[range.end - 1]);
        let last: Vec<f64> = last.filter(|x| x.is_finite()).collect();
        let low = last.iter().copied().fold(f64::INFINITY, f64::min);
        let high = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Err(format!("`{column}` has no values"));
        }
        let bins = ((last.len() as f64).sqrt().ceil() as usize).clamp(5, 60);
        let width =
            if high > low { (high - low) / bins as f64 } else { low.abs().max(1.0) * 1e-3 };
        let mut counts = vec![0.0; bins];
        for x in last {
            counts[(((x - low) / width) as usize).min(bins - 1)] += 1.0;
        }
        let bar = |(i, count): (usize, &f64)| {
            let (from, to) = (low + i as f64 * width, low + (i as f64 + 0.94) * width);
            let points = vec![[from, 0.0], [to, 0.0], [to, *count], [from, *count]];
            Area { name: String::new(), points, colour: [86, 160, 204] }
        };
        let areas = counts.iter().enumerate().map(bar).collect();
        // NOTE: with a curve the axis ends at a round number and not at the highest bar.
        let corner = Curve { x: vec![low].into(), y: vec![0.0].into(), ..Curve::default() };
        Ok(Figure {
            x: axis(column),
            y: axis("cases"),
            curves: vec![corner],
            areas,
            ..Figure::default()
        })
    }

    fn overlay(&self, columns: &[String]) -> Result<Figure<'static>, String> {
        let ranges = self.ranges();
        let against =
            if self.has_samples { "t" } else { self.varied.first().map_or("t", |v| v) };
        let x = self.values(against)?;
        let mut curves = Vec::new();
        if !self.has_samples {
            for (colour, column) in columns.iter().enumerate() {
                let y = self.values(column)?;
                let mut points: Vec<(f64, f64)> =
                    ranges.iter().map(|r| (x[r.end - 1], y[r.end - 1])).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
                let (x, y) = (x.into(), y.into());
                curves.push(Curve {
                    name: column.clone(),
                    x,
                    y,
                    colour,
                    dash: 0,
                    points: Points::Joined,
                });
            }
        } else if ranges.len() * columns.len() > MOST_CURVES {
            let most = MOST_CURVES;
            return Err(format!("an overlay shows at most {most} curves: draw a fan"));
        } else {
            for (k, column) in columns.iter().enumerate() {
                let y = self.values(column)?;
                for (i, range) in ranges.iter().enumerate() {
                    let is_named = ranges.len() * columns.len() <= NAMED;
                    let case =
                        if is_named { self.case_name(range.start)? } else { String::new() };
                    let name = match (columns.len(), is_named) {
                        (1, _) => case,
                        (_, true) => format!("{column} ({case})"),
                        (_, false) => String::new(),
                    };
                    curves.push(Curve {
                        name,
                        x: x[range.clone()].to_vec().into(),
                        y: y[range.clone()].to_vec().into(),
                        colour: i % COLOUR_COUNT,
                        dash: if columns.len() > 1 { k } else { i / COLOUR_COUNT },
                        points: Points::Joined,
                    });
                }
            }
        }
        let label = columns.join(", ");
        Ok(Figure { x: axis(against), y: axis(&label), curves, ..Figure::default() })
    }

    /// `a = 0.1, x'(0) = 2`
    fn case_name(&self, row: usize) -> Result<String, String> {
        let mut words = Vec::new();
        for name in self.varied {
            words.push(format!("{name} = {}", brief(self.values(name)?[row])));
        }
        Ok(words.join(", "))
    }
}

pub(crate) fn axis(label: &str) -> Axis {
    Axis { label: label.to_owned(), log: false }
}

/// Values alike have the same name: those that differ by less than a thousandth of all.
fn alike(values: &[f64]) -> Vec<String> {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let mut sorted: Vec<f64> = finite().collect();
    sorted.sort_by(f64::total_cmp);
    let spread = sorted.last().zip(sorted.first()).map_or(0.0, |(b, a)| b - a);
    let mut groups: Vec<(f64, f64, f64)> = Vec::new();
    for x in sorted {
        match groups.last_mut() {
            Some(group) if x - group.1 <= 1e-3 * spread => {
                group.1 = x;
                group.2 += 1.0;
            }
            _ => groups.push((x, x, 1.0)),
        }
    }
    let name = |x: f64| {
        let group = groups.iter().find(|(low, high, _)| (*low..=*high).contains(&x));
        group.map_or(String::new(), |(low, high, _)| brief(f64::midpoint(*low, *high)))
    };
    values.iter().map(|&x| name(x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Look;
    use crate::table::Kind;

    fn table(samples: usize) -> (Vec<Heading>, Block) {
        let names = [("case", Kind::Integer), ("a", Kind::Number), ("b", Kind::Number)];
        let more = [("stop", Kind::Text), ("t", Kind::Number), ("x", Kind::Number)];
        let headings: Vec<Heading> = names
            .into_iter()
            .chain(more)
            .map(|(name, kind)| Heading { name: name.into(), kind })
            .collect();
        let mut block = Block::new(headings.iter().map(|h| h.kind));
        for case in 0..12_i64 {
            let (a, b) = ((case % 4) as f64, (case / 4) as f64);
            for i in 0..samples {
                let t = i as f64;
                let numbers = [(1, a), (2, b), (4, t), (5, a + 10.0 * b + t)];
                if let Cells::Integers(cells) = &mut block.columns[0] {
                    cells.push(case + 1);
                }
                for (place, value) in numbers {
                    if let Cells::Numbers(cells) = &mut block.columns[place] {
                        cells.push(value);
                    }
                }
                if let Cells::Texts(cells) = &mut block.columns[3] {
                    cells.push(if a > 1.5 { "end" } else { "event" });
                }
            }
        }
        (headings, block)
    }

    /// Values from 0 to 23.
    const LEGEND: [&str; 5] = ["0", "5", "10", "15", "20"];

    #[test]
    fn every_kind_shows_its_cases() {
        let varied = ["a".to_owned(), "b".to_owned()];
        let (headings, block) = table(1);
        let rows = |has_samples| SweepRows {
            headings: &headings,
            block: &block,
            varied: &varied,
            has_samples,
            is_drawn: false,
        };
        assert_eq!(rows(false).usual(), SweepPlot::Heat);
        let heat = rows(false).figure(SweepPlot::Heat, &[]).expect("a map");
        // Twelve cells, and round numbers for the colours of the legend.
        assert_eq!(heat.areas.len(), 12 + LEGEND.len());
        let names = heat.areas[12..].iter().map(|area| area.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), LEGEND);
        assert_eq!(heat.areas[0].points[0], [-0.5, -0.5]);
        let basins = rows(false).figure(SweepPlot::Basins, &["stop".into()]).expect("a map");
        let names: Vec<&str> =
            basins.areas.iter().map(|a| a.name.as_str()).filter(|n| !n.is_empty()).collect();
        assert_eq!(names, ["event", "end"]);
        // The last case ends with the smallest value: numbers ascend all the same.
        let mut falling = block.clone();
        if let Cells::Numbers(cells) = &mut falling.columns[5] {
            cells.iter_mut().zip(0..).for_each(|(x, case)| *x = f64::from(4 - case / 4));
        }
        let other = SweepRows { block: &falling, ..rows(false) };
        let basins = other.figure(SweepPlot::Basins, &["x".into()]).expect("a map");
        let names: Vec<&str> =
            basins.areas.iter().map(|a| a.name.as_str()).filter(|n| !n.is_empty()).collect();
        assert_eq!(names, ["2", "3", "4"]);
        assert!(rows(false).figure(SweepPlot::Basins, &["x".into()]).is_err(), "twelve kinds");
        let histogram = rows(false).figure(SweepPlot::Histogram, &["x".into()]).expect("bars");
        let counted: f64 = histogram.areas.iter().map(|a| a.points[2][1]).sum();
        assert_eq!(counted, 12.0);
        assert!(rows(false).figure(SweepPlot::Fan, &[]).is_err());
        assert!(rows(false).figure(SweepPlot::Heat, &["nothing".into()]).is_err());
        assert!(heat.to_svg(Look::default()).contains("fill=\"#440154\""));
    }

    #[test]
    fn fans_and_overlays_are_over_time() {
        let varied = ["a".to_owned(), "b".to_owned()];
        let (headings, block) = table(3);
        let rows = SweepRows {
            headings: &headings,
            block: &block,
            varied: &varied,
            has_samples: true,
            is_drawn: false,
        };
        let fan = rows.figure(SweepPlot::Fan, &["x".into()]).expect("a fan");
        // a + 10 b over a = 0..3, b = 0..2 has the median 11.5.
        assert_eq!(fan.curves[0].y[0], 11.5);
        assert_eq!((fan.curves[0].x.len(), fan.areas.len()), (3, 2));
        let overlay = rows.figure(SweepPlot::Overlay, &["x - t".into()]).expect("curves");
        assert_eq!(overlay.curves.len(), 12);
        assert_eq!(overlay.curves[5].name, "a = 1, b = 1");
        assert_eq!(overlay.curves[5].y[..], [11.0; 3]);
    }
}
