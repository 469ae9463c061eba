//! Points of a line on paper → fewer points that show the same line.
//!
//! **Many points in one column**: the first, the lowest, the highest and the last of each half pixel stay, so
//! no peak is lost. **Then** a point goes if the
//! line without it passes within a small distance (Douglas and Peucker); the distance is doubled until the
//! line is short enough.

use super::PaperPoint;

/// Distance in pixels within which a line may be replaced. A page may be enlarged thirty times before it is seen.
const CLOSE: f64 = 0.03;
/// Columns of half a pixel.
const COLUMN: f64 = 0.5;

/// The line with at most about `most` points.
pub(crate) fn thinned(points: &[PaperPoint], most: usize) -> Vec<PaperPoint> {
    let rising = points.windows(2).all(|p| p[0].x <= p[1].x);
    let mut kept =
        if rising && points.len() > most { columns(points) } else { points.to_vec() };
    let mut close = CLOSE;
    loop {
        kept = simplified(&kept, close);
        if kept.len() <= most.max(2) || close > 2.0 {
            return kept;
        }
        close *= 2.0;
    }
}

/// First, lowest, highest and last of each column.
fn columns(points: &[PaperPoint]) -> Vec<PaperPoint> {
    let mut kept = Vec::new();
    let mut start = 0;
    while start < points.len() {
        let column = (points[start].x / COLUMN).floor();
        let same = points[start..].iter().take_while(|p| (p.x / COLUMN).floor() == column);
        let end = start + same.count().max(1);
        let range = start..end;
        let lowest = range.clone().min_by(|&i, &j| points[i].y.total_cmp(&points[j].y));
        let highest = range.max_by(|&i, &j| points[i].y.total_cmp(&points[j].y));
        let mut chosen = vec![start, end - 1];
        chosen.extend(lowest);
        chosen.extend(highest);
        chosen.sort_unstable();
        chosen.dedup();
        kept.extend(chosen.into_iter().map(|i| points[i]));
        start = end;
    }
    kept
}

/// Douglas and Peucker, with a stack of its own.
fn simplified(points: &[PaperPoint], close: f64) -> Vec<PaperPoint> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut stack = vec![(0, points.len() - 1)];
    while let Some((a, b)) = stack.pop() {
        let (mut far, mut at) = (close, None);
        for i in a + 1..b {
            let d = distance(points[i], points[a], points[b]);
            if d > far {
                (far, at) = (d, Some(i));
            }
        }
        if let Some(i) = at {
            keep[i] = true;
            stack.extend([(a, i), (i, b)]);
        }
    }
    points.iter().zip(keep).filter_map(|(&p, k)| k.then_some(p)).collect()
}

/// From a point to a segment.
pub(crate) fn distance(p: PaperPoint, a: PaperPoint, b: PaperPoint) -> f64 {
    let (ux, uy) = (b.x - a.x, b.y - a.y);
    let (vx, vy) = (p.x - a.x, p.y - a.y);
    let length = ux * ux + uy * uy;
    let s = if length > 0.0 { ((ux * vx + uy * vy) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (dx, dy) = (vx - s * ux, vy - s * uy);
    (dx * dx + dy * dy).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_stay() {
        // One sample of a million stands out; everything else is noise of a pixel.
        let mut points: Vec<PaperPoint> = (0..1_000_000)
            .map(|i| {
                PaperPoint::new(f64::from(i) * 5e-4, libm::sin(f64::from(i) * 12.9898) * 0.5)
            })
            .collect();
        points[617_283].y = 200.0;
        let kept = thinned(&points, 3000);
        assert!(kept.len() <= 4100, "{}", kept.len());
        assert!(kept.contains(&points[617_283]));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[999_999]));
    }

    #[test]
    fn a_thinned_line_stays_close() {
        let line: Vec<PaperPoint> = (0..20_000)
            .map(|i| {
                let s = f64::from(i) / 1000.0;
                PaperPoint::new(
                    200.0 + 10.0 * s * libm::cos(s),
                    200.0 + 10.0 * s * libm::sin(s),
                )
            })
            .collect();
        let kept = thinned(&line, 2000);
        assert!(kept.len() < 1500, "{}", kept.len());
        for &p in line.iter().step_by(37) {
            let d =
                kept.windows(2).map(|w| distance(p, w[0], w[1])).fold(f64::INFINITY, f64::min);
            assert!(d <= CLOSE * 1.001, "{d}");
        }
    }
}
