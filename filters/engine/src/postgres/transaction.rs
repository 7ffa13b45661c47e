//! The transaction block: whether it is open, and what in it changed that its end may undo.

use fieldveil_postgres_wire::backend::TransactionStatus;
use fieldveil_sql::{SessionUse, StatementKind};

use super::statements::Statements;
use crate::database::{CheckedText, Core};

/// The transaction block of a session.
pub struct Transaction {
    /// Its status in the server's last ReadyForQuery.
    status: TransactionStatus,
    /// It is open for sure: neither Sync nor Query ends it.
    is_open: bool,
    /// Something in it changed the catalog: its end, too, may change it.
    changed_catalog: bool,
    /// Something in it changed who the session is for, likewise.
    changed_identity: bool,
}

impl Default for Transaction {
    fn default() -> Self {
        Self {
            status: TransactionStatus::Idle,
            is_open: false,
            changed_catalog: false,
            changed_identity: false,
        }
    }
}

impl Transaction {
    /// Whether no block was open at the server's last ReadyForQuery.
    pub fn was_idle(&self) -> bool {
        self.status == TransactionStatus::Idle
    }

    /// Whether the block had failed at the server's last ReadyForQuery.
    pub fn had_failed(&self) -> bool {
        self.status == TransactionStatus::Failed
    }

    /// Takes over the status of a ReadyForQuery. `is_last` says that no other message is to be answered.
    pub fn report(
        &mut self,
        status: TransactionStatus,
        is_last: bool,
        core: &mut Core,
        statements: &mut Statements,
    ) {
        self.status = status;
        if !is_last {
            return;
        }
        self.is_open = status == TransactionStatus::InTransaction;
        if status == TransactionStatus::Idle {
            statements.forget_portals();
            drop(statements.by_sql.cursors.end_transaction(false));
            self.changed_catalog = false;
            self.changed_identity = false;
            core.identity.words.transaction_ended();
        }
    }

    /// Marks catalog and identity as out of date where a message may end the transaction that changed them. The end undoes these
    /// changes or makes them permanent, so that nothing that was read within the transaction is sure afterwards.
    pub fn invalidate_if_ended(&self, core: &mut Core) {
        if self.is_open {
            return;
        }
        if self.changed_catalog {
            core.catalog.current = None;
        }
        if self.changed_identity {
            core.identity.may_change();
        }
    }

    /// Notes what a text that goes to the server, or is about to be executed, does to the catalog and to the session's
    /// identity. The end of the transaction, or of a savepoint, may undo it.
    pub fn execute(&mut self, checked: &CheckedText, core: &mut Core, statements: &mut Statements) {
        if checked.analysis.statements.len() > 1 {
            statements.by_sql.forget_quiet_cursors();
        }
        for statement in &checked.analysis.statements {
            if statement.kind == StatementKind::Transaction {
                // A savepoint, and its release, leave every cursor what it is.
                if !matches!(
                    statement.session,
                    Some(SessionUse::Savepoint { .. } | SessionUse::Release { .. })
                ) {
                    statements.by_sql.forget_quiet_cursors();
                }
                self.is_open = false;
                self.invalidate_if_ended(core);
                continue;
            }
            if self.is_open && statements.fetches_quietly(statement) {
                continue;
            }
            if statement.changes_catalog {
                core.catalog.current = None;
                self.changed_catalog = true;
                statements.by_sql.forget_quiet_cursors();
            }
            if statement.changes_identity {
                self.identity_may_change(checked, core);
            }
        }
    }

    fn identity_may_change(&mut self, checked: &CheckedText, core: &mut Core) {
        core.identity.spoken_of |= checked.speaks_of_end_user;
        if core.identity.spoken_of || !checked.plan.fields.is_empty() {
            core.identity.may_change();
            self.changed_identity = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session in a transaction block, of which catalog and identity are known.
    fn in_block() -> (Transaction, Core, Statements) {
        let (mut transaction, mut core, mut statements) =
            (Transaction::default(), Core::settled(), Statements::default());
        transaction.report(TransactionStatus::InTransaction, true, &mut core, &mut statements);
        (transaction, core, statements)
    }

    #[test]
    fn what_a_block_changed_is_in_doubt_again_when_the_block_ends() {
        for (text, knows) in
            [("SET ROLE other", (false, false)), ("SET application_name = 'a'", (true, false))]
        {
            let (mut transaction, mut core, mut statements) = in_block();
            transaction.execute(&core.checked(text), &mut core, &mut statements);
            assert_eq!(core.knows(), knows, "{text}");
            core.settle();
            // A Sync does not end the block.
            transaction.invalidate_if_ended(&mut core);
            assert_eq!(core.knows(), (true, true), "{text}");
            transaction.execute(&core.checked("COMMIT"), &mut core, &mut statements);
            assert_eq!(core.knows(), knows, "{text}");
            core.settle();
            transaction.report(TransactionStatus::Idle, true, &mut core, &mut statements);
            transaction.invalidate_if_ended(&mut core);
            assert_eq!(core.knows(), (true, true), "{text}");
        }
    }

    #[test]
    fn rollback_to_a_savepoint_puts_in_doubt_what_the_block_changed() {
        let (mut transaction, mut core, mut statements) = in_block();
        transaction.execute(&core.checked("SET ROLE other"), &mut core, &mut statements);
        core.settle();
        transaction.execute(&core.checked("ROLLBACK TO s"), &mut core, &mut statements);
        assert_eq!(core.knows(), (false, false));
    }

    #[test]
    fn block_is_open_for_sure_only_when_nothing_else_is_to_be_answered() {
        let (mut transaction, mut core, mut statements) = in_block();
        transaction.execute(&core.checked("COMMIT"), &mut core, &mut statements);
        transaction.execute(&core.checked("SET ROLE other"), &mut core, &mut statements);
        core.settle();
        // The server answers what was sent before the COMMIT.
        transaction.report(TransactionStatus::InTransaction, false, &mut core, &mut statements);
        assert!(!transaction.was_idle() && !transaction.had_failed());
        transaction.invalidate_if_ended(&mut core);
        assert_eq!(core.knows(), (false, false));
    }
}
