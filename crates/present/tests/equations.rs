//! Printed equations as snapshots: a change of a formula, a sign or a name shows in review.
//!
//! Snapshots only show that something changed; whether equations are right is tested by numbers elsewhere.
//! `cargo xtask bless` rewrites them; look at the difference before you keep it.

use pfaff::{GalleryFiles, Model, Overrides, Principle, Source, derive, gallery_model};
use pfaff_present::{
    Presentation, ToLatex, ToText, present, present_hamilton, present_reduced,
};

fn model(name: &str) -> Model {
    let text = gallery_model(name).expect("a gallery model").text;
    let source = Source::new(name, text);
    Model::read(source, &Overrides::default(), &GalleryFiles).expect("gallery models are right")
}

/// Text and LaTeX, one after the other.
fn both(presentation: &Presentation) -> String {
    format!("{}\n{}", presentation.to_text(), presentation.to_latex())
}

fn equations(name: &str, principle: Principle) -> String {
    both(&present(&derive(&model(name), Some(principle)).expect("it has equations")))
}

#[test]
fn chetaev() {
    insta::assert_snapshot!(equations("sleigh", Principle::Chetaev));
}

#[test]
fn vakonomic() {
    insta::assert_snapshot!(equations("sleigh", Principle::Vakonomic));
}

#[test]
fn restricted() {
    insta::assert_snapshot!(equations("sleigh", Principle::Restricted));
}

#[test]
fn nonlinear_constraint() {
    insta::assert_snapshot!(equations("appell_hamel", Principle::Chetaev));
}

#[test]
fn holonomic_constraint() {
    insta::assert_snapshot!(equations("pendulum", Principle::Chetaev));
}

#[test]
fn reduced() {
    let derivation = derive(&model("sleigh"), None).expect("it has equations");
    insta::assert_snapshot!(both(&present_reduced(&derivation).expect("it has multipliers")));
}

#[test]
fn hamilton() {
    let derivation = derive(&model("sleigh"), None).expect("it has equations");
    insta::assert_snapshot!(both(&present_hamilton(&derivation, None).expect("it is regular")));
}
