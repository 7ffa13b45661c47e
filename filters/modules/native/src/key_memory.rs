//! Memory for keys: locked, so that it is not swapped out; left out of core dumps; and wiped when it is given back.
//!
//! It is one range of addresses, so that the allocator knows by its address what to give back here. Pages are locked as they come
//! into use, and stay. Where a page can not be locked it is used all the same, and [`fault`] tells of it.

use std::alloc::Layout;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use fieldveil_native::KeyMemoryFault;
use linked_list_allocator::Heap;
use zeroize::Zeroize;

/// Addresses that are kept for keys. 2,048 names of keysets, as many as are held, take about 10 MiB; pages that were never used
/// take no memory.
pub const SIZE: usize = 64 << 20;
/// What is locked at a time: where little may be locked, as 64 KiB, most of it can be used.
const STEP: usize = 16 << 10;
/// Where no address of a process is, so that none is taken for one of these.
const NOWHERE: usize = 1 << 63;

/// Where the range begins.
static START: AtomicUsize = AtomicUsize::new(NOWHERE);
static RANGE: Mutex<Range> = Mutex::new(Range::new(lock));

/// What keeps some of the memory for keys from being what it should be.
pub fn fault() -> Option<KeyMemoryFault> {
    with_range(|range| range.fault())
}

/// Whether this is memory for keys.
pub fn contains(pointer: *const u8) -> bool {
    pointer.addr().wrapping_sub(START.load(Ordering::Relaxed)) < SIZE
}

/// Memory for keys; None if there is no more.
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    with_range(|range| {
        let allocated = range.allocate(layout);
        START.store(if range.start.is_null() { NOWHERE } else { range.start.addr() }, Ordering::Relaxed);
        allocated
    })
}

/// Wipes memory for keys, and takes it back.
///
/// # Safety
/// It must be of [`allocate`] with this layout, and nobody may have it any more.
#[cold]
#[inline(never)]
pub unsafe fn give_back(pointer: NonNull<u8>, layout: Layout) {
    with_range(|range| {
        // SAFETY: by what the caller promises.
        unsafe {
            wipe(pointer, layout.size());
            range.heap.deallocate(pointer, layout);
        }
    });
}

/// Wipes memory.
///
/// # Safety
/// Nobody else may use it.
pub unsafe fn wipe(pointer: NonNull<u8>, size: usize) {
    // SAFETY: zeros are bytes, whatever was there; the rest is what the caller promises.
    unsafe {
        pointer.write_bytes(0, size);
        NonNull::slice_from_raw_parts(pointer, size).as_mut().zeroize();
    }
}

fn with_range<T>(work: impl FnOnce(&mut Range) -> T) -> T {
    work(&mut RANGE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The range, and what is in use of it.
pub struct Range {
    heap: Heap,
    lock: fn(*mut u8, usize) -> bool,
    /// It was tried to have the range.
    is_reserved: bool,
    /// Where it begins; null if it could not be had.
    start: *mut u8,
    /// Bytes from its beginning that the heap has.
    used: usize,
    fault: Option<KeyMemoryFault>,
}

// SAFETY: nobody else has the range's addresses.
unsafe impl Send for Range {}

impl Range {
    /// None is reserved yet. Pages are locked by `lock`.
    pub const fn new(lock: fn(*mut u8, usize) -> bool) -> Self {
        let (heap, start) = (Heap::empty(), ptr::null_mut());
        Self { heap, lock, is_reserved: false, start, used: 0, fault: None }
    }

    /// What keeps some of it from being what it should be.
    pub fn fault(&self) -> Option<KeyMemoryFault> {
        self.fault
    }

    /// Memory of the range; None if there is no more.
    pub fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        loop {
            if let Ok(allocated) = self.heap.allocate_first_fit(layout) {
                return Some(allocated);
            }
            if self.grow(layout).is_none() {
                self.fault = Some(KeyMemoryFault::Elsewhere);
                return None;
            }
        }
    }

    /// Gives the heap more. None if there is no more.
    fn grow(&mut self, layout: Layout) -> Option<()> {
        if !self.is_reserved {
            self.is_reserved = true;
            self.start = reserve();
        }
        let least = layout.size().checked_add(layout.align())?;
        let more = least.checked_next_multiple_of(STEP)?;
        if self.start.is_null() || more > SIZE.saturating_sub(self.used) {
            return None;
        }
        // SAFETY: these addresses are within the range, and the heap has those before them.
        unsafe {
            let place = self.start.add(self.used);
            if !(self.lock)(place, more) {
                self.fault.get_or_insert(KeyMemoryFault::NotLocked);
            }
            match self.used {
                0 => self.heap.init(place, more),
                _ => self.heap.extend(more),
            }
        }
        self.used = self.used.saturating_add(more);
        Some(())
    }
}

/// Asks the system for the range, whose pages a core dump leaves out. Null if it can not be had.
fn reserve() -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
    // SAFETY: the system chooses the place, so that nothing is there yet.
    let start =
        unsafe { libc::mmap(ptr::null_mut(), SIZE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED || !leave_out_of_core_dumps(start) {
        return ptr::null_mut();
    }
    start.cast()
}

#[cfg(target_os = "linux")]
fn leave_out_of_core_dumps(start: *mut libc::c_void) -> bool {
    // SAFETY: the range was mapped just now.
    unsafe { libc::madvise(start, SIZE, libc::MADV_DONTDUMP) == 0 }
}

/// Elsewhere the module is only tested.
#[cfg(not(target_os = "linux"))]
fn leave_out_of_core_dumps(_start: *mut libc::c_void) -> bool {
    true
}

/// Keeps pages from being swapped out. False if the system refuses: RLIMIT_MEMLOCK is too small.
fn lock(start: *mut u8, length: usize) -> bool {
    // SAFETY: it changes nothing that can be seen in the pages.
    unsafe { libc::mlock(start.cast(), length) == 0 }
}
