//! One PostgreSQL connection through the filter.
//!
//! Bytes of either direction arrive as Envoy has them, split anywhere, and leave changed only where the plan says so.
//! `../database` does what does not depend on the protocol. The stages of a connection, with their files:
//!
//! | stage | file |
//! | --- | --- |
//! | bytes arrive | `../database/connection.rs` |
//! | the first packets, the principal, plan and keys | `startup.rs` |
//! | logging in | `authentication.rs` |
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

mod authentication;
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
mod pipeline;
mod portals;
mod refuse;
mod rows;
mod seal;
mod server;
mod settings;
mod sql_prepared;
mod startup;
mod statements;
mod transaction;

use std::cell::RefCell;
use std::rc::Rc;

use self::copy::Copies;
use self::own_queries::OwnQueries;
use self::pending::PendingResponses;
use self::pipeline::Pipeline;
use self::settings::Settings;
use self::statements::Statements;
use self::transaction::Transaction;
pub use crate::database::CallbackOutput;
use crate::database::{Core, Duplex, MAX_HELD, Step, Waiting, WireProtocol};
use crate::ports::Ports;
use crate::worker::Worker;

/// The phase of the connection, with the state that only this phase has.
enum Phase {
    /// Before the StartupMessage.
    Startup,
    /// The StartupMessage waits for plan and keys.
    AwaitingPolicy(Vec<u8>),
    /// Until the first ReadyForQuery.
    Authenticating,
    /// Statements.
    Ready,
    /// A CancelRequest: nothing more is read.
    Passing,
    /// Refused or broken: what the client sends is dropped, until the server has said its last word.
    Ending,
}

/// A connection to PostgreSQL, as the host sees it.
pub type PostgresConnection = Duplex<Session>;

/// The session of one connection.
///
/// Large: it has a method for each phase, message and response, which join what its parts
/// do: each part is given what it needs, and none reaches for another.
pub struct Session {
    core: Core,
    phase: Phase,
    pending: PendingResponses,
    statements: Statements,
    transaction: Transaction,
    own_queries: OwnQueries,
    settings: Settings,
    pipeline: Pipeline,
    copies: Copies,
}

impl WireProtocol for Session {
    fn begin(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self {
        let own_queries = OwnQueries::new(&ports);
        Self {
            // The audit names the connection by another random name, because nobody may learn this one.
            core: Core::new(worker, ports, source),
            phase: Phase::Startup,
            pending: PendingResponses::default(),
            statements: Statements::default(),
            transaction: Transaction::default(),
            own_queries,
            settings: Settings::default(),
            pipeline: Pipeline::default(),
            copies: Copies::default(),
        }
    }

    fn core(&self) -> &Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    fn read_client(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Step {
        self.read_client_message(rest, out)
    }

    fn read_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        self.copies.push(piece, &mut self.core, &mut self.pending, out);
    }

    fn read_server(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Result<Step, &'static str> {
        self.read_server_message(rest, out)
    }

    fn can_resume(&self) -> bool {
        !self.pending.is_full() && !self.pending.is_heavy_and_flushed()
    }

    fn bytes_of_state(&self) -> usize {
        let startup = if let Phase::AwaitingPolicy(bytes) = &self.phase { bytes.len() } else { 0 };
        startup.saturating_add(self.copies.from_client.held())
    }

    fn in_flight(&self) -> usize {
        self.pending.bytes()
    }
}
