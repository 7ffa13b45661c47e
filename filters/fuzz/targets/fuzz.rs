//! Every target under libFuzzer, in one program: `FUZZ_TARGET` names the one to run.
#![no_main]

use std::sync::LazyLock;

use fieldveil_fuzz::{Body, TARGETS};

static BODY: LazyLock<Body> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    match TARGETS.iter().find(|(known, _)| *known == name) {
        Some((_, body)) => *body,
        None => panic!("FUZZ_TARGET names no target: {name}"),
    }
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| BODY(bytes));
