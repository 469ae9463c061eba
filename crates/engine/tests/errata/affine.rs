//! Slides 17 and 18 of Gołubowska, Kovalchuk and Sławianowski 2013 index by index, for g = η = 1: the
//! variational derivative of T_vak, and the explicit form of the equations of d'Alembert.

use std::ops::{Add, Mul, Sub};

use pfaff::Run;

use crate::support::matrix::{self, Matrix, chain, distance, half, inverse, plus, product};
use crate::support::{self, Random};

/// A number with its first and second derivative by time.
#[derive(Clone, Copy)]
struct Jet([f64; 3]);

impl Jet {
    /// d/dt; what would be the third derivative is never looked at.
    fn rate(self) -> Self {
        Self([self.0[1], self.0[2], f64::NAN])
    }
}

impl Add for Jet {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self([0, 1, 2].map(|k| self.0[k] + o.0[k]))
    }
}

impl Sub for Jet {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self([0, 1, 2].map(|k| self.0[k] - o.0[k]))
    }
}

impl Mul for Jet {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, o.0);
        Self([a * x, a * y + b * x, a * z + 2.0 * b * y + c * x])
    }
}

/// Symmetric A with its derivatives, its inverse, and J, read by indices.
struct Path {
    n: usize,
    a: [Matrix; 3],
    inverse: [Matrix; 3],
    j: Matrix,
}

impl Path {
    fn new(n: usize, a: [Matrix; 3], j: Matrix) -> Self {
        let i = inverse(n, &a[0]);
        let turned = |x: &[f64]| chain(n, &[&i, x, &i]);
        let first: Matrix = turned(&a[1]).iter().map(|x| -x).collect();
        // (A⁻¹)″ = 2A⁻¹A′A⁻¹A′A⁻¹ − A⁻¹A″A⁻¹
        let twice = chain(n, &[&i, &a[1], &i, &a[1], &i]);
        let second =
            plus(&twice.iter().map(|x| 2.0 * x).collect::<Matrix>(), -1.0, &turned(&a[2]));
        Self { n, a, inverse: [i, first, second], j }
    }

    fn random(n: usize, random: &mut Random) -> Self {
        let a = matrix::positive(n, 0.6, random);
        let rates = [(); 2].map(|()| half(n, &matrix::random(n, random), 1.0));
        let [first, second] = rates;
        Self::new(n, [a, first, second], matrix::positive(n, 0.5, random))
    }

    fn a(&self, i: usize, k: usize) -> Jet {
        Jet([0, 1, 2].map(|d| self.a[d][i * self.n + k]))
    }

    fn i(&self, i: usize, k: usize) -> Jet {
        Jet([0, 1, 2].map(|d| self.inverse[d][i * self.n + k]))
    }

    fn j(&self, i: usize, k: usize) -> Jet {
        Jet([self.j[i * self.n + k], 0.0, 0.0])
    }

    fn sum(&self, term: impl Fn(usize) -> Jet) -> Jet {
        (0..self.n).map(term).fold(Jet([0.0; 3]), Add::add)
    }

    /// The matrix of the values of `entry`, symmetrised as by the round brackets of the slides.
    fn symmetric(&self, entry: impl Fn(usize, usize) -> f64) -> Matrix {
        let n = self.n;
        let all: Matrix = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        half(n, &all, 1.0)
    }

    /// Entry (K, L) of A⁻¹A′A.
    fn moved(&self, k: usize, l: usize) -> Jet {
        self.sum(|e| self.sum(|c| self.i(k, e) * self.a(e, c).rate() * self.a(c, l)))
    }

