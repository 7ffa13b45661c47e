//! What the policy is asked: who wants to work with which database.

use serde::{Deserialize, Serialize};

/// Where the sidecar runs, from the filter's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Kubernetes namespace; empty if unknown.
    #[serde(default)]
    pub namespace: String,
    /// Kubernetes service account; empty if unknown.
    #[serde(default)]
    pub service_account: String,
    /// SPIFFE id; empty if unknown.
    #[serde(default)]
    pub spiffe_id: String,
}

/// What the client said of itself when it connected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SessionInput {
    /// Database user, as the server reads it.
    pub user: String,
    /// Database, as the server reads it.
    pub database: String,
    /// `application_name`; nobody checks it.
    pub application_name: String,
    /// The client's address without its port.
    pub source: String,
}

/// The policy's input, one for each principal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlanInput {
    /// The listener's protocol: `postgres`.
    pub protocol: String,
    /// The listener's name.
    pub listener: String,
    /// Where the sidecar runs.
    pub workload: Workload,
    /// Who is connected.
    pub session: SessionInput,
    /// Claims of a verified token.
    pub claims: serde_json::Map<String, serde_json::Value>,
}

impl PlanInput {
    /// The body to POST to OPA's data API: `{"input": …}`. Equal inputs have equal bodies.
    pub fn to_request(&self) -> String {
        serde_json::json!({ "input": self }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_has_every_attribute_that_the_input_schema_requires() {
        let body: serde_json::Value = serde_json::from_str(&PlanInput::default().to_request()).unwrap();
        let expected = serde_json::json!({"input": {
            "protocol": "", "listener": "",
            "workload": {"namespace": "", "service_account": "", "spiffe_id": ""},
            "session": {"user": "", "database": "", "application_name": "", "source": ""},
            "claims": {},
        }});
        assert_eq!(body, expected);
    }
}
