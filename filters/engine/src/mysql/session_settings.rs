//! How the session's texts are read and its values written, as the server says it of the session.

use fieldveil_sql::{Dialect, MySqlDialect};
use fieldveil_values::mysql::Settings;
use zeroize::Zeroizing;

use crate::client_error::ClientError;

/// What the server said when it was asked last.
pub struct SessionSettings {
    /// How texts are read.
    pub dialect: MySqlDialect,
    /// How values are written.
    pub values: Settings,
    /// The database in use; empty for none.
    pub database: String,
    charset: Charset,
    /// Why texts cannot be read as the server reads them.
    unreadable: Option<ClientError>,
    /// The server was asked.
    pub is_known: bool,
}

/// The character set of texts, as far as it bears on reading them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Charset {
    /// They are UTF-8.
    Utf8,
    /// What is ASCII in it is ASCII.
    OverAscii,
    /// A byte of ASCII may be a part of another character.
    Other,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            dialect: MySqlDialect::default(),
            values: Settings::default(),
            database: String::new(),
            charset: Charset::OverAscii,
            unreadable: None,
            is_known: false,
        }
    }
}

/// The answer, as far as it is about reading.
pub struct SettingsRow<'a> {
    pub database: &'a str,
    pub sql_mode: &'a str,
    pub charset_client: &'a str,
    pub charset_results: Option<&'a str>,
    pub lower_case_table_names: &'a str,
    pub version: &'a str,
}

impl SessionSettings {
    /// As the server says it.
    pub fn of(said: &SettingsRow<'_>) -> Self {
        let mut unreadable = None;
        let dialect = MySqlDialect::of_session(said.sql_mode, said.version, said.lower_case_table_names);
        let dialect = dialect.unwrap_or_else(|refusal| {
            unreadable = Some(ClientError::refused(&refusal, &[]));
            MySqlDialect::default()
        });
        let values = Settings::read(said.version, said.sql_mode, said.charset_results);
        let values = values.unwrap_or_else(|error| {
            unreadable = Some(ClientError::unsupported(
                format!("values cannot be shown: {error}"),
                "SET NAMES utf8mb4.",
            ));
            Settings::default()
        });
        let charset = match said.charset_client {
            "utf8" | "utf8mb3" | "utf8mb4" => Charset::Utf8,
            "gbk" | "gb2312" | "gb18030" | "big5" | "sjis" | "cp932" | "eucjpms" | "ujis" | "euckr"
            | "swe7" => Charset::Other,
            _ => Charset::OverAscii,
        };
        Self { dialect, values, database: said.database.to_owned(), charset, unreadable, is_known: true }
    }

    /// How texts are read.
    pub fn dialect(&self) -> Dialect {
        Dialect::MySql(self.dialect)
    }

    /// Whether statements can be read as the server reads them.
    pub fn readable(&self) -> Result<(), ClientError> {
        self.unreadable.clone().map_or(Ok(()), Err)
    }

    /// A text that is no UTF-8 for the bytes in its `_binary'…'` alone, with these written in another way that means the
    /// same to the server.
    pub fn rewritten(&self, text: &[u8]) -> Option<Zeroizing<String>> {
        let reads = self.is_known && self.charset == Charset::Utf8 && self.readable().is_ok();
        reads.then(|| fieldveil_sql::binary_as_hexadecimal(text, self.dialect)).flatten()
    }

    /// The text, if it can be read as the server reads it.
    pub fn text<'t>(&self, text: &'t [u8]) -> Result<&'t str, ClientError> {
        let read = match self.charset {
            Charset::Utf8 => true,
            Charset::OverAscii => text.is_ascii(),
            Charset::Other => false,
        };
        let read = Some(text).filter(|_| read).and_then(|text| std::str::from_utf8(text).ok());
        read.ok_or_else(|| {
            ClientError::unsupported(
                "the statement cannot be read: character_set_client is not utf8mb4, or the statement is not UTF-8",
                "SET NAMES utf8mb4.",
            )
        })
    }
}

/// The text, if every session reads it alike: whatever its character set, its sql_mode and the server's version are.
pub fn read_alike(text: &[u8]) -> Option<&str> {
    let plain = |byte: &u8| {
        matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~') && !matches!(byte, b'\\' | b'"' | b'|' | b'!')
    };
    std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| plain(&byte)))
}