    /// The right-hand side of slide 17, its eight terms in their order.
    fn slide_17(&self) -> Matrix {
        let rate = |i, k| self.a(i, k).rate();
        self.symmetric(|a, b| {
            let first = self.sum(|l| rate(a, l).rate() * self.j(b, l));
            let second = self.sum(|l| self.moved(a, l) * self.j(b, l)).rate();
            let pair = |left: &dyn Fn(usize, usize) -> Jet| {
                self.sum(|k| {
                    self.sum(|e| {
                        self.sum(|d| left(k, e) * self.i(k, a) * self.a(b, d) * self.j(e, d))
                    })
                })
            };
            let third = pair(&rate).rate();
            let fourth = pair(&|k, f| self.moved(k, f)).rate();
            let quartet = |left: &dyn Fn(usize, usize) -> Jet| {
                self.sum(|k| {
                    self.sum(|e| {
                        self.sum(|g| {
                            let right = self.sum(|f| {
                                self.sum(|d| rate(f, d) * self.a(d, g)) * self.i(b, f)
                            });
                            left(k, e) * right * self.i(k, a) * self.j(e, g)
                        })
                    })
                })
            };
            let fifth = quartet(&rate);
            let sixth = quartet(&|k, m| self.moved(k, m));
            let last = |left: &dyn Fn(usize, usize) -> Jet| {
                self.sum(|k| {
                    self.sum(|d| {
                        left(k, d) * self.sum(|e| self.i(k, e) * rate(e, a)) * self.j(b, d)
                    })
                })
            };
            let seventh = last(&rate);
            let eighth = last(&|k, d| self.moved(k, d));
            let lost = [first, second, third, fourth, fifth, sixth];
            let won = seventh.0[0] + eighth.0[0];
            (won - lost.iter().map(|x| x.0[0]).sum::<f64>()) / 4.0
        })
    }

    /// The left-hand side of slide 18's explicit form. `first`: d²/dt² acts on A^{D)A} as well; `rates`: so
    /// do the other derivatives.
    fn slide_18(&self, first: bool, rates: bool) -> Matrix {
        self.symmetric(|c, d| {
            let n = self.n;
            let mut total = 0.0;
            for a in 0..n {
                let factor = self.a(d, a);
                let still = Jet([factor.0[0], 0.0, 0.0]);
                // Where the rates act on it, the factor stands inside with its own; else outside.
                let (inside, factor) = if rates { (factor, still) } else { (still, still) };
                // A⁻¹ d/dt(A^{FC}·A^{DA}) − d/dt(A)·A⁻¹·A^{DA}
                let bracket = |e: usize| {
                    self.sum(|f| {
                        self.i(e, f) * (self.a(f, c) * inside).rate()
                            - self.a(e, f).rate() * self.i(f, c) * inside
                    })
                };
                let commutator = |e: usize, f: usize| {
                    self.sum(|g| {
                        self.i(e, g) * self.a(g, f).rate() - self.a(e, g).rate() * self.i(g, f)
                    })
                };
                for b in 0..n {
                    let whole = if first { self.a(d, a) } else { factor };
                    let leading = (self.a(b, c) * whole).0[2];
                    let second = self.sum(|e| {
                        Jet([self.a(b, e).0[0] * bracket(e).rate().0[0] / 2.0, 0.0, 0.0])
                    });
                    let third = self.sum(|e| self.a(b, e).rate() * bracket(e));
                    let fourth = self
                        .sum(|e| self.a(b, e) * self.sum(|f| commutator(e, f) * bracket(f)));
                    let term = leading - second.0[0] - third.0[0] + fourth.0[0] / 4.0;
                    total += self.j(a, b).0[0] * term;
                }
            }
            total
        })
    }

    /// AJA″ − ½AJA C′ − AJA′C + ¼AJA C², its symmetric part: (A4) of docs/affine.md, which `affine_views.rs`
    /// finds along motions.
    fn tensor_form(&self) -> Matrix {
        let n = self.n;
        let ([a, ad, add], [i, id, _]) = (&self.a, &self.inverse);
        let c = plus(&product(n, i, ad), -1.0, &product(n, ad, i));
        let left = plus(&product(n, id, ad), 1.0, &product(n, i, add));
        let right = plus(&product(n, add, i), 1.0, &product(n, ad, id));
        let cd = plus(&left, -1.0, &right);
        let aj = product(n, a, &self.j);
        let aja = product(n, &aj, a);
        let two = plus(&product(n, &aj, add), -0.5, &product(n, &aja, &cd));
        let three = plus(&two, -1.0, &chain(n, &[&aj, ad, &c]));
        half(n, &plus(&three, 0.25, &chain(n, &[&aja, &c, &c])), 1.0)
    }
}

