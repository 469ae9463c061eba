//! The pictures of docs/principles.md: motions of one model under different principles, as SVG.
//!
//! `cargo run --release -p pfaff --example principles -- docs/pictures` writes them; the same models give the same files.

use std::fmt::Write;
use std::path::Path;

use pfaff::{Motion, NoFiles, Overrides, Principle, Request, Source, gallery_model, read};

/// One line of a picture.
struct Curve {
    name: &'static str,
    colour: &'static str,
    points: Vec<(f64, f64)>,
}

struct Picture {
    title: &'static str,
    axes: [&'static str; 2],
    /// Whether both axes have the same scale.
    plane: bool,
    curves: Vec<Curve>,
}

const SIZE: (f64, f64) = (640.0, 420.0);
const MARGIN: f64 = 56.0;
const COLOURS: [&str; 4] = ["#1b6ca8", "#c8553d", "#588b4a", "#8a6fa8"];

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "docs/pictures".into());
    for (name, picture) in [
        ("contact.svg", contact()),
        ("parting.svg", parting()),
        ("sleigh.svg", sleigh()),
        ("disk.svg", disk()),
    ] {
        std::fs::write(Path::new(&folder).join(name), picture.to_svg())?;
    }
    Ok(())
}

/// A motion of a gallery model.
fn motion(name: &str, principle: Principle, initial: &str, t1: f64) -> Motion {
    let text = gallery_model(name).expect("in the gallery").text;
    let initial = (!initial.is_empty()).then(|| initial.to_owned());
    let overrides = Overrides { initial, ..Overrides::default() };
    let model = read(Source::new(name, text), &overrides, &NoFiles)
        .expect("gallery models are right")
        .model;
    let request = Request {
        principle: Some(principle),
        t1: Some(t1),
        samples: Some(241),
        tolerance: Some(1e-12),
        ..Request::default()
    };
    pfaff::run(&model, &request, &mut |_, _| true).expect("gallery models run")
}

fn path(motion: &Motion, x: &str, y: &str) -> Vec<(f64, f64)> {
    let find = |n: &str| &motion.q.iter().find(|s| s.name == n).expect("a coordinate").values;
    find(x).iter().copied().zip(find(y).iter().copied()).collect()
}

