//! The filter's own queries, on the client's connection: who the session is for, and the catalog. They use the extended protocol
//! and a name of their own, so that neither the client's unnamed statement nor its open transaction is disturbed.

mod digits;

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_postgres_wire::WireError;
use fieldveil_postgres_wire::frontend::{Bind, Close, Execute, Flush, Parse, Sync, Target};
use fieldveil_sql::Dialect;

use super::catalog;
use super::encoding::ClientEncoding;
use super::identity::{self, IdentityRow};
use super::pending::{Awaited, PendingResponse, PendingResponses};
use super::pipeline::Pipeline;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::{CallbackOutput, Core, Waiting};
use crate::ports::{Ports, random_name};
use crate::server_catalog::CatalogReading;

/// The remedy where the response to one of the queries cannot be used.
const REMEDY: &str = "See that this user may read pg_catalog, then send the statement again.";

/// The filter's own queries of a session.
pub struct OwnQueries {
    name: String,
    /// The row that says who the session is for, until its response is complete.
    row: Option<IdentityRow>,
    /// Whether the server was asked for names and texts in hexadecimal digits of UTF-8, because the client's encoding is another
    /// one or not sure, and may lack their characters.
    in_digits: bool,
}

impl OwnQueries {
    /// Makes those of a new session.
    pub fn new(ports: &Rc<RefCell<dyn Ports>>) -> Self {
        Self { name: random(ports), row: None, in_digits: false }
    }

    /// The name of the filter's own statement and portal, and of one that does not exist. It is random, so that no client can use
    /// it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes another name, because the server may still have a statement under the name before.
    pub fn rename(&mut self, core: &Core) {
        self.name = random(&core.ports);
    }

    /// Sends the query for the session's identity, or for the catalog, or both. Between two Syncs of the client they end with a
    /// Flush, else with a Sync.
    pub fn send(
        &mut self,
        (identity, catalog, encoding): (bool, Option<&CompiledPlan>, ClientEncoding),
        core: &mut Core,
        (pipeline, pending): (&Pipeline, &mut PendingResponses),
        out: &mut CallbackOutput,
    ) -> Result<(), ClientError> {
        let too_long = |_| ClientError::limit("the policy names too many tables", "Shorten it.");
        let mut queries = Vec::new();
        let mut awaited = Vec::new();
        self.in_digits = !encoding.is_utf8();
        if identity {
            let question = match self.in_digits {
                true => Cow::Owned(digits::question(identity::QUESTION, &identity::TEXTS)),
                false => Cow::Borrowed(identity::QUESTION),
            };
            self.write(&question, &mut queries).map_err(too_long)?;
            awaited.push(Awaited::Identity);
        }
        if let Some(plan) = catalog {
            let question = match self.in_digits {
                true => digits::question(&catalog::question(plan, digits::escaped), &catalog::TEXTS),
                false => catalog::question(plan, str::to_owned),
            };
            self.write(&question, &mut queries).map_err(too_long)?;
            awaited.push(Awaited::Catalog);
            core.catalog.reading = Some(CatalogReading::new(Dialect::Postgres));
        }
        let end = if pipeline.is_open() { Flush.encode(&mut queries) } else { Sync.encode(&mut queries) };
        end.map_err(too_long)?;
        out.to_server.append(&mut queries);
        for awaited in awaited {
            for awaited in
                [Awaited::Parse(None), Awaited::Bind(None), awaited, Awaited::Close, Awaited::Close]
            {
                pending.push(PendingResponse::injected(awaited));
            }
        }
        if !pipeline.is_open() {
            pending.push(PendingResponse::injected(Awaited::Sync));
        }
        core.waiting = Waiting::Server;
        Ok(())
    }

    fn write(&self, text: &str, out: &mut Vec<u8>) -> Result<(), WireError> {
        let name = self.name.as_bytes();
        Parse { name, text: text.as_bytes(), parameter_types: Vec::new() }.encode(out)?;
        Bind {
            portal: name,
            statement: name,
            parameter_formats: Vec::new(),
            values: Vec::new(),
            result_formats: Vec::new(),
        }
        .encode(out)?;
        Execute { portal: name, max_rows: 0 }.encode(out)?;
        Close { target: Target::Portal, name }.encode(out)?;
        Close { target: Target::Statement, name }.encode(out)
    }

