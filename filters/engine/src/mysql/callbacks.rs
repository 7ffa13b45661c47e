//! What the callbacks of every connection (`../database/connection.rs`) ask of this protocol.

use std::cell::RefCell;
use std::rc::Rc;

use super::{CallbackOutput, Phase, Session, Step};
use crate::database::{Core, WireProtocol};
use crate::ports::Ports;
use crate::worker::Worker;

impl WireProtocol for Session {
    fn begin(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self {
        Self::new(worker, ports, source)
    }

    fn core(&self) -> &Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    fn read_client(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Step {
        self.read_client_message(rest, out)
    }

    fn read_server(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Result<Step, &'static str> {
        self.read_server_message(rest, out)
    }

    fn can_resume(&self) -> bool {
        self.can_resume_client()
    }

    fn read_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        self.read_file_piece(piece, out);
    }

    fn bytes_of_state(&self) -> usize {
        let phase = match &self.phase {
            Phase::AwaitingPolicy { response, .. } => response.len(),
            Phase::SendingFile(file) => file.held(),
            _ => 0,
        };
        let catalog = self.sql.own_answers.bytes().saturating_add(self.pending.catalog_bytes());
        self.statements.held().saturating_add(phase).saturating_add(catalog)
    }

    fn in_flight(&self) -> usize {
        self.pending.bytes()
    }
}
