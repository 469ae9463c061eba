//! Exterior calculus on random polynomial forms: its identities hold exactly.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_mechanics::{DifferentialForm, MixedDegrees, Space};

use crate::support::Numbers;

/// Four dimensions: forms of degree 1, 2 and 3 have several components.
struct World {
    g: Graph,
    space: Space,
    numbers: Numbers,
}

impl World {
    fn new(seed: u64) -> Self {
        let g = Graph::new();
        let coordinates: Vec<Expr> =
            ["x", "y", "z", "w"].iter().map(|name| g.symbol(name, Role::Free)).collect();
        Self { space: Space::new(coordinates), g, numbers: Numbers::new(seed) }
    }

    /// A polynomial of two random terms.
    fn function(&mut self) -> Expr {
        let term = |n: &mut Numbers| {
            let c = self.g.integer(1 + n.below(5) as i64);
            let x = self.space.coordinates[n.below(4)];
            let y = self.space.coordinates[n.below(4)];
            self.g.mul(c, self.g.mul(x, self.g.mul(y, y)))
        };
        let (a, b) = (term(&mut self.numbers), term(&mut self.numbers));
        self.g.sub(a, b)
    }

    fn field(&mut self) -> Vec<Expr> {
        (0..4).map(|_| self.function()).collect()
    }

    fn form(&mut self, degree: usize) -> DifferentialForm {
        let mut sum = DifferentialForm::zero(degree);
        for _ in 0..3 {
            let f = self.function();
            let mut term = DifferentialForm::function(&self.g, f);
            for _ in 0..degree {
                let f = self.function();
                term = term.wedge(&self.g, &self.space.gradient(&self.g, f));
            }
            sum = sum.plus(&self.g, &term).unwrap();
        }
        sum
    }

    #[track_caller]
    fn same(&self, a: &DifferentialForm, b: &DifferentialForm) {
        assert_eq!(a.degree, b.degree);
        let difference = a.minus(&self.g, b).unwrap();
        assert!(difference.is_zero(&self.g), "{}", self.space.to_text(&self.g, &difference));
    }
}

fn sign(g: &Graph, form: &DifferentialForm, odd: bool) -> DifferentialForm {
    form.scaled(g, g.integer(if odd { -1 } else { 1 }))
}

/// $\alpha\wedge\beta = (-1)^{pq}\beta\wedge\alpha$, $d(\alpha\wedge\beta) = d\alpha\wedge\beta + (-1)^p\alpha\wedge
/// d\beta$, and the same rule for $i_X$.
#[test]
fn products_obey_the_graded_rules() {
    for (seed, (p, q)) in [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2)].into_iter().enumerate() {
        let mut world = World::new(seed as u64);
        let (a, b, x) = (world.form(p), world.form(q), world.field());
        let (g, space) = (&world.g, &world.space);
        let product = a.wedge(g, &b);
        assert_eq!(product.degree, p + q);
        assert!(!a.is_zero(g) && !b.is_zero(g));
        world.same(&product, &sign(g, &b.wedge(g, &a), p * q % 2 == 1));
        let left = space.d(g, &a).wedge(g, &b);
        let right = sign(g, &a.wedge(g, &space.d(g, &b)), p % 2 == 1);
        world.same(&space.d(g, &product), &left.plus(g, &right).unwrap());
        if p > 0 {
            let left = a.interior(g, &x).wedge(g, &b);
            let right = sign(g, &a.wedge(g, &b.interior(g, &x)), p % 2 == 1);
            world.same(&product.interior(g, &x), &left.plus(g, &right).unwrap());
        }
    }
}

