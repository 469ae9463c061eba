//! The order in which the unknowns of (K) are eliminated on paper.
//!
//! The next one is that with fewest neighbours (minimum degree) among those whose diagonal can be divided by. A
//! multiplier has a diagonal as soon as one of its coordinates is gone, and a coordinate without mass as soon as one
//! of its multipliers is. Where there are coordinates without mass, as with auxiliary velocities, these diagonals are
//! sums of squares that may vanish one by one: a multiplier then waits for all its coordinates with mass, and a
//! coordinate without mass for all its multipliers.
//!
//! An unknown without diagonal and with one neighbour gives that neighbour at once, $c\,x_p = b$, and itself follows
//! from the equation of its neighbour when all others are known. Such a pair fills nothing in, and comes first: a
//! coordinate that only the definition of a relative velocity contains, or a constraint that holds one coordinate.
//!
//! [`substitution_order`] divides by no mass of an auxiliary velocity. Each is replaced by its definition, the last one
//! first, and a coordinate is eliminated when no definition contains it any more: from the tips of a tree to its root,
//! as in the articulated bodies of [Featherstone08]. The masses that are divided by are then positive whatever
//! the auxiliary velocities carry; multipliers come last.

use std::collections::BTreeSet;

/// What is left to be eliminated.
pub(crate) struct EliminationOrder {
    /// Whether it should wait, neighbours, unknown.
    queue: BTreeSet<(bool, usize, usize)>,
    /// The entry of each unknown in the queue.
    entries: Vec<Option<(bool, usize, usize)>>,
    /// For how many others each waits, and who waits for it.
    open: Vec<usize>,
    waiting: Vec<Vec<usize>>,
}

impl EliminationOrder {
    /// For so many unknowns, none of which can be eliminated yet.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            queue: BTreeSet::new(),
            entries: vec![None; size],
            open: vec![0; size],
            waiting: vec![Vec::new(); size],
        }
    }

    /// Lets unknowns wait where that is safer, given the neighbours of each, itself included where it has a diagonal;
    /// the multipliers are those from `first` on.
    pub(crate) fn with_care(mut self, first: usize, neighbours: &[Vec<usize>]) -> Self {
        let has_diagonal: Vec<bool> =
            neighbours.iter().enumerate().map(|(i, row)| row.contains(&i)).collect();
        for (i, row) in neighbours.iter().enumerate() {
            for &j in row {
                let of_coordinate = i >= first && j < first && has_diagonal[j];
                let of_multiplier = i < first && !has_diagonal[i] && j >= first;
                if of_coordinate || of_multiplier {
                    self.open[i] += 1;
                    self.waiting[j].push(i);
                }
            }
        }
        self
    }

    /// An unknown can be eliminated and has so many neighbours, or (`None`) it cannot.
    pub(crate) fn put(&mut self, i: usize, neighbours: Option<usize>) {
        let entry = neighbours.map(|count| (self.open[i] > 0, count, i));
        if let Some(old) = &self.entries[i] {
            self.queue.remove(old);
        }
        self.queue.extend(entry);
        self.entries[i] = entry;
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let (_, _, p) = *self.queue.first()?;
        self.take(p);
        Some(p)
    }

    /// An unknown is eliminated now, whatever the order.
    pub(crate) fn take(&mut self, p: usize) {
        self.put(p, None);
        for i in std::mem::take(&mut self.waiting[p]) {
            self.open[i] -= 1;
            let count = self.entries[i].map(|entry| entry.1);
            self.put(i, count);
        }
    }
}

