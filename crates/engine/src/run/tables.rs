//! Given data in the equations of a run: how far their curves can be trusted.

use pfaff_expr::{Expr, Graph, Node, Overshoot, Table};

use crate::motion::note::{Note, brief};

/// The tables in some expressions, each once.
fn tables(g: &Graph, parts: &[Expr]) -> Vec<Table> {
    let indices = g.live(parts).into_iter().filter_map(|e| match g.node(e) {
        Node::Table { table, .. } => Some(table),
        _ => None,
    });
    let mut indices: Vec<u32> = indices.collect();
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().map(|index| g.table_of(index)).collect()
}

/// How much the rounding of knots counts in the splines of some expressions: knots by the least distance between two.
pub(crate) fn rounding_of_tables(g: &Graph, parts: &[Expr]) -> f64 {
    let rounding = tables(g, parts).into_iter().map(|table| {
        let (first, last) = table.range();
        let gaps = table.knots().windows(2).map(|pair| pair[1] - pair[0]);
        let least = gaps.fold(f64::INFINITY, f64::min);
        first.abs().max(last.abs()) / least + 1000.0
    });
    rounding.fold(0.0, f64::max)
}

/// Remarks on splines that swing far beyond their data.
pub(crate) fn overshooting(g: &Graph, parts: &[Expr]) -> Vec<Note> {
    let remark = |table: Table| {
        let Overshoot { between: (from, to), value, data: (least, most) } =
            table.overshoot()?;
        let Table { file, column, .. } = table;
        let [from, to, value, least, most] = [from, to, value, least, most].map(brief);
        Some(Note::Remark(format!(
            "the smooth curve through the column `{column}` of `{file}` reaches {value} between {from} and {to}, but \
             its data lie between {least} and {most}: add rows there, or write \"linear\" behind the column for \
             straight lines"
        )))
    };
    tables(g, parts).into_iter().filter_map(remark).collect()
}
