//! Tables that the policy names and the server had not when it was asked.

use fieldveil_sql::Dialect;

use super::ServerCatalog;

impl ServerCatalog {
    /// Whether a text may name one. Where nothing is absent, that is known without a look at the text.
    pub fn misses(&self, text: &[u8], database: Option<&str>) -> bool {
        if self.absent.is_empty() {
            return false;
        }
        let text = String::from_utf8_lossy(text).to_lowercase();
        if hides_names(&text, self.sql.dialect()) {
            return true;
        }
        let database = database.map(str::to_lowercase);
        self.absent.iter().any(|(schema, table)| {
            let is_bare = database.as_ref().is_none_or(|database| database == schema);
            has_name(&text, table) && (is_bare || has_name(&text, schema))
        })
    }
}

/// Whether names may stand in a text in escapes.
fn hides_names(text: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => text.contains("u&\""),
        // In the text of what SQL prepares.
        Dialect::MySql(_) => text.contains('\\') && (text.contains("prepare") || text.contains("immediate")),
    }
}

/// Whether a text, in lower case, has a name in it, perhaps in quotes. Letters besides ASCII's may be the same to the server
/// for other reasons than their case.
fn has_name(text: &str, name: &str) -> bool {
    let has_doubled =
        |quote: &str| name.contains(quote) && text.contains(&name.replace(quote, &quote.repeat(2)));
    let may_resemble = || !text.is_ascii() && !name.is_ascii();
    text.contains(name) || has_doubled("`") || has_doubled("\"") || may_resemble()
}