/// $dd = 0$, $i_Xi_X = 0$, $L_X = d\,i_X + i_X d$, and $L_X$ of a function is its derivative along $X$.
#[test]
fn derivatives_obey_cartans_formula() {
    for degree in 0..3 {
        let mut world = World::new(10 + degree as u64);
        let (a, x) = (world.form(degree), world.field());
        let (g, space) = (&world.g, &world.space);
        let da = space.d(g, &a);
        assert_eq!(da.degree, degree + 1);
        assert!(!da.is_zero(g) && space.d(g, &da).is_zero(g));
        let inside = da.interior(g, &x);
        assert_eq!(inside.degree, degree);
        assert!(inside.interior(g, &x).is_zero(g));
        let whole = if degree == 0 {
            let f = a.coefficient(g, &[]);
            world.same(&inside, &DifferentialForm::function(g, space.along(g, &x, f)));
            inside
        } else {
            space.d(g, &a.interior(g, &x)).plus(g, &inside).unwrap()
        };
        world.same(&space.lie(g, &x, &a), &whole);
    }
}

/// $\omega(X, Y) = i_Yi_X\omega$, which is skew; on the fields of the coordinates it is the coefficient.
#[test]
fn values_on_fields_are_interior_products() {
    let mut world = World::new(20);
    let (a, x, y) = (world.form(2), world.field(), world.field());
    let g = &world.g;
    let value = a.value(g, &[&x, &y]);
    let twice = a.interior(g, &x).interior(g, &y).coefficient(g, &[]);
    assert!(g.is_zero(g.sub(value, twice)) && !g.is_zero(value));
    assert!(g.is_zero(g.add(value, a.value(g, &[&y, &x]))));
    let unit = |k: usize| -> Vec<Expr> {
        (0..4).map(|i| if i == k { g.one() } else { g.zero() }).collect()
    };
    let there = a.value(g, &[&unit(1), &unit(3)]);
    assert!(g.is_zero(g.sub(there, a.coefficient(g, &[1, 3]))));
}

/// A pull-back commutes with $d$ and $\wedge$; of $dx$ it is the differential of the image.
#[test]
fn pull_backs_commute_with_the_derivative() {
    let mut world = World::new(30);
    let (a, b) = (world.form(1), world.form(1));
    let images = world.field();
    let (g, space) = (&world.g, &world.space);
    let pulled = |form: &DifferentialForm| space.pull_back(g, form, &images, space);
    world.same(&pulled(&space.d(g, &a)), &space.d(g, &pulled(&a)));
    world.same(&pulled(&a.wedge(g, &b)), &pulled(&a).wedge(g, &pulled(&b)));
    let dx = space.differential(g, space.coordinates[0]);
    world.same(&pulled(&dx), &space.gradient(g, images[0]));
}

/// Forms as text, and sums that have no meaning.
#[test]
fn forms_are_written_out() {
    let world = World::new(40);
    let (g, space) = (&world.g, &world.space);
    let [x, y, z, _] = space.coordinates[..] else { panic!("four") };
    let d = |e: Expr| space.differential(g, e);
    let one = DifferentialForm::function(g, g.one());
    assert_eq!(space.to_text(g, &one), "1");
    assert_eq!(space.to_text(g, &d(x)), "d(x)");
    let two = d(y).wedge(g, &d(x)).scaled(g, g.mul(g.integer(2), z));
    assert_eq!(
        space.to_text(g, &two.plus(g, &d(x).wedge(g, &d(z))).unwrap()).matches("/\\").count(),
        2
    );
    assert_eq!(space.to_text(g, &d(x).wedge(g, &d(z))), "d(x) /\\ d(z)");
    assert_eq!(space.to_text(g, &d(x).wedge(g, &d(x))), "0");
    assert_eq!(space.to_text(g, &d(x).scaled(g, g.integer(3))), "(3)*d(x)");
    assert_eq!(two.minus(g, &two).unwrap().terms().count(), 0, "terms that cancel are gone");
    let mixed = d(x).plus(g, &two).unwrap_err();
    assert_eq!(mixed, MixedDegrees { first: 1, second: 2 });
    assert!(mixed.to_string().contains("a 1-form and a 2-form"), "{mixed}");
    assert!(d(x).minus(g, &two).is_err());
}
