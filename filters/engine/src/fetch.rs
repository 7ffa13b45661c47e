//! What a worker asks OPA and the key agent for, and what comes of it.

use std::collections::BTreeSet;
use std::rc::Rc;

/// Between two tries to renew one thing that could not be had.
pub(crate) const RETRY_MS: u64 = 1000;

/// The policy input of one principal, as the JSON that OPA is sent: the cache's key.
pub type PrincipalKey = Rc<str>;

/// Names of tenants' keysets.
pub type Tenants = BTreeSet<Rc<str>>;

/// Something to ask another part for, over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetch {
    /// The plan of this principal; POST this text to OPA.
    Plan(PrincipalKey),
    /// The keysets; GET them from the key agent.
    Keys(KeysQuestion),
}

/// A question to the key agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeysQuestion {
    /// The `ETag` of what is held, for `If-None-Match`.
    pub etag: Option<String>,
    pub(crate) tenants: Rc<Tenants>,
    pub(crate) number: u64,
}

impl KeysQuestion {
    /// What to GET, below the path of the open keysets: that and `?tenant=` for each tenant's keyset.
    pub fn target(&self, path: &str) -> String {
        let mut target = path.to_owned();
        for name in self.tenants.iter() {
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str("tenant=");
            // A keyset's name has nothing else that a query would not take as it is.
            target.push_str(&name.replace('/', "%2F"));
        }
        target
    }
}

/// What came of a [`Fetch`]. It may hold keys: no `Debug`.
pub enum Answer<'a> {
    /// HTTP 200 with a body.
    Body {
        /// The body.
        body: &'a [u8],
        /// Its `ETag`.
        etag: Option<String>,
    },
    /// HTTP 304.
    NotModified,
    /// Anything else; the text says what.
    Failed(String),
}
