//! What the tests share: a reader of expressions, random numbers and random expressions.
//!
//! Names that begin with `q` or `phi` are coordinates, `t` is the time, names with a capital are parameters,
//! all others are free.

use pfaff_expr::{Binary, Expr, Graph, Memory, Relation, Role, Table, Unary, number};

/// Reads an expression of the model language; a mistake in a test's text is a failure of the test.
pub(crate) fn parse(g: &Graph, text: &str) -> Expr {
    let mut reader = Reader { g, text, at: 0 };
    let e = reader.expression(0);
    reader.space();
    assert_eq!(reader.at, text.len(), "unread rest of `{text}`: `{}`", &text[reader.at..]);
    e
}

struct Reader<'a> {
    g: &'a Graph,
    text: &'a str,
    at: usize,
}

/// Sign, how tightly it binds on its left and on its right.
const OPERATORS: [(&str, u8, u8); 13] = [
    (" or ", 1, 2),
    (" and ", 3, 4),
    ("<=", 7, 8),
    (">=", 7, 8),
    ("==", 7, 8),
    ("!=", 7, 8),
    ("<", 7, 8),
    (">", 7, 8),
    ("+", 9, 10),
    ("-", 9, 10),
    ("*", 11, 12),
    ("/", 11, 12),
    ("^", 16, 13),
];

impl Reader<'_> {
    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn eat(&mut self, word: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn expect(&mut self, word: &str) {
        assert!(self.eat(word), "`{word}` expected at `{}` of `{}`", self.rest(), self.text);
    }

    fn expression(&mut self, least: u8) -> Expr {
        let g = self.g;
        let mut left = if self.eat("-") {
            let operand = self.expression(13);
            g.neg(operand)
        } else if self.eat("not ") {
            let operand = self.expression(5);
            g.logic_not(operand)
        } else {
            self.postfix()
        };
        loop {
            self.space();
            let rest = self.rest().to_string();
            // Words need their spaces: look one back for the blank before `and`.
            let padded = format!(" {rest}");
            let Some(&(sign, l, r)) = OPERATORS
                .iter()
                .find(|(s, ..)| rest.starts_with(s) || (s.len() > 2 && padded.starts_with(s)))
            else {
                return left;
            };
            if l < least {
                return left;
            }
            self.expect(sign.trim());
            let right = self.expression(r);
            left = match sign {
                "+" => g.add(left, right),
                "-" => g.sub(left, right),
                "*" => g.mul(left, right),
                "/" => g.div(left, right),
                "^" => g.pow(left, right),
                "<" => g.compare(Relation::Less, left, right),
                "<=" => g.compare(Relation::LessEqual, left, right),
                ">" => g.compare(Relation::Less, right, left),
                ">=" => g.compare(Relation::LessEqual, right, left),
                "==" => g.compare(Relation::Equal, left, right),
                "!=" => g.compare(Relation::NotEqual, left, right),
                " and " => g.logic_and(left, right),
                _ => g.logic_or(left, right),
            };
        }
    }

    fn postfix(&mut self) -> Expr {
        self.space();
        if self.eat("(") {
            let e = self.expression(0);
            self.expect(")");
            return self.primes(e);
        }
        let end = |s: &str, f: fn(char) -> bool| s.find(|c| !f(c)).unwrap_or(s.len());
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let length = end(self.rest(), |c| c.is_ascii_digit() || c == '.');
            let digits = self.rest()[..length].to_string();
            self.at += length;
            let places = digits.split_once('.').map_or(0, |(_, f)| f.len()) as i32;
            let value = number::decimal(&digits.replace('.', ""), -places);
            return self.g.number(value.expect("a short number"));
        }
        let length = end(self.rest(), |c| c.is_alphanumeric() || c == '_');
        assert!(length > 0, "an operand expected at `{}` of `{}`", self.rest(), self.text);
        let mut name = self.rest()[..length].to_string();
        self.at += length;
        if self.rest().starts_with('(') {
            self.at += 1;
            let e = self.call(&name);
            return self.primes(e);
        }
        if self.rest().starts_with('[') {
            let close = self.rest().find(']').expect("a closing bracket") + 1;
            name += &self.rest()[..close];
            self.at += close;
        }
        let e = match name.as_str() {
            "pi" => self.g.pi(),
            "t" => self.g.symbol("t", Role::Time),
            _ if name.starts_with('q') || name.starts_with("phi") => {
                self.g.symbol(&name, Role::Coordinate { order: 0 })
            }
            _ if name.starts_with(char::is_uppercase) => self.g.symbol(&name, Role::Parameter),
            _ => self.g.symbol(&name, Role::Free),
        };
        self.primes(e)
    }

    fn primes(&mut self, mut e: Expr) -> Expr {
        while self.rest().starts_with('\'') {
            self.at += 1;
            e = self.g.total_derivative(e);
        }
        e
    }

    fn call(&mut self, name: &str) -> Expr {
        let g = self.g;
        if name == "mu" {
            let close = self.rest().find(')').expect("a closing bracket");
            let constraint = self.rest()[..close].to_string();
            self.at += close + 1;
            return g.symbol(&constraint, Role::Multiplier { order: 0 });
        }
        let mut a = vec![self.expression(0)];
        let mut strings = Vec::new();
        while self.eat(",") {
            if self.eat("\"") {
                let close = self.rest().find('"').expect("a closing quote");
                strings.push(self.rest()[..close].to_string());
                self.at += close + 1;
            } else {
                a.push(self.expression(0));
            }
        }
        self.expect(")");
        let memory = |kind| g.memory(kind, a[0], a[1]);
        match name {
            "if" => g.choose(a[0], a[1], a[2]),
            "mittag_leffler" => g.mittag_leffler(a[0], a[1], a[2]),
            "table" => g.table(table(&strings[0], &strings[1]), a[0]),
            "caputo" => memory(Memory::Caputo),
            "rl" => memory(Memory::RiemannLiouville),
            "caputo_right" => memory(Memory::CaputoRight),
            "rl_right" => memory(Memory::RiemannLiouvilleRight),
            "integral" => memory(Memory::Integral),
            "memory" => g.memory(Memory::Kernel, a[1], a[0]),
            "mean" => g.memory(Memory::Mean, a[0], g.zero()),
            _ => {
                if let Some(&f) = Unary::ALL.iter().find(|f| f.name() == name) {
                    return g.unary(f, a[0]);
                }
                let f = Binary::ALL.iter().find(|f| f.name() == name);
                g.binary(*f.unwrap_or_else(|| panic!("no function `{name}`")), a[0], a[1])
            }
        }
    }
}

