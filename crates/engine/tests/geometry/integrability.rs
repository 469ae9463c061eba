//! The verdict of Frobenius' theorem belongs to a constraint and the distribution, not to the rows that
//! describe it: rows mixed, coordinates and constraints in another order.

use pfaff::{Principle, Workspace};
use pfaff_expr::Expr;
use pfaff_mechanics::{Class, Equations, derive, integrable};

use crate::support::{self, Random};

fn verdicts(text: &str) -> Vec<Option<bool>> {
    let model = support::model(text).workspace();
    let equations = derive(&model, Principle::Chetaev).expect("equations");
    integrable(&model, &equations)
}

/// The same distribution, described otherwise: coordinates in another order, and every row but one replaced
/// by a combination with the others.
fn redescribed(
    model: &Workspace,
    e: &Equations,
    kept: usize,
    random: &mut Random,
) -> (Workspace, Equations) {
    let (mut model, mut e) = (model.clone(), e.clone());
    let g = model.graph.clone();
    let affine = |a: usize| matches!(e.classes[a], Class::Linear | Class::Affine);
    let rows: Vec<usize> = (0..e.classes.len()).filter(|&a| affine(a)).collect();
    let positions = model.positions();
    for &a in rows.iter().filter(|&&a| a != kept) {
        for &b in rows.iter().filter(|&&b| b != a) {
            if random.below(3) == 0 {
                continue;
            }
            // ω_a + c ω_b with 1, q or cos q in c keeps the span: one row changes at a time.
            let q = positions[random.below(positions.len())];
            let c: Expr = [g.one(), q, g.cos(q)][random.below(3)];
            let add = |x: Expr, y: Expr| g.add(x, g.mul(c, y));
            let row = e.jacobian[a].iter().zip(&e.jacobian[b]).map(|(&x, &y)| add(x, y));
            e.jacobian[a] = row.collect();
            e.residual[a] = add(e.residual[a], e.residual[b]);
        }
    }
    for i in (1..positions.len()).rev() {
        let j = random.below(i + 1);
        model.coordinates.swap(i, j);
        e.jacobian.iter_mut().for_each(|row| row.swap(i, j));
    }
    model.graph = g;
    (model, e)
}

#[test]
fn verdicts_do_not_depend_on_the_description() {
    let mut random = Random::new(7);
    let mut compared = 0;
    for entry in support::gallery() {
        let model = support::model(entry.text).workspace();
        let Ok(e) = derive(&model, Principle::Chetaev) else { continue };
        // Mixed rows of more coordinates grow beyond what is decided.
        if model.coordinates.len() > 6 {
            continue;
        }
        let first = integrable(&model, &e);
        for (a, &verdict) in first.iter().enumerate() {
            if !matches!(e.classes[a], Class::Linear | Class::Affine) || verdict.is_none() {
                continue;
            }
            let (other, mixed) = redescribed(&model, &e, a, &mut random);
            let found = integrable(&other, &mixed)[a];
            // To leave it open is allowed where mixed rows are too large.
            assert!(
                found.is_none() || found == verdict,
                "{} {a}: {verdict:?} {found:?}",
                entry.name
            );
            compared += usize::from(found.is_some());
        }
    }
    assert!(compared >= 15, "{compared} verdicts");
}

#[test]
fn every_edge_of_the_snake_is_free() {
    let snake = pfaff::gallery_model("snake").expect("in the gallery");
    for n in 1..=6 {
        let model = support::model_with(snake.text, &format!("N={n}"), "").workspace();
        let e = derive(&model, Principle::Chetaev).expect("equations");
        assert_eq!(integrable(&model, &e), vec![Some(false); n + 1], "N = {n}");
    }
}

/// Rows Σ_b M_ab ω_b with a random matrix of functions that is regular almost everywhere.
fn mixed(forms: &[Vec<String>], random: &mut Random) -> String {
    let names = ["x", "y", "z", "u", "w"];
    let functions = ["1", "x", "cos(y)", "exp(z)", "u*w", "(2 + sin(x*y))"];
    let mut text = format!(
        "coordinates {}\nlagrangian ({})/2\n",
        names.join(", "),
        names.map(|n| format!("{n}'^2")).join(" + ")
    );
    for a in 0..forms.len() {
        let mut row = Vec::new();
        for (b, form) in forms.iter().enumerate() {
            let function = functions[random.below(functions.len())];
            let factor = format!("{}*{function} + {}", random.decimal(), u8::from(a == b) * 3);
            let sum: Vec<String> =
                form.iter().zip(names).map(|(c, n)| format!("({c})*{n}'")).collect();
            row.push(format!("({factor})*({})", sum.join(" + ")));
        }
        text += &format!("constraint c{a}: {} = 0\n", row.join(" + "));
    }
    text
}

/// The differential of a function, by components.
fn differential(of: usize) -> Vec<String> {
    // f = x y + sin z, x² + w cos u, e^x z + y³, atan-free and independent of one another.
    let rows = [
        ["y", "x", "cos(z)", "0", "0"],
        ["2*x", "0", "0", "-w*sin(u)", "cos(u)"],
        ["exp(x)*z", "3*y^2", "exp(x)", "0", "0"],
    ];
    rows[of].map(String::from).to_vec()
}

#[test]
fn planted_integrable_systems_are_found() {
    let mut random = Random::new(3);
    for round in 0..12 {
        let count = 1 + round % 3;
        let forms: Vec<Vec<String>> =
            (0..count).map(|b| differential((b + round) % 3)).collect();
        let text = mixed(&forms, &mut random);
        assert_eq!(verdicts(&text), vec![Some(true); count], "{text}");
    }
}

#[test]
fn planted_systems_that_are_not_integrable_are_found() {
    let mut random = Random::new(5);
    let contact = ["-y", "0", "1", "0", "0"].map(String::from).to_vec();
    for round in 0..12 {
        // dz − y dx with df: every mixture has a part of the first.
        let count = 1 + round % 2;
        let forms: Vec<Vec<String>> =
            [contact.clone(), differential(1)].into_iter().take(count).collect();
        let text = mixed(&forms, &mut random);
        assert_eq!(verdicts(&text), vec![Some(false); count], "{text}");
    }
    // Unmixed, the second one is integrable although its neighbour is not.
    let text = "coordinates x, y, z, u, w\nlagrangian (x'^2 + y'^2 + z'^2 + u'^2 + w'^2)/2\n\
                constraint a: z' = y*x'\nconstraint b: exp(u)*(2*x*x' - w*sin(u)*u' + cos(u)*w') = 0\n";
    assert_eq!(verdicts(text), [Some(false), Some(true)]);
}

/// Rows that repeat one another by an addition theorem count once.
#[test]
fn repeated_rows_are_seen_through_identities() {
    let text = "coordinates x, y, a, b\nlagrangian (x'^2 + y'^2 + a'^2 + b'^2)/2\n\
                constraint one: x'*sin(a - b) = y'\n\
                constraint two: x'*(sin(a)*cos(b) - cos(a)*sin(b)) = y'\n";
    assert_eq!(pfaff::check(&support::model(text)).degrees_of_freedom, 3);
    assert_eq!(verdicts(text), [Some(false), Some(false)]);
}
