//! The gallery as a static site: an index with small pictures, and a page for each model.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use pfaff::{
    GALLERY, GalleryFiles, GalleryModel, Model, Motion, Overrides, Source, check, closest,
    derive, run,
};
use pfaff_present::report::{Card, LARGE, Report, Shown, Still, gallery_index, page, still};
use rayon::prelude::*;

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
    write(folder, "index.html", &gallery_index(&cards))?;
    say(&format!("{folder}/index.html: {} models", cards.len()));
    Ok(Exit::Done)
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
