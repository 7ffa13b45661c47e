//! The module's allocator, which counts what is allocated, and has a place of its own for keys.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicIsize, Ordering};

use crate::key_memory;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Counting;

/// Bytes that all threads have allocated, but for what each has not told yet.
static TOLD: AtomicIsize = AtomicIsize::new(0);
/// Bytes that a thread allocates or frees until it tells the others. One that ends does not tell the rest.
const UNTOLD: usize = 64 << 10;

/// What is known of a thread.
struct ThreadMemory {
    /// Bytes. What one thread allocates and another frees counts for both, with opposite signs.
    allocated: Cell<isize>,
    /// Those of them that it has not told.
    untold: Cell<isize>,
    /// Bytes that all others had allocated when the thread last looked.
    others: Cell<isize>,
    /// How many scopes it is in that are for keys.
    key_scopes: Cell<usize>,
}

thread_local! {
    static MEMORY: ThreadMemory = const { ThreadMemory { allocated: Cell::new(0), untold: Cell::new(0), others: Cell::new(0), key_scopes: Cell::new(0) } };
}

/// Bytes that are in use, of the other threads as when this one last looked: what lies between two calls is this thread's alone.
pub fn in_use() -> usize {
    MEMORY.with(|memory| {
        let all = memory.allocated.get().wrapping_add(memory.others.get());
        usize::try_from(all).unwrap_or_default()
    })
}

/// Looks what the other threads have in use.
pub fn look() {
    MEMORY.with(|memory| {
        let own = memory.allocated.get().wrapping_sub(memory.untold.get());
        memory.others.set(TOLD.load(Ordering::Relaxed).wrapping_sub(own));
    });
}

/// What this thread allocates from now on is for keys.
pub fn enter_key_scope() {
    MEMORY.with(|memory| memory.key_scopes.set(memory.key_scopes.get().wrapping_add(1)));
}

/// Ends the innermost scope for keys.
pub fn leave_key_scope() {
    MEMORY.with(|memory| memory.key_scopes.set(memory.key_scopes.get().saturating_sub(1)));
}

/// Counts, and gives whether the thread is in a scope for keys.
fn count(bytes: usize, sign: isize) -> bool {
    let by = isize::try_from(bytes).unwrap_or_default().wrapping_mul(sign);
    let counted = MEMORY.try_with(|memory| {
        memory.allocated.set(memory.allocated.get().wrapping_add(by));
        let untold = memory.untold.get().wrapping_add(by);
        memory.untold.set(untold);
        if untold.unsigned_abs() >= UNTOLD {
            tell(memory);
        }
        memory.key_scopes.get() > 0
    });
    // A thread that ends frees what it has after this is gone.
    counted.unwrap_or_default()
}

/// Takes back what was counted of an allocation that was refused.
fn count_refused(pointer: *mut u8, bytes: usize) {
    if pointer.is_null() {
        count(bytes, -1);
    }
}

/// Tells the other threads what this one has allocated.
#[cold]
#[inline(never)]
fn tell(memory: &ThreadMemory) {
    TOLD.fetch_add(memory.untold.take(), Ordering::Relaxed);
}

/// Memory for keys, or if there is no more of it the system's.
///
/// # Safety
/// As of [`GlobalAlloc::alloc`].
#[cold]
#[inline(never)]
unsafe fn allocate_for_keys(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    key_memory::allocate(layout).map_or_else(|| unsafe { System.alloc(layout) }, NonNull::as_ptr)
}

// SAFETY: each call is the system's allocator's, with the arguments that came, or that of the memory for keys, which knows its own by
// their addresses.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer =
            unsafe { if count(layout.size(), 1) { allocate_for_keys(layout) } else { System.alloc(layout) } };
        count_refused(pointer, layout.size());
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        match NonNull::new(pointer) {
            Some(pointer) if key_memory::contains(pointer.as_ptr()) => unsafe {
                key_memory::give_back(pointer, layout);
            },
            _ => unsafe { System.dealloc(pointer, layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let pointer = if count(layout.size(), 1) {
            let pointer = unsafe { allocate_for_keys(layout) };
            if !pointer.is_null() {
                unsafe { pointer.write_bytes(0, layout.size()) };
            }
            pointer
        } else {
            unsafe { System.alloc_zeroed(layout) }
        };
        count_refused(pointer, layout.size());
        pointer
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), -1);
        let is_in_scope = count(size, 1);
        let moved = if !is_in_scope && !key_memory::contains(pointer) {
            unsafe { System.realloc(pointer, layout, size) }
        } else {
            // What was for keys stays so, and what becomes so leaves nothing where it was.
            unsafe { move_for_keys(pointer, layout, size) }
        };
        if moved.is_null() {
            count(size, -1);
            count(layout.size(), 1);
        }
        moved
    }
}

/// Moves what is there to memory for keys, of another size, and wipes where it was.
///
/// # Safety
/// As of [`GlobalAlloc::realloc`].
#[cold]
#[inline(never)]
unsafe fn move_for_keys(pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the layout is valid by what the caller promises, and so are the places for as many bytes as both have.
    unsafe {
        let moved = allocate_for_keys(Layout::from_size_align_unchecked(size, layout.align()));
        let Some(former) = NonNull::new(pointer).filter(|_| !moved.is_null()) else { return ptr::null_mut() };
        former.as_ptr().copy_to_nonoverlapping(moved, layout.size().min(size));
        if key_memory::contains(pointer) {
            key_memory::give_back(former, layout);
        } else {
            key_memory::wipe(former, layout.size());
            System.dealloc(pointer, layout);
        }
        moved
    }
}
