//! One PostgreSQL connection through the filter.
//!
//! Bytes of either direction arrive as Envoy has them, split anywhere, and leave changed only where the plan says so.
//! `phase.rs` lists the phases. `../database` does what does not depend on the protocol. The stages of a connection, with their files:
//!
//! | stage | file |
//! | --- | --- |
//! | bytes arrive | `../database/connection.rs` |
//! | the first packets, and the principal | `phase/startup.rs` |
//! | the StartupMessage waits for plan and keys | `phase/awaiting_policy.rs` |
//! | logging in | `phase/authenticating.rs` |
//! | the session is up, or ends | `phase/ready.rs`, `phase/ending.rs` |
//! | a message from the client | `client.rs`, `extended.rs`, `portals.rs` |
//! | it calls a function by its number | `function_call.rs` |
//! | a statement's text is checked against plan and catalog | `check.rs` |
//! | its literals and parameters are sealed | `seal.rs` |
//! | a statement is refused | `refuse.rs` |
//! | the responses that the server owes are queued | `pending.rs`, `statements.rs` |
//! | a message from the server | `server.rs`, and the files in `server` for rows, descriptions and errors |
//! | a row is treated | `rows.rs` |
//! | the end user's token is replaced by a word | `end_user.rs` |
//! | the server says who the session is for | `identity.rs` |
//! | the server sends the catalog | `catalog.rs` |
//! | the filter queries the server for both | `own_queries.rs` |
//! | the transaction block | `transaction.rs` |
//! | the settings by which statements are read | `settings.rs` |
//! | texts and values in another encoding than UTF-8 | `encoding.rs` |
//! | the client's pipeline, up to its next Sync | `pipeline.rs` |
//! | the rows of a COPY are sealed or treated | `copy.rs` |
//! | SQL makes prepared statements and cursors | `names.rs`, `sql_prepared.rs`, `cursors.rs` |

mod catalog;
mod check;
mod client;
mod copy;
mod cursors;
mod encoding;
mod end_user;
mod extended;
mod function_call;
mod identity;
mod names;
mod own_queries;
mod pending;
mod phase;
mod pipeline;
mod portals;
mod refuse;
mod rows;
mod seal;
mod server;
mod settings;
mod sql_named;
mod sql_prepared;
mod statements;
mod transaction;
mod undo;

use std::cell::RefCell;
use std::rc::Rc;

use self::phase::{Phase, ReadySession};
pub use crate::database::CallbackOutput;
use crate::database::{Client, Core, Duplex, MAX_HELD, Step, Waiting, WireProtocol};
use crate::ports::Ports;
use crate::worker::Worker;

/// A connection to PostgreSQL, as the host sees it.
pub type PostgresConnection = Duplex<Session>;

/// One connection: where it stands, and what does not depend on that.
pub struct Session {
    core: Core,
    phase: Phase,
}

impl WireProtocol for Session {
    fn begin(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, client: Client) -> Self {
        Self { core: Core::new(worker, ports, client), phase: Phase::default() }
    }

    fn core(&self) -> &Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    fn read_client(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Step {
        self.phase.read_client(rest, &mut self.core, out)
    }

    fn read_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        self.phase.read_piece(piece, &mut self.core, out);
    }

    fn read_server(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Result<Step, &'static str> {
        self.phase.read_server(rest, &mut self.core, out)
    }

    fn can_resume(&self) -> bool {
        self.phase.session().is_none_or(ReadySession::can_resume)
    }

    fn bytes_of_state(&self) -> usize {
        self.phase.held()
    }

    fn in_flight(&self) -> usize {
        self.phase.session().map_or(0, |session| session.pending.bytes())
    }
}
