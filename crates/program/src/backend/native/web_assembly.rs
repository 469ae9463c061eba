//! A tape as a WebAssembly module: one function over the memory and the functions of the page that made it.
//!
//! ```text
//! Tape ──module──► bytes of a module with `f(inputs, outputs, memory)`, which imports `env.memory` and `env.table`
//! ```
//!
//! Slots are local variables of the function; what is fixed during a run is read from memory, at the row of its place
//! in [`WebModule::fixed`] before the middle. Functions without instructions of their own are called through the table.
//! WebAssembly has no fused multiply-add: products that join a sum are rounded twice here, also in a fused program.

use pfaff_expr::Relation;

use super::library_call::LibraryFunction;
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::program::Tape;

/// Local variables that every engine takes (V8: 50 000).
const LOCALS: usize = 40_000;
/// Bytes of a function that every engine takes (V8: 7 654 321).
const BYTES: usize = 6_000_000;

/// A module that is not instantiated yet.
pub(super) struct WebModule {
    pub(super) bytes: Vec<u8>,
    /// The slots whose values it reads, from the last double before the middle downwards.
    pub(super) fixed: Vec<Slot>,
    /// How many doubles of memory lie before the middle.
    pub(super) middle: usize,
}

/// Doubles of memory behind the middle: where sine and cosine are handed over.
pub(super) const BEHIND: usize = 2;

/// What the module calls, by the numbers of the table.
pub(super) struct Functions<'a> {
    /// `(call, a, b) -> value` of a library function.
    pub(super) library: u32,
    /// `(x, to)`: writes sine and cosine.
    pub(super) sincos: u32,
    /// The address of a library call.
    pub(super) address: &'a mut dyn FnMut(LibraryFunction) -> u32,
}

/// The module of a tape; `None` where it would be too large.
pub(super) fn module(tape: &Tape, functions: &mut Functions<'_>) -> Option<WebModule> {
    let layout = tape.layout;
    // Values that are fixed during a run have no local variable.
    let locals = layout.inputs + layout.temporaries;
    if locals > LOCALS {
        return None;
    }
    let mut writer = Writer { tape, fixed: Vec::new(), code: Vec::new(), middle: 0 };
    writer.collect_fixed();
    writer.middle = writer.fixed.len();
    writer.read_inputs();
    for &instruction in &tape.per_evaluation {
        writer.instruction(instruction, functions);
        if writer.code.len() > BYTES {
            return None;
        }
    }
    writer.write_outputs();
    writer.code.push(END);
    let Writer { fixed, code, middle, .. } = writer;
    Some(WebModule { bytes: assemble(locals, &code), fixed, middle })
}

const I32: u8 = 0x7f;
const F64: u8 = 0x7c;
const END: u8 = 0x0b;
const LOCAL_GET: u8 = 0x20;
const LOCAL_SET: u8 = 0x21;
const I32_CONST: u8 = 0x41;
const F64_CONST: u8 = 0x44;
const F64_LOAD: u8 = 0x2b;
const F64_STORE: u8 = 0x39;
const CALL_INDIRECT: u8 = 0x11;
const SELECT: u8 = 0x1b;
const F64_EQ: u8 = 0x61;
const F64_NE: u8 = 0x62;
const F64_LT: u8 = 0x63;
const F64_LE: u8 = 0x65;
const I32_AND: u8 = 0x71;
const I32_OR: u8 = 0x72;
const F64_NEG: u8 = 0x9a;
const F64_SQRT: u8 = 0x9f;
const F64_ADD: u8 = 0xa0;
const F64_SUB: u8 = 0xa1;
const F64_MUL: u8 = 0xa2;
const F64_DIV: u8 = 0xa3;
const F64_FROM_I32: u8 = 0xb8;

/// The parameters of the function, which are its first local variables.
const INPUTS: u32 = 0;
const OUTPUTS: u32 = 1;
const MEMORY: u32 = 2;
const PARAMETERS: u32 = 3;

/// The types of the module.
const ENTRY: u32 = 0;
const LIBRARY: u32 = 1;
const SINCOS: u32 = 2;

struct Writer<'a> {
    tape: &'a Tape,
    fixed: Vec<Slot>,
    code: Vec<u8>,
    middle: usize,
}

