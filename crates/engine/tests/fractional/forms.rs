//! Fractional forms: the table, the classical limit over random polynomials, derivatives by a second road,
//! the printed formulas that fail, and what is refused.

use pfaff::{Model, Principle, Value, Workspace, evaluate, fractional_geometry};
use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::{FractionalForms, Orders, cartan_forms, derive, fractional_forms};
use pfaff_present::{ToJson, ToLatex, ToText, present_fractional_forms};
use serde_json::Value as Json;

use crate::support::cases::Case;
use crate::support::{Random, model};

/// A few powers and gamma functions of numbers of size one.
const HOLDS: f64 = 1e-12;
/// Far beyond any rounding.
const FAILS: f64 = 1e-2;

const OSCILLATOR: &str =
    "coordinates q\nparameters w = 2, a = 0.5, b = 0.5\nlagrangian q'^2/2 - w*q^2/2\n";

/// The forms with values of t, q, p, v, of the second derivatives and of the multipliers.
struct Setting {
    model: Workspace,
    forms: FractionalForms,
    values: Vec<(Expr, f64)>,
}

impl Setting {
    fn new(model: &Model, orders: impl Fn(&Graph) -> Orders) -> Self {
        let model = model.workspace();
        let equations = derive(&model, Principle::Chetaev).expect("derived");
        let forms = fractional_forms(&model, &equations, orders(&model.graph)).expect("a form");
        let values = model.parameters.iter().map(|p| (p.symbol, p.value)).collect::<Vec<_>>();
        Self { model, forms, values }
    }

    /// With values for (t, q, p, v).
    fn at(mut self, point: &[f64]) -> Self {
        let pairs = self.forms.space.coordinates.iter().copied().zip(point.iter().copied());
        self.values.extend(pairs);
        self
    }

    fn value(&self, e: Expr) -> f64 {
        let at = |s: Expr| self.values.iter().find(|v| v.0 == s).map_or(f64::NAN, |v| v.1);
        self.model.graph.evaluate(&[e], &at)[0]
    }

    fn coefficient(&self, place: &[usize]) -> f64 {
        self.value(self.forms.derivative.coefficient(&self.model.graph, place))
    }
}

fn both(order: Expr) -> Orders {
    Orders { alpha: order, beta: order }
}

fn number(formula: &str, t: f64) -> f64 {
    match evaluate(formula, &format!("t={t}"), pfaff::Range { from: Some(0.0), to: None }) {
        Ok(Value::Number(x)) => x,
        other => panic!("{formula}: {other:?}"),
    }
}

fn exact(g: &Graph, x: f64) -> Expr {
    // The tables have at most two decimals.
    g.fraction((x * 100.0).round() as i64, 100)
}

