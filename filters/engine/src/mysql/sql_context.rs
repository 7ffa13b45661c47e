//! What a text means in this session: how the server reads it, and what SQL has prepared. `check.rs`, `seal.rs`,
//! `parameters.rs` and `end_user.rs` add what is done with a text.

use fieldveil_sql::identity::Comment;

use super::names::SqlNames;
use super::own_queries::OwnAnswers;
use super::session_settings::SessionSettings;
use crate::database::{Core, PlanChange, Renewed, Unready};

/// What the meaning of a text depends on, besides plan, keys and catalog.
#[derive(Default)]
pub struct SqlContext {
    pub settings: SessionSettings,
    pub names: SqlNames,
    pub own_answers: OwnAnswers,
}

impl SqlContext {
    /// Takes up plan and keys, and forgets what was found under others.
    pub fn take_up_policy(
        &mut self,
        core: &mut Core,
        comment: &Comment,
        logged_in: bool,
    ) -> Result<(), Unready> {
        let policy = core.policy.find(comment, logged_in, core.now_ms, &mut core.audit)?;
        let renewed = core.policy.take_up(policy);
        self.renew(core, &renewed);
        Ok(())
    }

    fn renew(&mut self, core: &mut Core, renewed: &Renewed) {
        if matches!(renewed.plan, PlanChange::Other) {
            core.catalog.current = None;
            self.names.forget();
        }
        if renewed.keys
            && let Some(catalog) = core.keys_renewed()
        {
            self.names.catalog_read(&catalog);
        }
    }
}
