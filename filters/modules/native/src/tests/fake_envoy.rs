//! Envoy's functions as the tests need them. A filter's pointer is one to a [`FakeFilter`].

use std::ffi::c_void;

use crate::raw::{
    BootstrapPointer, EnvoyBuffer, FilterPointer, ModuleBuffer, ModuleHeader, SchedulerPointer, TimerPointer,
};

/// What Envoy has of a connection.
///
/// Large: each hook and callback that a test looks at has its place.
#[derive(Default)]
pub struct FakeFilter {
    pub read: Vec<Vec<u8>>,
    pub write: Vec<Vec<u8>>,
    pub injected: Vec<u8>,
    pub closed: bool,
    /// What goes to the client outside of the hook of the server's bytes.
    pub told: Vec<u8>,
    pub server_tls: bool,
    /// Names of the client's certificate.
    pub subject: Vec<u8>,
    pub dns: Vec<Vec<u8>>,
    pub transport_protocol: Vec<u8>,
}

impl FakeFilter {
    pub fn pointer(&mut self) -> FilterPointer {
        std::ptr::from_mut(self).cast()
    }
}

/// SAFETY, of all that use it: tests give a pointer to a `FakeFilter`, and use it for nothing else meanwhile.
unsafe fn fake<'f>(filter: FilterPointer) -> &'f mut FakeFilter {
    unsafe { &mut *filter.cast::<FakeFilter>() }
}

unsafe fn bytes<'b>(buffer: ModuleBuffer) -> &'b [u8] {
    unsafe { std::slice::from_raw_parts(buffer.pointer.cast(), buffer.length) }
}

unsafe fn show(pieces: &[Vec<u8>], places: *mut EnvoyBuffer) -> bool {
    for (index, piece) in pieces.iter().enumerate() {
        let buffer = EnvoyBuffer { pointer: piece.as_ptr().cast(), length: piece.len() };
        unsafe { places.add(index).write(buffer) };
    }
    !pieces.is_empty()
}

fn size(pieces: &[Vec<u8>]) -> usize {
    pieces.iter().map(Vec::len).sum()
}

/// Defines functions of Envoy's by their C names.
macro_rules! envoy {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $kind),*) $(-> $result)? {
                unsafe { $body }
            }
        )*
    };
}

#[allow(unused_unsafe, reason = "some bodies need none")]
mod functions {
    use super::*;

