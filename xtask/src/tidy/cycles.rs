//! Cycles between the modules of a crate: sources → groups of modules that all need one another.
//!
//! In every folder the modules are its files and its subfolders; `a → b` if code of `a` names something of `b`.
//! A name that a `mod.rs` re-exports counts for the module that defines it. Modules that reach each other form a
//! group; a reader must understand a whole group at once, so it has at most two members. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::scan::{Views, views};

/// The largest group that is allowed.
pub(crate) const LIMIT: usize = 2;

/// Larger groups that are meant, each with its reason: folder, members.
pub(crate) const MEANT: &[(&str, &[&str])] = &[
    // Everything about one function (value, derivative, exact values, bounds) stands in its file of `math`, and
    // nodes of the graph name functions.
    ("crates/expr/src", &["graph", "math", "zero"]),
    // The interpreters are compiled once more for processors with fused multiply-adds. That takes `unsafe`, which
    // belongs to `native`.
    ("crates/program/src/backend", &["batch", "interpreter", "native"]),
    // Classes that Python sees name one another: a model makes motions and answers commands.
    ("crates/python/src", &["command", "model", "motion", "sweep"]),
];

/// A module's path inside its crate: `["run", "volterra"]`; the root is empty.
type Module = Vec<String>;

/// The files of a crate by their path inside `src`, with their text → the groups of more than one module, each
/// with its folder.
pub(crate) fn groups(files: &BTreeMap<String, String>) -> Vec<(String, Vec<String>)> {
    let code: BTreeMap<Module, String> = files
        .iter()
        .filter(|(file, _)| !file.contains("tests"))
        .map(|(file, text)| (module(file), shipped(&views(text))))
        .collect();
    let names = Names::new(&code);
    let mut arrows: BTreeMap<Module, BTreeSet<(String, String)>> = BTreeMap::new();
    for (from, code) in &code {
        for path in references(from, code) {
            let to = names.defined(&path);
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if common < from.len() && common < to.len() {
                let pair = (from[common].clone(), to[common].clone());
                arrows.entry(from[..common].to_vec()).or_default().insert(pair);
            }
        }
    }
    let mut found = Vec::new();
    for (folder, pairs) in arrows {
        found.extend(strongly_connected(&pairs).into_iter().map(|g| (folder.join("/"), g)));
    }
    found
}

/// `run/mod.rs` → `run`, `run/volterra.rs` → `run, volterra`, `lib.rs` → the root.
fn module(file: &str) -> Module {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut parts: Module = stem.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib" || last == "main") {
        parts.pop();
    }
    parts
}

/// The code without its tests, which stand at the end of a file.
fn shipped(views: &Views) -> String {
    views.code.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
}

/// What the modules of a crate make known.
struct Names {
    modules: BTreeSet<Module>,
    /// Module and name → the path that the name stands for.
    exported: BTreeMap<(Module, String), Module>,
}

impl Names {
    fn new(code: &BTreeMap<Module, String>) -> Self {
        let modules: BTreeSet<Module> = code.keys().cloned().collect();
        let mut exported = BTreeMap::new();
        for (module, code) in code {
            for statement in uses(code) {
                for path in expanded(&statement) {
                    let Some(absolute) = absolute(module, &path, &modules) else { continue };
                    let name = path.last().cloned().unwrap_or_default();
                    exported.insert((module.clone(), name), absolute);
                }
            }
        }
        Self { modules, exported }
    }

    /// The module that defines what a path names.
    fn defined(&self, path: &[String]) -> Module {
        let mut at: Module = Vec::new();
        let mut rest: Vec<String> = path.to_vec();
        for _ in 0..32 {
            let Some(next) = rest.first().cloned() else { break };
            let mut deeper = at.clone();
            deeper.push(next.clone());
            if self.modules.contains(&deeper) {
                at = deeper;
                rest.remove(0);
            } else if let Some(target) = self.exported.get(&(at.clone(), next)) {
                rest = target.iter().cloned().chain(rest.into_iter().skip(1)).collect();
                at = Vec::new();
            } else {
                break;
            }
        }
        at
    }
}

