//! The three examples of Guo, Wang, Chee and Mei 2005 and the first one off its special multiplier, as
//! gallery models with their numbers.

use pfaff::{Motion, Principle, Run, Verdict, gallery_model};

use crate::support;

fn motion(name: &str, principle: Option<Principle>, t: f64) -> Motion {
    let model = support::model(gallery_model(name).expect("in the gallery").text);
    let request =
        Run { principle, at: Some(vec![0.0, t]), tolerance: Some(1e-12), ..Run::default() };
    let motion = support::run(&model, &request);
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{name}: {:?}", motion.audit);
    for error in motion.observed.iter().filter(|o| o.name.starts_with("error")) {
        if motion.principle == Some(Principle::Vakonomic) {
            assert!(error.values[1].abs() < 1e-9, "{name} {}: {:?}", error.name, error.values);
        }
    }
    motion
}

fn ends(motion: &Motion) -> Vec<f64> {
    motion.q.iter().map(|s| s.values[1]).collect()
}

fn assert_ends(
    name: &str,
    principle: Option<Principle>,
    t: f64,
    expected: &[f64],
    digits: f64,
) {
    let found = ends(&motion(name, principle, t));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < digits * (1.0 + b.abs()), "{name}: {found:?} for {expected:?}");
    }
}

/// 16 digits by integration in extended precision; 1e-10 as for all reference motions.
#[test]
fn examples_with_transversal_multipliers_are_geodesics() {
    let contact = [1.063_667_455_463_194_6, 3.881_749_671_003_426, 1.449_872_973_802_174_3];
    assert_ends("contact_vakonomic", None, 3.0, &contact, 1e-10);
    assert_ends("contact_vakonomic", Some(Principle::Restricted), 3.0, &contact, 1e-10);
    let sleigh = [0.706_715_973_844_804_3, 0.473_443_533_302_875_14, 1.039_812_868_326_619_2];
    assert_ends("sleigh_vakonomic", None, 1.0, &sleigh, 1e-10);
    assert_ends("sleigh_vakonomic", Some(Principle::Restricted), 1.0, &sleigh, 1e-10);
    let disk = [4.5, 2.3, 0.937_775_796_654_272_5, 2.822_301_598_493_256];
    for principle in [Principle::Chetaev, Principle::Vakonomic, Principle::Restricted] {
        assert_ends("disk_vakonomic", Some(principle), 3.0, &disk, 1e-10);
    }
}

/// Eight digits are known.
#[test]
fn off_the_special_multiplier_the_motion_is_another_one() {
    assert_ends("contact_vakonomic_off", None, 3.0, &[1.591_567_62, 3.215_331_54], 1e-8);
    let chetaev = ends(&motion("contact_vakonomic_off", Some(Principle::Chetaev), 3.0));
    assert!((chetaev[1] - 2.6).abs() < 1e-10, "y is uniform: {chetaev:?}");
}
