//! The host's calls that an HTTP stream makes, as results: the SDK's own end the module on any answer that they do not expect,
//! and with it every stream of the worker.

use fieldveil_shell::http::Refused;
use proxy_wasm::types::{BufferType, MapType, StreamType};

#[allow(unsafe_code, reason = "host calls that the SDK makes only so that an unexpected answer is a panic")]
mod host {
    use super::{BufferType, MapType, StreamType};

    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        fn proxy_set_buffer_bytes(
            kind: BufferType,
            start: usize,
            size: usize,
            data: *const u8,
            length: usize,
        ) -> u32;
        fn proxy_replace_header_map_value(
            map: MapType,
            name: *const u8,
            name_size: usize,
            value: *const u8,
            value_size: usize,
        ) -> u32;
        fn proxy_add_header_map_value(
            map: MapType,
            name: *const u8,
            name_size: usize,
            value: *const u8,
            value_size: usize,
        ) -> u32;
        fn proxy_remove_header_map_value(map: MapType, name: *const u8, name_size: usize) -> u32;
        fn proxy_continue_stream(stream: StreamType) -> u32;
        fn proxy_close_stream(stream: StreamType) -> u32;
    }

    // SAFETY, of each: the host reads the bytes of the slices, which outlive the call, and keeps none.

    pub fn set_buffer(kind: BufferType, bytes: &[u8]) -> u32 {
        unsafe { proxy_set_buffer_bytes(kind, 0, usize::MAX, bytes.as_ptr(), bytes.len()) }
    }

    pub fn replace(map: MapType, name: &str, value: &[u8]) -> u32 {
        unsafe { proxy_replace_header_map_value(map, name.as_ptr(), name.len(), value.as_ptr(), value.len()) }
    }

    pub fn add(map: MapType, name: &str, value: &[u8]) -> u32 {
        unsafe { proxy_add_header_map_value(map, name.as_ptr(), name.len(), value.as_ptr(), value.len()) }
    }

    pub fn remove(map: MapType, name: &str) -> u32 {
        unsafe { proxy_remove_header_map_value(map, name.as_ptr(), name.len()) }
    }

    pub fn resume(stream: StreamType) -> u32 {
        unsafe { proxy_continue_stream(stream) }
    }

    pub fn reset(stream: StreamType) -> u32 {
        unsafe { proxy_close_stream(stream) }
    }
}

/// All of a body's buffer gives way to these bytes. There is a buffer in the body's own callback, and as long as that
/// has paused.
pub fn set_body(kind: BufferType, bytes: &[u8]) -> Result<(), Refused> {
    done(host::set_buffer(kind, bytes))
}

/// All occurrences of a header field give way to one.
pub fn set_header(map: MapType, name: &str, value: &[u8]) -> Result<(), Refused> {
    done(host::replace(map, name, value))
}

/// One more occurrence of a header field.
pub fn add_header(map: MapType, name: &str, value: &[u8]) -> Result<(), Refused> {
    done(host::add(map, name, value))
}

/// All occurrences of a header field go.
pub fn remove_header(map: MapType, name: &str) -> Result<(), Refused> {
    done(host::remove(map, name))
}

/// A paused direction goes on, after this callback.
pub fn resume(stream: StreamType) -> Result<(), Refused> {
    done(host::resume(stream))
}

/// The stream is cut, after this callback.
pub fn reset(stream: StreamType) -> Result<(), Refused> {
    done(host::reset(stream))
}

fn done(status: u32) -> Result<(), Refused> {
    if status == 0 { Ok(()) } else { Err(Refused) }
}
