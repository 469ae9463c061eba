//! The letters of figures: Libertinus Serif, upright and italic, embedded in the program.
//!
//! The two files in `fonts/` are subsets (Latin, Greek, Cyrillic, signs of mathematics) of the fonts of the
//! Libertinus Project under the SIL Open Font License, which stands beside them.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Upright or italic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Typeface {
    /// Words, digits and signs.
    Upright,
    /// Letters that stand for quantities.
    Italic,
}

/// Units of the font in one em.
pub(super) const EM: f64 = 1000.0;

static FACES: LazyLock<[Face<'static>; 2]> = LazyLock::new(|| {
    [Typeface::Upright, Typeface::Italic]
        .map(|t| Face::parse(t.bytes(), 0).expect("the fonts in this crate are sound"))
});

impl Typeface {
    /// The font file.
    pub(super) fn bytes(self) -> &'static [u8] {
        match self {
            Self::Upright => include_bytes!("../../fonts/LibertinusSerif-Regular.otf"),
            Self::Italic => include_bytes!("../../fonts/LibertinusSerif-Italic.otf"),
        }
    }

    /// The name of the font in a PDF file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Upright => "LibertinusSerif-Regular",
            Self::Italic => "LibertinusSerif-Italic",
        }
    }

    /// The font as data.
    pub(super) fn face(self) -> &'static Face<'static> {
        &FACES[self as usize]
    }

    /// The glyph of a character; number 0, an empty box, if the font has none.
    pub(super) fn glyph(self, c: char) -> u16 {
        self.face().glyph_index(c).map_or(0, |g| g.0)
    }

    /// The advance of a glyph in em.
    pub(super) fn advance(self, glyph: u16) -> f64 {
        f64::from(self.face().glyph_hor_advance(GlyphId(glyph)).unwrap_or(0)) / EM
    }

    /// Left, bottom, right and top of the ink of a glyph in em; nothing for a blank.
    pub(super) fn ink(self, glyph: u16) -> Option<[f64; 4]> {
        let r = self.face().glyph_bounding_box(GlyphId(glyph))?;
        Some([r.x_min, r.y_min, r.x_max, r.y_max].map(|x| f64::from(x) / EM))
    }

    /// Hands the outline of a glyph, in units of the font with y upwards, to a builder.
    pub(super) fn outline(self, glyph: u16, builder: &mut dyn OutlineBuilder) {
        self.face().outline_glyph(GlyphId(glyph), builder);
    }
}
