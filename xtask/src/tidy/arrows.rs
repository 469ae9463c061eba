//! The arrows between the crates: manifest → faults.
//!
//! ```text
//!         expr ──────► model ──────► mechanics ──┐
//!           └────► program ──────────────────────┼──► engine ──► cli
//!                                solver ─────────┘        └────► python
//! ```
//!
//! Each crate sees only what stands before it. Tests may see anything.

/// Folder under `crates/`, package, and the packages of ours it may see.
const FLOW: &[(&str, &str, &[&str])] = &[
    ("expr", "pfaff-expr", &[]),
    ("model", "pfaff-model", &["pfaff-expr"]),
    ("mechanics", "pfaff-mechanics", &["pfaff-expr", "pfaff-model"]),
    ("program", "pfaff-program", &["pfaff-expr"]),
    ("solver", "pfaff-solver", &[]),
    (
        "engine",
        "pfaff",
        &["pfaff-expr", "pfaff-model", "pfaff-mechanics", "pfaff-program", "pfaff-solver"],
    ),
    (
        "present",
        "pfaff-present",
        &["pfaff", "pfaff-expr", "pfaff-model", "pfaff-mechanics", "pfaff-program"],
    ),
    (
        "web",
        "pfaff-web",
        &["pfaff", "pfaff-expr", "pfaff-model", "pfaff-program", "pfaff-present"],
    ),
    ("cli", "pfaff-cli", &["pfaff", "pfaff-present", "pfaff-web"]),
    ("python", "pfaff-python", &["pfaff", "pfaff-present"]),
];

/// The crates that stand below the engine and touch nothing of the world.
pub(crate) const BELOW_ENGINE: &[&str] = &["expr", "model", "mechanics", "program", "solver"];

/// What is wrong with the manifest of the crate in `crates/folder`.
pub(crate) fn check(folder: &str, manifest: &str) -> Vec<String> {
    let Some((_, package, seen)) = FLOW.iter().find(|(own, _, _)| *own == folder) else {
        return vec![format!("crate `{folder}` has no place among the arrows")];
    };
    let mut faults = Vec::new();
    if !manifest.lines().any(|line| line.trim() == format!("name = \"{package}\"")) {
        faults.push(format!("the package in this folder is called `{package}`"));
    }
    if !manifest.contains("[lints]\nworkspace = true") {
        faults.push("`[lints] workspace = true` is missing".to_owned());
    }
    for dependency in dependencies(manifest) {
        let ours = FLOW.iter().any(|(_, package, _)| *package == dependency);
        if ours && !seen.contains(&dependency.as_str()) {
            faults.push(format!(
                "`{package}` must not see `{dependency}`: the data flows the other way"
            ));
        }
    }
    faults
}

/// The packages that a manifest depends on outside of tests, renamed ones by their own name.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = is_dependencies(section);
            if let Some((head, name)) = section.rsplit_once('.')
                && is_dependencies(head)
            {
                found.push(unquoted(name));
                inside = true;
            }
        } else if inside && let Some((key, value)) = line.split_once('=') {
            found.push(unquoted(key.split('.').next().unwrap_or(key)));
            found.extend(renamed(key, value));
        }
    }
    found
}

/// `dependencies`, `build-dependencies`, and both for one target; not `dev-dependencies`.
fn is_dependencies(section: &str) -> bool {
    let last = section.rsplit('.').next().unwrap_or(section);
    matches!(last, "dependencies" | "build-dependencies")
}

/// The value of `package`, as a key of its own or inside braces.
fn renamed(key: &str, value: &str) -> Option<String> {
    if key.trim() == "package" {
        return Some(unquoted(value));
    }
    let after = value.split_once("package")?.1.split_once('=')?.1;
    after.split('"').nth(1).map(str::to_owned)
}

fn unquoted(name: &str) -> String {
    name.trim().trim_matches(['"', '\'']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = "\n[lints]\nworkspace = true\n";

    fn faults(folder: &str, body: &str) -> Vec<String> {
        check(folder, &format!("{body}{TAIL}"))
    }

    #[test]
    fn arrows_forward_are_fine() {
        let body = "name = \"pfaff-model\"\n[dependencies]\npfaff-expr.workspace = true";
        assert_eq!(faults("model", body), Vec::<String>::new());
    }

    #[test]
    fn arrows_back_are_faults() {
        for dependency in [
            "[dependencies]\npfaff-model.workspace = true",
            "[dependencies]\nm = { package = \"pfaff-model\", path = \"../model\" }",
            "[dependencies.pfaff-model]\npath = \"../model\"",
            "[dependencies.m]\npackage = \"pfaff-model\"",
            "[target.'cfg(unix)'.dependencies]\npfaff-model = \"0.1\"",
            "[build-dependencies]\n\"pfaff-model\" = \"0.1\"",
        ] {
            let found = faults("expr", &format!("name = \"pfaff-expr\"\n{dependency}"));
            assert_eq!(found.len(), 1, "{dependency}: {found:?}");
            assert!(found[0].contains("must not see `pfaff-model`"), "{found:?}");
        }
    }

    #[test]
    fn the_command_line_sees_the_engine_only() {
        let body = "name = \"pfaff-cli\"\n[dependencies]\npfaff.workspace = true\npfaff-expr.workspace = true";
        assert_eq!(faults("cli", body).len(), 1);
    }

    #[test]
    fn tests_may_see_anything() {
        let body = "name = \"pfaff-expr\"\n[dev-dependencies]\npfaff-model.path = \"../model\"";
        assert_eq!(faults("expr", body), Vec::<String>::new());
    }

    #[test]
    fn strangers_and_wrong_names_are_faults() {
        assert!(faults("helpers", "name = \"helpers\"")[0].contains("no place"));
        assert!(faults("expr", "name = \"expr\"")[0].contains("pfaff-expr"));
        assert!(check("expr", "name = \"pfaff-expr\"\n")[0].contains("lints"));
    }
}
