//! Pages, figures and documents as files: complete, self-contained, escaped, small, and honest about how to
//! get them again.

#![allow(clippy::print_stdout, reason = "a test that is skipped in part says why")]

use std::path::Path;
use std::process::Command;

use crate::support::{self, folder, object, pfaff, pfaff_text, program};

fn page(arguments: &[&str]) -> String {
    let mut all = vec!["report"];
    all.extend(arguments);
    all.extend(["-o", "-"]);
    let answer = pfaff(&all);
    assert_eq!(answer.status, 0, "{}", answer.err);
    answer.out
}

#[test]
fn a_page_has_all_its_parts_and_loads_nothing() {
    let html = page(&["sleigh"]);
    for part in [
        "<h1>Chaplygin sleigh</h1>",
        "id=\"motion\"",
        "<span class=\"k\">lagrangian</span>",
        "<code>blade</code> is linear in the velocities, and not integrable",
        "Signs: ",
        "<mover accent=\"true\"><mi>x</mi><mo>¨</mo></mover>",
        "data-kind=\"trace\"",
        "data-kind=\"coordinates\"",
        "data-kind=\"velocities\"",
        "data-kind=\"multipliers\"",
        "data-kind=\"reactions\"",
        "data-kind=\"energy\"",
        "data-kind=\"residuals\"",
        "data-kind=\"portraits\"",
        "equations of motion between steps",
        "SHA-256",
        "pfaff run sleigh --json",
    ] {
        assert!(html.contains(part), "{part}");
    }
    for loader in [
        " src=",
        "url(",
        "@import",
        "http-equiv=\"refresh",
        "<link",
        "fetch(",
        "XMLHttpRequest",
    ] {
        assert!(!html.contains(loader), "{loader}");
    }
    let links = html.matches("href=\"").count();
    assert_eq!(links, html.matches("href=\"#").count(), "all links stay in the page");
    assert_eq!(
        html.matches("://").count(),
        html.matches("http://www.w3.org/").count(),
        "names of XML only"
    );
}

#[test]
fn what_a_model_says_is_shown_as_text() {
    let evil = "<script>alert(1)</script>";
    let text = format!(
        "title \"{evil}\"\n# {evil}\ncoordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\nobserve o = x\nsolve t = 0..1\n"
    );
    let answer = pfaff_text(&["report", "-", "-o", "-"], &text);
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert!(!answer.out.contains("<script>alert"));
    assert!(answer.out.contains("<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>"));
    assert!(answer.out.contains("<title>&lt;script&gt;"));
}

#[test]
fn many_points_make_a_small_page() {
    let text = "coordinates x\nparameters w = 200\nequation x'' = -w^2*x\ninitial x = 1\nsolve t = 0..100, tolerance = 1e-8\n";
    let answer = pfaff_text(&["report", "-", "--samples", "10001", "-o", "-"], text);
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert!(answer.out.len() < 3_000_000, "{}", answer.out.len());
    let snake = page(&["snake", "--set", "N=20", "--samples", "10001", "--t1", "1"]);
    assert!(snake.len() < 3_000_000, "{}", snake.len());
}

/// The command in the page gives the numbers of the page.
#[test]
fn a_page_says_how_to_get_its_numbers_again() {
    let html = page(&["sleigh", "--set", "a=0.3, m=2", "--t1", "3", "--samples", "7"]);
    let after = html.split("<pre class=\"command\"><code>").nth(1).expect("a command");
    let command = after.split("</code>").next().expect("its end").replace("&quot;", "\"");
    assert_eq!(command, "pfaff run sleigh --set \"a=0.3, m=2\" --t1 3 --samples 7 --json");
    let shell = format!("\"{}\" {}", env!("CARGO_BIN_EXE_pfaff"), &command["pfaff ".len()..]);
    let output = Command::new("sh").args(["-c", &shell]).output().expect("a shell");
    let motion = object(&String::from_utf8(output.stdout).expect("text"));
    let x = motion["q"]["x"]
        .as_array()
        .expect("numbers")
        .last()
        .and_then(serde_json::Value::as_f64);
    // The page shows six digits.
    let shown = format!("{:.5}", x.expect("a number"));
    assert!(html.contains(&format!("<td>{}", shown.trim_end_matches('0'))), "{shown}");
}

