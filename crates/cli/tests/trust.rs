//! What a command may touch, and what it may cost: files of others, sandboxes, limits, characters that act.

use std::time::{Duration, Instant};

use crate::support::{self, Folder, pfaff, pfaff_text, program};

/// A model that reads a table.
fn with_table(name: &str) -> String {
    format!(
        "coordinates x\nlagrangian x'^2/2 - table(t, \"{name}\", \"x\")*x\nsolve t = 0..1\n"
    )
}

const TABLE: &str = "t,x\n0,0\n1,1\n2,0\n3,1\n";

#[test]
fn what_a_command_reads_is_not_overwritten() {
    let folder = Folder::new("inputs");
    let table = folder.write("tab.csv", TABLE);
    let model = folder.write("m.pfaff", with_table("tab.csv"));
    let again = folder.path("again.csv");
    std::fs::hard_link(&table, &again).expect("another name");
    for output in [&table, &again] {
        let answer = pfaff(&["run", &model, "--output", output]);
        assert_eq!((answer.status, answer.out.as_str()), (2, ""));
        assert!(answer.err.contains("it is read by this command"), "{}", answer.err);
        assert_eq!(std::fs::read_to_string(&table).expect("it is there"), TABLE);
    }
    let answer = pfaff(&["report", &model, "-o", &model]);
    assert_eq!(answer.status, 2, "{}", answer.err);
    assert_eq!(std::fs::read_to_string(&model).expect("it is there"), with_table("tab.csv"));
    assert_eq!(pfaff(&["run", &model, "--output", &folder.path("new.csv")]).status, 0);
}

#[cfg(unix)]
#[test]
#[allow(clippy::print_stdout, reason = "what was skipped is told")]
fn links_and_special_files_are_not_written() {
    let folder = Folder::new("links");
    let precious = folder.write("precious", "precious\n");
    let (link, dangling) = (folder.path("link.csv"), folder.path("dangling.csv"));
    std::os::unix::fs::symlink(&precious, &link).expect("a link");
    std::os::unix::fs::symlink(folder.path("nowhere"), &dangling).expect("a link");
    for output in [&link, &dangling] {
        let answer = pfaff(&["run", "sleigh", "--output", output]);
        assert_eq!((answer.status, answer.out.as_str()), (2, ""));
        assert!(answer.err.contains("links are not followed"), "{}", answer.err);
        assert!(std::fs::symlink_metadata(output).expect("it is there").is_symlink());
    }
    assert!(!std::path::Path::new(&folder.path("nowhere")).exists());
    // A name that the program could be thought to use for its temporary file.
    let part = folder.path("a.json.part");
    std::os::unix::fs::symlink(&precious, &part).expect("a link");
    assert_eq!(pfaff(&["run", "sleigh", "--output", &folder.path("a.json")]).status, 0);
    assert_eq!(std::fs::read_to_string(&precious).expect("it is there"), "precious\n");
    let pipe = folder.path("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: there is no mkfifo");
        return;
    }
    let answer = pfaff(&["run", "sleigh", "--output", &pipe]);
    assert_eq!(answer.status, 2);
    assert!(answer.err.contains("not a plain file"), "{}", answer.err);
    let answer = pfaff(&["check", &pipe]);
    assert_eq!(answer.status, 1);
    assert!(answer.err.contains("not a plain file"), "{}", answer.err);
    let model = folder.write("m.pfaff", with_table("pipe.csv"));
    let answer = pfaff(&["check", &model]);
    assert_eq!(answer.status, 1);
    assert!(answer.err.contains("not a plain file"), "{}", answer.err);
}

