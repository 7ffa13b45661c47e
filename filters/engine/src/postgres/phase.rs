//! The phases of a connection. Each has a type with the state that it alone has, one function for a message of the client, and one
//! for a message of the server. In a login these return the phase that follows.
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
    /// Reads the next message of the client.
    pub fn read_client(&mut self, rest: &[u8], core: &mut Core, out: &mut CallbackOutput) -> Step {
        // Almost every message leaves the session up. So the session stays where it is, which saves instructions.
        let Self::Ready(session) = self else {
            let (next, step) = std::mem::take(self).read_client_of_login(rest, core, out);
            *self = next;
            return step;
        };
        match session.read_session_message(rest, core, out) {
            Ok(step) => step,
            Err(error) => {
                if let Self::Ready(session) = std::mem::take(self) {
                    *self = Self::Ending(EndingSession::begin(session, *error, core, out));
                }
                Step::Took(rest.len())
            }
        }
    }

    /// Reads the next message of a client that has no session, and returns the phase that follows.
    #[inline(never)]
    fn read_client_of_login(self, rest: &[u8], core: &mut Core, out: &mut CallbackOutput) -> (Self, Step) {
        match self {
            Self::AwaitingPolicy(login) => (login.admit(core, out), Step::Took(0)),
            phase if rest.is_empty() => (phase, Step::More),
            Self::Startup(startup) => startup.read_client(rest, core, out),
            Self::Authenticating(login) => login.read_client(rest, core, out),
            Self::Passing => (Self::Passing, Step::Pass(rest.len())),
            // What the client sends is dropped, until the server has said its last word.
            Self::Ready(_) | Self::Ending(_) | Self::Refused(_) => (self, Step::Took(rest.len())),
        }
    }

    /// Reads the next message of the server. The error says how it breaks the protocol.
    pub fn read_server(
        &mut self,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        match self {
            _ if rest.is_empty() => Ok(Step::More),
            Self::Ready(session) | Self::Ending(EndingSession(session)) => {
                session.read_server(rest, core, out)
            }
            _ => self.read_server_of_login(rest, core, out),
        }
    }

    /// Reads the next message of a server that has not let the client in. The session begins with its first ReadyForQuery.
    #[inline(never)]
    fn read_server_of_login(
        &mut self,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        match self {
            Self::Startup(login) => login.encryption.read_only_answer(rest, core, out),
            Self::AwaitingPolicy(login) => login.encryption.read_only_answer(rest, core, out),
            Self::Authenticating(login) => {
                let (session, step) = login.read_server(rest, core, out)?;
                if let Some(session) = session {
                    *self = Self::Ready(session);
                }
                Ok(step)
            }
            Self::Refused(login) => login.read_server(rest, core, out),
            Self::Passing => Ok(Step::Pass(rest.len())),
            Self::Ready(_) | Self::Ending(_) => Ok(Step::More),
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
