//! The workbench in a real browser: write, see, drag.

use serde_json::{Value, json};

use super::driver::Browser;
use super::page::{Page, next_run, text_of, write};
use crate::studio::Studio;
use crate::support::{Folder, wait_for};

/// Texts that are hard to read, as a list.
const CONTRAST: &str = include_str!("contrast.js");

/// The pictures of a page as their bytes: its first plot, and its drawing at a third of the time.
fn pictures(browser: &Browser) -> [String; 2] {
    let rest = "const done = arguments[0]; const box = document.querySelector('#animation'); \
        const play = box.querySelector('.pfaff-play'); if (play.textContent === 'Pause') play.click(); \
        const time = box.querySelector('.pfaff-time'); time.value = 333; \
        time.dispatchEvent(new Event('input', {bubbles: true})); \
        const picture = (of) => document.querySelector(`${of} canvas`).toDataURL(); \
        requestAnimationFrame(() => requestAnimationFrame(() => done([picture('#plots'), picture('#animation')])));";
    let told = browser.script_later(rest, json!([]));
    [0, 1].map(|k| told[k].as_str().expect("a picture").to_owned())
}

/// Nothing was said on the console, and nothing came from anywhere else.
fn alone(browser: &Browser, address: &str) {
    assert_eq!(browser.messages(), json!([]));
    let asked = browser.script(
        "return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith(arguments[0]));",
        json!([address.split('?').next()]),
    );
    assert_eq!(asked, json!([]), "requests");
}

#[test]
fn a_line_a_mistake_a_slider_and_a_link() {
    let Some((driver, _one)) = super::driver() else { return };
    let folder = Folder::new("workbench");
    let studio = Studio::start(&folder, &[]);
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.visit(&studio.address);
    let runs = next_run(&browser, 0);
    assert!(
        text_of(&browser, "#status").contains("Audit pass"),
        "{}",
        text_of(&browser, "#status")
    );
    wait_for("the equations", || {
        browser
            .script("return document.querySelectorAll('#formulas math').length;", json!([]))
            .as_u64()
            > Some(2)
    });

    browser.script("document.querySelector('[data-fold=table]').click();", json!([]));

    // A mistake is marked, in its line.
    let spring = "coordinates x\nparameters k = 4\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1\nsolve t = 0..10\n";
    write(&browser, &spring.replace("k*x^2", "kk*x^2"));
    wait_for("the mistake", || text_of(&browser, "#mistakes").contains("Line 3"));
    wait_for("the mark", || {
        browser
            .script(
                "return document.querySelectorAll('.cm-lintRange-error').length;",
                json!([]),
            )
            .as_u64()
            > Some(0)
    });

    // The repaired text moves, with its own equation.
    write(&browser, spring);
    let runs = next_run(&browser, runs);
    assert_eq!(text_of(&browser, "#mistakes"), "");
    wait_for("the new equation", || text_of(&browser, "#formulas").contains('k'));

    // The slider of k changes the motion: x(t) = cos(√k t).
    let last = "return Number([...document.querySelectorAll('#table tbody tr')].pop().children[1].textContent.replace('−', '-').replace('e−', 'e-'));";
    let exact = |k: f64, t: f64| (k.sqrt() * t).sin_cos().1;
    let time = "return Number([...document.querySelectorAll('#table tbody tr')].pop().children[0].textContent);";
    let near = |told: &Value, k: f64, t: &Value| {
        let (x, t) = (told.as_f64().expect("a number"), t.as_f64().expect("a time"));
        // The table shows five digits of t and x.
        (x - exact(k, t)).abs() < 3e-4 * k.sqrt() * 10.0
    };
    assert!(near(&browser.script(last, json!([])), 4.0, &browser.script(time, json!([]))));
    let [plot, drawing] = pictures(&browser);
    let slide = "const knob = document.querySelector('#parameters input[type=range]'); knob.value = arguments[0]; \
        knob.dispatchEvent(new Event('input', {bubbles: true})); return document.querySelector('#parameters input[type=number]').value;";
    assert_eq!(browser.script(slide, json!(["1"])), json!("1"));
    // A draft at once, and the motion with its audit when the hand rests.
    next_run(&browser, runs);
    let drafts = browser.script("return document.body.dataset.drafts;", json!([]));
    let drafts = drafts.as_str().and_then(|s| s.parse::<u64>().ok());
    assert!(drafts.is_some_and(|drafts| drafts > runs), "{drafts:?} after {runs}");
    assert!(text_of(&browser, "#status").contains("Audit pass"));
    assert!(near(&browser.script(last, json!([])), 1.0, &browser.script(time, json!([]))));
    let changed = pictures(&browser);
    assert!(changed[0] != plot && changed[1] != drawing, "both pictures follow the slider");

    // The link carries all that, into a fresh profile.
    browser.script("document.querySelector('#share').click();", json!([]));
    wait_for("the link", || {
        browser.script("return location.hash.length;", json!([])).as_u64() > Some(20)
    });
    let link = browser.script("return location.href;", json!([]));
    let other = driver.browser();
    other.size(1280, 900);
    other.visit(link.as_str().expect("an address"));
    next_run(&other, 0);
    assert!(pictures(&other) == changed, "the same pictures");
    alone(&browser, &studio.address);
    assert_eq!(other.script(last, json!([])), browser.script(last, json!([])));
    assert_eq!(
        other.script(
            "return document.querySelector('#parameters input[type=number]').value;",
            json!([])
        ),
        json!("1")
    );
}

