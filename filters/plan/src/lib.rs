//! fieldveil-plan
