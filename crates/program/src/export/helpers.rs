//! What the statements of a text call: sine and cosine with the polynomials of `sincos.rs`, whole powers, tables.

use pfaff_expr::spelling::Spelling;
use pfaff_expr::{Binary, Table, Unary};

use super::Language;
use super::spelling::number;
use crate::sincos::{COS, HALF_PI_WHOLE, LIMIT, ROUND, SIN, TWO_OVER_PI};
use crate::tape::program::Tape;

/// A function that is written out where something calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Helper {
    SinCos,
    Sin,
    Cos,
    Power,
    Unary(Unary),
    Binary(Binary),
    Table,
    /// The lanes of a sum added to its part, in C.
    Flush,
}

/// All that a text needs.
#[derive(Debug, Default)]
pub(super) struct Helpers {
    needed: Vec<Helper>,
    tables: Vec<Table>,
    /// Where the tables of the present program are among all.
    present: Vec<usize>,
}

/// Halves first, as in every backend.
const FLUSH: &str = "
static void pfaff_flush(const double *restrict s, long target, double *restrict f)
{
    if (target >= 0)
        f[target] += ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}
";

impl Helpers {
    pub(super) fn need(&mut self, helper: Helper) {
        if !self.needed.contains(&helper) {
            self.needed.push(helper);
        }
    }

    /// Statements of this program follow.
    pub(super) fn enter(&mut self, tape: &Tape) {
        self.present.clear();
        for table in &tape.tables {
            let known = self.tables.iter().position(|t| t == table);
            self.present.push(known.unwrap_or(self.tables.len()));
            if known.is_none() {
                self.tables.push(table.clone());
            }
        }
    }

    /// The number of a table of the present program among all.
    pub(super) fn table(&self, table: u32) -> usize {
        self.present[table as usize]
    }

    fn has(&self, helpers: &[Helper]) -> bool {
        helpers.iter().any(|h| self.needed.contains(h))
    }

    /// What stands before everything else.
    pub(super) fn opening(language: Language) -> &'static str {
        match language {
            // NOTE: a compiler that joins products and sums by itself would spoil the reduction of sine and cosine.
            Language::C => {
                "\n#include <math.h>\n\n#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n\
                 #elif defined(__GNUC__)\n#pragma GCC optimize (\"fp-contract=off\")\n#endif\n"
            }
            Language::Rust => "",
            Language::Python => "\nimport math\n",
        }
    }

    /// The functions that are needed.
    pub(super) fn text(&self, language: Language) -> String {
        let mut text = String::new();
        if language != Language::Python {
            if self.has(&[Helper::SinCos, Helper::Sin, Helper::Cos]) {
                text.push_str(&sincos(language));
            }
            for (helper, word) in [(Helper::Sin, "sin"), (Helper::Cos, "cos")] {
                if self.has(&[helper]) {
                    text.push_str(&half(language, word));
                }
            }
        }
        if self.has(&[Helper::Power]) {
            text.push_str(POWER[language as usize]);
        }
        let unary = Unary::ALL.into_iter().map(|f| (Helper::Unary(f), f.spellings()));
        let binary = Binary::ALL.into_iter().map(|f| (Helper::Binary(f), f.spellings()));
        for (helper, spellings) in unary.chain(binary) {
            if let Spelling::Helper(definition) = language.spelling(spellings)
                && self.has(&[helper])
            {
                text.push_str(definition);
            }
        }
        if self.has(&[Helper::Table]) {
            text.push_str(&self.data(language));
            text.push_str(TABLE[language as usize]);
        }
        if self.has(&[Helper::Flush]) {
            text.push_str(FLUSH);
        }
        text
    }

    /// The tables as arrays: for each the number of its pieces, its knots, then four coefficients a piece.
    fn data(&self, language: Language) -> String {
        let mut text = String::from("\n");
        let mut names = Vec::new();
        for (i, table) in self.tables.iter().enumerate() {
            let pieces = table.pieces();
            let values = [pieces.len() as f64].into_iter().chain(table.knots().iter().copied());
            let values = values.chain(pieces.iter().flatten().copied());
            let values: Vec<String> = values.map(|x| number(language, x)).collect();
            let list = values.join(", ");
            text.push_str(&match language {
                Language::C => {
                    format!("static const double pfaff_data{i}[] = {{{list}}};\n")
                }
                Language::Rust => {
                    format!("const PFAFF_DATA{i}: [f64; {}] = [{list}];\n", values.len())
                }
                Language::Python => format!("pfaff_data{i} = [{list}]\n"),
            });
            names.push(match language {
                Language::Rust => format!("&PFAFF_DATA{i}"),
                _ => format!("pfaff_data{i}"),
            });
        }
        let names = names.join(", ");
        text.push_str(&match language {
            Language::C => {
                format!("static const double *const pfaff_tables[] = {{{names}}};\n")
            }
            Language::Rust => {
                format!("static PFAFF_TABLES: [&[f64]; {}] = [{names}];\n", self.tables.len())
            }
            Language::Python => format!("pfaff_tables = [{names}]\n"),
        });
        text
    }
}

