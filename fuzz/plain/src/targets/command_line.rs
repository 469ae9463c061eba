//! Choices → a command line → options, or a refusal. Commands that only compute with their words are run.

use std::ffi::OsString;

use crate::choices::Choices;
use crate::tokens::TOKENS;

const COMMANDS: &[&str] = &[
    "check",
    "derive",
    "run",
    "sweep",
    "fit",
    "discover",
    "compare",
    "variations",
    "geometry",
    "lift",
    "equilibria",
    "linearize",
    "lyapunov",
    "section",
    "orbit",
    "continue",
    "report",
    "plot",
    "diff",
    "gallery",
    "eval",
    "explain",
    "completions",
    "man",
    "gait",
    "help",
    "chekc",
    "",
];
const OPTIONS: &[&str] = &[
    "--set",
    "--initial",
    "--t0",
    "--t1",
    "--tolerance",
    "--method",
    "--at",
    "--samples",
    "--output",
    "-o",
    "--json",
    "--format",
    "--form",
    "--state",
    "--principle",
    "--principles",
    "--dependent",
    "--strict",
    "--seconds",
    "--memory",
    "--with",
    "--from",
    "--to",
    "--vary",
    "--draw",
    "--count",
    "--chunk",
    "--keep",
    "--merge",
    "--resume",
    "--columns",
    "--log",
    "--sandbox",
    "--help",
    "--version",
    "-h",
    "--",
    "-",
    "--sensitivity",
    "--on",
    "--search",
];
const VALUES: &[&str] = &[
    "sleigh",
    "a=0.3, m=2",
    "a=",
    "=",
    "x'=1",
    "1,2,5",
    "1e400",
    "nan",
    "-1",
    "0",
    "2GB",
    "1e-30",
    "a=0.1..0.5:50",
    "a=1..0:0",
    "a~normal(0,1)",
    "a~normal(0",
    "2/8",
    "0/0",
    "8/2",
    "csv",
    "18446744073709551616",
    "99999999999999999999",
    "chetaev,vakonomic",
    "E0601",
    "bash",
    "\u{1b}[2J",
];

/// Reads a command line; evaluates, explains or lists where that is asked for.
pub(crate) fn read(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let command = choices.one(COMMANDS);
    let mut words: Vec<OsString> = vec!["pfaff".into(), command.into()];
    for _ in 0..choices.below(8) {
        words.push(match choices.below(6) {
            0 | 1 => choices.one(OPTIONS).into(),
            2 => format!("{}={}", choices.one(OPTIONS), choices.one(VALUES)).into(),
            3 => choices.one(VALUES).into(),
            4 => (0..choices.below(6)).map(|_| choices.one(TOKENS)).collect::<String>().into(),
            _ => any(&mut choices),
        });
    }
    let acts =
        !matches!(command, "eval" | "explain" | "completions" | "man" | "gait" | "chekc" | "");
    // NOTE: what integrates or writes is the matter of the target `command`.
    if acts {
        pfaff_cli::is_command(&words);
    } else {
        let status = pfaff_cli::answer(&words);
        assert!(status <= 4, "status {status} of {words:?}");
    }
}

/// Some bytes as a word, which need be no text.
fn any(choices: &mut Choices<'_>) -> OsString {
    let bytes: Vec<u8> = (0..choices.below(9)).map(|_| choices.below(256) as u8).collect();
    #[cfg(unix)]
    {
        std::os::unix::ffi::OsStringExt::from_vec(bytes)
    }
    #[cfg(not(unix))]
    {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}
