//! The filters as a dynamic module of Envoy, native: Envoy's C interface, the memory for keys, and nothing else. This is the one
//! crate with unsafe code for it; what a connection's bytes become is in `fieldveil-native` and below.
//!
//! Envoy calls the hooks in [`hooks`] with pointers that it was given by them, or that it hands out itself. Each pointer's life is
//! said where it is used. A panic in a hook ends what the hook was about, and never unwinds into Envoy.

#![allow(unsafe_code, reason = "Envoy's interface and the system's are in C")]
#![allow(missing_docs, reason = "nothing but Envoy calls it")]

mod allocator;
mod bootstrap;
mod filter;
mod hook;
mod hooks;
mod http_filter;
mod http_hooks;
mod key_memory;
mod listener_filter;
mod raw;
mod raw_tls;
mod transport;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects)]
mod tests;
