//! fieldveil-host
