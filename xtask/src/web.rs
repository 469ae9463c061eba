//! `cargo xtask web`: the workbench as a static site in `target/web`.
//!
//! ```text
//! web/src ──esbuild──► crates/web/dist (committed)
//! crates/web ──rustc──► pfaff.wasm.gz, pfaff_whole.wasm.gz
//! ```
//!
//! There are two modules. The first has what a page asks for when it is opened, and most of what comes then; the
//! whole one is loaded with the first question that the other leaves to it, and stands in pages that are saved as one
//! file.
//!
//! The scripts are committed, so that Rust alone builds `pfaff studio`; [`check`] compares them with their sources.
//! The modules need the standard library for WebAssembly, built from its sources so that it is small: those of
//! rustup's component `rust-src`, or of Debian's packages `rustc-web` and `rust-web-src`. Without sources that of
//! rustup's target is taken as it is, and the modules are larger.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::prepare::starts;
use crate::steps::Verdict;

const TARGET: &str = "wasm32-unknown-unknown";
const FILES: [&str; 6] =
    ["index.html", "lessons.html", "lessons.js", "workbench.css", "workbench.js", "worker.js"];

/// The modules of the site: their names, and whether they have everything.
const MODULES: [(&str, bool); 2] = [("pfaff.wasm.gz", false), ("pfaff_whole.wasm.gz", true)];
/// The most bytes that a page may load before its first motion.
const LARGEST: usize = 1_200_000;

/// Builds the scripts and the modules, and puts the site together.
pub(crate) fn build(root: &Path) -> bool {
    let site = cargo::target(root).join("web");
    let dist = root.join("crates/web/dist");
    if !(packages(&root.join("web")) && scripts(root, &dist)) {
        eprintln!("the scripts need Node.js and npm");
        return false;
    }
    let copied = fs::create_dir_all(&site).is_ok()
        && FILES.iter().all(|file| fs::copy(dist.join(file), site.join(file)).is_ok());
    let done = copied && MODULES.iter().all(|(name, whole)| packed(root, &site, name, *whole));
    if done {
        println!("the site is in {}; serve it with any web server", site.display());
    }
    done
}

/// Builds a module and packs it.
fn packed(root: &Path, site: &Path, name: &str, whole: bool) -> bool {
    let Some(module) = module(root, whole) else {
        eprintln!(
            "no module: it does not compile, or there is no standard library for {TARGET}: \
             `rustup component add rust-src`, or Debian's packages rustc-web and rust-web-src, \
             or `rustup target add {TARGET}`"
        );
        return false;
    };
    let Ok(packed) = Command::new("gzip").args(["-9", "-n", "-c"]).arg(&module).output() else {
        eprintln!("gzip does not start");
        return false;
    };
    let size = packed.stdout.len();
    println!("{name}: {} kB", size / 1000);
    if !whole && size > LARGEST {
        eprintln!("{name} has more than {LARGEST} bytes");
        return false;
    }
    packed.status.success() && fs::write(site.join(name), packed.stdout).is_ok()
}

/// The committed scripts are what the sources give, and the sources have no type errors.
pub(crate) fn check(root: &Path) -> Verdict {
    if !starts("node", &["--version"]) || !packages(&root.join("web")) {
        return Verdict::Skip("no Node.js, or its packages cannot be had".to_owned());
    }
    let made = cargo::target(root).join("web-check");
    if fs::create_dir_all(&made).is_err() || !scripts(root, &made) {
        return Verdict::Fail;
    }
    let typed = node(root, &["node_modules/typescript/bin/tsc", "--noEmit"]);
    let same = |file: &&str| {
        let of = |folder: &Path| fs::read(folder.join(file)).ok();
        let is_same = of(&made).is_some() && of(&made) == of(&root.join("crates/web/dist"));
        if !is_same {
            eprintln!("crates/web/dist/{file} is not what web/src gives: `cargo xtask web`");
        }
        is_same
    };
    Verdict::of(typed && FILES.iter().filter(|file| !same(file)).count() == 0)
}

/// The packages of a folder, as its lock file has them.
fn packages(folder: &Path) -> bool {
    if folder.join("node_modules/.package-lock.json").exists() {
        return true;
    }
    let install = ["ci", "--no-audit", "--no-fund", "--silent"];
    Command::new("npm").args(install).current_dir(folder).status().is_ok_and(|s| s.success())
}

