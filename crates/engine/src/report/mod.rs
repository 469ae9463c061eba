//! A motion for the eye: what a report shows.

pub mod drawing;
mod drawing_default;
mod drawing_frames;
mod drawing_scene;
