//! The static site in a real browser: the engine inside the page. Skipped where `cargo xtask web` was not run.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::driver::Browser;
use super::page::{Page, next_run, text_of, write};
use crate::support::{Folder, program, wait_for};

/// The folder of the site, or nothing with a printed reason.
pub(super) fn site() -> Option<PathBuf> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let site = target.parent().map(|target| target.join("web")).unwrap_or_default();
    if site.join("pfaff_whole.wasm.gz").exists() {
        return Some(site);
    }
    println!("skipped: there is no site in {}; `cargo xtask web` makes it", site.display());
    None
}

/// Serves the files of a folder for as long as the test runs; the address of its first page.
pub(super) fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
            let path = first.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/");
            let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
            let media = match name.rsplit('.').next() {
                Some("html") => "text/html",
                Some("js") => "text/javascript",
                Some("css") => "text/css",
                _ => "application/octet-stream",
            };
            let found = std::fs::read(folder.join(name)).ok().filter(|_| !name.contains(".."));
            let status = if found.is_some() { "200 OK" } else { "404 Not Found" };
            let body = found.unwrap_or_default();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    format!("http://127.0.0.1:{port}/")
}

/// What the engine in the page answers.
fn ask(browser: &Browser, question: &Value) -> Value {
    let script = "const done = arguments[arguments.length - 1]; window.pfaff.ask(arguments[0]).then(done);";
    browser.script_later(script, json!([question]))
}

