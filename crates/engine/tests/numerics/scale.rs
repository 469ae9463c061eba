//! Large systems: forms with few entries give the motions of the full ones, and rank is still watched.

use pfaff::{GALLERY, Model, Motion, Note, Principle, Run, Verdict};

use crate::support;

const CHAIN: &str = "parameters N = 40, g = 9.81\ncoordinates th[1..N]\nlet X[0] = 0\nlet Y[0] = 0\n\
    let X[i = 1..N] = X[i-1] + sin(th[i])\nlet Y[i = 1..N] = Y[i-1] - cos(th[i])\n\
    kinetic sum(i = 1..N, (X[i]'^2 + Y[i]'^2)/2)\npotential sum(i = 1..N, g*Y[i])\n\
    initial th[i = 1..N] = 0.5 + 0.1*sin(i), th[i = 1..N]' = 0.3*cos(i)\nsolve t = 0..1, tolerance = 1e-10\n";

fn run(text: &str) -> Motion {
    support::run(&support::model(text), &Run::default())
}

fn worst(a: &Motion, b: &Motion) -> f64 {
    let pairs = a.q.iter().chain(&a.multipliers).zip(b.q.iter().chain(&b.multipliers));
    let values = pairs.flat_map(|(a, b)| a.values.iter().zip(&b.values));
    values.map(|(x, y)| (x - y).abs() / (1.0 + y.abs())).fold(0.0, f64::max)
}

/// The chain by its mass matrix, as a derivation has it, and by auxiliary velocities, as a run takes it; knife edges
/// under a train of bodies; pairs of particles one by one, and as a loop.
#[test]
fn short_forms_give_the_motion_of_the_full_ones() {
    let train = "parameters N = 24\ncoordinates x, y, th[0..N]\nlet X[0] = x\nlet Y[0] = y\n\
        let X[i = 1..N] = X[i-1] - 0.5*cos(th[i])\nlet Y[i = 1..N] = Y[i-1] - 0.5*sin(th[i])\n\
        kinetic sum(i = 0..N, (X[i]'^2 + Y[i]'^2)/2 + th[i]'^2/20)\n\
        constraint edge[i = 0..N]: Y[i]'*cos(th[i]) - X[i]'*sin(th[i]) = 0\n\
        initial th[i = 0..N] = 0.3*sin(0.9*i), x' = 1, th[0]' = 0.5\nsolve t = 0..1, tolerance = 1e-10\n";
    let gas = "parameters N = 24, k = 0.5\ncoordinates x[1..N], y[1..N]\n\
        kinetic sum(i = 1..N, x[i]'^2 + y[i]'^2)/2\n\
        potential sum(i = 1..N, (x[i]^2 + y[i]^2)/2 + sum(j = 1..i-1, k/((x[i] - x[j])^2 + (y[i] - y[j])^2)))\n\
        initial x[i = 1..N] = sqrt(i)*cos(2.4*i), y[i = 1..N] = sqrt(i)*sin(2.4*i)\n\
        solve t = 0..1, tolerance = 1e-10\n";
    for text in [CHAIN, train, gas] {
        let model: Model = support::model(text);
        let short = support::run(&model, &Run::default());
        let derivation = model.derive(Principle::Chetaev).unwrap();
        let full = derivation.run(Run::default()).unwrap();
        assert_eq!(short.audit.verdict, Verdict::Pass, "{:?}", short.audit);
        assert_eq!(full.audit.verdict, Verdict::Pass);
        // Errors of a hundred steps at this tolerance, grown by the motion.
        let off = worst(&short, &full);
        assert!(off < 1e-7, "{off:e}");
        let energy = &short.energy;
        assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-9 * (1.0 + energy[0].abs())));
    }
}

/// A rod that is given twice is found among the rods of a long chain, and named.
#[test]
fn a_doubled_rod_is_named() {
    let text = "parameters N = 60, g = 9.81\ncoordinates X[1..N], Y[1..N]\n\
        kinetic sum(i = 1..N, X[i]'^2 + Y[i]'^2)/2\npotential sum(i = 1..N, g*Y[i])\n\
        constraint r0: X[1]^2 + Y[1]^2 = 1\n\
        constraint r[i = 2..N]: (X[i]-X[i-1])^2 + (Y[i]-Y[i-1])^2 = 1\n\
        constraint again: (X[30]-X[29])^2 + (Y[30]-Y[29])^2 = 1\n\
        initial X[i = 1..N] = 0.6*i, Y[i = 1..N] = -0.8*i\nsolve t = 0..0.1, tolerance = 1e-9, samples = 3\n";
    let motion = run(text);
    let notes = format!("{:?}", motion.notes);
    assert!(notes.contains("Redundant") && notes.contains("again"), "{notes}");
    let single =
        run(&text.replace("constraint again: (X[30]-X[29])^2 + (Y[30]-Y[29])^2 = 1\n", ""));
    let (a, b) = (&motion.q, &single.q);
    for (a, b) in a.iter().zip(b) {
        let off = a.values.iter().zip(&b.values).map(|(x, y)| (x - y).abs());
        assert!(off.fold(0.0, f64::max) < 1e-8, "{}", a.name);
    }
}

