//! What people and files see: figures of curves as SVG, PDF and PNG.

mod plot;

pub use plot::{
    Axis, COLOUR_COUNT, Curve, Drawn, Figure, Look, Paint, Style, embedded, layout,
    layout_within, short,
};
