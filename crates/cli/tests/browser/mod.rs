//! Pages in a real browser: Chromium without a window, driven over WebDriver [W3C WebDriver], and once Firefox.
//!
//! Skipped with a printed reason where `chromedriver` or Firefox is missing; `cargo xtask test` installs them where it
//! can. Looked at are: messages on the console, requests,
//! heights of formulas, texts of axes against each other and their paper, the animation, sliders, legends,
//! zoom, both colour schemes, the width of a phone.

#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

mod driver;
mod firefox;
mod group;
mod page;
mod site;
mod workbench;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::{Browser, Driver};
use page::Page;
use serde_json::{Value, json};

use crate::support::{self, pfaff, pfaff_text};

/// What is looked at in every page, as one script: a list of faults.
const FAULTS: &str = include_str!("faults.js");

fn folder() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("browser");
    std::fs::create_dir_all(&path).expect("the folder of the tests is writable");
    path
}

fn written(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let mut all = vec!["report"];
    all.extend(arguments);
    all.extend(["-o", path.to_str().expect("a plain name")]);
    let answer = pfaff(&all);
    assert_eq!(answer.status, 0, "{}", answer.err);
    path
}

/// One browser at a time: five of them at once tell nothing about time.
static ONE: Mutex<()> = Mutex::new(());

fn one_at_a_time() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A driver, or the reason why there is none.
fn driver() -> Option<(Driver, MutexGuard<'static, ()>)> {
    let one = one_at_a_time();
    match Driver::start() {
        Ok(driver) => Some((driver, one)),
        Err(why) => {
            println!("skipped: {why}");
            None
        }
    }
}

/// A test that fails, or is killed, leaves no browser running.
#[test]
fn a_browser_that_is_not_closed_ends_with_its_driver() {
    let Some((driver, _one)) = driver() else { return };
    // NOTE: a browser that nobody closes, as after a panic while the driver does not answer.
    let browser = std::mem::ManuallyDrop::new(driver.browser());
    let profile = browser.profile.clone();
    let group = driver.group.id().to_string();
    let count = || {
        let told = std::process::Command::new("pgrep").args(["-g", &group]).output();
        told.map_or(0, |told| told.stdout.split(|b| *b == b'\n').count() - 1)
    };
    // The shell, the driver and several processes of the browser; none where there is no `pgrep`.
    let begun = count();
    drop(driver);
    support::wait_for("the end of the browser", || count() == 0);
    let _ = std::fs::remove_dir_all(profile);
    if begun < 4 {
        println!("skipped: no `pgrep`");
    }
}

/// Opens a page and finds no fault in it, at the widths of a screen and of a phone.
fn sound(browser: &Browser, path: &Path, dark: bool) {
    browser.scheme(dark);
    for width in [1280, 390] {
        browser.size(width, 900);
        browser.open(path);
        let faults = browser.script(FAULTS, json!([dark]));
        assert_eq!(faults, json!([]), "{} at {width}, dark {dark}", path.display());
        // Interactive in less than a second. Where other work takes the processor, the page's own share of it counts.
        let (ready, work) = readiness(browser);
        assert!(
            ready.min(work) < 1_000.0,
            "{}: ready after {ready} ms, work {work} ms",
            path.display()
        );
        println!(
            "{} {width} px dark {dark}: ready after {ready} ms, work {work:.0} ms",
            path.display()
        );
    }
    browser.silent(path);
}

/// Milliseconds until the page was interactive, by the clock and by the processor time of its thread.
fn readiness(browser: &Browser) -> (f64, f64) {
    let told =
        browser.script("return Number(document.documentElement.dataset.ready)", json!([]));
    (told.as_f64().expect("the page says when it was ready"), browser.work())
}

#[test]
fn pages_are_sound_in_both_schemes() {
    let Some((driver, _one)) = driver() else { return };
    let folder = folder();
    let browser = driver.browser();
    let pages = [
        written(&folder, "sleigh.html", &["sleigh"]),
        written(&folder, "affine.html", &["affine_free_3d"]),
        written(&folder, "memory.html", &["fractional_constraint"]),
        written(
            &folder,
            "compare.html",
            &["contact_vakonomic", "--principles", "chetaev,vakonomic"],
        ),
        written(&folder, "long.html", &["snake", "--samples", "10001"]),
    ];
    for page in &pages {
        let size = std::fs::metadata(page).expect("it is there").len();
        assert!(size <= 3_000_000, "{}: {size}", page.display());
        sound(&browser, page, false);
    }
    for page in &pages[..4] {
        sound(&browser, page, true);
    }
}

