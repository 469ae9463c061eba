//! The same polynomial in other forms: squares of cosines by sines, products of sines and cosines by sums of angles,
//! and pairs of terms that an identity makes one. After [Fu06], TR5 to TR11.

use num_traits::One;

use super::atoms::{Angle, Atom, Atoms};
use super::polynomial::{Budget, Coefficient, Monomial, Polynomial};

/// Products of more sines and cosines than this are not written by multiple angles.
const MAX_DEGREE: i32 = 6;
/// Pairs are not looked for in longer sums.
const MAX_TERMS: usize = 300;

/// The angles of a polynomial, each once.
pub(super) fn angles(atoms: &Atoms, p: &Polynomial) -> Vec<Angle> {
    let mut found: Vec<Angle> = Vec::new();
    for atom in p.atoms() {
        if let Atom::Sin(angle) | Atom::Cos(angle) = atoms.atom(atom)
            && !found.contains(angle)
        {
            found.push(angle.clone());
        }
    }
    found
}

/// $c^2 = 1 - s^2$, or $C^2 = 1 + S^2$
pub(super) fn by_sines(
    atoms: &mut Atoms,
    p: &Polynomial,
    angle: &Angle,
    budget: &mut Budget,
) -> Option<Polynomial> {
    let (sine, cosine) = atoms.circle(angle);
    let mut square = Polynomial::one();
    let sign = if angle.hyperbolic { Coefficient::one() } else { -Coefficient::one() };
    square.add_term(Monomial::atom(sine, 2), &sign)?;
    let mut sum = Polynomial::zero();
    for (n, part) in p.by_power(cosine) {
        let mut part = part;
        for _ in 0..n.max(0) / 2 {
            part = part.times(&square, budget)?;
        }
        let rest = if n < 0 { n } else { n % 2 };
        sum =
            sum.plus(&part.times_term(&Monomial::atom(cosine, rest), &Coefficient::one())?)?;
    }
    Some(sum)
}

/// Products of sines and cosines as sums over angles.
pub(super) fn by_multiple_angles(atoms: &mut Atoms, p: &Polynomial) -> Option<Polynomial> {
    let half = Coefficient::new(1, 2);
    let mut sum = Polynomial::zero();
    for (m, k) in p.terms() {
        let mut rest = m.clone();
        // cos and sin of angles, as (is_sine, angle, coefficient)
        let mut waves = vec![(false, Vec::new(), *k)];
        let mut degree = 0;
        for &(atom, n) in m.factors() {
            let (is_sine, angle) = match atoms.atom(atom) {
                Atom::Sin(a) if !a.hyperbolic => (true, a.clone()),
                Atom::Cos(a) if !a.hyperbolic => (false, a.clone()),
                _ => continue,
            };
            degree += n;
            if n < 0 || degree > MAX_DEGREE {
                return None;
            }
            rest = rest.with(atom, 0);
            for _ in 0..n {
                waves = waves
                    .into_iter()
                    .flat_map(|(sine, multiples, k)| {
                        let before = Angle { hyperbolic: false, multiples };
                        let (up, down) = (before.plus(&angle, 1), before.plus(&angle, -1));
                        let k = k * half;
                        match (sine, is_sine) {
                            (false, false) => [(false, up, k), (false, down, k)],
                            (true, true) => [(false, up, -k), (false, down, k)],
                            (true, false) => [(true, up, k), (true, down, k)],
                            (false, true) => [(true, up, k), (true, down, -k)],
                        }
                    })
                    .collect();
            }
        }
        for (is_sine, multiples, k) in waves {
            let (angle, turned) = Angle::signed(false, multiples);
            let k = if is_sine && turned { -k } else { k };
            if angle.multiples.is_empty() {
                if !is_sine {
                    sum.add_term(rest.clone(), &k)?;
                }
                continue;
            }
            let (s, c) = atoms.circle(&angle);
            let wave = Monomial::atom(if is_sine { s } else { c }, 1);
            sum.add_term(rest.times(&wave), &k)?;
        }
    }
    Some(sum)
}