/// How many steps the elimination of (K) takes, with care; `None` if they are more than `most`. Rows of $M$ and $A$
/// are given by the columns of their entries.
pub(crate) fn elimination_steps(
    mass: &[Vec<usize>],
    rows: &[Vec<usize>],
    most: usize,
) -> Option<usize> {
    let mut matrix = pattern(mass, rows);
    let neighbours: Vec<Vec<usize>> =
        matrix.iter().map(|row| row.iter().copied().collect()).collect();
    let mut order = EliminationOrder::new(matrix.len()).with_care(mass.len(), &neighbours);
    let usable = |row: &BTreeSet<usize>, i: usize| row.contains(&i).then_some(row.len());
    (0..matrix.len()).for_each(|i| order.put(i, usable(&matrix[i], i)));
    let single = |row: &BTreeSet<usize>, i: usize| {
        let only = row.first().filter(|_| row.len() == 1)?;
        (*only != i).then_some(*only)
    };
    let mut singles: Vec<usize> = (0..matrix.len()).collect();
    let (mut steps, mut done) = (0, 0);
    loop {
        while let Some(u) = singles.pop() {
            let Some(p) = single(&matrix[u], u) else { continue };
            [u, p].into_iter().for_each(|i| order.take(i));
            matrix[u].clear();
            let row = std::mem::take(&mut matrix[p]);
            (steps, done) = (steps + 1 + 2 * row.len(), done + 2);
            for &i in row.iter().filter(|&&i| i != p && i != u) {
                matrix[i].remove(&p);
                order.put(i, usable(&matrix[i], i));
                singles.push(i);
            }
        }
        let Some(p) = order.next() else { break };
        let mut row = std::mem::take(&mut matrix[p]);
        row.remove(&p);
        done += 1;
        steps += 1 + row.len() * (row.len() + 5) / 2;
        if steps > most {
            return None;
        }
        for &i in &row {
            matrix[i].remove(&p);
            matrix[i].extend(row.iter().copied());
            order.put(i, usable(&matrix[i], i));
        }
        singles.extend(row);
    }
    (done == matrix.len()).then_some(steps)
}

/// The order of substitution, and its steps; `None` if they are more than `most`, or masses are missing. Each auxiliary
/// velocity stands for itself and its definition. The first rows, as many as `definitions`, define them.
pub(crate) fn substitution_order(
    mass: &[Vec<usize>],
    rows: &[Vec<usize>],
    definitions: usize,
    most: usize,
) -> Option<(Vec<usize>, usize)> {
    let mut left = Substitution::new(mass, rows, definitions, most);
    (0..left.coordinates).try_for_each(|i| left.eliminate_free(i))?;
    for w in (left.coordinates..mass.len()).rev() {
        let changed = left.substitute(w)?;
        changed.into_iter().try_for_each(|i| left.eliminate_free(i))?;
    }
    // What no definition ever held back, and then the multipliers, each time the one with fewest neighbours.
    let size = left.matrix.len();
    let mut order = EliminationOrder::new(size);
    let first = mass.len() + definitions;
    (first..size).for_each(|a| order.open[a] = 1);
    let usable = |row: &BTreeSet<usize>, i: usize| row.contains(&i).then_some(row.len());
    (0..size).for_each(|i| order.put(i, usable(&left.matrix[i], i)));
    while let Some(p) = order.next() {
        for i in left.eliminate(p)? {
            order.put(i, usable(&left.matrix[i], i));
        }
    }
    // Coordinates, auxiliary velocities, multipliers.
    let count = mass.len() + rows.len() - definitions;
    (left.order.len() == count).then_some((left.order, left.steps))
}

/// The columns of the entries of (K), row by row.
fn pattern(mass: &[Vec<usize>], rows: &[Vec<usize>]) -> Vec<BTreeSet<usize>> {
    let mut matrix: Vec<BTreeSet<usize>> =
        mass.iter().map(|row| row.iter().copied().collect()).collect();
    for (a, row) in rows.iter().enumerate() {
        for &i in row {
            matrix[i].insert(mass.len() + a);
        }
        matrix.push(row.iter().copied().collect());
    }
    matrix
}

/// A pattern from which auxiliary velocities disappear.
struct Substitution {
    matrix: Vec<BTreeSet<usize>>,
    coordinates: usize,
    definitions: std::ops::Range<usize>,
    order: Vec<usize>,
    steps: usize,
    most: usize,
}

