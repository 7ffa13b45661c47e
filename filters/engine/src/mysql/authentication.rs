//! Logging in: between client and server, whatever the method and its rounds.

use fieldveil_mysql_wire::message::write_message;
use fieldveil_mysql_wire::packet::{Header, Sequence};

use super::responses::ServerPacket;
use super::{CallbackOutput, Phase, Session};
use crate::audit::Ended;
use crate::database::Step;

/// What the server's packets begin with.
pub(super) mod kind {
    /// OK.
    pub const OK: u8 = 0x00;
    /// ERR.
    pub const ERROR: u8 = 0xff;
    /// EOF, or the OK that ends rows.
    pub const END: u8 = 0xfe;
}

impl Session {
    /// A packet of the server's between the HandshakeResponse and OK.
    pub(super) fn authentication_packet(
        &mut self,
        packet: ServerPacket<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let ServerPacket { header, first, rest } = packet;
        match first {
            kind::OK => {
                self.core.authenticated();
                self.phase = Phase::Ready;
            }
            kind::ERROR => self.core.audit.note_end(Ended::Server),
            // AuthSwitchRequest, AuthMoreData, AuthNextFactor: the client's to answer.
            _ => {
                if let Phase::Authenticating(method) = &mut self.phase
                    && method.take_request(first, rest).is_none()
                {
                    return Ok(Step::More);
                }
            }
        }
        Ok(self.server.pass(header, 0, out))
    }
}

/// The server asks for the password of nobody, whom it was asked to let in: there is none.
pub(super) fn send_no_password(header: Header, out: &mut CallbackOutput) {
    let mut sequence = Sequence::after(header.sequence);
    out.close |= write_message(&mut out.to_server, &mut sequence, |_| {}).is_err();
}
