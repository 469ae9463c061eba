//! The places between the index brackets on the left of a family: `X[i = 1..N, j = 1..i]`, `X[0]`.

use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::shape::Value;
use crate::syntax::{Slot, Symbol};

/// How many members a family may have.
const MEMBERS: usize = 1_000_000;

/// The members that the slots name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    /// Indices, the first one slowest.
    pub(crate) indices: Vec<Vec<i64>>,
    /// The index variables with the slot of each.
    variables: Vec<(Symbol, usize)>,
}

impl Elaborator<'_> {
    /// All members in order; one without indices if there are no slots. `None` after a report.
    pub(crate) fn members(&mut self, part: u8, slots: &[Slot]) -> Option<Members> {
        let mut members = Members { indices: vec![Vec::new()], variables: Vec::new() };
        for (k, slot) in slots.iter().enumerate() {
            if let Slot::Each(binder) = slot
                && !self.with_locals(&members, &[], |e| e.may_bind(part, binder.name))
            {
                return None;
            }
            let mut longer = Vec::new();
            for indices in std::mem::take(&mut members.indices) {
                let (from, to) =
                    self.with_locals(&members, &indices, |e| e.slot_range(part, *slot))?;
                let count = usize::try_from(to - from + 1).unwrap_or(0);
                if longer.len() + count > MEMBERS {
                    let id = match slot {
                        Slot::At(id) => *id,
                        Slot::Each(binder) => binder.to,
                    };
                    let message = format!("the family has more than {MEMBERS} members");
                    self.error("E0308", self.span(Site { part, id }), message);
                    return None;
                }
                longer.extend((from..=to).map(|i| [&indices[..], &[i]].concat()));
            }
            members.indices = longer;
            if let Slot::Each(binder) = slot {
                members.variables.push((binder.name.symbol, k));
            }
        }
        Some(members)
    }

    fn slot_range(&mut self, part: u8, slot: Slot) -> Option<(i64, i64)> {
        match slot {
            Slot::At(id) => {
                let site = Site { part, id };
                let value = self.read(site, Place::Size);
                let i = self.whole(&value, site, "an index")?;
                Some((i, i))
            }
            Slot::Each(binder) => {
                let [from, to] = [binder.from, binder.to].map(|id| Site { part, id });
                let (a, b) = (self.read(from, Place::Size), self.read(to, Place::Size));
                let a = self.whole(&a, from, "the start of a range");
                let b = self.whole(&b, to, "the end of a range");
                Some((a?, b?))
            }
        }
    }

    /// Does something while the index variables have the values of one member.
    pub(crate) fn with_locals<T>(
        &mut self,
        members: &Members,
        indices: &[i64],
        then: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.stacks.locals.len();
        for &(symbol, slot) in &members.variables {
            let i = indices.get(slot).copied().unwrap_or(0);
            let value = Value::Scalar(self.graph.integer(i));
            self.stacks.locals.push((symbol, value));
        }
        let result = then(self);
        self.stacks.locals.truncate(before);
        result
    }
}
