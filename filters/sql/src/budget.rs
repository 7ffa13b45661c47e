//! How much work one analysis may do, and how deep it may go.
//!
//! A text is written by anybody who may log in, and it is analyzed on the thread that serves everybody: what grows
//! faster than the text, and what calls itself as deep as the text is nested, ends here with a refusal. What is known to
//! be linear and shallow is bounded where it stands; this is for what was overlooked.

use std::cell::Cell;

use crate::refusal::{Refusal, RefusalClass};

/// Steps of one analysis. A step is about what one token or one node of the tree costs in one of the passes over it, some
/// 0.2 µs; an ordinary statement takes 3.6 for a token at most, so that the longest that is read fits.
const MAX_STEPS: u64 = 250_000;

/// Bytes of stack that an analysis may take below its entry. A Wasm module's own stack has 1 MiB, and V8's, on which the
/// frames themselves are, about as much. Frames of the processors that it is tested on are several times as large.
const MAX_STACK: usize = if cfg!(target_arch = "wasm32") { 512 * 1_024 } else { 1_536 * 1_024 };

/// What one analysis may still do.
#[derive(Debug)]
pub struct Budget {
    left: Cell<u64>,
    /// Where the stack was when the analysis began.
    stack: usize,
}

/// The analysis would take more steps, or more stack, than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exceeded;

impl From<Exceeded> for Refusal {
    fn from(Exceeded: Exceeded) -> Self {
        Self {
            class: RefusalClass::TooComplex,
            label: None,
            reason: "the text is too complex to be analyzed".to_owned(),
            remedy: "split it into several statements, or nest and repeat less in it".to_owned(),
        }
    }
}

impl Budget {
    /// The whole budget, for an analysis that begins here.
    pub fn new() -> Self {
        Self { left: Cell::new(MAX_STEPS), stack: here() }
    }

    /// The steps taken so far.
    pub fn spent(&self) -> u64 {
        MAX_STEPS.saturating_sub(self.left.get())
    }

    /// Takes steps.
    pub(crate) fn spend(&self, steps: usize) -> Result<(), Exceeded> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(self.exhaust()),
        }
    }

    /// Takes a step that goes deeper: whatever calls itself does this first.
    pub(crate) fn descend(&self) -> Result<(), Exceeded> {
        // Stacks grow downwards, in Wasm as on the processors that it is tested on.
        if self.stack.saturating_sub(here()) > MAX_STACK {
            return Err(self.exhaust());
        }
        self.spend(1)
    }

    /// Whether nothing is left.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// What is left, to be spent by a part of the analysis that can't borrow this one.
    pub(crate) fn lend(&self) -> Self {
        Self { left: self.left.clone(), stack: self.stack }
    }

    /// Takes back what was lent.
    pub(crate) fn take_back(&self, lent: &Self) {
        self.left.set(lent.left.get());
    }

    fn exhaust(&self) -> Exceeded {
        self.left.set(0);
        Exceeded
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

/// Where the stack is: the address of something on it.
#[inline(never)]
fn here() -> usize {
    let local = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&local)).addr()
}

#[cfg(test)]
mod tests {
    use super::{Budget, Exceeded, MAX_STEPS};

    #[test]
    fn a_budget_is_spent_to_its_last_step_and_no_further() {
        let budget = Budget::new();
        let most = usize::try_from(MAX_STEPS).unwrap_or_default();
        assert_eq!(budget.spend(most), Ok(()));
        assert_eq!(budget.spend(1), Err(Exceeded));
        assert_eq!(budget.spent(), MAX_STEPS);
    }

    #[test]
    fn what_is_lent_is_spent_once() {
        let budget = Budget::new();
        let lent = budget.lend();
        assert_eq!(lent.spend(3), Ok(()));
        budget.take_back(&lent);
        assert_eq!(budget.spent(), 3);
    }

    #[test]
    fn endless_descent_ends() {
        fn descend(budget: &Budget, levels: &mut usize) {
            if budget.descend().is_ok() {
                *levels += 1;
                descend(budget, levels);
            }
        }
        let (budget, mut levels) = (Budget::new(), 0);
        descend(&budget, &mut levels);
        assert!(levels > 100 && budget.is_exhausted(), "{levels}");
    }
}
