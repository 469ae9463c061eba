//! `pfaff studio`: who is served, who is not, and that nobody can stop it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Folder, program};

/// A running server, ended with this value.
pub(crate) struct Studio {
    process: Child,
    /// What it printed.
    pub(crate) address: String,
    port: u16,
    token: String,
}

impl Studio {
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut program = program();
        program.arg("studio").args(arguments);
        Self::of(program, folder)
    }

    fn of(mut program: Command, folder: &Folder) -> Self {
        let mut process = program
            .current_dir(folder.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut address = String::new();
        let mut out = BufReader::new(process.stdout.take().expect("a pipe"));
        out.read_line(&mut address).expect("it tells its address");
        let address = address.trim().to_owned();
        let rest = address.strip_prefix("http://127.0.0.1:").expect("it is on this machine");
        let (port, token) = rest.split_once("/?token=").expect("it has a token");
        let (port, token) = (port.parse().expect("a port"), token.to_owned());
        Self { process, address, port, token }
    }

    /// How it ended; none if it goes on for ten seconds.
    #[cfg(unix)]
    fn status(&mut self) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if let Ok(Some(status)) = self.process.try_wait() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// The bytes of a request as they are, and no more if `is_all`; the status and the body of the answer.
    fn send(&self, request: &[u8], is_all: bool) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
        stream.write_all(request).ok()?;
        // NOTE: who ends the request ends the question.
        if is_all {
            stream.shutdown(std::net::Shutdown::Write).ok()?;
        }
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1)?.parse().ok()?;
        Some((status, text.split_once("\r\n\r\n")?.1.to_owned()))
    }

    fn get(&self, path: &str, host: &str, more: &str) -> (u16, String) {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n");
        self.send(request.as_bytes(), false).expect("an answer")
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn ask_with(&self, question: &str, headers: &str) -> (u16, Value) {
        let request = format!(
            "POST /ask HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n{question}",
            self.host(),
            question.len()
        );
        let (status, body) = self.send(request.as_bytes(), false).expect("an answer");
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    fn ask(&self, question: &Value) -> (u16, Value) {
        self.ask_with(&question.to_string(), &format!("X-Pfaff-Token: {}\r\n", self.token))
    }

    /// Asks a question and does not wait for the answer.
    fn begin(&self, question: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let request = format!(
            "POST /ask HTTP/1.1\r\nHost: {}\r\nX-Pfaff-Token: {}\r\nContent-Length: {}\r\n\r\n{question}",
            self.host(),
            self.token,
            question.len()
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn whoever_has_the_token_is_served_and_nobody_else() {
    let folder = Folder::new("studio-token");
    let studio = Studio::start(&folder, &[]);
    let host = studio.host();
    let page = format!("/?token={}", studio.token);
    let (status, body) = studio.get(&page, &host, "");
    assert_eq!(status, 200);
    assert!(
        body.contains("pfaff-token")
            && body.contains("<style>")
            && !body.contains("src=\"workbench.js\"")
    );
    assert_eq!(studio.get(&page, &format!("localhost:{}", studio.port), "").0, 200);
    let own = format!("Origin: http://{host}\r\n");
    assert_eq!(studio.get(&page, &host, &own).0, 200);
    for (path, host, more) in [
        ("/", host.as_str(), ""),
        ("/?token=", host.as_str(), ""),
        ("/?token=00000000000000000000000000000000", host.as_str(), ""),
        (page.as_str(), "evil.example", ""),
        (page.as_str(), host.as_str(), "Origin: http://evil.example\r\n"),
        (page.as_str(), host.as_str(), "Origin: null\r\n"),
    ] {
        let (status, body) = studio.get(path, host, more);
        assert_eq!(status, 403, "{path} {host} {more}");
        assert!(body.contains("\"error\""), "{body}");
    }
    assert_eq!(studio.get("/../../etc/passwd", &host, "").0, 404);
    let question = json!({"ask": "gallery"}).to_string();
    assert_eq!(studio.ask_with(&question, "").0, 403);
    assert_eq!(studio.ask_with(&question, "X-Pfaff-Token: 1\r\n").0, 403);
    let foreign =
        format!("X-Pfaff-Token: {}\r\nOrigin: https://evil.example\r\n", studio.token);
    assert_eq!(studio.ask_with(&question, &foreign).0, 403);
}

#[test]
fn models_read_files_of_their_folder_alone() {
    let folder = Folder::new("studio-files");
    folder.write("push.csv", "t,f\n0,0\n1,1\n2,0\n3,0\n");
    let studio = Studio::start(&folder, &[]);
    let text = |file: &str| {
        format!("coordinates x\nlagrangian x'^2/2\nforce x: table(t, \"{file}\", \"f\")\n")
    };
    let run = |file: &str| studio.ask(&json!({"ask": "run", "text": text(file), "t1": 2.0})).1;
    assert_eq!(run("push.csv")["motion"]["stop"]["reason"], "end");
    for file in ["../push.csv", "/etc/passwd", "/dev/zero", "none.csv"] {
        assert!(run(file)["error"]["message"].is_string(), "{file}");
    }
}

#[test]
fn malformed_requests_leave_it_running() {
    let folder = Folder::new("studio-malformed");
    let studio = Studio::start(&folder, &[]);
    // NOTE: 10 000 in the long run of the tests.
    let count = if crate::support::full() { 10_000 } else { 1_000 };
    let mut seed: u64 = 7;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let whole = format!(
        "POST /ask HTTP/1.1\r\nHost: {}\r\nX-Pfaff-Token: {}\r\nContent-Length: 40\r\n\r\n{{\"ask\": \"run\", \"text\": \"coordinates x\"}}",
        studio.host(),
        studio.token
    );
    for _ in 0..count {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..=random() % 8 {
            let at = random() % bytes.len();
            bytes[at] = (random() % 256) as u8;
        }
        bytes.truncate(1 + random() % bytes.len());
        let _ = studio.send(&bytes, true);
    }
    let (status, answer) = studio.ask(&json!({"ask": "gallery"}));
    assert_eq!(status, 200);
    assert!(answer["models"].as_array().is_some_and(|m| m.len() > 50));
}

/// A question that would take for ever does not block another, and ends when its request is closed.
#[test]
fn a_long_question_blocks_nobody() {
    let folder = Folder::new("studio-long");
    let studio = Studio::start(&folder, &[]);
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n";
    let long = json!({"ask": "run", "text": text, "t1": 1e9}).to_string();
    // More than there are processors, and more than a small pool of threads would have.
    let streams: Vec<TcpStream> = (0..20).map(|_| studio.begin(&long)).collect();
    let (status, answer) = studio.ask(&json!({"ask": "run", "text": text, "t1": 1.0}));
    assert_eq!((status, &answer["motion"]["stop"]["reason"]), (200, &json!("end")));
    drop(streams);
    for _ in 0..12 {
        let (_, answer) = studio.ask(&json!({"ask": "run", "text": text, "t1": 1.0}));
        assert_eq!(answer["motion"]["stop"]["reason"], "end");
    }
}

#[test]
fn lessons_need_the_token_too() {
    let folder = Folder::new("studio-lessons");
    let studio = Studio::start(&folder, &[]);
    let host = studio.host();
    assert_eq!(studio.get("/lessons.html", &host, "").0, 403);
    let (status, body) =
        studio.get(&format!("/lessons.html?token={}", studio.token), &host, "");
    assert!(status == 200 && body.contains("id=\"contents\"") && body.contains("<script>"));
}

#[test]
fn it_begins_with_the_model_that_is_named() {
    let folder = Folder::new("studio-model");
    folder.write("mine.pfaff", "title \"Mine </script>\"\ncoordinates x\nlagrangian x'^2/2\n");
    let studio = Studio::start(&folder, &["mine.pfaff"]);
    let (_, body) = studio.get(&format!("/?token={}", studio.token), &studio.host(), "");
    assert!(body.contains("Mine \\u003c/script"), "the text cannot end its element");
    let wrong = crate::support::pfaff(&["studio", "no_such_model.pfaff"]);
    assert_eq!(wrong.status, 1, "{}", wrong.err);
}

/// Ctrl-C, a request to end and the limit of time end the server at once; nothing is written meanwhile.
#[cfg(unix)]
#[test]
fn it_ends_when_it_is_asked() {
    let folder = Folder::new("studio-end");
    for signal in ["INT", "TERM", "HUP"] {
        let mut studio = Studio::start(&folder, &[]);
        // NOTE: it listens to signals some milliseconds after its start.
        assert_eq!(studio.ask(&json!({"ask": "words"})).0, 200);
        std::thread::sleep(Duration::from_millis(200));
        let id = studio.process.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        assert_eq!(studio.status(), Some(130), "{signal}");
    }
    let begun = Instant::now();
    let mut studio = Studio::start(&folder, &["--seconds", "0.5"]);
    assert_eq!(studio.status(), Some(3));
    // NOTE: it was eleven times the limit; other tests run beside this one.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// Whoever opens more connections than there are files has to wait, and the server goes on.
#[cfg(unix)]
#[test]
fn connections_without_end_do_not_end_it() {
    let folder = Folder::new("studio-many");
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 40; exec \"$0\" studio", env!("CARGO_BIN_EXE_pfaff")]);
    for limited in [Some(limited), None] {
        let studio = Studio::of(
            limited.unwrap_or_else(|| {
                let mut program = program();
                program.arg("studio");
                program
            }),
            &folder,
        );
        let connect = || TcpStream::connect(("127.0.0.1", studio.port));
        // NOTE: those that are not accepted wait in a queue of the system, or are refused by it.
        let open: Vec<TcpStream> = (0..100).filter_map(|_| connect().ok()).collect();
        assert!(open.len() > 40);
        std::thread::sleep(Duration::from_millis(300));
        drop(open);
        assert_eq!(studio.ask(&json!({"ask": "words"})).0, 200);
    }
}

/// Work that has no part to show ends, too, when its request is closed: a whole house of such questions leaves room
/// for others.
#[test]
fn questions_that_are_closed_leave_room() {
    let folder = Folder::new("studio-closed");
    let studio = Studio::start(&folder, &[]);
    let n = 400;
    let text = format!(
        "coordinates q[{n}]\nlagrangian sum(i = 1..{n}, q[i]'^2/2*cos(q[i])) + sum(i = 1..{n}, sin(q[i]*q[1]))^5\n"
    );
    let long = json!({"ask": "equations", "form": "reduced", "text": text}).to_string();
    // As many as are answered at once.
    let streams: Vec<TcpStream> = (0..64).map(|_| studio.begin(&long)).collect();
    std::thread::sleep(Duration::from_millis(200));
    drop(streams);
    assert_eq!(studio.ask(&json!({"ask": "words"})).0, 200);
}
