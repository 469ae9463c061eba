//! A table from keys to 32-bit places that knows the keys only by their hashes: the places lead to them.
//!
//! Each entry takes eight bytes, the upper half of them bits of its hash. So the table grows without a look at a key,
//! and a key is compared with others only where 32 bits agree. Positions follow each other where they are taken.

/// Places by the hashes of what they lead to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookup {
    /// A power of two of them; zero where none is, else 32 bits of the hash above the place and one.
    entries: Vec<u64>,
    count: usize,
}

/// Entries of the smallest table.
const LEAST: usize = 64;

impl Lookup {
    /// With room for so many places.
    pub(crate) fn with_capacity(places: usize) -> Self {
        let entries = (places + places / 2).max(LEAST).next_power_of_two();
        Self { entries: vec![0; entries], count: 0 }
    }

    /// The place with this hash of which `is` says that it is the one that is looked for.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        self.position(hash, is).map(|at| place(self.entries[at]))
    }

    /// Adds a place that leads to a key that none of the others leads to.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, place: u32) {
        if 3 * (self.count + 1) > 2 * self.entries.len() {
            self.grow();
        }
        self.count += 1;
        self.put(tag(hash) | (u64::from(place) + 1));
    }

    /// Another place in the stead of the one that `is` finds; false if it finds none.
    pub(crate) fn replace(&mut self, hash: u64, is: impl Fn(u32) -> bool, place: u32) -> bool {
        let found = self.position(hash, is);
        if let Some(at) = found {
            self.entries[at] = tag(hash) | (u64::from(place) + 1);
        }
        found.is_some()
    }

    #[inline]
    fn position(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<usize> {
        let tag = tag(hash);
        let last = self.entries.len().checked_sub(1)?;
        let mut at = begin(tag, last);
        while self.entries[at] != 0 {
            let entry = self.entries[at];
            if entry & TAG == tag && is(place(entry)) {
                return Some(at);
            }
            at = (at + 1) & last;
        }
        None
    }

    fn put(&mut self, entry: u64) {
        let last = self.entries.len() - 1;
        let mut at = begin(entry & TAG, last);
        while self.entries[at] != 0 {
            at = (at + 1) & last;
        }
        self.entries[at] = entry;
    }

    fn grow(&mut self) {
        let more = vec![0; (2 * self.entries.len()).max(LEAST)];
        for entry in std::mem::replace(&mut self.entries, more) {
            if entry != 0 {
                self.put(entry);
            }
        }
    }
}

/// The bits of an entry that belong to its hash.
const TAG: u64 = 0xFFFF_FFFF << 32;

/// Bits of a product with an odd number: the upper ones depend on all bits of a hash.
#[inline]
fn tag(hash: u64) -> u64 {
    hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) & TAG
}

/// Where a search begins: at most 2³² entries have a position of their own.
#[inline]
fn begin(tag: u64, last: usize) -> usize {
    (tag >> 32) as usize & last
}

#[inline]
fn place(entry: u64) -> u32 {
    (entry as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a list, with hashes that agree in all bits, in many and in few.
    #[test]
    fn every_key_leads_to_its_place() {
        for spread in [0, 1, 1 << 32, 0x9E37_79B9_7F4A_7C15] {
            let hash = |key: u64| (key / 3).wrapping_mul(spread);
            let mut keys: Vec<u64> = Vec::new();
            let mut lookup = Lookup::default();
            for key in (0..1000).map(|k| k * k % 701) {
                let known = keys.iter().position(|&other| other == key);
                let found = lookup.find(hash(key), |place| keys[place as usize] == key);
                assert_eq!(found, known.map(|place| place as u32));
                if found.is_none() {
                    lookup.insert(hash(key), keys.len() as u32);
                    keys.push(key);
                }
            }
            let key = keys[17];
            keys.push(key);
            let last = keys.len() as u32 - 1;
            assert!(lookup.replace(hash(key), |place| keys[place as usize] == key, last));
            assert_eq!(lookup.find(hash(key), |place| keys[place as usize] == key), Some(last));
            assert!(!lookup.replace(hash(5000), |_| false, 0));
        }
    }
}
