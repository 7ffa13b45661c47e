//! TLS over the stand-in: what a listener's filter does to a connection, and whom a certificate names.

use std::ffi::c_void;

use fieldveil_native::transport::{CertificateNames, Transport};
use fieldveil_native::{FIRST_BYTES, note_envoy};

use super::fake_envoy::FakeFilter;
use crate::filter::EnvoyFilter;
use crate::listener_filter::{
    envoy_dynamic_module_on_listener_filter_config_destroy,
    envoy_dynamic_module_on_listener_filter_config_new, envoy_dynamic_module_on_listener_filter_destroy,
    envoy_dynamic_module_on_listener_filter_get_max_read_bytes, envoy_dynamic_module_on_listener_filter_new,
    envoy_dynamic_module_on_listener_filter_on_data,
};
use crate::raw::{CONTINUE, EnvoyBuffer, STOP_ITERATION};

fn envoy_buffer(bytes: &[u8]) -> EnvoyBuffer {
    EnvoyBuffer { pointer: bytes.as_ptr().cast(), length: bytes.len() }
}

/// A listener's configuration as Envoy has it; null where it is refused.
fn config(text: &[u8]) -> *const c_void {
    envoy_dynamic_module_on_listener_filter_config_new(
        std::ptr::null_mut(),
        envoy_buffer(b"fieldveil.postgres.tls"),
        envoy_buffer(text),
    )
}

/// What becomes of a connection whose client sends this.
fn accepted(first: &[u8]) -> (u32, FakeFilter) {
    // The build that the module is for.
    note_envoy(Some(0x9e_5580));
    let mut fake = FakeFilter { read: vec![first.to_vec()], ..FakeFilter::default() };
    let config = config(b"require");
    let pointer = fake.pointer();
    let connection = envoy_dynamic_module_on_listener_filter_new(config, pointer);
    assert_eq!(envoy_dynamic_module_on_listener_filter_get_max_read_bytes(pointer, connection), FIRST_BYTES);
    let status = envoy_dynamic_module_on_listener_filter_on_data(pointer, connection, first.len());
    envoy_dynamic_module_on_listener_filter_destroy(connection);
    envoy_dynamic_module_on_listener_filter_config_destroy(config);
    (status, fake)
}

#[test]
fn request_for_tls_is_answered_and_its_filter_chain_chosen() {
    let (status, fake) = accepted(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
    assert_eq!((status, fake.told.as_slice()), (CONTINUE, &b"S"[..]));
    assert_eq!(
        (fake.transport_protocol.as_slice(), fake.read.concat().len(), fake.closed),
        (&b"tls"[..], 0, false)
    );
}

#[test]
fn client_without_tls_is_told_and_closed_and_gets_no_filter_chain() {
    let (status, fake) = accepted(&[0, 0, 0, 20, 0, 3, 0, 0]);
    assert_eq!((status, fake.closed, fake.told.first()), (STOP_ITERATION, true, Some(&b'E')));
    assert_eq!(fake.transport_protocol, b"");
}

#[test]
fn first_bytes_are_waited_for() {
    let (status, fake) = accepted(&[0, 0, 0]);
    assert_eq!((status, fake.closed, fake.told.len()), (STOP_ITERATION, false, 0));
}

#[test]
fn configuration_that_is_not_usable_is_refused() {
    assert!(config(b"yes").is_null());
}

#[test]
fn names_of_a_certificate_are_read_and_of_none_are_none() {
    let mut fake = FakeFilter::default();
    assert_eq!(EnvoyFilter(fake.pointer()).verified_client(), None);
    fake.subject = b"CN=orders".to_vec();
    fake.dns = vec![b"orders.shop".to_vec(), b"orders".to_vec()];
    let names = CertificateNames {
        subject: "CN=orders".into(),
        dns: vec!["orders.shop".into(), "orders".into()],
        uri: Vec::new(),
    };
    assert_eq!(EnvoyFilter(fake.pointer()).verified_client(), Some(names));
}

#[test]
fn tls_with_the_server_is_begun_and_the_client_is_told_besides() {
    let mut fake = FakeFilter::default();
    let mut filter = EnvoyFilter(fake.pointer());
    assert!(filter.start_server_tls());
    filter.inject_to_client(b"N");
    assert_eq!((fake.server_tls, fake.told.as_slice()), (true, &b"N"[..]));
}
