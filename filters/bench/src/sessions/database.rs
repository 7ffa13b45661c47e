//! A connection to a database and what is sent over it.

use std::hint::black_box;
use std::rc::Rc;

use fieldveil_engine::audit::Ended;
use fieldveil_engine::database::{CallbackOutput, Client, Connection};

use super::values::{Sealer, from_hexadecimal};
use super::world::World;
use super::{CHUNK, Transaction};

/// What must come out of a step.
pub(super) enum Expected {
    /// These bytes.
    Bytes(Vec<u8>),
    /// An envelope for each of these values, by its column's place among the protected ones.
    Sealed(Vec<(usize, Vec<u8>)>),
    /// The same, in a file that has each in hexadecimal digits.
    SealedFile(Vec<(usize, Vec<u8>)>),
}

/// What one side sends.
pub(super) struct Step {
    is_client: bool,
    bytes: Vec<u8>,
    expected: Expected,
}

impl Step {
    /// What leaves for the server as it comes, or with values sealed.
    pub(super) fn client(bytes: Vec<u8>, sealed: Vec<(usize, Vec<u8>)>) -> Self {
        let expected =
            if sealed.is_empty() { Expected::Bytes(bytes.clone()) } else { Expected::Sealed(sealed) };
        Self { is_client: true, bytes, expected }
    }

    /// What leaves for the server as another text without a value.
    pub(super) fn rewritten(bytes: Vec<u8>) -> Self {
        Self { is_client: true, bytes, expected: Expected::Sealed(Vec::new()) }
    }

    /// What leaves for the server as a file with values sealed.
    pub(super) fn file(bytes: Vec<u8>, sealed: Vec<(usize, Vec<u8>)>) -> Self {
        Self { is_client: true, bytes, expected: Expected::SealedFile(sealed) }
    }

    /// What the client gets of this.
    pub(super) fn server(bytes: Vec<u8>, expected: Vec<u8>) -> Self {
        Self { is_client: false, bytes, expected: Expected::Bytes(expected) }
    }
}

/// What a protocol answers to the filter's own questions.
pub(super) type Answers = fn(&[u8]) -> Option<Vec<u8>>;

/// A session that is up.
pub(super) struct Database<S> {
    session: S,
    world: Rc<World>,
    sealer: Rc<Sealer>,
    out: CallbackOutput,
    /// The transactions, by turns.
    turns: Vec<Vec<Step>>,
    turn: usize,
}

impl<S: Connection> Database<S> {
    /// A connection of which nothing was heard yet.
    pub(super) fn new(world: Rc<World>, sealer: Rc<Sealer>) -> Self {
        let session = S::new(world.worker.clone(), world.ports.clone(), Client::at("127.0.0.1"));
        Self { session, world, sealer, out: CallbackOutput::default(), turns: Vec::new(), turn: 0 }
    }

    /// The client sends this, and what the filter asks for is answered. Gives what went to the server.
    pub(super) fn client(&mut self, bytes: &[u8], answers: Answers) -> Result<Vec<u8>, String> {
        let mut out = self.session.client_data(bytes);
        let mut sent = std::mem::take(&mut out.to_server);
        // What is asked for comes in a few turns; more would be one for ever.
        for _ in 0..16 {
            for fetch in std::mem::take(&mut out.fetch) {
                let result = self.world.answer(&fetch);
                self.session.answered(&fetch, result);
            }
            if let Some(answer) = answers(&sent) {
                sent.clear();
                let more = self.session.server_data(&answer);
                sent.extend(more.to_server);
            }
            if self.session.is_waiting() {
                continue;
            }
            out = self.session.client_data(b"");
            sent.append(&mut out.to_server);
            if out.fetch.is_empty() && answers(&sent).is_none() && !self.session.is_waiting() {
                return Ok(sent);
            }
        }
        Err("the session waits for ever".to_owned())
    }

    /// The server sends this.
    pub(super) fn server(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.session.server_data(bytes).to_client
    }

    /// The client ends the connection.
    pub(super) fn end(&mut self) {
        self.session.end(Ended::Client);
    }

    /// With these steps as its transaction.
    pub(super) fn over(self, steps: Vec<Step>) -> Box<dyn Transaction> {
        self.by_turns(vec![steps])
    }

    /// With several, by turns.
    pub(super) fn by_turns(mut self, turns: Vec<Vec<Step>>) -> Box<dyn Transaction> {
        self.turns = turns;
        Box::new(self)
    }

    fn next_turn(&mut self) -> usize {
        let turn = self.turn;
        self.turn = turn.saturating_add(1).checked_rem(self.turns.len()).unwrap_or_default();
        turn
    }

    /// What comes in of a step, read by read, with whether it is the client's.
    fn reads(step: &Step) -> impl Iterator<Item = (bool, &[u8])> {
        let most = if step.is_client { step.bytes.len() } else { CHUNK };
        step.bytes.chunks(most.max(1)).map(|read| (step.is_client, read))
    }
}

impl<S: Connection> Transaction for Database<S> {
    fn run(&mut self) -> Result<usize, String> {
        let turn = self.next_turn();
        let (session, out) = (&mut self.session, &mut self.out);
        let mut bytes = 0_usize;
        for (is_client, read) in self.turns.get(turn).into_iter().flatten().flat_map(Self::reads) {
            if is_client {
                session.client_bytes(black_box(read), out);
            } else {
                session.server_bytes(black_box(read), out);
            }
            let written = out.to_server.len().saturating_add(out.to_client.len());
            bytes = bytes.saturating_add(out.unchanged).saturating_add(written);
            black_box(&*out);
            // As the host does: its memory serves the next callback.
            out.clear();
        }
        Ok(bytes)
    }

    fn check(&mut self) -> Result<(), String> {
        let turn = self.next_turn();
        for (number, step) in self.turns.get(turn).into_iter().flatten().enumerate() {
            let (mut forth, mut back) = (Vec::new(), Vec::new());
            for (is_client, read) in Self::reads(step) {
                let out =
                    if is_client { self.session.client_data(read) } else { self.session.server_data(read) };
                forth.extend(out.to_server);
                back.extend(out.to_client);
            }
            let (found, other) = if step.is_client { (forth, back) } else { (back, forth) };
            if !other.is_empty() || self.session.is_waiting() {
                return Err(format!("step {number}: the session asks something in between"));
            }
            let checked = match &step.expected {
                Expected::Bytes(expected) if found == *expected => Ok(()),
                Expected::Bytes(expected) => {
                    Err(format!("{} other bytes came out than the {} expected", found.len(), expected.len()))
                }
                Expected::Sealed(values) => self.sealer.check(&found, values),
                Expected::SealedFile(values) => self.sealer.check(&from_hexadecimal(&found), values),
            };
            checked.map_err(|error| format!("step {number}: {error}"))?;
        }
        Ok(())
    }
}