/// Everything that was set by hand stands in a fresh profile, which then gives the same link.
#[test]
fn kept_runs_and_the_camera_are_in_the_link() {
    let Some((driver, _one)) = super::driver() else { return };
    let folder = Folder::new("workbench-link");
    folder.write(
        "space.pfaff",
        "coordinates x, y, z\nparameters k = 1\nlagrangian (x'^2 + y'^2 + z'^2)/2 - k*(x^2 + y^2 + z^2)/2\n\
        initial x = 1, y' = 1, z' = 0.5\ndraw point [x, y, z]\ndraw trail [x, y, z]\nsolve t = 0..5\n",
    );
    let studio = Studio::start(&folder, &["space.pfaff"]);
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.visit(&studio.address);
    let runs = next_run(&browser, 0);
    let turned = "const c = document.querySelector('#animation canvas'); c.focus(); \
        const key = (key, shiftKey) => c.dispatchEvent(new KeyboardEvent('keydown', {key, shiftKey, bubbles: true})); \
        for (let k = 0; k < 3; k += 1) { key('ArrowRight', true); key('+', false); } \
        document.querySelector('#keep').click(); \
        const knob = document.querySelector('#parameters input[type=range]'); knob.value = 2; \
        knob.dispatchEvent(new Event('input', {bubbles: true}));";
    browser.script(turned, json!([]));
    next_run(&browser, runs);
    let link = shared(&browser);
    let other = driver.browser();
    other.size(1280, 900);
    other.visit(&link);
    next_run(&other, 0);
    let kept = "return [...document.querySelectorAll('#kept input')].map((e) => e.value);";
    wait_for("the kept run", || other.script(kept, json!([])) == json!(["run 1"]));
    assert_eq!(shared(&other), link);
    // Without a turned camera it is another link.
    let back = "const c = document.querySelector('#animation canvas'); c.focus(); \
        c.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', shiftKey: true, bubbles: true}));";
    other.script(back, json!([]));
    assert_ne!(shared(&other), link);
}

/// The address that *Copy link* gives.
fn shared(browser: &Browser) -> String {
    let press = "document.querySelector('#status').textContent = ''; document.querySelector('#share').click();";
    browser.script(press, json!([]));
    wait_for("the link", || text_of(browser, "#status").contains("The link is"));
    browser.script("return location.href;", json!([])).as_str().expect("an address").to_owned()
}

