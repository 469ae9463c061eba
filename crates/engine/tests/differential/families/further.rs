//! Families that came later: motions that make changes grow without end, and contacts that lose nothing.
//!
//! They have numbers of their own, so that a seed still means what it meant for the others. A contact without loss
//! needs no jumps: beyond the wall the motion goes on as its mirror image, $y = |Y|$ with
//! $\ddot Y = \operatorname{sign}(Y)\,F(|Y|, \operatorname{sign}(Y)\,\dot Y, t)$.

use super::super::formula::{Formula, from, of};
use super::super::terms::decade;
use super::super::truth::Rates;
use super::{Case, Draw, Family, as_it_is, given};

/// All of them with their names.
pub(crate) const FURTHER: &[(&str, Family)] = &[
    ("driven pendulum", driven_pendulum),
    ("double pendulum", double_pendulum),
    ("two wells", two_wells),
    ("galaxy", galaxy),
    ("floor", floor),
    ("wall", wall),
];

/// Spans in which changes may grow.
fn long(draw: &mut Draw<'_>, low: f64, high: f64) {
    draw.span = decade(draw.random, low, high);
}

/// $\ddot\alpha = -\sin\alpha - b\dot\alpha + A\cos\omega t$, with a term more in every other one.
fn driven_pendulum(draw: &mut Draw<'_>) -> Case {
    long(draw, 0.5, 2.3);
    let mut writer = draw.writer(&[("a", false)]);
    let names = writer.names();
    writer.lagrangian(&format!("{}^2/2 + cos(a)", names.variables[1]));
    let (push, w, b) = (draw.number(0.3, 1.6), draw.number(0.4, 1.2), draw.number(0.0, 0.3));
    let term = (draw.random.below(2) == 0).then(|| draw.term(0, 1));
    let drive = Formula::Sin(Box::new(super::times(super::number(w), Formula::Time)));
    let drive = super::sum(
        super::times(super::number(push), drive),
        super::times(super::number(-b), of(1)),
    );
    let force = match term {
        Some(term) => super::sum(drive, super::times(super::number(0.1), term)),
        None => drive,
    };
    writer.force(0, &force);
    let start = vec![draw.number(-2.0, 2.0), draw.number(-1.0, 1.0)];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |at, y, dy| {
        dy[0] = y[1];
        dy[1] = force.value(at, y) - libm::sin(y[0]);
    });
    draw.case("driven pendulum", writer, start, rates, as_it_is())
}

/// Two equal points one below the other:
/// $2\ddot p + \ddot q\cos\delta + \dot q^2\sin\delta + 2\sin p = 0$,
/// $\ddot q + \ddot p\cos\delta - \dot p^2\sin\delta + \sin q = 0$, $\delta = p - q$.
fn double_pendulum(draw: &mut Draw<'_>) -> Case {
    long(draw, 0.0, 1.6);
    let mut writer = draw.writer(&[("p", false), ("q", false)]);
    let n = writer.names().variables;
    writer.lagrangian(&format!(
        "{u}^2 + {v}^2/2 + {u}*{v}*cos(p - q) + 2*cos(p) + cos(q)",
        u = n[2],
        v = n[3]
    ));
    let start = vec![
        draw.number(-3.0, 3.0),
        draw.number(-3.0, 3.0),
        draw.number(-1.0, 1.0),
        draw.number(-1.0, 1.0),
    ];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |_, y, dy| {
        let (p, q, u, v) = (y[0], y[1], y[2], y[3]);
        let (s, c) = (libm::sin(p - q), libm::cos(p - q));
        let (f, g) = (-v * v * s - 2.0 * libm::sin(p), u * u * s - libm::sin(q));
        let d = 2.0 - c * c;
        dy.copy_from_slice(&[u, v, (f - c * g) / d, (2.0 * g - c * f) / d]);
    });
    draw.case("double pendulum", writer, start, rates, as_it_is())
}