fn curves(list: Vec<(&'static str, Vec<(f64, f64)>)>) -> Vec<Curve> {
    let coloured = list.into_iter().zip(COLOURS);
    coloured.map(|((name, points), colour)| Curve { name, colour, points }).collect()
}

fn contact() -> Picture {
    let vakonomic = |μ: &str| motion("contact_vakonomic", Principle::Vakonomic, μ, 3.0);
    let chetaev = motion("contact_vakonomic", Principle::Chetaev, "", 3.0);
    Picture {
        title: "Particle with z' = y x' from one initial state",
        axes: ["x", "y"],
        plane: true,
        curves: curves(vec![
            ("chetaev", path(&chetaev, "x", "y")),
            ("vakonomic, mu(0) = 0.5 (transversal)", path(&vakonomic(""), "x", "y")),
            ("vakonomic, mu(0) = 0", path(&vakonomic("multipliers = zero"), "x", "y")),
            ("vakonomic, mu(0) = -0.5", path(&vakonomic("mu(contact) = -0.5"), "x", "y")),
        ]),
    }
}

/// Distance from the Chetaev motion over time, both as powers of ten.
fn parting() -> Picture {
    let chetaev = motion("contact_vakonomic", Principle::Chetaev, "", 3.0);
    let away = |initial: &str| -> Vec<(f64, f64)> {
        let other = motion("contact_vakonomic", Principle::Vakonomic, initial, 3.0);
        (1..chetaev.t.len())
            .map(|i| {
                let square: f64 = chetaev
                    .q
                    .iter()
                    .zip(&other.q)
                    .map(|(a, b)| (a.values[i] - b.values[i]) * (a.values[i] - b.values[i]))
                    .sum();
                (libm::log10(chetaev.t[i]), libm::log10(square.sqrt()))
            })
            .collect()
    };
    Picture {
        title: "Distance from the Chetaev motion",
        axes: ["log10 t", "log10 distance"],
        plane: false,
        curves: curves(vec![
            ("mu(0) = 0.5: like t^2", away("")),
            ("mu(0) = 0: like t^3", away("multipliers = zero")),
        ]),
    }
}

fn sleigh() -> Picture {
    let of = |p: Principle, initial: &str| {
        path(&motion("sleigh_vakonomic", p, initial, 1.3), "x", "y")
    };
    Picture {
        title: "Centred sleigh from one initial state",
        axes: ["x", "y"],
        plane: true,
        curves: curves(vec![
            ("chetaev: a circle", of(Principle::Chetaev, "")),
            ("vakonomic, transversal: a geodesic", of(Principle::Vakonomic, "")),
            ("vakonomic, mu(0) = 0", of(Principle::Vakonomic, "multipliers = zero")),
        ]),
    }
}

fn disk() -> Picture {
    let of = |p: Principle, initial: &str| {
        path(&motion("disk_vakonomic", p, initial, 6.0), "x", "y")
    };
    Picture {
        title: "Rolling disk from one initial state",
        axes: ["x", "y"],
        plane: true,
        curves: curves(vec![
            ("chetaev, and vakonomic with mu = p", of(Principle::Chetaev, "")),
            ("vakonomic, mu(0) = 0", of(Principle::Vakonomic, "multipliers = zero")),
            (
                "vakonomic, mu(0) = (2, 0)",
                of(Principle::Vakonomic, "mu(roll_x) = 2, mu(roll_y) = 0"),
            ),
        ]),
    }
}

impl Picture {
    fn to_svg(&self) -> String {
        let all: Vec<(f64, f64)> = self.curves.iter().flat_map(|c| c.points.clone()).collect();
        let ends = |pick: &dyn Fn(&(f64, f64)) -> f64| {
            let values = all.iter().map(pick);
            values.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)))
        };
        let ((x0, x1), (y0, y1)) = (ends(&|p| p.0), ends(&|p| p.1));
        let (mut sx, mut sy) =
            ((SIZE.0 - 2.0 * MARGIN) / (x1 - x0), (SIZE.1 - 2.0 * MARGIN) / (y1 - y0));
        if self.plane {
            (sx, sy) = (sx.min(sy), sx.min(sy));
        }
        let place =
            |(x, y): (f64, f64)| (MARGIN + (x - x0) * sx, SIZE.1 - MARGIN - (y - y0) * sy);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{MARGIN}\" y=\"24\" font-size=\"15\">{}</text>\n",
            SIZE.0,
            SIZE.1 + 18.0 * self.curves.len() as f64,
            self.title
        );
        self.axes(&mut svg, [(x0, x1), (y0, y1)], &place);
        for (i, curve) in self.curves.iter().enumerate() {
            let points: Vec<String> = curve
                .points
                .iter()
                .map(|&p| place(p))
                .map(|(x, y)| format!("{x:.2},{y:.2}"))
                .collect();
            let _ = writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>",
                curve.colour,
                points.join(" ")
            );
            // The names stand below the picture, where no curve goes.
            let y = SIZE.1 + 4.0 + 18.0 * i as f64;
            let _ = writeln!(
                svg,
                "<text x=\"{MARGIN}\" y=\"{y}\" fill=\"{}\">{}</text>",
                curve.colour, curve.name
            );
        }
        svg + "</svg>\n"
    }

    /// The frame, with the ends of both ranges.
    fn axes(
        &self,
        svg: &mut String,
        [x, y]: [(f64, f64); 2],
        place: &dyn Fn((f64, f64)) -> (f64, f64),
    ) {
        let ((left, bottom), (right, top)) = (place((x.0, y.0)), place((x.1, y.1)));
        let (left, bottom) = (left - 8.0, bottom + 8.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\" fill=\"none\" stroke=\"#888\"/>"
        );
        let mut label = |x: f64, y: f64, anchor: &str, text: &str| {
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#555\">{text}</text>"
            );
        };
        label(left, bottom + 18.0, "middle", &format!("{:.2}", x.0));
        label(right, bottom + 18.0, "middle", &format!("{:.2}", x.1));
        label(left.midpoint(right), bottom + 18.0, "middle", self.axes[0]);
        label(left - 6.0, bottom, "end", &format!("{:.2}", y.0));
        label(left - 6.0, top + 4.0, "end", &format!("{:.2}", y.1));
        label(left, top - 12.0, "start", self.axes[1]);
    }
}