/// A ring of rods between two points, stretched straight: the rods on the line depend on each other.
#[test]
fn a_ring_that_is_stretched_straight_is_noticed() {
    let text = "parameters N = 40\ncoordinates X[1..N], Y[1..N]\nkinetic sum(i = 1..N, X[i]'^2 + Y[i]'^2)/2\n\
        constraint r0: X[1]^2 + Y[1]^2 = 1\n\
        constraint r[i = 2..N]: (X[i]-X[i-1])^2 + (Y[i]-Y[i-1])^2 = 1\n\
        constraint closed: (X[N] - N - 1)^2 + Y[N]^2 = 1\n\
        initial X[i = 1..N] = i, Y[i = 1..N] = 0, Y[20]' = 0\nsolve t = 0..1\n";
    let motion = run(text);
    let notes = format!("{:?}", motion.notes);
    assert!(notes.contains("Redundant"), "{notes}");
}

/// A ring whose last joint has coordinates that are held at zero, from rest: what is held has a scale, and the motion
/// is that of the ring without these coordinates.
#[test]
fn a_joint_held_at_zero_has_a_scale() {
    let ring = |last: &str, held: &str, closed: &str| {
        format!(
            "parameters N = 24, m = 0.02, g = 9.81\nlet l = 2*sin(pi/N)\ncoordinates X[1..{last}], Y[1..{last}]\n\
             kinetic m*sum(i = 1..{last}, X[i]'^2 + Y[i]'^2)/2\npotential m*g*sum(i = 1..{last}, Y[i])\n\
             constraint first: X[1]^2 + Y[1]^2 = l^2\n\
             constraint rod[i = 2..N-1]: (X[i] - X[i-1])^2 + (Y[i] - Y[i-1])^2 = l^2\n{closed}{held}\
             initial X[i = 1..N-1] = sin(2*pi*i/N), Y[i = 1..N-1] = cos(2*pi*i/N) - 1\n\
             solve t = 0..0.6, tolerance = 1e-10\n"
        )
    };
    let without = run(&ring("N-1", "", "constraint last: X[N-1]^2 + Y[N-1]^2 = l^2\n"));
    let closed = "constraint last: (X[N] - X[N-1])^2 + (Y[N] - Y[N-1])^2 = l^2\n";
    let held = run(&ring("N", "constraint a: X[N] = 0\nconstraint b: Y[N] = 0\n", closed));
    assert!(!held.stop.reason.is_early(), "{:?} {:?}", held.stop, held.notes);
    assert_eq!(held.audit.verdict, Verdict::Pass, "{:?}", held.audit);
    for column in &without.q {
        let other = held.q.iter().find(|other| other.name == column.name).unwrap();
        for (x, y) in column.values.iter().zip(&other.values) {
            // Both have the tolerance, grown by the fall.
            assert!((x - y).abs() < 1e-6, "{}: {x} {y}", column.name);
        }
    }
}

/// A state with rounded digits near a folded linkage, whose hinge a constraint holds at zero: what is left of it is
/// rounding, and the start is moved.
#[test]
fn a_start_is_moved_where_a_coordinate_is_held_at_zero() {
    let motion = run("coordinates a, b, x, y\n\
        lagrangian (a'^2 + b'^2)/6 + x'^2/2 + y'^2/20\n\
        constraint cx: x = cos(a) + cos(b)\nconstraint cy: y = sin(a) + sin(b)\nconstraint hinge: y = 0\n\
        initial a = 1, b = 1 - pi + 1e-6, x = 0\nsolve t = 0..0.1\n");
    let [a, b] = [0, 1].map(|k| motion.q[k].values[0]);
    assert!(
        (a - 1.0 - 5e-7).abs() < 1e-12 && (a - b - std::f64::consts::PI).abs() < 1e-12,
        "{a} {b}"
    );
}

/// Families are read from the text: a gas of 300 particles is a graph of a few thousand expressions, with the forces of
/// the sum that is written out.
#[test]
fn pairs_are_read_as_a_loop() {
    let text = |n: usize, potential: &str| {
        format!(
            "parameters n = {n}, k = 0.5\ncoordinates x[1..n], y[1..n]\n\
             kinetic sum(i = 1..n, x[i]'^2 + y[i]'^2)/2\n{potential}\
             initial x[i = 1..n] = sqrt(i)*cos(2.4*i), y[i = 1..n] = sqrt(i)*sin(2.4*i)\n\
             solve t = 0..0.2, tolerance = 1e-9\n"
        )
    };
    let pairs = "sum(i = 1..n, (x[i]^2 + y[i]^2)/2 + sum(j = 1..i-1, k/sqrt((x[i] - x[j])^2 + (y[i] - y[j])^2)))\n";
    let model = support::model(&text(300, &format!("potential {pairs}")));
    let kept = model.workspace_with_families();
    assert!(kept.has_families());
    assert!(kept.graph.len() < 20_000, "{}", kept.graph.len());
    assert!(!model.workspace().has_families());
    // Abbreviations are written out while they are read.
    let (loops, terms) = (
        text(30, &format!("potential {pairs}")),
        text(30, &format!("let V = {pairs}potential V\n")),
    );
    let (loops, terms) = (run(&loops), run(&terms));
    assert_eq!(loops.audit.verdict, Verdict::Pass, "{:?}", loops.audit);
    let off = worst(&loops, &terms);
    assert!(off < 1e-9, "another order of the same terms: {off:e}");
}

