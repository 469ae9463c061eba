//! Many outputs that each depend on many symbols: sums over their derivatives without the derivatives.
//!
//! The knife edges of a chain have gradients that are as long as the chain: all of them together are as many as the
//! square of its bodies. What a check needs are sums, which one pass gives for all outputs together. Forwards
//!
//! $$ \sum_s \frac{\partial e_i}{\partial s}\,x_s, \qquad \sum_s \Bigl|\frac{\partial e_i}{\partial s}\Bigr|\,z_s $$
//!
//! and backwards $\sum_i \lambda_i\,\partial e_i/\partial s$ and $\sum_i |\lambda_i|\,|\partial e_i/\partial s|$. Sizes
//! are added up node by node, so that they are those of all ways from a symbol to an output: at least the sums
//! above, and equal to them where there is one way only.

use pfaff_expr::Node;

use super::dual::{Lanes, ZERO, term};
use super::{Duals, NONE, Step};
use crate::motion::sample::LANES;

/// Steps from which on an output is broad.
const BROAD: usize = 96;
/// Outputs from which on it pays.
const MANY: usize = 32;

/// Which outputs are broad, and what they need together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Broad {
    outputs: Vec<bool>,
    /// Ascending.
    steps: Vec<u32>,
}

/// A number with its sign, and the size of what it is made of.
pub(crate) type Sized = [Lanes; 2];

const NOTHING: Sized = [ZERO; 2];

impl Broad {
    /// How many nodes its passes visit.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether an output is broad.
    pub(crate) fn contains(&self, output: usize) -> bool {
        self.outputs.get(output).copied().unwrap_or(false)
    }
}

impl Duals {
    /// Finds the broad ones among some outputs that may be.
    pub(super) fn find_broad(&mut self, candidates: &[usize]) {
        let mut step_at = vec![NONE; self.values.len()];
        let numbered = self.steps.iter().enumerate();
        numbered.for_each(|(i, step)| step_at[step.to as usize] = i as u32);
        let mut met = vec![usize::MAX; self.values.len()];
        let is_broad = |output: &usize| {
            let mut stack = vec![self.outputs[*output]];
            let mut count = 0;
            while let Some(place) = stack.pop() {
                if met[place] == *output || step_at[place] == NONE {
                    continue;
                }
                met[place] = *output;
                count += 1;
                if count > BROAD {
                    return true;
                }
                stack.extend(self.operands(step_at[place]));
            }
            false
        };
        let broad: Vec<usize> = candidates.iter().copied().filter(is_broad).collect();
        if broad.len() < MANY {
            return;
        }
        let mut found = Broad::default();
        found.outputs.resize(self.outputs.len(), false);
        let mut is_met = vec![false; self.values.len()];
        let mut stack: Vec<usize> = Vec::new();
        for output in broad {
            found.outputs[output] = true;
            stack.push(self.outputs[output]);
        }
        while let Some(place) = stack.pop() {
            if is_met[place] || step_at[place] == NONE {
                continue;
            }
            is_met[place] = true;
            let step = step_at[place];
            if matches!(self.steps[step as usize].node, Node::Family { .. }) {
                // NOTE: a loop over like terms has no passes of this kind.
                return;
            }
            found.steps.push(step);
            stack.extend(self.operands(step));
        }
        found.steps.sort_unstable();
        self.broad = found;
    }

    /// The places that a step is differentiated by.
    fn operands(&self, step: u32) -> impl Iterator<Item = usize> + use<> {
        let by = self.steps[step as usize].by;
        by.into_iter().filter(|&place| place != NONE).map(|place| place as usize)
    }

    /// The derivative of a step by one of its operands.
    fn partial(&self, step: &Step, which: usize) -> Lanes {
        match step.node {
            Node::Neg(_) => [-1.0; LANES],
            Node::Sub(..) if which == 1 => [-1.0; LANES],
            Node::Add(..) | Node::Sub(..) => [1.0; LANES],
            Node::Mul(..) => self.values[step.from[1 - which] as usize].x,
            _ => self.partials[step.partials as usize][which].x,
        }
    }

    /// The sums over the symbols at every node that the broad outputs need; `symbol` gives $x_s$ and $z_s$ of the
    /// i-th of [`Duals::symbols`].
    pub(crate) fn spread(&self, symbol: &dyn Fn(usize) -> Sized, nodes: &mut Vec<Sized>) {
        nodes.clear();
        nodes.resize(self.values.len(), NOTHING);
        for (s, &place) in self.places.iter().enumerate() {
            nodes[place as usize] = symbol(s);
        }
        for &i in &self.broad.steps {
            let step = &self.steps[i as usize];
            let mut sum = NOTHING;
            for which in [0, 1] {
                if step.by[which] != NONE {
                    let partial = self.partial(step, which);
                    accumulate(&mut sum, &partial, &nodes[step.by[which] as usize]);
                }
            }
            nodes[step.to as usize] = sum;
        }
    }

