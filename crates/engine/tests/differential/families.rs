//! Families of models, each as a text and as equations of motion that were derived by hand.

mod further;

use super::formula::{Formula, Reading, from, number, of, sum, times};
use super::terms::{between, decade, term};
use super::truth::{Hand, Rates, Shown};
use super::writer::{Units, Writer};
use crate::support::Random;

/// A model and its truth.
pub(crate) struct Case {
    /// The family, and the kinds of its terms.
    pub(crate) class: String,
    pub(crate) text: String,
    pub(crate) files: Vec<(String, String)>,
    pub(crate) hand: Hand,
    /// The unit of each coordinate, then of each velocity.
    pub(crate) units: Vec<f64>,
    /// The rounding of time at the start, without dimensions.
    pub(crate) ulp: f64,
}

pub(crate) use further::FURTHER;

pub(crate) type Family = fn(&mut Draw<'_>) -> Case;

/// All families with their names.
pub(crate) const FAMILIES: &[(&str, Family)] = &[
    ("line", line),
    ("plane", plane),
    ("throw", throw),
    ("backlash", backlash),
    ("circle", circle),
    ("prescribed", prescribed),
    ("skate", skate),
    ("linear", |draw| contact(draw, "chetaev", false)),
    ("affine", |draw| contact(draw, "chetaev", true)),
    ("vakonomic", |draw| contact(draw, "vakonomic", false)),
    ("vakonomic affine", |draw| contact(draw, "vakonomic", true)),
    ("restricted", |draw| contact(draw, "restricted", false)),
    ("restricted affine", |draw| contact(draw, "restricted", true)),
    ("sphere", sphere),
    ("polar", polar),
    ("cone", cone),
    ("constant speed", constant_speed),
    ("equation", equation),
    ("thermostat", thermostat),
    ("kepler", kepler),
];

/// What is drawn for a case: numbers, units, terms, the span.
pub(crate) struct Draw<'a> {
    pub(crate) random: &'a mut Random,
    units: Units,
    span: f64,
    /// Kinds of terms to choose from, and those that were chosen.
    choice: &'a [&'static str],
    kinds: Vec<&'static str>,
}

impl<'a> Draw<'a> {
    pub(crate) fn new(random: &'a mut Random, choice: &'a [&'static str]) -> Self {
        let units = Units::random(random);
        let span = decade(random, -2.0, 2.3);
        Self { random, units, span, choice, kinds: Vec::new() }
    }

    fn number(&mut self, low: f64, high: f64) -> f64 {
        between(self.random, low, high)
    }

    /// A term of a force.
    fn term(&mut self, x: usize, v: usize) -> Formula {
        let kind = self.choice[self.random.below(self.choice.len())];
        self.kinds.push(kind);
        term(self.random, kind, x, v, self.span)
    }

    fn writer(&self, coordinates: &[(&'static str, bool)]) -> Writer {
        Writer::new(self.units, coordinates)
    }

    fn case(
        &self,
        family: &str,
        mut writer: Writer,
        start: Vec<f64>,
        rates: Rates,
        shown: Shown,
    ) -> Case {
        let span = writer.solve(self.span);
        let units = writer.shown_units();
        let far = self.units.start.abs() + span * self.units.time;
        let ulp = far * f64::EPSILON / self.units.time;
        let mut kinds = self.kinds.clone();
        kinds.sort_unstable();
        kinds.dedup();
        Case {
            class: format!("{family}: {}", kinds.join(", ")),
            text: writer.text,
            files: writer.files,
            hand: Hand { rates, shown, start, span },
            units,
            ulp,
        }
    }
}

/// Coordinates and velocities are the state.
fn as_it_is() -> Shown {
    Box::new(|_, y| y.to_vec())
}

fn given(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().map(|v| Some(*v)).collect()
}

/// One coordinate with a smooth spring and a force that need not be smooth.
fn line(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true)]);
    let names = writer.names().variables;
    let (x, v) = (&names[0], &names[1]);
    let k = draw.number(0.2, 3.0);
    let hard = draw.random.below(2) == 0;
    let spring = if hard { format!("{k:?}*{x}^4/4") } else { format!("{k:?}*{x}^2/2") };
    writer.lagrangian(&format!("{v}^2/2 - {spring}"));
    let force = draw.term(0, 1);
    writer.force(0, &force);
    let start = vec![draw.number(-1.0, 1.0), draw.number(-1.0, 1.0)];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |at, y, dy| {
        dy[0] = y[1];
        let spring = if hard { y[0] * y[0] * y[0] } else { y[0] };
        dy[1] = force.value(at, y) - k * spring;
    });
    draw.case("line", writer, start, rates, as_it_is())
}

