//! Velocity constraints from noisy motions: rolling disk, sleigh, snakeboard, and none for a free body.

use pfaff::{DiscoveredRow, Discovery, MeasuredMotions, Model, Run, discover};

use crate::support;

/// Numbers that look random, the same in every run.
struct Noise(u64);

impl Noise {
    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// About normally distributed, of variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Twenty motions from random values of some quantities, with noise in parts of each coordinate's deviation.
fn found(
    text: &str,
    ranges: &[(&str, f64, f64)],
    coordinates: &[&str],
    noise: f64,
    seed: u64,
) -> Discovery {
    let mut random = Noise(seed);
    let mut motions = Vec::new();
    for _ in 0..20 {
        let mut line = String::from("initial ");
        for (k, (name, low, high)) in ranges.iter().enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            line += &format!("{comma}{name} = {}", random.between(*low, *high));
        }
        let model = Model::parse(&format!("{text}\n{line}\n")).expect("a model");
        let motion = support::run(&model, &Run::to(8.0).samples(160).tolerance(1e-9));
        let columns: Vec<Vec<f64>> = coordinates
            .iter()
            .map(|name| {
                let series = motion.q.iter().find(|s| s.name == *name);
                series.expect("a coordinate").values.clone()
            })
            .collect();
        motions.push((motion.t.clone(), columns));
    }
    for i in 0..coordinates.len() {
        let all = || motions.iter().flat_map(|m| &m.1[i]);
        let count = all().count() as f64;
        let mean = all().sum::<f64>() / count;
        let size = (all().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        for (_, columns) in &mut motions {
            columns[i].iter_mut().for_each(|x| *x += noise * size * random.normal());
        }
    }
    let names = coordinates.iter().map(|name| (*name).to_owned()).collect();
    discover(&[MeasuredMotions { coordinates: names, motions }]).expect("data")
}

const SLEIGH: &str = "\
coordinates x, y, phi
lagrangian ((x + 0.2*cos(phi))'^2 + (y + 0.2*sin(phi))'^2)/2 + phi'^2/4
constraint y'*cos(phi) - x'*sin(phi) = 0";

const DISK: &str = "\
coordinates x, y, phi, psi
lagrangian (x'^2 + y'^2)/2 + phi'^2/8 + psi'^2/4 + x/2
constraint x' = 0.7*cos(phi)*psi'
constraint y' = 0.7*sin(phi)*psi'";

const SNAKEBOARD: &str = "\
coordinates x, y, th, phi, psi
let P = [x, y]
let ahead = [cos(th), sin(th)]
let across(u) = [-sin(u), cos(u)]
kinetic 2*dot(P', P') + 0.008*th'^2 + 0.036*(th' + psi')^2 + 0.00065*((th' + phi')^2 + (th' - phi')^2)
potential 0.002*phi^2
constraint dot(across(th + phi), (P + 0.2*ahead)') = 0
constraint dot(across(th - phi), (P - 0.2*ahead)') = 0";

const FREE: &str = "coordinates x, y, phi\nlagrangian (x'^2 + y'^2)/2 + phi'^2/4";

/// A row of two terms, the first with coefficient 1, the second within the noise.
fn is_row(row: &DiscoveredRow, terms: [&str; 2], coefficient: f64) {
    let names: Vec<&str> = row.terms.iter().map(|t| t.term.as_str()).collect();
    assert_eq!(names, terms, "{row:?}");
    assert!((row.terms[1].coefficient - coefficient).abs() < 0.03, "{row:?}");
}

#[test]
fn rows_are_found_with_noise_of_one_percent() {
    for (noise, seed) in [(0.01, 1), (0.01, 2), (0.0, 3)] {
        let sleigh = found(
            SLEIGH,
            &[("x'", -2.0, 2.0), ("phi'", -2.0, 2.0), ("phi", 0.0, 6.0)],
            &["x", "y", "phi"],
            noise,
            seed,
        );
        assert_eq!(sleigh.rows.len(), 1, "noise {noise}, seed {seed}: {:?}", sleigh.rows);
        is_row(&sleigh.rows[0], ["sin(phi)*x'", "cos(phi)*y'"], -1.0);
        assert_eq!(sleigh.is_integrable, Some(false));
        let disk = found(
            DISK,
            &[("phi'", -1.5, 1.5), ("psi'", -3.0, 3.0), ("phi", 0.0, 6.0)],
            &["x", "y", "phi", "psi"],
            noise,
            seed,
        );
        let terms: Vec<Vec<&str>> = disk
            .rows
            .iter()
            .map(|row| row.terms.iter().map(|t| t.term.as_str()).collect())
            .collect();
        let expected = [["x'", "cos(phi)*psi'"], ["y'", "sin(phi)*psi'"]];
        assert_eq!(terms, expected, "noise {noise}, seed {seed}: {:?}", disk.rows);
        for row in &disk.rows {
            let radius = row.terms[1].coefficient;
            assert!((radius + 0.7).abs() < 0.02, "{row:?}");
        }
        assert_eq!(disk.is_integrable, Some(false));
        let board = found(
            SNAKEBOARD,
            &[
                ("x'", -0.6, 0.6),
                ("phi", -0.5, 0.5),
                ("phi'", -0.5, 0.5),
                ("psi'", -2.0, 2.0),
                ("th", 0.0, 6.0),
            ],
            &["x", "y", "th", "phi", "psi"],
            noise,
            seed,
        );
        assert_eq!(board.rows.len(), 2, "noise {noise}, seed {seed}: {:?}", board.rows);
        is_row(&board.rows[0], ["sin(th)*x'", "cos(th)*y'"], -1.0);
        // One of the forms of tan(phi)*v = 0.2*th', up to the first row.
        let second = &board.rows[1];
        let names: Vec<&str> = second.terms.iter().map(|t| t.term.as_str()).collect();
        assert!(names.iter().any(|n| n.ends_with("th'")), "{second:?}");
        assert_eq!(board.is_integrable, Some(false));
    }
}

/// A blade that turns twice as fast as the angle that is measured, as behind a gear.
#[test]
fn double_angles_are_found() {
    let geared = SLEIGH.replace(
        "constraint y'*cos(phi) - x'*sin(phi)",
        "constraint y'*cos(2*phi) - x'*sin(2*phi)",
    );
    let ranges = [("x'", -2.0, 2.0), ("phi'", -1.0, 1.0), ("phi", 0.0, 3.0)];
    let found = found(&geared, &ranges, &["x", "y", "phi"], 0.01, 4);
    assert_eq!(found.rows.len(), 1, "{:?}", found.rows);
    is_row(&found.rows[0], ["sin(2*phi)*x'", "cos(2*phi)*y'"], -1.0);
}

/// A blade on a belt that runs with the velocity 0.4: the row has terms without velocities.
#[test]
fn affine_rows_are_found() {
    let belt = SLEIGH.replace("x'*sin(phi)", "(x' - 0.4)*sin(phi)");
    let ranges = [("x'", -2.0, 2.0), ("phi'", -2.0, 2.0), ("phi", 0.0, 6.0)];
    let found = found(&belt, &ranges, &["x", "y", "phi"], 0.01, 6);
    assert_eq!(found.rows.len(), 1, "{:?}", found.rows);
    let terms: Vec<&str> = found.rows[0].terms.iter().map(|t| t.term.as_str()).collect();
    let all = ["sin(phi)*x'", "cos(phi)*y'", "sin(phi)"];
    assert!(all.iter().all(|t| terms.contains(t)) && terms.len() == 3, "{:?}", found.rows);
    let constant = found.rows[0].terms.iter().find(|t| t.term == "sin(phi)");
    assert!(constant.is_some_and(|t| (t.coefficient.abs() - 0.4).abs() < 0.02));
    assert_eq!(found.is_integrable, Some(false));
    Model::parse(&found.model).expect("the text is a model");
}

#[test]
fn a_free_body_has_none() {
    let moving = [("x'", -2.0, 2.0), ("y'", -2.0, 2.0), ("phi'", -2.0, 2.0)];
    let everywhere = [("x", -2.0, 2.0), ("y", -2.0, 2.0), ("phi", -3.0, 3.0)];
    let apart = [&moving[..], &everywhere].concat();
    for noise in [0.0, 0.01] {
        // From one point, and from everywhere.
        for ranges in [&moving[..], &apart] {
            let free = found(FREE, ranges, &["x", "y", "phi"], noise, 7);
            assert!(free.rows.is_empty(), "noise {noise}: {:?}", free.rows);
            assert_eq!(free.is_integrable, None);
        }
    }
}

#[test]
fn the_model_text_runs_and_a_held_coordinate_is_integrable() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x^2/2\nconstraint y' = 2*x'";
    let ranges = [("x", -1.0, 1.0), ("x'", -1.0, 1.0)];
    let line = found(text, &ranges, &["x", "y"], 0.01, 5);
    assert_eq!(line.rows.len(), 1, "{:?}", line.rows);
    assert_eq!(line.is_integrable, Some(true));
    let model = Model::parse(&line.model).expect("the text is a model");
    let motion = support::run(&model, &Run::default());
    assert_eq!(motion.stop.reason, pfaff::StopReason::End, "{}", line.model);
}

#[test]
fn bad_data_are_refused() {
    let rows = (0..10).map(|k| format!("{k},{k}\n")).collect::<Vec<_>>().concat();
    let refused = |text: &str, names: &[&str], words: &str| {
        let error = MeasuredMotions::read("m.csv", text, names).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("", &["x"], "is empty");
    refused(&format!("x,y\n{rows}"), &["x"], "no column `t`");
    refused(&format!("t,x\n{rows}"), &["y"], "no column `y`");
    refused(&format!("t,x\n{rows}5,NaN\n"), &["x"], "`NaN`");
    refused(&format!("t,x\n{rows}5.5,1\n"), &["x"], "must ascend");
    refused("t,x\n0,1\n1,2\n", &["x"], "8 are needed");
    refused(&format!("t,x\n{rows}"), &["x", "x"], "twice");
    // Where the time goes back to the start, a new motion begins.
    let two =
        MeasuredMotions::read("m.csv", &format!("t,x\n{rows}{rows}"), &["x"]).expect("two");
    assert_eq!(two.motions.len(), 2);
}
