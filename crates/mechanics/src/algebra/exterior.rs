//! Exterior algebra with expressions as coefficients.
//!
//! A form of degree $k$ is $\sum_{i_1<\dots<i_k} f_I\,dx^{i_1}\wedge\dots\wedge dx^{i_k}$ on a [`Space`] with
//! coordinates $x$; a field has a component for each coordinate. Then
//!
//! $$ d(f\,dx^I) = \partial_jf\,dx^j\wedge dx^I, \qquad (i_X\omega)(\cdot) = \omega(X, \cdot), \qquad
//!    \mathcal L_X(f\,dx^I) = X(f)\,dx^I + f\sum_j dx^{i_1}\wedge\dots\wedge dX^{i_j}\wedge\dots . $$
//!
//! The Lie derivative does not use Cartan's formula $\mathcal L_X = i_Xd + d\,i_X$, so that the two can be compared.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph};

/// Coordinates of a space on which forms live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The coordinates, in the order of their differentials.
    pub coordinates: Vec<Expr>,
}

/// A form with its coefficients by ascending places of coordinates; zero ones are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferentialForm {
    /// How many differentials each term has.
    pub degree: usize,
    terms: BTreeMap<Vec<usize>, Expr>,
}

/// Forms of different degree cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedDegrees {
    /// Of the first.
    pub first: usize,
    /// Of the second.
    pub second: usize,
}

impl std::fmt::Display for MixedDegrees {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "a {}-form and a {}-form cannot be added: a sum of forms needs one degree; `wedge` multiplies forms \
             of any degrees",
            self.first, self.second
        )
    }
}

impl std::error::Error for MixedDegrees {}

impl Space {
    /// A space with these symbols as coordinates.
    pub fn new(coordinates: Vec<Expr>) -> Self {
        Self { coordinates }
    }

    /// $dx$ of a coordinate.
    ///
    /// # Panics
    ///
    /// If the symbol is no coordinate of the space.
    pub fn differential(&self, g: &Graph, coordinate: Expr) -> DifferentialForm {
        let place = self.coordinates.iter().position(|&c| c == coordinate);
        DifferentialForm::basis(g, vec![place.expect("a coordinate of the space")])
    }

    /// $df = \partial_jf\,dx^j$
    pub fn gradient(&self, g: &Graph, f: Expr) -> DifferentialForm {
        let mut form = DifferentialForm::zero(1);
        for (j, e) in g.gradient(f, &self.coordinates).into_iter().enumerate() {
            form.add_term(g, vec![j], e);
        }
        form
    }

    /// $d\omega$
    pub fn d(&self, g: &Graph, form: &DifferentialForm) -> DifferentialForm {
        let mut derived = DifferentialForm::zero(form.degree + 1);
        for (place, &f) in &form.terms {
            let rest = DifferentialForm::basis(g, place.clone());
            derived.accumulate(g, &self.gradient(g, f).wedge(g, &rest));
        }
        derived
    }

    /// $X(f)$
    pub fn along(&self, g: &Graph, field: &[Expr], f: Expr) -> Expr {
        let direction: Vec<(Expr, Expr)> =
            self.coordinates.iter().copied().zip(field.iter().copied()).collect();
        g.directional(&[f], &direction)[0]
    }

    /// $\mathcal L_X\omega$, term by term.
    pub fn lie(&self, g: &Graph, field: &[Expr], form: &DifferentialForm) -> DifferentialForm {
        let mut derived = DifferentialForm::zero(form.degree);
        for (place, &f) in &form.terms {
            derived.add_term(g, place.clone(), self.along(g, field, f));
            for j in 0..place.len() {
                // dx^{i_1} ∧ … ∧ dX^{i_j} ∧ …
                let mut product = DifferentialForm::function(g, f);
                for (l, &i) in place.iter().enumerate() {
                    let factor = if l == j {
                        self.gradient(g, field[i])
                    } else {
                        DifferentialForm::basis(g, vec![i])
                    };
                    product = product.wedge(g, &factor);
                }
                derived.accumulate(g, &product);
            }
        }
        derived
    }

    /// The pull-back by a map: `images` gives each coordinate of this space as a function on `source`.
    pub fn pull_back(
        &self,
        g: &Graph,
        form: &DifferentialForm,
        images: &[Expr],
        source: &Self,
    ) -> DifferentialForm {
        let pairs: Vec<(Expr, Expr)> =
            self.coordinates.iter().copied().zip(images.iter().copied()).collect();
        let differentials: Vec<DifferentialForm> =
            images.iter().map(|&e| source.gradient(g, e)).collect();
        let mut pulled = DifferentialForm::zero(form.degree);
        for (place, &f) in &form.terms {
            let start = DifferentialForm::function(g, g.substitute(&[f], &pairs)[0]);
            let product =
                place.iter().fold(start, |product, &i| product.wedge(g, &differentials[i]));
            pulled.accumulate(g, &product);
        }
        pulled
    }

