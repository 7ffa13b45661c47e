//! fieldveil-envelope