/// Slide 18: d/dt acts on A^{F(C} alone and d²/dt² on A^{B(C}. Read as printed, with A^{D)A} under the
/// derivatives, the explicit form is not the tensor form above it.
#[test]
fn explicit_form_of_slide_18() {
    let mut random = Random::new(31);
    for case in 0..20 {
        let path = Path::random(2 + case % 3, &mut random);
        let form = path.tensor_form();
        let size = form.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        // Some hundred products of numbers of this size, with A⁻¹ of condition 10 and less.
        let off = distance(&path.slide_18(false, false), &form) / size;
        assert!(off <= 1e-11, "{case}: {off:e}");
        for (first, rates) in [(true, true), (false, true), (true, false)] {
            let off = distance(&path.slide_18(first, rates), &form) / size;
            assert!(off >= 1e-2, "{case}, {first} {rates}: the printed form fails ({off:e})");
        }
    }
}

/// Slide 17 is the variational derivative of T_vak with ⅛ before its first term, not with the printed ½: A
/// moves by T_vak − tr(BA), and δT_vak/δA = B for any B.
#[test]
fn variational_derivative_of_slide_17() {
    let mut random = Random::new(32);
    for case in 0..10 {
        let n = 2 + case % 2;
        let start = Path::random(n, &mut random);
        let load = half(n, &matrix::random(n, &mut random), 1.0);
        let entries: Vec<(usize, usize)> =
            (0..n).flat_map(|i| (i..n).map(move |k| (i, k))).collect();
        let place = |i: usize, k: usize| {
            entries.iter().position(|&e| e == (i.min(k), i.max(k))).expect("an entry")
        };
        let rows: Vec<String> = (0..n)
            .map(|i| {
                let row: Vec<String> =
                    (0..n).map(|k| format!("a[{}]", place(i, k) + 1)).collect();
                format!("[{}]", row.join(", "))
            })
            .collect();
        let list = |m: &[f64]| {
            let all: Vec<String> =
                entries.iter().map(|&(i, k)| format!("({:?})", m[i * n + k])).collect();
            format!("[{}]", all.join(", "))
        };
        let off = |coefficient: &str| {
            let text = format!(
                "coordinates a[{}]\nparameters J = {}, B = {}\nlet A = [{}]\nlet Y = inv(A)*A'*A
lagrangian {coefficient}*tr(A'*A'*J) + tr(A'*Y*J)/4 + tr(transpose(Y)*Y*J)/8 - tr(B*A)
initial a = {}, a' = {}\nobserve acc = A''\nsolve t = 0..0.01",
                entries.len(),
                matrix::text(n, &start.j),
                matrix::text(n, &load),
                rows.join(", "),
                list(&start.a[0]),
                list(&start.a[1])
            );
            let request = Run { at: Some(vec![0.0]), ..Run::default() };
            let motion = support::run(&support::model(&text), &request);
            let acceleration: Matrix = motion.observed.iter().map(|s| s.values[0]).collect();
            let [a, ad, _] = &start.a;
            let path = Path::new(n, [a.clone(), ad.clone(), acceleration], start.j.clone());
            distance(&path.slide_17(), &load)
        };
        // The engine solves for A″ with a mass of condition some hundred; nothing is integrated.
        assert!(off("1/8") <= 1e-10, "{case}: {:e}", off("1/8"));
        assert!(off("1/2") >= 1e-2, "{case}: the printed coefficient fails");
    }
}
