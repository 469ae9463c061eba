//! Long runs: constraints and energy hold, and no step allocates.

use pfaff::{Run, gallery_model};

use crate::support;

fn gallery(name: &str) -> pfaff::Model {
    support::model(gallery_model(name).expect("a gallery model").text)
}

/// |φ|/(1+Σ|A v|) ≤ 1e-12 at every output after 10⁶ time units of the sleigh, at a loose tolerance too.
#[test]
fn the_sleigh_keeps_its_constraint_for_a_million_time_units() {
    let model = gallery("sleigh");
    for tolerance in [1e-4, 1e-10] {
        let request = Run { t1: Some(1e6), tolerance: Some(tolerance), ..Run::default() };
        let motion = support::run(&model, &request);
        assert_eq!(motion.stop.t, 1e6);
        let [x, y, phi] = [0, 1, 2].map(|k| &motion.v[k].values);
        for i in 0..motion.t.len() {
            let (s, c) = (libm::sin(motion.q[2].values[i]), libm::cos(motion.q[2].values[i]));
            let scale = 1.0 + (y[i] * c).abs() + (x[i] * s).abs();
            assert!((y[i] * c - x[i] * s).abs() <= 1e-12 * scale, "{i} {}", phi[i]);
        }
    }
}

/// The energy of the sleigh is kept to 1e-9 over 10⁴ time units at tolerance 1e-12: of the one that comes to
/// rest in its turning, and of the centred one that turns for ever.
#[test]
fn sleighs_keep_their_energy() {
    for name in ["sleigh", "sleigh_centred"] {
        let request = Run { t1: Some(1e4), tolerance: Some(1e-12), ..Run::default() };
        let motion = support::run(&gallery(name), &request);
        let first = motion.energy[0];
        let worst = motion.energy.iter().fold(0.0_f64, |m, e| m.max((e - first).abs()));
        assert!(worst <= 1e-9, "{name}: {worst}");
    }
}

/// Two runs give equal bits.
#[test]
fn runs_repeat_to_the_last_bit() {
    for name in ["sleigh", "pendulum", "trailers"] {
        let model = gallery(name);
        let bits = || -> Vec<u64> {
            let motion = support::run(&model, &Run::default());
            motion
                .q
                .iter()
                .chain(&motion.v)
                .flat_map(|s| s.values.iter().map(|x| x.to_bits()))
                .collect()
        };
        let again = gallery(name);
        let other = support::run(&again, &Run::default());
        let others: Vec<u64> = other
            .q
            .iter()
            .chain(&other.v)
            .flat_map(|s| s.values.iter().map(|x| x.to_bits()))
            .collect();
        assert_eq!(bits(), others, "{name}");
    }
}