/// Two coordinates with a spring between them and a force on each.
fn plane(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true)]);
    let n = writer.names().variables;
    let (m, k) = (draw.number(0.3, 3.0), draw.number(0.2, 2.0));
    writer.lagrangian(&format!(
        "{}^2/2 + {m:?}*{}^2/2 - {}^2/2 - {}^2/2 - {k:?}*({} - {})^2/2",
        n[2], n[3], n[0], n[1], n[0], n[1]
    ));
    let forces = [draw.term(0, 2), draw.term(1, 3)];
    writer.force(0, &forces[0]);
    writer.force(1, &forces[1]);
    let start: Vec<f64> = (0..4).map(|_| draw.number(-1.0, 1.0)).collect();
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |at, y, dy| {
        let pull = k * (y[0] - y[1]);
        dy[0] = y[2];
        dy[1] = y[3];
        dy[2] = forces[0].value(at, y) - y[0] - pull;
        dy[3] = (forces[1].value(at, y) - y[1] + pull) / m;
    });
    draw.case("plane", writer, start, rates, as_it_is())
}

/// A throw with drag, straight up or not, in one to three dimensions.
fn throw(draw: &mut Draw<'_>) -> Case {
    let n = 1 + draw.random.below(3);
    let all = [("x", true), ("y", true), ("z", true)];
    let mut writer = draw.writer(&all[..n]);
    let names = writer.names().variables;
    let (g, c) = (draw.number(0.5, 5.0), decade(draw.random, -2.0, 0.3));
    draw.span = draw.span.min(20.0);
    let squares: Vec<String> = names[n..].iter().map(|v| format!("{v}^2/2")).collect();
    writer.lagrangian(&format!("{} - {g:?}*{}", squares.join(" + "), names[n - 1]));
    let straight = n == 1 || draw.random.below(2) == 0;
    let mut start = vec![0.0; 2 * n];
    start[2 * n - 1] = draw.number(1.0, 5.0);
    if !straight {
        // Slow sideways: the speed is small at the top.
        start[n] = decade(draw.random, -4.0, 0.3);
    }
    let power = draw.random.below(2);
    let velocity = names[n..].join(", ");
    let factor = ["", "M*L/T^2*"][usize::from(writer.text.contains("parameters"))];
    let speed = if power == 0 {
        format!("norm([{velocity}])")
    } else {
        format!(
            "({})^(1/4)",
            names[n..].iter().map(|v| format!("{v}^2")).collect::<Vec<_>>().join(" + ")
        )
    };
    let places: Vec<&str> = all[..n].iter().map(|(name, _)| *name).collect();
    writer.line(&format!(
        "force at [{}]: -{factor}{c:?}*{speed}*[{velocity}]",
        places.join(", ")
    ));
    writer.initial(&given(&start));
    draw.kinds.push(if straight { "straight" } else { "sideways" });
    draw.kinds.push(if power == 0 { "speed" } else { "root of speed" });
    let fall = if straight {
        Formula::Abs(Box::new(of(2 * n - 1)))
    } else {
        Formula::Norm((n..2 * n).map(of).collect())
    };
    let rates: Rates = Box::new(move |at, y, dy| {
        let speed = fall.value(at, y);
        let drag = if power == 0 { speed } else { speed.abs().sqrt() };
        for i in 0..n {
            dy[i] = y[n + i];
            dy[n + i] = -c * drag * y[n + i];
        }
        dy[2 * n - 1] -= g;
    });
    draw.case("throw", writer, start, rates, as_it_is())
}

