//! Inputs that repeat one construct n times, for n, 2n and 4n: what they cost may not grow faster than they do.
//!
//! | what | file |
//! | --- | --- |
//! | a text that repeats, nests or leaves open | `text.rs` |
//! | statements | `sql.rs`, `statements.rs`, `dialects.rs`, `pieces.rs` |
//! | bodies, requests and paths of HTTP | `http.rs`, `http_texts.rs` |
//! | messages of PostgreSQL and of MySQL | `postgres.rs`, `postgres_server.rs`, `mysql.rs` |
//! | values, and rows of files | `values.rs` |
//!
//! `targets/growth.rs` runs them. A case whose cost is right but not linear has no place here: a limit bounds it.

mod dialects;
mod http;
mod http_texts;
mod mysql;
mod pieces;
mod postgres;
mod postgres_server;
mod sql;
mod statements;
mod text;
mod values;

pub use text::Chance;

/// An input of one size, ready to be run.
pub struct Input {
    /// The length of what a peer sends.
    pub bytes: usize,
    /// How it begins.
    pub begins: String,
    /// Everything that is counted.
    pub run: Box<dyn FnOnce()>,
}

/// Characters of an input that are shown.
const SHOWN: usize = 160;

impl Input {
    fn new(bytes: &[u8], run: impl FnOnce() + 'static) -> Self {
        let shown = &bytes[..bytes.len().min(SHOWN)];
        Self { bytes: bytes.len(), begins: shown.escape_ascii().to_string(), run: Box::new(run) }
    }
}

/// Inputs that differ in how often something is repeated alone.
pub struct Case {
    /// What reads it.
    pub reader: &'static str,
    /// The number of repetitions at the smallest size; without, it follows from the bytes of the largest.
    pub times: Option<usize>,
    /// Bytes of the largest size.
    pub bytes: usize,
    /// The input with so many repetitions.
    pub make: Box<dyn Fn(usize) -> Input>,
}

impl Case {
    fn new(reader: &'static str, bytes: usize, make: impl Fn(usize) -> Input + 'static) -> Self {
        Self { reader, times: None, bytes, make: Box::new(make) }
    }

    /// With so many repetitions at the smallest size: for what has a limit, or is worst when it is small.
    fn times(self, times: usize) -> Self {
        Self { times: Some(times), ..self }
    }

    /// The smallest number of repetitions, with inputs so many times as large.
    #[must_use]
    pub fn smallest(&self, scale: f64) -> usize {
        const PROBED: usize = 17;
        let times = self.times.unwrap_or_else(|| {
            let unit = ((self.make)(PROBED).bytes - (self.make)(1).bytes) / (PROBED - 1);
            self.bytes / 4 / unit.max(1)
        });
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let times = (times as f64 * scale) as usize;
        times.max(2)
    }
}

/// The cases that are run each time, in a fixed order.
#[must_use]
pub fn cases() -> Vec<Case> {
    [sql::cases(), http::cases(), postgres::cases(), mysql::cases(), values::cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// A case that is put together by chance: the same from the same number.
#[must_use]
pub fn composed(number: u64) -> Case {
    let mut chance = Chance::new(number);
    match chance.below(8) {
        0..=4 => sql::composed(&mut chance),
        5 => http::composed(&mut chance),
        6 => values::composed(&mut chance),
        _ => postgres::composed(&mut chance),
    }
}
