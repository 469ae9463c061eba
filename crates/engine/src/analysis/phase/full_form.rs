//! The linear equations in all coordinates, with constraints.
//!
//! $$ E\,\dot x = A\,x + B\,u, \qquad x = (\delta y, \delta\lambda) \qquad (\mathrm D) $$
//!
//! with the rows $\delta\dot q = \delta v$, those of $M\ddot q = f + W^\top\lambda$ and one for each constraint:
//! $\varphi_q\,
//! \delta q = 0$ if it is holonomic, else $\psi_q\,\delta q + \psi_v\,\delta v = 0$. The finite eigenvalues of the
//! pencil
//! $\lambda E - A$ are those of the reduced equations and zeros of what was left out there.

use pfaff_model::Workspace;
use pfaff_solver::EvalError;

use crate::analysis::phase::field::{Field, FieldPoint, ParameterPoint};
use crate::system::dynamics::Dynamics;
use crate::system::linearisation::Rate;

/// $E$, $A$ and $B$ of (D) by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct FullForm {
    /// The names of $x$: `x`, `x'`, `lambda(c)`.
    pub variables: Vec<String>,
    /// $E$
    pub e: Vec<f64>,
    /// $A$
    pub a: Vec<f64>,
    /// $B$, with a column for each input.
    pub b: Vec<f64>,
}

impl FullForm {
    /// At a state, with what inputs do there.
    pub(crate) fn at(
        model: &Workspace,
        dynamics: &Dynamics,
        field: &mut Field,
        point: &FieldPoint,
        inputs: Option<&ParameterPoint>,
    ) -> Result<Self, EvalError> {
        let frame = field.frame.take();
        let slopes = field.balance_slopes(point.t, &point.y);
        field.frame = frame;
        let (by_unknowns, by_state) = slopes?;
        let d = field.size();
        let unknowns = by_state.len().checked_div(d).unwrap_or(0);
        let k = inputs.map_or(0, |p| p.count);
        let rates = field.rate_places();
        let component =
            |unknown: usize| rates.iter().position(|r| *r == Rate::Unknown(unknown));
        let (balanced, holonomic): (usize, Vec<bool>) = match dynamics {
            Dynamics::Saddle(equations) => {
                (field.n, equations.position.iter().map(Option::is_some).collect())
            }
            Dynamics::Ordinary(_) => (unknowns, Vec::new()),
        };
        let algebraic: Vec<usize> = (0..unknowns).filter(|&j| component(j).is_none()).collect();
        let mut variables = field.names.clone();
        for &j in &algebraic {
            let constraint = j.checked_sub(field.n).and_then(|a| model.constraints.get(a));
            let name = constraint.map_or_else(|| format!("x{j}"), |c| c.name.clone());
            variables.push(format!("lambda({name})"));
        }
        let width = variables.len();
        let (mut e, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
        for (i, rate) in rates.iter().enumerate() {
            if let Rate::State(j) = *rate {
                e.extend((0..width).map(|c| f64::from(u8::from(c == i))));
                a.extend((0..width).map(|c| f64::from(u8::from(c == j))));
                b.extend(std::iter::repeat_n(0.0, k));
            }
        }
        for row in 0..balanced {
            let (mut left, mut right) = (vec![0.0; width], vec![0.0; width]);
            for j in 0..unknowns {
                let slope = by_unknowns[row * unknowns + j];
                match component(j) {
                    Some(c) => left[c] += slope,
                    None => {
                        let place = algebraic.iter().position(|&other| other == j);
                        right[d + place.unwrap_or_default()] -= slope;
                    }
                }
            }
            for (c, slope) in by_state[row * d..(row + 1) * d].iter().enumerate() {
                right[c] -= slope;
            }
            e.extend(left);
            a.extend(right);
            b.extend((0..k).map(|j| -inputs.map_or(0.0, |p| p.balance[row * k + j])));
        }
        let mut position = 0;
        for (row, is_position) in holonomic.iter().enumerate() {
            let (level, at, by) = if *is_position {
                position += 1;
                (&point.positions, position - 1, inputs.map(|p| &p.positions))
            } else {
                (&point.velocities, row, inputs.map(|p| &p.velocities))
            };
            e.extend(std::iter::repeat_n(0.0, width));
            a.extend_from_slice(&level.slopes[at * d..(at + 1) * d]);
            a.extend(std::iter::repeat_n(0.0, width - d));
            b.extend((0..k).map(|j| by.map_or(0.0, |by| by[at * k + j])));
        }
        let clean = |list: Vec<f64>| list.into_iter().map(|x| x + 0.0).collect();
        Ok(Self { variables, e: clean(e), a: clean(a), b: clean(b) })
    }
}