/// Two masses that meet after some play.
fn backlash(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true)]);
    let n = writer.names().variables;
    writer.lagrangian(&format!("{}^2/2 + {}^2 - {}^2/2", n[2], n[3], n[0]));
    let (k, b) = (decade(draw.random, 0.0, 4.0), draw.number(0.01, 0.5));
    let apart = sum(of(0), times(number(-1.0), of(1)));
    let over = Formula::Largest(Box::new([from(apart.clone(), b), number(0.0)]));
    let under = Formula::Least(Box::new([from(apart, -b), number(0.0)]));
    let push = times(number(k), sum(over, under));
    let drive = draw.term(0, 2);
    writer.force(0, &sum(drive.clone(), times(number(-1.0), push.clone())));
    writer.force(1, &push);
    let start = vec![0.0, draw.number(-0.009, 0.009), draw.number(-1.0, 1.0), 0.0];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |at, y, dy| {
        let drive = drive.value(at, y);
        let push = push.value(at, y);
        dy[0] = y[2];
        dy[1] = y[3];
        dy[2] = drive - push - y[0];
        dy[3] = push / 2.0;
    });
    draw.case("backlash", writer, start, rates, as_it_is())
}

/// A pendulum as a point on a circle: holonomic.
fn circle(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true)]);
    let n = writer.names().variables;
    let g = draw.number(0.2, 2.0);
    writer.lagrangian(&format!("({}^2 + {}^2)/2 - {g:?}*{}", n[2], n[3], n[1]));
    writer.line(&format!("constraint c: {}^2 + {}^2 = 1", n[0], n[1]));
    let force = draw.term(0, 2);
    writer.force(0, &force);
    let start = vec![draw.number(-1.0, 1.0), draw.number(-1.0, 1.0)];
    let shown = |y: &[f64]| {
        let (s, c) = (libm::sin(y[0]), libm::cos(y[0]));
        [s, -c, y[1] * c, y[1] * s]
    };
    writer.initial(&given(&shown(&start)));
    let rates: Rates = Box::new(move |at, y, dy| {
        let point = shown(y);
        dy[0] = y[1];
        dy[1] = -point[1] * force.value(at, &point) - g * point[0];
    });
    draw.case("circle", writer, start, rates, Box::new(move |_, y| shown(y).to_vec()))
}

/// A place prescribed as a function of time, and a spring to it: holonomic, with time.
fn prescribed(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true)]);
    let names = writer.names();
    let n = &names.variables;
    writer.lagrangian(&format!("({}^2 + {}^2)/2 - ({} - {})^2/2", n[2], n[3], n[0], n[1]));
    let (a, w) =
        (draw.number(0.2, 1.0), decade(draw.random, -1.0, 1.0).min(2000.0 / draw.span));
    let linear = draw.random.below(4) == 0;
    let time = &names.time;
    let path =
        if linear { format!("{w:?}*{time}") } else { format!("{a:?}*sin({w:?}*{time})") };
    writer.line(&format!("constraint c: {} = {path}", n[0]));
    let force = draw.term(1, 3);
    writer.force(1, &force);
    let start = vec![draw.number(-1.0, 1.0), draw.number(-1.0, 1.0)];
    writer.initial(&[None, Some(start[0]), None, Some(start[1])]);
    let shown = move |t: f64, y: &[f64]| {
        let (x, v) =
            if linear { (w * t, w) } else { (a * libm::sin(w * t), a * w * libm::cos(w * t)) };
        [x, y[0], v, y[1]]
    };
    let rates: Rates = Box::new(move |at, y, dy| {
        let all = shown(at.time, y);
        dy[0] = y[1];
        dy[1] = force.value(at, &all) + all[0] - all[1];
    });
    draw.case("prescribed", writer, start, rates, Box::new(move |t, y| shown(t, y).to_vec()))
}

