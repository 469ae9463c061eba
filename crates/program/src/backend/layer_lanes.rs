//! The families of like terms of a program that evaluates several states at once.

use crate::backend::Backend;
use crate::tape::layer::PartEvaluator;
use crate::tape::program::Tape;

/// The families of a program of several lanes, one lane after another; nothing for a program without any.
#[derive(Clone, Debug)]
pub(crate) struct LayerLanes {
    lanes: Vec<Box<dyn PartEvaluator>>,
    /// The inputs of one lane.
    one: Vec<f64>,
    /// All inputs of all lanes, what is computed included.
    all: Vec<f64>,
}

impl LayerLanes {
    pub(crate) fn new(tape: &Tape, lanes: usize, parameters: &[f64], backend: Backend) -> Self {
        let Some(layer) = &tape.layer else {
            return Self { lanes: Vec::new(), one: Vec::new(), all: Vec::new() };
        };
        Self {
            lanes: vec![(layer.start)(layer, parameters, backend); lanes],
            one: vec![0.0; tape.given()],
            all: vec![0.0; tape.layout.inputs * lanes],
        }
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

    fn computed(&mut self, inputs: &[f64]) -> &[f64] {
        let Self { lanes, one, all } = self;
        let count = lanes.len();
        let (given, computed) = all.split_at_mut(one.len() * count);
        given.copy_from_slice(inputs);
        if let [layer] = &mut lanes[..] {
            computed.copy_from_slice(layer.evaluate(inputs));
            return all;
        }
        for (l, layer) in lanes.iter_mut().enumerate() {
            one.iter_mut().enumerate().for_each(|(i, x)| *x = inputs[i * count + l]);
            for (i, &part) in layer.evaluate(one).iter().enumerate() {
                computed[i * count + l] = part;
            }
        }
        all
    }
}
