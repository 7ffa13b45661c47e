//! What Envoy calls of an HTTP filter. It finds each hook by its name, and loads no module without all of them.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use fieldveil_native::envoy::{Action, Direction};
use fieldveil_native::{ExchangeStream, FilterConfig, FilterPlace};

use crate::filter::{bytes, module_buffer};
use crate::hook::{guarded, idle};
use crate::http_filter::EnvoyHttpFilter;
use crate::raw::{
    self, CONTINUE, EnvoyBuffer, EnvoyHeader, FilterConfigPointer, FilterPointer, LOCAL_RESET,
    STOP_ITERATION, STOP_ITERATION_NO_BUFFER,
};

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_config_new(
    _config: FilterConfigPointer,
    name: EnvoyBuffer,
    text: EnvoyBuffer,
) -> *const c_void {
    guarded(ptr::null(), || {
        // SAFETY: Envoy has both for the hook.
        let config = unsafe { FilterConfig::new(FilterPlace::Http, bytes(name), bytes(text)) };
        config.map_or(ptr::null(), |config| Box::into_raw(Box::new(config)).cast())
    })
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_config_destroy(config: *const c_void) {
    // SAFETY: it was made above, and nobody has it any more.
    guarded((), || drop(unsafe { Box::from_raw(config.cast::<FilterConfig>().cast_mut()) }));
}

/// A route's own configuration is none: what is protected is the policy's alone.
#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_per_route_config_new(
    _name: EnvoyBuffer,
    _text: EnvoyBuffer,
) -> *const c_void {
    ptr::null()
}

