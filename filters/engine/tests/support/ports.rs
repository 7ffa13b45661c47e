//! A fixed clock, a counter for randomness, and a log that can be read.

use std::cell::RefCell;

use fieldveil_engine::Random;
use fieldveil_engine::ports::{Level, Ports};

/// Ports that can be looked into.
#[derive(Default)]
pub struct TestPorts {
    pub now_ms: u64,
    pub counter: u32,
    pub lines: RefCell<Vec<String>>,
    pub audit: RefCell<Vec<String>>,
    pub server_is_private: bool,
    /// Tells how much memory is in use, where that is known.
    pub memory_in_use: Option<fn() -> usize>,
}

impl Random for TestPorts {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.counter = self.counter.wrapping_add(1);
            *byte = (self.counter ^ (self.counter >> 8)).to_le_bytes()[0];
        }
    }
}

impl Ports for TestPorts {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn log(&self, _level: Level, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
    }

    fn audit(&self, line: &str) {
        self.audit.borrow_mut().push(line.to_owned());
    }

    fn server_is_private(&self) -> bool {
        self.server_is_private
    }

    fn memory_in_use(&self) -> usize {
        self.memory_in_use.map_or(0, |in_use| in_use())
    }
}
