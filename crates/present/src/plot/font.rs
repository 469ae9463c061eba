//! Letters as strokes, for pictures of pixels: Latin, Greek, digits and signs.
//!
//! A letter is a list of strokes on a grid: a digit is the place from left to right (0 to 8), a letter the
//! height (`a` = −3, `d` = 0 the base line,
//! `j` = 6 the height of an x, `m` = 9 that of a capital). A stroke that begins with `~` is a curve through
//! its points. Letters are as wide as in Helvetica, for which the
//! figure is laid out.

use super::metrics::width;

/// The height of a capital in the grid, and in parts of the size.
const GRID: f64 = 9.0;
const CAPITAL: f64 = 0.72;

const LETTERS: &[(char, &str)] = &[
    ('0', "~4d1e0h0i1l4m7l8i8h7e4d"),
    ('1', "1k4m4d"),
    ('2', "~0k1l4m7l8k8j7h0d 0d8d"),
    ('3', "~0l4m7l8k7i3h ~3h7h8f7e4d0e"),
    ('4', "6d6m0f8f"),
    ('5', "7m1m0h ~0h3j6i8g7e4d0e"),
    ('6', "~7l4m1k0h0f1e4d7e8g7i4j1i0g"),
    ('7', "0m8m3d"),
    ('8', "~4m1l1i4h7g8f7e4d1e0f1g4h7i7l4m"),
    ('9', "~8i7g4f1g0j1l4m7l8i8h7e4d1e"),
    ('.', "4d4e"),
    (',', "4e3b"),
    (':', "4d4e 4i4j"),
    (';', "4e3b 4i4j"),
    ('-', "1h7h"),
    ('−', "0h8h"),
    ('–', "0h8h"),
    ('+', "0h8h 4d4l"),
    ('=', "0f8f 0i8i"),
    ('_', "0b8b"),
    ('\'', "4m4j"),
    ('"', "2m2j 6m6j"),
    ('(', "~6m3k2h3e6b"),
    (')', "~2m5k6h5e2b"),
    ('[', "6m2m2b6b"),
    (']', "2m6m6b2b"),
    ('{', "~6m4l4i2h ~2h4g4c6b"),
    ('}', "~2m4l4i6h ~6h4g4c2b"),
    ('/', "0c8m"),
    ('\\', "0m8c"),
    ('|', "4m4b"),
    ('*', "4l4h 1k7i 7k1i"),
    ('·', "4h4g"),
    ('^', "1i4m7i"),
    ('~', "~0g2i6g8i"),
    ('<', "8k0h8e"),
    ('>', "0k8h0e"),
    ('!', "4m4g 4d4e"),
    ('?', "~0k2m6m8k7i4h4g 4d4e"),
    ('#', "2d3m 5d6m 0g8g 0j8j"),
    ('%', "0d8m ~2m0l2j4l2m ~6g4f6d8f6g"),
    ('&', "~8d2k3m5m5k0g1d4d8h"),
    ('@', "~6h4j2h4f6h ~6h7f8h7l3m0i0f3d7d"),
    ('$', "~8k5l1k1j4i7h8f7e4e0f 4m4c"),
    ('`', "3m5j"),
    ('…', "1d1e 4d4e 7d7e"),
    ('×', "1e7k 1k7e"),
    ('A', "0d4m8d 1g7g"),
    ('B', "0d0m ~0m5m7k5i0i ~0i6i8f6d0d"),
    ('C', "~8k6m3m0j0g3d6d8f"),
    ('D', "0d0m ~0m4m8j8g4d0d"),
    ('E', "8m0m0d8d 0i6i"),
    ('F', "8m0m0d 0i6i"),
    ('G', "~8k6m3m0j0g3d6d8f 8f8h5h"),
    ('H', "0d0m 8d8m 0i8i"),
    ('I', "4d4m"),
    ('J', "~6m6f5d2d1f"),
    ('K', "0d0m 8m0g 3i8d"),
    ('L', "0m0d8d"),
    ('M', "0d0m4f8m8d"),
    ('N', "0d0m8d8m"),
    ('O', "~4d1e0h0i1l4m7l8i8h7e4d"),
    ('P', "0d0m ~0m6m8k6h0h"),
    ('Q', "~4d1e0h0i1l4m7l8i8h7e4d 5f8c"),
    ('R', "0d0m ~0m6m8k6h0h 4h8d"),
    ('S', "~8l5m1l1j4i7h8f7e4d0e"),
    ('T', "0m8m 4m4d"),
    ('U', "~0m0g1e4d7e8g8m"),
    ('V', "0m4d8m"),
    ('W', "0m2d4k6d8m"),
    ('X', "0d8m 0m8d"),
    ('Y', "0m4h8m 4h4d"),
    ('Z', "0m8m0d8d"),
    ('a', "~8h6j3j0h0f3d6d8f 8j8d"),
    ('b', "0m0d ~0h3j6j8h8f6d3d0f"),
    ('c', "~8i5j2j0h0f2d5d8e"),
    ('d', "8m8d ~8h5j2j0h0f2d5d8f"),
    ('e', "0g8g ~8g7i4j1i0g1e4d7e"),
    ('f', "~7m5m4k4d 1j7j"),
    ('g', "8j8c ~8c6a3a0b ~8h5j2j0h0f2d5d8f"),
    ('h', "0m0d ~0h3j6j8h8d"),
    ('i', "4d4j 4l4m"),
    ('j', "~5j5b4a2a 5l5m"),
    ('k', "0m0d 7j0f 3h8d"),
    ('l', "4m4d"),
    ('m', "0d0j ~0h2j4i4d ~4h6j8i8d"),
    ('n', "0d0j ~0h3j6j8h8d"),
    ('o', "~4d1e0g1i4j7i8g7e4d"),
    ('p', "0j0a ~0h3j6j8h8f6d3d0f"),
    ('q', "8j8a ~8h5j2j0h0f2d5d8f"),
    ('r', "1d1j ~1h3j7j"),
    ('s', "~8i4j1i2h6g8f6d3d0e"),
    ('t', "~3m3f4d7d 0j7j"),
    ('u', "~0j0f2d5d8f 8j8d"),
    ('v', "0j4d8j"),
    ('w', "0j2d4i6d8j"),
    ('x', "0d8j 0j8d"),
    ('y', "0j4d 8j4d2a0a"),
    ('z', "0j8j0d8d"),
    ('α', "~8j5g3d1d0f0h1j3j5g8d"),
    ('β', "0a0k ~0k2m6m7k6i3i ~3i7i8f6d3d0f"),
    ('γ', "~0j2j4g4b ~8j4g3b"),
    ('δ', "~6m2l4i7h8f6d2d0f1h4i"),
    ('ε', "~7i4j1i2h4g ~4g1g0e4d8e"),
    ('ζ', "1m7m ~7m2i0f2d6c5a"),
    ('η', "0j1i1d ~1h4j7i7a"),
    ('θ', "~4d1f1k4m7k7f4d 1i7i"),
    ('ι', "~4j4e6d"),
    ('κ', "1j1d 7j1g 3h8d"),
    ('λ', "0m1m8d 4i0d"),
    ('μ', "1j1a ~1f3d5d7f 7j7d"),
    ('µ', "1j1a ~1f3d5d7f 7j7d"),
    ('ν', "0j3d7g8j"),
    ('ξ', "~7m2m1k3i6i ~3i0f3d6c5a"),
    ('π', "0j8j 2j2d 6j6d"),
    ('ρ', "0a0g ~0g2j6j8g6d2d0g"),
    ('σ', "8j4j ~4j1i0g1e4d7e8g7i4j"),
    ('τ', "0j8j ~4j4e6d"),
    ('υ', "~0j0f2d5d8f8j"),
    ('φ', "~4d1e0g1i4j7i8g7e4d 4m4a"),
    ('χ', "0j8a 8j0a"),
    ('ψ', "~0j0g2d6d8g8j 4m4a"),
    ('ω', "~1j0g1d3d4g5d7d8g7j"),
    ('Γ', "0d0m8m"),
    ('Δ', "0d4m8d0d"),
    ('Θ', "~4d1e0h0i1l4m7l8i8h7e4d 2h6h"),
    ('Λ', "0d4m8d"),
    ('Ξ', "0m8m 1h7h 0d8d"),
    ('Π', "0d0m8m8d"),
    ('Σ', "8m0m4h0d8d"),
    ('Φ', "4m4d ~4f1g0h1j4k7j8h7g4f"),
    ('Ψ', "~0m0j2g6g8j8m 4m4d"),
    ('Ω', "0d3d ~3d0g0k4m8k8g5d 5d8d"),
];

