//! libFuzzer: bytes → the target `cranelift`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = pfaff_fuzz::target("cranelift").expect("it is in the list");
    (target.run)(bytes);
});
