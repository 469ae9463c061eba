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
    // What is no option is quoted as well, and a page shows the comments of its model.
    let answer = pfaff(&["run", "sleigh", "--x\u{9b}2J\r"]);
    assert!(answer.err.contains("\\u009b2J\\u000d"), "{}", answer.err);
    let page = folder.path("turned.html");
    let turned = format!("{text}# \u{202e}turned\u{1b}[2J\n");
    assert_eq!(pfaff_text(&["report", "-", "-o", &page], &turned).status, 0);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("\\u202eturned\\u001b[2J") && !page.contains('\u{202e}'));
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
        let answer = pfaff(&[command, &model, "--seconds", "0.02"]);
        assert_eq!(answer.status, 3, "{command}: {}", answer.err);
        assert!(answer.err.contains("time limit of 0.02 s"), "{}", answer.err);
        // NOTE: other tests run beside this one.
        assert!(begun.elapsed() < Duration::from_secs(5), "{command}");
    }
    let answer = pfaff(&["check", &model, "--memory", "40MB"]);
    assert_eq!(answer.status, 3, "{}", answer.err);
    assert!(answer.err.contains("memory limit of 0.04 GB"), "{}", answer.err);
    // Too short for exponents, but there is nothing wrong with the question.
    let words = ["lyapunov", "double_pendulum", "--t1", "1e9", "--seconds", "0.05"];
    assert_eq!(pfaff(&words).status, 3);
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
    // A process that has ended, but whose status nobody has read.
    let mut ended = std::process::Command::new("true").spawn().expect("`true` is there");
    let stat = format!("/proc/{}/stat", ended.id());
    while !std::fs::read_to_string(&stat).expect("it is still listed").contains(") Z ") {
        std::thread::sleep(Duration::from_millis(5));
    }
    folder.write(&format!(".a.csv.{}-0123456789abcdef.part", ended.id()), "half a r");
    assert_eq!(pfaff(&["run", "sleigh", "--output", &folder.path("a.csv")]).status, 0);
    ended.wait().expect("it has ended");
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
    for name in ["a.csv", "a.json", "a.parquet", "a.arrow"] {
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
                "a.arrow" => {
                    assert!(bytes.starts_with(b"ARROW1") && bytes.ends_with(b"ARROW1"));
                }
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
    let cases: [(&[&str], &str); 4] = [
        (&["plot", "-", "--log", "--columns", "a", "-o", &figure], huge),
        (&["eval", "sum(i = 1..20000, 1/i)"], ""),
        (&["eval", "product(i = 1..5000, 1/i)"], ""),
        (&["eval", "product(i = 1..100000, i)*0"], ""),
    ];
    for (arguments, text) in cases {
        let begun = Instant::now();
        let answer = pfaff_text(arguments, text);
        assert!(matches!(answer.status, 0 | 3), "{arguments:?} {}", answer.err);
        // NOTE: less than a second each; other tests run beside this one.
        assert!(begun.elapsed() < Duration::from_secs(30), "{arguments:?}");
    }
}

/// What can end with a part of its work ends with it: at a limit of time the answer is there, and the status is 3.
#[test]
fn what_is_there_at_a_limit_is_shown() {
    let long = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n\
                constraint c: z' = y*x' + sin(y)*y'\ninitial x' = 1, y' = 0.5\n";
    // A ball that bounces for ever: its audit takes as long as its run.
    let bouncing = "coordinates y\nparameters m = 1\nlagrangian m*y'^2/2 - 9.81*y\n\
                    contact floor: y >= 0, restitution = 1\ninitial y = 1\n";
    let exact = ["run", "trailers", "--precision", "double_double", "--t1", "50", "--json"];
    let cases: [(&[&str], &str, &str); 7] = [
        (&["compare", "-", "--initial", "mu(c)=0.1", "--t1", "1e7", "--json"], "motions", long),
        (
            &["lift", "-", "--path", "x = sin(t), y = cos(3*t)", "--t1", "1e8", "--json"],
            "t",
            long,
        ),
        (&["geometry", "-", "--curve", "geodesic", "--t1", "1e8", "--json"], "t", long),
        (&["variations", "-", "--vary", "x = sin(t)", "--t1", "1e10", "--json"], "t", long),
        (&["run", "-", "--t1", "1e6", "--json"], "t", bouncing),
        (&["run", "-", "--t1", "1e6", "--sensitivity", "m", "--json"], "t", bouncing),
        (&exact, "t", ""),
    ];
    for (words, key, text) in cases {
        let words = [words, &["--seconds", "0.3"]].concat();
        let begun = Instant::now();
        let answer = pfaff_text(&words, text);
        assert_eq!(answer.status, 3, "{words:?}: {}", answer.err);
        let object = support::object(&answer.out);
        assert!(!object[key].is_null(), "{words:?}: {:?}", support::keys(&object));
        // NOTE: other tests run beside this one.
        assert!(begun.elapsed() < Duration::from_secs(20), "{words:?}");
    }
}