#[test]
fn components_agree_with_the_table() {
    let table: Json = serde_json::from_str(include_str!("../reference/fractional_forms.json"))
        .expect("the table is JSON");
    let cases = table["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 5);
    for case in cases {
        let given = |key: &str| case[key].as_f64().expect("a number");
        let orders = |g: &Graph| Orders {
            alpha: exact(g, given("alpha")),
            beta: exact(g, given("beta")),
        };
        let text = OSCILLATOR.replace("w = 2", &format!("w = {}", given("omega2")));
        let point = [0.4, given("q"), given("p"), given("v")];
        let setting = Setting::new(&model(&text), orders).at(&point);
        let momentum = setting.forms.legendre[0].expect("a momentum");
        let found = [
            ("dt dq", setting.coefficient(&[0, 1])),
            ("dq dp", setting.coefficient(&[1, 2])),
            ("dt dp", setting.coefficient(&[0, 2])),
            // The table has (dv)^α ∧ (dt)^α.
            ("dv dt", -setting.coefficient(&[0, 3])),
            ("momentum", setting.value(momentum)),
        ];
        for (key, value) in found {
            let off = (value - given(key)).abs() / (1.0 + given(key).abs());
            assert!(off < HOLDS, "{} {key}: {value} for {}", case["id"], given(key));
        }
        // p = factor · v^(α−β) D^α L
        let slope = number(&format!("caputo(t^2/2, {})", given("alpha")), given("v"));
        let power = libm::pow(given("v"), given("alpha") - given("beta"));
        let factor = setting.value(momentum) / slope / power;
        assert!((factor - given("factor")).abs() < HOLDS, "{} {factor}", case["id"]);
    }
}

/// A random polynomial in positions, velocities and time, as text.
fn polynomial(random: &mut Random) -> String {
    let letters = ["x", "y", "x'", "y'", "t"];
    let mut text = "x'^2/2 + y'^2/2".to_owned();
    for _ in 0..4 {
        let c = random.below(19) as i64 - 9;
        text += &format!(" + ({c})/10");
        for _ in 0..=random.below(3) {
            let (letter, power) = (letters[random.below(5)], 1 + random.below(3));
            text += &format!("*{letter}^{power}");
        }
    }
    text + " - (x + 2*y)^3/5"
}

fn planar(random: &mut Random) -> Model {
    let l = polynomial(random);
    model(&format!(
        "coordinates x, y\nlagrangian {l}\nconstraint c: y' - x*x' + t = 0\nforce x: -x'*y\n"
    ))
}

/// For α = β = 1 everything is classical, to the letter: d^α is d, C is Chetaev's form, Ê is the operator of
/// Euler and Lagrange.
#[test]
fn order_one_is_classical() {
    let mut random = Random::new(3);
    for _ in 0..8 {
        let setting = Setting::new(&planar(&mut random), |g| both(g.one()));
        let (model, forms) = (&setting.model, &setting.forms);
        let g = &model.graph;
        let equations = derive(model, Principle::Chetaev).expect("derived");
        let classical = cartan_forms(model, &equations).expect("a Lagrangian");
        let d = classical.space.d(g, &classical.poincare_cartan);
        assert!(forms.derivative.minus(g, &d).expect("2-forms").is_zero(g));
        let c = forms.chetaev.minus(g, &classical.chetaev).expect("2-forms");
        assert!(c.is_zero(g));
        let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
            panic!("a Lagrangian")
        };
        for (k, c) in model.coordinates.iter().enumerate() {
            let p = g.derivative(lagrangian, c.velocity);
            let own = g.sub(g.derivative(lagrangian, c.position), g.total_derivative(p));
            let operator = forms.operator[k].expect("it exists");
            assert!(g.is_zero(g.sub(operator, own)), "{}", g.to_text(operator));
        }
    }
}

/// Near order one the components approach the classical ones like 1 − α.
#[test]
fn order_one_is_approached() {
    let mut random = Random::new(5);
    let point = [0.4, 0.8, 1.3, 0.9, 0.7, 1.1, 0.6];
    for _ in 0..4 {
        let text = planar(&mut random);
        let at = |millionths: i64| {
            Setting::new(&text, |g| both(g.fraction(1_000_000 - millionths, 1_000_000)))
                .at(&point)
        };
        let (near, far, limit) = (at(10), at(1000), at(0));
        for place in [[0, 1], [0, 2], [0, 3], [0, 5], [1, 3], [2, 4]] {
            let value = limit.coefficient(&place);
            let off = |s: &Setting| (s.coefficient(&place) - value).abs();
            // 1 − α = 1e-5 and 1e-3, times logarithms and coefficients of size ten.
            assert!(off(&near) < 1e-3 && off(&far) < 0.1, "{place:?} {}", off(&near));
            if off(&far) > 1e-8 {
                let ratio = off(&far) / off(&near);
                assert!((ratio - 100.0).abs() < 15.0, "{place:?} {ratio}");
            }
        }
    }
}

