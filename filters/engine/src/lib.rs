//! fieldveil-engine
