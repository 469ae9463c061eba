//! Taylor coefficients of a function: the equation between derivatives that gives them.
//!
//! $$ w\,\dot y = \sum_i \pm f_i\,\dot g_i \qquad (\mathrm W) $$
//!
//! Series are named by numbers. Whoever evaluates them implements [`SeriesWriter`]; a function writes the
//! series $w$, $f_i$ that it needs with it and returns its [`SeriesRelation`].

use crate::math::Unary;

/// How the Taylor coefficients of $y = f(a)$ follow from those of $a$.
#[derive(Clone, Copy, Debug)]
pub enum SeriesKind {
    /// They do not: the function is not analytic, or has no such equation.
    None,
    /// $y^2 = a$
    Root,
    /// Two functions of the same argument, each the derivative of the other up to a sign.
    Pair(FunctionPair),
    /// (W), from the series $a$ and $y$.
    Relation(fn(&mut dyn SeriesWriter, a: u32, y: u32) -> SeriesRelation),
}

/// (W) of a function of two arguments, from the series $a$ and $b$.
pub type RelationOfTwo = fn(&mut dyn SeriesWriter, a: u32, b: u32) -> SeriesRelation;

/// $\dot y = z\dot a$ and $\dot z = \pm y\dot a$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionPair {
    /// $y$
    pub odd: Unary,
    /// $z$
    pub even: Unary,
    /// Whether the sign is minus.
    pub turns: bool,
}

/// Series of other quantities. Each call gives the number of a new series.
pub trait SeriesWriter {
    /// A number that does not vary.
    fn constant(&mut self, number: f64) -> u32;
    /// $a + b$
    fn sum(&mut self, a: u32, b: u32) -> u32;
    /// $a - b$
    fn difference(&mut self, a: u32, b: u32) -> u32;
    /// $-a$
    fn opposite(&mut self, a: u32) -> u32;
    /// $ab$
    fn product(&mut self, a: u32, b: u32) -> u32;
    /// $a^2$
    fn square(&mut self, a: u32) -> u32;
    /// $\sqrt a$
    fn root(&mut self, a: u32) -> u32;
    /// $e^a$
    fn exponential(&mut self, a: u32) -> u32;
}

/// The equation (W).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesRelation {
    /// $w$; 1 if there is none.
    pub over: Option<u32>,
    /// The right side.
    pub terms: [Option<SeriesTerm>; 2],
}

/// $\pm f\,\dot g$, $f = 1$ if there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesTerm {
    /// Whether the sign is minus.
    pub negative: bool,
    /// $f$
    pub f: Option<u32>,
    /// $g$
    pub g: u32,
}

impl SeriesRelation {
    /// $\dot y = f\,\dot a$
    pub fn along(f: u32, a: u32) -> Self {
        Self {
            over: None,
            terms: [Some(SeriesTerm { negative: false, f: Some(f), g: a }), None],
        }
    }

    /// $w\,\dot y = \dot a$
    pub fn over(w: u32, a: u32) -> Self {
        Self {
            over: Some(w),
            terms: [Some(SeriesTerm { negative: false, f: None, g: a }), None],
        }
    }
}
