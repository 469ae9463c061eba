//! libFuzzer: bytes → the target `table`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = pfaff_fuzz::target("table").expect("it is in the list");
    (target.run)(bytes);
});
