//! Envoy's filter of one exchange of HTTP, as the shell sees it.

use std::borrow::Cow;

use fieldveil_native::envoy::{Direction, Fields, HttpFilter, Wake};

use crate::filter::{Pieces, bytes, joined, module_buffer};
use crate::raw::{
    self, EnvoyBuffer, EnvoyHeader, FilterPointer, ModuleBuffer, ModuleHeader, SchedulerPointer,
};

/// Where Envoy's set_filter_state filter puts the claims of verified tokens.
const CLAIMS: &[u8] = b"fieldveil.claims";
/// What Envoy's log of requests says of those that the filter answered or cut.
const DETAILS: &[u8] = b"fieldveil";

/// An exchange's filter. Envoy tells the module when it destroys it, and the module does not use this afterwards.
pub struct EnvoyHttpFilter(pub FilterPointer);

// SAFETY, of each call below: the pointer is good by the above, and what is passed beside it outlives the call.

/// No bytes: of a header's value they take the header away.
const NOTHING: ModuleBuffer = ModuleBuffer { pointer: std::ptr::null(), length: 0 };

fn number(fields: Fields) -> u32 {
    match fields {
        Fields::RequestHead => raw::REQUEST_HEADER,
        Fields::RequestTrailers => raw::REQUEST_TRAILER,
        Fields::ResponseHead => raw::RESPONSE_HEADER,
    }
}

/// What comes with a hook, and what Envoy has kept before.
fn bodies(direction: Direction) -> (u32, u32) {
    match direction {
        Direction::Request => (raw::RECEIVED_REQUEST_BODY, raw::BUFFERED_REQUEST_BODY),
        Direction::Response => (raw::RECEIVED_RESPONSE_BODY, raw::BUFFERED_RESPONSE_BODY),
    }
}

impl EnvoyHttpFilter {
    fn piece(&self, body: u32) -> Cow<'_, [u8]> {
        unsafe {
            let count = raw::envoy_dynamic_module_callback_http_get_body_chunks_size(self.0, body);
            let mut pieces = Pieces::new(count);
            let pieces = pieces.room();
            if count == 0
                || !raw::envoy_dynamic_module_callback_http_get_body_chunks(self.0, body, pieces.as_mut_ptr())
            {
                return Cow::Borrowed(&[]);
            }
            joined(pieces)
        }
    }

    fn drain(&self, body: u32) {
        unsafe {
            let size = raw::envoy_dynamic_module_callback_http_get_body_size(self.0, body);
            if size > 0 {
                raw::envoy_dynamic_module_callback_http_drain_body(self.0, body, size);
            }
        }
    }
}

impl HttpFilter for EnvoyHttpFilter {
    fn fields(&self, fields: Fields) -> Vec<(String, Vec<u8>)> {
        let fields = number(fields);
        unsafe {
            let count = raw::envoy_dynamic_module_callback_http_get_headers_size(self.0, fields);
            let mut headers = vec![EnvoyHeader::EMPTY; count];
            if !raw::envoy_dynamic_module_callback_http_get_headers(self.0, fields, headers.as_mut_ptr()) {
                return Vec::new();
            }
            let owned = |header: EnvoyHeader| {
                (String::from_utf8_lossy(bytes(header.name)).into_owned(), bytes(header.value).to_vec())
            };
            headers.into_iter().map(owned).collect()
        }
    }

    fn set_field(&self, fields: Fields, name: &str, value: Option<&[u8]>) -> bool {
        let value = value.map_or(NOTHING, module_buffer);
        unsafe {
            raw::envoy_dynamic_module_callback_http_set_header(
                self.0,
                number(fields),
                module_buffer(name.as_bytes()),
                value,
            )
        }
    }

    fn add_field(&self, fields: Fields, name: &str, value: &[u8]) -> bool {
        unsafe {
            raw::envoy_dynamic_module_callback_http_add_header(
                self.0,
                number(fields),
                module_buffer(name.as_bytes()),
                module_buffer(value),
            )
        }
    }

