//! Motions between given ends: closed forms, an independent solution, the search.

mod closed_forms;
mod independent;
mod search;
mod units;
