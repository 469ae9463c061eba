//! Several states at once by any backend, each lane with parameters of its own.

use crate::backend::Backend;
use crate::backend::aligned_buffer::AlignedBuffer;
use crate::backend::batch::BatchInterpreter;
use crate::backend::lanes::Lanes;
use crate::backend::native_executor::NativeExecutor;
use crate::tape::program::Program;

/// Eight states at once: number `i` of lane `l` stands at `8*i + l`.
pub const LANES: usize = 8;

/// Evaluates a program at eight states. All backends give the same bits.
#[derive(Clone, Debug)]
pub struct LaneExecutor {
    run: LaneBackend,
    /// Parameter `i` of lane `l` at `8*i + l`, for the interpreter.
    parameters: Vec<f64>,
    /// Those that are being prepared, where nothing but them is kept.
    given: Vec<f64>,
}

#[derive(Clone, Debug)]
enum LaneBackend {
    Interpreted(Box<BatchInterpreter>),
    /// Machine code, and what evaluates the part that depends on parameters alone.
    Native(Box<NativeExecutor>, Box<BatchInterpreter>),
}

impl LaneExecutor {
    pub(crate) fn new(program: &Program, parameters: &[f64], backend: Backend) -> Self {
        let batch = Box::new(program.batch_interpreter(LANES, parameters));
        let run = match program.native_code(Lanes::Eight, backend) {
            Some(native) => LaneBackend::Native(Box::new(native.start(parameters)), batch),
            None => LaneBackend::Interpreted(batch),
        };
        let repeated: Vec<f64> = parameters.iter().flat_map(|&p| [p; LANES]).collect();
        Self { run, given: repeated.clone(), parameters: repeated }
    }

    /// Other parameters of one lane; what depends on them alone is evaluated here.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program, or there is no such lane.
    pub fn set_parameters(&mut self, lane: usize, parameters: &[f64]) {
        assert!(lane < LANES, "a lane");
        match &mut self.run {
            LaneBackend::Native(run, _) => run.set_lane_parameters(lane, parameters),
            LaneBackend::Interpreted(run) => {
                for (row, p) in self.parameters.chunks_exact_mut(LANES).zip(parameters) {
                    row[lane] = *p;
                }
                run.set_parameters(&self.parameters);
            }
        }
    }

    /// Evaluates what depends on parameters alone, for eight at once: parameter `i` of the `l`-th at `8*i + l`. It is
    /// then read by [`prepared`](Self::prepared) and given to any lane by [`set_prepared`](Self::set_prepared), which
    /// is cheaper than [`set_parameters`](Self::set_parameters) for each.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program times the lanes.
    pub fn prepare(&mut self, parameters: &[f64]) {
        match &mut self.run {
            LaneBackend::Native(run, batch) if run.reads_slots_only() => {
                batch.set_parameters(parameters);
            }
            _ => self.given.copy_from_slice(parameters),
        }
    }

    /// Appends what [`prepare`](Self::prepare) found for the `l`-th of eight.
    pub fn prepared(&self, l: usize, into: &mut Vec<f64>) {
        match &self.run {
            LaneBackend::Native(run, batch) if run.reads_slots_only() => {
                into.extend(run.lane_slots().iter().map(|&(_, slot)| batch.slot(slot, l)));
            }
            _ => into.extend(self.given.chunks_exact(LANES).map(|row| row[l])),
        }
    }