/// A knife edge on a slope, the centre of mass at the distance d before it: $\dot x\sin\varphi = \dot y\cos\varphi$,
/// $\dot u = d\omega^2 + F$, $(J + d^2)\dot\omega = M - du\omega$.
fn skate(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true), ("phi", false)]);
    let n = writer.names().variables;
    let (g, j) = (draw.number(-1.0, 1.0), draw.number(0.3, 2.0));
    let d = [0.0, draw.number(0.1, 1.0)][draw.random.below(2)];
    writer.lagrangian(&format!(
        "(({vx} - {d:?}*{w}*sin(phi))^2 + ({vy} + {d:?}*{w}*cos(phi))^2)/2 + {j:?}*{w}^2/2 - ({g:?})*{y} - {x}^2/2",
        vx = n[3], vy = n[4], w = n[5], y = n[1], x = n[0]
    ));
    writer.line(&format!("constraint c: {}*sin(phi) - {}*cos(phi) = 0", n[3], n[4]));
    let (push, turn) = (draw.term(0, 3), draw.term(2, 5));
    writer.force(0, &push);
    writer.force(2, &turn);
    // x, y, φ, speed, φ'
    let start: Vec<f64> = (0..5).map(|_| draw.number(-1.0, 1.0)).collect();
    let shown = |y: &[f64]| {
        let (s, c) = (libm::sin(y[2]), libm::cos(y[2]));
        [y[0], y[1], y[2], y[3] * c, y[3] * s, y[4]]
    };
    writer.initial(&given(&shown(&start)));
    let rates: Rates = Box::new(move |at, y, dy| {
        let all = shown(y);
        dy[..3].copy_from_slice(&all[3..]);
        let (push, turn) = (push.value(at, &all), turn.value(at, &all));
        dy[3] = d * y[4] * y[4] + (push - y[0]) * libm::cos(y[2]) - g * libm::sin(y[2]);
        dy[4] = (turn - d * y[3] * y[4]) / (j + d * d);
    });
    draw.case("skate", writer, start, rates, Box::new(move |_, y| shown(y).to_vec()))
}

/// A spherical pendulum: $\ddot{\mathbf x} = \mathbf F - (\mathbf F\cdot\mathbf x + v^2)\,\mathbf x$.
fn sphere(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true), ("z", true)]);
    let n = writer.names().variables;
    let g = draw.number(0.2, 2.0);
    writer.lagrangian(&format!("({}^2 + {}^2 + {}^2)/2 - {g:?}*{}", n[3], n[4], n[5], n[2]));
    writer.line(&format!("constraint c: {}^2 + {}^2 + {}^2 = 1", n[0], n[1], n[2]));
    let forces = [draw.term(0, 3), draw.term(1, 4)];
    writer.force(0, &forces[0]);
    writer.force(1, &forces[1]);
    let (θ, w, u) = (draw.number(0.3, 1.5), draw.number(-1.0, 1.0), draw.number(-1.0, 1.0));
    let (s, c) = (libm::sin(θ), libm::cos(θ));
    let start = vec![s, 0.0, -c, w * c, u, w * s];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |at, y, dy| {
        let f = [forces[0].value(at, y), forces[1].value(at, y), -g];
        let inward: f64 = (0..3).map(|i| f[i] * y[i] + y[3 + i] * y[3 + i]).sum();
        for i in 0..3 {
            dy[i] = y[3 + i];
            dy[3 + i] = f[i] - inward * y[i];
        }
    });
    draw.case("sphere", writer, start, rates, as_it_is())
}

