//! docs/dependencies.md has a row for every direct dependency: manifests and page → packages without a row.

/// The packages of a manifest in any section of dependencies, and in the workspace's, that are not ours.
pub(crate) fn packages(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.trim_end_matches(']').ends_with("dependencies");
        } else if inside && let Some((key, _)) = line.split_once('=') {
            let name = key.split('.').next().unwrap_or(key).trim().trim_matches('"');
            found.push(name.to_owned());
        }
    }
    found.retain(|name| name != "pfaff" && !name.starts_with("pfaff-"));
    found
}

/// The packages that no row of the page's tables names first, as `` | `name` ``.
pub(crate) fn missing(packages: &[String], page: &str) -> Vec<String> {
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    let has = |name: &String| {
        let quoted = format!("`{name}`");
        rows.iter().any(|row| row.split('|').nth(1).is_some_and(|cell| cell.contains(&quoted)))
    };
    packages.iter().filter(|name| !has(name)).cloned().collect()
}

/// The lines of rows with a cell that says nothing.
pub(crate) fn incomplete(page: &str) -> Vec<usize> {
    let empty = |line: &str| {
        let inner = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|'));
        inner.is_some_and(|cells| cells.split('|').any(|cell| cell.trim().is_empty()))
    };
    (1..).zip(page.lines()).filter(|(_, line)| empty(line)).map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_direct_dependency_needs_a_row() {
        let manifest = "[dependencies]\npfaff.workspace = true\nclap = \"4\" # why\n\
            [dev-dependencies]\nserde_json.workspace = true\n[features]\nx = []\n\
            [target.'cfg(unix)'.dependencies]\nmemmap2 = \"0.9\"\n";
        let packages = packages(manifest);
        assert_eq!(packages, ["clap", "serde_json", "memmap2"]);
        let page = "clap\n| `serde_json`, `x` | `clap` |\n| `memmap2` | |\n";
        assert_eq!(missing(&packages, page), ["clap"]);
        assert_eq!(incomplete(page), [3]);
    }
}
