//! fieldveil-tink
