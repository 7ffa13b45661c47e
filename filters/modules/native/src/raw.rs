//! Envoy's interface for dynamic modules, version 0.2.0 as Envoy 1.40.0 has it: the types and the functions of it that the filter
//! uses, by their C names. Envoy exports the functions; a shared library that names one that an Envoy lacks is not loaded by it.

use std::ffi::{c_char, c_void};

/// Bytes of Envoy's. They stay for the hook in which they were given, and no longer than what they are of is not changed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct EnvoyBuffer {
    pub pointer: *const c_char,
    pub length: usize,
}

impl EnvoyHeader {
    pub const EMPTY: Self = Self { name: EnvoyBuffer::EMPTY, value: EnvoyBuffer::EMPTY };
}

impl EnvoyBuffer {
    pub const EMPTY: Self = Self { pointer: std::ptr::null(), length: 0 };
}

/// Bytes of the module's. Envoy reads them in the call that they are given to, and keeps none.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ModuleBuffer {
    pub pointer: *const c_char,
    pub length: usize,
}

/// A header of the module's.
#[repr(C)]
pub struct ModuleHeader {
    pub name: ModuleBuffer,
    pub value: ModuleBuffer,
}

/// A header of Envoy's.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct EnvoyHeader {
    pub name: EnvoyBuffer,
    pub value: EnvoyBuffer,
}

/// A filter of one connection, or of one exchange of HTTP.
pub type FilterPointer = *mut c_void;
/// The configuration of a network or HTTP filter.
pub type FilterConfigPointer = *mut c_void;
/// The configuration of the bootstrap extension.
pub type BootstrapPointer = *mut c_void;
/// What calls a filter's hook on its worker's thread, from any thread.
pub type SchedulerPointer = *mut c_void;
/// A timer of the main thread.
pub type TimerPointer = *mut c_void;

/// `envoy_dynamic_module_type_on_network_filter_data_status`.
pub const CONTINUE: u32 = 0;
pub const STOP_ITERATION: u32 = 1;

/// `envoy_dynamic_module_type_network_connection_close_type`: what was written is sent first.
pub const FLUSH_WRITE: u32 = 0;

/// `envoy_dynamic_module_type_network_connection_event`: the peer closed.
pub const REMOTE_CLOSE: u32 = 0;

/// `envoy_dynamic_module_type_http_callout_init_result` and `…_http_callout_result`, `…_metrics_result`.
pub const SUCCESS: u32 = 0;

/// `envoy_dynamic_module_type_http_header_type`.
pub const REQUEST_HEADER: u32 = 0;
pub const REQUEST_TRAILER: u32 = 1;
pub const RESPONSE_HEADER: u32 = 2;

/// `envoy_dynamic_module_type_http_body_type`: what has come with the hook, and what Envoy has kept of former ones.
pub const RECEIVED_REQUEST_BODY: u32 = 0;
pub const BUFFERED_REQUEST_BODY: u32 = 1;
pub const RECEIVED_RESPONSE_BODY: u32 = 2;
pub const BUFFERED_RESPONSE_BODY: u32 = 3;

/// `envoy_dynamic_module_type_on_http_filter_request_body_status` and `…_response_body_status`: what comes stays, and Envoy keeps
/// nothing of it.
pub const STOP_ITERATION_NO_BUFFER: u32 = 3;

/// `envoy_dynamic_module_type_http_filter_stream_reset_reason`.
pub const LOCAL_RESET: u32 = 0;

/// `envoy_dynamic_module_type_attribute_id`.
pub const RESPONSE_CODE_DETAILS: u32 = 16;
pub const SOURCE_ADDRESS: u32 = 24;
pub const UPSTREAM_ADDRESS: u32 = 41;
pub const UPSTREAM_TLS_VERSION: u32 = 43;

