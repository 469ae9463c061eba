//! Why a model has no equations under a principle.

use pfaff_model::{Diagnostic, Principle, Span};

/// What stands in the way, in the user's words.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The model has neither a Lagrangian nor equations.
    NoDynamics,
    /// A memory operator occurs in this part of the model.
    Memory {
        /// What contains it, as in "the constraint `past`".
        what: String,
        /// Where it stands.
        span: Span,
    },
    /// A principle that looks at whole motions meets memory.
    MemoryAhead {
        /// The principle.
        principle: Principle,
        /// What contains the memory, as in "the constraint `past`".
        what: String,
        /// Where it stands.
        span: Span,
    },
    /// The restricted principle needs a coordinate that occurs with a prime only, and it does not.
    Dependent {
        /// The coordinate.
        name: String,
        /// What contains it, as in "the Lagrangian".
        inside: String,
        /// Where it is declared.
        span: Span,
    },
    /// A constraint is not linear in the velocities that it should determine.
    Unsolvable {
        /// The constraint.
        constraint: String,
        /// The dependent coordinates.
        coordinates: Vec<String>,
        /// Where it stands.
        span: Span,
    },
    /// Geometry needs constraints linear or affine in the velocities, and this one is not.
    NotLinear {
        /// The constraint.
        constraint: String,
        /// Why not, as in "has memory".
        what: &'static str,
        /// Where it stands.
        span: Span,
    },
    /// The constraints do not determine the velocities of the coordinates that were asked for.
    Undetermined {
        /// The coordinates.
        coordinates: Vec<String>,
        /// How many independent constraints there are.
        needed: usize,
    },
    /// The momenta of the transverse coordinates do not determine their velocities.
    SingularLegendre {
        /// The transverse coordinates.
        coordinates: Vec<String>,
        /// Where the Lagrangian stands.
        span: Span,
    },
    /// A view needs Chetaev's reactions, and `along` gives another direction.
    ReactionAlong {
        /// The constraint.
        constraint: String,
        /// Where it stands.
        span: Span,
    },
    /// There is no Hamiltonian form of the vakonomic equations.
    NoHamilton {
        /// Which hypothesis fails.
        what: &'static str,
        /// Where the Lagrangian stands.
        span: Span,
    },
    /// There is no fractional form of the model.
    NoFractionalForm {
        /// Which hypothesis fails.
        what: String,
        /// Where the Lagrangian stands.
        span: Span,
    },
    /// A standard form of the equations does not apply.
    NoForm {
        /// The form, as in "Routh's form".
        form: &'static str,
        /// Which hypothesis fails.
        what: String,
        /// Where the Lagrangian stands.
        span: Span,
    },
    /// A `symmetry` along which the Lagrangian changes.
    NotSymmetric {
        /// Its name.
        name: String,
        /// At which rate, as text.
        rate: String,
        /// Where it stands.
        span: Span,
    },
    /// `equation` models and constraints or forces do not mix.
    MixedDynamics {
        /// What is beside the equations.
        what: String,
        /// Where it stands.
        span: Span,
    },
    /// A coordinate occurs with no derivative in any `equation`.
    Algebraic {
        /// The coordinate.
        name: String,
        /// Where it is declared.
        span: Span,
    },
    /// The Lagrangian does not contain any velocity that moves this coordinate.
    NoVelocity {
        /// Where the Lagrangian stands.
        span: Span,
    },
}

