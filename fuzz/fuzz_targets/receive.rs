#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| vrrp_core::fuzzing::receive(data));
