//! `pfaff gallery`

use std::fmt::Write;

use clap::Args;
use pfaff::{GALLERY, closest, gallery_model};
use pfaff_present::json_text;
use serde_json::{Value, json};

use crate::output::{Exit, print, usage};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff gallery                          names and titles
  pfaff gallery sleigh > mine.pfaff      a start for a model of your own
  pfaff gallery --html site              a page for each model, and an index")]
pub(crate) struct GalleryArguments {
    /// Prints the text of this model
    #[arg(conflicts_with = "html")]
    pub(crate) name: Option<String>,
    /// Writes a static site into this folder: an index, and a page for each model
    #[arg(long, value_name = "FOLDER")]
    pub(crate) html: Option<String>,
    /// Only these models in the site, such as sleigh,pendulum
    #[arg(long, value_name = "NAMES", requires = "html")]
    pub(crate) only: Option<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn gallery(arguments: &GalleryArguments) -> Result<Exit, Exit> {
    if let Some(folder) = &arguments.html {
        return crate::command::site::site(folder, arguments.only.as_deref());
    }
    if let Some(name) = &arguments.name {
        let Some(model) = gallery_model(name) else {
            let names: Vec<&str> = GALLERY.iter().map(|m| m.name).collect();
            let hint = closest(name, &names)
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(usage(&format!("the gallery has no model `{name}`{hint}")));
        };
        print(model.text)?;
        return Ok(Exit::Done);
    }
    if arguments.json {
        let entry = |m: &pfaff::GalleryModel| json!({ "name": m.name, "title": m.title() });
        let models: Vec<Value> = GALLERY.iter().map(entry).collect();
        print(&(json_text(&json!({ "models": models })) + "\n"))?;
        return Ok(Exit::Done);
    }
    let width = GALLERY.iter().map(|m| m.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for model in GALLERY {
        let _ = writeln!(text, "{:width$}  {}", model.name, model.title());
    }
    text += "\nRun one with `pfaff run NAME`, see its text with `pfaff gallery NAME`.\n";
    print(&text)?;
    Ok(Exit::Done)
}
