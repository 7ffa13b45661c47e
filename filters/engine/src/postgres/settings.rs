//! The settings of the session by which its statements are read: what the client asked for when it connected, and what the
//! server reports since.

use fieldveil_postgres_wire::backend::ParameterStatus;

use super::encoding::SessionEncoding;
use crate::client_error::ClientError;
use crate::database::Core;

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
    /// Takes over a setting that the server reports, and marks as out of date what depended on its old value.
    pub fn report(&mut self, status: &ParameterStatus<'_>, core: &mut Core) {
        match status.name {
            b"client_encoding" => {
                self.encoding.report_client(status.value);
                core.catalog.current = None;
            }
            b"server_encoding" => self.encoding.report_server(status.value),
            b"standard_conforming_strings" => self.standard_strings = status.value == b"on",
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

    /// Refuses statements that the filter would read in another way than the server.
    pub fn readable(&self) -> Result<(), ClientError> {
        if !self.standard_strings {
            let what = "statements cannot be read: standard_conforming_strings is off";
            return Err(ClientError::unsupported(what, "Set standard_conforming_strings to on."));
        }
        Ok(())
    }

    /// Returns the text, which was decoded before, if the server reads it as it would under the settings that [`Self::readable`]
    /// demands. Without a backslash a string ends where it seems to.
    pub fn read_alike<'t>(&self, text: &'t [u8]) -> Result<&'t str, ClientError> {
        if text.contains(&b'\\') {
            self.readable()?;
        }
        std::str::from_utf8(text).map_err(|_| self.encoding.now().unreadable_statement(text))
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn a_text_is_read_if_backslashes_cannot_change_its_meaning() {
        let usual = Settings::default();
        assert!(usual.readable().is_ok());
        assert_eq!(usual.read_alike("sélect '\\'".as_bytes()).unwrap(), "sélect '\\'");
        assert!(usual.read_alike(b"\xff").is_err());

        let backslashes = Settings { standard_strings: false, ..Settings::default() };
        assert!(backslashes.readable().is_err());
        assert!(backslashes.read_alike(b"SELECT 'a'").is_ok());
        assert!(backslashes.read_alike(b"SELECT '\\'").is_err());
    }
}
