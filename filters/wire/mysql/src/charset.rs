//! Collation ids as handshakes and column definitions carry them.

/// `latin1_swedish_ci`, the default of old servers.
pub const LATIN1_SWEDISH_CI: u16 = 8;
/// `ascii_general_ci`.
pub const ASCII_GENERAL_CI: u16 = 11;
/// `utf8mb3_general_ci`.
pub const UTF8MB3_GENERAL_CI: u16 = 33;
/// `utf8mb4_general_ci`.
pub const UTF8MB4_GENERAL_CI: u16 = 45;
/// `utf8mb4_bin`.
pub const UTF8MB4_BIN: u16 = 46;
/// `latin1_bin`.
pub const LATIN1_BIN: u16 = 47;
/// `binary`: bytes, and numbers and times in column definitions.
pub const BINARY: u16 = 63;
/// `ascii_bin`.
pub const ASCII_BIN: u16 = 65;
/// `utf8mb3_bin`.
pub const UTF8MB3_BIN: u16 = 83;
/// `utf8mb4_0900_ai_ci`, MySQL's default.
pub const UTF8MB4_0900_AI_CI: u16 = 255;

/// A character set, by what matters for reading and writing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// `binary`.
    Binary,
    /// `ascii`.
    Ascii,
    /// `latin1`, which is Windows-1252.
    Latin1,
    /// `utf8mb3`, up to three bytes a character.
    Utf8Mb3,
    /// `utf8mb4`.
    Utf8Mb4,
    /// Any other.
    Other,
}

impl Charset {
    /// The character set of a collation, by its id.
    pub const fn of_collation(id: u16) -> Self {
        match id {
            BINARY => Self::Binary,
            ASCII_GENERAL_CI | ASCII_BIN => Self::Ascii,
            5 | LATIN1_SWEDISH_CI | 15 | 31 | LATIN1_BIN | 48 | 49 | 94 => Self::Latin1,
            UTF8MB3_GENERAL_CI | 76 | UTF8MB3_BIN | 192..=215 | 223 => Self::Utf8Mb3,
            UTF8MB4_GENERAL_CI | UTF8MB4_BIN | 224..=247 | 255..=323 => Self::Utf8Mb4,
            // MariaDB's own: collations that don't pad are 1024 up, those of UCA 14.0.0 come after them.
            576..=578 => Self::Utf8Mb3,
            608..=610 => Self::Utf8Mb4,
            1024..=2047 => Self::of_collation(id.wrapping_sub(1024)),
            2048..=2303 => Self::Utf8Mb3,
            2304..=2559 => Self::Utf8Mb4,
            _ => Self::Other,
        }
    }

    /// The character set of this name, as `@@character_set_results` and `information_schema` give it.
    pub fn of_name(name: &str) -> Self {
        const NAMES: [(&str, Charset); 6] = [
            ("binary", Charset::Binary),
            ("ascii", Charset::Ascii),
            ("latin1", Charset::Latin1),
            ("utf8", Charset::Utf8Mb3),
            ("utf8mb3", Charset::Utf8Mb3),
            ("utf8mb4", Charset::Utf8Mb4),
        ];
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map_or(Self::Other, |(_, charset)| *charset)
    }

    /// Most bytes of a character, which column definitions multiply lengths with; 1 for what isn't known.
    pub const fn max_bytes(self) -> u32 {
        match self {
            Self::Binary | Self::Ascii | Self::Latin1 | Self::Other => 1,
            Self::Utf8Mb3 => 3,
            Self::Utf8Mb4 => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collations_are_told_by_their_character_set() {
        for (id, charset) in [
            (BINARY, Charset::Binary),
            (ASCII_BIN, Charset::Ascii),
            (LATIN1_SWEDISH_CI, Charset::Latin1),
            (UTF8MB3_GENERAL_CI, Charset::Utf8Mb3),
            (UTF8MB4_GENERAL_CI, Charset::Utf8Mb4),
            (UTF8MB4_0900_AI_CI, Charset::Utf8Mb4),
            (35, Charset::Other),
        ] {
            assert_eq!(Charset::of_collation(id), charset);
        }
        assert_eq!(
            (Charset::of_name("UTF8MB4"), Charset::of_name("koi8r")),
            (Charset::Utf8Mb4, Charset::Other)
        );
    }
}
