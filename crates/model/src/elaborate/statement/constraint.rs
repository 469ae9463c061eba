//! `constraint`: $\varphi$ = left − right, in scalar rows.
//!
//! A vector or matrix equation has as rows a maximal set of components that are linearly independent over
//! constants, first in row-major
//! order.

use pfaff_expr::Expr;

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::affine;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Meaning, Rows, Site};
use crate::model::{Activity, AffineWord, Constraint};
use crate::shape::{Shape, Value, component_name};
use crate::source::Span;
use crate::syntax::{self, NodeKind};

/// One scalar row: its indices, its expression, and the word that made it.
pub(crate) type Row = (Vec<i64>, Expr, Option<AffineWord>);

impl Elaborator<'_> {
    pub(crate) fn constraint(&mut self, constraint: &syntax::Constraint, span: Span) {
        self.draft.dynamics.constraint_statements += 1;
        let automatic = format!("c{}", self.draft.dynamics.constraint_statements);
        let name = constraint.name.map_or(automatic, |name| self.own_name(name));
        let name_span = constraint.name.map_or(span, |name| name.span);
        self.speak_of(format!("constraint `{name}`"));
        let registered = self.register(&name, name_span, constraint);
        let Some(members) = self.members(0, &constraint.slots) else {
            self.poison_rows(&name);
            return;
        };
        for indices in &members.indices {
            if self.effort.exhausted {
                return;
            }
            let made = self.with_locals(&members, indices, |e| {
                e.speak_of(format!("constraint `{}`", component_name(&name, indices)));
                let rows = e.constraint_rows(constraint, span);
                let along = constraint.along.map(|id| {
                    e.speak_of(format!("the direction of constraint `{name}`"));
                    (e.read(Site { part: 0, id }, Place::Along), id)
                });
                Some((rows?, along))
            });
            let Some((rows, along)) = made else {
                self.poison_rows(&name);
                continue;
            };
            let along = match along {
                None => None,
                Some((value, _)) if value.shape().is_some() && rows.len() == 1 => {
                    Some(value.entries().to_vec())
                }
                Some((value, id)) => {
                    if value.shape().is_some() {
                        let message = format!(
                            "`along` takes one scalar constraint, but `{name}` has {} rows",
                            rows.len()
                        );
                        self.error("E0408", self.span(Site { part: 0, id }), message);
                    } else if !value.is_poison() {
                        let message =
                            format!("`along` takes a vector, not {}", value.describe());
                        self.error("E0408", self.span(Site { part: 0, id }), message);
                    }
                    self.poison_rows(&name);
                    continue;
                }
            };
            let first = self.draft.dynamics.constraints.len();
            self.add_rows(&name, name_span, indices, rows, along.as_deref(), registered, span);
            let activity =
                self.with_locals(&members, indices, |e| e.activity(&constraint.condition));
            let activity = activity.unwrap_or_default();
            self.draft.hybrid.constraints.resize(first, Activity::default());
            let all = self.draft.dynamics.constraints.len();
            self.draft.hybrid.constraints.resize(all, activity);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one row of a table is written here")]
    fn add_rows(
        &mut self,
        name: &str,
        name_span: Span,
        indices: &[i64],
        rows: Vec<Row>,
        along: Option<&[Expr]>,
        registered: bool,
        span: Span,
    ) {
        for (inner, expr, word) in rows {
            let all: Vec<i64> = [indices, &inner].concat();
            let position = self.draft.dynamics.constraints.len();
            let full = component_name(name, &all);
            if registered
                && let Some(Meaning::Constraint(known)) =
                    self.scope.get_mut(name).map(|e| &mut e.meaning)
            {
                if known.rows.iter().any(|(row, _)| *row == all) {
                    let message = format!("the constraint `{full}` is defined twice");
                    self.error("E0202", name_span, message);
                    return;
                }
                known.rows.push((all, position));
            }
            let along = along.map(<[Expr]>::to_vec);
            self.draft.dynamics.constraints.push(Constraint {
                name: full,
                expr,
                along,
                word,
                is_rate: false,
                span,
            });
        }
    }

    /// Declares the name; a further statement may add members to a family.
    fn register(&mut self, name: &str, span: Span, constraint: &syntax::Constraint) -> bool {
        if let Some(entry) = self.scope.get(name)
            && let Meaning::Constraint(rows) = &entry.meaning
            && !constraint.slots.is_empty()
            && rows.rows.iter().all(|(indices, _)| !indices.is_empty())
        {
            return true;
        }
        if constraint.name.is_none() && self.scope.get(name).is_some() {
            // A name by position gives way to a declared one.
            return false;
        }
        let free = self.may_declare(name, span);
        if free {
            self.scope.insert(name, Meaning::Constraint(Rows::default()), span);
        }
        free
    }

    fn poison_rows(&mut self, name: &str) {
        if let Some(Meaning::Constraint(rows)) =
            self.scope.get_mut(name).map(|e| &mut e.meaning)
        {
            rows.poisoned = true;
        }
    }

    /// The rows of one member, or `None` after a report.
    fn constraint_rows(
        &mut self,
        constraint: &syntax::Constraint,
        span: Span,
    ) -> Option<Vec<Row>> {
        let left = Site { part: 0, id: constraint.left };
        let Some(right) = constraint.right else {
            let word = match self.kind(left) {
                NodeKind::Call { .. } => self.called(left),
                _ => String::new(),
            };
            if affine::constraint::is_word(&word) {
                return self.affine_rows(left, &word);
            }
            let message = "a constraint is an equation";
            let hint = "write `left = right`, or one of gyroscopic(phi), isochoric(phi), \
                        rotation_free(phi), conformal(phi)";
            self.error_hint("E0409", self.span(left), message.into(), hint);
            return None;
        };
        let sides = [left, Site { part: 0, id: right }];
        let value = self.difference(sides, Place::Constraint);
        let span = self.span(sides[0]).to(self.span(sides[1])).to(span);
        self.independent_rows(&value, span)
    }

    /// The components that count.
    fn independent_rows(&mut self, value: &Value, span: Span) -> Option<Vec<Row>> {
        let shape = value.shape()?;
        let mut kept: Vec<(usize, Expr)> = Vec::new();
        let mut sound = true;
        for (k, &e) in value.entries().iter().enumerate() {
            if self.graph.vanishes_modulo_prime(e) {
                continue;
            }
            if self.content(e).moves {
                kept.push((k, e));
                continue;
            }
            sound = false;
            let subject = self.subject();
            let component = match shape {
                Shape::Scalar => String::new(),
                _ => format!("component {} of ", component_name("", &shape.indices(k))),
            };
            let message = match self.constant(e) {
                Some(c) if c.value == 0.0 => {
                    format!(
                        "{component}{subject} always holds for these parameters, so it constrains nothing"
                    )
                }
                Some(_) => format!("{component}{subject} contradicts itself"),
                None => format!("{component}{subject} contains no coordinate"),
            };
            self.error("E0407", span, message);
        }
        if kept.is_empty() && sound {
            let message = format!("{} always holds, so it constrains nothing", self.subject());
            self.error("E0407", span, message);
            return None;
        }
        if !sound {
            return None;
        }
        let entries: Vec<Expr> = kept.iter().map(|&(_, e)| e).collect();
        let independent = match shape {
            Shape::Scalar => vec![0],
            _ => self.graph.independent_over_constants(&entries),
        };
        let row = |k: usize| (shape.indices(kept[k].0), kept[k].1, None);
        Some(independent.into_iter().map(row).collect())
    }

    /// Checks that every `along` has one component for each coordinate.
    pub(crate) fn finish_constraints(&mut self) {
        let n = self.draft.coordinates.iter().filter(|c| !c.is_state).count();
        let wrong: Vec<(String, Span, usize)> = self
            .draft
            .dynamics
            .constraints
            .iter()
            .filter(|c| !c.is_rate)
            .filter_map(|c| Some((c, c.along.as_ref()?.len())))
            .filter(|(_, given)| *given != n)
            .map(|(c, given)| (c.name.clone(), c.span, given))
            .collect();
        for (name, span, given) in wrong {
            let message = format!(
                "`along` of constraint `{name}` has {given} components for {n} coordinates"
            );
            let diagnostic = Diagnostic::error("E0408", span, message).with_hint(
                "give one component for each coordinate, in the order of their declaration",
            );
            self.report(diagnostic);
        }
        // A reaction does not act on what has no inertia.
        let states: Vec<bool> = self.draft.coordinates.iter().map(|c| c.is_state).collect();
        let zero = self.graph.zero();
        let constraints = self.draft.dynamics.constraints.iter_mut().filter(|c| !c.is_rate);
        for along in constraints.filter_map(|c| c.along.as_mut()) {
            let mut given = std::mem::take(along).into_iter();
            let mut next = |is_state: &bool| match is_state {
                true => zero,
                false => given.next().unwrap_or(zero),
            };
            *along = states.iter().map(&mut next).collect();
        }
    }
}
