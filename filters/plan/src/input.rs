//! What the policy is asked: who wants to work with which database or service.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Where the sidecar runs, from the filter's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Workload {
    /// Kubernetes namespace; empty if unknown.
    pub namespace: String,
    /// Kubernetes service account; empty if unknown.
    pub service_account: String,
    /// SPIFFE id; empty if unknown.
    pub spiffe_id: String,
    /// The labels of the pod that the policy is told of.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Who is connected, as the client said and the server confirms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SessionInput {
    /// Database user of the StartupMessage; it never changes.
    pub user: String,
    /// The server's `current_user`, as it said last; the login user until then.
    pub role: String,
    /// Database, as the server reads it.
    pub database: String,
    /// `application_name`; nobody checks it.
    pub application_name: String,
    /// The client's address without its port.
    pub source: String,
    /// The setting `fieldveil.purpose`; nobody checks it.
    pub purpose: String,
}

/// Whom the certificate names that the client showed when it began TLS, as the bridge before Envoy says, which has verified
/// it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCertificate {
    /// The subject, as RFC 2253 writes it.
    pub subject: String,
    /// The alternative names of the kind DNS.
    #[serde(default)]
    pub dns: Vec<String>,
    /// Those of the kind URI, such as SPIFFE ids.
    #[serde(default)]
    pub uri: Vec<String>,
    /// Mail addresses.
    #[serde(default)]
    pub email: Vec<String>,
}

/// What a comment of the statement says, for principals whose plan reads comments. It may hold a token: no `Debug`.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommentInput {
    /// The purpose; nobody checks it.
    pub purpose: String,
    /// A JWT; empty for none.
    pub token: String,
}

/// The policy's input, one for each principal. It may hold tokens: `Debug` leaves them out, [`Self::to_request`] does
/// not.
///
/// Large: it is all that the policy is asked by.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlanInput {
    /// The listener's protocol: `postgres`, `mysql` or `http`.
    pub protocol: String,
    /// The listener's name.
    pub listener: String,
    /// Where the sidecar runs.
    pub workload: Workload,
    /// Who is connected.
    pub session: SessionInput,
    /// The client's certificate, where it showed one to a bridge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
    /// The JWT of `SET fieldveil.token`; empty for none.
    pub token: String,
    /// What a comment of the statement says.
    pub comment: CommentInput,
    /// Claims that Envoy itself verified.
    pub claims: serde_json::Map<String, serde_json::Value>,
    /// The headers of the request that the filter's configuration lists, by their names in lower case.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl PlanInput {
    /// The body to POST to OPA's data API: `{"input": …}`. Equal inputs have equal bodies.
    // Each session goes through it: inlined, it is built for speed as its caller is.
    #[inline]
    pub fn to_request(&self) -> String {
        #[derive(Serialize)]
        struct Request<'i> {
            input: &'i PlanInput,
        }
        // It has nothing that JSON has not; were it not so, the tree would tell.
        serde_json::to_string(&Request { input: self })
            .unwrap_or_else(|_| serde_json::json!({ "input": self }).to_string())
    }

    /// The input without its tokens and of headers the names alone: for logs and audit.
    pub fn redacted(&self) -> serde_json::Value {
        let mut said = serde_json::json!({
            "protocol": self.protocol,
            "listener": self.listener,
            "workload": self.workload,
            "session": self.session,
            "comment": {"purpose": self.comment.purpose},
            "claims": self.claims,
        });
        let names = || self.headers.keys().cloned().collect();
        let headers = (!self.headers.is_empty()).then(names);
        let certificate = self.client_certificate.as_ref().map(|shown| serde_json::json!(shown));
        if let Some(said) = said.as_object_mut() {
            said.extend(headers.map(|names| ("headers".to_owned(), names)));
            said.extend(certificate.map(|shown| ("client_certificate".to_owned(), shown)));
        }
        said
    }
}

impl fmt::Debug for PlanInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlanInput({})", self.redacted())
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
            "session": {"user": "", "role": "", "database": "", "application_name": "", "source": "", "purpose": ""},
            "token": "",
            "comment": {"purpose": "", "token": ""},
            "claims": {},
        }});
        assert_eq!(body, expected);
    }

    #[test]
    fn labels_of_the_workload_are_in_the_request_where_there_are_any() {
        let labels = BTreeMap::from([("team".to_owned(), "billing".to_owned())]);
        let input =
            PlanInput { workload: Workload { labels, ..Workload::default() }, ..PlanInput::default() };
        let body: serde_json::Value = serde_json::from_str(&input.to_request()).unwrap();
        assert_eq!(body["input"]["workload"]["labels"], serde_json::json!({"team": "billing"}));
        assert_eq!(input.redacted()["workload"], body["input"]["workload"]);
    }

    #[test]
    fn certificate_of_the_client_is_in_the_request_where_it_showed_one() {
        let uri = vec!["spiffe://example.org/orders".to_owned()];
        let shown = ClientCertificate { subject: "CN=orders".into(), uri, ..ClientCertificate::default() };
        let input = PlanInput { client_certificate: Some(shown), ..PlanInput::default() };
        let body: serde_json::Value = serde_json::from_str(&input.to_request()).unwrap();
        let expected = serde_json::json!({"subject": "CN=orders", "dns": [], "uri": ["spiffe://example.org/orders"], "email": []});
        assert_eq!(body["input"]["client_certificate"], expected);
        assert_eq!(input.redacted()["client_certificate"], expected);
    }

    #[test]
    fn headers_are_in_the_request_where_there_are_any_and_elsewhere_by_name_alone() {
        let headers = BTreeMap::from([("x-team".to_owned(), "billing-of-acme".to_owned())]);
        let input = PlanInput { protocol: "http".into(), headers, ..PlanInput::default() };
        let body: serde_json::Value = serde_json::from_str(&input.to_request()).unwrap();
        assert_eq!(body["input"]["headers"], serde_json::json!({"x-team": "billing-of-acme"}));
        assert_eq!(input.redacted()["headers"], serde_json::json!(["x-team"]));
        assert!(!format!("{input:?}").contains("billing-of-acme"));
    }

    #[test]
    fn tokens_are_in_the_request_and_nowhere_else() {
        let mut input = PlanInput { token: "eyJ-of-set".into(), ..PlanInput::default() };
        input.session.user = "app".into();
        input.comment = CommentInput { purpose: "refund".into(), token: "eyJ-of-comment".into() };
        assert!(input.to_request().contains("eyJ-of-set") && input.to_request().contains("eyJ-of-comment"));
        let mut expected = serde_json::to_value(&input).unwrap();
        expected.as_object_mut().unwrap().remove("token");
        expected["comment"].as_object_mut().unwrap().remove("token");
        assert_eq!(input.redacted(), expected);
        assert!(!format!("{input:?} {input:#?}").contains("eyJ"));
    }
}