/// Some data on $[-10, 10]$.
pub(crate) fn table(file: &str, column: &str) -> Table {
    let x: Vec<f64> = (-10..=10).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| libm::sin(*x) + 0.1 * x).collect();
    Table::new(file, column, &x, &y).expect("the abscissa grows")
}

/// Random numbers that are the same on every run (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Between `low` and `high`.
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Which nodes a random expression may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Arithmetic and functions that have a value for all arguments.
    Smooth,
    /// Every function of the language that has a value.
    All,
    /// Also what can only be printed: memory operators, conditions, tables.
    Printable,
}

/// A random expression of about `size` nodes over the symbols.
pub(crate) fn random(
    g: &Graph,
    r: &mut Random,
    symbols: &[Expr],
    size: usize,
    kind: Kind,
) -> Expr {
    if size <= 1 {
        return match r.below(8) {
            0 => g.integer(r.below(9) as i64 - 4),
            1 => g.fraction(r.below(19) as i64 - 9, 1 + r.below(7) as i64),
            2 if kind == Kind::Printable => {
                [g.pi(), g.fraction(12_345, 1000), g.fraction(-1, 40)][r.below(3)]
            }
            _ => symbols[r.below(symbols.len())],
        };
    }
    let left = 1 + r.below(size - 1);
    let part = |r: &mut Random, n: usize| random(g, r, symbols, n, kind);
    match r.below(if kind == Kind::Printable { 20 } else { 13 }) {
        0..=1 => g.add(part(r, left), part(r, size - left)),
        2..=3 => g.sub(part(r, left), part(r, size - left)),
        4..=6 => g.mul(part(r, left), part(r, size - left)),
        7 => {
            let below = part(r, size - left);
            let below = if kind == Kind::Smooth {
                g.add(g.mul(below, below), g.fraction(3, 2))
            } else {
                below
            };
            g.div(part(r, left), below)
        }
        8 => g.pow(part(r, size - 1), g.integer(r.below(5) as i64 - 1)),
        9 => g.neg(part(r, size - 1)),
        10 if kind != Kind::Smooth => {
            let f = Binary::ALL[r.below(3)];
            g.binary(f, part(r, left), part(r, size - left))
        }
        11 if kind != Kind::Smooth => g.pow(part(r, left), part(r, size - left)),
        10..=12 => {
            let smooth =
                [Unary::Sin, Unary::Cos, Unary::Atan, Unary::Tanh, Unary::Erf, Unary::Sinh];
            let f = if kind == Kind::Smooth {
                smooth[r.below(smooth.len())]
            } else {
                Unary::ALL[r.below(Unary::ALL.len())]
            };
            g.unary(f, part(r, size - 1))
        }
        13 => g.choose(part(r, left), part(r, size - left), part(r, left)),
        14 => {
            let relations =
                [Relation::Less, Relation::LessEqual, Relation::Equal, Relation::NotEqual];
            g.compare(relations[r.below(4)], part(r, left), part(r, size - left))
        }
        15 => g.logic_not(part(r, size - 1)),
        16 => g.logic_and(part(r, left), part(r, size - left)),
        17 => g.logic_or(part(r, left), part(r, size - left)),
        18 => match r.below(3) {
            0 => g.table(table("file.csv", "column"), part(r, size - 1)),
            1 => g.mittag_leffler(part(r, left), part(r, size - left), part(r, left)),
            _ => g.memory(Memory::Mean, part(r, size - 1), g.zero()),
        },
        _ => {
            let kinds = [
                Memory::Caputo,
                Memory::RiemannLiouville,
                Memory::CaputoRight,
                Memory::RiemannLiouvilleRight,
                Memory::Integral,
                Memory::Kernel,
            ];
            g.memory(kinds[r.below(6)], part(r, left), part(r, size - left))
        }
    }
}
