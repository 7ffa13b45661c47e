//! The client's packets: which of them begin a command, and which belong to one.

use fieldveil_mysql_wire::message::peek_message;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};
use fieldveil_mysql_wire::{CommandCode, WireError};

use super::pending::Awaited;
use super::{CallbackOutput, Continues, Session, State};
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

impl Session {
    /// Reads the next message of the client.
    pub(super) fn read_client_message(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Step {
        if let State::AwaitingPolicy(_) = self.state {
            self.admit(out);
            return Step::Took(0);
        }
        if rest.is_empty() {
            return Step::More;
        }
        match self.state {
            State::Greeting => return self.waits_for_answers(),
            State::Passing => {
                return Step::Pass(rest.len());
            }
            State::Ending => return Step::Took(rest.len()),
            State::Handshake => return self.handshake(rest, out),
            State::AwaitingPolicy(_) | State::Authenticating | State::Ready => {}
        }
        let Some(header) = Header::peek(rest) else { return Step::More };
        match self.client_continues {
            Continues::No => {}
            Continues::Passing => return self.pass_from_client(header),
            Continues::Dropped => return self.drop_on(header, out),
        }
        if matches!(self.state, State::Authenticating) || self.changes_user() {
            // What a client sends ahead is looked at when the session is up.
            if header.sequence == 0 {
                return self.waits_for_answers();
            }
            return self.authentication_answer(header, rest, out);
        }
        if self.infile {
            return self.file_packet(header, out);
        }
        self.command_step(header, rest, out)
    }

    /// Whether the responses that the client's messages waited for have arrived.
    pub(super) fn can_resume_client(&self) -> bool {
        match self.state {
            State::Greeting | State::Authenticating => false,
            State::Ready => self.pending.takes_more() || self.infile,
            _ => true,
        }
    }

    fn changes_user(&mut self) -> bool {
        matches!(self.pending.head().map(|entry| &entry.awaited), Some(Awaited::ChangeUser(_)))
    }

    /// Reads a packet of the file that the server asked for. An empty packet ends the file.
    fn file_packet(&mut self, header: Header, out: &mut CallbackOutput) -> Step {
        let is_end = header.payload_len == 0 && !self.infile_continues;
        self.infile &= !is_end;
        self.infile_continues = header.is_continued();
        if self.loading.is_some() {
            return self.load_packet(header, is_end, out);
        }
        let shift = self.pending.head().map_or(0, |entry| entry.shift);
        if shift == 0 {
            return Step::Pass(header.total_len());
        }
        let [a, b, c, ..] = header.payload_len.to_le_bytes();
        out.to_server.extend_from_slice(&[a, b, c, header.sequence.wrapping_sub(shift)]);
        Step::TookHead(HEADER_LEN, Unread::Pass(header.payload_len))
    }

    /// Lets the packet, and those that continue its message, pass unread.
    pub(super) fn pass_from_client(&mut self, header: Header) -> Step {
        self.client_sequence = header.sequence;
        self.client_continues = if header.is_continued() { Continues::Passing } else { Continues::No };
        Step::Pass(header.total_len())
    }

    /// Drops the packet and those that continue its message.
    pub(super) fn drop_from_client(&mut self, header: Header) -> Step {
        self.client_sequence = header.sequence;
        self.client_continues = if header.is_continued() { Continues::Dropped } else { Continues::No };
        Step::Drop(header.total_len())
    }

    /// Drops the next packet of a command, which is refused when all of it was dropped.
    fn drop_on(&mut self, header: Header, out: &mut CallbackOutput) -> Step {
        let step = self.drop_from_client(header);
        if !header.is_continued()
            && let Some(error) = self.dropped.take()
        {
            self.refuse(error, out);
        }
        step
    }

    fn command_step(&mut self, header: Header, rest: &[u8], out: &mut CallbackOutput) -> Step {
        if header.sequence != 0 || header.payload_len == 0 {
            self.end_session(ClientError::protocol("a packet that begins no command"), out);
            return Step::Took(rest.len());
        }
        if !self.pending.takes_more() {
            return self.waits_for_answers();
        }
        let Some(byte) = rest.get(HEADER_LEN) else { return Step::More };
        let Some(command) = CommandCode::from_byte(*byte) else {
            self.end_session(ClientError::protocol("an unknown command"), out);
            return Step::Took(rest.len());
        };
        if let Some(step) = self.streamed(command, header, rest, out) {
            return step;
        }
        match peek_message(rest, MAX_HELD) {
            Ok(Some(message)) => {
                self.client_sequence = message.last_sequence;
                let taken = message.total_len;
                let bytes = rest.get(..taken).unwrap_or_default();
                match self.command(command, &message, bytes, out) {
                    Ok(Outcome::Done) => Step::Took(taken),
                    Ok(Outcome::Passes) => Step::Pass(taken),
                    Ok(Outcome::Again) => Step::More,
                    Err(error) => self.broken(error, rest, out),
                }
            }
            Ok(None) => Step::More,
            Err(WireError::TooLarge { .. }) => self.oversized(header),
            Err(error) => self.broken(error, rest, out),
        }
    }

    fn broken(&mut self, error: WireError, rest: &[u8], out: &mut CallbackOutput) -> Step {
        self.end_session(ClientError::protocol(&error.to_string()), out);
        Step::Took(rest.len())
    }
}
