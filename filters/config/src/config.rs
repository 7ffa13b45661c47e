//! The whole document, and the sections that are the same for every filter.

use fieldveil_plan::Workload;
use serde::Deserialize;

use crate::{
    http::HttpConfig,
    range::within,
    workload::{Environment, WorkloadConfig},
};

/// The configuration is not usable: place, reason and remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

/// A longer value could be stored but not be read again: with its envelope it must fit into the part of a row that is
/// read whole.
const MAX_VALUE_BYTES: usize = 8 << 20;
/// What happened longer ago than an hour should not be lost with Envoy's memory.
const MAX_AUDIT_INTERVAL: u64 = 3600;

/// What a filter speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// PostgreSQL's.
    Postgres,
    /// MySQL's and MariaDB's.
    MySql,
    /// HTTP.
    Http,
}

/// The whole configuration.
///
/// Large: it has the sections of the configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Names this listener in the policy's input.
    pub listener: String,
    #[serde(default, rename = "workload")]
    written_workload: WorkloadConfig,
    /// Who runs here, for the policy's input; without the SPIFFE id where that is the key agent's to say.
    #[serde(skip)]
    pub workload: Workload,
    /// Whether the key agent is to say the SPIFFE id.
    #[serde(skip)]
    pub spiffe_id_is_key_agents: bool,
    /// Where plans come from.
    pub policy: PolicySource,
    /// Where keysets come from.
    pub keys: KeySource,
    /// How much is too much.
    #[serde(default)]
    pub limits: Limits,
    /// How often is told what happened.
    #[serde(default)]
    pub audit: AuditConfig,
    /// What only the JSON filter is told; there for that filter alone.
    pub http: Option<HttpConfig>,
}

/// The audit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// How long what happened in a connection is counted together before a line tells it, seconds.
    pub interval_seconds: u64,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { interval_seconds: 60 }
    }
}

/// Limits that may be set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of one value of a protected column that is sealed, in the form in which the client sends it.
    pub protected_value_bytes: usize,
    /// Values that one key with random nonces of 96 bits has sealed in this sidecar when a warning is due. Such a key is
    /// good for 2^32 in all sidecars together.
    pub key_uses: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { protected_value_bytes: 1 << 20, key_uses: 1 << 31 }
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
    #[serde(default = "default_refresh")]
    pub refresh_seconds: u64,
    /// How long keysets go on being used while the agent does not answer, seconds.
    pub max_stale_seconds: u64,
}

/// With the agent's own 5 s a change is in use everywhere within 10 s.
fn default_refresh() -> u64 {
    5
}

impl Config {
    /// Reads the document for a filter that speaks `protocol`; the error names the place, the reason and the remedy. Of the
    /// `environment`, it asks what the document says is to be taken from there.
    // Inlined into its only caller, it would be built for speed as that is.
    #[inline(never)]
    pub fn from_json(
        json: &[u8],
        protocol: Protocol,
        environment: &Environment<'_>,
    ) -> Result<Self, ConfigError> {
        let mut config: Self = read(json)?;
        config.check(protocol).map_err(ConfigError)?;
        config.workload = config.written_workload.resolve(environment).map_err(ConfigError)?;
        config.spiffe_id_is_key_agents = config.written_workload.spiffe_id_is_key_agents();
        Ok(config)
    }

    fn check(&self, protocol: Protocol) -> Result<(), String> {
        within("audit.interval_seconds", self.audit.interval_seconds, MAX_AUDIT_INTERVAL)?;
        within("limits.protected_value_bytes", self.limits.protected_value_bytes, MAX_VALUE_BYTES)?;
        match (protocol, &self.http) {
            (Protocol::Postgres | Protocol::MySql, None) => Ok(()),
            (Protocol::Postgres, Some(_)) => {
                Err("http: this is the PostgreSQL filter; leave it out, or load filter-json".to_owned())
            }
            (Protocol::MySql, Some(_)) => {
                Err("http: this is the MySQL filter; leave it out, or load filter-json".to_owned())
            }
            (Protocol::Http, None) => {
                Err("http: it is missing; name the service, as in {\"service\": \"shop-api\"}".to_owned())
            }
            (Protocol::Http, Some(http)) => http.check(),
        }
    }
}

/// Reads the document; the error begins with the place, but for the whole document's.
fn read(json: &[u8]) -> Result<Config, ConfigError> {
    let mut document = serde_json::Deserializer::from_slice(json);
    let config = serde_path_to_error::deserialize(&mut document).map_err(|error| {
        let place = error.path().to_string();
        let reason = error.into_inner();
        ConfigError(if place == "." { reason.to_string() } else { format!("{place}: {reason}") })
    })?;
    document.end().map_err(|error| ConfigError(error.to_string()))?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_limits(limits: &str) -> Result<Config, ConfigError> {
        let source = r#"{"cluster": "c", "path": "/p", "timeout_ms": 1"#;
        let keys = format!(r#"{source}, "max_stale_seconds": 1}}"#);
        let config = format!(r#"{{"listener": "l", "policy": {source}}}, "keys": {keys}{limits}}}"#);
        Config::from_json(config.as_bytes(), Protocol::Postgres, &|_| None)
    }

    #[test]
    fn a_value_may_be_a_mebibyte_unless_told() {
        assert_eq!(with_limits("").unwrap().limits.protected_value_bytes, 1 << 20);
        let limits = r#", "limits": {"protected_value_bytes": 4096}"#;
        assert_eq!(with_limits(limits).unwrap().limits.protected_value_bytes, 4096);
    }

    #[test]
    fn keysets_are_asked_for_every_five_seconds_and_keys_are_warned_of_at_half_of_their_uses() {
        let config = with_limits("").unwrap();
        assert_eq!((config.keys.refresh_seconds, config.limits.key_uses), (5, 1 << 31));
    }

    #[test]
    fn audit_tells_every_minute_unless_told_and_within_an_hour() {
        assert_eq!(with_limits("").unwrap().audit.interval_seconds, 60);
        let every = |seconds: u64| with_limits(&format!(r#", "audit": {{"interval_seconds": {seconds}}}"#));
        assert_eq!(every(3600).unwrap().audit.interval_seconds, 3600);
        for seconds in [0, 3601] {
            assert!(every(seconds).unwrap_err().to_string().contains("audit.interval_seconds"));
        }
    }

    #[test]
    fn unknown_name_is_refused_with_the_place_where_it_stands() {
        for (text, expected) in [
            (r#", "limit": 1"#, "limit: unknown field"),
            (r#", "limits": {"keys": 1}"#, "limits.keys: unknown field"),
            (r#", "limits": {"key_uses": "1"}"#, "limits.key_uses: invalid type"),
            (r#"} {"#, "trailing characters"),
        ] {
            let error = with_limits(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_limit_that_could_not_be_read_back_is_refused() {
        for bytes in ["0", "20000000"] {
            let limits = format!(r#", "limits": {{"protected_value_bytes": {bytes}}}"#);
            let error = with_limits(&limits).unwrap_err().to_string();
            assert!(error.contains("protected_value_bytes"), "{error}");
        }
    }
}
