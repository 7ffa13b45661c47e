//! What both shells do alike: the WebAssembly module and the native one, each of which joins the engine to an interface of Envoy's.

pub mod address;
pub mod claims;
pub mod client;
pub mod http;
pub mod log;
pub mod output;
pub mod question;
pub mod random;
