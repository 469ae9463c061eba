//! A tensor with its names: one block of what `pfaff geometry` shows.

use pfaff_mechanics::Tensor;

/// Which components repeat others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Each stands for itself.
    Nothing,
    /// Symmetric in the last two indices.
    Symmetric,
    /// Antisymmetric in the last two indices.
    Antisymmetric,
}

/// The letter of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// In text.
    pub text: &'static str,
    /// In LaTeX.
    pub latex: &'static str,
}

impl Letter {
    /// A letter that is written alike in both.
    pub(crate) const fn plain(letter: &'static str) -> Self {
        Self { text: letter, latex: letter }
    }
}

/// What a block is called.
pub(crate) struct Title {
    pub(crate) key: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) letter: Letter,
}

/// The indices of a block.
pub(crate) struct Indices<'a> {
    /// How many of the first ones stand above.
    pub(crate) upper: usize,
    pub(crate) repeats: Repeats,
    /// Names of the values of each index.
    pub(crate) names: &'a [&'a [String]],
}

impl<'a> Indices<'a> {
    /// Components that do not repeat others.
    pub(crate) fn new(upper: usize, names: &'a [&'a [String]]) -> Self {
        Self { upper, repeats: Repeats::Nothing, names }
    }

    pub(crate) fn symmetric(self) -> Self {
        Self { repeats: Repeats::Symmetric, ..self }
    }

    pub(crate) fn antisymmetric(self) -> Self {
        Self { repeats: Repeats::Antisymmetric, ..self }
    }
}

/// A tensor under its key and heading.
#[derive(Clone, Debug)]
pub struct Block {
    /// The key of the object that it stands in, empty at the top.
    pub group: &'static str,
    /// Its key.
    pub key: &'static str,
    /// What it is, in a few words.
    pub heading: &'static str,
    /// Its letter in text and in LaTeX.
    pub letter: Letter,
    /// How many of the first indices stand above.
    pub upper: usize,
    /// Names of the values of each index.
    pub names: Vec<Vec<String>>,
    /// Which of its components repeat others.
    pub repeats: Repeats,
    /// The components.
    pub tensor: Tensor,
    /// The components at the state, where one is given.
    pub values: Option<Vec<f64>>,
}

impl Block {
    /// At the top, without values.
    pub(crate) fn new(title: Title, indices: Indices<'_>, tensor: Tensor) -> Self {
        Self {
            group: "",
            key: title.key,
            heading: title.heading,
            letter: title.letter,
            upper: indices.upper,
            names: indices.names.iter().map(|names| names.to_vec()).collect(),
            repeats: indices.repeats,
            tensor,
            values: None,
        }
    }

    /// The part of the report that it belongs to.
    pub fn part(&self) -> &'static str {
        if matches!(self.group, "" | "nonholonomic") { "riemann" } else { self.group }
    }

    /// Indices of components that do not repeat others.
    pub fn places(&self) -> Vec<(usize, Vec<usize>)> {
        let own = |i: &Vec<usize>| {
            let [.., a, b] = i[..] else { return true };
            match self.repeats {
                Repeats::Nothing => true,
                Repeats::Symmetric => a <= b,
                Repeats::Antisymmetric => a < b,
            }
        };
        self.tensor.indices().into_iter().enumerate().filter(|(_, i)| own(i)).collect()
    }
}
