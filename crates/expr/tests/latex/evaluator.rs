//! A small evaluator of the LaTeX that the printer writes: an independent check of its brackets and signs.

use pfaff_expr::{Binary, Unary};

/// The value of a formula, given how each symbol is written and its value.
pub(crate) fn value(text: &str, symbols: &[(String, f64)]) -> f64 {
    let mut symbols = symbols.to_vec();
    symbols.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut reader = Reader { text, at: 0, symbols };
    let v = reader.or();
    reader.space();
    assert_eq!(reader.at, text.len(), "unread rest of {text}: {}", &text[reader.at..]);
    v
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    symbols: Vec<(String, f64)>,
}

const NAMED: [(&str, Unary); 17] = [
    ("\\sinh", Unary::Sinh),
    ("\\cosh", Unary::Cosh),
    ("\\tanh", Unary::Tanh),
    ("\\sin", Unary::Sin),
    ("\\cos", Unary::Cos),
    ("\\tan", Unary::Tan),
    ("\\arcsin", Unary::Asin),
    ("\\arccos", Unary::Acos),
    ("\\arctan", Unary::Atan),
    ("\\ln", Unary::Log),
    ("\\operatorname{erf}", Unary::Erf),
    ("\\operatorname{erfc}", Unary::Erfc),
    ("\\operatorname{sgn}", Unary::Sign),
    ("\\Gamma", Unary::Gamma),
    ("\\psi", Unary::Digamma),
    ("\\sqrt", Unary::Sqrt),
    ("\\mathrm{e}", Unary::Exp),
];

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, word: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn expect(&mut self, word: &str) {
        assert!(self.eat(word), "{word} expected at {} of {}", self.rest(), self.text);
    }

    fn or(&mut self) -> f64 {
        let mut v = self.and();
        while self.eat("\\lor") {
            let w = self.and();
            v = truth(v != 0.0 || w != 0.0);
        }
        v
    }

    fn and(&mut self) -> f64 {
        let mut v = self.not();
        while self.eat("\\land") {
            let w = self.not();
            v = truth(v != 0.0 && w != 0.0);
        }
        v
    }

    fn not(&mut self) -> f64 {
        if self.eat("\\lnot") {
            return truth(self.compare() == 0.0);
        }
        self.compare()
    }

    fn compare(&mut self) -> f64 {
        let a = self.sum();
        if self.eat("<") {
            truth(a < self.sum())
        } else if self.eat("\\le ") {
            truth(a <= self.sum())
        } else if self.eat("\\ne ") {
            truth(a != self.sum())
        } else if self.eat("=") {
            truth(a == self.sum())
        } else {
            a
        }
    }

    fn sum(&mut self) -> f64 {
        let mut v = if self.eat("-") { -self.product() } else { self.product() };
        loop {
            if self.eat("+") {
                v += self.product();
            } else if self.eat("-") {
                v -= self.product();
            } else {
                return v;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut v = self.factor();
        while self.eat("\\,") || self.eat("\\cdot ") {
            v *= self.factor();
        }
        v
    }

    /// An atom and its exponent; a fraction or a function has none of its own.
    fn factor(&mut self) -> f64 {
        let (v, may_be_raised) = self.atom();
        if self.eat("^") {
            assert!(may_be_raised, "exponent without brackets in {}", self.text);
            let n = self.group();
            return pfaff_expr::power(v, n);
        }
        v
    }

    fn group(&mut self) -> f64 {
        self.expect("{");
        let v = self.or();
        self.expect("}");
        v
    }

    fn atom(&mut self) -> (f64, bool) {
        self.space();
        if let Some((name, v)) = self.symbols.iter().find(|(n, _)| self.rest().starts_with(n)) {
            let (length, v) = (name.len(), *v);
            self.at += length;
            return (v, !name_is_raised(self.text, self.at, length));
        }
        if let Some(&(name, f)) = NAMED.iter().find(|(n, _)| self.rest().starts_with(n)) {
            self.at += name.len();
            return self.call(f);
        }
        if self.eat("\\pi") {
            return (std::f64::consts::PI, true);
        }
        if self.eat("\\frac") {
            let a = self.group();
            return (a / self.group(), false);
        }
        if self.eat("\\left|") {
            let v = self.or().abs();
            self.expect("\\right|");
            return (v, true);
        }
        if self.eat("\\begin{cases}") {
            let a = self.or();
            self.expect("& \\text{if } ");
            let c = self.or();
            self.expect("\\\\");
            let b = self.or();
            self.expect("& \\text{otherwise} \\end{cases}");
            return (if c == 0.0 { b } else { a }, false);
        }
        let pairs = [
            ("\\min", Binary::Min),
            ("\\max", Binary::Max),
            ("\\operatorname{atan2}", Binary::Atan2),
        ];
        for (name, f) in pairs {
            if self.eat(name) {
                let all = self.brackets().expect("arguments");
                return (f.value(all[0], all[1]), false);
            }
        }
        if let Some(all) = self.brackets() {
            return (all[0], true);
        }
        let length = self
            .rest()
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(self.rest().len());
        assert!(length > 0, "a number expected at {} of {}", self.rest(), self.text);
        let v = self.rest()[..length].parse().expect("digits");
        self.at += length;
        (v, true)
    }

    fn brackets(&mut self) -> Option<Vec<f64>> {
        let close = if self.eat("\\left(") {
            "\\right)"
        } else if self.eat("(") {
            ")"
        } else {
            return None;
        };
        let mut all = vec![self.or()];
        while self.eat(",\\,") {
            all.push(self.or());
        }
        self.expect(close);
        Some(all)
    }

    fn call(&mut self, f: Unary) -> (f64, bool) {
        match f {
            Unary::Sqrt => return (f.value(self.group()), true),
            Unary::Exp => {
                self.expect("^");
                return (f.value(self.group()), false);
            }
            Unary::Digamma if self.eat("^{(") => {
                let n = self.or();
                self.expect(")}");
                let all = self.brackets().expect("an argument");
                return (Binary::Polygamma.value(n, all[0]), false);
            }
            _ => {}
        }
        let n = if self.eat("^") { Some(self.group()) } else { None };
        let x = match self.brackets() {
            Some(all) => all[0],
            None => self.atom().0,
        };
        let v = f.value(x);
        (n.map_or(v, |n| pfaff_expr::power(v, n)), false)
    }
}

fn name_is_raised(text: &str, end: usize, length: usize) -> bool {
    text[end - length..end].contains("^{(")
}
