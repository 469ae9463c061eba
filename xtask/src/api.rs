//! `cargo xtask api`: the pages of rustdoc → docs/api/pfaff.txt, every public item of `pfaff` with its signature.
//!
//! The snapshot shows in review what a change does to the users of the crate; `cargo xtask test` fails if it
//! is out of date. It is read from the pages that rustdoc writes, so it needs no nightly compiler and names
//! exactly what docs.rs shows: declarations with public fields, inherent methods, implemented traits, and
//! whether a type is `Send` and `Sync`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::cargo;

const SNAPSHOT: &str = "docs/api/pfaff.txt";
const PACKAGE: &str = "pfaff";

/// Rewrites the snapshot; true if that worked.
pub(crate) fn run(root: &Path) -> bool {
    if !cargo::run(root, &["doc", "--workspace", "--no-deps"], &[]) {
        return false;
    }
    let Some(api) = current(root) else { return false };
    let path = root.join(SNAPSHOT);
    path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok())
        && fs::write(path, api).is_ok()
}

/// Whether the snapshot is what the pages say, which must be there; prints the difference.
pub(crate) fn check(root: &Path) -> bool {
    let Some(api) = current(root) else { return false };
    let kept = fs::read_to_string(root.join(SNAPSHOT)).unwrap_or_default();
    let (kept, now): (BTreeSet<&str>, BTreeSet<&str>) =
        (kept.lines().collect(), api.lines().collect());
    for line in kept.difference(&now) {
        println!("- {line}");
    }
    for line in now.difference(&kept) {
        println!("+ {line}");
    }
    let same = kept == now;
    if !same {
        println!(
            "api: {SNAPSHOT} is out of date; if the change is intended, run `cargo xtask api`"
        );
    }
    same
}

/// The snapshot of the pages as they are.
fn current(root: &Path) -> Option<String> {
    let folder = cargo::target(root).join("doc").join(PACKAGE);
    let Ok(index) = fs::read_to_string(folder.join("all.html")) else {
        eprintln!("api: no pages of rustdoc for `{PACKAGE}`");
        return None;
    };
    let (mut items, mut strangers) = (Vec::new(), BTreeSet::new());
    for link in links(&index) {
        let page = fs::read_to_string(folder.join(link)).ok()?;
        items.extend(item(link, &page));
        strangers.extend(not_exported(&page));
    }
    items.sort();
    if !strangers.is_empty() {
        let list: Vec<String> =
            strangers.into_iter().map(|name| format!("    {name}\n")).collect();
        items.push(format!("not exported, but in the signatures above\n{}", list.concat()));
    }
    (!items.is_empty()).then(|| items.join("\n"))
}

