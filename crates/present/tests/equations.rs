//! Printed equations as snapshots: a change of a formula, a sign or a name shows in review.
//!
//! Snapshots only show that something changed; whether equations are right is tested by numbers elsewhere.
//! `cargo xtask bless` rewrites them; look at the difference before you keep it.

use pfaff::{GalleryFiles, Model, Overrides, Principle, Source, derive, gallery_model};
use pfaff_present::{
    Presentation, StandardForm, ToJson, ToLatex, ToText, present, present_hamilton,
    present_reduced, present_standard,
};

/// A symmetric top by Euler's angles: two of them are cyclic.
const TOP: &str = "coordinates th, ph, ps\nparameters I1 = 1, I3 = 2, m = 1, g = 9.81, l = 0.3
lagrangian I1*(th'^2 + sin(th)^2*ph'^2)/2 + I3*(ps' + cos(th)*ph')^2/2 - m*g*l*cos(th)";

fn model(name: &str) -> Model {
    let gallery = || gallery_model(name).expect("a gallery model").text;
    let text = if name == "top" { TOP } else { gallery() };
    let source = Source::new(name, text);
    Model::read(source, &Overrides::default(), &GalleryFiles).expect("the models are right")
}

fn written(text: &str) -> Model {
    let source = Source::new("written", text);
    Model::read(source, &Overrides::default(), &GalleryFiles).expect("the model is right")
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

/// A form of a gallery model.
fn standard(name: &str, form: StandardForm) -> Presentation {
    let derivation = derive(&model(name), None).expect("it has equations");
    present_standard(&derivation, form, None).expect("the form applies")
}

#[test]
fn routhian() {
    insta::assert_snapshot!(both(&standard("top", StandardForm::Routhian)));
}

#[test]
fn gibbs_appell() {
    insta::assert_snapshot!(both(&standard("sleigh", StandardForm::GibbsAppell)));
}

#[test]
fn kane() {
    insta::assert_snapshot!(both(&standard("sleigh", StandardForm::Kane)));
}

#[test]
fn maggi() {
    insta::assert_snapshot!(both(&standard("sleigh", StandardForm::Maggi)));
}

#[test]
fn voronets() {
    insta::assert_snapshot!(both(&standard("disk", StandardForm::Voronets)));
}

#[test]
fn chaplygin() {
    insta::assert_snapshot!(both(&standard("sleigh", StandardForm::Chaplygin)));
}

#[test]
fn boltzmann_hamel() {
    insta::assert_snapshot!(both(&standard("sleigh", StandardForm::BoltzmannHamel)));
}

/// MathML and Typst of one form: other formats have the same walk.
#[test]
fn other_markup() {
    let shown = standard("sleigh", StandardForm::Kane);
    let texts = [shown.to_mathml(), shown.to_typst(), shown.to_typst_document()];
    insta::assert_snapshot!(texts.join("\n"));
    let page = shown.to_mathml_document();
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("<h2>Partial velocities</h2>")
    );
}

#[test]
fn every_form_says_what_its_symbols_are() {
    for (form, _) in StandardForm::ALL {
        let name = if form == StandardForm::Routhian { "top" } else { "sleigh" };
        let shown = standard(name, form);
        let json = shown.to_json();
        let sentence = json["symbols"].as_str().expect("a sentence");
        assert!(shown.to_text().contains(&format!("symbols: {sentence}\n")));
        assert!(shown.to_latex().contains(&format!("% symbols: {sentence}\n")));
        assert!(json["equations"].as_array().is_some_and(|lines| !lines.is_empty()));
    }
}

/// Which assumption fails is said in words.
#[test]
fn forms_that_do_not_apply_are_refused() {
    let why = |name: &str, principle: Option<Principle>, form: StandardForm| {
        let derivation = derive(&model(name), principle).expect("it has equations");
        let refusal = present_standard(&derivation, form, None).expect_err("it does not apply");
        refusal.to_string()
    };
    for (name, principle, form, words) in [
        ("appell_hamel", None, StandardForm::Kane, "`wheel` is not linear"),
        ("sleigh", Some(Principle::Vakonomic), StandardForm::Maggi, "the principle chetaev"),
        ("pendulum", None, StandardForm::Routhian, "no coordinate is cyclic"),
        ("pendulum", None, StandardForm::Chaplygin, "contains the dependent coordinate"),
        ("top", None, StandardForm::Voronets, "there are no constraints"),
    ] {
        let text = why(name, principle, form);
        assert!(text.contains(words), "{name}, {form:?}: {text}");
    }
}

#[test]
fn what_jumps_change_is_conserved_between_them() {
    let ball = "coordinates y
lagrangian y'^2/2 - 9.81*y
event floor: y
";
    let pairs = [
        ("", "Conserved: E"),
        ("on floor: y' = -y'/2", "Conserved between jumps: E"),
        ("contact c: y >= 0, restitution = 0.5", "Conserved while no contact is closed: E"),
        (
            "mode up, down
on floor: mode = down",
            "Conserved while these equations hold: E",
        ),
    ];
    for (statement, sentence) in pairs {
        let model = written(&format!("{ball}{statement}"));
        let text = present(&derive(&model, None).expect("it has equations")).to_text();
        assert!(text.contains(sentence), "{statement}: no {sentence:?} in {text}");
    }
}

/// Without a formula for H the energy stands for it, and nothing is said of constraints that are not there.
#[test]
fn a_hamiltonian_without_a_formula_is_the_energy() {
    let page = |text: &str| {
        let derivation = derive(&written(text), None).expect("it has equations");
        present_hamilton(&derivation, None).expect("it is regular").to_text()
    };
    let text =
        page("coordinates x\nparameters k = 2\nlagrangian x'^2/2 + k*x'*exp(x') - x^2\n");
    assert!(text.contains("H(q, p) has no formula here"), "{text}");
    assert!(text.contains("it is the energy E with the velocities"), "{text}");
    assert!(text.contains("Rates of the momenta p' = dL/dq\n  p[x]' = -2*x\n"), "{text}");
    assert!(text.contains("\n  E = ") && !text.contains("on the constraint"), "{text}");
    let text = page(
        "coordinates r, ph\nparameters m = 1, c = 2, k = 1\n\
                     lagrangian -m*c^2*sqrt(1 - (r'^2 + r^2*ph'^2)/c^2) + k/r\n",
    );
    // The same as c*sqrt(m^2*c^2 + p[r]^2 + p[ph]^2/r^2), whatever the sign of m.
    let hamiltonian = "H = m*c^2*sqrt((r^2*p[r]^2 + p[ph]^2)/(m^2*c^2*r^2) + 1) - k/r\n";
    assert!(text.contains(hamiltonian), "{text}");
}

/// The momentum of a cyclic coordinate has one letter on the whole page, also where the model has `beta`.
#[test]
fn a_routhian_has_one_letter_for_its_momenta() {
    let model =
        written("coordinates x, y\nparameters beta = 2\nlagrangian (x'^2 + y'^2)/2 - beta*x\n");
    let derivation = derive(&model, None).expect("it has equations");
    let shown =
        present_standard(&derivation, StandardForm::Routhian, None).expect("y is cyclic");
    let text = shown.to_text();
    for part in ["p[k] = dL/dq'_k", "Routhian R = L - p*q'", "q' = -dR/dp\n", "p[y]"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains("beta*q'") && !text.contains("beta[k]"), "{text}");
}
