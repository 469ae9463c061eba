//! The gallery as a static site: an index with small pictures, a page for each model, and the pages on Python.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use pfaff::{
    GALLERY, GalleryFiles, GalleryModel, Model, Motion, Overrides, Source, check, closest,
    derive, run,
};
use pfaff_present::report::{
    Card, LARGE, Report, Shown, Still, gallery_index, guide_page, page, still,
};
use rayon::prelude::*;
use serde_json::Value;

use crate::clock::seconds;
use crate::guard;
use crate::output::{Exit, failed, say, usage};
use crate::whole_file::Place;

/// Builds the site; `only` names some models.
pub(crate) fn site(folder: &str, only: Option<&str>) -> Result<Exit, Exit> {
    let models = chosen(only)?;
    std::fs::create_dir_all(folder)
        .map_err(|error| usage(&format!("`{folder}` cannot be created: {error}")))?;
    let done = AtomicUsize::new(0);
    let card = |model: &GalleryModel| {
        // NOTE: a page of a motion that was cut off would take the place of a good one.
        let in_time =
            || if guard::is_asked_to_end() { Err(Exit::StoppedEarly) } else { Ok(()) };
        in_time()?;
        let page = built(model, in_time);
        let (card, page) = page.inspect_err(|exit| {
            if *exit != Exit::StoppedEarly {
                say(&format!("error: the gallery model `{}` has no page", model.name));
            }
        })?;
        write(folder, &format!("{}.html", model.name), &page)?;
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        say(&format!("{count}/{} {}: {}", models.len(), model.name, card.verdict.name()));
        Ok(card)
    };
    let cards: Vec<Result<Card, Exit>> = models.par_iter().map(card).collect();
    let cards = cards.into_iter().collect::<Result<Vec<Card>, Exit>>().inspect_err(|exit| {
        if *exit == Exit::StoppedEarly {
            let count = done.load(Ordering::Relaxed);
            say(&format!(
                "error: {count} of {} pages are written, the index is not",
                models.len()
            ));
        }
    })?;
    python(folder)?;
    write(folder, "index.html", &gallery_index(&cards))?;
    say(&format!("{folder}/index.html: {} models", cards.len()));
    Ok(Exit::Done)
}

/// The pages on Python, as they are in `docs/python`.
const PYTHON: [(&str, &str, &str); 6] = [
    ("Python", "index", include_str!("../../python/README.md")),
    ("Tutorial", "tutorial", include_str!("../../python/tutorial.ipynb")),
    ("From SymPy", "sympy", include_str!("../../python/sympy.md")),
    ("From solve_ivp", "solve_ivp", include_str!("../../python/solve_ivp.md")),
    ("Cookbook", "cookbook", include_str!("../../python/cookbook.md")),
    ("Clusters", "cluster", include_str!("../../python/cluster.md")),
];

/// Writes the pages on Python into the folder `python` of the site.
fn python(folder: &str) -> Result<(), Exit> {
    let folder = Path::new(folder).join("python").to_string_lossy().into_owned();
    std::fs::create_dir_all(&folder)
        .map_err(|error| usage(&format!("`{folder}` cannot be created: {error}")))?;
    let links = PYTHON.map(|(title, name, _)| (title, format!("{name}.html")));
    let mut way = vec![("Gallery", "../index.html")];
    way.extend(links.iter().map(|(title, link)| (*title, link.as_str())));
    for (_, name, text) in PYTHON {
        let page = match serde_json::from_str::<Value>(text) {
            Ok(notebook) => guide_page(&notebook_text(&notebook), &way),
            Err(_) => guide_page(text, &way),
        };
        write(&folder, &format!("{name}.html"), &page)?;
    }
    Ok(())
}

/// The cells of a notebook as one text.
fn notebook_text(notebook: &Value) -> String {
    let cell = |cell: &Value| {
        // A text, or its lines.
        let source = match &cell["source"] {
            Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
            text => text.as_str().unwrap_or_default().to_owned(),
        };
        match cell["cell_type"].as_str() {
            Some("code") => format!("```python\n{source}\n```\n"),
            _ => format!("{source}\n"),
        }
    };
    let cells: Vec<String> =
        notebook["cells"].as_array().into_iter().flatten().map(cell).collect();
    cells.join("\n")
}

fn chosen(only: Option<&str>) -> Result<Vec<GalleryModel>, Exit> {
    let Some(text) = only else { return Ok(GALLERY.to_vec()) };
    let known: Vec<&str> = GALLERY.iter().map(|m| m.name).collect();
    text.split(',')
        .map(|word| {
            let word = word.trim();
            let found = GALLERY.iter().copied().find(|m| m.name == word);
            found.ok_or_else(|| {
                let hint = closest(word, &known)
                    .map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                usage(&format!("the gallery has no model `{word}`{hint}"))
            })
        })
        .collect()
}

/// The card of a model, and its page.
fn built(
    gallery: &GalleryModel,
    in_time: impl Fn() -> Result<(), Exit>,
) -> Result<(Card, String), Exit> {
    let source = Source::new(gallery.name, gallery.text);
    let overrides = Overrides::default();
    let begun = seconds();
    let model = &Model::read(source, &overrides, &GalleryFiles).map_err(failed)?;
    let read_us = (seconds() - begun) * 1e6;
    let request = crate::backend::base_run()?;
    let mut motion = run(model, &request, &mut |_, _| true).map_err(failed)?;
    in_time()?;
    motion.statistics.derive_us += read_us;
    let is_large = model.coordinates.len() > LARGE;
    let derivation = if is_large { None } else { derive(model, motion.principle).ok() };
    let report = Report {
        model,
        request: &request,
        name: gallery.name,
        command: &crate::reproduction::command(gallery.name, &request, &overrides, None),
        derivations: derivation.as_slice(),
        shown: Shown::Motion(&motion),
    };
    let page = page(&report);
    let comment =
        gallery.text.lines().take_while(|l| l.starts_with('#') || l.trim().is_empty());
    let about: Vec<&str> = comment.map(|l| l.trim_start_matches('#').trim()).collect();
    let mut words: Vec<String> =
        check(model).constraints.iter().map(|c| c.class.name().to_owned()).collect();
    words.extend(motion.principle.map(|p| p.name().to_owned()));
    words.sort();
    words.dedup();
    let card = Card {
        name: gallery.name.to_owned(),
        title: motion.title.clone(),
        about: about.join(" ").trim().to_owned(),
        picture: still(model, &motion, &picture(&motion)),
        verdict: motion.audit.verdict,
        words,
    };
    Ok((card, page))
}

/// The look of a small picture: the system after two fifths of its motion.
fn picture(motion: &Motion) -> Still {
    let [a, b] = [motion.t.first(), motion.t.last()].map(|t| t.copied().unwrap_or(0.0));
    Still { width: 320.0, height: 200.0, times: vec![a + 0.4 * (b - a)] }
}

fn write(folder: &str, name: &str, text: &str) -> Result<(), Exit> {
    let path = Path::new(folder).join(name);
    Place::new(&path.to_string_lossy(), &[])?
        .write(text.as_bytes())
        .map_err(|error| usage(&format!("`{}` could not be written: {error}", path.display())))
}
