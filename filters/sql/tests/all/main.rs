//! The analysis of statements, of both databases.
//!
//! One program for all files: each would link the whole crate again.

mod adversarial;
mod bounds;
mod change;
mod common;
mod copies;
mod growth;
mod hardening;
mod identity;
mod insert;
mod multi_key;
mod mysql_binary;
mod mysql_free_names;
mod mysql_identity;
mod mysql_last_statement;
mod mysql_load;
mod mysql_long_texts;
mod mysql_modes;
mod mysql_other_meaning;
mod mysql_prepared;
mod mysql_properties;
mod mysql_select;
mod mysql_statements;
mod mysql_tables;
mod mysql_unseen;
mod mysql_write;
mod operands;
mod own_names;
mod predicates;
mod promises;
mod properties;
mod queries;
mod scope;
mod select;
mod shapes;
mod temporary;
mod typed_shapes;
mod utility;
