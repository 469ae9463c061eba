//! `draw` into figures, and its mistakes.

use pfaff_model::{Colour, Figure, NoFiles, Overrides, ParseErrors, Source, read_model};

use super::support::*;

const HEAD: &str = "coordinates x, y, phi\nparameters N = 3, a = 0.5\nlet P = [x, y]\n\
    let Q[i = 1..N] = [x + i, y]\nlagrangian (x'^2 + y'^2 + phi'^2)/2\nconstraint c: y' = x'\n";

fn figures(draw: &str) -> Vec<Figure> {
    read(&format!("{HEAD}{draw}")).drawings.iter().map(|d| d.figure.clone()).collect()
}

/// The values of all expressions of the only figure; every symbol has its value of `support`.
#[track_caller]
fn values(draw: &str) -> Vec<f64> {
    let model = read(&format!("{HEAD}{draw}"));
    assert_eq!(model.drawings.len(), 1);
    model.drawings[0].figure.expressions().iter().map(|&e| evaluate(&model, e)).collect()
}

#[track_caller]
fn same(draw: &str, list: &str) {
    let model = read(&format!("{HEAD}observe o = {list}"));
    let expected: Vec<f64> = model.observed.iter().map(|o| evaluate(&model, o.expr)).collect();
    let found = values(draw);
    assert_eq!(found.len(), expected.len(), "{draw}");
    found.iter().zip(&expected).for_each(|(a, b)| close(*a, *b));
}

#[test]
fn figures_are_made_of_expressions() {
    same("draw point P", "[x, y]");
    same("draw point P radius a", "[x, y, a]");
    same("draw line [0, 1] to P to 2*P", "[0, 1, x, y, 2*x, 2*y]");
    same("draw polygon [[0, 0], [1, 0], [x, y]]", "[0, 0, 1, 0, x, y]");
    same("draw spring [0, 0] to P", "[0, 0, x, y, 0.1]");
    same("draw circle P radius 2*a spoke phi", "[x, y, 2*a, cos(phi), sin(phi)]");
    same("draw disk [x, y, a] radius a", "[x, y, a, a, 0, 0, 1]");
    // Half axes and half edges stand by columns.
    same("draw ellipse [[1, 2], [3, 4]] at P radius a", "[x, y, a, 3*a, 2*a, 4*a]");
    same("draw ellipse [[1, 2], [3, 4]] size [2, a]", "[0, 0, 1, 3, a, 2*a]");
    let half = "[x, y, a*cos(phi)/2, a*sin(phi)/2, -sin(phi), cos(phi)]";
    same("draw box phi at P size [a, 2]", half);
    same(
        "draw wheel P heading phi length 2 thickness a",
        "[x, y, cos(phi), sin(phi), -a*sin(phi)/2, a*cos(phi)/2]",
    );
    same("draw sphere [x, y, 0] radius a", "[x, y, 0, a, 0, 0, 0, a, 0, 0, 0, a]");
    same("draw trail P + [1, 1]", "[x + 1, y + 1]");
    same("draw arrow P along P' scale 3", "[x, y, 3*x', 3*y']");
    same("draw arrow P to [1, 2] scale 2", "[x, y, 2*(1 - x), 2*(2 - y)]");
    same("draw arrow P along [reaction(x), lambda(c)]", "[x, y, reaction(x), lambda(c)]");
    same("draw text \"v\" at P value x''", "[x, y, x'']");
    same("draw curve [u, x*u] for u = 0..a steps 2", "[0, 0, a/2, x*a/2, a, x*a]");
    same(
        "draw surface [u, v, x] for u = 0..1, v = 2..4 steps 1",
        "[0, 2, x, 0, 4, x, 1, 2, x, 1, 4, x]",
    );
}

#[test]
fn families_are_written_out() {
    assert_eq!(figures("draw point[i = 1..N] Q[i]").len(), 3);
    assert_eq!(figures("draw point[i = 1..N] Q[i]"), figures("draw point Q[i] for i = 1..N"));
    let curves = figures("draw curve[i = 2..3] Q[i] + [u, 0] for u = 0..1 steps 4");
    assert!(
        matches!(&curves[..], [Figure::Line { points, closed: false }, _] if points.len() == 5)
    );
}

#[test]
fn looks_are_kept() {
    let model = read(&format!(
        "{HEAD}draw line P to [0, 0], width 3, colour red, dashed faint fill label \"a <b>\"\n\
         draw point P color gray"
    ));
    let style = &model.drawings[0].style;
    assert_eq!(style.colour, Some(Colour::Red));
    assert!(style.dashed && style.faint && style.fill);
    assert_eq!((style.width, style.label.as_deref()), (Some(3.0), Some("a <b>")));
    assert_eq!(model.drawings[1].style.colour, Some(Colour::Grey));
    let view = figures("draw view from [1, 2, 3] at P size 4");
    assert!(matches!(&view[..], [Figure::View { up: None, size: Some(_), .. }]));
}

