//! Stationary values of functionals with left and right fractional operators, by a spectral method that
//! resolves both ends.
//!
//! $$ \delta\int_a^b \mathcal L(t, O_1 q, O_2 q, \ldots)\,dt = 0, \qquad \text{linear conditions at } a
//! \text{ and } b, \qquad (\mathrm F) $$
//!
//! where the $O_i$ are ordinary derivatives, left or right fractional ones, or integrals of the unknown functions.
//!
//! **Unknowns.** Every function is an integral of its density, $q = \sum_j c_j x^j/j! + J^N y$ with the
//! distance $x$ from one end and the highest order $N$ that occurs.
//! Then all operators are integrals of $y$, and the first variation for $\delta q = J^N\xi$ is
//! $\int\xi\,E\,dt$ with $E = \sum_i O_i^*\,\partial\mathcal L/\partial O_i$. The adjoint of a
//! left integral is the right one: this is the swap of sides. (F) becomes $E = \sum_r C_r\,\kappa_r(t)$ with
//! the kernels of the end conditions, which is imposed at the nodes.
//!
//! **Basis.** Solutions behave like all $x^{i\alpha+j}$ at both ends at once. With $x/(b-a) =
//! 1/(1+e^{-\pi\sinh u})$ all these powers become functions of $u$ that are
//! analytic in a strip and decay doubly exponentially, and $y\,dt/du$ is a sum of cardinal functions
//! $\mathrm{sinc}((u-u_j)/h)$ (Stenger 1993; Takahasi and Mori 1974). The error falls like $\exp(-cn/\log n)$
//! whatever the exponents are.
//!
//! **Operators.** Integrals of each basis function are computed by Gauss–Jacobi rules at the singular end of
//! the kernel and Gauss–Legendre panels elsewhere, to rounding.

mod extremum;
mod fractional_integral;
mod functional;
mod initial_guess;
mod operators;
mod reaction_fit;
mod second_variation;
mod sinc_grid;
mod unknown;

pub use extremum::{Extremum, NoExtremum, extrema, extremum};
pub use functional::{EndCondition, EndTerm, Functional, VariationalProblem};
pub use initial_guess::InitialGuess;
pub use reaction_fit::{ForceSamples, ReactionFit, reaction_fit};
pub use sinc_grid::{IntervalPoint, SincGrid};
pub use unknown::{FractionalOperator, Side, Unknown};
