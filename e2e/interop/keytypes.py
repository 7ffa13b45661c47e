"""The key types that Fieldveil supports."""

from dataclasses import dataclass

AEAD, DETERMINISTIC, PRF = "aead", "deterministic", "prf"


@dataclass(frozen=True)
class KeyType:
    """One of Tink's key types, with the parameters that it is tried with."""

    # As a request names it.
    name: str
    purpose: str
    # As people call it.
    title: str
    # How `fieldveil keys create` is told to make it; None: it reads such keys and makes none.
    made_with: tuple[str, ...] | None = None


KEY_TYPES = (
    KeyType("aes128-gcm", AEAD, "AES-GCM, 128 bits", ("--aead-template", "aes128-gcm")),
    KeyType("aes256-gcm", AEAD, "AES-GCM, 256 bits", ("--aead-template", "aes256-gcm")),
    KeyType("aes128-gcm-siv", AEAD, "AES-GCM-SIV, 128 bits"),
    KeyType("aes256-gcm-siv", AEAD, "AES-GCM-SIV, 256 bits", ("--aead-template", "aes256-gcm-siv")),
    KeyType("chacha20-poly1305", AEAD, "ChaCha20-Poly1305"),
    KeyType("xchacha20-poly1305", AEAD, "XChaCha20-Poly1305", ("--aead-template", "xchacha20-poly1305")),
    KeyType("aes-siv", DETERMINISTIC, "AES-SIV, 512 bits", ()),
    KeyType("hmac-sha256", PRF, "HMAC-SHA-256 PRF", ()),
    KeyType("hmac-sha384", PRF, "HMAC-SHA-384 PRF"),
    KeyType("hmac-sha512", PRF, "HMAC-SHA-512 PRF"),
    KeyType("hkdf-sha256", PRF, "HKDF-SHA-256 PRF"),
    KeyType("hkdf-sha512-salt", PRF, "HKDF-SHA-512 PRF, with a salt"),
    KeyType("aes-cmac", PRF, "AES-CMAC PRF, 256 bits"),
)
# Indexed values need an AEAD keyset beside the PRF.
COMPANION = KEY_TYPES[1]
