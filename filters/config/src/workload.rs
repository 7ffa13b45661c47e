//! Who runs here, for the policy's input: written in the configuration, or given by the environment of Envoy's process,
//! which Kubernetes fills for each pod.

use std::collections::BTreeMap;

use fieldveil_plan::{Workload, check_spiffe_id};
use serde::Deserialize;

/// A variable of the environment of Envoy's process, by its name, if the module was given it.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Labels that the policy is told of: each is sent with every question.
const MAX_LABELS: usize = 32;
/// A namespace is a DNS label (RFC 1123).
const MAX_NAMESPACE: usize = 63;
/// A service account is a DNS subdomain (RFC 1123).
const MAX_SERVICE_ACCOUNT: usize = 253;
/// A label's key: a DNS subdomain, a slash and a name.
const MAX_LABEL_KEY: usize = 253 + 1 + 63;
/// A label's value.
const MAX_LABEL_VALUE: usize = 63;

const NAMESPACE: &str = "FIELDVEIL_WORKLOAD_NAMESPACE";
const SERVICE_ACCOUNT: &str = "FIELDVEIL_WORKLOAD_SERVICE_ACCOUNT";
const LABELS: &str = "FIELDVEIL_WORKLOAD_LABELS";
const SPIFFE_ID: &str = "FIELDVEIL_WORKLOAD_SPIFFE_ID";

/// The section `workload`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadConfig {
    from: Option<From>,
    namespace: Option<String>,
    service_account: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    spiffe_id: Option<String>,
    spiffe_id_from: Option<SpiffeIdFrom>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum From {
    Environment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SpiffeIdFrom {
    KeyAgent,
}

impl WorkloadConfig {
    /// Whether the key agent is to say the SPIFFE id.
    pub(crate) fn spiffe_id_is_key_agents(&self) -> bool {
        self.spiffe_id_from == Some(SpiffeIdFrom::KeyAgent)
    }

    /// The workload, without what only the key agent knows.
    pub(crate) fn resolve(&self, environment: &Environment<'_>) -> Result<Workload, String> {
        if self.spiffe_id_from.is_some() && self.spiffe_id.is_some() {
            return Err("workload.spiffe_id: spiffe_id_from says it too; leave one out".to_owned());
        }
        let workload = match self.from {
            Some(From::Environment) => self.told_by(environment)?,
            None => self.as_written()?,
        };
        check_spiffe_id(&workload.spiffe_id).map_err(|reason| format!("workload.spiffe_id: {reason}"))?;
        Ok(workload)
    }

    fn as_written(&self) -> Result<Workload, String> {
        let text = |place: &str, value: &Option<String>, most: usize| {
            let value = value.clone().unwrap_or_default();
            match value.len() > most || value.contains(char::is_control) {
                true => Err(format!(
                    "workload.{place}: it is longer than {most} bytes, or has control characters; write its name alone"
                )),
                false => Ok(value),
            }
        };
        let labels = self.labels.clone().unwrap_or_default();
        check_labels(&labels).map_err(|reason| format!("workload.labels: {reason}"))?;
        Ok(Workload {
            namespace: text("namespace", &self.namespace, MAX_SERVICE_ACCOUNT)?,
            service_account: text("service_account", &self.service_account, MAX_SERVICE_ACCOUNT)?,
            spiffe_id: self.spiffe_id.clone().unwrap_or_default(),
            labels,
        })
    }

    fn told_by(&self, environment: &Environment<'_>) -> Result<Workload, String> {
        let written = [
            ("namespace", self.namespace.is_some()),
            ("service_account", self.service_account.is_some()),
            ("labels", self.labels.is_some()),
            ("spiffe_id", self.spiffe_id.is_some()),
        ];
        if let Some((name, _)) = written.iter().find(|(_, is_written)| *is_written) {
            return Err(format!(
                "workload.{name}: \"from\": \"environment\" says it too; leave one of both out"
            ));
        }
        let named = |variable: &str, most: usize| {
            let value = environment(variable).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| missing(variable))?;
            match value.len() > most || !value.bytes().all(is_of_dns) {
                true => Err(format!(
                    "workload.from: {variable} is no name of Kubernetes; set it from the downward API"
                )),
                false => Ok(value),
            }
        };
        let labels = environment(LABELS).unwrap_or_default();
        let labels = read_labels(&labels).map_err(|reason| format!("workload.from: {LABELS}: {reason}"))?;
        let spiffe_id = match self.spiffe_id_from {
            Some(SpiffeIdFrom::KeyAgent) => String::new(),
            None => environment(SPIFFE_ID).unwrap_or_default(),
        };
        check_spiffe_id(&spiffe_id).map_err(|reason| format!("workload.from: {SPIFFE_ID}: {reason}"))?;
        Ok(Workload {
            namespace: named(NAMESPACE, MAX_NAMESPACE)?,
            service_account: named(SERVICE_ACCOUNT, MAX_SERVICE_ACCOUNT)?,
            spiffe_id,
            labels,
        })
    }
}

fn missing(variable: &str) -> String {
    format!(
        "workload.from: {variable} is missing or empty; set it in Envoy's environment, from the downward API, and name it in \
         host_env_keys of the module's vm_config.environment_variables"
    )
}

/// Reads `key=value,key=value`, as one line of environment has labels. A label without a value is one that the pod does
/// not have.
fn read_labels(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut labels = BTreeMap::new();
    for (index, label) in text.split(',').filter(|label| !label.is_empty()).enumerate() {
        let place = index.saturating_add(1);
        let Some((key, value)) = label.split_once('=') else {
            return Err(format!("label {place} has no `=`; write key=value,key=value"));
        };
        if !value.is_empty() && labels.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(format!("label {place} has the key of one before it; name each once"));
        }
    }
    check_labels(&labels)?;
    Ok(labels)
}

fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), String> {
    if labels.len() > MAX_LABELS {
        return Err(format!("{} are more than {MAX_LABELS}; name those that rules ask for", labels.len()));
    }
    let wrong = labels.iter().find(|(key, value)| !is_label_key(key) || !is_label_value(value));
    match wrong {
        Some(_) => {
            Err("a key or a value is none that Kubernetes has; write key=value as its labels are".to_owned())
        }
        None => Ok(()),
    }
}

/// `[prefix/]name`.
fn is_label_key(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let is_prefix = |prefix: &str| !prefix.is_empty() && prefix.bytes().all(is_of_dns);
    key.len() <= MAX_LABEL_KEY && prefix.is_none_or(is_prefix) && is_label_value(name)
}

/// Letters, digits, and between them `-`, `_` and `.`.
fn is_label_value(value: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = value.as_bytes();
    bytes.len() <= MAX_LABEL_VALUE
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_of_dns(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte)
}
