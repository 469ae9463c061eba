//! libFuzzer: bytes → the target `expression`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = pfaff_fuzz::target("expression").expect("it is in the list");
    (target.run)(bytes);
});
