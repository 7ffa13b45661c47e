//! Who the session is for now: role, purpose, token and `application_name`, as the server has them. The server alone
//! knows what SET LOCAL, a ROLLBACK, a savepoint or a function leaves of them, so it is asked.

use fieldveil_plan::SessionInput;
use fieldveil_postgres_wire::backend::DataRow;
use fieldveil_sql::Dialect;

use super::ReadySession;
use crate::compiled_plan::CompiledPlan;
use crate::database::Core;
use crate::token_words::MAX_PURPOSE;

/// The columns of the answer, in order.
pub(super) const COLUMNS: &str = "current_user::pg_catalog.text, \
    pg_catalog.current_setting('fieldveil.token', true), pg_catalog.current_setting('fieldveil.purpose', true), \
    pg_catalog.current_setting('application_name')";

/// Which of the columns are texts.
pub(super) const TEXTS: [bool; 4] = [true; 4];

/// Why a response is of no use.
pub(super) const UNREADABLE: &str = "it does not say who the session is for";

/// The server's answer. It holds no token, but a word.
pub(super) struct IdentityRow {
    role: String,
    word: String,
    purpose: String,
    application_name: String,
}

impl IdentityRow {
    /// Reads the first values of a row; None if they are not as asked for.
    pub fn read(row: DataRow<'_>) -> Option<Self> {
        let mut values =
            row.values().map(|value| std::str::from_utf8(value.unwrap_or_default()).map(str::to_owned));
        let mut next = || values.next()?.ok();
        let answer = Self { role: next()?, word: next()?, purpose: next()?, application_name: next()? };
        (!answer.role.is_empty()).then_some(answer)
    }

    /// Takes over who the session is for. `is_idle` says that it was asked for outside of a transaction block and of a pipeline.
    pub fn take_over(self, is_idle: bool, core: &mut Core) {
        let Self { role, word, purpose, application_name } = self;
        if purpose.len() <= MAX_PURPOSE && is_idle {
            core.identity.words.settle(&word);
        }
        let session = SessionInput { role, purpose, application_name, ..core.policy.input.session.clone() };
        if let Err(error) = core.identity_read(&word, session, "fieldveil.purpose") {
            core.catalog.failed = Some(error);
        }
    }
}

impl ReadySession {
    /// Whether the server is to be asked before a statement that depends on who the session is for.
    pub(super) fn identity_is_due(&self, plan: &CompiledPlan, core: &Core) -> bool {
        !self.settings.replicates && core.identity.is_due(plan, core.now_ms)
    }

    /// Whether the server is to be asked before this text though it is for anybody: within the transaction that it begins
    /// it would not be known which of the words are old ones.
    pub(super) fn asks_before_transaction(&self, text: &[u8], core: &Core) -> bool {
        let begins = || {
            std::str::from_utf8(text)
                .is_ok_and(|text| fieldveil_sql::identity::begins_transaction(text, Dialect::Postgres))
        };
        !self.pipeline.is_open() && core.identity.words.are_unsettled() && begins()
    }
}