/// A pendulum on a spring in polar coordinates.
fn polar(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("r", true), ("th", false)]);
    let n = writer.names().variables;
    let (k, g) = (draw.number(2.0, 20.0), draw.number(0.1, 1.0));
    writer.lagrangian(&format!(
        "({}^2 + {r}^2*{}^2)/2 - {k:?}*({r} - 1)^2/2 + {g:?}*{r}*cos(th)",
        n[2],
        n[3],
        r = n[0]
    ));
    let forces = [draw.term(0, 2), draw.term(1, 3)];
    writer.force(0, &forces[0]);
    writer.force(1, &forces[1]);
    let start = vec![
        draw.number(0.8, 1.4),
        draw.number(-1.0, 1.0),
        draw.number(-0.3, 0.3),
        draw.number(-0.5, 0.5),
    ];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |at, y, dy| {
        let (r, θ, u, w) = (y[0], y[1], y[2], y[3]);
        let (f, torque) = (forces[0].value(at, y), forces[1].value(at, y));
        dy[0] = u;
        dy[1] = w;
        dy[2] = r * w * w - k * (r - 1.0) + g * libm::cos(θ) + f;
        dy[3] = (torque / r - 2.0 * u * w - g * libm::sin(θ)) / r;
    });
    draw.case("polar", writer, start, rates, as_it_is())
}

/// $\dot z = a(y, t)\,\dot x + b(t)$ with a = α sin y + β y + γ sin t, under each principle.
///
/// With $F$ the forces, $\mu$ the multiplier of $\mathcal L = L - \mu(\dot z - a\dot x - b)$ and $a' = \partial_y a$:
/// Chetaev $(1 + a^2)\ddot x = F_x - a(\dot a\dot x + \dot b)$, $\ddot y = F_y$; vakonomic, in addition, $-\mu\dot a$
/// on the right of x and $\mu a'\dot x$ on that of y, $\dot\mu = \ddot z$; restricted
/// $(1 + a^2)\ddot x = F_x - 2a\dot a\dot x - \dot ab - a\dot b$, $\ddot y = F_y + a'\dot x\dot z$.
fn contact(draw: &mut Draw<'_>, principle: &'static str, affine: bool) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true), ("z", true)]);
    let names = writer.names();
    let n = &names.variables;
    let (α, β) = (draw.number(-1.0, 1.0), [0.0, 1.0][draw.random.below(2)]);
    let γ = [0.0, draw.number(0.1, 0.5)][draw.random.below(2)];
    let (b, w) =
        if affine { (draw.number(0.1, 0.5), draw.number(0.2, 3.0)) } else { (0.0, 1.0) };
    let time = &names.time;
    let drift = if affine { format!(" + {b:?}*cos({w:?}*{time})") } else { String::new() };
    let turning = if γ == 0.0 { String::new() } else { format!(" + {γ:?}*sin({time})") };
    writer.lagrangian(&format!(
        "({}^2 + {}^2 + {}^2)/2 - {}^2/2 - {}^2/2",
        n[3], n[4], n[5], n[0], n[1]
    ));
    writer.line(&format!(
        "constraint c: {} = (({α:?})*sin({}) + {β:?}*{}{turning})*{}{drift}",
        n[5], n[1], n[1], n[3]
    ));
    if principle != "chetaev" {
        writer.line(&format!("principle {principle}"));
    }
    let forces = [draw.term(0, 3), draw.term(1, 4)];
    writer.force(0, &forces[0]);
    writer.force(1, &forces[1]);
    // x, y, z, x', y', μ
    let mut start: Vec<f64> = (0..6).map(|_| draw.number(-1.0, 1.0)).collect();
    start[2] = 0.0;
    let vakonomic = principle == "vakonomic";
    if vakonomic {
        writer.multiplier(start[5]);
    } else {
        start[5] = 0.0;
    }
    let mut values = given(&start);
    values[5] = None;
    writer.initial(&values);
    let slope = move |t: f64, y: f64| {
        (α * libm::sin(y) + β * y + γ * libm::sin(t), α * libm::cos(y) + β, γ * libm::cos(t))
    };
    let shown = move |t: f64, y: &[f64]| {
        let rise = slope(t, y[1]).0 * y[3] + b * libm::cos(w * t);
        [y[0], y[1], y[2], y[3], y[4], rise]
    };
    let restricted = principle == "restricted";
    let rates: Rates = Box::new(move |at, y, dy| {
        let t = at.time;
        let all = shown(t, y);
        let (a, by_y, by_t) = slope(t, y[1]);
        let (u, v, μ) = (y[3], y[4], y[5]);
        let fx = forces[0].value(at, &all) - y[0];
        let fy = forces[1].value(at, &all) - y[1];
        dy[..3].copy_from_slice(&all[3..]);
        let (da, b, db) = (by_y * v + by_t, b * libm::cos(w * t), -b * w * libm::sin(w * t));
        if restricted {
            dy[3] = (fx - 2.0 * a * da * u - da * b - a * db) / (1.0 + a * a);
            dy[4] = fy + by_y * u * all[5];
            dy[5] = 0.0;
        } else {
            dy[3] = (fx - μ * da - a * (da * u + db)) / (1.0 + a * a);
            dy[4] = fy + μ * by_y * u;
            dy[5] = if vakonomic { a * dy[3] + da * u + db } else { 0.0 };
        }
    });
    let family = match (principle, affine) {
        ("chetaev", false) => "linear".to_owned(),
        ("chetaev", true) => "affine".to_owned(),
        (other, false) => other.to_owned(),
        (other, true) => format!("{other} affine"),
    };
    draw.case(&family, writer, start, rates, Box::new(move |t, y| shown(t, y).to_vec()))
}

