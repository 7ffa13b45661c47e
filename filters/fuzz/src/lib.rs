//! Fuzz targets for every parser that network bytes reach.
//!
//! Each target is a function that any bytes may be given to, and that asserts what must hold for them. libFuzzer
//! drives them (`make fuzz`); `tests/corpus.rs` runs them over what is kept under `corpus/`.

mod connection;
mod copy;
mod encoding;
mod envelope;
mod exchange;
pub mod growth;
mod http;
mod json;
mod json_stream;
mod load_data;
mod mysql_session;
mod mysql_wire;
mod session;
mod sql;
mod values;
mod wire;

/// One target.
pub type Body = fn(&[u8]);

/// Every target by its name, which is also the name of its folder under `corpus/`.
pub const TARGETS: &[(&str, Body)] = &[
    ("startup", wire::startup),
    ("frontend", wire::frontend),
    ("backend", wire::backend),
    ("mysql_connection", mysql_wire::connection),
    ("mysql_command", mysql_wire::command),
    ("mysql_response", mysql_wire::response),
    ("copy", copy::copy),
    ("load_data", load_data::load_data),
    ("sql", sql::analysis),
    ("mysql_sql", sql::mysql_analysis),
    ("values", values::values),
    ("masks", values::masks),
    ("envelope", envelope::envelope),
    ("keyset", json::keyset),
    ("plan", json::plan),
    ("session", session::session),
    ("mysql_session", mysql_session::session),
    ("json_stream", json_stream::json_stream),
    ("http_values", http::values),
    ("graphql", http::graphql),
    ("encoding", encoding::encoding),
    ("exchange", exchange::exchange),
];
