//! The bytes of WebAssembly: instructions, functions, modules.
//!
//! Instructions work on a stack; [`Code`] appends them. Numbers have seven bits a byte, the lowest first.

pub(super) const I32: u8 = 0x7f;
pub(super) const I64: u8 = 0x7e;
pub(super) const F64: u8 = 0x7c;

pub(super) const IF: [u8; 2] = [0x04, 0x40];
pub(super) const END: u8 = 0x0b;
pub(super) const RETURN: u8 = 0x0f;
pub(super) const DROP: u8 = 0x1a;
pub(super) const SELECT: u8 = 0x1b;
pub(super) const F64_EQ: u8 = 0x61;
pub(super) const F64_NE: u8 = 0x62;
pub(super) const F64_LT: u8 = 0x63;
pub(super) const F64_LE: u8 = 0x65;
pub(super) const I32_ADD: u8 = 0x6a;
pub(super) const I32_AND: u8 = 0x71;
pub(super) const I32_OR: u8 = 0x72;
pub(super) const I32_EQZ: u8 = 0x45;
pub(super) const I64_ADD: u8 = 0x7c;
pub(super) const I64_SUB: u8 = 0x7d;
pub(super) const I64_AND: u8 = 0x83;
pub(super) const I64_XOR: u8 = 0x85;
pub(super) const I64_SHL: u8 = 0x86;
pub(super) const F64_ABS: u8 = 0x99;
pub(super) const F64_NEG: u8 = 0x9a;
pub(super) const F64_SQRT: u8 = 0x9f;
pub(super) const F64_ADD: u8 = 0xa0;
pub(super) const F64_SUB: u8 = 0xa1;
pub(super) const F64_MUL: u8 = 0xa2;
pub(super) const F64_DIV: u8 = 0xa3;
pub(super) const F64_FROM_I32: u8 = 0xb8;
pub(super) const BITS_OF_F64: u8 = 0xbd;
pub(super) const F64_OF_BITS: u8 = 0xbf;

/// The first of two equal doubles from one, back to one, and $ab + c$ and $c - ab$ of them, rounded once or twice as
/// the processor does it.
pub(super) const SPLAT: [u8; 2] = [0xfd, 0x14];
pub(super) const FIRST_LANE: [u8; 3] = [0xfd, 0x21, 0];
pub(super) const RELAXED_MADD: [u8; 3] = [0xfd, 0x87, 0x02];
pub(super) const RELAXED_NMADD: [u8; 3] = [0xfd, 0x88, 0x02];

/// Instructions of a function, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Code(pub(super) Vec<u8>);

impl Code {
    pub(super) fn push(&mut self, operation: u8) {
        self.0.push(operation);
    }

    pub(super) fn extend(&mut self, operations: &[u8]) {
        self.0.extend(operations);
    }

    pub(super) fn get(&mut self, local: u32) {
        self.numbered(0x20, local);
    }

    pub(super) fn set(&mut self, local: u32) {
        self.numbered(0x21, local);
    }

    pub(super) fn number(&mut self, value: f64) {
        self.push(0x44);
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn integer(&mut self, value: u32) {
        self.push(0x41);
        signed(&mut self.0, value.cast_signed());
    }

    pub(super) fn long(&mut self, value: i32) {
        self.push(0x42);
        signed(&mut self.0, value);
    }

    /// Pushes the double of this number behind the address on the stack.
    pub(super) fn load(&mut self, double: usize) {
        self.push(0x2b);
        self.place(double);
    }

    /// Writes a double there.
    pub(super) fn store(&mut self, double: usize) {
        self.push(0x39);
        self.place(double);
    }

    /// Calls a function of the module.
    pub(super) fn call(&mut self, function: u32) {
        self.numbered(0x10, function);
    }

    /// Calls the function of this number of the table, which has this type.
    pub(super) fn call_table(&mut self, kind: u32, function: u32) {
        self.integer(function);
        self.numbered(0x11, kind);
        self.push(0);
    }

    fn numbered(&mut self, operation: u8, number: u32) {
        self.push(operation);
        unsigned(&mut self.0, number);
    }

    /// Alignment of eight bytes, and the distance.
    fn place(&mut self, double: usize) {
        self.push(3);
        unsigned(&mut self.0, 8 * double as u32);
    }
}

/// A function: its type, the local variables behind its parameters as numbers and types, and its code.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) kind: u32,
    pub(super) locals: Vec<(usize, u8)>,
    pub(super) code: Code,
}

/// A module of these functions, which exports the first as `f` and imports `env.memory` and `env.table`. Types are
/// parameters and results.
pub(super) fn assemble(types: &[(&[u8], &[u8])], functions: &[Function]) -> Vec<u8> {
    let mut bytes = b"\0asm\x01\0\0\0".to_vec();
    let mut kinds = vec![types.len() as u8];
    for (parameters, results) in types {
        kinds.push(0x60);
        for list in [parameters, results] {
            kinds.push(list.len() as u8);
            kinds.extend(*list);
        }
    }
    section(&mut bytes, 1, &kinds);
    let mut imports = vec![2];
    name(&mut imports, "env");
    name(&mut imports, "memory");
    imports.extend([2, 0, 0]);
    name(&mut imports, "env");
    name(&mut imports, "table");
    imports.extend([1, 0x70, 0, 0]);
    section(&mut bytes, 2, &imports);
    let mut declared = vec![functions.len() as u8];
    declared.extend(functions.iter().map(|function| function.kind as u8));
    section(&mut bytes, 3, &declared);
    let mut exports = vec![1];
    name(&mut exports, "f");
    exports.extend([0, 0]);
    section(&mut bytes, 7, &exports);
    let mut bodies = vec![functions.len() as u8];
    for function in functions {
        let mut body = vec![function.locals.len() as u8];
        for &(count, kind) in &function.locals {
            unsigned(&mut body, count as u32);
            body.push(kind);
        }
        body.extend(&function.code.0);
        body.push(END);
        unsigned(&mut bodies, body.len() as u32);
        bodies.extend(body);
    }
    section(&mut bytes, 10, &bodies);
    bytes
}

fn section(bytes: &mut Vec<u8>, kind: u8, content: &[u8]) {
    bytes.push(kind);
    unsigned(bytes, content.len() as u32);
    bytes.extend(content);
}

fn name(bytes: &mut Vec<u8>, word: &str) {
    unsigned(bytes, word.len() as u32);
    bytes.extend(word.as_bytes());
}

fn unsigned(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The same with a sign.
fn signed(bytes: &mut Vec<u8>, mut number: i32) {
    loop {
        let part = (number & 0x7f) as u8;
        number >>= 7;
        let sign = part & 0x40 != 0;
        if (number == 0 && !sign) || (number == -1 && sign) {
            return bytes.push(part);
        }
        bytes.push(part | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_standard_says() {
        let (mut u, mut s) = (Vec::new(), Vec::new());
        unsigned(&mut u, 624_485);
        signed(&mut s, -123_456);
        assert_eq!((u, s), (vec![0xe5, 0x8e, 0x26], vec![0xc0, 0xbb, 0x78]));
    }
}
