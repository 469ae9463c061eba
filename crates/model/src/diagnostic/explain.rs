//! What each diagnostic code means: a page with an example that provokes it and the repaired text.
//!
//! E01xx text and syntax; E02xx names; E03xx shapes and types; E04xx statements and their meaning; E05xx data;
//! E06xx the start of a motion. A code keeps its meaning for ever; a retired code is never used again.
//!
//! A page is Markdown: the heading `# CODE: title`, what it means, then `## Example` and `## Repaired`. Each of
//! these has the command (`sh`, if missing the one of the example) and the model text (`pfaff`), if there is one.

/// The page of one diagnostic code.
///
/// ```
/// let explanation = pfaff_model::explanation("E0607").expect("a code");
/// assert_eq!(explanation.title(), "the initial value of a multiplier is missing");
/// assert_eq!(explanation.example().command, "pfaff run model.pfaff");
/// assert!(explanation.repaired().model.contains("mu(c) = 0.2"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// For example `E0607`.
    pub code: &'static str,
    /// The whole page, in Markdown.
    pub page: &'static str,
}

/// A command and the text of `model.pfaff` beside which it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// For a shell, as in `pfaff run model.pfaff`.
    pub command: &'static str,
    /// Empty if the command needs no model.
    pub model: &'static str,
}

/// The page of a code, if there is such a code.
pub fn explanation(code: &str) -> Option<&'static Explanation> {
    EXPLANATIONS.iter().find(|e| e.code == code)
}

macro_rules! pages {
    ($($code:literal),* $(,)?) => {
        &[$(Explanation { code: $code, page: include_str!(concat!("explain/", $code, ".md")) }),*]
    };
}

/// The pages of all codes, in order.
pub const EXPLANATIONS: &[Explanation] = pages![
    "E0101", "E0102", "E0103", "E0104", "E0105", "E0106", "E0107", "E0108", "E0109", "E0110",
    "E0111", "E0112", "E0113", "E0114", "E0115", "E0116", "E0117", "E0118", "E0119", "E0120",
    "E0121", "E0122", "E0123", "E0124", "E0125", "E0126", "E0201", "E0202", "E0203", "E0204",
    "E0205", "E0206", "E0207", "E0301", "E0302", "E0303", "E0304", "E0305", "E0306", "E0307",
    "E0308", "E0309", "E0311", "E0401", "E0402", "E0403", "E0404", "E0405", "E0406", "E0407",
    "E0408", "E0409", "E0410", "E0411", "E0412", "E0413", "E0414", "E0415", "E0416", "E0417",
    "E0418", "E0419", "E0420", "E0423", "E0424", "E0425", "E0426", "E0427", "E0428", "E0429",
    "E0430", "E0431", "E0432", "E0433", "E0434", "E0435", "E0436", "E0440", "E0441", "E0450",
    "E0451", "E0452", "E0453", "E0454", "E0455", "E0456", "E0501", "E0502", "E0503", "E0504",
    "E0601", "E0602", "E0603", "E0604", "E0605", "E0606", "E0607", "E0608", "E0609", "E0610",
    "E0611", "E0612", "E0613", "E0614", "E0615", "E0621", "E0622", "E0623", "E0631", "E0632",
    "E0633", "E0634", "E0635", "E0636", "E0637", "E0640", "E0641",
];

impl Explanation {
    /// What is wrong, in one line.
    pub fn title(&self) -> &'static str {
        let heading = self.page.lines().next().unwrap_or_default();
        heading.split_once(": ").map_or(heading, |(_, title)| title)
    }

    /// What provokes the diagnostic.
    pub fn example(&self) -> Example {
        let section = self.section("## Example");
        Example { command: fenced(section, "```sh"), model: fenced(section, "```pfaff") }
    }

    /// The same without the mistake.
    pub fn repaired(&self) -> Example {
        let section = self.section("## Repaired");
        let command = match fenced(section, "```sh") {
            "" => self.example().command,
            command => command,
        };
        Example { command, model: fenced(section, "```pfaff") }
    }

    /// What stands below a heading.
    fn section(&self, heading: &str) -> &'static str {
        let below = self.page.split_once(heading).map_or("", |(_, below)| below);
        below.split_once("\n## ").map_or(below, |(section, _)| section)
    }
}

/// The lines between a fence and its end.
fn fenced(section: &'static str, fence: &str) -> &'static str {
    let Some((_, below)) = section.split_once(fence) else { return "" };
    below.split_once("```").map_or("", |(lines, _)| lines.trim())
}

/// What helps against most mistakes of a code, where the place itself has no better advice.
pub(crate) fn usual_hint(code: &str) -> Option<&'static str> {
    let hints = [
        (
            "E0301",
            "sizes must agree; `dot(a, b)` multiplies vectors, `transpose(A)` turns a matrix",
        ),
        ("E0304", "components count from 1 unless a range such as `q[0..N]` says otherwise"),
        ("E0308", "everything is written out term by term: choose a smaller size"),
        ("E0309", "it is zero for all values of its names: check its signs and brackets"),
        (
            "E0407",
            "a constraint ties coordinates or velocities to each other, to time or to a number",
        ),
        (
            "E0503",
            "check for a division by zero, a logarithm or root of a negative number, or a power too large",
        ),
        (
            "E0504",
            "the file has a line of names, then rows of numbers; its first column grows from row to row",
        ),
    ];
    hints.iter().find(|(known, _)| *known == code).map(|(_, hint)| *hint)
}