#[test]
fn words_of_drawings_are_names_elsewhere() {
    let model = read(
        "coordinates to, radius\nlagrangian (to'^2 + radius'^2)/2\n\
         draw line [to, 0] to [radius, to]\ndraw circle [to, to] radius radius",
    );
    assert_eq!(model.drawings.len(), 2);
}

/// Each mistake is found, at its place, with a hint; all of them at once.
#[test]
fn mistakes_are_named() {
    let cases = [
        ("draw lin P", "E0125", "lin", "did you mean `line`?"),
        ("draw widget P", "E0125", "widget", "you can draw point"),
        ("draw point P radus a", "E0125", "radus", "did you mean `radius`?"),
        ("draw point P heading phi", "E0125", "heading", "after `point` you can write"),
        ("draw circle P", "E0440", "", "draw circle [x, y] radius r"),
        ("draw line P", "E0440", "draw line P", "draw line [0, 0] to [x, y]"),
        ("draw line P to [1, 2, 3]", "E0440", "[1, 2, 3]", "have two components"),
        ("draw point x", "E0440", "x", "write `[x, y]`"),
        ("draw point P colour rad", "E0440", "rad", "did you mean `red`?"),
        ("draw point P colour 3", "E0114", "3", "it is written like"),
        ("draw point P dashed dashed", "E0440", "dashed", "keep one of them"),
        ("draw point P width x", "E0306", "x", ""),
        ("draw point P label x", "E0440", "x", "write `\"…\"`"),
        ("draw point [x, phy]", "E0201", "phy", "did you mean `phi`?"),
        ("draw sphere P radius a", "E0440", "P", "three components"),
        ("draw sphere [x, y, 0] radius P", "E0301", "P", ""),
        ("draw ellipse P", "E0440", "P", "identity"),
        ("draw arrow P", "E0440", "draw arrow P", "along"),
        ("draw curve [u, x]", "E0440", "", "for u = 0..1"),
        ("draw surface [u, u, x] for u = 0..1", "E0440", "", "draw surface"),
        ("draw surface [u, v] for u = 0..1, v = 0..1", "E0440", "[u, v]", "three components"),
        ("draw curve [x, y] for x = 0..1", "E0204", "x", "another name"),
        ("draw curve [u, y] for u = 0..1 steps 0", "E0440", "0", "in this range"),
        ("draw point[i = 1..4] Q[i]", "E0304", "Q[i]", "1..3"),
        ("draw point [x, mean(y)]", "E0412", "", ""),
        ("draw text x at P", "E0440", "x", "write"),
        ("draw view up P", "E0440", "P", "write"),
        ("draw", "E0124", "draw", "draw point [x, y]"),
        ("draw surface[i = 1..90] [u, v, i] for u = 0..1, v = 0..1", "E0308", "", "steps"),
    ];
    let lines: Vec<&str> = cases.iter().map(|(line, ..)| *line).collect();
    let text = format!("{HEAD}{}\n", lines.join("\n"));
    let ParseErrors { source, diagnostics: found } =
        read_model(Source::new("m", &text), &Overrides::default(), &NoFiles)
            .expect_err("every line is wrong");
    for (k, (line, code, place, hint)) in cases.iter().enumerate() {
        let number = (HEAD.lines().count() + k + 1) as u32;
        let here: Vec<_> =
            found.iter().filter(|d| source.position(d.span.start).line == number).collect();
        assert_eq!(here.len(), 1, "{line}: {here:?}");
        let diagnostic = here[0];
        assert_eq!(diagnostic.code, *code, "{line}: {diagnostic:?}");
        if !place.is_empty() {
            assert_eq!(source.slice(diagnostic.span), *place, "{line}");
        }
        let said = diagnostic.hint.as_deref().unwrap_or("");
        assert!(said.contains(hint), "{line}: {said}");
    }
    assert_eq!(found.len(), cases.len());
}

#[test]
fn two_mistakes_of_one_drawing_are_both_found() {
    let text = format!("{HEAD}draw wheel P heding phi lenth 2\n");
    let ParseErrors { diagnostics: found, .. } =
        read_model(Source::new("m", &text), &Overrides::default(), &NoFiles)
            .expect_err("two words are wrong");
    let hints: Vec<&str> = found.iter().filter_map(|d| d.hint.as_deref()).collect();
    assert_eq!(hints, ["did you mean `heading`?", "did you mean `length`?"]);
    let text = format!("{HEAD}draw point [x, phy] colour blu\n");
    let ParseErrors { diagnostics: found, .. } =
        read_model(Source::new("m", &text), &Overrides::default(), &NoFiles)
            .expect_err("a name and a colour are wrong");
    let codes: Vec<&str> = found.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["E0201", "E0440"]);
}
