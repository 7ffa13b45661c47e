//! fieldveil-values