    fn body(&self, direction: Direction) -> Cow<'_, [u8]> {
        let (received, buffered) = bodies(direction);
        let former = self.piece(buffered);
        if former.is_empty() {
            return self.piece(received);
        }
        Cow::Owned([former, self.piece(received)].concat())
    }

    fn replace_body(&self, direction: Direction, bytes: &[u8]) -> bool {
        let (received, buffered) = bodies(direction);
        self.drain(buffered);
        self.drain(received);
        bytes.is_empty()
            || unsafe {
                raw::envoy_dynamic_module_callback_http_append_body(self.0, received, module_buffer(bytes))
            }
    }

    fn append_held_body(&self, direction: Direction, bytes: &[u8]) -> bool {
        let (_, buffered) = bodies(direction);
        unsafe { raw::envoy_dynamic_module_callback_http_append_body(self.0, buffered, module_buffer(bytes)) }
    }

    fn reply(&self, status: u16, headers: &[(String, String)], body: &[u8]) {
        let headers = module_headers(headers);
        unsafe {
            raw::envoy_dynamic_module_callback_http_send_response(
                self.0,
                u32::from(status),
                headers.as_ptr(),
                headers.len(),
                module_buffer(body),
                module_buffer(DETAILS),
            );
        }
    }

    fn respond(&self, status: u16, headers: &[(String, String)], body: &[u8]) {
        let mut all = vec![(":status".to_owned(), status.to_string())];
        all.extend_from_slice(headers);
        let headers = module_headers(&all);
        unsafe {
            raw::envoy_dynamic_module_callback_http_send_response_headers(
                self.0,
                headers.as_ptr(),
                headers.len(),
                false,
            );
            raw::envoy_dynamic_module_callback_http_send_response_data(self.0, module_buffer(body), true);
        }
    }

    fn reset(&self) {
        unsafe {
            raw::envoy_dynamic_module_callback_http_filter_reset_stream(
                self.0,
                raw::LOCAL_RESET,
                module_buffer(DETAILS),
            );
        }
    }

    fn continue_request(&self) {
        unsafe { raw::envoy_dynamic_module_callback_http_filter_continue_decoding(self.0) }
    }

    fn source(&self) -> Vec<u8> {
        attribute(self.0, raw::SOURCE_ADDRESS).unwrap_or_default()
    }

    fn response_details(&self) -> Option<Vec<u8>> {
        attribute(self.0, raw::RESPONSE_CODE_DETAILS)
    }

    fn claims(&self) -> Option<Vec<u8>> {
        let mut value = EnvoyBuffer::EMPTY;
        unsafe {
            let known = raw::envoy_dynamic_module_callback_http_get_filter_state_bytes(
                self.0,
                module_buffer(CLAIMS),
                &raw mut value,
            );
            known.then(|| bytes(value).to_vec())
        }
    }

    fn waker(&self) -> Box<dyn Wake> {
        Box::new(ExchangeWaker(unsafe {
            raw::envoy_dynamic_module_callback_http_filter_scheduler_new(self.0)
        }))
    }
}

/// Headers for a call.
fn module_headers(headers: &[(String, String)]) -> Vec<ModuleHeader> {
    let header = |(name, value): &(String, String)| ModuleHeader {
        name: module_buffer(name.as_bytes()),
        value: module_buffer(value.as_bytes()),
    };
    headers.iter().map(header).collect()
}

fn attribute(filter: FilterPointer, attribute: u32) -> Option<Vec<u8>> {
    let mut value = EnvoyBuffer::EMPTY;
    unsafe {
        let known = raw::envoy_dynamic_module_callback_http_filter_get_attribute_string(
            filter,
            attribute,
            &raw mut value,
        );
        known.then(|| bytes(value).to_vec())
    }
}

/// Calls an exchange's hook on its worker's thread.
struct ExchangeWaker(SchedulerPointer);

// SAFETY: Envoy's scheduler may be used from every thread, also when its exchange is gone.
unsafe impl Send for ExchangeWaker {}
unsafe impl Sync for ExchangeWaker {}

impl Wake for ExchangeWaker {
    fn wake(&self) {
        // SAFETY: the pointer is good until it is deleted, when this is dropped.
        unsafe { raw::envoy_dynamic_module_callback_http_filter_scheduler_commit(self.0, 0) }
    }
}

impl Drop for ExchangeWaker {
    fn drop(&mut self) {
        // SAFETY: nobody has the pointer any more.
        unsafe { raw::envoy_dynamic_module_callback_http_filter_scheduler_delete(self.0) }
    }
}
