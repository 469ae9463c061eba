//! The colours of the page: text stands out from its ground by 4.5:1, lines by 3:1, in both schemes. [WCAG
//! 2.2, 1.4.3, 1.4.11]

use std::collections::BTreeMap;

use super::page::STYLE;

/// The variables of one scheme.
fn scheme(dark: bool) -> BTreeMap<String, [f64; 3]> {
    let blocks: Vec<&str> = STYLE.split(":root {").skip(1).collect();
    let block = blocks[usize::from(dark)].split('}').next().unwrap();
    let declarations =
        block.split(';').filter_map(|d| d.trim().strip_prefix("--")?.split_once(": "));
    declarations.map(|(name, value)| (name.to_owned(), colour(value.trim()))).collect()
}

fn colour(hex: &str) -> [f64; 3] {
    [1, 3, 5].map(|i| f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0)
}

fn luminance(colour: [f64; 3]) -> f64 {
    let linear =
        |c: f64| if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) };
    let [r, g, b] = colour.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn black_on_white_is_21_to_1() {
    assert!((contrast(colour("#000000"), colour("#ffffff")) - 21.0).abs() < 1e-9);
}

#[test]
fn everything_stands_out() {
    for dark in [false, true] {
        let colours = scheme(dark);
        assert!(colours.len() >= 26, "{}", colours.len());
        let of = |name: &str| colours[name];
        let mut pairs: Vec<(String, &str, f64)> = Vec::new();
        for text in ["ink", "muted", "link"] {
            pairs.extend(["paper", "panel"].map(|ground| (text.to_owned(), ground, 4.5)));
        }
        for text in ["keyword", "call", "number", "string", "comment"] {
            pairs.push((text.into(), "panel", 4.5));
        }
        for (verdict, ground) in
            [("pass", "pass-ground"), ("warn", "warn-ground"), ("fail", "fail-ground")]
        {
            pairs.push((verdict.into(), ground, 4.5));
        }
        for i in 0..8 {
            pairs.extend(["paper", "panel"].map(|ground| (format!("c{i}"), ground, 3.0)));
        }
        pairs.push(("line".into(), "paper", 3.0));
        for (name, ground, least) in pairs {
            let found = contrast(of(&name), of(ground));
            assert!(
                found >= least,
                "dark {dark}: {name} on {ground} has {found:.2}, less than {least}"
            );
        }
    }
}

/// The page and files of figures have the same colours.
#[test]
fn figures_are_coloured_as_the_page() {
    let light = scheme(false);
    for i in 0..8 {
        assert_eq!(light[&format!("c{i}")], crate::plot::Paint::Curve(i).rgb());
    }
}
