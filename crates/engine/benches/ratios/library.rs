//! C compiled and loaded: functions of arrays.

use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compiler options of all rivals in C.
const FLAGS: [&str; 8] = [
    "-O3",
    "-march=native",
    "-mprefer-vector-width=512",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-shared",
    "-fPIC",
];

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A loaded library; it stays loaded.
pub(crate) struct Library {
    handle: *mut c_void,
}

/// Compiles a file of `benches/peers`; `None`, with the reason printed, where there is no compiler.
pub(crate) fn compile_c(file: &str, flags: &[&str]) -> Option<Library> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/peers").join(file);
    Library::compiled(&source, &format!("{file}{}", flags.join("")), flags)
}

impl Library {
    /// Compiles a text.
    pub(crate) fn of_text(name: &str, text: &str) -> Option<Self> {
        let source = folder().join(format!("{name}.c"));
        std::fs::write(&source, text).expect("the folder of the benchmarks is writable");
        Self::compiled(&source, name, &[])
    }

    fn compiled(source: &Path, name: &str, flags: &[&str]) -> Option<Self> {
        let output = folder().join(format!("{}.so", name.replace(['.', '-', '='], "_")));
        let status = Command::new("cc")
            .args(FLAGS)
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(&output)
            .arg("-lm")
            .stderr(Stdio::null())
            .status();
        if !status.is_ok_and(|s| s.success()) {
            println!("{name:<34} no C compiler here, or not this C: left out");
            return None;
        }
        let path = CString::new(output.to_string_lossy().as_bytes()).expect("a path without 0");
        // SAFETY: the path ends with 0; 2 binds all names at once. The library has no constructors.
        let handle = unsafe { dlopen(path.as_ptr(), 2) };
        (!handle.is_null()).then_some(Self { handle })
    }

    fn address(&self, name: &str) -> *mut c_void {
        let name = CString::new(name).expect("a name without 0");
        // SAFETY: the library is loaded, and the name ends with 0.
        let address = unsafe { dlsym(self.handle, name.as_ptr()) };
        assert!(!address.is_null(), "the library has this function");
        address
    }

    /// `void name(const double *y, const double *p, double *d)`
    pub(crate) fn function(&self, name: &str) -> impl Fn(&[f64], &[f64], &mut [f64]) + use<> {
        // SAFETY: functions of this kind have this type in all files of the benchmarks.
        let f: unsafe extern "C" fn(*const f64, *const f64, *mut f64) =
            unsafe { std::mem::transmute(self.address(name)) };
        // SAFETY: callers give as many numbers as the function reads and writes.
        move |y, p, d| unsafe { f(y.as_ptr(), p.as_ptr(), d.as_mut_ptr()) }
    }

    /// `void name(const double *p, double *c)`
    pub(crate) fn prepare(&self, name: &str) -> impl Fn(&[f64], &mut [f64]) + use<> {
        // SAFETY: as above.
        let f: unsafe extern "C" fn(*const f64, *mut f64) =
            unsafe { std::mem::transmute(self.address(name)) };
        // SAFETY: as above.
        move |p, c| unsafe { f(p.as_ptr(), c.as_mut_ptr()) }
    }

    /// An integration from 0 to `t1` with one tolerance; gives the number of evaluations.
    pub(crate) fn integration(
        &self,
        name: &str,
    ) -> impl Fn(&mut [f64], &[f64], f64, f64) -> usize + use<> {
        type Run = unsafe extern "C" fn(
            *mut f64,
            *const f64,
            f64,
            f64,
            f64,
            *mut c_long,
            *mut c_long,
        ) -> c_int;
        // SAFETY: functions of this kind have this type in `hand_dop853.c`.
        let f: Run = unsafe { std::mem::transmute(self.address(name)) };
        move |y, p, t1, tolerance| {
            let (mut evaluations, mut rejected) = (0, 0);
            // SAFETY: callers give as many numbers as the function reads and writes.
            unsafe {
                f(
                    y.as_mut_ptr(),
                    p.as_ptr(),
                    t1,
                    tolerance,
                    tolerance,
                    &raw mut evaluations,
                    &raw mut rejected,
                );
            }
            evaluations as usize
        }
    }
}

fn folder() -> PathBuf {
    let path = std::env::temp_dir().join(format!("pfaff_ratios_{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("the folder of the benchmarks is writable");
    path
}

/// Numbers that begin at a line of the cache, as vectors of C want it.
pub(crate) struct Aligned {
    numbers: Vec<f64>,
    start: usize,
    count: usize,
}

impl Aligned {
    /// A copy.
    pub(crate) fn new(given: &[f64]) -> Self {
        let mut numbers = vec![0.0; given.len() + 8];
        let start = numbers.as_ptr().align_offset(64);
        numbers[start..start + given.len()].copy_from_slice(given);
        Self { numbers, start, count: given.len() }
    }

    /// The numbers.
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers[self.start..self.start + self.count]
    }

    /// The numbers, to be changed.
    pub(crate) fn numbers_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.start..self.start + self.count]
    }
}
