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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use fieldveil_sql::{Names, SessionUse, Statement};

    use super::*;
    use crate::mysql::identity::IdentityRow;
    use crate::token_words::MAX_PURPOSE;

    /// What the server says of the session, with this purpose and these settings.
    fn row(purpose: &str, database: &str, sql_mode: &str) -> IdentityRow {
        let charset = "utf8mb4";
        let values = [
            "app@%",
            "NONE",
            database,
            "",
            purpose,
            sql_mode,
            charset,
            charset,
            charset,
            "0",
            "11.4.2-MariaDB",
        ];
        let mut body = Vec::new();
        for value in values {
            body.push(0xfc);
            body.extend_from_slice(&u16::try_from(value.len()).unwrap().to_le_bytes());
            body.extend_from_slice(value.as_bytes());
        }
        IdentityRow::read(&body).unwrap()
    }

    /// The context of a session that uses the database `shop`, and has prepared `p`.
    fn context(core: &mut Core) -> SqlContext {
        let mut context = SqlContext::default();
        context.identity_read(core, row("", "shop", ""));
        core.settle();
        let prepare = SessionUse::Prepare {
            name: "p".to_owned(),
            server_name: "p".to_owned(),
            parameters: Vec::new(),
            sealed: Vec::new(),
            text: None,
        };
        let statement = Statement { session: Some(prepare), ..Statement::unread() };
        context.names.executed(&statement, false, core);
        context
    }

    #[test]
    fn other_database_or_sql_mode_puts_the_catalog_in_doubt() {
        let mut core = Core::settled();
        for (database, sql_mode, knows) in
            [("shop", "", true), ("other", "", false), ("shop", "ANSI_QUOTES", false)]
        {
            let mut context = context(&mut core);
            context.identity_read(&mut core, row("", database, sql_mode));
            assert_eq!(core.catalog.current.is_some(), knows, "{database} {sql_mode}");
            assert_eq!(context.settings.database, database);
        }
    }

    #[test]
    fn answer_that_is_refused_leaves_the_settings() {
        let mut core = Core::settled();
        let mut context = context(&mut core);
        context.identity_read(&mut core, row(&"p".repeat(MAX_PURPOSE + 1), "other", ""));
        assert!(core.catalog.failed.is_some());
        assert_eq!(context.settings.database, "shop");
    }

    #[test]
    fn other_plan_forgets_what_was_prepared_and_the_same_storage_does_not() {
        for (plan, keeps) in
            [(PlanChange::No, true), (PlanChange::SameStorage, true), (PlanChange::Other, false)]
        {
            let mut core = Core::settled();
            let mut context = context(&mut core);
            context.renew(&mut core, &Renewed { plan, keys: false });
            assert_eq!(context.names.prepared("p").is_some(), keeps);
            assert_eq!(core.catalog.current.is_some(), keeps);
        }
    }
}
