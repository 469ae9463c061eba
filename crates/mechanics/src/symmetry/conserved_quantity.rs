//! A conserved quantity, and where it comes from.

use pfaff_expr::Expr;
use pfaff_model::Workspace;

/// A quantity that every motion keeps.
#[derive(Clone, Debug)]
pub struct Conserved {
    /// A short name that the model leaves free: `E`, `p_x`, `L_z`, `C1`.
    pub name: String,
    /// Where it comes from.
    pub kind: ConservedKind,
    /// Its formula in positions, velocities and time; with $\mu$ under the vakonomic principle.
    pub quantity: Expr,
}

/// Where a conserved quantity comes from. Coordinates are given by their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConservedKind {
    /// $E = \dot q\cdot p - L$, time being cyclic.
    Energy,
    /// $T_2 - T_0 + V$ in a moving frame.
    JacobiIntegral,
    /// The energy less a multiple of a momentum, neither of which is kept by itself.
    MovingEnergy,
    /// The momentum of a cyclic coordinate.
    Momentum(usize),
    /// The momentum of a common shift of coordinates.
    LinearMomentum(Vec<usize>),
    /// The momentum of a shift along which the Lagrangian changes by a rate.
    GaugeMomentum(Vec<usize>),
    /// The momentum of a rotation of pairs of coordinates, and of angles that turn with them.
    AngularMomentum {
        /// Coordinates that turn into others: factor and direction.
        pairs: Vec<(usize, usize)>,
        /// Coordinates that are shifted with them.
        shifted: Vec<usize>,
    },
    /// The angular momentum of a body about an axis of space, by its rotation matrix.
    BodyAngularMomentum(usize),
    /// The momentum of another symmetry that is linear in the coordinates.
    LinearSymmetry,
    /// The momentum of a symmetry that the text gives, by its name.
    Given(String),
    /// The momentum of a combination of symmetries that the constraints allow.
    Nonholonomic,
    /// A function of positions and time.
    Position,
    /// A component of Laplace's vector, which points to the pericentre of Kepler's problem.
    Laplace(usize),
    /// Linear in the velocities, beside all momenta.
    Linear,
    /// Quadratic in the velocities.
    Quadratic,
}

/// The vector that a coordinate is a component of, and which one it is.
pub(super) fn vector_component(model: &Workspace, k: usize) -> Option<(&str, usize)> {
    let name = model.coordinates[k].name.as_str();
    let (vector, index) = name.strip_suffix(']')?.split_once('[')?;
    Some((vector, index.parse().ok()?))
}

/// The axis of a turn of one coordinate into a later one, and whether it is $L = q_b p_a - q_a p_b$ there: the axes are
/// those of space where the letters are, or where both are components of a vector in space.
pub(super) fn axis(model: &Workspace, a: usize, b: usize) -> Option<(String, bool)> {
    if let (Some((v, i)), Some((w, j))) =
        (vector_component(model, a), vector_component(model, b))
    {
        let in_space = model.coordinates.iter().any(|c| c.name == format!("{v}[3]"))
            && !model.coordinates.iter().any(|c| c.name == format!("{v}[4]"));
        let is_axis = v == w && in_space && (1..=3).contains(&i) && (1..=3).contains(&j);
        return is_axis.then(|| ((6 - i - j).to_string(), (i, j) == (1, 3)));
    }
    let name = |k: usize| model.coordinates[k].name.as_str();
    let axes = [("x", "y", "z"), ("y", "z", "x"), ("x", "z", "y")];
    let found = axes.iter().find(|t| name(a).starts_with(t.0) && name(b).starts_with(t.1));
    found.map(|t| (t.2.to_owned(), t.2 == "y"))
}