impl Writer<'_> {
    /// Parameters and kept values that evaluations read.
    fn collect_fixed(&mut self) {
        let layout = self.tape.layout;
        let is_fixed = |slot: &Slot| {
            let slot = *slot as usize;
            (layout.first_parameter()..layout.first_constant()).contains(&slot)
                || (layout.first_kept()..layout.first_temporary()).contains(&slot)
        };
        let read = self.tape.per_evaluation.iter().flat_map(|i| i.operands());
        let mut fixed: Vec<Slot> =
            read.chain(self.tape.outputs.iter().copied()).filter(is_fixed).collect();
        fixed.sort_unstable();
        fixed.dedup();
        self.fixed = fixed;
    }

    /// The local variable of an input or temporary.
    fn local(&self, slot: Slot) -> u32 {
        let layout = self.tape.layout;
        let slot = slot as usize;
        let index = if slot < layout.inputs {
            slot
        } else {
            layout.inputs + slot - layout.first_temporary()
        };
        PARAMETERS + index as u32
    }

    fn get(&mut self, slot: Slot) {
        let layout = self.tape.layout;
        let place = slot as usize;
        if place < layout.inputs || place >= layout.first_temporary() {
            let local = self.local(slot);
            self.with_number(LOCAL_GET, local);
        } else if (layout.first_constant()..layout.first_kept()).contains(&place) {
            let value = self.tape.constants[place - layout.first_constant()];
            self.code.push(F64_CONST);
            self.code.extend(value.to_le_bytes());
        } else {
            let row = self.fixed.binary_search(&slot).expect("collected before") + 1;
            self.load(MEMORY, self.middle - row);
        }
    }

    fn set(&mut self, slot: Slot) {
        let local = self.local(slot);
        self.with_number(LOCAL_SET, local);
    }

    /// The double of this number behind an address in a local variable.
    fn load(&mut self, base: u32, double: usize) {
        self.with_number(LOCAL_GET, base);
        self.code.push(F64_LOAD);
        self.place(double);
    }

    /// Alignment of eight bytes, and the distance.
    fn place(&mut self, double: usize) {
        self.code.push(3);
        unsigned(&mut self.code, 8 * double as u32);
    }

    fn with_number(&mut self, code: u8, number: u32) {
        self.code.push(code);
        unsigned(&mut self.code, number);
    }

    fn constant(&mut self, number: u32) {
        self.code.push(I32_CONST);
        signed(&mut self.code, number.cast_signed());
    }

    /// Calls the function of this number of the table.
    fn call(&mut self, kind: u32, function: u32) {
        self.constant(function);
        self.with_number(CALL_INDIRECT, kind);
        self.code.push(0);
    }

    fn read_inputs(&mut self) {
        for slot in 0..self.tape.layout.inputs {
            self.load(INPUTS, slot);
            self.set(slot as Slot);
        }
    }

    fn write_outputs(&mut self) {
        for (k, &slot) in self.tape.outputs.iter().enumerate() {
            self.with_number(LOCAL_GET, OUTPUTS);
            self.get(slot);
            self.code.push(F64_STORE);
            self.place(k);
        }
    }

    /// Operands, operations, result.
    fn plain(&mut self, to: Slot, operands: &[Slot], operations: &[u8]) {
        for &operand in operands {
            self.get(operand);
        }
        self.code.extend(operations);
        self.set(to);
    }

    /// Whether a value is not zero, as a condition.
    fn condition(&mut self, slot: Slot) {
        self.get(slot);
        self.code.push(F64_CONST);
        self.code.extend(0.0_f64.to_le_bytes());
        self.code.push(F64_NE);
    }

    fn library(
        &mut self,
        to: Slot,
        function: LibraryFunction,
        operands: [Slot; 2],
        functions: &mut Functions<'_>,
    ) {
        let address = (functions.address)(function);
        self.constant(address);
        self.get(operands[0]);
        self.get(operands[1]);
        self.call(LIBRARY, functions.library);
        self.set(to);
    }

    /// Sine and cosine, each where it is wanted.
    fn sincos(&mut self, a: Slot, wanted: &[(usize, Slot)], functions: &Functions<'_>) {
        self.get(a);
        self.with_number(LOCAL_GET, MEMORY);
        self.constant(8 * self.middle as u32);
        self.code.push(0x6a);
        self.call(SINCOS, functions.sincos);
        for &(which, to) in wanted {
            self.load(MEMORY, self.middle + which);
            self.set(to);
        }
    }

    fn instruction(&mut self, instruction: Instruction, functions: &mut Functions<'_>) {
        use Instruction as I;
        match instruction {
            I::Add { to, a, b } => self.plain(to, &[a, b], &[F64_ADD]),
            I::Sub { to, a, b } => self.plain(to, &[a, b], &[F64_SUB]),
            I::Mul { to, a, b } => self.plain(to, &[a, b], &[F64_MUL]),
            I::Div { to, a, b } => self.plain(to, &[a, b], &[F64_DIV]),
            I::MulAdd { to, a, b, c } => {
                self.get(a);
                self.get(b);
                self.code.push(F64_MUL);
                self.plain(to, &[c], &[F64_ADD]);
            }
            I::MulSub { to, a, b, c } => {
                self.get(a);
                self.get(b);
                self.code.push(F64_MUL);
                self.plain(to, &[c], &[F64_SUB]);
            }
            I::SubMul { to, a, b, c } => {
                self.plain(to, &[c, a, b], &[F64_MUL, F64_SUB]);
            }
            I::Neg { to, a } => self.plain(to, &[a], &[F64_NEG]),
            I::Square { to, a } => self.plain(to, &[a, a], &[F64_MUL]),
            I::Sqrt { to, a } => self.plain(to, &[a], &[F64_SQRT]),
            I::Sin { to, a } => self.sincos(a, &[(0, to)], functions),
            I::Cos { to, a } => self.sincos(a, &[(1, to)], functions),
            I::SinCos { sin, cos, a } => self.sincos(a, &[(0, sin), (1, cos)], functions),
            I::Power { to, a, b } => {
                self.library(to, LibraryFunction::Power, [a, b], functions);
            }
            I::Unary { function, to, a } => {
                self.library(to, LibraryFunction::Unary(function), [a, a], functions);
            }
            I::Binary { function, to, a, b } => {
                self.library(to, LibraryFunction::Binary(function), [a, b], functions);
            }
            I::Table { table, order, to, a } => {
                let function = LibraryFunction::Table { table, order };
                self.library(to, function, [a, a], functions);
            }
            I::Compare { relation, to, a, b } => {
                let compare = match relation {
                    Relation::Less => F64_LT,
                    Relation::LessEqual => F64_LE,
                    Relation::Equal => F64_EQ,
                    Relation::NotEqual => F64_NE,
                };
                self.plain(to, &[a, b], &[compare, F64_FROM_I32]);
            }
            I::Not { to, a } => {
                self.get(a);
                self.code.push(F64_CONST);
                self.code.extend(0.0_f64.to_le_bytes());
                self.code.extend([F64_EQ, F64_FROM_I32]);
                self.set(to);
            }
            I::And { to, a, b } | I::Or { to, a, b } => {
                let joined =
                    if matches!(instruction, I::And { .. }) { I32_AND } else { I32_OR };
                self.condition(a);
                self.condition(b);
                self.code.extend([joined, F64_FROM_I32]);
                self.set(to);
            }
            I::Select { to, condition, a, b } => {
                self.get(a);
                self.get(b);
                self.condition(condition);
                self.code.push(SELECT);
                self.set(to);
            }
        }
    }
}

