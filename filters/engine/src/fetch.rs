//! What a worker asks OPA and the key agent for, and what comes of it.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, LazyLock};

use fieldveil_plan::PlanInput;

/// Between two tries to renew one thing that could not be had.
pub(crate) const RETRY_MS: u64 = 1000;

/// The policy input of one principal, as the JSON that OPA is sent: the cache's key. It may hold a token, so that
/// `Debug` shows nothing of it.
#[derive(Clone)]
pub struct PrincipalKey {
    request: Arc<str>,
    /// The hash of the request. It is kept because the request is long, and every callback looks plans up by it.
    hash: u64,
}

/// Not to be guessed: clients choose parts of what is hashed. It is one for the process, since hashes go from thread to thread.
static HASHED_BY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The hash of something that clients choose parts of.
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    HASHED_BY.hash_one(value)
}

impl PrincipalKey {
    /// Of this input.
    pub fn new(input: &PlanInput) -> Self {
        let request: Arc<str> = Arc::from(input.to_request());
        let hash = hash_of(&request);
        Self { request, hash }
    }

    /// The body to POST to OPA.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// Whether it is this very one, or a copy of it: another of the same input is not.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.request, &other.request)
    }
}

impl PartialEq for PrincipalKey {
    fn eq(&self, other: &Self) -> bool {
        self.is_copy_of(other) || (self.hash == other.hash && self.request == other.request)
    }
}

impl Eq for PrincipalKey {}

impl Hash for PrincipalKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl fmt::Debug for PrincipalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrincipalKey(..)")
    }
}

/// Names of tenants' keysets.
pub type Tenants = BTreeSet<Arc<str>>;

/// Something to ask another part for, over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fetch {
    /// The plan of this principal; POST this text to OPA.
    Plan(PrincipalKey),
    /// The keysets; GET them from the key agent.
    Keys(KeysQuestion),
}

impl Fetch {
    /// What is asked for, and of whom, for the log.
    pub fn part(&self) -> &'static str {
        match self {
            Self::Plan(_) => "the plan (OPA)",
            Self::Keys(_) => "the keysets (key agent)",
        }
    }
}

/// A question to the key agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeysQuestion {
    /// The `ETag` of what is held, for `If-None-Match`.
    pub etag: Option<String>,
    pub(crate) tenants: Arc<Tenants>,
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
pub enum FetchResponse<'a> {
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