/// $\dot z = \sqrt{\dot x^2 + \dot y^2}$, nonlinear (Appell and Hamel): λ = ((F·v)/|v| − F_z)/2. At rest, the tip of
/// the cone, the constraint determines nothing.
fn cone(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true), ("z", true)]);
    let n = writer.names().variables;
    let g = draw.number(-0.5, 0.5);
    writer.lagrangian(&format!(
        "({}^2 + {}^2 + {}^2)/2 - {}^2/2 - ({g:?})*{}",
        n[3], n[4], n[5], n[0], n[2]
    ));
    writer.line(&format!("constraint c: {}^2 = {}^2 + {}^2", n[5], n[3], n[4]));
    let forces = [draw.term(0, 3), draw.term(1, 4)];
    writer.force(0, &forces[0]);
    writer.force(1, &forces[1]);
    let start = vec![
        draw.number(-1.0, 1.0),
        draw.number(-1.0, 1.0),
        0.0,
        draw.number(-1.0, 1.0),
        draw.number(0.5, 1.0),
    ];
    let shown = |y: &[f64]| [y[0], y[1], y[2], y[3], y[4], libm::hypot(y[3], y[4])];
    let speed = Formula::Norm(vec![of(3), of(4)]);
    writer.initial(&given(&shown(&start)));
    let rates: Rates = Box::new(move |at, y, dy| {
        let all = shown(y);
        dy[..3].copy_from_slice(&all[3..]);
        let f = [forces[0].value(at, &all) - y[0], forces[1].value(at, &all)];
        let speed = speed.value(at, &all);
        let speed = if speed < 1e-6 { f64::NAN } else { speed };
        let (ex, ey) = (y[3] / speed, y[4] / speed);
        let λ = 0.5 * (f[0] * ex + f[1] * ey + g);
        dy[3] = f[0] - λ * ex;
        dy[4] = f[1] - λ * ey;
    });
    draw.case("cone", writer, start, rates, Box::new(move |_, y| shown(y).to_vec()))
}

/// $|\dot{\mathbf x}| = 1$: the force along the velocity does nothing.
fn constant_speed(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true)]);
    let n = writer.names().variables;
    writer.lagrangian(&format!("({}^2 + {}^2)/2 - {}^2/2 - {}^2", n[2], n[3], n[0], n[1]));
    writer.line(&format!("constraint c: {}^2 + {}^2 = 1", n[2], n[3]));
    let forces = [draw.term(0, 2), draw.term(1, 3)];
    writer.force(0, &forces[0]);
    writer.force(1, &forces[1]);
    // x, y, direction
    let start: Vec<f64> = (0..3).map(|_| draw.number(-1.0, 1.0)).collect();
    let shown = |y: &[f64]| [y[0], y[1], libm::cos(y[2]), libm::sin(y[2])];
    writer.initial(&given(&shown(&start)));
    let rates: Rates = Box::new(move |at, y, dy| {
        let all = shown(y);
        dy[..2].copy_from_slice(&all[2..]);
        let fx = forces[0].value(at, &all) - y[0];
        let fy = forces[1].value(at, &all) - 2.0 * y[1];
        dy[2] = fy * all[2] - fx * all[3];
    });
    draw.case("constant speed", writer, start, rates, Box::new(move |_, y| shown(y).to_vec()))
}