/// The types in the signatures of a page that rustdoc links to another crate of ours, or cannot link at all.
fn not_exported(page: &str) -> BTreeSet<String> {
    let mut markup = declaration(page).unwrap_or("").to_owned();
    for part in section(page, "implementations-list").split("class=\"code-header\">").skip(1) {
        markup.push('\n');
        markup.push_str(&part[..header_end(part)]);
    }
    let others = markup.split("title=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let others = others.filter_map(|title| title.split_once(" pfaff_")).map(|(_, path)| path);
    let mut found: BTreeSet<String> =
        others.filter_map(|path| path.rsplit("::").next()).map(str::to_owned).collect();
    // Links away, what stands where a type stands is a type without a page.
    let mut rest = String::new();
    for (k, part) in markup.split("<a ").enumerate() {
        let after = part.split_once("</a>").map_or("", |(_, after)| after);
        rest.push_str(if k == 0 { part } else { after });
    }
    for line in text(&rest).lines() {
        let chars: Vec<char> = line.chars().collect();
        let mut at = 0;
        while at < chars.len() {
            let word: String = chars[at..].iter().take_while(|c| c.is_alphanumeric()).collect();
            let before = chars[..at].iter().rev().find(|c| **c != ' ');
            let is_type = before.is_some_and(|c| ":<(&[>,=".contains(*c))
                && word.starts_with(|c: char| c.is_ascii_uppercase())
                && word.len() > 1
                && word != "Self";
            at += word.chars().count().max(1);
            if is_type {
                found.insert(word);
            }
        }
    }
    found
}

/// The pages that the list of all items links to.
fn links(index: &str) -> BTreeSet<&str> {
    let main = index.split_once("<main>").map_or("", |(_, main)| main);
    let all = main.split("<a href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    all.filter(|link| Path::new(link).extension().is_some_and(|e| e == "html"))
        .filter(|link| !link.contains("://"))
        .collect()
}

/// One item: its path, declaration, methods and traits. None for a page that only leads elsewhere.
fn item(link: &str, page: &str) -> Option<String> {
    let declaration = text(declaration(page)?);
    let (modules, file) = link.rsplit_once('/').unwrap_or(("", link));
    let name = file.split('.').nth(1)?;
    let mut path = vec![PACKAGE];
    path.extend(modules.split('/').filter(|module| !module.is_empty()));
    path.push(name);
    let mut lines = vec![path.join("::")];
    lines.extend(declaration.lines().map(|line| format!("    {}", line.trim_end())));
    for header in headers(section(page, "implementations-list")) {
        let indent = if header.starts_with("impl") { 4 } else { 8 };
        lines.push(format!("{}{header}", " ".repeat(indent)));
    }
    let plain = format!(" for {name}");
    let mut traits = Vec::new();
    for header in headers(section(page, "trait-implementations-list")) {
        match header.strip_prefix("impl ").and_then(|rest| rest.strip_suffix(&plain)) {
            Some("StructuralPartialEq") => {}
            Some(one) => traits.push(one.to_owned()),
            None if header.starts_with("impl") => lines.push(format!("    {header}")),
            None => {}
        }
    }
    traits.sort();
    if !traits.is_empty() {
        lines.push(format!("    implements {}", traits.join(", ")));
    }
    let automatic = headers(section(page, "synthetic-implementations-list"));
    for wanted in ["Send", "Sync"] {
        let not = format!("impl !{wanted} for");
        if automatic.iter().any(|header| header.starts_with(&not)) {
            lines.push(format!("    not {wanted}"));
        }
    }
    Some(lines.join("\n") + "\n")
}

/// The part of a page from an element's name to the next heading of its level.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let start = format!("<div id=\"{id}\">");
    let Some((_, rest)) = page.split_once(&start) else { return "" };
    rest.split_once("<h2 ").map_or(rest, |(inside, _)| inside)
}

/// The declarations in a section, each on one line.
fn headers(section: &str) -> Vec<String> {
    let parts = section.split("class=\"code-header\">").skip(1);
    parts
        .map(|part| text(&part[..header_end(part)]))
        .map(|header| header.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// Where a declaration ends that has begun.
fn header_end(part: &str) -> usize {
    let ends = part.find("</h3>").into_iter().chain(part.find("</h4>"));
    ends.min().unwrap_or(part.len())
}

/// The declaration of the item of a page; the value of a constant is not part of it.
fn declaration(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("<pre class=\"rust item-decl\"><code>")?;
    let (declaration, _) = rest.split_once("</code></pre>")?;
    let constant = declaration.starts_with("pub const ") && !declaration.contains(" fn ");
    let end = declaration.find(" = ").filter(|_| constant);
    Some(&declaration[..end.unwrap_or(declaration.len())])
}

/// Markup as text.
fn text(markup: &str) -> String {
    let mut plain = String::new();
    let mut inside = false;
    for c in markup.replace("<div class=\"where\">", " ").chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            // The mark of a note that rustdoc shows beside some results.
            'ⓘ' => {}
            _ if !inside => plain.push(c),
            _ => {}
        }
    }
    plain
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&nbsp;", " ")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<main><pre class=\"rust item-decl\"><code>pub struct \
        <a href=\"x\">Motion</a> {\n    pub t: Vec&lt;f64&gt;,\n    /* private fields */\n}</code></pre>\
        <div id=\"implementations-list\"><h3 class=\"code-header\">impl Motion</h3>\
        <h4 class=\"code-header\">pub fn at&lt;T&gt;(&amp;self) -&gt; f64<div class=\"where\">where\n    \
        T: Copy,</div></h4></div><h2 id=\"b\"><div id=\"trait-implementations-list\">\
        <h3 class=\"code-header\">impl Debug for Motion</h3><h4 class=\"code-header\">fn fmt(&amp;self)</h4>\
        <h3 class=\"code-header\">impl Clone for Motion</h3></div><h2 id=\"c\">\
        <div id=\"synthetic-implementations-list\"><h3 class=\"code-header\">impl !Sync for Motion</h3>\
        <h3 class=\"code-header\">impl Send for Motion</h3></div>";

    #[test]
    fn a_page_becomes_declaration_methods_and_traits() {
        let item = item("motion/struct.Motion.html", PAGE).expect("an item");
        let expected = "pfaff::motion::Motion\n    pub struct Motion {\n        pub t: Vec<f64>,\n        \
            /* private fields */\n    }\n    impl Motion\n        \
            pub fn at<T>(&self) -> f64 where T: Copy,\n    \
            implements Clone, Debug\n    not Sync\n";
        assert_eq!(item, expected);
        assert_eq!(super::item("index.html", "<main>leads elsewhere</main>"), None);
    }

    #[test]
    fn types_that_cannot_be_named_are_found() {
        let page = "<pre class=\"rust item-decl\"><code>pub enum A {\n    One(Vec&lt;Expr&gt;),\n    Two,\n    \
            Three(<a title=\"struct pfaff_solver::Method\">Method</a>),\n    Four { a: \
            <a title=\"struct pfaff::Model\">Model</a> },\n}</code></pre>";
        assert_eq!(
            not_exported(page).into_iter().collect::<Vec<_>>(),
            ["Expr", "Method", "Vec"]
        );
    }

    #[test]
    fn the_list_of_items_gives_the_pages() {
        let index = "<a href=\"no.html\"><main><a href=\"fn.run.html\">run</a>\
            <a href=\"https://x/y.html\">z</a><a href=\"a/enum.B.html\">B</a>";
        assert_eq!(
            links(index).into_iter().collect::<Vec<_>>(),
            ["a/enum.B.html", "fn.run.html"]
        );
    }
}
