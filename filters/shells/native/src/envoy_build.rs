//! Which Envoy this is. The interface may change with each of its versions, and a module for another one is only warned of: so
//! connections are served by an Envoy alone that the filter was tested with.

use std::sync::atomic::{AtomicBool, Ordering};

use fieldveil_engine::ports::Level;

use crate::log::write_log;

/// The first six hexadecimal digits of the commit that Envoy was built of, as its statistic `server.version` has them, and the
/// version that this is.
const TESTED: (u64, &str) = (0x9e_5580, "1.40.0");

static IS_TESTED: AtomicBool = AtomicBool::new(false);

/// Notes which Envoy this is, before it serves.
pub fn note(build: Option<u64>) {
    let is_tested = build == Some(TESTED.0);
    IS_TESTED.store(is_tested, Ordering::Relaxed);
    if !is_tested {
        let found =
            build.map_or("of an unknown build".to_owned(), |build| format!("built of commit {build:06x}"));
        write_log(
            Level::Error,
            &format!(
                "this Envoy is {found}, and the native module is for Envoy {} ({:06x}) alone: all connections are closed; run \
                 that Envoy, or use the WebAssembly modules",
                TESTED.1, TESTED.0
            ),
        );
    }
}

/// Whether connections may be served.
pub fn is_tested() -> bool {
    IS_TESTED.load(Ordering::Relaxed)
}
