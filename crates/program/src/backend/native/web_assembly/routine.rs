//! $ab + c$ by the instruction of the page, and sine and cosine by it: a function that a module brings along.
//!
//! WebAssembly has no instruction that rounds $ab + c$ once but `relaxed_madd`, which does where the processor does.
//! The page finds out before modules are made with it. Elsewhere a module rounds twice: the exact result from products
//! and sums of doubles would make it hardly faster than the interpreter.
//!
//! Sines and cosines are those of `sincos.rs` in the same order; beyond their range the function of the interpreter is
//! called.

use super::code::{
    BITS_OF_F64, Code, END, F64, F64_ABS, F64_ADD, F64_LE, F64_MUL, F64_NEG, F64_OF_BITS,
    F64_SUB, FIRST_LANE, Function, I32_EQZ, I64, I64_ADD, I64_AND, I64_SHL, I64_SUB, I64_XOR,
    IF, RELAXED_MADD, RELAXED_NMADD, RETURN, SPLAT,
};
use crate::sincos::{COS, HALF_PI_WHOLE, LIMIT, ROUND, SIN, TWO_OVER_PI};

/// Appends $ab + c$, or $c - ab$ for `minus`, rounded once; operands push themselves.
pub(super) fn push_multiply_add<W: AsMut<Code>>(
    writer: &mut W,
    minus: bool,
    operands: [&dyn Fn(&mut W); 3],
) {
    for operand in operands {
        operand(writer);
        writer.as_mut().extend(&SPLAT);
    }
    let code = writer.as_mut();
    code.extend(if minus { &RELAXED_NMADD } else { &RELAXED_MADD });
    code.extend(&FIRST_LANE);
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
}

impl AsMut<Code> for Routine {
    fn as_mut(&mut self) -> &mut Code {
        &mut self.code
    }
}

impl Routine {
    fn new(first: u32) -> Self {
        Self { code: Code::default(), first, doubles: 0 }
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
        push_multiply_add(self, minus, [&|r| r.get(a), &|r| r.get(b), &|r| r.get(c)]);
        self.kept()
    }

    fn bits(&mut self, value: Value) {
        self.get(value);
        self.code.push(BITS_OF_F64);
    }
}

/// `(x, room) -> (sine, cosine)` by multiply-adds that round once; `beyond` is the number of `(x, room)` in the table,
/// which writes them there, and its type.
pub(super) fn sincos(kind: u32, beyond: [u32; 2]) -> Function {
    const ROOM: u32 = 1;
    const QUADRANT: u32 = 2;
    const EXCHANGE: u32 = 3;
    let mut r = Routine::new(4);
    let x = Local(0);
    r.get(x);
    r.code.push(F64_ABS);
    r.get(Number(LIMIT));
    r.code.extend(&[F64_LE, I32_EQZ]);
    r.code.extend(&IF);
    r.get(x);
    r.code.get(ROOM);
    let [function, its_kind] = beyond;
    r.code.call_table(its_kind, function);
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
    let locals = vec![(2, I64), (r.doubles as usize, F64)];
    Function { kind, locals, code: r.code }
}
