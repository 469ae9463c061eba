//! `geometry` and `lift` at the command line: loops and their holonomy, formulas and tables, and what is refused.

use std::fmt::Write;

use crate::support::{Answer, Folder, json, object, pfaff, pfaff_text};

/// A refusal with these words, in this order.
#[track_caller]
fn refused(answer: &Answer, status: i32, words: &[&str]) {
    assert_eq!(answer.status, status, "{}{}", answer.out, answer.err);
    assert_eq!(answer.out, "", "no result");
    let mut rest = answer.err.as_str();
    for word in words {
        let Some(at) = rest.find(word) else { panic!("`{word}` in\n{}", answer.err) };
        rest = &rest[at + word.len()..];
    }
    assert!(!answer.err.contains("panicked"), "{}", answer.err);
}

const ENGEL: &str = "coordinates x, y, z, w\nlagrangian (x'^2 + y'^2 + z'^2 + w'^2)/2\n\
    constraint y' = z*x'\nconstraint z' = w*x'\ninitial x' = 1, w' = 0.5\nsolve t = 0..1\n";

/// ż = yẋ around the unit circle: ∮ y dx = −π.
#[test]
fn the_holonomy_of_a_circle_is_its_area() {
    let path = "x = cos(t), y = sin(t)";
    let t1 = format!("{}", 2.0 * std::f64::consts::PI);
    let found = json(&[
        "lift",
        "contact_particle",
        "--path",
        path,
        "--t1",
        &t1,
        "--tolerance",
        "1e-12",
        "--json",
    ]);
    let z = found["holonomy"]["z"].as_f64().expect("a number");
    // A hundred steps of tolerance 1e-12.
    assert!((z + std::f64::consts::PI).abs() < 1e-10, "{z}");
    assert_eq!(found["q"]["z"].as_array().map(Vec::len), found["t"].as_array().map(Vec::len));
    // Half a circle does not close.
    let half = json(&["lift", "contact_particle", "--path", path, "--t1", "3", "--json"]);
    assert!(half["holonomy"].is_null(), "{half}");
}

/// The same circle from a table of its points: cubics through points at a distance h = 2π/400 are good to h⁴ = 6e-8.
#[test]
fn a_table_is_lifted_like_its_formula() {
    let t1 = format!("{}", 2.0 * std::f64::consts::PI);
    let path = "x = cos(t), y = sin(t)";
    let table = pfaff(&[
        "lift",
        "contact_particle",
        "--path",
        path,
        "--t1",
        &t1,
        "--samples",
        "401",
        "--format",
        "csv",
    ]);
    assert_eq!(table.out.lines().next(), Some("t,x,y,z,x',y',z'"));
    let mut base = String::new();
    for line in table.out.lines() {
        let columns: Vec<&str> = line.split(',').take(3).collect();
        let _ = writeln!(base, "{}", columns.join(","));
    }
    let folder = Folder::new("lift");
    let file = folder.write("loop.csv", base);
    let found = json(&["lift", "contact_particle", "--path", &file, "--json"]);
    assert_eq!(found["stop"]["t"].as_f64(), t1.parse().ok(), "the table says until when");
    let z = found["holonomy"]["z"].as_f64().expect("a number");
    assert!((z + std::f64::consts::PI).abs() < 1e-6, "{z}");
}

