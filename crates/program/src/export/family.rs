//! Families of like terms in C: a loop over blocks of eight rows, with the bits of the other backends.
//!
//! A table has for each stretch of blocks how many there are, how many rows the last has, and for every operand and
//! every term a kind and a place: 0 the same in all rows, 1 one after another, 2 as eight entries of a second table
//! say.

use std::fmt::Write as _;

use super::helpers::Helpers;
use super::spelling::statement;
use super::{FunctionLines, Language, UnsupportedFunction, names};
use crate::backend::batch::LANE_BLOCK;
use crate::tape::layer::{FamilyLoop, LONGEST_STRETCH, Layer, NOWHERE, Places};

impl FunctionLines<'_> {
    /// Writes a layer, and adds what its list is called to what is given.
    pub(super) fn layer(
        &mut self,
        layer: &Layer,
        language: Language,
        list: &mut Vec<String>,
        helpers: &mut Helpers,
        text: &mut String,
    ) -> Result<(), UnsupportedFunction> {
        if language != Language::C {
            let (function, language) = ("a family of like terms", language.name());
            return Err(UnsupportedFunction { function, language });
        }
        if let Some(inner) = &layer.inner {
            self.layer(inner, language, list, helpers, text)?;
        }
        list.extend(self.write(&layer.operands.tape, language, list, helpers, text)?);
        list.resize(layer.first, String::new());
        let first = self.loops;
        let _ = writeln!(text, "    double x{first}[{}];", list.len().max(1));
        for place in read(layer) {
            let _ = writeln!(text, "    x{first}[{place}] = {};", list[place]);
        }
        let _ = writeln!(text, "    double f{first}[{}] = {{0}};", layer.results.max(1));
        for family in &layer.families {
            let name = format!("{}_loop{}", self.name, self.loops);
            self.loops += 1;
            let written = family_function(&name, family, helpers)?;
            self.before.push_str(&written);
            let _ = writeln!(text, "    {name}(x{first}, f{first});");
        }
        list.extend((0..layer.results).map(|i| format!("f{first}[{i}]")));
        Ok(())
    }
}

/// The places of the list that the families of a layer read, ascending.
fn read(layer: &Layer) -> Vec<usize> {
    let mut is_read = vec![false; layer.first];
    for FamilyLoop { uniform, varying, rows, terms } in &layer.families {
        uniform.iter().for_each(|u| is_read[u.1 as usize] = true);
        let columns = varying.len() + terms.outputs();
        for (places, &count) in rows.places.chunks_exact(columns).zip(&rows.counts) {
            for &places in &places[..varying.len()] {
                for row in 0..usize::from(count) {
                    let place = match places {
                        Places::Same(place) => place as usize,
                        Places::Run(place) => place as usize + row,
                        Places::Any(member) => rows.any[member as usize][row] as usize,
                    };
                    is_read[place] = true;
                }
            }
        }
    }
    (0..layer.first).filter(|&place| is_read[place]).collect()
}

