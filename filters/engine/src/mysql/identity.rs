//! Who the session is for now, and how its texts are read, as the server has it.

use fieldveil_mysql_wire::response::TextRow;
use fieldveil_plan::PlanInput;

use super::Session;
use super::reads::{Reads, Said};
use crate::client_error::ClientError;
use crate::database::{MAX_AGE_MS, MAX_PURPOSE, Words};
use crate::fetch::PrincipalKey;
use crate::field::CompiledPlan;

/// The token of a session whose word stands for none that it knows: policy refuses it, as it does any that is no JWT.
const UNKNOWN: &str = "unknown";

/// What the server is asked. What a client may have set to keep rows from itself does not keep this one.
pub(super) const QUESTION: &str = "SELECT CURRENT_USER(), CURRENT_ROLE(), DATABASE(), \
CONVERT(@fieldveil_token USING utf8mb4), CONVERT(@fieldveil_purpose USING utf8mb4), @@SESSION.sql_mode, \
@@SESSION.character_set_client, @@SESSION.character_set_results, @@lower_case_table_names, VERSION() LIMIT 1";
const COLUMNS: usize = 10;

/// The server's answer. It holds no token, but a word.
pub struct Answer {
    role: String,
    word: String,
    purpose: String,
    reads: Reads,
}

impl Answer {
    /// Reads its row; None if it is not as asked for.
    pub fn read(body: &[u8]) -> Option<Self> {
        let row = TextRow::parse(body, COLUMNS).ok()?;
        let mut values = row.values();
        let mut optional = || values.next()?.map(std::str::from_utf8).transpose().ok();
        let user = optional()??;
        let role = optional()?;
        let database = optional()?.unwrap_or_default();
        let word = optional()?.unwrap_or_default().to_owned();
        let purpose = optional()?.unwrap_or_default().to_owned();
        let reads = Reads::of(&Said {
            database,
            sql_mode: optional()??,
            charset_client: optional()??,
            charset_results: optional()?,
            lower_case_table_names: optional()??,
            version: optional()??,
        });
        Some(Self { role: role_of(user, role), word, purpose, reads })
    }
}

/// The active role, of several all with commas; the account's name where none is.
fn role_of(user: &str, role: Option<&str>) -> String {
    match role {
        None | Some("" | "NONE") => user.rsplit_once('@').map_or(user, |(name, _)| name).to_owned(),
        Some(roles) => {
            let name = |role: &str| {
                let name = role.trim().rsplit_once("@`").map_or(role.trim(), |(name, _)| name);
                name.trim_matches('`').to_owned()
            };
            roles.split(',').map(name).collect::<Vec<_>>().join(",")
        }
    }
}

/// What is known of who the session is for, and how old that is.
pub struct Identity {
    /// The server must be asked before a statement that may depend on it.
    due: bool,
    read_ms: u64,
    /// The client has said something of it: from then on it matters also where nothing is protected.
    spoken_of: bool,
    /// The answer, while it comes in.
    pub answer: Option<Answer>,
    /// The tokens that the client gave.
    pub words: Words,
}

impl Default for Identity {
    fn default() -> Self {
        Self { due: true, read_ms: 0, spoken_of: false, answer: None, words: Words::default() }
    }
}

impl Identity {
    /// The client speaks of it.
    pub fn spoken_of(&mut self) {
        self.spoken_of = true;
    }

    /// It may be another now.
    pub fn may_change(&mut self) {
        self.due = true;
    }
}

impl Session {
    /// Whether the server is to be asked before a statement that depends on who the session is for.
    pub(super) fn identity_is_due(&self, plan: &CompiledPlan) -> bool {
        let age = self.core.now_ms.saturating_sub(self.identity.read_ms);
        let matters = !plan.fields.is_empty() || self.identity.spoken_of;
        matters && (self.identity.due || age > MAX_AGE_MS)
    }

    /// The server's answer is complete.
    pub(super) fn identity_read(&mut self) {
        let Some(answer) = self.identity.answer.take() else {
            if self.core.catalog.failed.is_none() {
                self.question_failed("it does not say who the session is for");
            }
            return;
        };
        if answer.purpose.len() > MAX_PURPOSE {
            self.core.catalog.failed = Some(ClientError::limit(
                "fieldveil_purpose is longer than the 256 bytes that are read of it",
                "SET @fieldveil_purpose to a shorter word.",
            ));
            return;
        }
        self.identity.words.settle(&answer.word);
        let token = match answer.word.as_str() {
            "" => "",
            word => self.identity.words.token(word).unwrap_or(UNKNOWN),
        };
        let mut input: PlanInput = self.core.input.clone();
        token.clone_into(&mut input.token);
        input.session.role = answer.role;
        input.session.purpose = answer.purpose;
        answer.reads.database.clone_into(&mut input.session.database);
        if input != self.core.input {
            self.core.principal = Some(PrincipalKey::new(&input));
            self.core.input = input;
        }
        // What a bare name means depends on the database, and what a text says on the dialect.
        if self.reads.dialect != answer.reads.dialect || self.reads.database != answer.reads.database {
            self.core.catalog.current = None;
        }
        self.reads = answer.reads;
        self.identity.due = false;
        self.identity.read_ms = self.core.now_ms;
        self.core.worker.borrow_mut().count("identity.reads", 1);
    }
}
