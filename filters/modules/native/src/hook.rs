//! What hooks of all kinds have in common.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a hook; gives `failed` if it panics.
pub fn guarded<T>(failed: T, hook: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(hook)).unwrap_or(failed)
}

/// Defines hooks that have nothing to do.
macro_rules! idle {
    ($($name:ident($($kind:ty),*);)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($(_: $kind),*) {}
        )*
    };
}
pub(crate) use idle;
