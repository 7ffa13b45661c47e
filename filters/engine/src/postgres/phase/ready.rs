//! A session that is up. What its messages do is in the files beside `phase.rs`, one a stage.

use fieldveil_sql::identity::Comment;
use std::sync::Arc;

use crate::database::{Core, PlanChange, Unready};
use crate::postgres::copy::Copies;
use crate::postgres::names::SqlNames;
use crate::postgres::own_queries::OwnQueries;
use crate::postgres::pending::PendingResponses;
use crate::postgres::pipeline::Pipeline;
use crate::postgres::settings::Settings;
use crate::postgres::statements::Statements;
use crate::postgres::transaction::Transaction;

/// The session that the server has let in.
///
/// Large: it has a method for each message and response, which join what its parts do: each part is given what it needs, and none
/// reaches for another.
pub struct ReadySession {
    pub pending: PendingResponses,
    pub statements: Statements,
    pub transaction: Transaction,
    pub own_queries: OwnQueries,
    pub settings: Settings,
    pub pipeline: Pipeline,
    pub copies: Copies,
}

impl ReadySession {
    /// Begins the session, under the plan that let it in.
    pub fn new(settings: Settings, core: &Core) -> Self {
        let own_queries = OwnQueries::new(&core.ports);
        let mut statements = Statements::default();
        if let Some(plan) = &core.policy.plan {
            statements.by_sql = SqlNames::under(plan, own_queries.name(), SqlNames::default());
        }
        Self {
            pending: PendingResponses::default(),
            statements,
            transaction: Transaction::default(),
            own_queries,
            settings,
            pipeline: Pipeline::default(),
            copies: Copies::default(),
        }
    }

    /// Uses the plan and the keys of now, and discards what was found under others. The error says what is missing.
    pub fn policy_ready(&mut self, comment: &Comment, core: &mut Core) -> Result<(), Unready> {
        let policy = core.policy.find(comment, true, core.now_ms, &mut core.audit)?;
        self.settings.check_replication(&policy.plan).map_err(Unready::Refuse)?;
        let plan = Arc::clone(&policy.plan);
        let protected = core.policy.protects();
        let renewed = core.policy.take_up(policy);
        match renewed.plan {
            PlanChange::No => {}
            PlanChange::SameStorage => self.statements.by_sql.go_on_under(&plan),
            PlanChange::Other => {
                let before = std::mem::take(&mut self.statements.by_sql);
                self.statements.by_sql = SqlNames::under(&plan, self.own_queries.name(), before);
                core.catalog.current = None;
                // Under a plan without fields it was not noted what may have changed the encoding.
                if !protected && !self.pending.is_empty() {
                    self.settings.encoding.doubt();
                }
            }
        }
        if renewed.keys
            && let Some(catalog) = core.keys_renewed()
        {
            self.statements.by_sql.catalog_read(&catalog, &self.settings.encoding);
        }
        Ok(())
    }

    /// Whether enough responses have arrived for the client's waiting messages to be read.
    pub fn can_resume(&self) -> bool {
        !self.pending.is_full() && !self.pending.is_heavy_and_flushed()
    }
}
