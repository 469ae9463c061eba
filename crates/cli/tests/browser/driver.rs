//! A small WebDriver client: HTTP on the loopback and JSON, nothing else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::group::Group;
use super::page::Page;

/// A running `chromedriver`, ended with this value, and with it every browser that it started.
pub(crate) struct Driver {
    pub(crate) group: Group,
    port: u16,
}

impl Driver {
    pub(crate) fn start() -> Result<Self, String> {
        let (group, printed) = Group::start("chromedriver", &["--port=0"])
            .map_err(|error| format!("no shell ({error})"))?;
        let mut lines = BufReader::new(printed).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let number = line.split("successfully on port ").nth(1)?.trim_end_matches('.');
            number.trim().parse().ok()
        });
        // NOTE: whoever writes to a pipe that nobody reads is stopped in the end.
        std::thread::spawn(move || lines.for_each(drop));
        match port {
            Some(port) => Ok(Self { group, port }),
            None => {
                Err("`chromedriver` does not start; install chromium and chromium-driver"
                    .into())
            }
        }
    }

    pub(crate) fn browser(&self) -> Browser<'_> {
        self.browser_with(&[])
    }

    /// A browser with further arguments.
    pub(crate) fn browser_with(&self, more: &[&str]) -> Browser<'_> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let profile =
            std::env::temp_dir().join(format!("pfaff-browser-{}-{number}", std::process::id()));
        let mut arguments = json!([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--no-first-run",
            "--disable-quic",
            "--disable-component-update",
            "--disable-sync",
            format!("--user-data-dir={}", profile.display()),
        ]);
        arguments
            .as_array_mut()
            .expect("a list")
            .extend(more.iter().map(|&word| Value::from(word)));
        let options = json!({"args": arguments});
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": options,
        }}});
        let answer = call(self.port, "POST", "/session", &wanted);
        let session =
            answer["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}"));
        Browser { driver: self, session: session.to_owned(), profile }
    }
}

/// One window.
pub(crate) struct Browser<'a> {
    driver: &'a Driver,
    session: String,
    /// The folder of its profile.
    pub(crate) profile: std::path::PathBuf,
}

impl Browser<'_> {
    fn post(&self, what: &str, body: &Value) -> Value {
        call(self.driver.port, "POST", &format!("/session/{}/{what}", self.session), body)
    }

    pub(crate) fn open(&self, path: &Path) {
        self.tools("Performance.disable", &json!({}));
        self.tools("Performance.enable", &json!({"timeDomain": "threadTicks"}));
        self.visit(&format!("file://{}", path.display()));
    }

    /// Opens an address.
    pub(crate) fn visit(&self, address: &str) {
        self.post("url", &json!({"url": address}));
    }

    pub(crate) fn size(&self, width: u32, height: u32) {
        // NOTE: a window is never as narrow as a phone, an emulated screen is.
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    pub(crate) fn scheme(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.tools("Emulation.setEmulatedMedia", &features);
    }

    /// Milliseconds of processor time that the page took so far, by the clock of its thread.
    pub(crate) fn work(&self) -> f64 {
        let told = self.tools("Performance.getMetrics", &json!({}));
        let metrics = told["metrics"].as_array().expect("a list");
        let task = metrics.iter().find(|m| m["name"] == "TaskDuration").expect("a duration");
        task["value"].as_f64().expect("a number") * 1e3
    }

    /// A command of the developer tools.
    fn tools(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// Runs the body of a function that is done when it calls its last argument.
    pub(crate) fn script_later(&self, body: &str, arguments: Value) -> Value {
        self.post("execute/async", &json!({"script": body, "args": arguments}))
    }

    /// Files that the page saves go there.
    pub(crate) fn downloads_to(&self, folder: &Path) {
        let parameters = json!({"behavior": "allow", "downloadPath": folder});
        self.tools("Browser.setDownloadBehavior", &parameters);
    }

    /// Takes the network away.
    pub(crate) fn offline(&self) {
        self.tools("Network.enable", &json!({}));
        let parameters = json!({"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0});
        self.tools("Network.emulateNetworkConditions", &parameters);
    }

    /// Presses the mouse at a place, moves it and lets go.
    pub(crate) fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let mouse = |kind: &str, x: f64, y: f64| {
            let parameters = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1});
            self.tools("Input.dispatchMouseEvent", &parameters);
        };
        mouse("mousePressed", from.0, from.1);
        for k in 1..=4 {
            let part = f64::from(k) / 4.0;
            mouse(
                "mouseMoved",
                from.0 + part * (to.0 - from.0),
                from.1 + part * (to.1 - from.1),
            );
        }
        mouse("mouseReleased", to.0, to.1);
    }

    /// What was said on the console since it was asked last.
    pub(crate) fn messages(&self) -> Value {
        self.post("se/log", &json!({"type": "browser"}))
    }

    /// Nothing was said on the console, and nothing but pages was asked for.
    pub(crate) fn silent(&self, path: &Path) {
        assert_eq!(self.messages(), json!([]), "{}", path.display());
        let events = self.post("se/log", &json!({"type": "performance"}));
        let mut requests = 0;
        for event in events.as_array().expect("a list") {
            let message: Value =
                serde_json::from_str(event["message"].as_str().expect("text")).expect("JSON");
            let message = &message["message"];
            if message["method"] == "Network.requestWillBeSent" {
                let url = message["params"]["request"]["url"].as_str().expect("an address");
                // NOTE: the browser's own first page asks for its own pictures.
                let asking = message["params"]["documentURL"].as_str().unwrap_or("");
                if asking.starts_with("chrome://") {
                    continue;
                }
                assert!(url.starts_with("file://") && url.contains(".html"), "{url}");
                requests += 1;
            }
        }
        assert!(requests > 0, "the log of requests is kept");
    }
}

impl Page for Browser<'_> {
    fn script(&self, body: &str, arguments: Value) -> Value {
        self.post("execute/sync", &json!({"script": body, "args": arguments}))
    }
}

impl Drop for Browser<'_> {
    fn drop(&mut self) {
        let request = format!(
            "DELETE /session/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
            self.session, self.driver.port
        );
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.driver.port)) {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
            let _ = stream.write_all(request.as_bytes());
            // NOTE: the driver answers when the browser has ended, and leaves the connection open.
            let _ = stream.read(&mut [0; 512]);
        }
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// One request, and the `value` of its answer.
fn call(port: u16, method: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the driver listens");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a time limit");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .expect("it reads");
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    for line in reader.by_ref().lines() {
        let line = line.expect("an answer");
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer).expect("the whole answer");
    let mut answer: Value = serde_json::from_slice(&answer).expect("JSON");
    let value = answer["value"].take();
    assert!(value.get("error").is_none(), "{method} {path}: {value}");
    value
}
