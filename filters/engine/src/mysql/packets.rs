//! The packets of either side: what happens to the packets that continue a message.

use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};

use super::CallbackOutput;
use crate::client_error::ClientError;
use crate::database::{Step, Unread};

/// What happens to the next packet of the client, if it continues a message.
#[derive(Default)]
enum ClientContinuation {
    /// It begins a message.
    #[default]
    No,
    /// It passes unread.
    Passing,
    /// It is dropped.
    Dropped,
    /// It is dropped, and the command is refused when all of it was dropped.
    Refused(ClientError),
}

/// The client's packets.
#[derive(Default)]
pub struct ClientPackets {
    /// The number of the last packet.
    pub last_sequence: u8,
    continuation: ClientContinuation,
}

impl ClientPackets {
    /// Lets the packet pass unread, with those that continue its message.
    pub fn pass(&mut self, header: Header) -> Step {
        self.continue_as(header, ClientContinuation::Passing);
        Step::Pass(header.total_len())
    }

    /// Drops the packet, with those that continue its message.
    pub fn drop(&mut self, header: Header) -> Step {
        self.continue_as(header, ClientContinuation::Dropped);
        Step::Drop(header.total_len())
    }

    /// Drops the first packet of a command that is longer than one, with those that continue it. [`Self::take_continuation`]
    /// returns the error behind the last of them.
    pub fn refuse(&mut self, header: Header, error: ClientError) -> Step {
        self.continue_as(header, ClientContinuation::Refused(error));
        Step::Drop(header.total_len())
    }

    /// Lets a packet of a file pass. The server's number for it is the client's without `shift`.
    pub fn pass_file_packet(&mut self, header: Header, shift: u8, out: &mut CallbackOutput) -> Step {
        if shift == 0 {
            return Step::Pass(header.total_len());
        }
        let [a, b, c, ..] = header.payload_len.to_le_bytes();
        out.to_server.extend_from_slice(&[a, b, c, header.sequence.wrapping_sub(shift)]);
        Step::TookHead(HEADER_LEN, Unread::Pass(header.payload_len))
    }

    /// Takes a packet that continues a message. Returns None if the packet begins one, and with the step the error of a
    /// command that was dropped completely.
    pub fn take_continuation(&mut self, header: Header) -> Option<(Step, Option<ClientError>)> {
        if matches!(self.continuation, ClientContinuation::No) {
            return None;
        }
        match std::mem::take(&mut self.continuation) {
            ClientContinuation::No => None,
            ClientContinuation::Passing => Some((self.pass(header), None)),
            ClientContinuation::Dropped => Some((self.drop(header), None)),
            ClientContinuation::Refused(error) if header.is_continued() => {
                Some((self.refuse(header, error), None))
            }
            ClientContinuation::Refused(error) => Some((self.drop(header), Some(error))),
        }
    }

    fn continue_as(&mut self, header: Header, continuation: ClientContinuation) {
        self.last_sequence = header.sequence;
        self.continuation = if header.is_continued() { continuation } else { ClientContinuation::No };
    }
}

/// What happens to the next packet of the server, if it continues a message.
#[derive(Default, Clone, Copy)]
enum ServerContinuation {
    /// It begins a message.
    #[default]
    No,
    /// It passes unread.
    Passing,
    /// It is dropped.
    Dropped,
}

/// The server's packets.
#[derive(Default)]
pub struct ServerPackets {
    continuation: ServerContinuation,
}

impl ServerPackets {
    /// Lets the packet pass, with those that continue its message. `shift` is added to its number.
    pub fn pass(&mut self, header: Header, shift: u8, out: &mut CallbackOutput) -> Step {
        self.continue_as(header, ServerContinuation::Passing);
        if shift == 0 {
            return Step::Pass(header.total_len());
        }
        let [a, b, c, ..] = header.payload_len.to_le_bytes();
        out.to_client.extend_from_slice(&[a, b, c, header.sequence.wrapping_add(shift)]);
        Step::TookHead(HEADER_LEN, Unread::Pass(header.payload_len))
    }

    /// Drops the packet, with those that continue its message.
    pub fn drop(&mut self, header: Header) -> Step {
        self.continue_as(header, ServerContinuation::Dropped);
        Step::Drop(header.total_len())
    }

    /// Takes a packet that continues a message, to whose number `shift` is added if it passes. Returns None if the packet
    /// begins a message.
    pub fn take_continuation(
        &mut self,
        header: Header,
        shift: impl FnOnce() -> u8,
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        match self.continuation {
            ServerContinuation::No => None,
            ServerContinuation::Passing => Some(self.pass(header, shift(), out)),
            ServerContinuation::Dropped => Some(self.drop(header)),
        }
    }

    fn continue_as(&mut self, header: Header, continuation: ServerContinuation) {
        self.continuation = if header.is_continued() { continuation } else { ServerContinuation::No };
    }
}

#[cfg(test)]
mod tests {
    use fieldveil_mysql_wire::packet::{HEADER_LEN, Header, MAX_PAYLOAD};

    use super::{ClientPackets, ServerPackets};
    use crate::client_error::ClientError;
    use crate::database::{CallbackOutput, Step, Unread};

    fn header(payload_len: usize, sequence: u8) -> Header {
        Header { payload_len, sequence }
    }

    #[test]
    fn a_command_that_is_refused_for_its_length_is_refused_behind_its_last_packet() {
        let mut packets = ClientPackets::default();
        let step = packets.refuse(header(MAX_PAYLOAD, 0), ClientError::protocol("too long"));
        assert!(matches!(step, Step::Drop(length) if length == header(MAX_PAYLOAD, 0).total_len()));
        assert!(matches!(packets.take_continuation(header(MAX_PAYLOAD, 1)), Some((_, None))));
        assert!(matches!(packets.take_continuation(header(3, 2)), Some((Step::Drop(7), Some(_)))));
        assert_eq!(packets.last_sequence, 2);
        assert!(packets.take_continuation(header(3, 0)).is_none());
    }

    #[test]
    fn what_continues_a_message_of_the_client_is_treated_as_its_first_packet() {
        let mut packets = ClientPackets::default();
        packets.pass(header(MAX_PAYLOAD, 0));
        assert!(matches!(packets.take_continuation(header(0, 1)), Some((Step::Pass(4), None))));
        assert!(packets.take_continuation(header(5, 2)).is_none());
    }

    #[test]
    fn a_packet_of_the_server_passes_with_another_number() {
        let (mut packets, mut out) = (ServerPackets::default(), CallbackOutput::default());
        packets.pass(header(MAX_PAYLOAD, 254), 3, &mut out);
        assert_eq!(out.to_client, [0xff, 0xff, 0xff, 1]);
        let step = packets.take_continuation(header(2, 255), || 3, &mut out);
        assert!(matches!(step, Some(Step::TookHead(HEADER_LEN, Unread::Pass(2)))));
        assert_eq!(out.to_client[4..], [2, 0, 0, 2]);
        assert!(packets.take_continuation(header(2, 0), || 3, &mut out).is_none());
    }
}
