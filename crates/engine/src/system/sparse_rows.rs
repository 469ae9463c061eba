//! Matrices with few entries, by rows: which columns each row has, and the values one after another.
//!
//! The pattern is that of the expressions that are not identically zero. It stays the same during a run, so that
//! what depends on it alone is found once.

/// Where the rows begin, and the columns of their entries in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowPattern {
    begins: Vec<usize>,
    columns: Vec<usize>,
}

impl RowPattern {
    /// Of rows that are given by the columns of their entries.
    pub(crate) fn new<'a>(rows: impl Iterator<Item = &'a [usize]>) -> Self {
        let mut pattern = Self { begins: vec![0], columns: Vec::new() };
        for row in rows {
            pattern.columns.extend_from_slice(row);
            pattern.begins.push(pattern.columns.len());
        }
        pattern
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The columns of all entries, row by row.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// With the values of its entries.
    pub(crate) fn with<'a>(&'a self, values: &'a [f64]) -> SparseRows<'a> {
        SparseRows { pattern: self, values }
    }
}

/// A matrix by rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseRows<'a> {
    pattern: &'a RowPattern,
    pub(crate) values: &'a [f64],
}

impl<'a> SparseRows<'a> {
    /// How many rows it has.
    pub(crate) fn count(self) -> usize {
        self.pattern.begins.len().saturating_sub(1)
    }

    /// A row.
    pub(crate) fn row(self, i: usize) -> SparseRow<'a> {
        let range = self.pattern.begins[i]..self.pattern.begins[i + 1];
        SparseRow { columns: &self.pattern.columns[range.clone()], values: &self.values[range] }
    }

    /// All rows.
    pub(crate) fn rows(self) -> impl Iterator<Item = SparseRow<'a>> {
        (0..self.count()).map(move |i| self.row(i))
    }

    /// The first `n` columns of some rows with all their zeros, one row after another.
    pub(crate) fn dense(self, rows: impl Iterator<Item = usize>, n: usize) -> Vec<f64> {
        let mut dense = Vec::new();
        for i in rows {
            let begin = dense.len();
            dense.resize(begin + n, 0.0);
            for (j, x) in self.row(i).entries().filter(|&(j, _)| j < n) {
                dense[begin + j] = x;
            }
        }
        dense
    }
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseRow<'a> {
    pub(crate) columns: &'a [usize],
    pub(crate) values: &'a [f64],
}

impl<'a> SparseRow<'a> {
    /// Its columns and values.
    pub(crate) fn entries(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        self.columns.iter().copied().zip(self.values.iter().copied())
    }

    /// The entry in a column.
    pub(crate) fn get(self, column: usize) -> f64 {
        self.columns.binary_search(&column).map_or(0.0, |k| self.values[k])
    }

    /// The sum of its products with a vector.
    pub(crate) fn dot(self, x: &[f64]) -> f64 {
        self.entries().map(|(j, a)| a * x[j]).sum()
    }

    /// Its length.
    pub(crate) fn length(self) -> f64 {
        self.values.iter().map(|x| x * x).sum::<f64>().sqrt()
    }
}

/// A matrix that is put together from rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowMatrix {
    pattern: RowPattern,
    values: Vec<f64>,
}

impl RowMatrix {
    /// Of rows, with the columns that have a place.
    pub(crate) fn restricted<'a>(
        rows: impl Iterator<Item = SparseRow<'a>>,
        places: &[Option<usize>],
    ) -> Self {
        let mut matrix = Self::default();
        matrix.clear();
        for row in rows {
            matrix.push(row.entries().filter_map(|(k, x)| Some((places[k]?, x))));
        }
        matrix
    }

    /// Takes all rows out; the storage stays.
    pub(crate) fn clear(&mut self) {
        self.pattern.begins.clear();
        self.pattern.begins.push(0);
        self.pattern.columns.clear();
        self.values.clear();
    }

    /// One more row.
    pub(crate) fn push(&mut self, entries: impl Iterator<Item = (usize, f64)>) {
        for (column, value) in entries {
            self.pattern.columns.push(column);
            self.values.push(value);
        }
        self.pattern.begins.push(self.pattern.columns.len());
    }

    /// Adds to the diagonal entry of each of the first rows, which have one or get one.
    pub(crate) fn add_to_diagonal(&mut self, rows: usize, x: f64) {
        let old = std::mem::take(self);
        self.clear();
        let matrix = old.view();
        for i in 0..matrix.count() {
            let row = matrix.row(i);
            let own = if i < rows { x } else { 0.0 };
            let before = row.entries().filter(|e| e.0 < i);
            let after = row.entries().filter(|e| e.0 > i);
            self.push(before.chain([(i, row.get(i) + own)]).chain(after));
        }
    }

    /// The matrix.
    pub(crate) fn view(&self) -> SparseRows<'_> {
        self.pattern.with(&self.values)
    }
}