fn numbers(answer: &Value, name: &str) -> Vec<f64> {
    let columns = answer["columns"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let found = columns.iter().find(|c| c["name"] == name).expect("it is there");
    found["values"].as_array().expect("a list").iter().filter_map(Value::as_f64).collect()
}

#[test]
fn the_engine_in_the_page_has_the_numbers_of_the_command_line() {
    let Some(site) = site() else { return };
    let Some((driver, _one)) = super::driver() else { return };
    let address = serve(site);
    let browser = driver.browser();
    browser.visit(&address);
    next_run(&browser, 0);
    let plain = ["sleigh", "pendulum", "rattleback", "bouncing_ball"];
    // By collocation and between given ends. Rules of Gauss and Jacobi were others on other machines.
    let memory = ["fractional_relaxation", "fractional_constraint", "fractional_path"];
    for name in plain.into_iter().chain(memory) {
        let text = pfaff::gallery_model(name).expect("it is there").text;
        let question = json!({"ask": "run", "text": text, "name": name, "samples": 21});
        let mut by_interpreter = question.clone();
        by_interpreter["backend"] = json!("interpreter");
        let (generated, exact) = (ask(&browser, &question), ask(&browser, &by_interpreter));
        let output = program()
            .args(["run", name, "--samples", "21", "--json"])
            .env("PFAFF_CODE", "tape")
            .output()
            .expect("it runs");
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for (coordinate, values) in told["q"].as_object().expect("coordinates") {
            let here: Vec<f64> =
                values.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
            assert_eq!(numbers(&exact, coordinate), here, "{name}: {coordinate}");
            let scale = here.iter().fold(1.0, |s: f64, x| s.max(x.abs()));
            for (a, b) in numbers(&generated, coordinate).iter().zip(&here) {
                // Modules round where the interpreter does: 0 was measured.
                assert!((a - b).abs() <= 1e-13 * scale, "{name}: {coordinate} {a} and {b}");
            }
        }
    }
}

/// Where the processor has no instruction that rounds once, modules round twice, and are found out not to round once.
#[test]
fn without_multiply_adds_of_the_processor_modules_round_twice() {
    let Some(site) = site() else { return };
    let Some((driver, _one)) = super::driver() else { return };
    let address = serve(site);
    let browser = driver.browser_with(&["--js-flags=--no-enable-fma3"]);
    browser.visit(&address);
    next_run(&browser, 0);
    for name in ["pendulum", "rattleback"] {
        let text = pfaff::gallery_model(name).expect("it is there").text;
        let mut question =
            json!({"ask": "run", "text": text, "name": name, "samples": 21, "draft": true});
        let generated = ask(&browser, &question);
        question["backend"] = json!("interpreter");
        let exact = ask(&browser, &question);
        let (a, b) = (numbers(&generated, "x"), numbers(&exact, "x"));
        for (a, b) in a.iter().zip(&b) {
            // 4e-12 was measured of the rattleback, whose accelerations are small differences.
            assert!((a - b).abs() <= 1e-10, "{name}: {a} and {b}");
        }
    }
}

/// Sizes have 32 bits in a page: the cube of 1700 has more.
#[test]
fn models_of_many_coordinates_move_in_a_page() {
    let Some(site) = site() else { return };
    let Some((driver, _one)) = super::driver() else { return };
    let browser = driver.browser();
    browser.visit(&serve(site));
    next_run(&browser, 0);
    let text = "coordinates x[1700]\nlagrangian sum(i = 1..1700, x[i]'^2)/2 - sum(i = 1..1699, (x[i+1] - x[i])^2)/2\n\
        initial x[1] = 1\nsolve t = 0..0.1\n";
    let question =
        json!({"ask": "run", "text": text, "name": "chain", "samples": 3, "draft": true});
    let answer = ask(&browser, &question);
    assert!(answer.get("error").is_none(), "{}", answer["error"]);
    // At the start x'' = −1 and 1 of the first two.
    let x = numbers(&answer, "x[1]");
    assert!((x[2] - 0.995).abs() < 1e-4, "{x:?}");
}

/// The first module has what most pages ask for; the whole one is loaded with the first question that needs it.
#[test]
fn the_rest_of_the_engine_is_loaded_when_it_is_asked_for() {
    let Some(site) = site() else { return };
    let Some((driver, _one)) = super::driver() else { return };
    let size = std::fs::metadata(site.join("pfaff.wasm.gz")).expect("it is there").len();
    assert!(size <= 1_200_000, "{size} bytes before the first motion");
    let browser = driver.browser();
    browser.visit(&serve(site));
    next_run(&browser, 0);
    wait_for("the equations", || text_of(&browser, "#formulas").contains('m'));
    let loaded = "return performance.getEntriesByType('resource').filter((e) => e.name.includes('pfaff_whole')).length;";
    assert_eq!(browser.script(loaded, json!([])), json!(0));
    let question = |name: &str, ask: &str, more: Value| {
        let text = pfaff::gallery_model(name).expect("it is there").text;
        let mut question = json!({"ask": ask, "text": text, "name": name, "samples": 11});
        let own = question.as_object_mut().expect("an object");
        own.extend(more.as_object().expect("an object").clone());
        question
    };
    // A motion with memory, one with noise and one between given ends.
    for name in ["fractional_relaxation", "langevin_sphere", "heisenberg"] {
        let answer = ask(&browser, &question(name, "run", json!({})));
        let output = program()
            .args(["run", name, "--samples", "11", "--json"])
            .env("PFAFF_CODE", "tape")
            .output()
            .expect("it runs");
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for (coordinate, values) in told["q"].as_object().expect("coordinates") {
            let here = values.as_array().expect("a list").iter().filter_map(Value::as_f64);
            for (a, b) in numbers(&answer, coordinate).iter().zip(here) {
                // Rounding of generated code, which a search between ends multiplies.
                assert!(
                    (a - b).abs() <= 1e-11 * (1.0 + b.abs()),
                    "{name}: {coordinate} {a} {b}"
                );
            }
        }
    }
    assert_eq!(browser.script(loaded, json!([])), json!(1), "once");
    let shown = ask(&browser, &question("pendulum", "equations", json!({"form": "hamilton"})));
    assert!(shown["html"].as_str().is_some_and(|html| html.contains("<math")), "{shown}");
    let picture = json!({"kind": "png", "columns": ["x"]});
    let saved = ask(&browser, &question("sleigh", "export", picture));
    assert!(saved["base64"].as_str().is_some_and(|data| data.starts_with("iVBOR")), "{saved}");
    let found =
        ask(&browser, &question("pendulum", "section", json!({"on": "rising x", "count": 3})));
    assert_eq!(found["section"]["t"].as_array().map(Vec::len), Some(3), "{found}");
}

#[test]
fn the_site_writes_moves_and_is_taken_along() {
    let Some(site) = site() else { return };
    let Some((driver, _one)) = super::driver() else { return };
    let address = serve(site);
    let folder = Folder::new("workbench-site");
    let browser = driver.browser();
    browser.size(1280, 900);
    browser.downloads_to(Path::new(&folder.path("")));
    browser.visit(&format!("{address}?model=sleigh"));
    let runs = next_run(&browser, 0);
    assert!(text_of(&browser, "#status").contains("Audit pass"));
    let spring = "coordinates x\nparameters k = 4\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1\nsolve t = 0..10\n";
    write(&browser, spring);
    next_run(&browser, runs);
    wait_for("the equation", || text_of(&browser, "#formulas").contains('k'));

    // In one file, opened from the disk in a fresh profile without a network.
    browser
        .script("[...document.querySelectorAll('#exports button')].pop().click();", json!([]));
    let file = PathBuf::from(folder.path("sleigh.html"));
    wait_for("the file", || file.exists());
    let alone = driver.browser();
    alone.offline();
    alone.visit(&format!("file://{}", file.display()));
    next_run(&alone, 0);
    assert!(
        text_of(&alone, "#status").contains("Audit pass"),
        "{}",
        text_of(&alone, "#status")
    );
    assert!(text_of(&alone, ".cm-content").contains("k = 4"));

    // A motion that never ends is given up, and the next question is answered.
    let runs = next_run(&browser, 0);
    write(&browser, &spring.replace("0..10", "0..1e9"));
    wait_for("the button", || {
        browser.script("return !document.querySelector('#stop').hidden;", json!([]))
            == json!(true)
    });
    write(&browser, &spring.replace("0..10", "0..9"));
    next_run(&browser, runs);
    assert!(text_of(&browser, "#status").contains("Audit pass"));
}

#[test]
fn lessons_have_experiments() {
    let Some(site) = site() else { return };
    let Some((driver, _one)) = super::driver() else { return };
    let browser = driver.browser();
    browser.size(1000, 900);
    browser.visit(&format!("{}lessons.html", serve(site)));
    let count =
        browser.script("return document.querySelectorAll('article').length;", json!([]));
    assert_eq!(count, json!(8));
    browser.script("document.querySelector('article button').click();", json!([]));
    wait_for("the experiment", || {
        let script = "return document.querySelector('iframe').contentDocument?.body?.dataset?.runs ?? '0';";
        browser.script(script, json!([])).as_str().is_some_and(|runs| runs != "0")
    });
}
