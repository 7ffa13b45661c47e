//! The filter's configuration, as Envoy hands it over: one JSON document, unknown names refused.

use fieldveil_plan::Workload;
use serde::Deserialize;

/// The whole configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Names this listener in the policy's input.
    pub listener: String,
    /// Who runs here, for the policy's input.
    #[serde(default)]
    pub workload: Workload,
    /// Where plans come from.
    pub policy: PolicySource,
    /// Where keysets come from.
    pub keys: KeySource,
    /// How much is too much.
    #[serde(default)]
    pub limits: Limits,
}

/// Limits that may be set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of one value of a protected column that is sealed, in the form in which the client sends it.
    pub protected_value_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { protected_value_bytes: 1 << 20 }
    }
}

/// OPA.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySource {
    /// Envoy's name of the cluster.
    pub cluster: String,
    /// The decision's path in OPA's data API.
    pub path: String,
    /// How long one question may take, milliseconds.
    pub timeout_ms: u64,
}

/// The key agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySource {
    /// Envoy's name of the cluster.
    pub cluster: String,
    /// The path of the open keysets.
    pub path: String,
    /// How long one question may take, milliseconds.
    pub timeout_ms: u64,
    /// How often the agent is asked for changes, seconds.
    pub refresh_seconds: u64,
    /// How long keysets go on being used while the agent does not answer, seconds.
    pub max_stale_seconds: u64,
}

impl Config {
    /// Reads the document; the error names the place and the reason.
    pub fn from_json(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }
}
