//! What an exchange runs in, and how it ends there when it is refused.

use std::cell::RefCell;
use std::rc::Rc;

use super::audits::Handle;
use super::output::ExchangeOutput;
use super::problem::Problem;
use crate::ports::{Level, Ports};
use crate::worker::Worker;

/// The worker and the host of an exchange.
#[derive(Clone)]
pub(super) struct Surroundings {
    pub(super) worker: Rc<RefCell<Worker>>,
    pub(super) ports: Rc<RefCell<dyn Ports>>,
}

impl Surroundings {
    /// Now, by the host's clock.
    pub(super) fn now_ms(&self) -> u64 {
        self.ports.borrow().now_ms()
    }

    /// Refuses an exchange while the module has more than so many bytes in use.
    pub(super) fn check_memory(&self, most: usize) -> Result<(), Problem> {
        if self.ports.borrow().memory_in_use() <= most { Ok(()) } else { Err(Problem::no_memory()) }
    }

    /// Refuses an exchange whose client has been sent nothing yet: it is sent the problem. `audit` is the principal's, who is
    /// not known yet if `None`.
    pub(super) fn reply(&self, problem: &Problem, audit: Option<&Handle>) -> ExchangeOutput {
        self.record(problem, audit);
        ExchangeOutput { reply: Some(problem.reply()), ..ExchangeOutput::hold() }
    }

    /// Refuses an exchange whose client has the head of a response: the stream ends as what it is, broken.
    pub(super) fn reset(&self, problem: &Problem, audit: Option<&Handle>) -> ExchangeOutput {
        self.record(problem, audit);
        let line = format!("an exchange was reset: {}", problem.line());
        self.ports.borrow().log(Level::Warn, &line);
        ExchangeOutput { reset: true, ..ExchangeOutput::hold() }
    }

    fn record(&self, problem: &Problem, audit: Option<&Handle>) {
        if let Some(audit) = audit {
            audit.refused(problem, self.now_ms());
        }
    }
}
