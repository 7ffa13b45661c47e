//! Envoy's filter of one connection, as the shell sees it.

use std::borrow::Cow;
use std::ptr::NonNull;

use fieldveil_native::envoy::{Filter, Server, Wake};

use crate::key_memory;
use crate::raw::{self, EnvoyBuffer, FilterPointer, ModuleBuffer, SchedulerPointer};

/// Where Envoy's proxy_protocol filter puts what the bridge tells of the client's certificate.
const NAMESPACE: &[u8] = b"fieldveil";
const CLIENT_CERTIFICATE: &[u8] = b"client_certificate";

/// Bytes for a call, which reads them and keeps none.
pub fn module_buffer(bytes: &[u8]) -> ModuleBuffer {
    ModuleBuffer { pointer: bytes.as_ptr().cast(), length: bytes.len() }
}

/// Bytes of Envoy's.
///
/// # Safety
/// Envoy must have said where they are in this hook, and nothing may have changed what they are of since.
pub unsafe fn bytes<'b>(buffer: EnvoyBuffer) -> &'b [u8] {
    if buffer.pointer.is_null() || buffer.length == 0 {
        return &[];
    }
    // SAFETY: by what the caller promises they are there.
    unsafe { std::slice::from_raw_parts(buffer.pointer.cast(), buffer.length) }
}

/// Wipes bytes that Envoy has received, and will drop. The interface hands them out to be read; they are in memory that Envoy has
/// allocated and written to, in the one build that this module is for.
///
/// # Safety
/// As of [`bytes`], and nobody reads them any more.
pub unsafe fn wipe_buffer(buffer: EnvoyBuffer) {
    if let Some(place) = NonNull::new(buffer.pointer.cast::<u8>().cast_mut()) {
        // SAFETY: by what the caller promises.
        unsafe { key_memory::wipe(place, buffer.length) }
    }
}

/// The bytes of several pieces: those of one piece where they lie, of several in one.
///
/// # Safety
/// As of [`bytes`], of each piece.
pub unsafe fn joined<'b>(pieces: &[EnvoyBuffer]) -> Cow<'b, [u8]> {
    if let [only] = pieces {
        // SAFETY: by what the caller promises.
        return Cow::Borrowed(unsafe { bytes(*only) });
    }
    let length = pieces.iter().fold(0_usize, |sum, piece| sum.saturating_add(piece.length));
    let mut all = Vec::with_capacity(length);
    for piece in pieces {
        // SAFETY: as above.
        all.extend_from_slice(unsafe { bytes(*piece) });
    }
    Cow::Owned(all)
}

/// A connection's filter. Envoy destroys the module's half of a filter before its own, so the pointer is good for as long as this is.
pub struct EnvoyFilter(pub FilterPointer);

// SAFETY, of each call below: the pointer is good by the above, and what is passed beside it outlives the call.

