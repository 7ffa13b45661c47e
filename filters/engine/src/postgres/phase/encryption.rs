//! The client's requests for encryption, which the server answers before the session.

use crate::client_error::ClientError;
use crate::database::{CallbackOutput, Core, Step};
use crate::postgres::encoding::ClientEncoding;
use crate::postgres::refuse::end_login;

/// The error where the server accepts an SSLRequest or GSSENCRequest: the filter reads plain text, and Envoy cannot start TLS in
/// mid-stream.
const ENCRYPTED_UPSTREAM: &str =
    "the server answered an encryption request with yes, which the sidecar cannot follow";
const ENCRYPTED_REMEDY: &str = "Let Envoy encrypt towards the server (a TLS transport socket with ALPN postgresql, \
     PostgreSQL 17 or later) or reach it over a Unix socket; or set sslmode=disable and gssencmode=disable in the application.";

/// The SSLRequests and GSSENCRequests that the server has not answered.
#[derive(Default)]
pub struct EncryptionRequests {
    unanswered: u64,
}

impl EncryptionRequests {
    /// Notes that a request goes to the server.
    pub fn note(&mut self) {
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// Reads the server's answer to a request, which is one byte. Returns None if no answer is owed.
    pub fn read_answer(&mut self, rest: &[u8], core: &mut Core, out: &mut CallbackOutput) -> Option<Step> {
        self.unanswered = self.unanswered.checked_sub(1)?;
        match rest.first()? {
            b'N' => out.to_client.push(b'N'),
            b'S' | b'G' => {
                let error = ClientError::unsupported(ENCRYPTED_UPSTREAM, ENCRYPTED_REMEDY);
                end_login(core, ClientEncoding::Utf8, &error, out);
            }
            // An old server sends an error message, and then ends the stream.
            _ => {
                out.to_client.extend_from_slice(rest);
                return Some(Step::Took(rest.len()));
            }
        }
        Some(Step::Took(1))
    }

    /// Reads what the server sends before it has the StartupMessage. It can only answer a request.
    pub fn read_only_answer(
        &mut self,
        rest: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        self.read_answer(rest, core, out).ok_or("an answer to nothing that was asked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_is_answered_once() {
        let (mut core, mut out) = (Core::settled(), CallbackOutput::default());
        let mut requests = EncryptionRequests::default();
        assert!(requests.read_answer(b"N", &mut core, &mut out).is_none());
        requests.note();
        assert!(matches!(requests.read_answer(b"NR", &mut core, &mut out), Some(Step::Took(1))));
        assert_eq!(out.to_client, b"N");
        assert!(!out.close && requests.read_answer(b"R", &mut core, &mut out).is_none());
    }

    #[test]
    fn server_that_would_encrypt_ends_the_connection() {
        for answer in [b"S", b"G"] {
            let (mut core, mut out) = (Core::settled(), CallbackOutput::default());
            let mut requests = EncryptionRequests::default();
            requests.note();
            requests.read_answer(answer, &mut core, &mut out);
            assert!(out.close && out.to_client.starts_with(b"E"));
        }
    }
}
