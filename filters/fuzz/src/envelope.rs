//! Envelopes, raw and armored.

use fieldveil_envelope::{Envelope, armor, is_armored, looks_sealed, unarmor};

/// What parses is written as it came, and so is what can be unarmored.
pub(crate) fn envelope(bytes: &[u8]) {
    if let Ok(envelope) = Envelope::parse(bytes) {
        let mut out = Vec::new();
        envelope.write(&mut out);
        assert_eq!(out, bytes, "an envelope that parses is written as it came");
        let _ = (envelope.index(), envelope.tink_ciphertext());
        let armored = armor(bytes);
        assert!(is_armored(armored.as_bytes()) && looks_sealed(armored.as_bytes()) && looks_sealed(bytes));
        assert_eq!(unarmor(armored.as_bytes()).as_deref(), Ok(bytes));
    }
    let _ = looks_sealed(bytes);
    if let Ok(raw) = unarmor(bytes) {
        assert_eq!(armor(&raw).as_bytes(), bytes, "there is one armored form");
        envelope(&raw);
    }
}
