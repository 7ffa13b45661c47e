//! What of a session's settings values depend on.

use super::character_set::CharacterSet;

/// What the server has said of itself and the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// MariaDB, whose JSON is text and which cuts fractions of a second that a type has no room for.
    pub mariadb: bool,
    /// Whether fractions of a second that a type has no room for are cut, not rounded.
    pub truncates_fractions: bool,
    /// What text is sent in.
    pub results: CharacterSet,
}

impl Default for Settings {
    /// MySQL's as it comes, with texts in utf8mb4.
    fn default() -> Self {
        Self { mariadb: false, truncates_fractions: false, results: CharacterSet::utf8mb4(false) }
    }
}

impl Settings {
    /// From `VERSION()`, `@@sql_mode` and `@@character_set_results`, which is NULL where nothing is converted.
    pub fn read(version: &str, sql_mode: &str, results: Option<&str>) -> Self {
        let mariadb = version.to_ascii_lowercase().contains("mariadb");
        let has = |mode: &str| sql_mode.split(',').any(|m| m.trim().eq_ignore_ascii_case(mode));
        let truncates_fractions =
            if mariadb { !has("TIME_ROUND_FRACTIONAL") } else { has("TIME_TRUNCATE_FRACTIONAL") };
        let results = match results {
            None => CharacterSet::utf8mb4(mariadb),
            Some(name) => CharacterSet::of_name(name, mariadb),
        };
        Self { mariadb, truncates_fractions, results }
    }
}