/// What comes after a motion hears the limit too: its second integration, and those that judge a comparison.
#[test]
fn what_follows_a_motion_hears_its_limit() {
    let compared = ["compare", "disk", "--t1", "1e6", "--seconds", "1"];
    // An event ends it, and it is then integrated again more strictly.
    let stopped = ["run", "four_bar", "--t1", "1e6", "--seconds", "1"];
    for words in [compared, stopped] {
        let answer = pfaff(&words);
        assert!(matches!(answer.status, 0 | 3), "{words:?}: {}", answer.err);
        assert!(!answer.err.contains("there is no answer yet"), "{words:?}: {}", answer.err);
        assert!(answer.out.contains("audit"), "{words:?}: {}", answer.out);
    }
}

/// A search between given ends hears its limit in the midst of an attempt, and shows the best path so far.
#[test]
fn a_search_ends_with_the_best_path() {
    let hard = "coordinates q[30]\nlagrangian dot(q', q')/2 + sum(i = 1..29, cos(q[i] - q[i+1]))\n\
                initial q = 0\nfinal q[1] = 3, q[30] = -3\nsolve t = 0..9\n";
    let begun = Instant::now();
    let answer = pfaff_text(&["run", "-", "--json", "--seconds", "1"], hard);
    assert!(matches!(answer.status, 0 | 1 | 3), "{}", answer.err);
    assert!(!answer.err.contains("there is no answer yet"), "{}", answer.err);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// Rows that are in the file are not held: a run with many outputs needs little memory, and none of them is lost.
#[cfg(target_os = "linux")]
#[test]
fn a_table_that_grows_takes_no_memory() {
    let folder = Folder::new("stream");
    let file = folder.path("a.csv");
    let words = ["run", "pendulum", "--t1", "300", "--samples", "600001", "--output", &file];
    // NOTE: held as a whole, the rows alone take more than this.
    let answer = pfaff(&[&words[..], &["--memory", "160MB"]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    let text = std::fs::read_to_string(&file).expect("a file");
    let (names, rows) = text.split_once('\n').expect("a line of names");
    assert!(names.starts_with("t,"));
    let mut count = 0;
    for (i, row) in rows.lines().enumerate() {
        assert_eq!(row.split(',').count(), names.split(',').count(), "row {i}");
        let t: f64 = row.split(',').next().and_then(|t| t.parse().ok()).expect("a time");
        let even = if i == 600_000 { 300.0 } else { 300.0 * (i as f64 / 600_000.0) };
        assert_eq!(t, even, "row {i}");
        count += 1;
    }
    assert_eq!(count, 600_001);
    assert_eq!(folder.names(), ["a.csv"], "no temporary file");
    // Formats that cannot grow are made from rows on the disk: every number is the same.
    for name in ["a.parquet", "a.arrow"] {
        let other = folder.path(name);
        let words = [&words[..7], &[&other, "--memory", "160MB"]].concat();
        let answer = pfaff(&words);
        assert_eq!(answer.status, 0, "{name}: {}", answer.err);
        let answer = pfaff(&["diff", &file, &other, "--strict"]);
        assert_eq!(answer.status, 0, "{name}: {} {}", answer.out, answer.err);
        std::fs::remove_file(&other).expect("it is there");
    }
    assert_eq!(folder.names(), ["a.csv"], "no temporary file");
}

/// Where impacts cut a run into segments, rows are held, and the file has all of them.
#[test]
fn a_table_of_segments_is_whole() {
    let folder = Folder::new("segments");
    let text = "coordinates y\nlagrangian y'^2/2 - 9.81*y\ncontact f: y >= 0, restitution = 0.9\n\
                initial y = 1\nsolve t = 0..2\n";
    let rows = ["a.csv", "a.parquet"].map(|name| {
        let file = folder.path(name);
        let answer = pfaff_text(&["run", "-", "--samples", "250001", "--output", &file], text);
        assert_eq!(answer.status, 0, "{name}: {}", answer.err);
        file
    });
    let text = std::fs::read_to_string(&rows[0]).expect("a file");
    assert!(
        text.lines().count() > 250_001
            && text.lines().last().is_some_and(|l| l.starts_with("2.0,"))
    );
    assert_eq!(pfaff(&["diff", &rows[0], &rows[1], "--strict"]).status, 0);
    assert_eq!(folder.names().len(), 2, "no temporary file");
}

/// Where no thread can be started, commands work without limits and say so; a sweep needs threads.
#[cfg(debug_assertions)]
#[test]
fn threads_that_cannot_be_started_are_told() {
    let folder = Folder::new("threads");
    let run = |words: &[&str]| {
        let output = program().args(words).env("PFAFF_FAULT", "thread:1").output();
        support::answer(output.expect("it starts"))
    };
    let answer = run(&["check", "sleigh"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert!(answer.err.contains("limits of time and memory are not kept"), "{}", answer.err);
    let answer =
        run(&["sweep", "sleigh", "--vary", "a=0.1..0.2:2", "--output", &folder.path("a.csv")]);
    assert_eq!(answer.status, 2, "{}", answer.err);
    assert!(answer.err.contains("threads cannot be started"), "{}", answer.err);
    assert!(folder.names().is_empty());
}

/// Where the system refuses executable pages, the interpreter does the work, with the same bits.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stdout, reason = "what was skipped is told")]
fn refused_pages_cost_speed_and_nothing_else() {
    // PR_SET_MDWE with PR_MDWE_REFUSE_EXEC_GAIN: no page becomes executable, in this program and those it starts.
    let script = "import ctypes, os, sys\n\
                  sys.exit(77) if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) else None\n\
                  os.execv(sys.argv[1], sys.argv[1:])\n";
    let words = ["run", "sleigh", "--json", "--samples", "11"];
    let output = std::process::Command::new("python3")
        .args(["-c", script, env!("CARGO_BIN_EXE_pfaff")])
        .args(words)
        .env_remove("PFAFF_CODE")
        .output();
    let Ok(output) = output else {
        println!("skipped: there is no Python");
        return;
    };
    if output.status.code() == Some(77) {
        println!("skipped: this system does not refuse pages");
        return;
    }
    let (refused, usual) = (support::answer(output), pfaff(&words));
    assert_eq!((refused.status, usual.status), (0, 0), "{}", refused.err);
    let (mut refused, mut usual) = (support::object(&refused.out), support::object(&usual.out));
    // Times are what differs.
    refused["statistics"] = serde_json::Value::Null;
    usual["statistics"] = serde_json::Value::Null;
    assert_eq!(refused, usual);
}

/// The program in a shell that has set a limit.
#[cfg(unix)]
fn limited(limit: &str, words: &[&str]) -> support::Answer {
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    let output = std::process::Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_pfaff")])
        .args(words)
        .env_remove("PFAFF_CODE")
        .output();
    support::answer(output.expect("there is a shell"))
}

/// A file that grows beyond `ulimit -f` is refused like one on a full disk, and not by a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_file_sizes_costs_the_file_and_not_the_motion() {
    let folder = Folder::new("file_size");
    for name in ["a.csv", "a.json", "a.parquet", "a.arrow"] {
        let file = folder.write(name, "precious\n");
        let words = ["run", "pendulum", "--samples", "2001", "--json", "--output", &file];
        let answer = limited("-f 8", &words);
        assert_eq!(answer.status, 2, "{name}: {}", answer.err);
        assert!(answer.err.contains("could not be written"), "{}", answer.err);
        assert_eq!(support::numbers(&support::object(&answer.out)["t"]).len(), 2001);
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "precious\n");
        assert_eq!(folder.names(), [name], "no temporary file");
        std::fs::remove_file(&file).expect("it is there");
    }
    let page = folder.path("a.html");
    assert_eq!(limited("-f 8", &["report", "pendulum", "-o", &page]).status, 2);
    assert!(folder.names().is_empty());
    // Help is printed before any command begins.
    let help = std::process::Command::new("sh")
        .args(["-c", "ulimit -f 0; exec \"$0\" --help > \"$1\""])
        .args([env!("CARGO_BIN_EXE_pfaff"), &folder.path("help.txt")])
        .status();
    assert_eq!(help.expect("there is a shell").code(), Some(2));
}

/// What `ulimit -v` leaves counts as a limit of memory: a run ends with what it has, before an allocation fails.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_addresses_is_a_limit_of_memory() {
    let words = ["run", "pendulum", "--t1", "1e6", "--samples", "10000000", "--seconds", "40"];
    let answer = limited("-v 400000", &words);
    assert_eq!(answer.status, 3, "{}", answer.err);
    assert!(answer.err.contains("`ulimit -v` sets it"), "{}", answer.err);
}

/// Pages of a gallery whose time is over are those of whole motions, and there is no index of them.
#[test]
fn a_gallery_at_its_limit_has_whole_pages() {
    let folder = Folder::new("gallery_limit");
    let answer = pfaff(&["gallery", "--html", &folder.path("g"), "--seconds", "0.3"]);
    assert_eq!(answer.status, 3, "{}", answer.err);
    assert!(!std::path::Path::new(&folder.path("g/index.html")).exists());
    for page in std::fs::read_dir(folder.path("g")).expect("a folder").flatten() {
        let text = std::fs::read_to_string(page.path()).expect("a page");
        assert!(!text.contains("interrupted at"), "{:?}", page.path());
    }
}
