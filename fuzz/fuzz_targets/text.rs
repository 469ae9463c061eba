//! libFuzzer: bytes → the target `text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = pfaff_fuzz::target("text").expect("it is in the list");
    (target.run)(bytes);
});
