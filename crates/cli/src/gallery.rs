//! `pfaff gallery`

use std::fmt::Write;

use pfaff::{GALLERY, Json, closest, gallery_model};

use crate::arguments::GalleryArguments;
use crate::output::{Exit, print, usage};

pub(crate) fn gallery(arguments: &GalleryArguments) -> Result<Exit, Exit> {
    if let Some(folder) = &arguments.html {
        return crate::site::site(folder, arguments.only.as_deref());
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
        let entry = |m: &pfaff::GalleryModel| {
            Json::object([("name", Json::text(m.name)), ("title", Json::text(m.title()))])
        };
        let models = Json::List(GALLERY.iter().map(entry).collect());
        print(&format!("{}\n", Json::object([("models", models)])))?;
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
