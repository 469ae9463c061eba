//! The constraints of affine bodies that have a word of their own.
//!
//! With the Green matrix $G = \varphi^T g\varphi$ and $W = \varphi^T g\dot\varphi$:
//! `gyroscopic` $\dot G_{ij} = 0$, $i \le j$; `isochoric` $d(\det\varphi)/dt = 0$; `rotation_free` $W_{ij} -
//! W_{ji} = 0$, $i < j$;
//! `conformal` the $\eta$-traceless part of $S = \operatorname{sym} W$, that is $S -
//! \eta\operatorname{tr}(\eta^{-1}S)/n$.

use pfaff_expr::Expr;

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::draft::WordUse;
use crate::elaborate::expression::functions::count;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::elaborate::statement::constraint::Row;
use crate::model::AffineWord;
use crate::shape::algebra;
use crate::shape::{Shape, Value};
use crate::syntax::NodeKind;

/// Whether it is one of the words.
pub(crate) fn is_word(word: &str) -> bool {
    most_arguments(word).is_some()
}

fn most_arguments(word: &str) -> Option<usize> {
    match word {
        "isochoric" => Some(1),
        "gyroscopic" | "rotation_free" => Some(2),
        "conformal" => Some(3),
        _ => None,
    }
}

impl Elaborator<'_> {
    /// The rows that a word stands for, or `None` after a report.
    pub(crate) fn affine_rows(&mut self, site: Site, word: &str) -> Option<Vec<Row>> {
        let NodeKind::Call { arguments, .. } = self.kind(site) else { return None };
        let (given, most) = (arguments.len(), most_arguments(word)?);
        if given == 0 || given > most {
            let wanted = if most == 1 {
                count(1, "argument")
            } else {
                format!("1 to {}", count(most, "argument"))
            };
            let message = format!("`{word}` takes {wanted}, not {given}");
            self.error("E0302", self.span(site), message);
            return None;
        }
        let values: Vec<Value> = (0..given)
            .map(|k| {
                let at = self.argument(site, k);
                self.read(at, Place::Constraint)
            })
            .collect();
        let at = self.argument(site, 0);
        let (n, m, phi) = match &values[0] {
            Value::Matrix(n, m, x) => (*n, *m, x.clone()),
            Value::Poison => return None,
            other => {
                let message = format!("`{word}` takes a matrix, not {}", other.describe());
                self.error("E0409", self.span(at), message);
                return None;
            }
        };
        let number = self.body(at, &values[0], false);
        if word == "isochoric" {
            self.note_word(site, word, number, None);
            return self.isochoric(site, at, n, m, &phi);
        }
        let g = self.symmetric(site, &values, 1, "the metric", n)?;
        let body = values[0].clone();
        let velocity = self.rate(at, &body);
        if velocity.is_poison() {
            return None;
        }
        let product = |a: &Value, b: &Value| algebra::multiply(self.graph, a, b).ok();
        let weighted = product(&algebra::transpose(&body), &g)?;
        let green = product(&weighted, &body)?;
        let spin = product(&weighted, &velocity)?;
        self.note_word(site, word, number, Some(green.entries().to_vec()));
        match word {
            "gyroscopic" => self.gyroscopic(at, m, &green),
            "rotation_free" => self.rotation_free(at, m, &spin),
            _ => {
                let eta = self.symmetric(site, &values, 2, "the metric of the body", m)?;
                self.conformal(site, m, &green, &spin, &eta)
            }
        }
    }

    /// Remembers that a word binds a body.
    fn note_word(
        &mut self,
        site: Site,
        word: &str,
        body: Option<usize>,
        green: Option<Vec<Expr>>,
    ) {
        let Some(body) = body else { return };
        let subject = self.subject();
        let constraint = subject.split('`').nth(1).unwrap_or(word).to_owned();
        let span = self.span(site);
        self.draft.affine.words.push(WordUse {
            word: word.into(),
            constraint,
            body,
            green,
            span,
        });
    }

    fn isochoric(
        &mut self,
        site: Site,
        at: Site,
        n: usize,
        m: usize,
        phi: &[Expr],
    ) -> Option<Vec<Row>> {
        if n != m {
            let shape = Shape::Matrix(n, m);
            let message = format!("`isochoric` takes a square matrix, not {shape}");
            self.error("E0409", self.span(at), message);
            return None;
        }
        if !self.fits_determinant(at, n) {
            return None;
        }
        let det = Value::Scalar(algebra::determinant(self.graph, n, phi));
        let rate = self.rate(site, &det);
        let expr = *rate.entries().first()?;
        self.moving(at, vec![(Vec::new(), expr, Some(AffineWord::Isochoric))])
    }

    fn gyroscopic(&mut self, at: Site, m: usize, green: &Value) -> Option<Vec<Row>> {
        let rate = self.rate(at, green);
        if rate.is_poison() {
            return None;
        }
        let pairs = (0..m).flat_map(|i| (i..m).map(move |j| (i, j)));
        let rows = pairs.map(|(i, j)| {
            (indices(i, j), rate.entries()[i * m + j], Some(AffineWord::Gyroscopic))
        });
        let rows = rows.collect();
        self.moving(at, rows)
    }

    fn rotation_free(&mut self, at: Site, m: usize, spin: &Value) -> Option<Vec<Row>> {
        let (g, w) = (self.graph, spin.entries());
        let pairs = (0..m).flat_map(|i| (i + 1..m).map(move |j| (i, j)));
        let rows = pairs.map(|(i, j)| {
            let expr = g.sub(w[i * m + j], w[j * m + i]);
            (indices(i, j), expr, Some(AffineWord::RotationFree))
        });
        let rows = rows.collect();
        self.moving(at, rows)
    }

    fn conformal(
        &mut self,
        site: Site,
        m: usize,
        green: &Value,
        spin: &Value,
        eta: &Value,
    ) -> Option<Vec<Row>> {
        let g = self.graph;
        let at = if matches!(self.kind(site), NodeKind::Call { arguments, .. } if arguments.len() > 2)
        {
            self.argument(site, 2)
        } else {
            site
        };
        let inverse = self.inverse(at, m, eta.entries());
        if inverse.is_poison() {
            return None;
        }
        let s = algebra::half(g, m, spin.entries(), false);
        let s = s.entries();
        // tr(η⁻¹S)/m
        let trace =
            g.sum((0..m * m).map(|k| g.mul(inverse.entries()[k], s[(k % m) * m + k / m])));
        let share = g.div(trace, g.integer(m as i64));
        let pairs: Vec<(usize, usize)> =
            (0..m).flat_map(|i| (i..m).map(move |j| (i, j))).collect();
        let parts: Vec<Expr> = pairs
            .iter()
            .map(|&(i, j)| g.sub(s[i * m + j], g.mul(eta.entries()[i * m + j], share)))
            .collect();
        let by_rows = |x: &[Expr]| x.chunks(m).map(<[Expr]>::to_vec).collect::<Vec<_>>();
        let word = AffineWord::Conformal {
            green: by_rows(green.entries()),
            eta: by_rows(eta.entries()),
        };
        let rows = g
            .independent_over_constants(&parts)
            .into_iter()
            .map(|k| (indices(pairs[k].0, pairs[k].1), parts[k], Some(word.clone())))
            .collect();
        self.moving(site, rows)
    }

    /// The rows, if they demand something.
    fn moving(&mut self, at: Site, rows: Vec<Row>) -> Option<Vec<Row>> {
        let idle = rows.iter().all(|(_, e, _)| self.graph.vanishes_modulo_prime(*e));
        if idle {
            let message = format!("{} always holds, so it constrains nothing", self.subject());
            self.report(Diagnostic::error("E0407", self.span(at), message));
            return None;
        }
        Some(rows)
    }
}

/// Indices from 1.
fn indices(i: usize, j: usize) -> Vec<i64> {
    vec![i as i64 + 1, j as i64 + 1]
}