    envoy! {
        fn envoy_dynamic_module_callback_log(_level: u32, _message: ModuleBuffer) {}
        fn envoy_dynamic_module_callback_get_log_level() -> u32 { 0 }
        fn envoy_dynamic_module_callback_network_filter_get_read_buffer_chunks_size(filter: FilterPointer) -> usize {
            fake(filter).read.len()
        }
        fn envoy_dynamic_module_callback_network_filter_get_read_buffer_chunks(filter: FilterPointer, places: *mut EnvoyBuffer) -> bool {
            show(&fake(filter).read, places)
        }
        fn envoy_dynamic_module_callback_network_filter_get_read_buffer_size(filter: FilterPointer) -> usize {
            size(&fake(filter).read)
        }
        fn envoy_dynamic_module_callback_network_filter_drain_read_buffer(filter: FilterPointer, length: usize) -> bool {
            assert_eq!(length, size(&fake(filter).read));
            fake(filter).read.clear();
            true
        }
        fn envoy_dynamic_module_callback_network_filter_append_read_buffer(filter: FilterPointer, more: ModuleBuffer) -> bool {
            fake(filter).read.push(bytes(more).to_vec());
            true
        }
        fn envoy_dynamic_module_callback_network_filter_get_write_buffer_chunks_size(filter: FilterPointer) -> usize {
            fake(filter).write.len()
        }
        fn envoy_dynamic_module_callback_network_filter_get_write_buffer_chunks(filter: FilterPointer, places: *mut EnvoyBuffer) -> bool {
            show(&fake(filter).write, places)
        }
        fn envoy_dynamic_module_callback_network_filter_get_write_buffer_size(filter: FilterPointer) -> usize {
            size(&fake(filter).write)
        }
        fn envoy_dynamic_module_callback_network_filter_drain_write_buffer(filter: FilterPointer, length: usize) -> bool {
            assert_eq!(length, size(&fake(filter).write));
            fake(filter).write.clear();
            true
        }
        fn envoy_dynamic_module_callback_network_filter_append_write_buffer(filter: FilterPointer, more: ModuleBuffer) -> bool {
            fake(filter).write.push(bytes(more).to_vec());
            true
        }
        fn envoy_dynamic_module_callback_network_filter_inject_read_data(filter: FilterPointer, more: ModuleBuffer, _end: bool) {
            fake(filter).injected.extend_from_slice(bytes(more));
        }
        fn envoy_dynamic_module_callback_network_filter_continue_reading(_filter: FilterPointer) {}
        fn envoy_dynamic_module_callback_network_filter_close(filter: FilterPointer, _how: u32) {
            fake(filter).closed = true;
        }
        fn envoy_dynamic_module_callback_network_filter_start_upstream_secure_transport(filter: FilterPointer) -> bool {
            fake(filter).server_tls = true;
            true
        }
        fn envoy_dynamic_module_callback_network_filter_read_disable(_filter: FilterPointer, _disabled: bool) -> u32 { 0 }
        fn envoy_dynamic_module_callback_network_filter_inject_write_data(filter: FilterPointer, more: ModuleBuffer, _end: bool) {
            fake(filter).told.extend_from_slice(bytes(more));
        }
        fn envoy_dynamic_module_callback_network_filter_get_ssl_subject(filter: FilterPointer, subject: *mut EnvoyBuffer) -> bool {
            let known = &fake(filter).subject;
            subject.write(EnvoyBuffer { pointer: known.as_ptr().cast(), length: known.len() });
            true
        }
        fn envoy_dynamic_module_callback_network_filter_get_ssl_dns_sans_size(filter: FilterPointer) -> usize { fake(filter).dns.len() }
        fn envoy_dynamic_module_callback_network_filter_get_ssl_dns_sans(filter: FilterPointer, names: *mut EnvoyBuffer) -> bool {
            show(&fake(filter).dns, names)
        }
        fn envoy_dynamic_module_callback_network_filter_get_ssl_uri_sans_size(_filter: FilterPointer) -> usize { 0 }
        fn envoy_dynamic_module_callback_network_filter_get_ssl_uri_sans(_filter: FilterPointer, _names: *mut EnvoyBuffer) -> bool { true }
        fn envoy_dynamic_module_callback_listener_filter_get_buffer_chunk(filter: FilterPointer, chunk: *mut EnvoyBuffer) -> bool {
            fake(filter).read.truncate(1);
            show(&fake(filter).read, chunk)
        }
        fn envoy_dynamic_module_callback_listener_filter_drain_buffer(filter: FilterPointer, length: usize) -> bool {
            fake(filter).read.first_mut().is_some_and(|piece| piece.drain(..length).len() == length)
        }
        fn envoy_dynamic_module_callback_listener_filter_set_detected_transport_protocol(filter: FilterPointer, protocol: ModuleBuffer) {
            fake(filter).transport_protocol = bytes(protocol).to_vec();
        }
        fn envoy_dynamic_module_callback_listener_filter_write_to_socket(filter: FilterPointer, more: ModuleBuffer) -> i64 {
            fake(filter).told.extend_from_slice(bytes(more));
            i64::try_from(more.length).unwrap_or(-1)
        }
        fn envoy_dynamic_module_callback_listener_filter_close_socket(filter: FilterPointer, _details: ModuleBuffer) {
            fake(filter).closed = true;
        }
        fn envoy_dynamic_module_callback_network_filter_get_attribute_string(_filter: FilterPointer, _attribute: u32, value: *mut EnvoyBuffer) -> bool {
            value.write(EnvoyBuffer::EMPTY);
            true
        }
        fn envoy_dynamic_module_callback_network_get_dynamic_metadata_string(_filter: FilterPointer, _namespace: ModuleBuffer, _key: ModuleBuffer, _value: *mut EnvoyBuffer) -> bool { false }
        fn envoy_dynamic_module_callback_network_filter_scheduler_new(_filter: FilterPointer) -> SchedulerPointer { std::ptr::null_mut() }
        fn envoy_dynamic_module_callback_network_filter_scheduler_commit(_scheduler: SchedulerPointer, _event: u64) {}
        fn envoy_dynamic_module_callback_network_filter_scheduler_delete(_scheduler: SchedulerPointer) {}
        fn envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_new(_bootstrap: BootstrapPointer) -> SchedulerPointer { std::ptr::null_mut() }
        fn envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_commit(_scheduler: SchedulerPointer, _event: u64) {}
        fn envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_delete(_scheduler: SchedulerPointer) {}
        fn envoy_dynamic_module_callback_bootstrap_extension_config_signal_init_complete(_bootstrap: BootstrapPointer) {}
        fn envoy_dynamic_module_callback_bootstrap_extension_timer_new(_bootstrap: BootstrapPointer) -> TimerPointer { std::ptr::null_mut() }
        fn envoy_dynamic_module_callback_bootstrap_extension_timer_enable(_timer: TimerPointer, _milliseconds: u64) {}
        fn envoy_dynamic_module_callback_bootstrap_extension_timer_delete(_timer: TimerPointer) {}
        fn envoy_dynamic_module_callback_bootstrap_extension_http_callout(_bootstrap: BootstrapPointer, _call: *mut u64, _cluster: ModuleBuffer, _headers: *const ModuleHeader, _count: usize, _body: ModuleBuffer, _timeout: u64) -> u32 { 1 }
        fn envoy_dynamic_module_callback_bootstrap_extension_get_gauge_value(_extension: *mut c_void, _name: ModuleBuffer, _value: *mut u64) -> bool { false }
        fn envoy_dynamic_module_callback_bootstrap_extension_config_define_counter(_bootstrap: BootstrapPointer, _name: ModuleBuffer, _labels: *const ModuleBuffer, _count: usize, _id: *mut usize) -> u32 { 0 }
        fn envoy_dynamic_module_callback_bootstrap_extension_config_increment_counter(_bootstrap: BootstrapPointer, _id: usize, _labels: *const ModuleBuffer, _count: usize, _by: u64) -> u32 { 0 }
        fn envoy_dynamic_module_callback_bootstrap_extension_config_define_gauge(_bootstrap: BootstrapPointer, _name: ModuleBuffer, _labels: *const ModuleBuffer, _count: usize, _id: *mut usize) -> u32 { 0 }
        fn envoy_dynamic_module_callback_bootstrap_extension_config_set_gauge(_bootstrap: BootstrapPointer, _id: usize, _labels: *const ModuleBuffer, _count: usize, _value: u64) -> u32 { 0 }
    }
}
