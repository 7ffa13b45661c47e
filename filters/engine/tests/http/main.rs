//! Exchanges over HTTP, driven as Envoy drives them.
//!
//! One program for all files: each would link the whole engine again.

// Two ways to drive an exchange, by hand and through what sessions are driven with: both have the agent's answers.
#![allow(clippy::duplicate_mod)]

#[path = "../http_support/mod.rs"]
mod http_support;
#[path = "../support/mod.rs"]
mod support;

mod audits;
mod encodings;
mod heads;
mod media;
mod memory;
mod policy;
mod requests;
mod responses;
mod splits;
mod treatments;
mod values;
