//! TLS of one connection, as the shell sees it.

use fieldveil_native::transport::{CertificateNames, Transport};

use crate::filter::{EnvoyFilter, bytes, module_buffer};
use crate::raw::{EnvoyBuffer, FilterPointer};
use crate::raw_tls;

// SAFETY, of each call below: the pointer is good for as long as the filter is, and what is passed beside it outlives the call.

impl Transport for EnvoyFilter {
    fn start_server_tls(&mut self) -> bool {
        unsafe {
            raw_tls::envoy_dynamic_module_callback_network_filter_start_upstream_secure_transport(self.0)
        }
    }

    fn come_again(&mut self) {
        // Envoy looks at what lies in its buffer when reading is allowed again, in the next turn.
        for disabled in [true, false] {
            unsafe {
                raw_tls::envoy_dynamic_module_callback_network_filter_read_disable(self.0, disabled);
            }
        }
    }

    fn inject_to_client(&mut self, bytes: &[u8]) {
        unsafe {
            raw_tls::envoy_dynamic_module_callback_network_filter_inject_write_data(
                self.0,
                module_buffer(bytes),
                false,
            );
        }
    }

    fn verified_client(&self) -> Option<CertificateNames> {
        let mut subject = EnvoyBuffer::EMPTY;
        let subject = unsafe {
            let within_tls = raw_tls::envoy_dynamic_module_callback_network_filter_get_ssl_subject(
                self.0,
                &raw mut subject,
            );
            if within_tls { text(subject) } else { return None }
        };
        let names = CertificateNames {
            subject,
            dns: names(
                self.0,
                raw_tls::envoy_dynamic_module_callback_network_filter_get_ssl_dns_sans_size,
                raw_tls::envoy_dynamic_module_callback_network_filter_get_ssl_dns_sans,
            ),
            uri: names(
                self.0,
                raw_tls::envoy_dynamic_module_callback_network_filter_get_ssl_uri_sans_size,
                raw_tls::envoy_dynamic_module_callback_network_filter_get_ssl_uri_sans,
            ),
        };
        // Without a certificate Envoy gives empty names.
        (names != CertificateNames::default()).then_some(names)
    }
}

fn names(
    filter: FilterPointer,
    size: unsafe extern "C" fn(FilterPointer) -> usize,
    list: unsafe extern "C" fn(FilterPointer, *mut EnvoyBuffer) -> bool,
) -> Vec<String> {
    unsafe {
        let mut places = vec![EnvoyBuffer::EMPTY; size(filter)];
        if places.is_empty() || !list(filter, places.as_mut_ptr()) {
            return Vec::new();
        }
        places.into_iter().map(|name| text(name)).collect()
    }
}

/// # Safety
/// As of [`bytes`].
unsafe fn text(buffer: EnvoyBuffer) -> String {
    // SAFETY: by what the caller promises.
    String::from_utf8_lossy(unsafe { bytes(buffer) }).into_owned()
}