#[test]
fn figures_can_be_read_enlarged_and_thinned_out() {
    let Some((driver, _one)) = driver() else { return };
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.open(&written(&folder(), "plots.html", &["sleigh"]));
    // Pointing at the middle of the coordinates shows t and all names.
    let tip = browser.script(
        "const f = document.querySelector('[data-kind=coordinates] svg.figure'); f.scrollIntoView(); \
         const b = f.getBoundingClientRect(); \
         f.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + b.width / 2, clientY: b.top + b.height / 2})); \
         const t = f.parentNode.querySelector('.tip'); return t.hidden ? '' : t.textContent;",
        json!([]),
    );
    let lines: Vec<&str> = tip.as_str().expect("text").lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let value = |line: &str| {
        line.split(" = ").nth(1).and_then(|v| v.replace('−', "-").parse::<f64>().ok())
    };
    let t = value(lines[0]).expect("a time");
    let run = support::json(&["run", "sleigh", "--at", &t.to_string(), "--json"]);
    for (line, name) in lines[1..].iter().zip(["x", "y", "phi"]) {
        assert!(line.starts_with(name), "{line}");
        let (shown, exact) =
            (value(line).expect("a number"), run["q"][name][0].as_f64().expect("a number"));
        // The figure is 18 high on some 250 pixels, in hundredths of a pixel; the curve may lie 0.03 pixels off.
        assert!((shown - exact).abs() < 5e-3, "{line}: {exact}");
    }
    // The keyboard enlarges and goes back.
    let view = |browser: &Browser, keys: &str| {
        browser.script(
            "const f = document.querySelector('[data-kind=coordinates] svg.figure'); f.focus(); \
             for (const key of arguments[0]) f.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true})); \
             return [f.querySelector('.curves').getAttribute('transform') || '', \
               [...f.querySelectorAll('.ticks-x text')].map((e) => e.textContent).join(' ')];",
            json!([keys]),
        )
    };
    let whole = view(&browser, "");
    let enlarged = view(&browser, "+++");
    assert_eq!(whole[0], "");
    assert!(enlarged[0].as_str().is_some_and(|t| t.starts_with("matrix(1.95")), "{enlarged}");
    assert_ne!(whole[1], enlarged[1], "the axis has other numbers");
    assert_eq!(browser.script(FAULTS, json!([false])), json!([]), "enlarged");
    assert_eq!(view(&browser, "0"), whole);
    // A drag enlarges a part.
    let dragged = browser.script(
        "const f = document.querySelector('[data-kind=coordinates] svg.figure'); const b = f.getBoundingClientRect(); \
         const at = (type, x, y) => f.dispatchEvent(new PointerEvent(type, {clientX: b.left + x * b.width, clientY: b.top + y * b.height, pointerId: 1, button: 0})); \
         f.setPointerCapture = () => {}; at('pointerdown', .4, .3); at('pointermove', .6, .6); at('pointerup', .6, .6); \
         const v = f.dataset.view.split(' ').map(Number); f.dispatchEvent(new MouseEvent('dblclick')); return [v, f.dataset.view];",
        json!([]),
    );
    let width = dragged[0][1].as_f64().zip(dragged[0][0].as_f64()).map(|(b, a)| b - a);
    assert!(width.is_some_and(|w| (0.15..0.35).contains(&w)), "{dragged}");
    assert_eq!(dragged[1], "0 1 0 1");
    // A name hides its curve.
    let hidden = browser.script(
        "const p = document.querySelector('[data-kind=coordinates]'); const b = p.querySelector('.legend button'); b.click(); \
         return [b.getAttribute('aria-pressed'), getComputedStyle(p.querySelector('[data-curve=\"0\"].c0')).display];",
        json!([]),
    );
    assert_eq!(hidden, json!(["false", "none"]));
}

#[test]
fn the_animation_moves_and_stops() {
    let Some((driver, _one)) = driver() else { return };
    let browser = driver.browser();
    browser.size(1280, 900);
    for (name, model) in [("moves.html", "sleigh"), ("turns.html", "affine_free_3d")] {
        browser.open(&written(&folder(), name, &[model]));
        let clock = || {
            browser
                .script("return document.querySelector('.pfaff-clock').textContent", json!([]))
        };
        let press =
            || browser.script("document.querySelector('.pfaff-play').click()", json!([]));
        let differs = |before: &Value| {
            (0..40).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                clock() != *before
            })
        };
        let playing =
            || browser.script("return Boolean(window.pfaffAnimation.playing)", json!([]));
        if playing() == json!(true) {
            press();
        }
        let still = clock();
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert_eq!(clock(), still, "{model}: it stands");
        press();
        assert!(differs(&still), "{model}: it moves");
        press();
        let stopped = clock();
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert_eq!(clock(), stopped, "{model}: it stops");
        let moved = browser.script(
            "const s = document.querySelector('.pfaff-time'); s.value = 500; s.dispatchEvent(new Event('input', {bubbles: true})); \
             return document.querySelector('.pfaff-clock').textContent",
            json!([]),
        );
        assert_ne!(moved, stopped, "{model}: the slider moves it");
        let picture = "return document.querySelector('.pfaff-animation canvas').toDataURL()";
        let before = browser.script(picture, json!([]));
        browser.script(
            "const s = document.querySelector('.pfaff-time'); s.value = 900; s.dispatchEvent(new Event('input', {bubbles: true}))",
            json!([]),
        );
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_ne!(browser.script(picture, json!([])), before, "{model}: the picture changes");
    }
}

