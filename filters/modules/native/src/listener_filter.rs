//! A listener's filter: what Envoy calls for a connection that it has accepted, before one of its filter chains takes it.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;

use fieldveil_native::transport::Accepted;
use fieldveil_native::{Admission, ClientTls, ClientTlsConfig, FIRST_BYTES};

use crate::filter::{bytes, module_buffer};
use crate::hook::{guarded, idle};
use crate::raw::{CONTINUE, EnvoyBuffer, EnvoyHeader, STOP_ITERATION};
use crate::raw_tls::{self, ListenerFilterPointer};

/// Says in Envoy's log of connections why one was closed.
const REFUSED: &[u8] = b"fieldveil_refused";

/// A connection that was accepted, in one hook. Envoy destroys the module's half of a filter before its own, so the pointer is good
/// for the hook that it was given to.
struct EnvoyAccepted(ListenerFilterPointer);

// SAFETY, of each call below: the pointer is good by the above, and what is passed beside it outlives the call.

impl Accepted for EnvoyAccepted {
    fn first_bytes(&self) -> &[u8] {
        let mut chunk = EnvoyBuffer::EMPTY;
        // SAFETY: the bytes stay until they are drained, for which `drain` takes `self` alone.
        unsafe {
            let known = raw_tls::envoy_dynamic_module_callback_listener_filter_get_buffer_chunk(
                self.0,
                &raw mut chunk,
            );
            if known { bytes(chunk) } else { &[] }
        }
    }

    fn drain(&mut self, count: usize) -> bool {
        unsafe { raw_tls::envoy_dynamic_module_callback_listener_filter_drain_buffer(self.0, count) }
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        let written = unsafe {
            raw_tls::envoy_dynamic_module_callback_listener_filter_write_to_socket(
                self.0,
                module_buffer(bytes),
            )
        };
        usize::try_from(written) == Ok(bytes.len())
    }

    fn set_transport_protocol(&mut self, name: &str) {
        unsafe {
            raw_tls::envoy_dynamic_module_callback_listener_filter_set_detected_transport_protocol(
                self.0,
                module_buffer(name.as_bytes()),
            );
        }
    }
}

// The filter's configuration: a `ClientTlsConfig` that Envoy has until it destroys it.

#[unsafe(no_mangle)]
pub extern "C" fn envoy_dynamic_module_on_listener_filter_config_new(
    _config: *mut c_void,
    name: EnvoyBuffer,
    text: EnvoyBuffer,
) -> *const c_void {
    guarded(ptr::null(), || {
        // SAFETY: Envoy has both for the hook.
        let config = unsafe { ClientTlsConfig::new(bytes(name), bytes(text)) };
        config.map_or(ptr::null(), |config| Box::into_raw(Box::new(config)).cast_const().cast())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn envoy_dynamic_module_on_listener_filter_config_destroy(config: *const c_void) {
    // SAFETY: it was made above, and nobody has it any more.
    guarded((), || drop(unsafe { Box::from_raw(config.cast::<ClientTlsConfig>().cast_mut()) }));
}

// A connection: a `ClientTls` that Envoy has until it destroys it.

type Connection = RefCell<ClientTls>;

#[unsafe(no_mangle)]
pub extern "C" fn envoy_dynamic_module_on_listener_filter_new(
    config: *const c_void,
    _filter: ListenerFilterPointer,
) -> *const c_void {
    guarded(ptr::null(), || {
        // SAFETY: the configuration outlives its connections.
        let config = unsafe { *config.cast::<ClientTlsConfig>() };
        config.connection().map_or(ptr::null(), |connection| {
            let connection: Box<Connection> = Box::new(RefCell::new(connection));
            Box::into_raw(connection).cast_const().cast()
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn envoy_dynamic_module_on_listener_filter_destroy(connection: *const c_void) {
    // SAFETY: it was made above, and nobody has it any more.
    guarded((), || drop(unsafe { Box::from_raw(connection.cast::<Connection>().cast_mut()) }));
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_listener_filter_on_accept(
    _filter: ListenerFilterPointer,
    _connection: *const c_void,
) -> u32 {
    // The client speaks first.
    STOP_ITERATION
}

#[unsafe(no_mangle)]
pub extern "C" fn envoy_dynamic_module_on_listener_filter_on_data(
    filter: ListenerFilterPointer,
    connection: *const c_void,
    _length: usize,
) -> u32 {
    let admission = guarded(Admission::Close, || {
        // SAFETY: it was made above, and Envoy calls no hook when it has destroyed it.
        let connection = unsafe { &*connection.cast::<Connection>() };
        connection.borrow_mut().read(&mut EnvoyAccepted(filter))
    });
    match admission {
        Admission::Wait => STOP_ITERATION,
        Admission::Pass => CONTINUE,
        Admission::Close => {
            // SAFETY: Envoy has the filter for the hook.
            unsafe {
                raw_tls::envoy_dynamic_module_callback_listener_filter_close_socket(
                    filter,
                    module_buffer(REFUSED),
                );
            }
            STOP_ITERATION
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn envoy_dynamic_module_on_listener_filter_get_max_read_bytes(
    _filter: ListenerFilterPointer,
    _connection: *const c_void,
) -> usize {
    FIRST_BYTES
}

idle! {
    envoy_dynamic_module_on_listener_filter_config_scheduled(*mut c_void, *const c_void, u64);
    envoy_dynamic_module_on_listener_filter_on_close(ListenerFilterPointer, *const c_void);
    envoy_dynamic_module_on_listener_filter_scheduled(ListenerFilterPointer, *const c_void, u64);
    envoy_dynamic_module_on_listener_filter_http_callout_done(ListenerFilterPointer, *const c_void, u64, u32, *const EnvoyHeader, usize, *const EnvoyBuffer, usize);
}
