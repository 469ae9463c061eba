//! `cargo xtask web`: the workbench as a static site in `target/web`.
//!
//! ```text
//! web/src ──esbuild──► crates/web/dist (committed)      crates/web ──rustc──► pfaff.wasm.gz
//! ```
//!
//! The scripts are committed, so that Rust alone builds `pfaff studio`; [`check`] compares them with their sources.
//! The module needs the standard library for WebAssembly: that of rustup's target, or else Debian's packages
//! `rustc-web` and `rust-web-src`, from which it is built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::prepare::starts;
use crate::steps::Verdict;

const TARGET: &str = "wasm32-unknown-unknown";
const FILES: [&str; 6] =
    ["index.html", "lessons.html", "lessons.js", "workbench.css", "workbench.js", "worker.js"];

/// Builds the scripts and the module, and puts the site together.
pub(crate) fn build(root: &Path) -> bool {
    let site = cargo::target(root).join("web");
    let dist = root.join("crates/web/dist");
    if !(packages(root) && scripts(root, &dist)) {
        eprintln!("the scripts need Node.js and npm");
        return false;
    }
    let Some(module) = module(root) else {
        eprintln!(
            "no standard library for {TARGET}: `rustup target add {TARGET}`, or Debian's packages rustc-web, \
             rust-web-src and lld"
        );
        return false;
    };
    let copied = fs::create_dir_all(&site).is_ok()
        && FILES.iter().all(|file| fs::copy(dist.join(file), site.join(file)).is_ok());
    let packed = Command::new("gzip").args(["-9", "-n", "-c"]).arg(&module).output();
    let written = packed.is_ok_and(|packed| {
        println!("pfaff.wasm.gz: {} kB", packed.stdout.len() / 1000);
        packed.status.success() && fs::write(site.join("pfaff.wasm.gz"), packed.stdout).is_ok()
    });
    if copied && written {
        println!("the site is in {}; serve it with any web server", site.display());
    }
    copied && written
}

/// The committed scripts are what the sources give, and the sources have no type errors.
pub(crate) fn check(root: &Path) -> Verdict {
    if !starts("node", &["--version"]) || !packages(root) {
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

/// The packages of the page, as its lock file has them.
fn packages(root: &Path) -> bool {
    let web = root.join("web");
    if web.join("node_modules/.package-lock.json").exists() {
        return true;
    }
    let install = ["ci", "--no-audit", "--no-fund", "--silent"];
    Command::new("npm").args(install).current_dir(web).status().is_ok_and(|s| s.success())
}

fn scripts(root: &Path, to: &Path) -> bool {
    node(root, &["build.mjs", &to.display().to_string()])
}

fn node(root: &Path, arguments: &[&str]) -> bool {
    let status = Command::new("node").args(arguments).current_dir(root.join("web")).status();
    status.is_ok_and(|status| status.success())
}

/// The engine as a module.
fn module(root: &Path) -> Option<PathBuf> {
    let flags = "-C link-arg=--export-table -C link-arg=--growable-table";
    let mut arguments = vec![
        "rustc",
        "--profile",
        "web",
        "--target",
        TARGET,
        "--package",
        "pfaff-web",
        "--lib",
    ];
    arguments.extend(["--crate-type", "cdylib"]);
    let built = if has_target(root) {
        cargo::run(root, &arguments, &[("RUSTFLAGS", flags.into())])
    } else {
        let (compiler, linker) = debian(root)?;
        arguments.insert(1, "-Zbuild-std=std,panic_abort");
        let flags = format!("{flags} -C linker={}", linker.display());
        cargo::run(
            root,
            &arguments,
            &[
                ("RUSTC", compiler.into()),
                ("RUSTC_BOOTSTRAP", "1".into()),
                ("RUSTFLAGS", flags.into()),
            ],
        )
    };
    let module = cargo::target(root).join(TARGET).join("web/pfaff_web.wasm");
    (built && module.exists()).then_some(module)
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
fn debian(root: &Path) -> Option<(&'static str, PathBuf)> {
    const COMPILER: &str = "/usr/bin/rustc";
    const SOURCES: &str = "/usr/lib/rustlib/src/rust/library/std";
    if !Path::new(SOURCES).exists() {
        let install =
            ["install", "--yes", "--no-install-recommends", "rustc-web", "rust-web-src"];
        let _ = Command::new("apt-get").arg("update").status();
        let _ = Command::new("apt-get").args(install).status();
    }
    let sysroot =
        Command::new("rustc").args(["--print", "sysroot"]).current_dir(root).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    let linkers = fs::read_dir(sysroot.join("lib/rustlib")).ok()?;
    let linker = linkers
        .filter_map(Result::ok)
        // NOTE: not `gcc-ld/wasm-ld`: the compiler tells a linker of its own family which of its flavours to be.
        .map(|entry| entry.path().join("bin/rust-lld"))
        .find(|path| path.exists())?;
    Path::new(SOURCES).exists().then_some((COMPILER, linker))
}
