//! Animations: every gallery model is drawn, the numbers are those of the motion, nothing is loaded and
//! nothing escapes.

use pfaff::{GALLERY, Model, Motion, Run, gallery_model};
use pfaff_present::report::drawing::{Animation, SCRIPT, STYLE, animation};
use serde_json::Value;

use crate::support;

fn drawn(model: &Model, motion: &Motion) -> (Animation, Value) {
    let animation = animation(model, motion, "a");
    let data = serde_json::from_str(&animation.data.to_string()).expect("the data are JSON");
    (animation, data)
}

fn gallery(name: &str) -> Model {
    support::model(gallery_model(name).expect("it is in the gallery").text)
}

/// A column as the player decodes it.
fn decode(column: &Value, frames: usize) -> Vec<f64> {
    let Some(list) = column.as_array() else {
        return vec![column.as_f64().unwrap_or(f64::NAN); frames];
    };
    let exponent = list[0].as_i64().expect("an exponent") as i32;
    let mut sum = 0;
    let value = |difference: &Value| match difference.as_i64() {
        Some(d) => {
            sum += d;
            sum as f64 * 10_f64.powi(exponent)
        }
        None => f64::NAN,
    };
    list[1..].iter().map(value).collect()
}

/// The columns of the first shape of a kind.
fn shape<'a>(data: &'a Value, kind: &str) -> &'a Value {
    let shapes = data["shapes"].as_array().expect("shapes");
    shapes.iter().find(|s| s["kind"] == kind).unwrap_or_else(|| panic!("{kind} is drawn"))
}