/// Everything that the pointer does with an animation, the keys do: play, step, both ends, turn.
#[test]
fn keys_are_enough_for_the_animation() {
    let Some((driver, _one)) = driver() else { return };
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.open(&written(&folder(), "keys.html", &["affine_free_3d"]));
    let told = browser.script(
        "const a = window.pfaffAnimation, c = document.querySelector('.pfaff-animation canvas'); c.focus(); \
         const key = (key, shiftKey = false) => c.dispatchEvent(new KeyboardEvent('keydown', {key, shiftKey, bubbles: true})); \
         a.pause(); key('End'); const end = a.time; key('Home'); const start = a.time; \
         key('ArrowRight'); const step = a.time; key('ArrowLeft'); const back = a.time; \
         const before = a.camera.turn; key('ArrowRight', true); const turned = a.camera.turn - before; \
         key(' '); const playing = a.playing; key(' '); \
         return [document.activeElement === c, start === a.start && back === start, end === a.end, step > start, turned !== 0, playing, a.playing]",
        json!([]),
    );
    assert_eq!(told, json!([true, true, true, true, true, true, false]));
}

#[test]
fn titles_are_text() {
    let Some((driver, _one)) = driver() else { return };
    let browser = driver.browser();
    let evil = "<script>alert(1)</script>";
    let text = format!(
        "title \"{evil}\"\ncoordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\nsolve t = 0..1\n"
    );
    let path = folder().join("evil.html");
    let answer =
        pfaff_text(&["report", "-", "-o", path.to_str().expect("a plain name")], &text);
    assert_eq!(answer.status, 0, "{}", answer.err);
    browser.open(&path);
    let shown = browser
        .script("return [document.title, document.querySelector('h1').textContent]", json!([]));
    assert_eq!(shown, json!([evil, evil]));
    sound(&browser, &path, false);
}

#[test]
fn the_gallery_can_be_searched() {
    let Some((driver, _one)) = driver() else { return };
    let browser = driver.browser();
    let folder = folder().join("site");
    let site = folder.to_str().expect("a plain name");
    let answer =
        pfaff(&["gallery", "--html", site, "--only", "sleigh,pendulum,fractional_relaxation"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    browser.open(&folder.join("index.html"));
    let found = |text: &str| {
        browser.script(
            "const s = document.getElementById('search'); s.value = arguments[0]; s.dispatchEvent(new Event('input')); \
             return [...document.querySelectorAll('.cards li')].filter((e) => e.offsetHeight > 0).map((e) => e.querySelector('code').textContent)",
            json!([text]),
        )
    };
    assert_eq!(found(""), json!(["sleigh", "pendulum", "fractional_relaxation"]));
    assert_eq!(found("holonomic"), json!(["pendulum"]));
    assert_eq!(found("CHAPLYGIN blade"), json!(["sleigh"]));
    assert_eq!(found("no such thing"), json!([]));
    browser.silent(&folder.join("index.html"));
}

/// Every page of the gallery, with `PFAFF_TESTS=full`; some minutes.
#[test]
fn the_whole_gallery_is_sound() {
    if !support::full() {
        println!("skipped: `cargo xtask all` looks at every page of the gallery");
        return;
    }
    let Some((driver, _one)) = driver() else { return };
    let browser = driver.browser();
    let folder = folder().join("whole");
    let answer = pfaff(&["gallery", "--html", folder.to_str().expect("a plain name")]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    let mut pages: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the site")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.file_name().is_some_and(|name| name != "index.html"))
        .collect();
    pages.sort();
    let mut wrong = Vec::new();
    for page in &pages {
        browser.scheme(false);
        for width in [1280, 390] {
            browser.size(width, 900);
            browser.open(page);
            let faults = browser.script(FAULTS, json!([false]));
            if faults != json!([]) {
                wrong.push(format!("{} at {width}: {faults}", page.display()));
            }
            let (ready, work) = readiness(&browser);
            if ready.min(work) >= 1_000.0 {
                wrong.push(format!("{}: ready after {ready} ms", page.display()));
            }
        }
        browser.silent(page);
    }
    assert!(pages.len() > 50 && wrong.is_empty(), "{}", wrong.join("\n"));
}
