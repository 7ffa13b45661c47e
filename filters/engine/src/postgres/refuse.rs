//! Refuses messages. A filter cannot write to the client out of turn. So it sends a message that must fail to the server in the
//! place of the refused one. The server's error arrives in the right place among the responses and puts the transaction into the
//! right state, and the filter replaces its text.

use std::rc::Rc;

use fieldveil_postgres_wire::backend::ErrorResponse;
use fieldveil_postgres_wire::frontend::{Parse, Query};
use fieldveil_sql::{ClientData, Dialect, StringDoubt, identity};

use super::encoding::ClientEncoding;
use super::pending::{Awaited, PendingResponse};
use super::{CallbackOutput, ReadySession};
use crate::client_error::ClientError;
use crate::database::{CheckedText, Core};
use crate::ports::Level;

/// A text that the server parses and does not understand: without tables `*` stands for nothing. It fails with 42601, but in a
/// failed transaction with 25P02, as every other statement does there. That answer of the server's is forwarded as it is.
pub(super) const REFUSED: &[u8] = b"SELECT * /* fieldveil refused this statement */";
/// A text that is no SQL. It fails with 42601 in a failed transaction, too.
const NO_SQL: &[u8] = b"/* fieldveil refused this statement */ SELECT FROM WHERE";
/// A message type that no version of the protocol has. The server ends the session with 08P01.
pub(super) const NO_MESSAGE: [u8; 5] = [0xff, 0, 0, 0, 4];

impl ReadySession {
    /// Refuses a simple query, or a function call, whose error does not wait for a Sync either.
    pub(super) fn refuse_query(&mut self, error: ClientError, core: &mut Core, out: &mut CallbackOutput) {
        core.audit.note_refusal(&error);
        self.answer_with(error, REFUSED, core, out);
    }

    /// Has the server answer a simple query with an error, which stands for this one.
    fn answer_with(&mut self, error: ClientError, text: &[u8], core: &mut Core, out: &mut CallbackOutput) {
        // A session that is up has a plan.
        let Some(plan) = &core.policy.plan else {
            out.close = true;
            return;
        };
        let checked = Rc::new(CheckedText::untouched(plan, Rc::default(), false));
        out.close |= Query { text }.encode(&mut out.to_server).is_err();
        self.pending.push(PendingResponse::refused(Awaited::Query(checked, 0, None), error));
    }

    /// Refuses the text of a simple query. If it has a `COPY … FROM STDIN`, the client is asked for the data all the same. The data
    /// is dropped, and behind it comes the error: if the error came first, psql would send the rows of a dump as statements.
    pub(super) fn refuse_text(
        &mut self,
        text: &[u8],
        error: ClientError,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) {
        let has_failed = self.transaction.had_failed() || error.is_failed_transaction();
        let data = match client_data(text) {
            Ok(Some(data)) if !has_failed => data,
            _ => {
                self.copies.rows_may_follow |= may_copy_from_client(text);
                core.audit.note_refusal(&error);
                // It ends the transaction first, so that 25P02 is not what the server would say of what is refused.
                let ends = !error.is_failed_transaction() && ends_transaction_first(text);
                return self.answer_with(error, if ends { NO_SQL } else { REFUSED }, core, out);
            }
        };
        core.audit.note_refusal(&error);
        out.close |= Query { text: b"" }.encode(&mut out.to_server).is_err();
        self.pending.push(PendingResponse::injected(Awaited::RefusedCopy(data)));
        self.copies.refuse(error);
    }

    /// The client has sent all data of a COPY that was refused, or gave it up. Whether that was so.
    pub(super) fn end_refused_copy(&mut self, core: &mut Core, out: &mut CallbackOutput) -> bool {
        let Some(error) = self.copies.take_refused() else { return false };
        self.answer_with(error, REFUSED, core, out);
        true
    }

    /// Refuses a message of the extended protocol: a Parse under this name, of a text that must fail, goes to the server in its
    /// place. The client's messages up to its next Sync are dropped, as the server would do.
    pub(super) fn refuse_by_parse(
        &mut self,
        name: &[u8],
        error: ClientError,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) {
        core.audit.note_refusal(&error);
        // The server looks for the name before it looks at the transaction.
        let text = if error.is_unknown_name() { NO_SQL } else { REFUSED };
        let parse = Parse { name, text, parameter_types: Vec::new() };
        out.close |= parse.encode(&mut out.to_server).is_err();
        self.pending.push(PendingResponse::refused(Awaited::Bind(None), error));
        self.pipeline.open();
        self.pipeline.skip();
    }

    /// Refuses a message of the extended protocol, without a name of the client's.
    pub(super) fn refuse_extended_message(
        &mut self,
        error: ClientError,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) {
        // The client knows no statement of this name, and the server does not get one: the message fails before.
        let name = self.own_queries.name().to_owned();
        self.refuse_by_parse(name.as_bytes(), error, core, out);
    }
}

/// The data of the `COPY … FROM STDIN` that a text has, if it can be read.
fn client_data(text: &[u8]) -> Result<Option<ClientData>, StringDoubt> {
    std::str::from_utf8(text).map_err(|_| StringDoubt).and_then(fieldveil_sql::client_data)
}

/// Whether a text may have a `COPY … FROM STDIN`: where it cannot be read, by its words.
pub(super) fn may_copy_from_client(text: &[u8]) -> bool {
    client_data(text).map_or_else(
        |_| {
            let text = String::from_utf8_lossy(text).to_ascii_lowercase();
            text.contains("copy") && text.contains("std")
        },
        |data| data.is_some(),
    )
}

/// Whether a text of several statements ends a transaction before all else.
pub(super) fn ends_transaction_first(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| identity::ends_transaction_first(text, Dialect::Postgres))
}

/// Whether the server's error is the one that the filter's message was made to cause.
pub(super) fn is_provoked(code: &[u8]) -> bool {
    // A text that is not understood, a missing user, an unknown message type, a COPY that the client gave up.
    matches!(code, b"42601" | b"28000" | b"08P01" | b"57014")
}

/// Gives a client that logs in an error in the place of a response that the login cannot continue with, and closes the connection.
pub(super) fn end_login(
    core: &mut Core,
    encoding: ClientEncoding,
    error: &ClientError,
    out: &mut CallbackOutput,
) {
    core.audit.count_refusal(error);
    core.log(Level::Error, &format!("{} ({}); {}", error.message, error.code, error.hint));
    write_error(core, encoding, ("FATAL", error, ""), &mut out.to_client);
    out.close = true;
}

/// Writes an error to the client: its severity, what it says, and a detail, which may be empty.
pub(super) fn write_error(
    core: &Core,
    encoding: ClientEncoding,
    (severity, error, detail): (&str, &ClientError, &str),
    to_client: &mut Vec<u8>,
) {
    // Names in it may have characters that the client's encoding lacks.
    let (message, hint) = (encoding.shown(&error.message), encoding.shown(&error.hint));
    let mut response = ErrorResponse::new(severity, error.code, message);
    if !detail.is_empty() {
        response = response.with(ErrorResponse::DETAIL, detail);
    }
    if response.with(ErrorResponse::HINT, hint).encode(to_client).is_err() {
        core.log(Level::Error, "an error message could not be written");
    }
}