#[test]
fn principles_stand_side_by_side() {
    let html = page(&["contact_vakonomic", "--principles", "chetaev,vakonomic"]);
    for part in [
        "x (chetaev)",
        "x (vakonomic)",
        "chetaev and vakonomic",
        "id=\"comparison\"",
        "Largest change since the start",
    ] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn figures_are_files_of_their_kind() {
    let folder = folder("figures");
    let path = |name: &str| folder.join(name).to_str().expect("plain names").to_owned();
    for (name, head) in
        [("a.svg", &b"<svg "[..]), ("a.pdf", b"%PDF-1."), ("a.png", b"\x89PNG\r\n\x1a\n")]
    {
        let file = path(name);
        let answer = pfaff(&[
            "plot",
            "sleigh",
            "-o",
            &file,
            "--columns",
            "x, y', lambda(blade)",
            "--size",
            "500x300",
        ]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        let bytes = std::fs::read(&file).expect("it was written");
        assert!(bytes.starts_with(head), "{name}");
        assert!((1_000..100_000).contains(&bytes.len()), "{name}: {}", bytes.len());
    }
    let svg = std::fs::read_to_string(path("a.svg")).expect("text");
    assert!(svg.contains("aria-label=\"lambda(blade)\"") && svg.contains("stroke-dasharray"));
    let wrong: [(&[&str], &str); 5] = [
        (&["--columns", "xx"], "did you mean `x`?"),
        (&["--against", "u"], "no column `u`"),
        (&["--size", "big"], "is not a size"),
        (&["--scale", "0"], "gives an empty picture"),
        (&["--columns", " , "], "names no column"),
    ];
    for (options, hint) in wrong {
        let file = path("b.svg");
        let mut all = vec!["plot", "sleigh", "-o", &file];
        all.extend(options);
        let answer = pfaff(&all);
        assert_eq!(answer.status, 2, "{options:?}");
        assert!(answer.err.contains(hint), "{}", answer.err);
    }
    assert_eq!(pfaff(&["plot", "sleigh", "-o", "a.gif"]).status, 2);
}

/// The document compiles where there is a LaTeX; elsewhere its braces and environments are counted.
#[test]
fn latex_documents_compile() {
    let folder = folder("latex");
    let has_latex =
        Command::new("pdflatex").arg("--version").output().is_ok_and(|o| o.status.success());
    if !has_latex {
        println!("not compiled: there is no pdflatex here; the structure is checked");
    }
    let models = ["sleigh", "bicycle", "fractional_constraint", "disk_vakonomic", "snake"];
    let forms = [("pendulum", "reduced"), ("double_pendulum", "hamilton"), ("sleigh", "kane")];
    let forms = forms.iter().map(|&(model, form)| (model, Some(form)));
    for (model, form) in models.map(|m| (m, None)).into_iter().chain(forms) {
        let mut words = vec!["derive", model, "--format", "latex", "--document"];
        words.extend(form.iter().flat_map(|form| ["--form", form]));
        let answer = pfaff(&words);
        assert_eq!(answer.status, 0, "{}", answer.err);
        let text = answer.out;
        assert!(text.starts_with("\\documentclass") && text.ends_with("\\end{document}\n"));
        assert_eq!(text.matches("\\begin{").count(), text.matches("\\end{").count());
        assert_eq!(text.matches("\\left").count(), text.matches("\\right").count());
        for row in text.split("\\\\\n") {
            let pairs = |a: &str, b: &str| row.matches(a).count() == row.matches(b).count();
            assert!(pairs("\\left(", "\\right)") || row.contains("cases"), "{model}: {row}");
        }
        let mut depth = 0_i32;
        for c in text.replace("\\{", "").replace("\\}", "").chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            assert!(depth >= 0, "{model}");
        }
        assert_eq!(depth, 0, "{model}");
        if has_latex {
            let name = format!("{model}.tex");
            std::fs::write(folder.join(&name), &text).expect("written");
            let done = Command::new("pdflatex")
                .args(["-interaction=nonstopmode", "-halt-on-error", &name])
                .current_dir(&folder)
                .output()
                .expect("it starts");
            assert!(
                done.status.success(),
                "{model}: {}",
                String::from_utf8_lossy(&done.stdout)
            );
        }
    }
    let title =
        "title \"50% of $x_1 & {#}\\\\^~\"\ncoordinates x\nlagrangian x'^2/2\nsolve t = 0..1\n";
    let answer = pfaff_text(&["derive", "-", "--format", "latex", "--document"], title);
    assert!(answer.out.contains("50\\% of \\$x\\_1 \\& \\{\\#\\}"), "{}", answer.out);
    assert_eq!(pfaff(&["derive", "sleigh", "--document"]).status, 2);
}

/// What the engine knows beside the motion stands in the page, with the numbers of the other commands.
#[test]
fn pages_show_geometry_memory_and_ends() {
    let sleigh = page(&["sleigh"]);
    for part in [
        "id=\"geometry\"",
        "growth vector (2, 3) in dimension 3",
        "bracket generating",
        "torsion: ",
        "Torsion S (antisymmetric)",
        "Curvature F of the constraints",
        "Metric g (symmetric)",
        "<code>pfaff geometry sleigh</code>",
    ] {
        assert!(sleigh.contains(part), "{part}");
    }
    assert!(!sleigh.contains("id=\"memory\"") && !sleigh.contains("id=\"solutions\""));
    assert!(!page(&["pendulum"]).contains("id=\"geometry\""), "positions alone");
    let large = page(&["bicycle", "--t1", "0.1"]);
    assert!(large.contains("The tensors of this model are large"));

    let past = page(&["fractional_constraint"]);
    let section =
        past.split("id=\"memory\"").nth(1).expect("memory").split("</section>").next();
    let section = section.expect("an end");
    for part in [
        "Caputo derivative</td><td>0.5</td><td>constraint past",
        "<code>q1</code> 1.5, <code>q2</code> 1.5.",
    ] {
        assert!(section.contains(part), "{part}: {section}");
    }

    let ends = page(&["heisenberg"]);
    let run = support::json(&["run", "heisenberg", "--json"]);
    let all = run["solutions"].as_array().expect("a list");
    assert!(!all.is_empty(), "{}", run["solutions"]);
    for solution in all.iter().take(40) {
        let action = solution["action"].as_f64().expect("a number");
        assert!(ends.contains(&format!("<td>{action:.10}</td>")), "{action}");
    }
    assert_eq!(ends.matches("Stationary points of the action").count(), 1);
}

fn links_of(page: &str) -> Vec<&str> {
    page.split("<a href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Every page of `docs/python` is in the site, with its code, and every link within the site has its page.
fn pages_on_python(folder: &Path) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/python");
    for entry in std::fs::read_dir(docs).expect("the documents").flatten() {
        let name = entry.path().file_stem().expect("a name").to_string_lossy().into_owned();
        let name = if name == "README" { "index".to_owned() } else { name };
        let page = std::fs::read_to_string(folder.join(format!("{name}.html")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains("<h1>") && page.contains("import pfaff"), "{name}");
        let within = |link: &&str| !link.starts_with("http") && !link.starts_with('#');
        for link in links_of(&page).into_iter().filter(within) {
            assert!(folder.join(link).exists(), "{name}: {link}");
        }
    }
}

/// Some models; the whole gallery with `PFAFF_TESTS=full`.
#[test]
fn the_gallery_is_a_site() {
    let folder = folder("site");
    let path = folder.to_str().expect("a plain name");
    let mut arguments = vec!["gallery", "--html", path];
    if !support::full() {
        arguments.extend(["--only", "sleigh, pendulum, fractional_relaxation, affine_free_2d"]);
    }
    let output = program().args(&arguments).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let index = std::fs::read_to_string(folder.join("index.html")).expect("an index");
    let links = links_of(&index);
    assert!(links.len() >= 5, "{links:?}");
    for link in &links {
        let page = std::fs::read_to_string(folder.join(link)).expect("every link has its page");
        assert!(page.ends_with("</html>\n") && page.contains("<h1>"), "{link}");
    }
    // A picture for each model, and each picture says how large it is.
    let models = links.iter().filter(|link| !link.contains('/')).count();
    assert_eq!(index.matches("<svg ").count(), models);
    assert_eq!(index.matches("viewBox=").count(), models);
    pages_on_python(&folder.join("python"));
    let wrong = pfaff(&["gallery", "--html", path, "--only", "sleig"]);
    assert!(wrong.status == 2 && wrong.err.contains("did you mean `sleigh`?"), "{}", wrong.err);
}