/// What has no letter here.
const BOX: &str = "1d1m7m7d1d";

/// The strokes of a text that begins at the origin, y upwards.
pub(crate) fn strokes(text: &str, size: f64) -> Vec<Vec<(f64, f64)>> {
    let mut all = Vec::new();
    let mut x = 0.0;
    let mut buffer = [0; 4];
    for c in text.chars() {
        let advance = width(c.encode_utf8(&mut buffer), size);
        let bearing = 0.12 * advance;
        let place = |(a, b): (f64, f64)| {
            (x + bearing + a / 8.0 * (advance - 2.0 * bearing), b / GRID * CAPITAL * size)
        };
        if !c.is_whitespace() {
            let letter = LETTERS.iter().find(|(l, _)| *l == c).map_or(BOX, |(_, s)| s);
            all.extend(letter.split(' ').map(|s| stroke(s).into_iter().map(place).collect()));
        }
        x += advance;
    }
    all
}

/// The points of a stroke in the grid.
fn stroke(text: &str) -> Vec<(f64, f64)> {
    let curved = text.strip_prefix('~');
    let points: Vec<(f64, f64)> = curved
        .unwrap_or(text)
        .as_bytes()
        .chunks_exact(2)
        .map(|p| (f64::from(p[0]) - f64::from(b'0'), f64::from(p[1]) - f64::from(b'd')))
        .collect();
    if curved.is_some() { smooth(&points) } else { points }
}

