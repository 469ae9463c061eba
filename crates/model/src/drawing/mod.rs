//! What an animation shows: figures whose points are expressions of the model.
//!
//! Points have two or three components. Families, curves and surfaces are written out: a curve is a line of
//! many points, a surface a grid of them.
//! Matrices stand by columns as vectors: the half axes of an ellipsoid, the half edges of a box.

pub(crate) mod words;

use pfaff_expr::Expr;

use crate::source::Span;

/// One figure, as a `draw` statement or a member of its family says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// What is drawn.
    pub figure: Figure,
    /// How.
    pub style: Style,
    /// Where it stands.
    pub span: Span,
}

/// Components of a point or of a vector: two in the plane, three in space.
pub type Components = Vec<Expr>;

/// The geometry of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// `point P`, a dot; with `radius` a small disk or ball of that size.
    Point {
        /// The place.
        at: Components,
        /// In the units of the model.
        radius: Option<Expr>,
    },
    /// `line P to Q`, `polygon P to Q to R`, `curve …`
    Line {
        /// The corners.
        points: Vec<Components>,
        /// Whether the last corner is joined to the first.
        closed: bool,
    },
    /// `spring P to Q`
    Spring {
        /// One end.
        from: Components,
        /// The other end.
        to: Components,
        /// How often it winds.
        turns: u32,
        /// Across.
        thickness: Expr,
    },
    /// `circle P radius r`, `disk P radius r axis n`
    Circle {
        /// The centre.
        centre: Components,
        /// Its radius.
        radius: Expr,
        /// Across its plane, in space.
        axis: Option<Components>,
        /// A radius that is drawn, by its direction.
        spoke: Option<Components>,
        /// Whether it is a disk.
        solid: bool,
    },
    /// `ellipse`, `ellipsoid`, `sphere`: the unit ball under a matrix.
    Ellipsoid {
        /// The centre.
        centre: Components,
        /// Half axes.
        axes: Vec<Components>,
    },
    /// `box`
    Box {
        /// The centre.
        centre: Components,
        /// Half edges.
        edges: Vec<Components>,
    },
    /// `wheel`: a wheel or blade seen from above.
    Wheel {
        /// The centre.
        centre: Components,
        /// Half its length along its heading, and half its thickness across.
        edges: Vec<Components>,
    },
    /// `trail P`: the way so far.
    Trail {
        /// What leaves the trail.
        at: Components,
    },
    /// `arrow P along F`, `arrow P to Q`
    Arrow {
        /// Where it begins.
        at: Components,
        /// From there to its head.
        along: Components,
    },
    /// `text "…" at P`
    Text {
        /// What is written.
        text: String,
        /// A number behind it.
        value: Option<Expr>,
        /// Where.
        at: Components,
    },
    /// `surface …`
    Surface {
        /// By rows.
        points: Vec<Components>,
        /// How many points a row has.
        columns: usize,
    },
    /// `view …`: how the scene is looked at.
    View {
        /// Towards the eye, in space.
        from: Option<Components>,
        /// What is up, in space.
        up: Option<Components>,
        /// What stays in the middle.
        at: Option<Components>,
        /// How much is seen, from side to side.
        size: Option<Expr>,
    },
}

/// How a figure is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Style {
    /// `colour …`
    pub colour: Option<Colour>,
    /// `fill`
    pub fill: bool,
    /// `dashed`
    pub dashed: bool,
    /// `faint`
    pub faint: bool,
    /// `width …`, in pixels
    pub width: Option<f64>,
    /// `label "…"`
    pub label: Option<String>,
}

/// Colours by name. They are told apart by people who see fewer colours, in the light and in the dark
/// (palette of Okabe and Ito).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Colour {
    /// Black on light ground, white on dark ground.
    Ink,
    /// Between ink and ground.
    Grey,
    /// Blue.
    Blue,
    /// Orange.
    Orange,
    /// Bluish green.
    Green,
    /// Vermilion.
    Red,
    /// Reddish purple.
    Purple,
    /// Sky blue.
    Sky,
    /// Yellow.
    Yellow,
}

impl Colour {
    /// All colours with their words.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Ink, "ink"),
        (Self::Grey, "grey"),
        (Self::Blue, "blue"),
        (Self::Orange, "orange"),
        (Self::Green, "green"),
        (Self::Red, "red"),
        (Self::Purple, "purple"),
        (Self::Sky, "sky"),
        (Self::Yellow, "yellow"),
    ];

    /// The word of the language.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(colour, _)| *colour == self).map_or("ink", |(_, name)| name)
    }
}

impl Figure {
    /// Every expression, and nothing of the view.
    pub fn expressions(&self) -> Vec<Expr> {
        let flat = |lists: &[&[Components]]| -> Vec<Expr> {
            lists.iter().flat_map(|list| list.iter().flatten().copied()).collect()
        };
        match self {
            Self::Point { at, radius } => at.iter().chain(radius).copied().collect(),
            Self::Line { points, .. } | Self::Surface { points, .. } => flat(&[points]),
            Self::Spring { from, to, thickness, .. } => {
                from.iter().chain(to).chain([thickness]).copied().collect()
            }
            Self::Circle { centre, radius, axis, spoke, .. } => {
                let rest = axis.iter().chain(spoke).flatten();
                centre.iter().chain([radius]).chain(rest).copied().collect()
            }
            Self::Ellipsoid { centre, axes: columns }
            | Self::Box { centre, edges: columns }
            | Self::Wheel { centre, edges: columns } => {
                centre.iter().chain(columns.iter().flatten()).copied().collect()
            }
            Self::Trail { at } => at.clone(),
            Self::Arrow { at, along } => at.iter().chain(along).copied().collect(),
            Self::Text { value, at, .. } => at.iter().chain(value).copied().collect(),
            Self::View { .. } => Vec::new(),
        }
    }

    /// Whether it lies in space and not in the plane.
    pub fn is_spatial(&self) -> bool {
        let three = |c: &Components| c.len() == 3;
        match self {
            Self::Point { at, .. }
            | Self::Trail { at }
            | Self::Arrow { at, .. }
            | Self::Text { at, .. } => three(at),
            Self::Line { points, .. } | Self::Surface { points, .. } => {
                points.first().is_some_and(three)
            }
            Self::Spring { from, .. } => three(from),
            Self::Circle { centre, .. }
            | Self::Ellipsoid { centre, .. }
            | Self::Box { centre, .. }
            | Self::Wheel { centre, .. } => three(centre),
            Self::View { from, up, at, .. } => {
                from.is_some() || up.is_some() || at.as_ref().is_some_and(three)
            }
        }
    }
}
