//! What the restricted principle inserts, for people: the dependent velocities, the Lagrangian $L_c$ and the
//! momenta $p_\\alpha$.

use pfaff_mechanics::{Equations, chaplygin};
use pfaff_model::Workspace;

use crate::equations::{Label, Line, Section};

/// The sections before the blocks of $L_c$; none if the model has no Chaplygin form.
pub(crate) fn inserted(model: &Workspace, equations: &Equations) -> Vec<Section> {
    let Ok(form) = model.graph.merging(|| chaplygin(model, equations)) else {
        return Vec::new();
    };
    let name = |k: usize| model.coordinates[k].name.clone();
    let rates = form.dependent.iter().zip(&form.rates).map(|(&k, &right)| Line {
        label: Label::Expression(model.coordinates[k].velocity),
        right,
    });
    let momenta = form.dependent.iter().zip(&form.momenta).map(|(&k, &right)| Line {
        label: Label::Entry { text: "p", latex: "p", indices: vec![name(k)] },
        right,
    });
    let entry = |text: &'static str, latex: &'static str, right| Line {
        label: Label::Entry { text, latex, indices: vec![] },
        right,
    };
    vec![
        Section { key: "dependent", heading: "Dependent velocities", lines: rates.collect() },
        Section {
            key: "restricted",
            heading: "Lagrangian with them inserted",
            lines: vec![entry("L_c", "L_c", form.lagrangian), entry("E_c", "E_c", form.energy)],
        },
        Section {
            key: "dependent_momenta",
            heading: "Momenta of the dependent coordinates (the multipliers)",
            lines: momenta.collect(),
        },
    ]
}
