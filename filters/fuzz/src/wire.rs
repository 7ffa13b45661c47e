//! Messages and first packets; the bodies are those of the crate's own tests.

use fieldveil_postgres_wire::fuzz::bodies::{ANSWERS, REQUESTS, body, first_packet, peeks, stream};

pub(crate) fn startup(bytes: &[u8]) {
    first_packet(bytes);
}

pub(crate) fn frontend(bytes: &[u8]) {
    // As a stream, and as the body of each message: the length need not be guessed then.
    stream(bytes, REQUESTS);
    if let Some((tag, rest)) = bytes.split_first() {
        body(REQUESTS, *tag, rest);
    }
    peeks(bytes);
}

pub(crate) fn backend(bytes: &[u8]) {
    stream(bytes, ANSWERS);
    if let Some((tag, rest)) = bytes.split_first() {
        body(ANSWERS, *tag, rest);
    }
    peeks(bytes);
}