/// Equations of the first order: q' = −q + f, p' = q − p + g.
fn equation(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("q", false), ("p", false)]);
    let n = writer.names().variables;
    let k = draw.number(-0.5, 2.0);
    // Of q and p: velocities are not part of the state.
    let forces = [draw.term(0, 1), draw.term(1, 0)];
    let texts: Vec<String> = forces.iter().map(|f| writer.write(f)).collect();
    writer.line(&format!("equation {} = {} - {}", n[2], texts[0], n[0]));
    writer.line(&format!("equation {} = {} - ({k:?})*{} + {}", n[3], n[0], n[1], texts[1]));
    let start = vec![draw.number(-1.0, 1.0), draw.number(-1.0, 1.0)];
    writer.initial(&[Some(start[0]), Some(start[1])]);
    let slopes = move |at: &mut Reading<'_>, y: &[f64]| {
        let (f, g) = (forces[0].value(at, y), forces[1].value(at, y));
        [f - y[0], g + y[0] - k * y[1]]
    };
    let rates: Rates = Box::new(move |at, y, dy| dy.copy_from_slice(&slopes(at, y)));
    draw.case("equation", writer, start, rates, as_it_is())
}

/// A relay heater with inertia: h' = (on − h)/τ, q' = p h − q + c sin t.
fn thermostat(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("q", false), ("h", false)]);
    let names = writer.names();
    let n = names.variables;
    let (lag, power) = (draw.number(0.1, 1.0), draw.number(1.5, 4.0));
    let (goal, swing) = (draw.number(0.5, 1.0), draw.number(0.0, 0.3));
    let seen = [of(0), sum(of(0), times(number(0.1), of(1)))][draw.random.below(2)].clone();
    let level = from(seen, goal);
    let on = Formula::If(Box::new([level, number(0.0), number(1.0)]));
    let text = writer.write(&on);
    writer.line(&format!(
        "equation {} = {power:?}*{} - {} + {swing:?}*sin({})",
        n[2], n[1], n[0], names.time
    ));
    writer.line(&format!("equation {} = ({text} - {})/{lag:?}", n[3], n[1]));
    let start = vec![draw.number(-1.0, 1.0), draw.number(0.0, 1.0)];
    writer.initial(&[Some(start[0]), Some(start[1])]);
    let rates: Rates = Box::new(move |at, y, dy| {
        dy[0] = power * y[1] - y[0] + swing * libm::sin(at.time);
        dy[1] = (on.value(at, y) - y[1]) / lag;
    });
    draw.case("thermostat", writer, start, rates, as_it_is())
}

/// An orbit in the field of a centre, from its far end, with a small force.
fn kepler(draw: &mut Draw<'_>) -> Case {
    let mut writer = draw.writer(&[("x", true), ("y", true)]);
    let n = writer.names().variables;
    writer
        .lagrangian(&format!("({}^2 + {}^2)/2 + 1/sqrt({}^2 + {}^2)", n[2], n[3], n[0], n[1]));
    let force = (draw.random.below(2) == 0)
        .then(|| times(number(decade(draw.random, -4.0, -2.0)), draw.term(0, 2)));
    if let Some(force) = &force {
        writer.force(0, force);
    }
    let eccentricity = draw.number(0.0, 0.95);
    let start = vec![1.0, 0.0, 0.0, (1.0 - eccentricity).sqrt()];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |at, y, dy| {
        let r = libm::hypot(y[0], y[1]);
        let pull = 1.0 / (r * r * r);
        dy[0] = y[2];
        dy[1] = y[3];
        dy[2] = -pull * y[0] + force.as_ref().map_or(0.0, |f| f.value(at, y));
        dy[3] = -pull * y[1];
    });
    draw.case("kepler", writer, start, rates, as_it_is())
}
