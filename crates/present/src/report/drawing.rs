//! A model and its motion → the animation of the thing itself, as a piece of a page.
//!
//! What is shown is what `draw` says, or a default drawing where the model has none. All expressions are
//! compiled into one tape and evaluated at the
//! times of the frames; the player draws between frames by interpolation. Response are written with five
//! digits of the largest in their column, as
//! whole numbers and their differences, so that a motion of any length stays small.
//!
//! A page has [`STYLE`] and [`SCRIPT`] once, and [`Animation::html`] for each animation. Nothing is loaded
//! from anywhere.

use std::fmt::Write as _;

use pfaff::Model;
use pfaff_expr::escape_markup as escape;
use pfaff_model::{Drawing, Workspace};

use serde_json::Value;

use crate::json::json_text;
use crate::report::drawing_default::default_drawings;
use crate::report::drawing_frames::Frames;
use crate::report::drawing_scene::Scene;
use pfaff::Motion;

/// The player: once in a page, after the last animation.
pub const SCRIPT: &str = include_str!("animation.js");

/// The looks of the player: once in a page.
pub const STYLE: &str = include_str!("animation.css");

/// An animation as a piece of a page.
#[derive(Clone, Debug)]
pub struct Animation {
    /// A `figure` with canvas, controls and data; everything in it is escaped.
    pub html: String,
    /// The data alone: figures, and their numbers at each frame.
    pub data: Value,
    /// How many frames there are; none if the motion has no sample that can be shown.
    pub frames: usize,
    /// Whether it is in space, with a camera that can be turned.
    pub spatial: bool,
    /// Whether the model says nothing and the drawing was found from its coordinates.
    pub found: bool,
    /// Why some figures are missing.
    pub notes: Vec<String>,
}

/// What the player draws.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Figures, and their numbers at each frame.
    pub data: Value,
    /// How many frames there are; none if the motion has no sample that can be shown.
    pub frames: usize,
    /// Whether it is in space, with a camera that can be turned.
    pub spatial: bool,
    /// Whether the model says nothing and the drawing was found from its coordinates.
    pub found: bool,
    /// Why some figures are missing.
    pub notes: Vec<String>,
}

/// The animation of a motion. The `id` is that of the `figure` in the page.
///
/// ```
/// use pfaff::{GalleryFiles, Overrides, Run, Source, gallery_model, run, Model};
/// let text = gallery_model("sleigh").expect("it is there").text;
/// let reading = Model::read(Source::new("sleigh", text), &Overrides::default(), &GalleryFiles).expect("sound");
/// let motion = run(&reading, &Run::default(), &mut |_, _| true).expect("it runs");
/// let animation = pfaff_present::report::drawing::animation(&reading, &motion, "animation");
/// assert!(animation.html.contains("<canvas") && animation.frames > 100);
/// ```
pub fn animation(model: &Model, motion: &Motion, id: &str) -> Animation {
    let drawn = drawn(model, motion, 1);
    let html = html(&motion.title, id, &drawn.data, drawn.spatial);
    let Drawn { data, frames, spatial, found, notes } = drawn;
    Animation { html, data, frames, spatial, found, notes }
}

/// The data of an animation alone, with one frame where the page of a motion has `stride`.
pub fn drawn(model: &Model, motion: &Motion, stride: usize) -> Drawn {
    let model = &model.workspace();
    let found = model.drawings.iter().all(is_view);
    let drawings = drawings_of(model);
    let mut notes = Vec::new();
    let frames = Frames::new(model, motion, &drawings, stride, &mut notes);
    let scene = Scene::new(model, &drawings, &frames);
    let data = scene.to_json(&frames);
    Drawn { data, frames: frames.count(), spatial: scene.spatial, found, notes }
}

/// What the model says, or what is found from its coordinates if it says nothing.
pub fn drawings_of(model: &Workspace) -> Vec<Drawing> {
    let mut drawings = model.drawings.clone();
    if drawings.iter().all(is_view) {
        drawings.extend(default_drawings(model));
    }
    drawings
}

fn is_view(drawing: &Drawing) -> bool {
    matches!(drawing.figure, pfaff_model::Figure::View { .. })
}

/// The figure with its controls.
fn html(title: &str, id: &str, data: &Value, spatial: bool) -> String {
    let (title, id) = (escape(title), escape(id));
    let turn = if spatial {
        " Drag to turn, or Shift with the arrow keys; + and − change the size."
    } else {
        ""
    };
    // NOTE: inside a script element only `</script` and `<!--` could end the data: no `<` is left.
    let data = json_text(data).replace('<', "\\u003c");
    let mut out = String::with_capacity(data.len() + 2048);
    let _ = write!(
        out,
        "<figure class=\"pfaff-animation\" id=\"{id}\">\n\
         <canvas role=\"img\" tabindex=\"0\" aria-label=\"Animation: {title}\"></canvas>\n\
         <div class=\"pfaff-controls\" role=\"group\" aria-label=\"Playback\">\n\
         <button type=\"button\" class=\"pfaff-play\">Play</button>\n\
         <input type=\"range\" class=\"pfaff-time\" min=\"0\" max=\"1000\" value=\"0\" step=\"1\" \
         aria-label=\"Time\">\n\
         <output class=\"pfaff-clock\">t = 0</output>\n\
         <label>Speed <select class=\"pfaff-speed\"><option value=\"0.1\">0.1×</option>\
         <option value=\"0.25\">0.25×</option><option value=\"0.5\">0.5×</option>\
         <option value=\"1\" selected>1×</option><option value=\"2\">2×</option>\
         <option value=\"4\">4×</option></select></label>\n\
         <label><input type=\"checkbox\" class=\"pfaff-loop\" checked> Loop</label>\n\
         </div>\n\
         <figcaption>Space plays and pauses, the arrow keys move in time.{turn}</figcaption>\n\
         <noscript><p>The animation needs scripts; everything else on this page does not.</p></noscript>\n\
         <script type=\"application/json\">{data}</script>\n\
         </figure>\n"
    );
    out
}
