//! Functions that a module brings along: $ab + c$ rounded once, and sine and cosine by it.
//!
//! WebAssembly has no instruction for the first. `relaxed_madd` rounds once where the processor does, and engines may
//! have it or not: the page finds out ([`FusedBy`]). Elsewhere the exact product $p + e$ (Dekker's) is added to $c$ by
//! exact sums (Knuth's), and what they leave over is rounded to odd, so that the last sum alone decides the result
//! [BM08]:
//!
//! $$ p + e = ab,\quad t + t' = c + e,\quad v + v' = p + t,\quad \mathrm{result} = v + \mathrm{odd}(t' + v'). $$
//!
//! Where that could overflow or underflow, the function of the interpreter is called. Sines and cosines are those of
//! `sincos.rs` in the same order; beyond their range the function of the interpreter is called, too.

use super::code::{
    BITS_OF_F64, Code, ELSE, END, F64, F64_ABS, F64_ADD, F64_EQ, F64_GE, F64_GT, F64_LE,
    F64_MUL, F64_NE, F64_NEG, F64_OF_BITS, F64_SUB, FIRST_LANE, Function, I32_AND, I32_EQZ,
    I32_OR, I32_WRAP, I32_XOR, I64, I64_ADD, I64_AND, I64_FROM_I32, I64_SHL, I64_SUB, I64_XOR,
    IF, RELAXED_MADD, RELAXED_NMADD, RETURN, SPLAT,
};
use crate::sincos::{COS, HALF_PI_WHOLE, LIMIT, ROUND, SIN, TWO_OVER_PI};

/// How a module rounds $ab + c$ once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend::native) enum FusedBy {
    /// By `relaxed_madd`, for engines and processors that round once there.
    Instruction,
    /// By [`multiply_add`].
    Routine,
}

/// $2^{27} + 1$ splits a double into halves.
const SPLITTER: f64 = 134_217_729.0;
/// From here on upwards the error of a product is a double.
const SMALLEST_PRODUCT: f64 = f64::from_bits((1023 - 900) << 52);

/// Appends a product that joins a sum, $ab + c$, or $c - ab$ for `minus`; operands push themselves.
pub(super) fn push_multiply_add<W: AsMut<Code>>(
    writer: &mut W,
    by: FusedBy,
    routine: u32,
    minus: bool,
    operands: [&dyn Fn(&mut W); 3],
) {
    match by {
        FusedBy::Instruction => {
            for operand in operands {
                operand(writer);
                writer.as_mut().extend(&SPLAT);
            }
            let code = writer.as_mut();
            code.extend(if minus { &RELAXED_NMADD } else { &RELAXED_MADD });
            code.extend(&FIRST_LANE);
        }
        FusedBy::Routine => {
            for (k, operand) in operands.into_iter().enumerate() {
                operand(writer);
                if minus && k == 0 {
                    writer.as_mut().push(F64_NEG);
                }
            }
            writer.as_mut().call(routine);
        }
    }
}

/// A number that a routine computes with.
#[derive(Clone, Copy)]
enum Value {
    Local(u32),
    Number(f64),
}
use Value::{Local, Number};

/// A function under construction; every result has a local variable of its own.
struct Routine {
    code: Code,
    /// Parameters and whole numbers; doubles follow.
    first: u32,
    doubles: u32,
    by: FusedBy,
    multiply_add: u32,
}

impl AsMut<Code> for Routine {
    fn as_mut(&mut self) -> &mut Code {
        &mut self.code
    }
}

impl Routine {
    fn new(first: u32, by: FusedBy, multiply_add: u32) -> Self {
        Self { code: Code::default(), first, doubles: 0, by, multiply_add }
    }

    fn get(&mut self, value: Value) {
        match value {
            Local(local) => self.code.get(local),
            Number(number) => self.code.number(number),
        }
    }

    /// Takes what is on the stack into a new variable.
    fn kept(&mut self) -> Value {
        let local = self.first + self.doubles;
        self.doubles += 1;
        self.code.set(local);
        Local(local)
    }

