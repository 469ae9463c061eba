//! libFuzzer: bytes → the target `model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = pfaff_fuzz::target("model").expect("it is in the list");
    (target.run)(bytes);
});
