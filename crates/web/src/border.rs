//! The border to the page: texts in and out of the memory of the module.
//!
//! The worker calls `pfaff_room(length)`, writes a question there, calls `pfaff_ask()`, and reads the answer at
//! `pfaff_answer()` with `pfaff_length()` bytes.
#![allow(unsafe_code, reason = "functions that the page calls keep their names")]

use std::cell::RefCell;

use crate::Workbench;

thread_local! {
    static QUESTION: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Room for a question of so many bytes.
#[unsafe(no_mangle)]
extern "C" fn pfaff_room(length: usize) -> *mut u8 {
    QUESTION.with_borrow_mut(|question| {
        question.clear();
        question.resize(length, 0);
        question.as_mut_ptr()
    })
}

/// Answers the question.
#[unsafe(no_mangle)]
extern "C" fn pfaff_ask() {
    let question = QUESTION.with_borrow(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let answer = Workbench::default().ask(&question);
    ANSWER.with_borrow_mut(|place| *place = answer);
}

/// Where the answer is.
#[unsafe(no_mangle)]
extern "C" fn pfaff_answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
extern "C" fn pfaff_length() -> usize {
    ANSWER.with_borrow(String::len)
}
