//! The functions that Envoy gives a module, each call counted, and the callbacks that the module has.

use std::slice::from_raw_parts;

use super::allocations::inside;
use super::envoy::{DOWNSTREAM, EMPTY, Envoy, Headers, NOT_FOUND, OK, called};

unsafe extern "C" {
    pub fn proxy_on_memory_allocate(size: usize) -> *mut u8;
    pub fn proxy_on_context_create(context: u32, root: u32);
    pub fn proxy_on_configure(context: u32, size: usize) -> bool;
    pub fn proxy_on_tick(context: u32);
    pub fn proxy_on_queue_ready(context: u32, queue: u32);
    pub fn proxy_on_downstream_data(context: u32, size: usize, end: bool) -> u32;
    pub fn proxy_on_upstream_data(context: u32, size: usize, end: bool) -> u32;
    pub fn proxy_on_request_headers(context: u32, headers: usize, end: bool) -> u32;
    pub fn proxy_on_request_body(context: u32, size: usize, end: bool) -> u32;
    pub fn proxy_on_response_headers(context: u32, headers: usize, end: bool) -> u32;
    pub fn proxy_on_response_body(context: u32, size: usize, end: bool) -> u32;
    pub fn proxy_on_done(context: u32) -> bool;
    pub fn proxy_on_delete(context: u32);
    pub fn proxy_on_http_call_response(
        context: u32,
        token: u32,
        headers: usize,
        body: usize,
        trailers: usize,
    );
}

// SAFETY, of all below: the module gives pointers to memory of its own that is as long as it says, for the time of the
// call; what is given to it is allocated by its own function.

/// Puts bytes where the module asked for them.
unsafe fn give(bytes: Option<&[u8]>, data: *mut *mut u8, size: *mut usize) -> u32 {
    let Some(bytes) = bytes else { return NOT_FOUND };
    unsafe {
        let memory = inside(|| proxy_on_memory_allocate(bytes.len()));
        memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        (*data, *size) = (memory, bytes.len());
    }
    OK
}

unsafe fn text(data: *const u8, size: usize) -> String {
    String::from_utf8(unsafe { from_raw_parts(data, size) }.to_vec()).unwrap()
}