impl Substitution {
    fn new(mass: &[Vec<usize>], rows: &[Vec<usize>], definitions: usize, most: usize) -> Self {
        let matrix = pattern(mass, rows);
        let coordinates = mass.len() - definitions;
        let definitions = mass.len()..mass.len() + definitions;
        Self { matrix, coordinates, definitions, order: Vec::new(), steps: 0, most }
    }

    fn count(&mut self, steps: usize) -> Option<()> {
        self.steps += steps;
        (self.steps <= self.most).then_some(())
    }

    /// Eliminates a coordinate that no definition contains any more.
    fn eliminate_free(&mut self, i: usize) -> Option<()> {
        let row = &self.matrix[i];
        let is_coordinate = i < self.coordinates && row.contains(&i);
        if is_coordinate && row.range(self.definitions.clone()).next().is_none() {
            self.eliminate(i)?;
        }
        Some(())
    }

    /// Eliminates an unknown by its diagonal; tells its neighbours.
    fn eliminate(&mut self, p: usize) -> Option<BTreeSet<usize>> {
        let mut row = std::mem::take(&mut self.matrix[p]);
        row.remove(&p);
        self.count(1 + row.len() * (row.len() + 5) / 2)?;
        for &i in &row {
            self.matrix[i].remove(&p);
            self.matrix[i].extend(&row);
        }
        self.order.push(p);
        Some(row)
    }

