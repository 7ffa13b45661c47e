//! fieldveil-sql