#[test]
fn points_are_dragged_and_phones_are_narrow() {
    let Some((driver, _one)) = super::driver() else { return };
    let folder = Folder::new("workbench-drag");
    folder.write(
        "ball.pfaff",
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\ninitial x' = 1, y' = 2\n\
        draw point [x, y]\ndraw trail [x, y]\nsolve t = 0..4\n",
    );
    let studio = Studio::start(&folder, &["ball.pfaff"]);
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.visit(&studio.address);
    let runs = next_run(&browser, 0);
    wait_for("a handle", || {
        browser
            .script("return document.querySelectorAll('.handle.ring').length;", json!([]))
            .as_u64()
            == Some(1)
    });
    let value = |name: &str| {
        let script = "return Number([...document.querySelectorAll('#initial .knob')] \
            .find((k) => k.firstChild.textContent === arguments[0]).children[2].value);";
        browser.script(script, json!([name])).as_f64().expect("a number")
    };
    // By the mouse: the ring to the right.
    let middle = |selector: &str| {
        let script = "const b = document.querySelector(arguments[0]).getBoundingClientRect(); \
            return [b.left + b.width / 2, b.top + b.height / 2];";
        let place = browser.script(script, json!([selector]));
        (place[0].as_f64().expect("x"), place[1].as_f64().expect("y"))
    };
    let (x, y) = middle(".handle.ring");
    browser.drag((x, y), (x + 60.0, y));
    let runs = next_run(&browser, runs);
    let first = value("x");
    assert!(first > 0.1, "{first}");
    // By the keyboard alone.
    let push = "const h = document.querySelector('.handle.ring'); h.focus(); \
        h.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));";
    browser.script(push, json!([]));
    let runs = next_run(&browser, runs);
    wait_for("the slider", || value("x") > first);
    // The tip of the arrow by the mouse: to the left and up.
    let (x, y) = middle(".handle.tip");
    browser.drag((x, y), (x - 90.0, y - 40.0));
    let runs = next_run(&browser, runs);
    wait_for("the velocity", || value("x'") < 0.9 && value("y'") > 2.0);
    // Tidied text is the same model.
    browser.script("document.querySelector('#tidy').click();", json!([]));
    next_run(&browser, runs);
    assert!(text_of(&browser, ".cm-content").contains("coordinates  x, y"));
    browser.script(
        "for (const fold of document.querySelectorAll('.closed [data-fold]')) fold.click();",
        json!([]),
    );
    for dark in [false, true] {
        browser.scheme(dark);
        browser.size(1280, 900);
        assert_eq!(browser.script(CONTRAST, json!([])), json!([]), "contrast, dark {dark}");
        browser.size(390, 900);
        let wide = "return document.documentElement.scrollWidth;";
        assert!(
            browser.script(wide, json!([])).as_u64() <= Some(390),
            "nothing is wider than a phone"
        );
    }
    let unnamed = "return [...document.querySelectorAll('button, input, select')].filter((e) => !e.hidden && \
        !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length || e.title)).map((e) => e.outerHTML);";
    assert_eq!(browser.script(unnamed, json!([])), json!([]));
}

/// Every view shows something of a pendulum, also where all points of a section are one.
#[test]
fn every_view_has_something_to_show() {
    let Some((driver, _one)) = super::driver() else { return };
    let folder = Folder::new("workbench-views");
    let studio = Studio::start(&folder, &[]);
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.visit(&studio.address);
    next_run(&browser, 0);
    let press = "for (const fold of document.querySelectorAll('.closed [data-fold]')) fold.click(); \
        for (const id of ['compare-now', 'section-now', 'portrait', 'again']) document.getElementById(id).click();";
    browser.script(press, json!([]));
    // Pixels with a colour, as curves and bodies have.
    let coloured = "const c = document.querySelector(arguments[0]); if (!c || !c.width) return 0; \
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; \
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 99 && Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 40) n += 1; \
        return n;";
    for (view, least) in [
        ("#animation", 200),
        ("#compare", 200),
        ("#plots .plot", 400),
        ("#plots .plot + .plot", 400),
        ("#section-plot", 8),
    ] {
        wait_for(view, || {
            let found = browser.script(coloured, json!([format!("{view} canvas")]));
            found.as_u64() > Some(least)
        });
    }
    assert!(text_of(&browser, "#table").contains("x'"));
    wait_for("the agreement", || text_of(&browser, "#agreement").contains("The same"));
    for form in ["Reduced", "Hamilton", "Kane", "Geometry"] {
        let press = "[...document.querySelectorAll('#forms button')].find((b) => b.textContent === arguments[0]).click();";
        browser.script(press, json!([form]));
        let shown = "return document.querySelector('#formulas').dataset.form === arguments[0] && \
            document.querySelectorAll('#formulas math').length > 1;";
        wait_for(form, || browser.script(shown, json!([form.to_lowercase()])) == json!(true));
    }
    // Where equations are wider than their panel, their sides stand below each other, each in one line.
    let choose = "const c = document.querySelector('#gallery'); c.value = 'snake'; c.dispatchEvent(new Event('change')); \
        document.querySelector('#forms button').click();";
    browser.script(choose, json!([]));
    let tall = "const cells = [...document.querySelectorAll('#formulas .narrow mtd')]; \
        return cells.length && Math.max(...cells.map((c) => c.getBoundingClientRect().height));";
    wait_for("long equations", || browser.script(tall, json!([])).as_f64() > Some(0.0));
    // Two lines of letters of 17 pixels would have 50.
    assert!(browser.script(tall, json!([])).as_f64() < Some(50.0));
    alone(&browser, &studio.address);
}

