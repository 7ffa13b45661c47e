//! Questions of the filter's own to the server, on the client's connection: they keep to the extended protocol and to a
//! name of their own, so that neither the client's unnamed statement nor its open transaction is disturbed.

use fieldveil_pg_wire::WireError;
use fieldveil_pg_wire::frontend::{Bind, Close, Execute, Flush, Parse, Sync, Target};
use fieldveil_sql::Dialect;

use super::catalog;
use super::pending::{Awaited, PendingResponse};
use super::{CallbackOutput, Session, Waiting, identity};
use crate::client_error::ClientError;
use crate::database::CatalogReading;
use crate::field::CompiledPlan;

impl Session {
    /// Asks who the session is for, or for the catalog, or both. Between two Syncs of the client the question ends with
    /// Flush, else with a Sync.
    pub(super) fn ask(
        &mut self,
        identity: bool,
        catalog: Option<&CompiledPlan>,
        out: &mut CallbackOutput,
    ) -> Result<(), ClientError> {
        let too_long = |_| ClientError::limit("the policy names too many tables", "Shorten it.");
        let mut question = Vec::new();
        let mut awaited = Vec::new();
        if identity {
            self.put(identity::QUESTION, &mut question).map_err(too_long)?;
            awaited.push(Awaited::Identity);
        }
        if let Some(plan) = catalog {
            self.put(&catalog::question(plan), &mut question).map_err(too_long)?;
            awaited.push(Awaited::Catalog);
            self.core.catalog.reading = Some(CatalogReading::new(Dialect::Postgres));
        }
        let end =
            if self.pipeline.is_open() { Flush.encode(&mut question) } else { Sync.encode(&mut question) };
        end.map_err(too_long)?;
        out.to_server.append(&mut question);
        for awaited in awaited {
            for awaited in
                [Awaited::Parse(None), Awaited::Bind(None), awaited, Awaited::Close, Awaited::Close]
            {
                self.pending.push(PendingResponse::injected(awaited));
            }
        }
        if !self.pipeline.is_open() {
            self.pending.push(PendingResponse::injected(Awaited::Sync));
        }
        self.core.waiting = Waiting::Server;
        Ok(())
    }

    fn put(&self, text: &str, out: &mut Vec<u8>) -> Result<(), WireError> {
        let name = self.own_name.as_bytes();
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
}
