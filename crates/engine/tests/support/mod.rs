//! What the tests share: texts to models and motions.

pub(crate) mod cases;
pub(crate) mod elliptic;
pub(crate) mod ends;
pub(crate) mod local;
pub(crate) mod matrix;
pub(crate) mod systems;
pub(crate) mod tensors;

use pfaff::{GALLERY, GalleryFiles, GalleryModel, Model, Motion, Overrides, Run, Source};

/// The gallery, with few bodies in its large models.
pub(crate) fn gallery() -> Vec<GalleryModel> {
    let smaller = |entry: &GalleryModel| {
        let sizes: &[(&str, &str)] = match entry.name {
            "elastic_net" => &[("N = 30", "N = 2")],
            "falling_chain" => &[("N = 200", "N = 4")],
            "isokinetic_gas" => &[("n = 300", "n = 4"), ("K = 300", "K = 4")],
            "ring_of_rods" => &[("N = 100", "N = 6")],
            "train" => &[("N = 100", "N = 4")],
            _ => &[],
        };
        let mut text = entry.text.to_owned();
        for (size, other) in sizes {
            assert!(text.contains(size), "{} has `{size}`", entry.name);
            text = text.replace(size, other);
        }
        assert_eq!(sizes.is_empty(), !entry.is_large(), "{}", entry.name);
        GalleryModel { name: entry.name, text: text.leak() }
    };
    // NOTE: motions that jump and switch have tests of their own (`gallery/jumps.rs`).
    GALLERY.iter().filter(|entry| !entry.switches()).map(smaller).collect()
}

/// A model from its text; mistakes are shown.
pub(crate) fn model(text: &str) -> Model {
    model_with(text, "", "")
}

/// A model from its text with other parameters and initial values.
pub(crate) fn model_with(text: &str, set: &str, initial: &str) -> Model {
    let given = |s: &str| (!s.is_empty()).then(|| s.to_owned());
    let overrides = Overrides { set: given(set), initial: given(initial) };
    match Model::read(Source::new("test", text), &overrides, &GalleryFiles) {
        Ok(reading) => reading,
        Err(rejected) => {
            let shown: Vec<String> =
                rejected.diagnostics.iter().map(|d| d.render(&rejected.source)).collect();
            panic!("{}\n{text}", shown.join("\n"));
        }
    }
}

/// A motion of a model; refusals are shown.
pub(crate) fn run(model: &Model, request: &Run) -> Motion {
    match pfaff::run(model, request, &mut |_, _| true) {
        Ok(motion) => motion,
        Err(pfaff::Error::Usage(message)) => panic!("{message}"),
        Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics, .. })) => {
            let shown: Vec<String> =
                diagnostics.iter().map(|d| d.render(&model.source)).collect();
            panic!("{}", shown.join("\n"));
        }
    }
}

/// A clock for what is limited in time.
pub(crate) fn clock() -> pfaff::Clock {
    static BEGIN: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    pfaff::Clock(|| BEGIN.elapsed().as_secs_f64())
}

/// Whether tests take all their cases, as in `cargo xtask all`: `PFAFF_TESTS=full`.
pub(crate) fn full() -> bool {
    std::env::var_os("PFAFF_TESTS").is_some_and(|v| v == "full")
}

/// How many cases a test takes: `some`, or `all` if tests take all their cases.
pub(crate) fn count(some: usize, all: usize) -> usize {
    if full() { all } else { some }
}

/// Numbers that look random and depend on the seed alone.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between −1 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Between −1 and 1 with two decimals, as text.
    pub(crate) fn decimal(&mut self) -> String {
        let hundredths = self.below(199) as i64 - 99;
        format!("({}/100)", if hundredths == 0 { 37 } else { hundredths })
    }
}
