//! Logging in: between client and server, whatever the method and its rounds.

use fieldveil_mysql_wire::message::write_message;
use fieldveil_mysql_wire::packet::{Header, Sequence};

use super::{CallbackOutput, Session, State};
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
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        match first {
            kind::OK => {
                self.core.authenticated();
                self.state = State::Ready;
            }
            kind::ERROR => self.core.audit.note_end(Ended::Server),
            // AuthSwitchRequest, AuthMoreData, AuthNextFactor: the client's to answer.
            _ if self.heed_method(first, rest).is_none() => return Ok(Step::More),
            _ => {}
        }
        Ok(self.pass_from_server(header, 0, out))
    }

    /// The server asks for the password of nobody, whom it was asked to let in: there is none.
    pub(super) fn without_password(&mut self, header: Header, out: &mut CallbackOutput) {
        let mut sequence = Sequence::after(header.sequence);
        out.close |= write_message(&mut out.to_server, &mut sequence, |_| {}).is_err();
    }
}
