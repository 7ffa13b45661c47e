//! Envoy's interface as [`crate::raw`] has it: what the filter uses of it for TLS, and for a listener's filter.

use crate::raw::{EnvoyBuffer, FilterPointer, ModuleBuffer};

/// A listener filter of one connection.
pub type ListenerFilterPointer = *mut std::ffi::c_void;

unsafe extern "C" {
    pub fn envoy_dynamic_module_callback_network_filter_start_upstream_secure_transport(
        filter: FilterPointer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_read_disable(
        filter: FilterPointer,
        disabled: bool,
    ) -> u32;
    pub fn envoy_dynamic_module_callback_network_filter_inject_write_data(
        filter: FilterPointer,
        bytes: ModuleBuffer,
        end_of_stream: bool,
    );
    pub fn envoy_dynamic_module_callback_network_filter_get_ssl_subject(
        filter: FilterPointer,
        subject: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_get_ssl_dns_sans_size(filter: FilterPointer)
    -> usize;
    pub fn envoy_dynamic_module_callback_network_filter_get_ssl_dns_sans(
        filter: FilterPointer,
        names: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_network_filter_get_ssl_uri_sans_size(filter: FilterPointer)
    -> usize;
    pub fn envoy_dynamic_module_callback_network_filter_get_ssl_uri_sans(
        filter: FilterPointer,
        names: *mut EnvoyBuffer,
    ) -> bool;

    pub fn envoy_dynamic_module_callback_listener_filter_get_buffer_chunk(
        filter: ListenerFilterPointer,
        chunk: *mut EnvoyBuffer,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_listener_filter_drain_buffer(
        filter: ListenerFilterPointer,
        length: usize,
    ) -> bool;
    pub fn envoy_dynamic_module_callback_listener_filter_set_detected_transport_protocol(
        filter: ListenerFilterPointer,
        protocol: ModuleBuffer,
    );
    pub fn envoy_dynamic_module_callback_listener_filter_write_to_socket(
        filter: ListenerFilterPointer,
        bytes: ModuleBuffer,
    ) -> i64;
    pub fn envoy_dynamic_module_callback_listener_filter_close_socket(
        filter: ListenerFilterPointer,
        details: ModuleBuffer,
    );
}
