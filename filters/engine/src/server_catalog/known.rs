//! Catalogs that a worker keeps for the sessions to come, each with a digest of the rows that the server made its answer of. A
//! session to which the server tells the same digest has the same catalog, whoever it is for and however the names are looked up
//! in it: the digest is one of all that the answer depends on.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use super::ServerCatalog;
use crate::compiled_plan::CompiledPlan;
use crate::keyring::Keyring;

/// Bytes that all kept catalogs take at most; those used longest ago go first.
const MAX_BYTES: usize = 4 << 20;
/// Kept catalogs, however small.
const MAX_KEPT: usize = 64;

/// What the server says of the rows that it made a catalog's answer of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CatalogDigest {
    /// The numbers of the relations, as an array's text.
    pub relations: Arc<str>,
    sum: Box<str>,
}

impl CatalogDigest {
    /// Reads both as the server writes them; None if they are something else, which no question may hold.
    pub fn new(relations: &str, sum: &str) -> Option<Self> {
        let numbers = relations.strip_prefix('{')?.strip_suffix('}')?;
        let is_list = numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
        is_list.then(|| Self { relations: relations.into(), sum: sum.into() })
    }
}

/// What a catalog depends on besides the server's rows.
pub(crate) struct ReadUnder<'a> {
    pub plan: &'a Arc<CompiledPlan>,
    pub keyring: &'a Arc<Keyring>,
}

struct KnownCatalog {
    catalog: Rc<ServerCatalog>,
    digest: CatalogDigest,
    plan: Arc<CompiledPlan>,
    keyring: Weak<Keyring>,
    database: String,
}

impl KnownCatalog {
    fn holds_under(&self, under: &ReadUnder<'_>) -> bool {
        std::ptr::eq(self.keyring.as_ptr(), Arc::as_ptr(under.keyring))
            && (Arc::ptr_eq(&self.plan, under.plan) || self.plan.stores_as(under.plan))
    }
}

/// The catalogs that a worker knows, the one that was used last first.
#[derive(Default)]
pub(crate) struct KnownCatalogs(VecDeque<KnownCatalog>);

impl KnownCatalogs {
    /// The relations of the catalog that a session in this database is likely to have.
    pub fn likely(&self, under: &ReadUnder<'_>, database: &str) -> Option<Arc<str>> {
        let is_likely = |known: &&KnownCatalog| known.database == database && known.holds_under(under);
        self.0.iter().find(is_likely).map(|known| Arc::clone(&known.digest.relations))
    }

    /// The catalog with this digest.
    pub fn with_sum(&mut self, under: &ReadUnder<'_>, sum: &str) -> Option<Rc<ServerCatalog>> {
        let place = self.0.iter().position(|known| *known.digest.sum == *sum && known.holds_under(under))?;
        let known = self.0.remove(place)?;
        let catalog = Rc::clone(&known.catalog);
        self.0.push_front(known);
        Some(catalog)
    }

    /// Keeps a catalog that was read in this database, unless it is too large. It stays in the account of who read it.
    pub fn keep(
        &mut self,
        (catalog, digest): (&Rc<ServerCatalog>, CatalogDigest),
        under: &ReadUnder<'_>,
        database: &str,
    ) {
        if catalog.bytes() > MAX_BYTES {
            return;
        }
        // Keys that the agent no longer has are no session's again.
        self.0.retain(|known| {
            known.keyring.strong_count() > 0 && !(known.digest == digest && known.holds_under(under))
        });
        self.0.push_front(KnownCatalog {
            catalog: Rc::clone(catalog),
            digest,
            plan: Arc::clone(under.plan),
            keyring: Arc::downgrade(under.keyring),
            database: database.to_owned(),
        });
        let mut bytes = 0_usize;
        let fits = |known: &&KnownCatalog| {
            bytes = bytes.saturating_add(known.catalog.bytes());
            bytes <= MAX_BYTES
        };
        let kept = self.0.iter().take(MAX_KEPT).take_while(fits).count();
        self.0.truncate(kept);
    }
}