/// Each component is the derivative of `eval` along one variable, the others held fixed.
#[test]
fn components_are_caputo_derivatives() {
    let mut random = Random::new(11);
    let point = [0.4, 0.8, 1.3, 0.9, 0.7, 1.1, 0.6];
    for (n, d, alpha) in [(3, 10, 0.3), (1, 2, 0.5), (4, 5, 0.8)] {
        let l = polynomial(&mut random);
        let text = format!("coordinates x, y\nlagrangian {l}\n");
        let orders = |g: &Graph| Orders { alpha: g.fraction(n, d), beta: g.fraction(7, 5) };
        let setting = Setting::new(&model(&text), orders).at(&point);
        // The names of (t, x, y, p[x], p[y], x', y') in the text.
        let names = ["t", "x", "y", "px", "py", "x'", "y'"];
        let energy = format!("({l}) - px*x'^1.4 - py*y'^1.4");
        let along = |i: usize| {
            let mut formula = energy.clone();
            // Velocities first: their names contain those of positions.
            for j in [5, 6, 3, 4, 1, 2, 0] {
                let image = if j == i { "s".to_owned() } else { format!("({})", point[j]) };
                formula = formula.replace(names[j], &image);
            }
            number(&format!("caputo({}, {alpha})", formula.replace('s', "t")), point[i])
        };
        for i in 1..7 {
            // (dx_i)^α ∧ (dt)^α stands at [t, x_i] with a minus.
            let off = setting.coefficient(&[0, i]) + along(i);
            assert!(off.abs() < 1e-11, "{alpha} {i}: {off}");
        }
    }
}

#[track_caller]
fn differ(right: f64, printed: f64) {
    assert!(right.abs() < HOLDS, "the right formula is off by {right}");
    assert!(printed.abs() > FAILS, "the printed formula is off by {printed} only");
}

/// [TZ06, (104)], for any derivative: with that of Riemann and Liouville the parts of L that do not contain q
/// are not annihilated, and the coefficient of (dt)^α ∧ (dq)^α is another.
#[test]
fn printed_104_needs_caputo() {
    let setting =
        Setting::new(&model(OSCILLATOR), |g| both(g.fraction(1, 2))).at(&[0.4, 0.8, 0.9, 1.3]);
    let printed = |word: &str| {
        let energy = 1.3 * 1.3 / 2.0 - 0.9 * 1.3_f64.sqrt();
        -number(&format!("{word}({energy} - 2*t^2/2, 0.5)"), 0.8)
    };
    let value = setting.coefficient(&[0, 1]);
    differ(value - printed("caputo"), value - printed("rl"));
}

/// [TZ06, (104)] has D_t^α p beside the terms with (dp)^α: on a section p = P(t) those are that term already.
/// At order one the pull-back decides.
#[test]
fn printed_104_counts_twice() {
    let setting = Setting::new(&model(OSCILLATOR), |g| both(g.one()));
    let (g, forms) = (&setting.model.graph, &setting.forms);
    let space = &forms.space;
    let (t, q, v) = (space.coordinates[0], space.coordinates[1], space.coordinates[3]);
    let images = [t, q, g.sin(t), v];
    let section = pfaff_mechanics::Space::new(vec![t, q, v]);
    let pulled =
        |form: &pfaff_mechanics::DifferentialForm| space.pull_back(g, form, &images, &section);
    let truth = section.d(g, &pulled(&forms.poincare_cartan));
    let ours = pulled(&forms.derivative);
    let at = |f: &pfaff_mechanics::DifferentialForm| {
        g.evaluate(&[f.coefficient(g, &[0, 1])], &|_| 0.6)[0]
    };
    // Printed: D_t p = cos t once more.
    let printed = at(&ours) + libm::cos(0.6);
    differ(at(&ours) - at(&truth), printed - at(&truth));
}

/// [TZ06, (107), (110), (113)] with +λ on the right: a motion has Ê L = −λ f_v. At order one with the
/// accelerations of Chetaev's principle.
#[test]
fn printed_110_has_the_sign_of_the_reaction_wrong() {
    let case = Case::new(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x*y\nconstraint f: y' - x*x' = 0\n",
        None,
        "x = 0.4, y = 0.3, x' = 0.8",
    );
    let model = &case.model;
    let g = &model.graph;
    let forms = fractional_forms(model, &case.equations, both(g.one())).expect("a form");
    let base = case.point.symbol(model);
    let value = |s: Expr| {
        let multiplier = model.results.lambda.iter().position(|&l| l == s);
        multiplier.map_or_else(|| base(s), |k| case.multipliers[k])
    };
    let at = |e: Expr| g.evaluate(&[e], &value)[0];
    let operator = at(forms.operator[0].expect("it exists"));
    let right = at(forms.reactions[0]);
    differ(operator - right, operator + right);
}