/// The large models of the gallery: their audits pass, and energy, or temperature, is kept.
#[test]
fn large_gallery_models_are_audited_and_keep_their_energy() {
    for entry in GALLERY.iter().filter(|entry| entry.is_large()) {
        let model = Model::gallery(entry.name).unwrap();
        let motion = support::run(&model, &Run { samples: Some(21), ..Run::default() });
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{}: {:?}", entry.name, motion.audit);
        if entry.name == "isokinetic_gas" {
            let off = motion.observed.iter().find(|o| o.name == "error_temperature").unwrap();
            assert!(off.values.iter().all(|x| x.abs() < 1e-9 * 300.0), "{:?}", off.values);
            continue;
        }
        let scale = motion.energy[0].abs();
        let off =
            motion.energy.iter().map(|e| (e - motion.energy[0]).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9 * scale, "{}: {off:e} of {scale}", entry.name);
    }
}

/// Rods that are given twice in other units share an auxiliary velocity with those that they repeat. It vanishes, and
/// what cancels in it is its size.
#[test]
fn doubled_rods_in_other_units_keep_their_reactions() {
    let chain = "parameters N = 100, g = 9.81\ncoordinates X[1..N], Y[1..N]\n\
        kinetic sum(i = 1..N, X[i]'^2 + Y[i]'^2)/2\npotential sum(i = 1..N, g*Y[i])\n\
        constraint r0: X[1]^2 + Y[1]^2 = 1\n\
        constraint r[i = 2..N]: (X[i]-X[i-1])^2 + (Y[i]-Y[i-1])^2 = 1\n\
        initial X[i = 1..N] = 0.6*i, Y[i = 1..N] = -0.8*i\nsolve t = 0..0.1, tolerance = 1e-9, samples = 3\n";
    let doubled = "constraint twice: (X[40]-X[39])^2 + (Y[40]-Y[39])^2 = 1\n\
        constraint again: 3*(X[20]-X[19])^2 + 3*(Y[20]-Y[19])^2 = 3\n";
    let (plain, more) = (run(chain), run(&format!("{chain}{doubled}")));
    assert_eq!(more.audit.verdict, Verdict::Pass, "{:?}", more.audit);
    let redundant = |note: &Note| matches!(note, Note::Redundant { constraints } if constraints == &["twice", "again"]);
    assert!(more.notes.iter().any(redundant), "{:?}", more.notes);
    for (a, b) in plain.reactions.iter().zip(&more.reactions) {
        for (x, y) in a.values.iter().zip(&b.values) {
            // Reactions of up to 400 from positions with errors of 1e-8.
            assert!((x - y).abs() < 1e-4, "{}: {x} and {y}", a.name);
        }
    }
}

/// Where large terms cancel for the whole run, as at the nodes of a standing wave, a coordinate is rounding: it has no
/// digits that the audit could ask for. The others have those of $q_i = \sin(2\pi i/N)\cos(2t\sin(\pi/N))$.
#[test]
fn nodes_of_standing_waves_are_rounding() {
    let lagrangian = "lagrangian sum(i = 1..N, q[i]'^2)/2 - (q[1] - q[N])^2/2 - sum(i = 2..N, (q[i] - q[i-1])^2)/2";
    let equations = "equation a: q[1]'' = q[2] - 2*q[1] + q[N]\n\
        equation b[i = 2..N-1]: q[i]'' = q[i+1] - 2*q[i] + q[i-1]\n\
        equation c: q[N]'' = q[1] - 2*q[N] + q[N-1]";
    for (dynamics, n) in [lagrangian, equations].into_iter().flat_map(|d| [(d, 10), (d, 30)]) {
        let text = format!(
            "parameters N = {n}\ncoordinates q[1..N]\n{dynamics}\ninitial q[i = 1..N] = sin(2*pi*i/N)\n\
             solve t = 0..2, tolerance = 1e-9\n"
        );
        let motion = run(&text);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{n}: {:?}", motion.audit);
        let angle = std::f64::consts::PI / f64::from(n);
        let late = libm::cos(4.0 * libm::sin(angle));
        for (i, series) in (1..).zip(&motion.q) {
            let wanted = libm::sin(2.0 * angle * f64::from(i)) * late;
            let found = series.values.last().expect("an end");
            assert!(
                (found - wanted).abs() < 1e-8,
                "{n}: {} = {found}, not {wanted}",
                series.name
            );
        }
    }
}
