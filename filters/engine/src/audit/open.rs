//! The audits of a worker's connections that have something to tell.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::Audit;

/// Those in which something happened since their last lines. The others cost nothing here, and a connection that ends writes its
/// last lines itself.
#[derive(Default)]
pub struct Audits(Vec<Weak<RefCell<Audit>>>);

impl Audits {
    /// Something happened in this connection, the first time since its last lines.
    pub fn add(&mut self, audit: &Rc<RefCell<Audit>>) {
        self.0.push(Rc::downgrade(audit));
    }

    /// Enters the values that are only counted so far.
    pub fn settle(&self) {
        for audit in self.0.iter().filter_map(Weak::upgrade) {
            audit.borrow_mut().settle();
        }
    }

    /// The lines of those whose interval is over.
    pub fn lines(&mut self, now_ms: u64) -> Vec<String> {
        let mut lines = Vec::new();
        self.0.retain(|audit| {
            let Some(audit) = audit.upgrade() else { return false };
            let mut audit = audit.borrow_mut();
            audit.tick(now_ms);
            lines.append(&mut audit.take_lines());
            !audit.is_idle()
        });
        lines
    }
}
