//! Whole transactions through the engine's own sessions, in memory: what a client and a server send comes in as Envoy
//! would bring it, and what comes out is looked at once before anything is measured.
//!
//! | what | file |
//! | --- | --- |
//! | a worker that has plan and keys, and its clock and randomness | `world.rs` |
//! | steps of a connection to a database, and what must come out | `database.rs` |
//! | connections that begin and end | `new_sessions.rs` |
//! | the values, in clear and as they are stored | `values.rs` |
//! | PostgreSQL's messages, and its transactions | `postgres.rs` |
//! | MySQL's packets, and its transactions | `mysql.rs` |
//! | bodies of JSON | `json.rs` |
//! | calls of Envoy's alone, where there is one | `envoy.rs` |

mod database;
#[cfg(target_os = "wasi")]
mod envoy;
mod json;
mod mysql;
mod new_sessions;
mod postgres;
mod values;
mod work;
mod world;

use fieldveil_engine::Random;

pub use self::work::Sessions;

/// One transaction, again and again over the same connection.
pub trait Transaction {
    /// One of them. Gives the bytes that came out.
    fn run(&mut self) -> Result<usize, String>;

    /// One of them, whose output is looked at.
    fn check(&mut self) -> Result<(), String>;
}

/// Bytes of a read from the server at most: PostgreSQL's own buffer.
const CHUNK: usize = 8192;

/// Makes the source of randomness that a transaction has for itself.
pub type Randomness<'a> = &'a dyn Fn() -> Result<Box<dyn Random>, String>;

/// A transaction that nothing was sent of yet.
type Make = fn(Randomness<'_>) -> Result<Box<dyn Transaction>, String>;

/// A transaction under its name.
pub type Named = (&'static str, Box<dyn Transaction>);

/// Every transaction, under its name.
pub const TRANSACTIONS: [(&str, Make); 28] = [
    ("postgres: nothing protected", postgres::nothing_protected),
    ("postgres: point read, 3 opened", postgres::point_read),
    ("postgres: point read, 3 concealed", postgres::point_read_concealed),
    ("postgres: insert, 3 sealed", postgres::insert),
    ("postgres: insert of 20 rows, 60 sealed", postgres::insert_rows),
    ("postgres: text that inserts 20 rows, 60 sealed", postgres::insert_rows_by_text),
    ("postgres: 100 rows, nothing protected", postgres::hundred_rows_unprotected),
    ("postgres: 100 rows, 300 concealed", postgres::hundred_rows_concealed),
    ("postgres: 100 rows, 300 opened", postgres::hundred_rows),
    ("postgres: 100 rows copied out, 300 opened", postgres::copied_out),
    ("postgres: 100 rows copied in, 300 sealed", postgres::copied_in),
    ("postgres: text with a protected literal, 3 opened", postgres::searched_by_text),
    ("postgres: ever new texts, 3 opened", postgres::new_texts),
    ("postgres: new session", postgres::new_sessions),
    ("mysql: nothing protected", mysql::nothing_protected),
    ("mysql: point read, 3 opened", mysql::point_read),
    ("mysql: point read, 3 concealed", mysql::point_read_concealed),
    ("mysql: insert, 3 sealed", mysql::insert),
    ("mysql: insert of 20 rows, 60 sealed", mysql::insert_rows),
    ("mysql: text that inserts 20 rows, 60 sealed", mysql::insert_rows_by_text),
    ("mysql: file of 20 rows loaded, 60 sealed", mysql::loaded),
    ("mysql: 100 rows, nothing protected", mysql::hundred_rows_unprotected),
    ("mysql: 100 rows, 300 concealed", mysql::hundred_rows_concealed),
    ("mysql: 100 rows, 300 opened", mysql::hundred_rows),
    ("mysql: new session", mysql::new_sessions),
    ("json: body that passes, 1 KB", json::passing),
    ("json: response of 1 KB, 10 opened", json::opened),
    ("json: request of 1 KB, 10 sealed", json::sealed),
];

/// Calls of Envoy's that a callback makes; none where there is no Envoy.
#[cfg(target_os = "wasi")]
const OF_ENVOY: &[(&str, Make)] = &envoy::CALLS;
#[cfg(not(target_os = "wasi"))]
const OF_ENVOY: &[(&str, Make)] = &[];

/// The transactions whose names hold this text; all for an empty one.
pub fn transactions(holding: &str, randomness: Randomness<'_>) -> Result<Vec<Named>, String> {
    let wanted = TRANSACTIONS.iter().chain(OF_ENVOY).filter(|(name, _)| name.contains(holding));
    let found: Vec<_> = wanted
        .map(|(name, make)| Ok((*name, make(randomness).map_err(|error| format!("{name}: {error}"))?)))
        .collect::<Result<_, String>>()?;
    if found.is_empty() {
        return Err(format!("no transaction's name holds `{holding}`"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use fieldveil_host::Generator;

    use super::*;

    fn all() -> Vec<Named> {
        transactions("", &|| Ok(Box::new(Generator::new().unwrap()))).unwrap()
    }

    #[test]
    fn every_transaction_gives_what_it_must_again_and_again() {
        for (name, mut transaction) in all() {
            for _ in 0..3 {
                transaction.check().unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(transaction.run().unwrap() > 0, "{name}");
            }
        }
    }

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<_> = TRANSACTIONS.iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), TRANSACTIONS.len());
        assert!(transactions("no such", &|| Err(String::new())).is_err());
    }
}
