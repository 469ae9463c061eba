//! The families of like terms of a program that evaluates several states at once.

use crate::backend::Backend;
use crate::backend::lanes::LANE_BLOCK;
use crate::tape::layer::PartEvaluator;
use crate::tape::program::Tape;

/// The families of a program of several lanes, one lane after another; nothing for a program without any.
#[derive(Clone, Debug)]
pub(crate) struct LayerLanes {
    lanes: Vec<Box<dyn PartEvaluator>>,
    /// How many inputs the caller gives.
    given: usize,
    /// The list of one lane, and room for a block.
    one: Vec<f64>,
    /// The lists of all lanes, where there are several.
    all: Vec<f64>,
}

impl LayerLanes {
    pub(crate) fn new(tape: &Tape, lanes: usize, parameters: &[f64], backend: Backend) -> Self {
        let Some(layer) = &tape.layer else {
            return Self { lanes: Vec::new(), given: 0, one: Vec::new(), all: Vec::new() };
        };
        let list = tape.layout.inputs + LANE_BLOCK;
        Self {
            lanes: vec![(layer.start)(layer, parameters, backend); lanes],
            given: layer.given,
            one: vec![0.0; list],
            all: vec![0.0; if lanes > 1 { tape.layout.inputs * lanes } else { 0 }],
        }
    }

    /// Whether there are no families.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Parameter `i` of lane `l` is `parameters[i * lanes + l]`.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        let lanes = self.lanes.len();
        for (l, layer) in self.lanes.iter_mut().enumerate() {
            let own: Vec<f64> = parameters.iter().skip(l).step_by(lanes).copied().collect();
            layer.set_parameters(&own);
        }
    }

    /// Other parameters of one lane.
    pub(crate) fn set_lane_parameters(&mut self, lane: usize, parameters: &[f64]) {
        if let Some(layer) = self.lanes.get_mut(lane) {
            layer.set_parameters(parameters);
        }
    }

    /// The inputs with what is computed from them.
    #[inline]
    pub(crate) fn extended<'a>(&'a mut self, inputs: &'a [f64]) -> &'a [f64] {
        if self.lanes.is_empty() { inputs } else { self.computed(inputs) }
    }

    // NOTE: apart, so that the many programs without families pay nothing for it.
    #[inline(never)]
    fn computed(&mut self, inputs: &[f64]) -> &[f64] {
        let Self { lanes, given, one, all } = self;
        let (count, given) = (lanes.len(), *given);
        if let [layer] = &mut lanes[..] {
            one[..given].copy_from_slice(inputs);
            layer.evaluate(one);
            return &one[..one.len() - LANE_BLOCK];
        }
        all[..inputs.len()].copy_from_slice(inputs);
        for (l, layer) in lanes.iter_mut().enumerate() {
            one[..given].iter_mut().enumerate().for_each(|(i, x)| *x = inputs[i * count + l]);
            layer.evaluate(one);
            for (row, &x) in all.chunks_exact_mut(count).zip(&*one).skip(given) {
                row[l] = x;
            }
        }
        all
    }
}
