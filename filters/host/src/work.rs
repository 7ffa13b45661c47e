//! Work that a module does by itself, with no connection: for measuring the filter's code where it runs.

use std::time::Duration;

use fieldveil_engine::ports::{Level, Ports};
use proxy_wasm::hostcalls;
use proxy_wasm::traits::{Context, RootContext};
use proxy_wasm::types::BufferType;

use crate::log::write_log;
use crate::ports::{EnvoyPorts, now_ms};

/// Between two steps, so that Envoy does what else it has to do.
const BREAK: Duration = Duration::from_millis(1);

/// What is done, step by step. It tells what it finds through the log.
pub trait Work: Sized + 'static {
    /// As the module's configuration says; the error says what is wrong with it.
    fn from_configuration(configuration: &[u8]) -> Result<Self, String>;

    /// The next step. Ok(false) when all is done.
    fn step(&mut self, ports: &mut dyn Ports) -> Result<bool, String>;
}

/// Envoy's clock, as each callback may ask for it.
pub fn clock() -> u64 {
    now_ms()
}

/// So many bytes of what Envoy holds for the VM, read as callbacks read what came; a connection's bytes are there in its
/// callbacks alone.
pub fn read_vm_configuration(bytes: usize) -> Option<Vec<u8>> {
    hostcalls::get_buffer(BufferType::VmConfiguration, 0, bytes).ok().flatten()
}

/// The root context of such a module.
pub(crate) struct Worker<W>(Option<(W, EnvoyPorts)>);

impl<W: Work> Worker<W> {
    pub(crate) fn root(_context_id: u32) -> Box<dyn RootContext> {
        Box::new(Self(None))
    }
}

impl<W: Work> Context for Worker<W> {}

impl<W: Work> RootContext for Worker<W> {
    fn on_configure(&mut self, _size: usize) -> bool {
        let configuration = self.get_plugin_configuration().unwrap_or_default();
        let ports = EnvoyPorts::new().map_err(|error| format!("Envoy gives no randomness: {error}"));
        match W::from_configuration(&configuration).and_then(|work| Ok((work, ports?))) {
            Ok(made) => self.0 = Some(made),
            Err(error) => {
                write_log(Level::Error, &error);
                return false;
            }
        }
        self.set_tick_period(BREAK);
        true
    }

    fn on_tick(&mut self) {
        let Some((work, ports)) = &mut self.0 else { return };
        let has_more = work.step(ports).unwrap_or_else(|error| {
            write_log(Level::Error, &error);
            false
        });
        if !has_more {
            self.0 = None;
            self.set_tick_period(Duration::ZERO);
        }
    }
}