    fn pushed(&mut self, operation: u8, a: Value, b: Value) {
        self.get(a);
        self.get(b);
        self.code.push(operation);
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        self.pushed(F64_ADD, a, b);
        self.kept()
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.pushed(F64_SUB, a, b);
        self.kept()
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.pushed(F64_MUL, a, b);
        self.kept()
    }

    /// $ab + c$, rounded once.
    fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.rounded_once(false, [a, b, c])
    }

    /// $c - ab$, rounded once.
    fn sub_mul(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.rounded_once(true, [a, b, c])
    }

    fn rounded_once(&mut self, minus: bool, [a, b, c]: [Value; 3]) -> Value {
        let (by, routine) = (self.by, self.multiply_add);
        let operands: [&dyn Fn(&mut Self); 3] = [&|r| r.get(a), &|r| r.get(b), &|r| r.get(c)];
        push_multiply_add(self, by, routine, minus, operands);
        self.kept()
    }

    /// $a + b$ and what rounding took from it (Knuth).
    fn exact_sum(&mut self, a: Value, b: Value) -> [Value; 2] {
        let sum = self.add(a, b);
        let of_b = self.sub(sum, a);
        let of_a = self.sub(sum, of_b);
        let (left_a, left_b) = (self.sub(a, of_a), self.sub(b, of_b));
        [sum, self.add(left_a, left_b)]
    }

    /// Halves whose products are exact (Veltkamp).
    fn halves(&mut self, a: Value) -> [Value; 2] {
        let large = self.mul(Number(SPLITTER), a);
        let above = self.sub(large, a);
        let high = self.sub(large, above);
        [high, self.sub(a, high)]
    }

    fn bits(&mut self, value: Value) {
        self.get(value);
        self.code.push(BITS_OF_F64);
    }

    fn finished(self, kind: u32, longs: usize) -> Function {
        let locals = vec![(longs, I64), (self.doubles as usize, F64)];
        Function { kind, locals, code: self.code }
    }
}

/// `(a, b, c) -> ab + c`, rounded once; `beyond` is the function of the interpreter in the table.
pub(super) fn multiply_add(kind: u32, beyond: u32) -> Function {
    let mut r = Routine::new(3, FusedBy::Routine, 0);
    let [a, b, c] = [0, 1, 2].map(Local);
    let p = r.mul(a, b);
    r.get(p);
    r.code.push(F64_ABS);
    r.get(Number(SMALLEST_PRODUCT));
    r.code.push(F64_GE);
    r.code.extend(&IF);
    let ([a1, a2], [b1, b2]) = (r.halves(a), r.halves(b));
    let high = r.mul(a1, b1);
    let mut e = r.sub(high, p);
    for (x, y) in [(a1, b2), (a2, b1), (a2, b2)] {
        let part = r.mul(x, y);
        e = r.add(e, part);
    }
    let [t, t_left] = r.exact_sum(c, e);
    let [v, v_left] = r.exact_sum(p, t);
    let [rest, lost] = r.exact_sum(t_left, v_left);
    // To odd: where something was lost from an even number, the neighbour on that side.
    let Local(place) = rest else { unreachable!("results are variables") };
    r.pushed(F64_NE, lost, Number(0.0));
    r.bits(rest);
    r.code.push(I32_WRAP);
    r.code.integer(1);
    r.code.extend(&[I32_AND, I32_EQZ, I32_AND]);
    r.code.extend(&IF);
    r.bits(rest);
    r.code.long(1);
    r.pushed(F64_GT, lost, Number(0.0));
    r.pushed(F64_GT, rest, Number(0.0));
    r.code.extend(&[I32_XOR, I64_FROM_I32]);
    r.code.long(1);
    r.code.extend(&[I64_SHL, I64_SUB, I64_ADD, F64_OF_BITS]);
    r.code.set(place);
    r.code.push(END);
    let result = r.add(v, rest);
    let zero = r.sub(result, result);
    r.pushed(F64_EQ, zero, Number(0.0));
    r.code.extend(&IF);
    r.get(result);
    r.code.extend(&[RETURN, END, ELSE]);
    r.pushed(F64_EQ, a, Number(0.0));
    r.pushed(F64_EQ, b, Number(0.0));
    r.code.push(I32_OR);
    r.code.extend(&IF);
    r.pushed(F64_ADD, p, c);
    r.code.extend(&[RETURN, END, END]);
    for operand in [a, b, c] {
        r.get(operand);
    }
    r.code.call_table(kind, beyond);
    r.finished(kind, 0)
}