/// [TZ06, (112), (114)] with Γ(2 − α) for β = α: the momentum that makes the coefficient of (dv)^α ∧ (dt)^α
/// vanish has 1/Γ(1 + α).
#[test]
fn printed_112_has_another_factor() {
    let setting = Setting::new(&model(OSCILLATOR), |g| both(g.fraction(1, 2)));
    let slope = number("caputo(t^2/2, 0.5)", 1.3);
    let residual = |p: f64| {
        let point = [0.4, 0.8, p, 1.3];
        let here = Setting {
            model: setting.model.clone(),
            forms: setting.forms.clone(),
            values: setting.values.clone(),
        };
        here.at(&point).coefficient(&[0, 3])
    };
    let (right, printed) = (slope / libm::tgamma(1.5), slope * libm::tgamma(1.5));
    differ(residual(right), residual(printed));
    // For β = 1 the factor Γ(2 − α) is right, with v^(α−1) beside it.
    let other =
        Setting::new(&model(OSCILLATOR), |g| Orders { alpha: g.fraction(1, 2), beta: g.one() })
            .at(&[0.4, 0.8, 0.9, 1.3]);
    let momentum = other.value(other.forms.legendre[0].expect("a momentum"));
    assert!((momentum - printed * libm::pow(1.3, -0.5)).abs() < HOLDS, "{momentum}");
}

#[test]
fn forms_are_printed_in_words() {
    let oscillator = model(OSCILLATOR);
    let shown =
        present_fractional_forms(&fractional_geometry(&oscillator, "a,1").expect("a form"));
    let text = shown.to_text();
    for line in [
        "fractional forms of order alpha = a, beta = 1",
        "omega[t] = q'^2/2 - q'*p[q] - w*q^2/2",
        "domega[t,q] = w*q^(2 - a)/gamma(3 - a)",
        "domega[q,p[q]] = -p[q]^(1 - a)/gamma(2 - a)",
        "p[q] = gamma(2 - a)*q'/gamma(3 - a)",
        "v[q] = q'^a",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    let latex = shown.to_latex();
    assert!(latex.contains(r"\Gamma(3 - a)") && latex.contains(r"d^\alpha\omega_{t \, v_{q}}"));
    let json: Json = serde_json::from_str(&shown.to_json().to_string()).expect("JSON");
    assert_eq!(json["operator"][0]["index"][0], "q");
    assert!(json["operator"][0]["value"].as_str().expect("text").contains("caputo("));
    // One order stands for both.
    let one =
        present_fractional_forms(&fractional_geometry(&oscillator, "1/2").expect("a form"))
            .to_text();
    assert!(one.contains("beta = 1/2"), "{one}");
}

#[test]
fn what_has_no_fractional_form_is_refused() {
    let refused = |text: &str, orders: &str| match fractional_geometry(&model(text), orders) {
        Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics: list, .. })) => {
            format!("{} {}", list[0].code, list[0].message)
        }
        Err(pfaff::Error::Usage(message)) => message,
        Ok(found) => panic!("{}", present_fractional_forms(&found).to_text()),
    };
    let wave = "coordinates q\nlagrangian q'^2/2 + cos(2*q)\n";
    let text = refused(wave, "0.5");
    assert!(text.contains("E0435") && text.contains("`cos(2*q)`"), "{text}");
    let text = refused("coordinates q\nlagrangian q'^2/q\n", "0.5");
    assert!(text.contains("not a polynomial in `q`"), "{text}");
    let text = refused(OSCILLATOR, "0");
    assert!(text.contains("between 0 and 2"), "{text}");
    let text = refused(OSCILLATOR, "0.5,-1");
    assert!(text.contains("must be positive"), "{text}");
    let text = refused(OSCILLATOR, "1.5,0.5");
    assert!(text.contains("no derivative of order 1.5"), "{text}");
    let text = refused(OSCILLATOR, "q,1");
    assert!(text.contains("`q` is not a number"), "{text}");
    let text = refused(OSCILLATOR, "0.5,1,2");
    assert!(text.contains("two orders"), "{text}");
    let text = refused(OSCILLATOR, "gone");
    assert!(text.contains("`gone`"), "{text}");
    let text = refused("coordinates q\nequation q'' = -q\n", "0.5");
    assert!(text.contains("no Lagrangian"), "{text}");
}
