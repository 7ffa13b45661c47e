//! Counts what the module allocates, and can tell where.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

thread_local! {
    static IN_MODULE: Cell<bool> = const { Cell::new(false) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static TRACING: Cell<bool> = const { Cell::new(false) };
    static TRACES: RefCell<BTreeMap<String, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// The system's allocator, with a count of this thread's allocations and enlargements while it runs the module's code.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is the system's own; what is counted touches none of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(memory, layout, size) }
    }
}

fn count() {
    if !IN_MODULE.get() {
        return;
    }
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    if TRACING.get() {
        outside(|| {
            let place = place(&Backtrace::force_capture().to_string());
            TRACES.with_borrow_mut(|traces| *traces.entry(place).or_default() += 1);
        });
    }
}

/// The innermost functions of ours in a backtrace, each with its line.
fn place(backtrace: &str) -> String {
    let lines: Vec<_> = backtrace.lines().map(str::trim).collect();
    let ours = |pair: &&[&str]| pair[0].contains("fieldveil_") && pair[1].starts_with("at ");
    let frames = lines.windows(2).filter(ours).take(6).map(|pair| {
        let function = pair[0].split_once(": ").map_or(pair[0], |(_, function)| function);
        let at = pair[1].rsplit_once("filters/").map_or(pair[1], |(_, at)| at);
        format!("{function} ({at})")
    });
    frames.collect::<Vec<_>>().join("\n        ")
}

/// Runs the module's code: what it allocates counts.
pub fn inside<T>(run: impl FnOnce() -> T) -> T {
    switched(true, run)
}

/// Runs the host's code: what it allocates does not count.
pub fn outside<T>(run: impl FnOnce() -> T) -> T {
    switched(false, run)
}

fn switched<T>(to: bool, run: impl FnOnce() -> T) -> T {
    let before = IN_MODULE.replace(to);
    let done = run();
    IN_MODULE.set(before);
    done
}

/// Allocations so far.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Where the allocations of `run` come from, each place with how many.
pub fn traced(run: impl FnOnce()) -> BTreeMap<String, u64> {
    TRACING.set(true);
    run();
    TRACING.set(false);
    TRACES.take()
}
