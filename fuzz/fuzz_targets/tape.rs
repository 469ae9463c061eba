//! libFuzzer: bytes → the target `tape`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = pfaff_fuzz::target("tape").expect("it is in the list");
    (target.run)(bytes);
});