/// The function that adds the rows of a family to its parts.
fn family_function(
    name: &str,
    family: &FamilyLoop,
    helpers: &mut Helpers,
) -> Result<String, UnsupportedFunction> {
    let tape = &*family.terms.tape;
    let (varying, terms) = (family.varying.len(), tape.outputs.len());
    let columns = varying + terms;
    let rows = &family.rows;
    let mut table = Vec::new();
    let mut b = 0;
    for &blocks in &rows.stretches {
        let last = rows.counts[b + blocks as usize - 1];
        table.extend([i64::from(blocks), i64::from(last)]);
        for &places in &rows.places[b * columns..][..columns] {
            table.extend(match places {
                Places::Same(NOWHERE) => [0, -1],
                Places::Same(place) => [0, i64::from(place)],
                Places::Run(place) => [1, i64::from(place)],
                Places::Any(member) => [2, i64::from(member) * LANE_BLOCK as i64],
            });
        }
        b += blocks as usize;
    }
    let any = rows.any.iter().flatten();
    let any = any.map(|&place| if place == NOWHERE { -1 } else { i64::from(place) });
    let mut text = String::from("\n");
    text.push_str(&numbers(&format!("{name}_table"), table));
    text.push_str(&numbers(&format!("{name}_any"), any.collect()));
    let mut names = names(tape, Language::C, 0);
    for (argument, of) in names.of.iter_mut().enumerate().take(tape.layout.inputs) {
        *of = match family.varying.iter().position(|&a| a == argument) {
            Some(column) => format!("a[{column}][l]"),
            None => format!("u{argument}"),
        };
    }
    helpers.enter(tape);
    let mut lines = String::new();
    for &instruction in &tape.per_evaluation {
        let line = statement(Language::C, instruction, &mut names, helpers)?;
        let _ = write!(lines, "        {line}");
    }
    for (term, &slot) in tape.outputs.iter().enumerate() {
        let _ = writeln!(lines, "            v[b][{term}][l] = {};", names.of[slot as usize]);
    }
    let mut uniform = String::new();
    for (argument, place) in &family.uniform {
        let _ = writeln!(uniform, "    const double u{argument} = x[{place}];");
    }
    let room = varying.max(1);
    let stride = 2 + 2 * columns;
    let _ = write!(
        text,
        "static void {name}(const double *restrict x, double *restrict f)\n{{\n\
         {uniform}    double a[{room}][8], v[{LONGEST_STRETCH}][{terms}][8], s[{terms}][8] = {{{{0}}}};\n    \
         long target[{terms}];\n    \
         for (int k = 0; k < {terms}; k++) target[k] = -1;\n    \
         const long *end = {name}_table + sizeof {name}_table / sizeof *{name}_table;\n    \
         for (const long *r = {name}_table; r < end; r += {stride}) {{\n    \
         for (long b = 0; b < r[0]; b++) {{\n        const int n = b + 1 < r[0] ? 8 : (int)r[1];\n        \
         for (int k = 0; k < {varying}; k++) {{\n            \
         const long kind = r[2 + 2 * k], place = r[3 + 2 * k];\n            \
         for (int l = 0; l < n; l++)\n                \
         a[k][l] = x[kind == 0 ? place : kind == 1 ? place + 8 * b + l : {name}_any[place + l]];\n        }}\n        \
         for (int l = 0; l < n; l++) {{\n{lines}        }}\n    }}\n    \
         for (int k = 0; k < {terms}; k++) {{\n        \
         const long *const p = r + 2 + 2 * ({varying} + k);\n        \
         if (p[0] == 0 && p[1] >= 0 && target[k] != p[1]) {{\n            \
         pfaff_flush(s[k], target[k], f);\n            target[k] = p[1];\n            \
         for (int l = 0; l < 8; l++) s[k][l] = 0.0;\n        }}\n    }}\n    \
         for (int k = 0; k < {terms}; k++) {{\n        \
         const long *const p = r + 2 + 2 * ({varying} + k);\n        \
         for (long b = 0; b < r[0]; b++) {{\n            const int n = b + 1 < r[0] ? 8 : (int)r[1];\n            \
         if (p[0] == 1) {{\n                \
         for (int l = 0; l < n; l++) f[p[1] + 8 * b + l] += v[b][k][l];\n            \
         }} else if (p[0] == 2) {{\n                \
         for (int l = 0; l < n; l++) if ({name}_any[p[1] + l] >= 0)\n                    \
         f[{name}_any[p[1] + l]] += v[b][k][l];\n            \
         }} else if (p[1] >= 0) {{\n                \
         for (int l = 0; l < n; l++) s[k][l] += v[b][k][l];\n            }}\n        }}\n    }}\n    }}\n    \
         for (int k = 0; k < {terms}; k++) pfaff_flush(s[k], target[k], f);\n}}\n"
    );
    helpers.need(super::helpers::Helper::Flush);
    Ok(text)
}

/// A table in lines.
fn numbers(name: &str, mut table: Vec<i64>) -> String {
    // NOTE: C has no empty arrays.
    if table.is_empty() {
        table.push(0);
    }
    let mut text = format!("static const long {name}[{}] = {{\n", table.len());
    for line in table.chunks(16) {
        let entries: Vec<String> = line.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "    {},", entries.join(", "));
    }
    text.push_str("};\n");
    text
}
