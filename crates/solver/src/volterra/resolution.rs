//! Where a kernel is smooth: how long a part of the past may be that it meets as a polynomial.
//!
//! A kernel $k(t, s) = s^{\mu-1} g(t, s)$ is looked at on panels of lags. A panel is resolved if the last
//! coefficients of $k$ in Legendre polynomials, of degree up to 17, are nothing
//! beside its largest value; one that is not is halved. What halving does not resolve is a break (a jump or a
//! kink); other panels begin and end there.

use crate::linalg::dot::dot_wide as dot;
use crate::quadrature::legendre;
use crate::quadrature::{QuadratureRule, gauss_jacobi};

/// Points of a panel, and of a block of the past.
pub(crate) const POINTS: usize = 18;
/// Octaves of lags, below the run, that are looked at.
const OCTAVES: i32 = 60;
/// Most panels that are looked at.
const PANELS: usize = 3000;
/// Coefficients that are nothing, beside the largest value: they fall to a sixth each in an octave of a
/// power, so that the first that is left out is below 1e-13.
const NOTHING: f64 = 2e-12;
/// Most breaks.
const BREAKS: usize = 64;
/// Panels shorter than this part of their lag surround a break.
const SHORT: f64 = 1e-5;
/// The first cut of the run.
const CUT: f64 = 0.618_033_988_749_895;

/// What is known of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelResolution {
    /// How far from the lag 0 the factor $g$ is smooth; 0 if it is nowhere.
    pub start: f64,
    /// Lags, ascending, with the length of panels beyond them.
    pub(crate) lengths: Vec<(f64, f64)>,
    /// Lags where it breaks.
    pub breaks: Vec<f64>,
    /// The lag beyond which it is nothing.
    pub(crate) forgotten: f64,
    /// Whether it does not depend on the time.
    pub(crate) steady: bool,
}

/// The times at which a kernel is looked at, as parts of the run.
const TIMES: [f64; 9] = [1.0, 0.83, 0.67, 0.5, 0.33, 0.2, 0.1, 0.03, 0.01];

impl KernelResolution {
    /// Panels of one length.
    pub(crate) fn uniform(length: f64) -> Self {
        Self {
            start: length,
            lengths: vec![(0.0, length)],
            breaks: Vec::new(),
            forgotten: f64::INFINITY,
            steady: true,
        }
    }

    /// Looks at the kernel of a run of length `span`. `kernel` has its value at a time since the start and a
    /// lag; `steady` says that the time does not matter; `known` are lags at which it breaks, ascending.
    /// `None` if it cannot be resolved, or breaks at lags that change.
    pub fn new(
        mu: f64,
        span: f64,
        steady: bool,
        known: &[f64],
        kernel: &mut dyn FnMut(f64, f64) -> f64,
    ) -> Option<Self> {
        let mut look = KernelProbe::new(mu, span, steady, kernel);
        let mut breaks: Vec<f64> =
            known.iter().copied().filter(|b| *b > 0.0 && *b < span).collect();
        if breaks.len() > BREAKS {
            return None;
        }
        for panel in pieces(&breaks, span) {
            look.total += look.largest(panel)? * panel.length();
        }
        let mut panels = look.divide(pieces(&breaks, span))?;
        let found = broken(&panels);
        if !found.is_empty() {
            breaks.extend(found);
            breaks.sort_by(f64::total_cmp);
            if breaks.len() > BREAKS {
                return None;
            }
            // Again, from break to break, and at other times: breaks that move are not met.
            look.shift = 0.97;
            panels = look.divide(pieces(&breaks, span))?;
            if !broken(&panels).is_empty() {
                return None;
            }
        }
        let mut lengths: Vec<(f64, f64)> =
            panels.iter().map(|p| (p.from, p.length())).collect();
        for i in (1..lengths.len()).rev() {
            lengths[i - 1].1 = lengths[i - 1].1.min(lengths[i].1);
        }
        let forgotten = look.forgotten(&panels)?;
        let start = look.smooth_start(breaks.first().map_or(span, |b| b.min(span)))?;
        Some(Self { start, lengths, breaks, forgotten, steady })
    }

    /// The longest panel beyond a lag.
    fn length(&self, lag: f64) -> f64 {
        let above = self.lengths.partition_point(|l| l.0 <= lag);
        match above {
            0 => self.lengths.first().map_or(lag, |l| l.1 * lag / l.0),
            above => self.lengths[above - 1].1,
        }
    }