/// Sine and cosine as `sincos.rs` has them with multiply-adds that round once, operation by operation.
fn sincos(language: Language) -> String {
    let c = language == Language::C;
    let fma = if c { "fma(" } else { "f64::mul_add(" };
    let def = if c { "const double" } else { "let" };
    let n = |x: f64| number(language, x);
    let [q1, q2, q3] = HALF_PI_WHOLE.map(n);
    let [s0, s1, s2, s3, s4, s5] = SIN.map(n);
    let [c0, c1, c2, c3, c4, c5] = COS.map(n);
    let (round, turn, limit) = (n(ROUND), n(TWO_OVER_PI), n(LIMIT));
    let lines = [
        format!("shifted = {fma}x, {turn}, {round})"),
        format!("k = shifted - {round}"),
        format!("exact = {fma}-k, {q1}, x)"),
        format!("p = k * {q2}"),
        format!("e = {fma}k, {q2}, -p)"),
        "r = exact - p".into(),
        format!("rest = {fma}k, {q3}, ((r - exact) + p) + e)"),
        "z = r * r".into(),
        "w = z * z".into(),
        "cube = z * w".into(),
        format!("s_high = {fma}{s5}, z, {s4})"),
        format!("s_low = {fma}{fma}{s3}, z, {s2}), z, {s1})"),
        format!("s_series = {fma}{fma}s_high, cube, s_low), z, {s0})"),
        format!("sin = r - {fma}-s_series, z * r, rest)"),
        format!("c_high = {fma}{fma}{c5}, z, {c4}), z, {c3})"),
        format!("c_low = {fma}{fma}{c2}, z, {c1}), z, {c0})"),
        format!("small = {fma}{fma}c_high, cube, c_low), w, r * rest)"),
        "half = z * 0.5".into(),
        "one = 1.0 - half".into(),
        "cos = one + (((1.0 - one) - half) + small)".into(),
    ];
    let mut body = String::new();
    for line in lines {
        let line = if c {
            line.replacen("sin =", "sine =", 1).replacen("cos =", "cosine =", 1)
        } else {
            line
        };
        body.push_str(&format!("    {def} {line};\n"));
    }
    if c {
        format!(
            "\n// Sine and cosine within one unit in the last place.\n\
             static inline void pfaff_sincos(double x, double *s, double *c)\n{{\n    \
             if (!(fabs(x) <= {limit})) {{ *s = sin(x); *c = cos(x); return; }}\n\
             {body}    const long long quadrant = (long long)k;\n    \
             const double first = quadrant & 1 ? cosine : sine, second = quadrant & 1 ? sine : cosine;\n    \
             *s = quadrant & 2 ? -first : first;\n    *c = (quadrant + 1) & 2 ? -second : second;\n}}\n"
        )
    } else {
        format!(
            "\n/// Sine and cosine within one unit in the last place.\n#[inline(always)]\n\
             fn pfaff_sincos(x: f64) -> (f64, f64) {{\n    if !(x.abs() <= {limit}) {{ return x.sin_cos(); }}\n\
             {body}    let quadrant = k as i64;\n    \
             let (first, second) = if quadrant & 1 == 1 {{ (cos, sin) }} else {{ (sin, cos) }};\n    \
             (if quadrant & 2 == 2 {{ -first }} else {{ first }}, \
             if (quadrant + 1) & 2 == 2 {{ -second }} else {{ second }})\n}}\n"
        )
    }
}