fn scripts(root: &Path, to: &Path) -> bool {
    node(root, &["build.mjs", &to.display().to_string()])
}

fn node(root: &Path, arguments: &[&str]) -> bool {
    let status = Command::new("node").args(arguments).current_dir(root.join("web")).status();
    status.is_ok_and(|status| status.success())
}

/// The engine compiles for WebAssembly, where sizes have 32 bits and there is no clock, thread or file.
pub(crate) fn compiles(root: &Path) -> Verdict {
    let Some(Tools { arguments, variables }) = tools(root) else {
        return Verdict::Skip(format!("no standard library for {TARGET}"));
    };
    let check =
        ["check", "--profile", "wasm", "--target", TARGET, "--package", "pfaff-web", "--lib"];
    Verdict::of(cargo::run(root, &[&check[..], arguments].concat(), &variables))
}

/// The engine as a module: with a standard library that is built for size where its sources are to be had.
fn module(root: &Path, whole: bool) -> Option<PathBuf> {
    let Tools { arguments: more, variables } = tools(root)?;
    let mut arguments = vec!["rustc", "--profile", "wasm", "--target", TARGET];
    arguments.extend(["--package", "pfaff-web", "--lib", "--crate-type", "cdylib"]);
    if !whole {
        arguments.push("--no-default-features");
    }
    arguments.extend(more);
    let built = cargo::run(root, &arguments, &variables);
    let module = cargo::target(root).join(TARGET).join("wasm/pfaff_web.wasm");
    (built && module.exists()).then_some(module)
}

/// What `cargo` needs to build for WebAssembly.
struct Tools {
    arguments: &'static [&'static str],
    variables: Vec<(&'static str, OsString)>,
}

/// The sources of the standard library where they are to be had, else the library as it is.
fn tools(root: &Path) -> Option<Tools> {
    let mut flags = "-C link-arg=--export-table -C link-arg=--growable-table".to_owned();
    let mut arguments: &[&str] = &[];
    let mut variables = Vec::new();
    if let Some((compiler, linker)) = sources(root) {
        arguments = &["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];
        // NOTE: a panic ends the worker whatever its message is; the page says so and starts another one.
        flags += " -Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none";
        if let Some(linker) = linker {
            flags += &format!(" -C linker={}", linker.display());
        }
        variables.push(("RUSTC", compiler.into()));
        variables.push(("RUSTC_BOOTSTRAP", "1".into()));
    } else if !has_target(root) {
        return None;
    }
    variables.push(("RUSTFLAGS", flags.into()));
    Some(Tools { arguments, variables })
}

/// A compiler with the sources of its standard library, and the linker that it needs: rustup's, or else Debian's.
fn sources(root: &Path) -> Option<(String, Option<PathBuf>)> {
    let sysroot =
        Command::new("rustc").args(["--print", "sysroot"]).current_dir(root).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    let own = sysroot.join("lib/rustlib/src/rust/library/std");
    if own.exists() {
        return Some((sysroot.join("bin/rustc").display().to_string(), None));
    }
    debian(&sysroot).map(|(compiler, linker)| (compiler.to_owned(), Some(linker)))
}

/// Whether rustup has the target.
fn has_target(root: &Path) -> bool {
    let libraries = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .current_dir(root)
        .output();
    libraries
        .is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Debian's compiler, with the sources of its standard library, and the linker that comes with ours.
fn debian(sysroot: &Path) -> Option<(&'static str, PathBuf)> {
    const COMPILER: &str = "/usr/bin/rustc";
    const SOURCES: &str = "/usr/lib/rustlib/src/rust/library/std";
    if !Path::new(SOURCES).exists() {
        let install =
            ["install", "--yes", "--no-install-recommends", "rustc-web", "rust-web-src"];
        let _ = Command::new("apt-get").arg("update").status();
        let _ = Command::new("apt-get").args(install).status();
    }
    let linkers = fs::read_dir(sysroot.join("lib/rustlib")).ok()?;
    let linker = linkers
        .filter_map(Result::ok)
        // NOTE: not `gcc-ld/wasm-ld`: the compiler tells a linker of its own family which of its flavours to be.
        .map(|entry| entry.path().join("bin/rust-lld"))
        .find(|path| path.exists())?;
    Path::new(SOURCES).exists().then_some((COMPILER, linker))
}
