//! What can be taken along: tables, code, formulas, figures, a page.

use pfaff::{ExportForm, Language, Model, Motion, Run, derive, export};
use pfaff_present::report::{LARGE, Report, Shown, Still, figure_of, page, still};
use pfaff_present::{Figure, Look, ToJson, ToLatex, motion_table};
use serde_json::{Value, json};

use crate::equations::presentation;
use crate::motion::computed;
use crate::question::{Fault, Question};

/// A file with the name that it may have: as text, or as Base64 where it is none.
pub(crate) fn answer(
    model: &Model,
    question: Question<'_>,
    request: &Run,
) -> Result<Value, Fault> {
    let kind = question.text("kind")?;
    let stem = question.optional_text("name")?.unwrap_or("model");
    let source = |language| export(model, request.principle, ExportForm::Best, language);
    let (content, ending, media) = match kind {
        "c" => (source(Language::C)?, "c", "text/plain"),
        "rust" => (source(Language::Rust)?, "rs", "text/plain"),
        "python" => (source(Language::Python)?, "py", "text/plain"),
        "latex" => {
            let form = question.words("form")?;
            let shown = presentation(model, form.as_deref(), request.principle)?;
            (shown.to_latex(), "tex", "text/plain")
        }
        "csv" | "parquet" | "json" => {
            return Ok(table(&computed(model, request)?, kind, stem));
        }
        "svg" | "png" | "pdf" => {
            return picture(&computed(model, request)?, question, kind, stem);
        }
        "drawing" => {
            let motion = computed(model, request)?;
            let last = motion.t.last().copied().unwrap_or(0.0);
            let times = vec![question.number("at")?.unwrap_or(last)];
            let drawn = still(model, &motion, &Still { width: 800.0, height: 500.0, times });
            (drawn, "svg", "image/svg+xml")
        }
        "report" => (report(model, request, stem)?, "html", "text/html"),
        other => return Err(Fault::Question(format!("nothing can be exported as `{other}`"))),
    };
    Ok(json!({"name": format!("{stem}.{ending}"), "media": media, "content": content}))
}

/// The columns of a motion.
fn table(motion: &Motion, ending: &str, stem: &str) -> Value {
    // NOTE: by format and not by its name, so that a page carries the code of no other.
    let (bytes, media) = match ending {
        "parquet" => {
            let mut bytes = Vec::new();
            let written = motion_table(motion).write_parquet(&mut bytes);
            written.expect("a vector takes every byte");
            (bytes, "application/vnd.apache.parquet")
        }
        "json" => (motion.to_json_line().into_bytes(), "application/json"),
        _ => (motion_table(motion).to_csv().into_bytes(), "text/csv"),
    };
    file(&format!("{stem}.{ending}"), media, &bytes)
}

/// A plot of columns or expressions.
fn picture(
    motion: &Motion,
    question: Question<'_>,
    ending: &str,
    stem: &str,
) -> Result<Value, Fault> {
    let columns = question.texts("columns")?;
    let against = question.words("against")?.unwrap_or_else(|| "t".to_owned());
    let figure: Figure<'_> = figure_of(motion, &columns, &against, false)
        .map_err(|error| Fault::Question(error.0))?;
    let look = Look { width: 640.0, height: 400.0, ..Look::default() };
    let (bytes, media) = match ending {
        "png" => (figure.to_png(look, 2.0), "image/png"),
        "pdf" => (figure.to_pdf(look), "application/pdf"),
        _ => (figure.to_svg(look).into_bytes(), "image/svg+xml"),
    };
    Ok(file(&format!("{stem}.{ending}"), media, &bytes))
}

fn file(name: &str, media: &str, bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({"name": name, "media": media, "content": text}),
        Err(_) => json!({"name": name, "media": media, "base64": base64(bytes)}),
    }
}

/// Three bytes as four letters. [RFC 4648, section 4]
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |k: usize| u32::from(group.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            let letter = char::from(LETTERS[(bits >> (18 - 6 * k) & 63) as usize]);
            text.push(if k <= group.len() { letter } else { '=' });
        }
    }
    text
}

/// The page of a motion, in one file.
fn report(model: &Model, request: &Run, name: &str) -> Result<String, Fault> {
    let motion = computed(model, request)?;
    let is_large = model.coordinates.len() > LARGE;
    let derivation = if is_large { None } else { derive(model, request.principle).ok() };
    Ok(page(&Report {
        model,
        request,
        name,
        command: &format!("pfaff run {name}.pfaff"),
        derivations: derivation.as_slice(),
        shown: Shown::Motion(&motion),
    }))
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_of_the_standard() {
        // Of every remainder by three.
        let pairs =
            [("", ""), ("M", "TQ=="), ("Ma", "TWE="), ("Man", "TWFu"), ("Many", "TWFueQ==")];
        for (bytes, letters) in pairs {
            assert_eq!(base64(bytes.as_bytes()), letters);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
