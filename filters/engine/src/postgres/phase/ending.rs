//! The client broke the protocol in a session that is up.

use fieldveil_postgres_wire::frontend::CopyFail;

use super::ReadySession;
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{CallbackOutput, Core};
use crate::postgres::pending::{Awaited, PendingResponse};
use crate::postgres::refuse::{NO_MESSAGE, REFUSED};

/// A session that ends behind its pending responses, which are read as before.
pub struct EndingSession(pub Box<ReadySession>);

impl EndingSession {
    /// Makes the server end the session with an error, which stands for this one.
    pub fn begin(
        mut session: Box<ReadySession>,
        error: ClientError,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Self {
        core.audit.note_refusal(&error);
        core.audit.note_end(Ended::Filter);
        if session.copies.server_reads {
            out.close |= CopyFail { reason: REFUSED }.encode(&mut out.to_server).is_err();
        }
        out.to_server.extend_from_slice(&NO_MESSAGE);
        session.pending.push(PendingResponse::refused(Awaited::End, error));
        Self(session)
    }
}