/// The spline of Catmull and Rom through points, closed if they are.
fn smooth(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const PARTS: usize = 6;
    let n = points.len();
    let closed = n > 2 && points[0] == points[n - 1];
    let at = |i: isize| -> (f64, f64) {
        let last = n as isize - 1;
        match (closed, i) {
            (true, i) => points[i.rem_euclid(last) as usize],
            (false, i) => points[i.clamp(0, last) as usize],
        }
    };
    let mut out = vec![points[0]];
    for i in 0..n as isize - 1 {
        let [a, b, c, d] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
        for k in 1..=PARTS {
            let s = k as f64 / PARTS as f64;
            let one = |a: f64, b: f64, c: f64, d: f64| {
                b + 0.5
                    * s
                    * (c - a
                        + s * (2.0 * a - 5.0 * b + 4.0 * c - d + s * (3.0 * (b - c) + d - a)))
            };
            out.push((one(a.0, b.0, c.0, d.0), one(a.1, b.1, c.1, d.1)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_of_a_number_and_a_name_is_there_and_within_its_box() {
        let wanted = (' '..='~').chain('α'..='ω').filter(|c| !matches!(c, ' ' | 'ς' | 'ο'));
        for c in wanted.chain("−ΓΔΘΛΞΠΣΦΨΩ…".chars()) {
            let letter = LETTERS.iter().find(|(l, _)| *l == c);
            let (_, text) = letter.unwrap_or_else(|| panic!("no letter {c}"));
            for s in text.split(' ') {
                let points = stroke(s);
                assert!(points.len() > 1, "{c}");
                // A curve may pass its points by a little.
                let inside =
                    |p: &(f64, f64)| (-0.6..=8.6).contains(&p.0) && (-3.6..=9.6).contains(&p.1);
                assert!(points.iter().all(inside), "{c}: {points:?}");
            }
        }
    }

    #[test]
    fn letters_stand_side_by_side() {
        let right = |text: &str| {
            strokes(text, 10.0).iter().flatten().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max)
        };
        assert!(right("m") <= width("m", 10.0) && right("mm") > right("m") + 5.0);
    }
}