/// Duffing's oscillator with two wells: $\ddot x = x - x^3 - b\dot x + A\sin\omega t$.
fn two_wells(draw: &mut Draw<'_>) -> Case {
    long(draw, 0.5, 2.3);
    let mut writer = draw.writer(&[("x", true)]);
    let n = writer.names().variables;
    writer.lagrangian(&format!("{v}^2/2 + {x}^2/2 - {x}^4/4", x = n[0], v = n[1]));
    let (push, w, b) = (draw.number(0.2, 0.5), draw.number(0.5, 1.5), draw.number(0.0, 0.3));
    let drive = Formula::Sin(Box::new(super::times(super::number(w), Formula::Time)));
    let force = super::sum(
        super::times(super::number(push), drive),
        super::times(super::number(-b), of(1)),
    );
    writer.force(0, &force);
    let start = vec![draw.number(-1.5, 1.5), draw.number(-1.0, 1.0)];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |at, y, dy| {
        dy[0] = y[1];
        dy[1] = force.value(at, y) + y[0] - y[0] * y[0] * y[0];
    });
    draw.case("two wells", writer, start, rates, as_it_is())
}

/// Hénon and Heiles (1964), below the energy at which it escapes.
fn galaxy(draw: &mut Draw<'_>) -> Case {
    long(draw, 0.5, 2.3);
    let mut writer = draw.writer(&[("x", true), ("y", true)]);
    let n = writer.names().variables;
    writer.lagrangian(&format!(
        "({u}^2 + {v}^2)/2 - ({x}^2 + {y}^2)/2 - {x}^2*{y} + {y}^3/3",
        x = n[0],
        y = n[1],
        u = n[2],
        v = n[3]
    ));
    let mut start = || draw.number(-0.27, 0.27);
    let start = vec![start(), start(), start(), start()];
    writer.initial(&given(&start));
    let rates: Rates = Box::new(move |_, y, dy| {
        dy[0] = y[2];
        dy[1] = y[3];
        dy[2] = -y[0] - 2.0 * y[0] * y[1];
        dy[3] = -y[1] - y[0] * y[0] + y[1] * y[1];
    });
    draw.case("galaxy", writer, start, rates, as_it_is())
}

/// A ball on a floor, with a force.
fn floor(draw: &mut Draw<'_>) -> Case {
    long(draw, -1.0, 1.7);
    let mut writer = draw.writer(&[("y", true)]);
    let n = writer.names().variables;
    let g = draw.number(0.5, 5.0);
    writer.lagrangian(&format!("{}^2/2 - {g:?}*{}", n[1], n[0]));
    let force = super::times(super::number(0.3), draw.term(0, 1));
    writer.force(0, &force);
    writer.line("contact floor: y >= 0, restitution = 1");
    let start = vec![draw.number(0.1, 1.5), draw.number(-1.0, 1.0)];
    writer.initial(&given(&start));
    mirrored(draw, "floor", writer, start, Box::new(move |at, all| force.value(at, all) - g))
}

/// A spring that pulls a point against a wall at the place c.
fn wall(draw: &mut Draw<'_>) -> Case {
    long(draw, -1.0, 1.7);
    let mut writer = draw.writer(&[("y", true)]);
    let n = writer.names().variables;
    let c = draw.number(-0.6, 0.6);
    writer.lagrangian(&format!("{}^2/2 - ({} - ({c:?}))^2/2", n[1], n[0]));
    let force = super::times(super::number(0.3), draw.term(0, 1));
    writer.force(0, &force);
    writer.line(&format!("contact wall: {} >= 0, restitution = 1", n[0]));
    let start = vec![draw.number(0.5, 1.5), draw.number(-1.0, 1.0)];
    writer.initial(&given(&start));
    let pull =
        move |at: &mut super::Reading<'_>, all: &[f64]| force.value(at, all) + c - all[0];
    mirrored(draw, "wall", writer, start, Box::new(pull))
}

/// What acts on a point, by its place and its velocity.
type Acts = Box<dyn Fn(&mut super::Reading<'_>, &[f64]) -> f64>;

/// One coordinate that cannot fall below zero, and its mirror image.
fn mirrored(
    draw: &mut Draw<'_>,
    name: &str,
    writer: super::Writer,
    start: Vec<f64>,
    acts: Acts,
) -> Case {
    let side = Formula::Sign(Box::new(from(of(0), 0.0)));
    let rates: Rates = Box::new(move |at, y, dy| {
        let s = side.value(at, y);
        dy[0] = y[1];
        dy[1] = s * acts(at, &[s * y[0], s * y[1]]);
    });
    let shown = |_: f64, y: &[f64]| {
        let s = if y[0] < 0.0 { -1.0 } else { 1.0 };
        vec![s * y[0], s * y[1]]
    };
    draw.case(name, writer, start, rates, Box::new(shown))
}
