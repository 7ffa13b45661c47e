//! Who the session is for now, and how its texts are read, as the server has it.

use fieldveil_mysql_wire::response::TextRow;
use fieldveil_plan::SessionInput;

use super::session_settings::{SessionSettings, SettingsRow};
use super::sql_context::SqlContext;
use crate::database::Core;
use crate::token_words::MAX_PURPOSE;

/// What the server is asked. What a client may have set to keep rows from itself does not keep this one. All of it is sent as
/// bytes, for the character set of results may lack characters that are in it.
pub(super) const QUESTION: &str = "SELECT CAST(CURRENT_USER() AS BINARY), CAST(CURRENT_ROLE() AS BINARY), \
CAST(DATABASE() AS BINARY), CAST(CONVERT(@fieldveil_token USING utf8mb4) AS BINARY), \
CAST(CONVERT(@fieldveil_purpose USING utf8mb4) AS BINARY), CAST(@@SESSION.sql_mode AS BINARY), \
CAST(@@SESSION.character_set_client AS BINARY), CAST(@@SESSION.character_set_connection AS BINARY), \
CAST(@@SESSION.character_set_results AS BINARY), CAST(CONVERT(@@lower_case_table_names USING utf8mb4) AS BINARY), \
CAST(VERSION() AS BINARY) LIMIT 1";
const COLUMNS: usize = 11;

/// The server's answer. It holds no token, but a word.
pub struct IdentityRow {
    /// The account that the server let the session in by, without its host: not always what the client said, which any
    /// name may be where the server has an account without one.
    user: String,
    role: String,
    word: String,
    purpose: String,
    settings: SessionSettings,
}

impl IdentityRow {
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
        let settings = SessionSettings::of(&SettingsRow {
            database,
            sql_mode: optional()??,
            charset_client: optional()??,
            charset_connection: optional()??,
            charset_results: optional()?,
            lower_case_table_names: optional()??,
            version: optional()??,
        });
        Some(Self { user: account(user).to_owned(), role: role_of(user, role), word, purpose, settings })
    }
}

/// An account's name without its host.
fn account(user: &str) -> &str {
    user.rsplit_once('@').map_or(user, |(name, _)| name)
}

/// The active role, of several all with commas; the account's name where none is.
fn role_of(user: &str, role: Option<&str>) -> String {
    match role {
        None | Some("" | "NONE") => account(user).to_owned(),
        Some(roles) => {
            let name = |role: &str| {
                let name = role.trim().rsplit_once("@`").map_or(role.trim(), |(name, _)| name);
                name.trim_matches('`').to_owned()
            };
            roles.split(',').map(name).collect::<Vec<_>>().join(",")
        }
    }
}

impl SqlContext {
    /// Takes over the server's answer, which is complete.
    pub(super) fn identity_read(&mut self, core: &mut Core, row: IdentityRow) {
        let IdentityRow { user, role, word, purpose, settings } = row;
        if purpose.len() <= MAX_PURPOSE {
            core.identity.words.settle(&word);
        }
        let database = settings.database.clone();
        let session = SessionInput { user, role, purpose, database, ..core.policy.input.session.clone() };
        if let Err(error) = core.identity_read(&word, session, "@fieldveil_purpose") {
            core.catalog.failed = Some(error);
            return;
        }
        // What a bare name means depends on the database, and what a text says on the dialect.
        if self.settings.dialect != settings.dialect || self.settings.database != settings.database {
            core.catalog.current = None;
        }
        self.settings = settings;
    }
}
