//! The library: functions of the positions that may stand before a velocity.

/// A factor of a function: nothing, a coordinate, or the sine or cosine of it or of twice the angle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    One,
    Linear(usize),
    Sine(usize),
    Cosine(usize),
    DoubleSine(usize),
    DoubleCosine(usize),
}

impl Factor {
    fn value(self, q: &[f64]) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Linear(i) => q[i],
            Self::Sine(i) => libm::sin(q[i]),
            Self::Cosine(i) => libm::cos(q[i]),
            Self::DoubleSine(i) => libm::sin(2.0 * q[i]),
            Self::DoubleCosine(i) => libm::cos(2.0 * q[i]),
        }
    }

    /// Its coordinate, and the derivative by it.
    fn slope(self, q: &[f64]) -> Option<(usize, f64)> {
        match self {
            Self::One => None,
            Self::Linear(i) => Some((i, 1.0)),
            Self::Sine(i) => Some((i, libm::cos(q[i]))),
            Self::Cosine(i) => Some((i, -libm::sin(q[i]))),
            Self::DoubleSine(i) => Some((i, 2.0 * libm::cos(2.0 * q[i]))),
            Self::DoubleCosine(i) => Some((i, -2.0 * libm::sin(2.0 * q[i]))),
        }
    }

    fn text(self, names: &[String]) -> String {
        match self {
            Self::One => String::new(),
            Self::Linear(i) => names[i].clone(),
            Self::Sine(i) => format!("sin({})", names[i]),
            Self::Cosine(i) => format!("cos({})", names[i]),
            Self::DoubleSine(i) => format!("sin(2*{})", names[i]),
            Self::DoubleCosine(i) => format!("cos(2*{})", names[i]),
        }
    }
}

/// A product of two factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function(Factor, Factor);

impl Function {
    pub(super) fn value(self, q: &[f64]) -> f64 {
        self.0.value(q) * self.1.value(q)
    }

    /// Adds a multiple of its gradient.
    pub(super) fn add_gradient(self, q: &[f64], factor: f64, gradient: &mut [f64]) {
        for (own, other) in [(self.0, self.1), (self.1, self.0)] {
            if let Some((i, slope)) = own.slope(q) {
                gradient[i] += factor * slope * other.value(q);
            }
        }
    }

    /// How many factors it has.
    pub(super) fn complexity(self) -> usize {
        [self.0, self.1].iter().filter(|f| **f != Factor::One).count()
    }

    /// A factor that some functions have in common.
    pub(super) fn common_factor(functions: &[Self]) -> Option<Factor> {
        let first = functions.first()?;
        let factors = [first.0, first.1].into_iter().filter(|f| *f != Factor::One);
        factors.into_iter().find(|f| functions.iter().all(|own| own.without(*f).is_some()))
    }

    /// What is left without a factor.
    pub(super) fn without(self, factor: Factor) -> Option<Self> {
        match self {
            Self(a, b) if a == factor => Some(Self(b, Factor::One)),
            Self(a, b) if b == factor => Some(Self(a, Factor::One)),
            Self(..) => None,
        }
    }

    /// As the model language writes it; empty for 1.
    pub(super) fn text(self, names: &[String]) -> String {
        let parts = [self.0, self.1].map(|f| f.text(names));
        let parts: Vec<&str> =
            parts.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
        if let [a, b] = parts[..]
            && a == b
        {
            return format!("{a}^2");
        }
        parts.join("*")
    }
}

/// The libraries that are tried one after another, of at most so many functions: with products of two sines and
/// cosines, with products of a coordinate and another factor, with sines and cosines of double angles. `is_angle` says
/// of which coordinates sines and cosines are meaningful.
pub(super) fn libraries(is_angle: &[bool], most: usize) -> Vec<Vec<Function>> {
    let n = is_angle.len();
    let circular = |i: usize| [Factor::Sine(i), Factor::Cosine(i)];
    let angles: Vec<usize> = (0..n).filter(|&i| is_angle[i]).collect();
    let alone = |f: Factor| Function(f, Factor::One);
    let mut first = vec![alone(Factor::One)];
    first.extend(angles.iter().flat_map(|&i| circular(i)).map(alone));
    first.extend((0..n).map(|i| alone(Factor::Linear(i))));
    let mut second = first.clone();
    for (k, &i) in angles.iter().enumerate() {
        for &j in &angles[k + 1..] {
            let pairs =
                circular(i).into_iter().flat_map(|a| circular(j).map(|b| Function(a, b)));
            second.extend(pairs);
        }
    }
    let mut third = first.clone();
    for i in 0..n {
        third.extend((i..n).map(|j| Function(Factor::Linear(i), Factor::Linear(j))));
        let others = angles.iter().filter(|&&j| j != i).flat_map(|&j| circular(j));
        third.extend(others.map(|f| Function(Factor::Linear(i), f)));
    }
    let double = |i: usize| [Factor::DoubleSine(i), Factor::DoubleCosine(i)];
    let mut fourth = first.clone();
    fourth.extend(angles.iter().flat_map(|&i| double(i)).map(alone));
    if second.len() > most {
        second = first;
    }
    [second, third, fourth].into_iter().filter(|library| library.len() <= most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_the_values() {
        let names = ["x", "phi"].map(str::to_owned);
        let q = [0.7, -0.4];
        for f in libraries(&[true, true], 100).concat() {
            let mut gradient = [0.0; 2];
            f.add_gradient(&q, 1.0, &mut gradient);
            for i in 0..2 {
                let mut moved = [q, q];
                moved[0][i] += 1e-6;
                moved[1][i] -= 1e-6;
                let difference = (f.value(&moved[0]) - f.value(&moved[1])) / 2e-6;
                assert!((gradient[i] - difference).abs() < 1e-9, "{}", f.text(&names));
            }
        }
        let square = Function(Factor::Linear(1), Factor::Linear(1));
        assert_eq!(square.text(&names), "phi^2");
        let pair = Function(Factor::Sine(1), Factor::Cosine(0));
        assert_eq!((pair.text(&names).as_str(), pair.complexity()), ("sin(phi)*cos(x)", 2));
    }
}
