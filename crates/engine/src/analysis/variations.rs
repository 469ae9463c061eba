//! Variations of a motion under constraints: which two of three conditions hold, and what the third costs.
//!
//! In Chaplygin's form $\dot q^\alpha = \varepsilon^\alpha(t, q^\mu, \dot q^\mu)$ a variation is given by
//! $w^\mu(t)$; it has displacements $w^\alpha$ and varied velocities $\delta\dot q$. One may ask for
//!
//! $$ \tfrac{d}{dt}\Big(w^\alpha - \tfrac{\partial\varepsilon^\alpha}{\partial\dot q^\mu}w^\mu\Big) = 0,
//! \qquad \delta\dot q^\mu - \dot w^\mu = 0, \qquad
//!    \delta(\dot q^\alpha - \varepsilon^\alpha) = 0 \qquad (\mathrm{16a\text{–}c}) $$
//!
//! (Guo, Wang, Chee and Mei 2005): Chetaev's condition, commutation with $d/dt$, and constraints that hold on
//! the varied curve. All three hold only where the curvature does not see the motion.
//! Hölder's variation gives up (c), the vakonomic one (a). Suslov's keeps (a) and (c): in the classical form
//! $\delta\dot q^\alpha \ne \dot w^\alpha$ for the dependent coordinates; in the form of Kleinert and Fiziev
//! $\delta\dot q^\sigma - \dot w^\sigma = 2 S^\sigma_{\rho\mu}\dot q^\rho w^\mu$ with the torsion $S$ for the
//! base ones. Every defect is computed from its definition along the motion.

use crate::model::Model;
use pfaff_expr::Expr;
use pfaff_mechanics::{Chaplygin, Equations, chaplygin_of_constraints};
use pfaff_model::{Diagnostic, ParseErrors, Principle, Source, Span, Workspace};
use pfaff_solver::Lu;

use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::motion::{Motion, Series, Stop};
use crate::pipeline::run;
use crate::problem::settings::{Run, Settings};
use crate::system::compiled::Dynamics;

/// The variations of one motion.
#[derive(Clone, Debug)]
pub struct Variations {
    /// The title of the model.
    pub title: String,
    /// Whether the motion was integrated, and under which principle; `None` if it was given.
    pub principle: Option<Principle>,
    /// The times.
    pub t: Vec<f64>,
    /// Names of the base and of the dependent coordinates.
    pub base: Vec<String>,
    /// Names of the dependent coordinates.
    pub dependent: Vec<String>,
    /// Why the motion stopped early, if it did.
    pub stop: Option<Stop>,
    /// The variations, one after another.
    pub kinds: Vec<Variation>,
    /// The largest $|F^\alpha_{\rho\mu}\dot q^\rho w^\mu|$, where the constraints are linear in the
    /// velocities: what it must cost.
    pub curvature: Option<f64>,
}

