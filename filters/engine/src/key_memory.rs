//! The memory that keys take. A shell may keep it apart from other memory, as the native one does: locked, left out of core dumps,
//! and wiped when it is given back. In WebAssembly a module has one memory, and can do none of this.

use std::hint::black_box;
use std::sync::OnceLock;

use zeroize::Zeroize;

/// Words of the stack that are wiped when a key is made: those calls need a fraction of these 64 KiB.
const STACK_WORDS: usize = 8192;

/// How a shell is told that what a thread allocates is for keys.
#[derive(Clone, Copy)]
pub struct KeyScope {
    /// What this thread allocates from now on is for keys. Scopes may be nested.
    pub enter: fn(),
    /// Ends the innermost scope of this thread.
    pub leave: fn(),
}

static SCOPE: OnceLock<KeyScope> = OnceLock::new();

/// Says how memory for keys is asked for; the first call counts.
pub fn set_key_scope(scope: KeyScope) {
    let _ = SCOPE.set(scope);
}

/// Makes something of key material in the memory for keys, and wipes what is left of it on the stack.
pub fn in_key_memory<T>(make: impl FnOnce() -> T) -> T {
    let Some(scope) = SCOPE.get() else { return make() };
    (scope.enter)();
    let _entered = Entered(scope);
    on_lower_stack(make)
}

/// Leaves the scope, also where a panic ends it.
struct Entered(&'static KeyScope);

impl Drop for Entered {
    fn drop(&mut self) {
        wipe_lower_stack();
        (self.0.leave)();
    }
}

/// Calls it, so that its frame is where [`wipe_lower_stack`] has its own.
#[inline(never)]
fn on_lower_stack<T>(make: impl FnOnce() -> T) -> T {
    make()
}

/// Wipes the stack below the caller's frame, where calls that have returned left copies of what they moved.
#[inline(never)]
fn wipe_lower_stack() {
    let mut words = [0_u64; STACK_WORDS];
    words.zeroize();
    black_box(&mut words);
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static DEPTH: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn scope_is_entered_for_what_is_made_and_left_also_after_a_panic() {
        set_key_scope(KeyScope {
            enter: || DEPTH.set(DEPTH.get() + 1),
            leave: || DEPTH.set(DEPTH.get() - 1),
        });
        assert_eq!(in_key_memory(|| in_key_memory(|| DEPTH.get())), 2);
        assert_eq!(DEPTH.get(), 0);
        assert!(std::panic::catch_unwind(|| in_key_memory(|| assert_ne!(DEPTH.get(), 1))).is_err());
        assert_eq!(DEPTH.get(), 0);
    }
}
