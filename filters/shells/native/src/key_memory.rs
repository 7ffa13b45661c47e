//! The memory for keys, which the module has a place of its own for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use fieldveil_engine::key_memory::{KeyScope, set_key_scope};
use fieldveil_engine::ports::Level;

use crate::log::write_log;

/// How the module keeps the memory for keys.
#[derive(Clone, Copy)]
pub struct KeyMemory {
    /// How it is asked for.
    pub scope: KeyScope,
    /// What keeps some of it from being what it should be.
    pub fault: fn() -> Option<KeyMemoryFault>,
}

/// What keeps memory for keys from being what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMemoryFault {
    /// The system refuses to lock it.
    NotLocked,
    /// There was no more of it, and keys are in ordinary memory.
    Elsewhere,
}

static KEY_MEMORY: OnceLock<KeyMemory> = OnceLock::new();
static SAID: AtomicBool = AtomicBool::new(false);

/// Says how the module keeps the memory for keys; the first call counts.
pub fn set_key_memory(memory: KeyMemory) {
    set_key_scope(memory.scope);
    let _ = KEY_MEMORY.set(memory);
}

/// Says once in the log what is wrong with the memory for keys.
pub fn check() {
    let Some(fault) = KEY_MEMORY.get().and_then(|memory| (memory.fault)()) else { return };
    if !SAID.swap(true, Ordering::Relaxed) {
        write_log(Level::Warn, explain(fault));
    }
}

fn explain(fault: KeyMemoryFault) -> &'static str {
    match fault {
        KeyMemoryFault::NotLocked => {
            "the memory of the keys can not be locked, so that they may be swapped out: raise RLIMIT_MEMLOCK for Envoy \
             (ulimit -l), or run without swap"
        }
        KeyMemoryFault::Elsewhere => {
            "there is no more memory of the kind that keys should be in, so that some may be swapped out, and be in a core \
             dump: have fewer keysets, and run without swap and core dumps"
        }
    }
}
