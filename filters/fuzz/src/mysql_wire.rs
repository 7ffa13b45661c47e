//! MySQL's packets and messages; the bodies are those of the crate's own tests.

use fieldveil_mysql_wire::fuzz::bodies::{self, Choice, stream};

pub(crate) fn connection(bytes: &[u8]) {
    // As a stream, and as one payload: the length need not be guessed then.
    stream(bytes, |payload| {
        bodies::connection(payload);
    });
    bodies::connection(bytes);
}

/// The first two bytes choose capabilities and what is known of the statement.
pub(crate) fn command(bytes: &[u8]) {
    let Some((choice, bytes)) = Choice::split(bytes) else { return };
    stream(bytes, |payload| {
        bodies::command(payload, choice);
    });
    bodies::command(bytes, choice);
}

/// The first two bytes choose capabilities and columns.
pub(crate) fn response(bytes: &[u8]) {
    let Some((choice, bytes)) = Choice::split(bytes) else { return };
    stream(bytes, |payload| {
        bodies::response(payload, choice);
    });
    bodies::response(bytes, choice);
}
