//! What calls Envoy's main thread, for all others.

use std::sync::Mutex;

use fieldveil_engine::locks::lock;

use crate::envoy::Wake;

static WAKER: Mutex<Option<Box<dyn Wake>>> = Mutex::new(None);

/// Says what calls the main thread; None when it is gone.
pub fn set(waker: Option<Box<dyn Wake>>) {
    *lock(&WAKER) = waker;
}

/// Has the main thread ask for what is wanted.
pub fn wake() {
    if let Some(waker) = &*lock(&WAKER) {
        waker.wake();
    }
}

/// Whether there is a main thread to ask: the bootstrap extension was configured.
pub fn is_there() -> bool {
    lock(&WAKER).is_some()
}
