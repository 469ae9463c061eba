//! What the tests share: the real program, started with arguments, and what it answers.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What the program answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program, without anything of the environment that could change its answer.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pfaff"));
    command.env_remove("NO_COLOR").env_remove("PFAFF_CODE").env("LC_ALL", "C");
    command
}

pub(crate) fn answer(output: Output) -> Answer {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("answers are UTF-8");
    Answer {
        status: output.status.code().expect("it ended by itself, not by a signal"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Longer than any answer takes, also on a busy machine: beyond it the program hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs with these arguments and this standard input.
pub(crate) fn feed(arguments: &[&str], input: &[u8]) -> Answer {
    let mut child = program()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // NOTE: a program that refuses its input early closes the pipe, which is no fault.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let id = child.id();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait_with_output()));
    let output = told
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|_| panic!("process {id} hangs: {arguments:?}"))
        .expect("it ran");
    writer.join().expect("the input was written");
    answer(output)
}

/// A folder for the files of one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the folder of the tests is writable");
    path
}

/// Runs with these arguments.
pub(crate) fn pfaff(arguments: &[&str]) -> Answer {
    feed(arguments, b"")
}

/// Runs a text with `-` as the model.
pub(crate) fn pfaff_text(arguments: &[&str], text: &str) -> Answer {
    feed(arguments, text.as_bytes())
}

/// The one JSON object that a successful command printed.
pub(crate) fn json(arguments: &[&str]) -> Value {
    let answer = pfaff(arguments);
    assert_eq!(answer.status, 0, "{arguments:?}\n{}", answer.err);
    object(&answer.out)
}

/// Exactly one JSON object and nothing else.
pub(crate) fn object(text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert!(value.is_object(), "{text}");
    assert_eq!(text.lines().count(), 1, "one line");
    value
}

pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap_or_else(|| panic!("a list, not {value}"));
    list.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

/// A folder of its own, gone when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("written");
        path
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether the long tests run too, as in `cargo xtask all`.
pub(crate) fn full() -> bool {
    std::env::var_os("PFAFF_TESTS").is_some_and(|v| v == "full")
}

/// Waits until something is so.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