#[cfg(unix)]
#[test]
fn files_of_others_are_not_shown() {
    let folder = Folder::new("secrets");
    let secret = folder.write("secret", "root:secret:0\nuser:hidden:1\n");
    for text in [with_table(&secret), with_table("/proc/self/environ")] {
        let model = folder.write("m.pfaff", &text);
        for sandbox in [None, Some("--sandbox")] {
            let mut arguments = vec!["check", &model];
            arguments.extend(sandbox);
            let answer = pfaff(&arguments);
            assert_eq!(answer.status, 1);
            for word in ["root", "hidden", "PATH"] {
                assert!(!answer.err.contains(word), "{}", answer.err);
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_sandbox_is_the_folder_of_the_model() {
    let folder = Folder::new("sandbox");
    folder.write("tab.csv", TABLE);
    let outside = Folder::new("sandbox_outside");
    let table = outside.write("tab.csv", TABLE);
    std::os::unix::fs::symlink(&table, folder.path("link.csv")).expect("a link");
    let inside = folder.write("inside.pfaff", with_table("tab.csv"));
    assert_eq!(pfaff(&["check", &inside, "--sandbox"]).status, 0);
    let name = std::path::Path::new(&table).parent().and_then(|p| p.file_name());
    let up = format!("../{}/tab.csv", name.expect("a folder").to_string_lossy());
    for way in [table.as_str(), up.as_str(), "link.csv"] {
        let model = folder.write("outside.pfaff", with_table(way));
        assert_eq!(pfaff(&["check", &model]).status, 0, "{way}");
        let answer = pfaff(&["check", &model, "--sandbox"]);
        assert_eq!(answer.status, 1, "{way}");
        assert!(answer.err.contains("sandbox"), "{}", answer.err);
    }
    let piped = with_table(&table);
    assert_eq!(pfaff_text(&["check", "-"], &piped).status, 1, "a sandbox by default");
    assert_eq!(pfaff_text(&["check", "-", "--no-sandbox"], &piped).status, 0);
}

#[test]
fn characters_that_act_are_shown() {
    let folder = Folder::new("escape");
    let text = "coordinates x\nlagrangian x'^2/2\nsolve t = 0..1\n";
    #[cfg(unix)]
    {
        let model = folder.write("a\u{1b}]0;owned\u{7}b.pfaff", text);
        for command in ["check", "run", "derive", "compare"] {
            let answer = pfaff(&[command, &model]);
            assert!(
                !answer.out.contains('\u{1b}') && !answer.err.contains('\u{1b}'),
                "{command}"
            );
        }
        let page = folder.path("page.html");
        assert_eq!(pfaff(&["report", &model, "-o", &page]).status, 0);
        let page = std::fs::read_to_string(page).expect("a page");
        assert!(!page.contains('\u{1b}') && page.contains("\\u001b]0;owned"));
    }
    let answer = pfaff_text(&["check", "-"], &format!("title \"\u{1b}[2J\"\n{text}"));
    assert_eq!(answer.status, 1);
    assert!(answer.err.contains("U+001B") && !answer.err.contains('\u{1b}'), "{}", answer.err);
    let answer = pfaff(&["run", "nothing\u{1b}[2J"]);
    assert!(answer.err.contains("\\u001b[2J"), "{}", answer.err);
}

/// Every command has limits, and ends soon after them, with a sentence and status 3.
#[test]
fn limits_of_time_and_memory_are_kept() {
    let folder = Folder::new("limits");
    let huge = "coordinates q[5000]\nlagrangian sum(i = 1..5000, q[i]'^2/2*cos(q[i])) + \
                sum(i = 1..5000, q[i])^2\nsolve t = 0..1\n";
    let model = folder.write("huge.pfaff", huge);
    for command in ["check", "derive", "compare", "geometry"] {
        let begun = Instant::now();
        let answer = pfaff(&[command, &model, "--seconds", "0.1"]);
        assert_eq!(answer.status, 3, "{command}: {}", answer.err);
        assert!(answer.err.contains("time limit of 0.1 s"), "{}", answer.err);
        // NOTE: other tests run beside this one.
        assert!(begun.elapsed() < Duration::from_secs(5), "{command}");
    }
    let answer = pfaff(&["check", &model, "--memory", "100MB"]);
    assert_eq!(answer.status, 3, "{}", answer.err);
    assert!(answer.err.contains("memory limit of 0.1 GB"), "{}", answer.err);
    let run = pfaff(&["run", "pendulum", "--t1", "1e6", "--seconds", "0.5", "--json"]);
    assert_eq!(run.status, 3, "{}", run.err);
    assert_eq!(support::object(&run.out)["stop"]["reason"], "interrupted");
    for (option, bad) in [("--seconds", "0"), ("--seconds", "soon"), ("--memory", "1MB")] {
        assert_eq!(pfaff(&["run", "sleigh", option, bad]).status, 2, "{option} {bad}");
    }
}

/// A temporary file of a run that was killed goes with the next one; those of others stay.
#[cfg(target_os = "linux")]
#[test]
fn old_temporary_files_are_removed() {
    let folder = Folder::new("old_parts");
    // NOTE: the largest number that Linux gives a process is 2^22.
    folder.write(".a.csv.4194305-0123456789abcdef.part", "half a r");
    folder.write(".a.csv.notes.part", "mine");
    let living = format!(".a.csv.{}-0123456789abcdef.part", std::process::id());
    folder.write(&living, "still written");
    assert_eq!(pfaff(&["run", "sleigh", "--output", &folder.path("a.csv")]).status, 0);
    let mut names = folder.names();
    names.sort();
    assert_eq!(names, [living.as_str(), ".a.csv.notes.part", "a.csv"]);
}

/// What two pages of the same run hold is the same.
#[test]
fn pages_are_the_same_each_time() {
    let folder = Folder::new("pages");
    let pages = ["a.html", "b.html"].map(|name| {
        let page = folder.path(name);
        assert_eq!(pfaff(&["report", "sleigh", "-o", &page]).status, 0);
        std::fs::read(page).expect("a page")
    });
    assert!(pages[0] == pages[1]);
}

/// Kills runs at random instants while they write: what is there can be read, and has whole rows only.
#[test]
fn kills_leave_whole_files() {
    let folder = Folder::new("kills");
    let rounds = if support::full() { 330 } else { 4 };
    for name in ["a.csv", "a.json", "a.parquet"] {
        let file = folder.path(name);
        for round in 0..rounds {
            let mut child = program()
                .args(["run", "pendulum", "--t1", "1000000", "--samples", "1000001"])
                .args(["--output", &file])
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .expect("it starts");
            // Instants that are spread over the first writings.
            let pause = 450 + (round as u64 * 7919 + 13) % 900;
            std::thread::sleep(Duration::from_millis(pause));
            child.kill().expect("it still runs");
            child.wait().expect("it ended");
            let Ok(bytes) = std::fs::read(&file) else { continue };
            match name {
                "a.csv" => {
                    let text = String::from_utf8(bytes).expect("UTF-8");
                    let mut lines = text.lines();
                    let columns = lines.next().expect("names").split(',').count();
                    assert!(lines.all(|line| line.split(',').count() == columns));
                    assert!(text.ends_with('\n'));
                }
                "a.json" => _ = support::object(&String::from_utf8(bytes).expect("UTF-8")),
                _ => assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")),
            }
        }
        // The next run that ends leaves its file alone.
        assert_eq!(pfaff(&["run", "sleigh", "--output", &file]).status, 0);
        assert_eq!(folder.names(), [name], "nothing else is left");
        std::fs::remove_file(&file).expect("it is there");
    }
}

/// Each of these took minutes, or had no end.
#[test]
fn what_had_no_end_has_one() {
    let huge = "coordinates x\nlagrangian x'^2/2\ninitial x' = 1\nsolve t = 0..1\n\
                observe a = 1.7e308*exp(-t/1000)\n";
    let folder = Folder::new("no_end");
    let figure = folder.path("a.svg");
    let cases: [(&[&str], &str); 3] = [
        (&["plot", "-", "--log", "--columns", "a", "-o", &figure], huge),
        (&["eval", "sum(i = 1..20000, 1/i)"], ""),
        (&["eval", "product(i = 1..5000, 1/i)"], ""),
    ];
    for (arguments, text) in cases {
        let begun = Instant::now();
        let answer = pfaff_text(arguments, text);
        assert!(matches!(answer.status, 0 | 3), "{arguments:?} {}", answer.err);
        // NOTE: less than a second each; other tests run beside this one.
        assert!(begun.elapsed() < Duration::from_secs(30), "{arguments:?}");
    }
}