impl Filter for EnvoyFilter {
    fn read_buffer(&self) -> Cow<'_, [u8]> {
        unsafe {
            let count = raw::envoy_dynamic_module_callback_network_filter_get_read_buffer_chunks_size(self.0);
            let mut pieces = Pieces::new(count);
            let pieces = pieces.room();
            if !raw::envoy_dynamic_module_callback_network_filter_get_read_buffer_chunks(
                self.0,
                pieces.as_mut_ptr(),
            ) {
                return Cow::Borrowed(&[]);
            }
            joined(pieces)
        }
    }

    fn replace_read_buffer(&mut self, bytes: &[u8]) {
        unsafe {
            let length = raw::envoy_dynamic_module_callback_network_filter_get_read_buffer_size(self.0);
            if length > 0 {
                raw::envoy_dynamic_module_callback_network_filter_drain_read_buffer(self.0, length);
            }
            if !bytes.is_empty() {
                raw::envoy_dynamic_module_callback_network_filter_append_read_buffer(
                    self.0,
                    module_buffer(bytes),
                );
            }
        }
    }

    fn write_buffer(&self) -> Cow<'_, [u8]> {
        unsafe {
            let count =
                raw::envoy_dynamic_module_callback_network_filter_get_write_buffer_chunks_size(self.0);
            let mut pieces = Pieces::new(count);
            let pieces = pieces.room();
            if !raw::envoy_dynamic_module_callback_network_filter_get_write_buffer_chunks(
                self.0,
                pieces.as_mut_ptr(),
            ) {
                return Cow::Borrowed(&[]);
            }
            joined(pieces)
        }
    }

    fn replace_write_buffer(&mut self, bytes: &[u8]) {
        unsafe {
            let length = raw::envoy_dynamic_module_callback_network_filter_get_write_buffer_size(self.0);
            if length > 0 {
                raw::envoy_dynamic_module_callback_network_filter_drain_write_buffer(self.0, length);
            }
            if !bytes.is_empty() {
                raw::envoy_dynamic_module_callback_network_filter_append_write_buffer(
                    self.0,
                    module_buffer(bytes),
                );
            }
        }
    }

    fn inject(&mut self, bytes: &[u8]) {
        unsafe {
            raw::envoy_dynamic_module_callback_network_filter_inject_read_data(
                self.0,
                module_buffer(bytes),
                false,
            );
        }
    }

    fn continue_reading(&mut self) {
        unsafe { raw::envoy_dynamic_module_callback_network_filter_continue_reading(self.0) }
    }

    fn close(&mut self) {
        unsafe { raw::envoy_dynamic_module_callback_network_filter_close(self.0, raw::FLUSH_WRITE) }
    }

    fn source(&self) -> Vec<u8> {
        attribute(self.0, raw::SOURCE_ADDRESS).into_bytes()
    }

    fn client_certificate(&self) -> Vec<u8> {
        let mut value = EnvoyBuffer::EMPTY;
        unsafe {
            let known = raw::envoy_dynamic_module_callback_network_get_dynamic_metadata_string(
                self.0,
                module_buffer(NAMESPACE),
                module_buffer(CLIENT_CERTIFICATE),
                &raw mut value,
            );
            if known { bytes(value).to_vec() } else { Vec::new() }
        }
    }

    fn server(&self) -> Box<dyn Fn() -> Server> {
        let filter = self.0;
        Box::new(move || Server {
            address: attribute(filter, raw::UPSTREAM_ADDRESS),
            tls_version: attribute(filter, raw::UPSTREAM_TLS_VERSION),
        })
    }

    fn waker(&self) -> Box<dyn Wake> {
        // SAFETY: as above.
        Box::new(ConnectionWaker(unsafe {
            raw::envoy_dynamic_module_callback_network_filter_scheduler_new(self.0)
        }))
    }
}

/// Places for pieces: most buffers have one.
pub struct Pieces {
    few: [EnvoyBuffer; 4],
    many: Vec<EnvoyBuffer>,
    count: usize,
}

impl Pieces {
    pub fn new(count: usize) -> Self {
        let few = [EnvoyBuffer::EMPTY; 4];
        let many = if count > few.len() { vec![EnvoyBuffer::EMPTY; count] } else { Vec::new() };
        Self { few, many, count }
    }

    pub fn room(&mut self) -> &mut [EnvoyBuffer] {
        if self.many.is_empty() { self.few.get_mut(..self.count).unwrap_or_default() } else { &mut self.many }
    }
}

fn attribute(filter: FilterPointer, attribute: u32) -> String {
    let mut value = EnvoyBuffer::EMPTY;
    // SAFETY: the filter is there for as long as the session that asks.
    unsafe {
        let known = raw::envoy_dynamic_module_callback_network_filter_get_attribute_string(
            filter,
            attribute,
            &raw mut value,
        );
        if known { String::from_utf8_lossy(bytes(value)).into_owned() } else { String::new() }
    }
}

/// Calls a connection's hook on its worker's thread.
struct ConnectionWaker(SchedulerPointer);

// SAFETY: Envoy's scheduler may be used from every thread, also when its connection is gone.
unsafe impl Send for ConnectionWaker {}
unsafe impl Sync for ConnectionWaker {}

impl Wake for ConnectionWaker {
    fn wake(&self) {
        // SAFETY: the pointer is good until it is deleted, when this is dropped.
        unsafe { raw::envoy_dynamic_module_callback_network_filter_scheduler_commit(self.0, 0) }
    }
}

impl Drop for ConnectionWaker {
    fn drop(&mut self) {
        // SAFETY: nobody has the pointer any more.
        unsafe { raw::envoy_dynamic_module_callback_network_filter_scheduler_delete(self.0) }
    }
}
