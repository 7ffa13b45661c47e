//! The engine, which joins wire formats, SQL analysis, JSON, keysets, envelopes, values and plans into what one connection or
//! one HTTP exchange does.
//!
//! It makes no host call: bytes go in, bytes and wishes come out, and time, randomness and the log come through
//! [`ports::Ports`]. Use it through a host crate; on its own it opens no socket. It assumes that it sees every
//! byte of a connection, from its first, and that Envoy keeps the order.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::string_slice))]

mod analyses;
pub mod audit;
pub mod budgets;
pub mod client_error;
pub mod compiled_plan;
pub mod database;
pub mod fetch;
pub mod field;
mod held_keys;
pub mod http;
mod kept_ciphers;
pub mod key_memory;
pub mod key_uses;
pub mod keyring;
pub mod locks;
pub mod memory;
pub mod mysql;
pub mod output_limit;
mod plan_counts;
pub mod plans;
pub mod ports;
pub mod postgres;
mod principals;
pub mod reports;
pub mod routes;
mod server_catalog;
pub mod sidecar_state;
mod spending;
mod token_words;
mod value_buffers;
pub mod value_counts;
pub mod worker;

pub use fieldveil_config as config;
pub use fieldveil_tink::Random;