    /// Gives a lane what was prepared; what is left of the numbers.
    ///
    /// # Panics
    ///
    /// If there are fewer numbers than were prepared.
    pub fn set_prepared<'a>(&mut self, lane: usize, values: &'a [f64]) -> &'a [f64] {
        assert!(lane < LANES, "a lane");
        match &mut self.run {
            LaneBackend::Native(run, _) if run.reads_slots_only() => {
                let (own, rest) = values.split_at(run.lane_slots().len());
                run.set_lane_slots(lane, own);
                rest
            }
            _ => {
                let (own, rest) = values.split_at(self.given.len() / LANES);
                self.set_parameters(lane, own);
                rest
            }
        }
    }

    /// In how many parts the lanes can be evaluated: one for each vector register that a row of eight takes.
    #[inline]
    pub fn parts(&self) -> usize {
        match &self.run {
            LaneBackend::Native(run, _) if run.reads_slots_only() => run.parts(),
            _ => 1,
        }
    }

    /// The outputs of the lanes of one part, as [`evaluate`](Self::evaluate). Programs that follow each other part by
    /// part overlap in the processor: one begins while the last instructions of the other still wait.
    ///
    /// # Panics
    ///
    /// As [`evaluate`](Self::evaluate), or if there is no such part.
    #[inline]
    pub fn evaluate_part(&mut self, part: usize, inputs: &[f64], outputs: &mut [f64]) {
        match &mut self.run {
            LaneBackend::Native(run, _) if run.reads_slots_only() => {
                run.evaluate_part(part, inputs, outputs);
            }
            _ => {
                assert!(part == 0, "a part");
                self.evaluate(inputs, outputs);
            }
        }
    }

    /// The outputs of all lanes. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the lengths are not those of the program times the lanes.
    #[inline]
    pub fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        match &mut self.run {
            LaneBackend::Native(run, _) => run.evaluate(inputs, outputs),
            LaneBackend::Interpreted(run) => run.evaluate(inputs, outputs),
        }
    }
}

/// Rows of eight lanes that begin at a line of the cache.
#[derive(Clone, Debug)]
pub struct LaneRows {
    buffer: AlignedBuffer,
    count: usize,
}

impl LaneRows {
    /// So many rows of zeros.
    pub fn new(count: usize) -> Self {
        Self { buffer: AlignedBuffer::new(count * LANES), count }
    }

    /// All rows, one after another.
    #[inline]
    pub fn rows(&self) -> &[f64] {
        &self.buffer.all()[..self.count * LANES]
    }

    /// All rows, one after another.
    #[inline]
    pub fn rows_mut(&mut self) -> &mut [f64] {
        &mut self.buffer.rows()[..self.count * LANES]
    }

    /// A number.
    #[inline]
    pub fn at(&self, row: usize, lane: usize) -> f64 {
        self.rows()[row * LANES + lane]
    }

    /// Another number.
    #[inline]
    pub fn set(&mut self, row: usize, lane: usize, value: f64) {
        self.rows_mut()[row * LANES + lane] = value;
    }
}

#[cfg(test)]
mod tests {
    use pfaff_expr::{Graph, Role};

    use super::*;

    #[test]
    fn every_lane_has_its_own_parameters_by_every_backend() {
        let g = Graph::new();
        let (x, p) = (g.symbol("x", Role::Free), g.symbol("p", Role::Parameter));
        let outputs = [g.add(g.mul(g.mul(p, p), x), g.sin(p))];
        let program = Program::compile(&g, &[x], &[p], &outputs).expect("it has a value");
        let mut found = Vec::new();
        for backend in Backend::ALL {
            let mut run = program.lane_executor(&[1.0], backend);
            let (mut inputs, mut values) = (LaneRows::new(1), LaneRows::new(1));
            for lane in 0..LANES {
                run.set_parameters(lane, &[lane as f64]);
                inputs.set(0, lane, 0.1 * lane as f64);
            }
            run.set_parameters(3, &[7.5]);
            // Prepared together, and then given to a lane.
            let (mut eight, mut kept) = ([0.5; LANES], Vec::new());
            eight[6] = 2.25;
            run.prepare(&eight);
            run.prepared(6, &mut kept);
            kept.push(-1.0);
            assert_eq!(run.set_prepared(5, &kept), [-1.0]);
            run.evaluate(inputs.rows(), values.rows_mut());
            let mut one = program.interpreter(&[7.5]);
            let mut expected = [0.0];
            one.evaluate(&[inputs.at(0, 3)], &mut expected);
            assert_eq!(values.at(0, 3), expected[0]);
            let mut other = program.interpreter(&[2.25]);
            other.evaluate(&[inputs.at(0, 5)], &mut expected);
            assert_eq!(values.at(0, 5), expected[0]);
            found.push(values.rows().to_vec());
        }
        assert!(found.iter().all(|values| *values == found[0]));
    }
}
