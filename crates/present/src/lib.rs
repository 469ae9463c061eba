//! What people and files see: figures of curves as SVG, PDF and PNG, tables as CSV and Parquet.

mod plot;
mod table;

pub use plot::{
    Axis, COLOUR_COUNT, Curve, Drawn, Figure, Look, Paint, Style, embedded, layout,
    layout_within, short,
};
pub use table::Table;
