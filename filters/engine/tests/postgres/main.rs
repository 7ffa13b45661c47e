//! Sessions of PostgreSQL, and what both databases share, driven as Envoy drives them.
//!
//! One program for all files: each would link the whole engine again.

#[path = "../support/mod.rs"]
mod support;

mod absent_tables;
mod audit;
mod batch;
mod budgets;
mod connections;
mod contracts;
mod copy;
mod copy_batches;
mod copy_refused;
mod cursor_columns;
mod cursors;
mod described;
mod encodings;
mod end_users;
mod end_users_plans;
mod end_users_words;
mod floods;
mod function_calls;
mod hardening;
mod insert_batches;
mod kept_shapes;
mod known_catalogs;
mod own_names;
mod parsed_anew;
mod plans;
mod recorded;
mod rotation;
mod row_errors;
mod session;
mod splits;
mod tenants;
mod workload;
mod written_back;
