//! The greeting, with the capabilities cleared that the filter cannot follow, and the HandshakeResponse that waits for
//! plan and keys.

use fieldveil_mysql_wire::connection::{ClientGreeting, HandshakeResponse41, HandshakeV10};
use fieldveil_mysql_wire::limits::MAX_HANDSHAKE;
use fieldveil_mysql_wire::message::{peek_message, write_message};
use fieldveil_mysql_wire::packet::Sequence;
use fieldveil_mysql_wire::{Capabilities, WireError};
use fieldveil_plan::SessionInput;
use fieldveil_sql::identity::{self, Comment};

use super::passwords::Method;
use super::{CallbackOutput, Phase, Session};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{Core, Step, Unready};

/// What the client is not offered: what the filter could not read any more (TLS, compression), definitions that are left
/// out, and MariaDB's messages that it does not follow. What no version has yet is not offered either.
const CLEARED: Capabilities = Capabilities::from_bits(u64::MAX << 38)
    .with(Capabilities::SSL)
    .with(Capabilities::COMPRESS)
    .with(Capabilities::ZSTD_COMPRESSION_ALGORITHM)
    .with(Capabilities::OPTIONAL_RESULTSET_METADATA)
    .with(Capabilities::CAPABILITY_EXTENSION)
    .with(Capabilities::MARIADB_PROGRESS)
    .with(Capabilities::MARIADB_COM_MULTI)
    .with(Capabilities::MARIADB_STMT_BULK_OPERATIONS)
    .with(Capabilities::MARIADB_CACHE_METADATA)
    .with(Capabilities::MARIADB_BULK_UNIT_RESULTS);
/// What a field of the HandshakeResponse hangs on: refused where it is set.
const LAYOUT: Capabilities = Capabilities::SSL.with(Capabilities::ZSTD_COMPRESSION_ALGORITHM);
/// What a client must not use without being offered it: it would read, or write, another protocol.
const REFUSED: &[(Capabilities, &str, &str)] = &[
    (
        Capabilities::SSL,
        "TLS towards the sidecar is not supported on a MySQL connection",
        "Turn TLS off in the application (ssl-mode=DISABLED, sslMode=disable): it reaches the sidecar over loopback or a Unix socket.",
    ),
    (
        Capabilities::COMPRESS,
        "compression was not offered",
        "Turn compression off in the application: it reaches the sidecar over loopback or a Unix socket.",
    ),
    (
        Capabilities::ZSTD_COMPRESSION_ALGORITHM,
        "compression was not offered",
        "Turn compression off in the application: it reaches the sidecar over loopback or a Unix socket.",
    ),
    (
        Capabilities::OPTIONAL_RESULTSET_METADATA,
        "result sets without metadata were not offered",
        "Leave resultset_metadata at FULL.",
    ),
    (
        Capabilities::MARIADB_STMT_BULK_OPERATIONS,
        "bulk operations were not offered",
        "Use a client that keeps to the capabilities that the server offers.",
    ),
    (
        Capabilities::MARIADB_CACHE_METADATA,
        "result sets without metadata were not offered",
        "Use a client that keeps to the capabilities that the server offers.",
    ),
];

impl Session {
    /// The server's first packet.
    pub(super) fn greeting(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Result<Step, &'static str> {
        const MALFORMED: &str = "a malformed greeting";
        let Some(message) = peek_message(rest, MAX_HANDSHAKE).map_err(|_| MALFORMED)? else {
            return Ok(Step::More);
        };
        let taken = message.total_len;
        if message.payload.first() == Some(&0xff) {
            // It lets nobody in now.
            out.to_client.extend_from_slice(rest.get(..taken).unwrap_or_default());
            self.phase = Phase::Ending;
            self.core.audit.note_end(Ended::Server);
            return Ok(Step::Took(taken));
        }
        let mut payload = message.payload.into_owned();
        let offered = HandshakeV10::clear_capabilities(&mut payload, CLEARED).map_err(|_| MALFORMED)?;
        let mut sequence = Sequence::starting_at(message.sequence);
        write_message(&mut out.to_client, &mut sequence, |out| out.extend_from_slice(&payload))
            .map_err(|_| MALFORMED)?;
        self.phase = Phase::Handshake { offered };
        Ok(Step::Took(taken))
    }