#[test]
fn every_gallery_model_has_a_drawing_that_moves() {
    let mut faults = Vec::new();
    for entry in GALLERY.iter().filter(|m| !m.is_large()) {
        let model = gallery(entry.name);
        let motion = support::run(&model, &Run::default());
        let (animation, data) = drawn(&model, &motion);
        let moving = data["columns"].as_array().expect("columns").iter().any(Value::is_array);
        let missing = |c: &&Value| {
            let values = decode(c, animation.frames);
            // A reaction may be infinite at the start, and only there: up to the second output time there are
            // three frames.
            values.iter().skip(3).any(|x| !x.is_finite())
        };
        let columns = data["columns"].as_array().expect("columns");
        let holes = columns.iter().filter(missing).count();
        if animation.found || !animation.notes.is_empty() || !moving || holes > 0 {
            let Animation { found, notes, .. } = &animation;
            faults.push(format!("{}: {found} {notes:?} {moving} {holes}", entry.name));
        }
        if animation.html.len() > 400_000 || animation.frames < 100 {
            faults.push(format!("{}: {} bytes", entry.name, animation.html.len()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The text without its `draw` statements, which may go on in indented lines.
fn without_drawings(text: &str) -> String {
    let mut drawing = false;
    let kept = text.lines().filter(|line| {
        drawing = line.starts_with("draw ") || (drawing && line.starts_with(' '));
        !drawing
    });
    kept.collect::<Vec<_>>().join("\n")
}

#[test]
fn models_that_say_nothing_get_a_drawing() {
    let kinds = |name: &str| {
        let text = gallery_model(name).expect("it is in the gallery").text;
        let model = support::model(&without_drawings(text));
        let motion = support::run(&model, &Run::default());
        let (animation, data) = drawn(&model, &motion);
        assert!(animation.found && animation.notes.is_empty(), "{name}");
        let shapes = data["shapes"].as_array().expect("shapes").clone();
        let kinds = shapes.iter().map(|s| s["kind"].as_str().expect("a word").to_owned());
        (animation.spatial, kinds.collect::<Vec<_>>().join(" "))
    };
    for (name, spatial, expected) in [
        ("sleigh", false, "trail point wheel"),
        ("contact_particle", true, "trail point"),
        ("double_pendulum", false, "trail line point point"),
        ("drop_2d", false, "ellipsoid"),
        ("bounce_3d", true, "trail ellipsoid"),
        ("slider_crank", false, "trail line point point point"),
        ("duffing_chain", false, "trail point"),
        ("fractional_relaxation", false, "trail point"),
        ("isokinetic", false, "trail point trail point trail point trail point"),
    ] {
        assert_eq!(kinds(name), (spatial, expected.to_owned()), "{name}");
    }
}

/// Frames and trails meet the closed form of the motion between its output times, within the digits that are written.
#[test]
fn numbers_are_those_of_the_motion() {
    let model = gallery("sleigh_centred");
    let request = Run { samples: Some(81), ..Run::default() };
    let motion = support::run(&model, &request);
    let (animation, data) = drawn(&model, &motion);
    // The blade runs on a circle: x = u/w sin(w t), y = u/w (1 - cos(w t)), u = 1, w = 0.5, t = 0..20.
    let exact = |t: f64| [2.0 * libm::sin(0.5 * t), 2.0 * (1.0 - libm::cos(0.5 * t))];
    for (kind, columns) in [("wheel", "columns"), ("trail", "trails")] {
        let at = shape(&data, kind)["at"].as_array().expect("two columns").clone();
        for (k, index) in at.iter().enumerate() {
            let index = index.as_u64().expect("an index") as usize;
            let values = decode(&data[columns][index], animation.frames);
            let n = (values.len() - 1) as f64;
            for (i, x) in values.iter().enumerate() {
                let difference = (x - exact(20.0 * i as f64 / n)[k]).abs();
                // Half a unit of the fifth digit of 4, and the cubic's h^4/384 for h = 0.25.
                assert!(difference < 1e-4, "{kind} {k} {i}: {difference:e}");
            }
        }
    }
    let low = data["bounds"][0][0].as_f64().expect("a number");
    // The circle reaches to -2; its frame cannot be narrower, nor much wider: a blade of 0.6 and a reaction
    // of 0.5 beside it.
    assert!((-3.2..=-2.0).contains(&low), "{low}");
}

#[test]
fn long_runs_stay_small() {
    let model = gallery("trailers");
    let request = Run { samples: Some(10_001), ..Run::default() };
    let motion = support::run(&model, &request);
    assert_eq!(motion.t.len(), 10_001);
    let (animation, _) = drawn(&model, &motion);
    assert!(animation.html.len() < 400_000, "{}", animation.html.len());
    // A surface that moves has very many numbers: frames are left out.
    let model = support::model(
        "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n\
         draw surface [u, v, x*u + v*t] for u = -1..1, v = -1..1 steps 40\nsolve t = 0..10",
    );
    let (animation, _) = drawn(&model, &support::run(&model, &Run::default()));
    assert!((100..200).contains(&animation.frames), "{}", animation.frames);
    assert!(animation.html.len() < 1_200_000, "{}", animation.html.len());
}

#[test]
fn reactions_and_observed_memory_can_be_drawn() {
    let model = support::model(
        "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\nobserve m = mean(x)\n\
         draw point [x, m]\nsolve t = 0..3",
    );
    let (animation, data) = drawn(&model, &support::run(&model, &Run::default()));
    assert!(animation.notes.is_empty());
    let index = shape(&data, "point")["at"][1].as_u64().expect("an index") as usize;
    let values = decode(&data["columns"][index], animation.frames);
    let last = values.last().copied().expect("frames");
    // The mean of cos over 0..3 is sin(3)/3.
    assert!((last - libm::sin(3.0) / 3.0).abs() < 1e-4, "{last}");

    let model = gallery("pendulum");
    let (animation, data) = drawn(&model, &support::run(&model, &Run::default()));
    let index = shape(&data, "arrow")["along"][1].as_u64().expect("an index") as usize;
    let first = decode(&data["columns"][index], animation.frames)[0];
    // Tension at rest at (0.6, -0.8): m g cos = 0.8 g along (-0.6, 0.8), drawn with scale 0.03.
    assert!((first - 0.03 * 9.81 * 0.64).abs() < 1e-4, "{first}");
}

#[test]
fn texts_never_enter_the_page_as_markup() {
    let model = support::model(
        "title \"</script><script>alert(1)</script>\"\ncoordinates x\nlagrangian x'^2/2 - x^2/2\n\
         initial x = 1\ndraw text \"<!--<b>&\" at [x, 0]\n\
         draw point [x, 0] label \"</script><i>\"\nsolve t = 0..1",
    );
    let motion = support::run(&model, &Run::default());
    let html = animation(&model, &motion, "\"><u>").html;
    for bad in ["<script>alert", "</script><i>", "<!--", "<b>", "<u>"] {
        assert!(!html.contains(bad), "{bad}");
    }
    assert_eq!(html.matches("</script>").count(), 1);
    assert!(html.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn the_player_is_small_and_loads_nothing() {
    assert!(SCRIPT.len() <= 30_000, "{}", SCRIPT.len());
    for word in
        ["http", "fetch(", "XMLHttp", "import ", "@import", "url(", "eval(", "innerHTML"]
    {
        assert!(!SCRIPT.contains(word) && !STYLE.contains(word), "{word}");
    }
    assert!(!SCRIPT.contains("</script"));
}

#[test]
fn a_motion_of_one_instant_is_shown_still() {
    let model = gallery("sleigh");
    let mut motion = support::run(&model, &Run::default());
    motion.t.truncate(1);
    let (one, data) = drawn(&model, &motion);
    assert_eq!((one.frames, data["start"].as_f64()), (1, Some(0.0)));
    motion.t.clear();
    assert_eq!(drawn(&model, &motion).0.frames, 0);
}
