//! The table of all diagnostic codes.
//!
//! E01xx text and syntax; E02xx names; E03xx shapes and types; E04xx statements and their
//! meaning; E05xx data. A code keeps its meaning for ever and is never used again.

/// Every code with what it stands for, in order.
pub const CODES: &[(&str, &str)] = &[
    ("E0101", "the text is not UTF-8"),
    ("E0102", "the text is too long"),
    ("E0103", "a character or operator that the language does not know"),
    ("E0104", "a text in quotes does not end on its line"),
    ("E0105", "a number is not written as an exact decimal"),
    ("E0106", "a number is too large, too small or too long"),
    ("E0107", "an operator is missing between two operands"),
    ("E0108", "a bracket is not closed"),
    ("E0109", "a closing bracket closes nothing, or another kind of bracket"),
    ("E0110", "a statement does not begin with a keyword"),
    ("E0111", "an expression is nested too deeply"),
    ("E0112", "an expression is missing"),
    ("E0113", "something else was expected here"),
    ("E0114", "a name is missing, or the word cannot be a name"),
    ("E0115", "a statement needs `=` and has none"),
    ("E0116", "comparisons do not chain"),
    ("E0117", "`=` and `==` are mixed up"),
    ("E0118", "a statement needs `:` and has none"),
    ("E0119", "an index range is missing or misplaced"),
    ("E0120", "brackets are empty"),
    ("E0121", "a text in quotes is missing"),
    ("E0122", "words before an event's name contradict each other or repeat"),
    ("E0123", "a statement takes one item and has several"),
    ("E0124", "a statement is empty"),
];