fn serialized(headers: &Headers) -> Vec<u8> {
    let word = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let lengths = headers.iter().flat_map(|(name, value)| [word(name.len()), word(value.len())].concat());
    let texts =
        headers.iter().flat_map(|(name, value)| [name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat());
    word(headers.len()).into_iter().chain(lengths).chain(texts).collect()
}

/// What is said in a panic comes here too, by the hook of the SDK.
#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_log(level: u32, data: *const u8, size: usize) -> u32 {
    if level >= 3 {
        eprintln!("{}", unsafe { text(data, size) });
    }
    called("proxy_log", |_| OK)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_get_log_level(level: *mut u32) -> u32 {
    unsafe { *level = 2 };
    called("proxy_get_log_level", |_| OK)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_get_current_time_nanoseconds(time: *mut u64) -> u32 {
    let now = called("proxy_get_current_time_nanoseconds", |envoy| envoy.nanoseconds);
    unsafe { *time = now };
    OK
}

#[unsafe(no_mangle)]
extern "C" fn proxy_set_tick_period_milliseconds(_period: u32) -> u32 {
    called("proxy_set_tick_period_milliseconds", |_| OK)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_get_buffer_bytes(
    kind: u32,
    _start: usize,
    _most: usize,
    data: *mut *mut u8,
    size: *mut usize,
) -> u32 {
    let get = |envoy: &mut Envoy| unsafe { give(envoy.buffers.get(&kind).map(Vec::as_slice), data, size) };
    called("proxy_get_buffer_bytes", get)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_set_buffer_bytes(
    kind: u32,
    start: usize,
    length: usize,
    data: *const u8,
    size: usize,
) -> u32 {
    assert!(start == 0 && length == usize::MAX, "a part of a buffer is replaced");
    let bytes = if size == 0 { &[] } else { unsafe { from_raw_parts(data, size) } };
    called("proxy_set_buffer_bytes", |envoy| {
        envoy.buffers.insert(kind, bytes.to_vec());
        OK
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_get_header_map_pairs(kind: u32, data: *mut *mut u8, size: *mut usize) -> u32 {
    let get = |envoy: &mut Envoy| {
        let headers = envoy.headers.get(&kind).map(serialized);
        unsafe { give(headers.as_deref(), data, size) }
    };
    called("proxy_get_header_map_pairs", get)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_get_header_map_value(
    kind: u32,
    name: *const u8,
    length: usize,
    data: *mut *mut u8,
    size: *mut usize,
) -> u32 {
    called("proxy_get_header_map_value", |envoy| {
        let name = unsafe { text(name, length) };
        let found = envoy.headers.get(&kind).and_then(|all| all.iter().find(|(known, _)| *known == name));
        unsafe { give(found.map(|(_, value)| value.as_bytes()), data, size) }
    })
}

fn edited(name: &'static str) -> u32 {
    called(name, |_| OK)
}

#[unsafe(no_mangle)]
extern "C" fn proxy_remove_header_map_value(_kind: u32, _name: *const u8, _length: usize) -> u32 {
    edited("proxy_remove_header_map_value")
}

#[unsafe(no_mangle)]
extern "C" fn proxy_replace_header_map_value(
    _kind: u32,
    _name: *const u8,
    _length: usize,
    _value: *const u8,
    _size: usize,
) -> u32 {
    edited("proxy_replace_header_map_value")
}

#[unsafe(no_mangle)]
extern "C" fn proxy_add_header_map_value(
    _kind: u32,
    _name: *const u8,
    _length: usize,
    _value: *const u8,
    _size: usize,
) -> u32 {
    edited("proxy_add_header_map_value")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_get_property(
    path: *const u8,
    length: usize,
    data: *mut *mut u8,
    size: *mut usize,
) -> u32 {
    called("proxy_get_property", |_| {
        let value: Option<&[u8]> = match unsafe { text(path, length) }.as_str() {
            "source\0address" | "upstream\0address" => Some(b"127.0.0.1:4711"),
            "response\0code_details" => Some(b"via_upstream"),
            _ => None,
        };
        unsafe { give(value, data, size) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_get_shared_data(
    key: *const u8,
    length: usize,
    data: *mut *mut u8,
    size: *mut usize,
    _cas: *mut u32,
) -> u32 {
    called("proxy_get_shared_data", |envoy| unsafe {
        give(envoy.shared.get(&text(key, length)).map(Vec::as_slice), data, size)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_set_shared_data(
    key: *const u8,
    length: usize,
    data: *const u8,
    size: usize,
    _cas: u32,
) -> u32 {
    called("proxy_set_shared_data", |envoy| {
        let bytes = unsafe { from_raw_parts(data, size) }.to_vec();
        envoy.shared.insert(unsafe { text(key, length) }, bytes);
        OK
    })
}

#[unsafe(no_mangle)]
extern "C" fn proxy_continue_stream(stream: u32) -> u32 {
    called("proxy_continue_stream", |envoy| {
        if stream == DOWNSTREAM {
            envoy.pass_downstream();
        }
        OK
    })
}

#[unsafe(no_mangle)]
extern "C" fn proxy_close_stream(_stream: u32) -> u32 {
    panic!("the module closed a stream")
}

#[unsafe(no_mangle)]
extern "C" fn proxy_send_local_response(
    _status: u32,
    _details: *const u8,
    _details_size: usize,
    _body: *const u8,
    _body_size: usize,
    _headers: *const u8,
    _headers_size: usize,
    _grpc: i32,
) -> u32 {
    panic!("the module answered in the service's place")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_http_call(
    cluster: *const u8,
    length: usize,
    _headers: *const u8,
    _headers_size: usize,
    _body: *const u8,
    _body_size: usize,
    _trailers: *const u8,
    _trailers_size: usize,
    _timeout: u32,
    token: *mut u32,
) -> u32 {
    called("proxy_http_call", |envoy| {
        envoy.tokens += 1;
        unsafe { *token = envoy.tokens };
        envoy.asked.push((envoy.tokens, unsafe { text(cluster, length) }));
        OK
    })
}

#[unsafe(no_mangle)]
extern "C" fn proxy_set_effective_context(_context: u32) -> u32 {
    called("proxy_set_effective_context", |_| OK)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_register_shared_queue(_name: *const u8, _length: usize, id: *mut u32) -> u32 {
    called("proxy_register_shared_queue", |envoy| {
        envoy.queues.push(0);
        unsafe { *id = u32::try_from(envoy.queues.len() - 1).unwrap() };
        OK
    })
}

#[unsafe(no_mangle)]
extern "C" fn proxy_enqueue_shared_queue(id: u32, _data: *const u8, _length: usize) -> u32 {
    called("proxy_enqueue_shared_queue", |envoy| {
        envoy.queues[id as usize] += 1;
        OK
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_dequeue_shared_queue(id: u32, data: *mut *mut u8, size: *mut usize) -> u32 {
    called("proxy_dequeue_shared_queue", |envoy| {
        let queued = &mut envoy.queues[id as usize];
        let Some(left) = queued.checked_sub(1) else { return EMPTY };
        *queued = left;
        unsafe { give(Some(b"."), data, size) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_define_metric(_kind: u32, _name: *const u8, _size: usize, id: *mut u32) -> u32 {
    called("proxy_define_metric", |envoy| {
        unsafe { *id = u32::try_from(envoy.metrics.len()).unwrap() };
        envoy.metrics.push(0);
        OK
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn proxy_get_metric(id: u32, value: *mut u64) -> u32 {
    let now = called("proxy_get_metric", |envoy| envoy.metrics[id as usize]);
    unsafe { *value = now };
    OK
}

#[unsafe(no_mangle)]
extern "C" fn proxy_record_metric(id: u32, value: u64) -> u32 {
    called("proxy_record_metric", |envoy| envoy.metrics[id as usize] = value);
    OK
}

#[unsafe(no_mangle)]
extern "C" fn proxy_increment_metric(id: u32, by: i64) -> u32 {
    called("proxy_increment_metric", |envoy| {
        let metric = &mut envoy.metrics[id as usize];
        *metric = metric.wrapping_add_signed(by);
    });
    OK
}

/// Functions of the ABI that the SDK names and the filter never calls.
macro_rules! never_called {
    ($($name:ident)*) => {
        $(#[unsafe(no_mangle)]
        extern "C" fn $name() -> u32 {
            panic!(concat!("the module called ", stringify!($name)))
        })*
    };
}

never_called! {
    proxy_set_header_map_pairs proxy_set_property proxy_get_status proxy_done proxy_call_foreign_function
    proxy_grpc_call proxy_grpc_stream proxy_grpc_send proxy_grpc_cancel proxy_grpc_close
    proxy_resolve_shared_queue
}

/// The module's callbacks, safe as this host calls them.
macro_rules! callbacks {
    ($($name:ident = $of:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        $(pub fn $name($($argument: $kind),*) $(-> $result)? {
            inside(|| unsafe { $of($($argument),*) })
        })*
    };
}

callbacks! {
    create = proxy_on_context_create(context: u32, root: u32);
    configure = proxy_on_configure(context: u32, size: usize) -> bool;
    tick = proxy_on_tick(context: u32);
    queue_ready = proxy_on_queue_ready(context: u32, queue: u32);
    downstream = proxy_on_downstream_data(context: u32, size: usize, end: bool) -> u32;
    upstream = proxy_on_upstream_data(context: u32, size: usize, end: bool) -> u32;
    request_headers = proxy_on_request_headers(context: u32, headers: usize, end: bool) -> u32;
    request_body = proxy_on_request_body(context: u32, size: usize, end: bool) -> u32;
    response_headers = proxy_on_response_headers(context: u32, headers: usize, end: bool) -> u32;
    response_body = proxy_on_response_body(context: u32, size: usize, end: bool) -> u32;
    done = proxy_on_done(context: u32) -> bool;
    delete = proxy_on_delete(context: u32);
    call_response = proxy_on_http_call_response(context: u32, token: u32, headers: usize, body: usize, trailers: usize);
}