/// What [`sincos`] calls.
pub(super) struct Callees {
    pub(super) multiply_add: u32,
    /// `(x, to)` in the table writes sine and cosine; its type.
    pub(super) beyond: u32,
    pub(super) beyond_kind: u32,
}

/// `(x, room) -> (sine, cosine)` by multiply-adds that round once.
pub(super) fn sincos(kind: u32, by: FusedBy, callees: &Callees) -> Function {
    const ROOM: u32 = 1;
    const QUADRANT: u32 = 2;
    const EXCHANGE: u32 = 3;
    let mut r = Routine::new(4, by, callees.multiply_add);
    let x = Local(0);
    r.get(x);
    r.code.push(F64_ABS);
    r.get(Number(LIMIT));
    r.code.extend(&[F64_LE, I32_EQZ]);
    r.code.extend(&IF);
    r.get(x);
    r.code.get(ROOM);
    r.code.call_table(callees.beyond_kind, callees.beyond);
    for which in [0, 1] {
        r.code.get(ROOM);
        r.code.load(which);
    }
    r.code.extend(&[RETURN, END]);

    // The reduction.
    let [q1, q2, q3] = HALF_PI_WHOLE.map(Number);
    let shifted = r.mul_add(x, Number(TWO_OVER_PI), Number(ROUND));
    let k = r.sub(shifted, Number(ROUND));
    let exact = r.sub_mul(k, q1, x);
    let p = r.mul(k, q2);
    r.get(p);
    r.code.push(F64_NEG);
    let minus_p = r.kept();
    let e = r.mul_add(k, q2, minus_p);
    let arc = r.sub(exact, p);
    let left = r.sub(arc, exact);
    let left = r.add(left, p);
    let left = r.add(left, e);
    let rest = r.mul_add(k, q3, left);

    // The polynomials.
    let z = r.mul(arc, arc);
    let w = r.mul(z, z);
    let cube = r.mul(z, w);
    let [s, c] = [SIN, COS].map(|list| list.map(Number));
    let first = r.mul_add(s[5], z, s[4]);
    let tail = r.mul_add(s[3], z, s[2]);
    let tail = r.mul_add(tail, z, s[1]);
    let tail = r.mul_add(first, cube, tail);
    let series = r.mul_add(tail, z, s[0]);
    let third = r.mul(z, arc);
    let behind = r.sub_mul(series, third, rest);
    let sine = r.sub(arc, behind);
    let first = r.mul_add(c[5], z, c[4]);
    let first = r.mul_add(first, z, c[3]);
    let tail = r.mul_add(c[2], z, c[1]);
    let tail = r.mul_add(tail, z, c[0]);
    let series = r.mul_add(first, cube, tail);
    let cross = r.mul(arc, rest);
    let small = r.mul_add(series, w, cross);
    let half = r.mul(z, Number(0.5));
    let one = r.sub(Number(1.0), half);
    let below = r.sub(Number(1.0), one);
    let below = r.sub(below, half);
    let below = r.add(below, small);
    let cosine = r.add(one, below);

    // An odd quadrant exchanges the two; the second bit of k and of k + 1 are their signs.
    r.bits(shifted);
    r.code.set(QUADRANT);
    r.bits(sine);
    r.bits(cosine);
    r.code.push(I64_XOR);
    r.code.long(0);
    r.code.get(QUADRANT);
    r.code.long(1);
    r.code.extend(&[I64_AND, I64_SUB, I64_AND]);
    r.code.set(EXCHANGE);
    for (value, turned) in [(sine, 0), (cosine, 1)] {
        r.bits(value);
        r.code.get(EXCHANGE);
        r.code.push(I64_XOR);
        r.code.get(QUADRANT);
        r.code.long(turned);
        r.code.push(I64_ADD);
        r.code.long(2);
        r.code.push(I64_AND);
        r.code.long(62);
        r.code.extend(&[I64_SHL, I64_XOR, F64_OF_BITS]);
    }
    r.finished(kind, 2)
}
