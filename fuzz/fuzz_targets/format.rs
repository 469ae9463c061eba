//! libFuzzer: bytes → the target `format`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = pfaff_fuzz::target("format").expect("it is in the list");
    (target.run)(bytes);
});