    /// Replaces an auxiliary velocity by its definition; tells what that contains.
    fn substitute(&mut self, w: usize) -> Option<BTreeSet<usize>> {
        let own = self.definitions.start + w - self.coordinates;
        let mut contained = std::mem::take(&mut self.matrix[own]);
        contained.remove(&w);
        let mut others = std::mem::take(&mut self.matrix[w]);
        others.remove(&own);
        let has_mass = others.remove(&w);
        let squares = if has_mass { contained.len() * (contained.len() + 1) / 2 } else { 0 };
        self.count(1 + 2 * contained.len() * (1 + others.len()) + squares)?;
        for &i in contained.iter().chain(&others) {
            self.matrix[i].remove(&w);
            self.matrix[i].remove(&own);
        }
        for &i in &contained {
            self.matrix[i].extend(&others);
            if has_mass {
                self.matrix[i].extend(&contained);
            }
        }
        for &i in &others {
            self.matrix[i].extend(&contained);
        }
        self.order.push(w);
        Some(contained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of $n$ bodies with auxiliary velocities: $w_k = w_{k-1} + c_k\dot q_k$, each with a mass. Twice as many
    /// bodies take twice the steps, where those of the full mass are eight times as many.
    #[test]
    fn a_chain_takes_as_many_steps_as_it_has_bodies() {
        let steps = |n: usize| {
            let mut mass: Vec<Vec<usize>> = vec![Vec::new(); n];
            mass.extend((0..n).map(|k| vec![n + k]));
            let definition = |k: usize| match k {
                0 => vec![0, n],
                _ => vec![k, n + k - 1, n + k],
            };
            let definitions: Vec<_> = (0..n).map(definition).collect();
            elimination_steps(&mass, &definitions, usize::MAX).unwrap()
        };
        let (short, long) = (steps(100), steps(200));
        assert!(long < 2 * short + 20, "{short} {long}");
        let full: Vec<Vec<usize>> = (0..100).map(|_| (0..100).collect()).collect();
        assert!(elimination_steps(&full, &[], 20 * short).is_none());
        // Nothing to divide by.
        assert_eq!(elimination_steps(&[vec![]], &[], usize::MAX), None);
    }

    /// Relative angles: $w_k = w_{k-1} + \dot q_k$ carries no mass, points $x_k = x_{k-1} + c_k w_k$ do. Both orders
    /// take as many steps as there are bodies; a division by what carries nothing would fill the matrix.
    #[test]
    fn what_carries_no_mass_takes_as_many_steps() {
        let chain = |n: usize| {
            let mut mass: Vec<Vec<usize>> = vec![Vec::new(); n];
            let mut rows = Vec::new();
            for k in 0..n {
                let w = n + 2 * k;
                mass.extend([vec![], vec![w + 1]]);
                let before = |x: usize| (k > 0).then_some(x - 2);
                rows.push([Some(k), before(w), Some(w)].into_iter().flatten().collect());
                rows.push(
                    [Some(w), before(w + 1), Some(w + 1)].into_iter().flatten().collect(),
                );
            }
            (mass, rows)
        };
        let steps = |n: usize| {
            let (mass, rows): (Vec<Vec<usize>>, Vec<Vec<usize>>) = chain(n);
            let (order, steps) =
                substitution_order(&mass, &rows, rows.len(), usize::MAX).unwrap();
            assert_eq!(order.len(), 3 * n, "every coordinate and every auxiliary velocity");
            assert_eq!(substitution_order(&mass, &rows, rows.len(), steps - 1), None);
            (steps, elimination_steps(&mass, &rows, usize::MAX).unwrap())
        };
        let (short, long) = (steps(100), steps(200));
        assert!(long.0 <= 2 * short.0 + 30 && long.1 <= 2 * short.1 + 20, "{short:?} {long:?}");
    }

    /// A pivot with $k$ neighbours takes $1 + k(k+5)/2$ steps.
    #[test]
    fn steps_are_counted_up_to_the_limit() {
        let takes = |mass: &[Vec<usize>], rows: &[Vec<usize>], steps: usize| {
            assert_eq!(elimination_steps(mass, rows, steps), Some(steps));
            assert_eq!(elimination_steps(mass, rows, steps - 1), None);
        };
        takes(&[vec![0], vec![1]], &[], 2);
        takes(&[vec![0, 1], vec![0, 1]], &[], 4 + 1);
        let full: Vec<Vec<usize>> = (0..4).map(|_| (0..4).collect()).collect();
        takes(&full, &[], 13 + 8 + 4 + 1);
        // Two coordinates and a multiplier: it waits for both.
        takes(&[vec![0], vec![1]], &[vec![0, 1]], 4 + 4 + 1);
        // A star: its centre comes last.
        takes(&[vec![0, 1, 2, 3], vec![0, 1], vec![0, 2], vec![0, 3]], &[], 3 * 4 + 1);
        // A coordinate without mass and its only multiplier are a pair, then the other one.
        takes(&[vec![], vec![1]], &[vec![0, 1]], 5 + 1);
        // A constraint that holds one of three coordinates, and the two that are left.
        let three: Vec<Vec<usize>> = (0..3).map(|_| (0..3).collect()).collect();
        takes(&three, &[vec![2]], 9 + 4 + 1);
        assert_eq!(elimination_steps(&[vec![], vec![1]], &[vec![1]], 99), None);
    }

    /// What can no longer be eliminated leaves the queue, and what gets fewer neighbours moves forward in it.
    #[test]
    fn the_queue_follows_the_counts() {
        let mut order = EliminationOrder::new(3);
        (0..3).for_each(|i| order.put(i, Some(2)));
        order.put(0, None);
        order.put(2, Some(1));
        order.put(2, Some(1));
        assert_eq!((order.next(), order.next(), order.next()), (Some(2), Some(1), None));
        order.put(0, Some(7));
        assert_eq!((order.next(), order.next()), (Some(0), None));
    }

    #[test]
    fn what_may_vanish_waits() {
        // x without mass held by two multipliers, over y and z with mass.
        let neighbours = [vec![3, 4], vec![1, 3], vec![2, 4], vec![0, 1], vec![0, 2]].to_vec();
        let mut order = EliminationOrder::new(5).with_care(3, &neighbours);
        order.put(1, Some(9));
        order.put(2, Some(9));
        assert_eq!(order.next(), Some(1));
        order.put(3, Some(5));
        assert_eq!(order.next(), Some(3), "its only coordinate with mass is gone");
        order.put(0, Some(1));
        assert_eq!(order.next(), Some(2), "x waits for its second multiplier");
        order.put(4, Some(5));
        assert_eq!(order.next(), Some(4));
        assert_eq!(order.next(), Some(0));
        assert_eq!(order.next(), None);
    }
}
