//! A program with all that it starts, ended together: with this value, or with the tests, however they end.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A shell that waits in a process group of its own; what it started is in that group too.
pub(crate) struct Group(Child);

impl Group {
    /// Starts a program, and gives what it prints.
    pub(crate) fn start(program: &str, arguments: &[&str]) -> io::Result<(Self, ChildStdout)> {
        // NOTE: the pipe to `cat` closes also when the tests are killed.
        const WAIT: &str = r#""$@" & exec > /dev/null; cat > /dev/null; kill -s KILL 0"#;
        let mut shell = Command::new("sh")
            .args(["-c", WAIT, "sh", program])
            .args(arguments)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let printed = shell.stdout.take().expect("a pipe");
        Ok((Self(shell), printed))
    }

    /// Its number: that of every process in it.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
