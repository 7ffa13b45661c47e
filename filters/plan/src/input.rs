//! What OPA is asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who asks, for one decision. What is not known is an empty string, never absent: rules that compare see a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlanInput {
    /// The protocol of the listener, such as `postgres`.
    pub protocol: String,
    /// The listener's name in the filter's configuration.
    pub listener: String,
    /// Where the sidecar runs.
    pub workload: Workload,
    /// What the client said of itself.
    pub session: SessionInput,
    /// Claims of the end user's token.
    pub claims: Map<String, Value>,
}

/// The workload that the sidecar belongs to, from the filter's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Workload {
    /// Kubernetes namespace.
    pub namespace: String,
    /// Kubernetes service account.
    pub service_account: String,
    /// SPIFFE id.
    pub spiffe_id: String,
}

/// The database session. The server checks `user` and `database`; nobody checks `application_name`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SessionInput {
    /// The database user.
    pub user: String,
    /// The database.
    pub database: String,
    /// As the client named itself.
    pub application_name: String,
    /// The client's address, without the port.
    pub source: String,
}

#[derive(Serialize)]
struct Request<'a> {
    input: &'a PlanInput,
}

impl PlanInput {
    /// The body of the POST to OPA's data API: `{"input": …}`. Equal inputs give equal bytes.
    pub fn to_request(&self) -> String {
        // Strings and JSON values always serialize; were that wrong, an empty body is input that every rule denies.
        serde_json::to_string(&Request { input: self }).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_has_every_name_of_the_policy_input() {
        let input = PlanInput {
            protocol: "postgres".into(),
            listener: "orders-db".into(),
            workload: Workload {
                namespace: "shop".into(),
                service_account: "orders".into(),
                ..Workload::default()
            },
            session: SessionInput {
                user: "app".into(),
                database: "shop".into(),
                application_name: "billing".into(),
                source: "127.0.0.1".into(),
            },
            ..PlanInput::default()
        };
        assert_eq!(
            input.to_request(),
            r#"{"input":{"protocol":"postgres","listener":"orders-db","workload":{"namespace":"shop","service_account":"orders","spiffe_id":""},"session":{"user":"app","database":"shop","application_name":"billing","source":"127.0.0.1"},"claims":{}}}"#
        );
    }

    #[test]
    fn workload_of_a_configuration_may_leave_names_out_and_may_not_misspell_them() {
        assert_eq!(serde_json::from_str::<Workload>("{}").unwrap(), Workload::default());
        assert!(serde_json::from_str::<Workload>(r#"{"name_space":"shop"}"#).is_err());
    }
}
