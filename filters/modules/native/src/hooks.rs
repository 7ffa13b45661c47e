//! What Envoy calls. It finds each hook by its name, and loads no module without all of those of what is configured.

use std::borrow::Cow;
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use fieldveil_native::envoy::Answer;
use fieldveil_native::{
    FilterConfig, FilterPlace, Flow, KeyMemory, KeyScope, Log, Memory, Stream, log_error, note_envoy,
    note_panic, set_key_memory, set_log, set_memory,
};
use zeroize::Zeroize;

use crate::allocator;
use crate::bootstrap::Bootstrap;
use crate::filter::{EnvoyFilter, bytes, joined, module_buffer, wipe_buffer};
use crate::hook::{guarded, idle};
use crate::key_memory;
use crate::raw::{
    self, BootstrapPointer, CONTINUE, EnvoyBuffer, EnvoyHeader, FilterConfigPointer, FilterPointer,
    REMOTE_CLOSE, STOP_ITERATION, TimerPointer,
};

/// The version of the interface, for Envoy.
const VERSION: &std::ffi::CStr = c"v0.2.0";

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_program_init() -> *const c_char {
    set_log(Log {
        // SAFETY: what is passed outlives the call.
        write: |level, line| unsafe {
            raw::envoy_dynamic_module_callback_log(level, module_buffer(line.as_bytes()))
        },
        // SAFETY: it takes nothing.
        least: || unsafe { raw::envoy_dynamic_module_callback_get_log_level() },
    });
    set_memory(Memory { in_use: allocator::in_use, look: allocator::look });
    keep_keys_apart();
    // What a panic says may be made of a value, so that only its place is told.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|location| format!("{}:{}", location.file(), location.line()));
        note_panic(&place.unwrap_or_default());
    }));
    VERSION.as_ptr()
}

/// Has keys put into memory of their own.
pub fn keep_keys_apart() {
    let scope = KeyScope { enter: allocator::enter_key_scope, leave: allocator::leave_key_scope };
    set_key_memory(KeyMemory { scope, fault: key_memory::fault });
}

