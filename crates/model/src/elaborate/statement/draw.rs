//! `draw`: a statement into figures, one for each member of its family.

use pfaff_expr::Expr;

use crate::diagnostic::closest;
use crate::drawing::words::{Shape as Known, shape_named};
use crate::drawing::{Colour, Components, Drawing, Style};
use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::shape::{Shape, Value};
use crate::source::Span;
use crate::syntax::{Binder, ClauseValue, Draw, Slot};

/// How many points all drawings of a model may have together.
const POINTS: usize = 10_000;

/// One drawing as written, with what is known of its words.
pub(crate) struct Written<'a> {
    pub(crate) shape: &'static Known,
    pub(crate) draw: &'a Draw,
    pub(crate) span: Span,
}

impl Elaborator<'_> {
    pub(crate) fn draw(&mut self, draw: &Draw, span: Span) {
        let word = self.own_name(draw.shape);
        // NOTE: the parser lets no other word through.
        let Some(shape) = shape_named(&word) else { return };
        self.speak_of(format!("the drawing of a {word}"));
        let written = Written { shape, draw, span };
        let sound = self.words_fit(&written);
        // NOTE: a wrong look does not hide what is wrong with the figure.
        let style = self.style(&written);
        if !sound {
            return;
        }
        let mut slots = draw.slots.clone();
        if !matches!(shape.word, "curve" | "surface") {
            slots.extend(written.ranges().into_iter().map(Slot::Each));
        }
        let Some(members) = self.members(0, &slots) else { return };
        for indices in &members.indices {
            let figure = self.with_locals(&members, indices, |e| e.figure(&written));
            let Some(figure) = figure else { continue };
            self.draft.outputs.drawn_points += figure.expressions().len();
            if self.draft.outputs.drawn_points > POINTS * 3 {
                let message = format!("the drawings have more than {POINTS} points together");
                let hint = "choose fewer `steps`, or a smaller family";
                self.error_hint("E0308", span, message, hint);
                return;
            }
            let Some(style) = style.clone() else { continue };
            self.draft.outputs.drawings.push(Drawing { figure, style, span });
        }
    }

    /// Whether every word is there once and none is missing.
    fn words_fit(&mut self, written: &Written<'_>) -> bool {
        let mut good = true;
        let Written { shape, draw, span } = written;
        let names: Vec<String> = draw.clauses.iter().map(|c| self.own_name(c.word)).collect();
        for (k, name) in names.iter().enumerate() {
            if name != "to" && names[..k].contains(name) {
                let message = format!("`{name}` appears twice in one drawing");
                self.error_hint(
                    "E0440",
                    draw.clauses[k].word.span,
                    message,
                    "keep one of them",
                );
                good = false;
            }
        }
        let missing = shape.must.iter().find(|word| !names.iter().any(|name| name == *word));
        if let Some(word) = missing {
            let message = format!("a {} needs `{word}`", shape.word);
            let hint = format!("it is written like `{}`", shape.form);
            self.error_hint("E0440", Span::empty(span.end), message, &hint);
            good = false;
        }
        good
    }

    /// How it is drawn.
    fn style(&mut self, written: &Written<'_>) -> Option<Style> {
        let mut style = Style::default();
        let mut good = true;
        for clause in &written.draw.clauses {
            let word = self.own_name(clause.word);
            match (word.as_str(), &clause.value) {
                ("fill", _) => style.fill = true,
                ("dashed", _) => style.dashed = true,
                ("faint", _) => style.faint = true,
                ("colour" | "color", ClauseValue::Word(name)) => {
                    style.colour = self.colour(*name);
                    good &= style.colour.is_some();
                }
                ("width", ClauseValue::Value(id)) => {
                    let site = Site { part: 0, id: *id };
                    let value = self.read(site, Place::Draw);
                    let width = self.constant_value(&value, site, "the width of a line");
                    style.width = width.map(|c| c.value);
                    good &= style.width.is_some();
                }
                ("label", ClauseValue::Value(id)) => {
                    style.label = self.quoted(Site { part: 0, id: *id }, "a label");
                    good &= style.label.is_some();
                }
                _ => {}
            }
        }
        good.then_some(style)
    }

    fn colour(&mut self, name: crate::syntax::Name) -> Option<Colour> {
        let word = self.own_name(name);
        let spelt = if word == "gray" { "grey" } else { &word };
        let known = Colour::ALL.iter().find(|(_, known)| *known == spelt);
        if known.is_none() {
            let words: Vec<&str> = Colour::ALL.iter().map(|(_, word)| *word).collect();
            let hint = match closest(&word, &words) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the colours are {}", words.join(", ")),
            };
            let message = format!("there is no colour `{word}`");
            self.error_hint("E0440", name.span, message, &hint);
        }
        known.map(|(colour, _)| *colour)
    }

    /// A text in quotes.
    pub(crate) fn quoted(&mut self, site: Site, what: &str) -> Option<String> {
        match self.read(site, Place::Draw) {
            Value::Text(text) => Some(text.to_string()),
            Value::Poison => None,
            other => {
                let message =
                    format!("{what} must be in quotes, but this is {}", other.describe());
                self.error_hint("E0440", self.span(site), message, "write `\"…\"`");
                None
            }
        }
    }

    /// The value of a word of the drawing, if it is there.
    pub(crate) fn clause(&self, written: &Written<'_>, word: &str) -> Option<Site> {
        written.draw.clauses.iter().find_map(|clause| match clause.value {
            ClauseValue::Value(id) if self.own_name(clause.word) == word => {
                Some(Site { part: 0, id })
            }
            _ => None,
        })
    }

    /// A number of the drawing.
    pub(crate) fn number_of(&mut self, site: Site, what: &str) -> Option<Expr> {
        let value = self.read(site, Place::Draw);
        self.scalar(&value, site, what)
    }

    /// The components of a point or direction: two or three.
    pub(crate) fn place_of(&mut self, site: Site, what: &str) -> Option<Components> {
        let value = self.read(site, Place::Draw);
        match value.shape() {
            Some(Shape::Vector(2 | 3) | Shape::Row(2 | 3)) => Some(value.entries().to_vec()),
            _ if value.is_poison() => None,
            _ => {
                let message = format!(
                    "{what} must have two or three components, but this is {}",
                    value.describe()
                );
                self.error_hint("E0440", self.span(site), message, "write `[x, y]`");
                None
            }
        }
    }

    /// Points: one, or the rows of a matrix.
    pub(crate) fn places_of(&mut self, site: Site, what: &str) -> Option<Vec<Components>> {
        let value = self.read(site, Place::Draw);
        match value.shape() {
            Some(Shape::Matrix(_, columns @ (2 | 3))) => {
                Some(value.entries().chunks(columns).map(<[Expr]>::to_vec).collect())
            }
            _ => self.place_of(site, what).map(|point| vec![point]),
        }
    }
}

impl Written<'_> {
    /// What stands after the shape.
    pub(crate) fn subject(&self) -> Option<Site> {
        self.draw.subject.map(|id| Site { part: 0, id })
    }

    /// The ranges of `for`.
    pub(crate) fn ranges(&self) -> Vec<Binder> {
        self.draw
            .clauses
            .iter()
            .find_map(|clause| match &clause.value {
                ClauseValue::Ranges(ranges) => Some(ranges.clone()),
                _ => None,
            })
            .unwrap_or_default()
    }
}
