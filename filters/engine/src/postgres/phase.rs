//! The phases of a connection. Each has a type with the state that it alone has, one function for a message of the client, which
//! returns the phase that follows, and one for a message of the server.
//!
//! A COPY is no phase, because a client may send statements of its pipeline ahead of it and behind it: what is copied is a part of
//! [`ReadySession`].

mod authenticating;
mod awaiting_policy;
mod encryption;
mod ending;
mod login_message;
mod ready;
mod refused_login;
mod startup;

use self::authenticating::Authenticating;
use self::awaiting_policy::AwaitingPolicy;
use self::ending::EndingSession;
pub use self::ready::ReadySession;
use self::refused_login::RefusedLogin;
use self::startup::Startup;
use crate::database::{CallbackOutput, Core, Step};

/// Where a connection stands.
pub enum Phase {
    /// The client has not sent its StartupMessage.
    Startup(Startup),
    /// The StartupMessage waits for plan and keys.
    AwaitingPolicy(Box<AwaitingPolicy>),
    /// The server has the StartupMessage, and has not sent its first ReadyForQuery.
    Authenticating(Box<Authenticating>),
    /// The session is up.
    Ready(Box<ReadySession>),
    /// The session was up, and the client broke the protocol.
    Ending(EndingSession),
    /// The login was refused.
    Refused(Box<RefusedLogin>),
    /// The client sent a CancelRequest. Nothing more is read.
    Passing,
}

impl Default for Phase {
    fn default() -> Self {
        Self::Startup(Startup::default())
    }
}

impl Phase {
    /// Reads the next message of the client, and returns the phase that follows.
    pub fn read_client(self, rest: &[u8], core: &mut Core, out: &mut CallbackOutput) -> (Self, Step) {
        match self {
            Self::AwaitingPolicy(login) => (login.admit(core, out), Step::Took(0)),
            phase if rest.is_empty() => (phase, Step::More),
            Self::Startup(startup) => startup.read_client(rest, core, out),
            Self::Authenticating(login) => login.read_client(rest, core, out),
            Self::Ready(session) => session.read_client(rest, core, out),
            Self::Passing => (Self::Passing, Step::Pass(rest.len())),
            // What the client sends is dropped, until the server has said its last word.
            Self::Ending(_) | Self::Refused(_) => (self, Step::Took(rest.len())),
        }
    }

    /// Reads the next message of the server. The error says how it breaks the protocol.
    pub fn read_server(
        &mut self,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        if rest.is_empty() {
            return Ok(Step::More);
        }
        match self {
            Self::Startup(startup) => startup.read_server(rest, core, out),
            Self::AwaitingPolicy(login) => login.read_server(rest, core, out),
            Self::Authenticating(login) => {
                let (next, step) = login.read_server(rest, core, out)?;
                if let Some(session) = next {
                    *self = Self::Ready(session);
                }
                Ok(step)
            }
            Self::Ready(session) | Self::Ending(EndingSession(session)) => {
                session.read_server(rest, core, out)
            }
            Self::Refused(login) => login.read_server(rest, core, out),
            Self::Passing => Ok(Step::Pass(rest.len())),
        }
    }

    /// Returns the session that was let in, while the server may still answer what it was sent.
    pub fn session(&self) -> Option<&ReadySession> {
        match self {
            Self::Ready(session) | Self::Ending(EndingSession(session)) => Some(session),
            Self::Startup(_)
            | Self::AwaitingPolicy(_)
            | Self::Authenticating(_)
            | Self::Refused(_)
            | Self::Passing => None,
        }
    }

    /// Reads a piece of a message that the client sends in a session.
    pub fn read_piece(&mut self, piece: &[u8], core: &mut Core, out: &mut CallbackOutput) {
        if let Self::Ready(session) | Self::Ending(EndingSession(session)) = self {
            session.copies.push(piece, core, &mut session.pending, out);
        }
    }

    /// Counts the bytes of messages that the phase holds.
    pub fn held(&self) -> usize {
        match self {
            Self::AwaitingPolicy(login) => login.held(),
            _ => self.session().map_or(0, |session| session.copies.from_client.held()),
        }
    }
}
