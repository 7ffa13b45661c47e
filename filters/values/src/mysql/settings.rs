//! What of a session's settings values depend on.

use crate::ValueError;

/// The character set of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharacterSet {
    /// As column definitions name it: its default collation.
    pub id: u16,
    /// Most bytes of a character.
    pub max_bytes: u32,
}

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
        let results = CharacterSet { id: CharacterSet::MYSQL_UTF8MB4, max_bytes: 4 };
        Self { mariadb: false, truncates_fractions: false, results }
    }
}

impl CharacterSet {
    const BINARY: u16 = 63;
    const UTF8MB3: u16 = 33;
    const MARIADB_UTF8MB4: u16 = 45;
    const MYSQL_UTF8MB4: u16 = 255;
}

impl Settings {
    /// From `VERSION()`, `@@sql_mode` and `@@character_set_results`, which is NULL where nothing is converted.
    pub fn read(version: &str, sql_mode: &str, results: Option<&str>) -> Result<Self, ValueError> {
        let mariadb = version.to_ascii_lowercase().contains("mariadb");
        let has = |mode: &str| sql_mode.split(',').any(|m| m.trim().eq_ignore_ascii_case(mode));
        let truncates_fractions =
            if mariadb { !has("TIME_ROUND_FRACTIONAL") } else { has("TIME_TRUNCATE_FRACTIONAL") };
        let utf8mb4 = if mariadb { CharacterSet::MARIADB_UTF8MB4 } else { CharacterSet::MYSQL_UTF8MB4 };
        let (id, max_bytes) = match results.map(str::to_ascii_lowercase).as_deref() {
            None | Some("utf8mb4") => (utf8mb4, 4),
            Some("utf8" | "utf8mb3") => (CharacterSet::UTF8MB3, 3),
            Some("binary") => (CharacterSet::BINARY, 1),
            Some(_) => {
                return Err(ValueError::Unsupported(
                    "character_set_results other than utf8mb4, utf8mb3, binary and NULL; say SET NAMES utf8mb4",
                ));
            }
        };
        Ok(Self { mariadb, truncates_fractions, results: CharacterSet { id, max_bytes } })
    }
}