    /// The client's first packet, and ahead of it the bridge's, where it tells of a certificate.
    pub(super) fn handshake(&mut self, offered: Capabilities, rest: &[u8], out: &mut CallbackOutput) -> Step {
        let message = match peek_message(rest, MAX_HANDSHAKE) {
            Ok(Some(message)) => message,
            Ok(None) => return Step::More,
            Err(error) => {
                self.refuse_startup(ClientError::protocol(&error.to_string()), out);
                return Step::Took(rest.len());
            }
        };
        let taken = message.total_len;
        if std::mem::take(&mut self.certificate_follows) {
            match serde_json::from_slice(&message.payload) {
                Ok(told) => self.core.policy.input.client_certificate = told,
                Err(_) => self
                    .refuse_startup(ClientError::protocol("no word of the bridge on the certificate"), out),
            }
            return Step::Took(taken);
        }
        self.client.last_sequence = message.last_sequence;
        match introduce(&mut self.core, offered, &message.payload) {
            Ok(Introduction { capabilities, method, response }) => {
                self.capabilities = capabilities;
                let mut sequence = Sequence::starting_at(message.sequence);
                let mut held = Vec::new();
                out.close |=
                    write_message(&mut held, &mut sequence, |out| out.extend_from_slice(&response)).is_err();
                self.phase = Phase::AwaitingPolicy { method, response: held };
                self.admit(out);
                Step::Took(taken)
            }
            Err(error) => {
                self.refuse_startup(error, out);
                // Behind an SSLRequest TLS begins.
                Step::Took(rest.len())
            }
        }
    }

    /// Forwards the held HandshakeResponse if plan and keys are there, else fetches what is missing once, else
    /// refuses.
    pub(super) fn admit(&mut self, out: &mut CallbackOutput) {
        match self.sql.take_up_policy(&mut self.core, &Comment::Nothing, false) {
            Ok(()) => {
                let Phase::AwaitingPolicy { method, response } = &self.phase else { return };
                out.to_server.extend_from_slice(response);
                self.phase = Phase::Authenticating(*method);
            }
            Err(Unready::Fetch(fetches)) => self.core.wait_for(fetches, out),
            Err(Unready::Refuse(error)) => self.refuse_startup(error, out),
        }
    }
}

/// What the client has said of itself.
struct Introduction {
    /// What both sides have agreed on.
    capabilities: Capabilities,
    /// What the client's authentication plugin sends.
    method: Method,
    /// The HandshakeResponse without what the client was not offered and the server has: the server would take that for
    /// agreed on.
    response: Vec<u8>,
}

fn introduce(core: &mut Core, offered: Capabilities, payload: &[u8]) -> Result<Introduction, ClientError> {
    let malformed = |error: WireError| ClientError::protocol(&error.to_string());
    let greeting = ClientGreeting::parse(payload).map_err(malformed)?;
    let wanted = greeting.capabilities();
    let not_offered = REFUSED.iter().find(|(capability, ..)| wanted.has(*capability));
    if let Some((_, what, remedy)) = not_offered {
        return Err(ClientError::unsupported(*what, *remedy));
    }
    let ClientGreeting::HandshakeResponse(response) = greeting else {
        return Err(ClientError::protocol("an SSLRequest without CLIENT_SSL"));
    };
    let capabilities = Capabilities::from_bits(offered.bits() & wanted.bits());
    let session = introduced(&response)?;
    let method = Method::of(response.auth_plugin);
    if method.shows_password(response.auth_response, core) {
        return Err(ClientError::in_clear_on_the_network());
    }
    core.policy.introduce("mysql", session, &mut core.audit);
    let mut payload = payload.to_vec();
    HandshakeResponse41::clear_capabilities(&mut payload, CLEARED.without(LAYOUT)).map_err(malformed)?;
    Ok(Introduction { capabilities, method, response: payload })
}

/// Who asks, as the client says it when it logs in.
fn introduced(response: &HandshakeResponse41<'_>) -> Result<SessionInput, ClientError> {
    check_user(response.user)?;
    let attributes = response.attributes.unwrap_or_default();
    if attributes.iter().any(|(name, _)| identity::mentions(name)) {
        return Err(attribute_refused());
    }
    Ok(SessionInput {
        user: text(response.user),
        role: text(response.user),
        database: response.database.map(text).unwrap_or_default(),
        application_name: attributes.value(b"program_name").map(text).unwrap_or_default(),
        ..SessionInput::default()
    })
}

/// Refuses a name of a user that the server reads as another's: it takes quotes around a name off.
pub(super) fn check_user(user: &[u8]) -> Result<(), ClientError> {
    match user {
        [b'\'', .., b'\''] => Err(ClientError::unsupported(
            "the name of the user stands in quotes, which the server takes off",
            "Log in by the name without quotes.",
        )),
        _ => Ok(()),
    }
}

pub(super) fn attribute_refused() -> ClientError {
    ClientError::unsupported(
        "a connection attribute names fieldveil, and would show its value to the server",
        "SET @fieldveil_token when the session is up.",
    )
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::CLEARED;

    const DOC: &str = include_str!("../../../../docs/internals/mysql-messages.md");

    #[test]
    fn capabilities_that_are_not_offered_are_those_that_the_docs_call_cleared() {
        let rows = DOC.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
        let cleared = rows.filter_map(|(bit, rest)| {
            let (_name, what) = rest.split_once(" | ")?;
            what.starts_with("cleared").then(|| bit.parse::<u32>().ok()).flatten()
        });
        // From 38 on no server has a capability yet.
        let expected = cleared.fold(u64::MAX << 38, |all, bit| all | 1 << bit);
        assert_eq!(CLEARED.bits(), expected);
    }
}