/// The module around the code of its one function.
fn assemble(locals: usize, code: &[u8]) -> Vec<u8> {
    let mut bytes = b"\0asm\x01\0\0\0".to_vec();
    let mut types = vec![3];
    types.extend([0x60, 3, I32, I32, I32, 0]);
    types.extend([0x60, 3, I32, F64, F64, 1, F64]);
    types.extend([0x60, 2, F64, I32, 0]);
    section(&mut bytes, 1, &types);
    let mut imports = vec![2];
    name(&mut imports, "env");
    name(&mut imports, "memory");
    imports.extend([2, 0, 0]);
    name(&mut imports, "env");
    name(&mut imports, "table");
    imports.extend([1, 0x70, 0, 0]);
    section(&mut bytes, 2, &imports);
    section(&mut bytes, 3, &[1, ENTRY as u8]);
    let mut exports = vec![1];
    name(&mut exports, "f");
    exports.extend([0, 0]);
    section(&mut bytes, 7, &exports);
    let mut body = vec![1];
    unsigned(&mut body, locals as u32);
    body.push(F64);
    body.extend(code);
    let mut functions = vec![1];
    unsigned(&mut functions, body.len() as u32);
    functions.extend(body);
    section(&mut bytes, 10, &functions);
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

/// Seven bits a byte, the lowest first.
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
#[allow(clippy::print_stdout, reason = "a test that is skipped says why")]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use pfaff_expr::{Graph, Role};

    use super::*;
    use crate::Program;

    #[test]
    fn numbers_are_written_as_the_standard_says() {
        let (mut u, mut s) = (Vec::new(), Vec::new());
        unsigned(&mut u, 624_485);
        signed(&mut s, -123_456);
        assert_eq!((u, s), (vec![0xe5, 0x8e, 0x26], vec![0xc0, 0xbb, 0x78]));
    }

    /// Runs a module in Node.js: library functions there are sine, and powers of the first operand.
    #[test]
    fn a_module_gives_what_the_interpreter_gives() {
        let g = Graph::new();
        let (x, y) = (g.symbol("x", Role::Free), g.symbol("y", Role::Free));
        let k = g.symbol("k", Role::Parameter);
        let less = g.compare(Relation::Less, x, y);
        let outputs = [
            g.add(g.mul(g.sin(x), g.cos(x)), k),
            g.div(g.sqrt(g.add(g.mul(x, x), g.mul(y, y))), g.mul(k, k)),
            g.choose(less, g.neg(x), g.sub(x, g.mul(y, k))),
            x,
            k,
            g.div(g.one(), g.integer(10)),
        ];
        let program = Program::compile(&g, &[x, y], &[k], &outputs).expect("it compiles");
        let mut functions =
            Functions { library: 1, sincos: 2, address: &mut |_| unreachable!("no calls") };
        let module = module(&program.tape, &mut functions).expect("it is small");
        let inputs = [0.7, -1.3];
        let mut run = program.interpreter(&[3.0]);
        let mut expected = [0.0; 6];
        run.evaluate(&inputs, &mut expected);
        let mut slots = vec![0.0; program.tape.layout.slots()];
        slots[program.tape.layout.first_parameter()] = 3.0;
        let first = program.tape.layout.first_constant();
        slots[first..first + program.tape.constants.len()]
            .copy_from_slice(&program.tape.constants);
        program.tape.execute(&program.tape.per_run, &mut slots);
        let fixed: Vec<f64> = module.fixed.iter().map(|&s| slots[s as usize]).collect();
        let (sine, cosine) = crate::sincos(0.7);
        let script = format!(
            "const bytes = Buffer.from({:?});
             const memory = new WebAssembly.Memory({{initial: 1}});
             const table = new WebAssembly.Table({{initial: 4, element: 'anyfunc'}});
             const d = new Float64Array(memory.buffer);
             const helper = new WebAssembly.Module(Buffer.from([0,97,115,109,1,0,0,0,1,6,1,96,2,124,127,0,2,7,1,1,101,
                 1,115,0,0,7,5,1,1,115,0,0]));
             const s = new WebAssembly.Instance(helper, {{e: {{s: (x, to) => {{ d[to/8] = {sine:?};
                 d[to/8+1] = {cosine:?}; }}}}}}).exports.s;
             table.set(2, s);
             const f = new WebAssembly.Instance(new WebAssembly.Module(bytes), {{env: {{memory, table}}}}).exports.f;
             const inputs = {inputs:?}, fixed = {fixed:?}, middle = {};
             d.set(inputs, 8); fixed.forEach((x, i) => d[64 + middle - 1 - i] = x);
             f(64, 256, 512);
             console.log(JSON.stringify(Array.from(d.slice(32, 38))));",
            module.bytes, module.middle
        );
        let child =
            Command::new("node").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = child else {
            println!("skipped: no Node.js, which runs WebAssembly modules");
            return;
        };
        child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8(output.stdout).expect("text");
        let got: Vec<f64> = text
            .trim()
            .trim_matches(['[', ']'])
            .split(',')
            .map(|x| x.parse().expect("a number"))
            .collect();
        assert_eq!(got, expected);
    }
}
