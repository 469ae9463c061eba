//! Model texts in any units: what is written without dimensions gets scales of length, mass and time and a start.
//!
//! With $x = L\hat x$, $t = t_0 + T\hat t$, $\mathcal L = (ML^2/T^2)\,\hat{\mathcal L}$ the motion is the same in its
//! own units, so that the hand-written equations need no units.

use std::fmt::Write;

use super::formula::{Formula, Names};
use crate::support::Random;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    pub(crate) length: f64,
    mass: f64,
    pub(crate) time: f64,
    pub(crate) start: f64,
}

pub(crate) struct Writer {
    pub(crate) units: Units,
    pub(crate) text: String,
    pub(crate) files: Vec<(String, String)>,
    /// Coordinates: name, and whether it is a length.
    coordinates: Vec<(&'static str, bool)>,
}

impl Units {
    const PLAIN: Self = Self { length: 1.0, mass: 1.0, time: 1.0, start: 0.0 };

    /// Half of them plain, half of them from 1e-12 to 1e12; a quarter begins far from zero.
    pub(crate) fn random(random: &mut Random) -> Self {
        let mut units = Self::PLAIN;
        if random.below(2) == 0 {
            let mut scale = || {
                let exponent = random.below(25) as i32 - 12;
                let digits = 1.0 + random.below(90) as f64 / 10.0;
                // As written, so that the text reads back as this number.
                format!("{digits}e{exponent}").parse().expect("a number")
            };
            units = Self { length: scale(), mass: scale(), time: scale(), start: 0.0 };
        }
        if random.below(4) == 0 {
            let far = [-3.0, 10.0, 1e3, 1e5, 1.7e9][random.below(5)];
            units.start = far * units.time;
        }
        units
    }

    fn scaled(&self) -> bool {
        self.length != 1.0 || self.mass != 1.0 || self.time != 1.0
    }
}

impl Writer {
    pub(crate) fn new(units: Units, coordinates: &[(&'static str, bool)]) -> Self {
        let mut text = String::new();
        if units.scaled() {
            let Units { length, mass, time, .. } = units;
            writeln!(text, "parameters L = {length:?}, M = {mass:?}, T = {time:?}")
                .expect("text");
        }
        let names: Vec<&str> = coordinates.iter().map(|(name, _)| *name).collect();
        writeln!(text, "coordinates {}", names.join(", ")).expect("text");
        Self { units, text, files: Vec::new(), coordinates: coordinates.to_vec() }
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Coordinates, then velocities, and time, without dimensions.
    pub(crate) fn names(&self) -> Names {
        let scaled = self.units.scaled();
        let position = |(name, length): &(&str, bool)| match (scaled, length) {
            (true, true) => format!("({name}/L)"),
            (true, false) | (false, _) => (*name).to_owned(),
        };
        let velocity = |(name, length): &(&str, bool)| match (scaled, length) {
            (true, true) => format!("({name}'*T/L)"),
            (true, false) => format!("({name}'*T)"),
            (false, _) => format!("{name}'"),
        };
        let mut variables: Vec<String> = self.coordinates.iter().map(position).collect();
        variables.extend(self.coordinates.iter().map(velocity));
        let since = match self.units.start {
            0.0 => "t".to_owned(),
            start => format!("(t - ({start:?}))"),
        };
        Names { variables, time: if scaled { format!("({since}/T)") } else { since } }
    }

    /// A dimensionless formula as text; its files are kept.
    pub(crate) fn write(&mut self, formula: &Formula) -> String {
        formula.files(&mut self.files);
        formula.text(&self.names())
    }

    pub(crate) fn lagrangian(&mut self, lagrangian: &str) {
        let unit = if self.units.scaled() { "M*L^2/T^2*" } else { "" };
        self.line(&format!("lagrangian {unit}({lagrangian})"));
    }

    /// A force on a coordinate by its place.
    pub(crate) fn force(&mut self, i: usize, formula: &Formula) {
        let text = self.write(formula);
        let (name, length) = self.coordinates[i];
        let unit = match (self.units.scaled(), length) {
            (true, true) => "M*L/T^2*",
            (true, false) => "M*L^2/T^2*",
            (false, _) => "",
        };
        self.line(&format!("force {name}: {unit}({text})"));
    }

    /// Initial values: coordinates, then velocities; `None` is left out.
    pub(crate) fn initial(&mut self, values: &[Option<f64>]) {
        let n = self.coordinates.len();
        let scaled = self.units.scaled();
        let mut parts = Vec::new();
        for (i, value) in values.iter().enumerate() {
            let Some(value) = value else { continue };
            let (name, length) = self.coordinates[i % n];
            let unit = match (scaled, length, i < n) {
                (true, true, true) => "*L",
                (true, true, false) => "*L/T",
                (true, false, false) => "/T",
                (true, false, true) | (false, _, _) => "",
            };
            let prime = if i < n { "" } else { "'" };
            parts.push(format!("{name}{prime} = {value:?}{unit}"));
        }
        self.line(&format!("initial {}", parts.join(", ")));
    }

    /// The multiplier of the constraint `c`.
    pub(crate) fn multiplier(&mut self, value: f64) {
        let unit = if self.units.scaled() { "*M*L^2/T^2" } else { "" };
        self.line(&format!("initial mu(c) = {value:?}{unit}"));
    }

    /// The `solve` line; the span without dimensions as it is in floating point.
    pub(crate) fn solve(&mut self, span: f64) -> f64 {
        let Units { time, start, .. } = self.units;
        let end = start + span * time;
        self.line(&format!("solve t = {start:?}..{end:?}"));
        (end - start) / time
    }

    /// The unit of each coordinate and velocity.
    pub(crate) fn shown_units(&self) -> Vec<f64> {
        let Units { length, time, .. } = self.units;
        let position = |(_, is_length): &(&str, bool)| if *is_length { length } else { 1.0 };
        let mut units: Vec<f64> = self.coordinates.iter().map(position).collect();
        units.extend(self.coordinates.iter().map(|c| position(c) / time));
        units
    }
}
