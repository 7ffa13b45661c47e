//! How much memory the module has in use: its allocator counts. Programs that link this crate, as tests do, have an allocator
//! of their own, and nothing is known of it.

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);

/// Bytes that are allocated now.
#[cfg(target_arch = "wasm32")]
pub fn in_use() -> usize {
    ALLOCATOR.allocated()
}

/// Not known.
#[cfg(not(target_arch = "wasm32"))]
pub fn in_use() -> usize {
    0
}
