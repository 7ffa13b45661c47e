//! fieldveil-pg-wire
