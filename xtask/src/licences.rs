//! Licences of all dependencies: `cargo tree` → packages whose licence is not on the list.
//!
//! A light check for every change; `deny.toml` has the same list, and `cargo xtask all` runs `cargo deny` too.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cargo;
use crate::steps::Verdict;

/// What we may ship with. The list in `deny.toml` is the same.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
];

/// Prints the packages whose licence is not allowed.
pub(crate) fn check(root: &Path) -> Verdict {
    let arguments = [
        "tree",
        "--locked",
        "--workspace",
        "--all-features",
        "--edges",
        "all",
        "--prefix",
        "none",
        "--format",
        "{p}|{l}",
    ];
    let Some(tree) = cargo::output(root, &arguments) else { return Verdict::Fail };
    let faults = faults(&tree);
    for fault in &faults {
        println!("licences: {fault}");
    }
    println!("licences: {} faults", faults.len());
    Verdict::of(faults.is_empty())
}

fn faults(tree: &str) -> BTreeSet<String> {
    let rows = tree.lines().filter_map(|line| line.split_once('|'));
    rows.filter(|(_, licence)| !is_allowed(licence.trim_end_matches("(*)").trim()))
        .map(|(package, licence)| format!("{package}: `{licence}`"))
        .collect()
}

/// One of the alternatives is allowed in all its parts. `/` is an old way to write `OR`.
fn is_allowed(licence: &str) -> bool {
    let plain = licence.replace(['(', ')'], "");
    let one = |part: &str| ALLOWED.contains(&part.trim());
    if licence.contains('(') {
        // `(MIT OR Apache-2.0) AND Unicode-3.0`: each factor by itself.
        return licence
            .split(" AND ")
            .all(|factor| factor.trim().trim_matches(['(', ')']).split(" OR ").any(one));
    }
    plain.replace('/', " OR ").split(" OR ").any(|choice| choice.split(" AND ").all(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_and_combinations_are_read() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "Unlicense/MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND MPL-2.0", "(MIT OR Apache-2.0) AND MPL-2.0"] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn packages_with_other_licences_are_named() {
        let tree = "a v1.0.0|MIT\nb v2.0.0|LGPL-3.0\nb v2.0.0|LGPL-3.0 (*)\nc v1|MIT (*)\n";
        assert_eq!(faults(tree).len(), 2);
    }

    #[test]
    fn cargo_deny_has_the_same_list() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = std::fs::read_to_string(root.join("deny.toml")).expect("deny.toml");
        let (_, rest) = text.split_once("allow = [").expect("a list");
        let (list, _) = rest.split_once(']').expect("its end");
        let list: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(list, ALLOWED);
    }
}
