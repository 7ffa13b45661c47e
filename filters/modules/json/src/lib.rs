//! The filter of JSON over HTTP as a WebAssembly module for Envoy: an entry point and nothing else.

// The macro's entry point has no documentation.
#![allow(missing_docs)]

proxy_wasm::main! {{
    fieldveil_host::start_json();
}}
