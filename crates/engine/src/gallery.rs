//! The models that come with the program.

/// A built-in model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GalleryModel {
    /// The name by which it is called.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl GalleryModel {
    /// Its title.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().find(|l| l.starts_with("title")).unwrap_or("");
        line.split('"').nth(1).unwrap_or(self.name)
    }
}

macro_rules! gallery {
    ($($name:literal),* $(,)?) => {
        /// Every built-in model, by name.
        pub const GALLERY: &[GalleryModel] = &[$(
            GalleryModel { name: $name, text: include_str!(concat!("../../../models/", $name, ".pfaff")) },
        )*];
    };
}

gallery![
    "appell_hamel",
    "bagley_torvik",
    "bead_on_wire",
    "contact_particle",
    "contact_vakonomic",
    "contact_vakonomic_off",
    "decelerated",
    "disk",
    "disk_vakonomic",
    "duffing_chain",
    "fractional_brusselator",
    "fractional_constraint",
    "fractional_oscillator",
    "fractional_relaxation",
    "fractional_thermostat",
    "knife_edge",
    "memory_functions",
    "moving_ratio",
    "pendulum",
    "sleigh",
    "sleigh_centred",
    "sleigh_vakonomic",
    "snake",
    "trailers",
];

/// The built-in model of this name.
pub fn gallery_model(name: &str) -> Option<GalleryModel> {
    GALLERY.iter().copied().find(|m| m.name == name)
}
