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
    pub letter: (&'static str, &'static str),
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
