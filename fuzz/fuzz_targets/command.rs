//! libFuzzer: bytes → the target `command`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = pfaff_fuzz::target("command").expect("it is in the list");
    (target.run)(bytes);
});
