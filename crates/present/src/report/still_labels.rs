//! Where the labels of a picture stand: beside their points, where they cover least.
//!
//! Each label tries places around its point, nearest first. The cost of a place is what lies below it:
//! points of lines, other labels, and the part of it outside of the picture.

/// A rectangle in pixels: left, top, right, bottom.
#[derive(Clone, Copy)]
struct Area([f64; 4]);

/// What is drawn so far, and the labels that have their place.
pub(super) struct Labels {
    size: [f64; 2],
    covered: Vec<([f64; 2], f64)>,
    placed: Vec<Area>,
}

/// About the width of a letter, in pixels.
const LETTER: f64 = 6.5;

/// Above and below the line on which letters stand, in pixels.
const ASCENT: f64 = 10.0;
const DESCENT: f64 = 3.0;

/// Between points of a line that count as covered, in pixels.
const SPACING: f64 = 3.0;

/// The cost of covering another label, and of a pixel outside of the picture.
const OVERLAP: f64 = 100.0;
const OUTSIDE: f64 = 20.0;

/// What each further place costs, so that the usual one wins where nothing is covered.
const LATER: f64 = 0.1;

impl Labels {
    /// For a picture of this width and height.
    pub(super) fn new(size: [f64; 2]) -> Self {
        Self { size, covered: Vec::new(), placed: Vec::new() }
    }

    /// A line that labels should not cover; `weight` is less for what is drawn faintly.
    pub(super) fn avoid(&mut self, line: &[[f64; 2]], weight: f64) {
        self.covered.extend(line.first().map(|p| (*p, weight)));
        for pair in line.windows(2) {
            let along = [pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]];
            let pieces =
                libm::ceil(libm::hypot(along[0], along[1]) / SPACING).clamp(1.0, 1000.0);
            for k in 1..=pieces as u32 {
                let s = f64::from(k) / pieces;
                let at = [pair[0][0] + s * along[0], pair[0][1] + s * along[1]];
                self.covered.push((at, weight));
            }
        }
    }

    /// Where the text at a point begins, on the line on which its letters stand.
    pub(super) fn place(&mut self, text: &str, point: [f64; 2], beside: bool) -> [f64; 2] {
        let wide = LETTER * text.chars().count() as f64;
        let starts: Vec<[f64; 2]> = if beside { around(wide) } else { vec![[0.0, 0.0]] }
            .into_iter()
            .map(|d| self.inside([point[0] + d[0], point[1] + d[1]], wide))
            .collect();
        let cost = |k: usize| self.cost(area(starts[k], wide)) + LATER * k as f64;
        let best = (0..starts.len()).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(0);
        self.placed.push(area(starts[best], wide));
        starts[best]
    }

    /// Moved so that the text is not cut off, if it fits at all.
    fn inside(&self, [x, y]: [f64; 2], wide: f64) -> [f64; 2] {
        let [w, h] = self.size;
        [x.min(w - wide - 4.0).max(4.0), y.clamp(ASCENT + 3.0, (h - 4.0).max(ASCENT + 3.0))]
    }

    fn cost(&self, area: Area) -> f64 {
        let Area([left, top, right, bottom]) = area;
        let lines: f64 = self
            .covered
            .iter()
            .filter(|([x, y], _)| (left..=right).contains(x) && (top..=bottom).contains(y))
            .map(|(_, weight)| weight)
            .sum();
        let labels = self.placed.iter().filter(|other| other.meets(area)).count() as f64;
        let outside = (right - self.size[0]).max(0.0);
        lines + OVERLAP * labels + OUTSIDE * outside
    }
}

impl Area {
    fn meets(&self, Area(other): Area) -> bool {
        let Area(own) = self;
        own[0] < other[2] && other[0] < own[2] && own[1] < other[3] && other[1] < own[3]
    }
}

/// The area of a text that begins here.
fn area([x, y]: [f64; 2], wide: f64) -> Area {
    Area([x, y - ASCENT, x + wide, y + DESCENT])
}

/// Starts of a text relative to its point, the usual one first: at the four corners and the four sides, at
/// three distances.
fn around(wide: f64) -> Vec<[f64; 2]> {
    let mut starts = Vec::new();
    for gap in [7.0, 14.0, 24.0] {
        let (right, left, middle) = (gap, -gap - wide, -wide / 2.0);
        let (above, below, level) = (-gap, gap + ASCENT, (ASCENT - DESCENT) / 2.0);
        starts.extend([[right, above], [left, above], [right, below], [left, below]]);
        starts.extend([[right, level], [left, level], [middle, above], [middle, below]]);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_alone_stands_to_the_right_and_above() {
        let mut labels = Labels::new([320.0, 200.0]);
        assert_eq!(labels.place("mass", [100.0, 100.0], true), [107.0, 93.0]);
        assert_eq!(labels.place("here", [20.0, 50.0], false), [20.0, 50.0]);
    }

    #[test]
    fn labels_of_one_point_do_not_overlap() {
        let mut labels = Labels::new([320.0, 200.0]);
        for text in ["mass", "reaction", "velocity", "goal"] {
            labels.place(text, [100.0, 100.0], true);
        }
        for (k, a) in labels.placed.iter().enumerate() {
            assert!(
                labels.placed[k + 1..].iter().all(|b| !a.meets(*b)),
                "label {k} is covered"
            );
        }
    }

    #[test]
    fn a_label_leaves_a_line_and_stays_in_the_picture() {
        let mut labels = Labels::new([320.0, 200.0]);
        labels.avoid(&[[100.0, 100.0], [180.0, 60.0]], 1.0);
        let [x, y] = labels.place("reaction", [100.0, 100.0], true);
        assert_eq!(labels.cost(Area([x, y - ASCENT, x + 52.0, y + DESCENT])), OVERLAP);
        let [x, y] = labels.place("goal", [318.0, 2.0], true);
        assert!(x + 26.0 <= 320.0 && y >= ASCENT, "{x}, {y}");
    }
}