    /// What [`Duals::spread`] found for an output.
    pub(crate) fn spread_of<'n>(&self, output: usize, nodes: &'n [Sized]) -> &'n Sized {
        &nodes[self.outputs[output]]
    }

    /// The sums over the broad outputs, with these weights, are given to `tell` with the numbers of their symbols.
    pub(crate) fn pull(
        &self,
        weight: &dyn Fn(usize) -> Lanes,
        nodes: &mut Vec<Sized>,
        tell: &mut dyn FnMut(usize, &Sized),
    ) {
        nodes.clear();
        nodes.resize(self.values.len(), NOTHING);
        for (i, &is_broad) in self.broad.outputs.iter().enumerate() {
            if is_broad {
                let λ = weight(i);
                let sum = &mut nodes[self.outputs[i]];
                accumulate(sum, &[1.0; LANES], &[λ, λ.map(f64::abs)]);
            }
        }
        for &i in self.broad.steps.iter().rev() {
            let step = &self.steps[i as usize];
            let own = nodes[step.to as usize];
            for which in [0, 1] {
                if step.by[which] != NONE {
                    let partial = self.partial(step, which);
                    accumulate(&mut nodes[step.by[which] as usize], &partial, &own);
                }
            }
        }
        for (s, &place) in self.places.iter().enumerate() {
            tell(s, &nodes[place as usize]);
        }
    }
}

/// Adds a part of a sum: what is zero stays zero even where the other factor is infinite.
fn accumulate(sum: &mut Sized, partial: &Lanes, part: &Sized) {
    for l in 0..LANES {
        sum[0][l] += term(partial[l], part[0][l]);
        sum[1][l] += term(partial[l].abs(), part[1][l]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::autodiff::Dual;
    use pfaff_expr::{Expr, Graph, Role};

    /// A chain of sums with products on the way, where each symbol has one way to an output: sums over the derivatives
    /// that sweeps find, with signs and by sizes.
    #[test]
    fn passes_are_sums_over_the_derivatives() {
        let g = Graph::new();
        let x: Vec<Expr> = (0..90).map(|k| g.symbol(&format!("x{k}"), Role::Free)).collect();
        let mut sum = g.zero();
        let mut outputs = Vec::new();
        for (k, &x) in x.iter().enumerate() {
            sum = g.sub(g.sin(x), g.mul(g.fraction(9, 10), sum));
            outputs.push(if k % 2 == 0 { g.cos(sum) } else { g.neg(sum) });
        }
        let all: Vec<usize> = (0..outputs.len()).collect();
        let value = |s: usize| Dual {
            x: std::array::from_fn(|l| 0.3 * s as f64 + 0.1 * l as f64),
            d: [1.0; LANES],
        };
        let seed = |s: usize| -> Lanes { std::array::from_fn(|l| (s + l) as f64 - 30.5) };
        let weight = |i: usize| -> Lanes { std::array::from_fn(|l| (i * l) as f64 - 70.0) };
        let mut plain = Duals::new(&g, &outputs, outputs.len(), &[], &|_| None);
        let mut passes = Duals::new(&g, &outputs, outputs.len(), &all, &|_| None);
        assert!(plain.broad.len() == 0 && passes.broad.len() > 0);
        plain.evaluate(&value);
        passes.evaluate(&value);
        let mut nodes = Vec::new();
        passes.spread(&|s| [seed(s), seed(s).map(f64::abs)], &mut nodes);
        let mut wanted_pull = vec![NOTHING; plain.symbols.len()];
        let mut count = 0;
        for i in all {
            let mut wanted = NOTHING;
            plain.sweep(i, [1.0; LANES], &mut |s, slope| {
                accumulate(&mut wanted, &slope.x, &[seed(s), seed(s).map(f64::abs)]);
                if passes.broad.contains(i) {
                    let λ = weight(i);
                    accumulate(&mut wanted_pull[s], &slope.x, &[λ, λ.map(f64::abs)]);
                }
            });
            if passes.broad.contains(i) {
                count += 1;
                close(passes.spread_of(i, &nodes), &wanted);
            }
        }
        assert!((MANY..outputs.len()).contains(&count), "{count} are broad");
        let mut told = 0;
        passes.pull(&weight, &mut nodes, &mut |s, found| {
            told += 1;
            close(found, &wanted_pull[s]);
        });
        assert_eq!(told, x.len());
    }

    /// Equal to the rounding of some hundred terms of one size.
    fn close(found: &Sized, wanted: &Sized) {
        for (l, &size) in wanted[1].iter().enumerate() {
            for kind in [0, 1] {
                let off = (found[kind][l] - wanted[kind][l]).abs();
                assert!(
                    off <= 1e-12 * size,
                    "{} instead of {}",
                    found[kind][l],
                    wanted[kind][l]
                );
            }
        }
    }
}