    /// The end of the panel that begins at a lag, towards `end`; one that halves towards 0 is no longer than its lag.
    pub(crate) fn panel(&self, from: f64, end: f64, halving: bool) -> f64 {
        let above = self.breaks.partition_point(|b| *b <= from);
        let end = self.breaks.get(above).map_or(end, |b| b.min(end));
        let mut length = self.length(from);
        if halving {
            length = length.min(from);
        }
        if from + 1.01 * length >= end { end } else { from + length }
    }

    /// Whether a part of the past between these lags is met as one.
    pub(crate) fn meets(&self, near: f64, far: f64) -> bool {
        let above = self.breaks.partition_point(|b| *b <= near);
        let broken = self.breaks.get(above).is_some_and(|b| *b < far);
        !broken && far - near <= self.length(near)
    }

    /// Whether it will be met as one for ever.
    pub(crate) fn settled(&self, near: f64, far: f64) -> bool {
        self.breaks.last().is_none_or(|b| near >= *b) && self.meets(near, far)
    }
}

/// A panel of lags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Panel {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Panel {
    pub(crate) fn length(self) -> f64 {
        self.to - self.from
    }

    /// Both halves.
    pub(crate) fn halves(self) -> [Self; 2] {
        let middle = 0.5 * (self.from + self.to);
        [Self { to: middle, ..self }, Self { from: middle, ..self }]
    }

    /// Whether it is as short as rounding of its lags.
    pub(crate) fn is_shortest(self) -> bool {
        self.length() <= 8.0 * f64::EPSILON * self.to
    }
}

/// How far the coefficients of values at the points of Gauss have fallen, and what the polynomial is next to the ends.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    /// Rows of the last two coefficients.
    last: Vec<Vec<f64>>,
    /// Rows of the values next to the ends.
    ends: Vec<Vec<f64>>,
}

/// How near the ends, as a part of the panel: a break may hide between the last point of Gauss and the end.
const BESIDE: f64 = 1e-7;

impl Tail {
    pub(crate) fn new() -> Self {
        let QuadratureRule { nodes: points, weights } = gauss_jacobi(POINTS, 1.0);
        let row = |factors: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let entry = |(x, w): (&f64, &f64)| {
                let p = legendre(POINTS, *x);
                let terms =
                    p.iter().enumerate().map(|(m, p)| (2 * m + 1) as f64 * p * factors(m));
                w * terms.sum::<f64>()
            };
            points.iter().zip(&weights).map(entry).collect()
        };
        let last = [POINTS - 2, POINTS - 1];
        let ends = [BESIDE, 1.0 - BESIDE].map(|x| legendre(POINTS, x));
        Self {
            last: last.iter().map(|k| row(&|m| f64::from(u8::from(m == *k)))).collect(),
            ends: ends.iter().map(|end| row(&|m| end[m])).collect(),
        }
    }

    /// The sizes of the last coefficients together.
    fn of(&self, values: &[f64]) -> f64 {
        self.last.iter().map(|row| dot(row, values).abs()).sum()
    }

    /// Whether values on a panel belong to a polynomial; `kernel` gives those next to the ends.
    pub(crate) fn resolves(
        &self,
        panel: Panel,
        values: &[f64],
        nothing: f64,
        kernel: &mut dyn FnMut(f64) -> f64,
    ) -> bool {
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let beside = BESIDE * panel.length();
        self.of(values) <= (NOTHING * largest).max(nothing)
            && self.ends.iter().zip([panel.from + beside, panel.to - beside]).all(
                |(row, lag)| {
                    // Of the rounding of values some fifty times as much arrives at the ends.
                    (dot(row, values) - kernel(lag)).abs()
                        <= (1e-10 * largest).max(1e3 * nothing)
                },
            )
    }
}

struct KernelProbe<'a> {
    mu: f64,
    span: f64,
    steady: bool,
    kernel: &'a mut dyn FnMut(f64, f64) -> f64,
    points: Vec<f64>,
    tail: Tail,
    /// About $\int |k|$.
    total: f64,
    values: Vec<f64>,
    /// A factor of the times.
    shift: f64,
}

impl<'a> KernelProbe<'a> {
    fn new(
        mu: f64,
        span: f64,
        steady: bool,
        kernel: &'a mut dyn FnMut(f64, f64) -> f64,
    ) -> Self {
        let points = gauss_jacobi(POINTS, 1.0).nodes;
        let tail = Tail::new();
        let values = vec![0.0; POINTS];
        Self { mu, span, steady, kernel, points, tail, total: 0.0, values, shift: 1.0 }
    }

