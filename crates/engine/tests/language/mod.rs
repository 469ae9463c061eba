//! Texts of models: what the language can say, what it refuses, and texts that nobody would write.

mod breadth;
mod faults;
mod history;
