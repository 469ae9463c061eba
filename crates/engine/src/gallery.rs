//! The models that come with the program.

use pfaff_model::Files;

/// A built-in model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GalleryModel {
    /// The name by which it is called.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Models of hundreds of coordinates.
const LARGE: [&str; 5] =
    ["elastic_net", "falling_chain", "isokinetic_gas", "ring_of_rods", "train"];

impl GalleryModel {
    /// Whether it has hundreds of coordinates: what writes out every entry of its matrices takes long.
    pub fn is_large(&self) -> bool {
        LARGE.contains(&self.name)
    }

    /// Whether its motion jumps or switches: what needs one smooth motion cannot have it.
    pub fn switches(&self) -> bool {
        let words = ["contact ", "mode ", "on ", "control "];
        self.text.lines().any(|line| words.iter().any(|word| line.starts_with(word)))
    }

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
            GalleryModel { name: $name, text: include_str!(concat!("../models/", $name, ".pfaff")) },
        )*];
    };
}

gallery![
    "affine_free_2d",
    "affine_free_3d",
    "appell",
    "appell_hamel",
    "appell_hamel_elevator",
    "appell_hamel_spring",
    "bagley_torvik",
    "ball",
    "ball_in_bowl",
    "bead_on_wire",
    "bicycle",
    "block_on_belt",
    "bounce_2d",
    "bounce_3d",
    "bouncing_ball",
    "brachistochrone",
    "bricard",
    "car_trailers",
    "cart_pole",
    "compass_walker",
    "contact_oscillator",
    "contact_particle",
    "contact_vakonomic",
    "contact_vakonomic_off",
    "decelerated",
    "disk",
    "disk_vakonomic",
    "double_pendulum",
    "driven_bead",
    "drop_2d",
    "drop_3d",
    "duffing_chain",
    "elastic_net",
    "engel",
    "falling_cat",
    "falling_chain",
    "falling_disk",
    "flip",
    "four_bar",
    "fractional_brusselator",
    "fractional_constraint",
    "fractional_effort",
    "fractional_harmonic",
    "fractional_oscillator",
    "fractional_path",
    "fractional_relaxation",
    "fractional_thermostat",
    "heisenberg",
    "isokinetic",
    "isokinetic_gas",
    "knife_edge",
    "langevin_gas",
    "langevin_sphere",
    "martinet",
    "memory_functions",
    "moving_ratio",
    "newtons_cradle",
    "noisy_sleigh",
    "parking_trailer",
    "pendulum",
    "prescribed_speed",
    "rattleback",
    "rattleback_slip",
    "rimless_wheel",
    "ring_of_rods",
    "rocking_block",
    "roller_racer",
    "rolling_ball",
    "rotation_free_2d",
    "rotation_free_3d",
    "rotation_free_vakonomic",
    "rotation_free_vakonomic_3d",
    "se2",
    "shortest_path",
    "simplest_walker",
    "sleigh",
    "sleigh_billiard",
    "sleigh_centred",
    "sleigh_vakonomic",
    "slider_crank",
    "slipping_car",
    "snake",
    "snakeboard",
    "star_2d",
    "star_3d",
    "stick_slip",
    "trailers",
    "train",
    "turntable",
    "two_wheel_robot",
    "woodpecker",
];

/// Data files of built-in models, by name.
const DATA: &[(&str, &str)] = &[("driven_bead.csv", include_str!("../models/driven_bead.csv"))];

/// The data files of the built-in models.
#[derive(Clone, Copy, Debug, Default)]
pub struct GalleryFiles;

impl Files for GalleryFiles {
    fn read(&self, name: &str) -> Result<String, String> {
        let known = DATA.iter().find(|(file, _)| *file == name);
        known
            .map(|(_, text)| (*text).to_owned())
            .ok_or_else(|| "the gallery has no such file".into())
    }
}

/// The built-in model of this name.
pub fn gallery_model(name: &str) -> Option<GalleryModel> {
    GALLERY.iter().copied().find(|m| m.name == name)
}