/// One of both.
fn half(language: Language, word: &str) -> String {
    match language {
        Language::C => {
            let which = if word == "sin" { "s" } else { "c" };
            format!(
                "\nstatic inline double pfaff_{word}(double x)\n{{\n    double s, c;\n    \
                 pfaff_sincos(x, &s, &c);\n    return {which};\n}}\n"
            )
        }
        _ => {
            let which = u8::from(word != "sin");
            format!("\nfn pfaff_{word}(x: f64) -> f64 {{ pfaff_sincos(x).{which} }}\n")
        }
    }
}

// In the order of `Language`.
const POWER: [&str; 3] = [
    "
// Whole exponents by repeated squaring.
static double pfaff_power(double x, double y)
{
    if (y != floor(y) || fabs(y) > 64) return pow(x, y);
    double p = 1, square = x;
    for (int n = (int)fabs(y); n > 0; n >>= 1) {
        if (n & 1) p *= square;
        square *= square;
    }
    return y < 0 ? 1 / p : p;
}
",
    "
/// Whole exponents by repeated squaring.
fn pfaff_power(x: f64, y: f64) -> f64 {
    if y != y.floor() || y.abs() > 64.0 { return x.powf(y); }
    let (mut p, mut square, mut n) = (1.0, x, y.abs() as u32);
    while n > 0 {
        if n & 1 == 1 { p *= square; }
        square *= square;
        n >>= 1;
    }
    if y < 0.0 { 1.0 / p } else { p }
}
",
    "
def pfaff_power(x, y):
    if y != math.floor(y) or abs(y) > 64:
        return math.pow(x, y)
    p, square, n = 1.0, x, int(abs(y))
    while n > 0:
        if n & 1:
            p *= square
        square *= square
        n >>= 1
    return 1.0 / p if y < 0 else p
",
];

const TABLE: [&str; 3] = [
    "
// A derivative of a cubic spline through given data; not a number outside of them.
static double pfaff_table(int table, int order, double x)
{
    const double *const data = pfaff_tables[table], *const knots = data + 1;
    const int count = (int)data[0];
    if (!(x >= knots[0] && x <= knots[count])) return NAN;
    int low = 0, high = count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (knots[middle] <= x) low = middle; else high = middle;
    }
    const double *const k = knots + count + 1 + 4 * low, s = x - knots[low];
    switch (order) {
    case 0: return k[0] + s * (k[1] + s * (k[2] + s * k[3]));
    case 1: return k[1] + s * (2 * k[2] + 3 * s * k[3]);
    case 2: return 2 * k[2] + 6 * s * k[3];
    case 3: return 6 * k[3];
    default: return 0;
    }
}
",
    "
/// A derivative of a cubic spline through given data; not a number outside of them.
fn pfaff_table(table: usize, order: u32, x: f64) -> f64 {
    let data = PFAFF_TABLES[table];
    let count = data[0] as usize;
    let (knots, pieces) = data[1..].split_at(count + 1);
    if !(x >= knots[0] && x <= knots[count]) { return f64::NAN; }
    let i = knots[..count].partition_point(|&k| k <= x).max(1) - 1;
    let (k, s) = (&pieces[4 * i..], x - knots[i]);
    match order {
        0 => k[0] + s * (k[1] + s * (k[2] + s * k[3])),
        1 => k[1] + s * (2.0 * k[2] + 3.0 * s * k[3]),
        2 => 2.0 * k[2] + 6.0 * s * k[3],
        3 => 6.0 * k[3],
        _ => 0.0,
    }
}
",
    "
# A derivative of a cubic spline through given data; not a number outside of them.
def pfaff_table(table, order, x):
    data = pfaff_tables[table]
    count = int(data[0])
    knots = data[1:count + 2]
    if not knots[0] <= x <= knots[count]:
        return math.nan
    i = max(k for k in range(count) if k == 0 or knots[k] <= x)
    k, s = data[count + 2 + 4 * i:], x - knots[i]
    if order == 0:
        return k[0] + s * (k[1] + s * (k[2] + s * k[3]))
    if order == 1:
        return k[1] + s * (2 * k[2] + 3 * s * k[3])
    if order == 2:
        return 2 * k[2] + 6 * s * k[3]
    return 6 * k[3] if order == 3 else 0.0
",
];
