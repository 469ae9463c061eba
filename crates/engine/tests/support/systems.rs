//! Random constrained systems as texts: leaf-dependent constraints of every class with generic Lagrangians.

use super::Random;

/// How the constraints depend on velocities and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    Affine,
    /// Explicit in the leaf velocities, nonlinear in the others.
    Nonlinear,
    /// Nonlinear in the leaf velocities too.
    Implicit,
}

pub(crate) const KINDS: [Kind; 4] =
    [Kind::Linear, Kind::Affine, Kind::Nonlinear, Kind::Implicit];

/// A system with transverse coordinates `a1`, `a2` … and leaf coordinates `x1` … .
pub(crate) struct RandomSystem {
    pub(crate) transverse: usize,
    pub(crate) leaf: usize,
    pub(crate) text: String,
    /// The names of the leaf coordinates by index.
    pub(crate) dependent: Vec<usize>,
}

impl RandomSystem {
    /// A system of a kind; with `timely`, time occurs in the Lagrangian and the constraints; with `forced`,
    /// there are forces.
    pub(crate) fn new(kind: Kind, timely: bool, forced: bool, random: &mut Random) -> Self {
        let (k, m) = (2 + random.below(2), 1 + random.below(2));
        let names: Vec<String> =
            (1..=k).map(|i| format!("a{i}")).chain((1..=m).map(|i| format!("x{i}"))).collect();
        let n = k + m;
        let any = |random: &mut Random| names[random.below(n)].clone();
        let mut lagrangian = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let (c, d) = (random.decimal(), any(random));
            lagrangian.push(format!("(2 + {c}*sin({d})/2)*{name}'^2/2"));
            for other in &names[..i] {
                let (c, d) = (random.decimal(), any(random));
                lagrangian.push(format!("{c}/4*cos({d})*{name}'*{other}'"));
            }
            let (c, d, e) = (random.decimal(), any(random), random.decimal());
            lagrangian.push(format!("{c}*{d}*{name}' - {e}*{name}^2*{d}"));
        }
        if timely {
            lagrangian.push(format!(
                "sin(t)*{}'*{}/3 + t*{}",
                names[0],
                names[n - 1],
                names[1]
            ));
        }
        let mut rows = Vec::new();
        for u in 0..m {
            let mut right: Vec<String> = Vec::new();
            for (i, name) in names[..k].iter().enumerate() {
                let (c, d, e) = (random.decimal(), random.decimal(), random.decimal());
                let (f, h) = (any(random), any(random));
                let time = if timely && i == 0 { "*(1 + t/3)" } else { "" };
                right.push(format!("({c} + {d}*{f} + {e}*{f}*{h}){time}*{name}'"));
            }
            if kind == Kind::Affine {
                let (c, d) = (random.decimal(), any(random));
                right.push(format!("{c}*sin({d})"));
                if timely {
                    right.push(format!("t^2/5*{}", any(random)));
                }
            }
            if matches!(kind, Kind::Nonlinear | Kind::Implicit) {
                let (c, d, e) = (random.decimal(), random.decimal(), any(random));
                right.push(format!("{c}*sqrt(1 + a1'^2 + a2'^2/2)"));
                right.push(format!("{d}*{e}*a1'*a2'"));
            }
            let y = format!("x{}'", u + 1);
            let left = if kind == Kind::Implicit { format!("{y} + {y}^3/5") } else { y };
            rows.push(format!("constraint {left} = {}", right.join(" + ")));
        }
        let forces = if forced {
            let (c, d) = (random.decimal(), random.decimal());
            format!("force a1: {c}*a2' - {d}*x1*a1'\nforce x1: {d}*a1'*x1'\n")
        } else {
            String::new()
        };
        let mut initial: Vec<String> =
            names.iter().map(|q| format!("{q} = {}/2", random.decimal())).collect();
        initial.extend(names[..k].iter().map(|q| format!("{q}' = {}", random.decimal())));
        let text = format!(
            "coordinates {}\nlagrangian {}\n{}\n{forces}initial {}\nsolve t = 0..1, tolerance = 1e-13\n",
            names.join(", "),
            lagrangian.join(" + "),
            rows.join("\n"),
            initial.join(", ")
        );
        Self { transverse: k, leaf: m, text, dependent: (k..n).collect() }
    }

    /// A random state as text, without leaf velocities.
    pub(crate) fn state(&self, random: &mut Random) -> String {
        let mut parts = vec![format!("t = {}", random.number().abs())];
        for (stem, count) in [("a", self.transverse), ("x", self.leaf)] {
            for i in 1..=count {
                parts.push(format!("{stem}{i} = {}", random.number()));
                if stem == "a" {
                    parts.push(format!("a{i}' = {}", random.number()));
                }
            }
        }
        parts.join(", ")
    }
}