// The filter's configuration: a `FilterConfig` that Envoy has until it destroys it.

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_config_new(
    _config: FilterConfigPointer,
    name: EnvoyBuffer,
    text: EnvoyBuffer,
) -> *const c_void {
    guarded(ptr::null(), || {
        // SAFETY: Envoy has both for the hook.
        let config = unsafe { FilterConfig::new(FilterPlace::Network, bytes(name), bytes(text)) };
        config.map_or(ptr::null(), |config| Box::into_raw(Box::new(config)).cast())
    })
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_config_destroy(config: *const c_void) {
    // SAFETY: it was made above, and nobody has it any more.
    guarded((), || drop(unsafe { Box::from_raw(config.cast::<FilterConfig>().cast_mut()) }));
}

// A connection: a box of a `Stream`, boxed once more for a thin pointer, which Envoy has until it destroys it.

pub type StreamBox = Box<dyn Stream>;

/// Runs a hook of a connection; one that panics ends the connection.
pub fn on_stream<T: Copy>(stream: *const c_void, failed: T, hook: impl FnOnce(&dyn Stream) -> T) -> T {
    // SAFETY: it was made by the hook below, and Envoy calls none when it has destroyed it.
    let stream = unsafe { &**stream.cast::<StreamBox>() };
    match catch_unwind(AssertUnwindSafe(|| hook(stream))) {
        Ok(done) => done,
        Err(_) => guarded(failed, || {
            stream.fail();
            failed
        }),
    }
}

fn status(flow: Flow) -> u32 {
    match flow {
        Flow::Continue => CONTINUE,
        Flow::Stop => STOP_ITERATION,
    }
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_new(
    config: *const c_void,
    filter: FilterPointer,
) -> *const c_void {
    guarded(ptr::null(), || {
        // SAFETY: the configuration outlives its connections.
        let config = unsafe { &*config.cast::<FilterConfig>() };
        let stream = config.connection(Box::new(EnvoyFilter(filter)));
        stream.map_or(ptr::null(), |stream| Box::into_raw(Box::new(stream)).cast::<c_void>().cast_const())
    })
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_destroy(stream: *const c_void) {
    // SAFETY: it was made above, and nobody has it any more.
    guarded((), || drop(unsafe { Box::from_raw(stream.cast::<StreamBox>().cast_mut()) }));
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_new_connection(
    _filter: FilterPointer,
    _stream: *const c_void,
) -> u32 {
    CONTINUE
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_read(
    _filter: FilterPointer,
    stream: *const c_void,
    _length: usize,
    end_of_stream: bool,
) -> u32 {
    status(on_stream(stream, Flow::Stop, |stream| stream.client_bytes(end_of_stream)))
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_write(
    _filter: FilterPointer,
    stream: *const c_void,
    _length: usize,
    end_of_stream: bool,
) -> u32 {
    status(on_stream(stream, Flow::Stop, |stream| stream.server_bytes(end_of_stream)))
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_event(
    _filter: FilterPointer,
    stream: *const c_void,
    event: u32,
) {
    on_stream(stream, (), |stream| stream.closes(event == REMOTE_CLOSE));
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_network_filter_scheduled(
    _filter: FilterPointer,
    stream: *const c_void,
    _event: u64,
) {
    on_stream(stream, (), |stream| stream.woken());
}

/// Wipes what was copied of Envoy's buffers.
fn wipe(bytes: &mut Cow<'_, [u8]>) {
    if let Cow::Owned(copy) = bytes {
        copy.zeroize();
    }
}

// The bootstrap extension: a `Bootstrap` that Envoy has until it destroys it.

/// Runs a hook of the bootstrap extension.
fn on_bootstrap(bootstrap: *const c_void, hook: impl FnOnce(&Bootstrap)) {
    // SAFETY: it was made by the hook below, and Envoy calls none when it has destroyed it.
    guarded((), || hook(unsafe { &*bootstrap.cast::<Bootstrap>() }));
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_config_new(
    pointer: BootstrapPointer,
    _name: EnvoyBuffer,
    _text: EnvoyBuffer,
) -> *const c_void {
    guarded(ptr::null(), || match Bootstrap::new(pointer) {
        Ok(bootstrap) => Box::into_raw(Box::new(bootstrap)).cast::<c_void>().cast_const(),
        Err(name) => {
            log_error(&format!(
                "Envoy did not take the statistic {name}: the native module needs the Envoy that it is for"
            ));
            ptr::null()
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_config_destroy(bootstrap: *const c_void) {
    // SAFETY: it was made above, and nobody has it any more.
    guarded((), || drop(unsafe { Box::from_raw(bootstrap.cast::<Bootstrap>().cast_mut()) }));
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_new(
    bootstrap: *const c_void,
    _extension: *mut c_void,
) -> *const c_void {
    bootstrap
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_server_initialized(
    extension: *mut c_void,
    _bootstrap: *const c_void,
) {
    let mut build = 0;
    // SAFETY: Envoy has the extension for the hook, and what else is passed outlives the call.
    let known = unsafe {
        raw::envoy_dynamic_module_callback_bootstrap_extension_get_gauge_value(
            extension,
            module_buffer(b"server.version"),
            &raw mut build,
        )
    };
    guarded((), || note_envoy(known.then_some(build)));
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_shutdown(
    _envoy: *mut c_void,
    _extension: *const c_void,
    completed: extern "C" fn(*mut c_void),
    context: *mut c_void,
) {
    completed(context);
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_config_scheduled(
    _pointer: BootstrapPointer,
    bootstrap: *const c_void,
    _event: u64,
) {
    on_bootstrap(bootstrap, |bootstrap| bootstrap.run(|main, envoy| main.woken(envoy)));
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_timer_fired(
    _pointer: BootstrapPointer,
    bootstrap: *const c_void,
    _timer: TimerPointer,
) {
    on_bootstrap(bootstrap, Bootstrap::ticked);
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_http_callout_done(
    _pointer: BootstrapPointer,
    bootstrap: *const c_void,
    call: u64,
    result: u32,
    headers: *const EnvoyHeader,
    headers_count: usize,
    body: *const EnvoyBuffer,
    body_count: usize,
) {
    on_bootstrap(bootstrap, |bootstrap| {
        let answered = result == raw::SUCCESS;
        // SAFETY: Envoy has all of them for the hook, as many as it says.
        let (headers, pieces) = unsafe {
            let headers = if answered && headers_count > 0 {
                std::slice::from_raw_parts(headers, headers_count)
            } else {
                &[]
            };
            let body =
                if answered && body_count > 0 { std::slice::from_raw_parts(body, body_count) } else { &[] };
            (headers.iter().map(|header| (bytes(header.name), bytes(header.value))).collect(), body)
        };
        // SAFETY: as above.
        let mut answer = Answer { headers, body: unsafe { joined(pieces) } };
        let is_to_be_wiped = bootstrap.run(|main, envoy| main.answered(envoy, call, &answer));
        wipe(&mut answer.body);
        drop(answer);
        if is_to_be_wiped {
            // SAFETY: as above, and nobody reads them any more: Envoy drops the answer when the hook has returned.
            pieces.iter().for_each(|piece| unsafe { wipe_buffer(*piece) });
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_bootstrap_extension_admin_request(
    _pointer: BootstrapPointer,
    _bootstrap: *const c_void,
    _method: EnvoyBuffer,
    _path: EnvoyBuffer,
    _body: EnvoyBuffer,
) -> u32 {
    404
}

idle! {
    envoy_dynamic_module_on_network_filter_config_scheduled(*const c_void, u64);
    envoy_dynamic_module_on_network_filter_http_callout_done(FilterPointer, *const c_void, u64, u32, *const EnvoyHeader, usize, *const EnvoyBuffer, usize);
    envoy_dynamic_module_on_network_filter_above_write_buffer_high_watermark(FilterPointer, *const c_void);
    envoy_dynamic_module_on_network_filter_below_write_buffer_low_watermark(FilterPointer, *const c_void);
    envoy_dynamic_module_on_bootstrap_extension_destroy(*const c_void);
    envoy_dynamic_module_on_bootstrap_extension_worker_thread_initialized(*mut c_void, *const c_void);
    envoy_dynamic_module_on_bootstrap_extension_drain_started(*mut c_void, *const c_void);
    envoy_dynamic_module_on_bootstrap_extension_file_changed(BootstrapPointer, *const c_void, EnvoyBuffer, u32);
    envoy_dynamic_module_on_bootstrap_extension_cluster_add_or_update(BootstrapPointer, *const c_void, EnvoyBuffer);
    envoy_dynamic_module_on_bootstrap_extension_cluster_removal(BootstrapPointer, *const c_void, EnvoyBuffer);
    envoy_dynamic_module_on_bootstrap_extension_listener_add_or_update(BootstrapPointer, *const c_void, EnvoyBuffer);
    envoy_dynamic_module_on_bootstrap_extension_listener_removal(BootstrapPointer, *const c_void, EnvoyBuffer);
}