    /// Returns the body of a row with its texts in UTF-8.
    fn read<'b>(&self, body: &'b [u8], texts: &[bool]) -> Option<Cow<'b, [u8]>> {
        match self.in_digits {
            true => digits::read(body, texts).map(Cow::Owned),
            false => Some(Cow::Borrowed(body)),
        }
    }

    /// Reads a row of the catalog.
    pub fn catalog_row(&self, body: &[u8], core: &mut Core) {
        if core.catalog.reading.is_none() {
            return;
        }
        let read = self.read(body, &catalog::TEXTS);
        let row = read.as_deref().and_then(catalog::row).ok_or("the catalog's answer is not as asked for");
        if let Err(reason) = row.and_then(|row| core.catalog.read_row(row, core.policy.plan.as_ref())) {
            core.catalog_failed(reason, REMEDY);
        }
    }

    /// Reads the row that says who the session is for.
    pub fn identity_row(&mut self, body: &[u8], core: &mut Core) {
        match self.read(body, &identity::TEXTS).as_deref().and_then(IdentityRow::read) {
            Some(row) => self.row = Some(row),
            None => core.catalog_failed(identity::UNREADABLE, REMEDY),
        }
    }

    /// Takes over who the session is for, when the response is complete. `is_idle` says that it was asked for outside of a
    /// transaction block and of a pipeline.
    pub fn identity_read(&mut self, is_idle: bool, core: &mut Core) {
        match self.row.take() {
            Some(row) => row.take_over(is_idle, core),
            None if core.catalog.failed.is_none() => core.catalog_failed(identity::UNREADABLE, REMEDY),
            None => {}
        }
    }

    /// Notes that the server refused one of the queries with this SQLSTATE, so that the statement which waits is refused, too.
    pub fn fail(code: &[u8], core: &mut Core) {
        if code == b"25P02" {
            // The server would have answered the statement in the same way.
            core.catalog.reading = None;
            core.catalog.failed = Some(ClientError::failed_transaction());
        } else {
            let reason = format!("it answered SQLSTATE {}", String::from_utf8_lossy(code));
            core.catalog_failed(&reason, REMEDY);
        }
    }
}

fn random(ports: &Rc<RefCell<dyn Ports>>) -> String {
    format!("fieldveil_{}", random_name(&**ports))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use fieldveil_postgres_wire::frontend::Tag;

    use super::*;

    /// Asks for identity and catalog. Returns what the server gets, and the responses that it owes.
    fn asked(pipeline: &Pipeline, core: &mut Core) -> (Vec<u8>, PendingResponses) {
        let (mut pending, mut out) = (PendingResponses::default(), CallbackOutput::default());
        let plan = core.policy.plan.clone().unwrap();
        let mut queries = OwnQueries::new(&core.ports);
        queries
            .send((true, Some(&plan), ClientEncoding::Utf8), core, (pipeline, &mut pending), &mut out)
            .unwrap();
        (out.to_server, pending)
    }

    #[test]
    fn queries_within_a_pipeline_do_not_end_it() {
        let mut core = Core::settled();
        let mut pipeline = Pipeline::default();
        let (sent, pending) = asked(&pipeline, &mut core);
        assert!(sent.ends_with(&[Tag::Sync.code(), 0, 0, 0, 4]) && pending.has_sync());
        pipeline.open();
        let (sent, pending) = asked(&pipeline, &mut core);
        assert!(sent.ends_with(&[Tag::Flush.code(), 0, 0, 0, 4]) && !pending.has_sync());
    }

    #[test]
    fn identity_is_answered_before_the_catalog_and_the_client_waits_for_both() {
        let mut core = Core::settled();
        let (_, mut pending) = asked(&Pipeline::default(), &mut core);
        assert_eq!(core.waiting, Waiting::Server);
        let mut executed = Vec::new();
        while let Some(entry) = pending.pop() {
            assert_eq!(entry.origin, super::super::pending::Origin::Injected);
            match entry.awaited {
                Awaited::Identity => executed.push("identity"),
                Awaited::Catalog => executed.push("catalog"),
                _ => {}
            }
        }
        assert_eq!(executed, ["identity", "catalog"]);
    }

    #[test]
    fn response_without_a_row_leaves_the_identity_in_doubt() {
        let mut core = Core::settled();
        core.identity.may_change();
        let mut queries = OwnQueries::new(&core.ports);
        queries.identity_read(true, &mut core);
        assert!(core.catalog.failed.take().unwrap().message.contains(identity::UNREADABLE));
        assert!(!core.identity.is_settled());
    }

    #[test]
    fn query_that_a_failed_transaction_refused_fails_as_the_statement_would() {
        let mut core = Core::settled();
        OwnQueries::fail(b"25P02", &mut core);
        assert!(core.catalog.failed.take().unwrap().is_failed_transaction());
        OwnQueries::fail(b"42501", &mut core);
        assert!(core.catalog.failed.take().unwrap().message.contains("42501"));
    }

    #[test]
    fn name_is_never_taken_twice() {
        let core = Core::settled();
        let mut queries = OwnQueries::new(&core.ports);
        let before = queries.name().to_owned();
        queries.rename(&core);
        assert_ne!(queries.name(), before);
    }
}
