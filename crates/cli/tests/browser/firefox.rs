//! Firefox without a window, driven by its own protocol, Marionette: `LENGTH:[0, number, command, parameters]` is
//! answered by `LENGTH:[1, number, error, result]`. No other program is needed.

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::group::Group;
use super::page::{Page, next_run, text_of, write};
use crate::studio::Studio;
use crate::support::{Folder, wait_for};

/// What the profile sets: any free port, and no requests of the browser's own.
const SETTINGS: &str = r#"user_pref("marionette.port", 0);
user_pref("app.update.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,");
"#;

/// The longest that it may take to start.
const PATIENCE: Duration = Duration::from_mins(1);

/// A window with a profile of its own, ended with this value.
struct Firefox {
    // NOTE: dropped before the profile is.
    group: Option<Group>,
    stream: RefCell<TcpStream>,
    count: Cell<u64>,
    profile: PathBuf,
}

impl Firefox {
    fn start(name: &str) -> Result<Self, String> {
        let there = |program: &&str| {
            let mut version = Command::new(program);
            let version = version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            version.status().is_ok_and(|status| status.success())
        };
        let program = ["firefox-esr", "firefox"].into_iter().find(there);
        let program = program.ok_or("there is no Firefox; install firefox-esr")?;
        let profile =
            std::env::temp_dir().join(format!("pfaff-firefox-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&profile)
            .and_then(|()| std::fs::write(profile.join("user.js"), SETTINGS))
            .map_err(|error| format!("no profile for Firefox ({error})"))?;
        let place = profile.display().to_string();
        let arguments = ["--headless", "--marionette", "--no-remote", "--profile", &place];
        let (group, _) =
            Group::start(program, &arguments).map_err(|error| format!("no shell ({error})"))?;
        let begun = Instant::now();
        let port = loop {
            let told = std::fs::read_to_string(profile.join("MarionetteActivePort"));
            if let Some(port) = told.ok().and_then(|text| text.trim().parse::<u16>().ok()) {
                break port;
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("`{program}` does not listen"));
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        let stream = RefCell::new(stream);
        let browser = Self { group: Some(group), stream, count: Cell::new(0), profile };
        // It greets first.
        browser.message();
        browser.command("WebDriver:NewSession", &json!({}));
        Ok(browser)
    }

    fn message(&self) -> Value {
        let mut stream = self.stream.borrow_mut();
        let mut length = 0;
        loop {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("an answer");
            match byte[0] {
                b':' => break,
                digit => length = 10 * length + usize::from(digit - b'0'),
            }
        }
        let mut text = vec![0; length];
        stream.read_exact(&mut text).expect("the whole answer");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn command(&self, command: &str, parameters: &Value) -> Value {
        self.count.set(self.count.get() + 1);
        let text = json!([0, self.count.get(), command, parameters]).to_string();
        let text = format!("{}:{text}", text.len());
        self.stream.borrow_mut().write_all(text.as_bytes()).expect("it reads");
        let mut answer = self.message();
        assert_eq!(answer[2], Value::Null, "{command}");
        answer[3].take()
    }

    fn visit(&self, address: &str) {
        self.command("WebDriver:Navigate", &json!({"url": address}));
    }
}

impl Page for Firefox {
    fn script(&self, body: &str, arguments: Value) -> Value {
        let parameters = json!({"script": body, "args": arguments});
        self.command("WebDriver:ExecuteScript", &parameters)["value"].take()
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        drop(self.group.take());
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// A browser by this name, or nothing with a printed reason.
fn firefox(name: &str) -> Option<Firefox> {
    Firefox::start(name).map_err(|why| println!("skipped: {why}")).ok()
}

/// The engine in a page of Firefox: motions by generated modules, equations of the second module.
#[test]
fn the_site_works_in_firefox() {
    let Some(site) = super::site::site() else { return };
    let _one = super::one_at_a_time();
    let Some(browser) = firefox("site") else { return };
    let address = super::site::serve(site);
    for name in ["rattleback", "sleigh"] {
        browser.visit(&format!("{address}?model={name}"));
        wait_for("the audit", || text_of(&browser, "#status").contains("Audit pass"));
        browser.script("document.querySelector('#again').click();", json!([]));
        // Generated modules round where the interpreter does.
        let agree = || text_of(&browser, "#agreement");
        wait_for("the agreement", || {
            agree().contains("same") || agree().contains("difference")
        });
        let said = agree().replace('−', "-");
        let off = said.split_once("difference ").and_then(|(_, rest)| rest.split(',').next());
        let off = off.map_or(0.0, |number| number.trim().parse::<f64>().expect("a number"));
        assert!(off <= 1e-13, "{name}: {said}");
    }
    wait_for("the equations", || text_of(&browser, "#formulas").contains('λ'));
    browser.script("document.querySelector('[data-form=hamilton]').click();", json!([]));
    let shown = "return document.querySelector('#formulas').dataset.form;";
    wait_for("Hamilton's form", || browser.script(shown, json!([])) == json!("hamilton"));
}

/// The workbench in Firefox: opened, a mistake, a line, a slider, a link into a fresh profile.
#[test]
fn the_workbench_works_in_firefox() {
    let _one = super::one_at_a_time();
    let Some(browser) = firefox("workbench") else { return };
    let folder = Folder::new("workbench-firefox");
    let studio = Studio::start(&folder, &[]);
    browser.visit(&studio.address);
    let runs = next_run(&browser, 0);
    wait_for("the audit", || text_of(&browser, "#status").contains("Audit pass"));
    wait_for("the equations", || text_of(&browser, "#formulas").contains('λ'));
    browser.script("document.querySelector('[data-fold=table]').click();", json!([]));

    let spring = "coordinates x\nparameters k = 4\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1\nsolve t = 0..10\n";
    write(&browser, &spring.replace("k*x^2", "kk*x^2"));
    wait_for("the mistake", || text_of(&browser, "#mistakes").contains("Line 3"));
    let marks = "return document.querySelectorAll('.cm-lintRange-error').length;";
    wait_for("the mark", || browser.script(marks, json!([])).as_u64() > Some(0));
    write(&browser, spring);
    next_run(&browser, runs);
    assert_eq!(text_of(&browser, "#mistakes"), "");
    wait_for("the equation", || text_of(&browser, "#formulas").contains('k'));

    // x = cos(√k t) after the slider of k has gone from 4 to 1, to the five digits of the table.
    let row = "const cells = [...[...document.querySelectorAll('#table tbody tr')].pop().children].slice(0, 2); \
        return cells.map((c) => Number(c.textContent.replace('−', '-').replace('e−', 'e-')));";
    let slide = "const knob = document.querySelector('#parameters input[type=range]'); knob.value = 1; \
        knob.dispatchEvent(new Event('input', {bubbles: true}));";
    let is_at = |k: f64| {
        let told = browser.script(row, json!([]));
        let (t, x) = (told[0].as_f64().expect("a time"), told[1].as_f64().expect("a number"));
        (x - libm::cos(k.sqrt() * t)).abs() < 1e-3
    };
    wait_for("the motion", || is_at(4.0));
    browser.script(slide, json!([]));
    wait_for("the motion under the slider", || is_at(1.0));
    wait_for("its audit", || text_of(&browser, "#status").contains("Audit pass"));
    let is_drawn = "return document.querySelector('#animation canvas').toDataURL().length > 2000 && \
        document.querySelector('#plots canvas').toDataURL().length > 2000;";
    assert_eq!(browser.script(is_drawn, json!([])), json!(true));

    browser.script("document.querySelector('#share').click();", json!([]));
    let link = "return location.hash.length > 20 ? location.href : '';";
    wait_for("the link", || browser.script(link, json!([])) != json!(""));
    let link = browser.script(link, json!([]));
    let Some(other) = firefox("workbench-link") else { return };
    other.visit(link.as_str().expect("an address"));
    next_run(&other, 0);
    let knob = "return document.querySelector('#parameters input[type=number]').value;";
    assert_eq!(other.script(knob, json!([])), json!("1"));
    assert!(text_of(&other, ".cm-content").contains("k = 4"));
}