unsafe extern "C" {
    pub fn envoy_dynamic_module_callback_log(level: u32, message: ModuleBuffer);
    pub fn envoy_dynamic_module_callback_get_log_level() -> u32;

    pub fn envoy_dynamic_module_callback_network_filter_get_read_buffer_chunks_size(
        filter: FilterPointer,
    ) -> usize;
    pub fn envoy_dynamic_module_callback_network_filter_get_read_buffer_chunks(
        filter: FilterPointer,
        chunks: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_get_read_buffer_size(filter: FilterPointer) -> usize;
    pub fn envoy_dynamic_module_callback_network_filter_drain_read_buffer(
        filter: FilterPointer,
        length: usize,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_append_read_buffer(
        filter: FilterPointer,
        bytes: ModuleBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_get_write_buffer_chunks_size(
        filter: FilterPointer,
    ) -> usize;
    pub fn envoy_dynamic_module_callback_network_filter_get_write_buffer_chunks(
        filter: FilterPointer,
        chunks: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_get_write_buffer_size(filter: FilterPointer)
    -> usize;
    pub fn envoy_dynamic_module_callback_network_filter_drain_write_buffer(
        filter: FilterPointer,
        length: usize,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_append_write_buffer(
        filter: FilterPointer,
        bytes: ModuleBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_inject_read_data(
        filter: FilterPointer,
        bytes: ModuleBuffer,
        end_of_stream: bool,
    );
    pub fn envoy_dynamic_module_callback_network_filter_continue_reading(filter: FilterPointer);
    pub fn envoy_dynamic_module_callback_network_filter_close(filter: FilterPointer, how: u32);
    pub fn envoy_dynamic_module_callback_network_filter_get_attribute_string(
        filter: FilterPointer,
        attribute: u32,
        value: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_get_dynamic_metadata_string(
        filter: FilterPointer,
        namespace: ModuleBuffer,
        key: ModuleBuffer,
        value: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_scheduler_new(
        filter: FilterPointer,
    ) -> SchedulerPointer;
    pub fn envoy_dynamic_module_callback_network_filter_scheduler_commit(
        scheduler: SchedulerPointer,
        event: u64,
    );
    pub fn envoy_dynamic_module_callback_network_filter_scheduler_delete(scheduler: SchedulerPointer);

    pub fn envoy_dynamic_module_callback_http_get_headers_size(filter: FilterPointer, fields: u32) -> usize;
    pub fn envoy_dynamic_module_callback_http_get_headers(
        filter: FilterPointer,
        fields: u32,
        headers: *mut EnvoyHeader,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_http_set_header(
        filter: FilterPointer,
        fields: u32,
        name: ModuleBuffer,
        value: ModuleBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_http_add_header(
        filter: FilterPointer,
        fields: u32,
        name: ModuleBuffer,
        value: ModuleBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_http_get_body_size(filter: FilterPointer, body: u32) -> usize;
    pub fn envoy_dynamic_module_callback_http_get_body_chunks_size(filter: FilterPointer, body: u32)
    -> usize;
    pub fn envoy_dynamic_module_callback_http_get_body_chunks(
        filter: FilterPointer,
        body: u32,
        chunks: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_http_drain_body(
        filter: FilterPointer,
        body: u32,
        length: usize,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_http_append_body(
        filter: FilterPointer,
        body: u32,
        bytes: ModuleBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_http_send_response(
        filter: FilterPointer,
        status: u32,
        headers: *const ModuleHeader,
        headers_count: usize,
        body: ModuleBuffer,
        details: ModuleBuffer,
    );
    pub fn envoy_dynamic_module_callback_http_send_response_headers(
        filter: FilterPointer,
        headers: *const ModuleHeader,
        headers_count: usize,
        end_of_stream: bool,
    );
    pub fn envoy_dynamic_module_callback_http_send_response_data(
        filter: FilterPointer,
        body: ModuleBuffer,
        end_of_stream: bool,
    );
    pub fn envoy_dynamic_module_callback_http_filter_reset_stream(
        filter: FilterPointer,
        reason: u32,
        details: ModuleBuffer,
    );
    pub fn envoy_dynamic_module_callback_http_filter_continue_decoding(filter: FilterPointer);
    pub fn envoy_dynamic_module_callback_http_filter_get_attribute_string(
        filter: FilterPointer,
        attribute: u32,
        value: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_http_get_filter_state_bytes(
        filter: FilterPointer,
        key: ModuleBuffer,
        value: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_http_filter_scheduler_new(filter: FilterPointer)
    -> SchedulerPointer;
    pub fn envoy_dynamic_module_callback_http_filter_scheduler_commit(
        scheduler: SchedulerPointer,
        event: u64,
    );
    pub fn envoy_dynamic_module_callback_http_filter_scheduler_delete(scheduler: SchedulerPointer);

    pub fn envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_new(
        bootstrap: BootstrapPointer,
    ) -> SchedulerPointer;
    pub fn envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_commit(
        scheduler: SchedulerPointer,
        event: u64,
    );
    pub fn envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_delete(
        scheduler: SchedulerPointer,
    );
    pub fn envoy_dynamic_module_callback_bootstrap_extension_config_signal_init_complete(
        bootstrap: BootstrapPointer,
    );
    pub fn envoy_dynamic_module_callback_bootstrap_extension_timer_new(
        bootstrap: BootstrapPointer,
    ) -> TimerPointer;
    pub fn envoy_dynamic_module_callback_bootstrap_extension_timer_enable(
        timer: TimerPointer,
        milliseconds: u64,
    );
    pub fn envoy_dynamic_module_callback_bootstrap_extension_timer_delete(timer: TimerPointer);
    pub fn envoy_dynamic_module_callback_bootstrap_extension_http_callout(
        bootstrap: BootstrapPointer,
        callout: *mut u64,
        cluster: ModuleBuffer,
        headers: *const ModuleHeader,
        headers_count: usize,
        body: ModuleBuffer,
        timeout_milliseconds: u64,
    ) -> u32;
    pub fn envoy_dynamic_module_callback_bootstrap_extension_get_gauge_value(
        extension: *mut c_void,
        name: ModuleBuffer,
        value: *mut u64,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_bootstrap_extension_config_define_counter(
        bootstrap: BootstrapPointer,
        name: ModuleBuffer,
        labels: *const ModuleBuffer,
        labels_count: usize,
        id: *mut usize,
    ) -> u32;
    pub fn envoy_dynamic_module_callback_bootstrap_extension_config_increment_counter(
        bootstrap: BootstrapPointer,
        id: usize,
        labels: *const ModuleBuffer,
        labels_count: usize,
        by: u64,
    ) -> u32;
    pub fn envoy_dynamic_module_callback_bootstrap_extension_config_define_gauge(
        bootstrap: BootstrapPointer,
        name: ModuleBuffer,
        labels: *const ModuleBuffer,
        labels_count: usize,
        id: *mut usize,
    ) -> u32;
    pub fn envoy_dynamic_module_callback_bootstrap_extension_config_set_gauge(
        bootstrap: BootstrapPointer,
        id: usize,
        labels: *const ModuleBuffer,
        labels_count: usize,
        value: u64,
    ) -> u32;
}
