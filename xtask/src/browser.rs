//! The browser that the tests of the pages open: looked for, and installed where that is possible.
//!
//! Debian's packages `chromium` and `chromium-driver`. Where there is no `apt-get`, no right to use it, or no
//! network, the tests say that they were skipped.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that an installation may take.
const PATIENCE: Duration = Duration::from_mins(5);

/// Makes the browser available if it can, and says what it found; never a failure.
pub(crate) fn prepare() {
    if starts("chromedriver", &["--version"]) {
        println!("chromedriver is there");
        return;
    }
    println!("chromedriver is missing: trying to install chromium and chromium-driver");
    let deadline = Instant::now() + PATIENCE;
    let installed = within(&["update"], deadline)
        && within(&["install", "--yes", "chromium", "chromium-driver"], deadline);
    if installed && starts("chromedriver", &["--version"]) {
        println!("installed");
    } else {
        println!("not installed: the tests in a browser will be skipped");
    }
}

fn starts(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|s| s.success())
}

/// `apt-get` with these arguments, ended at the deadline; says why it failed.
fn within(arguments: &[&str], deadline: Instant) -> bool {
    let child = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("apt-get does not start: {error}");
            return false;
        }
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return true,
            Ok(Some(status)) => {
                println!("apt-get {} failed: {status}", arguments.join(" "));
                return false;
            }
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(200));
            }
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                println!("apt-get {} took too long", arguments.join(" "));
                return false;
            }
        }
    }
}