    /// As text of the model language, with `d(x)` for differentials and `/\` between them.
    pub fn to_text(&self, g: &Graph, form: &DifferentialForm) -> String {
        let name = |i: usize| format!("d({})", g.to_text(self.coordinates[i]));
        let mut parts: Vec<String> = Vec::new();
        for (place, &f) in &form.terms {
            let differentials: Vec<String> = place.iter().map(|&i| name(i)).collect();
            let factor = match g.number_of(f) {
                Some(one) if one == pfaff_expr::number::integer(1) && !place.is_empty() => {
                    String::new()
                }
                _ if place.is_empty() => g.to_text(f),
                _ => format!("({})*", g.to_text(f)),
            };
            parts.push(format!("{factor}{}", differentials.join(" /\\ ")));
        }
        if parts.is_empty() { "0".into() } else { parts.join(" + ") }
    }
}

impl DifferentialForm {
    /// 0 of a degree.
    pub fn zero(degree: usize) -> Self {
        Self { degree, terms: BTreeMap::new() }
    }

    /// A function as a 0-form.
    pub fn function(g: &Graph, f: Expr) -> Self {
        let mut form = Self::zero(0);
        form.add_term(g, Vec::new(), f);
        form
    }

    /// $dx^{i_1}\wedge\dots$ at ascending places.
    fn basis(g: &Graph, place: Vec<usize>) -> Self {
        Self { degree: place.len(), terms: [(place, g.one())].into() }
    }

    /// The coefficient at ascending places of coordinates.
    pub fn coefficient(&self, g: &Graph, place: &[usize]) -> Expr {
        self.terms.get(place).copied().unwrap_or_else(|| g.zero())
    }

    /// Places and coefficients of the terms.
    pub fn terms(&self) -> impl Iterator<Item = (&[usize], Expr)> {
        self.terms.iter().map(|(place, &f)| (place.as_slice(), f))
    }

    /// Whether every coefficient is proved zero.
    pub fn is_zero(&self, g: &Graph) -> bool {
        self.terms.values().all(|&f| g.is_zero(f))
    }

    /// $\omega + \eta$
    ///
    /// # Errors
    ///
    /// [`MixedDegrees`] if their degrees differ.
    pub fn plus(&self, g: &Graph, other: &Self) -> Result<Self, MixedDegrees> {
        if self.degree != other.degree {
            return Err(MixedDegrees { first: self.degree, second: other.degree });
        }
        let mut sum = self.clone();
        sum.accumulate(g, other);
        Ok(sum)
    }

    /// $\omega - \eta$
    ///
    /// # Errors
    ///
    /// As [`DifferentialForm::plus`].
    pub fn minus(&self, g: &Graph, other: &Self) -> Result<Self, MixedDegrees> {
        self.plus(g, &other.scaled(g, g.integer(-1)))
    }

    /// $f\,\omega$
    #[must_use]
    pub fn scaled(&self, g: &Graph, factor: Expr) -> Self {
        let mut form = Self::zero(self.degree);
        for (place, &f) in &self.terms {
            form.add_term(g, place.clone(), g.mul(factor, f));
        }
        form
    }

    /// $\omega\wedge\eta$
    #[must_use]
    pub fn wedge(&self, g: &Graph, other: &Self) -> Self {
        let mut product = Self::zero(self.degree + other.degree);
        for (a, &f) in &self.terms {
            for (b, &h) in &other.terms {
                let mut place = [a.as_slice(), b].concat();
                let Some(odd) = sorted(&mut place) else { continue };
                let e = g.mul(f, h);
                product.add_term(g, place, if odd { g.neg(e) } else { e });
            }
        }
        product
    }

    /// $i_X\omega$
    #[must_use]
    pub fn interior(&self, g: &Graph, field: &[Expr]) -> Self {
        let mut inner = Self::zero(self.degree.saturating_sub(1));
        for (place, &f) in &self.terms {
            for (j, &i) in place.iter().enumerate() {
                let mut rest = place.clone();
                rest.remove(j);
                let e = g.mul(field[i], f);
                inner.add_term(g, rest, if j % 2 == 1 { g.neg(e) } else { e });
            }
        }
        inner
    }

    /// $\omega(X_1, \dots, X_k)$ of as many fields as the degree.
    pub fn value(&self, g: &Graph, fields: &[&[Expr]]) -> Expr {
        let function = fields.iter().fold(self.clone(), |form, x| form.interior(g, x));
        function.coefficient(g, &[])
    }

    fn accumulate(&mut self, g: &Graph, other: &Self) {
        for (place, &f) in &other.terms {
            self.add_term(g, place.clone(), f);
        }
    }

    fn add_term(&mut self, g: &Graph, place: Vec<usize>, f: Expr) {
        let sum = g.add(self.coefficient(g, &place), f);
        if sum == g.zero() {
            self.terms.remove(&place);
        } else {
            self.terms.insert(place, sum);
        }
    }
}

/// Sorts places and says whether the permutation is odd; `None` if one occurs twice.
fn sorted(place: &mut [usize]) -> Option<bool> {
    let mut odd = false;
    for i in 1..place.len() {
        for j in (0..i).rev() {
            match place[j].cmp(&place[j + 1]) {
                Ordering::Less => break,
                Ordering::Equal => return None,
                Ordering::Greater => place.swap(j, j + 1),
            }
            odd = !odd;
        }
    }
    Some(odd)
}

/// The contact form $dq - v\,dt$.
pub(crate) fn contact(
    g: &Graph,
    space: &Space,
    (q, v): (Expr, Expr),
    time: Expr,
) -> DifferentialForm {
    let moved = space.differential(g, time).scaled(g, v);
    space.differential(g, q).minus(g, &moved).expect("two 1-forms")
}
