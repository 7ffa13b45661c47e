//! Passwords in clear. A client on a Unix socket takes its way for safe, and may send its password as it is; the server
//! may be behind a network all the same, that the client knows nothing of.

use fieldveil_mysql_wire::connection::{AuthMoreData, AuthNextFactor, AuthSwitchRequest};
use fieldveil_mysql_wire::limits::MAX_HANDSHAKE;
use fieldveil_mysql_wire::message::{peek_message, write_message};
use fieldveil_mysql_wire::packet::{Header, Sequence};

use super::pending::{Awaited, PendingResponse};
use super::{CallbackOutput, Phase, Session};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{Core, Step};

/// What a client of an authentication plugin sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// What proves that it knows a password, or a key.
    Proof,
    /// `caching_sha2_password`: a proof; where the server does not remember the password, the password, encrypted with
    /// the server's key or in clear.
    CachingSha2 {
        /// Whether the server wants the password.
        full: bool,
    },
    /// `sha256_password`: the password, encrypted with the server's key or in clear.
    Sha256,
    /// The password in clear, or nobody knows what.
    Clear,
}

impl Method {
    /// Plugins whose clients never send a password in clear, of MySQL's and of MariaDB's.
    const PROOFS: [&[u8]; 10] = [
        b"mysql_native_password",
        b"client_ed25519",
        b"parsec",
        b"auth_gssapi_client",
        b"authentication_kerberos_client",
        b"authentication_ldap_sasl_client",
        b"authentication_fido_client",
        b"authentication_webauthn_client",
        b"authentication_oci_client",
        b"authentication_windows_client",
    ];

    /// Of a plugin's client. Without a name it is the one that all have.
    pub fn of(plugin: Option<&[u8]>) -> Self {
        match plugin {
            None | Some(b"") => Self::Proof,
            Some(b"caching_sha2_password") => Self::CachingSha2 { full: false },
            Some(b"sha256_password") => Self::Sha256,
            Some(name) if Self::PROOFS.contains(&name) => Self::Proof,
            Some(_) => Self::Clear,
        }
    }

    /// Whether what the client answers may be a password in clear. A single byte asks for the server's key, or says that
    /// there is no password.
    pub fn may_be_clear(self, answer: &[u8]) -> bool {
        const SCRAMBLE: usize = 32;
        let is_nothing = matches!(answer, [] | [0..=2]);
        match self {
            Self::Proof => false,
            Self::CachingSha2 { full: false } if answer.len() == SCRAMBLE => false,
            Self::CachingSha2 { .. } | Self::Sha256 => !is_nothing && !is_encrypted(answer),
            Self::Clear => !is_nothing,
        }
    }

    /// Whether the answer would show a password to whoever listens on the way to the server.
    pub fn shows_password(self, answer: &[u8], core: &Core) -> bool {
        self.may_be_clear(answer) && !core.ports.borrow().server_is_private()
    }

    /// Takes a packet of the server that asks for another answer. Returns None if more of it is needed.
    pub fn take_request(&mut self, first: u8, rest: &[u8]) -> Option<()> {
        let payload = match peek_message(rest, MAX_HANDSHAKE) {
            Ok(Some(message)) => message.payload,
            Ok(None) => return None,
            Err(_) => {
                *self = Self::Clear;
                return Some(());
            }
        };
        let plugin = match first {
            AuthSwitchRequest::HEADER => AuthSwitchRequest::parse(&payload).map(|switch| switch.plugin),
            AuthNextFactor::HEADER => AuthNextFactor::parse(&payload).map(|next| next.plugin),
            _ => {
                let more = AuthMoreData::parse(&payload).map(|more| more.data);
                if let Self::CachingSha2 { full } = self {
                    *full |= more != Ok(AuthMoreData::FAST_AUTH_SUCCESS);
                }
                return Some(());
            }
        };
        *self = plugin.map_or(Self::Clear, |plugin| Self::of(Some(plugin)));
        Some(())
    }
}

/// Whether it is what RSA makes of a password: as long as a key, and no text.
fn is_encrypted(answer: &[u8]) -> bool {
    matches!(answer.len(), 128 | 256 | 384 | 512) && std::str::from_utf8(answer).is_err()
}

impl Session {
    /// Reads a packet of the client while somebody logs in by this method.
    pub(super) fn authentication_answer(
        &mut self,
        method: Method,
        header: Header,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Step {
        if method == Method::Proof {
            return self.client.pass(header);
        }
        let answer = match peek_message(rest, MAX_HANDSHAKE) {
            Ok(Some(message)) => message,
            Ok(None) => return Step::More,
            Err(error) => {
                self.refuse_answer(ClientError::protocol(&error.to_string()), header.sequence, out);
                return Step::Took(rest.len());
            }
        };
        if !method.shows_password(&answer.payload, &self.core) {
            return self.client.pass(header);
        }
        self.refuse_answer(ClientError::in_clear_on_the_network(), answer.last_sequence, out);
        Step::Took(answer.total_len)
    }

    /// The server gets an empty answer, and lets nobody in.
    fn refuse_answer(&mut self, error: ClientError, number: u8, out: &mut CallbackOutput) {
        self.core.audit.note_refusal(&error);
        self.core.audit.note_end(Ended::Filter);
        self.client.last_sequence = number;
        let mut sequence = Sequence::starting_at(number);
        out.close |= write_message(&mut out.to_server, &mut sequence, |_| {}).is_err();
        // A change of the user, which waits for this answer.
        self.pending.pop();
        self.pending.push(PendingResponse::refused(Awaited::End, error));
        self.phase = Phase::Ending;
    }
}

#[cfg(test)]
mod tests {
    use super::Method;

    const PASSWORD: &[u8] = b"correct horse battery staple\0";

    #[test]
    fn a_password_as_it_is_is_told_from_one_that_is_encrypted() {
        let encrypted: Vec<u8> = (0..=255).rev().collect();
        let full = Method::CachingSha2 { full: true };
        for method in [full, Method::Sha256] {
            assert!(method.may_be_clear(PASSWORD));
            assert!(method.may_be_clear(&[b'x'; 256]), "as long as a key, but a text");
            assert!(method.may_be_clear(&[b'x'; 32]));
            assert!(!method.may_be_clear(&encrypted));
            assert!(!method.may_be_clear(&[2]), "it asks for the key");
        }
        assert!(!Method::CachingSha2 { full: false }.may_be_clear(&[7; 32]), "the proof");
    }

    #[test]
    fn the_server_may_ask_for_another_method_or_for_the_password() {
        let mut method = Method::CachingSha2 { full: false };
        // The password was right: nothing more is asked for.
        assert!(method.take_request(1, b"\x02\0\0\x02\x01\x03").is_some());
        assert_eq!(method, Method::CachingSha2 { full: false });
        assert!(method.take_request(1, b"\x02\0\0\x02\x01\x04").is_some());
        assert_eq!(method, Method::CachingSha2 { full: true });
        assert!(method.take_request(0xfe, b"\x05\0\0\x04\xfedia").is_none(), "more is needed");
        assert!(method.take_request(0xfe, b"\x08\0\0\x04\xfedialog\0").is_some());
        assert_eq!(method, Method::Clear);
    }

    #[test]
    fn plugins_that_nobody_knows_are_taken_to_send_the_password() {
        for plugin in [b"mysql_clear_password".as_slice(), b"dialog", b"authentication_of_tomorrow"] {
            assert!(Method::of(Some(plugin)).may_be_clear(PASSWORD));
        }
        assert!(!Method::of(Some(b"mysql_native_password")).may_be_clear(&[7; 20]));
    }
}
