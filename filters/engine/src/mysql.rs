//! One MySQL or MariaDB connection through the filter.
//!
//! Bytes of either direction arrive as Envoy has them, split anywhere, and leave changed only where the plan says so.
//! The stages of a connection, with their files:
//!
//! | stage | file |
//! | --- | --- |
//! | bytes come in, packet by packet | here, `packets.rs` |
//! | greeting, HandshakeResponse, the principal, plan and keys | `startup.rs`, `authentication.rs` |
//! | passwords in clear stay here | `passwords.rs` |
//! | a packet from the client | `client.rs` |
//! | its commands, one by one | `commands.rs`, `query.rs`, `statement_commands.rs`, `cursors.rs` |
//! | those too long to be held | `long_commands.rs` |
//! | what a statement's text means in this session | `sql_context.rs` |
//! | the text is checked against plan and catalog | `check.rs` |
//! | its literals, its parameters, the file that it loads are sealed | `seal.rs`, `parameters.rs`, `long_data.rs`, `file_transfer.rs` |
//! | a command is refused | `refuse.rs`, `errors.rs` |
//! | the responses that the server owes, and their progress | `pending.rs`, `result_progress.rs`, `prepare_progress.rs` |
//! | a packet from the server | `server.rs`, `responses.rs` |
//! | definitions and rows | `result_sets.rs`, `definitions.rs`, `rows.rs` |
//! | a statement is prepared | `prepare_response.rs`, `statements.rs` |
//! | the end user's token is replaced by a word | `end_user.rs` |
//! | the server says who the session is for, and how its texts are read | `identity.rs`, `session_settings.rs` |
//! | the catalog is read | `catalog.rs` |
//! | the server is asked for either | `own_queries.rs` |
//! | statements that SQL prepares | `names.rs` |
//!
//! A command goes from the client through `Session::read_command`, a statement's text through `Session::query`; a row goes
//! back through `Session::read_response` and `PendingResults::read`. Each tells its stages from top to bottom.

mod authentication;
mod catalog;
mod check;
mod client;
mod commands;
mod cursors;
mod definitions;
mod end_user;
mod errors;
mod file_transfer;
mod identity;
mod long_commands;
mod long_data;
mod names;
mod own_queries;
mod packets;
mod parameters;
mod passwords;
mod pending;
mod prepare_progress;
mod prepare_response;
mod query;
mod refuse;
mod responses;
mod result_progress;
mod result_sets;
mod rows;
mod seal;
mod server;
mod session_settings;
mod sql_context;
mod startup;
mod statement_commands;
mod statements;

use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_mysql_wire::Capabilities;

use self::file_transfer::FileTransfer;
use self::long_commands::TextTransfer;
use self::packets::{ClientPackets, ServerPackets};
use self::passwords::Method;
use self::pending::PendingResponses;
use self::sql_context::SqlContext;
use self::statements::Statements;
pub use crate::database::CallbackOutput;
use crate::database::{Client, Core, Duplex, Step, Waiting, WireProtocol};
use crate::ports::Ports;
use crate::worker::Worker;

/// The phase of the connection, with what belongs to this phase alone.
enum Phase {
    /// Before the server's greeting.
    Greeting,
    /// Before the client's HandshakeResponse.
    Handshake {
        /// What the client was offered.
        offered: Capabilities,
    },
    /// The HandshakeResponse waits for plan and keys.
    AwaitingPolicy {
        /// What the client's authentication plugin sends.
        method: Method,
        /// The HandshakeResponse, as the server is to get it.
        response: Vec<u8>,
    },
    /// Until the server has let the client in.
    Authenticating(Method),
    /// Commands.
    Ready,
    /// The server reads a file from the client, whose packets are no commands.
    SendingFile(FileTransfer),
    /// The client sends a text that is too long to be held.
    SendingText(Box<TextTransfer>),
    /// The server sends its binary log, and nothing more is read.
    Passing,
    /// The session was refused, or the client broke the protocol. What the client sends is dropped, until the server has
    /// answered what is in flight.
    Ending,
}

/// A connection to MySQL or MariaDB, as the host sees it.
pub type MySqlConnection = Duplex<Session>;

/// The session of one connection.
///
/// Large: it has a method for each phase and command, which join what its parts
/// do: each part is given what it needs, and none reaches for another.
pub struct Session {
    core: Core,
    phase: Phase,
    client: ClientPackets,
    server: ServerPackets,
    /// What both sides have agreed on; nothing before the HandshakeResponse.
    capabilities: Capabilities,
    /// Whether the bridge tells of the client's certificate before the HandshakeResponse.
    certificate_follows: bool,
    pending: PendingResponses,
    statements: Statements,
    sql: SqlContext,
}

impl WireProtocol for Session {
    fn begin(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, client: Client) -> Self {
        Self {
            certificate_follows: client.certificate_follows,
            core: Core::new(worker, ports, client),
            phase: Phase::Greeting,
            client: ClientPackets::default(),
            server: ServerPackets::default(),
            capabilities: Capabilities::default(),
            pending: PendingResponses::default(),
            statements: Statements::default(),
            sql: SqlContext::default(),
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

    fn read_server(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Result<Step, &'static str> {
        self.read_server_message(rest, out)
    }

    fn can_resume(&self) -> bool {
        self.can_resume_client()
    }

    fn read_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        match self.phase {
            Phase::SendingText(_) => self.read_text_piece(piece, out),
            _ => self.read_file_piece(piece, out),
        }
    }

    fn bytes_of_state(&self) -> usize {
        let phase = match &self.phase {
            Phase::AwaitingPolicy { response, .. } => response.len(),
            Phase::SendingFile(file) => file.held(),
            _ => 0,
        };
        let catalog = self.sql.own_answers.bytes().saturating_add(self.pending.catalog_bytes());
        self.statements.held().saturating_add(phase).saturating_add(catalog)
    }

    fn in_flight(&self) -> usize {
        self.pending.bytes()
    }
}

/// Holds the client's bytes back until pending responses have arrived.
fn wait_for_answers(core: &mut Core) -> Step {
    core.waiting = Waiting::Answers;
    Step::More
}
