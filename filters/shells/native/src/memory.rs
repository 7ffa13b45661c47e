//! The memory that the process has in use, as the module's allocator counts it.

use std::sync::OnceLock;

/// How it is found out.
#[derive(Clone, Copy)]
pub struct Memory {
    /// Bytes in use, of the other threads as when this one last looked.
    pub in_use: fn() -> usize,
    /// Looks what the other threads have in use.
    pub look: fn(),
}

static MEMORY: OnceLock<Memory> = OnceLock::new();

/// Says how to find it out; the first call counts.
pub fn set_memory(memory: Memory) {
    let _ = MEMORY.set(memory);
}

/// Bytes in use, of the other threads as when this one last looked; 0 where that is not known.
pub fn in_use() -> usize {
    MEMORY.get().map_or(0, |memory| (memory.in_use)())
}

/// Looks what the other threads have in use: in each hook, so that what is weighed within one is the thread's own.
pub fn look() {
    if let Some(memory) = MEMORY.get() {
        (memory.look)();
    }
}
