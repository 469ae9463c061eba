//! The words of `draw`: shapes, and what may or must stand after each.

/// What stands after a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// Nothing.
    Nothing,
    /// An expression.
    Value,
    /// A name, of a colour.
    Colour,
    /// `u = a..b, v = c..d`
    Ranges,
}

/// A word that begins a drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) word: &'static str,
    /// How a drawing of it is written.
    pub(crate) form: &'static str,
    /// Words without which it is not known.
    pub(crate) must: &'static [&'static str],
    /// Further words.
    pub(crate) may: &'static [&'static str],
}

/// Words that go with every shape.
pub(crate) const STYLE: &[&str] =
    &["colour", "color", "fill", "dashed", "faint", "width", "label", "for"];

const fn shape(
    word: &'static str,
    form: &'static str,
    must: &'static [&'static str],
    may: &'static [&'static str],
) -> Shape {
    Shape { word, form, must, may }
}

/// All shapes, in the order of the language reference.
pub(crate) const SHAPES: &[Shape] = &[
    shape("point", "draw point [x, y]", &[], &["radius"]),
    shape("line", "draw line [0, 0] to [x, y]", &[], &["to"]),
    shape("polygon", "draw polygon [0, 0] to [1, 0] to [x, y]", &[], &["to"]),
    shape("spring", "draw spring [0, 0] to [x, y]", &["to"], &["turns", "thickness"]),
    shape("circle", "draw circle [x, y] radius r", &["radius"], &["axis", "spoke"]),
    shape("disk", "draw disk [x, y, z] radius r axis n", &["radius"], &["axis", "spoke"]),
    shape("sphere", "draw sphere [x, y, z] radius r", &["radius"], &["turned"]),
    shape("ellipse", "draw ellipse phi at [x, y]", &[], &["at", "radius", "size"]),
    shape("ellipsoid", "draw ellipsoid phi at [x, y, z]", &[], &["at", "radius", "size"]),
    shape("box", "draw box R at [x, y, z] size [a, b, c]", &["at", "size"], &[]),
    shape(
        "wheel",
        "draw wheel [x, y] heading phi length 0.4",
        &["heading", "length"],
        &["thickness"],
    ),
    shape("trail", "draw trail [x, y]", &[], &[]),
    shape(
        "arrow",
        "draw arrow [x, y] along [Fx, Fy] scale 0.2",
        &[],
        &["along", "to", "scale"],
    ),
    shape("text", "draw text \"speed\" at [x, y]", &["at"], &["value"]),
    shape("curve", "draw curve [u, sin(u)] for u = 0..1", &["for"], &["steps"]),
    shape("surface", "draw surface [u, v, 0] for u = -1..1, v = -1..1", &["for"], &["steps"]),
    shape("view", "draw view at [x, y] size 3", &[], &["from", "up", "at", "size"]),
];

/// The shape of a word.
pub(crate) fn shape_named(word: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.word == word)
}

/// What stands after a word; nothing is known of words that are not of a drawing.
pub(crate) fn follows(word: &str) -> Option<Follows> {
    match word {
        "fill" | "dashed" | "faint" => Some(Follows::Nothing),
        "colour" | "color" => Some(Follows::Colour),
        "for" => Some(Follows::Ranges),
        "width" | "label" => Some(Follows::Value),
        _ => SHAPES
            .iter()
            .any(|shape| shape.must.contains(&word) || shape.may.contains(&word))
            .then_some(Follows::Value),
    }
}

impl Shape {
    /// The words that may stand in a drawing of it.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        self.must.iter().chain(self.may).chain(STYLE).copied().collect()
    }
}
