//! The native shell: joins the engine to Envoy's interface for dynamic modules, with no unsafe code of its own.
//!
//! The bytes of each connection are read on the thread of the Envoy worker that has it. Plans, keys and budgets are one for all
//! workers. What must be asked of OPA and the key agent is asked on Envoy's main thread, once for all who wait.

mod claims;
mod client_tls;
pub mod envoy;
mod envoy_build;
mod exchange;
mod faults;
mod key_memory;
mod log;
mod main_thread;
mod main_waker;
mod memory;
mod mysql_tls;
mod refusal;
mod server_tls;
mod sidecar;
mod statistics;
mod stream;
pub mod transport;
mod waiter;
mod worker;

use std::rc::Rc;
use std::sync::Arc;

use fieldveil_engine::config::Protocol;
use fieldveil_engine::ports::Level;
use fieldveil_engine::{mysql, postgres};

pub use crate::client_tls::{Admission, ClientTls, ClientTlsConfig, FIRST_BYTES};
pub use crate::envoy_build::note as note_envoy;
pub use crate::exchange::ExchangeStream;
pub use crate::key_memory::{KeyMemory, KeyMemoryFault, set_key_memory};
pub use crate::log::{Log, set_log};
pub use crate::main_thread::{MainThread, TICK_MS};
pub use crate::memory::{Memory, set_memory};
pub use crate::statistics::{COUNTERS, GAUGES};
pub use crate::stream::{Flow, Stream};
pub use fieldveil_engine::key_memory::KeyScope;

use crate::envoy::{Filter, HttpFilter};
use crate::log::write_log;
use crate::server_tls::ServerTls;
use crate::sidecar::Sidecar;
use crate::stream::DatabaseStream;
use crate::worker::ThreadWorker;

/// What Envoy makes filters for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterPlace {
    /// The connections of a listener.
    Network,
    /// The exchanges of a listener of HTTP.
    Http,
}

/// The configuration of a listener's filter.
pub struct FilterConfig {
    sidecar: Arc<Sidecar>,
    /// How each connection begins.
    server_tls: ServerTls,
}

impl FilterConfig {
    /// Of the filter with this name. What is wrong is logged.
    pub fn new(place: FilterPlace, name: &[u8], text: &[u8]) -> Option<Self> {
        match Self::read(place, name, text) {
            Ok(config) => Some(config),
            Err(error) => {
                write_log(Level::Error, &format!("the filter's configuration is not usable: {error}"));
                None
            }
        }
    }

    fn read(place: FilterPlace, name: &[u8], text: &[u8]) -> Result<Self, String> {
        let (protocol, server_tls) = match (place, name) {
            (FilterPlace::Network, b"fieldveil.postgres") => (Protocol::Postgres, ServerTls::OfCluster),
            (FilterPlace::Network, b"fieldveil.postgres.ssl_request") => {
                (Protocol::Postgres, ServerTls::WANTED)
            }
            (FilterPlace::Network, b"fieldveil.mysql") => (Protocol::MySql, ServerTls::OfCluster),
            (FilterPlace::Network, b"fieldveil.mysql.ssl_request") => (Protocol::MySql, ServerTls::Greeting),
            (FilterPlace::Http, b"fieldveil.http") => (Protocol::Http, ServerTls::OfCluster),
            (place, name) => {
                let name = String::from_utf8_lossy(name);
                let right = match place {
                    FilterPlace::Network => {
                        "fieldveil.postgres or fieldveil.mysql, with .ssl_request behind it where the server is to be asked for TLS"
                    }
                    FilterPlace::Http => "fieldveil.http",
                };
                return Err(format!("filter_name is {name:?}; it must be {right}"));
            }
        };
        if !main_waker::is_there() {
            return Err(
                "the bootstrap extension of this module is missing; add it to bootstrap_extensions, as \
                        deploy/envoy/common.yaml.j2 does"
                    .into(),
            );
        }
        Sidecar::of(protocol, text).map(|sidecar| Self { sidecar, server_tls })
    }

    /// A new connection. None where there can be none: it is closed.
    pub fn connection(&self, filter: Box<dyn Filter>) -> Option<Box<dyn Stream>> {
        let worker = self.worker()?;
        Some(match self.sidecar.protocol {
            Protocol::MySql => {
                Box::new(DatabaseStream::<mysql::MySqlConnection>::new(worker, filter, self.server_tls))
            }
            _ => {
                Box::new(DatabaseStream::<postgres::PostgresConnection>::new(worker, filter, self.server_tls))
            }
        })
    }

    /// A new exchange of HTTP. None where there can be none: it is cut.
    pub fn exchange(&self, filter: Box<dyn HttpFilter>) -> Option<ExchangeStream> {
        Some(ExchangeStream::new(self.worker()?, filter))
    }

    /// What the thread's connections share, unless they are not to be served.
    fn worker(&self) -> Option<Rc<ThreadWorker>> {
        if !envoy_build::is_tested() {
            return None;
        }
        let worker = ThreadWorker::of(&self.sidecar);
        worker.inspect_err(|error| write_log(Level::Error, error)).ok()
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
