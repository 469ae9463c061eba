//! Foliations, cotangent form, Lagrange space, Krupková's system and differential forms of a model: what `pfaff geometry` shows beside connections and distributions.

mod point;

pub use point::Point;
