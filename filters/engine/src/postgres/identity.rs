//! Who the session is for now: role, purpose, token and `application_name`, as the server has them. The server alone
//! knows what SET LOCAL, a ROLLBACK, a savepoint or a function leaves of them, so it is asked.

use fieldveil_pg_wire::backend::{DataRow, TransactionStatus};
use fieldveil_sql::Dialect;

use super::Session;
use crate::client_error::ClientError;
use crate::database::{Checked, MAX_AGE_MS, MAX_PURPOSE, Words};
use crate::fetch::PrincipalKey;
use crate::field::CompiledPlan;

/// What the server is asked.
pub(super) const QUESTION: &str = "SELECT current_user::pg_catalog.text, \
    pg_catalog.current_setting('fieldveil.token', true), pg_catalog.current_setting('fieldveil.purpose', true), \
    pg_catalog.current_setting('application_name')";
/// The token of a session whose word stands for none that it knows: policy refuses it, as it does any that is no JWT.
const UNKNOWN: &str = "unknown";

/// What is known of it, and how old that is.
pub(super) struct Identity {
    /// The server must be asked before a statement that may depend on it.
    due: bool,
    read_ms: u64,
    /// Something in this transaction changed it: its end, too, may change it.
    changed_in_transaction: bool,
    /// The client has said something of it: from then on it matters also where nothing is protected.
    spoken_of: bool,
    /// The answer, while it comes in.
    answer: Option<Answer>,
    /// The tokens that the client gave.
    pub words: Words,
}

/// The server's answer. It holds no token, but a word.
struct Answer {
    role: String,
    word: String,
    purpose: String,
    application_name: String,
}

impl Identity {
    /// Of a new session: role and purpose may come from ALTER ROLE … SET, so the server is asked first.
    pub fn new() -> Self {
        Self {
            due: true,
            read_ms: 0,
            changed_in_transaction: false,
            spoken_of: false,
            answer: None,
            words: Words::default(),
        }
    }

    /// The client speaks of it.
    pub fn spoken_of(&mut self) {
        self.spoken_of = true;
    }

    /// It may be another now.
    pub fn may_change(&mut self) {
        self.due = true;
        self.changed_in_transaction = true;
    }

    /// The server reports another value of what it was asked for.
    pub fn reported(&mut self) {
        self.due = true;
    }

    /// A transaction may have ended.
    pub fn transaction_may_end(&mut self) {
        self.due |= self.changed_in_transaction;
    }

    /// No transaction is open.
    pub fn transaction_ended(&mut self) {
        self.changed_in_transaction = false;
        self.words.transaction_ended();
    }

    /// Takes in the answer's row; the error says what is wrong with it.
    pub fn row(&mut self, body: &[u8]) -> Result<(), &'static str> {
        self.answer = Some(Answer::read(body).ok_or("it does not say who the session is for")?);
        Ok(())
    }
}

impl Answer {
    fn read(body: &[u8]) -> Option<Self> {
        let row = DataRow::parse(body).ok()?;
        let mut values =
            row.values().map(|value| std::str::from_utf8(value.unwrap_or_default()).map(str::to_owned));
        let mut next = || values.next()?.ok();
        let answer = Self { role: next()?, word: next()?, purpose: next()?, application_name: next()? };
        (row.columns() == 4 && !answer.role.is_empty()).then_some(answer)
    }
}

impl Session {
    /// Whether the server is to be asked before a statement that depends on who the session is for.
    pub(super) fn identity_is_due(&self, plan: &CompiledPlan) -> bool {
        let age = self.core.now_ms.saturating_sub(self.identity.read_ms);
        let matters = !plan.fields.is_empty() || self.identity.spoken_of;
        matters && !self.replicates && (self.identity.due || age > MAX_AGE_MS)
    }

    /// Whether the server is to be asked before this text though it is for anybody: within the transaction that it begins
    /// it would not be known which of the words are old ones.
    pub(super) fn asks_before_transaction(&self, text: &[u8]) -> bool {
        let begins = || {
            std::str::from_utf8(text)
                .is_ok_and(|text| fieldveil_sql::identity::begins_transaction(text, Dialect::Postgres))
        };
        !self.in_pipeline && self.identity.words.are_unsettled() && begins()
    }

    /// A statement went to the server, or is about to be executed, that may change who the session is for.
    pub(super) fn identity_may_change(&mut self, checked: &Checked) {
        self.identity.spoken_of |= checked.speaks_of_end_user;
        if self.identity.spoken_of || !checked.plan.fields.is_empty() {
            self.identity.may_change();
        }
    }

    /// The server's answer is complete.
    pub(super) fn identity_read(&mut self) {
        let Some(answer) = self.identity.answer.take() else {
            if self.core.catalog.failed.is_none() {
                self.catalog_failed("it does not say who the session is for");
            }
            return;
        };
        if answer.purpose.len() > MAX_PURPOSE {
            let error = ClientError::limit(
                "fieldveil.purpose is longer than the 256 bytes that are read of it",
                "SET fieldveil.purpose to a shorter word.",
            );
            self.core.catalog.failed = Some(error);
            return;
        }
        if self.status == TransactionStatus::Idle && !self.in_pipeline {
            self.identity.words.settle(&answer.word);
        }
        let token = match answer.word.as_str() {
            "" => "",
            word => self.identity.words.token(word).unwrap_or(UNKNOWN),
        };
        let mut input = self.core.input.clone();
        token.clone_into(&mut input.token);
        input.session.role = answer.role;
        input.session.purpose = answer.purpose;
        input.session.application_name = answer.application_name;
        if input != self.core.input {
            self.core.principal = Some(PrincipalKey::new(&input));
            self.core.input = input;
        }
        self.identity.due = false;
        self.identity.read_ms = self.core.now_ms;
        self.core.worker.borrow_mut().count("identity.reads", 1);
    }
}
