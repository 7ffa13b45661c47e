//! The module's allocator, which counts what each thread has allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Counting;

thread_local! {
    /// Bytes. What one thread allocates and another frees counts for both, with opposite signs.
    static ALLOCATED: Cell<isize> = const { Cell::new(0) };
}

/// Bytes that this thread has allocated.
pub fn allocated() -> usize {
    ALLOCATED.with(|allocated| usize::try_from(allocated.get()).unwrap_or_default())
}

fn count(bytes: usize, sign: isize) {
    let by = isize::try_from(bytes).unwrap_or_default().wrapping_mul(sign);
    // A thread that ends frees what it has after this is gone.
    let _ = ALLOCATED.try_with(|allocated| allocated.set(allocated.get().wrapping_add(by)));
}

// SAFETY: each call is the system's allocator's, with the arguments that came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), -1);
        count(size, 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}
