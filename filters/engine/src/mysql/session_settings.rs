//! How the session's texts are read and its values written, as the server says it of the session.

use std::borrow::Cow;

use fieldveil_sql::{Dialect, LongHead, MySqlDialect};
use fieldveil_values::mysql::{CharacterSet, Settings};
use zeroize::Zeroizing;

use super::statements::Statement;
use crate::client_error::ClientError;

/// What the server said when it was asked last.
pub struct SessionSettings {
    /// How texts are read.
    pub dialect: MySqlDialect,
    /// How values are written.
    pub values: Settings,
    /// The database in use; empty for none.
    pub database: String,
    /// What the client's texts are in. It is one of which only ASCII is known before the server was asked.
    pub client: CharacterSet,
    /// What the server makes of the strings in them.
    connection: CharacterSet,
    /// The server was asked.
    pub is_known: bool,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            dialect: MySqlDialect::default(),
            values: Settings::default(),
            database: String::new(),
            client: CharacterSet::UNKNOWN,
            connection: CharacterSet::UNKNOWN,
            is_known: false,
        }
    }
}

/// The answer, as far as it is about reading.
pub struct SettingsRow<'a> {
    pub database: &'a str,
    pub sql_mode: &'a str,
    pub charset_client: &'a str,
    pub charset_connection: &'a str,
    pub charset_results: Option<&'a str>,
    pub lower_case_table_names: &'a str,
    pub version: &'a str,
}

impl SessionSettings {
    /// As the server says it.
    pub fn of(said: &SettingsRow<'_>) -> Self {
        let dialect = MySqlDialect::of_session(said.sql_mode, said.version, said.lower_case_table_names);
        let values = Settings::read(said.version, said.sql_mode, said.charset_results);
        let set = |name: &str| match name {
            // Strings are bytes then, of which the server converts none.
            "binary" => CharacterSet::UNKNOWN,
            name => CharacterSet::of_name(name, values.mariadb),
        };
        let client = set(said.charset_client);
        // Bytes of UTF-8 that are not converted are stored as they are.
        let connection = match said.charset_connection {
            "binary" if client.is_utf8() => client,
            "ucs2" | "utf16" | "utf16le" | "utf32" => CharacterSet::utf8mb4(values.mariadb),
            name => set(name),
        };
        let dialect = MySqlDialect { decoded: client.is_decoded(), ..dialect };
        let database = said.database.to_owned();
        Self { dialect, values, database, client, connection, is_known: true }
    }

    /// How texts are read.
    pub fn dialect(&self) -> Dialect {
        Dialect::MySql(self.dialect)
    }

    /// Whether statements can be read as the server reads them.
    pub fn readable(&self) -> Result<(), ClientError> {
        if self.client.is_over_ascii() { Ok(()) } else { Err(unreadable()) }
    }

    /// A text that cannot be read for the bytes in its `_binary'…'`, with these written in another way that means the same to
    /// the server.
    pub fn rewritten(&self, text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        if !self.is_known || self.readable().is_err() || !self.dialect.knows_tokens() {
            return None;
        }
        // Where the literals stand is told by the bytes alone.
        let dialect = MySqlDialect { decoded: false, ..self.dialect };
        if self.client.is_decoded() {
            return fieldveil_sql::single_bytes_as_hexadecimal(text, dialect);
        }
        let written = self.client.is_utf8().then(|| fieldveil_sql::binary_as_hexadecimal(text, dialect));
        written.flatten().map(|written| Zeroizing::new(written.as_bytes().to_vec()))
    }