/// One kind of variation.
#[derive(Clone, Debug)]
pub struct Variation {
    /// `hoelder`, `suslov (classical)`, `suslov (kleinert-fiziev)`, `vakonomic`
    pub name: &'static str,
    /// Defects of (16a) by dependent coordinate.
    pub chetaev: Vec<Series>,
    /// Defects of (16b) by base coordinate.
    pub commutation: Vec<Series>,
    /// Defects of (16c) by dependent coordinate.
    pub constraint: Vec<Series>,
    /// $\delta\dot q^\alpha - \dot w^\alpha$ by dependent coordinate.
    pub dependent_commutation: Vec<Series>,
    /// $w^\alpha$ at the last time, when it is 0 at the first and $w^\mu = 0$ at both.
    pub end: Vec<f64>,
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct VariationRequest {
    /// `x = sin(pi*t), …` for base coordinates.
    pub vary: String,
    /// The motion of the base coordinates, likewise; the model's own motion if not given.
    pub motion: Option<String>,
    /// Times, principle and tolerance.
    pub run: Run,
}

/// The variations of a motion of a model.
///
/// # Errors
///
/// [`Error`] says what is wrong.
pub fn variations(model: &Model, request: &VariationRequest) -> Result<Variations, Error> {
    varied(model, request).map_err(|failure| failure.in_source(&model.source))
}

fn varied(frozen: &Model, request: &VariationRequest) -> Result<Variations, Failure> {
    let model = &frozen.workspace();
    let refused = |d: Diagnostic| Failure::Model(vec![d]);
    let Dynamics::Saddle(equations) =
        derive_in(model, Some(Principle::Chetaev)).map_err(|r| refused(r.diagnostic()))?
    else {
        return Err(Failure::usage("an `equation` model has no variations"));
    };
    let form =
        chaplygin_of_constraints(model, &equations).map_err(|r| refused(r.diagnostic()))?;
    if form.dependent.is_empty() {
        let message = "without velocity constraints every variation is free";
        return Err(Failure::usage(message));
    }
    let given = |option: &str, text: &str| -> Result<Vec<Expr>, Failure> {
        let functions = functions(model, &form.base, option, text)?;
        let zero = model.graph.zero();
        Ok(functions.into_iter().map(|f| f.unwrap_or(zero)).collect())
    };
    let vary = given("<vary>", &request.vary)?;
    let (motion, principle, stop) = if let Some(text) = &request.motion {
        let given = given("<motion>", text)?;
        (given_motion(model, &form, &given, &request.run)?, None, None)
    } else {
        let motion = run(frozen, &request.run, &mut |_, _| true)?;
        let principle = motion.principle;
        let stop = motion.stop.reason.is_early().then(|| motion.stop.clone());
        (motion, principle, stop)
    };
    let along = along(model, &equations, &form, &vary, &motion, principle);
    Ok(Variations { stop, ..along })
}

/// The assignments of an option, as functions of t for base coordinates.
pub(crate) fn functions(
    model: &Workspace,
    base: &[usize],
    option: &str,
    text: &str,
) -> Result<Vec<Option<Expr>>, ParseErrors> {
    let wrong = |message: String| {
        let source = Source::new(option, text);
        let span = Span { start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
        let diagnostics = vec![Diagnostic::error("E0610", span, message)];
        ParseErrors { source, diagnostics }
    };
    let g = &model.graph;
    let mut functions = vec![None; base.len()];
    for part in split(text) {
        let Some((name, right)) = part.split_once('=') else {
            return Err(wrong(format!(
                "`{}` is not an assignment such as `x = sin(pi*t)`",
                part.trim()
            )));
        };
        let name = name.trim();
        let Some(k) = model.coordinates.iter().position(|c| c.name == name) else {
            return Err(wrong(format!("`{name}` is not a coordinate of the model")));
        };
        let Some(μ) = base.iter().position(|&b| b == k) else {
            return Err(wrong(format!(
                "`{name}` is a dependent coordinate: it follows from the others"
            )));
        };
        let scope = pfaff_model::ExpressionScope::State;
        let (_, entries) = pfaff_model::read_expression(model, option, right.trim(), scope)?;
        let [e] = entries[..] else {
            return Err(wrong(format!("`{name}` needs a number at each time")));
        };
        let moving = [model.positions(), model.velocities()].concat();
        if g.contains(e, &moving) {
            return Err(wrong(format!(
                "`{name}` must be a function of t and parameters alone"
            )));
        }
        functions[μ] = Some(e);
    }
    Ok(functions)
}

/// Parts between commas that stand outside brackets.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Positions, velocities and accelerations of a motion whose base is given; dependent positions are left at
/// 0, for nothing contains them.
fn given_motion(
    model: &Workspace,
    form: &Chaplygin,
    given: &[Expr],
    request: &Run,
) -> Result<Motion, Failure> {
    let g = &model.graph;
    let times = Settings::new(model, request)?.times;
    let first: Vec<Expr> = given.iter().map(|&e| g.derivative(e, model.time)).collect();
    let second: Vec<Expr> = first.iter().map(|&e| g.derivative(e, model.time)).collect();
    let n = model.coordinates.len();
    let mut rows: [Vec<Vec<f64>>; 3] = [vec![vec![]; n], vec![vec![]; n], vec![vec![]; n]];
    let rates = g.directional(&form.rates, &total(model));
    for &t in &times {
        let mut state = Instantaneous { t, ..Instantaneous::new(n) };
        let at_time = |e: &[Expr]| g.evaluate(e, &state.symbol(model));
        let (x, v, a) = (at_time(given), at_time(&first), at_time(&second));
        for (i, &k) in form.base.iter().enumerate() {
            (state.q[k], state.v[k], state.a[k]) = (x[i], v[i], a[i]);
        }
        let ε = g.evaluate(&form.rates, &state.symbol(model));
        form.dependent.iter().zip(ε).for_each(|(&k, x)| state.v[k] = x);
        let dε = g.evaluate(&rates, &state.symbol(model));
        form.dependent.iter().zip(dε).for_each(|(&k, x)| state.a[k] = x);
        for k in 0..n {
            rows[0][k].push(state.q[k]);
            rows[1][k].push(state.v[k]);
            rows[2][k].push(state.a[k]);
        }
    }
    let mut motion = Motion::empty(model);
    let [q, v, a] = rows.map(|columns| {
        let names = model.coordinates.iter().map(|c| c.name.clone());
        names.zip(columns).map(|(name, values)| Series { name, values }).collect()
    });
    (motion.t, motion.q, motion.v, motion.a) = (times, q, v, a);
    Ok(motion)
}

/// $(q \to \dot q, \dot q \to \ddot q, t \to 1)$
fn total(model: &Workspace) -> Vec<(Expr, Expr)> {
    let mut direction: Vec<(Expr, Expr)> =
        model.coordinates.iter().map(|c| (c.position, c.velocity)).collect();
    direction.extend(model.coordinates.iter().map(|c| (c.velocity, c.acceleration)));
    direction.push((model.time, model.graph.one()));
    direction
}

struct Instantaneous {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
}

impl Instantaneous {
    fn new(n: usize) -> Self {
        Self { t: 0.0, q: vec![0.0; n], v: vec![0.0; n], a: vec![0.0; n] }
    }

    fn symbol<'a>(&'a self, model: &'a Workspace) -> impl Fn(Expr) -> f64 + 'a {
        move |s| {
            for (k, c) in model.coordinates.iter().enumerate() {
                match s {
                    s if s == c.position => return self.q[k],
                    s if s == c.velocity => return self.v[k],
                    s if s == c.acceleration => return self.a[k],
                    _ => {}
                }
            }
            let parameter = model.parameters.iter().find(|p| p.symbol == s);
            parameter.map_or(if s == model.time { self.t } else { f64::NAN }, |p| p.value)
        }
    }
}

/// The defects along a motion.
fn along(
    model: &Workspace,
    equations: &Equations,
    form: &Chaplygin,
    vary: &[Expr],
    motion: &Motion,
    principle: Option<Principle>,
) -> Variations {
    let g = &model.graph;
    let pick = |list: Vec<Expr>| form.base.iter().map(|&k| list[k]).collect::<Vec<Expr>>();
    let (q, v) = (pick(model.positions()), pick(model.velocities()));
    let (b, d, n) = (form.base.len(), form.dependent.len(), model.coordinates.len());
    let slopes = g.jacobian(&form.rates, &v);
    let bends = g.jacobian(&form.rates, &q);
    let turns = g.directional(&slopes.concat(), &total(model));
    let curvature = form.curvature(model);
    let speed: Vec<Expr> = vary.iter().map(|&w| g.derivative(w, model.time)).collect();
    let mut outputs = [slopes.concat(), bends.concat(), turns].concat();
    outputs.extend(vary);
    outputs.extend(&speed);
    outputs.extend(equations.mass.concat());
    outputs.extend(curvature.iter().flatten().flatten().flatten());
    let mut kinds: Vec<Sampled> =
        vec![Sampled::new("hoelder", b, d), Sampled::new("suslov (classical)", b, d)];
    // NOTE: the torsion needs the metric, and that of a given motion may need dependent positions that it lacks.
    let known = principle.is_some() || form.held.is_none();
    let torsion = curvature.is_some() && equations.kinetic.is_some() && known;
    if torsion {
        kinds.push(Sampled::new("suslov (kleinert-fiziev)", b, d));
    }
    kinds.push(Sampled::new("vakonomic", b, d));
    let mut cost = 0.0_f64;
    let mut lifted: Vec<Vec<f64>> = vec![Vec::new(); d];
    for i in 0..motion.t.len() {
        let row = |s: &[Series]| s.iter().map(|s| s.values[i]).collect::<Vec<f64>>();
        let state = Instantaneous {
            t: motion.t[i],
            q: row(&motion.q),
            v: row(&motion.v),
            a: row(&motion.a),
        };
        let values = g.evaluate(&outputs, &state.symbol(model));
        let (ε, rest) = values.split_at(d * b);
        let (slant, rest) = rest.split_at(d * b);
        let (turn, rest) = rest.split_at(d * b);
        let (w, rest) = rest.split_at(b);
        let (dw, rest) = rest.split_at(b);
        let (mass, f) = rest.split_at(n * n);
        let moving: Vec<f64> = form.base.iter().map(|&k| state.v[k]).collect();
        let times = |m: &[f64], x: &[f64]| -> Vec<f64> {
            (0..d).map(|α| (0..b).map(|μ| m[α * b + μ] * x[μ]).sum()).collect()
        };
        let plus = |x: &[f64], y: &[f64]| -> Vec<f64> {
            x.iter().zip(y).map(|(x, y)| x + y).collect()
        };
        // d/dt(ε_μ w^μ), and δε for varied base velocities.
        let carried = plus(&times(turn, w), &times(ε, dw));
        let varied = |δv: &[f64]| plus(&times(ε, δv), &times(slant, w));
        let seen: Vec<f64> = if curvature.is_some() {
            // F^α_ρμ v^ρ w^μ
            let entry = |α: usize, ρ: usize, μ: usize| f[(α * b + ρ) * b + μ];
            (0..d)
                .map(|α| {
                    (0..b)
                        .flat_map(|ρ| (0..b).map(move |μ| (ρ, μ)))
                        .map(|(ρ, μ)| entry(α, ρ, μ) * moving[ρ] * w[μ])
                        .sum()
                })
                .collect()
        } else {
            Vec::new()
        };
        cost = seen.iter().fold(cost, |m, x| m.max(x.abs()));
        let free = varied(dw);
        lifted.iter_mut().zip(&free).for_each(|(l, x)| l.push(*x));
        for kind in &mut kinds {
            let (δv, δα, dα) = match kind.name {
                "hoelder" => (dw.to_vec(), carried.clone(), carried.clone()),
                "suslov (classical)" => (dw.to_vec(), free.clone(), carried.clone()),
                "vakonomic" => (dw.to_vec(), free.clone(), free.clone()),
                _ => {
                    let δv = plus(dw, &twice_torsion(form, mass, n, ε, &seen));
                    let δα = varied(&δv);
                    (δv, δα, carried.clone())
                }
            };
            let minus = |x: &[f64], y: &[f64]| -> Vec<f64> {
                x.iter().zip(y).map(|(x, y)| x - y).collect()
            };
            kind.push(
                &minus(&dα, &carried),
                &minus(&δv, dw),
                &minus(&δα, &varied(&δv)),
                &minus(&δα, &dα),
            );
        }
    }
    let name = |&k: &usize| model.coordinates[k].name.clone();
    let base: Vec<String> = form.base.iter().map(name).collect();
    let dependent: Vec<String> = form.dependent.iter().map(name).collect();
    let ends: Vec<f64> = lifted.iter().map(|l| integral(&motion.t, l)).collect();
    Variations {
        stop: None,
        title: motion.title.clone(),
        principle,
        t: motion.t.clone(),
        kinds: kinds.into_iter().map(|k| k.named(&base, &dependent, &ends)).collect(),
        base,
        dependent,
        curvature: curvature.map(|_| cost),
    }
}

/// $2 S^\sigma_{\rho\mu}\dot q^\rho w^\mu =
/// g^{\sigma\tau}\,g_{i\alpha}\,\varepsilon^i_\tau\,F^\alpha_{\rho\mu}\dot q^\rho w^\mu$ with the induced
/// metric.
fn twice_torsion(
    form: &Chaplygin,
    mass: &[f64],
    n: usize,
    ε: &[f64],
    seen: &[f64],
) -> Vec<f64> {
    let b = form.base.len();
    // The columns ε^i_τ over all coordinates.
    let column = |τ: usize| {
        let mut x = vec![0.0; n];
        x[form.base[τ]] = 1.0;
        form.dependent.iter().enumerate().for_each(|(α, &k)| x[k] = ε[α * b + τ]);
        x
    };
    let columns: Vec<Vec<f64>> = (0..b).map(column).collect();
    let mut vertical = vec![0.0; n];
    form.dependent.iter().zip(seen).for_each(|(&k, &x)| vertical[k] = x);
    let product = |x: &[f64], y: &[f64]| -> f64 {
        (0..n).map(|i| x[i] * (0..n).map(|j| mass[i * n + j] * y[j]).sum::<f64>()).sum()
    };
    let metric: Vec<f64> = columns
        .iter()
        .flat_map(|x| columns.iter().map(|y| product(x, y)).collect::<Vec<_>>())
        .collect();
    let mut right: Vec<f64> = columns.iter().map(|x| product(x, &vertical)).collect();
    let mut lu = Lu::new(b);
    if lu.factor(b, &metric).is_err() {
        return vec![f64::NAN; b];
    }
    lu.solve(&mut right);
    right
}

/// By Simpson's rule where the times are even and odd in number, else by the trapezoidal rule.
fn integral(t: &[f64], values: &[f64]) -> f64 {
    let last = t.len().saturating_sub(1);
    let h = if last > 0 { (t[last] - t[0]) / last as f64 } else { 0.0 };
    let even =
        t.iter().enumerate().all(|(i, &x)| (x - t[0] - h * i as f64).abs() < 1e-9 * h.abs());
    if last > 0 && last.is_multiple_of(2) && even {
        let weight = |i: usize| match i {
            0 => 1.0,
            i if i == last => 1.0,
            i if i.is_multiple_of(2) => 2.0,
            _ => 4.0,
        };
        return h / 3.0 * values.iter().enumerate().map(|(i, x)| weight(i) * x).sum::<f64>();
    }
    (0..last).map(|i| 0.5 * (t[i + 1] - t[i]) * (values[i] + values[i + 1])).sum()
}

/// The defects of one kind, time after time.
struct Sampled {
    name: &'static str,
    defects: [Vec<Vec<f64>>; 4],
}

impl Sampled {
    fn new(name: &'static str, b: usize, d: usize) -> Self {
        Self { name, defects: [d, b, d, d].map(|count| vec![Vec::new(); count]) }
    }

    fn push(&mut self, a: &[f64], b: &[f64], c: &[f64], dependent: &[f64]) {
        for (columns, values) in self.defects.iter_mut().zip([a, b, c, dependent]) {
            columns.iter_mut().zip(values).for_each(|(column, x)| column.push(*x));
        }
    }

    fn named(self, base: &[String], dependent: &[String], ends: &[f64]) -> Variation {
        let vakonomic = self.name == "vakonomic";
        let [a, b, c, d] = self.defects;
        let series = |names: &[String], columns: Vec<Vec<f64>>| {
            names
                .iter()
                .cloned()
                .zip(columns)
                .map(|(name, values)| Series { name, values })
                .collect()
        };
        Variation {
            name: self.name,
            chetaev: series(dependent, a),
            commutation: series(base, b),
            constraint: series(dependent, c),
            dependent_commutation: series(dependent, d),
            end: if vakonomic { ends.to_vec() } else { Vec::new() },
        }
    }
}
