//! The settings of the session by which its statements are read: what the client asked for when it connected, and what the
//! server reports since.

use std::borrow::Cow;

use fieldveil_postgres_wire::backend::ParameterStatus;

use super::encoding::{NOT_UTF8, SessionEncoding};
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::Core;

const LOGICAL: &str = "replication connections carry sealed rows past the field policy and are not supported";

/// These settings.
pub struct Settings {
    /// Whether it is a connection for logical replication, which is allowed only under a plan without fields.
    pub replicates: bool,
    /// The encoding of the client's texts and values.
    pub(super) encoding: SessionEncoding,
    standard_strings: bool,
    search_path: Vec<u8>,
}

impl Default for Settings {
    /// Returns the settings of a server that has reported nothing yet.
    fn default() -> Self {
        Self {
            replicates: false,
            encoding: SessionEncoding::default(),
            standard_strings: true,
            search_path: Vec::new(),
        }
    }
}

impl Settings {
    /// Makes the settings of a connection that asks for logical replication, or not.
    pub fn new(replicates: bool) -> Self {
        Self { replicates, ..Self::default() }
    }

    /// Refuses logical replication under a plan with fields.
    pub fn check_replication(&self, plan: &CompiledPlan) -> Result<(), ClientError> {
        if self.replicates && !plan.fields.is_empty() {
            return Err(replication_refused(LOGICAL));
        }
        Ok(())
    }

    /// Takes over a setting that the server reports, and marks as out of date what depended on its old value.
    pub fn report(&mut self, status: &ParameterStatus<'_>, core: &mut Core) {
        match status.name {
            b"client_encoding" => {
                self.encoding.report_client(status.value);
                core.catalog.current = None;
            }
            b"server_encoding" => self.encoding.report_server(status.value),
            b"standard_conforming_strings" => {
                let is_on = status.value == b"on";
                if is_on != self.standard_strings {
                    self.standard_strings = is_on;
                    self.encoding.other_has_changed();
                }
            }
            b"application_name" if status.value != core.policy.input.session.application_name.as_bytes() => {
                core.identity.may_change();
            }
            b"session_authorization" => core.identity.may_change(),
            b"search_path" if status.value != self.search_path => {
                self.search_path = status.value.to_vec();
                core.catalog.current = None;
            }
            _ => {}
        }
    }

    /// Returns a statement's text in UTF-8, in which strings end where they end for the server. One that cannot be read becomes
    /// bytes that are no UTF-8, as [`ClientEncoding::read_statement`](super::encoding::ClientEncoding::read_statement) says.
    #[inline]
    pub fn read_statement<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let decoded = self.encoding.now().read_statement(text);
        if self.strings_are_standard() {
            return decoded;
        }
        let Ok(read) = std::str::from_utf8(&decoded) else { return decoded };
        match fieldveil_sql::with_escape_strings(read) {
            Ok(Cow::Borrowed(_)) => decoded,
            // What is in doubt may still change to what it was.
            Ok(Cow::Owned(written)) if !self.encoding.is_in_doubt() => Cow::Owned(written.into_bytes()),
            _ => Cow::Owned([&[NOT_UTF8], decoded.as_ref()].concat()),
        }
    }

    /// Returns the text of a statement that [`Self::read_statement`] could not read for its strings alone.
    pub fn of_doubtful_strings<'t>(&self, text: &'t [u8]) -> Option<&'t str> {
        let text = text.strip_prefix(&[NOT_UTF8]).filter(|_| !self.strings_are_standard())?;
        let is_decoded = text.is_ascii() || !self.encoding.now().may_hide_delimiters();
        std::str::from_utf8(text).ok().filter(|_| is_decoded)
    }

    /// Refuses to send a text again that was read before, if it would mean something else now.
    pub fn reads_alike(&self, text: &[u8]) -> Result<(), ClientError> {
        let is_alike = || {
            let text = std::str::from_utf8(text).ok();
            text.is_some_and(|text| matches!(fieldveil_sql::with_escape_strings(text), Ok(Cow::Borrowed(_))))
        };
        if self.strings_are_standard() || is_alike() {
            return self.encoding.writes_alike(text);
        }
        Err(ClientError::unsupported(
            "standard_conforming_strings has changed since the statement was prepared",
            "Prepare it again.",
        ))
    }

    #[inline]
    fn strings_are_standard(&self) -> bool {
        self.standard_strings && !self.encoding.is_in_doubt()
    }
}

/// Returns the error of a connection for replication.
pub fn replication_refused(what: &str) -> ClientError {
    ClientError::unsupported(what, "Connect to the server directly for replication.")
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn strings_are_read_as_the_setting_has_them() {
        let usual = Settings::default();
        assert_eq!(*usual.read_statement(br"SELECT '\', 'a'"), *br"SELECT '\', 'a'");
        assert!(usual.reads_alike(br"SELECT '\'").is_ok());

        let escaping = Settings { standard_strings: false, ..Settings::default() };
        assert_eq!(*escaping.read_statement(br"SELECT '\'', 'a'"), *br"SELECT  E'\'', 'a'");
        assert_eq!(*escaping.read_statement(b"SELECT 'a'"), *b"SELECT 'a'");
        let doubtful = escaping.read_statement(br"SELECT '\'").into_owned();
        assert_eq!(escaping.of_doubtful_strings(&doubtful), Some(r"SELECT '\'"));
        assert!(escaping.reads_alike(br"SELECT '\''").is_err());
        assert!(escaping.reads_alike(br"SELECT E'\''").is_ok());
    }

    #[test]
    fn strings_with_backslashes_are_not_read_while_the_setting_is_in_doubt() {
        let mut settings = Settings::default();
        settings.encoding.doubt();
        let doubtful = settings.read_statement(br"SELECT '\', 'a'").into_owned();
        assert!(settings.of_doubtful_strings(&doubtful).is_some());
        assert_eq!(*settings.read_statement(br"SELECT E'\'', 'a'"), *br"SELECT E'\'', 'a'");
    }
}