/// What a slider holds stays; the other coordinates go along the constraint, and nothing is said to contradict it.
#[test]
fn a_held_value_leads_the_others() {
    let Some((driver, _one)) = super::driver() else { return };
    let folder = Folder::new("workbench-held");
    let studio = Studio::start(&folder, &[]);
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.visit(&studio.address);
    let runs = next_run(&browser, 0);
    let slide = "const knob = document.querySelector('#initial input[type=range]'); knob.value = 0.9; \
        knob.dispatchEvent(new Event('input', {bubbles: true}));";
    browser.script(slide, json!([]));
    next_run(&browser, runs);
    let fields = "return [...document.querySelectorAll('#initial input[type=number]')].slice(0, 2).map((f) => Number(f.value));";
    let told = browser.script(fields, json!([]));
    let (x, y) = (told[0].as_f64().expect("x"), told[1].as_f64().expect("y"));
    // The step of the slider is 0.003; fields show six digits.
    assert!((x - 0.9).abs() < 5e-3, "{x}");
    assert!((x * x + y * y - 1.0).abs() < 1e-5 && y < 0.0, "{x} {y}");
    assert!(!text_of(&browser, "#audit").contains("moved"));
    alone(&browser, &studio.address);
}

/// A text with other coordinates has other plots, and one without a motion says so in every view that shows one.
#[test]
fn views_follow_the_text() {
    let Some((driver, _one)) = super::driver() else { return };
    let folder = Folder::new("workbench-follow");
    let studio = Studio::start(&folder, &[]);
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.visit(&studio.address);
    let runs = next_run(&browser, 0);
    let field = |k: usize| {
        let script = "return document.querySelectorAll('#plots input')[arguments[0]].value;";
        browser.script(script, json!([k]))
    };
    assert_eq!([field(0), field(1)], [json!("x, y"), json!("t")]);
    let text = "coordinates a, b, c\nlagrangian (a'^2 + b'^2 + c'^2)/2 - b^2/2\ninitial b = 1, c = 1\nsolve t = 0..5\n";
    write(&browser, text);
    let runs = next_run(&browser, runs);
    // What rests has no curve.
    assert_eq!(field(0), json!("b"));

    write(
        &browser,
        &text.replace("initial", "constraint one: a = 1\nconstraint two: a = 2\ninitial"),
    );
    wait_for("the message", || text_of(&browser, "#status").starts_with("No positions"));
    let opacity = "return ['animation', 'plots', 'audit', 'equations'].map((name) => \
        getComputedStyle(document.querySelector(`[data-view=${name}]`)).opacity);";
    wait_for("pale views", || {
        browser.script(opacity, json!([])) == json!(["0.55", "0.55", "0.55", "1"])
    });
    // Nor do sliders show where that other motion began.
    let knobs =
        "return [...document.querySelectorAll('#initial label')].map((e) => e.textContent);";
    assert_eq!(browser.script(knobs, json!([])), json!(["b", "c"]));
    write(&browser, text);
    let runs = next_run(&browser, runs);
    wait_for("clear views", || {
        browser.script(opacity, json!([])) == json!(["1", "1", "1", "1"])
    });

    // A text of one's own waits while models of the list are looked at, and stays when the page is loaded again.
    let choose = "const list = document.querySelector('#gallery'); list.value = arguments[0]; \
        list.dispatchEvent(new Event('change'));";
    browser.script(choose, json!(["pendulum"]));
    let runs = next_run(&browser, runs);
    assert!(!text_of(&browser, ".cm-content").contains("coordinates a, b, c"));
    browser.script(choose, json!([""]));
    next_run(&browser, runs);
    assert!(text_of(&browser, ".cm-content").contains("coordinates a, b, c"));
    assert_eq!(field(0), json!("b"));
    browser.script("document.body.dataset.runs = '0'; location.reload();", json!([]));
    next_run(&browser, 0);
    assert!(text_of(&browser, ".cm-content").contains("coordinates a, b, c"));
    assert_eq!(field(0), json!("b"));
    alone(&browser, &studio.address);
}
