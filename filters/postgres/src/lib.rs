//! filter-postgres