/// $\cos 2a = 1 - 2\sin^2 a$, or $2\cos^2 a - 1$, in a sum without $\sin 2a$.
pub(super) fn by_half_angle(
    atoms: &mut Atoms,
    p: &Polynomial,
    angle: &Angle,
    is_sine: bool,
    budget: &mut Budget,
) -> Option<Polynomial> {
    if angle.hyperbolic || angle.multiples.iter().any(|m| m.1 % 2 != 0) {
        return None;
    }
    let multiples = angle.multiples.iter().map(|&(g, n)| (g, n / 2)).collect();
    let half = Angle { hyperbolic: false, multiples };
    let ((sine, cosine), (s, c)) = (atoms.circle(angle), atoms.circle(&half));
    let sign = if is_sine { -Coefficient::one() } else { Coefficient::one() };
    let two = sign + sign;
    let mut square = Polynomial::term(Monomial::one(), -sign);
    square.add_term(Monomial::atom(if is_sine { s } else { c }, 2), &two)?;
    let mut sum = Polynomial::zero();
    for (n, part) in p.by_power(cosine) {
        if n < 0 || part.atoms().contains(&sine) {
            return None;
        }
        let mut part = part;
        for _ in 0..n {
            part = part.times(&square, budget)?;
        }
        sum = sum.plus(&part)?;
    }
    Some(sum)
}

/// Terms that an identity makes one, as long as there are some.
pub(super) fn paired(atoms: &mut Atoms, p: &Polynomial) -> Polynomial {
    let mut p = p.clone();
    if p.len() > MAX_TERMS {
        return p;
    }
    while let Some(next) = next_pair(atoms, &p) {
        p = next;
    }
    p
}

fn next_pair(atoms: &mut Atoms, p: &Polynomial) -> Option<Polynomial> {
    let all = angles(atoms, p);
    let circles: Vec<(u32, u32)> = all.iter().map(|a| atoms.circle(a)).collect();
    let has_quotients = p.terms().any(|(m, _)| m.factors().iter().any(|&(_, n)| n < 0));
    for (m, k) in p.terms() {
        for (angle, &(s, c)) in all.iter().zip(&circles) {
            // Squares of a sine and a cosine differ: without one of them, the other term would divide by it.
            if !has_quotients && m.exponent(s) == 0 && m.exponent(c) == 0 {
                continue;
            }
            if let Some(made) = pythagoras(p, m, k, (s, c), angle.hyperbolic) {
                return Some(made);
            }
        }
        // Of both angles the term has a factor.
        let has = |atom: u32| m.exponent(atom) >= 1;
        let within: Vec<usize> = (0..all.len())
            .filter(|&i| !all[i].hyperbolic && (has(circles[i].0) || has(circles[i].1)))
            .collect();
        for &i in &within {
            for &j in &within {
                if i != j {
                    let (a, b) = ((&all[i], circles[i]), (&all[j], circles[j]));
                    let made = sum_of_angles(atoms, p, m, k, a, b);
                    if made.is_some() {
                        return made;
                    }
                }
            }
        }
    }
    None
}

/// $k X c^2 + k X s^2 = k X$, $k X - k X c^2 = k X s^2$, $k X - k X s^2 = k X c^2$
fn pythagoras(
    p: &Polynomial,
    m: &Monomial,
    k: &Coefficient,
    (s, c): (u32, u32),
    hyperbolic: bool,
) -> Option<Polynomial> {
    let sign = if hyperbolic { -Coefficient::one() } else { Coefficient::one() };
    let replace = |other: &Monomial, by: Monomial, k: Coefficient| {
        let mut made = p.clone();
        made.remove(m);
        made.remove(other);
        made.add_term(by, &k)?;
        Some(made)
    };
    let bare = m.with(c, m.exponent(c) - 2);
    let sines = bare.times(&Monomial::atom(s, 2));
    // k c² X ± k s² X = k X
    if p.coefficient(&sines) == Some(&(sign * k)) {
        return replace(&sines, bare, *k);
    }
    // X − c² X = s² X; hyperbolic: c² X − X = s² X
    if p.coefficient(&bare) == Some(&-k) {
        return replace(&bare, sines, -(sign * k));
    }
    let bare = m.with(s, m.exponent(s) - 2);
    let cosines = bare.times(&Monomial::atom(c, 2));
    // X − s² X = c² X; hyperbolic: X + s² X = c² X
    if p.coefficient(&bare) == Some(&-(sign * k)) {
        return replace(&bare, cosines, -(sign * k));
    }
    None
}