/// The texts of `use …;` without the word.
fn uses(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let begins = code[..at].chars().next_back().is_none_or(char::is_whitespace);
        if begins && let Some((statement, _)) = code[at + 4..].split_once(';') {
            found.push(statement.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    found
}

/// `a::{b, c::{d, self}}` → the paths `a::b`, `a::c::d`, `a::c`. The name after `as` is not looked at.
fn expanded(tree: &str) -> Vec<Module> {
    let tree = tree.trim();
    let Some((head, list)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree);
        let mut parts: Module = path.split("::").map(|part| part.trim().to_owned()).collect();
        parts.retain(|part| !part.is_empty());
        if parts.len() > 1 && parts.last().is_some_and(|last| last == "self") {
            parts.pop();
        }
        return vec![parts];
    };
    let list = list.strip_suffix('}').unwrap_or(list);
    let (mut members, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    members.push(&list[start..]);
    let members = members.into_iter().filter(|member| !member.trim().is_empty());
    members.flat_map(|member| expanded(&format!("{head}{}", member.trim()))).collect()
}

/// The path from the root of the crate; none if it leads out of the crate.
fn absolute(module: &Module, path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
    let first = path.first()?.as_str();
    let mut base: Module = match first {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => module[..module.len().checked_sub(1)?].to_vec(),
        child => {
            let mut inside = module.clone();
            inside.push(child.to_owned());
            return modules
                .contains(&inside)
                .then(|| module.iter().chain(path).cloned().collect());
        }
    };
    let mut rest = &path[1..];
    while rest.first().is_some_and(|part| part == "super") {
        base.pop()?;
        rest = &rest[1..];
    }
    Some(base.into_iter().chain(rest.iter().cloned()).collect())
}

/// The paths inside the crate that the code of a module names, in `use` and elsewhere.
fn references(module: &Module, code: &str) -> Vec<Module> {
    let none = BTreeSet::new();
    let mut found: Vec<Module> = uses(code)
        .iter()
        .flat_map(|statement| expanded(statement))
        .filter_map(|path| absolute(module, &path, &none))
        .collect();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            if code[..at].chars().next_back().is_some_and(word) {
                continue;
            }
            let end = code[at..].find(|c: char| !word(c)).map_or(code.len(), |end| at + end);
            let path: Module = code[at..end].split("::").map(str::to_owned).collect();
            let path: Vec<String> = path.into_iter().filter(|part| !part.is_empty()).collect();
            found.extend(absolute(module, &path, &none));
        }
    }
    found
}

/// The groups of more than one that reach each other.
fn strongly_connected(arrows: &BTreeSet<(String, String)>) -> Vec<Vec<String>> {
    let mut reach = arrows.clone();
    loop {
        let mut more = reach.clone();
        for (a, b) in &reach {
            let onward = arrows.iter().filter(|(from, _)| from == b);
            more.extend(onward.map(|(_, to)| (a.clone(), to.clone())));
        }
        if more.len() == reach.len() {
            break;
        }
        reach = more;
    }
    let both = |a: &String, b: &String| {
        reach.contains(&(a.clone(), b.clone())) && reach.contains(&(b.clone(), a.clone()))
    };
    let nodes: BTreeSet<&String> = arrows.iter().flat_map(|(a, b)| [a, b]).collect();
    let mut groups: Vec<Vec<String>> = Vec::new();
    for node in nodes {
        match groups.iter_mut().find(|group| both(&group[0], node)) {
            Some(group) => group.push(node.clone()),
            None => groups.push(vec![node.clone()]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(list: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let files = list.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        groups(&files.collect())
    }

    #[test]
    fn a_cycle_of_three_is_one_group() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d; pub use c::Last;"),
            ("a.rs", "use crate::b::{One, two};"),
            ("b.rs", "fn f(x: &crate::Last) {}"),
            ("c.rs", "use super::a; use crate::d;"),
            ("d.rs", "#[cfg(test)]\nmod tests { use crate::a; }"),
        ];
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(found(&files), [(String::new(), names)]);
    }

    #[test]
    fn each_folder_is_looked_at_by_itself() {
        let files = [
            ("lib.rs", "mod run; mod motion;"),
            ("run/mod.rs", "mod x; mod y; pub(crate) use x::Head;"),
            ("run/x.rs", "use super::y::Tail; use crate::motion::Motion;"),
            ("run/y.rs", "use super::Head;"),
            ("motion.rs", "use std::fmt;"),
        ];
        let names = ["x", "y"].map(str::to_owned).to_vec();
        assert_eq!(found(&files), [("run".to_owned(), names)]);
    }

    #[test]
    fn trees_of_use_are_expanded() {
        let paths: Vec<String> =
            expanded("a::{b, c::{self, d as e}}").iter().map(|p| p.join("::")).collect();
        assert_eq!(paths, ["a::b", "a::c", "a::c::d"]);
    }
}
