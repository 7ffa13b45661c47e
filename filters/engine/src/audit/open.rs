//! The audits of a worker that have something to tell.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::Audit;

/// Those in which something happened since their last lines. The others cost nothing here.
#[derive(Default)]
pub struct Audits {
    /// Of connections, which write their last lines themselves.
    connections: Vec<Weak<RefCell<Audit>>>,
    /// Of principals, who may be gone from everywhere else before their interval is over.
    principals: Vec<Rc<RefCell<Audit>>>,
}

impl Audits {
    /// Something happened in this connection, the first time since its last lines.
    pub fn add(&mut self, audit: &Rc<RefCell<Audit>>) {
        self.connections.push(Rc::downgrade(audit));
    }

    /// A principal did something, the first time since their last lines.
    pub fn add_principal(&mut self, audit: &Rc<RefCell<Audit>>) {
        self.principals.push(Rc::clone(audit));
    }

    /// Enters the values that are only counted so far.
    pub fn settle(&self) {
        for audit in self.connections.iter().filter_map(Weak::upgrade).chain(self.principals.iter().cloned())
        {
            audit.borrow_mut().settle();
        }
    }

    /// The lines of those whose interval is over.
    pub fn lines(&mut self, now_ms: u64) -> Vec<String> {
        let mut lines = Vec::new();
        let mut tell = |audit: &Rc<RefCell<Audit>>| {
            let mut audit = audit.borrow_mut();
            audit.tick(now_ms);
            lines.append(&mut audit.take_lines());
            !audit.is_idle()
        };
        self.connections.retain(|audit| audit.upgrade().is_some_and(|audit| tell(&audit)));
        self.principals.retain(|audit| tell(audit));
        lines
    }

    /// The lines of all principals, for the worker ends.
    pub fn last_lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for audit in self.principals.drain(..) {
            let mut audit = audit.borrow_mut();
            audit.close();
            lines.append(&mut audit.take_lines());
        }
        lines
    }
}