    /// The values on a panel at one of the times; `None` if one is not finite.
    fn values(&mut self, part: f64, panel: Panel) -> Option<f64> {
        let Panel { from, to } = panel;
        let time = (part * self.shift * self.span).max(to);
        let mut largest = 0.0_f64;
        for (value, y) in self.values.iter_mut().zip(&self.points) {
            let lag = from + y * (to - from);
            *value = (self.kernel)(time, lag);
            if from == 0.0 {
                // The smooth factor.
                *value *= libm::pow(lag, 1.0 - self.mu);
            }
            if !value.is_finite() {
                return None;
            }
            largest = largest.max(value.abs());
        }
        Some(largest)
    }

    fn times(&self) -> &'static [f64] {
        if self.steady { &TIMES[..1] } else { &TIMES }
    }

    /// The lag beyond which nothing is left of the kernel.
    fn forgotten(&mut self, panels: &[Panel]) -> Option<f64> {
        let nothing = 1e-17 * self.total / self.span;
        let mut forgotten = f64::INFINITY;
        for panel in panels.iter().rev() {
            if self.largest(*panel)? > nothing {
                break;
            }
            forgotten = panel.from;
        }
        Some(forgotten)
    }

    /// How far from the lag 0 the smooth factor is one polynomial; 0 if it is nowhere.
    fn smooth_start(&mut self, reach: f64) -> Option<f64> {
        for k in 0..50 {
            let to = reach * libm::exp2(f64::from(-k));
            if self.resolves(Panel { from: 0.0, to })? {
                return Some(to);
            }
        }
        Some(0.0)
    }

    /// The largest value on a panel.
    fn largest(&mut self, panel: Panel) -> Option<f64> {
        let mut largest = 0.0_f64;
        for part in self.times() {
            largest = largest.max(self.values(*part, panel)?);
        }
        Some(largest)
    }

    /// Whether a panel is resolved; from the lag 0 on it is the smooth factor.
    fn resolves(&mut self, panel: Panel) -> Option<bool> {
        let Panel { from, to } = panel;
        for part in self.times() {
            self.values(*part, panel)?;
            let nothing = if from == 0.0 { 0.0 } else { 1e-15 * self.total / (to - from) };
            let Self { tail, values, kernel, mu, .. } = self;
            let time = (part * self.shift * self.span).max(to);
            let mut at = |lag: f64| {
                let power = if from == 0.0 { libm::pow(lag, 1.0 - *mu) } else { 1.0 };
                power * kernel(time, lag)
            };
            if !tail.resolves(panel, values, nothing, &mut at) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Panels that are resolved, and very short ones that are not, ascending.
    fn divide(&mut self, mut pending: Vec<Panel>) -> Option<Vec<Panel>> {
        let mut panels = Vec::new();
        let mut looked = 0;
        while let Some(panel) = pending.pop() {
            looked += 1;
            if looked > PANELS {
                return None;
            }
            if panel.is_shortest() || self.resolves(panel)? {
                panels.push(panel);
            } else {
                pending.extend(panel.halves());
            }
        }
        panels.sort_by(|a, b| a.from.total_cmp(&b.from));
        Some(panels)
    }
}

/// Panels that halve towards the lag 0. The first cut is no simple number, so that no panel begins where a
/// kernel is likely to break.
fn octaves(top: f64) -> Vec<Panel> {
    let cut = CUT * top;
    let below = (0..OCTAVES).map(|k| Panel {
        from: cut * libm::exp2(f64::from(-k - 1)),
        to: cut * libm::exp2(f64::from(-k)),
    });
    below.chain([Panel { from: cut, to: top }]).collect()
}

/// Panels between breaks, those before the first halve towards the lag 0.
fn pieces(breaks: &[f64], span: f64) -> Vec<Panel> {
    let (Some(first), Some(last)) = (breaks.first(), breaks.last()) else {
        return octaves(span);
    };
    let mut pieces = octaves(*first);
    pieces.extend(breaks.windows(2).map(|b| Panel { from: b[0], to: b[1] }));
    pieces.push(Panel { from: *last, to: span });
    pieces
}

/// Panels that a range is divided into at first, to look for narrow features.
const FIRST: u32 = 64;

/// The ends of short panels that a function needs within `from..to`, where it is narrow or breaks, ascending;
/// nothing where a polynomial of some degree meets it in long ones. `cuts` are places where it may be narrow, or
/// break. `None` if it varies everywhere, so that no step can pass over it.
pub fn narrow_places(
    from: f64,
    to: f64,
    cuts: &[f64],
    f: &mut dyn FnMut(f64) -> f64,
) -> Option<Vec<f64>> {
    let length = to - from;
    let grid =
        (1..FIRST).map(|k| from + length * (f64::from(k) - 0.381_966) / f64::from(FIRST));
    let mut ends: Vec<f64> = grid.chain(cuts.iter().copied()).chain([from, to]).collect();
    ends.retain(|x| *x >= from && *x <= to);
    ends.sort_by(f64::total_cmp);
    ends.dedup_by(|b, a| *b - *a <= 1e-13 * length);
    let (points, tail) = (gauss_jacobi(POINTS, 1.0).nodes, Tail::new());
    let mut pending: Vec<Panel> =
        ends.windows(2).map(|e| Panel { from: e[0], to: e[1] }).collect();
    let (mut scale, mut looked, mut panels) = (0.0_f64, 0, Vec::new());
    while let Some(panel) = pending.pop() {
        looked += 1;
        if looked > PANELS + ends.len() {
            return None;
        }
        let at = |y: &f64| f(panel.from + y * panel.length());
        let values: Vec<f64> = points.iter().map(at).collect();
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        scale = if largest.is_finite() { scale.max(largest) } else { scale };
        let short = panel.length() <= 1e-9 * length;
        let known = values.iter().all(|v| v.is_finite());
        if short || !known || tail.resolves(panel, &values, 1e-10 * scale, f) {
            panels.push(panel);
        } else {
            pending.extend(panel.halves());
        }
    }
    // Where all are alike, every step sees what there is.
    let longest = panels.iter().fold(0.0_f64, |m, p| m.max(p.length()));
    let narrow = panels.iter().filter(|p| p.length() < 0.3 * longest);
    let mut places: Vec<f64> = narrow.flat_map(|p| [p.from, p.to]).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    Some(places)
}

/// The places that panels shrink towards.
fn broken(panels: &[Panel]) -> Vec<f64> {
    let mut breaks = Vec::new();
    let mut shortest: Option<(f64, f64)> = None;
    for &Panel { from, to } in panels {
        if to - from < SHORT * to {
            let shorter = shortest.is_none_or(|(a, b)| to - from < b - a);
            shortest = if shorter { Some((from, to)) } else { shortest };
        } else {
            breaks.extend(shortest.take().map(|(a, b)| 0.5 * (a + b)));
        }
    }
    breaks.extend(shortest.map(|(a, b)| 0.5 * (a + b)));
    breaks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_smooth_and_broken_kernels_are_told_apart() {
        let mut tempered = |_: f64, s: f64| libm::pow(s, -0.5) * libm::exp(-s * s);
        let found = KernelResolution::new(0.5, 20.0, true, &[], &mut tempered)
            .expect("smooth beyond 0");
        assert!(found.breaks.is_empty() && found.start > 0.3, "{found:?}");
        assert!(found.forgotten < 15.0, "{found:?}");
        assert!(found.meets(1e-3, 1.5e-3) && !found.meets(1e-3, 1e-2), "{found:?}");
        let mut logarithm = |_: f64, s: f64| libm::log(s);
        let found = KernelResolution::new(1.0, 10.0, true, &[], &mut logarithm)
            .expect("smooth beyond 0");
        assert_eq!(found.start, 0.0);
        let mut window = |_: f64, s: f64| if s < 1.3 { libm::cos(s) } else { 0.0 };
        let found =
            KernelResolution::new(1.0, 10.0, true, &[], &mut window).expect("one break");
        assert!(found.breaks.len() == 1 && (found.breaks[0] - 1.3).abs() < 1e-14, "{found:?}");
        assert!(found.forgotten <= 1.3, "{found:?}");
        let mut moving = |t: f64, s: f64| if s < 0.5 * t { 1.0 } else { 0.0 };
        assert_eq!(KernelResolution::new(1.0, 10.0, false, &[], &mut moving), None);
    }
    #[test]
    fn kinks_at_known_lags_are_met() {
        let mut kink = |_: f64, s: f64| (1.0 - s).abs();
        let found = KernelResolution::new(1.0, 3.0, true, &[1.0], &mut kink).expect("one kink");
        assert_eq!(found.breaks, [1.0]);
        assert!(found.meets(0.62, 0.99) && !found.meets(0.9, 1.1), "{found:?}");
    }

    #[test]
    fn narrow_features_are_found() {
        let bell = |w: f64| move |t: f64| libm::exp(-((t - 0.5) / w) * ((t - 0.5) / w));
        for w in [1e-2, 1e-3, 1e-6] {
            let places = narrow_places(0.0, 1.0, &[0.5], &mut bell(w)).expect("one feature");
            let near = places.iter().filter(|x| (*x - 0.5).abs() < 2.0 * w).count();
            assert!(near >= 2, "{w} {places:?}");
        }
        let smooth = narrow_places(0.0, 1.0, &[0.3], &mut |t| libm::sin(5.0 * t));
        assert_eq!(smooth, Some(Vec::new()));
    }
}