/// $\cos a\cos b \mp \sin a\sin b$ and $\sin a\cos b \pm \cos a\sin b$ with any factor.
fn sum_of_angles(
    atoms: &mut Atoms,
    p: &Polynomial,
    m: &Monomial,
    k: &Coefficient,
    (a, (sa, ca)): (&Angle, (u32, u32)),
    (b, (sb, cb)): (&Angle, (u32, u32)),
) -> Option<Polynomial> {
    let one = |m: &Monomial, x: u32, y: u32| {
        let (i, j) = (m.exponent(x), m.exponent(y));
        (i >= 1 && j >= 1).then(|| m.with(x, i - 1).with(y, j - 1))
    };
    let product = |m: &Monomial, x: u32, y: u32| {
        m.times(&Monomial::atom(x, 1)).times(&Monomial::atom(y, 1))
    };
    let mut replace = |other: &Monomial, rest: &Monomial, up: bool, sine: bool| {
        let (angle, turned) = Angle::signed(false, a.plus(b, if up { 1 } else { -1 }));
        let k = if sine && turned { -*k } else { *k };
        let mut made = p.clone();
        made.remove(m);
        made.remove(other);
        if angle.multiples.is_empty() {
            if !sine {
                made.add_term(rest.clone(), &k)?;
            }
            return Some(made);
        }
        let (s, c) = atoms.circle(&angle);
        made.add_term(rest.times(&Monomial::atom(if sine { s } else { c }, 1)), &k)?;
        Some(made)
    };
    if let Some(rest) = one(m, ca, cb) {
        let other = product(&rest, sa, sb);
        match p.coefficient(&other) {
            Some(j) if *j == -*k => return replace(&other, &rest, true, false),
            Some(j) if j == k => return replace(&other, &rest, false, false),
            _ => {}
        }
    }
    if let Some(rest) = one(m, sa, cb) {
        let other = product(&rest, ca, sb);
        match p.coefficient(&other) {
            Some(j) if j == k => return replace(&other, &rest, true, true),
            Some(j) if *j == -*k => return replace(&other, &rest, false, true),
            _ => {}
        }
    }
    None
}

/// $2 s c = \sin 2a$, $c^2 - s^2 = \cos 2a$ and $2 c^2 - 1 = \cos 2a$ where nothing of the squares is left over.
pub(super) fn doubled(atoms: &mut Atoms, p: &Polynomial) -> Option<Polynomial> {
    let mut p = p.clone();
    for angle in angles(atoms, &p) {
        if angle.hyperbolic {
            continue;
        }
        let (s, c) = atoms.circle(&angle);
        let (twice, _) = Angle::signed(false, angle.plus(&angle, 1));
        let (s2, c2) = atoms.circle(&twice);
        let terms: Vec<(Monomial, Coefficient)> = p
            .terms()
            .filter(|(m, _)| m.exponent(c) >= 1)
            .map(|(m, k)| (m.clone(), *k))
            .collect();
        for (m, k) in terms {
            let Some(&now) = p.coefficient(&m) else { continue };
            if now != k {
                continue;
            }
            if m.exponent(c) == 2 {
                let bare = m.with(c, 0);
                let sines = bare.times(&Monomial::atom(s, 2));
                let half = k * Coefficient::new(1, 2);
                if p.coefficient(&bare) == Some(&-half) {
                    p.remove(&m);
                    p.remove(&bare);
                    p.add_term(bare.times(&Monomial::atom(c2, 1)), &half)?;
                } else if p.coefficient(&sines) == Some(&-k) {
                    p.remove(&m);
                    p.remove(&sines);
                    p.add_term(bare.times(&Monomial::atom(c2, 1)), &k)?;
                }
            } else if m.exponent(s) == 1 && m.exponent(c) == 1 && k.numer() % 2 == 0 {
                let bare = m.with(s, 0).with(c, 0);
                p.remove(&m);
                let half = k * Coefficient::new(1, 2);
                p.add_term(bare.times(&Monomial::atom(s2, 1)), &half)?;
            }
        }
    }
    Some(p)
}
