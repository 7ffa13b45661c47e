//! The client of a connection, as Envoy knows it before it has sent a byte.

use fieldveil_plan::ClientCertificate;

/// What the bridge says where it learns of the certificate only later: then the first packet has it, or null.
const FOLLOWS: &[u8] = b"follow";

/// Where a connection comes from.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// Its address, without the port; empty over a Unix socket.
    pub(crate) source: String,
    /// The certificate that it showed to the bridge before Envoy.
    pub(crate) certificate: Option<ClientCertificate>,
    /// Whether the bridge tells of the certificate in a packet ahead of the client's first.
    pub(crate) certificate_follows: bool,
}

impl Client {
    /// A client at this address, which showed no certificate.
    pub fn at(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }

    /// Notes whom the certificate names that the client showed to Envoy, unless something else has told of one.
    pub fn note_certificate(&mut self, subject: String, dns: Vec<String>, uri: Vec<String>) {
        if self.certificate.is_none() && !self.certificate_follows {
            self.certificate = Some(ClientCertificate { subject, dns, uri, ..ClientCertificate::default() });
        }
    }

    /// Reads what the bridge tells of the client's certificate. One that can not be read counts as none: no rule gives anything
    /// for it.
    pub fn read_certificate(&mut self, told: &[u8]) -> Result<(), serde_json::Error> {
        self.certificate_follows = told == FOLLOWS;
        if !self.certificate_follows {
            self.certificate = Some(serde_json::from_slice(told)?);
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn certificate_is_read_and_one_that_can_not_be_read_is_none() {
        let mut client = Client::at("192.0.2.7");
        client.read_certificate(br#"{"subject": "CN=orders", "dns": ["orders.shop"], "more": 5}"#).unwrap();
        let dns = vec!["orders.shop".into()];
        let expected = ClientCertificate { subject: "CN=orders".into(), dns, ..ClientCertificate::default() };
        assert_eq!(client.certificate, Some(expected));
        for odd in
            ["", "null", "[]", "CN=a", r#"{"dns": []}"#, r#"{"subject": ["CN=a"]}"#, r#"{"subject": 5}"#]
        {
            let mut client = Client::at("192.0.2.7");
            assert!(client.read_certificate(odd.as_bytes()).is_err(), "{odd}");
            assert_eq!(client.certificate, None, "{odd}");
        }
    }
}
