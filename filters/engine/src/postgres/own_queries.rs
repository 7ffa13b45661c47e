//! The filter's own queries, on the client's connection: who the session is for, the catalog, and what a function is called. They
//! use the extended protocol and a name of their own, so that neither the client's unnamed statement nor its open transaction is
//! disturbed.

mod digits;

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_postgres_wire::WireError;
use fieldveil_postgres_wire::backend::DataRow;
use fieldveil_postgres_wire::frontend::{Bind, Close, Execute, Flush, Parse, Sync, Target};
use fieldveil_sql::Dialect;

use super::catalog;
use super::encoding::ClientEncoding;
use super::function_call::FunctionName;
use super::identity::{self, IdentityRow};
use super::pending::{Awaited, PendingResponse, PendingResponses};
use super::pipeline::Pipeline;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::{CallbackOutput, Core, Waiting};
use crate::ports::{Ports, random_name};
use crate::server_catalog::{CatalogReading, ServerCatalog};

/// The remedy where the response to one of the queries cannot be used.
const REMEDY: &str = "See that this user may read pg_catalog, then send the statement again.";

/// What the filter asks the server for.
#[derive(Clone, Copy)]
pub enum Question<'p> {
    /// Who the session is for.
    Identity,
    /// The same, and the catalog as far as this plan needs it.
    Catalog(&'p CompiledPlan),
    /// The same, and the digest of the catalog that has these relations.
    Digest(&'p CompiledPlan, &'p str),
    /// The name of the function with this number.
    Function(u32),
}

/// A question whose answer is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Who the session is for.
    Identity,
    /// The same, and the catalog.
    Catalog,
    /// The same, and the catalog's digest.
    Digest,
    /// The name of the function with this number.
    Function(u32),
}

impl Question<'_> {
    fn asked(self) -> Asked {
        match self {
            Self::Identity => Asked::Identity,
            Self::Catalog(_) => Asked::Catalog,
            Self::Digest(..) => Asked::Digest,
            Self::Function(number) => Asked::Function(number),
        }
    }

    /// Returns the question's text. `escape` writes what stands in a string with escapes.
    fn text(self, escape: impl Fn(&str) -> String) -> String {
        match self {
            Self::Identity => format!("SELECT {}", identity::COLUMNS),
            Self::Catalog(plan) => catalog::question(plan, escape),
            Self::Digest(plan, relations) => catalog::digest_question(plan, relations, escape),
            Self::Function(number) => FunctionName::question(number),
        }
    }
}

impl Asked {
    /// Which columns of the answer are texts.
    fn texts(self) -> &'static [bool] {
        match self {
            Self::Identity => &identity::TEXTS,
            Self::Catalog => &catalog::TEXTS,
            Self::Digest => &catalog::DIGEST_TEXTS,
            Self::Function(_) => &[true],
        }
    }
}

/// The filter's own queries of a session.
pub struct OwnQueries {
    name: String,
    /// The row that says who the session is for, until its response is complete.
    row: Option<IdentityRow>,
    /// The catalog's digest, until its response is complete.
    digest: Option<String>,
    /// The name of the function that was asked for, until its response is complete.
    function_name: Option<String>,
    /// The function whose name was asked for last, once that is answered.
    pub function: Option<FunctionName>,
    /// Whether the server was asked for names and texts in hexadecimal digits of UTF-8, because the client's encoding is another
    /// one or not sure, and may lack their characters.
    in_digits: bool,
}