    /// A client's text in UTF-8, or with bytes that UTF-8 never has in the place of what cannot be read.
    pub fn decode<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if !self.client.is_over_ascii() && read_alike(text).is_some() {
            return Cow::Borrowed(text);
        }
        self.client.decode(text)
    }

    /// Reads the begin of a text that is too long to be held. Returns it with the number of the client's bytes that it has.
    pub fn long_head(&self, text: &[u8], placeholders: bool) -> Option<(LongHead, usize)> {
        if !self.dialect.knows_tokens() {
            return None;
        }
        let text = self.client.decode(text);
        // What is cut off, perhaps within a character, is of no use.
        let length = text.iter().position(|byte| matches!(byte, b'\'' | b'"')).unwrap_or(text.len());
        let text = std::str::from_utf8(text.get(..length)?).ok()?;
        let is_wide = self.client.is_utf8() || self.client.is_decoded();
        let head = LongHead::read(text, self.dialect, is_wide, placeholders)?;
        let bytes = self.encode(text.get(..head.length)?.as_bytes().to_vec()).ok()?.len();
        Some((head, bytes))
    }

    /// A text of UTF-8 as the client would write it.
    pub fn encode(&self, text: Vec<u8>) -> Result<Vec<u8>, ClientError> {
        if !self.client.is_decoded() || text.is_ascii() {
            return Ok(text);
        }
        let text = std::str::from_utf8(&text).ok().and_then(|text| self.client.encode(text));
        text.map(Cow::into_owned).ok_or_else(unreadable)
    }

    /// A decoded text, if all of it could be read as the server reads it.
    pub fn text<'t>(&self, text: &'t [u8]) -> Result<&'t str, ClientError> {
        std::str::from_utf8(text).map_err(|_| unreadable())
    }

    /// A string of the client's in UTF-8, as the value of a protected place.
    pub fn string<'v>(&self, value: &'v [u8]) -> Result<Cow<'v, [u8]>, ClientError> {
        let decoded = self.client.decode(value);
        let text = std::str::from_utf8(&decoded).map_err(|_| {
            ClientError::unsupported(
                "a value cannot be read: character_set_client is not utf8mb4, or the value is not UTF-8",
                "SET NAMES utf8mb4.",
            )
        })?;
        self.must_hold(text)?;
        Ok(decoded)
    }

    /// Whether the server takes a string's bytes as they are for bytes: it converts none between these two sets.
    pub fn takes_bytes(&self, value: &[u8]) -> Result<(), ClientError> {
        if value.is_ascii() || !self.client.is_decoded() || self.client == self.connection {
            return Ok(());
        }
        Err(ClientError::unsupported(
            "a string stands for bytes, which the server would convert to character_set_connection",
            "Send it as binary data.",
        ))
    }

    /// Refuses a value that the server would store with question marks, for it converts strings before it stores them.
    pub fn must_hold(&self, text: &str) -> Result<(), ClientError> {
        if self.connection.is_utf8() || self.connection.encode(text).is_some() {
            return Ok(());
        }
        Err(ClientError::unsupported(
            "a value has characters that the session's character_set_connection has not, or that are not known here",
            "SET NAMES utf8mb4.",
        ))
    }

    /// Refuses to prepare a text again that would be other bytes now: those behind the name of a character set would be others.
    pub fn same_bytes(&self, statement: &Statement) -> Result<(), ClientError> {
        if statement.text.is_ascii() || statement.charset == self.client {
            return Ok(());
        }
        Err(ClientError::unsupported(
            "keys or tables changed since the statement was prepared, and character_set_client too",
            "Prepare it again.",
        ))
    }

    /// Refuses to show what is protected where no value can be written.
    pub fn can_show(&self) -> Result<(), ClientError> {
        if self.values.results.is_over_ascii() {
            return Ok(());
        }
        Err(ClientError::unsupported(
            "protected values cannot be shown: character_set_results is a set in which ASCII is other bytes",
            "SET character_set_results = utf8mb4.",
        ))
    }
}

fn unreadable() -> ClientError {
    ClientError::unsupported(
        "the statement cannot be read: character_set_client is not utf8mb4, or the statement is not UTF-8",
        "SET NAMES utf8mb4.",
    )
}

/// The text, if every session reads it alike: whatever its character set, its sql_mode and the server's version are.
pub fn read_alike(text: &[u8]) -> Option<&str> {
    let plain = |byte: &u8| {
        matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~') && !matches!(byte, b'\\' | b'"' | b'|' | b'!')
    };
    std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| plain(&byte)))
}
