//! What the engine needs of the world, as one trait: the host implements it over Envoy, tests over a
//! fixed clock. Everything else the engine does is a function of the bytes it is given.

use std::cell::RefCell;

use fieldveil_tink::Random;

/// How loud a log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Something an operator may want to count.
    Info,
    /// Something that needs attention, though nothing is lost.
    Warn,
    /// Something was refused or closed because a part failed.
    Error,
}

/// The engine's world: time, randomness and the log.
///
/// Log lines never carry plaintext, SQL text or key bytes; they name labels, reasons and remedies.
pub trait Ports: Random {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;
    /// Writes one line.
    fn log(&self, level: Level, line: &str);
    /// Writes one line of the audit: where a log line may be left out, this one is not.
    fn audit(&self, line: &str);
    /// Whether what is sent to the server of the connection at hand crosses no network in clear: it is reached over TLS,
    /// by a Unix socket or over loopback. Where that is not known it is not so.
    fn server_is_private(&self) -> bool;
    /// Bytes of memory that are allocated now, by whatever runs in the module; 0 where that is not known, and then nothing is
    /// weighed.
    fn memory_in_use(&self) -> usize {
        0
    }
}

/// 24 random hexadecimal digits.
pub(crate) fn random_name(ports: &RefCell<dyn Ports>) -> String {
    let mut random = [0; 12];
    ports.borrow_mut().fill(&mut random);
    let digits = random.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}