impl OwnQueries {
    /// Makes those of a new session.
    pub fn new(ports: &Rc<RefCell<dyn Ports>>) -> Self {
        Self {
            name: random(ports),
            row: None,
            digest: None,
            function_name: None,
            function: None,
            in_digits: false,
        }
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

    /// Sends a question. Between two Syncs of the client it ends with a Flush, else with a Sync.
    pub fn send(
        &mut self,
        (question, encoding): (Question<'_>, ClientEncoding),
        core: &mut Core,
        (pipeline, pending): (&Pipeline, &mut PendingResponses),
        out: &mut CallbackOutput,
    ) -> Result<(), ClientError> {
        let too_long = |_| ClientError::limit("the policy names too many tables", "Shorten it.");
        let asked = question.asked();
        self.in_digits = !encoding.is_utf8();
        (self.row, self.digest) = (None, None);
        (self.function_name, self.function) = (None, None);
        let text = match self.in_digits {
            true => digits::question(&question.text(digits::escaped), asked.texts()),
            false => question.text(str::to_owned),
        };
        let mut query = Vec::new();
        self.write(&text, &mut query).map_err(too_long)?;
        let end = if pipeline.is_open() { Flush.encode(&mut query) } else { Sync.encode(&mut query) };
        end.map_err(too_long)?;
        out.to_server.append(&mut query);
        if asked == Asked::Catalog {
            core.catalog.reading = Some(CatalogReading::new(Dialect::Postgres));
        }
        let execute = Awaited::OwnQuery(asked);
        for awaited in [Awaited::Parse(None), Awaited::Bind(None), execute, Awaited::Close, Awaited::Close] {
            pending.push(PendingResponse::injected(awaited));
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

    /// Reads a row of the answer.
    pub fn read_row(&mut self, asked: Asked, body: &[u8], core: &mut Core) {
        if core.catalog.failed.is_some() {
            return;
        }
        let texts = asked.texts();
        let in_utf8 = match self.in_digits {
            true => digits::read(body, texts).map(Cow::Owned),
            false => Some(Cow::Borrowed(body)),
        };
        let row = in_utf8.as_deref().and_then(|body| DataRow::parse(body).ok());
        let read = row
            .filter(|row| usize::from(row.columns()) == texts.len())
            .ok_or("its answer is not as asked for")
            .and_then(|row| self.take_row(asked, row, core));
        if let Err(reason) = read {
            core.catalog_failed(reason, REMEDY);
        }
    }

    fn take_row(&mut self, asked: Asked, row: DataRow<'_>, core: &mut Core) -> Result<(), &'static str> {
        match asked {
            Asked::Function(_) => {
                let name =
                    row.values().next().flatten().ok_or("it does not say what the function is called")?;
                self.function_name = Some(String::from_utf8_lossy(name).into_owned());
                Ok(())
            }
            Asked::Identity | Asked::Catalog | Asked::Digest => {
                if self.row.is_none() {
                    self.row = Some(IdentityRow::read(row).ok_or(identity::UNREADABLE)?);
                }
                match asked {
                    Asked::Catalog => catalog_row(row, core),
                    Asked::Digest => {
                        self.digest = Some(catalog::sum(row).ok_or(catalog::UNREADABLE_DIGEST)?);
                        Ok(())
                    }
                    Asked::Identity | Asked::Function(_) => Ok(()),
                }
            }
        }
    }

    /// The answer is complete: takes over what it says. `is_idle` says that it was asked for outside of a transaction block and of
    /// a pipeline. Returns the catalog, if there is another one now.
    pub fn complete(&mut self, asked: Asked, is_idle: bool, core: &mut Core) -> Option<Rc<ServerCatalog>> {
        core.waiting = Waiting::No;
        match asked {
            Asked::Function(number) => {
                // Of an answer that could not be read it is not known that the server has no such function.
                let name = self.function_name.take();
                self.function = core.catalog.failed.is_none().then_some(FunctionName { number, name });
                None
            }
            Asked::Identity => {
                self.identity_read(is_idle, core);
                None
            }
            Asked::Catalog => {
                self.identity_read(is_idle, core);
                core.catalog_read()
            }
            Asked::Digest => {
                self.identity_read(is_idle, core);
                let sum = self.digest.take().filter(|_| core.catalog.failed.is_none())?;
                core.digest_read(&sum)
            }
        }
    }

    /// Takes over who the session is for.
    fn identity_read(&mut self, is_idle: bool, core: &mut Core) {
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

/// Takes in a row of the catalog's answer.
fn catalog_row(row: DataRow<'_>, core: &mut Core) -> Result<(), &'static str> {
    if catalog::is_digest(row) {
        core.catalog.read_digest(catalog::digest(row).ok_or(catalog::UNREADABLE_DIGEST)?);
        return Ok(());
    }
    let row = catalog::row(row).ok_or("the catalog's answer is not as asked for")?;
    core.catalog.read_row(row, core.policy.plan.as_ref())
}

fn random(ports: &Rc<RefCell<dyn Ports>>) -> String {
    format!("fieldveil_{}", random_name(&**ports))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use fieldveil_postgres_wire::frontend::Tag;

    use super::*;

    /// Asks for the catalog. Returns what the server gets, and the responses that it owes.
    fn asked(pipeline: &Pipeline, core: &mut Core) -> (Vec<u8>, PendingResponses) {
        let (mut pending, mut out) = (PendingResponses::default(), CallbackOutput::default());
        let plan = core.policy.plan.clone().unwrap();
        let mut queries = OwnQueries::new(&core.ports);
        queries
            .send((Question::Catalog(&plan), ClientEncoding::Utf8), core, (pipeline, &mut pending), &mut out)
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
    fn client_waits_for_an_answer_and_does_not_see_it() {
        let mut core = Core::settled();
        let (_, mut pending) = asked(&Pipeline::default(), &mut core);
        assert_eq!(core.waiting, Waiting::Server);
        let mut executed = Vec::new();
        while let Some(entry) = pending.pop() {
            assert_eq!(entry.origin, super::super::pending::Origin::Injected);
            if let Awaited::OwnQuery(asked) = entry.awaited {
                executed.push(asked);
            }
        }
        assert_eq!(executed, [Asked::Catalog]);
    }

    #[test]
    fn response_without_a_row_leaves_the_identity_in_doubt() {
        let mut core = Core::settled();
        core.identity.may_change();
        let mut queries = OwnQueries::new(&core.ports);
        queries.complete(Asked::Identity, true, &mut core);
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