/// What Envoy has of an exchange, until it destroys it: nothing where there can be none. A hook has a part of its own in it, for
/// Envoy may destroy it within what the hook calls.
type ExchangeBox = Option<Rc<ExchangeStream>>;

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_new(
    config: *const c_void,
    filter: FilterPointer,
) -> *const c_void {
    let made: ExchangeBox = guarded(None, || {
        // SAFETY: the configuration outlives its exchanges.
        let config = unsafe { &*config.cast::<FilterConfig>() };
        config.exchange(Box::new(EnvoyHttpFilter(filter))).map(Rc::new)
    });
    Box::into_raw(Box::new(made)).cast::<c_void>().cast_const()
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_destroy(exchange: *const c_void) {
    // SAFETY: it was made above, and Envoy has it no more.
    let exchange = unsafe { Box::from_raw(exchange.cast::<ExchangeBox>().cast_mut()) };
    guarded((), || {
        if let Some(exchange) = &*exchange {
            exchange.destroyed();
        }
        drop(exchange);
    });
}

/// Runs a hook of an exchange; one that panics cuts it, as does one of an exchange that there can't be.
fn on_exchange(
    filter: FilterPointer,
    exchange: *const c_void,
    hook: impl FnOnce(&ExchangeStream) -> Action,
) -> Action {
    // SAFETY: it was made above, and Envoy calls no hook when it has destroyed it.
    let exchange = unsafe { (*exchange.cast::<ExchangeBox>()).clone() };
    let Some(exchange) = exchange else {
        // SAFETY: Envoy has the filter for the hook, and what else is passed outlives the call.
        unsafe {
            raw::envoy_dynamic_module_callback_http_filter_reset_stream(
                filter,
                LOCAL_RESET,
                module_buffer(b"fieldveil"),
            );
        }
        return Action::Pause;
    };
    let done = catch_unwind(AssertUnwindSafe(|| hook(&exchange)));
    guarded(Action::Pause, || {
        // The exchange may end here, and panic in that.
        let exchange = exchange;
        done.unwrap_or_else(|_| {
            exchange.fail();
            Action::Pause
        })
    })
}

fn head_status(action: Action) -> u32 {
    match action {
        Action::Continue => CONTINUE,
        Action::Pause => STOP_ITERATION,
    }
}

fn body_status(action: Action) -> u32 {
    match action {
        Action::Continue => CONTINUE,
        Action::Pause => STOP_ITERATION_NO_BUFFER,
    }
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_request_headers(
    filter: FilterPointer,
    exchange: *const c_void,
    end_of_stream: bool,
) -> u32 {
    head_status(on_exchange(filter, exchange, |exchange| exchange.request_head(end_of_stream)))
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_request_body(
    filter: FilterPointer,
    exchange: *const c_void,
    end_of_stream: bool,
) -> u32 {
    body_status(on_exchange(filter, exchange, |exchange| exchange.body(Direction::Request, end_of_stream)))
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_request_trailers(
    filter: FilterPointer,
    exchange: *const c_void,
) -> u32 {
    head_status(on_exchange(filter, exchange, ExchangeStream::request_trailers))
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_response_headers(
    filter: FilterPointer,
    exchange: *const c_void,
    end_of_stream: bool,
) -> u32 {
    head_status(on_exchange(filter, exchange, |exchange| exchange.response_head(end_of_stream)))
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_response_body(
    filter: FilterPointer,
    exchange: *const c_void,
    end_of_stream: bool,
) -> u32 {
    body_status(on_exchange(filter, exchange, |exchange| exchange.body(Direction::Response, end_of_stream)))
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_response_trailers(
    filter: FilterPointer,
    exchange: *const c_void,
) -> u32 {
    head_status(on_exchange(filter, exchange, ExchangeStream::response_trailers))
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_scheduled(
    filter: FilterPointer,
    exchange: *const c_void,
    _event: u64,
) {
    on_exchange(filter, exchange, |exchange| {
        exchange.woken();
        Action::Pause
    });
}

#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_stream_complete(
    _filter: FilterPointer,
    exchange: *const c_void,
) {
    // SAFETY: it was made above, and Envoy calls no hook when it has destroyed it.
    let exchange = unsafe { (*exchange.cast::<ExchangeBox>()).clone() };
    guarded((), || {
        if let Some(exchange) = exchange {
            exchange.end();
        }
    });
}

type Headers = *const EnvoyHeader;
type Pieces = *const EnvoyBuffer;
type Module = *const c_void;

idle! {
    envoy_dynamic_module_on_http_filter_per_route_config_destroy(Module);
    envoy_dynamic_module_on_http_filter_http_callout_done(FilterPointer, Module, u64, u32, Headers, usize, Pieces, usize);
    envoy_dynamic_module_on_http_filter_http_stream_headers(FilterPointer, Module, u64, Headers, usize, bool);
    envoy_dynamic_module_on_http_filter_http_stream_data(FilterPointer, Module, u64, Pieces, usize, bool);
    envoy_dynamic_module_on_http_filter_http_stream_trailers(FilterPointer, Module, u64, Headers, usize);
    envoy_dynamic_module_on_http_filter_http_stream_complete(FilterPointer, Module, u64);
    envoy_dynamic_module_on_http_filter_http_stream_reset(FilterPointer, Module, u64, u32);
    envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(FilterPointer, Module);
    envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(FilterPointer, Module);
    envoy_dynamic_module_on_http_filter_config_scheduled(FilterConfigPointer, Module, u64);
    envoy_dynamic_module_on_http_filter_config_http_callout_done(FilterConfigPointer, Module, u64, u32, Headers, usize, Pieces, usize);
    envoy_dynamic_module_on_http_filter_config_http_stream_headers(FilterConfigPointer, Module, u64, Headers, usize, bool);
    envoy_dynamic_module_on_http_filter_config_http_stream_data(FilterConfigPointer, Module, u64, Pieces, usize, bool);
    envoy_dynamic_module_on_http_filter_config_http_stream_trailers(FilterConfigPointer, Module, u64, Headers, usize);
    envoy_dynamic_module_on_http_filter_config_http_stream_complete(FilterConfigPointer, Module, u64);
    envoy_dynamic_module_on_http_filter_config_http_stream_reset(FilterConfigPointer, Module, u64, u32);
}

/// Envoy answers by itself, and continues to.
#[unsafe(no_mangle)]
extern "C" fn envoy_dynamic_module_on_http_filter_local_reply(
    _filter: FilterPointer,
    _exchange: *const c_void,
    _status: u32,
    _details: EnvoyBuffer,
    _resets: bool,
) -> u32 {
    CONTINUE
}
