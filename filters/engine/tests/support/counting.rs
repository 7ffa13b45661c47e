//! An allocator that counts what each thread has, and a worker that is told.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    /// What others are to be thought to have in use.
    pub static OTHERS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count of the bytes that this thread has.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: isize) {
    IN_USE.set(IN_USE.get() + bytes);
}

// SAFETY: everything is the system's own; what is counted touches none of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Bytes in use.
pub fn in_use() -> usize {
    usize::try_from(IN_USE.get()).unwrap() + OTHERS.get()
}
