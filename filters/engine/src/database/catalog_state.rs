//! The catalog that a session has, and how it comes by another.

use std::rc::Rc;
use std::sync::Arc;

use super::Core;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::ports::Level;
use crate::server_catalog::{CatalogDigest, CatalogReading, ColumnRow, MAX_AGE_MS, ReadUnder, ServerCatalog};

/// The catalog and its age.
#[derive(Default)]
pub(crate) struct CatalogState {
    pub current: Option<Rc<ServerCatalog>>,
    read_ms: u64,
    /// It was read for the statement that is looked at next.
    is_new: bool,
    /// The server has said that it is none of those that the worker knows.
    is_unknown: bool,
    /// The answer, while it comes in.
    pub reading: Option<CatalogReading>,
    /// Why the server's last answer, this one or who the session is for, is of no use.
    pub failed: Option<ClientError>,
}

impl CatalogState {
    /// Whether there is a catalog that need not be read again yet.
    pub fn is_fresh(&self, now_ms: u64) -> bool {
        self.current.is_some() && now_ms.saturating_sub(self.read_ms) <= MAX_AGE_MS
    }

    /// Whether a text may name a table that the policy names and the catalog lacks: another connection may have made it
    /// since, or this one may see it only now. `database` is the one in use, where it is the only one whose tables have bare
    /// names. Of a catalog that was read for this very statement it says no.
    pub fn misses(&mut self, text: &[u8], database: Option<&str>) -> bool {
        let is_new = std::mem::take(&mut self.is_new);
        self.current.as_ref().is_some_and(|catalog| !is_new && catalog.misses(text, database))
    }

    /// Takes in a row of the catalog's answer, as far as `plan` needs it. The error says what is wrong with the row.
    pub fn read_row(
        &mut self,
        row: ColumnRow<'_>,
        plan: Option<&Arc<CompiledPlan>>,
    ) -> Result<(), &'static str> {
        match (&mut self.reading, plan) {
            (Some(reading), Some(plan)) => reading.row(row, plan),
            _ => Ok(()),
        }
    }

    /// Takes in the digest of the catalog's answer.
    pub fn read_digest(&mut self, digest: CatalogDigest) {
        if let Some(reading) = &mut self.reading {
            reading.digest = Some(digest);
        }
    }

    /// Counts the bytes of the answer that is coming in.
    pub fn bytes(&self) -> usize {
        self.reading.as_ref().map_or(0, CatalogReading::bytes)
    }
}

impl Core {
    /// The catalog's answer is complete: the catalog that holds from now on.
    pub fn catalog_read(&mut self) -> Option<Rc<ServerCatalog>> {
        let (Some(mut reading), Some(plan)) = (self.catalog.reading.take(), &self.policy.plan) else {
            return None;
        };
        let (digest, keyring) = (reading.digest.take(), self.policy.keyring());
        let mut catalog = reading.finish(plan);
        if let Some(keyring) = &keyring {
            catalog.take_keys(plan, keyring);
            let mut ports = self.ports.borrow_mut();
            catalog.check_widths(|field, stored| {
                let field = plan.fields.get(field)?;
                // Without its keys nothing is sealed, and so nothing is too long.
                match field.check_keys(keyring) {
                    Ok(()) => field.longest_stored(keyring, &mut *ports, stored),
                    Err(_) => Some(0),
                }
            });
        }
        for (field, reason) in catalog.all_unusable() {
            let label = plan.fields.get(field).map_or("", |f| f.spec.label.as_str());
            self.log(Level::Warn, &format!("{label} cannot be sealed: {reason}"));
        }
        for place in &catalog.slow {
            let line = format!(
                "{place} is searched by its blind index, and the server has no index on that part of it"
            );
            self.log(Level::Info, &line);
        }
        for spec in catalog.missing_columns(plan) {
            let line = format!("the policy protects {}, but the table has no such column", spec.place);
            self.log(Level::Warn, &line);
        }
        let mut worker = self.worker.borrow_mut();
        let catalog = worker.share(catalog, self.memory.account());
        if let (Some(digest), Some(keyring)) = (digest, &keyring) {
            let under = ReadUnder { plan, keyring };
            worker.known_catalogs.keep((&catalog, digest), &under, &self.policy.input.session.database);
        }
        worker.count("catalog.reads", 1);
        drop(worker);
        Some(self.use_catalog(catalog))
    }

    /// The relations of the catalog that the server is likely to have, if the worker knows one.
    pub fn likely_relations(&self, plan: &Arc<CompiledPlan>) -> Option<Arc<str>> {
        let keyring = self.policy.keyring().filter(|_| !self.catalog.is_unknown)?;
        let under = ReadUnder { plan, keyring: &keyring };
        self.worker.borrow().known_catalogs.likely(&under, &self.policy.input.session.database)
    }

    /// The server has told the digest of its catalog: the catalog that holds from now on. None where the worker knows none with that
    /// digest, and it must be read.
    pub fn digest_read(&mut self, sum: &str) -> Option<Rc<ServerCatalog>> {
        let found = match (&self.policy.plan, self.policy.keyring()) {
            (Some(plan), Some(keyring)) => {
                let under = ReadUnder { plan, keyring: &keyring };
                self.worker.borrow_mut().known_catalogs.with_sum(&under, sum)
            }
            _ => None,
        };
        let Some(catalog) = found else {
            self.catalog.current = None;
            self.catalog.is_unknown = true;
            return None;
        };
        self.worker.borrow_mut().count("catalog.known", 1);
        Some(self.use_catalog(catalog))
    }

    /// The server has just said that this is its catalog.
    fn use_catalog(&mut self, catalog: Rc<ServerCatalog>) -> Rc<ServerCatalog> {
        self.catalog.current = Some(Rc::clone(&catalog));
        self.catalog.read_ms = self.now_ms;
        self.catalog.is_new = true;
        self.catalog.is_unknown = false;
        catalog
    }

    /// The worker has other keys than before: the catalog that holds from now on, if there is one.
    pub fn keys_renewed(&mut self) -> Option<Rc<ServerCatalog>> {
        let (catalog, plan, keyring) =
            (self.catalog.current.as_ref()?, self.policy.plan.as_ref()?, self.policy.keyring()?);
        let mut renewed = ServerCatalog::clone(catalog);
        renewed.take_keys(plan, &keyring);
        let renewed = self.worker.borrow_mut().share(renewed, self.memory.account());
        self.catalog.current = Some(Rc::clone(&renewed));
        Some(renewed)
    }

    /// The server's answer could not be read; the statement that waits for it is refused.
    pub fn catalog_failed(&mut self, reason: &str, remedy: &str) {
        self.log(Level::Error, &format!("the catalog could not be read: {reason}"));
        self.catalog.reading = None;
        self.catalog.failed = Some(ClientError::unavailable("the server's catalog", reason, remedy));
    }
}