/// Polygons keep their corners, with one row for each of them or with many rows on every side: for ż = yẋ around the
/// unit square ∮ y dx = −1, around a regular hexagon −3√3/2. The sums are exact up to rounding.
#[test]
fn the_holonomy_of_a_polygon_is_its_area() {
    let folder = Folder::new("polygon");
    let h = 0.75_f64.sqrt();
    let hexagon =
        vec![(1.0, 0.0), (0.5, h), (-0.5, h), (-1.0, 0.0), (-0.5, -h), (0.5, -h), (1.0, 0.0)];
    let square = vec![(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
    let area = -3.0 * h;
    for (corners, parts, wanted) in [
        (&square, 1, -1.0),
        (&square, 2, -1.0),
        (&square, 17, -1.0),
        (&hexagon, 1, area),
        (&hexagon, 9, area),
    ] {
        let mut table = String::from("t,x,y\n");
        let mut t = 0.0;
        for (i, side) in corners.windows(2).enumerate() {
            // Sides are run through with different speeds.
            let duration = 0.5 + 0.1 * (i % 4) as f64;
            for k in 0..parts {
                let s = f64::from(k) / f64::from(parts);
                let at = |a: f64, b: f64| a + s * (b - a);
                let (x, y) = (at(side[0].0, side[1].0), at(side[0].1, side[1].1));
                let _ = writeln!(table, "{},{x},{y}", t + s * duration);
            }
            t += duration;
        }
        let (x, y) = corners[corners.len() - 1];
        let _ = writeln!(table, "{t},{x},{y}");
        let file = folder.write("polygon.csv", table);
        let found = json(&[
            "lift",
            "contact_particle",
            "--path",
            &file,
            "--tolerance",
            "1e-13",
            "--json",
        ]);
        let z = found["holonomy"]["z"].as_f64().expect("a number");
        let count = corners.len() - 1;
        assert!((z - wanted).abs() < 1e-12, "{count} corners, {parts} rows each: {z}");
    }
}

/// A base path where ε contains a dependent coordinate: z′ = z·x′ grows like eˣ.
#[test]
fn lifts_need_no_system_of_chaplygin() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint z' = z*x'\ninitial z = 2\n";
    let answer = pfaff_text(
        &[
            "lift",
            "--dependent",
            "z",
            "-",
            "--path",
            "x = t^2, y = 0",
            "--t1",
            "1",
            "--tolerance",
            "1e-12",
            "--json",
        ],
        text,
    );
    let found = object(&answer.out);
    let z = found["q"]["z"].as_array().expect("a list").last().expect("an end").clone();
    // Some fifty steps of tolerance 1e-12 on numbers up to 6.
    assert!((z.as_f64().expect("a number") - 2.0 * std::f64::consts::E).abs() < 1e-9, "{z}");
}

#[test]
fn wrong_paths_are_explained() {
    refused(
        &pfaff(&["lift", "contact_particle", "--path", "x = cos(t)", "--t1", "1"]),
        1,
        &["does not give the base coordinate `y`", "constant"],
    );
    refused(
        &pfaff(&["lift", "contact_particle", "--path", "x = t, y = t, z = t", "--t1", "1"]),
        1,
        &["z"],
    );
    refused(
        &pfaff(&["lift", "contact_particle", "--path", "gone.csv"]),
        1,
        &["gone.csv", "cannot be read"],
    );
    let folder = Folder::new("paths");
    let file = folder.write("short.csv", "t,x\n0,0\n1,1\n2,0\n3,1\n");
    refused(&pfaff(&["lift", "contact_particle", "--path", &file]), 1, &["`y`"]);
}

#[test]
fn geodesics_need_a_system_of_chaplygin() {
    refused(
        &pfaff_text(&["geometry", "-", "--curve", "geodesic", "--dependent", "y,z"], ENGEL),
        1,
        &["not a Chaplygin system", "epsilon[y,x] contains `z`", "--dependent"],
    );
    // Autoparallels need none.
    let answer = pfaff_text(
        &["geometry", "-", "--curve", "autoparallel", "--dependent", "y,z", "--json"],
        ENGEL,
    );
    assert_eq!(answer.status, 0, "{}", answer.err);
    // A metric that contains a dependent coordinate.
    let metric = "coordinates x, y, z\nlagrangian ((1 + z^2)*x'^2 + y'^2 + z'^2)/2\nconstraint z' = y*x'\n\
                  initial x' = 1\nsolve t = 0..1\n";
    refused(
        &pfaff_text(&["geometry", "-", "--curve", "geodesic"], metric),
        1,
        &["not a Chaplygin system", "g[x,x] contains `z`"],
    );
    let drift = metric.replace("(1 + z^2)*", "").replace("y*x'", "y*x' + 1");
    refused(&pfaff_text(&["geometry", "-", "--curve", "autoparallel"], &drift), 1, &["affine"]);
}

#[test]
fn a_rank_that_drops_at_the_point_is_told() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n\
                constraint first: x' = y'\nconstraint second: x' = (1 + z)*y'\n";
    refused(
        &pfaff_text(&["geometry", "-", "--state", "x=1"], text),
        1,
        &["rank 1 instead of 2", "`second`", "singular"],
    );
    let answer = pfaff_text(&["geometry", "-", "--state", "z=0.5"], text);
    assert_eq!(answer.status, 0, "{}", answer.err);
}

#[test]
fn connections_need_constraints_linear_in_the_velocities() {
    refused(
        &pfaff(&["geometry", "appell_hamel", "--curve", "autoparallel"]),
        1,
        &["not linear in the velocities"],
    );
    refused(
        &pfaff(&["lift", "appell_hamel", "--path", "x = t, y = t", "--t1", "1"]),
        1,
        &["not linear in the velocities"],
    );
}

#[test]
fn a_symmetry_that_is_none_is_refused_with_its_rate() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - 3*x\nconstraint z' = y*x'\n\
                symmetry turn: x = -y, y = x\n";
    refused(&pfaff_text(&["geometry", "-"], text), 1, &["`turn` is not a symmetry", "3*y"]);
    let checked = pfaff_text(&["check", "-"], text).out;
    assert!(
        checked.contains("`turn` is not a symmetry") && checked.contains("3*y"),
        "{checked}"
    );
}

#[test]
fn dependent_coordinates_must_be_determined() {
    refused(
        &pfaff(&["geometry", "contact_particle", "--dependent", "q"]),
        2,
        &["`q` is not a coordinate"],
    );
    refused(&pfaff(&["geometry", "contact_particle", "--dependent", "y"]), 1, &["y"]);
    refused(&pfaff(&["geometry", "contact_particle", "--dependent", "y,z"]), 1, &["y"]);
}

/// Momenta under the principle: kept, or with their equation.
#[test]
fn geometry_tells_the_momenta() {
    let found = json(&["geometry", "ball", "--json"]);
    let momenta = found["momenta"].as_array().expect("a list");
    let spin = momenta.iter().find(|m| m["name"] == "spin").expect("the symmetry");
    assert_eq!(spin["conserved"], true, "{spin}");
    let sleigh = "coordinates x, y, th\nlagrangian (x'^2 + y'^2 + th'^2)/2\n\
                  constraint blade: y'*cos(th) = x'*sin(th)\n";
    let answer = pfaff_text(&["geometry", "-"], sleigh);
    let lines: Vec<&str> = answer.out.lines().collect();
    let from = lines.iter().position(|l| l.contains("symmetries")).expect("a part on momenta");
    let rest = lines[from..].join("\n");
    // p along the blade and the spin are kept; forward momentum has a momentum equation.
    assert!(rest.contains("th: th' is conserved"), "{rest}");
    assert!(rest.contains(")' = "), "{rest}");
}