impl Refusal {
    /// The refusal as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let start = Span { start: 0, end: 0 };
        match self {
            Self::NoDynamics => Diagnostic::error(
                "E0406",
                start,
                "the model has no `lagrangian`, no `kinetic` and no `equation`".into(),
            )
            .with_hint("add a line such as `lagrangian m*x'^2/2`"),
            Self::Memory { what, span } => Diagnostic::error(
                "E0420",
                *span,
                format!("{what} has memory, so the equations depend on the future: initial values do not \
                         determine a motion"),
            )
            .with_hint("write memory as a `force`, a `constraint` or an `equation`"),
            Self::MemoryAhead { principle, what, span } => Diagnostic::error(
                "E0441",
                *span,
                format!("{what} has memory: under `{}` the equations depend on the future, so initial values do \
                         not determine a motion", principle.name()),
            )
            .with_hint("choose `principle chetaev`, or give `final` data: `principle vakonomic` then finds the \
                        extremum between two ends"),
            Self::Dependent { name, inside, span } => Diagnostic::error(
                "E0426",
                *span,
                format!("the principle `restricted` cannot insert the velocity of `{name}`: {inside} contains \
                         `{name}` itself"),
            )
            .with_hint(&format!("a dependent coordinate may occur only as a velocity, here `{name}'`; \
                `chetaev` and `vakonomic` have no such limit")),
            Self::Unsolvable { constraint, coordinates, span } => Diagnostic::error(
                "E0425",
                *span,
                format!(
                    "the principle `restricted` cannot insert the velocities of {}: `{constraint}` is not linear \
                     in them",
                    coordinates.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ")
                ),
            )
            .with_hint("solve the constraint for a velocity, as in `z' = sqrt(x'^2 + y'^2)`"),
            Self::NotLinear { constraint, what, span } => Diagnostic::error(
                "E0427",
                *span,
                format!("the constraint `{constraint}` {what}, so the admissible velocities do not form a \
                         distribution"),
            )
            .with_hint("metrics, connections and growth vectors need constraints linear or affine in the velocities"),
            Self::Undetermined { coordinates, needed } => Diagnostic::error(
                "E0428",
                start,
                format!(
                    "the constraints do not give the velocities of {} in terms of the others: {needed} dependent \
                     coordinate{} with an invertible block of A {} needed",
                    coordinates.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", "),
                    if *needed == 1 { "" } else { "s" },
                    if *needed == 1 { "is" } else { "are" },
                ),
            )
            .with_hint("choose other dependent coordinates, or none: then a valid choice is made"),
            Self::SingularLegendre { coordinates, span } => Diagnostic::error(
                "E0432",
                *span,
                format!(
                    "there is no cotangent form: the momenta of {} do not determine the velocities, because J = \
                     dp/dy is singular",
                    coordinates.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ")
                ),
            )
            .with_hint("try other dependent coordinates; the other forms of the equations, and a run, do not need J"),
            Self::ReactionAlong { constraint, span } => Diagnostic::error(
                "E0433",
                *span,
                format!("this form needs Chetaev's reactions, but `along` gives the reaction of `{constraint}` \
                         another direction"),
            )
            .with_hint("the form with multipliers exists"),
            Self::NoHamilton { what, span } => Diagnostic::error(
                "E0434",
                *span,
                format!("there is no Hamiltonian form of the vakonomic equations: {what}"),
            )
            .with_hint("the form with multipliers exists, and a run does not need this one"),
            Self::NoFractionalForm { what, span } => Diagnostic::error(
                "E0435",
                *span,
                format!("there is no fractional form of this model: {what}"),
            )
            .with_hint("fractional derivatives with respect to positions and velocities are known for sums of \
                        powers; the ordinary forms exist for any Lagrangian"),
            Self::NoForm { form, what, span } => Diagnostic::error(
                "E0436",
                *span,
                format!("{form} does not apply here: {what}"),
            )
            .with_hint("the form with multipliers exists, and a run does not need this one"),
            Self::NotSymmetric { name, rate, span } => Diagnostic::error(
                "E0429",
                *span,
                format!("`{name}` is not a symmetry: along it the Lagrangian changes at the rate {}", brief(rate)),
            )
            .with_hint("a symmetry moves coordinates so that `lagrangian` stays the same for all positions and \
                velocities"),
            Self::MixedDynamics { what, span } => Diagnostic::error(
                "E0405",
                *span,
                format!("{what} cannot be used together with `equation`"),
            )
            .with_hint("add the term to the equation, or write a `lagrangian`"),
            Self::Algebraic { name, span } => Diagnostic::error(
                "E0423",
                *span,
                format!("no `equation` contains `{name}'` or `{name}''`, so nothing moves `{name}`"),
            )
            .with_hint("each coordinate needs a derivative in some equation"),
            Self::NoVelocity { span } => Diagnostic::error(
                "E0424",
                *span,
                "the Lagrangian contains no velocity, so nothing moves".into(),
            )
            .with_hint("write velocities with a prime: `m*x'^2/2`"),
        }
    }
}

/// A formula, cut where it is too long to be read.
fn brief(text: &str) -> String {
    const LONGEST: usize = 200;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    format!("{} …", text.chars().take(LONGEST).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_coordinates_have_their_words() {
        let message = |needed: usize| {
            let coordinates = vec!["x".into(), "y".into()];
            Refusal::Undetermined { coordinates, needed }.diagnostic().message
        };
        assert!(message(1).contains("`x`, `y`"), "{}", message(1));
        assert!(message(1).contains("1 dependent coordinate with"), "{}", message(1));
        assert!(message(1).ends_with("is needed"), "{}", message(1));
        assert!(message(2).contains("2 dependent coordinates with"), "{}", message(2));
        assert!(message(2).ends_with("are needed"), "{}", message(2));
        assert_eq!(Refusal::NoDynamics.diagnostic().span, Span { start: 0, end: 0 });
    }

    #[test]
    fn long_formulas_are_cut() {
        assert_eq!(brief(&"x".repeat(200)), "x".repeat(200));
        assert_eq!(brief(&"x".repeat(201)), format!("{} …", "x".repeat(200)));
    }
}
