//! Which work the configuration is of.

use fieldveil_engine::ports::Ports;
use fieldveil_host::Work;
use serde_json::Value;

use crate::{Sealing, Sessions};

/// One of the works: that of sessions where the configuration has the key `sessions`.
pub enum Measurement {
    /// Of single values.
    Sealing(Sealing),
    /// Of whole transactions.
    Sessions(Sessions),
}

impl Work for Measurement {
    fn from_configuration(configuration: &[u8]) -> Result<Self, String> {
        let read: Value = serde_json::from_slice(configuration)
            .map_err(|error| format!("the configuration is not usable: {error}"))?;
        if read.get("sessions").is_some() {
            Sessions::from_configuration(configuration).map(Self::Sessions)
        } else {
            Sealing::from_configuration(configuration).map(Self::Sealing)
        }
    }

    fn step(&mut self, ports: &mut dyn Ports) -> Result<bool, String> {
        match self {
            Self::Sealing(work) => work.step(ports),
            Self::Sessions(work) => work.step(ports),
        }
    }
}
