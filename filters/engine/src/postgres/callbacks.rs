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

    fn read_piece(&mut self, piece: &[u8], out: &mut CallbackOutput) {
        self.copies.push(piece, &mut self.core, &mut self.pending, out);
    }

    fn read_server(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Result<Step, &'static str> {
        self.read_server_message(rest, out)
    }

    fn can_resume(&self) -> bool {
        !self.pending.is_full() && !self.pending.is_heavy_and_flushed()
    }

    fn bytes_of_state(&self) -> usize {
        let startup = if let super::Phase::AwaitingPolicy(bytes) = &self.phase { bytes.len() } else { 0 };
        startup.saturating_add(self.copies.from_client.held())
    }

    fn in_flight(&self) -> usize {
        self.pending.bytes()
    }
}
