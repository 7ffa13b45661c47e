//! What the callbacks of every connection (`../database/connection.rs`) ask of this protocol.

use std::cell::RefCell;
use std::rc::Rc;

use super::{CallbackOutput, Session, Step};
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
        self.load_piece(piece, out);
    }

    fn bytes_of_state(&self) -> usize {
        let loading = self.loading.as_ref().map_or(0, |loading| loading.held());
        let startup = if let super::State::AwaitingPolicy(bytes) = &self.state { bytes.len() } else { 0 };
        let catalog = self.catalog_begun.as_ref().map_or(0, |answer| answer.bytes());
        let catalog = catalog.saturating_add(self.pending.catalog_bytes());
        self.statements.held().saturating_add(loading).saturating_add(startup).saturating_add(catalog)
    }

    fn in_flight(&self) -> usize {
        self.pending.bytes()
    }
}
