//! The client's packets: which of them begin a command, and which belong to one.

use fieldveil_mysql_wire::message::peek_message;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};
use fieldveil_mysql_wire::{CommandCode, WireError};

use super::file_transfer::FileTransfer;
use super::long_commands::too_long;
use super::passwords::Method;
use super::{CallbackOutput, Phase, Session, wait_for_answers};
use crate::client_error::ClientError;
use crate::database::{MAX_HELD, Step, Unread};

/// What happened to a command.
pub(super) enum Outcome {
    /// It was carried out, or something was written in its place.
    Done,
    /// It passes unchanged, behind what was written.
    Passes,
    /// It must be read again when the session no longer waits.
    Again,
}

/// Why a command is not sent.
pub(super) enum CommandError {
    /// It cannot be read, so that the session ends.
    Malformed(WireError),
    /// The client gets this error.
    Refused(ClientError),
}

impl From<WireError> for CommandError {
    fn from(error: WireError) -> Self {
        Self::Malformed(error)
    }
}

impl From<ClientError> for CommandError {
    fn from(error: ClientError) -> Self {
        Self::Refused(error)
    }
}

impl Session {
    /// Reads the next message of the client.
    pub(super) fn read_client_message(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Step {
        if let Phase::AwaitingPolicy { .. } = self.phase {
            self.admit(out);
            return Step::Took(0);
        }
        if rest.is_empty() {
            return Step::More;
        }
        // Before the session is up, and at its end, packets are not commands.
        match self.phase {
            Phase::Greeting => return wait_for_answers(&mut self.core),
            Phase::Handshake { offered } => return self.handshake(offered, rest, out),
            Phase::Passing => {
                return Step::Pass(rest.len());
            }
            Phase::Ending => return Step::Took(rest.len()),
            Phase::AwaitingPolicy { .. }
            | Phase::Authenticating(_)
            | Phase::Ready
            | Phase::SendingFile(_)
            | Phase::SendingText(_) => {}
        }
        let Some(header) = Header::peek(rest) else { return Step::More };
        // What continues a message is treated as its first packet was.
        if let Some((step, refused)) = self.client.take_continuation(header) {
            if let Some(error) = refused {
                self.refuse(error, out);
            }
            return step;
        }
        // Somebody logs in, or the server reads a file.
        if let Some(method) = self.logs_in() {
            // What a client sends ahead is looked at when the session is up.
            if header.sequence == 0 {
                return wait_for_answers(&mut self.core);
            }
            return self.authentication_answer(method, header, rest, out);
        }
        if let Phase::SendingFile(_) = self.phase {
            return self.read_file_packet(header, out);
        }
        if let Phase::SendingText(_) = self.phase {
            return self.read_text_packet(header, rest, out);
        }
        // Any other packet begins a command.
        self.read_command(header, rest, out)
    }

    /// Whether the responses that the client's messages waited for have arrived.
    pub(super) fn can_resume_client(&self) -> bool {
        match self.phase {
            Phase::Greeting | Phase::Authenticating(_) => false,
            Phase::Ready => self.pending.takes_more(),
            _ => true,
        }
    }

    /// Returns what the client's authentication plugin sends while somebody logs in.
    fn logs_in(&self) -> Option<Method> {
        match self.phase {
            Phase::Authenticating(method) => Some(method),
            _ => self.pending.user_change(),
        }
    }

    /// Reads a packet of the file that the server asked for.
    fn read_file_packet(&mut self, header: Header, out: &mut CallbackOutput) -> Step {
        let Phase::SendingFile(file) = &mut self.phase else { return Step::More };
        let is_end = file.take_header(header);
        let Some(sealing) = &mut file.sealing else {
            if is_end {
                self.phase = Phase::Ready;
            }
            return self.client.pass_file_packet(header, self.pending.shift(), out);
        };
        if is_end {
            let end = sealing.finish(&mut self.core, &self.sql.settings.values, out);
            self.pending.end_file(end, header.sequence);
            self.phase = Phase::Ready;
            return Step::Took(HEADER_LEN);
        }
        sealing.begin_packet(out);
        Step::TookHead(HEADER_LEN, Unread::Pieces(header.payload_len))
    }

    /// Reads a piece of such a packet.
    pub(super) fn read_file_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        if let Phase::SendingFile(FileTransfer { sealing: Some(sealing), .. }) = &mut self.phase
            && let Some(error) = sealing.push(piece, &mut self.core, &self.sql.settings.values, out)
        {
            self.pending.refuse_head(error);
        }
    }

    /// Reads a command, from its first packet to what the server gets.
    fn read_command(&mut self, header: Header, rest: &[u8], out: &mut CallbackOutput) -> Step {
        // Its first packet has the number 0, and says which command it is.
        if header.sequence != 0 || header.payload_len == 0 {
            return self.end_session(ClientError::protocol("a packet that begins no command"), rest, out);
        }
        // It waits until the server has answered the commands before it, as far as it must.
        if !self.pending.takes_more() {
            return wait_for_answers(&mut self.core);
        }
        let Some(byte) = rest.get(HEADER_LEN) else { return Step::More };
        let Some(command) = CommandCode::from_byte(*byte) else {
            return self.end_session(ClientError::protocol("an unknown command"), rest, out);
        };
        // A command of which nothing need be read passes as it arrives.
        if let Some(step) = self.pass_unread(command, header, rest, out) {
            return step;
        }
        // Any other is read when all of it is there.
        let message = match peek_message(rest, MAX_HELD) {
            Ok(Some(message)) => message,
            Ok(None) => return Step::More,
            Err(WireError::TooLarge { .. }) => {
                if command == CommandCode::StmtPrepare {
                    self.statements.failed();
                }
                return self.client.refuse(header, too_long());
            }
            Err(error) => return self.end_session(ClientError::protocol(&error.to_string()), rest, out),
        };
        self.client.last_sequence = message.last_sequence;
        let taken = message.total_len;
        let bytes = rest.get(..taken).unwrap_or_default();
        // It is checked, sealed and sent, and its response is awaited; or it waits, or it is refused.
        match self.command(command, &message, bytes, out) {
            Ok(Outcome::Done) => Step::Took(taken),
            Ok(Outcome::Passes) => Step::Pass(taken),
            Ok(Outcome::Again) => Step::More,
            Err(CommandError::Refused(error)) => {
                self.refuse(error, out);
                Step::Took(taken)
            }
            Err(CommandError::Malformed(error)) => {
                self.end_session(ClientError::protocol(&error.to_string()), rest, out)
            }
        }
    }
}
