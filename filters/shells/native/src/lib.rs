//! The native shell: joins the engine to Envoy's interface for dynamic modules, with no unsafe code of its own.
//!
//! The bytes of each connection are read on the thread of the Envoy worker that has it. Plans, keys and budgets are one for all
//! workers. What must be asked of OPA and the key agent is asked on Envoy's main thread, once for all who wait.

pub mod envoy;
mod envoy_build;
mod faults;
mod key_memory;
mod log;
mod main_thread;
mod main_waker;
mod sidecar;
mod statistics;
mod stream;
mod waiter;
mod worker;

use std::sync::Arc;

use fieldveil_engine::config::Protocol;
use fieldveil_engine::ports::Level;
use fieldveil_engine::{mysql, postgres};

pub use crate::envoy_build::note as note_envoy;
pub use crate::key_memory::{KeyMemory, KeyMemoryFault, set_key_memory};
pub use crate::log::{Log, set_log};
pub use crate::main_thread::{MainThread, TICK_MS};
pub use crate::statistics::{COUNTERS, GAUGES};
pub use crate::stream::{Flow, Stream};
pub use crate::worker::set_allocated;
pub use fieldveil_engine::key_memory::KeyScope;

use crate::envoy::Filter;
use crate::log::write_log;
use crate::sidecar::Sidecar;
use crate::stream::DatabaseStream;
use crate::worker::ThreadWorker;

/// The configuration of a listener's filter.
pub struct FilterConfig(Arc<Sidecar>);

impl FilterConfig {
    /// Of the filter with this name. What is wrong is logged.
    pub fn new(name: &[u8], text: &[u8]) -> Option<Self> {
        match Self::read(name, text) {
            Ok(config) => Some(config),
            Err(error) => {
                write_log(Level::Error, &format!("the filter's configuration is not usable: {error}"));
                None
            }
        }
    }

    fn read(name: &[u8], text: &[u8]) -> Result<Self, String> {
        let protocol = match name {
            b"fieldveil.postgres" => Protocol::Postgres,
            b"fieldveil.mysql" => Protocol::MySql,
            name => {
                let name = String::from_utf8_lossy(name);
                return Err(format!(
                    "filter_name is {name:?}; it must be fieldveil.postgres or fieldveil.mysql"
                ));
            }
        };
        if !main_waker::is_there() {
            return Err(
                "the bootstrap extension of this module is missing; add it to bootstrap_extensions, as \
                        deploy/envoy/common.yaml.j2 does"
                    .into(),
            );
        }
        Sidecar::of(protocol, text).map(Self)
    }

    /// A new connection. None where there can be none: it is closed.
    pub fn connection(&self, filter: Box<dyn Filter>) -> Option<Box<dyn Stream>> {
        if !envoy_build::is_tested() {
            return None;
        }
        let worker = match ThreadWorker::of(&self.0) {
            Ok(worker) => worker,
            Err(error) => {
                write_log(Level::Error, &error);
                return None;
            }
        };
        Some(match self.0.protocol {
            Protocol::MySql => Box::new(DatabaseStream::<mysql::MySqlConnection>::new(worker, filter)),
            _ => Box::new(DatabaseStream::<postgres::PostgresConnection>::new(worker, filter)),
        })
    }
}

/// Logs what kept the module from beginning.
pub fn log_error(text: &str) {
    write_log(Level::Error, text);
}

/// Counts a panic in a hook, and says in the log where it was.
pub fn note_panic(place: &str) {
    faults::count();
    write_log(
        Level::Error,
        &format!("a fault in the filter at {place}; what it was about is closed, and nothing of it passes"),
    );
}
